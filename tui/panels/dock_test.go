package panels

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
)

// stub is a panel that only says who it is.
type stub struct {
	name  string
	badge Badge
	got   []string
}

func (p *stub) Keys() []KeyHelp { return nil }
func (p *stub) Name() string    { return p.name }
func (p *stub) Badge() Badge    { return p.badge }
func (p *stub) Draw(s *screen.Screen, x, y, w, h int, focused bool, th theme.Theme) {
	s.Fill(x, y, w, h, th.Text)
	s.SetText(x+1, y, w-1, "the panel of "+p.name, th.Text)
}

func (p *stub) Key(name string) (Action, bool) {
	p.got = append(p.got, name)
	return GoToPane{7}, true
}

func (p *stub) Click(x, y int) (Action, bool) {
	p.got = append(p.got, fmt.Sprintf("%d,%d", x, y))
	return nil, true
}

func (p *stub) Wheel(lines int) { p.got = append(p.got, fmt.Sprint(lines)) }

func fullDock() *Dock {
	d := &Dock{}
	for _, p := range []*stub{
		{name: "Tools"},
		{name: "Speech"},
		{name: "Send", badge: Badge{Word: "partial", State: theme.Partial}},
		{name: "Jobs", badge: Badge{Count: 2}},
		{name: "FDs", badge: Badge{Count: 12, Word: "lost", State: theme.Lost}},
	} {
		d.Add(p)
	}
	return d
}

func TestTabsAreAsDrawn(t *testing.T) {
	var b strings.Builder
	for _, th := range []theme.Theme{unicodeTheme, asciiTheme, plainTheme} {
		for _, active := range []string{"Tools", "Send", "FDs"} {
			for _, w := range []int{80, 44, 40, 30, 20, 12, 6, 1} {
				d := fullDock()
				d.Show(active)
				s := screen.New(w, 2, screen.Caps{UTF8: true})
				d.Draw(s, 0, 0, w, 2, true, th)
				line, _, _ := strings.Cut(s.Text(), "\n")
				fmt.Fprintf(&b, "%2d %s\n", w, line)
				name := active
				if w < 12 {
					name = ""
				}
				if !strings.Contains(line, name) {
					t.Errorf("%d columns: %s is not in %q", w, active, line)
				}
			}
		}
	}
	golden(t, "tabs", b.String())
}

func TestTheShownTabStandsOutWithoutColourToo(t *testing.T) {
	for _, focused := range []bool{true, false} {
		d := fullDock()
		d.Show("Speech")
		s := screen.New(60, 3, screen.Caps{})
		d.Draw(s, 0, 0, 60, 3, focused, asciiTheme)
		if s.Style(3, 0) == s.Style(11, 0) {
			t.Errorf("focused %v: Tools and Speech look the same", focused)
		}
	}
}

func TestKeysAndClicksOfTheDock(t *testing.T) {
	d := fullDock()
	for key, want := range map[string]string{"1": "Tools", "3": "Send", "5": "FDs"} {
		if _, ok := d.Key(key); !ok || d.Active().Name() != want {
			t.Errorf("%s shows %s", key, d.Active().Name())
		}
	}
	d.Show("FDs")
	d.Key("tab")
	if d.Active().Name() != "Tools" {
		t.Errorf("tab after the last shows %s", d.Active().Name())
	}
	d.Key("shift+tab")
	if d.Active().Name() != "FDs" {
		t.Errorf("shift+tab before the first shows %s", d.Active().Name())
	}
	if a, ok := d.Key("j"); !ok || a != (GoToPane{7}) {
		t.Errorf("the panel's key: %+v", a)
	}
	d.Key("6")
	s := screen.New(60, 5, screen.Caps{UTF8: true})
	d.Draw(s, 10, 1, 50, 4, true, unicodeTheme)
	d.Click(15, 3)
	d.Click(2, 3)
	d.Wheel(-3)
	if got := d.Active().(*stub).got; !slices.Equal(got, []string{"j", "6", "15,3", "-3"}) {
		t.Errorf("the panel got %q", got)
	}
	line, _, _ := strings.Cut(strings.Split(s.Text(), "\n")[1], "Speech")
	if d.Click(screen.Width(line), 1); d.Active().Name() != "Speech" {
		t.Errorf("a click on a tab shows %s", d.Active().Name())
	}
}

func TestADockWithoutPanelsIsEmpty(t *testing.T) {
	var d Dock
	s := screen.New(20, 3, screen.Caps{UTF8: true})
	d.Draw(s, 0, 0, 20, 3, true, unicodeTheme)
	d.Draw(s, 0, 0, 0, 0, true, unicodeTheme)
	d.Turn(1)
	d.Wheel(1)
	if _, ok := d.Key("j"); ok || d.Active() != nil || d.Show("FDs") || len(d.Names()) != 0 {
		t.Error("something is there")
	}
	if _, ok := d.Click(1, 1); ok {
		t.Error("a click is taken")
	}
	if got := fullDock().Names(); !slices.Equal(got, []string{"Tools", "Speech", "Send", "Jobs", "FDs"}) {
		t.Errorf("got %q", got)
	}
}

// TestEveryKeyThatHelpListsIsTaken asks each panel in each of its views. Esc
// needs something to leave, and Enter may have nothing to open.
func TestEveryKeyThatHelpListsIsTaken(t *testing.T) {
	views := map[string]func() Panel{}
	for name := range callViews(t) {
		views["tools "+name] = func() Panel { return callViews(t)[name] }
	}
	for name := range jobViews(t) {
		views["jobs "+name] = func() Panel { return jobViews(t)[name] }
	}
	sends, _ := messageViews(t)
	for name := range sends {
		views["send "+name] = func() Panel { all, _ := messageViews(t); return all[name] }
	}
	speeches, _ := speechViews(t)
	for name := range speeches {
		views["speech "+name] = func() Panel { all, _ := speechViews(t); return all[name] }
	}
	views["fds"] = func() Panel { return panel() }
	for name, view := range views {
		if p, ok := view().(interface{ Typing() bool }); ok && p.Typing() {
			continue
		}
		seen := map[string]bool{}
		for _, k := range view().Keys() {
			if seen[k.Key] || k.Does == "" {
				t.Errorf("%s: %q is listed twice, or without words", name, k.Key)
			}
			seen[k.Key] = true
			p := view()
			draw(p, 80, 24, unicodeTheme)
			if _, ok := p.Key(k.Key); !ok && k.Key != "esc" {
				t.Errorf("%s: %q (%s) is listed and not taken", name, k.Key, k.Does)
			}
		}
	}
}
