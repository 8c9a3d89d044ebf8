package vt

// A charset is a designated character set. Only sets that differ from ASCII in
// the left half matter to a UTF-8 terminal.
type charset uint8

const (
	csASCII    charset = iota
	csLine             // DEC special graphics
	csUK               // # is £
	csLatin1           // a 96-character set: the right half of Latin-1
	csNational         // the first of nationals; the others follow
)

// charsets is the designation of G0 to G3 and what is shifted in.
type charsets struct {
	g      [4]charset
	gl     uint8 // 0 to 3: SI, SO, LS2, LS3
	gr     uint8 // kept for reports only: bytes above 0x7F are UTF-8
	single uint8 // 2 or 3 for one character after SS2 or SS3
}

// plain reports whether the next ASCII byte means itself.
func (c *charsets) plain() bool { return c.single == 0 && c.g[c.gl] == csASCII }

// lineDrawing is DEC special graphics from 0x5F on.
var lineDrawing = [...]rune{
	' ', '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼',
	'⎺', '⎻', '─', '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
}

// translate returns the character that an ASCII byte stands for, and ends a
// single shift.
func (c *charsets) translate(b byte) rune {
	set := c.g[c.gl]
	if c.single != 0 {
		set = c.g[c.single]
		c.single = 0
	}
	switch {
	case set == csLine && b >= 0x5F && b < 0x7F:
		return lineDrawing[b-0x5F]
	case set == csUK && b == '#':
		return '£'
	case set == csLatin1:
		return rune(b) | 0x80
	case set >= csNational:
		return nationals[set-csNational].replace(b)
	}
	return rune(b)
}

// designate handles ESC ( ) * + - . / followed by a set. SCS.
func (t *Terminal) designate(inter [2]byte, final byte) bool {
	var g int
	wide := false
	switch inter[0] {
	case '(':
		g = 0
	case ')':
		g = 1
	case '*':
		g = 2
	case '+':
		g = 3
	case '-':
		g, wide = 1, true
	case '.':
		g, wide = 2, true
	case '/':
		g, wide = 3, true
	default:
		return false
	}
	set := csASCII
	switch {
	case wide:
		if inter[1] == 0 && final == 'A' {
			set = csLatin1
		}
	case inter[1] == 0 && (final == '0' || final == '2'):
		set = csLine
	case inter[1] == 0 && final == 'A':
		set = csUK
	default:
		if n, ok := nationalSet(inter[1], final); ok && t.modes.has(modeNational) {
			set = n
		}
	}
	t.cs.g[g] = set
	return true
}

// designator returns the bytes that designate a set.
func (c charset) designator() string {
	switch {
	case c == csNational+portuguese:
		return "%6"
	case c >= csNational:
		return nationals[c-csNational].finals[:1]
	}
	return [...]string{csASCII: "B", csLine: "0", csUK: "A", csLatin1: "A"}[c]
}
