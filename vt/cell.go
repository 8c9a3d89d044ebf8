package vt

// Row and Col count from 0 at the top left. Numbers in sequences count from 1;
// that difference ends at the parser.
type (
	Row int
	Col int
)

// A Cell is one place of the screen, packed into 64 bits so that a row is one
// run of memory and comparing, copying and clearing are word operations:
//
//	bits  0–20  code point, or an index into the clusters when bit 21 is set
//	bit     21  the cell holds a grapheme cluster of several code points
//	bits 22–23  width: narrow, wide left half, wide right half
//	bit     24  protected (DECSCA)
//	bits 25–26  what OSC 133 said of it: none, prompt, input, output
//	bits 32–63  style, an index owned by the Terminal
//
// The zero Cell is blank: never written or erased, in the default style.
type Cell uint64

// A StyleID names a Style inside one Terminal. 0 is the default style.
type StyleID uint32

// A LinkID names an OSC 8 target inside one Terminal. 0 is no link.
type LinkID uint16

const (
	cellRuneMask   Cell = 1<<21 - 1
	cellCluster    Cell = 1 << 21
	cellWidthShift      = 22
	cellWidthMask  Cell = 3 << cellWidthShift
	cellWide       Cell = 1 << cellWidthShift // left half of a wide character
	cellTail       Cell = 2 << cellWidthShift // right half of a wide character
	cellSpacer     Cell = 3 << cellWidthShift // left empty because a wide character did not fit; counts as blank
	cellProtected  Cell = 1 << 24
	cellSemShift        = 25
	cellSemMask    Cell = 3 << cellSemShift
	cellStyleShift      = 32
	cellStyleMask  Cell = 0xFFFFFFFF << cellStyleShift
)

// MakeCell packs a code point of width 1 with a style.
func MakeCell(r rune, s StyleID) Cell {
	return Cell(r)&cellRuneMask | Cell(s)<<cellStyleShift
}

// Rune returns the code point, or 0 for a blank cell, a right half or a cluster.
func (c Cell) Rune() rune {
	if c&cellCluster != 0 {
		return 0
	}
	return rune(c & cellRuneMask)
}

// ClusterID returns the index of the cell's cluster, and whether it has one.
func (c Cell) ClusterID() (uint32, bool) {
	return uint32(c & cellRuneMask), c&cellCluster != 0
}

// Wide reports whether c is the left half of a two-column character.
func (c Cell) Wide() bool { return c&cellWidthMask == cellWide }

// Tail reports whether c is the right half of a two-column character.
func (c Cell) Tail() bool { return c&cellWidthMask == cellTail }

// Blank reports whether c holds no character: never written, or erased.
func (c Cell) Blank() bool { return c&(cellRuneMask|cellCluster) == 0 && !c.Tail() }

// Protected reports whether selective erase leaves c alone (DECSCA).
func (c Cell) Protected() bool { return c&cellProtected != 0 }

// Style returns the index of the cell's style.
func (c Cell) Style() StyleID { return StyleID(c >> cellStyleShift) }

// WithStyle returns c in another style.
func (c Cell) WithStyle(s StyleID) Cell {
	return c&^cellStyleMask | Cell(s)<<cellStyleShift
}

// A Semantic is the part of a shell's dialogue that a cell belongs to, as told by
// OSC 133.
type Semantic uint8

// The parts. SemanticNone is text that no mark speaks of.
const (
	SemanticNone Semantic = iota
	SemanticPrompt
	SemanticInput
	SemanticOutput
)

// Semantic returns what OSC 133 said of c.
func (c Cell) Semantic() Semantic { return Semantic(c & cellSemMask >> cellSemShift) }

// semBits packs s into a cell's bits.
func semBits(s Semantic) Cell { return Cell(s) << cellSemShift }
