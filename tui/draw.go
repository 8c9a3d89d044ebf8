package tui

import (
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tui/layout"
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/statusbar"
	"github.com/honestty/honestty/tui/theme"
	"github.com/honestty/honestty/vt"
)

// draw composes a frame and hands it to the writer, or makes sure that it is
// done later: when the writer is free, or when the gap between frames is over.
func (m *Model) draw() tea.Cmd {
	if !m.dirty || m.pending && !m.urgent || m.w.writer.Busy() {
		return nil
	}
	now := time.Now()
	if wait := frameGap - now.Sub(m.lastFrame); wait > 0 && !m.urgent {
		m.pending = true
		return due(wait)
	}
	m.dirty, m.urgent = false, false
	m.lastFrame = now
	held := m.compose(now)
	m.frame = m.screen.Diff(m.frame[:0])
	if !m.w.writer.Submit(m.frame) {
		m.screen.Invalidate() // the writer has ended; its error is on the way
	}
	if held > 0 && !m.holding { // the others go on meanwhile
		m.holding = true
		return tea.Tick(held, func(time.Time) tea.Msg { return holdOverMsg{} })
	}
	return nil
}

func due(d time.Duration) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return frameDueMsg{} })
}

// compose fills the screen. It returns for how long a program still holds its
// own part back, 0 when none does.
func (m *Model) compose(now time.Time) (held time.Duration) {
	m.screen.HideCursor()
	for _, v := range m.views {
		if !v.shown {
			continue
		}
		if h := m.composePane(v, now); h > 0 && (held == 0 || h < held) {
			held = h
		}
	}
	for _, v := range m.views { // the terminal can scroll whole rows only
		if b := v.placed.Body; v.shown && b.X == 0 && b.W == m.size.Cols {
			m.screen.Follow(b.Y, b.H)
		}
	}
	if t := m.tab(); t != nil {
		m.composeBorders(t)
	}
	m.composeDock()
	m.follow()
	if m.hinting() {
		m.composeHint(m.size.Rows - 2)
	}
	if m.size.Rows > 1 {
		m.composeBar(m.size.Rows - 1)
	}
	if m.dialog != nil {
		m.screen.HideCursor()
		a := m.area()
		m.dialog.Draw(m.screen, 0, 0, a.W, a.H, m.theme)
	}
	return held
}

// composePane draws what a pane shows. What did not change since the last
// frame is still on the screen and is left there, unless a dialog lay over it.
func (m *Model) composePane(v *view, now time.Time) (held time.Duration) {
	b := v.placed.Body
	if v.copy != nil {
		m.composeCopy(v)
		return 0
	}
	if v.alive() {
		times := v.pane.Timings()
		v.pane.Look(func(t *vt.Terminal) {
			modes := t.Modes()
			if held = v.hold(now, modes.SyncOutput); held > 0 {
				return
			}
			v.wanted, v.stale = modes, false
			m.screen.Blit(b.X, b.Y, b.W, b.H, t, &v.styles)
			m.composeBadges(v, t, badges(t, times))
			m.placeCursor(v, t)
		})
		return held
	}
	v.wanted = vt.Modes{}
	foot := wrapLines(footer(v.info, m.meter, m.metered, m.theme.Glyphs), b.W, b.H)
	v.pane.Look(func(t *vt.Terminal) {
		used := min(session.UsedRows(t), b.H)
		shift := max(0, used+len(foot)-b.H)
		m.screen.Blit(b.X, b.Y, b.W, b.H, shifted{t, shift}, &v.styles)
		m.composeFooter(foot, b, used-shift)
	})
	if v == m.focused() {
		v.shownEnd, v.seen = v.info.Runs, true
		m.dropAlerts(v.pane.ID())
	}
	return 0
}

// hold returns how much longer a program may hold its screen (mode 2026).
func (v *view) hold(now time.Time, sync bool) time.Duration {
	if !sync {
		v.syncSince = time.Time{}
		return 0
	}
	if v.syncSince.IsZero() {
		v.syncSince = now
	}
	return max(0, syncLimit-now.Sub(v.syncSince))
}

// placeCursor shows the program's cursor where the keyboard goes.
func (m *Model) placeCursor(v *view, t *vt.Terminal) {
	if m.dialog != nil || m.inDock || v != m.focused() {
		return
	}
	c := t.Cursor()
	m.screen.SetCursor(v.placed.Body.X+int(c.Col), v.placed.Body.Y+int(c.Row), c.Visible, cursorShape(c))
}

// cursorShape is the DECSCUSR number of a cursor.
func cursorShape(c vt.Cursor) int {
	n := 2 + 2*int(c.Shape) // steady block, underline, bar
	if c.Blink {
		n--
	}
	return n
}

// follow asks of the outer terminal what the window and the program that has
// the keyboard want of it, and it can do.
func (m *Model) follow() {
	want := vt.Modes{}
	if v := m.focused(); v != nil && v.copy == nil && m.dialog == nil && !m.inDock {
		want = v.wanted
	}
	modes := screen.Modes{Paste: true, Focus: true, Graphemes: m.caps.Graphemes && !m.caps.ClustersOn}
	if m.conf.UI.Mouse {
		modes.Mouse = screen.MouseDrag
	}
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

// composeBorders draws the header of each pane and the lines between them.
func (m *Model) composeBorders(t *tab) {
	headers, columns := t.tree.Lines(m.paneArea())
	if len(headers) == 0 && !m.docked.Shown() {
		return
	}
	if m.docked.Shown() {
		headers = append(headers, m.docked.Header)
		if !m.docked.Line.Empty() {
			columns = append(columns, m.docked.Line)
		}
	}
	g := m.lines()
	for _, c := range columns {
		for y := range c.H {
			m.screen.SetText(c.X, c.Y+y, 1, g.Vertical, m.theme.Border)
		}
	}
	for _, p := range t.tree.Rects(m.paneArea()) {
		if v := m.views[session.PaneID(p.ID)]; v != nil && !p.Header.Empty() {
			m.composeHeader(v, p.Header)
		}
	}
	for _, j := range layout.Joints(headers, columns) {
		m.screen.SetText(j.X, j.Y, 1, joint(g, j.Arms), m.theme.Border)
	}
	m.composeFocusLine(columns)
}

// lines are the glyphs of borders: blanks where no boxes are wanted.
func (m *Model) lines() theme.Glyphs {
	g := m.theme.Glyphs
	if m.theme.Plain {
		g.Horizontal, g.Vertical, g.Cross = " ", " ", " "
		g.TeeDown, g.TeeUp, g.TeeRight, g.TeeLeft = " ", " ", " ", " "
		g.TopLeft, g.TopRight, g.BottomLeft, g.BottomRight = " ", " ", " ", " "
	}
	return g
}

// joint is the glyph in which lines meet.
func joint(g theme.Glyphs, arms layout.Arms) string {
	const l, r, u, d = layout.ArmLeft, layout.ArmRight, layout.ArmUp, layout.ArmDown
	switch arms {
	case l | r | u | d:
		return g.Cross
	case l | r | d:
		return g.TeeDown
	case l | r | u:
		return g.TeeUp
	case u | d | r:
		return g.TeeRight
	case u | d | l:
		return g.TeeLeft
	case l | d:
		return g.TopRight
	case r | d:
		return g.TopLeft
	case l | u:
		return g.BottomRight
	case r | u:
		return g.BottomLeft
	case l | r:
		return g.Horizontal
	}
	return g.Vertical
}

// composeFocusLine brings the lines beside the focused pane out, so that the
// pane is found at a glance.
func (m *Model) composeFocusLine(columns []layout.Rect) {
	v := m.focused()
	if v == nil || !v.shown || m.inDock {
		return
	}
	p := v.placed
	top := p.Header.Y
	for _, c := range columns {
		if c.X != p.Body.X-1 && c.X != p.Body.X+p.Body.W {
			continue
		}
		from, to := max(c.Y, top), min(c.Y+c.H, p.Body.Y+p.Body.H)
		if to > from {
			m.screen.Restyle(c.X, from, 1, to-from, func(st vt.Style) vt.Style {
				st.FG, st.Attrs = m.theme.Focus.FG, st.Attrs|m.theme.Focus.Attrs
				return st
			})
		}
	}
}

// composeHeader draws "─ 1 zsh  ~/src/app ──── pid 4711 ─". The number is the
// pane's own for all its life, the one that commands name it by.
func (m *Model) composeHeader(v *view, r layout.Rect) {
	g := m.lines()
	st := m.theme.Border
	if v == m.focused() && !m.inDock {
		st = m.theme.Focus
	}
	for x := range r.W {
		m.screen.SetText(r.X+x, r.Y, 1, g.Horizontal, st)
	}
	state, stateStyle := m.headerState(v)
	room := r.W - 2
	if state != "" {
		w, rest := screen.Width(state)+3, 8 // for number and command
		if v.alive() && v.copy == nil {
			rest = 20 // and for the place, which tells more than a pid
		}
		if w+rest <= room {
			m.screen.SetText(r.X+r.W-w, r.Y, w, " "+state+" ", stateStyle)
			room -= w
		}
	}
	left := " " + strconv.Itoa(int(v.pane.ID())) + " " + v.command()
	if u := screen.Visible(v.info.Where.User); u != "" && v.alive() {
		left += " as " + u
	}
	where := m.shorten(v.place(m.w.opt.Env("HOME")), room-screen.Width(left)-3)
	if where != "" {
		where = "  " + where
	}
	left += m.headerTitle(v, room-screen.Width(left)-screen.Width(where)-1) + where
	if v == m.focused() && !m.theme.Plain && m.caps.Depth == screen.NoColor {
		left = " " + g.Pointer + left[1:]
	}
	if room > 3 {
		m.screen.SetText(r.X+1, r.Y, room, left+" ", st)
	}
}

// minTitle is the width below which a title says nothing.
const minTitle = 6

// headerTitle is the title that the program chose, to stand behind the command
// that really runs, where they differ. It gets what the command and its place
// leave, since anybody can set a title.
func (m *Model) headerTitle(v *view, w int) string {
	title := v.title(m.w.opt.Env("HOME"))
	if title == "" {
		return ""
	}
	g := m.theme.Glyphs
	w -= screen.Width(" " + g.Dot + " ")
	if screen.Width(title) > w {
		if w < minTitle {
			return ""
		}
		title = m.cut(title, w)
	}
	return " " + g.Dot + " " + title
}

// headerState is what the header's right end says: how far a copy mode is, or
// what is the matter with the pane.
func (m *Model) headerState(v *view) (string, vt.Style) {
	glyph := func(k theme.State, word string) string {
		if m.theme.Plain {
			return word
		}
		return m.theme.Glyphs.State(k) + " " + word
	}
	switch {
	case v.copy != nil:
		return "copy mode", m.theme.Accent
	case v.info.State == session.StateNotStarted:
		return glyph(theme.Failed, "not started"), m.theme.Failure
	case !v.alive():
		st := m.theme.Failure
		kind := theme.Failed
		switch v.mark() {
		case statusbar.MarkOK:
			st, kind = m.theme.OK, theme.Complete
		case statusbar.MarkAttention:
			st, kind = m.theme.Attention, theme.Detached
		case statusbar.MarkUnknown:
			st, kind = m.theme.Attention, theme.Unknown
		}
		return glyph(kind, endText(v.info)), st
	}
	if v.readOnly {
		return glyph(theme.Partial, "read-only"), m.theme.Attention
	}
	pid := v.info.Where.PID
	if pid == 0 { // nobody has looked yet what runs in the foreground
		pid = v.info.PID
	}
	if pid == 0 {
		return "", m.theme.Dim
	}
	return "pid " + strconv.Itoa(pid), m.theme.Dim
}

// shorten keeps the end of a path: "…/notes/meeting.wav".
func (m *Model) shorten(path string, w int) string {
	path = screen.Visible(path)
	if screen.Width(path) <= w {
		return path
	}
	dots := m.theme.Glyphs.Ellipsis
	for path != "" && screen.Width(path) > w-screen.Width(dots) {
		_, rest, ok := cutRune(path)
		if !ok {
			break
		}
		path = rest
	}
	if path == "" || w < 4 {
		return ""
	}
	return dots + path
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
