package picker

import (
	"strings"
	"testing"
)

func TestOnlyYConfirms(t *testing.T) {
	for _, key := range []string{"y", "Y"} {
		if r := confirm().Key(key, key); r.State != Chosen {
			t.Errorf("%s: %+v", key, r)
		}
	}
	for _, key := range []string{"n", "N", "esc", "ctrl+c", "ctrl+g"} {
		if r := confirm().Key(key, ""); r.State != Cancelled {
			t.Errorf("%s: %+v", key, r)
		}
	}
	d := confirm()
	for _, key := range []string{"enter", "space", "x", "ctrl+y", "alt+y", ""} {
		if r := d.Key(key, ""); r.State != Open {
			t.Errorf("%s: %+v", key, r)
		}
	}
	d.Paste("y")
	d.Wheel(1)
	s := draw(d, 80, 24, unicodeTheme)
	x, y := find(t, s, "y closes it")
	if r := d.Click(x, y); r.State != Chosen {
		t.Errorf("a click on y: %+v", r)
	}
	x, y = find(t, s, "n keeps it")
	if r := d.Click(x, y); r.State != Cancelled {
		t.Errorf("a click on n: %+v", r)
	}
	if r := d.Click(0, 0); r.State != Open {
		t.Errorf("a click beside the question: %+v", r)
	}
}

func TestAPromptGivesItsTextAndSaysWhatIsWrong(t *testing.T) {
	d := prompt()
	d.Key("ctrl+u", "")
	if r := d.Key("enter", ""); r.State != Open || d.problem == "" {
		t.Errorf("an empty name: %+v, %q", r, d.problem)
	}
	d.Key("x", "x")
	if d.problem != "" {
		t.Errorf("typing keeps the problem %q", d.problem)
	}
	d.Paste("yz\n")
	d.Wheel(1)
	s := draw(d, 80, 24, unicodeTheme)
	if x, y := find(t, s, "Enter renames it"); d.Click(x, y) != (Result{State: Chosen, Text: "xyz "}) {
		t.Error("a click on Enter does not choose")
	}
	if r := d.Click(0, 0); r.State != Open {
		t.Errorf("a click beside: %+v", r)
	}
	for _, key := range []string{"esc", "ctrl+c", "ctrl+g"} {
		if r := d.Key(key, ""); r.State != Cancelled {
			t.Errorf("%s: %+v", key, r)
		}
	}
	if r := (&Prompt{}).Key("kpenter", ""); r.State != Chosen {
		t.Errorf("without a check: %+v", r)
	}
	d.Paste(strings.Repeat("a", 2*maxLine))
	if !strings.Contains(draw(d, 80, 24, unicodeTheme).Text(), "longer than a line") {
		t.Error("a paste that was cut is not told")
	}
	for _, size := range [][2]int{{40, 4}, {12, 3}} {
		if got := draw(d, size[0], size[1], unicodeTheme).Text(); !strings.Contains(got, "> ") {
			t.Errorf("%v: the line is gone:\n%s", size, got)
		}
	}
}

func TestAHintThatIsTooWideDoesNotHideTheNext(t *testing.T) {
	d := &Prompt{Title: "Rename tab", Does: "renames it; empty takes the name away"}
	s := draw(d, 40, 12, unicodeTheme)
	x, y := find(t, s, "Esc leaves it")
	if r := d.Click(x, y); r.State != Cancelled {
		t.Errorf("a click on it: %+v", r)
	}
	if strings.Contains(s.Text(), "renames") {
		t.Errorf("a hint is cut:\n%s", s.Text())
	}
}

func TestEveryKeyOfTheChooserDoesWhatItSays(t *testing.T) {
	for keys, want := range map[string]string{
		"": "ctrl+b", "down": "ctrl+a", "j": "ctrl+a", "ctrl+n": "ctrl+a", "tab": "ctrl+a", "down up": "ctrl+b",
		"j k": "ctrl+b", "down ctrl+p": "ctrl+b", "down shift+tab": "ctrl+b", "up": "ctrl+b", "end k": "ctrl+a",
		"pgdown up": "ctrl+a", "end home": "ctrl+b", "end pgup": "ctrl+b", "x": "ctrl+b", "9": "ctrl+b",
	} {
		d := chooser()
		for _, key := range strings.Fields(keys) {
			if r := d.Key(key, ""); r.State != Open {
				t.Errorf("%s ends it: %+v", key, r)
			}
		}
		if r := d.Key("enter", ""); r != (Result{State: Chosen, ID: want}) {
			t.Errorf("%q then Enter: %+v, want %s", keys, r, want)
		}
	}
	d := chooser()
	if r := d.Key("2", "2"); r.ID != "ctrl+a" {
		t.Errorf("2: %+v", r)
	}
	if r := d.Key("3", "3"); r != (Result{}) || d.selected != 2 {
		t.Errorf("3 is disabled: %+v, selected %d", r, d.selected)
	}
	if got := draw(d, 80, 24, unicodeTheme).Text(); !strings.Contains(got, "does not send Alt") {
		t.Errorf("the reason is not told:\n%s", got)
	}
	d.Select("ctrl+a")
	d.Select("no such")
	d.Paste("1")
	if r := d.Key("kpenter", ""); r.ID != "ctrl+a" {
		t.Errorf("the one in force: %+v", r)
	}
	d.Wheel(-5)
	s := draw(d, 80, 24, unicodeTheme)
	x, y := find(t, s, "as in screen")
	if r := d.Click(x, y); r.ID != "ctrl+a" {
		t.Errorf("a click: %+v", r)
	}
	if x, y = find(t, s, "Esc leaves it"); d.Click(x, y).State != Cancelled {
		t.Error("a click on Esc does not leave")
	}
	if r := d.Click(0, 0); r.State != Open {
		t.Errorf("a click beside: %+v", r)
	}
	if r := d.Key("esc", ""); r.State != Cancelled {
		t.Errorf("Esc: %+v", r)
	}
}

func TestAChooserKeepsTheChosenTitleInView(t *testing.T) {
	for _, h := range []int{3, 4, 5, 6, 8} {
		d := chooser()
		for range d.Options {
			got := draw(d, 30, h, unicodeTheme).Text()
			if !strings.Contains(got, "› "+d.Options[d.selected].Title) {
				t.Errorf("%d rows: option %d is not seen:\n%s", h, d.selected, got)
			}
			d.Key("down", "")
		}
	}
}

func TestTheZeroResultClaimsNothing(t *testing.T) {
	if (Result{}).State != Open || Open.String() != "open" || State(9).String() != "unknown" {
		t.Error("a result nobody filled in claims something")
	}
}
