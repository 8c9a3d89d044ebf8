package session

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/honestty/honestty/internal/proc"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/ptybridge"
	"github.com/honestty/honestty/vt"
)

// A PaneID names a pane for the life of its session. 0 is no pane.
type PaneID int

// A Spec says what a pane runs.
type Spec struct {
	Command []string // empty: the user's shell
	Dir     string   // empty: our own
	Env     []string // nil: our own
}

// A State is what a pane is doing. The zero value is StateUnknown.
type State uint8

// The states of a pane.
const (
	StateUnknown    State = iota
	StateRunning          // its process lives
	StateEnded            // its process has ended; Info.Exit says how
	StateNotStarted       // there was no process; Info.Err says why
)

// stall is how long a paste may wait for a program that reads none of it.
const stall = time.Second

// An Info is what is known of a pane besides its screen.
type Info struct {
	ID      PaneID
	State   State
	Running []string // the command as it was resolved; Spec's, or the user's shell
	Dir     string   // where it was started
	Title   string   // as the program set it, cleaned by the engine
	PID     int      // 0 when nothing runs
	Runs    int      // how often a command was started here
	Started time.Time
	Exit    ptybridge.Exit // with StateEnded
	Err     error          // with StateNotStarted
	Queued  int            // bytes of input that wait for the program
	Refused int64          // bytes of input that were refused in this run
	Unshown int64          // bytes read that the engine failed on and did not show
	Notes   []string       // every fallback, in plain words
}

// Capture is what is known of the output of the last run: what the bridge
// read, less what the engine could not show.
func (i Info) Capture() outcome.Capture {
	c := i.Exit.Capture
	c.Shown -= i.Unshown
	return c
}

// A Pane is one terminal with the process behind it. It outlives its process.
//
//	goroutine  started by      ends on              joined by
//	await      start           the bridge's Done    Close
type Pane struct {
	id   PaneID
	s    *Session
	spec Spec

	awaiting sync.WaitGroup

	mu      sync.Mutex
	term    *vt.Terminal
	size    ptybridge.Size
	bridge  *ptybridge.Bridge // nil when nothing runs
	state   State
	runs    int
	exit    ptybridge.Exit
	err     error
	unshown int64
	notes   []string
	command []string
	dir     string
	closed  bool
	starts  time.Time
	told    bool // PaneChanged was said and nobody has looked since
}

func newPane(s *Session, id PaneID, spec Spec, size ptybridge.Size) *Pane {
	size = size.Clamp()
	return &Pane{id: id, s: s, spec: spec, size: size, term: s.newTerminal(size)}
}

// ID returns the pane's name.
func (p *Pane) ID() PaneID { return p.id }

// start runs the command. The bridge's callbacks need the pane's lock, so it
// is started without it; starting is only ever asked for by one client order
// at a time.
func (p *Pane) start() {
	p.mu.Lock()
	if p.closed || p.bridge != nil {
		p.mu.Unlock()
		return
	}
	command, dir, notes := p.resolve()
	p.command, p.dir = command, dir
	p.runs++
	p.state, p.err, p.exit, p.unshown = StateUnknown, nil, ptybridge.Exit{}, 0
	p.notes = notes
	p.starts = time.Now()
	size := p.size
	p.mu.Unlock()

	env := p.spec.Env
	if env == nil {
		env = os.Environ()
	}
	ready := make(chan struct{}) // closed when p.bridge is set, so that replies find it
	var bridge *ptybridge.Bridge
	bridge, err := ptybridge.Start(ptybridge.Config{
		Command: command, Dir: dir, Env: proc.ChildEnv(env, p.s.conf.Version), Size: size,
		Poller: p.s.conf.Poller,
		Output: func(b []byte) { <-ready; p.output(bridge, b) },
	})

	p.mu.Lock()
	if err != nil {
		p.state, p.err = StateNotStarted, err
		p.mu.Unlock()
		p.s.facts.put(PaneEnded{p.id})
		return
	}
	if p.closed { // the pane was closed while its command started
		p.state = StateEnded
		p.mu.Unlock()
		close(ready)
		exit := bridge.Close()
		p.mu.Lock()
		p.exit = exit
		p.mu.Unlock()
		return
	}
	p.bridge, p.state = bridge, StateRunning
	resized := p.size != size
	now := p.size
	p.awaiting.Add(1)
	p.mu.Unlock()
	close(ready)
	if resized {
		_, _ = bridge.Resize(now) // fails only when it has ended already
	}
	go p.await(bridge)
	p.changed()
}

// resolve decides what runs where, and notes every fallback.
func (p *Pane) resolve() (command []string, dir string, notes []string) {
	command, dir = p.spec.Command, p.spec.Dir
	if len(command) == 0 {
		sh, note := shell()
		command = []string{sh}
		if note != "" {
			notes = append(notes, note)
		}
	}
	if dir == "" {
		var err error
		if dir, err = os.Getwd(); err != nil {
			dir = ""
		}
	}
	if fi, err := os.Stat(dir); dir != "" && p.spec.Dir == "" && (err != nil || !fi.IsDir()) {
		// Our own directory was removed: a shell at home is more use than none.
		if home, err := os.UserHomeDir(); err == nil {
			notes = append(notes, fmt.Sprintf("the directory %s is gone: started in %s", dir, home))
			dir = home
		}
	}
	return command, dir, notes
}

// shell is $SHELL, or the first of the usual ones that can be executed.
func shell() (path, note string) {
	env := os.Environ()
	want := os.Getenv("SHELL")
	if want != "" {
		if _, err := proc.LookPath(want, "", env); err == nil {
			return want, ""
		}
	}
	for _, sh := range []string{"/bin/zsh", "/bin/bash", "/bin/sh"} {
		if _, err := proc.LookPath(sh, "", env); err == nil {
			if want != "" {
				note = fmt.Sprintf("SHELL is %s, which cannot be executed: started %s", want, sh)
			}
			return sh, note
		}
	}
	if want == "" {
		want = "/bin/sh"
	}
	return want, "" // the start will say why it cannot be had
}

// output feeds the engine. It runs in the bridge's reader.
func (p *Pane) output(b *ptybridge.Bridge, data []byte) {
	defer p.s.conf.Guard()
	p.mu.Lock()
	reply := p.feed(data)
	p.mu.Unlock()
	if len(reply) > 0 {
		_, _ = b.Write(reply) // a refusal is counted by the bridge
	}
	p.changed()
}

// changed tells that there is something to look at, once until somebody does.
func (p *Pane) changed() {
	p.mu.Lock()
	told := p.told
	p.told = true
	p.mu.Unlock()
	if !told {
		p.s.facts.put(PaneChanged{p.id})
	}
}

// feed writes to the engine and returns a copy of its replies. An engine that
// panics must not take the host with it: the pane goes on with a new engine
// and says what it could not show.
func (p *Pane) feed(data []byte) (reply []byte) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		p.unshown += int64(len(data))
		p.notes = append(p.notes, fmt.Sprintf("the terminal engine failed (%v): %s are not shown", cause, outcome.CountBytes(int64(len(data)))))
		p.term = p.s.newTerminal(p.size)
		p.term.Write([]byte("\x1b[7m" + "the terminal engine failed here; what was on the screen and " +
			outcome.CountBytes(int64(len(data))) + " after it are not shown\x1b[0m\r\n"))
		engineFailed(debug.Stack())
	}()
	fx := p.term.Write(data)
	if len(fx.Reply) > 0 {
		reply = append(reply, fx.Reply...)
	}
	return reply
}

// engineFailed is where tests look for a failed engine.
var engineFailed = func(stack []byte) {}

// await records the end of a run.
func (p *Pane) await(b *ptybridge.Bridge) {
	defer p.awaiting.Done()
	defer p.s.conf.Guard()
	exit := b.Exit()
	p.mu.Lock()
	p.bridge, p.state, p.exit = nil, StateEnded, exit
	p.mu.Unlock()
	p.s.facts.put(PaneEnded{p.id})
}

// Rerun starts the pane's command again, below a seam that says how the last
// run ended. It does nothing while the command runs.
func (p *Pane) Rerun() {
	p.mu.Lock()
	if p.bridge != nil || p.closed || p.state == StateRunning {
		p.mu.Unlock()
		return
	}
	p.term.Write([]byte(leaveModes))
	p.term.Write([]byte(fmt.Sprintf("\x1b[2m┄┄ run again at %s, %s before ┄┄\x1b[0m\r\n", time.Now().Format("15:04"), p.howItEnded())))
	p.mu.Unlock()
	p.start()
}

// leaveModes brings the engine back to a state a new program may expect: main
// screen, soft reset (DECSTR), no mouse, focus or paste reports, no kitty
// keyboard flags, and the cursor on a new line below all that was written.
const leaveModes = "\x1b[?1049l\x1b[?47l\x1b[!p\x1b[?1000;1002;1003;1004;1006;1016;2004;2026;2027;2031;2048l\x1b[<99u\x1b[>4m\x1b[r\x1b[?69l\x1b[999;1H\r\n"

func (p *Pane) howItEnded() string {
	if p.state == StateNotStarted {
		return "not started"
	}
	return Ending(p.exit)
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

// Resize sets the size of screen and terminal, clamped.
func (p *Pane) Resize(size ptybridge.Size) {
	size = size.Clamp()
	p.mu.Lock()
	if size == p.size {
		p.mu.Unlock()
		return
	}
	p.size = size
	fx := p.term.Resize(size.Cols, size.Rows)
	reply := append([]byte(nil), fx.Reply...)
	bridge := p.bridge
	p.mu.Unlock()
	if bridge != nil {
		_, _ = bridge.Resize(size) // fails only when it has just ended
		if len(reply) > 0 {
			_, _ = bridge.Write(reply)
		}
	}
	p.changed()
}

// Input gives bytes to the program exactly as they are. It waits for a
// program that reads slowly; one that reads nothing for a second is given no
// more, and what was refused is counted.
func (p *Pane) Input(b []byte) error {
	p.mu.Lock()
	bridge := p.bridge
	p.mu.Unlock()
	if bridge == nil {
		return ptybridge.ErrEnded
	}
	_, err := bridge.WriteWait(b, stall)
	if errors.Is(err, ptybridge.ErrFull) {
		p.changed()
	}
	return err
}

// Look lets a client read the engine while it stands still. The client must
// not keep anything of it.
func (p *Pane) Look(look func(t *vt.Terminal)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told = false
	look(p.term)
}

// Modes returns the engine's modes, which input is encoded by.
func (p *Pane) Modes() vt.Modes {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.term.Modes()
}

// Info returns what is known of the pane.
func (p *Pane) Info() Info {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := Info{
		ID: p.id, State: p.state, Running: p.command, Dir: p.dir,
		Title: p.term.Title(), Runs: p.runs, Started: p.starts,
		Exit: p.exit, Err: p.err, Refused: p.exit.Refused, Unshown: p.unshown,
		Notes: append([]string(nil), p.notes...),
	}
	if p.bridge != nil {
		i.PID = p.bridge.PID()
		i.Started = p.bridge.Started()
		i.Queued = p.bridge.Queued()
		i.Refused = p.bridge.Refused()
	}
	return i
}

func (p *Pane) runningPID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bridge == nil {
		return 0
	}
	return p.bridge.PID()
}

// Close ends the process, waits for its end and takes the pane out of the
// session. It returns what is known at the end.
func (p *Pane) Close() Info {
	p.mu.Lock()
	p.closed = true
	bridge := p.bridge
	p.mu.Unlock()
	if bridge != nil {
		bridge.Close()
	}
	p.awaiting.Wait()
	p.s.mu.Lock()
	delete(p.s.panes, p.id)
	p.s.mu.Unlock()
	return p.Info()
}
