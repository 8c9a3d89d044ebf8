package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/honestty/honestty/tui/copymode"
	"github.com/honestty/honestty/tui/input"
	"github.com/honestty/honestty/tui/keymap"
	"github.com/honestty/honestty/tui/picker"
)

// A dialog is what lies over the panes and takes every key, with what to do
// once it is answered.
type dialog struct {
	picker.Dialog
	chosen func(picker.Result) tea.Cmd
}

// open shows a dialog. One that is open already is cancelled.
func (m *Model) open(d *dialog) {
	m.dialog = d
	m.grab = grab{} // the release will be the dialog's
	m.dirty = true
}

// An unasked chooser came up by itself, perhaps while somebody was typing. It
// takes no character, so that a digit meant for the shell chooses nothing.
type unasked struct{ *picker.Chooser }

func (d unasked) Key(name, text string) picker.Result {
	if text != "" {
		return picker.Result{}
	}
	return d.Chooser.Key(name, text)
}

func (m *Model) dialogKey(name, text string) tea.Cmd {
	cmd := m.answered(m.dialog.Key(name, text))
	return tea.Batch(cmd, m.formWants())
}

func (m *Model) dialogMouse(ev input.Mouse) tea.Cmd {
	switch {
	case ev.Button == input.WheelUp:
		m.dialog.Wheel(-wheelLines)
	case ev.Button == input.WheelDown:
		m.dialog.Wheel(wheelLines)
	case ev.Action == input.ActionPress && ev.Button == input.ButtonLeft:
		return tea.Batch(m.answered(m.dialog.Click(ev.X, ev.Y)), m.formWants())
	}
	return nil
}

// pasteHere takes a paste that no program gets: into the dialog that is open or
// the pattern that is typed. Where nothing takes it that is said.
func (m *Model) pasteHere(text string) tea.Cmd {
	v := m.focused()
	switch {
	case m.dialog != nil:
		m.dialog.Paste(text)
		return m.formWants()
	case m.inDock && m.pasteInDock(text):
		return m.panelsChanged()
	case m.inDock:
		m.say("nothing pasted: the dock takes no text, q goes back to the pane", true)
	case v != nil && v.copy != nil && v.copy.Typing():
		return m.selecting(v, func(c *copymode.Mode) copymode.Result {
			c.Type(text)
			return copymode.Result{More: true}
		})
	case v != nil && v.copy != nil:
		m.say("nothing pasted: copy mode takes no text, q leaves it", true)
	case v != nil && v.alive() && v.readOnly:
		m.sayReadOnly()
	default:
		m.say("nothing pasted: nothing runs in this pane", true)
	}
	return nil
}

func (m *Model) answered(r picker.Result) tea.Cmd {
	if r.State == picker.Open {
		return nil
	}
	d := m.dialog
	m.dialog = nil
	// What lay under the dialog is drawn again.
	for _, v := range m.views {
		v.stale = true
	}
	m.arrange()
	var cmd tea.Cmd
	if r.State == picker.Chosen && d.chosen != nil {
		cmd = d.chosen(r)
	}
	return tea.Batch(cmd, m.nextQuestion(), m.nextClip())
}

// actionItems lists the actions, each with its keys. The palette has the reason
// in their place where an action cannot be done now; the help, where people look
// for keys, has what the action does, and who chooses it is told the reason.
func (m *Model) actionItems(detail bool) []picker.Item {
	var items []picker.Item
	for _, info := range keymap.Actions() {
		item := picker.Item{
			ID: string(info.Action), Title: info.Title,
			Keys: m.keys.Hint(info.Action),
		}
		if detail {
			item.Detail = info.Description
		} else {
			item.Disabled = m.whyNot(info.Action)
		}
		items = append(items, item)
	}
	return items
}

// search is keymap's search in the form that a Picker takes.
func search(query string, items []picker.Item) []picker.Hit {
	at := map[string]int{}
	for i, item := range items {
		at[item.ID] = i
	}
	var hits []picker.Hit
	for _, found := range keymap.Find(query) {
		i, ok := at[string(found.Action)]
		if !ok {
			continue
		}
		hits = append(hits, picker.Hit{Index: i, Positions: found.InTitle})
	}
	return hits
}

func (m *Model) openPalette(title string, detail bool) {
	p := picker.New(title, "action", m.actionItems(detail), search)
	p.Wide = detail
	m.open(&dialog{
		Dialog: p,
		chosen: func(r picker.Result) tea.Cmd { return m.do(keymap.Action(r.ID)) },
	})
}

// help lists the keys that work where the keyboard is.
func (m *Model) help() tea.Cmd {
	if v := m.focused(); v != nil && v.copy != nil && !m.inDock {
		m.copyHelp(v)
		return nil
	}
	m.openPalette("Help", true)
	return nil
}

// copyHelp lists the keys of copy mode, which has more of them than anybody
// knows by heart, and does what is chosen.
func (m *Model) copyHelp(v *view) {
	var items []picker.Item
	for _, b := range copymode.Bindings() {
		items = append(items, picker.Item{ID: b.Keys[0], Title: b.Does, Keys: copyLabel(m.keys, b)})
	}
	m.open(&dialog{
		Dialog: picker.New("Keys of copy mode", "key", items, nil),
		chosen: func(r picker.Result) tea.Cmd { return onCopy(r.ID)(m) },
	})
}

// CopyKeys is the table of the keys of copy mode, below that of keymap: they are
// no actions and cannot be bound.
func CopyKeys(m *keymap.Map) string {
	var b strings.Builder
	b.WriteString("\nIn copy mode")
	if enters := m.Hint(keymap.CopyMode); enters != "" {
		b.WriteString(" (" + enters + ")")
	}
	b.WriteString("\n")
	w := 0
	for _, k := range copymode.Bindings() {
		w = max(w, len(copyLabel(m, k)))
	}
	for _, k := range copymode.Bindings() {
		fmt.Fprintf(&b, "  %-*s  %s\n", w, copyLabel(m, k), k.Does)
	}
	return b.String()
}

// copyLabel is the keys of a binding of copy mode as they reach it: the prefix
// has to be pressed twice, and what is bound without it does something else.
func copyLabel(m *keymap.Map, b copymode.Binding) string {
	keys := slices.DeleteFunc(slices.Clone(b.Keys), func(key string) bool {
		_, taken := m.Resolve(false, key)
		return taken
	})
	label := keymap.Labels(keys)
	if m.Prefix() == "" || !slices.Contains(keys, m.Prefix()) {
		return label
	}
	prefix := keymap.Label(m.Prefix())
	return strings.Replace(label, prefix, prefix+" "+prefix, 1)
}

// confirm asks before something that cannot be taken back.
func (m *Model) confirm(question, happens, yes, no string, do func() tea.Cmd) {
	m.open(&dialog{
		Dialog: &picker.Confirm{Question: question, Happens: happens, Yes: yes, No: no},
		chosen: func(picker.Result) tea.Cmd { return do() },
	})
}

// ask asks for one line of text.
func (m *Model) ask(title, does, text string, do func(string) tea.Cmd) {
	p := &picker.Prompt{Title: title, Does: does}
	p.Line.Set(text)
	m.open(&dialog{Dialog: p, chosen: func(r picker.Result) tea.Cmd { return do(r.Text) }})
}

// choosePrefix offers honestty's one key.
func (m *Model) choosePrefix() {
	c := &picker.Chooser{Question: "honestty keeps one key for itself. Which?", Also: "honestty keys shows the whole table"}
	choices := keymap.Choices()
	for i, choice := range choices {
		id := strconv.Itoa(i)
		c.Options = append(c.Options, picker.Option{ID: id, Title: choice.Label, Detail: choice.Says})
		if choice.Options.Preset == m.keys.Preset() && choice.Options.Prefix == m.keys.Prefix() {
			c.Select(id)
		}
	}
	m.open(&dialog{Dialog: c, chosen: func(r picker.Result) tea.Cmd {
		i, _ := strconv.Atoi(r.ID)
		return m.setKeys(choices[i].Options)
	}})
}
