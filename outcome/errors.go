package outcome

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Sentinels: one for each kind of end that a caller tells apart.
var (
	ErrLost       = errors.New("output lost")            // matches every LostError
	ErrDetached   = errors.New("output still held")      // matches every DetachedError
	ErrUnknownEnd = errors.New("end of output not seen") // matches every UnknownEndError
	ErrNoExit     = errors.New("the exit code is not known")
	ErrNotStarted = errors.New("not started")                 // matches every StartError
	ErrRefused    = errors.New("refused")                     // matches every RefusedError
	ErrTimeout    = errors.New("timed out")                   // matches every TimeoutError
	ErrExit       = errors.New("command did not exit with 0") // matches every ExitError
)

// A LostError reports bytes that existed, or may have existed, and did not
// arrive.
type LostError struct {
	Stream string
	Bytes  int64 // Uncounted: nobody counted them
	After  int64 // bytes that did arrive before
	Cause  error
}

func (e *LostError) Error() string {
	how := "an uncounted number of bytes"
	if e.Bytes > 0 {
		how = CountBytes(e.Bytes)
	}
	s := fmt.Sprintf("%s lost: %s missing after %s", e.Stream, how, CountBytes(e.After))
	if e.Cause != nil {
		s += ": " + Errno(e.Cause)
	}
	return s
}

func (e *LostError) Unwrap() error        { return e.Cause }
func (e *LostError) Is(target error) bool { return target == ErrLost }

// A DetachedError reports processes that outlived the command and may still
// write to its output.
type DetachedError struct {
	Stream  string
	Holders []Process
}

func (e *DetachedError) Error() string {
	return fmt.Sprintf("%s detached: the command ended, %s still %s it",
		e.Stream, processes(e.Holders), plural(len(e.Holders), "holds", "hold"))
}

func (e *DetachedError) Is(target error) bool { return target == ErrDetached }

// An UnknownEndError reports a stream whose end nobody saw.
type UnknownEndError struct {
	Stream string
	After  int64
	Cause  error // why nobody could tell more; may be nil
}

func (e *UnknownEndError) Error() string {
	s := fmt.Sprintf("%s unknown: its end was not seen after %s", e.Stream, CountBytes(e.After))
	if e.Cause != nil {
		s += ": " + Errno(e.Cause)
	}
	return s
}

func (e *UnknownEndError) Unwrap() error        { return e.Cause }
func (e *UnknownEndError) Is(target error) bool { return target == ErrUnknownEnd }

// A StartError reports a command that never ran. Step says what was being
// done: "open a terminal pair", "start /bin/sh".
type StartError struct {
	Step string
	Err  error
}

func (e *StartError) Error() string {
	return "did not start: " + Errno(e.Err) + " while trying to " + e.Step
}
func (e *StartError) Unwrap() error        { return e.Err }
func (e *StartError) Is(target error) bool { return target == ErrNotStarted }

// A RefusedError names the rule that forbade a call. It never carries what
// was refused: a path that cannot be trusted must not be repeated.
type RefusedError struct {
	Rule string
}

func (e *RefusedError) Error() string        { return "refused: " + e.Rule }
func (e *RefusedError) Is(target error) bool { return target == ErrRefused }

// A TimeoutError reports a command that was stopped because its time was up.
type TimeoutError struct {
	After time.Duration
}

func (e *TimeoutError) Error() string { return "timed out after " + Duration(e.After) }
func (e *TimeoutError) Is(target error) bool {
	return target == ErrTimeout || target == context.DeadlineExceeded
}

// An ExitError reports a command that ended by itself and not with 0.
type ExitError struct {
	Code   int
	Signal syscall.Signal // 0 when it exited with Code
}

func (e *ExitError) Error() string {
	if e.Signal != 0 {
		return "killed by " + SignalName(e.Signal)
	}
	return fmt.Sprintf("exit %d", e.Code)
}
func (e *ExitError) Is(target error) bool { return target == ErrExit }

// A Dropped is one thing that was asked for and not delivered.
type Dropped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Errno writes an error so that the name people search for comes with the
// words: "too many open files (EMFILE)". Other errors keep their text.
func Errno(err error) string {
	if err == nil {
		return ""
	}
	no, ok := errors.AsType[syscall.Errno](err)
	name := unix.ErrnoName(no)
	if text := err.Error(); !ok || name == "" || strings.Contains(text, name) { // it may have been through here
		return text
	}
	return err.Error() + " (" + name + ")"
}

// SignalName returns "SIGKILL" for 9, and "signal 77" for a number without a
// name.
func SignalName(s syscall.Signal) string {
	if n := unix.SignalName(s); n != "" {
		return n
	}
	return fmt.Sprintf("signal %d", int(s))
}
