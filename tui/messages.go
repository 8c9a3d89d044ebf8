package tui

import (
	"github.com/honestty/honestty/ptybridge"
	"github.com/honestty/honestty/tui/input"
)

// Messages are facts in the past tense. Those of the session (PaneChanged,
// PaneEnded, MeterRead) reach the Model as they are.
type (
	// resizedMsg says that the outer terminal has another size.
	resizedMsg struct{ Size ptybridge.Size }

	// frameDoneMsg says that the writer has written a frame whole.
	frameDoneMsg struct{}

	// frameDueMsg says that the pause between two frames is over.
	frameDueMsg struct{}

	// endMsg says that something outside ends the window.
	endMsg struct{ Why error }
)

// An ordered message comes from the router, which waits until it was acted on.
type ordered interface{ ordered() }

type (
	// keyMsg is a key that was pressed for us.
	keyMsg struct {
		Key      input.Key
		Prefixed bool
	}

	// prefixMsg says that the prefix was pressed (On) or that it was pressed
	// twice and went through.
	prefixMsg struct{ On bool }

	// replyMsg is an answer of the outer terminal.
	replyMsg struct{ Bytes []byte }
)

func (keyMsg) ordered()    {}
func (prefixMsg) ordered() {}
func (replyMsg) ordered()  {}

// orderedMsg carries an ordered message and the channel to close after it.
type orderedMsg struct {
	msg  ordered
	done chan<- struct{}
}
