package tui

import (
	"net/url"
	"os/exec"
	"runtime"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/honestty/honestty/tui/input"
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/vt"
)

// schemes are the kinds of links that may be opened. A file: link could name a
// program, and a javascript: link is one.
var schemes = []string{"http", "https", "mailto"}

// linkAt returns the target of the OSC 8 link under the pointer.
func (v *view) linkAt(ev input.Mouse) (target string) {
	x, y := ev.X-v.placed.Body.X, ev.Y-v.placed.Body.Y
	v.pane.Peek(func(t *vt.Terminal) {
		if line := t.Line(vt.Row(y)); x >= 0 && x < len(line) {
			if id := t.StyleOf(line[x].Style()).Link; id != 0 {
				target = t.LinkOf(id)
			}
		}
	})
	return target
}

// askLink shows where a link really leads before it is opened: its text may say
// something else.
func (m *Model) askLink(target string) {
	u, err := url.Parse(target)
	if err != nil || !slices.Contains(schemes, u.Scheme) {
		m.say("this link is not opened: only http, https and mailto are ("+firstWords(target)+")", true)
		return
	}
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "open"
	}
	if _, err := exec.LookPath(opener); err != nil {
		m.say("this link leads to "+screen.Visible(target)+"; there is no "+opener+" to open it", true)
		return
	}
	w := m.w
	m.confirm("Open this link?", screen.Visible(target), "opens it with "+opener, "does not", func() tea.Cmd {
		return func() tea.Msg {
			defer w.guard()
			if err := exec.Command(opener, target).Run(); err != nil {
				return noteMsg{opener + ": " + err.Error(), true}
			}
			return nil
		}
	})
}
