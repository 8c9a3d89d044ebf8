package copymode

import "math"

// A Mode is one visit to copy mode: where the cursor and the viewport are, what
// is selected, searched and folded. One goroutine owns it.
type Mode struct {
	// ASCII draws marker lines without box characters.
	ASCII bool

	r      reader
	tr     tracker
	cut    int64 // absolute line of row 0
	last   int   // last row that holds something
	height int   // rows of the viewport

	cursor Pos
	want   int   // the column that j and k go back to
	top    int64 // first line of the viewport
	topCut bool  // the marker of the cut stands above it
	sel    selection
	search search
	prompt prompt
	folds  folds
	index  *Index
	drag   drag
	held   *held

	count   int  // typed before a command, 0 for none
	prefix  bool // z was typed
	notice  string
	warning bool // the notice tells of a loss or a mistake
	recent  []string

	view  View
	paint []SpanKind
	res   Result
}

// A Result is what a call asks of its caller. The zero Result asks nothing.
type Result struct {
	// Handled is false when a key means nothing here.
	Handled bool
	// Leave says that copy mode is over.
	Leave bool
	// Copied says that Text is to be copied; it has Lines lines. Lost counts
	// selected lines that had been cut from the history before: they are not in Text.
	Copied bool
	Text   string
	Lines  int
	Lost   int64
	// More says that a search goes on: call Step.
	More bool
	// Autoscroll says that a drag rests outside the viewport: call Tick every
	// 50 ms or so until it does not say so.
	Autoscroll bool
	// AtEnd says that the viewport shows the last row. Copy mode that was
	// entered by the wheel may be left.
	AtEnd bool
}

// New enters copy mode on a Buffer, with the cursor where the program's is and
// the viewport at the end.
func New(b Buffer, height int) *Mode {
	m := &Mode{height: max(height, 1), index: &Index{}}
	m.Use(b)
	m.toEnd()
	return m
}

// toEnd puts cursor and viewport where they are on entering.
func (m *Mode) toEnd() {
	row, col := m.r.Cursor()
	m.setTop(math.MaxInt / 2)
	m.moveTo(min(max(row, 0), m.r.Rows()-1), col)
}

// Use gives the Mode its Buffer as it is now. It comes first in every group of
// calls; between it and the last of them the Buffer has to hold still.
func (m *Mode) Use(b Buffer) {
	m.r.use(b)
	was := m.cut + int64(m.tr.hist) // first line of the screen before
	first := !m.tr.used
	ch := m.tr.look(b)
	m.cut = m.tr.cut
	m.last = lastUsed(b)
	m.index.Sync(b)
	switch {
	case first:
	case ch.cleared:
		m.restart("the program cleared the history")
	case ch.rewrapped && m.held == nil:
		m.restart("the width changed and lines were wrapped anew")
	case m.held != nil:
	default:
		if ch.trimmed {
			m.trim()
		}
		if ch.switched && m.sel.kind != NoSelection && max(m.cursor.Line, m.sel.anchor.Line) >= was {
			m.sel = selection{}
			m.warn("the program switched screens; the selection is gone")
		}
		m.checkFolds()
	}
	m.clamp()
}

// Height gives the viewport another height. The cursor stays inside.
func (m *Mode) Height(rows int) {
	if rows = max(rows, 1); rows != m.height {
		m.height = rows
		m.show()
	}
}

// restart puts everything that pointed to text back to the end, and says why.
func (m *Mode) restart(why string) {
	if m.sel.kind != NoSelection {
		why += "; the selection is gone"
	}
	m.sel, m.folds, m.drag, m.held = selection{}, nil, drag{}, nil
	m.search.set(m.search.pat, m.cut)
	m.toEnd()
	m.prompt.origin, m.prompt.top, m.prompt.folds = m.cursor, m.top, nil
	m.warn(why)
}

// trim moves what pointed to lines that were cut to the first that is left.
func (m *Mode) trim() {
	m.search.trim(m.cut)
	m.trimSelection()
	m.prompt.origin = m.kept(m.prompt.origin)
	m.prompt.top = max(m.prompt.top, m.cut)
	m.cursor = m.kept(m.cursor)
	m.top = max(m.top, m.cut)
}

// kept returns a place, or the first that is left when it was cut.
func (m *Mode) kept(p Pos) Pos {
	if p.Line < m.cut {
		return Pos{Line: m.cut}
	}
	return p
}

// clamp keeps places inside a buffer that became shorter or was written over.
func (m *Mode) clamp() {
	last := m.cut + int64(m.r.Rows()) - 1
	for _, p := range []*Pos{&m.cursor, &m.sel.anchor, &m.drag.from, &m.drag.to, &m.prompt.origin} {
		p.Line = min(max(p.Line, m.cut), last)
		p.Col = min(max(p.Col, 0), m.r.Cols()-1)
	}
	if row := m.at(); m.cursor.Col > 0 && m.r.cell(row.row, row.col).Tail() {
		m.cursor.Col-- // the program wrote a wide character under it
	}
	m.top = min(max(m.top, m.cut), last)
	if m.topLine() > m.maxTop() {
		m.setTop(m.maxTop())
	}
}

// say leaves a notice for the status; warn does so for a loss.
func (m *Mode) say(text string)  { m.notice, m.warning = text, false }
func (m *Mode) warn(text string) { m.notice, m.warning = text, true }

// rowOf returns the row of a line, lineOf the reverse.
func (m *Mode) rowOf(line int64) int { return int(line - m.cut) }
func (m *Mode) lineOf(row int) int64 { return m.cut + int64(row) }

// Lines of the layout: the marker of the cut if there is one, then rows and
// folds. The viewport is height of them.

// markers returns 1 when the history was cut, for its marker line.
func (m *Mode) markers() int {
	if m.cut > 0 {
		return 1
	}
	return 0
}

func (m *Mode) shown(line int64) int { return m.markers() + m.folds.shown(line, m.cut) }
func (m *Mode) lineAt(n int) int64   { return m.folds.line(max(n-m.markers(), 0), m.cut) }

// total is how many lines the layout has.
func (m *Mode) total() int { return m.shown(m.lineOf(m.r.Rows()-1)) + 1 }

func (m *Mode) maxTop() int { return max(m.total()-m.height, 0) }

// topLine returns the layout line at the top of the viewport.
func (m *Mode) topLine() int {
	if m.topCut && m.markers() == 1 && m.top == m.cut {
		return 0
	}
	return m.shown(m.top)
}

func (m *Mode) setTop(n int) {
	n = min(max(n, 0), m.maxTop())
	m.topCut = n < m.markers()
	m.top = m.lineAt(n)
}

// show scrolls as little as is needed to have the cursor in the viewport.
func (m *Mode) show() {
	at, top := m.shown(m.cursor.Line), m.topLine()
	switch {
	case at < top:
		m.setTop(at)
	case at >= top+m.height:
		m.setTop(at - m.height + 1)
	default:
		m.setTop(top)
	}
}

// showCentered scrolls so that the cursor is in the middle when it is out of sight.
func (m *Mode) showCentered() {
	at, top := m.shown(m.cursor.Line), m.topLine()
	if at < top || at >= top+m.height {
		m.setTop(at - m.height/2)
	}
	m.show()
}

// moveTo puts the cursor on a cell, opens the fold around it, and shows it.
func (m *Mode) moveTo(row, col int) {
	m.putCursor(row, col)
	m.show()
}

func (m *Mode) putCursor(row, col int) {
	row = min(max(row, 0), m.r.Rows()-1)
	m.cursor = Pos{m.lineOf(row), m.fit(row, col)}
	m.want = m.cursor.Col
	if i := m.folds.find(m.cursor.Line); i >= 0 {
		m.folds.remove(i)
	}
}

// fit returns the nearest column of a row that the cursor may be in: on text,
// or anywhere for a rectangle, and never on a right half.
func (m *Mode) fit(row, col int) int {
	last := m.r.Cols() - 1
	if m.sel.kind != Block {
		last = max(m.r.textLen(row)-1, 0)
	}
	col = min(max(col, 0), last)
	if col > 0 && m.r.cell(row, col).Tail() {
		col--
	}
	return col
}

// vertical moves the cursor n layout lines, keeping its column where it can.
func (m *Mode) vertical(n int) {
	at := m.shown(m.cursor.Line)
	to := min(max(at+n, m.markers()), m.total()-1)
	if n < 0 && to == m.markers() && at+n < to {
		m.setTop(0) // further up there is only the marker of the cut
	}
	m.toLayout(to)
	m.show()
}

// toLayout puts the cursor on a layout line in the wanted column.
func (m *Mode) toLayout(n int) {
	line := m.lineAt(min(max(n, m.markers()), m.total()-1))
	if m.folds.find(line) >= 0 {
		m.cursor = Pos{Line: line}
		return
	}
	m.cursor = Pos{line, m.fit(m.rowOf(line), m.want)}
}

// scroll moves the viewport n lines and the cursor with it when carry is set,
// else only as far as it has to stay inside.
func (m *Mode) scroll(n int, carry bool) {
	at, top := m.shown(m.cursor.Line), m.topLine()
	m.setTop(top + n)
	now := m.topLine()
	to := at
	if carry {
		if to = at + (now - top); now == top {
			to = at + n // the viewport is at its end already
		}
	}
	to = min(max(to, now), now+m.height-1)
	if to != at {
		m.toLayout(to)
	}
}

// result ends a call.
func (m *Mode) result() Result {
	r := m.res
	m.res = Result{}
	r.More = m.more()
	r.AtEnd = m.topLine() >= m.maxTop()
	return r
}

// Last returns the output of the last command that ended, if the marks tell it.
func (m *Mode) Last() (Output, bool) { return m.index.LastOutput(m.r.Buffer) }

// Commands returns what the marks tell of the commands, oldest first.
func (m *Mode) Commands() []Command { return m.index.Commands() }
