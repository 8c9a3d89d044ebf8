package journal

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/honestty/honestty/outcome"
)

// A Record is one call as a list shows it. Start has no arguments and End no
// result: Detail has them.
type Record struct {
	Seq      int64 // of the start; of the end where no start is known
	Started  time.Time
	Ended    time.Time // zero while there is no end
	Start    Start
	Progress *Progress // the newest; nil when there is none
	End      *End      // nil while there is none
	Gone     bool      // it has no end, and its owner is gone: nobody will tell it
	NoStart  bool      // its start is missing: Start holds only the call
	Unseen   bool      // it ended badly and nobody looked at it since

	start, end place
}

// A State is what a call is in, as filters group it. The zero value is
// unknown.
type State uint8

// The states of a call. Those after Running are the ways to end that
// outcome.Status has, with lost and dropped told apart.
const (
	Unknown State = iota // it ended, or its owner is gone, and nobody can tell how
	Running
	Complete
	Partial
	Failed
	Lost // output is missing
	Refused
	Cancelled
	states
)

var stateWords = [states]string{"unknown", "running", "complete", "partial", "failed", "lost", "refused", "cancelled"}

func (s State) String() string {
	if s >= states {
		return fmt.Sprintf("invalid(%d)", s)
	}
	return stateWords[s]
}

// ParseState reads a word that String writes.
func ParseState(word string) (State, error) {
	if i := slices.Index(stateWords[:], word); i >= 0 {
		return State(i), nil
	}
	return Unknown, fmt.Errorf("read state: there is none called %q; there are %s", word, strings.Join(stateWords[:], ", "))
}

// Bad reports whether somebody should look at it: only running, complete and
// cancelled calls need nobody.
func (s State) Bad() bool { return s != Running && s != Complete && s != Cancelled }

// State is what the call is in.
func (r Record) State() State {
	if r.End == nil {
		if r.Gone || r.Start.Owner == (Owner{}) {
			return Unknown
		}
		return Running
	}
	if c := r.End.Capture; c != nil && *c == outcome.StateLost {
		return Lost
	}
	return endState(r.End.Status)
}

func endState(s outcome.Status) State {
	switch s {
	case outcome.Complete:
		return Complete
	case outcome.Partial:
		return Partial
	case outcome.Failed:
		return Failed
	case outcome.Refused:
		return Refused
	case outcome.Cancelled:
		return Cancelled
	}
	return Unknown
}

// Why says in one line why the call's state is unknown or what is missing of
// its record; empty when there is nothing to say.
func (r Record) Why() string {
	switch {
	case r.End == nil && r.Gone:
		return "unknown: its process ended without telling"
	case r.End == nil && r.Start.Owner == (Owner{}):
		return "unknown: its end was not recorded, and no process is known that would tell it"
	case r.NoStart:
		return "its start is missing in the journal"
	}
	return ""
}

// Contradicted reports whether something could be seen that contradicts what
// the result claims.
func (r Record) Contradicted() bool { return r.End != nil && contradicted(r.End.Checks) }

func contradicted(checks []Check) bool {
	return slices.ContainsFunc(checks, func(c Check) bool { return c.Verdict == outcome.Failed })
}

// DefaultLimit is how many calls a book holds when it is not told otherwise.
const DefaultLimit = 200_000

// A Book folds events to one record a call. It holds what lists show and asks
// nobody: no file, no process. It is for one goroutine at a time.
type Book struct {
	limit  int
	newer  []*entry // from Add, oldest first
	older  []*entry // from AddOlder, newest first
	byCall map[string]*entry
	ends   map[string]pending // of calls whose start is older than what was read
	whole  bool               // nothing older is left to read
	cut    int64              // calls that were let go for the limit
	gaps   []Event
	who    map[who]*who // one copy of what repeats
}

// A pending is what is known of a call whose start was not read yet.
type pending struct {
	seq   int64
	end   *ending
	p     *Progress
	fresh bool // the end came while the book was open
}

// NewBook returns an empty book that holds up to so many calls; 0 means
// DefaultLimit.
func NewBook(limit int) *Book {
	if limit <= 0 {
		limit = DefaultLimit
	}
	return &Book{limit: limit, byCall: map[string]*entry{}, ends: map[string]pending{}, who: map[who]*who{}}
}

// Len is how many calls the book holds.
func (b *Book) Len() int { return len(b.newer) + len(b.older) }

// Whole reports whether the book holds every call of the journal.
func (b *Book) Whole() bool { return b.whole && b.cut == 0 }

// Cut is how many calls were let go because of the limit.
func (b *Book) Cut() int64 { return b.cut }

// at returns the entry with that place in the list, 0 being the newest.
func (b *Book) at(i int) *entry {
	if i < len(b.newer) {
		return b.newer[len(b.newer)-1-i]
	}
	return b.older[i-len(b.newer)]
}

// At returns the call with that place in the list, 0 being the newest.
func (b *Book) At(i int) Record { return b.at(i).record() }

// Gaps are the newest gaps that were read, oldest first: at most 100.
func (b *Book) Gaps() []Event { return b.gaps }

const maxGaps = 100

func (b *Book) gap(e Event) {
	b.gaps = append(b.gaps, e)
	slices.SortStableFunc(b.gaps, func(x, y Event) int { return cmp.Compare(x.Seq, y.Seq) })
	if n := len(b.gaps) - maxGaps; n > 0 {
		b.gaps = slices.Delete(b.gaps, 0, n)
	}
}

// Add takes events that came after all others, in order. Calls that ended
// badly count as unseen.
func (b *Book) Add(events []Event) {
	for i := range events {
		switch e := &events[i]; {
		case e.Start != nil:
			if b.byCall[e.Start.Call] == nil {
				b.newer = append(b.newer, b.enter(e))
			}
		case e.Progress != nil:
			if n := b.byCall[e.Progress.Call]; n != nil {
				n.p = e.Progress
			} else if !b.whole {
				p := b.ends[e.Progress.Call]
				p.p = e.Progress
				b.ends[e.Progress.Call] = p
			}
		case e.End != nil:
			b.endNew(e)
		case e.Gap != nil:
			b.gap(*e)
		}
	}
	b.shrink()
}

// enter makes the entry of a start.
func (b *Book) enter(e *Event) *entry {
	s := e.Start
	n := &entry{
		seq: e.Seq, at: e.At.UnixNano(), call: s.Call, title: s.Title, live: s.Live, redacted: int32(s.Redacted),
		who: b.one(who{s.Tool, s.Source, s.Owner}), startAt: e.place,
	}
	b.byCall[s.Call] = n
	return n
}

// one returns the one copy of w.
func (b *Book) one(w who) *who {
	const most = 4096 // more do not repeat: each comes from a process of its own
	if p := b.who[w]; p != nil {
		return p
	}
	if len(b.who) >= most {
		clear(b.who)
	}
	b.who[w] = &w
	return &w
}

func (b *Book) endNew(e *Event) {
	n := b.byCall[e.End.Call]
	switch {
	case n == nil && !b.whole:
		// Its start may be among what is still to be read.
		b.wait(e, true)
		return
	case n == nil:
		n = b.orphan(e.End.Call, e.Seq)
		b.newer = append(b.newer, n)
	}
	n.finish(endingOf(e))
	n.notice()
}

// wait keeps an end until its start is read.
func (b *Book) wait(e *Event, fresh bool) {
	b.ends[e.End.Call] = pending{e.Seq, endingOf(e), b.ends[e.End.Call].p, fresh}
}

// notice marks a call that just ended as unseen when somebody should look.
func (n *entry) notice() {
	if n.state().Bad() || contradicted(n.end.checks) {
		n.flags |= unseen
	}
}

// orphan makes the entry of a call whose start is missing.
func (b *Book) orphan(call string, seq int64) *entry {
	n := &entry{seq: seq, call: call, who: b.one(who{}), flags: noStart}
	b.byCall[call] = n
	return n
}

// AddOlder takes events that came before all others, newest first, as
// Tail.Chunk returns them, and whether there are more. What ended badly before
// the book was opened counts as seen.
func (b *Book) AddOlder(events []Event, more bool) {
	for i := range events {
		switch e := &events[i]; {
		case e.Start != nil:
			b.startOld(e)
		case e.Progress != nil:
			if b.byCall[e.Progress.Call] == nil {
				if p := b.ends[e.Progress.Call]; p.p == nil {
					p.p = e.Progress
					b.ends[e.Progress.Call] = p
				}
			}
		case e.End != nil:
			if b.byCall[e.End.Call] == nil && b.ends[e.End.Call].end == nil {
				b.wait(e, false)
			}
		case e.Gap != nil:
			b.gap(*e)
		}
	}
	if !more && !b.whole {
		b.whole = true
		b.orphans()
	}
	b.shrink()
}

func (b *Book) startOld(e *Event) {
	if b.byCall[e.Start.Call] != nil {
		return
	}
	if b.Len() >= b.limit {
		delete(b.ends, e.Start.Call)
		b.cut++
		return
	}
	n := b.enter(e)
	b.older = append(b.older, n)
	if p, ok := b.ends[e.Start.Call]; ok {
		delete(b.ends, e.Start.Call)
		n.take(p)
	}
}

// take gives an entry what was known of its call before.
func (n *entry) take(p pending) {
	n.p = p.p
	if p.end == nil {
		return
	}
	n.finish(p.end)
	if p.fresh {
		n.notice()
	}
}

// orphans enters the calls whose start was not found anywhere.
func (b *Book) orphans() {
	for call, p := range b.ends {
		if p.end == nil {
			continue // progress alone tells of nothing that can be shown
		}
		n := b.orphan(call, p.seq)
		n.take(p)
		b.older = append(b.older, n)
	}
	clear(b.ends)
	slices.SortFunc(b.older, func(x, y *entry) int { return cmp.Compare(y.seq, x.seq) })
}

// shrink lets the oldest calls go where there are too many.
func (b *Book) shrink() {
	n := b.Len() - b.limit
	if n <= 0 {
		return
	}
	b.cut += int64(n)
	k := min(n, len(b.older))
	for _, e := range b.older[len(b.older)-k:] {
		delete(b.byCall, e.call)
	}
	b.older = slices.Delete(b.older, len(b.older)-k, len(b.older))
	if n -= k; n > 0 {
		for _, e := range b.newer[:n] {
			delete(b.byCall, e.call)
		}
		b.newer = slices.Delete(b.newer, 0, n)
	}
}

// Fill reads from the tail until the book has so many calls, or all.
func (b *Book) Fill(t *Tail, calls int) error {
	const step = 1 << 20
	for !b.whole && b.Len() < calls {
		events, more, err := t.Chunk(step)
		b.AddOlder(events, more)
		if err != nil {
			return err
		}
	}
	return nil
}

// Owners are the processes whose calls have no end. Ask Gone about them and
// tell the book with MarkGone.
func (b *Book) Owners() []Owner {
	known := map[Owner]bool{}
	for i := range b.Len() {
		if n := b.at(i); n.end == nil && n.flags&isGone == 0 && n.who.owner != (Owner{}) {
			known[n.who.owner] = true
		}
	}
	out := make([]Owner, 0, len(known))
	for o := range known {
		out = append(out, o)
	}
	slices.SortFunc(out, func(x, y Owner) int { return cmp.Compare(x.PID, y.PID) })
	return out
}

// MarkGone says that these processes have ended: their calls without an end
// are unknown. Those that came while the book was open count as unseen.
func (b *Book) MarkGone(gone []Owner) {
	if len(gone) == 0 {
		return
	}
	mark := func(list []*entry, add flag) {
		for _, n := range list {
			if n.end == nil && n.flags&isGone == 0 && slices.Contains(gone, n.who.owner) {
				n.flags |= isGone | add
			}
		}
	}
	mark(b.newer, unseen)
	mark(b.older, 0)
}

// Unseen are the calls that ended badly, or were contradicted, while the book
// was open and that nobody looked at, newest first.
func (b *Book) Unseen() []Record {
	var out []Record
	for i := range b.Len() {
		if n := b.at(i); n.flags&unseen != 0 {
			out = append(out, n.record())
		}
	}
	return out
}

// Seen says that somebody looked at a call. Without a call it means all.
func (b *Book) Seen(call string) {
	if call == "" {
		for i := range b.Len() {
			b.at(i).flags &^= unseen
		}
		return
	}
	if n := b.byCall[call]; n != nil {
		n.flags &^= unseen
	}
}

// ErrNoCall matches the error of a call that is not in the book.
var ErrNoCall = errors.New("no such call")

// An AmbiguousError reports several calls with the same beginning.
type AmbiguousError struct {
	Prefix string
	Calls  []string // the newest of them
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("find call: several begin with %q: %s", e.Prefix, strings.Join(e.Calls, ", "))
}

// Find returns the one call whose id begins with the prefix.
func (b *Book) Find(prefix string) (Record, error) {
	if n := b.byCall[prefix]; n != nil {
		return n.record(), nil
	}
	const shown = 5
	var found []*entry
	for i := range b.Len() {
		if n := b.at(i); prefix != "" && strings.HasPrefix(n.call, prefix) {
			found = append(found, n)
		}
	}
	switch len(found) {
	case 0:
		return Record{}, fmt.Errorf("find call: %w", ErrNoCall)
	case 1:
		return found[0].record(), nil
	}
	e := &AmbiguousError{Prefix: prefix}
	for _, n := range found[:min(len(found), shown)] {
		e.Calls = append(e.Calls, n.call)
	}
	return Record{}, e
}
