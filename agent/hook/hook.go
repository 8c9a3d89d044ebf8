package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/honestty/honestty/agent/claims"
	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
)

// A Log takes what is told of calls. *journal.Journal is one.
type Log interface {
	Begin(journal.Start)
	End(journal.End)
	Missing(events int64, why string) error
	Trouble() error
}

// Deps are what one event needs.
type Deps struct {
	Agent  string // one of Agents
	Log    Log
	Marks  string // folder of marks; made when it is missing
	Claims claims.Deps
	Owner  journal.Owner // the agent's process; see Owner

	// Began is when this process began: the call of an event that came after
	// it had ended by then. Zero means now.
	Began time.Time
}

// Agents are the agents whose hooks are known.
var Agents = []string{Hermes, ClaudeCode}

// The names of agents, as sources of calls have them.
const (
	Hermes     = "hermes"
	ClaudeCode = "claude-code"
)

// MaxInput bounds what an event may carry, in bytes.
const MaxInput = 16 << 20

// ErrTooLong is the note of an event that was too long to be read.
var ErrTooLong = errors.New("the event has more than " + outcome.Size(MaxInput) + " and was not recorded")

// slack is how much earlier than its record says a call may have begun: the
// record gives a duration, and the hook starts some time after the end.
const slack = 2 * time.Second

// Handle takes one event from r and journals it. An error is a note for
// people: the caller writes it on stderr and exits with 0, because an agent
// must not fail for its hook. What was lost by it is told in the journal as
// soon as an event can be journaled.
func Handle(ctx context.Context, r io.Reader, d Deps) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("handle event: the hook itself failed: %v\n%s", cause, debug.Stack())
		}
	}()
	if d.Began.IsZero() {
		d.Began = time.Now()
	}
	h := &handling{Deps: d, ctx: ctx, marks: marks{d.Marks}}
	raw, err := io.ReadAll(io.LimitReader(r, MaxInput+1))
	switch {
	case len(raw) > MaxInput:
		return h.lost(ErrTooLong)
	case err != nil:
		return h.lost(fmt.Errorf("wait for the event: %w", err))
	}
	e, err := parse(d.Agent, raw)
	if err != nil {
		return h.lost(err)
	}
	return h.event(e)
}

// A moment says where in the life of a call an event stands.
type moment uint8

const (
	before moment = iota // the call is about to begin
	after                // it has ended
	over                 // no call of the session runs any more
)

// An event is what an agent told, in one form for all agents.
type event struct {
	moment  moment
	id      string // of the call, the agent's own; may be empty
	session string
	call    claims.Call
	result  claims.Result
}

// handling is one run of Handle.
type handling struct {
	Deps
	ctx   context.Context
	marks marks
}

// lost remembers an event that nobody will find in the journal.
func (h *handling) lost(why error) error { return errors.Join(why, h.marks.lose()) }

// event journals one event.
func (h *handling) event(e event) error {
	e.call.Source.Kind, e.call.Source.Agent, e.call.Source.Session = "hook", h.Agent, e.session
	e.call.Source.PID, e.call.Owner = h.Owner.PID, h.Owner
	session := hash(h.Agent, e.session)
	var err error
	switch e.moment {
	case before:
		err = h.before(e, session)
	case after:
		err = h.after(e, session)
	default:
		for _, id := range h.marks.left(session) {
			h.Log.End(journal.End{
				Call: id, Status: outcome.Unknown, Summary: "not told",
				Error: "the agent's turn ended, and nothing told how this call did",
			})
		}
	}
	if trouble := h.Log.Trouble(); trouble != nil {
		return errors.Join(err, h.lost(trouble))
	}
	return errors.Join(err, h.tellLost())
}

// key is what the two events of a call have in common besides their session.
func key(e event) string {
	if claims.Unique(e.id) {
		return hash(e.id)
	}
	return hash(e.id, e.call.Tool, string(canonical(e.call.Args)))
}

// canonical writes JSON in one form, so that the same arguments are the same
// text.
func canonical(raw json.RawMessage) []byte {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return raw
	}
	out, err := json.Marshal(v) // keys of a map are written in order
	if err != nil {
		return raw
	}
	return out
}

func (h *handling) before(e event, session string) error {
	e.call.ID = h.newID(e)
	h.Log.Begin(e.call.Begin())
	if h.Log.Trouble() != nil {
		return nil // the caller tells it; without a mark, the end will begin the call too
	}
	if err := h.marks.begun(session, key(e), e.call.ID); err != nil {
		return fmt.Errorf("remember that a call began: %s", outcome.Errno(err))
	}
	return nil
}

// newID is the id of a call that begins.
func (h *handling) newID(e event) string {
	if claims.Unique(e.id) {
		return claims.ID("hook", h.Agent, e.session, e.id)
	}
	return uuid.Must(uuid.NewV7()).String()
}

func (h *handling) after(e event, session string) error {
	var began time.Time // when the mark was set, which was before the tool ran
	var known bool
	if claims.Unique(e.id) {
		e.call.ID = h.newID(e)
		began, known = h.marks.endedAs(session, key(e), e.call.ID)
	} else {
		e.call.ID, began = h.marks.ended(session, key(e))
		if known = e.call.ID != ""; !known {
			e.call.ID = h.newID(e)
		}
	}
	e.result.Ended = h.Began
	switch {
	case known:
		e.call.Began = began
	case e.result.Took > 0:
		e.call.Began = e.result.Ended.Add(-e.result.Took - slack)
	}
	// Looking comes first: the less time lies between the end and the look,
	// the more can be told.
	end := h.Claims.End(h.ctx, e.call, e.result)
	if !known {
		h.Log.Begin(e.call.Begin())
	}
	h.Log.End(end)
	return nil
}

// tellLost puts into the journal how many events of hooks are missing in it.
// What cannot be told now stays to be told later.
func (h *handling) tellLost() error {
	n := h.marks.found()
	if n == 0 {
		return nil
	}
	err := h.Log.Missing(int64(n), "hooks could not record them: the journal could not be written to, or the event could not be read")
	if err == nil {
		return nil
	}
	errs := []error{fmt.Errorf("tell what is missing: %w", err)}
	for range n {
		errs = append(errs, h.marks.lose())
	}
	return errors.Join(errs...)
}

// words makes a short text of any JSON value.
func words(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var o struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(raw, &o) == nil && o.Message != "" {
		return o.Message
	}
	return strings.Trim(string(raw), " \t\r\n")
}
