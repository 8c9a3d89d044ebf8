package screen

import (
	"testing"

	"github.com/honestty/honestty/vt"
)

// TestATerminalWithoutUTF8GetsASCIIAlone draws frames, letters, clusters and
// wide characters.
func TestATerminalWithoutUTF8GetsASCIIAlone(t *testing.T) {
	if n := len(latin); n != 64 {
		t.Fatalf("%d letters from U+00C0 to U+00FF", n)
	}
	s := New(40, 2, Caps{Depth: Color16})
	s.SetText(0, 0, 40, "┌─┐ é ✓ exit 0 · 世界 e\u0301 👩\u200d👧 \u2603|", vt.Style{})
	out := s.Diff(nil)
	term := vt.New(40, 2, vt.Options{})
	for _, b := range out {
		if b >= 0x80 {
			t.Fatalf("%q is not ASCII", out)
		}
	}
	term.Write(out)
	var got []byte
	for _, c := range term.Line(0) {
		if c.Blank() {
			got = append(got, ' ')
		}
		got = term.AppendText(got, c)
	}
	if want := "+-+ e v exit 0 . ???? e ?? ?|            "; string(got) != want[:40] {
		t.Errorf("%q, want %q", got, want)
	}
}
