package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/outcome"
)

func sysProcAttr(pidfd *int, terminal bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Setctty: terminal, Ctty: 0, PidFD: pidfd}
}

// exitedWithoutReaping asks with WNOWAIT, which leaves the zombie in place.
func exitedWithoutReaping(pid int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	if err != nil {
		return errors.Is(err, unix.ECHILD) // reaped behind our back; Reap will say so
	}
	return info.Signo != 0
}

// awaitWithoutReaping blocks until the child is a zombie and leaves it one. It
// reports that it could: an error here means that nobody will ever know more,
// and Reap says so.
func awaitWithoutReaping(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, &unix.Siginfo{}, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return true
		}
	}
}

// SealInherited marks every descriptor from 3 on as CLOEXEC, so that what our
// own parent leaked into us does not go on into our children. It is called
// once, at program start.
func SealInherited() error {
	err := unix.CloseRange(3, ^uint(0)>>32, unix.CLOSE_RANGE_CLOEXEC)
	if err == nil {
		return nil
	}
	// Before Linux 5.11 there is no such flag: mark one by one.
	dir, err := os.Open("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("seal inherited descriptors: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return fmt.Errorf("seal inherited descriptors: %w", err)
	}
	for _, n := range names {
		if fd, err := strconv.Atoi(n); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

// stat is what we read of /proc/PID/stat (proc(5)).
type stat struct {
	name    string
	state   byte
	session int
	start   uint64 // clock ticks after boot
}

func readStat(pid int) (stat, error) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, err
	}
	// The name is in parentheses and may hold any byte, ')' included.
	open, end := bytes.IndexByte(raw, '('), bytes.LastIndexByte(raw, ')')
	if open < 0 || end < open {
		return stat{}, fmt.Errorf("read stat of pid %d: no name in it", pid)
	}
	f := strings.Fields(string(raw[end+1:]))
	const session, start = 3, 19 // fields 6 and 22, counted after the name
	if len(f) <= start || len(f[0]) != 1 {
		return stat{}, fmt.Errorf("read stat of pid %d: %d fields", pid, len(f))
	}
	s := stat{name: string(raw[open+1 : end]), state: f[0][0]}
	if s.session, err = strconv.Atoi(f[session]); err != nil {
		return stat{}, err
	}
	s.start, err = strconv.ParseUint(f[start], 10, 64)
	return s, err
}

func (s stat) alive() bool { return s.state != 'Z' && s.state != 'X' && s.state != 'x' }

func startTime(pid int) (uint64, error) {
	s, err := readStat(pid)
	return s.start, err
}

func pids() ([]int, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var out []int
	for _, n := range names {
		if pid, err := strconv.Atoi(n); err == nil {
			out = append(out, pid)
		}
	}
	return out, nil
}

// InSession lists the living processes of a session, without its leader.
func InSession(sid int) ([]outcome.Process, error) {
	all, err := pids()
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var found []outcome.Process
	for _, pid := range all {
		if pid == sid {
			continue
		}
		s, err := readStat(pid)
		if err == nil && s.session == sid && s.alive() {
			found = append(found, outcome.Process{PID: pid, Name: s.name})
		}
	}
	return found, nil
}

// Holders lists the living processes other than us that could still write to
// target, the file behind one of our descriptors: "pipe:[4711]" or
// "/dev/pts/4". The error says when some process could not be looked into, so
// that an empty list is not taken for proof.
func Holders(target string) ([]outcome.Process, error) {
	all, err := pids()
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	self := os.Getpid()
	var found []outcome.Process
	denied := 0
	for _, pid := range all {
		if pid == self {
			continue
		}
		holds, err := writes(pid, target)
		switch {
		case errors.Is(err, os.ErrPermission):
			denied++
		case holds:
			s, _ := readStat(pid) // the name is a courtesy; the pid is the fact
			found = append(found, outcome.Process{PID: pid, Name: s.name})
		}
	}
	if denied > 0 {
		return found, fmt.Errorf("%d processes of other users could not be looked into: %w", denied, os.ErrPermission)
	}
	return found, nil
}

// writes reports whether pid has target open for writing.
func writes(pid int, target string) (bool, error) {
	base := "/proc/" + strconv.Itoa(pid)
	dir, err := os.Open(base + "/fd")
	if err != nil {
		return false, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return false, err
	}
	for _, n := range names {
		link, err := os.Readlink(base + "/fd/" + n)
		if err == nil && link == target && opensForWriting(base+"/fdinfo/"+n) {
			return true, nil
		}
	}
	return false, nil
}

// opensForWriting reads the flags of fdinfo (octal, proc(5)). What cannot be
// read is taken as open for writing: better a holder too many than one unsaid.
func opensForWriting(fdinfo string) bool {
	raw, err := os.ReadFile(fdinfo)
	if err != nil {
		return true
	}
	_, rest, ok := strings.Cut(string(raw), "flags:")
	f := strings.Fields(rest)
	if !ok || len(f) == 0 {
		return true
	}
	flags, err := strconv.ParseInt(f[0], 8, 64)
	return err != nil || flags&unix.O_ACCMODE != unix.O_RDONLY
}

// Target names the file behind one of our descriptors as Holders wants it.
func Target(fd int) (string, error) {
	return os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
}
