package panels

import (
	"strconv"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/fdmeter"
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/vt"
)

// A detailRow is one row of a level: a heading, a sentence, or some descriptors.
type detailRow struct {
	count   string
	kind    string
	text    string
	mark    string // what is wrong with them: "3 leakable"
	into    *pick  // what Enter opens; nil: nothing
	heading bool
	caution bool // it says what is not known, or is to be looked at
	faint   bool // it belongs to the row above
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

// diffRows lays out what changed since a snapshot.
func diffRows(before, after fdmeter.Breakdown) []detailRow {
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

// drawDetail draws a level below a line that says what it is and of when.
func (f *FDs) drawDetail(c canvas, x, y, w, h int, focused bool) {
	l := f.here()
	if h <= 0 || l == nil {
		return
	}
	now := f.shown.Snapshot.At
	name := "types"
	switch {
	case f.view == viewProblems:
		name = "ghosts, deleted, leakable, inherited"
	case len(f.levels) > 1:
		name = f.trail()
	}
	pieces := []piece{{name: screen.Visible(name), value: ago(now.Sub(f.detailAt)), st: c.th.Text}}
	if f.view == viewDiff {
		pieces = []piece{
			{name: "changes since the snapshot", value: ago(now.Sub(f.since)), st: c.th.Text},
			{name: "read", value: ago(now.Sub(f.detailAt)), st: c.th.Text},
		}
	}
	if c.pieces(x+1, y, w-1, "   ", pieces) == 0 {
		c.target(x+1, y, w-2, name, c.th.Dim)
	}
	f.list = rect{x, y + 1, w, h - 1}
	l.top = max(min(l.top, len(l.rows)-f.list.h), 0)
	choice := l.choice()
	for i := range min(f.list.h, len(l.rows)-l.top) {
		c.drawDetailRow(x, y+1+i, w, l.rows[l.top+i], choice && l.top+i == l.at, focused)
	}
}

// trail says which way led to a level.
func (f *FDs) trail() string {
	words := "types"
	for _, l := range f.levels[1:] {
		words += " > " + l.title
	}
	return words
}

func (c canvas) drawDetailRow(x, y, w int, r detailRow, chosen, focused bool) {
	const countW, kindW = 8, 10
	st, dim := c.th.Text, c.th.Dim
	switch {
	case r.caution:
		st = c.th.Attention
	case r.faint:
		st = c.th.Dim
	case r.heading:
		st.Attrs |= vt.Bold
	}
	if chosen {
		st.Attrs |= vt.Bold
		if focused {
			st, dim = c.th.Chosen, c.th.Chosen
			c.s.Fill(x, y, w, 1, st)
		}
		c.s.SetText(x, y, 1, c.th.Glyphs.Pointer, st)
	}
	if r.count == "" {
		c.text(x+1, y, w-2, screen.Visible(r.text), st)
		return
	}
	if w <= countW {
		return
	}
	c.right(x+countW, y, countW-1, r.count, st)
	at := x + countW + 2
	if r.heading {
		c.text(at, y, w-countW-3, screen.Visible(r.text), st)
		return
	}
	c.text(at, y, min(kindW, w-countW-3), screen.Visible(r.kind), dim)
	room := w - countW - kindW - 4
	if mark := c.caution() + r.mark; r.mark != "" && screen.Width(mark)+2 <= room {
		room -= screen.Width(mark) + 2
		style := c.th.Attention
		if chosen && focused {
			style = st
		}
		c.s.SetText(at+kindW+1+room+2, y, screen.Width(mark), mark, style)
	}
	c.target(at+kindW+1, y, room, r.text, st)
}
