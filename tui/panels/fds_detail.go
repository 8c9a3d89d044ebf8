package panels

import (
	"strconv"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/fdmeter"
	"github.com/honestty/honestty/vt"
)

// A detailRow is one row of the types or of the diff: a heading, a sentence, or
// a group of descriptors.
type detailRow struct {
	count   string
	kind    string
	text    string
	heading bool
	caution bool // it says what is not known
}

func pidText(pid int) string { return strconv.Itoa(pid) }

// called names a process in a sentence.
func called(r row) string {
	if r.Name == "" && r.Command == "" {
		return "pid " + pidText(r.PID)
	}
	if r.Name == "" {
		return program(r.Reading)
	}
	return r.Name
}

func groupRows(groups []fdmeter.Group) []detailRow {
	out := make([]detailRow, 0, len(groups))
	for _, g := range groups {
		text := g.Target
		if text == string(g.Kind) {
			text = "" // sockets and pipes are one group each
		}
		out = append(out, detailRow{count: outcome.Count(int64(g.Count)), kind: string(g.Kind), text: text})
	}
	return out
}

// typeRows lays out the descriptors of a process by what they lead to.
func (f *FDs) typeRows(b fdmeter.Breakdown) []detailRow {
	if !b.Listed.Known() {
		return []detailRow{{text: "? unknown: " + b.Listed.Reason(), caution: true}}
	}
	var out []detailRow
	if b.PID == f.subject().PID && !f.of(b) {
		out = append(out, detailRow{text: "! the pid belongs to another process now", caution: true})
	}
	if b.NotInspected > 0 {
		out = append(out, detailRow{caution: true, text: "! partial: " + outcome.Count(int64(b.NotInspected)) +
			" more were not looked at, one by one would take too long"})
	}
	if n := b.Inherited; n > 0 {
		out = append(out, detailRow{text: outcome.Count(int64(n)) + " of them a child would inherit"})
	}
	if n := b.FlagsUnknown; n > 0 {
		out = append(out, detailRow{text: "? of " + outcome.Count(int64(n)) + " nobody can tell whether a child would inherit them", caution: true})
	}
	return append(out, groupRows(b.Groups())...)
}

// diffRows lays out what changed since a snapshot.
func (f *FDs) diffRows(before, after fdmeter.Breakdown) []detailRow {
	d := fdmeter.Compare(before, after)
	if !before.Listed.Known() || !after.Listed.Known() {
		return []detailRow{{text: "? unknown: " + d.Cause.String(), caution: true}}
	}
	var out []detailRow
	if d.Replaced {
		out = append(out, detailRow{caution: true, text: "! the pid belongs to another process now; nothing survived"})
	}
	if !d.Complete {
		out = append(out, detailRow{caution: true, text: "! partial: not every descriptor was looked at"})
	}
	for _, part := range []struct {
		word   string
		groups []fdmeter.Group
		always bool
	}{{"opened", d.Opened, true}, {"closed", d.Closed, true}, {"not comparable", d.Unknown, false}, {"survived", d.Survived, true}} {
		n := 0
		for _, g := range part.groups {
			n += g.Count
		}
		if n > 0 || part.always {
			out = append(out, detailRow{count: outcome.Count(int64(n)), text: part.word, heading: true})
			out = append(out, groupRows(part.groups)...)
		}
	}
	return out
}

// drawDetail draws the types or the diff below a line that says of when it is.
func (f *FDs) drawDetail(c canvas, x, y, w, h int) {
	if h <= 0 {
		return
	}
	now := f.shown.Snapshot.At
	pieces := []piece{{name: "types", value: ago(now.Sub(f.detailAt)), st: c.th.Text}}
	if f.view == viewDiff {
		pieces = []piece{
			{name: "changes since the snapshot", value: ago(now.Sub(f.since)), st: c.th.Text},
			{name: "read", value: ago(now.Sub(f.detailAt)), st: c.th.Text},
		}
	}
	c.pieces(x+1, y, w-1, "   ", pieces)
	f.list = rect{x, y + 1, w, h - 1}
	f.detailTop = max(min(f.detailTop, len(f.detail)-f.list.h), 0)
	for i := range min(f.list.h, len(f.detail)-f.detailTop) {
		c.drawDetailRow(x, y+1+i, w, f.detail[f.detailTop+i])
	}
}

func (c canvas) drawDetailRow(x, y, w int, r detailRow) {
	const countW, kindW = 8, 10
	st := c.th.Text
	switch {
	case r.caution:
		st = c.th.Attention
	case r.heading:
		st.Attrs |= vt.Bold
	}
	if r.count == "" {
		c.text(x+1, y, w-2, r.text, st)
		return
	}
	if w <= countW {
		return
	}
	c.right(x+countW, y, countW, r.count, st)
	at := x + countW + 2
	if r.heading {
		c.text(at, y, w-countW-3, r.text, st)
		return
	}
	c.text(at, y, min(kindW, w-countW-3), r.kind, c.th.Dim)
	c.target(at+kindW+1, y, w-countW-kindW-4, r.text, st)
}
