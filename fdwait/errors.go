package fdwait

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

var (
	// ErrWoken is returned by one Wait and one WaitWrite after Wake. Nothing is
	// known about the descriptor.
	ErrWoken = errors.New("wait woken")

	// ErrClosed is returned once the Waiter or its Poller is closed.
	ErrClosed = errors.New("waiter closed")

	// ErrDeadline is returned when the time passed and the kernel, asked once
	// more after it had passed, still said that the descriptor is not ready.
	ErrDeadline = errors.New("wait deadline passed")

	// ErrBusy is returned when another goroutine is already inside the same
	// kind of Wait. A Waiter has one reader and one writer.
	ErrBusy = errors.New("another goroutine is in this wait")

	// ErrPollDevice refuses a character device where only poll() is left and
	// poll() does not wait for devices.
	ErrPollDevice = errors.New("poll() on macOS reports a terminal as POLLNVAL, that is as ready at once, " +
		"so waiting for it would spin or lose output; " +
		"free some descriptors and start again, so that kqueue can be used")
)

// A SetupError says that a wait could not be set up. It is never end of file:
// nothing is known about what the descriptor still carries.
type SetupError struct {
	Op  string // the step that failed, as the system calls it
	FD  int    // the descriptor, or -1 when the Poller itself was being made
	Err error
}

func (e *SetupError) Error() string {
	if e.FD < 0 {
		return fmt.Sprintf("set up waiting: %s: %v", e.Op, named(e.Err))
	}
	return fmt.Sprintf("set up waiting for descriptor %d: %s: %v", e.FD, e.Op, named(e.Err))
}

func (e *SetupError) Unwrap() error { return e.Err }

// A WaitError says that a wait that had been set up failed. It is never end of
// file and never readiness.
type WaitError struct {
	Op  string // the call that failed, as the system calls it
	FD  int    // the descriptor, or -1 when the failure meets every Waiter
	Err error
}

func (e *WaitError) Error() string {
	if e.FD < 0 {
		return fmt.Sprintf("wait: %s: %v", e.Op, named(e.Err))
	}
	return fmt.Sprintf("wait for descriptor %d: %s: %v", e.FD, e.Op, named(e.Err))
}

func (e *WaitError) Unwrap() error { return e.Err }

// named puts the errno's own name before its text: people search for EMFILE.
func named(err error) string {
	if errno, ok := errors.AsType[unix.Errno](err); ok && unix.ErrnoName(errno) != "" {
		return unix.ErrnoName(errno) + " (" + err.Error() + ")"
	}
	return err.Error()
}

// cause is the short form for a status line: the name alone where there is one.
func cause(err error) string {
	if errno, ok := errors.AsType[unix.Errno](err); ok && unix.ErrnoName(errno) != "" {
		return unix.ErrnoName(errno)
	}
	return err.Error()
}
