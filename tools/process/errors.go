package process

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/honestty/honestty/outcome"
)

// Sentinels: one for each kind of trouble that a caller tells apart.
var (
	ErrNotFound    = errors.New("no such job")               // matches every UnknownJobError
	ErrAmbiguous   = errors.New("several jobs have this id") // matches every AmbiguousError
	ErrStdinClosed = errors.New("the input of the job is closed")
	ErrInputFull   = errors.New("input refused") // matches every InputFullError
	ErrNoTerminal  = errors.New("the job has no terminal: it was started with pipes, which have no size")
	ErrNotKept     = errors.New("output not kept") // matches every NotKeptError
	ErrDetached    = errors.New("the job belongs to a host that has ended: it has no input and no terminal here any more")
	ErrInterrupted = errors.New("interrupted: the job goes on")
)

// ErrTableClosed refuses a job. It matches outcome.ErrRefused.
var ErrTableClosed error = &outcome.RefusedError{Rule: "no job is started while the program ends"}

// A UsageError reports a parameter that cannot be used. Nothing was done.
type UsageError struct {
	Param string
	Why   string
}

func (e *UsageError) Error() string        { return e.Param + ": " + e.Why }
func (e *UsageError) Is(target error) bool { return target == outcome.ErrRefused }

// An UnknownJobError reports an id that no job has.
type UnknownJobError struct{ ID string }

func (e *UnknownJobError) Error() string {
	return fmt.Sprintf("no job with the id %s: it never was, or its record was removed after its end", quote(e.ID))
}
func (e *UnknownJobError) Is(target error) bool { return target == ErrNotFound }

// An AmbiguousError reports the beginning of an id that several jobs share.
type AmbiguousError struct {
	Prefix string
	IDs    []string
}

func (e *AmbiguousError) Error() string {
	const shown = 3
	s := strings.Join(e.IDs[:min(shown, len(e.IDs))], ", ")
	if more := len(e.IDs) - shown; more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%s is the beginning of %d ids (%s): give more of it", quote(e.Prefix), len(e.IDs), s)
}
func (e *AmbiguousError) Is(target error) bool { return target == ErrAmbiguous }

// A LimitError reports that as many jobs run as may. It matches
// outcome.ErrRefused.
type LimitError struct {
	Limit  int
	Oldest Info
	Now    time.Time
}

func (e *LimitError) Error() string {
	s := fmt.Sprintf("refused: %d jobs are running, which is the limit", e.Limit)
	if e.Oldest.ID != "" {
		s += fmt.Sprintf("; the oldest is %s (%s, started %s ago)", e.Oldest.ID, quote(e.Oldest.Command),
			outcome.Duration(e.Now.Sub(e.Oldest.Started)))
	}
	return s + ": kill one, or wait for one to end, and start again"
}
func (e *LimitError) Is(target error) bool { return target == outcome.ErrRefused }

// An InputFullError reports input that was not taken because the process does
// not read. Refused bytes never reach it.
type InputFullError struct {
	Taken, Refused int
}

func (e *InputFullError) Error() string {
	return fmt.Sprintf("the job does not read its input and the queue is full: %s taken, %s refused",
		outcome.CountBytes(int64(e.Taken)), outcome.CountBytes(int64(e.Refused)))
}
func (e *InputFullError) Is(target error) bool { return target == ErrInputFull }

// A NotKeptError reports bytes that were read from the job and are not kept:
// dropped at the head of a full log, or never written because of Cause.
type NotKeptError struct {
	From, Next int64 // bytes From to Next-1; reading can go on at Next
	Cause      error // nil when the head was dropped to stay within the limit
}

func (e *NotKeptError) Error() string {
	s := fmt.Sprintf("bytes %d–%d of the output are not kept", e.From, e.Next-1)
	if e.Cause != nil {
		return s + ": " + outcome.Errno(e.Cause)
	}
	return s + ": the log was full and its head was dropped"
}
func (e *NotKeptError) Unwrap() error        { return e.Cause }
func (e *NotKeptError) Is(target error) bool { return target == ErrNotKept }

// A WaitTimeoutError reports that the job had not ended when the time to wait
// was up. The job goes on.
type WaitTimeoutError struct {
	After time.Duration
}

func (e *WaitTimeoutError) Error() string {
	return "the job is still running after " + outcome.Duration(e.After) + " of waiting; it goes on"
}
func (e *WaitTimeoutError) Is(target error) bool { return target == outcome.ErrTimeout }

// quote writes a word of the caller's so that it cannot act on a screen and
// cannot be long.
func quote(s string) string {
	const limit = 60
	if r := []rune(s); len(r) > limit {
		s = string(r[:limit]) + "…"
	}
	return strconv.QuoteToGraphic(s)
}
