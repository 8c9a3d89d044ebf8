package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// windows measures the whole program as its user has it: the binary on a
// terminal of ours, beside the same child without a host, which is the limit,
// and beside tmux with a client on such a terminal.
func windows(o options) error {
	if err := cellFrames(o); err != nil {
		return err
	}
	b, err := newBed()
	if err != nil {
		return err
	}
	defer b.close()
	b.tmux = install("tmux")
	for _, measure := range []func(*bed, options) error{firstPrompt, echo, outerBytes, idle} {
		if err := measure(b, o); err != nil {
			return err
		}
	}
	return nil
}

// promptTarget is how long a user may wait for the first prompt.
const promptTarget = 150 * time.Millisecond

// firstPrompt prints how long it takes from the start to a shell's prompt.
func firstPrompt(b *bed, o options) error {
	runs := pick(o, 10, 3)
	fmt.Printf("\nFirst prompt: from the start to the prompt of /bin/sh on the outer terminal, in ms, %d starts in turns, load %s\n", runs, loadAverage())
	b.skipTmux()
	list := b.starters()
	ms := map[string][]float64{}
	for range runs {
		for _, s := range list {
			d, err := promptOnce(b, s)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			ms[s.name] = append(ms[s.name], float64(d)/float64(time.Millisecond))
		}
	}
	t := table{{"host", "median (least–most)", "target", "÷ bare", "÷ tmux"}}
	for _, s := range list {
		target := ""
		if s.name == product {
			target = fmt.Sprintf("< %d", promptTarget.Milliseconds())
		}
		m := median(ms[s.name])
		t.add(s.name, spread(ms[s.name]), target, times(m/median(ms[bare])), times(m/median(ms[tmuxPeer])))
	}
	fmt.Println()
	t.print(os.Stdout)
	return nil
}

func promptOnce(b *bed, s starter) (d time.Duration, err error) {
	h, err := s.start(b, "/bin/sh")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	at, err := h.outer.await(shows(strings.TrimSpace(prompt)))
	return at.Sub(h.outer.start), err
}

// idlePanes is how many panes do nothing.
const idlePanes = 50

// idle prints what panes cost in which nothing happens.
func idle(b *bed, o options) error {
	span := pick(o, 5*time.Second, 2*time.Second)
	fmt.Printf("\nIdle panes: CPU of the host over %s, each pane a sleep, load %s\n", span, loadAverage())
	b.skipTmux()
	t := table{{"host", "panes", "ticks of 10 ms", "ms of CPU", "of a core", "wake-ups a second"}}
	for _, s := range b.starters() {
		if s.name == bare {
			continue // there is no host
		}
		for _, panes := range []int{1, idlePanes} {
			u, err := idleOnce(b, s, panes, span)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			row := []string{s.name, strconv.Itoa(panes), none, none, none, none}
			if u.known {
				row = []string{
					s.name, strconv.Itoa(panes), strconv.FormatInt(u.ticks, 10), figure(u.run.Seconds() * 1000),
					fmt.Sprintf("%.2f %%", 100*u.run.Seconds()/span.Seconds()), figure(float64(u.switches) / span.Seconds()),
				}
			}
			t.add(row...)
		}
	}
	fmt.Println()
	t.print(os.Stdout)
	fmt.Println("honestty counts descriptors, seldom while nobody looks; tmux is its server and its client; where the system keeps no such counts there is no figure")
	return nil
}

func idleOnce(b *bed, s starter, panes int, span time.Duration) (u usage, err error) {
	h, err := s.start(b, "sleep", "3600")
	if err != nil {
		return usage{}, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	h.outer.quiet(300 * time.Millisecond)
	for range panes - 1 {
		if err := h.tab("sleep", "3600"); err != nil {
			return usage{}, err
		}
	}
	if h.server != nil {
		if err := h.server(); err != nil {
			return usage{}, err
		}
	}
	time.Sleep(2 * time.Second) // the collector and the caches of the start have come to rest
	before := usageOf(h.pids)
	time.Sleep(span)
	return usageOf(h.pids).minus(before), nil
}

// A usage is what processes have used so far.
type usage struct {
	known    bool
	ticks    int64         // as the kernel counts them for /proc/PID/stat
	run      time.Duration // as the scheduler counts them, thread by thread
	switches int64         // times that a thread waited and was woken
}

func (u usage) minus(o usage) usage {
	return usage{u.known && o.known, u.ticks - o.ticks, u.run - o.run, u.switches - o.switches}
}

func usageOf(pids []int) usage {
	u := usage{known: true}
	for _, pid := range pids {
		cpu := processCPU(pid)
		threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		if cpu < 0 || err != nil {
			return usage{}
		}
		u.ticks += int64(cpu / (10 * time.Millisecond))
		for _, t := range threads {
			dir := fmt.Sprintf("/proc/%d/task/%s/", pid, t.Name())
			u.run += threadRun(dir + "schedstat")
			u.switches += threadSwitches(dir + "status")
		}
	}
	return u
}

// threadRun is the first field of schedstat, nanoseconds; 0 for a thread that
// has ended.
func threadRun(file string) time.Duration {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(b), " ")
	ns, err := strconv.ParseInt(first, 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(ns)
}

func threadSwitches(file string) int64 {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "voluntary_ctxt_switches:"); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(rest), 10, 64)
			if err != nil {
				return 0
			}
			return n
		}
	}
	return 0
}

// hostNames are in the order of a table's columns.
func hostNames(list []starter) []string {
	var names []string
	for _, s := range list {
		names = append(names, s.name)
	}
	return names
}
