package panels

import (
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
	"github.com/honestty/honestty/vt"
)

// A rect is a part of the Screen, in cells.
type rect struct{ x, y, w, h int }

func (r rect) has(x, y int) bool {
	return x >= r.x && x < r.x+r.w && y >= r.y && y < r.y+r.h
}

// A canvas is what a panel draws on.
type canvas struct {
	s  *screen.Screen
	th *theme.Theme
}

// text writes text into at most w columns, its end shortened.
func (c canvas) text(x, y, w int, text string, st vt.Style) (cols int) {
	if screen.Width(text) <= w {
		return c.s.SetText(x, y, w, text, st)
	}
	n := c.s.SetText(x, y, w-1, text, st)
	return n + c.s.SetText(x+n, y, min(w, 1), c.th.Glyphs.Ellipsis, st)
}

// target is text for what a descriptor leads to: a path keeps its end.
func (c canvas) target(x, y, w int, text string, st vt.Style) (cols int) {
	text = screen.Visible(text)
	if !strings.HasPrefix(text, "/") || screen.Width(text) <= w {
		return c.text(x, y, w, text, st)
	}
	g := displaywidth.StringGraphemes(text)
	for screen.Width(text) > w-1 && g.Next() {
		text = text[len(g.Value()):]
	}
	return c.text(x, y, w, c.th.Glyphs.Ellipsis+text, st)
}

// right writes text that ends before column end, if w columns hold it.
func (c canvas) right(end, y, w int, text string, st vt.Style) {
	if n := screen.Width(text); n <= w {
		c.s.SetText(end-n, y, n, text, st)
	}
}

// A piece is a part of a row that is shown whole or not at all: a name and what
// it is, "count 87".
type piece struct {
	name, value string
	st          vt.Style // of the value
}

// pieces writes as many pieces into w columns as fit and returns the columns.
func (c canvas) pieces(x, y, w int, between string, pieces []piece) (cols int) {
	for _, p := range pieces {
		name := p.name
		if name != "" && p.value != "" {
			name += " "
		}
		gap, need := 0, screen.Width(name)+screen.Width(p.value)
		if cols > 0 {
			gap = screen.Width(between)
		}
		if cols+gap+need > w {
			break
		}
		if cols > 0 {
			cols += c.s.SetText(x+cols, y, gap, between, c.th.Dim)
		}
		cols += c.s.SetText(x+cols, y, need, name, c.th.Dim)
		cols += c.s.SetText(x+cols, y, need, p.value, p.st)
	}
	return cols
}
