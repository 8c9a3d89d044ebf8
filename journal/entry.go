package journal

import (
	"time"

	"github.com/honestty/honestty/outcome"
)

// An entry is a record in memory: there may be a hundred thousand, so what
// repeats is shared and what a list does not show is left in the file.
type entry struct {
	seq         int64
	at          int64 // of the start, nanoseconds since 1970; 0 when it is missing
	call, title string
	live        string
	who         *who
	p           *Progress
	end         *ending // nil while there is none
	startAt     place
	redacted    int32
	flags       flag
}

// A who is what calls have in common.
type who struct {
	tool   string
	source Source
	owner  Owner
}

// An ending is an End without its result.
type ending struct {
	at             int64
	ms             int64
	summary, error string
	checks         []Check
	place          place
	redacted       int32
	status         outcome.Status
	captured       bool // capture says something
	capture        outcome.State
}

type flag uint8

const (
	isGone flag = 1 << iota
	noStart
	unseen
)

func endingOf(e *Event) *ending {
	n := &ending{
		at: e.At.UnixNano(), ms: e.End.DurationMS, summary: e.End.Summary, error: e.End.Error, checks: e.End.Checks,
		place: e.place, redacted: int32(e.End.Redacted), status: e.End.Status,
	}
	if e.End.Capture != nil {
		n.captured, n.capture = true, *e.End.Capture
	}
	return n
}

func (n *ending) captureState() *outcome.State {
	if !n.captured {
		return nil
	}
	s := n.capture
	return &s
}

func (n *entry) finish(end *ending) {
	n.end = end
	n.flags &^= isGone
}

func (n *entry) record() Record {
	r := Record{
		Seq: n.seq, Progress: n.p, start: n.startAt,
		Start: Start{Call: n.call, Tool: n.who.tool, Title: n.title, Source: n.who.source, Live: n.live, Redacted: int(n.redacted), Owner: n.who.owner},
		Gone:  n.flags&isGone != 0, NoStart: n.flags&noStart != 0, Unseen: n.flags&unseen != 0,
	}
	if !r.NoStart {
		r.Started = time.Unix(0, n.at).UTC()
	}
	if e := n.end; e != nil {
		r.Ended, r.end = time.Unix(0, e.at).UTC(), e.place
		r.End = &End{
			Call: n.call, Status: e.status, Error: e.error, Summary: e.summary, DurationMS: e.ms,
			Checks: e.checks, Redacted: int(e.redacted), Capture: e.captureState(),
		}
	}
	return r
}

func (n *entry) state() State {
	switch {
	case n.end != nil && n.end.captured && n.end.capture == outcome.StateLost:
		return Lost
	case n.end != nil:
		return endState(n.end.status)
	case n.flags&isGone != 0 || n.who.owner == (Owner{}):
		return Unknown
	}
	return Running
}
