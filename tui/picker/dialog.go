package picker

import (
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
)

// A State says how far a dialog is. The zero value is that nothing was decided.
type State uint8

const (
	Open      State = iota // it goes on
	Chosen                 // the Result says what
	Cancelled              // leave everything as it was
)

func (s State) String() string {
	switch s {
	case Open:
		return "open"
	case Chosen:
		return "chosen"
	case Cancelled:
		return "cancelled"
	}
	return "unknown"
}

// A Result is what a key or a click came to.
type Result struct {
	State State
	ID    string // of the Item or Option that was chosen
	Text  string // what a Prompt holds
}

// A Dialog takes all keys while it is open. Keys have the names of tui/input.
type Dialog interface {
	Key(name, text string) Result
	Paste(text string)
	// Click takes a press of the first button, in cells of the Screen.
	Click(x, y int) Result
	// Wheel scrolls by lines, down when they are above 0.
	Wheel(lines int)
	// Draw draws the dialog in the middle of a rectangle and places the
	// terminal's cursor where text is typed.
	Draw(s *screen.Screen, x, y, w, h int, th theme.Theme)
}

var (
	_ Dialog = (*Picker)(nil)
	_ Dialog = (*Confirm)(nil)
	_ Dialog = (*Prompt)(nil)
	_ Dialog = (*Chooser)(nil)
	_ Dialog = (*Approval)(nil)
	_ Dialog = (*Notice)(nil)
)

// leaves reports the keys that close every dialog.
func leaves(name string) bool { return name == "esc" || name == "ctrl+c" || name == "ctrl+g" }

// pressed returns the key of the hint that a click met.
func pressed(targets []target, x, y int) (name string, ok bool) {
	for _, t := range targets {
		if t.has(x, y) {
			return t.name, true
		}
	}
	return "", false
}
