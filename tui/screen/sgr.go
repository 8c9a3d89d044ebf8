package screen

import (
	"strconv"

	"github.com/honestty/honestty/vt"
)

// A delta is a remembered change from one style to another. Key 0 is empty: no
// change leads from style 0 to itself.
type delta struct {
	key uint64
	n   uint8
	buf [55]byte
}

// setPen makes the terminal write in a style.
func (s *Screen) setPen(id vt.StyleID) {
	if id == s.pen {
		return
	}
	key := uint64(s.pen)<<32 | uint64(id)
	d := &s.deltas[key*0x9E3779B97F4A7C15>>56]
	if d.key == key {
		s.buf = append(s.buf, d.buf[:d.n]...)
		s.pen = id
		return
	}
	start := len(s.buf)
	s.buf = s.appendDelta(s.buf, s.styles.entries[s.pen].out, s.styles.entries[id].out)
	if n := len(s.buf) - start; n <= len(d.buf) {
		d.key, d.n = key, uint8(n)
		copy(d.buf[:], s.buf[start:])
	}
	s.pen = id
}

// showsBlank reports whether a blank written with the pen as it is looks like a
// blank of style id.
func (s *Screen) showsBlank(id vt.StyleID) bool {
	return s.pen == id || s.styles.entries[s.pen].blank == id
}

// appendDelta appends the shorter of two ways from one style to another: the
// difference, or a reset and everything that is on.
func (s *Screen) appendDelta(dst []byte, from, to vt.Style) []byte {
	dst = s.appendLink(dst, from.Link, to.Link)
	from.Link, to.Link = 0, 0
	if from == to {
		return dst
	}
	start := len(dst)
	dst = append(dst, "\x1b["...)
	dst = appendChange(dst, from, to)
	diff := len(dst) - start
	// The reset form is built behind the other one and moved over it when it
	// is shorter.
	dst = append(dst, "\x1b["...)
	if to != (vt.Style{}) {
		dst = append(dst, "0;"...)
		dst = appendChange(dst, vt.Style{}, to)
	}
	reset := len(dst) - start - diff
	if reset < diff {
		copy(dst[start:], dst[start+diff:])
		diff = reset
	}
	dst = dst[:start+diff]
	// Each parameter ends with a semicolon; the last one becomes the final byte.
	if dst[len(dst)-1] == ';' {
		dst = dst[:len(dst)-1]
	}
	return append(dst, 'm')
}

// appendLink appends OSC 8 when the link changes. The id joins the parts of a
// link that is cut by an edge.
func (s *Screen) appendLink(dst []byte, from, to vt.LinkID) []byte {
	if from == to {
		return dst
	}
	if to == 0 {
		return append(dst, "\x1b]8;;\x1b\\"...)
	}
	dst = append(dst, "\x1b]8;id=h"...)
	dst = strconv.AppendUint(dst, uint64(to), 10)
	dst = append(dst, ';')
	dst = append(dst, s.links.list[to]...)
	return append(dst, "\x1b\\"...)
}

// sgrAttrs lists the attributes with the parameters that set and clear them.
var sgrAttrs = []struct {
	attr    vt.Attr
	on, off string
}{
	{vt.Bold, "1;", "22;"},
	{vt.Faint, "2;", "22;"},
	{vt.Italic, "3;", "23;"},
	{vt.Blink, "5;", "25;"},
	{vt.Inverse, "7;", "27;"},
	{vt.Invisible, "8;", "28;"},
	{vt.Strike, "9;", "29;"},
	{vt.Overline, "53;", "55;"},
}

// sgrUnderline holds the parameter of each underline kind.
var sgrUnderline = [...]string{"24;", "4;", "4:2;", "4:3;", "4:4;", "4:5;"}

// appendChange appends the SGR parameters from one style to another, each ended
// by a semicolon.
func appendChange(dst []byte, from, to vt.Style) []byte {
	gone, come := from.Attrs&^to.Attrs, to.Attrs&^from.Attrs
	if weight := vt.Bold | vt.Faint; gone&weight != 0 {
		// SGR 22 ends both; the one that stays is set again.
		dst = append(dst, "22;"...)
		gone &^= weight
		come |= to.Attrs & weight
	}
	for i := range sgrAttrs {
		a := &sgrAttrs[i]
		if gone&a.attr != 0 {
			dst = append(dst, a.off...)
		}
		if come&a.attr != 0 {
			dst = append(dst, a.on...)
		}
	}
	if from.Underline != to.Underline && int(to.Underline) < len(sgrUnderline) {
		dst = append(dst, sgrUnderline[to.Underline]...)
	}
	if from.FG != to.FG {
		dst = appendColor(dst, to.FG, 30)
	}
	if from.BG != to.BG {
		dst = appendColor(dst, to.BG, 40)
	}
	if from.UL != to.UL {
		dst = appendUnderlineColor(dst, to.UL)
	}
	return dst
}

// appendColor appends a foreground (base 30) or background (base 40). The
// semicolon form is the one every terminal with these colours reads.
func appendColor(dst []byte, c vt.Color, base int) []byte {
	if c.IsDefault() {
		return appendParams(dst, base+9)
	}
	if r, g, b, ok := c.RGB(); ok {
		return appendParams(dst, base+8, 2, int(r), int(g), int(b))
	}
	i, _ := c.Index()
	switch {
	case i < 8:
		return appendParams(dst, base+int(i))
	case i < 16:
		return appendParams(dst, base+60+int(i)-8)
	}
	return appendParams(dst, base+8, 5, int(i))
}

// appendParams appends numbers, each ended by a semicolon.
func appendParams(dst []byte, nums ...int) []byte {
	for _, n := range nums {
		dst = strconv.AppendInt(dst, int64(n), 10)
		dst = append(dst, ';')
	}
	return dst
}

// appendUnderlineColor appends SGR 58 in its colon form, or 59.
func appendUnderlineColor(dst []byte, c vt.Color) []byte {
	if c.IsDefault() {
		return append(dst, "59;"...)
	}
	if r, g, b, ok := c.RGB(); ok {
		dst = append(dst, "58:2::"...)
		dst = strconv.AppendUint(dst, uint64(r), 10)
		dst = append(dst, ':')
		dst = strconv.AppendUint(dst, uint64(g), 10)
		dst = append(dst, ':')
		dst = strconv.AppendUint(dst, uint64(b), 10)
		return append(dst, ';')
	}
	i, _ := c.Index()
	dst = append(dst, "58:5:"...)
	dst = strconv.AppendUint(dst, uint64(i), 10)
	return append(dst, ';')
}
