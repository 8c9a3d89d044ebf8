package copymode

import (
	"math"
	"unicode"
	"unicode/utf8"
)

// A place is a row and a column of the buffer as it is now.
type place struct{ row, col int }

func (m *Mode) at() place { return place{m.rowOf(m.cursor.Line), m.cursor.Col} }

// next returns the place of the character after p. brk says that another
// logical line begins there; ok is false at the end of the buffer.
func (m *Mode) next(p place) (q place, brk, ok bool) {
	step := 1
	if m.r.cell(p.row, p.col).Wide() {
		step = 2
	}
	if p.col+step < m.r.textLen(p.row) {
		return place{p.row, p.col + step}, false, true
	}
	if p.row >= m.last {
		return p, false, false
	}
	return place{p.row + 1, 0}, !m.r.Wrapped(p.row + 1), true
}

// back returns the place of the character before p. brk says that p began a
// logical line.
func (m *Mode) back(p place) (q place, brk, ok bool) {
	if p.col > 0 {
		p.col--
		if p.col > 0 && m.r.cell(p.row, p.col).Tail() {
			p.col--
		}
		return p, false, true
	}
	if p.row == 0 {
		return p, false, false
	}
	brk = !m.r.Wrapped(p.row)
	return m.lastCell(p.row - 1), brk, true
}

// lastCell returns the last character of a row.
func (m *Mode) lastCell(row int) place {
	col := max(m.r.textLen(row)-1, 0)
	if col > 0 && m.r.cell(row, col).Tail() {
		col--
	}
	return place{row, col}
}

// A class is what vi takes a character for.
type class uint8

const (
	classBlank class = iota
	classWord
	classPunct
)

func (m *Mode) class(p place, big bool) class {
	c := m.r.cell(p.row, p.col)
	r := c.Rune()
	if c.Tail() {
		return classWord
	}
	if r == 0 && !c.Blank() {
		r, _ = utf8.DecodeRune(m.r.AppendText(nil, c))
	}
	return classOf(r, big)
}

func classOf(r rune, big bool) class {
	switch {
	case r == 0 || unicode.IsSpace(r):
		return classBlank
	case big || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
		return classWord
	}
	return classPunct
}

func (m *Mode) empty(row int) bool { return m.r.textLen(row) == 0 }

// wordForward is w and W: the next word, or the next empty line.
func (m *Mode) wordForward(p place, big bool) place {
	c := m.class(p, big)
	for {
		q, brk, ok := m.next(p)
		if !ok {
			return m.lastCell(p.row)
		}
		p = q
		if brk {
			if m.empty(p.row) {
				return p
			}
			c = classBlank
		}
		k := m.class(p, big)
		if k != classBlank && k != c {
			return p
		}
		c = k
	}
}

// wordEnd is e and E: the end of this word, or of the next when already there.
func (m *Mode) wordEnd(p place, big bool) place {
	for {
		q, _, ok := m.next(p)
		if !ok {
			return p
		}
		if p = q; m.class(p, big) != classBlank {
			break
		}
	}
	c := m.class(p, big)
	for {
		q, brk, ok := m.next(p)
		if !ok || brk || m.class(q, big) != c {
			return p
		}
		p = q
	}
}

// wordBack is b and B: the start of this word, or of the one before when
// already there, or the empty line before.
func (m *Mode) wordBack(p place, big bool) place {
	for {
		q, brk, ok := m.back(p)
		if !ok {
			return p
		}
		p = q
		if m.class(p, big) != classBlank {
			break
		}
		if brk && m.empty(p.row) {
			return p
		}
	}
	c := m.class(p, big)
	for {
		q, brk, ok := m.back(p)
		if !ok || brk || m.class(q, big) != c {
			return p
		}
		p = q
	}
}

// maxRepeat bounds motions that read text at every step.
const maxRepeat = 10_000

// words repeats a word motion, as long as it gets anywhere.
func (m *Mode) words(n int, big bool, motion func(place, bool) place) {
	p := m.at()
	for range min(n, maxRepeat) {
		q := motion(p, big)
		if q == p {
			break
		}
		p = q
	}
	m.moveTo(p.row, p.col)
}

// chars is h and l: n characters along the logical line.
func (m *Mode) chars(n int) {
	p := m.at()
	if m.sel.kind == Block {
		m.moveTo(p.row, m.blockStep(p, n))
		return
	}
	for ; n != 0; n -= sign(n) {
		q, brk, ok := m.next(p)
		if n < 0 {
			q, brk, ok = m.back(p)
		}
		if !ok || brk {
			break
		}
		p = q
	}
	m.moveTo(p.row, p.col)
}

// blockStep returns the column n to the side of p, stepping over wide characters.
func (m *Mode) blockStep(p place, n int) int {
	if n > 0 && m.r.cell(p.row, p.col).Wide() {
		n++
	}
	return p.col + n
}

func sign(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}

// lineFirst is 0: the start of the logical line. lineLast is $.
func (m *Mode) lineFirst() { m.moveTo(lineStart(m.r.Buffer, m.at().row, noLimit), 0) }

func (m *Mode) lineLast(n int) {
	row := min(m.at().row+n-1, m.r.Rows()-1)
	m.moveTo(lineEnd(m.r.Buffer, row, noLimit)-1, math.MaxInt)
	m.want = math.MaxInt
}

// lineText is ^: the first character of the logical line that is not blank.
func (m *Mode) lineText() {
	p := place{lineStart(m.r.Buffer, m.at().row, noLimit), 0}
	first := p
	for m.class(p, true) == classBlank {
		q, brk, ok := m.next(p)
		if !ok || brk {
			p = first
			break
		}
		p = q
	}
	m.moveTo(p.row, p.col)
}

// toRow is g and G: a row, at its first character that is not blank.
func (m *Mode) toRow(row int) {
	row = min(max(row, 0), m.r.Rows()-1)
	col := 0
	for n := m.r.textLen(row); col < n-1 && m.class(place{row, col}, true) == classBlank; {
		col++
	}
	m.moveTo(row, col)
}

// paragraphs is { and }: the next blank line that way.
func (m *Mode) paragraphs(n int) {
	row, step := m.at().row, sign(n)
	last := m.last
	for ; n != 0; n -= step {
		for row+step >= 0 && row <= last && m.blankRow(row) {
			row += step
		}
		for row+step >= 0 && row <= last && !m.blankRow(row) {
			row += step
		}
	}
	if row > last {
		p := m.lastCell(last)
		m.moveTo(p.row, p.col)
		return
	}
	m.moveTo(row, 0)
}

// blankRow reports whether a row is a whole logical line without text.
func (m *Mode) blankRow(row int) bool {
	if m.r.Wrapped(row) || joins(m.r.Buffer, row) {
		return false
	}
	for i := range m.r.textLen(row) {
		if m.class(place{row, i}, true) != classBlank {
			return false
		}
	}
	return true
}

// window is H, M and L: a line of the viewport, n from its top or its bottom.
func (m *Mode) window(n int) {
	top := m.topLine()
	bottom := min(top+m.height, m.total()) - 1
	at := top + n
	if n < 0 {
		at = bottom + n + 1
	}
	m.toLayout(min(max(at, top), bottom))
	m.want = m.cursor.Col
}

const noMarks = "no shell marks in this pane"

// prompts is [ and ]: the n-th prompt that way, at the top of the viewport.
func (m *Mode) prompts(n int) {
	if len(m.index.Commands()) == 0 {
		m.say(noMarks)
		return
	}
	line, ok := m.index.prompt(m.cursor.Line, n)
	if !ok {
		m.say("no prompt further " + map[bool]string{true: "up", false: "down"}[n < 0])
		return
	}
	row, col := m.rowOf(line), 0
	for i, c := range m.r.row(row) {
		if semantic(c) == semInput && !c.Blank() {
			col = i
			break
		}
	}
	m.moveTo(row, col)
	m.setTop(m.shown(line))
}
