package session

import (
	"fmt"
	"time"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/ptybridge"
)

// A State is what a pane is doing. The zero value is StateUnknown.
type State uint8

// The states of a pane.
const (
	StateUnknown    State = iota
	StateRunning          // its process lives
	StateEnded            // its process has ended; Info.Exit says how
	StateNotStarted       // there was no process; Info.Err says why
)

// An Info is what is known of a pane besides its screen.
type Info struct {
	ID        PaneID
	State     State
	Running   []string // the command as it was resolved; Spec's, or the user's shell
	Dir       string   // where it was started
	Title     string   // as the program set it, cleaned by the engine
	PID       int      // 0 when nothing runs
	Runs      int      // how often a command was started here
	Started   time.Time
	Exit      ptybridge.Exit // with StateEnded
	Err       error          // with StateNotStarted
	BytesRead int64          // of output, in this run
	Closed    bool           // the pane was closed
	Queued    int            // bytes of input that wait for the program
	Refused   int64          // bytes of input that were refused in this run
	Unshown   int64          // bytes read that the engine failed on and did not show
	Notes     []string       // every fallback, in plain words

	Where   Where    // what runs in the foreground, as of the last look
	Bells   int      // how often the bell rang
	Notices []Notice // the last notifications of the program, oldest first
}

// A Notice is a notification that a program sent (OSC 9, OSC 777).
type Notice struct {
	Seq  int // counts up over the life of the pane
	At   time.Time
	Text string // cleaned by the engine
}

// A Clip is what a program wants in the clipboard (OSC 52).
type Clip struct {
	Text    string
	Primary bool // the primary selection is meant, not the clipboard
}

// noticesKept is how many notifications a pane remembers; each is at most as
// long as the engine lets a title be.
const noticesKept = 20

// Capture is what is known of the output of the last run: what the bridge
// read, less what the engine could not show.
func (i Info) Capture() outcome.Capture {
	c := i.Exit.Capture
	c.Shown -= i.Unshown
	return c
}

// Ending says how a process ended: "exit 1", "SIGKILL".
func Ending(e ptybridge.Exit) string {
	switch {
	case e.Signal != 0 && e.Core:
		return outcome.SignalName(e.Signal) + " (core dumped)"
	case e.Signal != 0:
		return outcome.SignalName(e.Signal)
	case e.Err != nil || e.Code < 0:
		return "an unknown end"
	}
	return fmt.Sprintf("exit %d", e.Code)
}

// Info returns what is known of the pane.
func (p *Pane) Info() Info {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := Info{
		ID: p.id, State: p.state, Running: p.command, Dir: p.dir,
		Title: p.term.Title(), Runs: p.runs, Started: p.starts,
		Exit: p.exit, Err: p.err, Refused: p.exit.Refused, Unshown: p.unshown,
		Notes:     append([]string(nil), p.notes...),
		BytesRead: p.exit.Capture.Read, Closed: p.closed,
		Where: p.where, Bells: p.bells, Notices: append([]Notice(nil), p.notices...),
	}
	if p.bridge != nil {
		i.PID = p.bridge.PID()
		i.Started = p.bridge.Started()
		i.Queued = p.bridge.Queued()
		i.BytesRead = p.bridge.BytesRead()
		i.Refused = p.bridge.Refused()
	}
	return i
}
