package vt

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"github.com/clipperhouse/uax29/v2/graphemes"
)

func TestWidthsAgreeWithTheModuleTheTablesCameFrom(t *testing.T) {
	own := func(r rune) bool { // where wcwidth and a cluster's width differ; see gentables
		return r == 0xAD || r >= 0x1160 && r <= 0x11FF || r >= 0xD7B0 && r <= 0xDFFF || r >= 0x1F1E6 && r <= 0x1F1FF
	}
	for r := rune(0x20); r <= utf8.MaxRune; r++ {
		if got, want := propOf(r).width(), displaywidth.Rune(r); got != want && !own(r) {
			t.Errorf("%U has width %d, the module says %d", r, got, want)
		}
	}
}

// TestClustersAgreeWithTheModuleTheTablesCameFrom compares boundaries on random
// strings made of characters of every class.
func TestClustersAgreeWithTheModuleTheTablesCameFrom(t *testing.T) {
	byClass := map[graphemeClass][]rune{}
	for r := rune(0x20); r < 0x20000; r++ {
		if r < 0xD800 || r > 0xDFFF {
			c := propOf(r).class()
			byClass[c] = append(byClass[c], r)
		}
	}
	if len(byClass) != 16 {
		t.Fatalf("%d classes in use, want 16", len(byClass))
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 8000 {
		var s []rune
		for range 1 + rnd.IntN(9) {
			all := byClass[graphemeClass(rnd.IntN(16))]
			s = append(s, all[rnd.IntN(len(all))])
		}
		var want []string
		for g := graphemes.FromString(string(s)); g.Next(); {
			want = append(want, g.Value())
		}
		var got []string
		var st graphemeState
		for i, r := range s {
			next, joins := st.next(propOf(r).class())
			if i == 0 {
				next, joins = st.start(propOf(r).class()), false
			}
			st = next
			if joins {
				got[len(got)-1] += string(r)
			} else {
				got = append(got, string(r))
			}
		}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Fatalf("%U: %q, the module says %q", s, got, want)
		}
	}
}

func TestWholeCharactersAgreeWithTheStandardLibrary(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 1))
	check := func(p [4]byte) {
		want, size := utf8.DecodeRune(p[:])
		if size < 2 || want < 0xA0 {
			want, size = 0, 0
		}
		if r, n := wholeRune(binary.LittleEndian.Uint32(p[:])); r != want || n != size {
			t.Fatalf("% x is %U of %d bytes, want %U of %d", p, r, n, want, size)
		}
	}
	for r := rune(0); r <= utf8.MaxRune; r++ {
		p := [4]byte{'x', 'x', 'x', 'x'}
		utf8.EncodeRune(p[:], r)
		check(p)
		if got := runeLen(Cell(r)); got != int64(utf8.RuneLen(r)) && (r < 0xD800 || r > 0xDFFF) {
			t.Fatalf("%U counts as %d bytes", r, got)
		}
	}
	for range 1 << 20 {
		p := [4]byte(binary.LittleEndian.AppendUint32(nil, rnd.Uint32()))
		p[0] |= 0xC0 // mostly a first byte
		for i := range p[1:] {
			if rnd.IntN(8) > 0 {
				p[1+i] = p[1+i]&0x3F | 0x80
			}
		}
		check(p)
	}
}

func TestUTF8AgreesWithTheStandardLibrary(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	alphabet := []byte("a\x80\xbf\xc2\xc3\xe0\xa0\xe4\xed\x9f\xef\xf0\x90\xf1\xf4\x8f\xff\xc0\xb8")
	for range 20000 {
		p := make([]byte, 1+rnd.IntN(8))
		for i := range p {
			p[i] = alphabet[rnd.IntN(len(alphabet))]
		}
		p = append(p, '.')
		v := New(40, 1, Options{})
		v.Write(p)
		// One replacement for each maximal subpart is what ToValidUTF8 does not do
		// and a range over the string does per byte; so count with our own reading
		// of table 3-7, by the library's full decoder.
		want := 0
		for rest := p; len(rest) > 0; {
			r, n := utf8.DecodeRune(rest)
			if r == utf8.RuneError && n == 1 {
				want++
				n = subpart(rest)
			}
			rest = rest[n:]
		}
		if got := int(v.drops[DropUTF8]) - c1Count(p); got != want {
			t.Fatalf("%x: %d replacements, want %d", p, got, want)
		}
	}
}

// subpart returns the length of the maximal subpart at the start of p: the
// longest prefix that some further bytes would complete.
func subpart(p []byte) int {
	for n := min(3, len(p)); n > 1; n-- {
		if !utf8.FullRune(p[:n]) {
			return n
		}
	}
	return 1
}

// c1Count returns how many C1 controls p holds as well-formed UTF-8; they are
// replaced too.
func c1Count(p []byte) int {
	n := 0
	for len(p) > 0 {
		r, size := utf8.DecodeRune(p)
		if size > 1 && r >= 0x80 && r < 0xA0 {
			n++
		}
		p = p[size:]
	}
	return n
}
