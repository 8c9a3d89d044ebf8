package process

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// pipe opens a pipe whose ends do not leak into other children. macOS has no
// pipe2, so no child may be started in between.
func pipe() (r, w int, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	var p [2]int
	if err := unix.Pipe(p[:]); err != nil {
		return -1, -1, err
	}
	unix.CloseOnExec(p[0])
	unix.CloseOnExec(p[1])
	return p[0], p[1], nil
}
