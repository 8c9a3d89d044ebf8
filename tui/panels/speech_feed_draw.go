package panels

import (
	"slices"
	"strings"

	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
	"github.com/honestty/honestty/vt"
)

// A feedPanel is what a feed draws through: the panel that it belongs to.
type feedPanel interface {
	cardSource
	noun() string    // of one call: "message"
	nothing() string // why there is none, where no filter is the reason
	drawCard(c canvas, x, y, w, rows, i int, focused bool)
	drawFirst(c canvas, x, y, w int, r journal.Record, st [3]vt.Style)
	sections(r journal.Record) []textSection // a call whole
	hints() []piece                          // those that do something now
}

// draw draws the list, the call that is shown whole, or the keys.
func (f *feed[D]) draw(s *screen.Screen, p feedPanel, x, y, w, h int, focused bool, th theme.Theme) {
	c := canvas{s, &th}
	s.Fill(x, y, w, h, th.Text)
	if w < 2 || h < 1 {
		f.list.area, f.list.drawn = rect{}, f.list.drawn[:0]
		return
	}
	f.plain = th.Plain
	switch {
	case f.whole:
		f.drawWhole(c, p, x, y, w, h, focused)
		return
	case f.book == nil:
		c.text(x+1, y, w-2, "? unknown: the journal is not read yet", th.Dim)
		return
	}
	f.width = w
	if h >= minHead {
		f.drawHead(c, p, x+1, y, w-2)
		y, h = y+1, h-1
	}
	if h >= minHead {
		h--
		f.drawFoot(c, x+1, y+h, w-2, focused, p.hints())
	} else if f.prompt.on || f.note != "" && h > 1 {
		h--
		f.drawFoot(c, x+1, y+h, w-2, focused, nil)
	}
	if f.length() == 0 {
		f.list.area, f.list.drawn = rect{}, f.list.drawn[:0]
		c.sentences(x+1, y, w-2, h, f.nothing(p), th.Dim)
		return
	}
	f.list.draw(p, rect{x, y, w, h}, func(i, y, rows int) {
		p.drawCard(c, x, y, w, rows, i, focused)
	})
	f.seen = max(f.seen, f.at(f.list.top).Seq)
}

func (f *feed[D]) nothing(p feedPanel) string {
	switch {
	case !f.unfiltered():
		return "no " + p.noun() + " passes the filter: Esc shows all"
	case !f.book.Whole():
		return "none since this window was opened; older ones are not read yet"
	}
	return p.nothing()
}

// drawHead says what is listed: what is new above, the filter, and how many.
func (f *feed[D]) drawHead(c canvas, p feedPanel, x, y, w int) {
	var pieces []piece
	if n := f.newAbove(); n > 0 {
		pieces = append(pieces, piece{value: outcome.Count(int64(n)) + " new above", st: c.th.Attention})
	}
	if f.bad {
		pieces = append(pieces, piece{value: "only not sent", st: c.th.HintKey})
	}
	if f.text != "" {
		pieces = append(pieces, piece{value: quoted(f.text), st: c.th.HintKey})
	}
	pieces = append(pieces, piece{value: countOf(int64(f.length()), p.noun()), st: c.th.Dim})
	if n := missing(f.book); n != 0 {
		text := "events missing"
		if n > 0 {
			text = countOf(n, "event") + " missing"
		}
		pieces = append(pieces, piece{value: c.caution() + text, st: c.th.Attention})
	}
	if !f.book.Whole() {
		pieces = append(pieces, piece{value: "older not read", st: c.th.Dim})
	}
	c.pieces(x, y, w, c.between(), pieces)
}

// drawFoot draws the filter that is typed, what happened last, or the keys that
// work now.
func (f *feed[D]) drawFoot(c canvas, x, y, w int, focused bool, hints []piece) {
	switch {
	case f.prompt.on:
		f.prompt.draw(c, x, y, w)
	case f.whole && f.reader.prompt.on:
		f.reader.prompt.draw(c, x, y, w)
	case f.note != "":
		c.text(x, y, w, f.note, c.th.Text)
	case f.whole && f.reader.query != "" && f.reader.matches() == 0:
		c.text(x, y, w, "not found: "+f.reader.query, c.th.Attention)
	case focused:
		c.keys(x, y, w, c.between(), hints)
	}
}

// drawWhole draws one call: its first row, its sections, the keys that work.
func (f *feed[D]) drawWhole(c canvas, p feedPanel, x, y, w, h int, focused bool) {
	f.list.drawn = f.list.drawn[:0]
	strong := c.th.Text
	strong.Attrs |= vt.Bold
	p.drawFirst(c, x, y, w, f.record, [3]vt.Style{strong, c.th.Text, c.th.Dim})
	hints := append([]piece{{name: "Esc", value: "back"}}, p.hints()...)
	y, h = y+1, h-1
	if h >= minHead-1 {
		h--
		f.drawFoot(c, x+1, y+h, w-2, focused, hints)
	}
	f.lay(p.sections(f.record))
	f.reader.draw(c, x, y, w, h, focused)
}

// lay gives the reader other sections, and leaves what is folded and where it
// is read as it was.
func (f *feed[D]) lay(sections []textSection) {
	old := f.reader.sections
	same := len(old) == len(sections)
	for i := range sections {
		same = same && old[i].title == sections[i].title
	}
	if !same {
		at := f.reader.at
		f.reader.sections, f.reader.found = sections, -1
		f.reader.at = f.reader.valid(at)
		return
	}
	for i, sec := range sections {
		old[i].note = sec.note
		if !slices.Equal(old[i].lines, sec.lines) {
			f.reader.replace(i, sec.lines, 0)
		}
	}
}

// A part is a piece of one row of a card.
type part struct {
	x, w  int // columns from the left of the card; w 0 is up to the right end
	text  string
	role  textRole
	as    partKind
	state theme.State // of a partGlyph
}

type partKind uint8

const (
	partText  partKind = iota
	partPath           // its end is kept
	partRight          // ends at its right end
	partGlyph          // of a state; nothing in a plain theme
	partLine           // the level line
	partBar            // the bar of a progress, with text behind it
)

// A cardRow is one row of a card below its first. item is the number of the
// item it is of, counted from 1; 0 for none.
type cardRow struct {
	parts    []part
	levels   []int
	progress *journal.Progress
	item     int
}

// drawRow draws one row of a card that is w wide.
func (c canvas) drawRow(x, y, w int, row cardRow) {
	end := x + w - 1
	for _, p := range row.parts {
		at := x + p.x
		room := end - at
		if p.w > 0 {
			room = min(room, p.w)
		}
		if room <= 0 {
			continue
		}
		st := c.role(p.role)
		switch p.as {
		case partText:
			c.text(at, y, room, p.text, st)
		case partPath:
			c.target(at, y, room, p.text, st)
		case partRight:
			c.right(at+room, y, room, p.text, st)
		case partGlyph:
			if !c.th.Plain {
				c.s.SetText(at, y, 1, c.th.Glyphs.State(p.state), c.th.State(p.state))
			}
		case partLine:
			c.s.SetText(at, y, room, c.th.Glyphs.Sparkline(row.levels, topLevel, room), st)
		case partBar:
			c.drawProgress(at, y, room, *row.progress, p.text)
		}
	}
}

// drawRows draws the rows of a card and marks the chosen item with a pointer.
func (c canvas) drawRows(x, y, w, rows int, card []cardRow, item int) {
	last := 0
	for j, row := range card[:max(min(len(card), rows), 0)] {
		c.drawRow(x, y+j, w, row)
		if row.item > 0 && row.item == item && row.item != last {
			c.s.SetText(x+1, y+j, 1, c.th.Glyphs.Pointer, c.th.Accent)
		}
		last = row.item
	}
}

// prose wraps a text into rows of a card: at most most of them.
func prose(out []cardRow, x, w int, role textRole, most int, text string) []cardRow {
	for _, line := range wrapRows(text, max(w-x-1, 1), most) {
		out = append(out, cardRow{parts: []part{{x: x, text: strings.TrimLeft(line, " "), role: role}}})
	}
	return out
}

// cautious is prose behind the glyph of a state.
func cautious(out []cardRow, x, w int, state theme.State, role textRole, most int, text string) []cardRow {
	n := len(out)
	out = prose(out, x+2, w, role, most, text)
	if len(out) > n {
		out[n].parts = append(out[n].parts, part{x: x, w: 1, as: partGlyph, state: state})
	}
	return out
}

// against adds what contradicts a call, and what of it nobody can tell.
func against(out []cardRow, r journal.Record, w int) []cardRow {
	if why := r.Why(); why != "" {
		out = prose(out, cardIndent, w, roleCaution, 2, why)
	}
	if r.End == nil {
		return out
	}
	const most = 3
	n := 0
	for _, ck := range r.End.Checks {
		state, role := theme.Failed, roleFailure
		switch {
		case ck.Verdict == outcome.Complete:
			continue
		case ck.Verdict != outcome.Failed:
			state, role = theme.Unknown, roleCaution
		}
		if n++; n > most {
			continue
		}
		claimed, seen := claimedSeen(ck)
		out = cautious(out, cardIndent, w, state, role, 2, ck.Name+": "+claimed)
		out = prose(out, cardIndent+2, w, role, 2, seen)
	}
	if n > most {
		out = prose(out, cardIndent+2, w, roleCaution, 1, "and "+outcome.Count(int64(n-most))+" more checks")
	}
	return out
}

// drawCardOf draws a card: its first row, and the rows below it.
func (f *feed[D]) drawCardOf(c canvas, p feedPanel, x, y, w, rows, i int, focused bool, card []cardRow, item int) {
	title, tool, dim := c.th.Text, c.th.Text, c.th.Dim
	if chosen := f.list.selected(i); chosen {
		title.Attrs |= vt.Bold
		tool.Attrs |= vt.Bold
		if focused {
			title, tool, dim = c.th.Chosen, c.th.Chosen, c.th.Chosen
			c.s.Fill(x, y, w, 1, c.th.Chosen)
		}
		c.s.SetText(x, y, 1, c.th.Glyphs.Pointer, title)
	} else {
		item = 0
	}
	p.drawFirst(c, x, y, w, f.at(i), [3]vt.Style{tool, title, dim})
	c.drawRows(x, y+1, w, rows-1, card, item)
}

// drawFirstOf draws the first row of a call as drawCall does, with a name in the
// place of its tool and a title that is made for the columns there are for it;
// a narrow list has none.
func (f *feed[D]) drawFirstOf(c canvas, x, y, w int, r journal.Record, name string, title func(room int) string, st [3]vt.Style) {
	m := c.callMark(r)
	if st[1] == c.th.Chosen {
		m.st = c.th.Chosen
	}
	at, end := x+1, x+w-1
	if !c.th.Plain {
		c.s.SetText(at, y, 1, m.glyph, m.st)
		at += 2
	}
	word := screen.Width(m.word)
	c.s.SetText(max(end-word, at), y, min(word, end-at), m.word, m.st)
	end -= word + 1
	if end-at > tookWidth+minTool {
		c.right(end, y, tookWidth, callTook(r, f.now), st[2])
		end -= tookWidth + 1
	}
	r.Start.Tool = name
	tool := c.callTool(r)
	room := min(max(screen.Width(tool), toolWidth), wideTool, end-at)
	if w < narrow {
		room = end - at
	}
	if room <= 0 {
		return
	}
	c.text(at, y, room, tool, st[0])
	at += room + 1
	if w >= narrow && at < end {
		c.text(at, y, end-at, title(end-at), st[1])
	}
}
