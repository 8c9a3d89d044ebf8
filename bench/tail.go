package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/ptybridge"
	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tools/terminal"
	"github.com/honestty/honestty/vt"
)

// tailTasks print the numbers from 1 and end at once: one line, 3 KB, 109 KB,
// 300 KB and 5 MB.
var tailTasks = []int{1, 770, 20_000, 50_000, 750_000}

// A holder runs `seq 1 last` and returns how many of the numbered lines it
// holds afterwards, and what it says of the end.
type holder func(last int) (lines int, says string, err error)

// tail asks each host for the same task and counts what it kept.
func tail(runs int, loaded, haveTmux bool) error {
	how := "idle"
	if loaded {
		defer load()()
		how = "every core busy"
	}
	fmt.Printf("\nWho keeps the tail: seq 1 N, which ends at once (%s)\n", how)
	fmt.Printf("%-10s %-14s %9s %16s %16s  %s\n", "N", "host", "complete", "worst run", "missing in all", "said at worst")
	ours, err := newOurs()
	if err != nil {
		return err
	}
	defer ours.close()
	for _, last := range tailTasks {
		n := runs
		if last > 100_000 {
			n = max(3, runs/5)
		}
		if err := tailRow("honestty pane", ours.pane, last, n); err != nil {
			return err
		}
		if err := tailRow("honestty run", ours.run, last, n); err != nil {
			return err
		}
		if !haveTmux {
			continue
		}
		tm, err := newTmux()
		if err != nil {
			return err
		}
		err = tailRow("tmux", tm.window, last, n)
		tm.close()
		if err != nil {
			return err
		}
	}
	return nil
}

func tailRow(name string, h holder, last, runs int) error {
	complete, worst, missing, said := 0, last, 0, ""
	for range runs {
		lines, says, err := h(last)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if lines == last {
			complete++
		}
		missing += last - lines
		if lines < worst || said == "" {
			worst, said = min(worst, lines), says
		}
	}
	fmt.Printf("%-10d %-14s %4d/%-4d %16s %16s  %s\n", last, name, complete, runs,
		outcome.Count(int64(worst))+" lines", outcome.Count(int64(missing))+" lines", said)
	return nil
}

// ours is this program: its pane and its run command.
type ours struct {
	poller  *fdwait.Poller
	session *session.Session
	ended   chan session.PaneID
}

func newOurs() (*ours, error) {
	p, err := fdwait.New()
	if err != nil {
		return nil, err
	}
	o := &ours{poller: p, ended: make(chan session.PaneID, 16)}
	o.session = session.New(session.Config{
		Poller: p, Version: "bench", Scrollback: 1_000_000, ScrollbackBytes: 64 << 20,
		Publish: func(f session.Fact) {
			if e, ok := f.(session.PaneEnded); ok {
				o.ended <- e.ID
			}
		},
	})
	return o, nil
}

func (o *ours) close() {
	o.session.Close()
	_ = o.poller.Close()
}

func seq(last int) []string { return []string{"seq", "1", strconv.Itoa(last)} }

func (o *ours) pane(last int) (int, string, error) {
	p := o.session.Open(session.Spec{Command: seq(last)}, ptybridge.Size{Cols: 80, Rows: 24})
	for id := range o.ended {
		if id == p.ID() {
			break
		}
	}
	defer p.Close()
	info := p.Info()
	var text []byte
	p.Look(func(t *vt.Terminal) {
		var cells []vt.Cell
		for i := range t.HistoryLen() {
			cells = t.HistoryLine(i, cells[:0])
			text = appendRow(t, text, cells)
		}
		_, rows := t.Size()
		for r := range rows {
			text = appendRow(t, text, t.Line(vt.Row(r)))
		}
	})
	return numbered(string(text)), session.Ending(info.Exit) + ", " + info.Capture().State().String(), nil
}

func appendRow(t *vt.Terminal, dst []byte, cells []vt.Cell) []byte {
	for _, c := range cells {
		dst = t.AppendText(dst, c)
	}
	return append(dst, '\n')
}

func (o *ours) run(last int) (int, string, error) {
	r := terminal.Run(context.Background(), terminal.Spec{Command: seq(last), Poller: o.poller})
	return numbered(string(r.Output.Bytes)), r.Status.String() + ", " + r.State().String(), nil
}

// numbered counts the lines 1, 2, 3 … that stand in their order.
func numbered(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == strconv.Itoa(n+1) {
			n++
		}
	}
	return n
}

// tmux is a server of our own, with dead panes kept and room for every line.
type tmux struct {
	dir, socket string
	windows     int
}

func newTmux() (*tmux, error) {
	dir, err := os.MkdirTemp("", "bench-tmux-")
	if err != nil {
		return nil, err
	}
	t := &tmux{dir: dir, socket: filepath.Join(dir, "s")}
	for _, args := range [][]string{
		{"new-session", "-d", "-s", "b", "-x", "80", "-y", "24", "sleep 3600"},
		{"set-option", "-g", "remain-on-exit", "on"},
		{"set-option", "-g", "history-limit", "1000000"},
	} {
		if _, err := t.do(args...); err != nil {
			t.close()
			return nil, err
		}
	}
	return t, nil
}

func (t *tmux) do(args ...string) (string, error) {
	out, err := exec.Command("tmux", append([]string{"-S", t.socket, "-f", "/dev/null"}, args...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", args[0], err, out)
	}
	return string(out), nil
}

func (t *tmux) close() {
	_, _ = t.do("kill-server")
	_ = os.RemoveAll(t.dir)
}

func (t *tmux) window(last int) (int, string, error) {
	t.windows++
	target := "b:" + strconv.Itoa(t.windows)
	if _, err := t.do("new-window", "-d", "-t", target, strings.Join(seq(last), " ")); err != nil {
		return 0, "", err
	}
	var status string
	for {
		out, err := t.do("display-message", "-p", "-t", target, "#{pane_dead} #{pane_dead_status}")
		if err != nil {
			return 0, "", err
		}
		if dead, rest, _ := strings.Cut(strings.TrimSpace(out), " "); dead == "1" {
			status = rest
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	text, err := t.do("capture-pane", "-p", "-t", target, "-S", "-")
	if err != nil {
		return 0, "", err
	}
	_, err = t.do("kill-window", "-t", target)
	return numbered(text), "status " + status, err
}
