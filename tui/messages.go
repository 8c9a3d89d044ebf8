package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/honestty/honestty/config"
	"github.com/honestty/honestty/ptybridge"
	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tools/fdmeter"
	"github.com/honestty/honestty/tui/input"
	"github.com/honestty/honestty/tui/layout"
	"github.com/honestty/honestty/tui/panels"
)

// Messages are facts in the past tense. Those of the session (PaneChanged,
// PaneEnded, PaneCalled, MeterRead) reach the Model as they are.
type (
	// resizedMsg says that the outer terminal has another size.
	resizedMsg struct{ Size ptybridge.Size }

	// resumedMsg says that the program was stopped and goes on, and that the
	// writer has left the terminal.
	resumedMsg struct{}

	// queueDueMsg says that it is time to look how much input still waits.
	queueDueMsg struct{ ID session.PaneID }

	// frameDoneMsg says that the writer has written a frame whole.
	frameDoneMsg struct{}

	// frameDueMsg says that the pause between two frames is over.
	frameDueMsg struct{}

	// holdOverMsg says that a program has held its screen as long as it may.
	holdOverMsg struct{}

	// endMsg says that something outside ends the window.
	endMsg struct{ Why error }

	// openedMsg says that a pane was opened, and where it belongs: beside
	// another pane, or in a tab of its own when Beside is 0.
	openedMsg struct {
		Pane   *session.Pane
		Beside session.PaneID
		Dir    layout.Dir
		Name   string // of the new tab
		File   string // that its command reads; it goes when the pane does
		Reply  func(session.PaneID, error)
	}

	// rerunMsg says that a pane's command was started again.
	rerunMsg struct{ ID session.PaneID }

	// paneClosedMsg says that a pane's process is gone and the pane with it.
	paneClosedMsg struct{ ID session.PaneID }

	// copiedMsg says what became of a copy.
	copiedMsg struct {
		Lines int
		Bytes int
		Ways  []string // how it went out
		Lacks string   // what of it was lost before; empty: nothing
		Err   error    // why one way failed; others may have worked
	}

	// stepMsg goes on with a search in a pane's copy mode.
	stepMsg struct{ ID session.PaneID }

	// scrollMsg scrolls while a drag rests outside its pane.
	scrollMsg struct{ ID session.PaneID }

	// configMsg says that the settings were read anew, or why not.
	configMsg struct {
		Config config.Config
		Err    error
	}

	// typesMsg carries the descriptors of one process, looked at one by one.
	typesMsg struct {
		Asked     panels.ReadTypes
		Breakdown fdmeter.Breakdown
		Own       *fdmeter.Share // what our parts hold, when the process is this one
	}

	// holdersMsg carries who holds what on the whole machine.
	holdersMsg struct {
		Asked   panels.ReadHolders
		Holders panels.Holders
	}

	// noteMsg is something to say in the status bar.
	noteMsg struct {
		Text string
		Bad  bool
	}

	// callMsg does something for a command that talks to the window.
	callMsg struct{ Do func(*Model) tea.Cmd }
)

// An ordered message comes from the router, which waits until it was acted on.
type ordered interface{ ordered() }

type (
	// keyMsg is a key that was pressed for us.
	keyMsg struct {
		Key      input.Key
		Prefixed bool
	}

	// pasteMsg is a paste that no pane gets.
	pasteMsg struct{ Text string }

	// mouseMsg is a mouse report that is ours.
	mouseMsg struct{ Mouse input.Mouse }

	// typedMsg says that a key went to the pane while the bar had a note.
	typedMsg struct{}

	// prefixMsg says that the prefix was pressed (On) or that it was pressed
	// twice and went through.
	prefixMsg struct{ On bool }

	// focusMsg says that the outer terminal got or lost the focus.
	focusMsg struct{ On bool }

	// replyMsg is an answer of the outer terminal.
	replyMsg struct{ Bytes []byte }
)

func (keyMsg) ordered()    {}
func (pasteMsg) ordered()  {}
func (mouseMsg) ordered()  {}
func (typedMsg) ordered()  {}
func (prefixMsg) ordered() {}
func (focusMsg) ordered()  {}
func (replyMsg) ordered()  {}

// orderedMsg carries an ordered message and the channel to close after it.
type orderedMsg struct {
	msg  ordered
	done chan<- struct{}
}
