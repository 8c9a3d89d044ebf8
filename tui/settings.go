package tui

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/honestty/honestty/config"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tui/keymap"
	"github.com/honestty/honestty/tui/layout"
	"github.com/honestty/honestty/tui/screen"
)

// KeyOptions are the keys of the settings as keymap takes them.
func KeyOptions(k config.Keys) keymap.Options {
	return keymap.Options{Preset: keymap.Preset(k.Preset), Prefix: k.Prefix, Bind: k.Bind}
}

// configure puts settings in force.
func (m *Model) configure(c config.Config) {
	keys, err := keymap.New(KeyOptions(c.Keys))
	if err != nil { // the settings were checked, so this is a defect of ours
		m.say(err.Error(), true)
		if m.keys != nil {
			return
		}
		keys, _ = keymap.New(keymap.Options{})
	}
	m.conf, m.keys = c, keys
	m.restyle()
}

// checkPause is the least time between two looks at the settings file.
const checkPause = time.Second

// checkConfigSoon looks at the settings file unless that was done just now: the
// meter, which looks too, rests in a calm window, and who edits a file does it
// in a pane or comes back from another window.
func (m *Model) checkConfigSoon() tea.Cmd {
	if time.Since(m.checked) < checkPause {
		return nil
	}
	return m.checkConfig()
}

// checkConfig reads the settings again when their file has changed.
func (m *Model) checkConfig() tea.Cmd {
	m.checked = time.Now()
	s := m.w.opt.Settings
	return func() tea.Msg {
		if !s.Changed() {
			return nil
		}
		err := s.Reload()
		return configMsg{s.Config(), err}
	}
}

func (m *Model) reloadConfig() tea.Cmd {
	s := m.w.opt.Settings
	return func() tea.Msg {
		err := s.Reload()
		return configMsg{s.Config(), err}
	}
}

// reconfigured puts new settings in force, or says what is wrong with them and
// leaves the last good ones.
func (m *Model) reconfigured(msg configMsg) {
	if msg.Err != nil {
		m.problems = problemTexts(msg.Err)
		m.say(m.problems[0]+"; the settings before stay in force", true)
		return
	}
	m.problems = nil
	m.configure(msg.Config)
	m.moved()
	m.say("the settings were read anew", false)
}

// problemTexts is what is wrong with the settings: first in a few words, for
// the bar, then all of it.
func problemTexts(err error) []string {
	problems, ok := errors.AsType[config.Problems](err)
	if !ok || len(problems) == 0 {
		return []string{err.Error()}
	}
	texts := []string{"", "The settings before stay in force. What is wrong in " + problems[0].File + ":"}
	for _, p := range problems {
		p.File = filepath.Base(p.File)
		texts = append(texts, p.Error())
	}
	first := problems[0]
	first.File, first.Column = filepath.Base(first.File), 0
	texts[0] = first.Error()
	if more := len(problems) - 1; more > 0 {
		texts[0] += fmt.Sprintf(" (and %d more)", more)
	}
	return texts
}

// setKeys takes other keys at once, and keeps them where that costs nobody's
// file: a settings file that is there already is never edited.
func (m *Model) setKeys(o keymap.Options) tea.Cmd {
	keys, err := keymap.New(o)
	if err != nil {
		m.say(err.Error(), true)
		return nil
	}
	m.keys = keys
	line := fmt.Sprintf("[keys]\npreset = %q\n", string(keys.Preset()))
	if keys.Preset() == keymap.PresetTmux {
		line += fmt.Sprintf("prefix = %q\n", keys.Prefix())
	}
	path := config.UserPath(m.w.opt.Env)
	return func() tea.Msg { return keepKeys(path, line) }
}

func keepKeys(path, text string) tea.Msg {
	if path == "" {
		return noteMsg{"in force for this window; there is no home to keep it in", true}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return noteMsg{"in force for this window, not kept: " + outcome.Errno(err), true}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return noteMsg{"in force for this window; to keep it put it under [keys] in " + path, false}
	}
	if err != nil {
		return noteMsg{"in force for this window, not kept: " + outcome.Errno(err), true}
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return noteMsg{"in force for this window, not kept: " + outcome.Errno(err), true}
	}
	return noteMsg{"in force, and kept in " + path, false}
}

// updateState changes what is remembered from one start to the next.
func (m *Model) updateState(change func(*config.State) error) tea.Cmd {
	file := config.StateFile{Path: config.StatePath(m.w.opt.Env)}
	return func() tea.Msg {
		if _, err := file.Update(change); err != nil && !errors.Is(err, config.ErrNoState) {
			return noteMsg{"not remembered: " + err.Error(), true}
		}
		return nil
	}
}

// hinting reports whether the row of hints is shown: at the first starts, and
// where there is room for it.
func (m *Model) hinting() bool {
	return m.state.Hint() && m.state.Starts > 0 && m.conf.UI.Hints && m.size.Rows >= minHintRows
}

// minHintRows is the height below which the shell needs every row.
const minHintRows = 10

// composeHint says which key is ours, as fully as the width allows.
func (m *Model) composeHint(y int) {
	join := func(parts ...string) string {
		parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
		return " " + strings.Join(parts, " "+m.theme.Glyphs.Dot+" ")
	}
	prefix := keymap.Label(m.keys.Prefix())
	help, other := m.hint(keymap.Help, "help"), m.hint(keymap.ChoosePrefix, "another key")
	var texts []string
	switch ours := prefix + " is honestty's key"; {
	case prefix == "" && help == "" && other == "":
		texts = []string{" no key is honestty's: [keys.bind] in config.toml gives it some"}
	case prefix == "":
		texts = []string{join(help, other)}
	default:
		twice := ours + ", twice sends it on"
		if long, short := m.collision(); long != "" {
			// Who else wants the key comes before the help, whose key is in the bar too.
			texts = append(texts, join(twice, help, strings.TrimSpace(other+" ("+long+")")), join(twice, strings.TrimSpace(other+" ("+short+")")))
		}
		texts = append(texts, join(twice, help, other), join(twice, other), join(ours, help))
	}
	text := texts[len(texts)-1]
	for _, t := range texts {
		if screen.Width(t) <= m.size.Cols {
			text = t
			break
		}
	}
	m.screen.Fill(0, y, m.size.Cols, 1, m.theme.Text)
	m.screen.SetText(0, y, m.size.Cols, text, m.theme.Dim)
}

// collision says who else wants the prefix here, in two lengths.
func (m *Model) collision() (long, short string) {
	if m.w.opt.Env("TMUX") != "" && m.keys.IsPrefix(keymap.DefaultPrefix) {
		key := keymap.Label(keymap.DefaultPrefix)
		return "an outer tmux has " + key + " too", "tmux has " + key + " too"
	}
	if v := m.focused(); v != nil && v.info.Where.Command == "claude" {
		for _, u := range keymap.Uses(m.keys.Prefix()) {
			if u.Program == "Claude Code" {
				return "Claude Code uses it too", "Claude Code too"
			}
		}
	}
	return "", ""
}

// dockSpan is how many columns or rows a share of the dock is taken of.
func (m *Model) dockSpan(side layout.Side) int {
	if side == layout.SideBottom {
		return m.size.Rows
	}
	return m.size.Cols
}
