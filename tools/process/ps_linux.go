package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// look reads one process from /proc/PID/stat (proc(5)).
func look(pid int) (ps, error) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ps{}, err
	}
	return parseStat(pid, raw)
}

func parseStat(pid int, raw []byte) (ps, error) {
	// The name is in parentheses and may hold any byte, ')' included.
	open, end := bytes.IndexByte(raw, '('), bytes.LastIndexByte(raw, ')')
	if open < 0 || end < open {
		return ps{}, fmt.Errorf("read stat of pid %d: no name in it", pid)
	}
	f := strings.Fields(string(raw[end+1:]))
	const state, parent, group, session, start = 0, 1, 2, 3, 19 // fields 3, 4, 5, 6 and 22
	if len(f) <= start {
		return ps{}, fmt.Errorf("read stat of pid %d: %d fields", pid, len(f))
	}
	p := ps{pid: pid, name: string(raw[open+1 : end]), ended: strings.Contains("ZXx", f[state])}
	for i, into := range map[int]*int{parent: &p.parent, group: &p.group, session: &p.session} {
		n, err := strconv.Atoi(f[i])
		if err != nil {
			return ps{}, fmt.Errorf("read stat of pid %d: %w", pid, err)
		}
		*into = n
	}
	var err error
	if p.start, err = strconv.ParseUint(f[start], 10, 64); err != nil {
		return ps{}, fmt.Errorf("read stat of pid %d: %w", pid, err)
	}
	return p, nil
}

// everybody lists the processes that can be seen. One that ends meanwhile is
// not among them.
func everybody() ([]ps, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var all []ps
	for _, n := range names {
		pid, err := strconv.Atoi(n)
		if err != nil {
			continue
		}
		p, err := look(pid)
		switch {
		case err == nil:
			all = append(all, p)
		case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
			return nil, fmt.Errorf("list processes: %w", err)
		}
	}
	return all, nil
}

// boot names this run of the system: start times count from its beginning.
func boot() string {
	raw, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

// signalChecked sends sig to the process that has this pid and started at
// start. The pidfd is opened first, so that the number cannot change hands
// between the comparison and the signal. Without one (an old kernel, no free
// descriptor) the comparison comes right before the signal.
func signalChecked(pid int, start uint64, sig unix.Signal) error {
	fd, noFD := unix.PidfdOpen(pid, 0)
	if noFD == nil {
		defer unix.Close(fd)
	} else if errors.Is(noFD, unix.ESRCH) {
		return unix.ESRCH
	}
	p, err := look(pid)
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, unix.ESRCH):
		return unix.ESRCH
	case err != nil:
		return fmt.Errorf("compare the start time of pid %d: %w", pid, err)
	case p.start != start:
		return errOtherProcess
	case noFD != nil:
		return unix.Kill(pid, sig)
	}
	return unix.PidfdSendSignal(fd, sig, nil, 0)
}
