package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/vt"
)

// feedCommand makes this program a child that feeds one file to one engine.
const feedCommand = "feed"

// chunk is how much is written at once, the same for every engine.
const chunk = 32 << 10

// A feedJob is one cell of a table. Its arguments are the same for our own
// engine and for the adapters in peers/.
type feedJob struct {
	cols, rows, scrollback int
	warm, budget           time.Duration // of CPU time; budget 0: feed the file once
	file                   string
}

func (j feedJob) args() []string {
	return []string{
		feedCommand, strconv.Itoa(j.cols), strconv.Itoa(j.rows), strconv.Itoa(j.scrollback),
		strconv.FormatInt(j.warm.Milliseconds(), 10), strconv.FormatInt(j.budget.Milliseconds(), 10), j.file,
	}
}

var errUsage = errors.New("usage: feed COLS ROWS SCROLLBACK WARM-MS BUDGET-MS FILE")

func parseFeed(args []string) (feedJob, error) {
	if len(args) != 6 {
		return feedJob{}, errUsage
	}
	var n [5]int
	for i := range n {
		v, err := strconv.Atoi(args[i])
		if err != nil {
			return feedJob{}, errUsage
		}
		n[i] = v
	}
	return feedJob{
		cols: n[0], rows: n[1], scrollback: n[2], file: args[5],
		warm: time.Duration(n[3]) * time.Millisecond, budget: time.Duration(n[4]) * time.Millisecond,
	}, nil
}

// A feedResult is what a child prints.
type feedResult struct {
	Bytes   int64  `json:"bytes"`
	CPU     int64  `json:"cpu_ns"`  // user and system, collector included
	Allocs  int64  `json:"allocs"`  // -1: not counted
	Held    int64  `json:"held"`    // growth of the heap; -1: not measured
	Counted int64  `json:"counted"` // what the engine says it holds; 0: it says nothing
	Lines   int    `json:"lines"`   // in its history
	Error   string `json:"error,omitempty"`
}

// rate is MB (10⁶ bytes) per second of CPU time, 0 when nothing was measured.
func (r feedResult) rate() float64 {
	if r.CPU <= 0 {
		return 0
	}
	return float64(r.Bytes) / 1e6 / (float64(r.CPU) / 1e9)
}

func feedMain(args []string) {
	job, err := parseFeed(args)
	var r feedResult
	if err == nil {
		r, err = feed(job)
	}
	if err != nil {
		r = feedResult{Error: err.Error()}
	}
	_ = json.NewEncoder(os.Stdout).Encode(r)
}

// feed measures our engine: the file once or until warm is used without
// counting, so that the history is full, then over and over until the budget
// is used.
func feed(j feedJob) (feedResult, error) {
	data, err := os.ReadFile(j.file)
	if err != nil {
		return feedResult{}, err
	}
	before := heap()
	t := vt.New(j.cols, j.rows, vt.Options{Scrollback: j.scrollback})
	if j.budget == 0 {
		write(t, data, noEnd)
		held := heap() - before
		runtime.KeepAlive(data) // it was there before, too
		s := t.Stats()
		return feedResult{
			Bytes: int64(len(data)), Allocs: -1, Held: held,
			Counted: int64(s.HistoryBytes + s.ScreenBytes), Lines: s.HistoryLines,
		}, nil
	}
	write(t, data, cpuTime()+j.warm)
	r := feedResult{Held: -1}
	var m0, m1 runtime.MemStats
	runtime.ReadMemStats(&m0)
	start := cpuTime()
	for r.Bytes == 0 || cpuTime() < start+j.budget {
		r.Bytes += write(t, data, start+j.budget)
	}
	r.CPU = int64(cpuTime() - start)
	runtime.ReadMemStats(&m1)
	r.Allocs, r.Lines = int64(m1.Mallocs-m0.Mallocs), t.HistoryLen()
	return r, nil
}

const noEnd = time.Duration(1<<63 - 1)

// write feeds data once, or until the process has used end of CPU time, and
// returns how much it fed.
func write(t *vt.Terminal, data []byte, end time.Duration) (fed int64) {
	for len(data) > 0 {
		n := min(chunk, len(data))
		t.Write(data[:n])
		data, fed = data[n:], fed+int64(n)
		if end != noEnd && cpuTime() > end {
			break
		}
	}
	return fed
}

// heap is the bytes in use on our heap after a collection.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // the first leaves what finalizers freed
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// cpuTime is what this process has used, user and system.
func cpuTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		panic(fmt.Sprintf("getrusage of ourselves: %v", err)) // documented to be impossible
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
