package panels

import (
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/vt"
)

// textMargin holds the pointer and a space.
const textMargin = 2

// draw draws the rows in view into a rectangle.
func (v *textView) draw(c canvas, x, y, w, h int, focused bool) {
	if width := w - textMargin - 1; width != v.w {
		v.w, v.wraps = width, nil
	}
	v.h, v.area = h, rect{x, y, w, h}
	if w <= textMargin+1 || h <= 0 || v.empty() {
		return
	}
	v.settle()
	s := v.top
	for i := range h {
		v.drawRow(c, x, y+i, w, s, focused)
		to, ok := v.next(s)
		if !ok {
			return
		}
		s = to
	}
}

func (v *textView) drawRow(c canvas, x, y, w int, s spot, focused bool) {
	if s == v.at && focused {
		c.s.SetText(x, y, 1, c.th.Glyphs.Pointer, c.th.Accent)
	}
	if s.line < 0 {
		v.drawHeading(c, x+textMargin, y, w-textMargin-1, &v.sections[s.section])
		return
	}
	l, starts := v.line(s.place), v.starts(s.place)
	from, to := starts[s.row], len(l.text)
	if s.row+1 < len(starts) {
		to = starts[s.row+1]
	}
	at := x + textMargin
	if s.row > 0 && l.role != roleOutput {
		at += min(2, v.w/2)
	}
	st := c.role(l.role)
	if name := min(int(l.name), to); s.row == 0 && name > 0 {
		n := c.s.SetText(at, y, v.w, l.text[:name], c.th.Dim)
		c.s.SetText(at+n, y, v.w-n, l.text[name:to], st)
	} else {
		c.s.SetText(at, y, v.w, l.text[from:to], st)
	}
	if v.query != "" {
		v.drawMatches(c, at, y, l.text, from, to, s.place == v.at.place)
	}
}

// drawMatches draws the parts of a row that were searched for once more.
func (v *textView) drawMatches(c canvas, x, y int, text string, from, to int, now bool) {
	st := c.th.Match
	if now {
		st = c.th.MatchNow
	}
	at := max(from-len(v.query), 0) // a match may begin in the row before
	for at < to {
		i := findASCII(text[at:], v.query)
		if i < 0 || at+i >= to {
			return
		}
		begin, end := max(at+i, from), min(at+i+len(v.query), to)
		if begin < end {
			col := screen.Width(text[from:begin])
			c.s.SetText(x+col, y, v.w-col, text[begin:end], st)
		}
		at += i + len(v.query)
	}
}

// drawHeading draws a heading: how much is folded away below it, or its note.
func (v *textView) drawHeading(c canvas, x, y, w int, s *textSection) {
	st := c.th.HintKey
	at := 0
	note := s.note
	if s.folded {
		note = outcome.Count(int64(len(s.lines))) + " lines"
		if len(s.lines) == 1 {
			note = "1 line"
		}
		if c.th.Plain {
			note = "folded, " + note
		} else {
			at += c.s.SetText(x, y, w, c.th.Glyphs.Fold+" ", st)
		}
	}
	at += c.text(x+at, y, w-at, s.title, st)
	if note != "" && at+2+minNote <= w {
		c.text(x+at+2, y, w-at-2, note, c.th.Dim)
	}
}

// minNote is how much of a note has to have room for it to be begun.
const minNote = 6

// role is the style of a line.
func (c canvas) role(r textRole) vt.Style {
	switch r {
	case roleDim:
		return c.th.Dim
	case roleOK:
		return c.th.OK
	case roleCaution:
		return c.th.Attention
	case roleFailure:
		return c.th.Failure
	}
	return c.th.Text
}

// click moves the cursor to a row and folds where that is a heading.
func (v *textView) click(x, y int) bool {
	if !v.area.has(x, y) || v.empty() {
		return false
	}
	s := v.top
	for range y - v.area.y {
		to, ok := v.next(s)
		if !ok {
			return false
		}
		s = to
	}
	v.at = s
	if s.line < 0 {
		v.toggle()
	}
	return true
}
