package ctl

import (
	"errors"
	"fmt"
	"strings"
)

// A Code is the kind of an Error, for programs.
type Code string

// The codes. A reader treats one that it does not know like Failed.
const (
	BadRequest    Code = "bad_request"    // the frame is no request: malformed, torn, not UTF-8
	TooLarge      Code = "too_large"      // the request, or the answer it asks for, is beyond its limit
	UnknownMethod Code = "unknown_method" // this window has no such method
	InvalidParams Code = "invalid_params" // a parameter is unknown, missing, of a wrong type or out of range
	NoSuchPane    Code = "no_such_pane"   // no pane has that id, or there is no pane at all
	NoSuchTab     Code = "no_such_tab"    // no tab has that id
	NoRoom        Code = "no_room"        // the split would leave a pane without room; nothing was opened
	NotRunning    Code = "not_running"    // the pane has no process that could take input; nothing was sent
	NotPermitted  Code = "not_permitted"  // the window belongs to another user
	Busy          Code = "busy"           // the window has as many clients as it takes
	NoDescriptors Code = "no_descriptors" // the window, or the system, has no descriptor left for one more client; nothing was read
	Cancelled     Code = "cancelled"      // the call was given up before its end
	Closing       Code = "closing"        // the window closes; what was not done is not done any more
	Failed        Code = "failed"         // it was tried and did not work; the message says why
	Internal      Code = "internal"       // the window's own mistake
)

// An Error is the answer to a call that did not work. Message is for people
// and complete without Code.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

func (e *Error) Error() string { return e.Message + " (" + string(e.Code) + ")" }

// Is matches an *Error of the same code without a message, so that a caller
// can ask for the kind: errors.Is(err, &ctl.Error{Code: ctl.NoSuchPane}).
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Message == "" && t.Code == e.Code
}

// Errorf makes an Error of a code.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// The kinds of failure that are no answer of a window.
var (
	// ErrNoWindow matches every NoWindowError.
	ErrNoWindow = errors.New("no honestty window is open")

	// ErrVersion matches every VersionError.
	ErrVersion = errors.New("the window speaks another version")

	// ErrUnanswered is a call whose connection ended before the answer came.
	ErrUnanswered = errors.New("the window closed the connection before it answered: whether the call was carried out is not known")

	// ErrSilent is a window that holds its socket open and does not answer.
	ErrSilent = errors.New("the window does not answer: it was stopped, or hangs")

	// ErrForeign is a socket whose other end belongs to another user.
	ErrForeign = errors.New("the other end belongs to another user")

	// ErrInUse is a socket of the wanted name on which a window listens.
	ErrInUse = errors.New("another window listens there")

	// ErrLocked is a folder whose lock another process keeps.
	ErrLocked = errors.New("another process keeps the lock of the socket folder")

	// ErrUnsafe matches every UnsafeError.
	ErrUnsafe = errors.New("not a private place for a socket")

	// ErrTooLong matches every LongPathError.
	ErrTooLong = errors.New("path too long for a socket")

	// ErrClosed is a call of a Server or Client that was closed.
	ErrClosed = errors.New("closed")

	// ErrProtocol is an answer that is none.
	ErrProtocol = errors.New("the window's answer is malformed")
)

// A NoWindowError says where no window was found.
type NoWindowError struct {
	Which   string   // the window that was asked for; empty for any
	Looked  []string // folders and sockets that were looked at
	Open    []string // windows that are open, by their names for Dial
	Skipped []error  // places that were not looked into, and why
}

func (e *NoWindowError) Error() string {
	var b strings.Builder
	if e.Which == "" || e.Which == Latest {
		b.WriteString(ErrNoWindow.Error())
	} else {
		fmt.Fprintf(&b, "no honestty window %s is open", e.Which)
	}
	switch {
	case len(e.Open) > 0:
		fmt.Fprintf(&b, "; open: %s", strings.Join(e.Open, ", "))
	case len(e.Looked) > 0:
		fmt.Fprintf(&b, " (looked at %s)", strings.Join(e.Looked, ", "))
	}
	for _, err := range e.Skipped {
		fmt.Fprintf(&b, "; not looked at: %v", err)
	}
	b.WriteString(": start one with \"honestty\", or name one by its pid, by the path of its socket or in " + SocketVariable)
	return b.String()
}

// Is makes every NoWindowError match ErrNoWindow.
func (e *NoWindowError) Is(target error) bool { return target == ErrNoWindow }

// Unwrap gives the reasons for which places were skipped.
func (e *NoWindowError) Unwrap() []error { return e.Skipped }

// A VersionError names both versions of the protocol.
type VersionError struct {
	Ours, Theirs int
	Window       string // the program version that the window told; may be empty
}

func (e *VersionError) Error() string {
	s := fmt.Sprintf("the window speaks version %d of the control protocol", e.Theirs)
	if e.Window != "" {
		s += fmt.Sprintf(" (honestty %s)", e.Window)
	}
	older := "this command is"
	if e.Theirs < e.Ours {
		older = "the window is"
	}
	return fmt.Sprintf("%s, this command version %d: %s older, start it anew from the same program", s, e.Ours, older)
}

// Is makes every VersionError match ErrVersion.
func (e *VersionError) Is(target error) bool { return target == ErrVersion }

// An UnsafeError names a place that others could reach or replace.
type UnsafeError struct {
	Path   string
	Reason string // what is wrong with it, as a clause: "is a symbolic link"
}

func (e *UnsafeError) Error() string { return fmt.Sprintf("%q %s", e.Path, e.Reason) }

// Is makes every UnsafeError match ErrUnsafe.
func (e *UnsafeError) Is(target error) bool { return target == ErrUnsafe }

// A LongPathError is a path that does not fit a socket address.
type LongPathError struct {
	Path string
}

func (e *LongPathError) Error() string {
	return fmt.Sprintf("socket path %q has %d bytes and the system allows %d: name a shorter one in %s",
		e.Path, len(e.Path), maxPath, SocketVariable)
}

// Is makes every LongPathError match ErrTooLong.
func (e *LongPathError) Is(target error) bool { return target == ErrTooLong }
