package vt

// A reflower wraps rows anew into a history, from which the screen is then taken.
type reflower struct {
	cols, was Col // new and old width
	out       history
	line      []Cell // the logical line being collected
	marks     []lineMark
	at        []linePlace
	open      bool // a line is being collected; it may be empty
	rowStart  int  // offset in line at which the last row began
	row       []Cell
}

// A lineMark is what was known of a row that begins at an offset of the line.
type lineMark struct {
	off  int
	m    mark
	exit int32
}

// A linePlace is a place to follow, at an offset of the line.
type linePlace struct {
	off int
	p   *place
}

// reflow wraps the history and the main screen at c columns.
func (t *Terminal) reflow(c Col, r Row, cur, keep *place) {
	text := t.textRows(cur)
	f := reflower{cols: c, was: t.cols, out: newHistory(t.hist.maxLines+int(r), t.hist.maxBytes, &t.clusters)}
	// The screen's rows pass through the history; give them room of their own.
	f.out.maxBytes += 2*pageSize + int(r)*recRoom(int(c))
	f.out.cutLines, f.out.cutBytes = t.hist.cut()
	t.reflowHistory(&f)
	top := &place{}
	for y := range text {
		m := *t.main.metaOf(y)
		row := t.main.row(y)
		m.trim(row)
		start := f.begin(&m)
		if y == 0 {
			f.at = append(f.at, linePlace{start, top})
		}
		for _, p := range []*place{cur, keep} {
			if p.row != y {
				continue
			}
			off := start + int(p.col)
			if p.past {
				off++
			}
			f.at = append(f.at, linePlace{off, p})
		}
		f.line = append(f.line, row[:m.used]...)
	}
	f.flush()
	first := max(f.out.next-int64(r), f.out.first)
	if text < t.rows && top.line > first {
		first = top.line // the rows below were empty: keep the top where it is
	}
	t.takeScreen(&f.out, c, r, first)
	cur.row = Row(cur.line - first)
	keep.row = Row(max(keep.line-first, 0))
}

// reflowHistory feeds the rows of the history to f.
func (t *Terminal) reflowHistory(f *reflower) {
	rows := t.hist.len()
	var buf []Cell
	for i := range rows {
		rec := t.hist.find(i)
		m := parseHead(rec)
		next := i+1 < rows && t.hist.head(i+1).wraps || i+1 == rows && t.main.metaOf(0).wraps
		if !m.wraps && !next && m.used <= f.cols {
			f.flush()
			f.out.pushRecord(rec)
			f.out.trim()
			continue
		}
		buf = decode(rec, buf[:0])
		f.begin(&m)
		f.line = append(f.line, buf...)
	}
}

// begin starts a row: a new logical line, or more of the one before. It returns
// the row's offset in the line.
func (f *reflower) begin(m *rowMeta) int {
	switch {
	case !m.wraps:
		f.flush()
	case f.open:
		// The row before was full, whatever was erased from it since.
		if n := len(f.line) - f.rowStart; n < int(f.was) {
			f.line = append(f.line, make([]Cell, int(f.was)-n)...)
		}
		if last := len(f.line) - 1; f.line[last]&cellWidthMask == cellSpacer {
			f.line = f.line[:last]
		}
	}
	f.open = true
	f.rowStart = len(f.line)
	if m.marks != 0 {
		f.marks = append(f.marks, lineMark{f.rowStart, m.marks, m.exit})
	}
	return f.rowStart
}

// flush lays the collected line out in rows of the new width.
func (f *reflower) flush() {
	if !f.open {
		return
	}
	f.open = false
	line, width := f.line, int(f.cols)
	// A background that was erased to the end of a row is not text: it does not
	// wrap.
	for len(line) > width && line[len(line)-1].Blank() {
		line = line[:len(line)-1]
	}
	m := rowMeta{}
	for start := 0; ; {
		end := min(start+width, len(line))
		split := end < len(line) && line[end].Tail()
		if split && width == 1 {
			// A wide character on a screen one column wide.
			line[start] = MakeCell('\uFFFD', line[start].Style())
			copy(line[end:], line[end+1:])
			line = line[:len(line)-1]
			split = false
		} else if split {
			end--
		}
		f.emit(line, start, end, split, m.wraps)
		m.wraps = true
		if start = end; start >= len(line) {
			break
		}
	}
	f.line, f.marks, f.at = f.line[:0], f.marks[:0], f.at[:0]
}

// emit adds the row that holds line[start:end]. With split, a wide character did
// not fit in its last column.
func (f *reflower) emit(line []Cell, start, end int, split, wraps bool) {
	last := end == len(line)
	m := rowMeta{wraps: wraps}
	for _, k := range f.marks {
		if k.off >= start && (k.off < end || last) {
			m.marks |= k.m
			if k.m&markEnd != 0 {
				m.exit = k.exit
			}
		}
	}
	for _, k := range f.at {
		if k.off < start || k.off >= end && !last {
			continue
		}
		k.p.line = f.out.next
		k.p.col, k.p.past = Col(k.off-start), false
		if k.p.col >= f.cols {
			k.p.col, k.p.past = f.cols-1, true
		}
	}
	row := line[start:end]
	if split {
		f.row = append(append(f.row[:0], row...), cellSpacer)
		row = f.row
	}
	m.used = Col(len(row))
	m.trim(row)
	f.out.push(row[:m.used], &m)
}

// takeScreen makes the rows of h from number first on the main screen, and the
// rest the history.
func (t *Terminal) takeScreen(h *history, c Col, r Row, first int64) {
	s := newScreen(c, r)
	s.saved, s.kitty = t.main.saved, t.main.kitty
	var buf []Cell
	for h.next > first {
		var m rowMeta
		y := Row(h.next - first - 1)
		buf, m = h.pop(buf[:0])
		s.fill(y, buf, m)
	}
	h.maxLines, h.maxBytes = t.hist.maxLines, t.hist.maxBytes
	h.trim()
	t.hist = *h
	t.main = s
}
