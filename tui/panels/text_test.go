package panels

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/honestty/honestty/tui/screen"
)

func TestSequencesAreTakenOutAndNothingElse(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\r\n":          "plain\ttext\r\n",
		"a\x1b[31;1mb\x1b[0mc":     "abc",
		"a\x1b]0;title\x07b":       "ab",
		"a\x1b]8;;http://x\x1b\\b": "ab",
		"a\x1bPq#0\n1\x1b\\b":      "ab",
		"a\x1b(Bb\x1b=c\x1bMd":     "abcd",
		"a\x1b]never ended\nb":     "a\x1b]never ended\nb",
		"a\x1b]never ended":        "a\x1b]never ended",
		"a\x1b[31":                 "a",
		"a\x1b":                    "a",
		"a\x1b[3\x01b":             "a\x01b",
		"a\x1b\x01b":               "a\x1b\x01b",
		"a\x1b\x1b[1mb":            "a\x1bb",
		"é\x1b[1mü":                "éü",
		"\x1b]" + strings.Repeat("x", maxSequence) + "\x07": "\x1b]" + strings.Repeat("x", maxSequence) + "\x07",
	} {
		if got := string(stripSequences([]byte(in))); got != want {
			t.Errorf("%.40q gives %.40q, want %.40q", in, got, want)
		}
	}
}

func FuzzStripSequences(f *testing.F) {
	f.Add([]byte("a\x1b[31mb\x1b]0;t\x07c\x1b"))
	f.Fuzz(func(t *testing.T, in []byte) {
		out := stripSequences(slices.Clone(in))
		if len(out) > len(in) || len(in) > 0 && !strings.Contains(string(in), "\x1b") && string(out) != string(in) {
			t.Errorf("%q gives %q", in, out)
		}
		for _, l := range displayLines(string(out), roleOutput) {
			if screen.Visible(l.text) != l.text || !utf8.ValidString(l.text) {
				t.Errorf("%q is not fit to be shown", l.text)
			}
		}
	})
}

func TestLinesAreFitToBeShown(t *testing.T) {
	for in, want := range map[string][]string{
		"":                     nil,
		"a":                    {"a"},
		"a\nb\n":               {"a", "b"},
		"a\r\nb":               {"a", "b"},
		"50%\r60%\rdone\n":     {"50%", "60%", "done"},
		"\n\n":                 {"", ""},
		"\ta\tb":               {"        a       b"},
		"\t\tx":                {"                x"},
		"12345678\tx":          {"12345678        x"},
		"é\tx":                 {"é       x"},
		"a\x00b\x07\x7f":       {"a^@b^G^?"},
		"x\u202ey\u2028\u200f": {"x<U+202E>y<U+2028><U+200F>"},
		"bad\xffbyte":          {"bad\uFFFDbyte"},
	} {
		var got []string
		for _, l := range displayLines(in, roleOutput) {
			got = append(got, l.text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
	}
}

func TestWrappedRowsFitAndLoseNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := displayLine(rapid.StringOfN(rapid.RuneFrom([]rune("ab \té漢🙂\u0301\u200d\x1b")), 0, 200, -1).Draw(t, "text"))
		w := rapid.IntRange(2, 40).Draw(t, "w")
		indent := rapid.IntRange(0, 4).Draw(t, "indent")
		starts := wrapText(text, w, indent, rapid.Bool().Draw(t, "words"))
		if starts[0] != 0 || !slices.IsSorted(starts) || starts[len(starts)-1] > len(text) {
			t.Fatalf("rows begin at %v", starts)
		}
		for i, from := range starts {
			to := len(text)
			if i+1 < len(starts) {
				to = starts[i+1]
			}
			room := w
			if i > 0 {
				room -= min(indent, w/2)
			}
			row := text[from:to]
			if !utf8.ValidString(row) {
				t.Fatalf("row %q is cut inside of a character", row)
			}
			if n := screen.Width(row); n > room && utf8.RuneCountInString(row) > 1 && !strings.Contains(text, "\u200d") && !strings.Contains(text, "\u0301") {
				t.Fatalf("row %q has %d columns of %d", row, n, room)
			}
		}
	})
	if got := wrapText("one two three four", 10, 0, true); fmt.Sprint(got) != "[0 8]" {
		t.Errorf("words: %v", got)
	}
	if got := wrapText(strings.Repeat("x", 25), 10, 2, true); fmt.Sprint(got) != "[0 10 18]" {
		t.Errorf("one long word: %v", got)
	}
}

// viewOf is a view of some sections with one line each row.
func viewOf(w, h int, sections ...textSection) *textView {
	v := &textView{sections: sections}
	v.draw(canvas{screen.New(w, h, screen.Caps{UTF8: true}), &unicodeTheme}, 0, 0, w, h, true)
	return v
}

func numberedLines(n int) []textLine {
	var out []textLine
	for i := range n {
		out = append(out, textLine{text: fmt.Sprintf("line %d %s", i, strings.Repeat("x", i%50)), role: roleOutput})
	}
	return out
}

func TestMovingInATextNeverLeavesItAndTheCursorIsSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(4, 60).Draw(t, "w"), rapid.IntRange(1, 12).Draw(t, "h")
		v := viewOf(w, h, textSection{lines: numberedLines(rapid.IntRange(0, 3).Draw(t, "a"))},
			textSection{title: "x", lines: numberedLines(rapid.IntRange(0, 30).Draw(t, "b"))},
			textSection{title: "y", folded: true, lines: numberedLines(4)})
		names := []string{"j", "k", "pgdown", "pgup", "home", "end", "}", "{", "enter", "z", "a", "n", "N"}
		for range rapid.IntRange(1, 40).Draw(t, "keys") {
			switch k := rapid.IntRange(0, len(names)+1).Draw(t, "key"); k {
			case len(names):
				v.scroll(rapid.IntRange(-20, 20).Draw(t, "by"))
			case len(names) + 1:
				v.replace(1, numberedLines(rapid.IntRange(0, 30).Draw(t, "lines")), rapid.IntRange(-5, 5).Draw(t, "shift"))
			default:
				v.key(names[k])
			}
			rows := 0
			s := v.top
			for ; s != v.at && rows < h; rows++ {
				to, ok := v.next(s)
				if !ok {
					break
				}
				s = to
			}
			if s != v.at || rows >= h || v.valid(v.at) != v.at || v.valid(v.top) != v.top {
				t.Fatalf("cursor %+v is not in view from %+v at height %d", v.at, v.top, h)
			}
		}
	})
}

func TestTheWholeTextIsReachedInBothDirections(t *testing.T) {
	v := viewOf(20, 6, textSection{lines: numberedLines(3)}, textSection{title: "x", lines: numberedLines(40)},
		textSection{title: "y", folded: true, lines: numberedLines(4)}, textSection{title: "z"})
	v.home()
	down := 1
	for at := v.at; ; down++ {
		if v.move(1); v.at == at {
			break
		}
		at = v.at
	}
	v.end()
	up := 1
	for at := v.at; ; up++ {
		if v.move(-1); v.at == at {
			break
		}
		at = v.at
	}
	if down != up || down < 46 {
		t.Errorf("%d rows down and %d up", down, up)
	}
	empty := viewOf(20, 6)
	for _, k := range []string{"j", "end", "home", "pgup", "}", "n", "enter", "z", "a", "/"} {
		empty.key(k)
	}
	empty.scroll(3)
	if !empty.empty() || empty.click(3, 3) {
		t.Error("an empty text has rows")
	}
}

func TestSearchGoesAroundAndUnfolds(t *testing.T) {
	v := viewOf(40, 8, textSection{lines: []textLine{{text: "Needle here"}, {text: "hay"}}},
		textSection{title: "x", folded: true, lines: []textLine{{text: "hay"}, {text: "a NEEDLE"}}})
	v.open()
	v.typed(v.prompt.insert("needle"))
	if v.at.place != (place{0, 0}) || v.matches() != 2 {
		t.Errorf("at %+v, %d matches", v.at, v.matches())
	}
	v.typing("enter")
	if v.key("n"); v.at.place != (place{1, 1}) || v.sections[1].folded {
		t.Errorf("n goes to %+v", v.at)
	}
	if v.key("n"); v.at.place != (place{0, 0}) {
		t.Errorf("n does not go around: %+v", v.at)
	}
	if v.key("N"); v.at.place != (place{1, 1}) {
		t.Errorf("N goes to %+v", v.at)
	}
	v.open()
	v.typing("x")
	if v.typing("esc"); v.query != "" || v.prompt.on {
		t.Error("Esc does not leave the search")
	}
}

func TestFindASCIIAgreesWithLowering(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOfN(rapid.RuneFrom([]rune("abAB é")), 0, 30, -1).Draw(t, "s")
		q := lowerASCII(rapid.StringOfN(rapid.RuneFrom([]rune("abAB é")), 1, 3, -1).Draw(t, "q"))
		if got, want := findASCII(s, q), strings.Index(lowerASCII(s), q); got != want {
			t.Fatalf("%q in %q: %d, want %d", q, s, got, want)
		}
	})
}

func TestMatchesAreMarkedOverTheEndOfARow(t *testing.T) {
	v := &textView{sections: []textSection{{lines: []textLine{{text: "aaaaaaaneedleaaaaa", role: roleOutput}}}}, query: "needle"}
	s := screen.New(13, 2, screen.Caps{UTF8: true})
	v.draw(canvas{s, &unicodeTheme}, 0, 0, 13, 2, true) // rows of ten
	var marked strings.Builder
	for y := range 2 {
		for x := range 12 {
			if s.Style(x, y) == unicodeTheme.MatchNow {
				fmt.Fprintf(&marked, "%d,%d ", x, y)
			}
		}
	}
	if got := marked.String(); got != "9,0 10,0 11,0 2,1 3,1 4,1 " {
		t.Errorf("marked are %s", got)
	}
}

func TestAPromptTakesTextAndNothingInvisible(t *testing.T) {
	p := textPrompt{on: true}
	for _, k := range []string{"a", "space", "kp7", "é", "up", "f5", "ctrl+x", "\x1b", "\u202e", "tab"} {
		p.key(k)
	}
	if p.text != "a 7é" {
		t.Errorf("typed %q", p.text)
	}
	p.insert(strings.Repeat("ü", maxPrompt))
	if len(p.text) > maxPrompt || !utf8.ValidString(p.text) {
		t.Errorf("%d bytes", len(p.text))
	}
	if p.key("ctrl+u"); p.text != "" || p.key("backspace") != typedEsc || p.on {
		t.Errorf("%+v", p)
	}
}
