package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/ptybridge"
	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/vt"
)

// The targets of a pane, in wall time.
const (
	discardTarget = 0.85
	tmuxTarget    = 3.0
)

// frame is how often a window looks at a pane that changes.
const frame = 16 * time.Millisecond

// catLimit is when a host that does not come to the end is given up.
const catLimit = 2 * time.Minute

// A catHost shows `cat FILE` on 200×60 and returns how long that took and the
// CPU time of the process that reads the terminal, -1 where it is not known.
type catHost interface {
	cat(file string) (wall, cpu time.Duration, err error)
	close()
}

// throughPTY lets each host read the same files in turns.
func throughPTY(o options) error {
	size, rounds := pick(o, 24_000_000, 8_000_000), pick(o, 9, 3)
	fmt.Printf("\nThrough a real PTY: cat of %d MB on 200×60, median of %d turns (least–most), load %s at the start\n", size/1_000_000, rounds, loadAverage())
	dir, err := os.MkdirTemp("", "bench-pty-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	pane, err := newPaneHost()
	if err != nil {
		return err
	}
	defer pane.close()
	hosts := []catHost{discarder{}, pane}
	if install("tmux") {
		tm, err := newTmuxHost()
		if err != nil {
			fmt.Printf("tmux: skipped: %v\n", err)
		} else {
			defer tm.close()
			hosts = append(hosts, tm)
		}
	}
	var t, cpu table
	t.add("MB/s of wall time", "pane", "discards", "tmux", "pane ÷ discards", "of the best", "target", "pane ÷ tmux", "of the best", "target", "discards ÷ tmux")
	cpu.add("MB per CPU-second", "pane", "discards", "tmux server", "pane ÷ tmux")
	for _, w := range workloads {
		name, ok := ptyNames[w.name]
		if !ok {
			continue
		}
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, w.make(size, 200, 60, "\n"), 0o600); err != nil {
			return err
		}
		turns, err := takeTurns(hosts, file, rounds)
		if err != nil {
			return err
		}
		turns.addWall(&t, name)
		turns.addCPU(&cpu, name)
		_ = os.Remove(file)
	}
	fmt.Println()
	t.print(os.Stdout)
	fmt.Println("of the best: each host's fastest turn, which other load slows least; discards ÷ tmux is the most that any host can reach")
	fmt.Println()
	cpu.print(os.Stdout)
	fmt.Printf("load %s at the end\n", loadAverage())
	return nil
}

// ptyNames are the workloads that go through a terminal.
var ptyNames = map[string]string{"ascii": "ascii", "ls, coloured": "ls", "go test log": "log", "dense cells": "dense"}

// turns are MB per second by host and round: the reader that discards, the
// pane and, where it can be had, tmux.
type turns struct{ wall, cpu [3][]float64 }

func takeTurns(hosts []catHost, file string, rounds int) (*turns, error) {
	fi, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	mb := float64(fi.Size()) / 1e6
	t := &turns{}
	for range rounds {
		for i, h := range hosts {
			wall, cpu, err := h.cat(file)
			if err != nil {
				return nil, err
			}
			t.wall[i] = append(t.wall[i], mb/wall.Seconds())
			if cpu > 0 {
				t.cpu[i] = append(t.cpu[i], mb/cpu.Seconds())
			}
		}
	}
	return t, nil
}

// The indexes of turns.
const (
	discards = iota
	thePane
	theTmux
)

// paired are the ratios of each round's neighbours, so that a load that
// changes during the run touches both alike.
func paired(a, b []float64) []float64 {
	var out []float64
	for i := range min(len(a), len(b)) {
		out = append(out, a[i]/b[i])
	}
	return out
}

// best is the ratio of each host's fastest turn.
func best(a, b []float64) string {
	if len(a) == 0 || len(b) == 0 {
		return none
	}
	return figure(slices.Max(a) / slices.Max(b))
}

func (u *turns) addWall(t *table, name string) {
	w := u.wall
	t.add(name, figure(median(w[thePane])), figure(median(w[discards])), figure(median(w[theTmux])),
		spread(paired(w[thePane], w[discards])), best(w[thePane], w[discards]), fmt.Sprintf("≥ %.2f", discardTarget),
		spread(paired(w[thePane], w[theTmux])), best(w[thePane], w[theTmux]), fmt.Sprintf("≥ %.0f", tmuxTarget),
		spread(paired(w[discards], w[theTmux])))
}

func (u *turns) addCPU(t *table, name string) {
	c := u.cpu
	t.add(name, figure(median(c[thePane])), figure(median(c[discards])), figure(median(c[theTmux])), spread(paired(c[thePane], c[theTmux])))
}

// A paneHost is the product's own session with one pane at a time, and a
// window that copies the rows that changed at every frame.
//
//	goroutine  started by   ends on  joined by
//	look       newPaneHost  close    close
type paneHost struct {
	poller  *fdwait.Poller
	session *session.Session
	ended   chan session.PaneID
	changed chan struct{} // holds one; more than one change is one look
	stop    chan struct{}
	wg      sync.WaitGroup
	pane    atomic.Pointer[session.Pane]
}

func newPaneHost() (*paneHost, error) {
	p, err := fdwait.New()
	if err != nil {
		return nil, err
	}
	h := &paneHost{
		poller: p, ended: make(chan session.PaneID, 16),
		changed: make(chan struct{}, 1), stop: make(chan struct{}),
	}
	h.session = session.New(session.Config{
		Poller: p, Version: "bench", Scrollback: scrollback,
		Publish: func(f session.Fact) {
			switch f := f.(type) {
			case session.PaneEnded:
				h.ended <- f.ID
			case session.PaneChanged:
				h.tell()
			}
		},
	})
	h.wg.Go(h.look)
	return h, nil
}

func (h *paneHost) close() {
	close(h.stop)
	h.wg.Wait()
	h.session.Close()
	_ = h.poller.Close()
}

func (h *paneHost) tell() {
	select {
	case h.changed <- struct{}{}:
	default:
	}
}

// look copies what changed, at most once a frame, as a window does.
func (h *paneHost) look() {
	var cells []vt.Cell
	tick := time.NewTicker(frame)
	defer tick.Stop()
	for {
		select {
		case <-h.stop:
			return
		case <-tick.C:
		}
		select {
		case <-h.stop:
			return
		case <-h.changed:
		}
		if p := h.pane.Load(); p != nil {
			p.Look(func(t *vt.Terminal) {
				_, rows := t.Size()
				for r := range vt.Row(rows) {
					if t.Dirty(r) {
						cells = append(cells[:0], t.Line(r)...)
					}
				}
				t.ClearDirty()
			})
		}
	}
}

func (h *paneHost) cat(file string) (wall, cpu time.Duration, err error) {
	cpu0, start := cpuTime(), time.Now()
	p := h.session.Open(session.Spec{Command: []string{"cat", file}}, ptybridge.Size{Cols: 200, Rows: 60})
	h.pane.Store(p)
	h.tell()
	for id := range h.ended {
		if id == p.ID() {
			break
		}
	}
	wall, cpu = time.Since(start), cpuTime()-cpu0
	h.pane.Store(nil)
	info := p.Close()
	if c := info.Capture(); c.State() != outcome.StateComplete {
		return 0, 0, fmt.Errorf("the pane says %s, %s", session.Ending(info.Exit), c.State())
	}
	return wall, cpu, nil
}

// A tmuxHost is a server of its own with one attached client, whose output is
// read and thrown away.
type tmuxHost struct {
	*tmux
	server int
	client *reader
}

func newTmuxHost() (*tmuxHost, error) {
	tm, err := newSizedTmux()
	if err != nil {
		return nil, err
	}
	h := &tmuxHost{tmux: tm}
	if h.server, err = tm.pid(); err == nil {
		h.client, err = startReader([]string{"tmux", "-S", tm.socket, "attach-session", "-t", "b"})
	}
	if err != nil {
		tm.close()
		return nil, err
	}
	return h, h.attached()
}

// attached waits until the server has its client.
func (h *tmuxHost) attached() error {
	for limit := time.Now().Add(10 * time.Second); time.Now().Before(limit); time.Sleep(20 * time.Millisecond) {
		if out, err := h.do("list-clients"); err == nil && strings.TrimSpace(out) != "" {
			return nil
		}
	}
	h.close()
	return fmt.Errorf("no client of tmux within 10 s")
}

func (h *tmuxHost) close() {
	h.tmux.close()
	_ = h.client.wait() // the client says that its server is gone
}

// cat ends when cat has written all: the few KB that the server has not read
// then are in tmux's favour.
func (h *tmuxHost) cat(file string) (wall, cpu time.Duration, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), catLimit)
	defer cancel()
	cpu0, start := processCPU(h.server), time.Now()
	command := fmt.Sprintf("cat %s; tmux -S %s wait-for -S done; exec sleep 3600", file, h.socket)
	if _, err := h.do("respawn-window", "-k", "-t", "b:0", command); err != nil {
		return 0, 0, err
	}
	if err := h.waitFor(ctx, "done"); err != nil {
		return 0, 0, err
	}
	wall, cpu = time.Since(start), -1
	if c := processCPU(h.server); c >= 0 && cpu0 >= 0 {
		cpu = c - cpu0
	}
	return wall, cpu, nil
}

// processCPU is the CPU time of another process, -1 where it cannot be told.
// The kernel counts it in hundredths of a second.
func processCPU(pid int) time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return -1
	}
	_, rest, _ := strings.Cut(string(b), ") ") // the name may hold spaces
	f := strings.Fields(rest)
	if len(f) < 13 {
		return -1
	}
	user, err1 := strconv.ParseInt(f[11], 10, 64)
	sys, err2 := strconv.ParseInt(f[12], 10, 64)
	if err1 != nil || err2 != nil {
		return -1
	}
	return time.Duration(user+sys) * 10 * time.Millisecond
}
