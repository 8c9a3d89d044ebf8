package tui

import (
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
	"github.com/honestty/honestty/vt"
)

// A role says what a text is for; the theme says how it looks.
type role uint8

const (
	roleNormal role = iota
	roleDim
	roleOK
	roleAttention
	roleFailure
)

func (m *Model) style(r role) vt.Style {
	switch r {
	case roleDim:
		return m.theme.Dim
	case roleOK:
		return m.theme.OK
	case roleAttention:
		return m.theme.Attention
	case roleFailure:
		return m.theme.Failure
	}
	return m.theme.Text
}

func newTheme(c screen.Caps) theme.Theme {
	o := theme.Options{Colors: c.Depth.Colors(), UTF8: c.UTF8}
	if c.HasBG {
		o.Back = vt.RGB(c.Background[0], c.Background[1], c.Background[2])
	}
	return theme.New(o)
}

// composeFooter writes the lines under the last row of a pane. Where they do
// not all fit the last ones win: what can be done stands there.
func (m *Model) composeFooter(lines []line, y, cols, rows int) {
	if over := len(lines) - rows; over > 0 {
		lines = lines[over:]
	}
	for i, l := range lines {
		st := m.style(l.role)
		m.screen.Fill(0, y+i, cols, 1, m.theme.Text)
		m.screen.SetText(0, y+i, cols, l.text, st)
	}
}

// composeHelp draws the table of keys in the middle.
func (m *Model) composeHelp() {
	keyW, textW := 0, 0
	for _, h := range help {
		keyW = max(keyW, screen.Width(h[0]))
		textW = max(textW, screen.Width(h[1]))
	}
	const title, foot = "Keys", "any key closes this"
	w := min(m.size.Cols, keyW+textW+6)
	h := min(m.paneSize().Rows, len(help)+4)
	x, y := (m.size.Cols-w)/2, (m.paneSize().Rows-h)/2
	m.screen.Fill(x, y, w, h, m.theme.Text)
	m.box(x, y, w, h)
	m.screen.SetText(x+2, y, w-4, " "+title+" ", m.theme.Accent)
	for i, row := range help[:max(0, min(len(help), h-4))] {
		m.screen.SetText(x+2, y+1+i, keyW, row[0], m.theme.HintKey)
		m.screen.SetText(x+4+keyW, y+1+i, w-keyW-6, row[1], m.theme.Text)
	}
	m.screen.SetText(x+2, y+h-2, w-4, foot, m.theme.Dim)
}

// box draws a frame with the theme's lines.
func (m *Model) box(x, y, w, h int) {
	if w < 2 || h < 2 {
		return
	}
	g, st := m.theme.Glyphs, m.theme.Border
	for i := 1; i < w-1; i++ {
		m.screen.SetText(x+i, y, 1, g.Horizontal, st)
		m.screen.SetText(x+i, y+h-1, 1, g.Horizontal, st)
	}
	for i := 1; i < h-1; i++ {
		m.screen.SetText(x, y+i, 1, g.Vertical, st)
		m.screen.SetText(x+w-1, y+i, 1, g.Vertical, st)
	}
	m.screen.SetText(x, y, 1, g.TopLeft, st)
	m.screen.SetText(x+w-1, y, 1, g.TopRight, st)
	m.screen.SetText(x, y+h-1, 1, g.BottomLeft, st)
	m.screen.SetText(x+w-1, y+h-1, 1, g.BottomRight, st)
}
