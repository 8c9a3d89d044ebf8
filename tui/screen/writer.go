package screen

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/fdwait"
)

var (
	// ErrBroken matches every BrokenError.
	ErrBroken = errors.New("terminal broken")

	// ErrClosed is returned once the Writer is closed.
	ErrClosed = errors.New("writer closed")

	// ErrBlocked says that the terminal took no bytes for the whole time Restore
	// could wait, and that it may be left in our modes.
	ErrBlocked = errors.New("terminal does not take output")
)

// A BrokenError says that the outer terminal is gone: hung up, closed, or the
// wait for it failed. Nothing more can be shown.
type BrokenError struct {
	Op    string // "write terminal" or "wait for terminal"
	Cause error
}

func (e *BrokenError) Error() string        { return fmt.Sprintf("%s: %v", e.Op, e.Cause) }
func (e *BrokenError) Unwrap() error        { return e.Cause }
func (e *BrokenError) Is(target error) bool { return target == ErrBroken }

// A Waiter waits for room to write. *fdwait.Waiter is one.
type Waiter interface {
	WaitWrite(d time.Duration) (ready bool, err error)
	Wake()
}

// maxPassed bounds the passthrough bytes that wait for a slow terminal. It
// holds several clipboards; beyond it Pass refuses.
const maxPassed = 8 << 20

// A Writer is the one owner of the outer terminal's output.
//
//	goroutine  started by  ends on                       joined by
//	run        NewWriter   Close, or a broken terminal   Close
//
// At most one frame is in flight. While it is, Submit refuses, the window
// composes nothing, and the next frame is the difference to what was submitted:
// frames are skipped, never queued. Bytes handed to Pass go out in order,
// between frames. The descriptor must be non-blocking; the Writer closes
// neither it nor the Waiter.
type Writer struct {
	fd     int
	waiter Waiter
	write  func(fd int, p []byte) (int, error)
	flush  func(fd int) error // discards what the terminal has not taken
	pause  func()             // between the tries of Restore
	done   func(error)

	kick chan struct{} // capacity 1; a full channel already says "look again"
	turn chan struct{} // holds one token; who has it may write(2)
	end  chan struct{} // closed when run has returned

	mu      sync.Mutex
	frame   []byte // submitted and not yet written to its end
	spare   []byte // the buffer of the frame before, used again
	passed  []byte // waiting passthrough
	refused uint64 // bytes that Pass did not take
	closing bool
	left    bool // Restore has run: nothing but its own bytes is written
	epoch   uint // counts Restore: bytes taken before it are not written after it
	err     error

	asked    bool  // Enter was called and Restore not yet
	modes    Modes // what is in force or on its way
	used     Modes // everything asked for since Enter
	onScreen bool  // a byte of Enter may have been written
}

// NewWriter returns a Writer for a non-blocking descriptor and starts its
// goroutine. done is called on that goroutine, without a lock, with nil after
// each frame that was written whole, and once with an error that matches
// ErrBroken when the terminal is gone. It may call the Writer's methods except
// Close.
func NewWriter(fd int, waiter Waiter, done func(error)) *Writer {
	w := newWriter(fd, waiter, done)
	go w.run()
	return w
}

func newWriter(fd int, waiter Waiter, done func(error)) *Writer {
	w := &Writer{
		fd: fd, waiter: waiter, done: done,
		write: unix.Write, flush: flushOutput, pause: func() { time.Sleep(restorePause) },
		kick: make(chan struct{}, 1), turn: make(chan struct{}, 1), end: make(chan struct{}),
	}
	w.turn <- struct{}{}
	return w
}

// Submit hands over a frame, which is copied. It returns false, and takes
// nothing, while a frame is in flight, before Enter, after Restore, or when the
// terminal is broken; a frame already taken from Diff is then lost to the
// Screen, which has to be told with Invalidate. An empty frame is always taken
// and never reported.
func (w *Writer) Submit(frame []byte) bool {
	if len(frame) == 0 {
		return true
	}
	w.mu.Lock()
	if !w.freeLocked() {
		w.mu.Unlock()
		return false
	}
	w.frame = append(w.spare[:0], frame...)
	w.spare = nil
	w.mu.Unlock()
	w.poke()
	return true
}

// Busy reports whether Submit would refuse a frame.
func (w *Writer) Busy() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.freeLocked()
}

func (w *Writer) freeLocked() bool {
	return w.frame == nil && w.asked && !w.closing && w.err == nil
}

// Pass appends bytes that go to the terminal between frames: a clipboard, a
// title, a query. They must not move the cursor or change the style. It returns
// false and counts the bytes when too many wait already, or nothing can be
// written any more.
func (w *Writer) Pass(p []byte) bool {
	w.mu.Lock()
	if w.closing || w.err != nil || w.left || len(w.passed)+len(p) > maxPassed {
		w.refused += uint64(len(p))
		w.mu.Unlock()
		return false
	}
	w.passed = append(w.passed, p...)
	w.mu.Unlock()
	w.poke()
	return true
}

// Refused returns how many bytes Pass did not take.
func (w *Writer) Refused() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.refused
}

// Err returns what broke the terminal, or nil.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Enter takes the terminal over. It only queues the bytes, so that a blocked
// terminal does not block the start. A second Enter is SetModes.
func (w *Writer) Enter(m Modes) error {
	w.mu.Lock()
	if w.asked {
		w.mu.Unlock()
		return w.SetModes(m)
	}
	defer w.mu.Unlock()
	if err := w.stoppedLocked(); err != nil {
		return fmt.Errorf("enter terminal: %w", err)
	}
	w.asked, w.left, w.modes, w.used = true, false, m, m
	w.passed = append(w.passed, enterSequence(m)...)
	w.poke()
	return nil
}

// SetModes changes the modes between two frames. Title is fixed by Enter.
func (w *Writer) SetModes(m Modes) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.stoppedLocked(); err != nil {
		return fmt.Errorf("set terminal modes: %w", err)
	}
	if !w.asked {
		return fmt.Errorf("set terminal modes: %w", errNotEntered)
	}
	m.Title = w.modes.Title
	w.passed = appendModes(w.passed, w.modes, m)
	w.modes, w.used = m, w.used.union(m)
	w.poke()
	return nil
}

var errNotEntered = errors.New("terminal not entered")

func (w *Writer) stoppedLocked() error {
	switch {
	case w.err != nil:
		return w.err
	case w.closing:
		return ErrClosed
	}
	return nil
}

// Close restores the terminal, stops the goroutine and joins it. It returns
// what Restore returned.
func (w *Writer) Close() error {
	err := w.Restore()
	w.mu.Lock()
	w.closing = true
	w.mu.Unlock()
	w.poke()
	w.waiter.Wake()
	<-w.end
	return err
}

// poke tells run to look again.
func (w *Writer) poke() {
	select {
	case w.kick <- struct{}{}:
	default:
	}
}

// run writes what is waiting until it is told to stop.
func (w *Writer) run() {
	defer close(w.end)
	for {
		p, isFrame, epoch, stop := w.take()
		switch {
		case stop:
			return
		case p == nil:
			<-w.kick
			continue
		}
		err := w.writeAll(p, epoch)
		if errors.Is(err, errLeft) {
			continue
		}
		w.wrote(p, isFrame, epoch, err)
		if err != nil {
			w.report(err)
			return
		}
		if isFrame {
			w.report(nil)
		}
	}
}

func (w *Writer) report(err error) {
	if w.done != nil {
		w.done(err)
	}
}

// take returns the next bytes: passthrough before the frame, since it is older
// or waits for nothing. p is nil when there is nothing to write.
func (w *Writer) take() (p []byte, isFrame bool, epoch uint, stop bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closing:
		return nil, false, w.epoch, true
	case len(w.passed) > 0:
		p, w.passed = w.passed, nil
		w.onScreen = w.onScreen || w.asked
		return p, false, w.epoch, false
	}
	return w.frame, true, w.epoch, false
}

// wrote settles what take gave out, unless Restore has dropped it meanwhile.
func (w *Writer) wrote(p []byte, isFrame bool, epoch uint, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = err
	if isFrame && epoch == w.epoch {
		w.frame, w.spare = nil, p[:0]
	}
}

// errLeft says that Restore took the terminal away in the middle of a write.
var errLeft = errors.New("terminal restored meanwhile")

// writeAll writes p to its last byte, waiting for room as long as it takes.
func (w *Writer) writeAll(p []byte, epoch uint) error {
	for len(p) > 0 {
		n, err := w.writeOnce(p, epoch)
		p = p[max(n, 0):]
		switch {
		case err == nil || errors.Is(err, unix.EINTR):
		case errors.Is(err, errLeft):
			return err
		case errors.Is(err, unix.EAGAIN):
			if err := w.waitRoom(); err != nil {
				return err
			}
		default:
			return &BrokenError{"write terminal", err}
		}
	}
	return nil
}

// writeOnce does one write(2) in turn with Restore.
func (w *Writer) writeOnce(p []byte, epoch uint) (int, error) {
	<-w.turn
	defer func() { w.turn <- struct{}{} }()
	w.mu.Lock()
	left := w.epoch != epoch || w.closing
	w.mu.Unlock()
	if left {
		return 0, errLeft
	}
	return w.write(w.fd, p)
}

// waitRoom parks until the terminal takes bytes again.
func (w *Writer) waitRoom() error {
	_, err := w.waiter.WaitWrite(-1)
	if err == nil || errors.Is(err, fdwait.ErrWoken) {
		return nil
	}
	return &BrokenError{"wait for terminal", err}
}
