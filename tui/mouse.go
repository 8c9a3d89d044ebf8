package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tui/copymode"
	"github.com/honestty/honestty/tui/input"
	"github.com/honestty/honestty/tui/keymap"
	"github.com/honestty/honestty/tui/layout"
	"github.com/honestty/honestty/vt"
)

// A grab is what a mouse button that is held down moves. The zero value is
// nothing.
type grab struct {
	border *layout.Border
	dock   bool
	pane   session.PaneID // its selection
}

// A click counts presses at one place.
type click struct {
	x, y int
	at   time.Time
	n    int
}

const (
	// clickTime is how fast presses follow each other in a double click.
	clickTime = 400 * time.Millisecond

	// wheelLines is how far one step of the wheel scrolls, as in most terminals.
	wheelLines = 3

	// scrollTime is the pace of scrolling while a drag rests outside its pane.
	scrollTime = 50 * time.Millisecond
)

// mouse acts on a report that is ours.
func (m *Model) mouse(ev input.Mouse) tea.Cmd {
	switch {
	case m.dialog != nil:
		return m.dialogMouse(ev)
	case ev.Button.Wheel():
		return m.wheel(ev)
	case ev.Action == input.ActionMotion:
		return m.drag(ev)
	case ev.Action == input.ActionRelease:
		return m.release(ev)
	case ev.Action == input.ActionPress && ev.Button == input.ButtonLeft:
		return m.press(ev)
	}
	return nil
}

func (m *Model) press(ev input.Mouse) tea.Cmd {
	m.grab = grab{}
	switch {
	case ev.Y == m.size.Rows-1:
		return m.pressBar(ev.X)
	case m.docked.Border().Contains(ev.X, ev.Y) && m.docked.Shown() && !m.docked.Header.Contains(ev.X, ev.Y):
		m.grab.dock = true
		return nil
	case m.docked.Header.Contains(ev.X, ev.Y):
		action, met := m.panels.Click(ev.X, ev.Y)
		m.grab.dock = !met && m.docked.Line.Empty()
		m.inDock = met || m.inDock
		return tea.Batch(m.panelAction(action), m.panelsChanged(), m.soon())
	case m.docked.Body.Contains(ev.X, ev.Y):
		m.inDock = true
		action, _ := m.panels.Click(ev.X, ev.Y)
		return tea.Batch(m.panelAction(action), m.soon())
	}
	t := m.tab()
	if t == nil {
		return nil
	}
	if b, ok := t.tree.BorderAt(ev.X, ev.Y, m.paneArea()); ok {
		m.grab.border = &b
	}
	id := t.tree.PaneAt(ev.X, ev.Y, m.paneArea())
	if id == 0 {
		return nil
	}
	m.goToPane(session.PaneID(id))
	v := m.focused()
	if v == nil || m.grab.border != nil {
		return nil
	}
	if target := v.linkAt(ev); target != "" && ev.Mods&input.ModCtrl != 0 && v.copy == nil {
		m.askLink(target)
		return nil
	}
	m.pressPane(v, ev)
	return nil
}

// pressBar goes to the tab, or does what the key stands for, that is shown at a
// column of the status bar.
func (m *Model) pressBar(x int) tea.Cmd {
	bar := m.bar()
	if n, ok := bar.TabAt(m.size.Cols, x); ok {
		m.showTab(n - 1)
	} else if bar.HelpAt(m.size.Cols, x) {
		return m.do(keymap.Help)
	}
	return nil
}

// pressPane begins a selection. A first click alone selects nothing, so it does
// not enter copy mode before it is dragged or repeated.
func (m *Model) pressPane(v *view, ev input.Mouse) {
	b := v.placed.Body
	now := time.Now()
	if m.click.x == ev.X && m.click.y == ev.Y && now.Sub(m.click.at) < clickTime {
		m.click.n = m.click.n%3 + 1
	} else {
		m.click = click{x: ev.X, y: ev.Y, n: 1}
	}
	m.click.at = now
	m.grab.pane = v.pane.ID()
	if m.click.n > 1 {
		m.enterCopy(v, true)
	}
	if v.copy != nil {
		m.selecting(v, func(c *copymode.Mode) copymode.Result {
			return c.Press(ev.X-b.X, ev.Y-b.Y, m.click.n, ev.Mods&input.ModAlt != 0)
		})
	}
}

func (m *Model) drag(ev input.Mouse) tea.Cmd {
	switch g := m.grab; {
	case g.border != nil:
		t := m.tab()
		tree, moved := t.tree.MoveBorder(*g.border, ev.X, ev.Y, m.paneArea())
		if moved {
			t.tree = tree
			m.moved()
		}
	case g.dock:
		if d, moved := m.dock.MoveBorder(ev.X, ev.Y, m.area()); moved {
			m.dock = d
			m.moved()
		}
	case g.pane != 0:
		v := m.views[g.pane]
		if v == nil || !v.shown {
			return nil
		}
		b := v.placed.Body
		if v.copy == nil {
			m.enterCopy(v, true)
			m.selecting(v, func(c *copymode.Mode) copymode.Result {
				return c.Press(m.click.x-b.X, m.click.y-b.Y, 1, ev.Mods&input.ModAlt != 0)
			})
		}
		return m.selecting(v, func(c *copymode.Mode) copymode.Result { return c.Drag(ev.X-b.X, ev.Y-b.Y) })
	}
	return nil
}

// release ends a drag. What was selected with the mouse is copied at once.
func (m *Model) release(ev input.Mouse) tea.Cmd {
	g := m.grab
	m.grab = grab{}
	if g.dock {
		return m.rememberDock()
	}
	v := m.views[g.pane]
	if v == nil || v.copy == nil {
		return nil
	}
	b := v.placed.Body
	return m.selecting(v, func(c *copymode.Mode) copymode.Result { return c.Release(ev.X-b.X, ev.Y-b.Y) })
}

// wheel scrolls what is under the pointer. On the alternate screen of a program
// that did not ask for the mouse it sends cursor keys, as terminals do.
func (m *Model) wheel(ev input.Mouse) tea.Cmd {
	lines := wheelLines
	if ev.Button == input.WheelUp {
		lines = -wheelLines
	} else if ev.Button != input.WheelDown {
		return nil
	}
	if m.docked.Body.Contains(ev.X, ev.Y) {
		m.panels.Wheel(lines)
		return m.soon()
	}
	t := m.tab()
	if t == nil {
		return nil
	}
	v := m.views[session.PaneID(t.tree.PaneAt(ev.X, ev.Y, m.paneArea()))]
	if v == nil {
		return nil
	}
	if v.copy == nil && v.alive() && v.wanted.AltScreen && !v.readOnly {
		m.wheelKeys(v, lines)
		return nil
	}
	if v.copy == nil {
		if lines > 0 {
			return nil // at the bottom already
		}
		m.enterCopy(v, true)
	}
	return m.selecting(v, func(c *copymode.Mode) copymode.Result { return c.Wheel(lines) })
}

func (m *Model) wheelKeys(v *view, lines int) {
	key := input.Key{Code: input.KeyDown}
	if lines < 0 {
		key.Code, lines = input.KeyUp, -lines
	}
	var b []byte
	for range lines {
		b = input.EncodeKey(b, key, childModes(v.wanted, input.Area{}, vt.Pixels{}))
	}
	v.pane.Post(b)
}

// autoscroll goes on while a drag rests outside its pane.
func (m *Model) autoscroll(id session.PaneID) tea.Cmd {
	m.scrolling = false
	v := m.views[id]
	if v == nil || v.copy == nil || m.grab.pane != id {
		return nil
	}
	return m.selecting(v, func(c *copymode.Mode) copymode.Result { return c.Tick() })
}
