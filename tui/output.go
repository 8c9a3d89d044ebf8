package tui

import (
	"errors"
	"fmt"
	"os"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tui/copymode"
	"github.com/honestty/honestty/vt"
)

// lastOutput reads what the last command of a pane wrote, where the shell marks
// its prompts.
func lastOutput(v *view) (out copymode.Output, ok bool) {
	v.pane.Peek(func(t *vt.Terminal) {
		buf := copymode.Of(t)
		var x copymode.Index
		x.Sync(buf)
		out, ok = x.LastOutput(buf)
	})
	return out, ok
}

// commands counts the commands that the marks tell of.
func (m *Model) commands(v *view) (n int) {
	v.pane.Peek(func(t *vt.Terminal) {
		var x copymode.Index
		x.Sync(copymode.Of(t))
		n = len(x.Commands())
	})
	return n
}

func (m *Model) copyLast() tea.Cmd {
	out, ok := lastOutput(m.focused())
	if !ok {
		m.say("no command has ended yet whose output the shell marks", true)
		return nil
	}
	lost := int64(0)
	if out.Cut {
		lost = 1
	}
	cmd := m.copyOut(out.Text, out.Lines, 0)
	if lost > 0 {
		m.say("the beginning of this output was cut from the history: the rest is copied", true)
	}
	return cmd
}

// pasteCopied types what was copied here last, in brackets when the program
// asked for them.
func (m *Model) pasteCopied() tea.Cmd {
	v := m.focused()
	text := pasted(m.copiedText, v.pane.Modes().BracketedPaste)
	w := m.w
	return func() tea.Msg {
		defer w.guard()
		if err := v.pane.Input([]byte(text)); err != nil {
			return noteMsg{"paste: " + err.Error(), true}
		}
		return nil
	}
}

// pasted is a text as a terminal pastes it. Control characters are left out, as
// in xterm: what was copied may come from a program, and an escape in it could
// end the brackets and type a command behind them.
func pasted(text string, bracketed bool) string {
	text = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (r < 0x20 || r >= 0x7F && r < 0xA0) {
			return -1
		}
		return r
	}, text)
	if bracketed {
		return "\x1b[200~" + text + "\x1b[201~"
	}
	return strings.ReplaceAll(text, "\n", "\r") // as the Enter key sends it
}

// askPipe gives the last output to a command that the user types. It runs in a
// tab of its own, by sh, with the output as its standard input.
func (m *Model) askPipe() tea.Cmd {
	v := m.focused()
	out, ok := lastOutput(v)
	if !ok {
		m.say("no command has ended yet whose output the shell marks", true)
		return nil
	}
	m.ask(fmt.Sprintf("Pipe %s of output to", outcome.Size(int64(len(out.Text)))), "runs it in a tab", "", func(command string) tea.Cmd {
		if strings.TrimSpace(command) == "" {
			return nil
		}
		return m.withFile(out.Text, func(path string) session.Spec {
			return session.Spec{
				Command: []string{"/bin/sh", "-c", command + ` <"$HONESTTY_OUTPUT"; code=$?; rm -f "$HONESTTY_OUTPUT"; exit $code`},
				Env:     append(os.Environ(), "HONESTTY_OUTPUT="+path),
			}
		})
	})
	return nil
}

// openEditor opens all that a pane wrote in the user's editor.
func (m *Model) openEditor() tea.Cmd {
	editor := m.editor()
	var text string
	m.focused().pane.Peek(func(t *vt.Terminal) {
		buf := copymode.Of(t)
		text = string(copymode.AppendRows(nil, buf, 0, buf.Rows()))
	})
	return m.withFile(text, func(path string) session.Spec {
		return session.Spec{
			// The variable may hold options, as in EDITOR="code --wait", so a shell
			// takes it apart; the path is never parsed.
			Command: []string{"/bin/sh", "-c", editor + ` "$HONESTTY_OUTPUT"; code=$?; rm -f "$HONESTTY_OUTPUT"; exit $code`},
			Env:     append(os.Environ(), "HONESTTY_OUTPUT="+path),
		}
	})
}

// withFile writes a text to a private file and opens a tab with a command that
// reads it. The command removes the file.
func (m *Model) withFile(text string, spec func(path string) session.Spec) tea.Cmd {
	w, size := m.w, m.bodySize(m.wholeBody())
	m.opening++
	return func() tea.Msg {
		defer w.guard()
		path, err := tempText(text)
		if err != nil {
			return notOpenedMsg{err}
		}
		return openedMsg{Pane: w.session.Open(spec(path), size)}
	}
}

// notOpenedMsg says that a pane that was on its way does not come.
type notOpenedMsg struct{ Err error }

func tempText(text string) (string, error) {
	f, err := os.CreateTemp("", "honestty-*.txt") // 0600, exclusive
	if err != nil {
		return "", fmt.Errorf("write the output to a file: %w", err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(f.Name())
		return "", fmt.Errorf("write the output to a file: %w", err)
	}
	return f.Name(), nil
}
