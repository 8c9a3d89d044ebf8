package screen

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/honestty/honestty/vt"
)

func TestControlAndBidiCharactersAreShownAndNeverSent(t *testing.T) {
	for text, want := range map[string]string{
		"a\x1b[31mb":              "a^[[31mb",
		"bell\a nul\x00 del\x7f":  "bell^G nul^@ del^?",
		"gpj\u202egnp.exe":        "gpj<U+202E>gnp.exe",
		"c1 \u0085 \u009b1m":      "c1 <U+0085> <U+009B>1m",
		"sep\u2028x\u2066y\u200f": "sep<U+2028>x<U+2066>y<U+200F>",
		"tab\there":               "tab^Ihere",
		"bad\xffbyte\xc3":         "bad�byte�",
		"\u0301alone":             "<U+0301>alone",
		"cr\r\nlf":                "cr^M^Jlf",
		"e\u0301\u202ex":          "e\u0301<U+202E>x",
	} {
		s, ref := New(60, 1, fullCaps()), newReference(t, 60, 1)
		n := s.SetText(0, 0, 60, text, vt.Style{})
		if got := strings.TrimSuffix(s.Text(), "\n"); got != want {
			t.Errorf("%q shows as %q, want %q", text, got, want)
		}
		if w := Width(text); w != n {
			t.Errorf("%q took %d columns, Width says %d", text, n, w)
		}
		ref.feed(s.Diff(nil)) // fails on a control
		ref.compare(s)
	}
	if got, want := Visible("a\u202e\x1b"), "a<U+202E>^["; got != want {
		t.Errorf("Visible gave %q, want %q", got, want)
	}
}

func TestPaneContentLosesWhatMustNotBeSent(t *testing.T) {
	p := newPane(6, 1)
	p.clusters = []string{"a\u202e", "\u202e", "e\u0301\x1b"}
	p.lines[0] = []vt.Cell{isCluster, isCluster | 1, isCluster | 2, vt.MakeCell(0x9B, 0), vt.MakeCell(0x202E, 0), vt.MakeCell(7, 0)}
	s, ref := New(6, 1, fullCaps()), newReference(t, 6, 1)
	s.Blit(0, 0, 6, 1, p, &StyleMap{})
	ref.feed(s.Diff(nil))
	ref.compare(s)
	if got, want := s.Text(), "a\uFFFDe\u0301\uFFFD\uFFFD\uFFFD\n"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
}

func TestTextIsCutAtItsWidth(t *testing.T) {
	s := New(10, 1, Caps{})
	if n := s.SetText(2, 0, 4, "漢字漢", vt.Style{}); n != 4 {
		t.Errorf("took %d columns", n)
	}
	if n := s.SetText(7, 0, 99, "字字", vt.Style{}); n != 2 {
		t.Errorf("took %d columns", n)
	}
	if n := s.SetText(0, 5, 9, "below", vt.Style{}); n != 0 {
		t.Errorf("took %d columns outside", n)
	}
	if n := s.SetText(-2, 0, 4, "abcd", vt.Style{}); n != 4 {
		t.Errorf("took %d columns", n)
	}
	if got, want := s.Text(), "cd漢字 字\n"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
}

func TestOverwritingHalfACharacterBlanksTheOtherHalf(t *testing.T) {
	s := New(8, 1, Caps{})
	s.SetText(0, 0, 8, "漢字漢字", vt.Style{})
	s.SetText(1, 0, 1, "x", vt.Style{})
	s.Fill(4, 0, 1, 1, vt.Style{})
	if got, want := s.Text(), " x字  字\n"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
}

func TestRestyleKeepsCharactersAndWholeWideOnes(t *testing.T) {
	s, ref := New(8, 2, fullCaps()), newReference(t, 8, 2)
	s.SetText(0, 0, 8, "a漢 b字c", vt.Style{FG: vt.Indexed(2)})
	ref.feed(s.Diff(nil))
	s.Restyle(2, 0, 4, 1, func(st vt.Style) vt.Style {
		st.Attrs ^= vt.Inverse
		return st
	})
	if got, want := s.Text(), "a漢 b字c\n\n"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
	var inverse []bool
	for x := range 8 {
		inverse = append(inverse, s.Style(x, 0).Attrs&vt.Inverse != 0)
	}
	if want := []bool{false, true, true, true, true, true, true, false}; !slices.Equal(inverse, want) {
		t.Errorf("inverse %v, want %v", inverse, want)
	}
	ref.feed(s.Diff(nil))
	ref.compare(s)
}

func TestLinkTargetsAreSentSafe(t *testing.T) {
	p := newPane(4, 1)
	p.links = []string{"", "http://h/ü x", "http://h/\x1b\\evil", strings.Repeat("x", maxLink+1)}
	p.styles = []vt.Style{{Link: 1}, {Link: 2}, {Link: 3}}
	p.lines[0] = []vt.Cell{vt.MakeCell('a', 0), vt.MakeCell('b', 1), vt.MakeCell('c', 2), vt.MakeCell('d', 0)}
	s := New(4, 1, fullCaps())
	s.Blit(0, 0, 4, 1, p, &StyleMap{})
	out := string(s.Diff(nil))
	if strings.Count(out, "http") != 2 || !strings.Contains(out, "http://h/%C3%BC%20x\x1b\\a\x1b]8;;\x1b\\bc") {
		t.Errorf("wrote %q", out)
	}
}

func TestTheStyleMapFollowsItsSource(t *testing.T) {
	p := newPane(1, 1)
	p.styles = append(p.styles, vt.Style{FG: vt.Indexed(1)})
	p.lines[0][0] = vt.MakeCell('x', 1)
	s, cache := New(1, 1, fullCaps()), &StyleMap{}
	s.Blit(0, 0, 1, 1, p, cache)
	p.styles[1].FG = vt.Indexed(2)
	s.Blit(0, 0, 1, 1, p, cache)
	if got := s.Style(0, 0).FG; got != vt.Indexed(1) {
		t.Errorf("the cache was not used: %x", got)
	}
	p.gen++
	s.Blit(0, 0, 1, 1, p, cache)
	if got := s.Style(0, 0).FG; got != vt.Indexed(2) {
		t.Errorf("a new generation was not noticed: %x", got)
	}
	other := *p
	other.styles = []vt.Style{{}, {FG: vt.Indexed(3)}}
	s.Blit(0, 0, 1, 1, &other, cache)
	if got := s.Style(0, 0).FG; got != vt.Indexed(3) {
		t.Errorf("another source was not noticed: %x", got)
	}
}

func TestDrawANSIReadsWhatLipGlossWrites(t *testing.T) {
	for text, want := range map[string]vt.Style{
		"\x1b[1;3;4mx":                {Attrs: vt.Bold | vt.Italic, Underline: vt.UnderlineSingle},
		"\x1b[38;5;208;48;2;1;2;3mx":  {FG: vt.Indexed(208), BG: vt.RGB(1, 2, 3)},
		"\x1b[38:2::9:8:7mx":          {FG: vt.RGB(9, 8, 7)},
		"\x1b[38:2:9:8:7mx":           {FG: vt.RGB(9, 8, 7)},
		"\x1b[4:3;58:5:4mx":           {Underline: vt.UnderlineCurly, UL: vt.Indexed(4)},
		"\x1b[31;101mx":               {FG: vt.Indexed(1), BG: vt.Indexed(9)},
		"\x1b[7;31mn\x1b[27;39mx":     {},
		"\x1b[1;2mn\x1b[22mx":         {},
		"\x1b[9;53;21mn\x1b[29;55;mx": {},
		"\x1b[38;5mx":                 {},
	} {
		s := New(8, 1, fullCaps())
		s.DrawANSI(0, 0, 8, text)
		x := strings.Index(s.Text(), "x")
		if got := s.Style(x, 0); got != want {
			t.Errorf("%q gave %+v, want %+v", text, got, want)
		}
	}
}

func TestDrawANSIKeepsToItsColumnsAndShowsOtherControls(t *testing.T) {
	s := New(12, 4, fullCaps())
	s.DrawANSI(2, 0, 6, "abcdefgh\n\x1b[31m漢字漢字\x1b[m\nx\x1b[2Jy\x1b]0;t\a")
	want := "  abcdef\n  漢字漢\n  x^[[2J\n\n"
	if got := s.Text(); got != want {
		t.Errorf("text %q, want %q", got, want)
	}
	again := New(12, 4, fullCaps())
	for range 2 {
		again.DrawANSI(2, 0, 6, "abcdefgh\n\x1b[31m漢字漢字\x1b[m\nx\x1b[2Jy\x1b]0;t\a")
	}
	if got := again.Text(); got != want {
		t.Errorf("the remembered text %q, want %q", got, want)
	}
}

// TestComposedFrameIsGolden compares a window of two panes and a status bar.
func TestComposedFrameIsGolden(t *testing.T) {
	s := New(40, 8, fullCaps())
	left, right := newPane(20, 6), newPane(19, 6)
	scribbleLine(left, 0, "$ go test ./...")
	scribbleLine(left, 1, "ok   漢字 wide, too long")
	scribbleLine(right, 0, "$ _")
	s.DrawANSI(0, 0, 40, "\x1b[1m─ 1 zsh\x1b[m ~/src ──────┬─ 2 bash ~ ────────")
	s.Blit(0, 1, 20, 6, left, &StyleMap{})
	for y := range 6 {
		s.SetText(20, 1+y, 1, "│", vt.Style{Attrs: vt.Faint})
	}
	s.Blit(21, 1, 19, 6, right, &StyleMap{})
	s.SetText(0, 7, 40, " 1 app  2 logs ✗     fd 23 ▁▁▂▁ /1024", vt.Style{})
	golden(t, "two-panes.screen", s.Text())
	ref := newReference(t, 40, 8)
	ref.feed(s.Diff(nil))
	ref.compare(s)
}

func scribbleLine(p *pane, y int, text string) {
	x := 0
	for _, r := range text {
		if r >= 0x2E80 && x+1 < len(p.lines[y]) {
			p.lines[y][x], p.lines[y][x+1] = vt.MakeCell(r, 0)|isWide, isTail
			x += 2
		} else if x < len(p.lines[y]) {
			p.lines[y][x] = vt.MakeCell(r, 0)
			x++
		}
	}
}

// golden compares with a file of testdata, or writes it when GOLDEN is set.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

func TestCellBitsAreThoseOfTheEngine(t *testing.T) {
	if !isWide.Wide() || !isTail.Tail() || isWide.Tail() || isTail.Wide() {
		t.Error("widths differ from vt's")
	}
	if n, ok := (isCluster | 77).ClusterID(); !ok || n != 77 {
		t.Error("clusters differ from vt's")
	}
	if c := vt.Cell(5)<<styleShift | 'x'; c != vt.MakeCell('x', 5) {
		t.Error("styles differ from vt's")
	}
}

func TestASteadyWindowAllocatesNothing(t *testing.T) {
	one, two := densePane(0), densePane(1)
	s := New(200, 60, fullCaps())
	var caches [2]StyleMap
	var out []byte
	i := 0
	frame := func() {
		s.Blit(0, 0, 200, 60, []*pane{one, two}[i&1], &caches[i&1])
		s.DrawANSI(0, 0, 200, "\x1b[1m─ 1 zsh\x1b[m ✓")
		s.SetText(0, 59, 200, "1 app ✗ 漢 fd 23 ▁▁▂▁ /1024", vt.Style{})
		out = s.Diff(out[:0])
		i++
	}
	for range 4 {
		frame()
	}
	if n := testing.AllocsPerRun(20, frame); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}
