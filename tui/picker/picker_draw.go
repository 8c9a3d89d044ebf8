package picker

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
	"github.com/honestty/honestty/vt"
)

// maxNote is how many rows a note may take from the list.
const maxNote = 3

// Draw draws the picker. Its upper edge stays where it is while the list gets
// shorter, so that what is typed does not jump.
func (p *Picker) Draw(s *screen.Screen, x, y, w, h int, th theme.Theme) {
	c := canvas{s, &th}
	p.area, p.box, p.list, p.targets = rect{x, y, w, h}, rect{}, rect{}, nil
	bw, limit := p.room(w, h)
	if bw < 4 || limit < 1 {
		s.HideCursor()
		return
	}
	full := min(limit, max(len(p.items), 1)+2)
	notes := wrap(p.note, bw-4)
	notes = notes[:min(len(notes), maxNote, max(full-3, 0))]
	bh := min(limit, max(len(p.hits), 1)+len(notes)+2)
	p.box = rect{x + (w-bw)/2, y + (h-full)/2, bw, bh}
	if over := p.box.y + bh - (y + h); over > 0 {
		p.box.y -= over // a note made a short list longer
	}
	c.box(p.box)
	p.drawLine(c)
	p.list = rect{p.box.x + 1, p.box.y + 1, bw - 2, max(bh-2-len(notes), 0)}
	p.scroll()
	if len(p.hits) == 0 && p.list.h > 0 {
		c.text(p.list.x+1, p.list.y, p.list.w-2, p.nothing(c), th.Dim)
	}
	for row := range min(p.list.h, len(p.hits)-p.top) {
		p.drawItem(c, p.list.y+row, p.top+row)
	}
	for i, note := range notes {
		s.SetText(p.list.x+1, p.list.y+p.list.h+i, p.list.w-2, note, th.Attention)
	}
	if bh >= 3 {
		p.drawFooter(c)
	}
}

// nothing says that no item was found.
func (p *Picker) nothing(c canvas) string {
	if p.line.Text() == "" {
		return "no " + p.noun + " here"
	}
	return "no " + p.noun + " matches " + c.quote(p.line.Text())
}

// scroll chooses the first row so that the selection is seen and no row stays
// empty.
func (p *Picker) scroll() {
	p.top = max(min(p.top, p.selected), p.selected-p.list.h+1)
	p.top = max(min(p.top, len(p.hits)-p.list.h), 0)
}

// drawLine writes the query and the count into the top line.
func (p *Picker) drawLine(c canvas) {
	const prompt = "> "
	x, y, end := p.box.x+2, p.box.y, p.box.x+p.box.w-2
	c.s.SetText(x-1, y, 1, " ", c.th.Text)
	x += c.s.SetText(x, y, end-x, prompt, c.th.Focus)
	count := fmt.Sprintf("%d of %d", len(p.hits), len(p.items))
	// The count goes before the line gets too short to type in.
	const short = 10
	if n := screen.Width(count); end-x-n-2 >= short {
		end -= n
		c.s.SetText(end-1, y, n+2, " "+count+" ", c.th.Dim)
		end--
	}
	if end <= x {
		c.s.HideCursor()
		return
	}
	used := screen.Width(p.line.Text())
	c.s.Fill(x, y, min(used+1, end-x), 1, c.th.Text)
	cursor := p.line.Draw(c.s, x, y, end-x, c.th.Text, c.th.Glyphs.Ellipsis)
	if p.line.Text() == "" {
		n := c.text(x, y, end-x-1, p.title, c.th.Dim)
		c.s.SetText(x+n, y, 1, " ", c.th.Text)
	}
	c.s.SetCursor(cursor, y, true, 0)
}

// drawItem draws one hit: pointer, title, detail, and at the right its keys or
// the reason why it is disabled.
func (p *Picker) drawItem(c canvas, y, i int) {
	hit := p.hits[i]
	item, r := p.items[hit.Index], p.list
	title, dim := c.th.Text, c.th.Dim
	if item.Disabled != "" {
		title, dim = c.th.Disabled, c.th.Disabled
	}
	if i == p.selected {
		title, dim = c.th.Chosen, c.th.Chosen
		if item.Disabled != "" {
			title.Attrs |= vt.Faint
			dim = title
		}
		c.s.Fill(r.x, y, r.w, 1, title)
		c.s.SetText(r.x, y, 1, c.th.Glyphs.Pointer, title)
	}
	x, w := r.x+1, r.w-2
	right := item.Disabled
	tw, rw := screen.Width(item.Title), 0
	if right == "" {
		right = item.Keys
		if rw = screen.Width(right); w-2-rw < min(tw, w/2) {
			right = "" // half of a key would be another key
		}
	}
	if right != "" {
		rw = min(screen.Width(right), w-2-min(tw, w/2))
		w -= c.right(x+w, y, rw, right, dim) + 2
	}
	n := c.text(x, y, w, item.Title, title)
	p.highlight(c, x, y, n, hit, item.Title)
	n = max(n+2, p.detailColumn(r.w-2))
	const worth = 12 // a detail in less room says nothing
	if item.Detail != "" && item.Disabled == "" && w-n >= worth {
		c.path(x+n, y, w-n, item.Detail, dim)
	}
}

// detailColumn is where details begin in a list of w columns. They stand below
// each other where there is room for it beside the longest title and the longest
// keys; it depends on all items, so that it does not move with the query.
func (p *Picker) detailColumn(w int) int {
	const least = 28 // a column of details that is narrower is cut too often
	col, keys := 0, 0
	for _, item := range p.items {
		col = max(col, screen.Width(item.Title)+2)
		keys = max(keys, screen.Width(item.Keys)+2)
	}
	if w-col-keys < least {
		return 0
	}
	return col
}

// room is the largest box for an area.
func (p *Picker) room(w, h int) (bw, bh int) {
	bw, bh = room(w, h)
	if p.Wide {
		bw = min(w, max(bw, min(w*9/10, maxWidth)))
	}
	return bw, bh
}

// right writes text that ends before a column and returns the columns it took.
func (c canvas) right(end, y, w int, text string, st vt.Style) int {
	if w <= 0 {
		return 0
	}
	n := min(screen.Width(text), w)
	c.text(end-n, y, n, text, st)
	return n
}

// highlight marks the characters of a title that the query met, as far as they
// are drawn.
func (p *Picker) highlight(c canvas, x, y, drawn int, hit Hit, title string) {
	if screen.Width(title) > drawn {
		drawn-- // the ellipsis
	}
	for at, n := 0, 0; at < len(title); n++ {
		rest := title[at:]
		_, size := utf8.DecodeRuneInString(rest)
		if !slices.Contains(hit.Positions, n) {
			at += size
			continue
		}
		from := screen.Width(title[:at])
		to := from + max(screen.Width(firstColumns(rest, 1)), 1)
		at += size
		if to > drawn {
			return
		}
		c.s.Restyle(x+from, y, to-from, 1, func(st vt.Style) vt.Style {
			st.Attrs |= c.th.Match.Attrs
			st.Underline = c.th.Match.Underline
			return st
		})
	}
}

// drawFooter writes the keys and what is below the last row.
func (p *Picker) drawFooter(c canvas) {
	b := p.box
	hints := []hint{{"enter", "Enter", p.Does}, {"esc", "Esc", "closes"}}
	if item, ok := p.Selected(); !ok {
		hints = hints[1:]
	} else if item.Disabled != "" {
		hints[0].does = "says why not"
	}
	var end int
	p.targets, end = c.footer(b, hints)
	below := len(p.hits) - p.top - p.list.h
	if below <= 0 {
		return
	}
	more := fmt.Sprintf(" %d more ", below)
	if n := len(more); end+1+n < b.x+b.w {
		c.s.SetText(b.x+b.w-1-n, b.y+b.h-1, n, more, c.th.Dim)
	}
}
