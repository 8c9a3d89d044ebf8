package script

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestCleanTakesOutMarksAndKeepsWords(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"Guten Tag.", "Guten Tag."},
		{"# Heading\nText follows.", "Heading. Text follows."},
		{"**bold** and *soft* and `code` and ~~old~~", "bold and soft and code and old"},
		{"snake_case_name and 2 * 3 * 4 stay", "snake_case_name and 2 * 3 * 4 stay"},
		{"- one\n- two\n* three\n1. four", "one two three 1. four"},
		{"> quoted\n> lines", "quoted lines"},
		{"See [the page](https://example.org/a_(b)) now", "See the page now"},
		{"![a cat](cat.png)", "a cat"},
		{"<https://example.org>", "https://example.org"},
		{"```go\nfmt.Println(1)\n```\nDone.", "fmt.Println(1) Done."},
		{"| a | b |\n|---|---|\n| 1 | 2 |", "a, b 1, 2"},
		{"<think>The user wants\nthings.</think>Hello.", "Hello."},
		{"<b>Hi</b> there", "Hi there"},
		{"3 < 4 and 5 > 2", "3 < 4 and 5 > 2"},
		{"Great 🎉 👩‍👩‍👧 day", "Great day"},
		{"a\u202Eb\x07c\u2028d", "a b c d"},
		{"\x1b[1;31mred\x1b[0m \x1b]8;;http://x.y\x07link\x1b]8;;\x1b\\ \x1b(Bend \x1b]0;never ended", "red link end 0;never ended"},
		{"tabs\t\tand   spaces\r\n\r\nhere", "tabs and spaces here"},
		{"___\ntext\n---\n***", "text"},
		{"<!-- secret -->shown", "shown"},
		{"L'été, c’est déjà fini ? Oui !", "L'été, c’est déjà fini ? Oui !"},
	} {
		if got, _ := Clean(c.in); got != c.want {
			t.Errorf("Clean(%q)\ngot  %q\nwant %q", c.in, got, c.want)
		}
	}
}

func TestWhatIsLeftOutIsCounted(t *testing.T) {
	_, removed := Clean("<think>abc</think> Go to [page](https://x.y) 🎉🎉 and 🎉\x00")
	want := []Removal{{"thinking", 1, 18}, {"link target", 1, 11}, {"emoji", 2, 3}, {"control characters", 1, 1}}
	if len(removed) != len(want) {
		t.Fatalf("removed = %+v", removed)
	}
	for i, r := range removed {
		if r != want[i] {
			t.Errorf("removed[%d] = %+v, want %+v", i, r, want[i])
		}
	}
	if _, removed := Clean("nothing to see here"); removed != nil {
		t.Errorf("removed = %+v of a plain text", removed)
	}
}

func TestChunksEndAtSentences(t *testing.T) {
	text := "First one. Second one! Is it \"the third?\" A fourth; with a clause, and more."
	for _, c := range []struct {
		limit int
		want  []string
	}{
		{0, []string{text}},
		{1000, []string{text}},
		{24, []string{"First one. Second one!", "Is it \"the third?\"", "A fourth; with a clause,", "and more."}},
		{10, []string{"First one.", "Second", "one!", "Is it \"the", "third?\"", "A fourth;", "with a", "clause,", "and more."}},
	} {
		got := Chunks(text, c.limit)
		if strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("limit %d:\ngot  %q\nwant %q", c.limit, got, c.want)
		}
	}
	if got := Chunks("今日は晴れ。明日は雨。", 7); len(got) != 2 || got[0] != "今日は晴れ。" {
		t.Errorf("a script without spaces: %q", got)
	}
}

func TestChunksLoseNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab .!?,;éß漢。\u0301\"")), 0, 300, -1).Draw(t, "text")
		text, _ = Clean(text)
		limit := rapid.IntRange(1, 40).Draw(t, "limit")
		all := ""
		for _, c := range Chunks(text, limit) {
			if n := utf8.RuneCountInString(c); n > limit || c == "" {
				t.Fatalf("a piece of %d characters above %d: %q", n, limit, c)
			}
			all += c
		}
		squeeze := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if squeeze(all) != squeeze(text) {
			t.Fatalf("the pieces of %q are %q", text, all)
		}
	})
}

func TestCoverageCountsByWritingSystem(t *testing.T) {
	for _, c := range []struct {
		text, lang string
		want       Coverage
		known      bool
	}{
		{"Straße 5", "de_DE.UTF-8", Coverage{6, 6}, true},
		{"Hallo мир", "de", Coverage{8, 5}, true},
		{"日本語", "fr", Coverage{3, 0}, true},
		{"日本語です", "ja", Coverage{5, 5}, true},
		{"whatever", "tlh", Coverage{8, 0}, false},
	} {
		if got, known := CoverageIn(c.text, c.lang); got != c.want || known != c.known {
			t.Errorf("%q in %s: %+v, %v", c.text, c.lang, got, known)
		}
	}
	if s := (Coverage{40, 28}).Sentence("de"); s != "12 of 40 letters have no pronunciation in de" {
		t.Error(s)
	}
}

func TestLanguageIsGuessedOnlyWhenOneStandsOut(t *testing.T) {
	for text, want := range map[string]string{
		"Das ist der Bericht und wir sind nicht fertig":    "de",
		"The report is ready and you have not read it":     "en",
		"Le rapport est prêt et nous sommes dans la salle": "fr",
		"Qwertz asdf": "",
		"":            "",
		"die":         "",
	} {
		if got := Guess(text); got != want {
			t.Errorf("Guess(%q) = %q, want %q", text, got, want)
		}
	}
	for in, want := range map[string]string{"de_AT.UTF-8": "de-AT", "C.UTF-8": "", "POSIX": "", "fr": "fr"} {
		if got := Tag(in); got != want {
			t.Errorf("Tag(%q) = %q", in, got)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("# a **b** <think>c</think> 🎉 [d](e)")
	f.Fuzz(func(t *testing.T, text string) {
		got, removed := Clean(text)
		if strings.ContainsAny(got, "\n\r\t\x00\x1b\u2028") || !utf8.ValidString(got) {
			t.Errorf("%q is no line of text", got)
		}
		for _, r := range removed {
			if r.Count <= 0 || r.Chars <= 0 {
				t.Errorf("removed %+v", r)
			}
		}
	})
}
