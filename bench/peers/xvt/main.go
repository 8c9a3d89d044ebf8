// Command xvt feeds a file to charmbracelet/x/vt and prints what that cost, in
// the form that `bench feed` prints for honestty's own engine. It is a module
// of its own so that the peer is no dependency of the product.
//
//	xvt feed COLS ROWS SCROLLBACK WARM-MS BUDGET-MS FILE
//
// Both times are CPU time. A budget of 0 feeds the file once, which is how
// memory is measured.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/charmbracelet/x/vt"
)

// chunk is how much is written at once, the same for every engine.
const chunk = 32 << 10

type result struct {
	Bytes  int64  `json:"bytes"`
	CPU    int64  `json:"cpu_ns"` // user and system, collector included
	Allocs int64  `json:"allocs"` // -1: not counted
	Held   int64  `json:"held"`   // growth of the heap; -1: not measured
	Lines  int    `json:"lines"`
	Error  string `json:"error,omitempty"`
}

func main() {
	r, err := feed(os.Args[1:])
	if err != nil {
		r = result{Error: err.Error()}
	}
	_ = json.NewEncoder(os.Stdout).Encode(r)
}

func feed(args []string) (result, error) {
	if len(args) != 7 || args[0] != "feed" {
		return result{}, fmt.Errorf("usage: xvt feed COLS ROWS SCROLLBACK WARM-MS BUDGET-MS FILE")
	}
	var n [5]int
	for i := range n {
		v, err := strconv.Atoi(args[1+i])
		if err != nil {
			return result{}, err
		}
		n[i] = v
	}
	data, err := os.ReadFile(args[6])
	if err != nil {
		return result{}, err
	}
	before := heap()
	term := vt.NewEmulator(n[0], n[1])
	term.SetScrollbackSize(n[2])
	// Replies go through a pipe without room: unread, the first one would stop
	// the engine for ever.
	go func() { _, _ = io.Copy(io.Discard, term) }()

	if n[4] == 0 {
		write(term, data, noEnd)
		held := heap() - before
		runtime.KeepAlive(data) // it was there before, too
		return result{Bytes: int64(len(data)), Allocs: -1, Held: held, Lines: term.ScrollbackLen()}, nil
	}
	write(term, data, cpuTime()+time.Duration(n[3])*time.Millisecond)
	budget := time.Duration(n[4]) * time.Millisecond
	var r result
	var m0, m1 runtime.MemStats
	runtime.ReadMemStats(&m0)
	start := cpuTime()
	for r.Bytes == 0 || cpuTime() < start+budget {
		r.Bytes += write(term, data, start+budget)
	}
	r.CPU = int64(cpuTime() - start)
	runtime.ReadMemStats(&m1)
	r.Allocs, r.Held, r.Lines = int64(m1.Mallocs-m0.Mallocs), -1, term.ScrollbackLen()
	return r, nil
}

const noEnd = time.Duration(1<<63 - 1)

// write feeds data once, or until the process has used end of CPU time, and
// returns how much it fed.
func write(term *vt.Emulator, data []byte, end time.Duration) (fed int64) {
	for len(data) > 0 {
		n := min(chunk, len(data))
		_, _ = term.Write(data[:n])
		data, fed = data[n:], fed+int64(n)
		if end != noEnd && cpuTime() > end {
			break
		}
	}
	return fed
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // the first leaves what finalizers freed
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
