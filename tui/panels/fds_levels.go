package panels

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/fdmeter"
)

// A level is one step of the way from a process to its peers: types, targets,
// descriptors. A diff and the list of problems are one level each.
type level struct {
	title string // what is shown, for the line above
	of    pick   // which descriptors; the level is laid out anew from it
	rows  []detailRow
	at    int // the chosen row, when rows can be chosen
	top   int // the first row that is drawn
}

// A set names some descriptors of a process.
type set uint8

const (
	setAll set = iota
	setKind
	setDeleted
	setLeakable
	setPart // of our own process: what one part of it holds
	setRest // of our own process: what nobody says that it holds
)

// A pick is what a level is about: a set, and of that set perhaps one target.
type pick struct {
	set    set
	kind   fdmeter.Kind // of setKind
	part   string       // of setPart
	target string       // as keyOf has it
	one    bool         // only that target
}

// opens returns what Enter opens on the row, and whether there is something.
func (r detailRow) opens() (pick, bool) {
	if r.into == nil {
		return pick{}, false
	}
	return *r.into, true
}

// here is the level that is shown; nil in the table.
func (f *FDs) here() *level {
	if len(f.levels) == 0 {
		return nil
	}
	return &f.levels[len(f.levels)-1]
}

// only makes one level of rows that cannot be opened.
func (f *FDs) only(title string, rows []detailRow) {
	top := 0
	if l := f.here(); l != nil && len(f.levels) == 1 {
		top = l.top
	}
	f.levels = []level{{title: title, rows: rows, top: top}}
}

// descend opens what the chosen row holds.
func (f *FDs) descend(p pick) {
	f.levels = append(f.levels, f.layOut(p))
}

// layOutAgain makes every level of the types anew from the descriptors read
// last. What is chosen stays chosen where it still is.
func (f *FDs) layOutAgain() {
	for i, old := range f.levels {
		now := f.layOut(old.of)
		now.top, now.at = old.top, now.first()
		if old.at < len(old.rows) {
			if was, ok := old.rows[old.at].opens(); ok {
				for j, r := range now.rows {
					if is, ok := r.opens(); ok && is == was {
						now.at = j
					}
				}
			}
		}
		f.levels[i] = now
	}
}

// layOut makes the level of a pick.
func (f *FDs) layOut(p pick) level {
	l := level{of: p}
	switch {
	case !f.types.Listed.Known():
		l.rows = []detailRow{{text: "? unknown: " + f.types.Listed.Reason(), caution: true}}
	case p.one:
		l.title, l.rows = p.target, f.descriptorRows(p)
	case p.set == setAll:
		l.rows = f.typeRows()
	default:
		l.title, l.rows = p.words(), f.targetRows(p)
	}
	if len(l.rows) == 0 {
		l.rows = []detailRow{{text: "none of them is open any more"}}
	}
	l.at = l.first()
	return l
}

// words says what a pick is.
func (p pick) words() string {
	switch p.set {
	case setKind:
		return kindText(p.kind)
	case setDeleted:
		return "deleted and open"
	case setLeakable:
		return "a child inherits"
	case setPart:
		return p.part
	case setRest:
		return restText
	}
	return ""
}

const restText = "held by nobody who says so"

// first is the first row that can be opened, 0 when there is none.
func (l *level) first() int {
	return max(slices.IndexFunc(l.rows, func(r detailRow) bool { return r.into != nil }), 0)
}

// choice reports whether rows of the level can be chosen.
func (l *level) choice() bool {
	return slices.ContainsFunc(l.rows, func(r detailRow) bool { return r.into != nil })
}

// move chooses the row by places further on that can be opened, the nearest to
// an end that it would pass, and keeps it among the h that are drawn.
func (l *level) move(by, h int) {
	if !l.choice() {
		l.top = max(min(l.top+by, len(l.rows)-h), 0)
		return
	}
	step := cmp.Compare(by, 0)
	for at, left := l.at+step, by*step; left > 0 && at >= 0 && at < len(l.rows); at, left = at+step, left-1 {
		if l.rows[at].into != nil {
			l.at = at
		}
	}
	l.top = max(min(l.top, l.at), l.at-h+1, 0)
	if l.at == l.first() {
		l.top = max(l.at-h+1, 0) // what stands above it is not chosen, and is to be seen
	}
}

// in returns the descriptors of a pick.
func (f *FDs) in(p pick) []fdmeter.FD {
	var out []fdmeter.FD
	switch p.set {
	case setDeleted:
		out = f.types.DeletedFiles()
	case setLeakable:
		out = f.types.Leakable()
	case setPart, setRest:
		out = f.held(p)
	default:
		out = f.types.FDs
	}
	return slices.DeleteFunc(slices.Clone(out), func(fd fdmeter.FD) bool {
		return p.set == setKind && fd.Kind != p.kind || p.one && keyOf(fd) != p.target
	})
}

// held is what a part of our own process holds.
func (f *FDs) held(p pick) []fdmeter.FD {
	if f.own == nil {
		return nil
	}
	if p.set == setRest {
		return f.own.Rest
	}
	for _, part := range f.own.Parts {
		if part.Label == p.part {
			return part.FDs
		}
	}
	return nil
}

// keyOf says what a descriptor leads to, so that those that lead to the same
// are one row.
func keyOf(fd fdmeter.FD) string {
	switch {
	case fd.Kind == fdmeter.KindUnreadable:
		return "? unknown: " + fd.Cause.String()
	case fd.Kind == fdmeter.KindSocket && fd.Socket != nil:
		one := fdmeter.Breakdown{FDs: []fdmeter.FD{fd}}
		return one.Peers()[0].Target
	case fd.Kind == fdmeter.KindSocket && fd.SocketCause == fdmeter.NotRead:
		return "sockets, whose peers were not looked at"
	case fd.Kind == fdmeter.KindSocket:
		return "? unknown: " + fd.SocketCause.String()
	case fd.Detail.Slave != "":
		return fd.Target + " to " + fd.Detail.Slave
	}
	if pid, known := fd.Detail.Process.Get(); fd.Kind == fdmeter.KindPidfd && known {
		return "pid " + strconv.FormatInt(pid, 10)
	}
	if fd.Deleted && fd.Kind == fdmeter.KindFile {
		return fd.Target + " (deleted)"
	}
	return fd.Target
}

// typeRows lays out the descriptors of a process by kind, and below them those
// that somebody should know of.
func (f *FDs) typeRows() []detailRow {
	b := f.types
	var out []detailRow
	if b.PID == f.subject().PID && !f.of(b) {
		out = append(out, detailRow{text: "! the pid belongs to another process now", caution: true})
	}
	if b.NotInspected > 0 {
		out = append(out, detailRow{caution: true, text: "! partial: " + outcome.Count(int64(b.NotInspected)) +
			" more were not looked at, one by one would take too long"})
	}
	if n := b.FlagsUnknown; n > 0 {
		out = append(out, detailRow{text: "? of " + outcome.Count(int64(n)) + " nobody can tell whether a child would inherit them", caution: true})
	}
	for _, kind := range kindsIn(b) {
		p := pick{set: setKind, kind: kind}
		out = append(out, detailRow{count: outcome.Count(int64(b.Counts[kind])), kind: string(kind), text: gist(f.in(p)), into: &p})
	}
	if n := len(b.DeletedFiles()); n > 0 {
		out = append(out, detailRow{count: outcome.Count(int64(n)), kind: "deleted", text: deletedSize(b.DeletedFiles()), into: &pick{set: setDeleted}, caution: true})
	}
	if n := len(b.Leakable()); n > 0 {
		out = append(out, detailRow{count: outcome.Count(int64(n)), kind: "leakable", text: "no close-on-exec: a child inherits them", into: &pick{set: setLeakable}, caution: true})
	}
	return append(out, f.ownRows()...)
}

// ownRows says what each part of this program costs.
func (f *FDs) ownRows() []detailRow {
	if f.own == nil || f.types.PID != f.shown.Snapshot.Own.PID {
		return nil
	}
	out := []detailRow{{text: "what this program's parts hold, judged by what each descriptor is open on", heading: true}}
	for _, part := range f.own.Parts {
		p := pick{set: setPart, part: part.Label}
		row := detailRow{count: outcome.Count(int64(len(part.FDs))), kind: "own", text: part.Label, into: &p}
		if len(part.Missing) > 0 {
			row.text += ", " + outcome.Count(int64(len(part.Missing))) + " of them not open any more"
		}
		out = append(out, row)
	}
	if n := len(f.own.Rest); n > 0 {
		out = append(out, detailRow{count: outcome.Count(int64(n)), kind: "rest", text: restText, into: &pick{set: setRest}})
	}
	return out
}

// kindsIn returns the kinds of a breakdown, the most frequent first.
func kindsIn(b fdmeter.Breakdown) []fdmeter.Kind {
	var out []fdmeter.Kind
	for kind := range b.Counts {
		out = append(out, kind)
	}
	slices.SortFunc(out, func(a, c fdmeter.Kind) int {
		return cmp.Or(b.Counts[c]-b.Counts[a], strings.Compare(string(a), string(c)))
	})
	return out
}

// A target is the descriptors that lead to one thing.
type target struct {
	key string
	fds []fdmeter.FD
}

// targetsOf groups descriptors by what they lead to, the largest group first.
func targetsOf(fds []fdmeter.FD) []target {
	at, out := map[string]int{}, []target{}
	for _, fd := range fds {
		key := keyOf(fd)
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, target{key: key})
		}
		out[i].fds = append(out[i].fds, fd)
	}
	slices.SortStableFunc(out, func(a, b target) int {
		return cmp.Or(len(b.fds)-len(a.fds), strings.Compare(a.key, b.key))
	})
	return out
}

// gist says in a few words where descriptors of one kind lead.
func gist(fds []fdmeter.FD) string {
	all := targetsOf(fds)
	if len(all) == 0 || strings.HasPrefix(all[0].key, "pipe:[") || strings.HasPrefix(all[0].key, "anon_inode:") {
		return ""
	}
	text := all[0].key
	if n := len(all) - 1; n > 0 {
		text += " and " + outcome.Count(int64(n)) + " more"
	}
	return text
}

// deletedSize says what files without a name keep of the disk.
func deletedSize(fds []fdmeter.FD) string {
	total, unknown := int64(0), false
	for _, fd := range fds {
		n, known := fd.Detail.Size.Get()
		total, unknown = total+n, unknown || !known
	}
	text := "files without a name keep " + outcome.Size(total) + " of the disk"
	if unknown {
		text += " at least"
	}
	return text
}

// targetRows lays out a set by where its descriptors lead.
func (f *FDs) targetRows(p pick) []detailRow {
	var out []detailRow
	for _, t := range targetsOf(f.in(p)) {
		into := p
		into.target, into.one = t.key, true
		row := detailRow{count: outcome.Count(int64(len(t.fds))), kind: string(t.fds[0].Kind), text: t.key, into: &into}
		if n := leaks(t.fds); n > 0 && p.set != setLeakable {
			row.mark = outcome.Count(int64(n)) + " leakable"
		}
		out = append(out, row)
	}
	return out
}

func leaks(fds []fdmeter.FD) int { return len(fdmeter.Breakdown{FDs: fds}.Leakable()) }

// descriptorRows lays out descriptors one by one, each with its peers below it
// where they were looked for.
func (f *FDs) descriptorRows(p pick) []detailRow {
	var out []detailRow
	for _, fd := range f.in(p) {
		row := detailRow{count: "fd " + strconv.Itoa(fd.Number), kind: string(fd.Kind), text: whole(fd)}
		switch {
		case leaks([]fdmeter.FD{fd}) > 0:
			row.mark = "leakable"
		case fd.CloseOnExec == fdmeter.MaybeUnknown:
			row.mark = "? close-on-exec"
		}
		out = append(out, row)
		for _, text := range f.peersOf(fd) {
			out = append(out, detailRow{text: "           " + text, faint: true})
		}
	}
	return out
}

// whole says all that the kernel told of one descriptor.
func whole(fd fdmeter.FD) string {
	text := keyOf(fd)
	if fd.Socket != nil {
		text = fd.Socket.Words()
		if fd.SocketCause != fdmeter.NotRead && fd.Socket.State == "" {
			text += " (" + fd.SocketCause.String() + ")"
		}
	}
	d := fd.Detail
	if n, known := d.Size.Get(); known {
		text += ", " + outcome.Size(n)
	}
	if n := len(d.Watches); n > 0 {
		text += ", watches " + outcome.Count(int64(n))
	}
	if n, known := d.Files.Get(); known && fd.Kind == fdmeter.KindInotify {
		text += ", watches " + outcome.Count(n) + " files"
	}
	if n, known := d.Counter.Get(); known && fd.Kind == fdmeter.KindEventfd {
		text += ", counter " + outcome.Count(n)
	}
	return text
}
