package panels

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/tui/theme"
)

// Tools is the panel of calls: one card a call, newest first, or one call
// whole. The zero value has read nothing.
//
// After each Show, TakeCall and TakeOutput the window asks Wants what has to be
// read.
type Tools struct {
	// Window is the pid of the window it is drawn in: only panes of this one
	// can be gone to.
	Window int

	book    *journal.Book
	now     time.Time
	mark    bookMark // of the book when view was selected
	filter  journal.Filter
	which   stateFilter
	view    journal.View // the calls that pass the filter
	waiting []string     // calls without an end
	still   int          // how many they were
	running int          // of these, those that run
	unseen  []string     // calls that ended badly; the first is one that nobody saw
	known   known
	agents  []agentLine       // as the last change left them
	waits   map[string]string // rules that agents wait for an answer about

	list   cardList
	seen   int64 // number of the newest call that was in view
	width  int   // of the list, when it was drawn last
	prompt textPrompt
	note   string

	open *callDetail // the call that is shown whole; nil for the list
}

// A stateFilter is one of the filters that f turns through.
type stateFilter uint8

const (
	allCalls stateFilter = iota
	failedCalls
	runningCalls
	contradictedCalls
	numStateFilters
)

var stateFilterWords = [numStateFilters]string{"", "failed", "running", "contradicted"}

// Name returns the name on the tab.
func (p *Tools) Name() string { return "Tools" }

// Badge counts running calls and points at what ended badly and nobody saw.
func (p *Tools) Badge() Badge {
	b := Badge{Count: p.running}
	if len(p.unseen) > 0 {
		b.Word, b.State = "failed", theme.Failed
	}
	return b
}

// Show takes the book after events were added to it, and the time, which counts
// for how long a call runs. It is cheap when nothing has changed.
func (p *Tools) Show(b *journal.Book, now time.Time) {
	p.book, p.now = b, now
	m := markOf(b)
	switch {
	case m.book != p.mark.book || m.oldest < p.mark.oldest: // another book, or older calls were read
		p.waiting, p.unseen, p.known = nil, nil, known{}
		p.known.add(b, recentCalls)
		p.watchAll()
		p.mark = m
		p.ended()
		p.reselect()
	case m != p.mark:
		for i := 0; i < m.length && b.At(i).Seq > p.mark.newest; i++ {
			p.watch(b.At(i))
		}
		p.known.add(b, recentCalls)
		p.mark = m
		p.ended()
		p.reselect()
	case p.ended():
		p.reselect()
	}
	p.looked()
	if p.open != nil {
		p.open.show(b)
	}
}

// A bookMark tells whether a book has other calls than before.
type bookMark struct {
	book           *journal.Book
	length         int
	newest, oldest int64
}

func markOf(b *journal.Book) bookMark {
	m := bookMark{book: b, length: b.Len()}
	if m.length > 0 {
		m.newest, m.oldest = b.At(0).Seq, b.At(m.length-1).Seq
	}
	return m
}

// maxWatched bounds the calls that are looked at for a change each time. There
// are never more that run; of agents that told no end there may be.
const maxWatched = 4096

// watchAll watches the calls of a book that is new here.
func (p *Tools) watchAll() {
	open := p.book.Select(journal.Filter{States: []journal.State{journal.Running, journal.Unknown}})
	for i := range open.Len() {
		if r := open.At(i); r.End == nil && len(p.waiting) < maxWatched {
			p.waiting = append(p.waiting, r.Start.Call)
		}
	}
	for _, r := range p.book.Unseen() {
		p.unseen = append(p.unseen, r.Start.Call)
	}
}

// watch takes a call that came in.
func (p *Tools) watch(r journal.Record) {
	switch {
	case r.Unseen:
		p.unseen = append(p.unseen, r.Start.Call)
	case r.End == nil:
		if len(p.waiting) >= maxWatched {
			p.waiting = slices.Delete(p.waiting, 0, 1)
		}
		p.waiting = append(p.waiting, r.Start.Call)
	}
}

// ended looks at the calls without an end once more. It reports whether one has
// ended since, or has lost its process.
func (p *Tools) ended() (changed bool) {
	running := 0
	p.waiting = slices.DeleteFunc(p.waiting, func(call string) bool {
		r, err := p.book.Find(call)
		if err == nil && r.State() == journal.Running {
			running++
		}
		if err == nil && r.Unseen && !slices.Contains(p.unseen, call) {
			p.unseen = append(p.unseen, call)
			changed = true
		}
		return err != nil || r.End != nil
	})
	changed = changed || running != p.running || len(p.waiting) != p.still
	p.running, p.still = running, len(p.waiting)
	return changed
}

// looked forgets the calls that somebody looked at since.
func (p *Tools) looked() {
	n := 0
	for _, call := range p.unseen {
		if r, err := p.book.Find(call); err == nil && r.Unseen {
			break
		}
		n++
	}
	p.unseen = slices.Delete(p.unseen, 0, n)
}

// reselect selects the calls that pass the filter anew.
func (p *Tools) reselect() {
	p.readAgents()
	f := p.filter
	switch p.which {
	case failedCalls:
		f.Bad = true
	case runningCalls:
		f.States = []journal.State{journal.Running}
	case contradictedCalls:
		f.Contradicted = true
	}
	p.view = p.book.Select(f)
	p.list.changed(p, p.view.Index)
}

// filtered applies another filter. The selection stays where it passes.
func (p *Tools) filtered() {
	p.note = ""
	if p.book == nil {
		return
	}
	id, picked := p.list.id, p.list.picked
	p.list.follow()
	p.seen = 0
	p.reselect()
	if i := p.view.Index(id); picked && i >= 0 {
		p.list.pick(p, i)
	}
}

// unfiltered reports whether all calls are wanted.
func (p *Tools) unfiltered() bool {
	return p.which == allCalls && p.filter.Tool == "" && p.filter.Agent == "" && p.filter.Text == ""
}

// newAbove is how many calls came in above the top of the list and were not in
// view yet. The view is ordered by number, the newest first.
func (p *Tools) newAbove() int {
	if p.seen == 0 {
		return 0
	}
	return sort.Search(min(p.list.top, p.view.Len()), func(i int) bool { return p.view.At(i).Seq <= p.seen })
}

// length, cardID and cardRows are what the list lists.
func (p *Tools) length() int         { return p.view.Len() }
func (p *Tools) cardID(i int) string { return p.view.At(i).Start.Call }
func (p *Tools) cardRows(i int) int  { return len(p.card(p.view.At(i), p.width)) }

// selected is the call that keys are about: the open one or the selected one.
func (p *Tools) selected() (journal.Record, bool) {
	switch {
	case p.open != nil:
		return p.open.record, true
	case p.list.picked && p.list.at < p.view.Len():
		return p.view.At(p.list.at), true
	}
	return journal.Record{}, false
}

// missing says how many events the journal lacks, -1 when nobody counted them,
// 0 for none. That older ones were removed for their age is no loss.
func missing(b *journal.Book) int64 {
	var n int64
	for _, e := range b.Gaps() {
		switch {
		case e.Seq == 1 && !e.Gap.Torn:
		case e.Gap.Events < 0 || n < 0:
			n = -1
		default:
			n += e.Gap.Events
		}
	}
	return n
}

// known are the tools and the agents of a book, sorted, that filters turn
// through.
type known struct {
	newest        int64 // number of the newest call that was looked at
	whole         bool  // every call was
	tools, agents []string
}

// maxKnown bounds them: nobody turns through more.
const maxKnown = 100

// recentCalls is how many calls are looked at without being asked; keys that
// turn through the filters look at all.
const recentCalls = 5000

// add looks at the calls of a book that were not looked at yet, at most so many
// of the newest.
func (k *known) add(b *journal.Book, most int) {
	n := min(b.Len(), most)
	if n == 0 {
		return
	}
	for i := 0; i < n && b.At(i).Seq > k.newest; i++ {
		k.take(b.At(i))
	}
	k.newest = b.At(0).Seq
}

// all looks at every call.
func (k *known) all(b *journal.Book) {
	if !k.whole {
		k.newest, k.whole = 0, true
		k.add(b, b.Len())
	}
}

func (k *known) take(r journal.Record) {
	for _, x := range []struct {
		list *[]string
		word string
	}{{&k.tools, r.Start.Tool}, {&k.agents, r.Start.Source.Agent}} {
		if i, found := slices.BinarySearch(*x.list, x.word); !found && x.word != "" && len(*x.list) < maxKnown {
			*x.list = slices.Insert(*x.list, i, x.word)
		}
	}
}

// turn is the word after one in a list, "" after the last one.
func turn(list []string, word string) string {
	i, found := slices.BinarySearchFunc(list, word, cmp.Compare[string])
	if found {
		i++
	}
	if word == "" {
		i = 0
	}
	if i >= len(list) {
		return ""
	}
	return list[i]
}
