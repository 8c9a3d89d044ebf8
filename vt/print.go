package vt

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// printASCII prints the bytes from 0x20 to 0x7E at p[i], which is one, and returns
// the index after the last.
func (t *Terminal) printASCII(p []byte, i int) int {
	prepended := t.joinOK && t.joinState.last == classPrepend
	if !t.cs.plain() || prepended || t.modes.has(modeInsert) {
		n := printableRun(p[i:])
		for _, b := range p[i : i+n] {
			t.printRune(t.cs.translate(b))
		}
		return i + n
	}
	at := t.penCell()
	for i < len(p) && printable(p[i]) {
		if t.pending {
			if t.modes.has(modeWrap) {
				t.wrap()
			} else {
				i += printableRun(p[i:]) - 1
			}
		}
		limit := t.limit()
		cells, m := t.scr.rowAndMeta(t.row)
		if cells[t.col].Tail() {
			t.scr.cut(t.row, t.col)
		}
		n := putASCII(cells[t.col:limit], p[i:], at)
		i += n
		end := t.col + Col(n)
		t.col = end
		m.used = max(m.used, end)
		t.scr.clean[t.row] = false
		if int(end) < len(cells) && cells[end].Tail() {
			cells[end] &= cellStyleMask // its left half is overwritten
		}
		if end == limit {
			t.col = limit - 1
			t.pending = true
		}
	}
	t.last = rune(p[i-1])
	t.joinOK = t.modes.has(modeGraphemes)
	if t.joinOK {
		_, t.joinCol, _ = t.before()
		t.joinRow = t.row
		t.joinState = t.joinState.start(classOther)
	}
	return i
}

// putASCII writes src to dst, with at in every cell, until either ends or a byte
// is not 0x20 to 0x7E, and returns how many it wrote.
func putASCII(dst []Cell, src []byte, at Cell) int {
	most := min(len(dst), len(src))
	dst, src = dst[:most], src[:most]
	for len(src) >= 8 && len(dst) >= 8 && unprintable(binary.LittleEndian.Uint64(src)) == 0 {
		d, s := (*[8]Cell)(dst), (*[8]byte)(src)
		d[0], d[1], d[2], d[3] = Cell(s[0])|at, Cell(s[1])|at, Cell(s[2])|at, Cell(s[3])|at
		d[4], d[5], d[6], d[7] = Cell(s[4])|at, Cell(s[5])|at, Cell(s[6])|at, Cell(s[7])|at
		dst, src = dst[8:], src[8:]
	}
	n := most - len(src)
	for i, b := range src {
		if !printable(b) || i >= len(dst) {
			return n + i
		}
		dst[i] = Cell(b) | at
	}
	return most
}

// printable reports whether b is 0x20 to 0x7E.
func printable(b byte) bool { return b-0x20 < 0x5F }

const (
	swarOnes  = 0x0101010101010101
	swarHighs = 0x8080808080808080
)

// unprintable has a high bit for the lowest byte of x that is not 0x20 to 0x7E; 0
// says that all are. The bits above the lowest mean nothing.
func unprintable(x uint64) uint64 {
	// A byte's high bit comes up when it is below 0x20, is 0x7F, or is above.
	// Borrows and carries only run upwards, so the lowest hit is exact.
	return ((x - swarOnes*0x20) | (x + swarOnes) | x) & swarHighs
}

// printableRun returns how many bytes at the start of p are 0x20 to 0x7E.
func printableRun(p []byte) int {
	n := 0
	for len(p)-n >= 8 {
		if bad := unprintable(binary.LittleEndian.Uint64(p[n:])); bad != 0 {
			return n + bits.TrailingZeros64(bad)>>3
		}
		n += 8
	}
	for n < len(p) && printable(p[n]) {
		n++
	}
	return n
}

// wrap goes to the start of the next row because the last column was passed.
func (t *Terminal) wrap() {
	t.pending = false
	was := t.row
	scrolls := t.row == t.m.bot && t.inColumns()
	t.index()
	t.col = t.m.left
	if t.fullWidth() && (scrolls || t.row != was) {
		t.scr.metaOf(t.row).wraps = true
	}
}

// printRune prints one character of any kind.
func (t *Terminal) printRune(r rune) {
	t.cs.single = 0
	if r >= 0x80 && r < 0xA0 {
		// A C1 control as UTF-8. It is not a control here, and passing it on as
		// text would make it one in the terminal that shows the screen.
		t.drop(DropUTF8)
		r = utf8.RuneError
	}
	p := propOf(r)
	if t.modes.has(modeGraphemes) {
		t.printGrapheme(r, p)
		return
	}
	if p.width() == 0 {
		t.combine(r)
		return
	}
	t.last = r
	t.joinOK = false
	t.place(r, p.width())
}

// place writes a character of width 1 or 2 at the cursor, wrapping first where
// needed, and moves on. It returns where the character went.
func (t *Terminal) place(r rune, width int) (Row, Col) {
	at := t.penCell()
	w := Col(width)
	if t.pending && t.modes.has(modeWrap) {
		t.wrap()
	}
	limit := t.limit()
	if w == 2 && t.col+2 > limit {
		if limit < 2 || limit-t.m.left < 2 && t.col >= t.m.left {
			t.drop(DropWide)
			r, w = utf8.RuneError, 1
		} else if t.modes.has(modeWrap) {
			t.skipToWrap(limit)
			limit = t.limit()
		} else {
			t.col = limit - 2
		}
	}
	if t.modes.has(modeInsert) {
		t.insertCells(int(w))
	}
	cells := t.scr.row(t.row)
	end := t.col + w
	if cells[t.col].Tail() {
		t.scr.cut(t.row, t.col)
	}
	if end < t.cols && cells[end].Tail() {
		t.scr.cut(t.row, end)
	}
	where := t.col
	if w == 2 {
		cells[where] = Cell(r) | at | cellWide
		cells[where+1] = at | cellTail
	} else {
		cells[where] = Cell(r) | at
	}
	t.scr.touch(t.row, end)
	t.col, t.pending = end, false
	if end >= limit {
		t.col = limit - 1
		t.pending = true
	}
	return t.row, where
}

// skipToWrap leaves the last column empty because a wide character does not fit,
// and wraps. The column is marked, so that reflow does not take it for a blank.
func (t *Terminal) skipToWrap(limit Col) {
	t.scr.cut(t.row, t.col)
	t.scr.cut(t.row, t.col+1)
	row := t.scr.row(t.row)
	if t.fullWidth() && t.col == limit-1 {
		row[t.col] = t.blankCell() | cellSpacer
		t.scr.touch(t.row, t.col+1)
	}
	t.wrap()
}

// before returns the cell that a combining mark joins: the one left of the
// cursor, or the one under it while a wrap is pending.
func (t *Terminal) before() (Row, Col, bool) {
	c := t.col
	if !t.pending {
		c--
	}
	if c < 0 {
		return 0, 0, false
	}
	if c > 0 && t.scr.row(t.row)[c].Tail() {
		c--
	}
	return t.row, c, true
}

// combine adds a character without width to the one before it.
func (t *Terminal) combine(r rune) {
	row, col, ok := t.before()
	if !ok {
		t.drop(DropMark)
		return
	}
	t.extend(row, col, r)
}

// extend adds a code point to the cluster at a place and reports whether it fitted.
func (t *Terminal) extend(row Row, col Col, r rune) bool {
	cell := &t.scr.row(row)[col]
	text := t.AppendText(t.scratch[:0], *cell)
	if len(text) == 0 {
		text = append(text, ' ')
	}
	text = utf8.AppendRune(text, r)
	t.scratch = text
	if len(text) > t.lim.ClusterBytes {
		t.drop(DropCluster)
		return false
	}
	id, ok := t.cluster(text)
	if !ok {
		t.drop(DropCluster)
		return false
	}
	width := *cell & cellWidthMask
	if width == cellSpacer {
		width = 0
	}
	*cell = *cell&^(cellRuneMask|cellWidthMask) | width | cellCluster | Cell(id)
	t.scr.touch(row, col+1)
	return true
}

// printGrapheme prints under mode 2027: what belongs to the cluster printed last
// joins it, however it is split over writes.
func (t *Terminal) printGrapheme(r rune, p prop) {
	if t.joinOK {
		next, joined := t.joinState.next(p.class())
		if joined {
			t.joinState = next
			t.join(r, p)
			return
		}
	}
	if p.width() == 0 {
		t.combine(r)
		return
	}
	t.last = r
	t.joinRow, t.joinCol = t.place(r, p.width())
	t.joinOK = true
	t.joinState = t.joinState.start(p.class())
}

// join adds r to the last cluster and widens it where r asks for two columns: an
// emoji presentation selector, the second half of a flag, a wide character after
// a prepended one.
func (t *Terminal) join(r rune, p prop) {
	cell := t.scr.row(t.joinRow)[t.joinCol]
	base := cell.Rune()
	if !t.extend(t.joinRow, t.joinCol, r) || cell.Wide() {
		return
	}
	wide := p.width() == 2 || p.class() == classRegional
	if r == 0xFE0F {
		wide = base == '#' || base == '*' || base >= '0' && base <= '9' || propOf(base).class() == classPictographic
	}
	if wide {
		t.widen()
	}
}

// widen makes the last cluster two columns wide. At the end of a row it moves to
// the next one, as if it had been wide when it was printed.
func (t *Terminal) widen() {
	row, col := t.joinRow, t.joinCol
	limit := t.limit()
	cells := t.scr.row(row)
	if col+2 > limit {
		if !t.modes.has(modeWrap) || limit-t.m.left < 2 {
			t.drop(DropWide)
			return
		}
		c := cells[col]
		cells[col] = c & cellStyleMask
		t.col = col
		t.skipToWrap(limit)
		row, col = t.row, t.col
		cells = t.scr.row(row)
		t.scr.cut(row, col)
		cells[col] = c
	}
	t.scr.cut(row, col+2)
	cells[col] |= cellWide
	cells[col+1] = cells[col]&^(cellRuneMask|cellCluster|cellWidthMask) | cellTail
	t.scr.touch(row, col+2)
	t.joinRow, t.joinCol = row, col
	limit = t.limit()
	t.col, t.pending = col+2, false
	if t.col >= limit {
		t.col, t.pending = limit-1, true
	}
}

// rep repeats a character that was printed right before. REP, CSI n b. More
// repeats than the screen has cells would only repeat what is seen.
func (t *Terminal) rep(r rune, n int) {
	if r == 0 {
		return
	}
	if most := int(t.cols) * int(t.rows); n > most {
		t.drop(DropCount)
		n = most
	}
	for range n {
		t.joinOK = false // a repeated flag half or emoji is a character of its own
		t.printRune(r)
	}
	t.last = 0
}
