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

// A Pane is one terminal with the process behind it. It outlives its process.
//
//	goroutine  started by      ends on              joined by
//	await      run             the bridge's Done    Close
type Pane struct {
	id   PaneID
	s    *Session
	spec Spec

	awaiting sync.WaitGroup // a start that is under way, and await
	sizing   sync.Mutex     // held while a size goes to the terminal; taken before mu

	mu       sync.Mutex
	starting bool // from the order to start until there is a bridge or none
	term     *vt.Terminal
	size     ptybridge.Size
	bridge   *ptybridge.Bridge // nil when nothing runs
	state    State
	runs     int
	exit     ptybridge.Exit
	err      error
	unshown  int64
	notes    []string
	command  []string
	dir      string
	closed   bool
	starts   time.Time
	where    Where
	bells    int
	notices  []Notice
	noticed  int // notices ever
	clip     *Clip
	told     bool // PaneChanged was said and nobody has looked since
}

func newPane(s *Session, id PaneID, spec Spec, size ptybridge.Size) *Pane {
	size = size.Clamp()
	return &Pane{id: id, s: s, spec: spec, size: size, term: s.newTerminal(size)}
}

// ID returns the pane's name.
func (p *Pane) ID() PaneID { return p.id }

// start runs the command unless it runs already.
func (p *Pane) start() {
	p.mu.Lock()
	begun := p.begin()
	p.mu.Unlock()
	if begun {
		p.run()
	}
}

// begin claims the start, so that two orders to start cannot both be carried
// out, and makes Close wait for it. mu is held.
func (p *Pane) begin() bool {
	if p.closed || p.starting || p.bridge != nil {
		return false
	}
	p.starting = true
	p.awaiting.Add(1)
	return true
}

// run carries out a start that was begun. The bridge's callbacks need the
// pane's lock, so it is started without it.
func (p *Pane) run() {
	defer p.awaiting.Done()
	command, dir, notes := p.resolve()
	p.mu.Lock()
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
		Command: command, Dir: dir, Env: append(proc.ChildEnv(env, p.s.conf.Version), p.s.conf.Env...), Size: size,
		Poller: p.s.conf.Poller,
		Output: func(b []byte) { <-ready; p.output(bridge, b) },
		Failed: p.unread,
	})

	p.mu.Lock()
	p.starting = false
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
	p.awaiting.Add(1)
	p.mu.Unlock()
	close(ready)
	p.fit(bridge) // the pane may have been resized meanwhile
	go p.await(bridge)
	p.changed()
}

// output feeds the engine. It runs in the bridge's reader.
func (p *Pane) output(b *ptybridge.Bridge, data []byte) {
	defer p.s.conf.Guard()
	p.mu.Lock()
	reply, called := p.feed(data)
	p.mu.Unlock()
	if len(reply) > 0 {
		_, _ = b.Write(reply) // a refusal is counted by the bridge
	}
	if called {
		p.s.facts.put(PaneCalled{p.id})
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

// unread notes that the reader broke while the program runs on. It runs in the
// bridge's reader.
func (p *Pane) unread(cause error) {
	p.mu.Lock()
	p.notes = append(p.notes, fmt.Sprintf("the reader failed (%s): what the program writes from here on is lost", outcome.Errno(cause)))
	p.mu.Unlock()
	p.changed()
}

// contain runs the engine on n bytes. An engine that panics must not take the
// host with it: the pane goes on with a new engine and says what it could not
// show. mu is held.
func (p *Pane) contain(n int, run func()) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		missing := "what was on the screen is not shown"
		if n > 0 {
			missing = "what was on the screen and " + outcome.CountBytes(int64(n)) + " after it are not shown"
		}
		p.unshown += int64(n)
		p.notes = append(p.notes, fmt.Sprintf("the terminal engine failed (%v): %s", cause, missing))
		p.term = p.s.newTerminal(p.size)
		p.term.Write([]byte("\x1b[7m" + "the terminal engine failed here; " + missing + "\x1b[0m\r\n"))
		engineFailed(debug.Stack())
	}()
	if p.s.conf.fault != nil {
		p.s.conf.fault()
	}
	run()
}

// feed writes to the engine and returns a copy of its replies, and whether the
// program called for something.
func (p *Pane) feed(data []byte) (reply []byte, called bool) {
	p.contain(len(data), func() {
		fx := p.term.Write(data)
		if len(fx.Reply) > 0 {
			reply = append(reply, fx.Reply...)
		}
		called = p.calls(fx)
	})
	return reply, called
}

// calls keeps what the program asks of people, and reports whether it asked.
func (p *Pane) calls(fx *vt.Effects) (called bool) {
	for _, e := range fx.Events {
		switch e.Kind {
		case vt.EventBell:
			p.bells += e.N
		case vt.EventNotify:
			p.noticed++
			p.notices = append(p.notices, Notice{p.noticed, time.Now(), e.Data})
			p.notices = p.notices[max(0, len(p.notices)-noticesKept):]
		case vt.EventOSC52:
			p.clip = &Clip{Text: e.Data, Primary: e.N == 1}
		default:
			continue
		}
		called = true
	}
	return called
}

// TakeClip returns what the program wants in the clipboard and forgets it; nil
// when it wants nothing. Only the last request counts. Whether it is honoured
// is the client's to decide.
func (p *Pane) TakeClip() *Clip {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.clip
	p.clip = nil
	return c
}

// locate looks what runs in the foreground.
func (p *Pane) locate() {
	w := p.glance()
	p.mu.Lock()
	same := w == p.where
	p.where = w
	p.mu.Unlock()
	if !same {
		p.changed()
	}
}

// ClearHistory forgets the lines above the screen (as ED 3 does).
func (p *Pane) ClearHistory() {
	p.mu.Lock()
	p.term.ClearHistory()
	p.mu.Unlock()
	p.changed()
}

// SetColors tells the engine the colours of the outer terminal, so that a
// program that asks for them gets the truth.
func (p *Pane) SetColors(fg, bg, cursor vt.Color) {
	p.mu.Lock()
	reply := append([]byte(nil), p.term.SetHostColors(fg, bg, cursor).Reply...)
	bridge := p.bridge
	p.mu.Unlock()
	if bridge != nil && len(reply) > 0 {
		_, _ = bridge.Write(reply)
	}
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
	if !p.begin() {
		p.mu.Unlock()
		return
	}
	p.contain(0, func() {
		p.term.Write([]byte(leaveModes))
		p.term.Write([]byte(belowAll(p.term)))
		p.term.Write([]byte(fmt.Sprintf("\x1b[2m┄┄ run again at %s, %s before ┄┄\x1b[0m\r\n", time.Now().Format("15:04"), p.howItEnded())))
	})
	p.mu.Unlock()
	p.run()
}

// belowAll moves the cursor to a new line below all that was written.
func belowAll(t *vt.Terminal) string {
	used := UsedRows(t)
	if _, rows := t.Size(); used >= rows {
		return fmt.Sprintf("\x1b[%d;1H\r\n", rows)
	}
	return fmt.Sprintf("\x1b[%d;1H", used+1)
}

// leaveModes brings the engine back to a state a new program may expect.
const leaveModes = "\x18" + // CAN ends a sequence that was left unfinished
	"\x1b[?1049l\x1b[?47l" + // main screen
	"\x1b[!p" + // DECSTR: style, region, origin, insert, charsets, cursor keys and keypad
	"\x1b[?5;9;45;66;67;69;1000;1002;1003;1004;1005;1006;1015;1016;1045;2004;2026;2027;2031;2048l" +
	"\x1b[20l\x1b[?7;25;1007h" + // newline mode; wrap, cursor, wheel on the alternate screen
	"\x1b[<99u\x1b[>4m" + // kitty keyboard flags, modifyOtherKeys
	"\x1b[0 q\x1b[?5W" + // the cursor's shape, tab stops
	"\x1b]8;;\x1b\\\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\" + // link, palette, colours
	"\x1b[r"

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
	var reply []byte
	p.contain(0, func() { reply = append(reply, p.term.Resize(size.Cols, size.Rows).Reply...) })
	bridge := p.bridge
	p.mu.Unlock()
	if bridge != nil {
		p.fit(bridge)
		if len(reply) > 0 {
			_, _ = bridge.Write(reply)
		}
	}
	p.changed()
}

// fit gives the terminal the pane's size of now, so that of several resizes
// that overlap the last one stays.
func (p *Pane) fit(b *ptybridge.Bridge) {
	p.sizing.Lock()
	defer p.sizing.Unlock()
	p.mu.Lock()
	size := p.size
	p.mu.Unlock()
	_, _ = b.Resize(size) // fails only when it has just ended
}

// Input gives bytes to the program exactly as they are. It waits for a
// program that reads slowly; one that reads nothing for a second is given no
// more, and what was refused is counted.
func (p *Pane) Input(b []byte) error {
	_, err := p.InputCounted(b)
	return err
}

// InputCounted is Input for a caller that wants to know how many bytes the
// program was given.
func (p *Pane) InputCounted(b []byte) (int, error) {
	p.mu.Lock()
	bridge := p.bridge
	p.mu.Unlock()
	if bridge == nil {
		return 0, ptybridge.ErrEnded
	}
	n, err := bridge.WriteWait(b, stall)
	if errors.Is(err, ptybridge.ErrFull) {
		p.changed()
	}
	return n, err
}

// Look lets a client read the engine while it stands still. The client must
// not keep anything of it.
func (p *Pane) Look(look func(t *vt.Terminal)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told = false
	look(p.term)
}

// Peek is Look for somebody who does not show the pane: the client is told of
// the next change as if nobody had looked.
func (p *Pane) Peek(look func(t *vt.Terminal)) {
	p.mu.Lock()
	defer p.mu.Unlock()
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

// Post gives bytes to the program without waiting for it. What does not fit is
// refused and counted, as everywhere.
func (p *Pane) Post(b []byte) {
	p.mu.Lock()
	bridge := p.bridge
	p.mu.Unlock()
	if bridge != nil {
		_, _ = bridge.Write(b)
	}
}

// UsedRows counts the rows of a screen up to the last one with something on
// it, or the cursor's.
func UsedRows(t *vt.Terminal) int {
	_, rows := t.Size()
	c := t.Cursor()
	last := int(c.Row)
	if c.Col > 0 {
		last++
	}
	for r := rows - 1; r >= last; r-- {
		for _, cell := range t.Line(vt.Row(r)) {
			if !cell.Blank() {
				return r + 1
			}
		}
	}
	return last
}
