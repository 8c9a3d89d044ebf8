package vt

import "fmt"

// A rect is a part of the screen, ends exclusive.
type rect struct {
	top, bot    Row
	left, right Col
}

// rectAt reads a rectangle from parameters i to i+3, relative to the margins in
// origin mode, and clips it to the screen. It reports false for an empty one.
func (t *Terminal) rectAt(i int) (rect, bool) {
	q := &t.seq
	base := margins{0, t.rows - 1, 0, t.cols - 1}
	if t.modes.has(modeOrigin) {
		base = t.m
	}
	r := rect{
		top:   base.top + Row(q.arg(i, 1)-1),
		left:  base.left + Col(q.arg(i+1, 1)-1),
		bot:   base.top + Row(q.arg(i+2, int(base.bot-base.top)+1)),
		right: base.left + Col(q.arg(i+3, int(base.right-base.left)+1)),
	}
	r.bot = min(r.bot, base.bot+1)
	r.right = min(r.right, base.right+1)
	return r, r.top < r.bot && r.left < r.right
}

// deccra copies a rectangle. DECCRA, CSI t;l;b;r;p;t;l;p $ v. Pages are ignored.
func (t *Terminal) deccra() {
	src, ok := t.rectAt(0)
	if !ok {
		return
	}
	t.joinOK = false
	q := &t.seq
	base := margins{0, t.rows - 1, 0, t.cols - 1}
	if t.modes.has(modeOrigin) {
		base = t.m
	}
	top := base.top + Row(q.arg(5, 1)-1)
	left := base.left + Col(q.arg(6, 1)-1)
	h := min(src.bot-src.top, base.bot+1-top)
	w := min(src.right-src.left, base.right+1-left)
	if h <= 0 || w <= 0 {
		return
	}
	s := t.scr
	buf := make([]Cell, 0, int(h)*int(w))
	for r := range h {
		buf = append(buf, s.row(src.top + r)[src.left:src.left+w]...)
	}
	for r := range h {
		line := buf[int(r)*int(w) : int(r+1)*int(w)]
		mend(line)
		y := top + r
		s.cut(y, left)
		s.cut(y, left+w)
		copy(s.row(y)[left:left+w], line)
		s.touch(y, left+w)
	}
}

// mend blanks halves of wide characters at the ends of a copied piece.
func mend(line []Cell) {
	if line[0].Tail() {
		line[0] &= cellStyleMask
	}
	if last := len(line) - 1; line[last].Wide() {
		line[last] &= cellStyleMask
	}
}

// decfra fills a rectangle with a character. DECFRA, CSI c;t;l;b;r $ x.
func (t *Terminal) decfra() {
	ch := t.seq.raw(0, 0)
	if ch < 0x20 || ch > 0x7E && ch < 0xA0 || propOf(rune(ch)).width() != 1 || ch >= 0xD800 && ch <= 0xDFFF {
		t.drop(DropUnknown)
		return
	}
	fill := Cell(ch) | t.penCell()
	t.eachRectRow(1, func(row []Cell) {
		for i := range row {
			row[i] = fill
		}
	})
}

// decera erases a rectangle. DECERA, CSI t;l;b;r $ z. DECSERA, CSI t;l;b;r $ {,
// leaves protected characters alone.
func (t *Terminal) decera(selective bool) {
	fill := t.blankCell()
	keep := t.keeps(selective)
	t.eachRectRow(0, func(row []Cell) {
		for i := range row {
			if !keep || !row[i].Protected() {
				row[i] = fill
			}
		}
	})
}

// eachRectRow calls f with the cells of each row of the rectangle at parameter i,
// after making its edges character boundaries.
func (t *Terminal) eachRectRow(i int, f func([]Cell)) {
	r, ok := t.rectAt(i)
	if !ok {
		return
	}
	t.joinOK = false
	for y := r.top; y < r.bot; y++ {
		t.scr.cut(y, r.left)
		t.scr.cut(y, r.right)
		f(t.scr.row(y)[r.left:r.right])
		t.scr.touch(y, r.right)
	}
}

// decsace chooses what DECCARA and DECRARA change: 2 the rectangle, else the
// stream of characters from its first place to its last. DECSACE, CSI n * x.
func (t *Terminal) decsace(n int) {
	switch n {
	case 0, 1:
		t.rectExact = false
	case 2:
		t.rectExact = true
	default:
		t.drop(DropUnknown)
	}
}

// deccara sets attributes in a rectangle. DECCARA, CSI t;l;b;r;attrs $ r. DECRARA,
// CSI t;l;b;r;attrs $ t, reverses them.
func (t *Terminal) deccara(reverse bool) {
	r, ok := t.rectAt(0)
	if !ok {
		return
	}
	t.joinOK = false
	var ids map[StyleID]StyleID
	for y := r.top; y < r.bot; y++ {
		from, to := r.left, r.right
		if !t.rectExact {
			if y > r.top {
				from = 0
			}
			if y < r.bot-1 {
				to = t.cols
			}
		}
		row := t.scr.row(y)
		if from > 0 && row[from].Tail() {
			from--
		}
		if to < t.cols && row[to].Tail() {
			to++
		}
		for c := from; c < to; c++ {
			old := row[c].Style()
			id, ok := ids[old]
			if !ok {
				gen := t.gen
				id = t.intern(t.changed(t.styles.list[old], reverse))
				if ids == nil || gen != t.gen {
					ids = map[StyleID]StyleID{}
				}
				ids[old] = id
			}
			row[c] = row[c].WithStyle(id)
			t.scr.touch(y, to)
		}
	}
}

// changed applies the attributes of DECCARA or DECRARA, from parameter 4 on, to s.
func (t *Terminal) changed(s Style, reverse bool) Style {
	q := &t.seq
	for i := 4; i < max(q.n, 5); i++ {
		n := q.raw(i, 0)
		if i >= q.n {
			n = 0
		}
		if reverse {
			s = flipped(s, n)
			continue
		}
		switch n {
		case 0:
			s.Attrs &^= Bold | Blink | Inverse | Invisible
			s.Underline = UnderlineNone
		case 1, 5, 7, 8:
			s.Attrs |= sgrOn[n]
		case 4:
			s.Underline = UnderlineSingle
		case 22, 25, 27, 28:
			s.Attrs &^= sgrOff[n]
		case 24:
			s.Underline = UnderlineNone
		}
	}
	return s
}

func flipped(s Style, n int) Style {
	line := func() {
		if s.Underline == UnderlineNone {
			s.Underline = UnderlineSingle
		} else {
			s.Underline = UnderlineNone
		}
	}
	switch n {
	case 0:
		s.Attrs ^= Bold | Blink | Inverse | Invisible
		line()
	case 1, 5, 7, 8:
		s.Attrs ^= sgrOn[n]
	case 4:
		line()
	}
	return s
}

// decrqcra answers DECRQCRA, CSI id;page;t;l;b;r * y, with the sum of the code
// points in a rectangle. It reads the screen back, so it is off unless the host
// asked for it.
func (t *Terminal) decrqcra() {
	if !t.opt.AllowChecksum {
		t.drop(DropChecksum)
		return
	}
	sum := 0
	if r, ok := t.rectAt(2); ok {
		for y := r.top; y < r.bot; y++ {
			for _, c := range t.scr.row(y)[r.left:r.right] {
				sum += t.codeSum(c)
			}
		}
	}
	t.reply(fmt.Sprintf("\x1bP%d!~%04X\x1b\\", t.seq.raw(0, 0), uint16(sum)))
}

// codeSum adds the code points of a cell; a blank counts as a space.
func (t *Terminal) codeSum(c Cell) int {
	if c.Blank() {
		return ' '
	}
	n := 0
	for _, r := range string(t.AppendText(t.scratch[:0], c)) {
		n += int(r)
	}
	return n
}
