package vt

// scrollUp moves the rows of a region up by n and brings in blank ones. With
// keep, what leaves the top of the main screen goes to the history; only a
// region that begins at the top row is the top of the screen.
func (t *Terminal) scrollUp(top, bot Row, n int, keep bool) {
	n = min(n, int(bot-top)+1)
	if !t.fullWidth() {
		t.scrollBox(top, bot, n)
		return
	}
	s := t.scr
	fill := t.blankCell()
	save := keep && top == 0 && s == t.main
	if n == 1 {
		t.scrollOne(top, bot, save, fill)
	} else {
		for r := Row(0); save && r < Row(n); r++ {
			t.toHistory(r)
		}
		s.rotateUp(top, bot, n)
		for r := bot - Row(n) + 1; r <= bot; r++ {
			s.wipe(r, fill)
		}
	}
	if !keep || top > 0 {
		s.metaOf(top).wraps = false
	}
	t.detach(bot + 1)
	s.dirtyRows(top, bot)
}

// scrollOne is the part of scrollUp that moves rows, for the scroll by one line
// that most output consists of.
func (t *Terminal) scrollOne(top, bot Row, save bool, fill Cell) {
	s := t.scr
	row, m := s.rowAndMeta(top)
	if save {
		m.trim(row)
		t.hist.push(row[:m.used], m)
	}
	o := s.order[top : bot+1]
	first := o[0]
	copy(o, o[1:])
	o[len(o)-1] = first
	s.wipeStored(row, m, fill)
	s.clean[bot] = false
}

// detach notes that row r no longer continues the one above it.
func (t *Terminal) detach(r Row) {
	if r < t.rows {
		t.scr.metaOf(r).wraps = false
	}
}

// toHistory copies visible row r of the main screen to the history.
func (t *Terminal) toHistory(r Row) {
	m := t.main.metaOf(r)
	row := t.main.row(r)
	m.trim(row)
	t.hist.push(row[:m.used], m)
}

// scrollDown moves the rows of a region down by n and brings in blank ones.
func (t *Terminal) scrollDown(top, bot Row, n int) {
	n = min(n, int(bot-top)+1)
	if !t.fullWidth() {
		t.scrollBox(top, bot, -n)
		return
	}
	s := t.scr
	fill := t.blankCell()
	s.rotateUp(top, bot, int(bot-top)+1-n)
	for r := top; r < top+Row(n); r++ {
		s.wipe(r, fill)
	}
	t.detach(top + Row(n))
	t.detach(bot + 1)
	s.dirtyRows(top, bot)
}

// scrollBox moves the cells between the left and right margins up by n, or down
// by -n, and blanks the rest.
func (t *Terminal) scrollBox(top, bot Row, n int) {
	s := t.scr
	l, r := t.m.left, t.m.right+1
	for y := top; y <= bot; y++ {
		s.cut(y, l)
		s.cut(y, r)
	}
	fill := t.blankCell()
	if n > 0 {
		for y := top; y <= bot; y++ {
			t.moveBox(y, y+Row(n), bot, l, r, fill)
		}
	} else {
		for y := bot; y >= top; y-- {
			from := y + Row(n)
			if from < top {
				from = bot + 1
			}
			t.moveBox(y, from, bot, l, r, fill)
		}
	}
}

// moveBox copies columns l to r (exclusive) of row from to row to, or blanks
// them when from is below the region.
func (t *Terminal) moveBox(to, from, bot Row, l, r Col, fill Cell) {
	dst := t.scr.row(to)[l:r]
	if from <= bot {
		copy(dst, t.scr.row(from)[l:r])
	} else {
		for i := range dst {
			dst[i] = fill
		}
	}
	t.scr.touch(to, r)
	t.scr.metaOf(to).wraps = false
}

// fillCells blanks columns from to end (exclusive) of a row. keep leaves
// protected characters alone.
func (t *Terminal) fillCells(r Row, from, end Col, keep bool) {
	s := t.scr
	if from >= end {
		return
	}
	s.cut(r, from)
	s.cut(r, end)
	fill := t.blankCell()
	m := s.metaOf(r)
	row := s.row(r)
	s.clean[r] = false
	switch {
	case keep:
		for c := from; c < end; c++ {
			if !row[c].Protected() {
				row[c] = fill
			}
		}
		if fill != 0 {
			m.used = max(m.used, end)
		}
	case fill == 0:
		if from < m.used {
			clear(row[from:min(end, m.used)])
			if end >= m.used {
				m.used = from
			}
		}
	default:
		for c := from; c < end; c++ {
			row[c] = fill
		}
		m.used = max(m.used, end)
	}
	if end == t.cols {
		t.detach(r + 1)
	}
}

// keeps reports whether an erase leaves protected characters alone: selective
// ones do after DECSCA, the others do after SPA.
func (t *Terminal) keeps(selective bool) bool {
	if selective {
		return t.protect.dec
	}
	return t.protect.iso
}

// eraseRows blanks whole rows.
func (t *Terminal) eraseRows(top, bot Row, keep bool) {
	if keep {
		for r := top; r <= bot; r++ {
			t.fillCells(r, 0, t.cols, true)
		}
		return
	}
	fill := t.blankCell()
	for r := top; r <= bot; r++ {
		t.scr.wipe(r, fill)
	}
	t.detach(bot + 1)
}

// ed erases in the display. ED, CSI n J, and DECSED, CSI ? n J. 3 clears the
// history. While a wrap is pending the cursor is after the last column, so erasing
// from it on leaves that column alone; the same holds for EL.
//
// A row that ED clears whole begins a new line. One that EL clears still continues
// the row above: zsh wraps its command line with a space, CR and EL.
func (t *Terminal) ed(n int, selective bool) {
	keep := t.keeps(selective)
	t.joinOK = false
	switch n {
	case 0:
		if !t.pending {
			t.fillCells(t.row, t.col, t.cols, keep)
		}
		if t.col == 0 {
			t.detach(t.row)
		}
		t.eraseRows(t.row+1, t.rows-1, keep)
	case 1:
		t.eraseRows(0, t.row-1, keep)
		t.fillCells(t.row, 0, t.col+1, keep)
	case 2:
		t.eraseRows(0, t.rows-1, keep)
	case 3:
		if !selective {
			t.hist.clear()
			t.main.metaOf(0).wraps = false
		}
	default:
		t.drop(DropUnknown)
	}
}

// el erases in the line. EL, CSI n K, and DECSEL, CSI ? n K.
func (t *Terminal) el(n int, selective bool) {
	keep := t.keeps(selective)
	t.joinOK = false
	switch n {
	case 0:
		if !t.pending {
			t.fillCells(t.row, t.col, t.cols, keep)
		}
	case 1:
		t.fillCells(t.row, 0, t.col+1, keep)
	case 2:
		t.fillCells(t.row, 0, t.cols, keep)
	default:
		t.drop(DropUnknown)
	}
}

// ech erases characters from the cursor on. ECH, CSI n X.
func (t *Terminal) ech(n int) {
	t.pending, t.joinOK = false, false
	t.fillCells(t.row, t.col, min(t.col+Col(n), t.cols), t.keeps(false))
}

// insertCells moves the rest of the line right by n within the margins.
func (t *Terminal) insertCells(n int) {
	if !t.inColumns() {
		return
	}
	end := t.m.right + 1
	c := t.col
	k := min(Col(n), end-c)
	s := t.scr
	s.cut(t.row, c)
	s.cut(t.row, end-k)
	s.cut(t.row, end)
	row := s.row(t.row)
	m := s.metaOf(t.row)
	last := max(min(m.used+k, end), m.used)
	copy(row[c+k:end], row[c:end-k])
	fill := t.blankCell()
	for i := range k {
		row[c+i] = fill
	}
	s.touch(t.row, max(last, c+k))
}

// ich inserts blanks. ICH, CSI n @. On the right half of a wide character they go
// after it, so that nothing is lost.
func (t *Terminal) ich(n int) {
	t.pending, t.joinOK = false, false
	if !t.inColumns() {
		return
	}
	c := t.col
	if t.scr.row(t.row)[c].Tail() && c < t.m.right {
		t.col++
	}
	t.insertCells(n)
	t.col = c
}

// dch deletes characters. DCH, CSI n P.
func (t *Terminal) dch(n int) {
	t.pending, t.joinOK = false, false
	if !t.inColumns() {
		return
	}
	t.deleteCells(t.row, t.col, n)
}

// deleteCells removes n cells at a place and moves the rest of the margins left.
func (t *Terminal) deleteCells(r Row, c Col, n int) {
	end := t.m.right + 1
	k := min(Col(n), end-c)
	s := t.scr
	s.cut(r, c)
	s.cut(r, c+k)
	s.cut(r, end)
	row := s.row(r)
	copy(row[c:end-k], row[c+k:end])
	fill := t.blankCell()
	for i := end - k; i < end; i++ {
		row[i] = fill
	}
	if fill != 0 {
		s.touch(r, end)
	}
	s.clean[r] = false
	if end == t.cols {
		t.detach(r + 1)
	}
}

// il inserts rows at the cursor. IL, CSI n L. The cursor goes to the left margin.
func (t *Terminal) il(n int) {
	if !t.inRegion() {
		return
	}
	t.scrollDown(t.row, t.m.bot, n)
	t.setPos(t.row, t.m.left)
}

// dl deletes rows at the cursor. DL, CSI n M. The cursor goes to the left margin.
func (t *Terminal) dl(n int) {
	if !t.inRegion() {
		return
	}
	t.scrollUp(t.row, t.m.bot, n, false)
	t.setPos(t.row, t.m.left)
}

// decic inserts columns in the region. DECIC, CSI n ' }.
func (t *Terminal) decic(n int) {
	if t.inRegion() {
		t.shiftColumns(t.col, n)
	}
}

// decdc deletes columns in the region. DECDC, CSI n ' ~.
func (t *Terminal) decdc(n int) {
	if t.inRegion() {
		t.shiftColumns(t.col, -n)
	}
}

// shiftColumns moves the region's columns from c on right by n, or left by -n.
func (t *Terminal) shiftColumns(c Col, n int) {
	t.joinOK = false
	row, col := t.row, t.col
	for r := t.m.top; r <= t.m.bot; r++ {
		if n < 0 {
			t.deleteCells(r, c, -n)
			continue
		}
		t.row, t.col = r, c
		t.insertCells(n)
	}
	t.row, t.col = row, col
}

// decbi and decfi move the cursor by a column and scroll sideways at the margin.
// DECBI, ESC 6. DECFI, ESC 9.
func (t *Terminal) decbi() {
	switch {
	case t.col == t.m.left && t.row >= t.m.top && t.row <= t.m.bot:
		t.shiftColumns(t.m.left, 1)
	case t.col > 0:
		t.setPos(t.row, t.col-1)
	}
}

func (t *Terminal) decfi() {
	switch {
	case t.col == t.m.right && t.row >= t.m.top && t.row <= t.m.bot:
		t.shiftColumns(t.m.left, -1)
	case t.col < t.cols-1:
		t.setPos(t.row, t.col+1)
	}
}

// decaln fills the screen with E. DECALN, ESC # 8.
func (t *Terminal) decaln() {
	t.m = margins{0, t.rows - 1, 0, t.cols - 1}
	t.modes.set(modeOrigin, false)
	for r := range t.rows {
		t.scr.wipe(r, MakeCell('E', 0))
	}
	t.setPos(0, 0)
}
