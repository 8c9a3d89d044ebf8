package terminal

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// stripAt strips s in pieces of at most n bytes.
func stripAt(s string, n int) string {
	var st stripper
	var out []byte
	for len(s) > 0 {
		piece := s[:min(n, len(s))]
		s = s[len(piece):]
		out = st.strip(out, []byte(piece))
	}
	return string(st.close(out))
}

func TestControlSequencesAreTakenOutAtEverySplit(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"text", "plain\ttext\r\n", "plain\ttext\r\n"},
		{"CSI", "a\x1b[1;31mb\x1b[0mc\x1b[?25ld\x1b[4 qe", "abcde"},
		{"OSC ended by BEL", "a\x1b]0;title\x07b", "ab"},
		{"OSC ended by ST", "a\x1b]8;;http://x\x1b\\b\x1b]8;;\x1b\\c", "abc"},
		{"DCS with line ends", "a\x1bPq#0\n#1\n\x1b\\b", "ab"},
		{"SOS, PM, APC", "a\x1bXs\x1b\\b\x1b^p\x1b\\c\x1b_g\x1b\\d", "abcd"},
		{"BEL does not end a DCS", "a\x1bPx\x07y\x1b\\b", "ab"},
		{"nF", "a\x1b(Bb\x1b#8c\x1b%Gd", "abcd"},
		{"Fe, Fs, Fp", "a\x1bMb\x1bcc\x1b7d\x1b=e", "abcde"},
		{"C1 CSI", "a\x9b31mb", "ab"},
		{"C1 OSC ended by C1 ST", "a\x9dtitle\x9cb", "ab"},
		{"C1 alone", "a\x85b\x8dc", "abc"},
		{"the same bytes within UTF-8", "\u00dbx \u011b \u201d \u20ac \u00c5 日本 😀", "\u00dbx \u011b \u201d \u20ac \u00c5 日本 😀"},
		{"9C within a character of a title", "a\x1b]0;x\u035cy\u00dcz\x07b", "ab"},
		{"an encoded C1 is a character", "a\u009bb", "a\u009bb"},
		{"NUL, BS, BEL, DEL stay", "a\x00b\bc\ad\x7f", "a\x00b\bc\ad\x7f"},
		{"a control acts within CSI", "a\x1b[3\n1mb", "a\nb"},
		{"CAN and SUB end a sequence", "a\x1b[3\x18b\x1b]x\x1ac", "abc"},
		{"ESC begins anew", "a\x1b[3\x1b[1mb\x1b\x1b[mc", "abc"},
		{"bytes that are no UTF-8 stay", "a\xffb\xc3(c\xe2\x28", "a\xffb\xc3(c\xe2\x28"},
		{"a character breaks a CSI", "a\x1b[3\u00e9b", "a\u00e9b"},
		{"an unfinished character at the end", "a\xe2\x82", "a\xe2\x82"},
		{"an unfinished CSI at the end", "a\x1b[3", "a"},
		{"ESC at the end", "a\x1b", "a"},
		{"a title that does not end gives its text back", "a\x1b]0;title and more", "a0;title and more"},
		{"a title ends at the line", "a\x1b]0;title\nall the rest\x07", "a0;title\nall the rest\x07"},
		{"a title that another sequence cuts", "a\x1b]0;title\x1b[1mb", "a0;titleb"},
		{"whitespace", " \n\t \n", " \n\t \n"},
	} {
		for n := 1; n <= len(c.in); n++ {
			if got := stripAt(c.in, n); got != c.want {
				t.Errorf("%s, pieces of %d: %q, want %q", c.name, n, got, c.want)
				break
			}
		}
	}
}

func TestStrayOpeningSwallowsNothing(t *testing.T) {
	text := strings.Repeat("x", 3*maxString)
	for _, opening := range []string{"\x1b]", "\x1bP", "\x1b_", "\x9d", "\x1b["} {
		for _, n := range []int{4096, 100_000, len(text) * 2} {
			got := stripAt("a"+opening+text, n)
			if missing := len(text) + 1 - len(got); missing > maxCSI+1 {
				t.Errorf("%q in pieces of %d: %d bytes are gone", opening, n, missing)
			}
		}
	}
}

func TestSplitsOfAnythingGiveTheSame(t *testing.T) {
	tokens := []string{"\x1b", "[", "]", "P", "\\", "\x07", "\x9c", "\x9b", "\x90", "1;2", "m", "a", "\n", "é", "😀", "\xc3", "\x80", "\x18", "(", "B", "0;t"}
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var b strings.Builder
		for range r.IntN(30) {
			b.WriteString(tokens[r.IntN(len(tokens))])
		}
		s := b.String()
		whole := stripAt(s, len(s)+1)
		for _, n := range []int{1, 2, 3, 5} {
			if got := stripAt(s, n); got != whole {
				t.Fatalf("%q in pieces of %d: %q, whole %q", s, n, got, whole)
			}
		}
	}
}

func FuzzStrip(f *testing.F) {
	f.Add("a\x1b[1mb\x1b]0;x\x07c\x9b1m\xc3\xa9", 1)
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = max(1, min(n, len(s)+1))
		whole := stripAt(s, len(s)+1)
		if got := stripAt(s, n); got != whole {
			t.Fatalf("%q in pieces of %d: %q, whole %q", s, n, got, whole)
		}
		if len(whole) > len(s) || strings.Contains(whole, "\x1b") {
			t.Fatalf("%q became %q", s, whole)
		}
	})
}
