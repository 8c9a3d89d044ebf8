package picker

import (
	"strings"
	"testing"
)

func TestWhatIsTypedAllowsNothing(t *testing.T) {
	d := approval("rm -r x")
	draw(d, 80, 24, unicodeTheme)
	for _, key := range []string{"y", "Y", "a", "1", "2", "space", "l"} {
		if r := d.Key(key, key); r.State != Open {
			t.Errorf("%s: %+v", key, r)
		}
	}
	d.Paste("y")
	for _, key := range []string{"enter", "esc", "ctrl+c", "ctrl+g"} {
		if r := approval("x").Key(key, ""); r != (Result{State: Chosen, ID: RefuseIt}) {
			t.Errorf("%s: %+v", key, r)
		}
	}
}

func TestTheOtherAnswerAllows(t *testing.T) {
	d := approval("rm -r x")
	d.Always = "Always allow this rule"
	draw(d, 80, 24, unicodeTheme)
	d.Key("right", "")
	if r := d.Key("enter", ""); r != (Result{State: Chosen, ID: AllowOnce}) {
		t.Errorf("%+v", r)
	}
	d.Key("tab", "\t")
	if r := d.Key("enter", "\r"); r != (Result{State: Chosen, ID: AllowAlways}) {
		t.Errorf("%+v", r)
	}
	s := draw(d, 80, 24, unicodeTheme)
	if x, y := find(t, s, "Allow once"); d.Click(x, y) != (Result{State: Chosen, ID: AllowOnce}) {
		t.Error("a click does not choose")
	}
	if r := d.Click(0, 0); r.State != Open {
		t.Errorf("a click beside: %+v", r)
	}
}

// TestNothingIsAllowedBeforeAllOfItWasRead scrolls in steps that leave no row
// out, and in one that does.
func TestNothingIsAllowedBeforeAllOfItWasRead(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 12}, {200, 60}} {
		d := approval(longScript + strings.Repeat("\nmore", 60))
		draw(d, size[0], size[1], unicodeTheme)
		d.Key("right", "")
		steps := 0
		for ; ; steps++ {
			r := d.Key("enter", "")
			if r.State == Chosen {
				break
			}
			if steps > 200 {
				t.Fatalf("%v: never allowed", size)
			}
			d.Key("pgdown", "")
			draw(d, size[0], size[1], unicodeTheme)
		}
		if steps < 2 || d.top+d.height != d.rows {
			t.Errorf("%v: allowed after %d pages, at row %d of %d", size, steps, d.top+d.height, d.rows)
		}
		skip := approval(longScript + strings.Repeat("\nmore", 60))
		draw(skip, size[0], size[1], unicodeTheme)
		skip.Key("right", "")
		skip.Key("end", "")
		draw(skip, size[0], size[1], unicodeTheme)
		if r := skip.Key("enter", ""); r.State == Chosen {
			t.Errorf("%v: allowed with rows between that were never in view", size)
		}
	}
}

func TestDetailIsShownExactly(t *testing.T) {
	rows := exact("a  b\n\tc\n\n\x1b[2Jd\n", 20)
	want := []string{"a  b", "    c", "", "^[[2Jd"}
	if strings.Join(rows, "|") != strings.Join(want, "|") {
		t.Errorf("%q", rows)
	}
	long := strings.Repeat("漢字ab", 20)
	if got := strings.Join(exact(long, 7), ""); got != long {
		t.Errorf("%q", got)
	}
}
