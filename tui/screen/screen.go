package screen

import (
	"unicode/utf8"

	"github.com/honestty/honestty/vt"
)

// A Source is pane content. *vt.Terminal is one. It has to be a pointer type:
// a StyleMap compares it to notice that a pane got another terminal.
type Source interface {
	Line(r vt.Row) []vt.Cell
	StyleOf(vt.StyleID) vt.Style
	StyleGen() uint64
	AppendText([]byte, vt.Cell) []byte
	LinkOf(vt.LinkID) string
}

// A cursor is where the terminal's cursor is or shall be.
type cursor struct {
	x, y    int
	visible bool
	shape   int // DECSCUSR, 0 is the terminal's own
}

// A Screen is the frame being composed and the frame last handed out. Cells are
// packed as in vt, but style, cluster and link ids are the Screen's own.
//
// Both grids keep one invariant: a wide left half has its right half beside it
// in the same row, and no right half is alone.
type Screen struct {
	cols, rows  int
	caps        Caps
	back, front []vt.Cell
	styles      styleTable
	clusters    stringTable
	links       stringTable
	gen         uint64 // changes when ids do
	colors      converter
	classes     classes
	deltas      [256]delta
	drawn       map[string][]vt.Cell // chrome already parsed
	scratch     []byte

	want    cursor
	scrolls []scroll
	emitter
}

// New returns a blank Screen. The first Diff repaints everything.
func New(cols, rows int, caps Caps) *Screen {
	s := &Screen{caps: caps}
	s.clearTables()
	s.Resize(cols, rows)
	return s
}

// Size returns columns and rows.
func (s *Screen) Size() (cols, rows int) { return s.cols, s.rows }

// Caps returns what the Screen believes of the terminal.
func (s *Screen) Caps() Caps { return s.caps }

// SetCaps takes new capabilities. When they differ, the next Diff repaints.
func (s *Screen) SetCaps(caps Caps) {
	if s.caps == caps {
		return
	}
	s.caps = caps
	for i := range s.styles.entries {
		e := &s.styles.entries[i]
		e.out = s.colors.style(e.want, &s.caps)
	}
	s.deltas = [len(s.deltas)]delta{}
	s.Invalidate()
}

// Resize gives the Screen another size, at least 1×1, and clears it. The next
// Diff repaints everything, also when the size is the same.
func (s *Screen) Resize(cols, rows int) {
	cols, rows = max(cols, 1), max(rows, 1)
	if cols != s.cols || rows != s.rows {
		s.cols, s.rows = cols, rows
		s.back = make([]vt.Cell, cols*rows)
		s.front = make([]vt.Cell, cols*rows)
	}
	clear(s.back)
	s.Invalidate()
}

// Invalidate forgets what the terminal shows: the next Diff clears it and
// paints the whole frame.
func (s *Screen) Invalidate() {
	s.whole = true
	s.scrolls = s.scrolls[:0]
}

// clip cuts a rectangle to the Screen. ok is false when nothing is left.
func (s *Screen) clip(x, y, w, h int) (x0, y0, x1, y1 int, ok bool) {
	x0, y0 = max(x, 0), max(y, 0)
	x1, y1 = min(x+w, s.cols), min(y+h, s.rows)
	return x0, y0, x1, y1, x0 < x1 && y0 < y1
}

// mend keeps the invariant around cells [x0, x1) of a row that are about to be
// written: a character that is only half inside loses its other half.
func (s *Screen) mend(row []vt.Cell, x0, x1 int) {
	if x0 > 0 && row[x0].Tail() {
		row[x0-1] = s.blankOf(row[x0-1].Style())
	}
	if x1 < len(row) && row[x1].Tail() {
		row[x1] = s.blankOf(row[x1].Style())
	}
}

// blankOf returns a blank cell with the background of a style.
func (s *Screen) blankOf(id vt.StyleID) vt.Cell {
	return vt.Cell(s.styles.entries[id].blank) << styleShift
}

// row returns a row of the frame being composed.
func (s *Screen) row(y int) []vt.Cell { return s.back[y*s.cols : (y+1)*s.cols] }

// Fill makes a rectangle blank in a style. A link in the style is ignored.
func (s *Screen) Fill(x, y, w, h int, st vt.Style) {
	x0, y0, x1, y1, ok := s.clip(x, y, w, h)
	if !ok {
		return
	}
	st.Link = 0
	c := s.blankOf(s.styleID(st))
	for r := y0; r < y1; r++ {
		row := s.row(r)
		s.mend(row, x0, x1)
		for i := x0; i < x1; i++ {
			row[i] = c
		}
	}
}

// Blit copies the upper left part of a source into a rectangle. Where the
// source is smaller the rest is blank; a wide character that does not fit whole
// is blank too. cache translates the source's styles and belongs to it alone.
func (s *Screen) Blit(x, y, w, h int, src Source, cache *StyleMap) {
	x0, y0, x1, y1, ok := s.clip(x, y, w, h)
	if !ok {
		return
	}
	cache.check(src, s.gen)
	for r := y0; r < y1; r++ {
		row := s.row(r)
		s.mend(row, x0, x1)
		line := src.Line(vt.Row(r - y))
		line = line[min(x0-x, len(line)):]
		n := min(len(line), x1-x0)
		s.blitRow(row[x0:x0+n], line, src, cache)
		clear(row[x0+n : x1])
	}
}

// blitRow translates the first len(dst) cells of a source's line.
func (s *Screen) blitRow(dst, line []vt.Cell, src Source, cache *StyleMap) {
	if len(dst) == 0 {
		return
	}
	line = line[:len(dst)]
	last := line[0].Style()
	st := s.translate(cache, src, last)
	for i, c := range line {
		if id := c.Style(); id != last {
			last, st = id, s.translate(cache, src, id)
		}
		text := c & textMask
		if text > ' ' && text < 0x7F {
			dst[i] = text | vt.Cell(st.id)<<styleShift
			continue
		}
		if text == 0 || text == ' ' {
			dst[i] = vt.Cell(st.blank) << styleShift
			continue
		}
		dst[i] = s.blitOther(dst, line, i, src, st)
	}
}

// blitOther translates a cell that is neither ASCII nor blank.
func (s *Screen) blitOther(dst, line []vt.Cell, i int, src Source, st mapped) vt.Cell {
	c := line[i]
	blank, style := vt.Cell(st.blank)<<styleShift, vt.Cell(st.id)<<styleShift
	if c.Tail() {
		if i > 0 && dst[i-1].Wide() {
			return isTail | dst[i-1]&^textMask
		}
		return blank
	}
	if c.Blank() { // a column left empty by a wide character that did not fit
		return blank
	}
	if c.Wide() && (i+1 >= len(line) || !line[i+1].Tail()) {
		return blank
	}
	if c&isCluster != 0 {
		return s.cluster(src, c) | style
	}
	if hidden(c.Rune()) || c.Rune() > utf8.MaxRune {
		return utf8.RuneError | c&widthMask | style
	}
	return c&textMask | style
}

// Restyle changes the style of a rectangle and keeps its characters: selection,
// search matches, dimming. f gets the style of a run of cells and returns the
// new one; it has to be a function of that style alone. A wide character that
// is half inside changes whole.
func (s *Screen) Restyle(x, y, w, h int, f func(vt.Style) vt.Style) {
	x0, y0, x1, y1, ok := s.clip(x, y, w, h)
	if !ok {
		return
	}
	last, to := vt.StyleID(0), s.styleID(f(vt.Style{}))
	for r := y0; r < y1; r++ {
		row := s.row(r)
		from, end := x0, x1
		if row[from].Tail() {
			from--
		}
		if row[end-1].Wide() {
			end++
		}
		for i, c := range row[from:end] {
			if id := c.Style(); id != last {
				last, to = id, s.styleID(f(s.styles.entries[id].want))
			}
			if c.Blank() {
				row[from+i] = s.blankOf(to)
			} else {
				row[from+i] = c.WithStyle(to)
			}
		}
	}
}

// SetCursor puts the terminal's cursor on a cell. shape is DECSCUSR's number, 0
// for the terminal's own. A place outside the Screen hides it.
func (s *Screen) SetCursor(x, y int, visible bool, shape int) {
	if x < 0 || y < 0 || x >= s.cols || y >= s.rows {
		visible = false
	}
	if shape < 0 || shape > 6 {
		shape = 0
	}
	s.want = cursor{x, y, visible, shape}
}

// HideCursor hides the terminal's cursor.
func (s *Screen) HideCursor() { s.want.visible = false }

// Style returns the style of a cell as it was asked for. Link is the Screen's.
func (s *Screen) Style(x, y int) vt.Style {
	return s.styles.entries[s.back[y*s.cols+x].Style()].want
}

// appendText appends the characters of one cell, a space for a blank, nothing
// for a right half.
func (s *Screen) appendText(dst []byte, c vt.Cell) []byte {
	switch {
	case c.Tail():
		return dst
	case c.Blank():
		return append(dst, ' ')
	}
	if n, ok := c.ClusterID(); ok {
		return append(dst, s.clusters.list[n]...)
	}
	return utf8.AppendRune(dst, c.Rune())
}

// Text returns the frame as plain text, one line a row, without the blanks at
// the ends of rows. This is the form of .screen files.
func (s *Screen) Text() string {
	var out []byte
	for y := range s.rows {
		start := len(out)
		for _, c := range s.row(y) {
			out = s.appendText(out, c)
		}
		for len(out) > start && out[len(out)-1] == ' ' {
			out = out[:len(out)-1]
		}
		out = append(out, '\n')
	}
	return string(out)
}
