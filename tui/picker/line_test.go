package picker

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/vt"
)

// shown gives a line with its cursor as a bar.
func shown(l *Line) string { return l.text[:l.at] + "|" + l.text[l.at:] }

func TestEveryKeyOfALineEditsAsItSays(t *testing.T) {
	const family = "👨\u200d👩\u200d👧"
	for _, c := range []struct{ text, keys, want string }{
		{"", "a", "a|"},
		{"ab", "left c", "ac|b"},
		{"ab", "left left left c", "c|ab"},
		{"ab", "home right c", "ac|b"},
		{"ab", "home end c", "abc|"},
		{"ab", "right", "ab|"},
		{"ab", "ctrl+a c", "c|ab"},
		{"ab", "ctrl+a ctrl+e c", "abc|"},
		{"ab", "backspace", "a|"},
		{"ab", "ctrl+h", "a|"},
		{"ab", "shift+backspace", "a|"},
		{"", "backspace", "|"},
		{"ab", "home delete", "|b"},
		{"ab", "home ctrl+d", "|b"},
		{"ab", "home kpdelete", "|b"},
		{"ab", "delete", "ab|"},
		{"one two", "ctrl+w", "one |"},
		{"one two  ", "ctrl+w", "one |"},
		{"one two", "alt+backspace", "one |"},
		{"one two", "ctrl+backspace", "one |"},
		{"one two", "left left ctrl+w", "one |wo"},
		{"one two", "ctrl+left", "one |two"},
		{"one two", "alt+b alt+b", "|one two"},
		{"one two", "alt+left", "one |two"},
		{"one two", "home ctrl+right", "one| two"},
		{"one two", "home alt+f alt+f", "one two|"},
		{"one two", "home alt+right", "one| two"},
		{"one two", "ctrl+left ctrl+u", "|two"},
		{"one two", "ctrl+left ctrl+k", "one |"},
		{"a" + family, "backspace", "a|"},
		{"a" + family, "left", "a|" + family},
		{"ae\u0301", "backspace", "a|"},
		{"漢字", "left kpleft", "|漢字"},
		{"漢字", "kphome kpright", "漢|字"},
		{"漢字", "kphome kpend", "漢字|"},
	} {
		var l Line
		l.Set(c.text)
		for _, key := range strings.Fields(c.keys) {
			text := ""
			if len(key) == 1 {
				text = key
			}
			if !l.Key(key, text) {
				t.Errorf("%q: %s is not handled", c.text, key)
			}
		}
		if got := shown(&l); got != c.want {
			t.Errorf("%q, %s: %q, want %q", c.text, c.keys, got, c.want)
		}
	}
}

func TestWhatTypesNothingIsNotHandled(t *testing.T) {
	var l Line
	for _, key := range [][2]string{
		{"f1", ""},
		{"alt+x", "x"},
		{"ctrl+x", "\x18"},
		{"enter", "\r"},
		{"tab", "\t"},
		{"up", ""},
		{"super+a", "a"},
		{"", "\x1b"},
	} {
		if l.Key(key[0], key[1]) || l.Text() != "" {
			t.Errorf("%s was taken; the line is %q", key[0], l.Text())
		}
	}
	if !l.Key("space", " ") || !l.Key("shift+ß", "ẞ") || l.Text() != " ẞ" {
		t.Errorf("the line is %q", l.Text())
	}
}

func TestAPasteBecomesOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"a\r\nb\tc":         "a b c",
		"a\x1b[31m\x00b":    "a[31mb",
		"a\u202eb\u2066c":   "abc",
		"a\xffb":            "a\ufffdb",
		"a\u2028\u2029\nb":  "a b",
		"👨\u200d👩":          "👨\u200d👩",
		"line\n\n\nanother": "line another",
	} {
		var l Line
		l.Insert(in)
		if l.Text() != want {
			t.Errorf("%q became %q, want %q", in, l.Text(), want)
		}
	}
}

func TestAPasteBeyondTheLimitIsCutAndTold(t *testing.T) {
	var l Line
	l.Insert(strings.Repeat("漢", maxLine))
	if len(l.Text()) > maxLine || !utf8.ValidString(l.Text()) || !l.Cut() {
		t.Errorf("%d bytes, cut %v", len(l.Text()), l.Cut())
	}
	l.Key("backspace", "")
	if l.Cut() {
		t.Error("the word stays after the next key")
	}
}

func TestALineScrollsToItsCursor(t *testing.T) {
	s := screen.New(10, 1, screen.Caps{UTF8: true})
	var l Line
	l.Set("0123456789abcdef")
	for _, c := range []struct {
		key, want string
		cursor    int
	}{
		{"", "…89abcdef", 9},
		{"home", "012345678…", 0},
		{"end", "…89abcdef", 9},
		{"left", "…89abcdef", 8},
		{"ctrl+u", "f", 0},
	} {
		l.Key(c.key, "")
		s.Fill(0, 0, 10, 1, vt.Style{})
		at := l.Draw(s, 0, 0, 10, vt.Style{}, "…")
		if got := strings.TrimSuffix(s.Text(), "\n"); got != c.want || at != c.cursor {
			t.Errorf("%s: %q with the cursor at %d, want %q at %d", c.key, got, at, c.want, c.cursor)
		}
	}
}

func TestAnyEditLeavesALineWholeAndItsCursorSeen(t *testing.T) {
	keys := []string{"ctrl+a", "ctrl+e", "ctrl+b"}
	for key := range lineKeys {
		keys = append(keys, key)
	}
	s := screen.New(40, 1, screen.Caps{UTF8: true})
	rapid.Check(t, func(t *rapid.T) {
		var l Line
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "type") {
				l.Insert(rapid.OneOf(rapid.String(), rapid.StringMatching("[a ]{0,9}"), rapid.SampledFrom([]string{"a", "漢", "\u0301", "\u200d", "🇩", "👩", " ", "\u202e"})).Draw(t, "text"))
			} else {
				l.Key(rapid.SampledFrom(keys).Draw(t, "key"), "")
			}
			if !utf8.ValidString(l.text) || screen.Visible(l.text) != l.text {
				t.Fatalf("the text is %q", l.text)
			}
			at := 0
			for at < l.at {
				at = l.next(at)
			}
			if at != l.at || l.prev(l.at) > l.at {
				t.Fatalf("the cursor %d is inside a character of %q", l.at, l.text)
			}
			w := rapid.IntRange(1, 30).Draw(t, "width")
			s.Fill(0, 0, 40, 1, vt.Style{})
			x := l.Draw(s, 2, 0, w, vt.Style{}, "…")
			if x < 2 || x >= 2+w {
				t.Fatalf("the cursor is in column %d of %d", x-2, w)
			}
			line := strings.TrimSuffix(s.Text(), "\n")
			if n := screen.Width(line); n > 2+w {
				t.Fatalf("%d columns in %d: %q", n-2, w, line)
			}
			if w >= 3 && strings.Trim(l.text, "a ") == "" && l.at < len(l.text) && l.text[l.at] == 'a' && line[column(line, x)] != 'a' {
				t.Fatalf("the cursor is in column %d of %q", x-2, line[2:])
			}
		}
	})
}
