package panels

import (
	"github.com/honestty/honestty/journal"
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
	// Keys are the keys that mean something in what is shown now, and what each
	// does; some of them not at this moment, and then the key says why.
	Keys() []KeyHelp
	// Click takes a press of the first button, in cells of the Screen.
	Click(x, y int) (Action, bool)
	// Wheel scrolls by lines, down when they are above 0.
	Wheel(lines int)
}

// A KeyHelp is a key, by its name in tui/input, and what it does.
type KeyHelp struct{ Key, Does string }

// helpFor makes help of keys and what they do, in turn.
func helpFor(keysAndWords ...string) []KeyHelp {
	out := make([]KeyHelp, 0, len(keysAndWords)/2)
	for i := 0; i+1 < len(keysAndWords); i += 2 {
		out = append(out, KeyHelp{keysAndWords[i], keysAndWords[i+1]})
	}
	return out
}

// helpText are the keys of a text that is shown whole.
func helpText(t *textView) []KeyHelp {
	out := helpFor("/", "find in the text")
	if t.query != "" {
		out = append(out, helpFor("n", "the next place that was found", "N", "the place before")...)
	}
	return append(out, helpFor("enter", "fold or unfold under a heading", "pgdown", "a page down", "pgup", "a page up",
		"home", "to its begin", "end", "to its end")...)
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

// An Action is what a panel asks of its window.
type Action interface{ action() }

// Several is more than one Action, to be carried out in order.
type Several []Action

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

// GoToPaneID asks for the focus to go to a pane by its number.
type GoToPaneID struct{ Pane int }

// ReadCall asks for journal.Detail of a call. The result goes to Tools.TakeCall.
type ReadCall struct{ Record journal.Record }

// SeenCall says that somebody looked at a call that ended badly, for
// journal.Book.Seen.
type SeenCall struct{ Call string }

// ReadOutput asks for up to Max bytes of the file with a call's output. From
// FromEnd means the last ones. The result goes to Tools.TakeOutput.
type ReadOutput struct {
	Call, Path string
	From       int64
	Max        int
}

// FromEnd in the place of an offset asks for the last bytes.
const FromEnd int64 = -1

// CopyText asks for a text to go to the clipboard. What names it in a sentence:
// "the output".
type CopyText struct{ Text, What string }

// OpenFile asks for a file to be opened in the editor.
type OpenFile struct{ Path string }

// ReadJob asks for jobhost.Client.Read of a job's output, without waiting. The
// result goes to Jobs.TakeJob.
type ReadJob struct {
	ID   string
	From int64
}

// KillJob asks for a job to be ended. The window asks back first.
type KillJob struct{ ID string }

// AttachJob asks for a job as a pane, with the keyboard when Take is set.
type AttachJob struct {
	ID   string
	Take bool
}

func (Several) action()    {}
func (ReadTypes) action()  {}
func (GoToPane) action()   {}
func (GoToPaneID) action() {}
func (ReadCall) action()   {}
func (SeenCall) action()   {}
func (ReadOutput) action() {}
func (CopyText) action()   {}
func (OpenFile) action()   {}
func (ReadJob) action()    {}
func (KillJob) action()    {}
func (AttachJob) action()  {}

// PlayAudio asks for an audio file to be played. How it goes comes back to
// Speech.Playing.
type PlayAudio struct{ Call, Path string }

// StopAudio asks for the player to be stopped.
type StopAudio struct{}

// ShowCheckpoint asks for a checkpoint to be shown.
type ShowCheckpoint struct{ ID string }

// RestoreCheckpoint asks for a file to be brought back as it was kept. The
// window asks back first.
type RestoreCheckpoint struct{ ID, Path string }

// RevealPath asks for the folder that a file is in to be opened.
type RevealPath struct{ Path string }

// RunCommand asks for our own program to be run in a tab, with these arguments.
// Confirm says what has to be agreed to before; "" is nothing.
type RunCommand struct {
	Args    []string
	Confirm string
}

// OpenConfig asks for the settings to be opened at a key.
type OpenConfig struct{ Key string }

// Compose asks for the form of a new message.
type Compose struct{}

func (PlayAudio) action()         {}
func (StopAudio) action()         {}
func (ShowCheckpoint) action()    {}
func (RestoreCheckpoint) action() {}
func (RevealPath) action()        {}
func (RunCommand) action()        {}
func (OpenConfig) action()        {}
func (Compose) action()           {}

// ReadHolders asks for fdmeter.Meter.Survey, and for the descriptors of a
// process and what it has of its parent's. The result goes to FDs.TakeHolders
// together with this request.
type ReadHolders struct {
	PID, Parent int  // Parent is 0 when it is not known
	Problems    bool // for the list of problems; else for the peers of a target
}

func (ReadHolders) action() {}
