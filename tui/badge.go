package tui

import (
	"slices"
	"strconv"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
	"github.com/honestty/honestty/vt"
)

// A badge says at the right end of a prompt how its command ended.
type badge struct {
	row   vt.Row
	text  string
	state theme.State
}

// badges finds the commands in sight whose prompt and end the shell has marked
// (OSC 133). A code that was not told makes no badge.
func badges(t *vt.Terminal, times []session.Timing) []badge {
	if t.Modes().AltScreen {
		return nil
	}
	var out []badge
	cut, _ := t.HistoryCut()
	top := cut + int64(t.HistoryLen())
	_, rows := t.Size()
	prompt := vt.Row(-1)
	for r := range vt.Row(rows) {
		m := t.LineMark(r)
		if m.End && prompt >= 0 && m.Exit >= 0 {
			b := badge{row: prompt, state: theme.Complete}
			if m.Exit != 0 {
				b.state, b.text = theme.Failed, strconv.Itoa(m.Exit)
			}
			i := slices.IndexFunc(times, func(x session.Timing) bool { return x.Line == top+int64(r) })
			if i >= 0 {
				if b.text != "" {
					b.text += " "
				}
				b.text += outcome.Duration(times[i].Took)
			}
			out = append(out, b)
		}
		if m.End {
			prompt = -1
		}
		if m.Prompt {
			prompt = r
		}
	}
	return out
}

// composeBadges draws them where the row is blank.
func (m *Model) composeBadges(v *view, t *vt.Terminal, list []badge) {
	body := v.placed.Body
	for _, b := range list {
		text := m.theme.Label(b.state)
		if !m.theme.Plain {
			text = m.theme.Glyphs.State(b.state)
		}
		if b.text != "" {
			text += " " + b.text
		}
		w := screen.Width(text) + 1
		line := t.Line(b.row)
		if len(line) < w+1 || int(b.row) >= body.H {
			continue
		}
		if slices.ContainsFunc(line[len(line)-w-1:], func(c vt.Cell) bool { return !c.Blank() }) {
			continue // the program's own text comes first
		}
		st := m.theme.Dim
		if b.state == theme.Failed {
			st = m.theme.Failure
		}
		m.screen.SetText(body.X+body.W-w+1, body.Y+int(b.row), w-1, text, st)
	}
}
