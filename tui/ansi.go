package tui

import (
	"strconv"

	"github.com/honestty/honestty/tui/copymode"
	"github.com/honestty/honestty/vt"
)

// appendANSI writes rows as text with SGR sequences (ECMA-48, and the colon
// forms of ISO 8613-6 for underlines). Each line ends in the default style.
func appendANSI(t *vt.Terminal, b copymode.Buffer, from, to int) []byte {
	var out []byte
	var cells []vt.Cell
	for row := from; row < to; row++ {
		cells = b.Cells(row, cells[:0])
		for len(cells) > 0 && cells[len(cells)-1] == 0 {
			cells = cells[:len(cells)-1]
		}
		style := vt.StyleID(0)
		for _, c := range cells {
			if c.Tail() {
				continue
			}
			if id := c.Style(); id != style {
				out = appendSGR(out, t.StyleOf(id))
				style = id
			}
			if c.Blank() {
				out = append(out, ' ')
				continue
			}
			out = t.AppendText(out, c)
		}
		if style != 0 {
			out = append(out, "\x1b[m"...)
		}
		if row+1 == to || !b.Wrapped(row+1) {
			out = append(out, '\n')
		}
	}
	return out
}

// appendSGR writes a style from the default one on.
func appendSGR(dst []byte, st vt.Style) []byte {
	dst = append(dst, "\x1b[0"...)
	for _, a := range []struct {
		attr vt.Attr
		sgr  string
	}{
		{vt.Bold, ";1"},
		{vt.Faint, ";2"},
		{vt.Italic, ";3"},
		{vt.Blink, ";5"},
		{vt.Inverse, ";7"},
		{vt.Invisible, ";8"},
		{vt.Strike, ";9"},
		{vt.Overline, ";53"},
	} {
		if st.Attrs&a.attr != 0 {
			dst = append(dst, a.sgr...)
		}
	}
	if st.Underline != vt.UnderlineNone {
		dst = strconv.AppendInt(append(dst, ";4:"...), int64(st.Underline), 10)
	}
	dst = appendColor(dst, "38", st.FG)
	dst = appendColor(dst, "48", st.BG)
	dst = appendColor(dst, "58", st.UL)
	return append(dst, 'm')
}

func appendColor(dst []byte, kind string, c vt.Color) []byte {
	if i, ok := c.Index(); ok {
		return strconv.AppendInt(append(dst, ";"+kind+";5;"...), int64(i), 10)
	}
	r, g, b, ok := c.RGB()
	if !ok {
		return dst
	}
	dst = append(dst, ";"+kind+";2"...)
	for _, v := range []uint8{r, g, b} {
		dst = strconv.AppendInt(append(dst, ';'), int64(v), 10)
	}
	return dst
}
