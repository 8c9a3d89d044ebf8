package panels

import (
	"strings"
	"unicode/utf8"

	"github.com/honestty/honestty/tui/screen"
)

// maxPrompt bounds what is typed, in bytes: a filter is a few words.
const maxPrompt = 200

// A textPrompt is one line that is typed at the foot of a panel. Its cursor is
// always at the end.
type textPrompt struct {
	on   bool
	text string
}

// A typed is what a key did to a prompt.
type typed uint8

const (
	typedNothing typed = iota
	typedMore          // the text changed
	typedEnter         // it is kept
	typedEsc           // it is given up; the text is empty
)

// key takes one key by its name in tui/input.
func (p *textPrompt) key(name string) typed {
	switch name {
	case "enter", "kpenter":
		p.on = false
		return typedEnter
	case "esc", "ctrl+c", "ctrl+g":
		p.on, p.text = false, ""
		return typedEsc
	case "backspace", "ctrl+h":
		if p.text == "" {
			p.on = false
			return typedEsc
		}
		_, n := utf8.DecodeLastRuneInString(p.text)
		p.text = p.text[:len(p.text)-n]
		return typedMore
	case "ctrl+u":
		p.text = ""
		return typedMore
	case "space":
		name = " "
	}
	if digit, ok := strings.CutPrefix(name, "kp"); ok && utf8.RuneCountInString(digit) == 1 {
		name = digit
	}
	if utf8.RuneCountInString(name) != 1 {
		return typedNothing
	}
	return p.insert(name)
}

// insert adds typed or pasted text: its first line, without what could not be
// seen, as far as there is room.
func (p *textPrompt) insert(text string) typed {
	text, _, _ = strings.Cut(strings.TrimLeft(text, "\r\n"), "\n")
	text = strings.ToValidUTF8(strings.TrimRight(text, "\r"), "")
	n := len(p.text)
	for _, r := range text {
		if s := string(r); len(p.text)+len(s) <= maxPrompt && screen.Visible(s) == s {
			p.text += s
		}
	}
	if len(p.text) == n {
		return typedNothing
	}
	return typedMore
}

// draw draws the prompt as "/text" with a cursor. The end of a long text shows.
func (p *textPrompt) draw(c canvas, x, y, w int) {
	if w < 4 {
		return
	}
	at := x + c.s.SetText(x, y, 1, "/", c.th.HintKey)
	text := p.text
	for screen.Width(text) > w-2 {
		_, n := utf8.DecodeRuneInString(text)
		text = text[n:]
	}
	at += c.s.SetText(at, y, w-2, text, c.th.Text)
	c.s.SetText(at, y, 1, "_", c.th.Accent)
}
