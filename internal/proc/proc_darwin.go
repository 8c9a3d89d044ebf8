package proc

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/outcome"
)

func sysProcAttr(_ *int, terminal bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Setctty: terminal, Ctty: 0}
}

// exitedWithoutReaping is never asked here: without a pidfd the child is
// waited for by wait4.
func exitedWithoutReaping(int) bool { return true }

// awaitWithoutReaping cannot be had on macOS: its waitid also returns when the
// child stops.
func awaitWithoutReaping(int) bool { return false }

// SealInherited marks every descriptor from 3 on as CLOEXEC. /dev/fd lists
// our own.
func SealInherited() error {
	dir, err := os.Open("/dev/fd")
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

func startTime(pid int) (uint64, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0, err
	}
	t := k.Proc.P_starttime
	return uint64(t.Sec)*1e6 + uint64(t.Usec), nil
}

// szomb is SZOMB of <sys/proc.h>.
const szomb = 5

// InSession lists the living processes of a session, without its leader.
func InSession(sid int) ([]outcome.Process, error) {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var found []outcome.Process
	for _, k := range all {
		pid := int(k.Proc.P_pid)
		if pid == sid || k.Proc.P_stat == szomb {
			continue
		}
		if s, err := unix.Getsid(pid); err == nil && s == sid {
			found = append(found, outcome.Process{PID: pid, Name: unix.ByteSliceToString(k.Proc.P_comm[:])})
		}
	}
	return found, nil
}

// errNoHolders is honest about what is not built: without cgo there is no
// list of other processes' descriptors here.
var errNoHolders = errors.New("macOS does not list other processes' descriptors without cgo")

// Holders cannot be answered on macOS yet.
func Holders(string) ([]outcome.Process, error) { return nil, errNoHolders }

// Target cannot be answered on macOS yet.
func Target(int) (string, error) { return "", errNoHolders }
