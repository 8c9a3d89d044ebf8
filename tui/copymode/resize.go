package copymode

import (
	"slices"

	"github.com/honestty/honestty/vt"
)

// A held place is one that is to survive a change of width: a logical line,
// counted from the end because a change of width may cut the history's start,
// its text to know it by, and how many cells of it come before.
type heldPlace struct {
	pos   *Pos
	after int    // logical lines after it
	sum   uint64 // of its text
	off   int
}

// A held is the places of a Mode while the width changes.
type held struct {
	places []heldPlace
	top    Pos
	lines  []foldedLines
}

// A foldedLines is the command whose output was folded, by its place in the list
// counted from the end.
type foldedLines struct{ fromEnd int }

// searchUp is how many logical lines further up a held line is looked for:
// what a shell prints when the width changes comes after it.
const searchUp = 2000

// Hold is called before the terminal gets another width, and Settle after: the
// cursor, the selection, the viewport and the folds stay on their text, wherever
// it wraps now. Without them a change of width drops the selection and says so.
func (m *Mode) Hold() {
	if m.r.Alternate() {
		return // the program draws its screen anew; nothing there stays
	}
	h := &held{top: Pos{Line: m.top}}
	m.held = h
	spots := []*Pos{&m.cursor, &h.top}
	if m.sel.kind != NoSelection {
		spots = append(spots, &m.sel.anchor)
	}
	if m.prompt.open {
		spots = append(spots, &m.prompt.origin)
	}
	last := m.last
	for _, p := range spots {
		row := min(m.rowOf(p.Line), last)
		first := lineStart(m.r.Buffer, row, noLimit)
		sum, cells := m.lineSum(first, row, p.Col)
		h.places = append(h.places, heldPlace{p, linesAfter(m.r.Buffer, row, last), sum, cells})
	}
	commands := m.index.Commands()
	for i, c := range commands {
		if from, to, why := foldable(m.r.Buffer, c); why == "" && to > from && m.folds.find(from) >= 0 {
			h.lines = append(h.lines, foldedLines{len(commands) - i})
		}
	}
}

// Settle puts the places that Hold noted back on their text. Use comes before it.
func (m *Mode) Settle() {
	h := m.held
	m.held = nil
	if h == nil {
		return
	}
	m.drag = drag{}
	m.search.set(m.search.pat, m.cut)
	m.folds = nil
	commands := m.index.Commands()
	for _, l := range h.lines {
		if i := len(commands) - l.fromEnd; i >= 0 {
			if from, to, why := foldable(m.r.Buffer, commands[i]); why == "" {
				m.folds.add(from, to)
			}
		}
	}
	lost := false
	for _, p := range h.places {
		if !m.settle(p) {
			lost = lost || p.pos == &m.sel.anchor || p.pos == &m.cursor && m.sel.kind != NoSelection
		}
	}
	m.topCut = false
	m.top = min(max(h.top.Line, m.cut), m.lineOf(m.r.Rows()-1))
	m.setTop(m.topLine())
	if lost {
		m.sel = selection{}
		m.warn("the selected text changed with the width; the selection is gone")
	}
	m.clamp()
	m.show()
	m.prompt.top, m.prompt.folds = m.top, slices.Clone(m.folds)
}

// settle puts one place back. ok is false when its line is not there any more.
func (m *Mode) settle(p heldPlace) (ok bool) {
	row := m.last
	first := lineStart(m.r.Buffer, row, noLimit)
	for n := p.after; n > 0 && first > 0; n-- {
		first = lineStart(m.r.Buffer, first-1, noLimit)
	}
	at := first
	for range searchUp {
		sum, _ := m.lineSum(first, first, 0)
		if ok = sum == p.sum; ok {
			at = first
			break
		}
		if first == 0 {
			break
		}
		first = lineStart(m.r.Buffer, first-1, noLimit)
	}
	col := p.off
	for end := lineEnd(m.r.Buffer, at, noLimit); at+1 < end && col >= m.r.textLen(at); at++ {
		col -= m.r.textLen(at)
	}
	*p.pos = Pos{m.lineOf(at), min(max(col, 0), m.r.Cols()-1)}
	return ok
}

// linesAfter counts the logical lines that begin after a row, up to last.
func linesAfter(b Buffer, row, last int) int {
	n := 0
	for row++; row <= last; row++ {
		if !b.Wrapped(row) {
			n++
		}
	}
	return n
}

// summedCells is how many cells of a line it is known by.
const summedCells = 2048

// lineSum sums up the beginning of a logical line, however it is wrapped, and
// counts its cells before a place in it.
func (m *Mode) lineSum(first, row, col int) (sum uint64, before int) {
	var text []vt.Cell
	end := lineEnd(m.r.Buffer, first, noLimit)
	for r := first; r < end; r++ {
		cells, n := m.r.row(r), m.r.textLen(r)
		if r < row {
			before += n
		}
		if len(text) < summedCells {
			text = append(text, cells[:min(n, len(cells))]...)
			for range n - len(cells) {
				text = append(text, 0)
			}
		} else if r >= row {
			break
		}
	}
	text = text[:min(len(text), summedCells)]
	return hashCells(14695981039346656037, text), before + col
}
