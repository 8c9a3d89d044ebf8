package tui

import (
	"fmt"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tui/layout"
	"github.com/honestty/honestty/tui/panels"
	"github.com/honestty/honestty/tui/statusbar"
)

func (m *Model) paneChanged(id session.PaneID) {
	v := m.views[id]
	if v == nil {
		return
	}
	v.refresh()
	if !v.shown && v.wroteUnseen() {
		v.activity = m.conf.Notify.Activity
	}
	m.dirty = true
	// What was typed since the last frame is answered at once, also beside a
	// flood that takes every frame.
	m.urgent = m.urgent || v == m.focused() && m.w.router.typed.Load() > m.lastFrame.UnixNano()
}

func (m *Model) paneEnded(id session.PaneID) {
	v := m.views[id]
	if v == nil {
		return
	}
	v.refresh()
	m.dirty = true
	if v.failed() && !v.shown {
		m.alert(alert{mark: v.mark(), text: v.command() + ": " + endText(v.info), pane: id})
	}
}

// endText says in a few words how a pane ended.
func endText(i session.Info) string {
	if i.State == session.StateNotStarted {
		return "did not start"
	}
	s := session.Ending(i.Exit)
	if c := i.Capture(); c.State() != outcome.StateComplete {
		s += ", output " + c.State().String()
	}
	return s
}

// opened puts a new pane where it belongs. When there is no room any more it
// gets a tab of its own: a pane that runs is never out of reach.
func (m *Model) opened(msg openedMsg) {
	m.opening--
	id := msg.Pane.ID()
	v := newView(msg.Pane)
	v.file = msg.File
	m.views[id] = v
	m.inDock = false // what is typed next is for the new pane
	m.colorPanes()
	if i := m.tabOf(msg.Beside); msg.Beside != 0 && i >= 0 {
		tree, err := m.tabs[i].tree.Split(layout.ID(msg.Beside), msg.Dir, layout.ID(id), m.paneArea())
		if err == nil {
			m.tabs[i].tree = tree
			if i != m.active { // a command split a tab that is not shown
				m.lastTab, m.active = max(m.active, 0), i
			}
			m.moved()
			m.reply(msg, id, nil)
			return
		}
		m.say(err.Error()+"; it got a tab of its own", true)
	}
	m.newTab(id, msg.Name)
	m.lastTab, m.active = max(m.active, 0), len(m.tabs)-1
	m.moved()
	m.reply(msg, id, nil)
}

func (m *Model) reply(msg openedMsg, id session.PaneID, err error) {
	if msg.Reply != nil {
		msg.Reply(id, err)
	}
}

// closePane ends a pane's process and takes the pane away once it is gone.
func (m *Model) closePane(v *view) tea.Cmd {
	w, pane, file := m.w, v.pane, v.file
	return func() tea.Msg {
		defer w.guard()
		info := pane.Close()
		w.leave(info)
		w.dropFile(file)
		return paneClosedMsg{pane.ID()}
	}
}

func (m *Model) paneGone(id session.PaneID) {
	delete(m.views, id)
	m.dropAlerts(id)
	i := m.tabOf(id)
	if i < 0 {
		return
	}
	tree, err := m.tabs[i].tree.Close(layout.ID(id))
	if err != nil {
		m.say(err.Error(), true)
		return
	}
	if m.tabs[i].tree = tree; tree.Len() == 0 {
		m.closeTabAt(i)
		return
	}
	m.moved()
}

// paneCalled acts on the bell, on notifications and on the clipboard.
func (m *Model) paneCalled(id session.PaneID) tea.Cmd {
	v := m.views[id]
	if v == nil {
		return nil
	}
	v.refresh()
	m.dirty = true
	if v.info.Bells > v.bells {
		v.bells = v.info.Bells
		m.ring(v)
	}
	for _, n := range v.notified() {
		if m.conf.Notify.Children {
			m.alert(alert{mark: statusbar.MarkAttention, text: v.command() + ": " + oneLine(n.Text), pane: id})
		}
	}
	v.clips = true
	return m.nextClip()
}

// nextClip acts on the next pane whose program wants the clipboard. While a
// dialog is open they wait: a question that appears under somebody's fingers
// is answered by accident, and the one before it would be lost.
func (m *Model) nextClip() tea.Cmd {
	var cmds []tea.Cmd
	for _, t := range m.tabs {
		for _, v := range m.tabViews(t) {
			if !v.clips || m.dialog != nil {
				continue
			}
			v.clips = false
			if clip := v.pane.TakeClip(); clip != nil {
				cmds = append(cmds, m.clip(v, clip))
			}
		}
	}
	return tea.Batch(cmds...)
}

// meterPanes names the processes of the panes for the FDs panel.
func (m *Model) meterPanes() []panels.Pane {
	var out []panels.Pane
	for _, t := range m.tabs {
		for _, v := range m.tabViews(t) {
			if v.info.PID != 0 {
				out = append(out, panels.Pane{PID: v.info.PID, Label: "pane " + strconv.Itoa(int(v.pane.ID()))})
			}
		}
	}
	return out
}

// goToPane shows a pane and gives it the keyboard.
func (m *Model) goToPane(id session.PaneID) {
	i := m.tabOf(id)
	if i < 0 {
		return
	}
	m.tabs[i].tree = m.tabs[i].tree.SetFocus(layout.ID(id))
	m.inDock = false
	if i != m.active {
		m.showTab(i)
		return
	}
	m.moved()
}

// refocus tells the programs that want to know which of them has the keyboard.
func (m *Model) refocus() {
	now := session.PaneID(0)
	if v := m.focused(); v != nil {
		now = v.pane.ID()
	}
	if now == m.had {
		return
	}
	m.tellFocus(m.had, false)
	m.tellFocus(now, true)
	m.had = now
	m.dropAlerts(now)
}

// outerFocus passes the outer terminal's own focus on.
func (m *Model) outerFocus(on bool) { m.tellFocus(m.had, on) }

func (m *Model) tellFocus(id session.PaneID, on bool) {
	v := m.views[id]
	if v == nil || !v.alive() || !v.wanted.FocusEvents {
		return
	}
	report := "\x1b[O"
	if on {
		report = "\x1b[I"
	}
	v.pane.Post([]byte(report))
}

func (m *Model) describe(v *view) string {
	pid := v.info.Where.PID // of the program that is named, which the shell may have started
	if pid == 0 {
		pid = v.info.PID
	}
	return fmt.Sprintf("%s (pid %d)", v.command(), pid)
}
