package panels

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/fdmeter"
	"github.com/honestty/honestty/tui/theme"
)

// A Pane is a pane as the FDs panel names it.
type Pane struct {
	PID   int    // its first process, one of the snapshot's roots
	Label string // "pane 1"
}

// A Reading is what the FDs panel shows.
type Reading struct {
	Snapshot fdmeter.Snapshot
	Panes    []Pane
	Waits    string // how this process waits for descriptors: "epoll"
}

// An id is one process: its pid may belong to another one later.
type id struct {
	pid   int
	birth uint64
}

// A row is one process of the table.
type row struct {
	fdmeter.Process
	mark string // "this window", "pane 1"; "" when it is neither
	root int    // the first process of its pane; 0 when it has none
}

func (r row) id() id { return id{r.PID, r.Birth} }

// A view is what stands where the table is.
type view uint8

const (
	viewTable view = iota
	viewTypes      // types, and from there on targets and descriptors
	viewDiff
	viewProblems
)

// An order is what the table is sorted by.
type order uint8

const (
	byNearest order = iota
	byCount
	byGrowth
	orders
)

func (o order) String() string {
	switch o {
	case byCount:
		return "count"
	case byGrowth:
		return "growth"
	}
	return "nearest line"
}

// FDs is the panel of descriptors. It has a subject: the selected process, or
// as long as none is selected this one. The zero value has read nothing.
type FDs struct {
	read  bool
	shown Reading
	rows  []row // in order
	order order

	picked bool
	chosen row  // a copy, so that it stays when its process ends
	gone   bool // the chosen one has ended
	top    int  // the first row that is drawn
	fresh  map[id]bool

	view     view
	levels   []level           // what stands where the table is; empty in the table
	detailAt time.Time         // when it was read
	since    time.Time         // when the snapshot of a diff was taken
	types    fdmeter.Breakdown // of the process looked at last
	typed    bool
	own      *fdmeter.Share      // what this program's parts hold, once it was asked for
	holders  *Holders            // who holds what, once it was asked for
	kept     []fdmeter.Breakdown // snapshots, the oldest first
	asked    Action              // what the view waits for
	note     string
	alarms   alarms

	list rect // where the rows were drawn last
}

// maxKept bounds the snapshots: each may hold thousands of descriptors.
const maxKept = 8

// Name returns the name on the tab.
func (f *FDs) Name() string { return "FDs" }

// Badge points at a process near a line, or at the machine being near its own.
func (f *FDs) Badge() Badge {
	if line, ok := f.shown.Snapshot.SystemLine(); ok && line.Alert() {
		return Badge{Word: "near", State: theme.Partial}
	}
	if slices.ContainsFunc(f.rows, func(r row) bool { return alarm(r.Process) }) {
		return Badge{Word: "near", State: theme.Partial}
	}
	return Badge{}
}

// Show takes a new reading. What is selected stays selected, and the row at the
// top of a scrolled table stays there.
func (f *FDs) Show(r Reading) {
	old := f.rows
	f.read, f.shown = true, r
	f.alarms.take(r.Snapshot)
	f.rows = f.sorted(r)
	f.anchor(old)
	if !f.picked {
		return
	}
	if i := f.index(f.chosen.id()); i >= 0 {
		f.chosen, f.gone = f.rows[i], false
		return
	}
	f.gone = true
	if f.view == viewTable {
		f.leaveGone(old)
	}
}

// sorted makes the rows of a reading, those without a figure last. Processes
// that are equal keep the order of pids, so that small movements do not make
// rows change places.
func (f *FDs) sorted(r Reading) []row {
	rows := make([]row, 0, len(r.Snapshot.Processes))
	for _, p := range r.Snapshot.Processes {
		rows = append(rows, r.row(p))
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(f.order.compare(a.Process, b.Process), cmp.Compare(a.PID, b.PID))
	})
	return rows
}

// compare says which of two processes comes first.
func (o order) compare(a, b fdmeter.Process) int {
	switch o {
	case byCount:
		return cmp.Compare(countOr(b, -1), countOr(a, -1))
	case byGrowth:
		return cmp.Compare(growthOr(b, math.Inf(-1)), growthOr(a, math.Inf(-1)))
	}
	return rank(b) - rank(a)
}

func countOr(p fdmeter.Process, none int64) int64 {
	if n, known := p.Count.Get(); known {
		return n
	}
	return none
}

// growthOr is the growth as it is shown: in tenths.
func growthOr(p fdmeter.Process, none float64) float64 {
	if !p.Growth.Known() {
		return none
	}
	return math.Round(p.Growth.PerMinute*10) / 10
}

// reorder sorts the table by the next figure, and begins at its top again.
func (f *FDs) reorder() {
	f.order = (f.order + 1) % orders
	f.rows = f.sorted(f.shown)
	f.top, f.fresh = 0, nil
	if f.picked && !f.gone {
		f.top = max(f.index(f.chosen.id())-max(f.list.h, 1)+1, 0)
	}
	f.note = "sorted by " + f.order.String()
}

// rank orders processes: about to hit a line, past one, by percent, unknown.
func rank(p fdmeter.Process) int {
	const step = 1000 // more than a percentage below the alert can be
	ratio, known := p.Line.Ratio()
	switch {
	case !p.HasLine || !known:
		return -1
	case p.Line.Passed():
		return step
	case p.Line.Alert():
		return 2*step + int(ratio*100)
	}
	return int(ratio * 100)
}

// row joins a process with what the window knows of it.
func (r Reading) row(p fdmeter.Process) row {
	out := row{Process: p}
	for _, root := range r.Snapshot.Roots {
		if !slices.Contains(root.Members, p.PID) && root.PID != p.PID {
			continue
		}
		for _, pane := range r.Panes {
			if pane.PID == root.PID {
				out.mark, out.root = pane.Label, pane.PID
			}
		}
	}
	if p.PID == r.Snapshot.Own.PID {
		out.mark = "this window"
	}
	return out
}

func (f *FDs) index(who id) int {
	return slices.IndexFunc(f.rows, func(r row) bool { return r.id() == who })
}

// anchor keeps the top row of a scrolled table where it is, and counts the rows
// that came in above it.
func (f *FDs) anchor(old []row) {
	if f.top == 0 || f.top >= len(old) {
		f.top = min(f.top, max(len(f.rows)-1, 0))
		return
	}
	for i := f.top; i < len(old); i++ { // the first one that still lives
		if at := f.index(old[i].id()); at >= 0 {
			f.top = at
			break
		}
	}
	f.top = min(f.top, max(len(f.rows)-1, 0))
	maps.DeleteFunc(f.fresh, func(who id, _ bool) bool { return f.index(who) < 0 })
	for _, r := range f.rows[:f.top] {
		known := slices.ContainsFunc(old, func(o row) bool { return o.id() == r.id() })
		if !known {
			if f.fresh == nil {
				f.fresh = map[id]bool{}
			}
			f.fresh[r.id()] = true
		}
	}
}

// newAbove returns how many rows came in above the top one and were not seen.
func (f *FDs) newAbove() int {
	n := 0
	for _, r := range f.rows[:min(f.top, len(f.rows))] {
		if f.fresh[r.id()] {
			n++
		}
	}
	return n
}

// seen forgets the new rows that are in view.
func (f *FDs) seen() {
	for i, r := range f.rows {
		if i >= f.top {
			delete(f.fresh, r.id())
		}
	}
}

// leaveGone selects the neighbour of a process that has ended, and says so.
func (f *FDs) leaveGone(old []row) {
	f.note = called(f.chosen) + " has ended"
	at := slices.IndexFunc(old, func(r row) bool { return r.id() == f.chosen.id() })
	f.gone, f.picked = false, len(f.rows) > 0
	if f.picked {
		f.chosen = f.rows[max(min(at, len(f.rows)-1), 0)]
	}
}

// subject is the process that the header and the keys are about.
func (f *FDs) subject() row {
	if f.picked {
		return f.chosen
	}
	return row{Process: f.shown.Snapshot.Own, mark: "this window"}
}

// snapshot returns the one kept of a process.
func (f *FDs) snapshot(pid int) (fdmeter.Breakdown, bool) {
	for _, b := range f.kept {
		if b.PID == pid {
			return b, true
		}
	}
	return fdmeter.Breakdown{}, false
}

// TakeTypes takes the answer to a ReadTypes.
func (f *FDs) TakeTypes(req ReadTypes, b fdmeter.Breakdown) {
	waited := f.asked == Action(req)
	if waited {
		f.asked, f.note = nil, ""
	}
	if waited || f.view != viewTypes || f.of(b) {
		f.types, f.typed = b, true
	}
	switch req.For {
	case Keep:
		f.keep(b)
		if f.view == viewTypes && f.of(b) {
			f.showTypes(b.At)
		}
	case Look:
		if waited {
			f.showTypes(b.At)
		}
	case Compare:
		if before, ok := f.snapshot(req.PID); ok && waited {
			f.since, f.detailAt = before.At, b.At
			f.enter(viewDiff)
			f.only("", diffRows(before, b))
		}
	}
}

// TakeOwn takes what the parts of this program hold. It comes before the
// descriptors themselves, with TakeTypes.
func (f *FDs) TakeOwn(s fdmeter.Share) { f.own = &s }

// TakeHolders takes the answer to a ReadHolders.
func (f *FDs) TakeHolders(req ReadHolders, h Holders) {
	waited := f.asked == Action(req)
	if !waited {
		return // somebody went elsewhere meanwhile
	}
	f.asked, f.note, f.holders = nil, "", &h
	if req.Problems {
		f.detailAt = h.Survey.At
		f.enter(viewProblems)
		f.only("", f.problemRows())
		return
	}
	f.layOutAgain()
}

// enter leaves another view for this one.
func (f *FDs) enter(v view) {
	if f.view != v {
		f.levels = nil
	}
	f.view = v
}

// showTypes shows the descriptors read last. A level that was open stays open.
func (f *FDs) showTypes(at time.Time) {
	f.enter(viewTypes)
	f.detailAt = at
	if len(f.levels) == 0 {
		f.descend(pick{})
		return
	}
	f.layOutAgain()
}

// of reports whether a breakdown is of the subject. A pid may be another
// process by the time it is looked at.
func (f *FDs) of(b fdmeter.Breakdown) bool {
	who := f.subject()
	return b.PID == who.PID && (b.Birth == who.Birth || b.Birth == 0 || who.Birth == 0)
}

// keep stores a snapshot in the place of an earlier one of the same process. A
// failed one leaves the earlier one alone.
func (f *FDs) keep(b fdmeter.Breakdown) {
	n, known := b.Listed.Get()
	if !known {
		f.note = "no snapshot: " + b.Listed.Reason()
		return
	}
	f.kept = slices.DeleteFunc(f.kept, func(old fdmeter.Breakdown) bool { return old.PID == b.PID })
	f.note = "snapshot kept: " + outcome.Count(n) + " descriptors"
	if len(f.kept) == maxKept {
		f.note += ", that of pid " + pidText(f.kept[0].PID) + " let go"
		f.kept = slices.Delete(f.kept, 0, 1)
	}
	f.kept = append(f.kept, b)
}
