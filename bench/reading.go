package main

import (
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/honestty/honestty/tools/fdmeter"
)

// meterCommand makes this program a child that reads the meter.
const meterCommand = "meter"

var errMeterUsage = errors.New("usage: meter tick|full|files BUDGET-MS FILE")

// A meterResult is what a child prints; peers/gopsutil prints the same.
type meterResult struct {
	Readings    int    `json:"readings"`
	Descriptors int64  `json:"descriptors"` // that the last reading saw
	CPU         int64  `json:"cpu_ns"`      // user and system, collector included
	Error       string `json:"error,omitempty"`
}

// each is the milliseconds of CPU time of one reading.
func (r meterResult) each() float64 { return float64(r.CPU) / float64(r.Readings) / 1e6 }

func meterMain(args []string) {
	r, err := meter(args)
	if err != nil {
		r = meterResult{Error: err.Error()}
	}
	_ = json.NewEncoder(os.Stdout).Encode(r)
}

func meter(args []string) (meterResult, error) {
	if len(args) != 3 {
		return meterResult{}, errMeterUsage
	}
	ms, err := strconv.Atoi(args[1])
	if err != nil {
		return meterResult{}, errMeterUsage
	}
	pids, err := readPIDs(args[2])
	if err != nil {
		return meterResult{}, err
	}
	read := reading(args[0], pids)
	if read == nil {
		return meterResult{}, errMeterUsage
	}
	if _, err := read(); err != nil { // the first fills caches
		return meterResult{}, err
	}
	var r meterResult
	budget := time.Duration(ms) * time.Millisecond
	for start := cpuTime(); r.Readings == 0 || cpuTime() < start+budget; r.Readings++ {
		if r.Descriptors, err = read(); err != nil {
			return meterResult{}, err
		}
		r.CPU = int64(cpuTime() - start)
	}
	return r, nil
}

// errUnknown says that a count is unknown, so that there is nothing to compare.
var errUnknown = errors.New("a count is unknown")

// reading returns one reading of all the processes, which counts their
// descriptors, or nil when there is no such way. The first process is the root
// of the others.
func reading(name string, pids []int) func() (int64, error) {
	m := &fdmeter.Meter{}
	var one func(pid int) fdmeter.Value
	switch name {
	case "tick":
		return ticks(m, pids[0])
	case "full":
		one = func(pid int) fdmeter.Value { return m.Read(pid, time.Now()).Count }
	case "files":
		one = func(pid int) fdmeter.Value { return m.Types(pid, time.Now()).Listed }
	default:
		return nil
	}
	return func() (sum int64, err error) {
		for _, pid := range pids {
			n, known := one(pid).Get()
			if !known {
				return 0, errUnknown
			}
			sum += n
		}
		return sum, nil
	}
}

// ticks reads as a window does: it finds the tree below the root by itself and
// keeps a history. Its clock is ours, so that no tick waits for the next.
func ticks(m *fdmeter.Meter, root int) func() (int64, error) {
	s, now := fdmeter.NewSampler(m), time.Now()
	return func() (int64, error) {
		now = now.Add(s.Interval())
		n, known := s.Sample(now, []int{root}).Roots[0].Total().Get()
		if !known {
			return 0, errUnknown
		}
		return n, nil
	}
}

// readPIDs reads one pid a line, at least one.
func readPIDs(file string) ([]int, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, field := range strings.Fields(string(b)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			return nil, err
		}
		pids = append(pids, pid)
	}
	if len(pids) == 0 {
		return nil, errMeterUsage
	}
	return pids, nil
}
