package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/honestty/honestty/outcome"
)

// herds are how many processes are counted at once.
var herds = []int{1, 200, 1000}

// coreTarget is what part of a core, in percent, the window's meter may take
// while somebody looks at a herd of coreHerd.
const (
	coreTarget = 0.5
	coreHerd   = 200
)

// A way is one way to ask about all processes of a herd.
type way struct {
	name string
	// read takes readings until the budget is used, or one.
	read func(h *herd, budget time.Duration) (meterResult, error)
}

// A question has the ways that answer it. The first is ours.
type question struct {
	name string
	ways []way
}

// meters measures what a reading of the meter costs, beside those who count
// descriptors otherwise.
func meters(o options) error {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		fmt.Printf("\nMeter: skipped, this system has no /proc to compare with: %v\n", err)
		return nil
	}
	questions, err := allQuestions()
	if err != nil {
		return err
	}
	rounds, budget := pick(o, 5, 3), pick(o, 60*time.Millisecond, 20*time.Millisecond)
	fmt.Printf("\nMeter: ms of CPU for one reading of a herd, user and system, median of up to %d rounds in turns, load %s\n", rounds, loadAverage())
	got := map[string][][]float64{} // by way: for each herd its rounds
	var share []float64
	for i, n := range herds {
		h, err := newHerd(n)
		if err != nil {
			return err
		}
		if n == slices.Max(herds) {
			rounds = min(rounds, 3) // each takes seconds, and differs little
		}
		for range rounds {
			for _, q := range questions {
				for _, w := range q.ways {
					ms, err := h.measure(w, budget)
					if err != nil {
						return errors.Join(fmt.Errorf("%s of %d: %w", w.name, n, err), h.close())
					}
					if len(got[w.name]) == i {
						got[w.name] = append(got[w.name], nil)
					}
					got[w.name][i] = append(got[w.name][i], ms)
				}
			}
		}
		h.printWrong()
		share = append(share, median(got[tickWay][i])/10) // ms in each second, as percent
		if err := h.close(); err != nil {
			return err
		}
	}
	for _, q := range questions {
		q.print(got)
	}
	fmt.Printf("÷ honestty: how many times as much as the row of honestty costs\n")
	fmt.Printf("each process of a herd sleeps and holds %d descriptors; a program that is started for each reading counts with its start\n", herdFDs)
	fmt.Println("a tick finds the processes by itself and keeps their history; types has flags, positions and what is behind them, OpenFiles links alone")
	printShare(share)
	return panelShare(o)
}

// measure takes one way and returns the ms of CPU time of one reading.
func (h *herd) measure(w way, budget time.Duration) (ms float64, err error) {
	r, err := w.read(h, budget)
	if err != nil {
		return 0, err
	}
	return r.each(), h.check(w.name, r.Descriptors)
}

func (q question) print(got map[string][][]float64) {
	head := []string{q.name}
	for _, n := range herds {
		head = append(head, outcome.Count(int64(n)), "÷ honestty")
	}
	t := table{head}
	for k, w := range q.ways {
		row := []string{w.name}
		for i := range herds {
			ratio := ""
			if k > 0 {
				ratio = times(median(paired(got[w.name][i], got[q.ways[0].name][i])))
			}
			row = append(row, spread(got[w.name][i]), ratio)
		}
		t.add(row...)
	}
	fmt.Println()
	t.print(os.Stdout)
}

func printShare(share []float64) {
	t := table{{"a tick of the window's meter each second", "of a core", "target"}}
	for i, n := range herds {
		target := ""
		if n == coreHerd {
			target = fmt.Sprintf("< %.1f %%", coreTarget)
		}
		t.add(outcome.Count(int64(n))+" processes", fmt.Sprintf("%.2f %%", share[i]), target)
	}
	fmt.Println()
	t.print(os.Stdout)
}

// tickWay is the way of the window's meter.
const tickWay = "honestty, a tick"

// allQuestions are those that can be asked here; peers that are missing are
// named as skipped.
func allQuestions() ([]question, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ours := func(name, what string) way { return child(name, []string{self}, what) }
	count := question{"how many", []way{ours(tickWay, "tick")}}
	full := question{"how many, who, limits", []way{ours("honestty, a reading", "full")}}
	files := question{"which", []way{ours("honestty, types", "files")}}
	if argv, err := buildPeer("gopsutil"); err != nil {
		fmt.Printf("gopsutil: skipped: %v\n", err)
	} else {
		count.ways = append(count.ways, child("gopsutil, NumFDs", argv, "count"))
		full.ways = append(full.ways, child("gopsutil, the same", argv, "full"))
		files.ways = append(files.ways, child("gopsutil, OpenFiles", argv, "files"))
	}
	count.ways = append(count.ways, way{"ls /proc/PID/fd …", byLS})
	if install("lsof") {
		files.ways = append(files.ways, way{"lsof -nP -p PID,…", byLSOF})
	}
	return []question{count, full, files}, nil
}

// child is a way that a program of its own takes, which measures itself.
func child(name string, argv []string, what string) way {
	return way{name, func(h *herd, budget time.Duration) (meterResult, error) {
		args := []string{meterCommand, what, strconv.FormatInt(budget.Milliseconds(), 10), h.file}
		out, err := exec.Command(argv[0], append(argv[1:len(argv):len(argv)], args...)...).Output()
		if err != nil {
			return meterResult{}, err
		}
		var r meterResult
		if err := json.Unmarshal(out, &r); err != nil {
			return meterResult{}, fmt.Errorf("read its result: %w", err)
		}
		if r.Error != "" {
			return meterResult{}, errors.New(r.Error)
		}
		return r, nil
	}}
}

// byLS lists the folders, which is what people do without a tool.
func byLS(h *herd, _ time.Duration) (meterResult, error) {
	args := []string{}
	for _, pid := range h.pids {
		args = append(args, fmt.Sprintf("/proc/%d/fd", pid))
	}
	return started(func(line string) bool { return line != "" && !strings.HasPrefix(line, "/") }, "ls", args...)
}

// byLSOF asks lsof for descriptors alone: maps, which it also knows, would cost
// it more.
func byLSOF(h *herd, _ time.Duration) (meterResult, error) {
	list := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(h.pids)), ","), "[]")
	return started(func(line string) bool { return line != "" && !strings.HasPrefix(line, "COMMAND") },
		"lsof", "-nP", "-w", "-a", "-d", "0-1048576", "-p", list)
}

// started is one reading by a program that is started for it.
func started(counts func(line string) bool, name string, args ...string) (meterResult, error) {
	cmd := exec.Command(name, args...)
	out, err := cmd.Output()
	if err != nil {
		return meterResult{}, err
	}
	r := meterResult{Readings: 1, CPU: int64(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime())}
	for line := range strings.Lines(string(out)) {
		if counts(strings.TrimSuffix(line, "\n")) {
			r.Descriptors++
		}
	}
	return r, nil
}

// panelShare prints what the whole window takes of a core while its FDs panel
// shows a herd of coreHerd.
func panelShare(o options) (err error) {
	span := pick(o, 6*time.Second, 3*time.Second)
	b, err := newBed()
	if err != nil {
		return err
	}
	defer b.close()
	h, err := startHonestty(b, b.self, herdCommand, strconv.Itoa(coreHerd))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	if _, err := h.outer.await(shows(herdReady)); err != nil {
		return err
	}
	fmt.Printf("\nWindow with %d processes in a pane: CPU over %s, load %s\n", coreHerd, span, loadAverage())
	t := table{{"window", "ms of CPU", "of a core", "target"}}
	for _, panel := range []bool{false, true} {
		name, target := "no panel open", ""
		if panel {
			name, target = "FDs panel open", fmt.Sprintf("< %.1f %%", coreTarget)
			if err := h.outer.send([]byte("\x02f")); err != nil { // Ctrl+b f
				return err
			}
			if _, err := h.outer.await(shows(panelMark)); err != nil {
				return err
			}
		}
		time.Sleep(2 * time.Second) // what the start and the new processes cost has passed
		before := usageOf(h.pids)
		time.Sleep(span)
		u := usageOf(h.pids).minus(before)
		row := []string{name, none, none, target}
		if u.known {
			row[1], row[2] = figure(u.run.Seconds()*1000), fmt.Sprintf("%.2f %%", 100*u.run.Seconds()/span.Seconds())
		}
		t.add(row...)
	}
	fmt.Println()
	t.print(os.Stdout)
	return nil
}

// panelMark stands in the header of the FDs panel.
const panelMark = "FDs"
