package tui

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/honestty/honestty/config"
	"github.com/honestty/honestty/ptybridge"
	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tui/input"
	"github.com/honestty/honestty/tui/keymap"
	"github.com/honestty/honestty/tui/layout"
	"github.com/honestty/honestty/tui/statusbar"
)

// contains fails unless the screen shows a text.
func (d *desk) contains(text string) {
	d.t.Helper()
	if s := d.screen(); !strings.Contains(s, text) {
		d.t.Errorf("no %q on\n%s", text, s)
	}
}

func (d *desk) lacks(text string) {
	d.t.Helper()
	if s := d.screen(); strings.Contains(s, text) {
		d.t.Errorf("there is %q on\n%s", text, s)
	}
}

// results runs a command and those that it brings, and returns their messages.
func results(cmd tea.Cmd) (out []tea.Msg) {
	if cmd == nil {
		return nil
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			out = append(out, results(c)...)
		}
	default:
		out = append(out, msg)
	}
	return out
}

// count counts the messages of one type.
func count[T tea.Msg](msgs []tea.Msg) (n int) {
	for _, m := range msgs {
		if _, ok := m.(T); ok {
			n++
		}
	}
	return n
}

func TestAProgramThatHoldsItsScreenHoldsNobodyElse(t *testing.T) {
	d := newDesk(t, deskConfig{})
	left, right := two(d)
	d.write(right, "\x1b[?2026h")
	d.m.dirty, d.m.pending, d.m.lastFrame = true, false, time.Time{}
	d.m.draw()
	d.write(left, "typed meanwhile")
	d.m.dirty, d.m.lastFrame = true, time.Time{}
	if d.m.draw(); d.m.pending || d.m.dirty {
		t.Error("a frame waits for the program that holds its screen")
	}
	d.send(holdOverMsg{})
	if d.m.holding {
		t.Error("the hold is not over")
	}
}

// clip is a program's wish to set the clipboard. It runs, since only a real
// engine's output is a wish.
func (d *desk) clip(text string) {
	d.t.Helper()
	seq := "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(text)) + "\x1b\\"
	pane := d.m.w.session.Open(session.Spec{Command: []string{"printf", "%s", seq}, Dir: "/"}, d.m.size)
	for pane.Info().State != session.StateEnded {
		<-d.facts
	}
	d.m.opening++
	d.send(openedMsg{Pane: pane})
	d.send(session.PaneCalled{ID: pane.ID()})
}

func TestAWishForTheClipboardWaitsForTheDialogThatIsOpen(t *testing.T) {
	d := newDesk(t, deskConfig{})
	one(d)
	d.typ("\x02:spl")
	d.clip("first")
	d.clip("second")
	d.contains("> spl")
	d.typ("\x1b")
	d.contains("wants to put 5 B")
	d.typ("\x1b[A\x1b[A\x1b[A\r") // up to Allow once
	d.contains("wants to put 6 B")
	if got := string(d.out.passed); !strings.Contains(got, "Zmlyc3Q=") {
		t.Errorf("the first was not copied: %q", got)
	}
}

func TestWhatIsTypedWhenAQuestionComesUpIsNoConsent(t *testing.T) {
	d := newDesk(t, deskConfig{})
	one(d)
	d.clip("secret")
	d.typ("ls 123\r")
	d.lacks("wants to put")
	d.contains("refused")
	if got := string(d.out.passed); strings.Contains(got, "]52;") {
		t.Errorf("the clipboard was set: %q", got)
	}
	if len(d.m.state.OSC52) != 0 {
		t.Errorf("remembered: %v", d.m.state.OSC52)
	}
}

func TestAPasteGoesWhereTextIsTypedOrSaysThatItDidNot(t *testing.T) {
	d := newDesk(t, deskConfig{})
	v := one(d)
	d.typ("\x02:")
	d.say(pasteMsg{"zo\nom"})
	d.contains("> zo om")
	d.typ("\x1b") // by itself: before another byte it would be Alt
	d.typ("\x02[/")
	d.say(pasteMsg{"wire"})
	d.contains("/wire")
	d.typ("\r")
	d.say(pasteMsg{"lost?"})
	d.contains("copy mode takes no text")
	d.typ("q")
	d.typ("\x02f")
	d.say(pasteMsg{"lost?"})
	d.contains("the dock takes no text")
	d.typ("q")
	v.info = over("zsh", "/", 0, 0)
	d.say(pasteMsg{"lost?"})
	d.contains("nothing runs in this pane")
}

func TestAPasteIntoADialogComesInOnePiece(t *testing.T) {
	var got []string
	r := newRouter(func(m ordered, done chan<- struct{}) {
		if p, ok := m.(pasteMsg); ok {
			got = append(got, p.Text)
		}
		close(done)
	})
	text := "überall" // cut inside the ü
	r.take([]input.Token{
		{Kind: input.KindPasteStart, Bytes: []byte("\x1b[200~")},
		{Kind: input.KindPasteData, Bytes: []byte(text[:1])},
		{Kind: input.KindPasteData, Bytes: []byte(text[1:])},
		{Kind: input.KindPasteEnd, Bytes: []byte("\x1b[201~")},
		{Kind: input.KindPasteStart, Bytes: []byte("\x1b[200~")},
		{Kind: input.KindPasteData, Bytes: []byte(strings.Repeat("x", 3*pasteKept))},
		{Kind: input.KindPasteEnd, Bytes: []byte("\x1b[201~")},
	})
	if len(got) != 2 || got[0] != text || len(got[1]) != pasteKept {
		t.Errorf("%d pastes, the first %q", len(got), got[0])
	}
}

func TestANoteGoesWithTheNextKeyAndUncoversTheAlert(t *testing.T) {
	d := newDesk(t, deskConfig{cols: 120})
	v := one(d)
	d.m.alert(alert{mark: statusbar.MarkFailure, text: "make: exit 2", pane: 99})
	d.send(noteMsg{"copied 3 lines", false})
	d.contains("copied 3 lines")
	if tg := d.m.w.router.target.Load(); !tg.noted || tg.pane != v.pane {
		t.Fatalf("the router is not told: %+v", tg)
	}
	asked := 0
	r := newRouter(func(m ordered, done chan<- struct{}) {
		d.say(m)
		asked++
		close(done)
	})
	r.target.Store(d.m.w.router.target.Load())
	r.route(input.Token{Kind: input.KindText, Bytes: []byte("ls")})
	if asked != 1 {
		t.Fatalf("%d messages, want one", asked)
	}
	d.lacks("copied 3 lines")
	d.contains("make: exit 2")
}

func TestADragOutsideItsPaneScrollsAtOnePace(t *testing.T) {
	d := newDesk(t, deskConfig{})
	v := one(d)
	for n := range 200 {
		d.write(v, fmt.Sprintf("%d\n", n))
	}
	d.say(mouseMsg{input.Mouse{Action: input.ActionPress, Button: input.ButtonLeft, X: 3, Y: 3}})
	ticks := 0
	for n := range 5 {
		msgs := results(d.say(mouseMsg{input.Mouse{Action: input.ActionMotion, Button: input.ButtonLeft, X: 3 + n, Y: -1}}))
		ticks += count[scrollMsg](msgs)
	}
	if ticks != 1 {
		t.Errorf("%d scrolls were begun, want 1", ticks)
	}
	if n := count[scrollMsg](results(d.send(scrollMsg{v.pane.ID()}))); n != 1 {
		t.Errorf("%d scrolls go on, want 1", n)
	}
}

func TestAMouseButtonIsForgottenWhenADialogOpens(t *testing.T) {
	d := newDesk(t, deskConfig{})
	two(d)
	before := d.screen()
	d.say(mouseMsg{input.Mouse{Action: input.ActionPress, Button: input.ButtonLeft, X: 40, Y: 10}})
	if d.m.grab.border == nil {
		t.Fatal("the border was not met")
	}
	d.typ("\x02?")
	d.say(mouseMsg{input.Mouse{Action: input.ActionRelease, Button: input.ButtonLeft, X: 40, Y: 10}})
	d.typ("\x1b")
	d.say(mouseMsg{input.Mouse{Action: input.ActionMotion, X: 60, Y: 10}})
	if after := d.screen(); after != before {
		t.Errorf("the border moved:\n%s", after)
	}
}

func TestAPaneIsMovedAlthoughTheFocusWentOn(t *testing.T) {
	d := newDesk(t, deskConfig{})
	left, right := two(d)
	d.typ("\x02m2")
	d.send(paneClosedMsg{right.pane.ID()})
	d.typ("\r")
	d.contains("that pane was closed meanwhile")
	if d.m.tabOf(left.pane.ID()) != 0 || len(d.m.tabs) != 1 {
		t.Error("another pane was moved")
	}
}

func TestThePrefixIsSentAsItsKey(t *testing.T) {
	for _, p := range keymap.Presets {
		keys, err := keymap.New(keymap.Options{Preset: p})
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range keymap.Actions() {
			for _, way := range keys.Ways(info.Action) {
				k, ok := keyNamed(way.Key)
				if !ok || k.String() != way.Key {
					t.Errorf("%s: %s is bound to %q, which no key of a terminal is called: %v %q", p, info.Action, way.Key, ok, k)
				}
			}
		}
	}
	for _, name := range []string{"ctrl+b", "alt+a", "f12", "ctrl+space", "alt+shift+left", "kp5", "+", "ctrl++"} {
		if k, ok := keyNamed(name); !ok || k.String() != name {
			t.Errorf("%q is the key %q, %v", name, k, ok)
		}
	}
	d := newDesk(t, deskConfig{settings: "[keys]\npreset = \"none\"\n"})
	one(d)
	if why := d.m.whyNot(keymap.SendPrefix); why == "" {
		t.Error("a prefix that is not there can be sent")
	}
}

// TestEveryDefaultKeyArrivesUnderItsName types every key of every preset as a
// terminal with the kitty protocol sends it, and as one without does where
// keymap does not say that it may not arrive.
func TestEveryDefaultKeyArrivesUnderItsName(t *testing.T) {
	for _, p := range keymap.Presets {
		keys, err := keymap.New(keymap.Options{Preset: p})
		if err != nil {
			t.Fatal(err)
		}
		rare := map[string]bool{}
		for _, c := range keys.Conflicts() {
			if c.Kind == keymap.KindTerminal {
				rare[c.Key] = true
			}
		}
		names := map[string]bool{}
		if keys.Prefix() != "" {
			names[keys.Prefix()] = true
		}
		for _, info := range keymap.Actions() {
			for _, way := range keys.Ways(info.Action) {
				names[way.Key] = true
			}
		}
		for name := range names {
			k, _ := keyNamed(name)
			modes := []input.ChildModes{{KittyFlags: input.KittyDisambiguate}}
			if !rare[keymap.Label(name)] {
				modes = append(modes, input.ChildModes{}, input.ChildModes{AppCursor: true})
			}
			for _, m := range modes {
				sent := input.EncodeKey(nil, k, m)
				var got []string
				var z input.Tokenizer
				take := func(tk input.Token) {
					for one := range tk.Keys() {
						got = append(got, one.Key.String())
					}
				}
				z.Feed(sent, take)
				z.Flush(take)
				if len(got) != 1 || got[0] != name {
					t.Errorf("%s: %q, sent as %q, arrives as %q", p, name, sent, got)
				}
			}
		}
	}
}

func TestTheLastTabStaysTheLastOneWhenAnotherCloses(t *testing.T) {
	d := newDesk(t, deskConfig{})
	a := one(d)
	b := one(d)
	c := one(d)
	d.m.goToPane(b.pane.ID())
	d.m.goToPane(c.pane.ID())
	d.send(paneClosedMsg{a.pane.ID()})
	d.typ("\x02" + "l")
	d.m.do(keymap.LastTab)
	if d.m.focused() != b {
		t.Errorf("the focus is on pane %d, want %d", d.m.focused().pane.ID(), b.pane.ID())
	}
}

func TestAnAlertGoesWhenItsPaneIsLookedAt(t *testing.T) {
	d := newDesk(t, deskConfig{cols: 120})
	a := one(d)
	one(d)
	d.m.alert(alert{mark: statusbar.MarkAttention, text: "zsh: build done", pane: a.pane.ID()})
	d.contains("zsh: build done")
	d.typ("\x021")
	d.lacks("zsh: build done")
}

func TestWhatEndedAPaneIsReadableWhole(t *testing.T) {
	d := newDesk(t, deskConfig{cols: 40, rows: 14})
	i := over("make", "/", 0, 0)
	i.Notes = []string{"the directory /gone was not there: started in the home directory instead"}
	d.pane(i, "20000\n", openedMsg{})
	s := strings.Join(strings.Fields(d.screen()), " ")
	for _, want := range []string{"started in the home directory instead", "108,894 bytes, complete"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q on\n%s", want, d.screen())
		}
	}
}

func TestPlainModeDrawsNoLines(t *testing.T) {
	d := newDesk(t, deskConfig{settings: "[ui]\nplain = true\n", cols: 120, rows: 40})
	four(d)
	d.typ("\x02f")
	for _, r := range d.screen() {
		if r >= 0x2500 && r < 0x2580 {
			t.Fatalf("%q is on\n%s", r, d.screen())
		}
	}
}

func TestTheHelpShowsEveryKeyAndTellsWhyNotWhenChosen(t *testing.T) {
	d := newDesk(t, deskConfig{})
	one(d)
	d.typ("\x02?zoom")
	d.contains("^B z")
	d.typ("\r")
	d.contains("this tab has only one pane")
}

func TestANewPaneIsNamedBeforeAnybodyLooked(t *testing.T) {
	d := newDesk(t, deskConfig{})
	i := alive("zsh", "/home/ada/src", 4720)
	i.Where = session.Where{}
	v := d.pane(i, "", openedMsg{})
	d.pane(i, "", openedMsg{Beside: v.pane.ID(), Dir: layout.Right})
	d.contains("1 zsh  ~/src ─")
	d.contains(" pid 4720 ")
}

func TestAQuestionNamesTheProgramWithItsOwnPID(t *testing.T) {
	d := newDesk(t, deskConfig{})
	v := one(d)
	v.info.Where = session.Where{PID: 4999, Command: "make"}
	d.typ("\x02x")
	d.contains("make (pid 4999) still runs")
}

func TestWithoutAKeyNoHintIsShown(t *testing.T) {
	d := newDesk(t, deskConfig{settings: "[keys]\npreset = \"none\"\n", state: config.State{Starts: 1}})
	one(d)
	d.m.alert(alert{mark: statusbar.MarkFailure, text: "make: exit 2", pane: 99})
	for _, text := range []string{" help", "another key", " looks"} {
		d.lacks(text)
	}
	d.contains("no key is honestty's: [keys.bind]")
}

func TestADoubleClickCopiesAWordAndATripleClickALine(t *testing.T) {
	d := newDesk(t, deskConfig{})
	d.pane(alive("zsh", "/", 4720), "ok  example.org/app/store 0.412s\n$ ", openedMsg{})
	press := func() {
		d.say(mouseMsg{input.Mouse{Action: input.ActionPress, Button: input.ButtonLeft, X: 10, Y: 0}})
	}
	release := func() {
		d.say(mouseMsg{input.Mouse{Action: input.ActionRelease, Button: input.ButtonLeft, X: 10, Y: 0}})
	}
	for n, want := range []string{"", "example.org/app/store", "ok  example.org/app/store 0.412s"} {
		press()
		release()
		if got := d.m.copiedText; strings.TrimSpace(got) != want {
			t.Errorf("%d clicks copied %q, want %q", n+1, got, want)
		}
	}
}

func TestANewPaneTakesTheKeyboardFromTheDock(t *testing.T) {
	d := newDesk(t, deskConfig{cols: 120})
	left, _ := two(d)
	d.typ("\x02f")
	if !d.m.inDock {
		t.Fatal("the dock has no keyboard")
	}
	d.pane(alive("zsh", "/", 4730), "", openedMsg{Beside: left.pane.ID(), Dir: layout.Down})
	if d.m.inDock {
		t.Error("what is typed for the new pane goes to the dock")
	}
	one(d)
	d.typ("\x02f")
	d.typ("\x021")
	if d.m.inDock {
		t.Error("what is typed for the other tab goes to the dock")
	}
}

func TestANoteThatFindsNoRoomTakesTheBar(t *testing.T) {
	d := newDesk(t, deskConfig{cols: 40, rows: 12})
	d.meter()
	one(d)
	d.send(noteMsg{"copied 3 lines (11 B) by the terminal", false})
	d.contains(" ✓ copied 3 lines (11 B) by the terminal")
	d.say(typedMsg{})
	d.contains(" 1 zsh ")
}

func TestAQuestionCountsWhatRuns(t *testing.T) {
	d := newDesk(t, deskConfig{cols: 100})
	v := one(d)
	d.typ("\x02q")
	d.contains("Leave honestty? 1 pane still runs: zsh.")
	d.typ("n")
	one(d)
	d.pane(alive("vim", "/", 4730), "", openedMsg{Beside: v.pane.ID(), Dir: layout.Right})
	d.typ("\x02q")
	d.contains("3 panes still run: zsh (2), vim.")
}

func TestAProgramCannotTalkAFailureOutOfTheBar(t *testing.T) {
	d := newDesk(t, deskConfig{cols: 120})
	one(d)
	d.m.alert(alert{mark: statusbar.MarkFailure, text: "make: exit 2", pane: 99})
	for n := range 3 * alertsKept {
		d.m.alert(alert{mark: statusbar.MarkAttention, text: fmt.Sprint("hello ", n), pane: session.PaneID(100 + n%(2*alertsKept))})
	}
	d.contains("make: exit 2")
	if len(d.m.alerts) > alertsKept {
		t.Errorf("%d alerts are kept", len(d.m.alerts))
	}
}

func TestAFloodTakesNothingFromUnderCopyMode(t *testing.T) {
	d := newDesk(t, deskConfig{})
	v := d.pane(alive("sh", "/", 4711), "", openedMsg{})
	for n := range 200 {
		d.write(v, fmt.Sprintf("line %d\n", n))
	}
	d.typ("\x02[")
	d.typ("g")
	d.contains("line 0")
	for range 300 { // many times what the history keeps
		d.write(v, strings.Repeat("flood\n", 100))
	}
	v.info.BytesRead += 180_000
	d.contains("line 0")
	d.contains("new output since")
	d.lacks("flood")
	d.typ("/line 150\r")
	d.contains("line 150")
	d.send(resizedMsg{ptybridge.Size{Cols: 60, Rows: 20}})
	d.contains("line 150")
	d.typ("q")
	d.contains("flood")
	d.lacks("line 150")
}
