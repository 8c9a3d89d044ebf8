package terminal

import (
	"bytes"
	"unicode/utf8"
)

// A stripper takes the control sequences of terminals (ECMA-48) out of a
// stream. It works on any split of its input alike.
//
//	ground ──ESC──▶ escape ──20–2F──▶ inter ──30–7E──▶ ground    nF
//	  │               ├──[──▶ csi ──40–7E──▶ ground              CSI
//	  │               ├──] P X ^ _──▶ text ──ST, BEL──▶ ground   OSC DCS SOS PM APC
//	  │               └──30–7E──▶ ground                         Fe Fs Fp
//	  └──80–9F outside UTF-8──▶ as ESC and the byte − 40h        C1
//
// Other control characters (CR, BS, NUL, BEL) are no sequences and stay. A
// string that nothing ends was none: what came after its opening is given back
// as text, so that a stray opening swallows nothing.
type stripper struct {
	state  stripState
	kind   byte   // of the string: what stood after ESC
	held   []byte // the string so far
	length int    // of the control sequence so far
	part   []byte // the beginning of a character whose end has not come
}

type stripState uint8

const (
	stripGround stripState = iota
	stripEscape
	stripInter
	stripCSI
	stripText
	stripTextEscape // ESC within a string: ST if \ follows
)

const (
	// maxString bounds the strings that are taken out: more than a sixel
	// picture of a screen, less than memory.
	maxString = 1 << 20

	// maxCSI bounds a control sequence, beyond which it is none.
	maxCSI = 256
)

const (
	can = 0x18
	sub = 0x1A
	esc = 0x1B
	bel = 0x07
)

// strip appends the text of src to dst.
func (s *stripper) strip(dst, src []byte) []byte {
	if len(s.part) > 0 {
		src = append(s.part, src...)
		s.part = nil
	}
	for len(src) > 0 {
		if s.state != stripGround {
			dst, src = s.within(dst, src)
			continue
		}
		n := asciiRun(src)
		dst = append(dst, src[:n]...)
		if src = src[n:]; len(src) == 0 {
			break
		}
		c := src[0]
		switch {
		case c == esc:
			s.state, src = stripEscape, src[1:]
		case !utf8.FullRune(src):
			s.part = bytes.Clone(src)
			return dst
		case c >= 0x80 && c < 0xA0: // no character begins so: a control of its own
			s.open(c - 0x40)
			src = src[1:]
		default:
			_, size := utf8.DecodeRune(src)
			dst = append(dst, src[:size]...)
			src = src[size:]
		}
	}
	return dst
}

// asciiRun is how many bytes at the beginning are ASCII without ESC.
func asciiRun(p []byte) int {
	for i, c := range p {
		if c == esc || c >= 0x80 {
			return i
		}
	}
	return len(p)
}

// open goes where ESC and the byte c lead.
func (s *stripper) open(c byte) {
	s.length = 0
	switch c {
	case '[':
		s.state = stripCSI
	case ']', 'P', 'X', '^', '_':
		s.state, s.kind, s.held = stripText, c, s.held[:0]
	default:
		s.state = stripGround
	}
}

// within takes what belongs to a sequence from src, at least one byte or a
// change of state.
func (s *stripper) within(dst, src []byte) (text, rest []byte) {
	c := src[0]
	switch {
	case s.state == stripText:
		return s.inString(dst, src)
	case s.state == stripTextEscape:
		if c == '\\' {
			s.state, s.held = stripGround, s.held[:0]
			return dst, src[1:]
		}
		dst = s.giveBack(dst, nil)
		s.state = stripEscape
		return dst, src
	case c == esc:
		s.state = stripEscape
	case c == can || c == sub:
		s.state = stripGround
	case c < 0x20: // acts at once, in the middle of a sequence
		dst = append(dst, c)
	case c == 0x7F:
	case c > 0x7F: // no sequence has it: what begins here is something new
		s.state = stripGround
		return dst, src
	case s.state == stripCSI:
		if s.length++; c >= 0x40 || s.length > maxCSI {
			s.state = stripGround
		}
	case c < 0x30:
		s.state = stripInter
	case s.state == stripInter:
		s.state = stripGround
	default:
		s.open(c)
	}
	return dst, src[1:]
}

// inString holds the string back until its end is seen. Only a DCS may carry
// line ends: in any other string one shows that the string was never ended.
func (s *stripper) inString(dst, src []byte) (text, rest []byte) {
	for i, c := range src {
		switch {
		case c == bel && s.kind == ']', c == can, c == sub, c == 0x9C && !s.midCharacter(src[:i]):
			s.state, s.held = stripGround, s.held[:0]
			return dst, src[i+1:]
		case c == esc:
			s.held = append(s.held, src[:i]...)
			s.state = stripTextEscape
			return dst, src[i+1:]
		case c == '\n' && s.kind != 'P', len(s.held)+i >= maxString:
			return s.giveBack(dst, src[:i]), src[i:]
		}
	}
	s.held = append(s.held, src...)
	return dst, nil
}

// giveBack makes text of a string that nothing ended.
func (s *stripper) giveBack(dst, more []byte) []byte {
	dst = append(append(dst, s.held...), more...)
	s.state, s.held = stripGround, s.held[:0]
	return dst
}

// midCharacter reports whether the bytes of the string before leave a
// character unfinished, so that the next one belongs to it.
func (s *stripper) midCharacter(before []byte) bool {
	var last [utf8.UTFMax]byte
	tail := last[:0]
	if n := utf8.UTFMax - 1 - len(before); n > 0 {
		tail = append(tail, s.held[max(0, len(s.held)-n):]...)
	}
	tail = append(tail, before[max(0, len(before)-(utf8.UTFMax-1)):]...)
	for i := range tail {
		if utf8.RuneStart(tail[i]) && tail[i] >= 0xC0 && !utf8.FullRune(tail[i:]) {
			return true
		}
	}
	return false
}

// close ends the stream and appends what was held back: the beginning of a
// character, and a string that nothing ended.
func (s *stripper) close(dst []byte) []byte {
	dst = append(dst, s.part...)
	if s.state == stripText || s.state == stripTextEscape {
		dst = append(dst, s.held...)
	}
	*s = stripper{}
	return dst
}
