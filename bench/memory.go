package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// The targets of memory, in MB of a full history of 200 columns.
const (
	plainTarget  = 4
	styledTarget = 6
)

// endMark is the last line of a memory input, which tells that a host has
// taken all of it.
const endMark = "the end"

// memory compares what a full history of 10,000 rows of 200 columns costs.
func memory(o options) error {
	fmt.Printf("\nMemory: a full history of %d × 200 and a screen of 200×60, in MB\n", scrollback)
	list, err := allEngines()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bench-memory-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	files := make([]string, 2)
	for i, line := range []func([]byte, int) []byte{plainLine, styledLine} {
		var b []byte
		for k := range scrollback + 59 { // the last line leaves the cursor on row 60
			b = line(b, k)
		}
		files[i] = filepath.Join(dir, []string{"plain", "styled"}[i])
		if err := os.WriteFile(files[i], append(b, endMark...), 0o600); err != nil {
			return err
		}
	}
	t := table{{"held by", "plain", "target", "20 styles a line", "target", "lines kept"}}
	addMemory(&t, list[0], files, true)
	for _, e := range list {
		addMemory(&t, e, files, false)
	}
	if install("tmux") {
		addTmuxMemory(&t, files)
	}
	fmt.Println()
	t.print(os.Stdout)
	return nil
}

// addMemory adds a row for an engine: what it says it holds, or by how much
// its heap grew.
func addMemory(t *table, e engine, files []string, counted bool) {
	row := []string{e.name + ", growth of the heap"}
	if counted {
		row[0] = e.name + ", its own Stats"
	}
	var lines []string
	for i, file := range files {
		target := ""
		if e.name == "honestty" {
			target = fmt.Sprintf("≤ %d", []int{plainTarget, styledTarget}[i])
		}
		r, err := e.feed(feedJob{cols: 200, rows: 60, scrollback: scrollback, file: file})
		if err != nil {
			fmt.Printf("  %v\n", err)
			row, lines = append(row, "failed", target), append(lines, none)
			continue
		}
		held := r.Held
		if counted {
			held = r.Counted
		}
		row, lines = append(row, figure(float64(held)/1e6), target), append(lines, strconv.Itoa(r.Lines))
	}
	t.add(append(row, strings.Join(lines, " and "))...)
}

func addTmuxMemory(t *table, files []string) {
	row := []string{"tmux, growth of the server"}
	var lines []string
	for _, file := range files {
		held, kept, err := tmuxMemory(file)
		if err != nil {
			fmt.Printf("tmux: skipped: %v\n", err)
			row, lines = append(row, none, ""), append(lines, none)
			continue
		}
		row, lines = append(row, figure(float64(held)/1e6), ""), append(lines, kept)
	}
	t.add(append(row, strings.Join(lines, " and "))...)
}

// tmuxMemory shows a file in a server of its own and returns by how much the
// server grew and how many lines of history it keeps.
func tmuxMemory(file string) (held int64, lines string, err error) {
	tm, err := newSizedTmux()
	if err != nil {
		return 0, "", err
	}
	defer tm.close()
	pid, err := tm.pid()
	if err != nil {
		return 0, "", err
	}
	before, err := resident(pid)
	if err != nil {
		return 0, "", err
	}
	if _, err := tm.do("respawn-window", "-k", "-t", "b:0", "cat "+file+"; exec sleep 3600"); err != nil {
		return 0, "", err
	}
	for limit := time.Now().Add(30 * time.Second); ; {
		screen, err := tm.do("capture-pane", "-p", "-t", "b:0")
		if err != nil {
			return 0, "", err
		}
		if strings.Contains(screen, endMark) {
			break
		}
		if time.Now().After(limit) {
			return 0, "", fmt.Errorf("tmux did not show %s to its end", filepath.Base(file))
		}
		time.Sleep(20 * time.Millisecond)
	}
	after, err := resident(pid)
	if err != nil {
		return 0, "", err
	}
	lines, err = tm.do("display-message", "-p", "-t", "b:0", "#{history_size}")
	return after - before, strings.TrimSpace(lines), err
}

// resident is a process's memory in RAM, in bytes.
func resident(pid int) (int64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(b))
	if len(fields) < 2 {
		return 0, fmt.Errorf("read the memory of %d: statm has %d fields", pid, len(fields))
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}
