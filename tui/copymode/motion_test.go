package copymode

import (
	"strings"
	"testing"
)

func TestKeysMoveTheCursorAsInVi(t *testing.T) {
	const words = "foo bar.baz(x)\n\n  end of it"
	const wide = "a日本b\n日本語"
	for _, c := range []struct{ name, text, keys, want string }{
		{"h", words, "g 3 l h", "0,2"},
		{"left stops at the start", words, "g left", "0,0"},
		{"l", words, "g 5 l", "0,5"},
		{"l stops at the end", words, "g 9 9 l", "0,13"},
		{"j", words, "g j", "1,0"},
		{"j with a count", words, "g 2 j", "2,0"},
		{"j keeps its column over a short line", words, "g 5 l j j", "2,5"},
		{"k", words, "G k", "1,0"},
		{"k stops at the top", words, "G 9 k", "0,2"},
		{"down and up", words, "g down down up", "1,0"},
		{"w", words, "g w", "0,4"},
		{"w stops at punctuation", words, "g w w", "0,7"},
		{"w with a count", words, "g 5 w", "0,12"},
		{"w stops at an empty line", words, "g 7 w", "1,0"},
		{"w goes over leading blanks", words, "g 8 w", "2,2"},
		{"w ends on the last character", words, "g 2 0 w", "2,10"},
		{"W", words, "g W", "0,4"},
		{"W goes over punctuation", words, "g 2 W", "1,0"},
		{"e", words, "g e", "0,2"},
		{"e twice", words, "g 2 e", "0,6"},
		{"e over an empty line", words, "g $ e", "2,4"},
		{"E", words, "g 2 E", "0,13"},
		{"b", words, "g 9 l b", "0,8"},
		{"b to the start", words, "g 9 9 b", "0,0"},
		{"b from the last line to the empty one", words, "G b", "1,0"},
		{"B", words, "g $ B", "0,4"},
		{"0 is the start", words, "g 5 l 0", "0,0"},
		{"0 after a digit is a count", words, "g 1 0 l", "0,10"},
		{"^", words, "G $ ^", "2,2"},
		{"$", words, "g $", "0,13"},
		{"$ with a count", words, "g 3 $", "2,10"},
		{"$ is kept by j", words, "g $ j j", "2,10"},
		{"home and end", words, "g end home", "0,0"},
		{"g", words, "g", "0,0"},
		{"g with a count", words, "3 g", "2,2"},
		{"G", words, "g G", "2,2"},
		{"G with a count", words, "2 G", "1,0"},
		{"}", words, "g }", "1,0"},
		{"} at the last paragraph", words, "g 2 }", "2,10"},
		{"{", words, "G {", "1,0"},
		{"{ at the first paragraph", words, "G 2 {", "0,0"},
		{"esc takes a count back", words, "g 3 esc l", "0,1"},
		{"l over a wide character", wide, "g 2 l", "0,3"},
		{"h over a wide character", wide, "g $ h", "0,3"},
		{"j never lands on a right half", wide, "g 2 l j", "1,2"},
		{"$ on a wide character", wide, "G $", "1,4"},
		{"ctrl+home and ctrl+end", words, "ctrl+home ctrl+end", "2,2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, 20, 5, 100, c.text)
			r.keys(c.keys)
			r.wantAt(c.want)
			r.check()
		})
	}
}

func TestMotionsFollowALogicalLineOverSoftWraps(t *testing.T) {
	// "alpha be|ta gamma| delta" at 8 columns.
	const text = "alpha beta gamma delta\nnext"
	for _, c := range []struct{ name, keys, want string }{
		{"l goes on in the next row", "g 8 l", "1,0"},
		{"h comes back", "g 9 l 2 h", "0,7"},
		{"w takes a word that is cut in two as one", "g w", "0,6"},
		{"w again", "g 2 w", "1,3"},
		{"e ends in the next row", "g 2 e", "1,1"},
		{"b begins in the row before", "g 9 l b", "0,6"},
		{"$ is the end of the logical line", "g $", "2,5"},
		{"0 is its start", "g 2 j 3 l 0", "0,0"},
		{"^ is its first character", "g 2 j ^", "0,0"},
		{"j moves by rows", "g j", "1,0"},
		{"l stops where the logical line ends", "g 9 9 l", "2,5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, 8, 6, 100, text)
			r.keys(c.keys)
			r.wantAt(c.want)
		})
	}
}

func TestPagingMovesCursorAndViewport(t *testing.T) {
	for _, c := range []struct{ keys, top, at string }{
		{"g", "line 1", "0,0"},
		{"g ctrl+d", "line 6", "5,0"},
		{"g ctrl+f", "line 10", "9,0"},
		{"g pgdown pgup", "line 1", "0,0"},
		{"g 2 pgdown", "line 19", "18,0"},
		{"g ctrl+d ctrl+u", "line 1", "0,0"},
		{"g ctrl+e", "line 2", "1,0"},
		{"g 3 ctrl+e 2 ctrl+y", "line 2", "3,0"},
		{"5 0 g H", "line 45", "44,0"},
		{"5 0 g 3 H", "line 45", "46,0"},
		{"5 0 g M", "line 45", "48,0"},
		{"5 0 g L", "line 45", "53,0"},
		{"5 0 g 2 L", "line 45", "52,0"},
		{"5 0 g zt", "line 50", "49,0"},
		{"5 0 g zb", "line 41", "49,0"},
		{"5 0 g zt zz", "line 45", "49,0"},
		{"G ctrl+d", "line 92", "100,0"},
		{"g ctrl+u", "line 1", "0,0"},
		{"g 4 j pgup", "line 1", "0,0"},
	} {
		t.Run(c.keys, func(t *testing.T) {
			r := newRig(t, 20, 10, 1000, numbered(1, 100))
			r.keys("g " + strings.Replace(c.keys, "5 0 g", "5 0 g zz", 1))
			v := r.m.View(10)
			if got := string(AppendRows(nil, Of(r.t), v.Lines[0].Row, v.Lines[0].Row+1)); got != c.top {
				t.Errorf("the viewport begins with %q, want %q", got, c.top)
			}
			r.wantAt(c.at)
		})
	}
}

func TestEveryBindingIsReachedByItsKeys(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range Bindings() {
		if b.Does == "" || b.run == nil {
			t.Errorf("binding %v does nothing", b.Keys)
		}
		for _, k := range b.Keys {
			if seen[k] {
				t.Errorf("key %q is bound twice", k)
			}
			seen[k] = true
			r := newRig(t, 10, 3, 50, "one two\n\nthree four")
			res := Result{}
			for _, part := range splitKey(k) {
				res = r.m.Key(part)
			}
			if !res.Handled {
				t.Errorf("key %q means nothing", k)
			}
			r.check()
		}
	}
	for _, k := range []string{"x", "f5", "ctrl+x", "alt+h"} {
		r := newRig(t, 10, 3, 50, "one")
		if r.m.Key(k).Handled {
			t.Errorf("key %q is handled and means nothing", k)
		}
	}
}

// splitKey takes zz apart.
func splitKey(k string) []string {
	if len(k) == 2 && k[0] == 'z' {
		return []string{"z", k[1:]}
	}
	return []string{k}
}
