//go:build unix

package fdwait

import (
	"errors"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// readyRuntime makes the Go runtime open its own poller before ours takes what
// may be the last descriptors. The runtime opens it for the first timer, needs
// two descriptors on Linux, and ends the whole process when it gets none
// ("runtime: netpollinit failed"). Without room for it, that is an error here.
func readyRuntime() error {
	err := twoFree()
	if errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) {
		if runtimePolls() == no {
			return &SetupError{Op: "make room for the Go runtime's own poller", FD: -1, Err: err}
		}
		return nil
	}
	if err != nil {
		return &SetupError{Op: "pipe", FD: -1, Err: err}
	}
	time.AfterFunc(time.Hour, func() {}).Stop()
	return nil
}

// twoFree says whether two descriptors can be had, and gives them back.
func twoFree() error {
	// A child that is forked meanwhile must not inherit them.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	var fds [2]int
	if err := unix.Pipe(fds[:]); err != nil {
		return err
	}
	return errors.Join(unix.Close(fds[0]), unix.Close(fds[1]))
}

// An answer to a question about the system. The zero value claims nothing.
type answer uint8

const (
	couldNotTell answer = iota
	no
	yes
)
