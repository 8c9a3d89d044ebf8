package vt

// A Color is the default colour (the zero value), an entry of the palette, or
// 24-bit RGB.
type Color uint32

const (
	colorKindMask Color = 0xFF << 24
	colorIndexed  Color = 1 << 24
	colorRGB      Color = 2 << 24
)

// Indexed returns entry i of the 256-colour palette.
func Indexed(i uint8) Color { return colorIndexed | Color(i) }

// RGB returns a direct colour.
func RGB(r, g, b uint8) Color {
	return colorRGB | Color(r)<<16 | Color(g)<<8 | Color(b)
}

// IsDefault reports whether c is the terminal's own foreground or background.
func (c Color) IsDefault() bool { return c == 0 }

// Index returns the palette entry, and whether c is one.
func (c Color) Index() (uint8, bool) {
	return uint8(c), c&colorKindMask == colorIndexed
}

// RGB returns the three channels, and whether c is a direct colour.
func (c Color) RGB() (r, g, b uint8, ok bool) {
	return uint8(c >> 16), uint8(c >> 8), uint8(c), c&colorKindMask == colorRGB
}

// An Underline is the kind of line drawn by SGR 4 and 4:n.
type Underline uint8

// The kinds, in the order of SGR 4:n.
const (
	UnderlineNone Underline = iota
	UnderlineSingle
	UnderlineDouble
	UnderlineCurly
	UnderlineDotted
	UnderlineDashed
)

// Attr is a set of the attributes that are on or off.
type Attr uint16

// The attributes, each with the SGR that sets it.
const (
	Bold      Attr = 1 << iota // SGR 1
	Faint                      // SGR 2
	Italic                     // SGR 3
	Blink                      // SGR 5 and 6
	Inverse                    // SGR 7
	Invisible                  // SGR 8
	Strike                     // SGR 9
	Overline                   // SGR 53
)

// A Style is everything SGR and OSC 8 say about a cell.
type Style struct {
	FG, BG, UL Color
	Attrs      Attr
	Underline  Underline
	Link       LinkID
}
