package vt

// Resize changes the size. It clamps and never fails. The main screen and its
// history are wrapped anew at the new width, so that text narrowed and widened
// again is as it was; what no longer fits in the height goes to the history. The
// alternate screen is cut or extended, as programs that use it draw it anew.
func (t *Terminal) Resize(cols, rows int) *Effects {
	t.begin()
	c, r := t.clampSize(cols, rows)
	if c == t.cols && r == t.rows {
		return t.end()
	}
	alt := t.scr == t.alt
	cur := &place{row: t.row, col: t.col, past: t.pending}
	if alt {
		t.resizeAlt(c, r, cur)
		cur = &place{}
	} else if t.alt != nil {
		t.resizeAlt(c, r, &place{})
	}
	saved := &t.main.saved
	keep := &place{row: saved.row, col: saved.col, past: saved.pending}
	if alt && saved.set {
		*cur = *keep // where the main screen's cursor will be again
	}
	if c == t.cols {
		t.resizeRows(r, cur, keep)
	} else {
		t.reflow(c, r, cur, keep)
	}
	t.main.saved.row, t.main.saved.col, t.main.saved.pending = keep.clamp(c, r)
	if !alt {
		t.row, t.col, t.pending = cur.clamp(c, r)
		t.scr = t.main
	}
	t.cols, t.rows = c, r
	t.m = margins{0, r - 1, 0, c - 1}
	t.tabs = defaultTabs(t.tabs[:min(len(t.tabs), int(c))], c)
	t.joinOK = false
	if t.modes.has(modeResize) {
		t.reportSize()
	}
	return t.end()
}

// A place is a position that follows the text through a resize.
type place struct {
	row  Row
	col  Col
	past bool // a wrap is pending: the place is after col

	line int64 // row number in the new layout
}

func (p *place) clamp(cols Col, rows Row) (Row, Col, bool) {
	r, c := min(max(p.row, 0), rows-1), min(max(p.col, 0), cols-1)
	return r, c, p.past && c == cols-1
}

// resizeAlt cuts or extends the alternate screen. Rows leave at the top only as
// far as the cursor needs it.
func (t *Terminal) resizeAlt(c Col, r Row, cur *place) {
	old := t.alt
	s := newScreen(c, r)
	skip := max(cur.row-r+1, 0)
	for y := range min(r, t.rows-skip) {
		s.fill(y, old.row(y + skip)[:min(old.metaOf(y+skip).used, c)], *old.metaOf(y + skip))
	}
	s.saved, s.kitty = old.saved, old.kitty
	s.saved.row, s.saved.col = min(max(s.saved.row-skip, 0), r-1), min(s.saved.col, c-1)
	s.saved.pending = false
	if t.scr == old {
		t.scr = s
		t.row, t.col, t.pending = cur.row-skip, min(cur.col, c-1), false
	}
	t.alt = s
}

// fill copies cells into a blank row; a wide character cut off at the end is blanked.
func (s *screen) fill(r Row, cells []Cell, m rowMeta) {
	row := s.row(r)
	n := copy(row, cells)
	if n > 0 && row[n-1].Wide() {
		row[n-1] &= cellStyleMask
	}
	m.used = Col(n)
	*s.metaOf(r) = m
}

// textRows returns how many rows of the main screen hold something, the row of
// the cursor included.
func (t *Terminal) textRows(cur *place) Row {
	n := t.rows
	for n > cur.row+1 {
		m := t.main.metaOf(n - 1)
		m.trim(t.main.row(n - 1))
		if m.used > 0 || m.marks != 0 {
			break
		}
		n--
	}
	return n
}

// resizeRows changes the height of the main screen at the same width.
func (t *Terminal) resizeRows(r Row, cur, keep *place) {
	old := t.main
	text := t.textRows(cur)
	up := max(text-r, 0)
	for y := range up {
		t.toHistory(y)
	}
	s := newScreen(t.cols, r)
	s.saved, s.kitty = old.saved, old.kitty
	down := Row(0)
	if text == t.rows && r > t.rows {
		down = min(r-t.rows, Row(min(t.hist.len(), int(r))))
	}
	var buf []Cell
	for y := down - 1; y >= 0; y-- {
		var m rowMeta
		buf, m = t.hist.pop(buf[:0])
		s.fill(y, buf, m)
	}
	for y := up; y < text; y++ {
		m := *old.metaOf(y)
		s.fill(y-up+down, old.row(y)[:m.used], m)
	}
	cur.row += down - up
	keep.row += down - up
	t.main = s
}
