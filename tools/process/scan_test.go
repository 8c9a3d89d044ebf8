package process

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestScannerSeesTheSameHoweverTheOutputIsCut compares every split with the
// whole at once.
func TestScannerSeesTheSameHoweverTheOutputIsCut(t *testing.T) {
	ms, err := matchers([]Pattern{{Text: "ready"}, {Text: `^go \d+$`, Regexp: true}})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"ready\n", "go 12\n", "go x\n", "Error: a", "\r\n", "no errors\n", strings.Repeat("z", 5000), "fatal\n", "ready ready"}), 1, 30).Draw(t, "words")
		text := []byte(strings.Join(words, ""))
		run := func(cut func(left int) int) (hits int64, last string) {
			s := &scanner{matchers: ms}
			see := func(g sight) {
				hits += g.hits
				if g.errorLine != "" {
					last = g.errorLine
				}
			}
			for rest := text; len(rest) > 0; {
				n := cut(len(rest))
				see(s.add(rest[:n]))
				rest = rest[n:]
			}
			see(s.end())
			return hits, last
		}
		// A line above the limit is looked at whole only when it comes at once.
		for line := range strings.Lines(string(text)) {
			if len(line) > scanLine {
				return
			}
		}
		hits, last := run(func(left int) int { return left })
		gotHits, gotLast := run(func(left int) int { return rapid.IntRange(1, min(left, 700)).Draw(t, "cut") })
		if hits != gotHits || last != gotLast {
			t.Fatalf("%q: %d, %q in pieces and %d, %q at once", text, gotHits, gotLast, hits, last)
		}
	})
}

func TestErrorLinesAreToldFromTheirDenials(t *testing.T) {
	for text, want := range map[string]string{
		"error: x\n":                         "error: x",
		"a\nPANIC: b\nc\n":                   "PANIC: b",
		"0 errors, 0 failed\n":               "",
		"no error\n":                         "",
		"10 errors\n":                        "10 errors",
		"Traceback (most recent call):\nk\n": "Traceback (most recent call):",
		"error one\n0 errors\n":              "error one",
		"failed one\nerror two\n":            "error two",
		"all fine\n":                         "",
		"sh: 1: nope: not found\n":           "sh: 1: nope: not found",
		"x: No such file or directory\n":     "x: No such file or directory",
	} {
		if got := (&scanner{}).add([]byte(text)).errorLine; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	long := (&scanner{}).add([]byte("error " + strings.Repeat("é", 5000) + "\n")).errorLine
	if !utf8.ValidString(long) || len(long) > errorLineBytes+clipWords || !strings.Contains(long, "more") {
		t.Errorf("%d bytes: %q", len(long), long)
	}
}

func TestNoticesAreFewBoundedAndWhatIsLeftOutIsCounted(t *testing.T) {
	ms, err := matchers([]Pattern{{Text: "hit"}})
	if err != nil {
		t.Fatal(err)
	}
	s := &scanner{matchers: ms}
	w := watchkeeper{Watch: Watch{Patterns: []string{"hit"}, Limit: 3, Every: 15 * time.Second}}
	at := func(sec int) time.Time { return time.Unix(int64(sec), 0) }
	see := func(text string, sec int) *Notice { return w.saw(testID, s.add([]byte(text)), at(sec)) }

	if n := see("miss\n", 0); n != nil || w.Hits != 0 {
		t.Errorf("%+v", n)
	}
	if n := see("a hit\nmiss\nhit b\r\n", 1); n == nil || n.Lines != "a hit\nhit b" || n.Suppressed != 0 || n.Pattern != "hit" || n.Last {
		t.Errorf("%+v", n)
	}
	for sec := 2; sec < 16; sec++ {
		if n := see("hit\n", sec); n != nil {
			t.Errorf("%ds after the last: %+v", sec-1, n)
		}
	}
	if n := see("hit\n", 16); n == nil || n.Suppressed != 14 {
		t.Errorf("%+v", n)
	}
	n := see(strings.Repeat("hit "+strings.Repeat("€", 300)+"\n", 50), 40)
	if n == nil || !n.Last || len(n.Lines) > noticeBytes || !utf8.ValidString(n.Lines) || n.LeftOut != 50-int64(1+strings.Count(n.Lines, "\n")) {
		t.Errorf("%+v", n)
	}
	if n := see("hit\n", 100); n != nil || !strings.HasPrefix(w.State(), "silent") {
		t.Errorf("%+v, %s", n, w.State())
	}
	if told := w.Hits - w.Suppressed; w.Hits != 2+14+1+50+1 || told != 2+1+1+int64(strings.Count(n.Lines, "\n")) {
		t.Errorf("%+v", w.Watch)
	}
}

func TestPatternsThatCannotWorkAreRefused(t *testing.T) {
	many := slices.Repeat([]Pattern{{Text: "x"}}, maxPatterns+1)
	for name, ps := range map[string][]Pattern{"empty": {{}}, "no regexp": {ParsePattern("re:(")}, "many": many} {
		if _, err := matchers(ps); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if p := ParsePattern("re:a+"); !p.Regexp || p.String() != "re:a+" {
		t.Errorf("%+v", p)
	}
}

func TestLongLinesAreLookedAtInTheirBeginningAndCounted(t *testing.T) {
	ms, err := matchers([]Pattern{{Text: "early"}, {Text: "late"}})
	if err != nil {
		t.Fatal(err)
	}
	s := &scanner{matchers: ms}
	s.add([]byte("early "))
	for range 10 {
		s.add([]byte(strings.Repeat("z", 5000)))
	}
	g := s.add([]byte("late\nnext late\n"))
	if g.hits != 2 || g.cut != 1 || string(g.lines[1]) != "next late" {
		t.Errorf("%d hits, %d cut", g.hits, g.cut)
	}
}

func TestPlainTextLosesWhatSteersATerminal(t *testing.T) {
	for in, want := range map[string]string{
		"no escape":                       "no escape",
		"\x1b[1;31mred\x1b[0m":            "red",
		"\x1b]0;title\aafter":             "after",
		"\x1b]8;;http://x\x1b\\link":      "link",
		"\x1bPdcs\x1b\\x":                 "x",
		"\x1b(Bx\x1b=y\x1b7z":             "xyz",
		"cut\x1b[12;":                     "cut",
		"cut\x1b":                         "cut",
		"\x1b[1\nbroken":                  "\nbroken",
		"\x1b\x1b[mx":                     "x",
		"\x1b]never ended\x1b[31mvisible": "visible",
	} {
		got, n := plain(in)
		if got != want || n != len(in)-len(want) {
			t.Errorf("%q: %q (%d), want %q", in, got, n, want)
		}
	}
}

func FuzzPlain(f *testing.F) {
	f.Add("\x1b[31mred\x1b]0;t\a")
	f.Fuzz(func(t *testing.T, s string) {
		got, n := plain(s)
		if n != len(s)-len(got) || strings.IndexByte(got, esc) >= 0 {
			t.Errorf("%q: %q", s, got)
		}
	})
}
