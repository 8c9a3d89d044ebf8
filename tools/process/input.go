package process

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/fdwait"
)

// inputLimit is how many bytes of input may wait for a process that does not
// read, beside the 64 KiB that its pipe holds.
const inputLimit = 1 << 20

// errProcessClosed is why input is refused although nobody here closed it.
var errProcessClosed = fmt.Errorf("%w: the process does not read it any more", ErrStdinClosed)

// An input is the pipe to a job's standard input.
//
// A write goes to the pipe at once as far as it fits, so that a closed pipe is
// told to the one who writes. The rest waits here and the carrier brings it.
//
//	goroutine  started by  ends on            joined by
//	carrier    start       closed and empty,  stop
//	                       broken, stop
type input struct {
	fd     int
	waiter *fdwait.Waiter

	// turn is held by the one who may use fd: a Write or the carrier. Whoever
	// holds it only makes calls that do not block.
	turn chan struct{}

	more chan struct{} // signalled when the carrier has something to do; capacity 1
	quit chan struct{} // closed by stop
	done chan struct{} // closed when the carrier has returned

	mu      sync.Mutex
	queue   []byte // changed only by the holder of the turn
	closed  error  // why nothing more is taken; nil while it is open
	eof     bool   // close the pipe once the queue is empty
	refused int64
	taken   int64
}

func newInput(fd int, w *fdwait.Waiter) *input {
	return &input{
		fd: fd, waiter: w,
		turn: make(chan struct{}, 1),
		more: make(chan struct{}, 1),
		quit: make(chan struct{}),
		done: make(chan struct{}),
	}
}

// start begins to carry. stop must follow.
func (in *input) start() { go in.carry() }

// write takes p, never blocks, and says how much it took.
func (in *input) write(p []byte) (int, error) {
	in.turn <- struct{}{}
	defer func() { <-in.turn }()
	in.mu.Lock()
	closed, waiting := in.closed, len(in.queue)
	in.mu.Unlock()
	if closed != nil {
		in.count(0, len(p))
		return 0, closed
	}
	n := 0
	if waiting == 0 {
		var err error
		if n, err = in.push(p); err != nil {
			in.fail(err)
			in.count(n, len(p)-n)
			return n, in.why()
		}
	}
	in.mu.Lock()
	fits := min(len(p)-n, inputLimit-len(in.queue))
	in.queue = append(in.queue, p[n:n+fits]...)
	in.mu.Unlock()
	if fits > 0 {
		in.signal()
	}
	n += fits
	in.count(n, len(p)-n)
	if n < len(p) {
		return n, &InputFullError{Taken: n, Refused: len(p) - n}
	}
	return n, nil
}

// push writes to the pipe until it is full. A nil error with less than all of
// p means that it is full. The caller has the turn.
func (in *input) push(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		n, err := unix.Write(in.fd, p[done:])
		switch {
		case n > 0:
			done += n
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			return done, nil
		case err == nil:
			return done, io.ErrNoProgress
		default:
			return done, err
		}
	}
	return done, nil
}

// close ends the input once what waits has arrived. A second close is an
// error.
func (in *input) close() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed != nil {
		return in.closed
	}
	in.closed, in.eof = ErrStdinClosed, true
	in.signal()
	return nil
}

func (in *input) signal() {
	select {
	case in.more <- struct{}{}:
	default:
	}
}

func (in *input) count(taken, refused int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.taken += int64(taken)
	in.refused += int64(refused)
}

// failInTurn is fail for one who has not the turn.
func (in *input) failInTurn(err error) {
	in.turn <- struct{}{}
	defer func() { <-in.turn }()
	in.fail(err)
}

// fail ends the input for a reason; what waits never arrives and is counted as
// refused. The caller has the turn.
func (in *input) fail(err error) {
	if errors.Is(err, unix.EPIPE) {
		err = errProcessClosed
	} else if !errors.Is(err, ErrStdinClosed) {
		err = fmt.Errorf("%w: write to the pipe: %w", ErrStdinClosed, err)
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed == nil || in.eof {
		in.closed, in.eof = err, false
	}
	in.refused += int64(len(in.queue))
	in.taken -= int64(len(in.queue))
	in.queue = nil
}

func (in *input) why() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.closed
}

// carry brings the queue to the pipe.
func (in *input) carry() {
	defer close(in.done)
	for {
		select {
		case <-in.quit:
			return
		case <-in.more:
		}
		for {
			left, err := in.pushQueue()
			if err != nil {
				in.failInTurn(err)
			}
			if in.isOver() {
				in.closePipe()
				return
			}
			if left == 0 {
				break
			}
			if !in.awaitRoom() {
				return
			}
		}
	}
}

// pushQueue writes what waits and returns how much still does.
func (in *input) pushQueue() (int, error) {
	in.turn <- struct{}{}
	defer func() { <-in.turn }()
	in.mu.Lock()
	p := in.queue
	in.mu.Unlock()
	n, err := in.push(p) // only the holder of the turn changes the queue
	in.mu.Lock()
	defer in.mu.Unlock()
	in.queue = in.queue[n:]
	if len(in.queue) == 0 {
		in.queue = nil // a paste is rare; its memory goes back
	}
	return len(in.queue), err
}

// isOver reports whether nothing can or shall be carried any more.
func (in *input) isOver() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.closed != nil && len(in.queue) == 0
}

// awaitRoom waits until the pipe takes more; false means stop.
func (in *input) awaitRoom() bool {
	for {
		_, err := in.waiter.WaitWrite(-1)
		select {
		case <-in.quit:
			return false
		default:
		}
		switch {
		case err == nil:
			return true
		case errors.Is(err, fdwait.ErrWoken):
		default:
			in.failInTurn(fmt.Errorf("wait for room in the pipe: %w", err))
			in.closePipe()
			return false
		}
	}
}

// closePipe gives the pipe back, so that the process reads its end.
func (in *input) closePipe() {
	in.turn <- struct{}{}
	defer func() { <-in.turn }()
	if in.fd >= 0 {
		_ = in.waiter.Close()
		_ = unix.Close(in.fd)
		in.fd = -1
	}
}

// stop ends the carrier and closes the pipe. What still waits is counted as
// refused.
func (in *input) stop() {
	close(in.quit)
	in.waiter.Wake()
	<-in.done
	in.failInTurn(errInputEnded)
	in.closePipe()
}

// An Input is how the input of a job stands.
type Input struct {
	Open    bool   // writes are taken
	Why     error  // why not; nil while open
	Taken   int64  // bytes written so far, or waiting
	Waiting int64  // bytes that the process has not made room for
	Refused int64  // bytes that were refused or never arrived
	Takes   Taking // what a pane may send
}

// Taking is what a job takes as input.
type Taking uint8

// What a job takes. The zero value takes nothing.
const (
	TakesNothing Taking = iota
	TakesLines          // a pipe: whole lines, nothing is echoed
	TakesKeys           // a terminal: every key, and a size
)

func (in *input) state() Input {
	in.mu.Lock()
	defer in.mu.Unlock()
	i := Input{Open: in.closed == nil, Why: in.closed, Taken: in.taken, Waiting: int64(len(in.queue)), Refused: in.refused}
	if i.Open {
		i.Takes = TakesLines
	}
	return i
}
