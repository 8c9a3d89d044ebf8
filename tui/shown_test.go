package tui

import (
	"strings"
	"testing"

	"github.com/honestty/honestty/ptybridge"
	"github.com/honestty/honestty/tui/input"
	"github.com/honestty/honestty/tui/keymap"
)

func TestATitleThatOnlyRepeatsCommandOrPlaceIsNotShown(t *testing.T) {
	d := newDesk(t, deskConfig{cols: 100})
	left, _ := two(d)
	for _, title := range []string{"~/src/app", "zsh ~/src/app", "zsh"} {
		d.write(left, "\x1b]2;"+title+"\a")
		d.contains("1 zsh  ~/src/app ")
	}
	d.m.goToPane(left.pane.ID())
	d.contains("\n 1 zsh  ")
	d.write(left, "\x1b]2;~/src/other\a")
	d.contains("1 zsh · ~/src/other  ~/src/app ")
}

func TestADockWithoutRoomSaysSoAndComesBackWithIt(t *testing.T) {
	for key, name := range map[string]string{"D": "toggle", "g": "focus", "f": "FDs", "T": "tools"} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, deskConfig{cols: 100})
			two(d)
			d.typ("\x02T")
			d.contains("─ Tools")
			d.send(resizedMsg{ptybridge.Size{Cols: 40, Rows: 12}})
			d.lacks("─ Tools")
			d.typ("\x02" + key)
			d.contains("no room: 61 columns are needed")
			d.send(resizedMsg{ptybridge.Size{Cols: 100, Rows: 24}})
			d.contains("─ Tools")
		})
	}
}

func TestTheHelpOfTheBarCanBeClicked(t *testing.T) {
	d := newDesk(t, deskConfig{})
	d.pane(alive("zsh", "/", 4711), "", openedMsg{})
	d.contains("^B ? help")
	d.say(mouseMsg{input.Mouse{Action: input.ActionPress, Button: input.ButtonLeft, X: 40, Y: 23}})
	d.lacks("> Help")
	d.say(mouseMsg{input.Mouse{Action: input.ActionPress, Button: input.ButtonLeft, X: 75, Y: 23}})
	d.contains("> Help")
}

func TestTheKeysOfCopyModeAreShownAsTheyReachIt(t *testing.T) {
	for _, c := range []struct {
		o    keymap.Options
		want string
	}{
		{keymap.Options{}, "  ^B ^B, PgUp "},
		{keymap.Options{Prefix: "ctrl+a"}, "  ^B, PgUp "},
		{keymap.Options{Bind: map[string][]string{"scroll-page-up": {"f7"}, "scroll-top": {"ctrl+home"}}}, "  g  "},
	} {
		m, err := keymap.New(c.o)
		if err != nil {
			t.Fatal(err)
		}
		table := CopyKeys(m)
		for _, want := range []string{c.want, "\n  zM ", "\n  za, Tab "} {
			if !strings.Contains(table, want) {
				t.Errorf("%+v: no %q in\n%s", c.o, want, table)
			}
		}
	}
}

func TestTheHeaderNamesCommandAndPlaceBeforeTheTitle(t *testing.T) {
	d := newDesk(t, deskConfig{cols: 100})
	left, _ := two(d)
	d.write(left, "\x1b]2;"+strings.Repeat("long ", 50)+"\a")
	d.contains("1 zsh · long")
	d.contains("~/src/app ")
	d.contains("2 node · dev server  ~/src/app/web")
}

func TestAZoomedPaneSaysSo(t *testing.T) {
	d := newDesk(t, deskConfig{})
	two(d)
	d.typ("\x02z")
	d.contains("zoomed dev server")
}
