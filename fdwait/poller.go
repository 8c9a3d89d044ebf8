package fdwait

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// batch is how many events one call to the kernel may bring. It bounds only
// memory: what does not fit comes with the next call.
const batch = 128

// A Poller waits in the kernel for every Waiter of the process.
//
//	goroutine  started by  ends on              joined by
//	loop       New         Close, kernel error  Close
//
// It owns the backend's descriptors (two on Linux, one on macOS and FreeBSD,
// none for poll) and never owns a descriptor that is waited for.
//
// Locks: mu is never held together with a Waiter's lock, nor across a blocking
// call.
type Poller struct {
	be    backend
	cause error // why be is only poll; nil otherwise

	mu      sync.Mutex
	waiters map[token]*Waiter
	byFD    map[int]*Waiter // the same Waiters; a number has one
	last    token           // the newest token given out
	closed  bool
	err     error  // why the loop ended by itself; nil while it runs
	round   uint64 // number of the wait that is running or was last
	asks    []ask  // deadlines that want a complete round; bounded by two a Waiter
	answers []ask  // scratch of the loop, kept for its capacity

	done      chan struct{} // closed when the loop has ended
	closeOnce sync.Once
	closeErr  error
}

// An ask is a Wait whose time has passed: it wants to hear when a round of the
// loop that began after the ask has seen everything that was ready.
type ask struct {
	w     *Waiter
	side  side
	id    uint64 // lane.ask, so that an answer meets only the Wait that asked
	after uint64 // Poller.round when asked
}

// New makes a Poller. A process makes one, when it starts: then it cannot fail
// for want of a descriptor later, when a reader needs it.
//
// It uses epoll on Linux and kqueue on macOS and FreeBSD. Only when there is no
// descriptor left for them (EMFILE, ENFILE) does it fall back to poll; Cause
// and Mechanism then say so. Any other error is a *SetupError, and so is a
// process too full for the Go runtime's own poller, which would end it at the
// first timer.
func New() (*Poller, error) {
	if err := readyRuntime(); err != nil {
		return nil, err
	}
	return newPoller(nativeName, openNative, func() backend {
		return newPoll(sysPoll{}, runtime.GOOS)
	})
}

// newPoller is New with its kernels given.
func newPoller(name string, open func() (backend, error), fallback func() backend) (*Poller, error) {
	be, err := open()
	switch {
	case err == nil:
		return start(be, nil), nil
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		return start(fallback(), fmt.Errorf("no descriptor for %s: %w", name, err)), nil
	}
	return nil, err
}

// start runs the loop over be. The Poller owns be from here on.
func start(be backend, why error) *Poller {
	p := &Poller{
		be:      be,
		cause:   why,
		waiters: make(map[token]*Waiter),
		byFD:    make(map[int]*Waiter),
		done:    make(chan struct{}),
	}
	go p.loop()
	return p
}

// Mechanism names how the process waits: "epoll", "kqueue", or, where there
// was no descriptor for them, "poll (no descriptor for epoll: EMFILE)".
func (p *Poller) Mechanism() string {
	if p.cause == nil {
		return p.be.mechanism()
	}
	return fmt.Sprintf("%s (no descriptor for %s: %s)", p.be.mechanism(), nativeName, cause(p.cause))
}

// Cause says why only poll is used. It is nil for epoll and kqueue.
func (p *Poller) Cause() error { return p.cause }

// Waiters counts the Waiters that are registered now.
func (p *Poller) Waiters() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.waiters)
}

// Register makes the Waiter of fd, once for the life of its reader. The caller
// keeps fd, and closes the Waiter before it closes fd.
//
// Every error is a *SetupError: a bad descriptor (EBADF), a number that has a
// Waiter already (EEXIST), a device that only poll is left for
// (ErrPollDevice), a Poller that has ended. None of them is end of file.
func (p *Poller) Register(fd int) (*Waiter, error) {
	if fd < 0 {
		return nil, &SetupError{Op: "register", FD: fd, Err: unix.EBADF}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return nil, &SetupError{Op: "register", FD: fd, Err: ErrClosed}
	case p.err != nil:
		return nil, &SetupError{Op: "register", FD: fd, Err: p.err}
	case p.byFD[fd] != nil:
		return nil, &SetupError{Op: "register", FD: fd, Err: unix.EEXIST}
	}
	w := newWaiter(p, registration{token: p.nextToken(), fd: fd})
	always, err := p.be.add(&w.reg)
	if err != nil {
		return nil, err
	}
	w.always = always
	p.waiters[w.reg.token] = w
	p.byFD[fd] = w
	return w, nil
}

// nextToken skips 0, and after the counter has wrapped on a 32-bit machine
// also what is in use. mu is held.
func (p *Poller) nextToken() token {
	for {
		p.last++
		if _, used := p.waiters[p.last]; p.last != 0 && !used {
			return p.last
		}
	}
}

// forget removes w after its last Wait has returned.
func (p *Poller) forget(w *Waiter) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.waiters, w.reg.token)
	delete(p.byFD, w.reg.fd)
	if p.closed || w.always {
		return nil
	}
	return p.be.remove(&w.reg)
}

// Close ends waiting for the whole process: every Wait returns ErrClosed, the
// loop is joined, the Poller's own descriptors are closed. Descriptors that
// were waited for stay open; their Waiters may still be closed afterwards.
func (p *Poller) Close() error {
	p.closeOnce.Do(func() { p.closeErr = p.shut() })
	return p.closeErr
}

func (p *Poller) shut() error {
	p.mu.Lock()
	p.closed = true
	all := p.all()
	err := p.be.wake()
	p.mu.Unlock()
	for _, w := range all {
		w.fail(ErrClosed)
	}
	if err != nil {
		// The loop cannot be told. Joining it would hang, and closing its
		// descriptors under it would let the numbers be reused.
		return err
	}
	<-p.done
	return p.be.close()
}

// all lists the registered Waiters. mu is held.
func (p *Poller) all() []*Waiter {
	all := make([]*Waiter, 0, len(p.waiters))
	for _, w := range p.waiters {
		all = append(all, w)
	}
	return all
}

// loop is the one goroutine that waits in the kernel.
func (p *Poller) loop() {
	defer close(p.done)
	events := make([]event, batch)
	for {
		round, block, stop := p.begin()
		if stop {
			return
		}
		n, full, err := p.be.wait(events, block)
		if err != nil {
			p.end(err)
			return
		}
		for _, ev := range events[:n] {
			p.dispatch(ev)
		}
		if !full {
			p.answer(round)
		}
		if n > 0 {
			// Those who were woken are next in line on this thread. Straight
			// into the kernel it would take them along, until another thread
			// has been started for them; now it is the loop that moves.
			runtime.Gosched()
		}
	}
}

// begin numbers the next round. A round blocks unless a Wait whose time has
// passed is waiting for its answer.
func (p *Poller) begin() (round uint64, block, stop bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.round++
	return p.round, len(p.asks) == 0, p.closed
}

func (p *Poller) dispatch(ev event) {
	p.mu.Lock()
	w := p.waiters[ev.token]
	p.mu.Unlock()
	if w != nil {
		w.deliver(ev)
	}
}

// end tells every Waiter that the kernel refuses to wait. The failure stays:
// later Waits and Registers get it too.
func (p *Poller) end(err error) {
	p.mu.Lock()
	p.err = err
	all := p.all()
	p.mu.Unlock()
	for _, w := range all {
		w.fail(err)
	}
}

// ask requests a complete round that begins after now. The answer comes
// through Waiter.answer. It is dropped when the Poller has ended, since that
// has told the Waiter already.
func (p *Poller) ask(w *Waiter, s side, id uint64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.err != nil {
		return nil
	}
	p.asks = append(p.asks, ask{w: w, side: s, id: id, after: p.round})
	return p.be.wake()
}

// answer tells everyone who asked before round began that all that was ready
// then has been delivered.
func (p *Poller) answer(round uint64) {
	p.mu.Lock()
	if len(p.asks) == 0 {
		p.mu.Unlock()
		return
	}
	p.answers = p.answers[:0]
	later := p.asks[:0]
	for _, a := range p.asks {
		if a.after < round {
			p.answers = append(p.answers, a)
		} else {
			later = append(later, a)
		}
	}
	clear(p.asks[len(later):])
	p.asks = later
	p.mu.Unlock()
	for _, a := range p.answers {
		a.w.answer(a.side, a.id)
	}
	clear(p.answers)
}
