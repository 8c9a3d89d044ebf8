package vt

// A mark is what OSC 133 said about a row, one bit each: a row can hold a whole
// prompt and the end of the command before it.
type mark uint8

const (
	markPrompt mark = 1 << iota
	markInput
	markOutput
	markEnd
)

// A rowMeta is what is known of one stored row.
type rowMeta struct {
	used  Col // cells at and past used are zero
	exit  int32
	wraps bool // the row continues the one above
	marks mark
}

// A screen is rows behind an order array: visible row r is stored row order[r],
// so that scrolling any region moves two bytes a row and no cells.
type screen struct {
	cols  Col
	cells []Cell
	order []uint16
	meta  []rowMeta
	clean []bool // by visible row: unchanged since ClearDirty
	seen  bool   // a row may be clean

	saved savedCursor
	kitty kittyKeys
}

func newScreen(cols Col, rows Row) *screen {
	s := &screen{
		cols:  cols,
		cells: make([]Cell, int(cols)*int(rows)),
		order: make([]uint16, rows),
		meta:  make([]rowMeta, rows),
		clean: make([]bool, rows),
	}
	for i := range s.order {
		s.order[i] = uint16(i)
	}
	return s
}

func (s *screen) bytes() int {
	if s == nil {
		return 0
	}
	return cap(s.cells)*8 + len(s.order)*2 + len(s.meta)*16 + len(s.clean)
}

// row returns the cells of visible row r, all columns of it.
func (s *screen) row(r Row) []Cell {
	i := int(s.order[r]) * int(s.cols)
	return s.cells[i : i+int(s.cols) : i+int(s.cols)]
}

func (s *screen) metaOf(r Row) *rowMeta { return &s.meta[s.order[r]] }

// rowAndMeta is row and metaOf at once.
func (s *screen) rowAndMeta(r Row) ([]Cell, *rowMeta) {
	id := int(s.order[r])
	i := id * int(s.cols)
	return s.cells[i : i+int(s.cols) : i+int(s.cols)], &s.meta[id]
}

// touch notes that row r was written up to column end (exclusive).
func (s *screen) touch(r Row, end Col) {
	m := s.metaOf(r)
	m.used = max(m.used, end)
	s.clean[r] = false
}

// dirtyRows notes that rows top to bot changed. Scrolling calls it for every line,
// of which there are many between two calls of ClearDirty.
func (s *screen) dirtyRows(top, bot Row) {
	if s.seen {
		clear(s.clean[top : bot+1])
		s.seen = top > 0 || int(bot) < len(s.clean)-1
	}
}

// wipe clears the whole of row r to fill, and forgets what was known of it.
func (s *screen) wipe(r Row, fill Cell) {
	row, m := s.rowAndMeta(r)
	s.wipeStored(row, m, fill)
	s.clean[r] = false
}

func (s *screen) wipeStored(row []Cell, m *rowMeta, fill Cell) {
	if fill == 0 {
		clear(row[:m.used])
		*m = rowMeta{}
	} else {
		for i := range row {
			row[i] = fill
		}
		*m = rowMeta{used: s.cols}
	}
}

// rotateUp moves rows top+n..bot up by n; the n rows that fell off come back at
// the bottom, uncleared.
func (s *screen) rotateUp(top, bot Row, n int) {
	o := s.order[top : bot+1]
	if n == 1 {
		first := o[0]
		copy(o, o[1:])
		o[len(o)-1] = first
		return
	}
	reverse(o[:n])
	reverse(o[n:])
	reverse(o)
}

func reverse(o []uint16) {
	for i, j := 0, len(o)-1; i < j; i, j = i+1, j-1 {
		o[i], o[j] = o[j], o[i]
	}
}

// trim lowers used past trailing zero cells.
func (m *rowMeta) trim(row []Cell) {
	for m.used > 0 && row[m.used-1] == 0 {
		m.used--
	}
}

// cut makes col a boundary between characters: a wide character that would be
// split there becomes two blanks in its own style.
func (s *screen) cut(r Row, col Col) {
	if col <= 0 || col >= s.cols {
		return
	}
	row := s.row(r)
	if row[col].Tail() {
		row[col] &= cellStyleMask
		row[col-1] &= cellStyleMask
	}
}
