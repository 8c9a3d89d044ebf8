package journal

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// began returns when a process was started, in microseconds since 1970. The
// error matches os.ErrNotExist when there is no such process; one that ended
// and waits for its parent counts as none.
func began(pid int) (uint64, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	const zombie = 5 // SZOMB of sys/proc.h
	switch {
	case errors.Is(err, unix.ESRCH), errors.Is(err, unix.EIO), err == nil && k.Proc.P_stat == zombie:
		return 0, fmt.Errorf("process %d has ended: %w", pid, os.ErrNotExist)
	case err != nil:
		return 0, err
	}
	return uint64(k.Proc.P_starttime.Sec)*1e6 + uint64(k.Proc.P_starttime.Usec), nil
}
