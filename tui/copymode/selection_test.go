package copymode

import (
	"strings"
	"testing"
)

func TestCopyTakesWhatIsSelected(t *testing.T) {
	const text = "one two   \nalpha beta gamma delta\n\nlast"
	const wide = "a日本b\nxyzuvw\ne\u0301te\u0301"
	for _, c := range []struct {
		name, text, keys, want string
		lines                  int
	}{
		{"characters, both ends included", text, "g v 2 l y", "one", 1},
		{"backward", text, "g 4 l v 4 h y", "one t", 1},
		{"enter copies too", text, "g v 2 l enter", "one", 1},
		{"space selects as in tmux", text, "g space l enter", "on", 1},
		{"to the end of the line without its blanks", text, "g w v $ y", "two", 1},
		{"blanks inside stay", text, "g v 3 l y", "one ", 1},
		{"over lines", text, "g w v j y", "two\nalpha", 2},
		{"a soft wrap is no newline", text, "g j v $ y", "alpha beta gamma delta", 1},
		{"over an empty line", text, "G v 3 k y", " gamma delta\n\nl", 3},
		{"lines", text, "g V y", "one two", 1},
		{"lines take the whole logical line", text, "g 2 j V y", "alpha beta gamma delta", 1},
		{"lines, several", text, "g V 2 j y", "one two\nalpha beta gamma delta", 2},
		{"Y without a selection", text, "g j Y", "alpha beta gamma delta", 1},
		{"Y with a count", text, "g 3 Y", "one two\nalpha beta gamma delta\n", 3},
		{"a rectangle", text, "g l ctrl+v 2 l 2 j y", "ne\nlph\ngam", 3},
		{"a rectangle from its other corners", text, "g 3 l ctrl+v 2 h 2 j o y", "ne\nlph\ngam", 3},
		{"a rectangle over short lines", text, "G ctrl+v 6 l 2 k y", "ta\n\nlast", 3},
		{"v then V", text, "g w v V y", "one two", 1},
		{"o moves the other end", text, "g w v 2 l o 4 h y", "one two", 1},
		{"a wide character is whole", wide, "g l v y", "日", 1},
		{"wide characters", wide, "g v 3 l y", "a日本b", 1},
		{"a rectangle splits none on its right", wide, "g j l ctrl+v k y", "日\nyz", 2},
		{"combining characters stay together", wide, "G v $ y", "e\u0301te\u0301", 1},
		{"blank rows below the text", text, "g v G 9 j y", "one two\nalpha beta gamma delta\n\nlast\n\n", 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, 10, 8, 100, c.text)
			res := r.keys(c.keys)
			if !res.Copied || !res.Leave || res.Text != c.want || res.Lines != c.lines {
				t.Errorf("copied %v, left %v, %d lines %q; want %d lines %q", res.Copied, res.Leave, res.Lines, res.Text, c.lines, c.want)
			}
		})
	}
}

func TestARangeThatBeginsOnARightHalfTakesTheWholeCharacter(t *testing.T) {
	r := newRig(t, 10, 2, 10, "日x")
	if got := string(appendRange(nil, Of(r.t), 0, 1, 0, 1)); got != "日" {
		t.Errorf("range %q", got)
	}
}

func TestCopyWithoutASelectionSaysWhatToDo(t *testing.T) {
	r := newRig(t, 40, 4, 10, "text")
	if res := r.keys("y"); res.Copied || res.Leave {
		t.Errorf("result %+v", res)
	}
	if s := r.m.Status().Notice; !strings.Contains(s, "v selects") {
		t.Errorf("notice %q", s)
	}
	r.keys("o l")
	if s := r.m.Status().Notice; s != "" {
		t.Errorf("the notice %q outlives a key", s)
	}
}

func TestEscDropsTheSelectionFirstAndQLeavesAtOnce(t *testing.T) {
	r := newRig(t, 20, 4, 10, "text")
	if res := r.keys("v esc"); res.Leave || r.m.Selection() != NoSelection {
		t.Error("the first esc leaves or keeps the selection")
	}
	if !r.keys("esc").Leave {
		t.Error("the second esc does not leave")
	}
	if res := r.keys("v v"); res.Leave || r.m.Selection() != NoSelection {
		t.Error("v again does not end the selection")
	}
	if !r.keys("v q").Leave || !r.keys("ctrl+c").Leave {
		t.Error("q and ctrl+c do not leave")
	}
	r.m.Key("z")
	if r.keys("esc").Leave {
		t.Error("esc after z leaves")
	}
}

func TestTheMouseSelects(t *testing.T) {
	const text = "see ~/src/main.go:12:5: bad\nhttps://ex.org/a_(b)?q=1#x, foo\nsay \"hi\" (x)\nwww==>\n日本 plain\n"
	for _, c := range []struct {
		name         string
		x, y, clicks int
		want         string
	}{
		{"a path with its line", 8, 0, 2, "~/src/main.go:12:5"},
		{"the end of a path", 21, 0, 2, "~/src/main.go:12:5"},
		{"a word", 1, 0, 2, "see"},
		{"the colon behind a path", 22, 0, 2, ":"},
		{"a blank", 3, 0, 2, ""},
		{"an address with a bracket it opened", 9, 1, 2, "https://ex.org/a_(b)?q=1#x"},
		{"the comma behind an address", 26, 1, 2, ","},
		{"a word in quotes", 5, 2, 2, "hi"},
		{"a word in brackets", 10, 2, 2, "x"},
		{"other characters", 4, 3, 2, "=="},
		{"wide characters", 2, 4, 2, "日本"},
		{"a right half", 1, 4, 2, "日本"},
		{"a logical line", 4, 4, 3, "日本 plain"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, 40, 8, 10, text)
			r.m.Press(c.x, c.y, c.clicks, false)
			res := r.m.Release(c.x, c.y)
			if got := strings.TrimRight(res.Text, " "); got != c.want || !res.Copied || res.Leave {
				t.Errorf("copied %q (%+v), want %q", got, res, c.want)
			}
			r.check()
		})
	}
}

func TestAnAddressEndsWhereItsSentenceOrBracketDoes(t *testing.T) {
	for _, c := range []struct{ text, at, want string }{
		{"(see http://x.y/z).", "x.y", "http://x.y/z"},
		{"[http://a.b/c]", "http", "http://a.b/c"},
		{"[x](http://a.b/[c])!", "a.b", "http://a.b/[c]"},
		{"is it ftp://a/b?", "ftp", "ftp://a/b"},
		{"a, git+ssh://h/p.git; b", "h/p", "git+ssh://h/p.git"},
		{"://nothing", "nothing", "://nothing"},
		{"x=file:///tmp/a b", "tmp", "file:///tmp/a"},
		{"│http://a.b│", "a.b", "http://a.b"},
		{"key: value", "key", "key"},
		{"host:/srv/x", "srv", "host:/srv/x"},
		{"12:30:45", "30", "12:30:45"},
		{"the end.", "end", "end"},
		{"cd ../x", "x", "../x"},
		{"--flag=value", "flag", "--flag"},
		{"user@host.org, you", "host", "user@host.org"},
	} {
		from, to := tokenAt([]byte(c.text), strings.Index(c.text, c.at))
		if got := c.text[from:to]; got != c.want {
			t.Errorf("%q at %q: %q, want %q", c.text, c.at, got, c.want)
		}
	}
}

func TestADoubleClickTakesATokenOverASoftWrap(t *testing.T) {
	r := newRig(t, 10, 6, 10, "go to https://example.org/x now")
	r.m.Press(2, 1, 2, false)
	if res := r.m.Release(2, 1); res.Text != "https://example.org/x" || res.Lines != 1 {
		t.Errorf("copied %q", res.Text)
	}
	r.m.Press(2, 1, 3, false)
	if res := r.m.Release(2, 1); res.Text != "go to https://example.org/x now" || res.Lines != 1 {
		t.Errorf("copied %q", res.Text)
	}
}

func TestDraggingExtendsByTheUnitThatWasClicked(t *testing.T) {
	const text = "one two three\nfour five six\nseven"
	for _, c := range []struct {
		name                   string
		x, y, x2, y2, clicks   int
		block, backward, moved bool
		want                   string
	}{
		{name: "cells", x: 4, y: 0, x2: 3, y2: 1, clicks: 1, want: "two three\nfour"},
		{name: "cells backward", x: 3, y: 1, x2: 4, y2: 0, clicks: 1, want: "two three\nfour"},
		{name: "words", x: 5, y: 0, x2: 6, y2: 1, clicks: 2, want: "two three\nfour five"},
		{name: "words backward", x: 6, y: 1, x2: 5, y2: 0, clicks: 2, want: "two three\nfour five"},
		{name: "lines", x: 5, y: 0, x2: 0, y2: 1, clicks: 3, want: "one two three\nfour five six"},
		{name: "lines backward", x: 0, y: 1, x2: 5, y2: 0, clicks: 3, want: "one two three\nfour five six"},
		{name: "a rectangle", x: 6, y: 1, x2: 4, y2: 0, clicks: 1, block: true, want: "two\n fi"},
		{name: "past the text", x: 4, y: 0, x2: 30, y2: 0, clicks: 1, want: "two three"},
		{name: "below the text", x: 0, y: 2, x2: 30, y2: 4, clicks: 1, want: "seven\n\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, 40, 5, 10, text)
			r.m.Press(c.x, c.y, c.clicks, c.block)
			r.m.Drag(c.x2, c.y2)
			if res := r.m.Release(c.x2, c.y2); res.Text != c.want {
				t.Errorf("copied %q, want %q", res.Text, c.want)
			}
			r.check()
		})
	}
}

func TestAClickMovesTheCursorAndSelectsNothing(t *testing.T) {
	r := newRig(t, 40, 5, 10, "one two three\nfour")
	r.keys("v")
	r.m.Press(2, 1, 1, false)
	if res := r.m.Release(2, 1); res.Copied || r.m.Selection() != NoSelection {
		t.Errorf("result %+v", res)
	}
	r.wantAt("1,2")
	if res := r.m.Drag(9, 9); res.Autoscroll || r.m.Selection() != NoSelection {
		t.Error("a move without a button selects")
	}
}

func TestADragOutsideTheViewportScrollsAtEachTick(t *testing.T) {
	r := newRig(t, 20, 5, 1000, numbered(1, 100))
	r.m.Press(0, 2, 1, false)
	if res := r.m.Drag(3, -2); !res.Autoscroll {
		t.Error("no scrolling is asked for")
	}
	top := r.m.topLine()
	if res := r.m.Tick(); !res.Autoscroll || r.m.topLine() != top-2 {
		t.Errorf("a tick two lines above scrolls from %d to %d", top, r.m.topLine())
	}
	for r.m.Tick().Autoscroll {
	}
	r.wantAt("0,0")
	if res := r.m.Release(0, -2); !strings.HasPrefix(res.Text, "line 1\nline 2\n") || res.Lines != 99 {
		t.Errorf("copied %d lines", res.Lines)
	}
	r.m.Press(0, 2, 1, false)
	r.m.Drag(3, 9)
	for r.m.Tick().Autoscroll {
		r.check()
	}
	if !r.m.Drag(3, 9).AtEnd {
		t.Error("the end was not reached")
	}
	r.m.Drag(3, 2)
	if top := r.m.topLine(); r.m.Tick().Autoscroll || r.m.topLine() != top {
		t.Error("a tick inside the viewport scrolls")
	}
	r.m.Release(3, 2)
	if r.m.Tick().Autoscroll {
		t.Error("a tick after the release scrolls")
	}
}

func TestTheWheelScrollsAndKeepsASelection(t *testing.T) {
	r := newRig(t, 20, 5, 1000, numbered(1, 100))
	if res := r.m.Wheel(-3); res.AtEnd {
		t.Error("scrolling up stays at the end")
	}
	if v := r.m.View(5); v.Lines[0].Row != 93 || !v.CursorIn {
		t.Errorf("the viewport begins with row %d", v.Lines[0].Row)
	}
	r.keys("v 2 j")
	was := r.m.cursor
	r.m.Wheel(-50)
	if v := r.m.View(5); v.CursorIn || r.m.cursor != was {
		t.Error("the wheel moved the end of a selection")
	}
	if res := r.m.Wheel(200); !res.AtEnd {
		t.Error("the end is not told")
	}
	r.m.Wheel(-20)
	r.keys("l")
	if !r.m.View(5).CursorIn {
		t.Error("a key leaves the cursor out of sight")
	}
}
