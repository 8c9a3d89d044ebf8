package tui

import (
	"context"
	"os"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/honestty/honestty/config"
	"github.com/honestty/honestty/tools/fdmeter"
	"github.com/honestty/honestty/tui/keymap"
	"github.com/honestty/honestty/tui/layout"
	"github.com/honestty/honestty/tui/panels"
	"github.com/honestty/honestty/tui/picker"
	"github.com/honestty/honestty/tui/statusbar"
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

// toggleDock hides the dock that is shown, and shows it otherwise: one that is
// open but has no place is not shown.
func (m *Model) toggleDock() tea.Cmd {
	if !m.docked.Shown() {
		m.openDock()
		return nil
	}
	m.dock.Open, m.inDock = false, false
	m.moved()
	return nil
}

// openDock shows the dock, or says why it has no place. One that was open before
// the window became too small stays open for when it grows.
func (m *Model) openDock() {
	if err := m.dock.Fits(m.area()); err != nil {
		m.say(err.Error(), true)
		return
	}
	m.dock.Open, m.inDock = true, false
	m.moved()
}

func (m *Model) focusDock() tea.Cmd {
	if m.inDock {
		m.inDock = false
		return nil
	}
	if !m.docked.Shown() {
		m.openDock()
	}
	m.inDock = m.docked.Shown()
	return tea.Batch(m.panelsChanged(), m.soon())
}

func (m *Model) showFDs() tea.Cmd {
	m.panels.Show(m.fds.Name())
	if !m.docked.Shown() {
		m.openDock()
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
	if name == "?" && !m.panels.Typing() {
		m.panelHelp()
		return nil
	}
	before := m.panels.Active()
	action, handled := m.panels.Key(name)
	if m.panels.Active() != before {
		return tea.Batch(m.panelsChanged(), m.soon())
	}
	if !handled && (name == "q" || name == "esc") {
		m.inDock = false
		return nil
	}
	if !handled {
		m.say(name+" means nothing here: q goes back to the pane", true)
	}
	return m.panelAction(action)
}

// panelHelp lists the keys of the panel, and does what is chosen.
func (m *Model) panelHelp() {
	p := m.panels.Active()
	var items []picker.Item
	for _, k := range append(p.Keys(), panels.KeyHelp{Key: "tab", Does: "the next panel"}, panels.KeyHelp{Key: "q", Does: "back to the pane"}) {
		items = append(items, picker.Item{ID: k.Key, Title: k.Does, Keys: keymap.Label(k.Key)})
	}
	m.open(&dialog{
		Dialog: picker.New("Keys of "+p.Name(), "key", items, nil),
		chosen: func(r picker.Result) tea.Cmd { return m.dockKey(r.ID) },
	})
}

// panelAction does what a panel asks for.
func (m *Model) panelAction(a panels.Action) tea.Cmd {
	switch a := a.(type) {
	case panels.ReadTypes:
		return m.readTypes(a)
	case panels.ReadHolders:
		return m.readHolders(a)
	case panels.GoToPane:
		for id, v := range m.views {
			if v.info.PID == a.PID {
				m.goToPane(id)
			}
		}
	default:
		return m.callAction(a)
	}
	return nil
}

// readTypes looks at the descriptors of one process, and at what the parts of
// this program hold when it is the process.
func (m *Model) readTypes(a panels.ReadTypes) tea.Cmd {
	w := m.w
	return func() tea.Msg {
		defer w.guard()
		meter := &fdmeter.Meter{}
		msg := typesMsg{Asked: a, Breakdown: meter.Types(a.PID, time.Now())}
		meter.Join(&msg.Breakdown, meter.Sockets())
		if a.PID == os.Getpid() {
			own := meter.Own(time.Now(), a.PID, w.session.OwnParts(msg.Breakdown))
			msg.Own = &own
		}
		return msg
	}
}

// surveyLimit is how long a look at every process may take.
const surveyLimit = 5 * time.Second

// readHolders looks who holds what on the whole machine.
func (m *Model) readHolders(a panels.ReadHolders) tea.Cmd {
	w := m.w
	return func() tea.Msg {
		defer w.guard()
		ctx, cancel := context.WithTimeout(context.Background(), surveyLimit)
		defer cancel()
		meter := &fdmeter.Meter{}
		h := panels.Holders{Survey: meter.Survey(ctx, time.Now()), Sockets: meter.Sockets(), Types: meter.Types(a.PID, time.Now())}
		meter.Join(&h.Types, h.Sockets)
		if a.Parent > 0 {
			h.Parent = meter.Read(a.Parent, time.Now()).Name
			h.Shared = meter.Inherited(meter.Types(a.Parent, time.Now()), h.Types)
		}
		return holdersMsg{a, h}
	}
}

// meterRead shows a count, and raises an alert for what came near to a line.
func (m *Model) meterRead(s fdmeter.Snapshot) {
	m.meter, m.metered, m.dirty = s, true, true
	m.fds.Show(panels.Reading{Snapshot: s, Panes: m.meterPanes(), Waits: m.w.opt.Poller.Mechanism()})
	for _, a := range m.fds.Alarms() {
		m.alert(alert{mark: statusbar.MarkAttention, text: a.Text, meter: true, pid: a.PID})
	}
}

// lookAtMeter shows the process whose line an alert is about, and forgets the
// alerts about it.
func (m *Model) lookAtMeter(a alert) tea.Cmd {
	m.alerts = slices.DeleteFunc(m.alerts, func(b alert) bool { return b.meter && b.pid == a.pid })
	cmd := m.showFDs()
	if a.pid != 0 {
		m.fds.Choose(a.pid)
	}
	return cmd
}

// watchMeter tells the session whether somebody looks at the descriptors of each
// process. As long as nobody does, it counts seldom.
func (m *Model) watchMeter() {
	watched := m.docked.Shown() && m.panels.Active() == panels.Panel(m.fds)
	if watched != m.watched {
		m.watched = watched
		m.w.session.SetMeterAttention(watched)
	}
}

// hint names the key of an action and what it does; empty where no key does it.
func (m *Model) hint(a keymap.Action, does string) string {
	if key := m.keys.Hint(a); key != "" {
		return key + " " + does
	}
	return ""
}
