package copymode

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestSearchGoesToTheNextMatchAndAround(t *testing.T) {
	const text = "foo bar\nFoo x\nbar foo foo\nlast"
	for _, c := range []struct{ name, keys, pattern, then, want, matches string }{
		{"down", "g /", "foo", "enter", "1,0", "2 of 4 matches"},
		{"down from a match goes on", "g /", "foo", "enter n", "2,4", "3 of 4 matches"},
		{"n with a count", "g /", "foo", "enter 2 n", "2,8", "4 of 4 matches"},
		{"N", "g /", "foo", "enter N", "0,0", "1 of 4 matches"},
		{"around the end", "g /", "foo", "enter 3 n", "0,0", "1 of 4 matches"},
		{"N around the start", "g /", "foo", "enter 2 N", "2,8", "4 of 4 matches"},
		{"up", "G ?", "foo", "enter", "2,8", "4 of 4 matches"},
		{"n goes up after ?", "G ?", "foo", "enter n", "2,4", "3 of 4 matches"},
		{"N goes down after ?", "G ?", "foo", "enter n N", "2,8", "4 of 4 matches"},
		{"an upper-case letter makes case matter", "g /", "Foo", "enter n", "1,0", "1 of 1 match"},
		{"an escape is no upper-case letter", "g /", `foo\S*`, "enter", "1,0", "2 of 4 matches"},
		{"a regular expression", "g /", `^b\w+|t$`, "enter", "2,0", "1 of 2 matches"},
		{"an empty pattern repeats the last", "g /", "bar", "enter / enter", "2,0", "2 of 2 matches"},
		{"and may turn around", "g /", "foo", "enter n ? enter", "1,0", "2 of 4 matches"},
		{"backspace edits", "g /", "foox", "backspace enter", "1,0", "2 of 4 matches"},
		{"ctrl+w takes a word", "g /", "bar foo", "ctrl+w enter", "2,0", "1 of 1 match"},
		{"ctrl+u takes all", "g /", "bar", "ctrl+u f o o enter", "1,0", "2 of 4 matches"},
		{"up recalls", "g /", "bar", "enter / f up up enter", "2,0", "2 of 2 matches"},
		{"down comes back", "g /", "bar", "enter / up down l a s t enter", "3,0", "1 of 1 match"},
		{"star", "g", "", "*", "1,0", "2 of 4 matches"},
		{"star with a count", "g", "", "2 *", "2,4", "3 of 4 matches"},
		{"hash", "g", "", "#", "2,8", "4 of 4 matches"},
		{"star in the middle of a word", "g 5 l", "", "*", "2,0", "2 of 2 matches"},
		{"star on a blank takes the next word", "g 3 l", "", "*", "2,0", "2 of 2 matches"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, 20, 6, 100, text)
			r.keys(c.keys)
			r.typed(c.pattern)
			r.keys(c.then)
			r.finish()
			r.wantAt(c.want)
			if got := r.m.Status().Matches; got != c.matches {
				t.Errorf("matches %q, want %q", got, c.matches)
			}
			r.check()
		})
	}
}

func TestSearchFindsAMatchOverASoftWrap(t *testing.T) {
	r := newRig(t, 8, 6, 100, "alpha beta gamma delta\n日本語日本語 tail")
	r.keys("g /")
	r.typed("beta gam")
	r.keys("enter")
	r.wantAt("0,6")
	r.wantDraw(`
|alpha be  <6
:      cc
|ta gamma
:cccccc
| delta
|日本語日
|本語 tai
|l
[copy  line 1 of 6  1 of 1 match  /beta gam]
`)
	r.keys("/")
	r.typed("日本語 t")
	r.keys("enter")
	r.wantAt("3,6")
	r.wantDraw(`
|alpha be
|ta gamma
| delta
|日本語日  <6
:      cc
|本語 tai
:cccccc
|l
[copy  line 4 of 6  1 of 1 match  /日本語 t]
`)
}

func TestSearchIsIncrementalAndEscPutsEverythingBack(t *testing.T) {
	r := newRig(t, 20, 4, 100, numbered(1, 50))
	r.keys("g 3 l")
	top := r.m.topLine()
	r.keys("/")
	r.typed("line 3")
	r.wantAt("2,0")
	r.typed("1")
	r.wantAt("30,0")
	r.keys("backspace")
	r.wantAt("2,0")
	r.typed("9 x")
	if r.at() != "0,3" {
		t.Errorf("without a match the cursor is at %s", r.at())
	}
	if s := r.m.Status(); s.Matches != "no match" || !s.Typing || s.Pattern != "/line 39 x" {
		t.Errorf("status %+v", s)
	}
	r.keys("backspace backspace enter")
	r.wantAt("38,0")
	r.keys("?")
	r.typed("line 1$")
	r.wantAt("0,0")
	r.keys("esc")
	r.wantAt("38,0")
	if s := r.m.Status(); s.Pattern != "/line 39" || s.Typing {
		t.Errorf("status %+v", s)
	}
	r.keys("g 3 l /")
	r.typed("line 40")
	r.keys("ctrl+u")
	if r.at() != "0,3" || r.m.topLine() != top {
		t.Error("an empty pattern leaves cursor or viewport away")
	}
	r.keys("backspace")
	if r.m.Typing() {
		t.Error("backspace on an empty pattern keeps the prompt")
	}
}

func TestAnInvalidPatternSaysWhyAndMovesNothing(t *testing.T) {
	for _, c := range []struct{ pattern, want string }{
		{"li(", "not a regular expression: missing closing )"},
		{"[z-a]", "not a regular expression: invalid character class range at z-a"},
		{"*", "not a regular expression: missing argument to repetition operator"},
		{`a\`, `not a regular expression: trailing backslash at end of expression`},
		{"x)", "not a regular expression: unexpected )"},
		{"a{2000}", "not a regular expression: invalid repeat count at {2000}"},
		{strings.Repeat("x", 1100), "not a regular expression: longer than 1024 bytes"},
	} {
		r := newRig(t, 20, 4, 100, numbered(1, 50))
		r.keys("g /")
		r.typed("line 2")
		at := r.at()
		r.keys("ctrl+u")
		r.keys("esc / l i n e space 2")
		r.m.edit([]rune(c.pattern))
		if r.at() != at {
			t.Errorf("%q moved the cursor to %s", c.pattern, r.at())
		}
		r.keys("enter")
		if s := r.m.Status(); s.Error != c.want || !s.Typing {
			t.Errorf("%.20q: error %q, want %q", c.pattern, s.Error, c.want)
		}
	}
	_, err := compile("(")
	if !errors.Is(err, ErrPattern) || errors.Unwrap(err) == nil || err.Error() != "read pattern: missing closing )" {
		t.Errorf("error %v", err)
	}
}

func TestKeysAreTextWhileAPatternIsTyped(t *testing.T) {
	r := newRig(t, 20, 4, 100, "a q b\nx")
	r.keys("/ q space b")
	r.m.Type("\x1b[\r\n\u0085x")
	if got := r.m.Status().Pattern; got != "/q b[x" {
		t.Errorf("pattern %q", got)
	}
	if r.m.Key("f5").Handled {
		t.Error("a key without text is handled")
	}
	r.keys("ctrl+c")
	r.m.Type("zzz")
	if r.m.Typing() || r.m.Status().Pattern != "" {
		t.Error("text is taken without a prompt")
	}
	r.keys("n")
	if s := r.m.Status().Notice; !strings.HasPrefix(s, "no pattern yet") {
		t.Errorf("notice %q", s)
	}
}

func TestASearchThatTurnsAroundSaysSo(t *testing.T) {
	r := newRig(t, 20, 4, 100, "foo\nbar\nfoo")
	r.keys("g /")
	r.typed("foo")
	r.keys("enter n")
	if s := r.m.Status().Notice; s != "the search went on from the beginning" {
		t.Errorf("notice %q", s)
	}
	r.keys("N")
	if s := r.m.Status().Notice; s != "the search went on from the end" {
		t.Errorf("notice %q", s)
	}
	r.keys("/ x enter")
	if s := r.m.Status(); s.Notice != "no match for /x/" || !s.Warning {
		t.Errorf("status %+v", s)
	}
}

// TestALongSearchGoesOnInSlices looks for the only match far away.
func TestALongSearchGoesOnInSlices(t *testing.T) {
	r := newRig(t, 20, 4, 100_000, numbered(1, 30_000))
	r.keys("g /")
	r.m.Type("line 29999")
	if r.at() != "0,0" || !r.m.more() {
		t.Fatalf("one call searched everything: at %s", r.at())
	}
	if got := r.m.Status().Matches; got != "searching" {
		t.Errorf("matches %q", got)
	}
	steps := 0
	for more, moved := true, false; more; steps++ {
		if more, moved = r.m.Step(1000); moved {
			r.wantAt("29998,0")
		}
	}
	if steps < 26 || steps > 70 {
		t.Errorf("%d steps of 1000 rows", steps)
	}
	r.keys("enter")
	if got := r.m.Status().Matches; got != "1 of 1 match" {
		t.Errorf("matches %q", got)
	}
	// A key that moves gives the search up.
	r.keys("g /")
	r.m.edit([]rune("line 29998"))
	r.keys("enter j")
	r.finish()
	r.wantAt("1,0")
}

func TestTheCountIsCappedAndSaysSo(t *testing.T) {
	r := newRig(t, 100, 4, 1000, strings.Repeat(strings.Repeat("x", 99)+"\n", 300))
	r.keys("g /")
	r.typed("x")
	r.keys("enter")
	r.finish()
	if got := r.m.Status().Matches; got != "2 of 10,000+ matches" {
		t.Errorf("matches %q", got)
	}
	if n := len(r.m.search.found); n != maxFound {
		t.Errorf("%d matches are kept", n)
	}
	r.keys("G $ N")
	r.wantAt("299,97")
	if got := r.m.Status().Matches; got != "10,000+ matches" {
		t.Errorf("matches %q", got)
	}
	r.keys("n")
	r.wantAt("299,98")
	r.keys("n")
	r.wantAt("0,0")
}

func TestMatchesFollowNewOutput(t *testing.T) {
	r := newRig(t, 20, 4, 1000, "foo 1\n")
	r.keys("g /")
	r.typed("foo")
	r.keys("enter")
	for i := range 50 {
		r.feed(fmt.Sprintf("foo %d\nbar\n", i+2))
		if i%7 == 0 {
			r.finish()
			want := fmt.Sprintf("1 of %d matches", i+2)
			if i == 0 {
				want = "1 of 2 matches"
			}
			if got := r.m.Status().Matches; got != want {
				t.Fatalf("matches %q, want %q", got, want)
			}
		}
	}
	r.wantAt("0,0")
}

func TestALineLongerThanAPieceIsSearchedToItsEnd(t *testing.T) {
	long := strings.Repeat("abcdefghi ", 1000) + "needle" + strings.Repeat(" tail", 100)
	r := newRig(t, 10, 4, 5000, "first\n"+long+"\nlast needle\n")
	for _, keys := range []string{"g /", "G ?"} {
		r.keys(keys)
		r.typed("needle")
		r.keys("enter")
		r.finish()
		if keys == "G ?" {
			r.keys("n")
			r.finish()
		}
		if got := r.at(); got != "1001,0" {
			t.Errorf("after %q found at %s", keys, got)
		}
	}
	r.keys("g /")
	r.typed("^abc")
	r.keys("enter")
	r.finish()
	if got := r.m.Status().Matches; got != "1 of 1 match" {
		t.Errorf("the start of a line is found inside of it: %s", got)
	}
	r.check()
}
