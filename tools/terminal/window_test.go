package terminal

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/honestty/honestty/outcome"
)

func TestWindowCountsExactlyWhatIsBetweenItsParts(t *testing.T) {
	texts := map[string]string{
		"lines":      strings.Repeat("a line of text\n", 5000),
		"no lines":   strings.Repeat("x", 70_000),
		"wide":       strings.Repeat("日本語", 8000),
		"blanks":     strings.Repeat("word ", 12_000),
		"empty":      "",
		"broken":     strings.Repeat("\x80", 50_000),
		"line ends":  strings.Repeat("\n", 40_000),
		"just fits":  strings.Repeat("y", 1000),
		"one more":   strings.Repeat("y", 1001),
		"characters": strings.Repeat("é", 501),
	}
	for name, text := range texts {
		for _, piece := range []int{1, 7, 999, 4096, 100_000} {
			w := newWindow(1000)
			for p := []byte(text); len(p) > 0; {
				n := min(piece, len(p))
				w.add(p[:n])
				p = p[n:]
			}
			head, tail := w.finish()
			between := text[len(head) : len(text)-len(tail)]
			if w.left.Bytes != int64(len(between)) || w.left.Lines != int64(strings.Count(between, "\n")) {
				t.Fatalf("%s in pieces of %d: %+v, and %d bytes are between", name, piece, w.left, len(between))
			}
			if !strings.HasPrefix(text, string(head)) || !strings.HasSuffix(text, string(tail)) || len(head) > 400 && w.left.Bytes > 0 || len(tail) > 600 && w.left.Bytes > 0 {
				t.Fatalf("%s in pieces of %d: %d and %d bytes kept", name, piece, len(head), len(tail))
			}
			if len(text) <= 1000 && w.left.Bytes != 0 {
				t.Errorf("%s: %+v left out of %d bytes", name, w.left, len(text))
			}
			if utf8.ValidString(text) && !(utf8.Valid(head) && utf8.Valid(tail)) {
				t.Errorf("%s in pieces of %d: a character is cut", name, piece)
			}
		}
	}
}

// TestKeeperHoldsNoMoreThanItsLimits feeds a keeper far more than it keeps.
func TestKeeperHoldsNoMoreThanItsLimits(t *testing.T) {
	const limit = 10_000
	for _, dir := range []string{"", t.TempDir()} {
		k := newKeeper(Spec{Keep: limit, Text: true, SpillDir: dir, SpillMax: 1 << 20}, nil)
		piece := bytes.Repeat([]byte("\x1b[1mx\x1b[m\n"), readSize/10)
		for range 500 {
			k.add(piece)
			if held := cap(k.raw) + cap(k.show.head) + cap(k.show.tail) + cap(k.text) + cap(k.strip.held); held > 8*limit+4*readSize {
				t.Fatalf("%d bytes are held after %d", held, k.read)
			}
		}
		var c outcome.Capture
		k.finish(&c)
		if k.err != nil || c.Shown > limit || c.Spill != "" {
			t.Errorf("%v, %+v", k.err, c)
		}
	}
}

func TestSeamsFallOnLineEndsThenOnBlanks(t *testing.T) {
	for _, c := range []struct{ text, head, tail string }{
		{strings.Repeat("0123456789ab\n", 100), "ab\n", "0123"},
		{strings.Repeat("0123456789ab ", 100), "ab ", "0123"},
	} {
		w := newWindow(500)
		w.add([]byte(c.text))
		head, tail := w.finish()
		if !bytes.HasSuffix(head, []byte(c.head)) || !bytes.HasPrefix(tail, []byte(c.tail)) {
			t.Errorf("head ends with %q, tail begins with %q", head[len(head)-5:], tail[:5])
		}
	}
}

func TestMarkerStandsOnALineOfItsOwn(t *testing.T) {
	o := Omitted{Bytes: 1234567, Lines: 1}
	if got := o.marker([]byte("a")); got != "\n[1,234,567 bytes with 1 line end left out here]\n" {
		t.Errorf("%q", got)
	}
	if got := o.marker([]byte("a\n")); strings.HasPrefix(got, "\n") {
		t.Errorf("%q", got)
	}
}
