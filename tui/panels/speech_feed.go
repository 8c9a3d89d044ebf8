package panels

import (
	"slices"
	"sort"
	"time"

	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/tui/theme"
)

// A feed is the calls of one tool as a list of cards, of which one may be shown
// whole. D is what its panel reads out of a call. The zero value has read
// nothing.
type feed[D any] struct {
	tool string

	book    *journal.Book
	now     time.Time
	mark    bookMark     // of the book when view was selected
	text    string       // only calls with this in their line
	bad     bool         // only those that did not certainly do all that was asked
	view    journal.View // the calls that pass the text
	some    []int        // of these, those that pass bad, while it is set
	waiting journal.View // the calls that may still change
	still   int          // of these, those that have no end
	running int
	unseen  []journal.Record

	details map[string]*detail[D]
	asked   map[string]bool // calls whose ReadCall is on its way

	list   cardList
	seen   int64 // number of the newest call that was in view
	width  int   // of the list, when it was drawn last
	plain  bool  // its theme
	prompt textPrompt
	note   string

	whole  bool // one call is shown whole
	record journal.Record
	reader textView
}

// A detail is what was read of one call.
type detail[D any] struct {
	start journal.Start
	end   *journal.End
	err   error
	data  D
	lines []textLine // of its text, once it was shown whole
}

// text lays the text of a call out, once.
func (d *detail[D]) text(text said[string]) []textLine {
	if d.lines == nil {
		d.lines = textLines(text)
	}
	return d.lines
}

// maxDetails is how many calls are held with arguments and result. More are
// never in view.
const maxDetails = 96

// maxOpen is how many calls without an end are looked at for a change each
// time, and maxFresh how many of those that nobody saw.
const maxOpen, maxFresh = 4096, 64

// show takes the book after events were added to it.
func (f *feed[D]) show(s cardSource, tool string, b *journal.Book, now time.Time) {
	if f.book != b {
		clear(f.asked)
	}
	f.tool, f.book, f.now = tool, b, now
	m := markOf(b)
	still, running := f.count()
	switch {
	case m != f.mark || still != f.still || running != f.running:
		f.mark = m
		f.reselect(s)
	case !f.unseenStill():
		f.unseen = f.ofTool(b.Unseen())
	}
	if f.whole {
		if r, err := b.Find(f.record.Start.Call); err == nil {
			f.record = r
		}
	}
}

// reselect selects the calls anew. The card at the top and the selected one
// stay.
func (f *feed[D]) reselect(s cardSource) {
	if f.book == nil {
		return
	}
	f.view = f.book.Select(journal.Filter{Tool: f.tool, Text: f.text})
	f.some = nil
	if f.bad {
		for i := range f.view.Len() {
			if r := f.view.At(i); r.State() != journal.Complete && r.State() != journal.Running || r.Contradicted() {
				f.some = append(f.some, i)
			}
		}
	}
	f.waiting = f.book.Select(journal.Filter{Tool: f.tool, States: []journal.State{journal.Running, journal.Unknown}})
	f.still, f.running = f.count()
	f.unseen = f.ofTool(f.book.Unseen())
	f.list.changed(s, f.index)
}

// count returns how many of the watched calls have no end, and how many of them
// run.
func (f *feed[D]) count() (still, running int) {
	for i := range min(f.waiting.Len(), maxOpen) {
		r := f.waiting.At(i)
		if r.End == nil {
			still++
		}
		if r.State() == journal.Running {
			running++
		}
	}
	return still, running
}

func (f *feed[D]) ofTool(rs []journal.Record) []journal.Record {
	return slices.DeleteFunc(rs, func(r journal.Record) bool { return r.Start.Tool != f.tool })
}

// unseenStill reports whether nobody looked at these calls since.
func (f *feed[D]) unseenStill() bool {
	for _, r := range f.unseen[:min(len(f.unseen), maxFresh)] {
		if now, err := f.book.Find(r.Start.Call); err != nil || !now.Unseen {
			return false
		}
	}
	return true
}

// badge counts what runs and points at the worst that nobody saw.
func (f *feed[D]) badge() Badge {
	b := Badge{Count: f.running}
	for _, r := range f.unseen {
		word, state := "unknown", theme.Unknown
		switch r.State() {
		case journal.Partial:
			word, state = "partial", theme.Partial
		case journal.Unknown:
		default:
			return Badge{f.running, "failed", theme.Failed}
		}
		if r.Contradicted() {
			return Badge{f.running, "failed", theme.Failed}
		}
		if b.Word == "" || state == theme.Partial {
			b.Word, b.State = word, state
		}
	}
	return b
}

// length, at and index are the calls that are listed.
func (f *feed[D]) length() int {
	if f.bad {
		return len(f.some)
	}
	return f.view.Len()
}

func (f *feed[D]) at(i int) journal.Record {
	if f.bad {
		i = f.some[i]
	}
	return f.view.At(i)
}

func (f *feed[D]) index(call string) int {
	i := f.view.Index(call)
	if !f.bad || i < 0 {
		return i
	}
	return slices.Index(f.some, i)
}

func (f *feed[D]) cardID(i int) string { return f.at(i).Start.Call }

// newAbove is how many calls came in above the top of the list and were not in
// view yet.
func (f *feed[D]) newAbove() int {
	if f.seen == 0 {
		return 0
	}
	return sort.Search(min(f.list.top, f.length()), func(i int) bool { return f.at(i).Seq <= f.seen })
}

// unfiltered reports whether all calls are wanted.
func (f *feed[D]) unfiltered() bool { return f.text == "" && !f.bad }

// filter applies another filter. The selection stays where it passes.
func (f *feed[D]) filter(s cardSource, text string, bad bool) {
	id, picked := f.list.id, f.list.picked
	f.text, f.bad, f.note, f.seen = text, bad, "", 0
	f.list.follow()
	f.reselect(s)
	if i := f.index(id); picked && i >= 0 {
		f.list.pick(s, i)
	}
}

// of returns what was read of a call, nil when nothing was.
func (f *feed[D]) of(r journal.Record) *detail[D] { return f.details[r.Start.Call] }

// maxAsked bounds the calls that are read at the same time.
const maxAsked = 16

// wants asks for the calls in view that are not read yet, or were read before
// they ended; nil when there are none.
func (f *feed[D]) wants() Action {
	var out Several
	want := func(r journal.Record) {
		call := r.Start.Call
		d := f.details[call]
		if f.asked[call] || d != nil && (d.end != nil || r.End == nil) || len(f.asked) >= maxAsked {
			return
		}
		if f.asked == nil {
			f.asked = map[string]bool{}
		}
		f.asked[call] = true
		out = append(out, ReadCall{r})
	}
	if f.book == nil {
		return nil
	}
	if f.whole {
		want(f.record)
	} else {
		last := -1
		for _, i := range f.list.drawn {
			if i != last && i >= 0 && i < f.length() {
				want(f.at(i))
			}
			last = i
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// take keeps the answer to a ReadCall. The selected card stays in view when it
// grows by that.
func (f *feed[D]) take(s cardSource, call string, d detail[D]) {
	delete(f.asked, call)
	if d.err != nil && d.end == nil && f.book != nil {
		// What a list knows of its end stands for the one that cannot be read:
		// it would be asked for again and again.
		if r, err := f.book.Find(call); err == nil {
			d.end = r.End
		}
	}
	if f.details == nil {
		f.details = map[string]*detail[D]{}
	}
	if len(f.details) >= maxDetails && f.details[call] == nil {
		f.forget()
	}
	f.details[call] = &d
	if f.list.picked && !f.whole && slices.Contains(f.list.drawn, f.list.at) {
		f.list.see(s)
	}
}

// forget lets the details go that are not in view.
func (f *feed[D]) forget() {
	keep := map[string]bool{f.record.Start.Call: f.whole}
	for _, i := range f.list.drawn {
		if i >= 0 && i < f.length() {
			keep[f.cardID(i)] = true
		}
	}
	for call := range f.details {
		if !keep[call] {
			delete(f.details, call)
		}
	}
}

// subject is the call that keys are about: the one shown whole, the selected
// one, or the one at the top.
func (f *feed[D]) subject() (journal.Record, bool) {
	switch {
	case f.whole:
		return f.record, true
	case f.list.picked && f.list.at < f.length():
		return f.at(f.list.at), true
	case f.list.top < f.length():
		return f.at(f.list.top), true
	}
	return journal.Record{}, false
}
