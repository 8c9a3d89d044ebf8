package copymode

import (
	"fmt"
	"strings"
	"testing"

	"github.com/honestty/honestty/vt"
)

// under returns the text of the cursor's row.
func (r *rig) under() string {
	return string(AppendRows(nil, Of(r.t), r.m.at().row, r.m.at().row+1))
}

func TestNewOutputLeavesEveryPlaceOnItsText(t *testing.T) {
	r := newRig(t, 20, 5, 1000, numbered(1, 50))
	r.keys("3 0 g v 2 j")
	top := r.m.View(5).Lines[0].Row
	for i := range 40 {
		r.feed(fmt.Sprintf("more %d\n", i))
		if r.under() != "line 32" || r.m.View(5).Lines[0].Row != top {
			t.Fatalf("after %d lines the cursor is on %q and the viewport begins with row %d, was %d", i+1, r.under(), r.m.View(5).Lines[0].Row, top)
		}
	}
	if res := r.keys("$ y"); res.Text != "line 30\nline 31\nline 32" || res.Lost != 0 {
		t.Errorf("copied %q, lost %d", res.Text, res.Lost)
	}
}

func TestTrimmingLeavesEveryPlaceOnItsTextUntilItIsCut(t *testing.T) {
	r := newRig(t, 20, 5, 20, numbered(1, 24))
	r.keys("1 0 g 3 l v 2 j $")
	for i := range 9 {
		r.feed(fmt.Sprintf("more %d\n", i))
		if r.under() != "line 12" {
			t.Fatalf("after %d lines the cursor is on %q", i+1, r.under())
		}
		r.check()
	}
	if s := r.m.Status(); s.Notice != "" || s.Selected != "3 lines selected" {
		t.Errorf("status %+v", s)
	}
	r.feed("x\ny\n")
	if s := r.m.Status(); s.Notice != "2 selected lines cut from history: what is left stays selected" || !s.Warning ||
		s.Selected != "1 line selected, 2 more cut" {
		t.Errorf("status %+v", s)
	}
	if res := r.keys("y"); res.Text != "line 12" || res.Lost != 2 {
		t.Errorf("copied %q, lost %d", res.Text, res.Lost)
	}
	r.keys("g v")
	r.feed(numbered(1, 100))
	if s := r.m.Status(); s.Notice != "1 selected line cut from history: nothing is left of the selection" || !s.Warning {
		t.Errorf("status %+v", s)
	}
	if r.m.Selection() != NoSelection {
		t.Error("a selection that was cut is still there")
	}
	r.wantAt("0,0")
	r.check()
}

func TestARectangleKeepsItsColumnsWhenItsTopIsCut(t *testing.T) {
	r := newRig(t, 20, 5, 20, numbered(1, 24))
	r.keys("g 5 l ctrl+v l 4 j")
	r.feed("x\nx\n")
	if res := r.keys("y"); res.Text != "3\n4\n5" || res.Lost != 2 {
		t.Errorf("copied %q, lost %d", res.Text, res.Lost)
	}
}

func TestMatchesThatAreCutAreNotCounted(t *testing.T) {
	r := newRig(t, 20, 5, 20, numbered(1, 24))
	r.keys("G ?")
	r.typed("line")
	r.keys("enter")
	r.finish()
	r.feed("x\nx\nx\n")
	r.finish()
	if got := r.m.Status().Matches; got != "20 of 21 matches" {
		t.Errorf("matches %q", got)
	}
	r.check()
}

func TestAClearedHistoryIsTold(t *testing.T) {
	for _, after := range []string{"", numbered(1, 10), numbered(1, 200)} {
		r := newRig(t, 20, 5, 1000, numbered(1, 50))
		r.keys("g v 2 j / l i n e enter")
		r.feed("\x1b[3J" + after)
		if s := r.m.Status(); s.Notice != "the program cleared the history; the selection is gone" || !s.Warning {
			t.Errorf("after %d bytes: status %+v", len(after), s)
		}
		r.finish()
		r.check()
	}
}

func TestSwitchingScreensDropsASelectionThatWasOnTheScreen(t *testing.T) {
	r := newRig(t, 20, 5, 1000, numbered(1, 50))
	r.keys("g v j")
	r.feed("\x1b[?1049h")
	if r.m.Selection() == NoSelection {
		t.Error("a selection in the history is gone")
	}
	r.keys("esc G v")
	r.feed("\x1b[?1049l")
	if s := r.m.Status(); r.m.Selection() != NoSelection || !s.Warning {
		t.Errorf("status %+v", s)
	}
}

func TestTheAlternateScreenContinuesNoLineOfTheHistory(t *testing.T) {
	r := newRig(t, 5, 2, 100, "abcdefghijklmno\nx")
	r.feed("\x1b[?1049h\x1b[H0123456789ABCDEFG")
	b := Of(r.t)
	if b.Wrapped(b.History()) || !b.Wrapped(b.History()+1) {
		t.Error("the wrap flags of the alternate screen are wrong")
	}
}

func TestHoldAndSettleKeepPlacesOnTheirTextThroughAChangeOfWidth(t *testing.T) {
	var text strings.Builder
	for i := range 60 {
		fmt.Fprintf(&text, "%02d the quick brown fox jumps over the lazy dog\n", i)
	}
	for _, cols := range []int{10, 17, 33, 80, 200} {
		r := newRig(t, 40, 10, 1000, text.String())
		r.keys("2 0 g / f o x enter v / d o g enter e")
		want := r.keys("y").Text
		r.keys("2 0 g / f o x enter v / d o g enter e")
		r.m.Hold()
		r.t.Resize(cols, 10)
		r.write("a new prompt\n$ ")
		r.m.Use(Of(r.t))
		r.m.Settle()
		r.check()
		if res := r.keys("y"); res.Text != want {
			t.Errorf("%d columns: copied %q, want %q", cols, res.Text, want)
		}
	}
}

func TestAChangeOfWidthWithoutHoldDropsTheSelectionAndSaysSo(t *testing.T) {
	r := newRig(t, 40, 10, 1000, numbered(1, 50))
	r.keys("g v j")
	r.t.Resize(30, 10)
	r.m.Use(Of(r.t))
	if s := r.m.Status(); r.m.Selection() != NoSelection || !s.Warning || !strings.Contains(s.Notice, "width changed") {
		t.Errorf("status %+v", s)
	}
	r.check()
}

func TestAChangeOfHeightLeavesPlacesOnTheirText(t *testing.T) {
	r := newRig(t, 20, 10, 1000, numbered(1, 50))
	r.keys("2 0 g v j")
	for _, rows := range []int{3, 20, 1, 30} {
		r.t.Resize(20, rows)
		r.m.Use(Of(r.t))
		r.m.View(rows)
		r.check()
		if r.under() != "line 21" || r.m.Selection() != Chars {
			t.Errorf("%d rows: the cursor is on %q", rows, r.under())
		}
		if s := r.m.Status(); s.Notice != "" {
			t.Errorf("%d rows: %s", rows, s.Notice)
		}
	}
}

func TestAnotherTerminalIsNoticed(t *testing.T) {
	r := newRig(t, 20, 5, 1000, numbered(1, 50))
	r.keys("g v j")
	r.t = vt.New(20, 5, vt.Options{Scrollback: 1000})
	r.feed("new\n")
	if r.m.Selection() != NoSelection || !r.m.Status().Warning {
		t.Errorf("status %+v", r.m.Status())
	}
	r.check()
}
