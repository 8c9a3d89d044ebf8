package session

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/ptybridge"
	"github.com/honestty/honestty/tools/fdmeter"
	"github.com/honestty/honestty/vt"
)

// A Fact is something that happened, for a client to act on.
type Fact interface{ fact() }

// PaneChanged says that a pane shows something else than when a client last
// looked: its screen, its title, its modes or its state. For the screen it is
// not said again before somebody looks, so that a flood of output costs one
// fact a frame. A new title and another program in the foreground are always
// told: they are shown where nobody looks at the pane, as in a tab's name.
type PaneChanged struct{ ID PaneID }

// PaneEnded says that a pane's process has ended and everything is known of
// it. Info tells what.
type PaneEnded struct{ ID PaneID }

// PaneCalled says that a program asks for attention or for the clipboard: it
// rang the bell, sent a notification or wants something copied. Info tells the
// first two, TakeClip the third.
type PaneCalled struct{ ID PaneID }

// MeterRead carries one count of the descriptors.
type MeterRead struct{ Snapshot fdmeter.Snapshot }

func (PaneChanged) fact() {}
func (PaneEnded) fact()   {}
func (PaneCalled) fact()  {}
func (MeterRead) fact()   {}

// A Config says how a session is built.
type Config struct {
	Poller  *fdwait.Poller
	Version string // told to children and by XTVERSION

	Scrollback      int // lines a pane; 0: 10,000
	ScrollbackBytes int // bytes a pane; 0: the engine's default

	// Env is added to the environment of every child; nil: nothing.
	Env []string

	// NoSelect, when set, is the meter's; see fdmeter.Meter.
	NoSelect func(pid int) bool

	// Publish takes the facts, in order, from one goroutine. It may block.
	Publish func(Fact)

	// Guard, when set, is deferred by every goroutine of the session, so that a
	// window can give its terminal back before a panic ends the program.
	Guard func()

	fault func() // runs before the engine, where tests let it fail; nil in the product
}

// DefaultScrollback is how many lines of history a pane keeps.
const DefaultScrollback = 10_000

// ErrClosed is why a pane that was opened after Close did not start.
var ErrClosed = errors.New("the session is closed")

// A Session owns the panes and the meter.
//
//	goroutine  started by    ends on   joined by
//	publisher  New           Close     Close
//	meter      New           Close     Close
//	follow     FollowCalls   Close     Close
type Session struct {
	conf Config
	wg   sync.WaitGroup
	stop chan struct{}

	mu     sync.Mutex
	panes  map[PaneID]*Pane
	lastID PaneID
	closed bool
	facts  inbox

	calls calls
	gauge gauge
}

// New starts a session without panes.
func New(c Config) *Session {
	if c.Scrollback == 0 {
		c.Scrollback = DefaultScrollback
	}
	s := &Session{conf: c, stop: make(chan struct{}), panes: map[PaneID]*Pane{}}
	s.calls.wake = make(chan struct{}, 1) // one pending wake-up is enough
	s.facts.init()
	s.gauge.init(c.NoSelect)
	if s.conf.Guard == nil {
		s.conf.Guard = func() {}
	}
	s.wg.Go(s.publish)
	s.wg.Go(s.meter)
	return s
}

// Open makes a pane and starts its command. It always returns a pane: when
// the command could not be started the pane says why, and so it does after
// Close (ErrClosed).
func (s *Session) Open(spec Spec, size ptybridge.Size) *Pane {
	s.mu.Lock()
	s.lastID++
	p := newPane(s, s.lastID, spec, size)
	if s.closed {
		p.closed, p.state, p.err = true, StateNotStarted, ErrClosed
	} else {
		s.panes[p.id] = p
	}
	s.mu.Unlock()
	p.start()
	return p
}

// Close ends every pane's process, waits until all of them are gone and stops
// the meter. It returns what became of the panes; a second call returns nil.
func (s *Session) Close() []Info {
	s.mu.Lock()
	again := s.closed
	s.closed = true
	s.mu.Unlock()
	if again {
		return nil
	}
	panes := s.all()
	infos := make([]Info, len(panes))
	var wg sync.WaitGroup
	for i, p := range panes {
		wg.Go(func() { infos[i] = p.Close() })
	}
	wg.Wait()
	close(s.stop)
	s.facts.close()
	s.wg.Wait()
	return infos
}

// all returns the panes in the order they were opened.
func (s *Session) all() []*Pane {
	s.mu.Lock()
	defer s.mu.Unlock()
	panes := slices.Collect(maps.Values(s.panes))
	slices.SortFunc(panes, func(a, b *Pane) int { return cmp.Compare(a.id, b.id) })
	return panes
}

func (s *Session) roots() []int {
	var pids []int
	for _, p := range s.all() {
		if pid := p.runningPID(); pid != 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (s *Session) publish() {
	defer s.conf.Guard()
	for {
		f, ok := s.facts.take()
		if !ok {
			return
		}
		s.conf.Publish(f)
	}
}

// An inbox holds the facts that were not taken yet: at most one PaneChanged
// and one PaneEnded a pane, and one MeterRead, the newest.
type inbox struct {
	mu     sync.Mutex
	cond   sync.Cond
	queue  []Fact
	closed bool
}

func (b *inbox) init() { b.cond.L = &b.mu }

func (b *inbox) put(f Fact) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, have := range b.queue {
		if sameKind(have, f) {
			b.queue[i] = f // the newest stands where the oldest waited
			return
		}
	}
	b.queue = append(b.queue, f)
	b.cond.Signal()
}

func sameKind(a, b Fact) bool {
	if _, ok := a.(MeterRead); ok {
		_, ok = b.(MeterRead)
		return ok
	}
	if _, ok := b.(MeterRead); ok { // a snapshot cannot be compared
		return false
	}
	return a == b
}

func (b *inbox) take() (Fact, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.queue) == 0 && !b.closed {
		b.cond.Wait()
	}
	if b.closed {
		return nil, false
	}
	f := b.queue[0]
	b.queue = append(b.queue[:0], b.queue[1:]...)
	return f, true
}

func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.cond.Broadcast()
}

func (s *Session) newTerminal(size ptybridge.Size) *vt.Terminal {
	return vt.New(size.Cols, size.Rows, vt.Options{
		Scrollback: s.conf.Scrollback, ScrollbackBytes: s.conf.ScrollbackBytes,
		Version: s.conf.Version, CellPixels: cellPixels(size),
	})
}

func cellPixels(s ptybridge.Size) vt.Pixels {
	if s.PixelsX == 0 || s.PixelsY == 0 {
		return vt.Pixels{}
	}
	return vt.Pixels{Width: s.PixelsX / s.Cols, Height: s.PixelsY / s.Rows}
}
