package tui

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tui/keymap"
	"github.com/honestty/honestty/tui/picker"
	"github.com/honestty/honestty/tui/screen"
)

// choosePane lists the panes of every tab and goes to the one that is chosen.
func (m *Model) choosePane() tea.Cmd {
	var items []picker.Item
	for i, t := range m.tabs {
		for _, v := range m.tabViews(t) {
			id := strconv.Itoa(int(v.pane.ID()))
			title := id + " " + v.command()
			if own := screen.Visible(v.info.Title); own != "" && own != v.command() && v.alive() {
				title += " " + m.theme.Glyphs.Dot + " " + own
			}
			keys := "tab " + strconv.Itoa(i+1)
			if t.name != "" {
				keys += " " + screen.Visible(t.name)
			}
			detail := v.place(m.w.opt.Env("HOME"))
			if v.info.State == session.StateEnded || v.info.State == session.StateNotStarted {
				detail = strings.TrimSpace(endText(v.info) + "  " + detail)
			}
			items = append(items, picker.Item{ID: id, Title: title, Detail: detail, Keys: keys})
		}
	}
	p := picker.New("Go to pane", "pane", items, nil)
	p.Does, p.Wide = "goes there", true
	m.open(&dialog{Dialog: p, chosen: func(r picker.Result) tea.Cmd {
		id, err := strconv.Atoi(r.ID)
		if err != nil || m.tabOf(session.PaneID(id)) < 0 {
			m.say("that pane was closed meanwhile", true)
			return nil
		}
		m.goToPane(session.PaneID(id))
		return nil
	}})
	return nil
}

// moveTab exchanges the tab that is shown with the one beside it.
func moveTab(step int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		from, to := m.active, m.active+step
		m.tabs[from], m.tabs[to] = m.tabs[to], m.tabs[from]
		m.active = to
		if m.lastTab == to {
			m.lastTab = from
		}
		return nil
	}
}

func noTabBeside(step int) func(*Model) string {
	return func(m *Model) string {
		switch to := m.active + step; {
		case len(m.tabs) < 2:
			return oneTab(m)
		case to < 0:
			return "it is the first tab"
		case to >= len(m.tabs):
			return "it is the last tab"
		}
		return ""
	}
}

// toggleReadOnly keeps what is typed, pasted and clicked from a pane's program,
// or ends that. What commands send goes through: who wrote them named the pane.
func (m *Model) toggleReadOnly() tea.Cmd {
	v := m.focused()
	v.readOnly = !v.readOnly
	return nil
}

// sayReadOnly says why a key or a paste did nothing.
func (m *Model) sayReadOnly() {
	text := "not typed: this pane is read-only"
	if hint := m.hint(keymap.ReadOnly, "ends that"); hint != "" {
		text += "; " + hint
	}
	m.say(text, true)
}
