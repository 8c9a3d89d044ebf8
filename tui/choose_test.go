package tui

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/honestty/honestty/config"
	"github.com/honestty/honestty/ptybridge"
	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tui/input"
)

func TestAPaneOfAnotherTabIsFoundByNameAndGoneTo(t *testing.T) {
	d := newDesk(t, deskConfig{})
	two(d)
	d.pane(alive("htop", "/srv", 5000), "", openedMsg{})
	if d.m.active != 1 {
		t.Fatalf("tab %d is shown", d.m.active)
	}
	d.typ("\x02w")
	d.contains("> Go to pane")
	d.contains("2 node")
	d.contains("tab 2")
	d.typ("node")
	d.lacks("3 htop  /srv")
	d.typ("\r")
	if v := d.m.focused(); d.m.active != 0 || v.command() != "node" {
		t.Errorf("tab %d, %s", d.m.active, v.command())
	}
}

func TestATabIsMovedAndSaysWhereItCannotGo(t *testing.T) {
	d := newDesk(t, deskConfig{})
	for _, name := range []string{"one", "two", "three"} {
		d.pane(alive(name, "/", 0), "", openedMsg{})
	}
	d.typ("\x02\x1b[1;2D")
	d.contains(" 1 one  2 three  3 two")
	d.typ("\x02\x1b[1;2D")
	d.typ("\x02\x1b[1;2D")
	d.contains("it is the first tab")
	d.typ("\x02\t") // the tab shown before is still that tab
	if got := d.m.focused().command(); got != "two" {
		t.Errorf("the last tab is %s", got)
	}
}

func TestAReadOnlyPaneGetsNothingAndSaysSo(t *testing.T) {
	d := newDesk(t, deskConfig{})
	_, right := two(d)
	d.typ("\x02P")
	d.contains("! read-only")
	if d.m.w.router.target.Load().pane != nil {
		t.Error("the router still gives it what is typed")
	}
	d.typ("x")
	d.contains("not typed: this pane is read-only; ^B P ends that")
	d.say(pasteMsg{"text"})
	d.contains("not typed")
	d.typ("\x02P")
	d.lacks("read-only")
	if d.m.w.router.target.Load().pane != right.pane {
		t.Error("it gets nothing although it is not read-only any more")
	}
}

// keysTo is a router with a clock of its own whose pane exists, and what it asked
// of the Model.
func keysTo(d *desk) (r *router, clock *time.Time, asked *[]string) {
	clock, asked = new(time.Time), new([]string)
	*clock = time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)
	r = newRouter(func(m ordered, done chan<- struct{}) {
		if k, ok := m.(keyMsg); ok {
			name := k.Key.String()
			if k.Prefixed {
				name = "prefix " + name
			}
			*asked = append(*asked, name)
		}
		close(done)
	})
	d.m.aim()
	r.now = func() time.Time { return *clock }
	r.target.Store(d.m.w.router.target.Load())
	return r, clock, asked
}

func TestAResizeKeyRepeatsForAMomentWithoutThePrefix(t *testing.T) {
	d := newDesk(t, deskConfig{})
	two(d)
	r, clock, asked := keysTo(d)
	feed := func(bytes string) {
		var z input.Tokenizer
		z.Feed([]byte(bytes), func(t input.Token) { r.route(t) })
	}
	const right, up = "\x1b[1;5C", "\x1b[A"
	feed("\x02" + right + right)
	*clock = clock.Add(repeatTime - 1)
	feed(right)
	*clock = clock.Add(repeatTime + 1)
	feed(right)          // too late: it is the program's
	feed("\x02" + right) // and what does not repeat ends it at once
	feed(up + right)
	want := "prefix ctrl+right prefix ctrl+right prefix ctrl+right prefix ctrl+right"
	if got := strings.Join(*asked, " "); got != want {
		t.Errorf("the Model got %q, want %q", got, want)
	}
}

func TestThePrefixTwiceIsAPageUpInCopyMode(t *testing.T) {
	d := newDesk(t, deskConfig{})
	v := one(d)
	d.write(v, strings.Repeat("line\n", 100))
	d.typ("\x02[")
	before := v.copy.Status().Line
	d.typ("\x02\x02")
	if after := v.copy.Status().Line; after >= before {
		t.Errorf("line %d, before %d", after, before)
	}
}

func TestTheHelpOfCopyModeListsItsKeysAndDoesWhatIsChosen(t *testing.T) {
	d := newDesk(t, deskConfig{})
	v := one(d)
	d.write(v, strings.Repeat("line\n", 100))
	d.typ("\x02[")
	d.typ("\x02?")
	d.contains("> Keys of copy mode")
	d.contains("h, Left, Backspace")
	d.typ("oldest line\r")
	if got := v.copy.Status().Line; got != 1 {
		t.Errorf("the cursor is on line %d", got)
	}
}

func TestATabIsActiveByOutputAlone(t *testing.T) {
	d := newDesk(t, deskConfig{})
	d.m.conf.Notify.Activity = true
	v := d.started("read go; echo more; read go")
	d.pane(alive("htop", "/", 0), "", openedMsg{})
	v.pane.Resize(ptybridge.Size{Cols: 60, Rows: 10})
	d.send(session.PaneChanged{ID: v.pane.ID()})
	if v.activity {
		t.Error("a pane that got another size counts as active")
	}
	if err := v.pane.Input([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	for v.pane.Info().BytesRead == v.sawBytes {
		d.send(<-d.facts)
	}
	d.send(session.PaneChanged{ID: v.pane.ID()})
	if !v.activity {
		t.Error("output out of sight is no activity")
	}
}

// started is a pane with a shell script that runs.
func (d *desk) started(script string) *view {
	d.t.Helper()
	pane := d.m.w.session.Open(session.Spec{Command: []string{"/bin/sh", "-c", script}, Dir: "/"}, d.m.size)
	d.m.opening++
	d.send(openedMsg{Pane: pane})
	return d.m.views[pane.ID()]
}

func TestASearchIsCountedAgainAfterAChangeOfSize(t *testing.T) {
	d := newDesk(t, deskConfig{})
	v := d.pane(alive("zsh", "/", 4711), strings.Repeat("needle and hay\n", 100), openedMsg{})
	d.typ("\x02[")
	d.typ("?needle\r")
	d.send(stepMsg{v.pane.ID()})
	d.contains("100 of 100 matches")
	d.work(d.send(resizedMsg{ptybridge.Size{Cols: 90, Rows: 20}}))
	d.contains("100 of 100 matches")
}

func TestCopyModeSpeaksOfNewOutputOnlyWhenThereIsSome(t *testing.T) {
	d := newDesk(t, deskConfig{})
	v := d.started("echo one; read go")
	for v.pane.Info().BytesRead == 0 {
		<-d.facts
	}
	v.info.BytesRead = 0 // as of a fact that came before the output
	d.typ("\x02[")
	d.lacks("new output since")
}

func TestWhatACopyLacksIsSaidWithIt(t *testing.T) {
	d := newDesk(t, deskConfig{cols: 160})
	one(d)
	d.send(copiedMsg{Lines: 3, Bytes: 8, Ways: []string{"the terminal (OSC 52)"}, Lacks: "12 of the selected lines had been cut from the history"})
	d.contains("! copied 3 lines (8 B); 12 of the selected lines had been cut from the history")
}

func TestTheMouseTakesANoteAway(t *testing.T) {
	d := newDesk(t, deskConfig{})
	v := one(d)
	d.write(v, strings.Repeat("line\n", 100))
	d.send(noteMsg{"copied 3 lines", false})
	d.say(mouseMsg{input.Mouse{Button: input.WheelUp, Action: input.ActionPress, X: 5, Y: 5}})
	d.lacks("copied 3 lines")
	d.contains("copy  line")
}

func TestWhatIsWrongWithTheSettingsIsReadWhole(t *testing.T) {
	d := newDesk(t, deskConfig{})
	one(d)
	file := "/home/ada/.config/honestty/config.toml"
	d.send(configMsg{d.m.conf, config.Problems{
		{File: file, Line: 2, Column: 1, Text: "unknown key ui.them; did you mean ui.theme?"},
		{File: file, Line: 3, Column: 9, Text: `ui.plain is "yes"; expected true or false`},
	}})
	d.typ("x") // the note is gone, what is wrong stays
	d.contains("config.toml:2: unkn")
	d.contains("^B a reads it")
	d.typ("\x02a")
	d.contains("The settings before stay in force")
	d.contains("What is wrong in")
	d.contains(`config.toml:3:9: ui.plain is "yes"`)
	d.typ("\r")
	d.lacks("stay in force")
	d.send(configMsg{d.m.conf, nil})
	if got := d.m.whyNot("alerts"); got == "" {
		t.Error("there is still something to read")
	}
}

func TestAnOutputIsGivenToItsCommandAgain(t *testing.T) {
	d := newDesk(t, deskConfig{})
	one(d)
	cmd := d.m.withFile("one\ntwo\n", func(path string) session.Spec {
		return session.Spec{Command: []string{"/bin/sh", "-c", "wc -l <\"$HONESTTY_OUTPUT\""}, Env: append(os.Environ(), "HONESTTY_OUTPUT="+path)}
	})
	msg := cmd().(openedMsg)
	d.send(msg)
	ended := func(run int) session.Info {
		for {
			if i := msg.Pane.Info(); i.State == session.StateEnded && i.Runs == run {
				return i
			}
			<-d.facts
		}
	}
	ended(1)
	msg.Pane.Rerun()
	if i := ended(2); i.Exit.Code != 0 {
		t.Errorf("the second run: exit %d", i.Exit.Code)
	}
	d.m.closePane(d.m.views[msg.Pane.ID()])()
	if _, err := os.Stat(msg.File); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
	kept, err := d.m.w.keepFile("left")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.m.w.dropFiles(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(kept); !os.IsNotExist(err) {
		t.Errorf("the window left a file: %v", err)
	}
}

func TestInputThatWaitsIsLookedAtAgain(t *testing.T) {
	d := newDesk(t, deskConfig{})
	v := one(d)
	if d.m.watchQueue() != nil {
		t.Error("a queue is watched although nothing waits")
	}
	v.info.Queued = queuedShown + 1
	if d.m.watchQueue() == nil || !d.m.queueing {
		t.Fatal("nobody looks whether the input was read")
	}
	if d.m.watchQueue() != nil {
		t.Error("it is watched twice")
	}
	d.contains("of input wait for the program")
	d.send(queueDueMsg{v.pane.ID()})
	d.lacks("of input wait for the program")
}

func TestWhatTheFirstHintSaysFitsInEightyColumns(t *testing.T) {
	for _, env := range []map[string]string{nil, {"TMUX": "/tmp/tmux-1000/default,1,0"}} {
		d := newDesk(t, deskConfig{state: config.State{Starts: 1}, env: env})
		one(d)
		d.contains("^B is honestty's key, twice sends it on")
		d.contains("^B K another key")
		d.contains("^B ? help")
	}
}

func TestWhatWasWrongAtTheStartStaysWhenTheSettingsAreGood(t *testing.T) {
	d := newDesk(t, deskConfig{})
	d.m.w.opt.Troubles = []error{
		config.Problems{{File: "/home/ada/config.toml", Line: 2, Text: "unknown key ui.them"}},
		nil,
		errors.New("not remembered: read-only file system"),
	}
	d.m = newModel(d.m.w, d.m.size)
	one(d)
	d.meter()
	d.contains("! config.toml:2: unknown")
	d.typ("\x02a")
	d.contains("not remembered: read-only file system")
	d.typ("\r")
	d.send(configMsg{d.m.conf, nil})
	d.typ("x")
	d.contains("! not remembered: read-only")
}

func TestAWindowTooSmallForItsPanesSaysHowManyAreHidden(t *testing.T) {
	d := newDesk(t, deskConfig{})
	two(d)
	d.lacks("+1")
	d.send(resizedMsg{ptybridge.Size{Cols: 39, Rows: 9}})
	d.contains("+1")
	d.send(resizedMsg{ptybridge.Size{Cols: 80, Rows: 24}})
	d.lacks("+1")
}
