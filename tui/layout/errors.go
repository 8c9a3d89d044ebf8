package layout

import (
	"errors"
	"fmt"
)

var (
	// ErrNoPane is returned when a pane is named that is not in the tree.
	ErrNoPane = errors.New("no such pane here")
	// ErrPaneExists is returned when a pane would stand in the tree twice.
	ErrPaneExists = errors.New("the pane is already here")
	// ErrNoRoom matches every NoRoomError.
	ErrNoRoom = errors.New("no room")
)

// A NoRoomError says what an operation would have needed.
type NoRoomError struct {
	Object     string // what has too little room: "pane 3", "the window"
	Axis       Axis   // Columns: its width is meant; Rows: its height
	Have, Need int    // cells
}

// Error says what is needed first: a narrow window shows only the beginning.
func (e *NoRoomError) Error() string {
	return fmt.Sprintf("no room: %d %s are needed, %s has %d", e.Need, e.Axis, e.Object, e.Have)
}

// Is makes a NoRoomError match ErrNoRoom.
func (e *NoRoomError) Is(target error) bool { return target == ErrNoRoom }

// An InvalidError says which rule a tree breaks, such as one that was read from
// a file.
type InvalidError struct{ Rule string }

func (e *InvalidError) Error() string { return "invalid layout: " + e.Rule }
