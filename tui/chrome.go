package tui

import (
	"strings"
	"unicode/utf8"

	"github.com/honestty/honestty/config"
	"github.com/honestty/honestty/tui/layout"
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/statusbar"
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

func (m *Model) barStyle(r statusbar.Role) vt.Style {
	switch r {
	case statusbar.Accent:
		return m.theme.BarActive
	case statusbar.Dim:
		return m.theme.BarDim
	case statusbar.Attention:
		return m.theme.BarWarn
	case statusbar.Failure:
		return m.theme.BarAlert
	}
	return m.theme.Bar
}

func newTheme(c screen.Caps, ui config.UI) theme.Theme {
	o := theme.Options{Name: ui.Theme, Colors: c.Depth.Colors(), UTF8: c.UTF8 && !ui.ASCII, Plain: ui.Plain}
	if c.HasBG {
		o.Back = vt.RGB(c.Background[0], c.Background[1], c.Background[2])
	}
	return theme.New(o)
}

// limit keeps what the terminal can do to what the settings allow.
func limit(c screen.Caps, ui config.UI) screen.Caps {
	switch ui.Color {
	case config.ColorNever:
		c.Depth = screen.NoColor
	case config.Color16:
		c.Depth = screen.Color16
	case config.Color256:
		c.Depth = screen.Color256
	case config.ColorTrue:
		c.Depth = screen.TrueColor
	}
	return c
}

// composeFooter writes the lines under the last row of a pane. Where they do
// not all fit the last ones win: what can be done stands there.
func (m *Model) composeFooter(lines []line, b layout.Rect, y int) {
	if over := len(lines) - b.H; over > 0 {
		lines = lines[over:]
	}
	for i, l := range lines {
		m.screen.Fill(b.X, b.Y+y+i, b.W, 1, m.theme.Text)
		m.screen.SetText(b.X, b.Y+y+i, b.W, l.text, m.style(l.role))
	}
}

// wrapLines breaks lines that are wider than w between words, and indents what
// follows. A word that is too wide by itself is left to be cut, and so are the
// lines where they would need more than h rows.
func wrapLines(lines []line, w, h int) []line {
	const indent = "  "
	var out []line
	for _, l := range lines {
		text := ""
		for _, word := range strings.SplitAfter(l.text, " ") {
			whole := screen.Width(text) + screen.Width(strings.TrimRight(word, " "))
			if whole > w && strings.TrimSpace(text) != "" {
				out = append(out, line{strings.TrimRight(text, " "), l.role})
				text = indent
			}
			text += word
		}
		out = append(out, line{text, l.role})
	}
	if len(out) > h {
		return lines
	}
	return out
}

// cut keeps the begin of a text that is wider than w.
func (m *Model) cut(text string, w int) string {
	if screen.Width(text) <= w {
		return text
	}
	r := []rune(text)
	for len(r) > 0 && screen.Width(string(r)+m.theme.Glyphs.Ellipsis) > w {
		r = r[:len(r)-1]
	}
	return string(r) + m.theme.Glyphs.Ellipsis
}

// oneLine makes one line of a text from outside.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func cutRune(s string) (first, rest string, ok bool) {
	_, n := utf8.DecodeRuneInString(s)
	return s[:n], s[n:], n > 0
}
