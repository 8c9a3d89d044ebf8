package session

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

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

// PaneVariable tells a program the number of its pane.
const PaneVariable = "HONESTTY_PANE"

// stall is how long a paste may wait for a program that reads none of it.
const stall = time.Second

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
	located  time.Time // when where was looked for last
	bells    int
	notices  []Notice
	noticed  int // notices ever
	clip     *Clip
	times    timings
	told     bool // PaneChanged was said and nobody has looked since

	dirty atomic.Bool  // where may have changed since it was looked for
	moved atomic.Int64 // when it last may have, in nanoseconds since 1970
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
		Command: command, Dir: dir, Env: append(append(proc.ChildEnv(env, p.s.conf.Version), p.s.conf.Env...), PaneVariable+"="+strconv.Itoa(int(p.id))), Size: size,
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
	p.unseen()
	p.s.gauge.wantCount()
}

// output feeds the engine. It runs in the bridge's reader.
func (p *Pane) output(b *ptybridge.Bridge, data []byte) {
	defer p.s.conf.Guard()
	var reply []byte
	called := false
	p.mu.Lock()
	title := p.term.Title()
	for len(data) > 0 {
		part := markEnd(data)
		more, rang := p.feed(data[:part])
		reply, called = append(reply, more...), called || rang
		data = data[part:]
	}
	if p.term.Title() != title {
		p.told = false
	}
	p.mu.Unlock()
	if len(reply) > 0 {
		_, _ = b.Write(reply) // a refusal is counted by the bridge
	}
	if called {
		p.s.facts.put(PaneCalled{p.id})
	}
	p.changed()
	p.unseen()
}

// changed tells that there is something to look at, once until somebody does.
// What shows beside the screen, in a tab's name, is seen without a look at the
// pane: who changes that resets told first.
func (p *Pane) changed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tell()
}

// tell is changed for who holds mu.
func (p *Pane) tell() {
	if !p.told {
		p.told = true
		p.s.facts.put(PaneChanged{p.id}) // waits for nobody
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

// locate looks what runs in the foreground.
func (p *Pane) locate(now time.Time) {
	w := p.glance()
	p.mu.Lock()
	same := w == p.where
	p.where, p.located = w, now
	if !same {
		p.told = false
		p.tell()
	}
	p.mu.Unlock()
	if !same {
		p.s.gauge.wantCount() // another program has other descriptors
	}
}

// lookedBefore reports whether the last look at what runs is older than t.
func (p *Pane) lookedBefore(t time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bridge != nil && !p.located.After(t)
}

// await records the end of a run.
func (p *Pane) await(b *ptybridge.Bridge) {
	defer p.awaiting.Done()
	defer p.s.conf.Guard()
	exit := b.Exit()
	p.mu.Lock()
	p.bridge, p.state, p.exit = nil, StateEnded, exit
	p.mu.Unlock()
	p.s.facts.put(PaneEnded{p.id})
	p.unseen()
	p.s.gauge.wantCount()
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
		p.term.Write([]byte("\x1b[2m" + seam(p.size.Cols, time.Now(), p.howItEnded()) + "\x1b[0m\r\n"))
	})
	p.mu.Unlock()
	p.run()
}

// seam is the line between two runs, in the longest form that a row takes: it
// is text of the pane, and would be wrapped inside a word.
func seam(cols int, at time.Time, ended string) string {
	clock := at.Format("15:04")
	for _, form := range []string{
		"┄┄ run again at " + clock + ", " + ended + " before ┄┄",
		"run again at " + clock + ", " + ended + " before",
		"again " + clock + ", " + ended,
		clock + " " + ended,
		clock,
	} {
		if utf8.RuneCountInString(form) <= cols { // every character is one column wide
			return form
		}
	}
	return "┄"
}

func (p *Pane) howItEnded() string {
	if p.state == StateNotStarted {
		return "not started"
	}
	return Ending(p.exit)
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
	p.contain(0, func() {
		p.times.around(p.term, func() { reply = append(reply, p.term.Resize(size.Cols, size.Rows).Reply...) })
	})
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
