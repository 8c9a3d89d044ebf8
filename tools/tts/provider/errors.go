package provider

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/honestty/honestty/outcome"
)

// A Kind is what went wrong, for a caller that decides what to do next. The
// zero value is Failed.
type Kind uint8

// The kinds of Error.
const (
	Failed      Kind = iota // the engine was asked and failed
	Config                  // a setting is missing or wrong; asking again will not help
	Missing                 // a program or voice is not on this machine
	Denied                  // the server does not accept the key
	Throttled               // the server wants to be asked later
	Unreachable             // no connection
	NotAudio                // it answered with something that is no audio
	Truncated               // the audio ended before its end
	TooLarge                // it sent more than we take
	Silent                  // it said it succeeded and made nothing
	TimedOut                // it took too long, or fell silent
	Cancelled               // the caller took the call back
	Local                   // this machine failed: no space, no descriptors
)

var kindNames = [...]string{
	"failed", "configuration", "missing", "denied", "throttled", "unreachable", "not audio",
	"truncated", "too large", "no audio", "timed out", "cancelled", "local failure",
}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("invalid(%d)", uint8(k))
}

// Final reports whether the next piece of the same text would meet the same
// error, so that asking for it is of no use.
func (k Kind) Final() bool {
	switch k {
	case Config, Missing, Denied, Throttled, Unreachable, Cancelled, Local:
		return true
	}
	return false
}

// An Error is why a provider made no audio.
type Error struct {
	Kind       Kind
	Said       string        // the engine's own words, made safe by Message; may be empty
	Do         string        // what a person can do; may be empty
	What       string        // what happened, in our words
	RetryAfter time.Duration // with Throttled; 0: the server did not say
	Err        error         // may be nil
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.What)
	if e.Said != "" {
		b.WriteString(": " + e.Said)
	}
	if e.Err != nil {
		if text := Message(outcome.Errno(bare(e.Err))); !strings.Contains(b.String(), text) {
			b.WriteString(": " + text)
		}
	}
	if e.RetryAfter > 0 {
		b.WriteString("; it may be asked again in " + outcome.Duration(e.RetryAfter))
	}
	if e.Do != "" {
		b.WriteString("; " + e.Do)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// bare takes the path off an error of package os: it is one of our own work
// folders and means nothing to a reader.
func bare(err error) error {
	if p, ok := err.(*fs.PathError); ok {
		return p.Err
	}
	return err
}

// Is lets a timeout and a cancellation be told by outcome's and context's
// sentinels too.
func (e *Error) Is(target error) bool {
	switch e.Kind {
	case TimedOut:
		return target == outcome.ErrTimeout || target == context.DeadlineExceeded
	case Cancelled:
		return target == context.Canceled
	}
	return false
}

func newError(k Kind, what string, err error) *Error {
	return &Error{Kind: k, What: what, Err: err}
}

// ended says how a request ended whose context did.
func ended(ctx context.Context, limit time.Duration) *Error {
	if errors.Is(context.Cause(ctx), context.Canceled) {
		return newError(Cancelled, "cancelled", nil)
	}
	return newError(TimedOut, "no audio within "+outcome.Duration(limit), nil)
}
