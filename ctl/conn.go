package ctl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// writeChunk is how much of an answer must go out in limits.write. It is less
// than a socket buffer, so a client that reads at all makes progress.
const writeChunk = 64 << 10

// A conn is one client of a server. Its own goroutine reads a frame, makes the
// call and writes the answer, then the next.
type conn struct {
	s  *Server
	nc *net.UnixConn
	r  *bufio.Reader // used by the conn's goroutine, and by watch while a call runs

	mu      sync.Mutex
	closing bool // the deadlines are closeBy's and stay
}

func newConn(s *Server, nc *net.UnixConn) *conn {
	return &conn{s: s, nc: nc, r: bufio.NewReader(nc)}
}

// converse answers until the client goes, is dropped, or the server closes.
func (c *conn) converse(h Handler) {
	idle := c.s.limits.hello // a client that never says a word holds a place
	for c.s.ctx.Err() == nil {
		frame, err := c.next(idle)
		if err != nil {
			c.last(err)
			return
		}
		idle = 0
		answer, gone := c.answer(h, frame)
		if gone {
			c.s.count.gone.Add(1)
			return
		}
		c.s.count.calls.Add(1)
		if err := c.write(answer); err != nil {
			if isTimeout(err) {
				c.s.count.slow.Add(1)
			}
			return
		}
	}
}

// next reads a frame. It waits idle for its first byte, without a limit when
// idle is 0.
func (c *conn) next(idle time.Duration) ([]byte, error) {
	c.readBy(idle)
	if _, err := c.r.Peek(1); err != nil {
		return nil, err
	}
	c.readBy(c.s.limits.frame)
	frame, err := readFrame(c.r, MaxRequest)
	c.readBy(0)
	return frame, err
}

// last tells a client why nothing more is read from it, where it can know.
func (c *conn) last(err error) {
	switch {
	case c.s.ctx.Err() != nil, errors.Is(err, io.EOF):
	case errors.Is(err, errFrameTooLong):
		c.s.count.malformed.Add(1)
		_ = c.write(answerFrame(nil, nil, Errorf(TooLarge, "the request has more than %d bytes", MaxRequest)))
	case errors.Is(err, errTorn):
		c.s.count.malformed.Add(1)
		_ = c.write(answerFrame(nil, nil, Errorf(BadRequest, "read request: %v", errTorn)))
	case isTimeout(err):
		c.s.count.slow.Add(1)
	}
}

// answer is the frame that answers a request. gone says that nobody is there
// to read it.
func (c *conn) answer(h Handler, frame []byte) (answer []byte, gone bool) {
	r, fail := parseRequest(frame)
	if fail != nil {
		c.s.count.malformed.Add(1)
		return answerFrame(r.ID, nil, fail), false
	}
	if r.Method == MethodHello {
		// Not strict: a newer client may say more, and must learn our version.
		return answerFrame(r.ID, c.s.hello, nil), false
	}
	result, err, gone := c.call(h, r)
	if gone {
		return nil, true
	}
	return answerFrame(r.ID, result, c.s.failure(err)), false
}

// failure puts an error of a handler into an Error; nil stays nil.
func (s *Server) failure(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok && e != nil {
		return e
	}
	switch {
	case errors.Is(err, context.Canceled) && s.ctx.Err() != nil, errors.Is(err, errClosing):
		return Errorf(Closing, "%v", errClosing)
	case errors.Is(err, context.Canceled):
		return Errorf(Cancelled, "the call was cancelled")
	}
	return Errorf(Failed, "%v", err)
}

// errGone is the cause of the context of a call whose client left.
var errGone = errors.New("the client has gone")

// call makes one call while watch looks whether the client is still there.
func (c *conn) call(h Handler, r request) (result any, err error, gone bool) {
	ctx, cancel := context.WithCancelCause(c.s.ctx)
	defer cancel(nil)
	quit, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		c.watch(quit, func() { cancel(errGone) })
	}()
	result, err = c.guarded(ctx, h, r)
	close(quit)
	c.wake()
	<-watched
	c.readBy(0)
	return result, err, errors.Is(context.Cause(ctx), errGone)
}

// guarded turns a panic of the handler into its error: one bad call must not
// take a window full of running programs with it.
func (c *conn) guarded(ctx context.Context, h Handler, r request) (result any, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			c.s.count.panics.Add(1)
			result, err = nil, Errorf(Internal, "the window failed in %s and went on: %v", r.Method, cause)
		}
	}()
	return h.Call(ctx, r.Method, r.Params)
}

// watch calls left when the client closes its connection before quit.
//
// A read that ends says that the client sends no more; whether it has gone or
// waits for its answer (as with printf … | socat) only a write can tell. A
// client that sent its next request already cannot be watched by reading at
// all. Both are looked at from time to time.
func (c *conn) watch(quit <-chan struct{}, left func()) {
	_, err := c.r.Peek(1)
	switch {
	case isTimeout(err): // wake, or the server closes
		return
	case err != nil && !errors.Is(err, io.EOF):
		left()
		return
	}
	tick := time.NewTicker(c.s.limits.watch)
	defer tick.Stop()
	for {
		if hungUp(c.nc) {
			left()
			return
		}
		if c.s.looked != nil {
			c.s.looked()
		}
		select {
		case <-quit:
			return
		case <-tick.C:
		}
	}
}

// hungUp reports whether the other end has closed and cannot be written to. It
// sends nothing: the kernel checks for a closed end before it counts bytes.
func hungUp(nc *net.UnixConn) bool {
	raw, err := nc.SyscallConn()
	if err != nil {
		return true
	}
	cerr := raw.Control(func(fd uintptr) {
		_, err = unix.SendmsgN(int(fd), nil, nil, nil, unix.MSG_DONTWAIT|noSignal)
	})
	return cerr != nil || err != nil && !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.ENOBUFS)
}

// write writes an answer. Each chunk has its time, so that a slow reader is
// served and one that stopped is not.
func (c *conn) write(frame []byte) error {
	for len(frame) > 0 {
		c.writeBy(c.s.limits.write)
		n, err := c.nc.Write(frame[:min(len(frame), writeChunk)])
		if err != nil {
			return fmt.Errorf("write answer: %w", err)
		}
		frame = frame[n:]
	}
	return nil
}

// readBy sets the time for reading, none when d is 0.
func (c *conn) readBy(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return
	}
	var at time.Time
	if d > 0 {
		at = time.Now().Add(d)
	}
	_ = c.nc.SetReadDeadline(at) // fails only on a closed connection, where reading fails too
}

func (c *conn) writeBy(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closing {
		_ = c.nc.SetWriteDeadline(time.Now().Add(d))
	}
}

// past is a time that ends any read at once.
var past = time.Unix(1, 0)

// wake ends a read that waits.
func (c *conn) wake() { _ = c.nc.SetReadDeadline(past) }

// closeBy ends reading now and writing soon, for good.
func (c *conn) closeBy(by time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closing = true
	_ = c.nc.SetReadDeadline(past)
	_ = c.nc.SetWriteDeadline(by)
}

func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
