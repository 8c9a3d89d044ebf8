package vt

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// A dynamicColor is a colour that a program set, or the host told.
type dynamicColor struct {
	c   Color
	set bool
}

// A palette is what OSC 4 and OSC 10 to 12 changed, and what the host said its
// own colours are.
type palette struct {
	entry   map[uint8]Color // set by OSC 4
	dynamic [3]dynamicColor // set by OSC 10, 11, 12
	host    [3]Color        // foreground, background, cursor; default when not told
}

func (p *palette) reset() {
	p.entry = nil
	p.dynamic = [3]dynamicColor{}
}

// SetHostColors tells the colours that the host draws default text, background
// and cursor in, so that OSC 10, 11, 12 and the colour scheme can be answered.
// A default Color means unknown. Under mode 2031 the returned effects carry a
// report when the scheme is known.
func (t *Terminal) SetHostColors(fg, bg, cursor Color) *Effects {
	t.begin()
	t.palette.host = [3]Color{fg, bg, cursor}
	if t.modes.has(modeScheme) {
		t.reportScheme()
	}
	return t.end()
}

// PaletteColor returns entry i of the palette and whether the program changed it.
func (t *Terminal) PaletteColor(i uint8) (Color, bool) {
	if c, ok := t.palette.entry[i]; ok {
		return c, true
	}
	return standardColor(i), false
}

// DynamicColors returns the default foreground, background and cursor colours
// that the program set; a default Color where it set none.
func (t *Terminal) DynamicColors() (fg, bg, cursor Color) {
	d := &t.palette.dynamic
	return d[0].c, d[1].c, d[2].c
}

// standardColor is xterm's palette.
func standardColor(i uint8) Color {
	switch {
	case i < 16:
		c := ansiColors[i]
		return RGB(uint8(c>>16), uint8(c>>8), uint8(c))
	case i < 232:
		level := func(v uint8) uint8 {
			if v == 0 {
				return 0
			}
			return 55 + 40*v
		}
		n := i - 16
		return RGB(level(n/36), level(n/6%6), level(n%6))
	}
	g := 8 + 10*(i-232)
	return RGB(g, g, g)
}

var ansiColors = [16]uint32{
	0x000000, 0xCD0000, 0x00CD00, 0xCDCD00, 0x0000EE, 0xCD00CD, 0x00CDCD, 0xE5E5E5,
	0x7F7F7F, 0xFF0000, 0x00FF00, 0xFFFF00, 0x5C5CFF, 0xFF00FF, 0x00FFFF, 0xFFFFFF,
}

// oscPalette sets and asks palette entries. OSC 4 ; index ; colour-or-? ...
func (t *Terminal) oscPalette(s []byte, bel bool) {
	fields := bytes.Split(s, []byte{';'})
	changed := false
	for i := 0; i+1 < len(fields) && i < 512; i += 2 {
		n, err := strconv.Atoi(string(fields[i]))
		if err != nil || n < 0 || n > 255 {
			t.drop(DropUnknown)
			continue
		}
		if string(fields[i+1]) == "?" {
			c, _ := t.PaletteColor(uint8(n))
			t.replyColor("4;"+strconv.Itoa(n), c, bel)
			continue
		}
		c, ok := parseColor(string(fields[i+1]))
		if !ok {
			t.drop(DropBadString)
			continue
		}
		if t.palette.entry == nil {
			t.palette.entry = map[uint8]Color{}
		}
		t.palette.entry[uint8(n)] = c
		changed = true
	}
	if changed {
		t.event(EventPalette, "4", 0)
	}
}

// oscResetPalette forgets entries, or all of them. OSC 104.
func (t *Terminal) oscResetPalette(s []byte) {
	if len(s) == 0 {
		t.palette.entry = nil
	}
	for f := range bytes.SplitSeq(s, []byte{';'}) {
		if n, err := strconv.Atoi(string(f)); err == nil && n >= 0 && n < 256 {
			delete(t.palette.entry, uint8(n))
		}
	}
	t.event(EventPalette, "104", 0)
}

// oscDynamic sets or asks the default colours. OSC 10, 11, 12; several values go
// to the following numbers.
func (t *Terminal) oscDynamic(n int, s []byte, bel bool) {
	for f := range bytes.SplitSeq(s, []byte{';'}) {
		if n > 12 {
			t.drop(DropUnknown)
			return
		}
		d := &t.palette.dynamic[n-10]
		switch {
		case string(f) == "?":
			c := t.palette.host[n-10]
			if d.set {
				c = d.c
			}
			if c != 0 {
				t.replyColor(strconv.Itoa(n), c, bel)
			}
		case len(f) > 0:
			c, ok := parseColor(string(f))
			if !ok {
				t.drop(DropBadString)
				break
			}
			*d = dynamicColor{c, true}
			t.event(EventPalette, strconv.Itoa(n), 0)
		}
		n++
	}
}

func (t *Terminal) replyColor(what string, c Color, bel bool) {
	r, g, b, ok := c.RGB()
	if !ok {
		i, _ := c.Index()
		r, g, b, _ = standardColor(i).RGB()
	}
	end := "\x1b\\"
	if bel {
		end = "\a"
	}
	t.reply(fmt.Sprintf("\x1b]%s;rgb:%02x%02x/%02x%02x/%02x%02x%s", what, r, r, g, g, b, b, end))
}

// parseColor reads #rgb, #rrggbb, #rrrgggbbb, #rrrrggggbbbb, rgb:r/g/b with one to
// four digits each, and rgbi is left out. Names are the host's business.
func parseColor(s string) (Color, bool) {
	var parts []string
	hash := false
	if h, ok := strings.CutPrefix(s, "#"); ok {
		n := len(h) / 3
		if n < 1 || n > 4 || len(h)%3 != 0 {
			return 0, false
		}
		parts, hash = []string{h[:n], h[n : 2*n], h[2*n:]}, true
	} else if r, ok := strings.CutPrefix(s, "rgb:"); ok {
		parts = strings.Split(r, "/")
	}
	if len(parts) != 3 {
		return 0, false
	}
	var v [3]uint8
	for i, p := range parts {
		if len(p) < 1 || len(p) > 4 {
			return 0, false
		}
		x, err := strconv.ParseUint(p, 16, 16)
		if err != nil {
			return 0, false
		}
		bits := 4 * len(p)
		if hash { // the digits are the most significant ones
			v[i] = uint8(x << (16 - bits) >> 8)
		} else { // the digits are a fraction of their maximum
			v[i] = uint8(x * 255 / (1<<bits - 1))
		}
	}
	return RGB(v[0], v[1], v[2]), true
}

// ReportScheme returns the report of mode 2031, for a host whose colours changed.
// It is empty when the program did not ask or the colours are unknown.
func (t *Terminal) ReportScheme() *Effects {
	t.begin()
	if t.modes.has(modeScheme) {
		t.reportScheme()
	}
	return t.end()
}

// reportScheme answers CSI ? 996 n: 1 for a dark background, 2 for a light one.
func (t *Terminal) reportScheme() {
	bg := t.palette.host[1]
	if bg == 0 {
		return
	}
	r, g, b, ok := bg.RGB()
	if !ok {
		i, _ := bg.Index()
		r, g, b, _ = standardColor(i).RGB()
	}
	// Rec. 709 luma in thousandths.
	if 2126*int(r)+7152*int(g)+722*int(b) < 10000*128 {
		t.reply("\x1b[?997;1n")
	} else {
		t.reply("\x1b[?997;2n")
	}
}
