package outcome

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"
)

// A Stream is the bytes a result carries of one stream, and what is known of
// the stream as a whole.
type Stream struct {
	Bytes   []byte
	Capture Capture
}

// A Result is what one command did. The zero value claims nothing: its status
// is Unknown and its exit code is absent.
type Result struct {
	Status   Status
	Err      error // nil only when Status is Complete
	Output   Stream
	Stderr   *Stream        // only when the two streams were kept apart
	ExitCode *int           // as the OS gave it; nil when it gave none
	Signal   syscall.Signal // 0 when no signal ended it
	PID      int            // 0 when nothing was started
	Duration time.Duration
	Waiting  string   // the mechanism that waited for the output: epoll, kqueue, poll
	Notes    []string // every fallback and limit that shaped the result, in plain words
}

// Judge fills in Status and Err from what happened, in this order: it did not
// start, it was stopped (the given reason), its output is not whole, it did
// not exit with 0. Later reasons never hide earlier ones: all are joined.
func (r *Result) Judge(stopped error) {
	var errs []error
	if r.Err != nil {
		errs = append(errs, r.Err)
	}
	if stopped != nil {
		errs = append(errs, stopped)
	}
	if r.PID != 0 {
		if err := r.Output.Capture.Err("output"); err != nil {
			errs = append(errs, err)
		}
		if r.Stderr != nil {
			if err := r.Stderr.Capture.Err("stderr"); err != nil {
				errs = append(errs, err)
			}
		}
		switch {
		case r.Signal != 0:
			errs = append(errs, &ExitError{Signal: r.Signal})
		case r.ExitCode != nil && *r.ExitCode != 0:
			errs = append(errs, &ExitError{Code: *r.ExitCode})
		case r.ExitCode == nil && len(errs) == 0:
			errs = append(errs, ErrNoExit)
		}
	} else if len(errs) == 0 {
		errs = append(errs, ErrNotStarted)
	}
	r.Err = errors.Join(errs...)
	r.Status = statusOf(r, stopped)
}

func statusOf(r *Result, stopped error) Status {
	switch {
	case r.Err == nil:
		return Complete
	case errors.Is(r.Err, ErrRefused):
		return Refused
	case errors.Is(stopped, ErrTimeout):
		return Failed
	case stopped != nil:
		return Cancelled
	case errors.Is(r.Err, ErrLost), errors.Is(r.Err, ErrExit):
		return Failed
	case errors.Is(r.Err, ErrUnknownEnd), errors.Is(r.Err, ErrNoExit):
		return Unknown
	case errors.Is(r.Err, ErrDetached):
		return Partial
	}
	return Failed
}

// State is the state of the whole output: that of the worse stream, or not
// started.
func (r *Result) State() State {
	if r.PID == 0 && errors.Is(r.Err, ErrNotStarted) {
		return StateNotStarted
	}
	s := r.Output.Capture.State()
	if r.Stderr != nil {
		s = worse(s, r.Stderr.Capture.State())
	}
	return s
}

// Whole reports whether all output was read and none can follow.
func (r *Result) Whole() bool {
	s := r.State()
	return s == StateComplete || s == StateTruncated
}

func worse(a, b State) State {
	rank := func(s State) int {
		switch s {
		case StateComplete:
			return 0
		case StateTruncated:
			return 1
		case StateDetached:
			return 2
		case StateUnknown:
			return 3
		}
		return 4
	}
	if rank(b) > rank(a) {
		return b
	}
	return a
}

// Summary says in one line what is known of the output, for lists.
func (r *Result) Summary() string {
	if r.PID == 0 {
		if r.Err != nil {
			return *errLine(r.Err)
		}
		return "not started"
	}
	s := r.Output.Capture.Sentence()
	if r.Stderr != nil && (r.Stderr.Capture.Read > 0 || r.Stderr.Capture.State() != StateComplete) {
		s += "; stderr: " + r.Stderr.Capture.Sentence()
	}
	switch {
	case r.Signal != 0:
		s = SignalName(r.Signal) + "; " + s
	case r.ExitCode != nil && *r.ExitCode != 0:
		s = fmt.Sprintf("exit %d; ", *r.ExitCode) + s
	}
	return s
}

// resultJSON keeps Hermes' names (output, exit_code, error) and adds ours.
type resultJSON struct {
	Output        string          `json:"output"`
	OutputBase64  *string         `json:"output_base64,omitempty"` // the exact bytes, where output had to replace some
	Stderr        *string         `json:"stderr,omitempty"`
	StderrBase64  *string         `json:"stderr_base64,omitempty"`
	Order         *string         `json:"stream_order,omitempty"`
	ExitCode      *int            `json:"exit_code"`
	Error         *string         `json:"error"`
	Status        Status          `json:"status"`
	Signal        *string         `json:"signal"`
	PID           *int            `json:"pid"`
	DurationMS    int64           `json:"duration_ms"`
	Capture       json.RawMessage `json:"capture"`
	StderrCapture json.RawMessage `json:"stderr_capture,omitempty"`
	Waiting       string          `json:"waiting"`
	Notes         []string        `json:"notes"`
}

// MarshalJSON writes the result. Bytes that are not UTF-8 are replaced by
// U+FFFD in output, and then output_base64 carries them as they were.
func (r *Result) MarshalJSON() ([]byte, error) {
	j := resultJSON{
		ExitCode:   r.ExitCode,
		Error:      errLine(r.Err),
		Status:     r.Status,
		DurationMS: r.Duration.Milliseconds(),
		Waiting:    r.Waiting,
		Notes:      append([]string{}, r.Notes...),
	}
	if j.Error == nil && r.Status != Complete {
		s := "nobody can tell how it ended"
		j.Error = &s
	}
	if r.PID != 0 {
		j.PID = &r.PID
	}
	if r.Signal != 0 {
		s := SignalName(r.Signal)
		j.Signal = &s
	}
	var err error
	j.Output, j.OutputBase64 = text(r.Output.Bytes)
	if j.Capture, err = r.captureJSON(r.Output.Capture); err != nil {
		return nil, err
	}
	if r.Stderr != nil {
		out, exact := text(r.Stderr.Bytes)
		order := "unknown"
		j.Stderr, j.StderrBase64, j.Order = &out, exact, &order
		if j.StderrCapture, err = r.captureJSON(r.Stderr.Capture); err != nil {
			return nil, err
		}
	}
	return json.Marshal(j)
}

// captureJSON writes a capture, with the state "not started" where the
// command was not.
func (r *Result) captureJSON(c Capture) (json.RawMessage, error) {
	raw, err := json.Marshal(c)
	if err != nil || r.State() != StateNotStarted {
		return raw, err
	}
	var m captureJSON
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, err
	}
	m.State = StateNotStarted
	return json.Marshal(m)
}

func text(b []byte) (string, *string) {
	if utf8.Valid(b) {
		return string(b), nil
	}
	exact := base64.StdEncoding.EncodeToString(b)
	return strings.ToValidUTF8(string(b), "\uFFFD"), &exact
}

// errLine puts joined errors on one line: a JSON reader shows one line.
func errLine(err error) *string {
	if err == nil {
		return nil
	}
	s := strings.ReplaceAll(err.Error(), "\n", "; ")
	return &s
}
