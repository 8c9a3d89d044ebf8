package ctl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// limits are the bounds of a server. A test makes them short.
type limits struct {
	conns int           // clients at the same time; each costs a descriptor
	hello time.Duration // from the connection to the first byte
	frame time.Duration // from the first byte of a frame to its last
	write time.Duration // for each writeChunk of an answer
	grace time.Duration // for all answers once the server closes
	pause time.Duration // the longest pause after an accept that failed
	turn  time.Duration // for a client to come that is told of a shortage
	place time.Duration // for a client to leave when all places are taken
	watch time.Duration // between two looks at a client that cannot be read
}

var defaultLimits = limits{
	conns: 128,
	hello: 10 * time.Second,
	frame: 10 * time.Second,
	write: 10 * time.Second,
	grace: 500 * time.Millisecond,
	pause: 250 * time.Millisecond,
	turn:  10 * time.Millisecond,
	place: 250 * time.Millisecond,
	watch: 100 * time.Millisecond,
}

// errClosing is the cause of the contexts that Close ends.
var errClosing = errors.New("the window is closing")

// Stats counts what a server did since Listen.
type Stats struct {
	Accepted  int64 // connections that were taken
	Foreign   int64 // connections of other users, or of nobody could tell whom; refused
	Full      int64 // connections beyond the limit; refused
	Calls     int64 // requests that were answered, with a result or an error
	Malformed int64 // frames that were no request
	Slow      int64 // clients dropped because they did not end a frame or did not read
	Gone      int64 // calls whose client left before the answer
	Short     int64 // connections without a descriptor for them; refused
	Pauses    int64 // times that accept failed and was paused, as with EMFILE
	Panics    int64 // calls that panicked; answered as Internal
}

type counters struct {
	accepted, foreign, full, short, calls, malformed, slow, gone, pauses, panics atomic.Int64
}

// A Server is the listening end in a window. It costs three descriptors
// (lock, socket, spare), and one for each client.
//
//	goroutine    started by  ends on                            joined by
//	accept loop  caller      Close                              Close
//	conn         Serve       client gone or dropped, Close      Close
//	watch        conn        its call returned                  conn
type Server struct {
	folder *folder
	seat   seat
	info   fs.FileInfo // of the socket as it was bound
	hello  HelloResult
	limits limits
	ln     *net.UnixListener
	accept func() (*net.UnixConn, error) // ln.AcceptUnix, or a test's
	looked func()                        // where tests see that watch looked; may be nil

	ctx    context.Context // ends on Close
	cancel context.CancelCauseFunc
	count  counters
	spare  spare // owned by Serve

	places  chan struct{}  // one token for each client; filled by take, full at limits.conns
	running sync.WaitGroup // Serve and conns; added to only under mu and before done
	closing sync.Once
	closed  error // of Close; read after closing

	mu    sync.Mutex
	done  bool // Close was called
	conns map[*conn]struct{}
}

// Listen makes the socket of a new window and points the link "latest" at it.
// Clients wait until Serve runs. The socket lies where SocketVariable says,
// else in the first usable folder; when a window listens on the very socket
// that SocketVariable names, the new one sits beside it. Notes tells what was
// passed over.
//
// Errors: ErrUnsafe, ErrTooLong, ErrInUse, ErrLocked, and what the system says.
func Listen(env Env) (*Server, error) {
	at, err := env.seat()
	if err != nil {
		return nil, fmt.Errorf("open control socket: %w", err)
	}
	f, err := openFolder(at.folder, ownUID())
	if err != nil {
		return nil, fmt.Errorf("open control socket: %w", err)
	}
	s := &Server{folder: f, limits: defaultLimits, conns: map[*conn]struct{}{}}
	if err := f.locked(func() error { return s.open(env, at) }); err != nil {
		if s.ln != nil { // only the lock could not be given back
			err = errors.Join(err, f.release(s.seat.name, s.info), s.ln.Close())
		}
		return nil, errors.Join(fmt.Errorf("open control socket: %w", err), f.close())
	}
	s.accept = s.ln.AcceptUnix
	s.hello = HelloResult{Protocol: Protocol, PID: env.ownPID(), Version: env.Version}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	return s, nil
}

// open cleans the folder and binds. It runs under the lock.
func (s *Server) open(env Env, at seat) error {
	left, err := s.folder.sweep()
	if err != nil {
		return err
	}
	if env.Service != "" && len(left) > 0 {
		return ErrInUse
	}
	err = s.folder.clear(at.path())
	if own := pidName(env.ownPID()); errors.Is(err, ErrInUse) && at.name != own {
		at.notes = append(at.notes, fmt.Sprintf("a window listens on %s already: this one listens beside it", at.path()))
		at.name = own
		err = errors.Join(checkLength(at.path()), s.folder.clear(at.path()))
	}
	if err != nil {
		return err
	}
	ln, info, err := s.folder.bind(at.path())
	if err != nil {
		return err
	}
	if err := s.folder.point(at.name); err != nil {
		return errors.Join(err, s.folder.release(at.name, info), ln.Close())
	}
	s.seat, s.ln, s.info = at, ln, info
	return nil
}

// Path is the socket, for SocketVariable in the environment of children.
func (s *Server) Path() string { return s.seat.path() }

// Notes names every fallback that decided where the socket lies.
func (s *Server) Notes() []string { return append([]string(nil), s.seat.notes...) }

// Stats returns the counts.
func (s *Server) Stats() Stats {
	c := &s.count
	return Stats{
		Accepted: c.accepted.Load(), Foreign: c.foreign.Load(), Full: c.full.Load(), Short: c.short.Load(),
		Calls: c.calls.Load(), Malformed: c.malformed.Load(), Slow: c.slow.Load(),
		Gone: c.gone.Load(), Pauses: c.pauses.Load(), Panics: c.panics.Load(),
	}
}

// Serve answers until Close, and then returns nil. A shortage (EMFILE, ENFILE
// and the like) is waited out; clients that come while it lasts are told so. Any
// other failure to accept is returned, and the clients that are there are still
// served until Close. It is called once.
func (s *Server) Serve(h Handler) error {
	if !s.enter() {
		return ErrClosed
	}
	defer s.running.Done()
	s.places = make(chan struct{}, s.limits.conns)
	pause, since := time.Duration(0), time.Time{} // since when there is a shortage
	s.spare.keep()
	defer s.spare.give()
	for {
		nc, err := s.accept()
		switch {
		case err == nil:
			pause, since = 0, time.Time{}
			s.spare.keep()
			s.take(nc, h)
		case s.ctx.Err() != nil:
			return nil
		case !passes(err):
			return fmt.Errorf("accept on control socket: %w", err)
		default:
			s.count.pauses.Add(1)
			if since.IsZero() {
				since = time.Now()
			}
			if isShortage(err) && time.Since(since) >= s.limits.place {
				s.turnAway(err)
			}
			pause = min(max(2*pause, 5*time.Millisecond), s.limits.pause)
			if !s.wait(pause) {
				return nil
			}
		}
	}
}

// passes reports whether an accept may work later.
func passes(err error) bool {
	for _, no := range []unix.Errno{
		unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM,
		unix.ECONNABORTED, unix.EINTR, unix.EAGAIN,
	} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}

// wait waits d and returns false when the server closes before.
func (s *Server) wait(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-s.ctx.Done():
		return false
	}
}

// enter counts one more goroutine that Close joins, unless Close has begun.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done {
		return false
	}
	s.running.Add(1)
	return true
}

// take starts the conversation with a client of our own user.
func (s *Server) take(nc *net.UnixConn, h Handler) {
	if uid, err := peerUID(nc); err != nil || uid != ownUID() {
		s.foreign(nc)
		return
	}
	if !s.place() {
		if s.ctx.Err() != nil {
			s.refuse(nc, Errorf(Closing, "%v", errClosing))
			return
		}
		s.count.full.Add(1)
		s.refuse(nc, Errorf(Busy, "this window has %d clients and takes no more", s.limits.conns))
		return
	}
	c := newConn(s, nc)
	s.mu.Lock()
	done := s.done
	if !done {
		s.conns[c] = struct{}{}
		s.running.Add(1)
	}
	s.mu.Unlock()
	if done {
		s.refuse(nc, Errorf(Closing, "%v", errClosing))
		return
	}
	s.count.accepted.Add(1)
	go func() {
		defer s.running.Done()
		defer s.forget(c)
		c.converse(h)
	}()
}

// foreign refuses a client of another user, or of nobody can tell whom.
func (s *Server) foreign(nc *net.UnixConn) {
	s.count.foreign.Add(1)
	s.refuse(nc, Errorf(NotPermitted, "this window belongs to uid %d", ownUID()))
}

// place takes a place for a client. When there is none it waits a moment:
// clients that have left are still being noticed, and the kernel keeps the
// newcomers meanwhile.
func (s *Server) place() bool {
	select {
	case s.places <- struct{}{}:
		return true
	default:
	}
	t := time.NewTimer(s.limits.place)
	defer t.Stop()
	select {
	case s.places <- struct{}{}:
		return true
	case <-t.C:
	case <-s.ctx.Done():
	}
	return false
}

// refuse tells a client why and closes. The line fits the empty buffer of a
// new connection, so nothing waits here.
func (s *Server) refuse(nc *net.UnixConn, why *Error) {
	_ = nc.SetWriteDeadline(time.Now().Add(s.limits.grace))
	_, _ = nc.Write(answerFrame(nil, nil, why)) // who does not read it is refused all the same
	_ = nc.Close()
}

func (s *Server) forget(c *conn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	_ = c.nc.Close() // all that matters was written, or could not be
	<-s.places
}

// Close ends the server: the socket goes, the calls that run lose their
// context, their answers are written if their clients read them soon, and all
// goroutines are joined. The error says what could not be removed. A second
// Close waits for the first and returns the same.
func (s *Server) Close() error {
	s.closing.Do(func() { s.closed = s.shut() })
	return s.closed
}

func (s *Server) shut() error {
	// First the file, while we still listen: see folder.release.
	err := s.folder.locked(func() error { return s.folder.release(s.seat.name, s.info) })
	if errors.Is(err, ErrLocked) {
		err = errors.Join(err, s.folder.release(s.seat.name, s.info))
	}
	s.mu.Lock()
	s.done = true
	conns := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		conns = append(conns, c)
	}
	s.mu.Unlock()
	s.cancel(errClosing)
	err = errors.Join(err, s.ln.Close())
	by := time.Now().Add(s.limits.grace)
	for _, c := range conns {
		c.closeBy(by)
	}
	s.running.Wait()
	if err = errors.Join(err, s.folder.close()); err != nil {
		return fmt.Errorf("close control socket: %w", err)
	}
	return nil
}
