package screen

import (
	"math"
	"sync"

	"github.com/honestty/honestty/vt"
)

// A lab is a colour in OKLab, where distance is what the eye sees as difference.
type lab struct{ l, a, b float64 }

// labOf converts sRGB to OKLab.
func labOf(r, g, b uint8) lab {
	lr, lg, lb := linear(r), linear(g), linear(b)
	l := math.Cbrt(0.4122214708*lr + 0.5363325363*lg + 0.0514459929*lb)
	m := math.Cbrt(0.2119034982*lr + 0.6806995451*lg + 0.1073969566*lb)
	s := math.Cbrt(0.0883024619*lr + 0.2817188376*lg + 0.6299787005*lb)
	return lab{
		l: 0.2104542553*l + 0.7936177850*m - 0.0040720468*s,
		a: 1.9779984951*l - 2.4285922050*m + 0.4505937099*s,
		b: 0.0259040371*l + 0.7827717662*m - 0.8086757660*s,
	}
}

// linear undoes the sRGB transfer curve.
func linear(v uint8) float64 {
	f := float64(v) / 255
	if f <= 0.04045 {
		return f / 12.92
	}
	return math.Pow((f+0.055)/1.055, 2.4)
}

// ansi16 is xterm's default for the first 16 entries. Users change these, so
// they are targets only where the terminal has nothing better.
var ansi16 = [16][3]uint8{
	{0, 0, 0},
	{205, 0, 0},
	{0, 205, 0},
	{205, 205, 0},
	{0, 0, 238},
	{205, 0, 205},
	{0, 205, 205},
	{229, 229, 229},
	{127, 127, 127},
	{255, 0, 0},
	{0, 255, 0},
	{255, 255, 0},
	{92, 92, 255},
	{255, 0, 255},
	{0, 255, 255},
	{255, 255, 255},
}

// xtermRGB returns entry i of the 256-colour palette: the 16 above, a cube of
// six steps a channel, and 24 greys.
func xtermRGB(i uint8) (r, g, b uint8) {
	switch {
	case i < 16:
		c := ansi16[i]
		return c[0], c[1], c[2]
	case i < 232:
		steps := [6]uint8{0, 95, 135, 175, 215, 255}
		n := i - 16
		return steps[n/36], steps[n/6%6], steps[n%6]
	}
	v := 8 + 10*(i-232)
	return v, v, v
}

// paletteLab is the whole palette in OKLab, made when the first colour has to
// be converted.
var paletteLab = sync.OnceValue(func() *[256]lab {
	var p [256]lab
	for i := range p {
		p[i] = labOf(xtermRGB(uint8(i)))
	}
	return &p
})

// A converter finds the nearest palette entry and remembers the last ones.
type converter struct {
	keys [512]uint32 // colour<<1 | depth is 16, plus 1 so that 0 is empty
	vals [512]uint8
}

// nearest returns the palette entry closest to an RGB colour among [lo, hi).
// Entries 0 to 15 are left out at 256 colours: users change them.
func (p *converter) nearest(r, g, b uint8, d Depth) uint8 {
	key := uint32(r)<<17 | uint32(g)<<9 | uint32(b)<<1
	lo, hi := 16, 256
	if d == Color16 {
		key |= 1
		lo, hi = 0, 16
	}
	key++
	slot := key * 0x9E3779B1 >> 23
	if p.keys[slot] == key {
		return p.vals[slot]
	}
	want, all := labOf(r, g, b), paletteLab()
	best, bestDist := lo, math.Inf(1)
	for i := lo; i < hi; i++ {
		dl, da, db := all[i].l-want.l, all[i].a-want.a, all[i].b-want.b
		if dist := dl*dl + da*da + db*db; dist < bestDist {
			best, bestDist = i, dist
		}
	}
	p.keys[slot], p.vals[slot] = key, uint8(best)
	return uint8(best)
}

// color returns the closest colour that depth d can show.
func (p *converter) color(c vt.Color, d Depth) vt.Color {
	if c.IsDefault() || d == NoColor {
		return 0
	}
	if r, g, b, ok := c.RGB(); ok {
		if d == TrueColor {
			return c
		}
		return vt.Indexed(p.nearest(r, g, b, d))
	}
	i, _ := c.Index()
	if i < 16 || d != Color16 {
		return c
	}
	r, g, b := xtermRGB(i)
	return vt.Indexed(p.nearest(r, g, b, d))
}

// style returns st as far as the terminal can show it.
func (p *converter) style(st vt.Style, c *Caps) vt.Style {
	fg, bg := st.FG, st.BG
	st.FG = p.color(fg, c.Depth)
	st.BG = p.color(bg, c.Depth)
	if st.FG == st.BG && fg != bg && !st.BG.IsDefault() {
		st.FG = p.readableOn(st.BG)
	}
	st.UL = p.color(st.UL, c.Depth)
	if !c.ULColor || st.Underline == vt.UnderlineNone {
		st.UL = 0
	}
	if st.Underline > vt.UnderlineSingle && !c.Underlines {
		st.Underline = vt.UnderlineSingle
	}
	if !c.Links {
		st.Link = 0
	}
	return st
}

// readableOn returns black or white for text whose own colour became the same
// entry as its background.
func (p *converter) readableOn(bg vt.Color) vt.Color {
	i, _ := bg.Index()
	if paletteLab()[i].l > 0.6 {
		return vt.Indexed(0)
	}
	return vt.Indexed(15)
}
