// Command gopsutil counts the descriptors of processes with shirou/gopsutil and
// prints what that cost, in the form that `bench meter` prints for honestty's
// own meter. It is a module of its own so that the peer is no dependency of the
// product.
//
//	gopsutil meter count|full|files BUDGET-MS FILE
//
// FILE holds one pid a line. The budget is CPU time.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/shirou/gopsutil/v4/process"
)

type result struct {
	Readings    int    `json:"readings"`
	Descriptors int64  `json:"descriptors"` // that the last reading saw
	CPU         int64  `json:"cpu_ns"`      // user and system, collector included
	Error       string `json:"error,omitempty"`
}

func main() {
	r, err := meter(os.Args[1:])
	if err != nil {
		r = result{Error: err.Error()}
	}
	_ = json.NewEncoder(os.Stdout).Encode(r)
}

func meter(args []string) (result, error) {
	if len(args) != 4 || args[0] != "meter" {
		return result{}, fmt.Errorf("usage: gopsutil meter count|full|files BUDGET-MS FILE")
	}
	ms, err := strconv.Atoi(args[2])
	if err != nil {
		return result{}, err
	}
	pids, err := readPIDs(args[3])
	if err != nil {
		return result{}, err
	}
	read, err := way(args[1], pids)
	if err != nil {
		return result{}, err
	}
	if _, err := read(); err != nil { // the first fills caches
		return result{}, err
	}
	var r result
	budget := time.Duration(ms) * time.Millisecond
	for start := cpuTime(); r.Readings == 0 || cpuTime() < start+budget; r.Readings++ {
		if r.Descriptors, err = read(); err != nil {
			return result{}, err
		}
		r.CPU = int64(cpuTime() - start)
	}
	r.CPU = max(r.CPU, 1)
	return r, nil
}

// way returns one reading of all the processes, which counts their descriptors.
func way(name string, pids []int32) (func() (int64, error), error) {
	var one func(i int) (int64, error)
	switch name {
	case "count": // the processes are known from before
		kept := make([]*process.Process, len(pids))
		for i, pid := range pids {
			p, err := process.NewProcess(pid)
			if err != nil {
				return nil, err
			}
			kept[i] = p
		}
		one = func(i int) (int64, error) {
			n, err := kept[i].NumFDs()
			return int64(n), err
		}
	case "full":
		one = func(i int) (int64, error) { return full(pids[i]) }
	case "files":
		one = func(i int) (int64, error) {
			p, err := process.NewProcess(pids[i])
			if err != nil {
				return 0, err
			}
			files, err := p.OpenFiles()
			return int64(len(files)), err
		}
	default:
		return nil, fmt.Errorf("there is no way %q", name)
	}
	return func() (sum int64, err error) {
		for i := range pids {
			n, err := one(i)
			if err != nil {
				return 0, err
			}
			sum += n
		}
		return sum, nil
	}, nil
}

// full asks for what one reading of honestty's has and gopsutil can tell: who
// the process is, its command line, count and limits.
func full(pid int32) (int64, error) {
	p, err := process.NewProcess(pid)
	if err != nil {
		return 0, err
	}
	if _, err := p.Name(); err != nil {
		return 0, err
	}
	if _, err := p.Ppid(); err != nil {
		return 0, err
	}
	if _, err := p.CreateTime(); err != nil {
		return 0, err
	}
	if _, err := p.CmdlineSlice(); err != nil {
		return 0, err
	}
	if _, err := p.Rlimit(); err != nil {
		return 0, err
	}
	n, err := p.NumFDs()
	return int64(n), err
}

func readPIDs(file string) ([]int32, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var pids []int32
	for _, field := range strings.Fields(string(b)) {
		pid, err := strconv.ParseInt(field, 10, 32)
		if err != nil {
			return nil, err
		}
		pids = append(pids, int32(pid))
	}
	return pids, nil
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
