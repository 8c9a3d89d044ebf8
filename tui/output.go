package tui

import (
	"errors"
	"fmt"
	"os"
	"slices"
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
	lacks := ""
	if out.Cut {
		lacks = "its beginning had been cut from the history"
	}
	return m.copyOut(out.Text, out.Lines, lacks)
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
	m.ask(fmt.Sprintf("Pipe %s of output to", outcome.Size(int64(len(out.Whole())))), "runs it in a tab", "", func(command string) tea.Cmd {
		if strings.TrimSpace(command) == "" {
			return nil
		}
		return m.withFile(out.Whole(), func(path string) session.Spec {
			return session.Spec{
				Command: reading(command),
				Env:     append(os.Environ(), "HONESTTY_OUTPUT="+path),
			}
		})
	})
	return nil
}

// reading is a command line with the output as its standard input. The line may
// be a pipeline or several commands, so the shell itself reads from it.
func reading(command string) []string {
	return []string{"/bin/sh", "-c", `exec <"$HONESTTY_OUTPUT"` + "\n" + command}
}

// openEditor opens all that a pane wrote in the user's editor.
func (m *Model) openEditor() tea.Cmd {
	editor := m.editor()
	var text string
	m.focused().pane.Peek(func(t *vt.Terminal) {
		buf := copymode.Of(t)
		text = string(copymode.AppendRows(nil, buf, 0, buf.Rows())) + "\n" // a file of lines
	})
	return m.withFile(text, func(path string) session.Spec {
		return session.Spec{
			// The variable may hold options, as in EDITOR="code --wait", so a shell
			// takes it apart; the path is never parsed.
			Command: []string{"/bin/sh", "-c", editor + ` "$HONESTTY_OUTPUT"`},
			Env:     append(os.Environ(), "HONESTTY_OUTPUT="+path),
		}
	})
}

// withFile writes a text to a private file and opens a tab with a command that
// reads it, as often as it is run again. The file goes with its pane.
func (m *Model) withFile(text string, spec func(path string) session.Spec) tea.Cmd {
	w, size := m.w, m.bodySize(m.wholeBody())
	m.opening++
	return func() tea.Msg {
		defer w.guard()
		path, err := w.keepFile(text)
		if err != nil {
			return notOpenedMsg{err}
		}
		return openedMsg{Pane: w.session.Open(spec(path), size), File: path}
	}
}

// notOpenedMsg says that a pane that was on its way does not come.
type notOpenedMsg struct{ Err error }

// keepFile writes a text to a private file that is gone when the window is.
func (w *Window) keepFile(text string) (string, error) {
	path, err := tempText(text)
	if err == nil {
		w.filesMu.Lock()
		w.files = append(w.files, path)
		w.filesMu.Unlock()
	}
	return path, err
}

// dropFile removes a file that was kept; "" is none. One that cannot be removed
// is tried again when the window ends.
func (w *Window) dropFile(path string) {
	if path == "" || os.Remove(path) != nil {
		return
	}
	w.filesMu.Lock()
	defer w.filesMu.Unlock()
	w.files = slices.DeleteFunc(w.files, func(f string) bool { return f == path })
}

// dropFiles removes all that is left.
func (w *Window) dropFiles() error {
	w.filesMu.Lock()
	files := w.files
	w.files = nil
	w.filesMu.Unlock()
	var errs []error
	for _, f := range files {
		if err := os.Remove(f); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, fmt.Errorf("remove the output's file: %w", err))
		}
	}
	return errors.Join(errs...)
}

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
