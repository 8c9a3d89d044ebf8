package tui

import (
	"os"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tools/fdmeter"
	"github.com/honestty/honestty/tui/panels"
)

// count is a count of this window and of a server with so many descriptors.
func (d *desk) count(server int64) {
	own, other := deskProcess(4600, "/usr/local/bin/honestty", 87, 131), deskProcess(4711, "/usr/bin/node server.js", server, server)
	d.send(session.MeterRead{Snapshot: fdmeter.Snapshot{
		Own: own, Processes: []fdmeter.Process{own, other}, Roots: []fdmeter.Root{{PID: 4711, Members: []int{4711}}},
	}})
}

func (d *desk) meterAlerts() (texts []string) {
	for _, a := range d.m.alerts {
		if a.meter {
			texts = append(texts, a.text)
		}
	}
	return texts
}

func TestALineThatComesNearIsAnAlertOnce(t *testing.T) {
	d := newDesk(t, deskConfig{cols: 120, rows: 30})
	d.pane(alive("zsh", "/", 4711), "", openedMsg{})
	d.count(100)
	if got := d.meterAlerts(); len(got) != 0 {
		t.Fatalf("alerts %q far from any line", got)
	}
	for range 3 {
		d.count(903)
	}
	if got := d.meterAlerts(); len(got) != 1 || !strings.Contains(got[0], "node (4711) uses 904 of 1024") {
		t.Fatalf("alerts %q", got)
	}
	d.m.lookAtAlert()
	if got := d.meterAlerts(); len(got) != 0 {
		t.Errorf("alerts %q that were looked at", got)
	}
	if !d.m.inDock || d.m.panels.Active() != panels.Panel(d.m.fds) || !strings.Contains(d.screen(), "4711 node server.js") {
		t.Errorf("looking does not lead to the process:\n%s", d.screen())
	}
	d.count(903)
	if got := d.meterAlerts(); len(got) != 0 {
		t.Errorf("alerts %q again", got)
	}
}

func TestTheSessionCountsFastOnlyWhileThePanelIsInSight(t *testing.T) {
	d := newDesk(t, deskConfig{cols: 120, rows: 30})
	d.pane(alive("zsh", "/", 4711), "", openedMsg{})
	if d.m.watched {
		t.Error("nobody looks, and the session counts as if somebody did")
	}
	d.m.showFDs()
	if d.count(100); !d.m.watched {
		t.Error("the panel is in sight, and the session does not know")
	}
	d.m.toggleDock()
	if d.count(100); d.m.watched {
		t.Error("the panel is gone, and the session does not know")
	}
}

func TestThePanelGetsWhatItAsksFor(t *testing.T) {
	d := newDesk(t, deskConfig{cols: 120, rows: 30})
	d.pane(alive("zsh", "/", 4711), "", openedMsg{})
	own := deskProcess(os.Getpid(), "/usr/local/bin/honestty", 87, 131)
	own.Birth = 0
	d.send(session.MeterRead{Snapshot: fdmeter.Snapshot{Own: own, Processes: []fdmeter.Process{own}}})
	d.m.showFDs()
	for key, want := range map[string]string{"enter": "held by nobody who says so", "p": "terminals without anybody"} {
		msg := carried(d.m.dockKey(key))
		if msg == nil {
			t.Fatalf("%s asks for nothing", key)
		}
		if d.send(msg); !strings.Contains(d.screen(), want) {
			t.Errorf("after %s no %q in\n%s", key, want, d.screen())
		}
		d.m.dockKey("esc")
	}
}

// carried runs a command and returns what it found.
func carried(cmd tea.Cmd) tea.Msg {
	if cmd == nil {
		return nil
	}
	return cmd()
}
