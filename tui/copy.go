package tui

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/honestty/honestty/config"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tui/copymode"
	"github.com/honestty/honestty/tui/input"
	"github.com/honestty/honestty/tui/picker"
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/vt"
)

// enterCopy opens copy mode on a pane as it is now. Copy mode reads a snapshot:
// a flood of output takes nothing from under the cursor or a search, and costs
// the program no time.
func (m *Model) enterCopy(v *view, byWheel bool) {
	if v.copy != nil {
		return
	}
	v.pane.Look(func(t *vt.Terminal) { v.frozen = t.Snapshot() })
	v.frozenStyles, v.frozenAt = screen.StyleMap{}, v.pane.Info().BytesRead
	v.copy = copymode.New(copymode.Of(v.frozen), v.placed.Body.H)
	v.copy.ASCII = !m.caps.UTF8 || m.conf.UI.ASCII
	v.byWheel = byWheel
	m.dirty = true
}

func (m *Model) leaveCopy(v *view) {
	v.copy, v.frozen, v.byWheel, v.stale = nil, nil, false, true
	m.dirty = true
}

// copyKey gives copy mode a key.
func (m *Model) copyKey(v *view, key input.Key) tea.Cmd {
	name := key.String()
	handled := true
	cmd := m.selecting(v, func(c *copymode.Mode) copymode.Result {
		r := c.Key(name)
		handled = r.Handled
		return r
	})
	switch {
	case handled:
	case v.byWheel && v.alive(): // the mouse brought us here; who types goes on working
		m.leaveCopy(v)
		v.pane.Post(input.EncodeKey(nil, key, childModes(v.wanted, input.Area{}, vt.Pixels{})))
	default:
		m.say(name+" means nothing in copy mode: q leaves it", true)
	}
	return cmd
}

// selecting calls copy mode and acts on what comes of it.
func (m *Model) selecting(v *view, call func(*copymode.Mode) copymode.Result) tea.Cmd {
	if v.copy == nil {
		return nil
	}
	v.copy.Use(copymode.Of(v.frozen))
	r := call(v.copy)
	m.dirty = true
	var cmds []tea.Cmd
	if r.Copied {
		lacks := ""
		if r.Lost > 0 {
			lacks = fmt.Sprintf("%s of the selected lines had been cut from the history", outcome.Count(r.Lost))
		}
		cmds = append(cmds, m.copyOut(r.Text, r.Lines, lacks))
	}
	if r.More {
		cmds = append(cmds, searchOn(v))
	}
	if r.Autoscroll && !m.scrolling {
		m.scrolling = true
		id := v.pane.ID()
		cmds = append(cmds, tea.Tick(scrollTime, func(time.Time) tea.Msg { return scrollMsg{id} }))
	}
	// What the mouse began ends by itself: at the bottom, or once it has copied.
	if r.Leave || v.byWheel && (r.Copied || r.AtEnd && m.grab.pane == 0) {
		m.leaveCopy(v)
	}
	return tea.Batch(cmds...)
}

// stepRows is how many rows a search reads before the window gets its turn.
const stepRows = 5000

// searchOn has a search go on once the window had its turn.
func searchOn(v *view) tea.Cmd {
	if v.stepping {
		return nil
	}
	v.stepping = true
	id := v.pane.ID()
	return func() tea.Msg { return stepMsg{id} }
}

// searchAnew has the searches go on that a change of size began anew.
func (m *Model) searchAnew() tea.Cmd {
	var cmds []tea.Cmd
	for _, v := range m.views {
		if v.searchAnew {
			v.searchAnew = false
			cmds = append(cmds, searchOn(v))
		}
	}
	return tea.Batch(cmds...)
}

func (m *Model) stepSearch(id session.PaneID) tea.Cmd {
	v := m.views[id]
	if v == nil {
		return nil
	}
	v.stepping = false
	return m.selecting(v, func(c *copymode.Mode) copymode.Result {
		more, _ := c.Step(stepRows)
		return copymode.Result{More: more}
	})
}

// composeCopy draws a pane in copy mode.
func (m *Model) composeCopy(v *view) {
	b := v.placed.Body
	buf := copymode.Of(v.frozen)
	v.copy.Use(buf)
	view := v.copy.View(b.H)
	m.screen.Blit(b.X, b.Y, b.W, b.H, viewport{v.frozen, buf, view}, &v.frozenStyles)
	for y, l := range view.Lines {
		m.composeCopyLine(b.X, b.Y+y, b.W, l)
	}
	if m.dialog == nil && !m.inDock && v == m.focused() && view.CursorIn {
		m.screen.SetCursor(b.X+view.CursorX, b.Y+view.CursorY, true, 0)
	}
}

func (m *Model) composeCopyLine(x, y, w int, l copymode.Line) {
	if l.Kind == copymode.Fold || l.Kind == copymode.Cut {
		m.screen.SetText(x, y, w, l.Text, m.theme.Dim)
	}
	for _, s := range l.Spans {
		want := m.theme.Match
		switch s.Kind {
		case copymode.Selected:
			want = m.theme.Selection
		case copymode.Current:
			want = m.theme.MatchNow
		}
		from, to := max(s.From, 0), min(s.To, w)
		if from >= to {
			continue
		}
		m.screen.Restyle(x+from, y, to-from, 1, func(st vt.Style) vt.Style {
			if s.Kind == copymode.Match {
				st.Underline = want.Underline
				return st
			}
			st.FG, st.BG, st.Attrs = want.FG, want.BG, want.Attrs
			return st
		})
	}
}

// A viewport shows the rows that a copy mode has chosen. It is a pointer type
// by its terminal, as screen.Source asks.
type viewport struct {
	*vt.Terminal
	buf  copymode.Buffer
	view *copymode.View
}

func (p viewport) Line(r vt.Row) []vt.Cell {
	if int(r) >= len(p.view.Lines) || p.view.Lines[r].Kind != copymode.Row {
		return nil
	}
	return p.buf.Cells(p.view.Lines[r].Row, nil)
}

// copyOut sends a text to the clipboard in every way that there is, and says
// afterwards which of them took it. lacks says what of the text was lost before.
func (m *Model) copyOut(text string, lines int, lacks string) tea.Cmd {
	m.copiedText = text
	done := copiedMsg{Lines: lines, Bytes: len(text), Lacks: lacks}
	via := m.conf.Clipboard.Copy
	if via != config.CopyDesktop {
		if m.w.writer.Pass(osc52(text)) {
			done.Ways = append(done.Ways, "the terminal (OSC 52)")
		} else {
			done.Err = errors.New("the terminal takes no more bytes now")
		}
	}
	tool := desktopTool(m.w.opt.Env)
	if via == config.CopyOSC52 || tool == nil {
		if via == config.CopyDesktop {
			done.Err = errors.New("no clipboard program was found (wl-copy, xclip, xsel, pbcopy)")
		}
		return func() tea.Msg { return done }
	}
	w := m.w
	return func() tea.Msg {
		defer w.guard()
		if err := runTool(tool, text, toolTime); err != nil {
			done.Err = fmt.Errorf("%s: %w", tool[0], err)
		} else {
			done.Ways = append(done.Ways, tool[0])
		}
		return done
	}
}

// toolTime is how long a program of the desktop may take: one whose display
// does not answer waits for ever.
const toolTime = 5 * time.Second

// runTool gives a text to a program and waits for its end. What it leaves behind
// (xclip serves the clipboard from the background) does not hold us up: it gets
// no pipe of ours.
func runTool(argv []string, text string, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin = strings.NewReader(text)
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		return fmt.Errorf("no end after %s, so it was stopped", outcome.Duration(limit))
	}
	return err
}

// osc52 is the sequence that sets the outer terminal's clipboard.
func osc52(text string) []byte {
	return []byte("\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(text)) + "\x1b\\")
}

// desktopTool is the desktop's own clipboard program, nil where there is none.
func desktopTool(env func(string) string) []string {
	var tools [][]string
	if env("WAYLAND_DISPLAY") != "" {
		tools = append(tools, []string{"wl-copy"})
	}
	if env("DISPLAY") != "" {
		tools = append(tools, []string{"xclip", "-selection", "clipboard"}, []string{"xsel", "--clipboard", "--input"})
	}
	tools = append(tools, []string{"pbcopy"})
	for _, t := range tools {
		if _, err := exec.LookPath(t[0]); err == nil {
			return t
		}
	}
	return nil
}

// copied says what became of a copy. A terminal does not confirm OSC 52, so
// "sent" is all that can be said of that way.
func (m *Model) copied(c copiedMsg) {
	what := outcome.Count(int64(c.Lines)) + " lines"
	if c.Lines == 1 {
		what = "1 line"
	}
	what += fmt.Sprintf(" (%s)", outcome.Size(int64(c.Bytes)))
	switch {
	case len(c.Ways) == 0:
		m.say("not copied: "+c.Err.Error(), true)
	default:
		said := []string{"copied " + what + " by " + strings.Join(c.Ways, " and ")}
		if c.Lacks != "" { // before how it went: the copy is not what was asked for
			said = []string{"copied " + what, c.Lacks}
		}
		if c.Err != nil {
			said = append(said, c.Err.Error())
		}
		m.say(strings.Join(said, "; "), len(said) > 1)
	}
}

// clip acts on a program that wants to set the clipboard (OSC 52).
func (m *Model) clip(v *view, c *session.Clip) tea.Cmd {
	program := v.command()
	switch m.state.ConsentFor(program, m.conf) {
	case config.ConsentAllow:
		return m.copyOut(c.Text, strings.Count(c.Text, "\n")+1, "")
	case config.ConsentDeny:
		m.say(program+" wanted to set the clipboard: refused", true)
		return nil
	}
	ask := &picker.Chooser{
		Question: program + " wants to put " + outcome.Size(int64(len(c.Text))) + " into the clipboard",
		Options: []picker.Option{
			{ID: "once", Title: "Allow once", Detail: firstWords(c.Text)},
			{ID: "allow", Title: "Always allow " + program},
			{ID: "deny", Title: "Never allow " + program},
			{ID: "no", Title: "Refuse once"},
		},
	}
	ask.Select("no")
	m.open(&dialog{
		Dialog: unasked{ask},
		chosen: func(r picker.Result) tea.Cmd {
			switch r.ID {
			case "allow", "deny":
				answer := config.Consent(r.ID)
				_ = m.state.Remember(program, answer) // a name too long to keep is asked for again
				save := m.updateState(func(s *config.State) error { return s.Remember(program, answer) })
				if r.ID == "deny" {
					return save
				}
				return tea.Batch(save, m.copyOut(c.Text, strings.Count(c.Text, "\n")+1, ""))
			case "once":
				return m.copyOut(c.Text, strings.Count(c.Text, "\n")+1, "")
			}
			m.say("refused: the clipboard is as it was", false)
			return nil
		},
	})
	return nil
}

// firstWords shows the beginning of a text from outside, safely.
func firstWords(text string) string {
	const most = 40
	s := screen.Visible(oneLine(text))
	for screen.Width(s) > most {
		r := []rune(s)
		s = string(r[:len(r)-1])
	}
	return s
}
