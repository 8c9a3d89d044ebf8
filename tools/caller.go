package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/honestty/honestty/internal/redact"
	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
)

// A Log takes what is told of calls. None of its methods fails a call.
type Log interface {
	Begin(journal.Start)
	Progress(journal.Progress)
	End(journal.End)
}

// A Caller runs tools and tells the journal of it.
type Caller struct {
	Log Log // nil: nothing is recorded

	// LiveDir holds the output of running calls, one private file each. Empty:
	// nobody can watch.
	LiveDir string

	// Ask asks the person at a window. nil: nobody is there, and what needs an
	// answer is refused.
	Ask func(ctx context.Context, s journal.Start, q Question) error

	now func() time.Time // for tests; nil: time.Now
}

// A Request is one call to make.
type Request struct {
	Source journal.Source // PID is filled in by the journal
	Dir    string         // absolute; relative paths of the parameters are meant from here
	Env    []string       // for commands; nil is our own
	Params json.RawMessage

	// Output, when set, gets the output as it comes, besides those who watch.
	Output io.Writer
	// Report, when set, is told of progress.
	Report func(done, total int64, what string)
}

// ErrNobodyToAsk is why a question was not answered with yes.
var ErrNobodyToAsk = &outcome.RefusedError{Rule: "this needs approval, and no window is open to ask in"}

// titleLength is how many bytes of a title a list can use.
const titleLength = 400

// Call runs a tool once. The answer is complete whatever happens: a tool that
// panics has failed, and says so.
func (c *Caller) Call(ctx context.Context, t Tool, r Request) (id string, a Answer) {
	id = newID()
	start := c.start(id, t, r)
	live := c.live(start.Live)
	call := &Call{ID: id, Source: r.Source, Dir: r.Dir, Env: r.Env, Live: io.Discard}
	switch {
	case live != nil && r.Output != nil:
		call.Live = both{r.Output, live}
	case live != nil:
		call.Live = live
	case r.Output != nil:
		call.Live = r.Output
	}
	call.Report = c.reporter(id, r.Report)
	call.Ask = func(ctx context.Context, q Question) error {
		if c.Ask == nil {
			return ErrNobodyToAsk
		}
		return c.ask(ctx, start, q)
	}
	if c.Log != nil {
		c.Log.Begin(start)
	}
	began := c.clock()
	a = run(ctx, t, call, r.Params)
	if live != nil {
		if err := live.Close(); err != nil {
			a.Summary = strings.TrimPrefix(a.Summary+"; the live output could not be kept: "+outcome.Errno(err), "; ")
		}
	}
	if c.Log != nil {
		c.Log.End(c.end(id, a, c.clock().Sub(began)))
	}
	return id, a
}

// ask asks at the window, and has the call shown as one that waits until then.
func (c *Caller) ask(ctx context.Context, s journal.Start, q Question) error {
	if c.Log != nil {
		c.Log.Progress(journal.Progress{Call: s.Call, What: journal.WaitsForApproval})
	}
	err := c.Ask(ctx, s, q)
	if c.Log != nil && err == nil { // else the end follows
		c.Log.Progress(journal.Progress{Call: s.Call, What: "approved"})
	}
	return err
}

func (c *Caller) clock() time.Time {
	if c.now != nil {
		return c.now()
	}
	return time.Now()
}

// newID returns a UUID of version 7. Its only error is that the machine has no
// randomness, which ends a Go program anyway.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

func (c *Caller) start(id string, t Tool, r Request) journal.Start {
	s := journal.Start{Call: id, Tool: t.Name, Source: r.Source}
	s.Source.Dir = r.Dir
	var n int
	title := ""
	if t.Title != nil {
		title = t.Title(r.Params)
	}
	s.Title, n = redact.String(shorten(title))
	s.Redacted = n
	if json.Valid(r.Params) {
		s.Args, n = redact.JSON(r.Params)
	} else { // kept as what it is: a text that is no JSON
		text, m := redact.String(string(r.Params))
		s.Args, _ = json.Marshal(text)
		n = m
	}
	s.Redacted += n
	if t.Streams && c.LiveDir != "" {
		s.Live = filepath.Join(c.LiveDir, id+".raw")
	}
	return s
}

// shorten keeps the beginning of the first line.
func shorten(title string) string {
	title, _, _ = strings.Cut(strings.TrimSpace(title), "\n")
	if len(title) > titleLength {
		title = strings.ToValidUTF8(title[:titleLength], "") + "…"
	}
	return title
}

// run calls the tool and keeps its panic from taking the program along.
func run(ctx context.Context, t Tool, c *Call, params json.RawMessage) (a Answer) {
	defer func() {
		if cause := recover(); cause != nil {
			a = Answer{Status: outcome.Failed, Err: fmt.Errorf("the tool itself failed: %v", cause)}
			a.Result = failure{Error: a.Err.Error(), Status: a.Status, Trace: string(debug.Stack())}
			a.Summary = a.Err.Error()
		}
	}()
	a = t.Run(ctx, c, params)
	if a.Err == nil && a.Status != outcome.Complete {
		a.Err = fmt.Errorf("nobody can tell why it is %s", a.Status)
	}
	return a
}

// A failure is the result of a call that has none of its own.
type failure struct {
	Error  string         `json:"error"`
	Status outcome.Status `json:"status"`
	Trace  string         `json:"trace,omitempty"`
}

// Refuse is the answer to parameters that cannot be used.
func Refuse(format string, a ...any) Answer {
	err := &outcome.RefusedError{Rule: fmt.Sprintf(format, a...)}
	return Answer{Status: outcome.Refused, Err: err, Result: failure{Error: err.Error(), Status: outcome.Refused}, Summary: err.Error()}
}

func (c *Caller) end(id string, a Answer, took time.Duration) journal.End {
	e := journal.End{Call: id, Status: a.Status, DurationMS: took.Milliseconds()}
	var n int
	e.Summary, n = redact.String(a.Summary)
	e.Redacted += n
	if a.Err != nil {
		e.Error, n = redact.String(oneLine(a.Err))
		e.Redacted += n
	}
	raw, err := json.Marshal(a.Result)
	if err != nil {
		raw, _ = json.Marshal(failure{Error: "the result could not be written: " + err.Error(), Status: outcome.Unknown})
	}
	e.Result, n = redact.JSON(raw)
	e.Redacted += n
	return e
}

// oneLine puts joined errors on one line.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// reportGap is the least time between two events of progress in the journal:
// four a second move a bar, more only fill the disk.
const reportGap = 250 * time.Millisecond

// reporter tells the caller of every step and the journal of some.
func (c *Caller) reporter(id string, report func(done, total int64, what string)) func(done, total int64, what string) {
	var mu sync.Mutex
	var last time.Time
	return func(done, total int64, what string) {
		if report != nil {
			report(done, total, what)
		}
		if c.Log == nil {
			return
		}
		mu.Lock()
		now := c.clock()
		due := now.Sub(last) >= reportGap
		if due {
			last = now
		}
		mu.Unlock()
		if due {
			c.Log.Progress(journal.Progress{Call: id, Done: done, Total: total, What: what})
		}
	}
}

// both writes to two writers. The first one's error counts: the second only
// watches.
type both struct{ first, watch io.Writer }

func (b both) Write(p []byte) (int, error) {
	_, _ = b.watch.Write(p) // a liveFile remembers its error until Close
	return b.first.Write(p)
}

// An UnknownToolError reports a name that no tool has.
type UnknownToolError struct{ Name string }

func (e *UnknownToolError) Error() string { return fmt.Sprintf("there is no tool %q", e.Name) }
