package copymode

import (
	"bytes"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/honestty/honestty/vt"
)

// A reader reads rows of a Buffer and keeps the last few.
type reader struct {
	Buffer
	slots [4]slot
	next  int
}

type slot struct {
	row   int // -1 when empty
	cells []vt.Cell
}

// use takes a Buffer and forgets rows of the one before.
func (r *reader) use(b Buffer) {
	r.Buffer = b
	for i := range r.slots {
		r.slots[i].row = -1
	}
}

// row returns the cells of a row, valid until three others have been read.
func (r *reader) row(row int) []vt.Cell {
	for i := range r.slots {
		if r.slots[i].row == row {
			return r.slots[i].cells
		}
	}
	s := &r.slots[r.next]
	r.next = (r.next + 1) % len(r.slots)
	s.row, s.cells = row, r.Cells(row, s.cells[:0])
	return s.cells
}

// cell returns one cell, blank outside the row.
func (r *reader) cell(row, col int) vt.Cell {
	if cells := r.row(row); col >= 0 && col < len(cells) {
		return cells[col]
	}
	return 0
}

// joins reports whether the logical line goes on in the next row.
func joins(b Buffer, row int) bool { return row+1 < b.Rows() && b.Wrapped(row+1) }

// textLen returns how many columns of a row are text. A row that joins is full,
// whatever was erased from it since; a spacer is not text.
func textLen(b Buffer, row int, cells []vt.Cell) int {
	if joins(b, row) {
		cols := b.Cols()
		if len(cells) == cols && isSpacer(cells[cols-1]) {
			return cols - 1
		}
		return cols
	}
	return usedLen(cells)
}

// usedLen returns the length without blank cells at the end.
func usedLen(cells []vt.Cell) int {
	n := len(cells)
	for n > 0 && cells[n-1].Blank() {
		n--
	}
	return n
}

func (r *reader) textLen(row int) int { return textLen(r.Buffer, row, r.row(row)) }

// lineStart returns the first row of a logical line, going up at most limit rows.
func lineStart(b Buffer, row, limit int) int {
	for row > 0 && limit > 0 && b.Wrapped(row) {
		row--
		limit--
	}
	return row
}

// lineEnd returns the row after a logical line, going down at most limit rows.
func lineEnd(b Buffer, row, limit int) int {
	for row++; row < b.Rows() && limit > 1 && b.Wrapped(row); row++ {
		limit--
	}
	return row
}

// noLimit is more rows than any Buffer has.
const noLimit = math.MaxInt

// lastUsed returns the last row that holds something. A blank screen gives its
// first row.
func lastUsed(b Buffer) int {
	row := b.Rows() - 1
	var cells []vt.Cell
	for ; row > b.History(); row-- {
		if cells = b.Cells(row, cells[:0]); usedLen(cells) > 0 {
			break
		}
	}
	return row
}

// appendCells appends the text of n columns of a row that begin at col, blanks as
// spaces. A row shorter than that is filled up.
func appendCells(dst []byte, b Buffer, cells []vt.Cell, col, n int) []byte {
	for i := col; i < col+n; i++ {
		if i >= len(cells) {
			dst = append(dst, bytes.Repeat([]byte{' '}, col+n-i)...)
			break
		}
		dst = appendCell(dst, b, cells[i])
	}
	return dst
}

func appendCell(dst []byte, b Buffer, c vt.Cell) []byte {
	switch r := c.Rune(); {
	case r > 0 && r < utf8.RuneSelf:
		return append(dst, byte(r))
	case c.Tail():
		return dst
	case c.Blank():
		return append(dst, ' ')
	}
	return b.AppendText(dst, c)
}

// AppendRows appends rows [from, to) as text: soft-wrapped rows joined, blanks
// at the ends of lines left out, a newline between lines and none at the end.
func AppendRows(dst []byte, b Buffer, from, to int) []byte {
	from, to = max(from, 0), min(to, b.Rows())
	if from >= to {
		return dst
	}
	return appendRange(dst, b, from, 0, to-1, b.Cols()-1)
}

// appendRange appends the text from one cell to another, both included.
func appendRange(dst []byte, b Buffer, fromRow, fromCol, toRow, toCol int) []byte {
	var cells []vt.Cell
	line := len(dst) // where the current line begins in dst
	for row := fromRow; row <= toRow; row++ {
		if row > fromRow && !b.Wrapped(row) {
			dst = append(trimBlanks(dst, line), '\n')
			line = len(dst)
		}
		cells = b.Cells(row, cells[:0])
		n := textLen(b, row, cells)
		first, end := 0, n
		if row == fromRow {
			first = fromCol
			if first > 0 && first < len(cells) && cells[first].Tail() {
				first--
			}
		}
		if row == toRow && toCol+1 < n {
			end = toCol + 1 // a right half adds nothing to its left one
			return appendCells(dst, b, cells, first, max(end-first, 0))
		}
		dst = appendCells(dst, b, cells, first, max(end-first, 0))
	}
	return trimBlanks(dst, line)
}

// trimBlanks cuts spaces off the end, not past from.
func trimBlanks(dst []byte, from int) []byte {
	n := len(dst)
	for n > from && dst[n-1] == ' ' {
		n--
	}
	return dst[:n]
}

// appendBlock appends a rectangle, columns [left, right] of each row, one line a
// row. A wide character that is half inside is taken whole.
func appendBlock(dst []byte, b Buffer, top, bottom, left, right int) []byte {
	var cells []vt.Cell
	for row := top; row <= bottom; row++ {
		if row > top {
			dst = append(dst, '\n')
		}
		cells = b.Cells(row, cells[:0])
		from, to := widen(cells, left, right)
		line := len(dst)
		dst = appendCells(dst, b, cells, from, max(min(to+1, len(cells))-from, 0))
		dst = trimBlanks(dst, line)
	}
	return dst
}

// widen moves two columns apart so that they split no wide character.
func widen(cells []vt.Cell, left, right int) (from, to int) {
	if left > 0 && left < len(cells) && cells[left].Tail() {
		left--
	}
	if right+1 < len(cells) && cells[right+1].Tail() {
		right++
	}
	return left, right
}

// A joined is a logical line, or a part of one, as text, and where each byte of
// it stands.
type joined struct {
	text  []byte
	low   []byte // text in lower case, when all of it is ASCII
	rows  []joinedRow
	ascii bool
	cells []vt.Cell
	buf   []byte
}

type joinedRow struct {
	row, off int
	ascii    bool // each byte is a column
}

// load reads rows [from, to). Blank cells after the text are left out.
func (j *joined) load(b Buffer, from, to int) {
	j.text, j.low, j.rows, j.ascii = j.text[:0], j.low[:0], j.rows[:0], true
	for row := from; row < to; row++ {
		j.cells = b.Cells(row, j.cells[:0])
		n := textLen(b, row, j.cells)
		off := len(j.text)
		j.text = slices.Grow(j.text, n)
		ascii := true
		for _, c := range j.cells[:min(n, len(j.cells))] {
			if r := c.Rune(); r > 0 && r < utf8.RuneSelf {
				j.text = append(j.text, byte(r))
				continue
			}
			ascii = ascii && c.Blank()
			j.text = appendCell(j.text, b, c)
		}
		for i := len(j.cells); i < n; i++ {
			j.text = append(j.text, ' ')
		}
		j.rows = append(j.rows, joinedRow{row, off, ascii})
		j.ascii = j.ascii && ascii
	}
}

// lower returns the text in lower case. It is only for text that is ASCII.
func (j *joined) lower() []byte {
	if len(j.low) != len(j.text) {
		j.low = append(j.low[:0], j.text...)
		for i, c := range j.low {
			if c >= 'A' && c <= 'Z' {
				j.low[i] = c + 'a' - 'A'
			}
		}
	}
	return j.low
}

// at returns the row and columns [col, end) of the cell that byte off belongs to.
func (j *joined) at(b Buffer, off int) (row, col, end int) {
	i, found := slices.BinarySearchFunc(j.rows, off, func(r joinedRow, off int) int { return r.off - off })
	if !found {
		i--
	}
	for i+1 < len(j.rows) && j.rows[i+1].off == off {
		i++
	}
	r := j.rows[i]
	if r.ascii {
		return r.row, off - r.off, off - r.off + 1
	}
	j.cells = b.Cells(r.row, j.cells[:0])
	at := r.off
	for c := 0; c < len(j.cells); c++ {
		j.buf = appendCell(j.buf[:0], b, j.cells[c])
		if at += len(j.buf); at > off {
			if j.cells[c].Wide() {
				return r.row, c, c + 2
			}
			return r.row, c, c + 1
		}
	}
	c := len(j.cells) + off - at
	return r.row, c, c + 1
}

// offset returns the byte at which the text of a cell begins; row is one of those loaded.
func (j *joined) offset(b Buffer, row, col int) int {
	r := j.rows[row-j.rows[0].row]
	if r.ascii {
		return min(r.off+col, len(j.text))
	}
	j.cells = b.Cells(row, j.cells[:0])
	if col < len(j.cells) && j.cells[col].Tail() {
		col--
	}
	j.buf = appendCells(j.buf[:0], b, j.cells, 0, min(col, len(j.cells)))
	return min(r.off+len(j.buf)+max(col-len(j.cells), 0), len(j.text))
}
