package terminal

import (
	"bytes"
	"math/rand/v2"
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

func TestWindowMakesItsTailOnceWhenTheHeadIsFull(t *testing.T) {
	const limit = 1 << 20
	w := newWindow(limit)
	piece := bytes.Repeat([]byte("0123456\n"), 512)
	for len(w.head)+len(piece) <= w.headCap {
		w.add(piece)
	}
	if w.tail != nil || cap(w.head) > 2*w.headCap {
		t.Fatalf("%d and %d bytes are held for an output of %d", cap(w.head), cap(w.tail), len(w.head))
	}
	w.add(piece)
	made := &w.tail[:1][0]
	for range 3 * limit / len(piece) {
		w.add(piece)
	}
	if cap(w.tail) != w.tailCap || made != &w.tail[0] {
		t.Errorf("the tail of %d bytes has moved, or is not %d", cap(w.tail), w.tailCap)
	}
}

// TestWindowIsTheSameHoweverItsInputIsCut holds a window against one that gets
// everything at once, over lengths at which the ring is not yet, just, and
// again full.
func TestWindowIsTheSameHoweverItsInputIsCut(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 5))
	text := make([]byte, 4000)
	for i := range text {
		text[i] = "abc \n"[rnd.IntN(5)]
	}
	for range 2000 {
		limit, p := 1+rnd.IntN(900), text[:rnd.IntN(len(text))]
		whole, cut := newWindow(int64(limit)), newWindow(int64(limit))
		whole.add(p)
		head, tail := whole.finish()
		for rest := p; len(rest) > 0; {
			n := 1 + rnd.IntN(min(len(rest), 1+rnd.IntN(2*limit)))
			cut.add(rest[:n])
			rest = rest[n:]
		}
		h, l := cut.finish()
		if !bytes.Equal(h, head) || !bytes.Equal(l, tail) || cut.left != whole.left {
			t.Fatalf("%d bytes of %d: %+v and %+v", limit, len(p), cut.left, whole.left)
		}
		if between := p[len(h) : len(p)-len(l)]; cut.left != (Omitted{}).plus(between) {
			t.Fatalf("%d bytes of %d: %+v, and %d bytes are between", limit, len(p), cut.left, len(between))
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
