package vt

import (
	"encoding/binary"
	"unicode/utf8"
)

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
		if i = t.printRun(p, i); i == len(p) || p[i] < 0x80 {
			break
		}
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

// printRun is printRune for characters of one or two columns that need nothing
// but their cells, and returns the index of the first byte it did not take.
func (t *Terminal) printRun(p []byte, i int) int {
	if t.pending || t.modes.on&(1<<modeInsert|1<<modeGraphemes) != 0 {
		return i
	}
	limit, col := t.limit(), t.col
	cells, m := t.scr.rowAndMeta(t.row)
	written := m.used > col // else there is nothing to cut
	var at Cell
	var last rune
	for len(p)-i >= 4 && col < limit {
		r, n := wholeRune(binary.LittleEndian.Uint32(p[i:]))
		w := Col(propOf(r).width())
		end := col + w
		if r == 0 || w == 0 || end > limit {
			break
		}
		if last == 0 {
			at = t.penCell()
		}
		if written {
			if cells[col].Tail() || int(end) < len(cells) && cells[end].Tail() {
				break
			}
			cells[end-1] = at | cellTail // the right half, if there are two
		} else if int(col)+1 < len(cells) {
			// Without a branch on the width: the next cell is zero and stays so.
			cells[col+1] = (at | cellTail) & -Cell(w-1)
		}
		cells[col] = Cell(r) | at | Cell(w-1)<<cellWidthShift
		col, last = end, r
		i += n
	}
	if last != 0 {
		t.cs.single, t.last, t.joinOK = 0, last, false
		t.scr.touch(t.row, col)
		t.col = col
		if col == limit {
			t.col, t.pending = limit-1, true
		}
	}
	return i
}

// leads says, by the upper half of its first byte, what a whole character is
// like. Its bytes are one number, the first of them lowest.
var leads = [16]struct {
	mask, want uint32 // the marker bits and their values
	bits       uint32 // of the first byte that are the character's
	drop       uint8  // bits to the right of the character when it is read as four bytes
	len        uint8
	min        rune // less is overlong, or C1
}{
	0xC: {0xC0E0, 0x80C0, 0x1F, 12, 2, 0xA0},
	0xD: {0xC0E0, 0x80C0, 0x1F, 12, 2, 0xA0},
	0xE: {0xC0C0F0, 0x8080E0, 0x0F, 6, 3, 0x800},
	0xF: {0xC0C0C0F8, 0x808080F0, 0x07, 0, 4, 0x10000},
}

// wholeRune decodes the character of two to four bytes that x begins with and
// returns its length. 0 stands for what is none, and for C1. Mixed scripts have
// lengths that a processor cannot foretell, so that it does not branch on them.
func wholeRune(x uint32) (r rune, n int) {
	d := &leads[x>>4&0xF]
	r = rune((x&d.bits<<18 | x>>8&0x3F<<12 | x>>16&0x3F<<6 | x>>24&0x3F) >> (d.drop & 31))
	if x&d.mask != d.want || d.len == 0 || r < d.min || r >= 0xD800 && r <= 0xDFFF || r > utf8.MaxRune {
		return 0, 0
	}
	return r, int(d.len)
}
