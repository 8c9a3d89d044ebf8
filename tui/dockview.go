package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/honestty/honestty/config"
	"github.com/honestty/honestty/tools/fdmeter"
	"github.com/honestty/honestty/tui/keymap"
	"github.com/honestty/honestty/tui/layout"
	"github.com/honestty/honestty/tui/panels"
)

// composeDock draws the dock where it has a place.
func (m *Model) composeDock() {
	if !m.docked.Shown() {
		m.inDock = false
		return
	}
	h, b := m.docked.Header, m.docked.Body
	m.panels.Draw(m.screen, h.X, h.Y, max(h.W, b.W), h.H+b.H, m.inDock, m.theme)
}

func (m *Model) toggleDock() tea.Cmd {
	m.dock.Open = !m.dock.Open
	if err := m.dock.Fits(m.area()); m.dock.Open && err != nil {
		m.dock.Open = false
		m.say(err.Error(), true)
		return nil
	}
	m.inDock = false
	m.moved()
	return nil
}

func (m *Model) focusDock() tea.Cmd {
	if m.inDock {
		m.inDock = false
		return nil
	}
	if !m.docked.Shown() {
		m.toggleDock()
	}
	m.inDock = m.docked.Shown()
	return nil
}

func (m *Model) showFDs() tea.Cmd {
	m.panels.Show(m.fds.Name())
	if !m.docked.Shown() {
		m.toggleDock()
	}
	m.inDock = m.docked.Shown()
	return nil
}

// moveDock puts the dock at the other edge.
func (m *Model) moveDock() tea.Cmd {
	d := m.dock
	d.Side, d.Size = layout.SideBottom, 0
	if m.dock.Side == layout.SideBottom {
		d.Side = layout.SideRight
	}
	if err := d.Fits(m.area()); err != nil {
		m.say(err.Error(), true)
		return nil
	}
	m.dock = d
	m.moved()
	return m.rememberDock()
}

// rememberDock keeps side and size for the next start.
func (m *Model) rememberDock() tea.Cmd {
	side := config.Side(m.dock.Side)
	share := config.Percent(0)
	if span := m.dockSpan(m.dock.Side); m.dock.Size > 0 && span > 0 {
		share = config.Percent(m.dock.Size * 100 / span)
	}
	return m.updateState(func(s *config.State) error {
		s.Dock.Side = side
		if side == config.SideBottom {
			s.Dock.Bottom = share
		} else {
			s.Dock.Right = share
		}
		return nil
	})
}

// dockKey gives the dock a key. q and Esc go back to the pane.
func (m *Model) dockKey(name string) tea.Cmd {
	action, handled := m.panels.Key(name)
	if !handled && (name == "q" || name == "esc") {
		m.inDock = false
		return nil
	}
	if !handled {
		m.say(name+" means nothing here: q goes back to the pane", true)
	}
	return m.panelAction(action)
}

// panelAction does what a panel asks for.
func (m *Model) panelAction(a panels.Action) tea.Cmd {
	switch a := a.(type) {
	case panels.ReadTypes:
		w := m.w
		return func() tea.Msg {
			defer w.guard()
			return typesMsg{a, (&fdmeter.Meter{}).Types(a.PID, time.Now())}
		}
	case panels.GoToPane:
		for id, v := range m.views {
			if v.info.PID == a.PID {
				m.goToPane(id)
			}
		}
	}
	return nil
}

// hint names the key of an action and what it does; empty where no key does it.
func (m *Model) hint(a keymap.Action, does string) string {
	if key := m.keys.Hint(a); key != "" {
		return key + " " + does
	}
	return ""
}
