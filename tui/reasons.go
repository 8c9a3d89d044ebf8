package tui

import "github.com/honestty/honestty/tui/layout"

// Why an action cannot be done now, "" when it can. These sentences stand in the
// palette and in the bar.

func noPane(m *Model) string {
	if m.focused() == nil {
		return "there is no pane"
	}
	return ""
}

func noRunning(m *Model) string {
	switch v := m.focused(); {
	case v == nil || !v.alive():
		return "nothing runs in this pane"
	case v.readOnly:
		return "this pane is read-only"
	}
	return ""
}

func noPrefix(m *Model) string {
	if m.keys.Prefix() == "" {
		return "these keys have no prefix"
	}
	return noRunning(m)
}

func notEnded(m *Model) string {
	switch v := m.focused(); {
	case v == nil:
		return "there is no pane"
	case v.alive():
		return "it still runs: end it first"
	}
	return ""
}

func noNeighbour(m *Model) string {
	if t := m.tab(); t == nil || t.tree.Len() < 2 {
		return "this tab has only one pane"
	}
	return ""
}

func oneTab(m *Model) string {
	if len(m.tabs) < 2 {
		return "there is only one tab"
	}
	return ""
}

func noDock(m *Model) string {
	if !m.docked.Shown() {
		return "the dock is closed"
	}
	return ""
}

func noAlerts(m *Model) string {
	if len(m.alerts) == 0 && len(m.standing()) == 0 {
		return "there are no alerts"
	}
	return ""
}

func nothingCopied(m *Model) string {
	if m.copiedText == "" {
		return "nothing was copied here yet"
	}
	return noRunning(m)
}

func noMarks(m *Model) string {
	v := m.focused()
	if v == nil {
		return "there is no pane"
	}
	if m.commands(v) == 0 {
		return "no shell marks (OSC 133) here: see honestty shell --help"
	}
	return ""
}

func cannotSplit(dir layout.Dir) func(*Model) string {
	return func(m *Model) string {
		t := m.tab()
		if t == nil {
			return ""
		}
		if err := t.tree.CanSplit(t.tree.Focus(), dir, m.paneArea()); err != nil {
			return err.Error()
		}
		return ""
	}
}
