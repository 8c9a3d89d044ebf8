package copymode

import (
	"strings"
	"testing"

	"github.com/honestty/honestty/vt"
)

func TestAFoldHidesTheOutputBehindAMarker(t *testing.T) {
	r := newRig(t, 30, 8, 100, shell([3]string{"seq 3", numbered(1, 3), ";0"}, [3]string{"seq 20", numbered(1, 20), ";0"})+markA+"$ "+markB)
	r.keys("g za")
	r.wantDraw(`
|$ seq 3  <0
|┄┄ 3 lines folded ┄┄
|$ seq 20
|line 1
|line 2
|line 3
|line 4
|line 5
[copy  line 1 of 26]
`)
	r.keys("zM j")
	r.wantDraw(`
|$ seq 3
|┄┄ 3 lines folded ┄┄  <0
|$ seq 20
|┄┄ 20 lines folded ┄┄
|$
|~
|~
|~
[copy  line 2 of 26]
`)
	r.check()
	r.keys("k V 2 j")
	r.wantDraw(`
|$ seq 3
:sssssss
|┄┄ 3 lines folded ┄┄
:ssssssssssssssssssssssssssssss
|$ seq 20  <0
:ssssssss
|┄┄ 20 lines folded ┄┄
|$
|~
|~
|~
[copy  line 5 of 26  5 lines selected]
`)
	if res := r.keys("y"); res.Text != "$ seq 3\nline 1\nline 2\nline 3\n$ seq 20" {
		t.Errorf("copied %q", res.Text)
	}
	r.keys("g v j")
	if res := r.keys("y"); res.Text != "$ seq 3\nline 1\nline 2\nline 3" {
		t.Errorf("a marker at the end stands for %q", res.Text)
	}
	// A search opens the fold that it lands in.
	r.m.ASCII = true
	r.keys("g / l i n e space 1 2 enter")
	r.wantDraw(`
|line 8
|line 9
|line 10
|line 11
|line 12  <0
:ccccccc
|line 13
|line 14
|line 15
[copy  line 17 of 26  1 of 1 match  /line 12]
`)
	r.keys("zc")
	r.wantDraw(`
|$ seq 3
|-- 3 lines folded --
|$ seq 20
|-- 20 lines folded --  <0
|$
|~
|~
|~
[copy  line 6 of 26  1 match  /line 12]
`)
	r.keys("zo zR g")
	r.check()
	if len(r.m.folds) != 0 {
		t.Error("folds are left")
	}
	r.keys("zM")
	r.m.Press(3, 1, 1, false)
	if res := r.m.Release(3, 1); res.Copied || len(r.m.folds) != 1 {
		t.Error("a click on a marker does not open it")
	}
}

func TestAtAnEmptyPromptTheCommandBeforeIsFolded(t *testing.T) {
	r := newRig(t, 30, 8, 100, shell([3]string{"seq 3", "1\n2\n3\n", ";0"})+markA+"$ "+markB)
	r.keys("G za")
	if len(r.m.folds) != 1 || r.m.Status().Notice != "" {
		t.Errorf("folds %v, notice %q", r.m.folds, r.m.Status().Notice)
	}
	r.keys("za")
	if len(r.m.folds) != 0 {
		t.Errorf("folds %v after the second time", r.m.folds)
	}
}

func TestWhatCannotBeFoldedSaysWhy(t *testing.T) {
	r := newRig(t, 30, 8, 100, shell([3]string{"true", "", ";0"}))
	r.keys("g za")
	if s := r.m.Status().Notice; s != "this command has no whole line of output to fold" {
		t.Errorf("notice %q", s)
	}
	r.feed(markA + "$ " + markB + "make\n" + markC + "run\n")
	r.keys("G za")
	if s := r.m.Status().Notice; !strings.HasPrefix(s, "the command still runs") {
		t.Errorf("notice %q", s)
	}
}

func TestAFoldGoesWhenItsOutputIsGone(t *testing.T) {
	r := newRig(t, 30, 12, 100, shell([3]string{"seq 3", numbered(1, 3), ";0"})+markA+"$ "+markB)
	r.keys("g za")
	r.feed("\x1b[2J\x1b[Hother\ntext\nhere\n")
	if len(r.m.folds) != 0 {
		t.Error("other text is folded")
	}
	r.check()
	r = newRig(t, 30, 12, 100, shell([3]string{"seq 3", numbered(1, 3), ";0"})+markA+"$ "+markB)
	r.keys("g za")
	r.feed("\x1b[4;1H\x1b[J") // the mark of the end goes
	if len(r.m.folds) != 0 {
		t.Error("an output that has no end is folded")
	}
}

func TestAFoldTakesThePlaceOfThoseItShares(t *testing.T) {
	var f folds
	for _, x := range [][2]int64{{5, 8}, {20, 30}, {9, 12}, {3, 6}, {11, 25}} {
		f.add(x[0], x[1])
	}
	if len(f) != 2 || f[0] != (fold{3, 6, 2}) || f[1] != (fold{11, 25, 15}) {
		t.Errorf("folds %v", f)
	}
}

func TestTheViewSaysWhatWasCut(t *testing.T) {
	r := newRig(t, 30, 4, 6, numbered(1, 20))
	r.keys("g")
	r.wantDraw(`
|line 12  <0
|line 13
|line 14
|line 15
[copy  line 1 of 9]
`)
	r.keys("k")
	r.wantDraw(`
|┄┄ 11 lines (68 B) cut from history ┄┄
|line 12  <0
|line 13
|line 14
[copy  line 1 of 9]
`)
	r.feed("x\n")
	r.wantDraw(`
|┄┄ 12 lines (75 B) cut from history ┄┄
|line 13  <0
|line 14
|line 15
[copy  line 1 of 9]
`)
	if r.m.Press(2, 0, 1, false); r.m.drag.active {
		t.Error("a press on the marker begins a drag")
	}
	r.wantAt("0,0")
}

func TestSpansOfMatchesSelectionAndCursor(t *testing.T) {
	r := newRig(t, 12, 6, 100, "ab foo ab\n日本foo\n\nfoo\nx")
	r.keys("2 G v")
	r.wantDraw(`
|ab foo ab
|日本foo  <0
:ss
|
|foo
|x
|
[copy  line 2 of 5  1 line selected]
`)
	r.keys("esc g / f o o enter l v 3 j l")
	r.wantDraw(`
|ab foo ab
:   msssss
|日本foo
:sssssss
|
:s
|foo  <2
:ccc
|x
|
[copy  line 4 of 5  4 lines selected  3 of 3 matches  /foo]
`)
}

func TestAFrameShowsTheRowsOfAView(t *testing.T) {
	r := newRig(t, 20, 3, 50, numbered(1, 30))
	r.keys("5 g")
	var f Frame
	var _ interface {
		Line(vt.Row) []vt.Cell
		StyleOf(vt.StyleID) vt.Style
		StyleGen() uint64
		AppendText([]byte, vt.Cell) []byte
		LinkOf(vt.LinkID) string
	} = &f
	v := r.m.View(3)
	f.Show(r.t, v)
	for y := range 3 {
		want := string(AppendRows(nil, Of(r.t), v.Lines[y].Row, v.Lines[y].Row+1))
		if got := string(appendCells(nil, Of(r.t), f.Line(vt.Row(y)), 0, len(f.Line(vt.Row(y))))); got != want {
			t.Errorf("line %d is %q, want %q", y, got, want)
		}
	}
	if f.Line(-1) != nil || f.Line(3) != nil {
		t.Error("a line outside the view is something")
	}
}
