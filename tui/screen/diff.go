package screen

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"

	"github.com/honestty/honestty/vt"
)

// An emitter is what the terminal shows and will do with the next byte.
type emitter struct {
	buf   []byte
	begun bool // the frame's opening is written
	whole bool // the terminal's content is unknown

	x, y   int  // where it writes next; x is -1 when only the row is known, y too when nothing is
	soft   bool // an ambiguous character is before x: the column may be wrong
	opened int  // where the brackets of synchronized output begin in buf
	pen    vt.StyleID
	shown  cursor // visible and shape as the terminal has them

	run     int // ambiguous characters written since the position was set
	spoiled int // columns of this row below it are painted also when unchanged
}

// A scroll is a hint that rows moved.
type scroll struct{ top, rows, n int }

// Lengths at which one way of writing becomes shorter than another, in columns.
const (
	eraseFrom = 10 // ECH and the move behind it against blanks
	copyUpTo  = 3  // writing unchanged characters against a move over them
)

// Scroll hints that the rows [top, top+rows) of the frame now being composed
// moved up by n, or down when n is negative. Diff scrolls the terminal when
// that saves repainting, and is right without the hint and with a wrong one.
func (s *Screen) Scroll(top, rows, n int) {
	if top < 0 || rows < 2 || top+rows > s.rows || n == 0 || n <= -rows || n >= rows || len(s.scrolls) == 8 {
		return
	}
	s.scrolls = append(s.scrolls, scroll{top, rows, n})
}

// Diff appends the bytes that turn the frame last returned into this one, none
// when they are equal. The caller hands them to the terminal whole or calls
// Invalidate.
func (s *Screen) Diff(dst []byte) []byte {
	s.buf, s.begun = dst, false
	if s.whole {
		s.reset()
	}
	for _, h := range s.scrolls {
		s.scroll(h)
	}
	s.scrolls = s.scrolls[:0]
	for y := range s.rows {
		s.diffRow(y)
	}
	s.finish()
	out := s.buf
	s.buf = nil
	s.sweep()
	return out
}

// begin opens the frame: synchronized where the terminal can, else with the
// cursor hidden so that it is not seen running about.
func (s *Screen) begin() {
	if s.begun {
		return
	}
	s.begun = true
	if s.caps.Sync {
		s.opened = len(s.buf)
		s.buf = append(s.buf, syncOn...)
	} else if s.shown.visible {
		s.buf = append(s.buf, "\x1b[?25l"...)
		s.shown.visible = false
	}
}

// reset brings the terminal from any state to blank: no autowrap, so that the
// last column never scrolls, no margins, no link, default style, cleared.
func (s *Screen) reset() {
	s.shown = cursor{visible: false, shape: -1}
	s.begin()
	s.buf = append(s.buf, "\x1b[?25l\x1b[?7l\x1b[r\x1b[m"...)
	if s.caps.Links {
		s.buf = append(s.buf, "\x1b]8;;\x1b\\"...)
	}
	s.buf = append(s.buf, "\x1b[H\x1b[2J"...)
	s.x, s.y, s.soft, s.pen = 0, 0, false, 0
	clear(s.front)
	s.whole = false
}

// finish puts the cursor where it belongs and closes the frame.
func (s *Screen) finish() {
	if s.want.visible {
		s.moveTo(s.want.x, s.want.y, sure)
		if s.want.shape != s.shown.shape {
			s.buf = append(s.buf, "\x1b["...)
			s.buf = strconv.AppendInt(s.buf, int64(s.want.shape), 10)
			s.buf = append(s.buf, " q"...)
			s.shown.shape = s.want.shape
		}
	}
	if s.want.visible != s.shown.visible {
		s.shown.visible = s.want.visible
		if s.shown.visible {
			s.buf = append(s.buf, "\x1b[?25h"...)
		} else {
			s.buf = append(s.buf, "\x1b[?25l"...)
		}
	}
	if !s.begun || !s.caps.Sync {
		return
	}
	// A few bytes arrive at once as they are: an echo needs no brackets.
	if body := s.buf[s.opened+len(syncOn):]; len(body) <= unbracketed {
		s.buf = append(s.buf[:s.opened], body...)
		return
	}
	s.buf = append(s.buf, "\x1b[?2026l"...)
}

const (
	syncOn      = "\x1b[?2026h"
	unbracketed = 16 // bytes: a character or two, its style or a move
)

// diffRow writes what changed in one row.
func (s *Screen) diffRow(y int) {
	b, f := s.row(y), s.front[y*s.cols:(y+1)*s.cols]
	lo := 0
	for lo < len(b) && b[lo] == f[lo] {
		lo++
	}
	if lo == len(b) {
		return
	}
	hi := len(b) - 1
	for b[hi] == f[hi] {
		hi--
	}
	s.begin()
	s.spoiled, s.run = 0, 0
	tail := s.blankTail(b)
	for x := lo; x <= hi || x < min(s.spoiled, len(b)); {
		switch {
		case b[x] == f[x] && x >= s.spoiled:
			x = s.gap(b, f, x, hi, y)
		case x >= tail && s.erasable(b[x]):
			s.moveTo(x, y, sure)
			s.penForBlank(b[x].Style())
			s.buf = append(s.buf, "\x1b[K"...)
			x = len(b)
		default:
			x = s.paint(b, f, x, y)
		}
	}
	copy(f, b)
}

// gap handles unchanged cells from x on and returns the column of the next
// change. A short gap in the pen's style is written again when that is shorter
// than moving over it.
func (s *Screen) gap(b, f []vt.Cell, x, hi, y int) int {
	end := x
	for end <= hi && b[end] == f[end] {
		end++
	}
	if end > hi || end-x > copyUpTo || s.x != x || s.y != y || s.soft {
		return end
	}
	for _, c := range b[x:end] {
		if !narrowASCII(c) || c.Style() != s.pen {
			return end
		}
	}
	for _, c := range b[x:end] {
		s.buf = append(s.buf, byte(c.Rune()))
	}
	s.x = end
	return end
}

// narrowASCII reports whether c is one visible ASCII character.
func narrowASCII(c vt.Cell) bool {
	t := c & textMask
	return t > ' ' && t < 0x7F
}

// blankTail returns the column from which the row is blank in one style to its end.
func (s *Screen) blankTail(b []vt.Cell) int {
	last := b[len(b)-1]
	if !last.Blank() {
		return len(b)
	}
	x := len(b) - 1
	for x > 0 && b[x-1] == last {
		x--
	}
	if len(b)-x < 4 {
		return len(b)
	}
	return x
}

// erasable reports whether erasing makes this blank: it has no decoration, and
// its background is the terminal's own or the terminal is known to erase with
// the background in use.
func (s *Screen) erasable(c vt.Cell) bool {
	e := &s.styles.entries[c.Style()]
	return c.Blank() && e.plain && (e.out.BG.IsDefault() || s.caps.BCE)
}

// penForBlank sets the pen for blanks of a style, keeping it when it shows the
// same.
func (s *Screen) penForBlank(id vt.StyleID) {
	if !s.showsBlank(id) {
		s.setPen(id)
	}
}

// paint writes the character at x and those behind it that go the same way, and
// returns the column behind them.
func (s *Screen) paint(b, f []vt.Cell, x, y int) int {
	c := b[x]
	switch {
	case narrowASCII(c):
		return s.paintASCII(b, f, x, y)
	case c.Blank():
		return s.paintBlank(b, f, x, y)
	case c.Tail():
		return x + 1 // written with its left half
	}
	return s.paintOther(f, c, x, y)
}

// paintOther writes one character that is neither ASCII nor blank, and notes
// how far a terminal that draws it in more columns spoils the row behind it.
func (s *Screen) paintOther(f []vt.Cell, c vt.Cell, x, y int) int {
	w := 1
	if c.Wide() {
		w = 2
	}
	if !s.caps.UTF8 {
		return s.paintPlain(c, x, y, w)
	}
	k := s.classify(c)
	if k != ambiguous || s.x != x || s.y != y {
		s.run = 0
	}
	s.moveTo(x, y, k)
	s.setPen(c.Style())
	if k == unsure && w == 2 && f[x+1] != s.blankOf(c.Style()) {
		// A terminal that draws it in one column would leave the old right half.
		s.buf = append(s.buf, "  "...)
		s.x, s.y = -1, -1
		s.moveTo(x, y, k)
	}
	s.buf = s.appendText(s.buf, c)
	s.advance(x+w, y)
	switch k {
	case ambiguous:
		s.soft = true
		s.run++ // each may have been drawn in one column more
		s.spoiled = max(s.spoiled, x+w+s.run)
	case unsure:
		s.x, s.y = -1, -1
		s.spoiled = max(s.spoiled, x+s.widest(c))
	}
	return x + w
}

// paintPlain writes a character for a terminal that does not take UTF-8: what
// comes nearest to it in ASCII, in as many columns.
func (s *Screen) paintPlain(c vt.Cell, x, y, w int) int {
	s.run = 0
	s.moveTo(x, y, sure)
	s.setPen(c.Style())
	r := c.Rune()
	if n, ok := c.ClusterID(); ok {
		r, _ = utf8.DecodeRuneInString(s.clusters.list[n])
	}
	ascii := plain(r)
	for range w {
		s.buf = append(s.buf, ascii)
	}
	s.advance(x+w, y)
	return x + w
}

// widest returns the most columns in which a terminal may draw a character of
// class unsure: two, or every code point of a cluster for itself.
func (s *Screen) widest(c vt.Cell) int {
	n, ok := c.ClusterID()
	if !ok {
		return 2
	}
	sum := 0
	for _, r := range s.clusters.list[n] {
		sum += displaywidth.Options{EastAsianWidth: true}.Rune(r)
	}
	return max(sum, 2)
}

// classify says how far the width of a character can be trusted.
func (s *Screen) classify(c vt.Cell) class {
	if c&isCluster != 0 {
		if s.caps.Graphemes {
			return sure
		}
		return unsure
	}
	if c.Rune() < 0x7F {
		return sure
	}
	return s.classes.of(c.Rune(), c.Wide())
}

// paintASCII writes a run of changed ASCII characters of one style.
func (s *Screen) paintASCII(b, f []vt.Cell, x, y int) int {
	style := b[x].Style()
	s.moveTo(x, y, sure)
	s.setPen(style)
	buf := append(s.buf, byte(b[x])) // also when it is only painted again
	x++
	for x < len(b) && (b[x] != f[x] || x < s.spoiled) && narrowASCII(b[x]) && b[x].Style() == style {
		buf = append(buf, byte(b[x]))
		x++
	}
	s.buf = buf
	s.advance(x, y)
	return x
}

// paintBlank writes or erases a run of equal blanks.
func (s *Screen) paintBlank(b, f []vt.Cell, x, y int) int {
	c := b[x]
	end := x + 1
	for end < len(b) && b[end] == c && (b[end] != f[end] || end < s.spoiled) {
		end++
	}
	s.moveTo(x, y, sure)
	s.penForBlank(c.Style())
	if end-x >= eraseFrom && s.erasable(c) {
		s.buf = append(s.buf, "\x1b["...)
		s.buf = strconv.AppendInt(s.buf, int64(end-x), 10)
		s.buf = append(s.buf, 'X')
		return end
	}
	for range end - x {
		s.buf = append(s.buf, ' ')
	}
	s.advance(end, y)
	return end
}

// advance notes that the terminal wrote up to column x. Behind the last column
// terminals differ, so only the row is known there.
func (s *Screen) advance(x, y int) {
	s.x, s.y, s.soft = x, y, false
	if x >= s.cols {
		s.x = -1
	}
}

// scroll moves the terminal's rows when more of them fit their new content
// afterwards. It uses a line feed at the bottom margin or a reverse index at
// the top one, which every terminal has.
func (s *Screen) scroll(h scroll) {
	stay, move := 0, 0
	for y := h.top; y < h.top+h.rows; y++ {
		row := s.row(y)
		if slices.Equal(row, s.front[y*s.cols:(y+1)*s.cols]) {
			stay++
		}
		if from := y + h.n; from >= h.top && from < h.top+h.rows &&
			slices.Equal(row, s.front[from*s.cols:(from+1)*s.cols]) {
			move++
		}
	}
	if move < stay+2 {
		return
	}
	s.begin()
	s.setPen(0) // the rows that come in are blank in the pen's background
	s.buf = append(s.buf, "\x1b["...)
	s.buf = appendParams(s.buf, h.top+1, h.top+h.rows)
	s.buf[len(s.buf)-1] = 'r'
	// Setting the margins moved the cursor home.
	s.x, s.y, s.soft = -1, -1, false
	region := s.front[h.top*s.cols : (h.top+h.rows)*s.cols]
	if h.n > 0 {
		s.moveTo(0, h.top+h.rows-1, sure)
		for range h.n {
			s.buf = append(s.buf, '\n')
		}
		copy(region, region[h.n*s.cols:])
		clear(region[len(region)-h.n*s.cols:])
	} else {
		s.moveTo(0, h.top, sure)
		for range -h.n {
			s.buf = append(s.buf, "\x1bM"...)
		}
		copy(region[-h.n*s.cols:], region)
		clear(region[:-h.n*s.cols])
	}
	s.buf = append(s.buf, "\x1b[r"...)
	s.x, s.y = 0, 0
}
