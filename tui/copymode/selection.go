package copymode

// A Selection is how text is selected.
type Selection uint8

// The kinds of selection. Lines are logical lines, whatever part of one the
// cursor is in.
const (
	NoSelection Selection = iota
	Chars
	Lines
	Block
)

// A selection reaches from its anchor to the cursor, both included.
type selection struct {
	kind   Selection
	anchor Pos
	lost   int64 // selected lines that were cut from the history
}

// Selection returns the kind of selection there is.
func (m *Mode) Selection() Selection { return m.sel.kind }

// selectAs is v, V and Ctrl+v: begins a selection, changes its kind, or ends it
// when it is of that kind already.
func (m *Mode) selectAs(kind Selection) {
	switch m.sel.kind {
	case kind:
		m.sel = selection{}
	case NoSelection:
		m.sel = selection{kind: kind, anchor: m.cursor}
	default:
		m.sel.kind = kind
	}
	if m.folds.find(m.cursor.Line) < 0 {
		m.cursor.Col = m.fit(m.at().row, m.cursor.Col)
	}
}

// swapEnds is o: the cursor goes to the other end.
func (m *Mode) swapEnds() {
	if m.sel.kind == NoSelection {
		m.say("nothing is selected")
		return
	}
	to := m.sel.anchor
	m.sel.anchor = m.cursor
	m.moveTo(m.rowOf(to.Line), to.Col)
}

// A span is what is selected, in rows: from and to are its first and last cell;
// for a block, its corners.
type span struct{ from, to place }

// selected returns the selection in reading order. Lines reach to the ends of
// their logical lines, folded ones to the end of the fold.
func (m *Mode) selected() span {
	a, b := m.sel.anchor, m.cursor
	if b.Before(a) {
		a, b = b, a
	}
	if i := m.folds.find(b.Line); i >= 0 && m.sel.kind != Block {
		b = Pos{m.folds[i].to - 1, m.r.Cols() - 1} // a marker stands for all that it hides
	}
	s := span{place{m.rowOf(a.Line), a.Col}, place{m.rowOf(b.Line), b.Col}}
	switch m.sel.kind {
	case Lines:
		s.from = place{lineStart(m.r.Buffer, s.from.row, noLimit), 0}
		s.to = place{lineEnd(m.r.Buffer, s.to.row, noLimit) - 1, m.r.Cols() - 1}
	case Block:
		s.from.col, s.to.col = min(a.Col, b.Col), max(a.Col, b.Col)
		for _, p := range []Pos{a, b} { // a corner on a wide character takes both halves
			if row := m.rowOf(p.Line); p.Col == s.to.col && m.r.cell(row, p.Col).Wide() {
				s.to.col++
				break
			}
		}
	case Chars, NoSelection:
	}
	return s
}

// copySelection ends copy mode with the selected text.
func (m *Mode) copySelection(leave bool) {
	if m.sel.kind == NoSelection {
		m.say("nothing is selected: v selects, V selects lines, Y copies this line")
		return
	}
	s := m.selected()
	var text []byte
	if m.sel.kind == Block {
		text = appendBlock(nil, m.r.Buffer, s.from.row, s.to.row, s.from.col, s.to.col)
	} else {
		text = appendRange(nil, m.r.Buffer, s.from.row, s.from.col, s.to.row, s.to.col)
	}
	m.copied(text, m.sel.lost)
	m.res.Leave = leave
	if leave {
		m.sel = selection{}
	}
}

// copied puts text into the result.
func (m *Mode) copied(text []byte, lost int64) {
	m.res.Copied, m.res.Text, m.res.Lines, m.res.Lost = true, string(text), countLines(text), lost
}

// copyLines is Y: n logical lines from that of the cursor.
func (m *Mode) copyLines(n int) {
	row := m.at().row
	first, end := lineStart(m.r.Buffer, row, noLimit), row
	for range n {
		if end >= m.r.Rows() {
			break
		}
		end = lineEnd(m.r.Buffer, end, noLimit)
	}
	m.copied(AppendRows(nil, m.r.Buffer, first, end), 0)
	m.res.Leave = true
}

// copyOutput is c: the output of the command at the cursor.
func (m *Mode) copyOutput() {
	c, ok := m.index.At(m.cursor.Line)
	if !ok {
		m.say(noMarks)
		return
	}
	o, ok := m.index.Output(m.r.Buffer, c)
	switch {
	case !ok:
		m.say("no shell mark says where this command's output begins")
	case o.Lines == 0:
		m.say("this command wrote nothing")
	default:
		m.copied([]byte(o.Text), 0)
		m.res.Leave = true
		if o.Cut {
			m.warn("the beginning of this output was cut from history")
		}
	}
}

// trimSelection counts the selected lines that were cut.
func (m *Mode) trimSelection() {
	if m.sel.kind == NoSelection {
		return
	}
	first, last := m.sel.anchor.Line, m.cursor.Line
	if last < first {
		first, last = last, first
	}
	gone := min(m.cut, last+1) - first
	if gone <= 0 {
		return
	}
	m.sel.lost += gone
	if last < m.cut {
		m.warn(plural(m.sel.lost, "selected line") + " cut from history: nothing is left of the selection")
		m.sel = selection{}
		m.drag = drag{}
		return
	}
	m.warn(plural(m.sel.lost, "selected line") + " cut from history: what is left stays selected")
	if m.sel.kind == Block { // the columns stay
		m.sel.anchor.Line = max(m.sel.anchor.Line, m.cut)
		m.cursor.Line = max(m.cursor.Line, m.cut)
		return
	}
	m.sel.anchor = m.kept(m.sel.anchor)
	m.cursor = m.kept(m.cursor)
}
