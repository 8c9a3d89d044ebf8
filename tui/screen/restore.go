package screen

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// How long Restore tries: a terminal that takes nothing for half a second is
// blocked, and a program that is ending cannot wait for it for ever.
const (
	restorePause = 5 * time.Millisecond
	restoreTries = 100
)

// Restore gives the terminal back as it was before Enter. It does so once, and
// may be called from a signal handler's goroutine or a deferred function in a
// panic: it takes no lock that is held across a write, waits a bounded time,
// and drops the frame and the passthrough that are not written yet. When the
// terminal takes no bytes at all, its queued output is thrown away in favour of
// the restoring bytes; if even that fails the error matches ErrBlocked.
//
// The terminal can be entered again afterwards.
func (w *Writer) Restore() error {
	w.mu.Lock()
	if !w.asked {
		w.mu.Unlock()
		return nil
	}
	seq := leaveSequence(w.used)
	dirty := w.onScreen
	w.asked, w.left, w.onScreen = false, true, false
	w.epoch++
	w.frame, w.passed = nil, nil
	w.modes, w.used = Modes{}, Modes{}
	broken := w.err != nil
	w.mu.Unlock()
	w.waiter.Wake()
	if !dirty || broken {
		return nil
	}
	// The goroutine's write(2) does not block, so its turn ends soon; a
	// descriptor that blocks after all must not keep us here.
	select {
	case <-w.turn:
		defer func() { w.turn <- struct{}{} }()
	case <-time.After(restorePause * restoreTries):
	}
	rest, err := w.push(seq)
	if !errors.Is(err, unix.EAGAIN) {
		return restoreError(err)
	}
	// What the terminal has not taken belongs to a screen that is being left.
	if w.flush(w.fd) == nil {
		// The bytes thrown away may be ours: begin again.
		rest, err = w.push(seq)
	}
	if errors.Is(err, unix.EAGAIN) {
		return fmt.Errorf("restore terminal: %w with %d bytes left", ErrBlocked, len(rest))
	}
	return restoreError(err)
}

func restoreError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("restore terminal: %w", &BrokenError{"write terminal", err})
}

// push writes p with a bounded number of tries and returns what is left of it.
func (w *Writer) push(p []byte) ([]byte, error) {
	for tries := 0; len(p) > 0; {
		n, err := w.write(w.fd, p)
		p = p[max(n, 0):]
		switch {
		case err == nil || errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN) && tries < restoreTries:
			tries++
			w.pause()
		default:
			return p, err
		}
	}
	return nil, nil
}
