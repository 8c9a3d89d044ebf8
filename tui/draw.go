package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/vt"
)

// draw composes a frame and hands it to the writer, or makes sure that it is
// done later: when the writer is free, or when the gap between frames is over.
func (m Model) draw(cmd tea.Cmd) (tea.Model, tea.Cmd) {
	if !m.dirty || m.pending || m.w.writer.Busy() {
		return m, cmd
	}
	now := time.Now()
	if wait := frameGap - now.Sub(m.lastFrame); wait > 0 {
		m.pending = true
		return m, tea.Batch(cmd, due(wait))
	}
	m.dirty = false
	m.lastFrame = now
	held := m.compose(now)
	m.frame = m.screen.Diff(m.frame[:0])
	if !m.w.writer.Submit(m.frame) {
		m.screen.Invalidate() // the writer has ended; its error is on the way
	}
	if held > 0 {
		m.dirty, m.pending = true, true
		cmd = tea.Batch(cmd, due(held))
	}
	return m, cmd
}

func due(d time.Duration) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return frameDueMsg{} })
}

// compose fills the screen. It returns how long the program still holds its
// own part back, 0 when it does not.
func (m *Model) compose(now time.Time) (held time.Duration) {
	m.screen.HideCursor()
	rows := m.paneSize().Rows
	if m.pane != nil {
		held = m.composePane(now, m.size.Cols, rows)
	}
	if m.size.Rows > 1 {
		m.composeBar(m.size.Rows - 1)
	}
	if m.dialog == helpDialog {
		m.composeHelp()
	}
	return held
}

func (m *Model) composePane(now time.Time, cols, rows int) (held time.Duration) {
	info := m.pane.Info()
	foot := footer(info, m.meter, m.metered, m.theme.Glyphs)
	want := m.wanted
	m.pane.Look(func(t *vt.Terminal) {
		if info.State == session.StateRunning {
			if held = m.syncHold(now, t.Modes().SyncOutput); held > 0 {
				return
			}
			want = t.Modes()
			m.screen.Blit(0, 0, cols, rows, t, m.styles)
			m.placeCursor(t)
			return
		}
		want = vt.Modes{}
		used := min(usedRows(t), rows)
		shift := max(0, used+len(foot)-rows)
		m.screen.Blit(0, 0, cols, rows, shifted{t, shift}, m.styles)
		m.composeFooter(foot, used-shift, cols, rows)
		m.shownEnd = info.Runs
	})
	m.follow(want) // after Look: the pane's lock is not held while the router is told
	return held
}

// syncHold returns how much longer a program may hold its screen.
func (m *Model) syncHold(now time.Time, sync bool) time.Duration {
	if !sync {
		m.syncSince = time.Time{}
		return 0
	}
	if m.syncSince.IsZero() {
		m.syncSince = now
	}
	return max(0, syncLimit-now.Sub(m.syncSince))
}

// follow asks of the outer terminal what the program wants of it and it can.
func (m *Model) follow(want vt.Modes) {
	m.wanted = want
	modes := baseModes
	modes.Focus = want.FocusEvents
	switch want.Mouse {
	case vt.MouseX10, vt.MouseNormal, vt.MouseButton:
		modes.Mouse = screen.MouseDrag
	case vt.MouseAny:
		modes.Mouse = screen.MouseMove
	}
	if m.caps.Kitty {
		modes.Kitty = int(want.KittyFlags)
	}
	if modes == m.modes {
		return
	}
	m.modes = modes
	_ = m.w.writer.SetModes(modes) // fails only when the terminal is gone, which ends the window
	m.w.reader.SetKitty(modes.Kitty&1 != 0)
	m.aim()
}

func (m *Model) placeCursor(t *vt.Terminal) {
	if m.dialog != noDialog {
		return
	}
	c := t.Cursor()
	m.screen.SetCursor(int(c.Col), int(c.Row), c.Visible, cursorShape(c))
}

// cursorShape is the DECSCUSR number of a cursor.
func cursorShape(c vt.Cursor) int {
	n := 2 + 2*int(c.Shape) // steady block, underline, bar
	if c.Blink {
		n--
	}
	return n
}

// usedRows counts the rows up to the last one with something on it, or the
// cursor's.
func usedRows(t *vt.Terminal) int {
	_, rows := t.Size()
	c := t.Cursor()
	last := int(c.Row)
	if c.Col > 0 {
		last++
	}
	for r := rows - 1; r >= last; r-- {
		for _, cell := range t.Line(vt.Row(r)) {
			if !cell.Blank() {
				return r + 1
			}
		}
	}
	return last
}

// shifted shows a terminal from a lower row on, to make room below.
type shifted struct {
	*vt.Terminal
	by int
}

func (s shifted) Line(r vt.Row) []vt.Cell {
	_, rows := s.Size()
	if int(r)+s.by >= rows {
		return nil
	}
	return s.Terminal.Line(r + vt.Row(s.by))
}
