package tui

import (
	"slices"

	"github.com/honestty/honestty/config"
	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tui/statusbar"
)

// alertsKept bounds the alerts that wait to be looked at; the oldest make room.
const alertsKept = 100

// An alert is something that happened out of sight. It stays in the status bar
// until its pane is looked at.
type alert struct {
	mark statusbar.Mark
	text string
	pane session.PaneID // where it happened; 0: in no pane of ours
	call string         // the call it is about; empty: none

	meter bool // it is about a line of descriptors
	pid   int  // and whose; 0: the machine's
}

// alert adds one. Of what a program says itself only the last counts, and it
// never pushes a failure out: a program can say as much as it likes.
func (m *Model) alert(a alert) {
	if a.mark != statusbar.MarkFailure {
		m.alerts = slices.DeleteFunc(m.alerts, func(b alert) bool {
			return b.pane == a.pane && b.call == a.call && b.mark == a.mark && b.meter == a.meter && b.pid == a.pid
		})
	}
	m.alerts = append(m.alerts, a)
	if len(m.alerts) > alertsKept {
		out := slices.IndexFunc(m.alerts, func(b alert) bool { return b.mark != statusbar.MarkFailure })
		m.alerts = slices.Delete(m.alerts, max(out, 0), max(out, 0)+1)
	}
	m.dirty = true
}

// dropAlerts forgets the alerts of a pane that was looked at.
func (m *Model) dropAlerts(id session.PaneID) {
	m.alerts = slices.DeleteFunc(m.alerts, func(a alert) bool { return a.pane == id && a.call == "" && !a.meter })
}

// dropCallAlerts forgets the alerts of a call that was looked at.
func (m *Model) dropCallAlerts(call string) {
	m.alerts = slices.DeleteFunc(m.alerts, func(a alert) bool { return a.call == call && call != "" })
}

// worst is the alert that the bar shows: a failure before anything else, the
// oldest of its kind first.
func (m *Model) worst() (alert, bool) {
	for _, a := range m.alerts {
		if a.mark == statusbar.MarkFailure {
			return a, true
		}
	}
	if len(m.alerts) > 0 {
		return m.alerts[0], true
	}
	return alert{}, false
}

// ring does what the settings say of the bell. That of a pane in sight is the
// outer terminal's to sound; another one is marked at its tab, or an alert.
func (m *Model) ring(v *view) {
	if m.conf.Notify.Bell == config.BellOff {
		return
	}
	if v.shown {
		m.w.writer.Pass([]byte{'\a'})
		return
	}
	v.called = true
	if m.conf.Notify.Bell == config.BellAlert {
		m.alert(alert{mark: statusbar.MarkAttention, text: v.command() + " rang", pane: v.pane.ID()})
	}
}

// A note is what the status bar says until the next key.
type note struct {
	text string
	bad  bool
}

func (m *Model) say(text string, bad bool) {
	m.note = &note{oneLine(text), bad}
	m.dirty = true
}
