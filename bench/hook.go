package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/honestty/honestty/journal"
)

// hookOutput is how many bytes of output the call in the event had.
const hookOutput = 4 << 10

// hooks measures how long an agent waits for a hook of ours, beside one that
// does nothing with what it is given.
func hooks(o options) error {
	runs := pick(o, 300, 50)
	b, err := newBed()
	if err != nil {
		return err
	}
	defer b.close()
	file := filepath.Join(b.dir, "event.json")
	size, err := writeEvent(file)
	if err != nil {
		return err
	}
	fmt.Printf("\nHook: ms from the start to the end of a hook with an event of %d bytes, %d runs in turns, load %s\n", size, runs, loadAverage())
	rivals := []*hooked{
		{name: "cat >/dev/null", argv: []string{"cat"}},
		{name: "honestty hook hermes", argv: []string{b.binary, "hook", "hermes"}},
		{name: "honestty --version", argv: []string{b.binary, "--version"}},
	}
	if !b.knows("hook") {
		fmt.Println("honestty hook hermes: not built: this program has no such command")
		rivals[1].skip = "not built"
	}
	for run := range runs + 1 {
		for k := range rivals {
			h := rivals[(run+k)%len(rivals)]
			if h.skip != "" {
				continue
			}
			d, err := h.once(b.env, file)
			if err != nil {
				return fmt.Errorf("%s: %w", h.name, err)
			}
			if run > 0 { // the first fills caches
				h.ms = append(h.ms, float64(d)/float64(time.Millisecond))
			}
		}
	}
	printHooks(rivals)
	if rivals[1].skip != "" {
		return nil
	}
	return recorded(b, runs+1)
}

// knows reports whether the built program has a command.
func (b *bed) knows(command string) bool {
	cmd := exec.Command(b.binary, command, "--help")
	cmd.Env = b.env
	return cmd.Run() == nil
}

// writeEvent writes what Hermes gives a hook after a call of its terminal tool.
func writeEvent(file string) (size int, err error) {
	result, err := json.Marshal(map[string]any{
		"output": strings.Repeat("a line of the output of a command\n", hookOutput/34), "exit_code": 0, "error": nil,
	})
	if err != nil {
		return 0, err
	}
	event, err := json.Marshal(map[string]any{
		"hook_event_name": "post_tool_call", "tool_name": "terminal", "session_id": "bench", "cwd": "/",
		"tool_input": map[string]any{"command": "make test", "timeout": 180},
		"extra":      map[string]any{"result": string(result), "duration_ms": 1234, "status": "ok", "tool_call_id": "call-1", "turn_id": "turn-1"},
	})
	if err != nil {
		return 0, err
	}
	return len(event), os.WriteFile(file, event, 0o600)
}

// A hooked is a program that an agent could run as its hook.
type hooked struct {
	name string
	argv []string
	skip string // why it is not run
	ms   []float64
}

// once runs it as an agent does: the event on its input, and a wait for its end.
func (h *hooked) once(env []string, file string) (d time.Duration, err error) {
	in, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	var notes strings.Builder
	cmd := exec.Command(h.argv[0], h.argv[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stderr = env, in, &notes // its output goes to /dev/null
	start := time.Now()
	err = cmd.Run()
	d = time.Since(start)
	if err == nil && notes.Len() > 0 {
		err = errors.New(firstLine(notes.String())) // a hook that could not record exits with 0 and says so
	}
	return d, err
}

func printHooks(rivals []*hooked) {
	t := table{{"hook", "median", "99th", "÷ cat, median", "÷ cat, 99th", "median over cat"}}
	cat := rivals[0].ms
	for i, h := range rivals {
		if h.skip != "" {
			t.add(h.name, h.skip)
			continue
		}
		m, p := median(h.ms), percentile(h.ms, 99)
		row := []string{h.name, figure(m), figure(p), "", "", ""}
		if i > 0 {
			row[3], row[4], row[5] = times(m/median(cat)), times(p/percentile(cat, 99)), figure(m-median(cat))+" ms"
		}
		t.add(row...)
	}
	fmt.Println()
	t.print(os.Stdout)
	fmt.Println("honestty --version is what its start alone costs")
}

// recorded says how many of the hooks' calls stand in the journal.
func recorded(b *bed, want int) error {
	dir := filepath.Join(b.dir, "state", "honestty", "journal")
	calls, gaps := 0, 0
	for e, err := range journal.Read(dir) {
		switch {
		case err != nil:
			return fmt.Errorf("read the journal: %w", err)
		case e.Gap != nil:
			gaps++
		case e.End != nil:
			calls++
		}
	}
	fmt.Printf("the journal holds %d of %d calls, and %d gaps\n", calls, want, gaps)
	return nil
}
