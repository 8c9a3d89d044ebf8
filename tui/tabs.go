package tui

import (
	"slices"
	"strconv"

	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tui/layout"
	"github.com/honestty/honestty/tui/statusbar"
)

// A tab is a layout of panes.
type tab struct {
	id   int // never given out twice; the place in the bar may change
	tree layout.Tree
	name string // given by the user; empty: the focused pane's command
}

// newTab puts a tab with one pane behind the others.
func (m *Model) newTab(id session.PaneID, name string) *tab {
	m.tabIDs++
	t := &tab{id: m.tabIDs, tree: layout.New(layout.ID(id)), name: name}
	m.tabs = append(m.tabs, t)
	return t
}

// tab returns the one that is shown, nil when there is none.
func (m *Model) tab() *tab {
	if m.active < 0 || m.active >= len(m.tabs) {
		return nil
	}
	return m.tabs[m.active]
}

// focused returns the view that has the keyboard, nil when there is no pane.
func (m *Model) focused() *view {
	if t := m.tab(); t != nil {
		return m.views[session.PaneID(t.tree.Focus())]
	}
	return nil
}

// showTab makes a tab the one that is shown.
func (m *Model) showTab(i int) {
	if i < 0 || i >= len(m.tabs) || i == m.active {
		return
	}
	m.lastTab, m.active = m.active, i
	m.inDock = false
	m.moved()
}

// tabOf returns the number of the tab that holds a pane, -1 for none.
func (m *Model) tabOf(id session.PaneID) int {
	return slices.IndexFunc(m.tabs, func(t *tab) bool { return t.tree.Has(layout.ID(id)) })
}

// closeTabAt takes an empty tab away.
func (m *Model) closeTabAt(i int) {
	m.tabs = slices.Delete(m.tabs, i, i+1)
	if m.active >= i && m.active > 0 {
		m.active--
	}
	if m.lastTab > i {
		m.lastTab--
	}
	m.lastTab = min(m.lastTab, len(m.tabs)-1)
	m.moved()
}

// moved says that what is shown where has changed: layout, focus or tab.
func (m *Model) moved() {
	m.dirty = true
	m.arrange()
	m.refocus()
}

// barTabs is the left end of the status bar.
func (m *Model) barTabs() []statusbar.Tab {
	tabs := make([]statusbar.Tab, len(m.tabs))
	for i, t := range m.tabs {
		name := m.tabName(t)
		if t.tree.Zoomed && t.tree.Len() > 1 { // nothing else tells that there are others
			name = "zoomed " + name
		} else if hidden := len(t.tree.Hidden(m.paneArea())); hidden > 0 {
			name += " +" + strconv.Itoa(hidden) // the window is too small for them
		}
		tabs[i] = statusbar.Tab{Number: i + 1, Name: name, Active: i == m.active, Mark: m.tabMark(t, i == m.active)}
	}
	return tabs
}

func (m *Model) tabName(t *tab) string {
	if t.name != "" {
		return t.name
	}
	v := m.views[session.PaneID(t.tree.Focus())]
	if v == nil {
		return ""
	}
	if title := v.title(m.w.opt.Env("HOME")); title != "" {
		return title
	}
	return v.command()
}

// tabMark is the worst thing in a tab that nobody has looked at.
func (m *Model) tabMark(t *tab, active bool) statusbar.Mark {
	worst := statusbar.MarkNone
	for _, id := range t.tree.Panes() {
		v := m.views[session.PaneID(id)]
		if v == nil {
			continue
		}
		switch mark := v.mark(); {
		case !v.seen && mark == statusbar.MarkFailure:
			return mark
		case !v.seen && mark != statusbar.MarkNone:
			worst = mark
		case v.called && !active:
			worst = statusbar.MarkAttention
		case v.activity && !active && worst == statusbar.MarkNone:
			worst = statusbar.MarkRunning
		}
	}
	return worst
}

// area is what is left for panes and dock above the bar and the hints.
func (m *Model) area() layout.Size {
	h := m.size.Rows
	if h > 1 {
		h-- // the status bar
	}
	if m.hinting() {
		h--
	}
	return layout.Size{W: m.size.Cols, H: h}
}

// paneArea is what the dock leaves for panes.
func (m *Model) paneArea() layout.Size {
	main := m.docked.Main
	return layout.Size{W: main.W, H: main.H}
}

// arrange gives every pane its place and size.
func (m *Model) arrange() {
	m.docked = m.dock.Place(m.area())
	seen := map[*view]bool{}
	for _, v := range m.views {
		seen[v], v.shown = v.shown, false
	}
	for i, t := range m.tabs {
		for _, p := range t.tree.Rects(m.paneArea()) {
			v := m.views[session.PaneID(p.ID)]
			if v == nil {
				continue
			}
			// Panes of hidden tabs get their size too, so that nothing jumps
			// when they are shown.
			v.resize(m.bodySize(p.Body))
			if i != m.active {
				continue
			}
			v.placed, v.shown, v.stale = p, true, true
			v.activity, v.called = false, false
		}
	}
	for v, was := range seen {
		if was && !v.shown {
			v.hide()
		}
	}
	m.screen.Fill(0, 0, m.size.Cols, m.size.Rows, m.theme.Text)
}
