package panels

import (
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
)

// A Panel is one view in the dock.
type Panel interface {
	Name() string
	Badge() Badge
	// Draw fills a rectangle. focused says that keys go to the panel.
	Draw(s *screen.Screen, x, y, w, h int, focused bool, th theme.Theme)
	// Key takes a key by its name in tui/input. The Action is nil where there
	// is nothing to ask for; handled is false for a key that is not the panel's.
	Key(name string) (a Action, handled bool)
	// Click takes a press of the first button, in cells of the Screen.
	Click(x, y int) (Action, bool)
	// Wheel scrolls by lines, down when they are above 0.
	Wheel(lines int)
}

// A Badge is what a panel's tab says beside its name. The zero value says
// nothing.
type Badge struct {
	Count int // how many of what the panel is about; 0 is not shown
	// Word says what needs to be looked at. State gives it its glyph, which
	// stands for it in the tab; a plain theme shows the word.
	Word  string
	State theme.State
}

// An Action is what a panel asks of its window: ReadTypes or GoToPane.
type Action interface{ action() }

// A Purpose is what a ReadTypes is for.
type Purpose uint8

const (
	Look    Purpose = iota // to show it
	Keep                   // as the snapshot that later ones are compared with
	Compare                // to compare it with the snapshot
)

// ReadTypes asks for fdmeter.Meter.Types of a process. The result goes to
// FDs.TakeTypes together with this request.
type ReadTypes struct {
	PID int
	For Purpose
}

// GoToPane asks for the focus to go to the pane whose first process this is.
type GoToPane struct{ PID int }

func (ReadTypes) action() {}
func (GoToPane) action()  {}
