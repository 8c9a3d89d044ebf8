package process

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// szomb is SZOMB of <sys/proc.h>.
const szomb = 5

// look reads one process from the kernel's table.
func look(pid int) (ps, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		// For a pid that nobody has the kernel returns no record, and the
		// wrapper makes EIO of that.
		if errors.Is(err, unix.EIO) {
			return ps{}, unix.ESRCH
		}
		return ps{}, err
	}
	return fromKernel(k), nil
}

func fromKernel(k *unix.KinfoProc) ps {
	p := ps{
		pid: int(k.Proc.P_pid), parent: int(k.Eproc.Ppid), group: int(k.Eproc.Pgid),
		start: uint64(k.Proc.P_starttime.Sec)*1e6 + uint64(k.Proc.P_starttime.Usec),
		ended: k.Proc.P_stat == szomb,
		name:  unix.ByteSliceToString(k.Proc.P_comm[:]),
	}
	if sid, err := unix.Getsid(p.pid); err == nil {
		p.session = sid
	}
	return p
}

// everybody lists the processes that can be seen.
func everybody() ([]ps, error) {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	all := make([]ps, 0, len(list))
	for i := range list {
		all = append(all, fromKernel(&list[i]))
	}
	return all, nil
}

// boot is empty: start times are times of day here, and differ after a boot.
func boot() string { return "" }

// signalChecked sends sig to the process that has this pid and started at
// start. There is no pidfd here: the comparison comes right before the signal.
func signalChecked(pid int, start uint64, sig unix.Signal) error {
	p, err := look(pid)
	switch {
	case err != nil:
		return err
	case p.start != start:
		return errOtherProcess
	}
	return unix.Kill(pid, sig)
}
