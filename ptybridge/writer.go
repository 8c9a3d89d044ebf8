package ptybridge

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/fdwait"
)

// QueueLimit is how many bytes of input may wait for a child that does not
// read. A paste larger than that streams: WriteWait holds the giver back.
const QueueLimit = 1 << 20

// ErrFull is returned when the child does not read its input and the queue is
// full. What did not fit is counted in Exit.Refused.
var ErrFull = errors.New("input queue full: the program does not read its input")

// ErrEnded is returned for input after the end.
var ErrEnded = errors.New("the program has ended")

// Write queues input for the child and never blocks. When not all of p fits,
// the rest is refused, counted, and the error is ErrFull.
func (b *Bridge) Write(p []byte) (int, error) { return b.queue.push(p) }

// WriteWait queues input and waits for room as long as the child goes on
// reading. When it reads nothing for stall, the rest is refused and counted.
func (b *Bridge) WriteWait(p []byte, stall time.Duration) (int, error) {
	return b.queue.pushWait(p, stall)
}

// Queued is how many bytes of input wait for the child to read them.
func (b *Bridge) Queued() int { return b.queue.len() }

// Refused is how many bytes of input were refused so far.
func (b *Bridge) Refused() int64 { return b.queue.refusedBytes() }

// write carries the queue to the master.
func (b *Bridge) write() {
	defer close(b.writerDone)
	for {
		p, err := b.queue.next()
		if err != nil {
			return
		}
		n, err := unix.Write(b.master, p)
		switch {
		case n > 0:
			b.queue.took(n)
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			if !b.awaitRoom() {
				b.queue.close(ErrEnded)
				return
			}
		case errors.Is(err, unix.EIO):
			// Hung up. While the child lives it may open its terminal again.
			if b.childEnded() {
				b.queue.close(ErrEnded)
				return
			}
			b.awaitReopen()
		case err == nil:
			b.queue.close(fmt.Errorf("write to the terminal: %w", io.ErrNoProgress))
			return
		default:
			b.queue.close(fmt.Errorf("write to the terminal: %w", err))
			return
		}
	}
}

// awaitRoom waits until the terminal takes more; false means stop.
func (b *Bridge) awaitRoom() bool {
	for {
		select {
		case <-b.stop:
			return false
		default:
		}
		_, err := b.waiter.WaitWrite(-1)
		if err == nil {
			return true
		}
		if !errors.Is(err, fdwait.ErrWoken) {
			return false
		}
	}
}

// A queue is the bounded input on its way to the child. It holds the bytes in
// one ring so that a large paste costs no more than its limit.
type queue struct {
	mu      sync.Mutex
	nonzero sync.Cond     // something to take, or closed
	room    chan struct{} // signalled when bytes were taken or the queue closed; capacity 1
	buf     []byte
	head    int // index of the first byte
	n       int // bytes held
	taken   int64
	refused int64
	closed  error
}

const queueStart = 4 << 10

func (q *queue) init() {
	q.nonzero.L = &q.mu
	q.room = make(chan struct{}, 1)
}

func (q *queue) push(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, err := q.put(p)
	q.refused += int64(len(p) - n)
	return n, err
}

// put copies what fits.
func (q *queue) put(p []byte) (int, error) {
	if q.closed != nil {
		return 0, q.closed
	}
	n := min(len(p), QueueLimit-q.n)
	q.grow(q.n + n)
	for i := 0; i < n; {
		at := (q.head + q.n) % len(q.buf)
		c := copy(q.buf[at:min(len(q.buf), at+n-i)], p[i:n])
		i += c
		q.n += c
	}
	if n > 0 {
		q.nonzero.Signal()
	}
	if n < len(p) {
		return n, ErrFull
	}
	return n, nil
}

// grow makes the ring hold need bytes.
func (q *queue) grow(need int) {
	if need <= len(q.buf) {
		return
	}
	size := max(queueStart, len(q.buf))
	for size < need {
		size *= 2
	}
	buf := make([]byte, min(size, QueueLimit))
	for i := 0; i < q.n; {
		at := (q.head + i) % len(q.buf)
		i += copy(buf[i:q.n], q.buf[at:])
	}
	q.buf, q.head = buf, 0
}

func (q *queue) pushWait(p []byte, stall time.Duration) (int, error) {
	t := time.NewTimer(stall)
	defer t.Stop()
	defer q.passRoom()
	done, late := 0, false
	var seen int64
	for {
		q.mu.Lock()
		n, err := q.put(p[done:])
		done += n
		moved := q.taken != seen
		seen = q.taken
		if !errors.Is(err, ErrFull) || late && !moved {
			q.refused += int64(len(p) - done)
			q.mu.Unlock()
			return done, err
		}
		q.mu.Unlock()
		if moved {
			t.Reset(stall)
		}
		late = false
		select {
		case <-q.room:
		case <-t.C:
			late = true // unless it was another giver who used the room
		}
	}
}

// passRoom tells the next one who waits for room that there may be some: a
// signal wakes one of several.
func (q *queue) passRoom() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed != nil || q.n < QueueLimit {
		q.signalRoom()
	}
}

// next waits for bytes and returns a run of them, still queued. It returns an
// error once the queue is closed; what it then holds is counted as refused.
func (q *queue) next() ([]byte, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.n == 0 && q.closed == nil {
		q.nonzero.Wait()
	}
	if q.closed != nil {
		return nil, q.closed
	}
	return q.buf[q.head:min(len(q.buf), q.head+q.n)], nil
}

// took removes n bytes that were written.
func (q *queue) took(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.head = (q.head + n) % len(q.buf)
	q.n -= n
	q.taken += int64(n)
	if q.closed != nil {
		q.refused -= int64(n) // it was on its way while the queue closed, and arrived
	}
	if q.n == 0 && len(q.buf) > queueStart {
		q.buf, q.head = nil, 0 // a paste is rare; its memory goes back
	}
	q.signalRoom()
}

func (q *queue) signalRoom() {
	select {
	case q.room <- struct{}{}:
	default:
	}
}

func (q *queue) close(why error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed == nil {
		q.closed = why
		q.refused += int64(q.n)
		q.nonzero.Broadcast()
		q.signalRoom()
	}
}

func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed != nil {
		return 0
	}
	return q.n
}

func (q *queue) refusedBytes() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.refused
}
