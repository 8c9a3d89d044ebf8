package vt

import "unicode/utf8"

// leadInfo returns, for the first byte of a UTF-8 character, its length and the
// range its second byte must be in (Unicode 17, table 3-7). Length 0: the byte
// cannot start a character.
func leadInfo(b byte) (n int, lo, hi byte) {
	switch {
	case b < 0xC2:
		return 0, 0, 0
	case b < 0xE0:
		return 2, 0x80, 0xBF
	case b == 0xE0:
		return 3, 0xA0, 0xBF
	case b == 0xED:
		return 3, 0x80, 0x9F
	case b < 0xF0:
		return 3, 0x80, 0xBF
	case b == 0xF0:
		return 4, 0x90, 0xBF
	case b < 0xF4:
		return 4, 0x80, 0xBF
	case b == 0xF4:
		return 4, 0x80, 0x8F
	}
	return 0, 0, 0
}

// printUTF8 prints characters of several bytes from p[i] on and returns the
// index of the first byte it did not take. Each maximal subpart of a malformed
// sequence is one U+FFFD (Unicode 17, section 3.9). C1 controls written as UTF-8
// are text without a glyph, not controls.
func (t *Terminal) printUTF8(p []byte, i int) int {
	for i < len(p) && p[i] >= 0x80 {
		b := p[i]
		// The two common lengths first, fully checked.
		if b&0xF0 == 0xE0 && i+2 < len(p) {
			r := rune(b&0x0F)<<12 | rune(p[i+1]&0x3F)<<6 | rune(p[i+2]&0x3F)
			if p[i+1]&0xC0 == 0x80 && p[i+2]&0xC0 == 0x80 && r >= 0x800 && (r < 0xD800 || r > 0xDFFF) {
				t.printRune(r)
				i += 3
				continue
			}
		}
		if b >= 0xC2 && b < 0xE0 && i+1 < len(p) && p[i+1]&0xC0 == 0x80 {
			t.printRune(rune(b&0x1F)<<6 | rune(p[i+1]&0x3F))
			i += 2
			continue
		}
		n, lo, hi := leadInfo(b)
		if n == 0 {
			t.malformed()
			i++
			continue
		}
		good := 1
		for good < n && i+good < len(p) {
			c := p[i+good]
			if c < lo || c > hi {
				break
			}
			lo, hi = 0x80, 0xBF
			good++
		}
		switch {
		case good == n:
			r, _ := utf8.DecodeRune(p[i : i+n])
			t.printRune(r)
		case i+good == len(p):
			t.nCarry = copy(t.carry[:], p[i:])
			return len(p)
		default:
			t.malformed()
		}
		i += good
	}
	return i
}

// resumeRune completes the character that the last Write ended in, and returns
// how many bytes of p belong to it.
func (t *Terminal) resumeRune(p []byte) int {
	n, lo, hi := leadInfo(t.carry[0])
	if t.nCarry > 1 {
		lo, hi = 0x80, 0xBF
	}
	i := 0
	for t.nCarry < n {
		if i == len(p) {
			return i
		}
		if p[i] < lo || p[i] > hi {
			t.nCarry = 0
			t.malformed()
			return i
		}
		t.carry[t.nCarry] = p[i]
		t.nCarry++
		lo, hi = 0x80, 0xBF
		i++
	}
	r, _ := utf8.DecodeRune(t.carry[:n])
	t.nCarry = 0
	t.printRune(r)
	return i
}

func (t *Terminal) malformed() {
	t.drop(DropUTF8)
	t.printRune(utf8.RuneError)
}
