package vt

import "slices"

// A protection is the state of DECSCA and SPA. Characters written while it is on
// are kept by selective erases; after SPA also by plain ones.
type protection struct {
	on  bool
	iso bool // SPA rather than DECSCA was the last to be used
	dec bool
}

var protectOff = protection{}

// A savedCursor is what DECSC keeps.
type savedCursor struct {
	set     bool
	row     Row
	col     Col
	pending bool
	pen     Style
	origin  bool
	wrap    bool
	cs      charsets
	protect bool
}

// setPos puts the cursor somewhere inside the screen and ends a pending wrap.
func (t *Terminal) setPos(r Row, c Col) {
	t.row = min(max(r, 0), t.rows-1)
	t.col = min(max(c, 0), t.cols-1)
	t.pending = false
	t.joinOK = false
}

// moveTo addresses the cursor, relative to the margins in origin mode.
func (t *Terminal) moveTo(r Row, c Col) {
	if t.modes.has(modeOrigin) {
		r = min(r+t.m.top, t.m.bot)
		c = min(c+t.m.left, t.m.right)
	}
	t.setPos(r, c)
}

// fullWidth reports whether the left and right margins are the screen's edges.
func (t *Terminal) fullWidth() bool { return t.m.left == 0 && t.m.right == t.cols-1 }

// inColumns reports whether the cursor is between the left and right margins.
func (t *Terminal) inColumns() bool { return t.col >= t.m.left && t.col <= t.m.right }

// inRegion reports whether the cursor is inside all margins.
func (t *Terminal) inRegion() bool {
	return t.row >= t.m.top && t.row <= t.m.bot && t.inColumns()
}

// cuu moves the cursor up. CUU, CSI n A. It stops at the top margin when it
// starts inside the region, at row 0 otherwise.
func (t *Terminal) cuu(n int) {
	stop := Row(0)
	if t.row >= t.m.top {
		stop = t.m.top
	}
	t.setPos(max(t.row-Row(n), stop), t.col)
}

// cud moves the cursor down. CUD, CSI n B. It stops at the bottom margin when it
// starts inside the region, at the last row otherwise.
func (t *Terminal) cud(n int) {
	stop := t.rows - 1
	if t.row <= t.m.bot {
		stop = t.m.bot
	}
	t.setPos(min(t.row+Row(n), stop), t.col)
}

// cuf moves the cursor right. CUF, CSI n C. It stops at the right margin when it
// starts left of it, at the last column otherwise.
func (t *Terminal) cuf(n int) {
	stop := t.cols - 1
	if t.col <= t.m.right {
		stop = t.m.right
	}
	t.setPos(t.row, min(t.col+Col(n), stop))
}

// cub moves the cursor left. CUB, CSI n D, and BS. It stops at the left margin
// when it starts right of it. With reverse wrap it goes on at the end of the row
// above.
func (t *Terminal) cub(n int) {
	if t.modes.has(modeWrap) && (t.modes.has(modeRevWrap) || t.modes.has(modeRevWrapExt)) {
		t.cubWrap(n)
		return
	}
	stop := Col(0)
	if t.col >= t.m.left {
		stop = t.m.left
	}
	t.setPos(t.row, max(t.col-Col(n), stop))
}

// cubWrap is cub with ?45 or ?1045. A pending wrap counts as one step. From the
// top of the region it goes on at the bottom.
func (t *Terminal) cubWrap(n int) {
	left, right := t.m.left, t.m.right
	if t.col < left {
		left = 0
	}
	if t.pending {
		t.pending = false
		n--
	}
	n = min(n, int(t.cols)*int(t.rows))
	r, c := t.row, t.col
	for n > 0 {
		if c > left {
			step := min(Col(n), c-left)
			c -= step
			n -= int(step)
			continue
		}
		switch r {
		case t.m.top:
			r = t.m.bot
		case 0:
			r = t.rows - 1
		default:
			r--
		}
		c = right
		n--
	}
	t.setPos(r, c)
}

// index moves down one row and scrolls at the bottom margin. IND, ESC D, and LF.
func (t *Terminal) index() {
	switch {
	case t.row == t.m.bot:
		if t.inColumns() {
			t.scrollUp(t.m.top, t.m.bot, 1, true)
		}
	case t.row < t.rows-1:
		t.row++
	}
}

// reverseIndex moves up one row and scrolls at the top margin. RI, ESC M.
func (t *Terminal) reverseIndex() {
	t.joinOK = false
	t.pending = false
	switch {
	case t.row == t.m.top:
		if t.inColumns() {
			t.scrollDown(t.m.top, t.m.bot, 1)
		}
	case t.row > 0:
		t.row--
	}
}

// lineFeed is LF, VT and FF.
func (t *Terminal) lineFeed() {
	t.pending = false
	t.joinOK = false
	t.index()
	if t.modes.has(modeNewline) {
		t.carriageReturn()
	}
}

// carriageReturn goes to the left margin, or to column 0 from left of it.
func (t *Terminal) carriageReturn() {
	c := t.m.left
	if t.col < c && !t.modes.has(modeOrigin) {
		c = 0
	}
	t.col, t.pending = c, false
	t.joinOK = false
}

// decsc saves the cursor. DECSC, ESC 7, and SCOSC.
func (t *Terminal) decsc() {
	t.scr.saved = savedCursor{
		set: true, row: t.row, col: t.col, pending: t.pending, pen: t.pen,
		origin: t.modes.has(modeOrigin), wrap: t.modes.has(modeWrap), cs: t.cs, protect: t.protect.on,
	}
}

// decrc restores the cursor. DECRC, ESC 8, and SCORC. Without a saved one it goes
// home in the default style.
//
// Terminals disagree about a pending wrap that was saved. On the main screen it is
// not brought back, so that what follows goes where the cursor is shown (xterm.js
// and its recordings of xterm). On the alternate screen, and on leaving it, it is
// (DEC, Alacritty and its recordings).
func (t *Terminal) decrc() {
	s := t.scr.saved
	if !s.set {
		s = savedCursor{wrap: t.modes.has(modeWrap)}
	}
	t.modes.set(modeOrigin, s.origin)
	t.pen = s.pen
	t.cs = s.cs
	t.protect.on = s.protect
	t.penChanged()
	t.setPos(s.row, s.col)
	t.pending = s.pending && t.modes.has(modeAlt) && t.atLimit()
}

// atLimit reports whether the cursor is where a wrap can be pending.
func (t *Terminal) atLimit() bool { return t.col == t.limit()-1 }

// limit is the column after the last one that printing may use from here.
func (t *Terminal) limit() Col {
	if t.col > t.m.right {
		return t.cols
	}
	return t.m.right + 1
}

// defaultTabs extends tab stops to cols columns with one every eight.
func defaultTabs(tabs []bool, cols Col) []bool {
	for i := Col(len(tabs)); i < cols; i++ {
		tabs = append(tabs, i > 0 && i%8 == 0)
	}
	return tabs[:cols]
}

// tabForward moves to the nth tab stop to the right. HT, and CHT, CSI n I. It
// stops at the right margin. A pending wrap stays, unless ?41 asks to wrap first.
func (t *Terminal) tabForward(n int) {
	if t.pending && t.modes.has(modeMoreFix) {
		t.wrap()
	}
	stop := t.cols - 1
	if t.col <= t.m.right {
		stop = t.m.right
	}
	c := t.col
	for ; n > 0 && c < stop; n-- {
		c++
		for c < stop && !t.tabs[c] {
			c++
		}
	}
	if c != t.col {
		t.setPos(t.row, c)
	}
}

// tabBack moves to the nth tab stop to the left. CBT, CSI n Z.
func (t *Terminal) tabBack(n int) {
	stop := Col(0)
	if t.modes.has(modeOrigin) {
		stop = t.m.left
	}
	c := t.col
	for ; n > 0 && c > stop; n-- {
		c--
		for c > stop && !t.tabs[c] {
			c--
		}
	}
	t.setPos(t.row, c)
}

// tbc clears tab stops. TBC, CSI 0 g and CSI 3 g.
func (t *Terminal) tbc(n int) {
	switch n {
	case 0:
		t.tabs[t.col] = false
	case 3:
		clear(t.tabs)
	default:
		t.drop(DropUnknown)
	}
}

// titles is one entry of the title stack.
type titles struct{ title, icon string }

// pushTitle keeps both names; popping chooses. XTWINOPS 22. The oldest entry makes room.
func (t *Terminal) pushTitle() {
	if len(t.titles) >= t.lim.TitleStack {
		t.drop(DropTitleStack)
		t.titles = slices.Delete(t.titles, 0, 1)
	}
	t.titles = append(t.titles, titles{t.title, t.icon})
}

// popTitle brings back the icon name (1), the title (2) or both. XTWINOPS 23.
func (t *Terminal) popTitle(which int) {
	n := len(t.titles)
	if n == 0 {
		return
	}
	e := t.titles[n-1]
	t.titles = t.titles[:n-1]
	if which != 1 {
		t.title = e.title
		t.event(EventTitle, e.title, 0)
	}
	if which != 2 {
		t.icon = e.icon
		t.event(EventIcon, e.icon, 0)
	}
}
