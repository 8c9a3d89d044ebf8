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

func (e *NoRoomError) Error() string {
	return fmt.Sprintf("no room: %s has %d %s, %d are needed", e.Object, e.Have, e.Axis, e.Need)
}

// Is makes a NoRoomError match ErrNoRoom.
func (e *NoRoomError) Is(target error) bool { return target == ErrNoRoom }

// An InvalidError says which rule a tree breaks, such as one that was read from
// a file.
type InvalidError struct{ Rule string }

func (e *InvalidError) Error() string { return "invalid layout: " + e.Rule }
