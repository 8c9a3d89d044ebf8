package input

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/fdwait"
)

const (
	// escapeWait is how long a lone ESC may be the start of a sequence whose
	// rest is on its way, before it is the Escape key.
	escapeWait = 25 * time.Millisecond

	// kittyEscapeWait is the same while the kitty protocol is on. The Escape
	// key is then CSI 27 u and has no delay at all; a bare ESC is the first
	// byte of a split sequence, so there is reason to be patient. It is still
	// released in the end, for a terminal that says one thing and does another.
	kittyEscapeWait = 500 * time.Millisecond

	// readSize bounds one read. A terminal gives 4 KiB at a time.
	readSize = 16 << 10

	// maxBatch bounds the tokens of one call of the sink.
	maxBatch = 256
)

// A Waiter waits until the terminal can be read; *fdwait.Waiter is one.
type Waiter interface {
	Wait(d time.Duration) (ready bool, err error)
	Wake()
	Close() error
}

// An End says why a Reader ended. The zero value claims nothing.
type End uint8

const (
	EndUnknown End = iota // still running
	EndStopped            // Close was called
	EndHangup             // the terminal is gone
	EndBroken             // reading or waiting failed; Err says how
)

func (e End) String() string {
	switch e {
	case EndStopped:
		return "stopped"
	case EndHangup:
		return "hangup"
	case EndBroken:
		return "broken"
	}
	return "unknown"
}

// A Reader owns reading from the outer terminal.
//
//	goroutine  started by    ends on              joined by
//	loop       StartReader   Close, hangup, error Close
//
// It reads until nothing is there (EAGAIN), then waits. Every read is cut into
// tokens and given to the sink, in order, before the next read: while the sink
// blocks nothing is read, so the terminal holds the rest of a paste back and
// memory stays bounded.
type Reader struct {
	fd     int
	waiter Waiter // closed by Close after the loop is joined
	sink   func([]Token)
	read   func(fd int, p []byte) (int, error) // unix.Read but for tests

	kitty    atomic.Bool
	pixels   atomic.Bool
	stop     chan struct{} // closed by Close
	stopOnce sync.Once
	done     chan struct{} // closed by loop
	closeErr error

	tok   Tokenizer // used by loop; read by others after done
	batch []Token
	end   End   // written by loop before done is closed
	err   error // likewise
}

// StartReader begins to read a non-blocking descriptor, which stays the
// caller's and is closed after Close. An error is a failure to set up the wait.
//
// The sink is called on the Reader's goroutine with at least one token. The
// slice and the bytes in it are reused: they are valid until the sink returns.
// A sink that blocks must give up when Stopping is closed, and must not call
// Close.
func StartReader(p *fdwait.Poller, fd int, sink func([]Token)) (*Reader, error) {
	w, err := p.Register(fd)
	if err != nil {
		return nil, fmt.Errorf("wait for terminal: %w", err)
	}
	return NewReader(fd, w, sink), nil
}

// NewReader is StartReader with a Waiter that is already registered for fd. The
// Reader closes it. A writer of the same descriptor may use its WaitWrite until
// then.
func NewReader(fd int, w Waiter, sink func([]Token)) *Reader {
	r := newReader(fd, w, sink)
	go r.loop()
	return r
}

func newReader(fd int, w Waiter, sink func([]Token)) *Reader {
	return &Reader{
		fd: fd, waiter: w, sink: sink, read: unix.Read,
		stop: make(chan struct{}), done: make(chan struct{}),
		batch: make([]Token, 0, maxBatch),
	}
}

// SetKitty says whether the outer terminal has confirmed the kitty protocol's
// disambiguation, so that a lone ESC is not the Escape key.
func (r *Reader) SetKitty(on bool) { r.kitty.Store(on) }

// SetPixels says whether the outer terminal reports the mouse in pixels.
func (r *Reader) SetPixels(on bool) { r.pixels.Store(on) }

// Stopping is closed when Close has been called.
func (r *Reader) Stopping() <-chan struct{} { return r.stop }

// Done is closed when the Reader has ended and the last token is delivered.
func (r *Reader) Done() <-chan struct{} { return r.done }

// End waits for the end and returns why it came. The error is set for
// EndBroken only.
func (r *Reader) End() (End, error) {
	<-r.done
	return r.end, r.err
}

// Stats waits for the end and returns the tokenizer's counters.
func (r *Reader) Stats() Stats {
	<-r.done
	return r.tok.Stats()
}

// Close stops the Reader: it wakes the loop, joins it and closes the Waiter.
// The terminal's descriptor stays open. What was held of an unfinished
// sequence is delivered first, so that no byte that was read is lost.
func (r *Reader) Close() error {
	r.stopOnce.Do(func() {
		close(r.stop)
		r.waiter.Wake()
		<-r.done
		if err := r.waiter.Close(); err != nil {
			r.closeErr = fmt.Errorf("close terminal waiter: %w", err)
		}
	})
	<-r.done
	return r.closeErr
}

// loop reads and waits until one of them ends.
func (r *Reader) loop() {
	defer close(r.done)
	buf := make([]byte, readSize)
	for r.end == EndUnknown {
		if r.stopped() {
			r.end = EndStopped
			break
		}
		if r.readOnce(buf) {
			r.waitOnce()
		}
	}
	r.tok.Finish(r.collect)
	r.deliver()
}

// readOnce reads and delivers once. It reports true when nothing was there.
func (r *Reader) readOnce(buf []byte) (empty bool) {
	n, err := r.read(r.fd, buf)
	switch {
	case errors.Is(err, unix.EINTR):
	case errors.Is(err, unix.EAGAIN):
		return true
	case errors.Is(err, unix.EIO): // the other side of the terminal is closed
		r.end = EndHangup
	case err != nil:
		r.end, r.err = EndBroken, fmt.Errorf("read terminal: %w", err)
	case n == 0:
		r.end = EndHangup
	default:
		r.tok.Pixels = r.pixels.Load()
		r.tok.Feed(buf[:n], r.collect)
		r.deliver()
	}
	return false
}

// waitOnce waits for more, and for the Escape key no longer than it may.
func (r *Reader) waitOnce() {
	d := time.Duration(-1)
	if r.tok.Pending() {
		d = escapeWait
		if r.kitty.Load() {
			d = kittyEscapeWait
		}
	}
	_, err := r.waiter.Wait(d)
	switch {
	case err == nil, errors.Is(err, fdwait.ErrWoken):
	case errors.Is(err, fdwait.ErrDeadline):
		r.tok.Flush(r.collect)
		r.deliver()
	case errors.Is(err, fdwait.ErrClosed) && r.stopped():
	default:
		r.end, r.err = EndBroken, fmt.Errorf("wait for terminal: %w", err)
	}
}

func (r *Reader) stopped() bool {
	select {
	case <-r.stop:
		return true
	default:
		return false
	}
}

// collect adds a token to the batch, and delivers when the batch is full.
func (r *Reader) collect(t Token) {
	if len(r.batch) == maxBatch {
		r.deliver()
	}
	r.batch = append(r.batch, t)
}

// deliver gives the batch to the sink.
func (r *Reader) deliver() {
	if len(r.batch) == 0 {
		return
	}
	r.sink(r.batch)
	clear(r.batch)
	r.batch = r.batch[:0]
}
