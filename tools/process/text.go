package process

import "strings"

const (
	esc = 0x1b
	bel = 0x07
)

// plain removes what steers a terminal (ECMA-48: CSI, OSC, DCS, SOS, PM, APC
// and the shorter escape sequences) from a text and counts the bytes. A
// sequence that the text cuts off at its end is removed as well.
func plain(s string) (string, int) {
	first := strings.IndexByte(s, esc)
	if first < 0 {
		return s, 0
	}
	var b strings.Builder
	b.WriteString(s[:first])
	for i := first; i < len(s); {
		if s[i] != esc {
			next := strings.IndexByte(s[i:], esc)
			if next < 0 {
				next = len(s) - i
			}
			b.WriteString(s[i : i+next])
			i += next
			continue
		}
		i += sequence(s[i:])
	}
	return b.String(), len(s) - b.Len()
}

// sequence is the length of the escape sequence that s begins with.
func sequence(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch c := s[1]; {
	case c == '[':
		return until(s, 2, func(c byte) bool { return c >= 0x40 && c <= 0x7e })
	case strings.IndexByte("]PX^_", c) >= 0:
		return text(s)
	case c >= 0x20 && c <= 0x2f:
		return until(s, 2, func(c byte) bool { return c >= 0x30 && c <= 0x7e })
	case c >= 0x30 && c <= 0x7e:
		return 2
	}
	return 1
}

// until is the length up to the final byte. A control character ends the
// sequence too, and is not of it.
func until(s string, i int, final func(c byte) bool) int {
	for ; i < len(s); i++ {
		if final(s[i]) {
			return i + 1
		}
		if s[i] < 0x20 {
			return i
		}
	}
	return i
}

// text is the length of a sequence that carries a text: up to ST, BEL or the
// next escape.
func text(s string) int {
	for i := 2; i < len(s); i++ {
		switch s[i] {
		case bel:
			return i + 1
		case esc:
			if i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
			return i
		}
	}
	return len(s)
}
