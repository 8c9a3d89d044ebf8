package picker

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

// A canvas is what a dialog draws on.
type canvas struct {
	s  *screen.Screen
	th *theme.Theme
}

// Sizes of a dialog. Below minWidth it takes all there is; beyond maxWidth the
// eye loses the line between a title and its keys.
const (
	minWidth, maxWidth = 56, 100
	maxHeight          = 30
)

// room returns the largest dialog for an area.
func room(w, h int) (bw, bh int) {
	bw = min(w, max(minWidth, min(w*6/10, maxWidth)))
	return bw, min(h-h/4, maxHeight)
}

// text writes text into at most w columns, its end shortened.
func (c canvas) text(x, y, w int, text string, st vt.Style) (cols int) {
	if screen.Width(text) <= w {
		return c.s.SetText(x, y, w, text, st)
	}
	n := c.s.SetText(x, y, w-1, text, st)
	return n + c.s.SetText(x+n, y, min(w, 1), c.th.Glyphs.Ellipsis, st)
}

// path is text for what may be a path: that keeps its end.
func (c canvas) path(x, y, w int, text string, st vt.Style) (cols int) {
	text = screen.Visible(text)
	if !strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "~/") || screen.Width(text) <= w {
		return c.text(x, y, w, text, st)
	}
	g := displaywidth.StringGraphemes(text)
	for screen.Width(text) > w-1 && g.Next() {
		text = text[len(g.Value()):]
	}
	return c.text(x, y, w, c.th.Glyphs.Ellipsis+text, st)
}

// quote puts text in quotation marks.
func (c canvas) quote(text string) string {
	if c.th.Glyphs.Ellipsis == theme.ASCII.Ellipsis {
		return `"` + text + `"`
	}
	return "“" + text + "”"
}

// line fills part of a row with the theme's line; a plain theme has none.
func (c canvas) line(x, y, w int) {
	if w <= 0 || c.th.Plain {
		return
	}
	c.s.SetText(x, y, w, strings.Repeat(c.th.Glyphs.Horizontal, w), c.th.Border)
}

// box clears a rectangle and draws the lines around it.
func (c canvas) box(r rect) {
	c.s.Fill(r.x, r.y, r.w, r.h, c.th.Text)
	if c.th.Plain || r.w < 2 || r.h < 2 {
		return
	}
	g, right, bottom := &c.th.Glyphs, r.x+r.w-1, r.y+r.h-1
	c.line(r.x+1, r.y, r.w-2)
	c.line(r.x+1, bottom, r.w-2)
	for y := r.y + 1; y < bottom; y++ {
		c.s.SetText(r.x, y, 1, g.Vertical, c.th.Border)
		c.s.SetText(right, y, 1, g.Vertical, c.th.Border)
	}
	for _, corner := range []struct {
		x, y  int
		glyph string
	}{{r.x, r.y, g.TopLeft}, {right, r.y, g.TopRight}, {r.x, bottom, g.BottomLeft}, {right, bottom, g.BottomRight}} {
		c.s.SetText(corner.x, corner.y, 1, corner.glyph, c.th.Border)
	}
}

// A hint is a key that works here, as it is shown, and what it does. A hint
// without a name is only text.
type hint struct{ name, shows, does string }

// A target is a hint where it was drawn.
type target struct {
	rect
	name string
}

// hints writes keys into a row, those that fit whole, and returns where they are
// and the column behind them. One that is too long does not hide those after it.
func (c canvas) hints(x, y, w int, hints []hint) (targets []target, end int) {
	between := " " + c.th.Glyphs.Dot + " "
	if c.th.Plain {
		between = ", "
	}
	at, end := x, x
	for _, h := range hints {
		gap := 0
		if end > x {
			gap = len([]rune(between))
		}
		shows, does := h.shows, h.does
		if shows != "" && does != "" {
			does = " " + does
		}
		need := screen.Width(shows) + screen.Width(does)
		if end+gap+need > x+w {
			continue
		}
		if gap > 0 {
			at += c.s.SetText(at, y, gap, between, c.th.Dim)
		}
		start := at
		at += c.s.SetText(at, y, need, shows, c.th.HintKey)
		at += c.s.SetText(at, y, need, does, c.th.Dim)
		if h.name != "" {
			targets = append(targets, target{rect{start, y, at - start, 1}, h.name})
		}
		end = at
	}
	return targets, end
}

// footer writes hints into the bottom line of a box, if it has one.
func (c canvas) footer(r rect, hints []hint) (targets []target, end int) {
	if r.h < 2 {
		return nil, r.x
	}
	x, y, w := r.x+2, r.y+r.h-1, r.w-4
	targets, end = c.hints(x, y, w, hints)
	if end > x {
		c.s.SetText(x-1, y, 1, " ", c.th.Text)
		c.s.SetText(end, y, 1, " ", c.th.Text)
	}
	return targets, end
}

// heading returns what of a title goes into the top line of a box that is w
// wide, and the rows for the rest: a title that does not fit is text.
func heading(title string, w int) (line string, rows []string) {
	if screen.Width(title) <= w-4 {
		return title, nil
	}
	return "", wrap(title, w-4)
}

// title writes a heading into the top line of a box.
func (c canvas) title(r rect, title string) {
	if title == "" || r.h < 1 {
		return
	}
	n := c.s.SetText(r.x+2, r.y, r.w-4, title, c.th.Accent)
	c.s.SetText(r.x+1, r.y, 1, " ", c.th.Text)
	c.s.SetText(r.x+2+n, r.y, 1, " ", c.th.Text)
}

// wrap breaks text into rows of at most w columns, at spaces where it can.
func wrap(text string, w int) []string {
	if w <= 0 {
		return nil
	}
	var rows []string
	row := ""
	for _, word := range strings.Fields(screen.Visible(text)) {
		if row != "" && screen.Width(row)+1+screen.Width(word) <= w {
			row += " " + word
			continue
		}
		if row != "" {
			rows = append(rows, row)
		}
		for screen.Width(word) > w {
			head := firstColumns(word, w)
			rows, word = append(rows, head), word[len(head):]
		}
		row = word
	}
	if row != "" {
		rows = append(rows, row)
	}
	return rows
}

// firstColumns returns the begin of text that fits into w columns, at least one
// character.
func firstColumns(text string, w int) string {
	end := 0
	for g := displaywidth.StringGraphemes(text); g.Next(); {
		to := end + len(g.Value())
		if end > 0 && screen.Width(text[:to]) > w {
			break
		}
		end = to
	}
	return text[:end]
}
