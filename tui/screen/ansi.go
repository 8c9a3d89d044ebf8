package screen

import (
	"strconv"
	"strings"

	"github.com/honestty/honestty/vt"
)

// maxDrawn bounds the remembered runs of chrome. A window shows far fewer.
const maxDrawn = 512

// newline ends a line in a remembered run. No character has this code point.
const newline = isTail | runeMask

// DrawANSI draws text that Lip Gloss styled: SGR, OSC 8 and line feeds take
// effect, the next line starts below x. At most w columns are drawn. Any other
// control shows in its visible form and is never sent. A text is parsed once
// and remembered.
func (s *Screen) DrawANSI(x, y, w int, text string) {
	cells, ok := s.drawn[text]
	if !ok {
		cells = s.parseANSI(text)
		if len(s.drawn) >= maxDrawn {
			clear(s.drawn)
		}
		s.drawn[text] = cells
	}
	limit := min(x+w, s.cols)
	at := x
	for _, c := range cells {
		switch {
		case c == newline:
			at, y = x, y+1
			continue
		case c.Tail():
			continue
		}
		width := 1
		if c.Wide() {
			width = 2
		}
		if at+width <= limit && y >= 0 && y < s.rows {
			s.put(at, y, c&textMask&^widthMask, width, c.Style())
		}
		at += width
	}
}

// parseANSI turns styled text into cells.
func (s *Screen) parseANSI(text string) []vt.Cell {
	cells := make([]vt.Cell, 0, len(text))
	var st vt.Style
	var id vt.StyleID
	for len(text) > 0 {
		if text[0] == '\n' {
			cells, text = append(cells, newline), text[1:]
			continue
		}
		if n := s.takeEscape(text, &st); n > 0 {
			id, text = s.styleID(st), text[n:]
			continue
		}
		piece, w, rest := next(text)
		switch {
		case piece == "":
			for _, b := range appendHidden(nil, firstHidden(text)) {
				cells = append(cells, vt.Cell(b)|vt.Cell(id)<<styleShift)
			}
		case w == 2:
			cells = append(cells, s.cellText(piece)|isWide|vt.Cell(id)<<styleShift,
				isTail|vt.Cell(id)<<styleShift)
		default:
			cells = append(cells, s.cellText(piece)|vt.Cell(id)<<styleShift)
		}
		text = rest
	}
	return cells
}

// takeEscape applies the SGR or OSC 8 at the start of text to st and returns its
// length, 0 when there is neither.
func (s *Screen) takeEscape(text string, st *vt.Style) int {
	switch {
	case strings.HasPrefix(text, "\x1b["):
		n := 2
		for n < len(text) && (text[n] >= '0' && text[n] <= '9' || text[n] == ';' || text[n] == ':') {
			n++
		}
		if n == len(text) || text[n] != 'm' {
			return 0
		}
		applySGR(st, text[2:n])
		return n + 1
	case strings.HasPrefix(text, "\x1b]8;"):
		end, size := strings.Index(text, "\x1b\\"), 2
		if bel := strings.IndexByte(text, '\a'); bel >= 0 && (end < 0 || bel < end) {
			end, size = bel, 1
		}
		if end < 0 {
			return 0
		}
		_, target, ok := strings.Cut(text[4:end], ";")
		if !ok {
			return 0
		}
		st.Link = s.linkID(target)
		return end + size
	}
	return 0
}

// applySGR applies the parameters of one SGR, in both the semicolon and the
// colon form. Unknown ones are skipped.
func applySGR(st *vt.Style, params string) {
	if params == "" {
		params = "0"
	}
	list := strings.Split(params, ";")
	for i := 0; i < len(list); i++ {
		sub := strings.Split(list[i], ":")
		n := number(sub, 0)
		switch {
		case n == 38 || n == 48 || n == 58:
			c, used, ok := extendedColor(sub, list[i+1:])
			i += used
			if ok {
				setColor(st, n, c)
			}
		case n == 4 && len(sub) > 1:
			if k := number(sub, 1); k <= int(vt.UnderlineDashed) {
				st.Underline = vt.Underline(k)
			}
		default:
			applySimple(st, n)
		}
	}
}

// number reads one sub-parameter; a missing or bad one is 0.
func number(list []string, i int) int {
	if i >= len(list) {
		return 0
	}
	n, err := strconv.Atoi(list[i])
	if err != nil {
		return 0
	}
	return n
}

// extendedColor reads 5;n or 2;r;g;b after 38, 48 or 58: within sub in the
// colon form, else from the parameters that follow, of which it used some: all
// of them when they make no colour.
func extendedColor(sub, after []string) (c vt.Color, used int, ok bool) {
	colon := len(sub) > 1
	args := after
	if colon {
		args = sub[1:]
		if len(args) >= 5 && number(args, 0) == 2 {
			args = append([]string{args[0]}, args[2:]...) // without the colour space
		}
	}
	switch kind := number(args, 0); {
	case kind == 5 && len(args) >= 2:
		c, used, ok = vt.Indexed(uint8(number(args, 1))), 2, true
	case kind == 2 && len(args) >= 4:
		c, used, ok = vt.RGB(uint8(number(args, 1)), uint8(number(args, 2)), uint8(number(args, 3))), 4, true
	}
	switch {
	case colon:
		used = 0
	case !ok:
		used = len(after) // cut short: what is left of it is no parameter of its own
	}
	return c, used, ok
}

func setColor(st *vt.Style, n int, c vt.Color) {
	switch n {
	case 38:
		st.FG = c
	case 48:
		st.BG = c
	case 58:
		st.UL = c
	}
}

// applySimple applies an SGR parameter that stands alone.
func applySimple(st *vt.Style, n int) {
	for _, a := range sgrSimple {
		if a.n == n {
			st.Attrs = st.Attrs&^a.off | a.on
			return
		}
	}
	switch {
	case n == 0:
		*st = vt.Style{Link: st.Link}
	case n == 4:
		st.Underline = vt.UnderlineSingle
	case n == 21:
		st.Underline = vt.UnderlineDouble
	case n == 24:
		st.Underline = vt.UnderlineNone
	case n >= 30 && n <= 37:
		st.FG = vt.Indexed(uint8(n - 30))
	case n == 39:
		st.FG = 0
	case n >= 40 && n <= 47:
		st.BG = vt.Indexed(uint8(n - 40))
	case n == 49:
		st.BG = 0
	case n == 59:
		st.UL = 0
	case n >= 90 && n <= 97:
		st.FG = vt.Indexed(uint8(n - 90 + 8))
	case n >= 100 && n <= 107:
		st.BG = vt.Indexed(uint8(n - 100 + 8))
	}
}

// sgrSimple lists the parameters that switch attributes.
var sgrSimple = []struct {
	n       int
	on, off vt.Attr
}{
	{1, vt.Bold, 0},
	{2, vt.Faint, 0},
	{3, vt.Italic, 0},
	{5, vt.Blink, 0},
	{6, vt.Blink, 0},
	{7, vt.Inverse, 0},
	{8, vt.Invisible, 0},
	{9, vt.Strike, 0},
	{22, 0, vt.Bold | vt.Faint},
	{23, 0, vt.Italic},
	{25, 0, vt.Blink},
	{27, 0, vt.Inverse},
	{28, 0, vt.Invisible},
	{29, 0, vt.Strike},
	{53, vt.Overline, 0},
	{55, 0, vt.Overline},
}
