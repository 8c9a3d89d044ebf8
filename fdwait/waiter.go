package fdwait

import (
	"sync"
	"time"
)

// A Waiter waits for one descriptor. One goroutine may be inside Wait and one
// inside WaitWrite at a time; Wake and Close may be called from anywhere.
//
// The owner closes the Waiter before it closes the descriptor.
type Waiter struct {
	p      *Poller
	always bool // the file never blocks, the kernel does not watch it

	mu     sync.Mutex
	reg    registration
	armed  sides // what the kernel was asked to report and has not reported
	closed bool
	err    error // a failure that stays: the Poller was closed or has ended
	lanes  [numSides]lane
	left   sync.Cond // a Wait has returned

	closeOnce sync.Once
	closeErr  error
}

// A lane is one side of a Waiter. The Waiter's lock guards it, except for the
// timer, which belongs to the goroutine inside.
type lane struct {
	inside  bool   // a goroutine is in this Wait
	ready   bool   // the kernel reported readiness that no Wait has returned yet
	woken   bool   // Wake was called and no Wait has returned ErrWoken yet
	err     error  // the kernel reported a failure of this descriptor
	asks    uint64 // how often this lane has asked for a round
	asked   uint64 // the ask of the Wait inside; 0 when it has not asked
	settled uint64 // the ask the loop answered last

	signal chan struct{} // capacity 1; a full channel already says "look again"
	timer  *time.Timer   // made by the first Wait with a deadline, then reused
}

func newWaiter(p *Poller, r registration) *Waiter {
	w := &Waiter{p: p, reg: r}
	w.left.L = &w.mu
	for s := range w.lanes {
		w.lanes[s].signal = make(chan struct{}, 1)
	}
	return w
}

// Wait blocks until the descriptor is readable, d passes, or the Waiter is told
// to stop. A negative d sets no deadline; a d of 0 asks and does not block.
//
// It returns true when a read will not block: there are bytes, or the end, or
// a hang-up, or an error to collect. Readiness may be old: a read that finds
// nothing (EAGAIN) waits again. The errors say why it returned otherwise:
//   - ErrWoken: Wake was called; the descriptor may have nothing to read
//   - ErrClosed: the Waiter or the Poller was closed
//   - ErrDeadline: d passed and the kernel says there is nothing to read
//   - ErrBusy: another goroutine is inside Wait
//   - any other error: the wait itself failed; this is never end of file
func (w *Waiter) Wait(d time.Duration) (ready bool, err error) {
	return w.wait(reading, d)
}

// WaitWrite is Wait for room to write. It returns true when a write will not
// block, which includes a write that will fail because the other end is gone.
func (w *Waiter) WaitWrite(d time.Duration) (ready bool, err error) {
	return w.wait(writing, d)
}

// Wake makes one Wait and one WaitWrite return ErrWoken: those that are
// running, or else the next ones. Calls before that count once.
func (w *Waiter) Wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for s := range numSides {
		w.lanes[s].woken = true
	}
	w.pokeAll()
}

// Close ends the Waiter: a running Wait returns ErrClosed, and Close returns
// after it has. Then the registration is removed. It never closes the
// descriptor. Later calls return what the first did.
//
// An error says that the kernel no longer knew the registration: somebody
// closed the descriptor first.
func (w *Waiter) Close() error {
	w.closeOnce.Do(func() {
		w.mu.Lock()
		w.closed = true
		w.pokeAll()
		for w.lanes[reading].inside || w.lanes[writing].inside {
			w.left.Wait()
		}
		w.mu.Unlock()
		w.closeErr = w.p.forget(w)
	})
	return w.closeErr
}

func (w *Waiter) wait(s side, d time.Duration) (bool, error) {
	if !w.enter(s) {
		return false, ErrBusy
	}
	ready, err := w.park(s, d)
	w.leave(s)
	return ready, err
}

func (w *Waiter) enter(s side) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := &w.lanes[s]
	if l.inside {
		return false
	}
	l.inside = true
	return true
}

func (w *Waiter) leave(s side) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lanes[s].inside, w.lanes[s].asked = false, 0
	w.left.Broadcast()
}

// park takes what is there, or arms the kernel and blocks until it is told to
// look again. When the time has passed it does not trust silence, since the
// loop may not have run yet: it asks for a complete round first.
func (w *Waiter) park(s side, d time.Duration) (bool, error) {
	l := &w.lanes[s]
	var expire <-chan time.Time
	if d > 0 {
		expire = l.start(d)
		defer l.timer.Stop()
	}
	expired := d == 0
	for {
		done, ready, err := w.take(s)
		if done {
			return ready, err
		}
		if expired {
			expired = false
			done, ready, err = w.expire(s)
			if done {
				return ready, err
			}
		}
		select {
		case <-l.signal:
		case <-expire:
			expired, expire = true, nil
		}
	}
}

// start runs the lane's timer for d.
func (l *lane) start(d time.Duration) <-chan time.Time {
	if l.timer == nil {
		l.timer = time.NewTimer(d)
	} else {
		l.timer.Reset(d)
	}
	return l.timer.C
}

// poke tells a goroutine inside to look again. The Waiter's lock is held.
func (l *lane) poke() {
	select {
	case l.signal <- struct{}{}:
	default:
	}
}

func (w *Waiter) pokeAll() {
	for s := range numSides {
		w.lanes[s].poke()
	}
}

// take returns what a Wait on s has to return now, or arms the kernel and says
// that there is nothing yet.
//
// The order is: ended, woken, failed, ready, deadline. A Wake is not lost
// behind a descriptor that is always ready, and readiness is not lost behind a
// Wake: it stays for the next Wait.
func (w *Waiter) take(s side) (done, ready bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := &w.lanes[s]
	if done, ready, err = w.takeLocked(l); done {
		return done, ready, err
	}
	if w.armed&s.bit() != 0 {
		return false, false, nil
	}
	if err := w.arm(s.bit()); err != nil {
		return true, false, err
	}
	return w.takeLocked(l)
}

func (w *Waiter) takeLocked(l *lane) (done, ready bool, err error) {
	switch {
	case w.closed:
		return true, false, ErrClosed
	case w.err != nil:
		return true, false, w.err
	case l.woken:
		l.woken = false
		return true, false, ErrWoken
	case l.err != nil:
		err, l.err = l.err, nil
		return true, false, err
	case l.ready, w.always:
		l.ready = false
		return true, true, nil
	case l.asked != 0 && l.settled == l.asked:
		return true, false, ErrDeadline
	}
	return false, false, nil
}

// expire makes sure that a deadline tells the truth. A backend that asks the
// kernel itself answers now; otherwise the loop is asked for a complete round,
// and park blocks until it has answered.
func (w *Waiter) expire(s side) (done, ready bool, err error) {
	w.mu.Lock()
	l := &w.lanes[s]
	if w.p.be.asks() {
		defer w.mu.Unlock()
		if err := w.arm(s.bit()); err != nil {
			return true, false, err
		}
		if done, ready, err = w.takeLocked(l); done {
			return done, ready, err
		}
		return true, false, ErrDeadline
	}
	l.asks++
	l.asked = l.asks
	id := l.asked
	w.mu.Unlock()
	if err := w.p.ask(w, s, id); err != nil {
		return true, false, err
	}
	return false, false, nil
}

// answer says that a round of the loop that began after ask id is complete.
func (w *Waiter) answer(s side, id uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := &w.lanes[s]
	if l.asked == id {
		l.settled = id
		l.poke()
	}
}

// arm asks the kernel for more beside what it was asked before. mu is held.
func (w *Waiter) arm(more sides) error {
	want := w.armed | more
	ready, err := w.p.be.arm(&w.reg, want)
	if err != nil {
		return err
	}
	w.armed = want &^ ready
	w.latch(ready)
	return nil
}

// latch records readiness for the next Wait. mu is held.
func (w *Waiter) latch(ready sides) {
	for s := range numSides {
		if ready&s.bit() != 0 {
			w.lanes[s].ready = true
			w.lanes[s].poke()
		}
	}
}

// deliver takes one event from the loop. Only what was asked for counts: a
// hang-up that nobody waits for is dropped here, and asked again by the next
// Wait. A side that lost its registration to the other one's event is armed
// again while a Wait is inside.
func (w *Waiter) deliver(ev event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.err != nil {
		return
	}
	was := w.armed
	if ev.err != nil {
		w.armed &^= ev.spent
		w.refuse(was&ev.spent, ev.err)
		return
	}
	w.armed &^= ev.spent | ev.ready
	w.latch(was & ev.ready)
	var again sides
	for s := range numSides {
		if was&ev.spent&^ev.ready&s.bit() != 0 && w.lanes[s].inside {
			again |= s.bit()
		}
	}
	if again == 0 {
		return
	}
	if err := w.arm(again); err != nil {
		w.refuse(again, err)
	}
}

// refuse records a failure of this descriptor for the sides that were waiting
// for it. mu is held.
func (w *Waiter) refuse(which sides, err error) {
	for s := range numSides {
		if which&s.bit() != 0 {
			w.lanes[s].err = err
			w.lanes[s].poke()
		}
	}
}

// fail ends the Waiter with an error that stays.
func (w *Waiter) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = err
	w.pokeAll()
}
