package copymode

import "github.com/honestty/honestty/vt"

// A Buffer is rows of cells, oldest first: history, then screen. It has to hold
// still between one Use or Sync and the last call that builds on it.
type Buffer interface {
	// Rows counts all rows, History those of them that no longer change.
	Rows() int
	History() int
	Cols() int
	// Cells appends the cells of a row to dst. Blank ones at the end may be missing.
	Cells(row int, dst []vt.Cell) []vt.Cell
	// Wrapped reports whether a row continues the one above. Row 0 never does.
	Wrapped(row int) bool
	Mark(row int) vt.Mark
	// AppendText appends the characters of a cell, nothing for a blank one.
	AppendText(dst []byte, c vt.Cell) []byte
	// Cut is what was removed before row 0: rows and bytes of text.
	Cut() (lines, bytes int64)
	// Cursor is where the program writes.
	Cursor() (row, col int)
	// Alternate reports whether the screen is the alternate one, whose rows
	// belong to a full-screen program and never reach the history.
	Alternate() bool
}

// Of returns the history and screen of a terminal.
func Of(t *vt.Terminal) Buffer { return terminal{t} }

type terminal struct{ t *vt.Terminal }

func (b terminal) History() int { return b.t.HistoryLen() }

func (b terminal) Rows() int {
	_, rows := b.t.Size()
	return b.t.HistoryLen() + rows
}

func (b terminal) Cols() int {
	cols, _ := b.t.Size()
	return cols
}

func (b terminal) Cells(row int, dst []vt.Cell) []vt.Cell {
	if h := b.t.HistoryLen(); row >= h {
		return append(dst, b.t.Line(vt.Row(row-h))...)
	}
	return b.t.HistoryLine(row, dst)
}

// Wrapped is false on the first row of the alternate screen: what scrolled off
// above it was not kept.
func (b terminal) Wrapped(row int) bool {
	h := b.t.HistoryLen()
	switch {
	case row <= 0, row == h && b.Alternate():
		return false
	case row >= h:
		return b.t.LineWrapped(vt.Row(row - h))
	}
	return b.t.HistoryWrapped(row)
}

func (b terminal) Mark(row int) vt.Mark {
	if h := b.t.HistoryLen(); row >= h {
		return b.t.LineMark(vt.Row(row - h))
	}
	return b.t.HistoryMark(row)
}

func (b terminal) AppendText(dst []byte, c vt.Cell) []byte { return b.t.AppendText(dst, c) }
func (b terminal) Cut() (lines, bytes int64)               { return b.t.HistoryCut() }
func (b terminal) Alternate() bool                         { return b.t.Modes().AltScreen }

func (b terminal) Cursor() (row, col int) {
	c := b.t.Cursor()
	return b.t.HistoryLen() + int(c.Row), int(c.Col)
}

// A Pos is a cell: its absolute line, counted from the first line that the pane
// ever kept, and its column.
type Pos struct {
	Line int64
	Col  int
}

// Before reports whether p comes before q in reading order.
func (p Pos) Before(q Pos) bool { return p.Line < q.Line || p.Line == q.Line && p.Col < q.Col }

// Parts of a vt.Cell that it has no method for.
const (
	widthShift = 22
	spacer     = 3 // left empty because a wide character did not fit in the last column

	semShift  = 25
	semPrompt = 1
	semInput  = 2
	semOutput = 3

	textBits vt.Cell = 1<<24 - 1
)

func isSpacer(c vt.Cell) bool { return c>>widthShift&3 == spacer }

// semantic is what OSC 133 said of a cell: 0, or one of the constants above.
func semantic(c vt.Cell) int { return int(c >> semShift & 3) }

// A change is what happened to a Buffer between two looks.
type change struct {
	trimmed   bool // rows were cut from the start
	cleared   bool // the program cleared the history, or the terminal is another
	rewrapped bool // the width is another, so every row may be
	switched  bool // between main and alternate screen
}

// A tracker notices what happened to a Buffer by comparing two looks at it.
//
// Cutting is visible in Cut. A clear sets Cut back to zero, but output may have
// grown the history past the old numbers since; so the newest rows of history
// are remembered by a sum, because a row of history never changes.
type tracker struct {
	used             bool
	cut              int64
	cols, rows, hist int
	alt              bool
	guard            int64 // absolute line of the first guarded row
	guards           int   // guarded rows, up to guardRows
	sum              uint64
	buf              []vt.Cell
}

// guardRows is how many rows of history are remembered: enough that another
// text is not taken for the same, few enough to cost nothing.
const guardRows = 4

func (t *tracker) look(b Buffer) change {
	cut, _ := b.Cut()
	hist, rows, cols := b.History(), b.Rows(), b.Cols()
	screen := rows - hist
	var ch change
	if t.used {
		ch.rewrapped = cols != t.cols
		ch.switched = b.Alternate() != t.alt
		ch.trimmed = cut > t.cut
		ch.cleared = cut < t.cut ||
			!ch.rewrapped && screen == t.rows-t.hist && cut+int64(hist) < t.cut+int64(t.hist)
		if from := t.guard - cut; !ch.cleared && !ch.rewrapped && from >= 0 && from+int64(t.guards) <= int64(hist) {
			ch.cleared = t.hash(b, int(from), t.guards) != t.sum
		}
	}
	*t = tracker{
		used: true, cut: cut, cols: cols, rows: rows, hist: hist, alt: b.Alternate(),
		guards: min(hist, guardRows), buf: t.buf,
	}
	t.guard = cut + int64(hist-t.guards)
	t.sum = t.hash(b, hist-t.guards, t.guards)
	return ch
}

// hash sums up the text of rows, without their styles.
func (t *tracker) hash(b Buffer, row, n int) uint64 {
	sum := uint64(14695981039346656037)
	for r := row; r < row+n; r++ {
		t.buf = b.Cells(r, t.buf[:0])
		sum = hashCells(sum, t.buf)
	}
	return sum
}

// hashCells is FNV-1a over the text of cells, one step a cell, blanks at the end left out.
func hashCells(sum uint64, cells []vt.Cell) uint64 {
	n := len(cells)
	for n > 0 && cells[n-1].Blank() {
		n--
	}
	for _, c := range cells[:n] {
		sum = (sum ^ uint64(c&textBits)) * 1099511628211
	}
	return (sum ^ 1<<40) * 1099511628211
}
