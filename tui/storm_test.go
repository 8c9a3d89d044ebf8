package tui

import (
	"math/rand/v2"
	"testing"

	"github.com/honestty/honestty/ptybridge"
	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tui/input"
	"github.com/honestty/honestty/tui/keymap"
	"github.com/honestty/honestty/tui/layout"
)

// TestNoOrderOfEventsBreaksTheWindow does what people and programs can do, in
// an order that nobody would: panes come, end and go under copy mode, dialogs
// and drags, and the terminal has any size. After each step the screen has its
// size, a pane has the keyboard, and nothing lies outside.
func TestNoOrderOfEventsBreaksTheWindow(t *testing.T) {
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 1))
		d := newDesk(t, deskConfig{})
		one(d)
		d.meter()
		for range 250 {
			storm(d, r)
			if len(d.m.tabs) == 0 {
				one(d)
			}
			cols, rows := d.m.size.Cols, d.m.size.Rows
			checkCells(t, d.screen(), cols, rows)
			if v := d.m.focused(); v == nil || !v.shown {
				t.Fatalf("seed %d: nobody has the keyboard", seed)
			}
			for _, v := range d.m.views {
				if b := v.placed.Body; v.shown && (b.W < 1 || b.H < 1 || b.X+b.W > cols || b.Y+b.H > rows) {
					t.Fatalf("seed %d: a pane lies at %+v of %d×%d", seed, b, cols, rows)
				}
			}
		}
	}
}

func storm(d *desk, r *rand.Rand) {
	m := d.m
	var some []*view
	for _, t := range m.tabs {
		some = append(some, m.tabViews(t)...)
	}
	v := some[r.IntN(len(some))]
	switch r.IntN(12) {
	case 0:
		d.send(resizedMsg{ptybridge.Size{Cols: 1 + r.IntN(130), Rows: 1 + r.IntN(45)}})
	case 1:
		if len(some) < 12 {
			d.pane(alive("sh", "/", 4000+r.IntN(900)), "\x1b[1mnew\n", openedMsg{Beside: v.pane.ID(), Dir: []layout.Dir{layout.Right, layout.Down}[r.IntN(2)]})
		}
	case 2:
		if len(some) > 1 {
			d.send(paneClosedMsg{v.pane.ID()})
		}
	case 3:
		id := v.info.ID
		v.info = over("sh", "/", r.IntN(3), 0)
		v.info.ID = id
	case 4:
		for range r.IntN(60) {
			d.write(v, "output 宽字 👩‍👩‍👧 of a program\n")
		}
		m.paneEnded(v.pane.ID())
		if r.IntN(2) == 0 {
			v.info = alive("sh", "/", 4321)
		}
	case 5, 6, 7:
		actions := []input.Action{input.ActionPress, input.ActionMotion, input.ActionMotion, input.ActionRelease}
		buttons := []input.Button{input.ButtonLeft, input.ButtonLeft, input.WheelUp, input.WheelDown}
		d.say(mouseMsg{input.Mouse{
			Action: actions[r.IntN(4)], Button: buttons[r.IntN(4)],
			X: r.IntN(m.size.Cols+4) - 2, Y: r.IntN(m.size.Rows+4) - 2,
		}})
		d.send(scrollMsg{v.pane.ID()})
	case 8:
		all := keymap.Actions()
		if a := all[r.IntN(len(all))].Action; a != keymap.Quit && a != keymap.OpenInEditor {
			m.do(a) // what it asks for is not done: a pane that is on its way never comes
			m.opening = 0
		}
	case 9:
		d.typ([]string{"\x1b", "\r", "q", "n", "/pro\r", "?o\r", "v", "V", "y", "gg", "G", "\x1b[A", "\x1b[B", "zz", "5", "%"}[r.IntN(16)])
		m.opening = 0
	case 10:
		d.say(pasteMsg{"some text\nof two lines"})
		d.send(stepMsg{v.pane.ID()})
	case 11:
		d.send(session.PaneCalled{ID: v.pane.ID()})
		m.goToPane(some[r.IntN(len(some))].pane.ID())
	}
}
