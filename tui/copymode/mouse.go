package copymode

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// A drag is a mouse button held down. The selection covers what the press chose
// (a cell, a word, a line) and the same at the pointer.
type drag struct {
	active   bool
	moved    bool
	clicks   int
	block    bool
	from, to Pos // what the press chose, both included
	x, y     int // where the pointer is, in the viewport
}

// maxAutoscroll is how many lines one Tick scrolls at most, however far out the
// pointer is.
const maxAutoscroll = 10

// Press is a press of the left button at a cell of the viewport. clicks is 1 for
// a click, 2 for a double click that selects a word, a path or an address, and 3
// for a logical line. block selects a rectangle.
func (m *Mode) Press(x, y, clicks int, block bool) Result {
	m.begin()
	at, marker := m.point(x, y)
	m.sel, m.drag, m.search.seek.active = selection{}, drag{}, false
	if marker {
		if i := m.folds.find(at.Line); i >= 0 {
			m.folds.remove(i)
		}
		m.cursor = at
		m.show()
		return m.result()
	}
	m.drag = drag{active: true, clicks: clicks, block: block, x: x, y: y}
	m.drag.from, m.drag.to = m.unit(at)
	if clicks >= 2 {
		m.extend(at)
	} else {
		m.cursor, m.want = at, at.Col
	}
	return m.result()
}

// Drag is a move with the button held. y may lie outside the viewport.
func (m *Mode) Drag(x, y int) Result {
	m.begin()
	d := &m.drag
	if !d.active {
		return m.result()
	}
	if d.moved = d.moved || x != d.x || y != d.y; d.moved {
		d.x, d.y = x, y
		at, _ := m.point(x, y)
		m.extend(at)
	}
	m.res.Autoscroll = y < 0 || y >= m.height
	return m.result()
}

// Tick scrolls while a drag rests outside the viewport.
func (m *Mode) Tick() Result {
	d := &m.drag
	if !d.active || d.y >= 0 && d.y < m.height {
		return m.result()
	}
	n := d.y
	if n > 0 {
		n -= m.height - 1
	}
	top := m.topLine()
	m.setTop(top + min(max(n, -maxAutoscroll), maxAutoscroll))
	at, _ := m.point(d.x, d.y)
	m.extend(at)
	m.res.Autoscroll = m.topLine() != top
	return m.result()
}

// Release ends a drag: what is selected is copied and stays selected.
func (m *Mode) Release(x, y int) Result {
	m.begin()
	d := m.drag
	if d.active && (x != d.x || y != d.y) {
		at, _ := m.point(x, y)
		m.extend(at)
	}
	m.drag = drag{}
	if !d.active || m.sel.kind == NoSelection {
		return m.result()
	}
	m.copySelection(false)
	return m.result()
}

// Wheel scrolls by lines, down when n is positive.
func (m *Mode) Wheel(n int) Result {
	m.begin()
	if m.drag.active {
		m.setTop(m.topLine() + n)
		at, _ := m.point(m.drag.x, m.drag.y)
		m.extend(at)
		return m.result()
	}
	if m.sel.kind != NoSelection {
		m.setTop(m.topLine() + n) // the selection stays as it is, out of sight if need be
		return m.result()
	}
	m.scroll(n, false)
	return m.result()
}

// point returns the cell under a cell of the viewport, the nearest one when it
// lies outside. marker says that it is a marker line.
func (m *Mode) point(x, y int) (at Pos, marker bool) {
	n := min(m.topLine()+min(max(y, 0), m.height-1), m.total()-1)
	if n < m.markers() {
		return Pos{Line: m.cut}, true
	}
	line := m.lineAt(n)
	if m.folds.find(line) >= 0 {
		return Pos{Line: line}, true
	}
	col := min(max(x, 0), m.r.Cols()-1)
	if y < 0 {
		col = 0
	} else if y >= m.height {
		col = m.r.Cols() - 1
	}
	if col > 0 && m.r.cell(m.rowOf(line), col).Tail() {
		col--
	}
	return Pos{line, col}, false
}

// unit returns what the clicks chose at a cell: the cell, its word or its line.
func (m *Mode) unit(at Pos) (from, to Pos) {
	if m.drag.clicks == 2 && !m.drag.block {
		a, b := m.token(place{m.rowOf(at.Line), at.Col})
		return Pos{m.lineOf(a.row), a.col}, Pos{m.lineOf(b.row), b.col}
	}
	return at, at
}

// extend selects from what the press chose to the same at a cell.
func (m *Mode) extend(at Pos) {
	d := &m.drag
	kind := Chars
	switch {
	case d.block:
		kind = Block
	case d.clicks >= 3:
		kind = Lines
	}
	lost := m.sel.lost
	from, to := m.unit(at)
	if kind != Block && at.Before(d.from) {
		m.sel = selection{kind, d.to, lost}
		m.cursor = from
	} else {
		m.sel = selection{kind, d.from, lost}
		m.cursor = to
		if to.Before(d.to) && kind != Block {
			m.cursor = d.to
		}
	}
	m.want = m.cursor.Col
}

// token returns the first and the last cell of what a double click selects: an
// address, a path with its line number, a word, or a run of the same other
// character.
func (m *Mode) token(p place) (from, to place) {
	j := &m.search.j
	first := lineStart(m.r.Buffer, p.row, maxJoin)
	j.load(m.r.Buffer, first, lineEnd(m.r.Buffer, p.row, maxJoin))
	off := j.offset(m.r.Buffer, p.row, p.col)
	if off >= len(j.text) {
		return p, p
	}
	a, b := tokenAt(j.text, off)
	row, col, _ := j.at(m.r.Buffer, a)
	last, lastCol, _ := j.at(m.r.Buffer, b-1)
	return place{row, col}, place{last, lastCol}
}

// tokenAt returns the bytes [from, to) of the token that holds byte off.
func tokenAt(text []byte, off int) (from, to int) {
	if from, to = expand(text, off, notGap); to > from {
		if a, b, ok := address(text[from:to], off-from); ok {
			return from + a, from + b
		}
	}
	from, to = expand(text, off, isPath)
	// A colon belongs to a path before a line number, not before anything else.
	for i := from; i < to; i++ {
		if text[i] != ':' || i+1 < to && (isDigit(text[i+1]) || text[i+1] == '/') {
			continue
		}
		if i < off {
			from = i + 1
		} else {
			to = i
			break
		}
	}
	if text[off] != '.' && text[off] != '?' {
		for to > off+1 && (text[to-1] == '.' || text[to-1] == '?') {
			to--
		}
	}
	if to > from && off >= from && off < to {
		return from, to
	}
	r, _ := utf8.DecodeRune(text[off:])
	if classOf(r, false) == classBlank {
		return expand(text, off, func(q rune) bool { return classOf(q, false) == classBlank })
	}
	return expand(text, off, func(q rune) bool { return q == r })
}

// expand returns the run of characters around off for which ok holds.
func expand(text []byte, off int, ok func(rune) bool) (from, to int) {
	from, to = off, off
	for to < len(text) {
		r, n := utf8.DecodeRune(text[to:])
		if !ok(r) {
			break
		}
		to += n
	}
	for to > off && from > 0 {
		r, n := utf8.DecodeLastRune(text[:from])
		if !ok(r) {
			break
		}
		from -= n
	}
	return from, to
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// notGap holds for what may stand in an address.
func notGap(r rune) bool {
	switch r {
	case '"', '\'', '`', '<', '>', '|', '\\', '^', '{', '}', utf8.RuneError:
		return false
	}
	return !unicode.IsSpace(r) && !(r >= 0x2500 && r < 0x2580) // box drawing
}

// isPath holds for what may stand in a path or a word.
func isPath(r rune) bool {
	switch r {
	case '-', '.', '/', '~', '%', '+', '#', '@', '?', ':':
		return true
	}
	return classOf(r, false) == classWord
}

// address returns the bytes of the address (scheme://…) that holds byte off.
// What closes a sentence or a bracket that it did not open is not part of it.
func address(run []byte, off int) (from, to int, ok bool) {
	i := bytes.Index(run, []byte("://"))
	if i <= 0 {
		return 0, 0, false
	}
	for from = i; from > 0 && isScheme(run[from-1]); from-- {
	}
	for to = len(run); to > i+3; to-- {
		c := run[to-1]
		body := run[from : to-1]
		switch c {
		case '.', ',', ';', ':', '!', '?':
			continue
		case ')':
			if bytes.Count(body, []byte("(")) <= bytes.Count(body, []byte(")")) {
				continue
			}
		case ']':
			if bytes.Count(body, []byte("[")) <= bytes.Count(body, []byte("]")) {
				continue
			}
		}
		break
	}
	return from, to, from < i && to > i+3 && off >= from && off < to
}

func isScheme(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c) || c == '+' || c == '-' || c == '.'
}
