package transcript

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/honestty/honestty/agent/claims"
	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
)

// A Sink takes the calls. *journal.Journal is one.
type Sink interface {
	Begin(journal.Start)
	Progress(journal.Progress)
	End(journal.End)
}

// A Resumer is a Sink that wants to know of calls whose beginning was told
// before and whose end may come now: by an earlier run, or by this one, which has
// told since that no end seems to come.
type Resumer interface{ Resumed(journal.Start) }

// Counts are what was read of one transcript and what could not be.
type Counts struct {
	Records  int64
	Began    int64
	Ended    int64
	Open     int              // calls without an end now
	Torn     int64            // lines that are no record
	TooLong  int64            // lines that are longer than MaxLine
	Strange  map[string]int64 // records of kinds that are not known
	Orphans  int64            // ends of calls whose beginning was not read
	Forgot   int64            // open calls that were let go because there are too many
	Rewinds  int64            // the agent took a part of its session back
	Restarts int64            // the file was cut, replaced or written anew
}

const (
	maxOpen     = 1024 // calls without an end that are kept
	maxStrange  = 64   // names of unknown kinds that are kept
	maxName     = 80   // bytes of such a name
	progressGap = time.Second
	otherKinds  = "others"
)

// An openCall is a call whose end was not read yet.
type openCall struct {
	call     claims.Call
	off      int64         // where its record lies
	partial  claims.Result // what an earlier record said of the end
	progress time.Time     // when progress was last told
	given    bool          // an end was told for it already, because nothing more seemed to come
}

// A fold turns facts into calls.
type fold struct {
	ctx    context.Context
	s      Session
	claims claims.Deps
	owner  journal.Owner
	sink   Sink
	now    func() time.Time

	open   map[string]*openCall
	told   recent
	until  time.Time // records up to this time were told before the file was read again
	last   time.Time // newest time of a record
	off    int64     // of the record that is read now
	counts Counts
}

// fact takes one fact in.
func (f *fold) fact(x fact) {
	if x.at.After(f.last) {
		f.last = x.at
	}
	switch {
	case x.session != nil:
		f.s.ID = first(x.session.id, f.s.ID)
		f.s.Dir = first(x.session.dir, f.s.Dir)
	case x.began != nil:
		f.began(x.at, x.began)
	case x.ended != nil:
		f.ended(x.ended)
	case x.progress != nil:
		f.progressed(x.progress)
	case x.none != "":
		f.giveUp(x.none, true)
	case x.rewound:
		f.counts.Rewinds++
		f.giveUp("the agent took this part of its session back before its end was recorded", true)
	}
}

func (f *fold) began(at time.Time, b *began) {
	if c := f.open[b.id]; c != nil {
		c.off = f.off // written again, perhaps in another file
		return
	}
	if b.id == "" || f.told.has(b.id) || !at.IsZero() && at.Before(f.until) {
		return
	}
	c := f.enter(at, b)
	f.counts.Began++
	f.sink.Begin(c.Begin())
}

// enter makes an open call of it and returns the call as a whole. What is kept
// of it is bounded.
func (f *fold) enter(at time.Time, b *began) claims.Call {
	if len(f.open) >= maxOpen {
		f.forget()
	}
	c := claims.Call{
		ID: claims.ID("transcript", f.s.Agent, f.s.ID, b.id), Tool: b.tool, Args: b.args, Began: at,
		Source:   journal.Source{Kind: "transcript", Agent: f.s.Agent, Session: f.s.ID, Dir: first(b.dir, f.s.Dir), PID: f.owner.PID},
		Owner:    f.owner,
		DirKnown: true,
	}
	f.open[b.id] = &openCall{off: f.off, call: c.Slim()}
	return c
}

// forget lets the oldest open call go.
func (f *fold) forget() {
	oldest := slices.MinFunc(slices.Collect(maps.Keys(f.open)), func(a, b string) int { return cmp.Compare(f.open[a].off, f.open[b].off) })
	f.end(oldest, claims.Result{Missing: "more calls are open than are followed, and this was the oldest"})
	f.counts.Forgot++
}

func (f *fold) ended(e *ended) {
	c := f.open[e.id]
	if c == nil {
		if !f.told.has(e.id) && (e.Ended.IsZero() || !e.Ended.Before(f.until)) {
			f.counts.Orphans++
		}
		return
	}
	r := e.Result
	if r.Exit == nil {
		r.Exit = c.partial.Exit
	}
	if r.Took <= 0 {
		r.Took = c.partial.Took
	}
	if r.Missing != "" && !r.Refused && !r.Failed { // the rest is still to come
		c.partial = r
		return
	}
	r.Missing = ""
	f.end(e.id, r)
}

// end tells the end of an open call.
func (f *fold) end(id string, r claims.Result) {
	c := f.open[id]
	delete(f.open, id)
	f.told.add(id)
	f.counts.Ended++
	if r, ok := f.sink.(Resumer); ok && c.given {
		r.Resumed(c.call.Begin())
	}
	f.sink.End(f.claims.End(f.ctx, c.call, r))
}

func (f *fold) progressed(p *progress) {
	c := f.open[p.id]
	if c == nil || f.now().Sub(c.progress) < progressGap {
		return
	}
	c.progress = f.now()
	f.sink.Progress(journal.Progress{Call: c.call.ID, Done: p.bytes, What: p.what})
}

// giveUp tells of all open calls that nothing more is to come. When that is
// final they are closed; otherwise an end that is read later still counts.
func (f *fold) giveUp(why string, final bool) {
	for _, p := range places(f.open) {
		c := f.open[p.ID]
		r := c.partial
		r.Missing = why
		if final {
			f.end(p.ID, r)
			continue
		}
		if !c.given {
			c.given = true
			e := f.claims.End(f.ctx, c.call, r)
			e.Status = outcome.Unknown
			f.sink.End(e)
		}
	}
}

// strange counts a record of an unknown kind.
func (f *fold) strange(name string) {
	if f.counts.Strange == nil {
		f.counts.Strange = map[string]int64{}
	}
	name = name[:min(len(name), maxName)]
	if _, ok := f.counts.Strange[name]; !ok && len(f.counts.Strange) >= maxStrange {
		name = otherKinds
	}
	f.counts.Strange[name]++
}
