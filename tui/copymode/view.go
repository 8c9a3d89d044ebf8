package copymode

import (
	"fmt"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/vt"
)

// A LineKind says what a line of the viewport shows.
type LineKind uint8

// The kinds of lines.
const (
	Below LineKind = iota // nothing: the buffer ended above
	Row                   // a row of the buffer
	Fold                  // the marker of folded rows
	Cut                   // the marker of what was cut from the history
)

// A SpanKind says why cells look different.
type SpanKind uint8

// The kinds of spans. Where several hold, the last of them is told.
const (
	Match    SpanKind = iota + 1 // the pattern was found here
	Selected                     // this is what y copies
	Current                      // the match that the cursor is on
)

// A Span is columns [From, To) of a line.
type Span struct {
	From, To int
	Kind     SpanKind
}

// A Line is one line of the viewport.
type Line struct {
	Kind  LineKind
	Row   int    // the row of the buffer; for a fold, the first hidden one
	Text  string // what a marker says
	Spans []Span // in order, not overlapping
}

// A View is what to draw. It is valid until the next call of its Mode.
type View struct {
	Lines            []Line
	CursorX, CursorY int
	CursorIn         bool // false when it was scrolled out of sight
	Status           Status
}

// View returns the viewport at a height.
func (m *Mode) View(height int) *View {
	m.Height(height)
	v := &m.view
	for len(v.Lines) < m.height {
		v.Lines = append(v.Lines, Line{})
	}
	v.Lines = v.Lines[:m.height]
	top, total := m.topLine(), m.total()
	for y := range v.Lines {
		v.Lines[y] = Line{Spans: v.Lines[y].Spans[:0]}
		if top+y < total {
			m.layoutLine(&v.Lines[y], top+y)
		}
	}
	m.matchSpans(v)
	m.selectionSpans(v)
	for y := range v.Lines {
		v.Lines[y].Spans = m.flatten(v.Lines[y].Spans)
	}
	v.CursorX, v.CursorY = m.cursor.Col, m.shown(m.cursor.Line)-top
	v.CursorIn = v.CursorY >= 0 && v.CursorY < m.height
	v.Status = m.Status()
	return v
}

// layoutLine says what stands on a line of the layout.
func (m *Mode) layoutLine(l *Line, n int) {
	if n < m.markers() {
		lines, bytes := m.r.Cut()
		l.Kind, l.Text = Cut, m.marker(fmt.Sprintf("%s (%s) cut from history", plural(lines, "line"), outcome.Size(bytes)))
		return
	}
	line := m.lineAt(n)
	l.Row = m.rowOf(line)
	i := m.folds.find(line)
	if i < 0 {
		l.Kind = Row
		return
	}
	l.Kind, l.Text = Fold, m.marker(plural(int64(m.folds[i].lines()), "line")+" folded")
}

func (m *Mode) marker(text string) string {
	if m.ASCII {
		return "-- " + text + " --"
	}
	return "┄┄ " + text + " ┄┄"
}

// matchSpans marks the matches in sight, and the one that the cursor is on. The
// rows between two markers are searched together.
func (m *Mode) matchSpans(v *View) {
	if m.search.pat == nil {
		return
	}
	run := 0
	for y := 0; y < len(v.Lines); y++ {
		if v.Lines[y].Kind != Row {
			continue
		}
		end := y + 1
		for end < len(v.Lines) && v.Lines[end].Kind == Row && v.Lines[end].Row == v.Lines[y].Row+end-y {
			end++
		}
		from := m.lineOf(v.Lines[y].Row)
		to := from + int64(end-y)
		for _, f := range m.search.seen(run).in(&m.search, m.r.Buffer, m.cut, from, to) {
			kind := Match
			if f.contains(m.cursor) {
				kind = Current
			}
			for line := max(f.from.Line, from); line <= f.last && line < to; line++ {
				s := Span{0, m.r.Cols(), kind}
				if line == f.from.Line {
					s.From = f.from.Col
				}
				if line == f.last {
					s.To = f.end
				}
				l := &v.Lines[y+int(line-from)]
				l.Spans = append(l.Spans, s)
			}
		}
		run++
		y = end - 1
	}
}

// selectionSpans marks what is selected. A line end that is selected shows as
// one cell, so that an empty line can be seen to be in.
func (m *Mode) selectionSpans(v *View) {
	if m.sel.kind == NoSelection {
		return
	}
	s := m.selected()
	for y := range v.Lines {
		l := &v.Lines[y]
		if l.Row < s.from.row || l.Row > s.to.row {
			continue
		}
		switch l.Kind {
		case Fold:
			l.Spans = append(l.Spans, Span{0, m.r.Cols(), Selected})
		case Row:
			if p := m.selectedIn(s, l.Row); p.From < p.To {
				l.Spans = append(l.Spans, p)
			}
		case Below, Cut:
		}
	}
}

// selectedIn returns the selected part of a row.
func (m *Mode) selectedIn(s span, row int) Span {
	cells := m.r.row(row)
	from, to := 0, max(m.r.textLen(row)-1, 0)
	if m.sel.kind == Block {
		from, to = s.from.col, s.to.col
	} else {
		if row == s.from.row {
			from = s.from.col
			to = max(to, from)
		}
		if row == s.to.row {
			to = min(s.to.col, to)
		}
	}
	from, to = widen(cells, from, to)
	return Span{from, min(to+1, m.r.Cols()), Selected}
}

// flatten makes spans disjoint: the strongest kind of each cell.
func (m *Mode) flatten(spans []Span) []Span {
	if len(spans) < 2 {
		return spans
	}
	cols := m.r.Cols()
	if len(m.paint) < cols {
		m.paint = make([]SpanKind, cols)
	}
	paint := m.paint[:cols]
	clear(paint)
	for _, s := range spans {
		for x := max(s.From, 0); x < min(s.To, cols); x++ {
			paint[x] = max(paint[x], s.Kind)
		}
	}
	spans = spans[:0]
	for x := 0; x < cols; {
		end := x + 1
		for end < cols && paint[end] == paint[x] {
			end++
		}
		if paint[x] != 0 {
			spans = append(spans, Span{x, end, paint[x]})
		}
		x = end
	}
	return spans
}

// A Frame is a View as a source of cells: line y of it is the row that line y of
// the View shows, and nothing where a marker stands. It is as valid as the View.
type Frame struct {
	*vt.Terminal
	view  *View
	cells []vt.Cell
}

// Show sets what the frame shows: a View made of this terminal.
func (f *Frame) Show(t *vt.Terminal, v *View) { f.Terminal, f.view = t, v }

// Line returns the cells of a line, valid until the next call.
func (f *Frame) Line(y vt.Row) []vt.Cell {
	if y < 0 || int(y) >= len(f.view.Lines) || f.view.Lines[y].Kind != Row {
		return nil
	}
	f.cells = terminal{f.Terminal}.Cells(f.view.Lines[y].Row, f.cells[:0])
	return f.cells
}
