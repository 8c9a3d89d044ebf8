package terminal

import (
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/internal/proc"
	"github.com/honestty/honestty/outcome"
)

// A stream reads one pipe of a command to the end that it can prove.
type stream struct {
	readEnd, writeEnd int // -1 when closed
	waiter            *fdwait.Waiter
	keep              *keeper
	fault             fault
	done              chan struct{} // closed when run has returned
	capture           outcome.Capture
}

func newStream(s Spec, sink io.Writer) *stream {
	return &stream{
		readEnd: -1, writeEnd: -1,
		keep:  newKeeper(s.Keep, s.SpillDir, sink),
		fault: s.fault,
		done:  make(chan struct{}),
	}
}

func (st *stream) openPipe() error {
	r, w, err := pipe()
	if err != nil {
		return err
	}
	st.readEnd, st.writeEnd = r, w
	// Only our end: the child must find an ordinary, blocking pipe.
	return unix.SetNonblock(r, true)
}

func (st *stream) dropWriteEnd() {
	if st.writeEnd >= 0 {
		_ = unix.Close(st.writeEnd)
		st.writeEnd = -1
	}
}

func (st *stream) release() {
	if st.waiter != nil {
		_ = st.waiter.Close()
		st.waiter = nil
	}
	st.dropWriteEnd()
	if st.readEnd >= 0 {
		_ = unix.Close(st.readEnd)
		st.readEnd = -1
	}
}

// run reads until the end, or until the command has ended and the pipe stayed
// silent for Grace.
func (st *stream) run(child *proc.Process) {
	defer close(st.done)
	st.capture = st.readAll(child)
	st.keep.finish(&st.capture)
}

func (st *stream) readAll(child *proc.Process) outcome.Capture {
	buf := make([]byte, readSize)
	var endedAt, lastByte time.Time
	for {
		n, err := st.readOnce(buf)
		switch {
		case n > 0:
			st.keep.add(buf[:n])
			lastByte = time.Now()
		case err == nil:
			return outcome.Capture{End: outcome.EndEOF}
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			limit := time.Duration(-1)
			if !endedAt.IsZero() {
				limit = max(0, Grace-time.Since(later(endedAt, lastByte)))
			}
			_, err := st.waiter.Wait(limit)
			switch {
			case err == nil, errors.Is(err, fdwait.ErrWoken):
			case errors.Is(err, fdwait.ErrDeadline):
				return st.held()
			default:
				return broken(fmt.Errorf("wait on the pipe: %w", err))
			}
		default:
			return broken(fmt.Errorf("read the pipe: %w", err))
		}
		if endedAt.IsZero() && ended(child) {
			endedAt = time.Now()
		}
		if !endedAt.IsZero() && time.Since(endedAt) > drainTotal {
			return st.held()
		}
	}
}

func (st *stream) readOnce(p []byte) (int, error) {
	if st.fault.read != nil {
		return st.fault.read(st.readEnd, p)
	}
	return unix.Read(st.readEnd, p)
}

func broken(err error) outcome.Capture {
	return outcome.Capture{End: outcome.EndBroken, Lost: outcome.Uncounted, Cause: err}
}

func ended(child *proc.Process) bool {
	select {
	case <-child.Exited():
		return true
	default:
		return false
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// held ends the reading of a pipe that somebody still holds, and names them.
func (st *stream) held() outcome.Capture {
	c := outcome.Capture{End: outcome.EndStopped}
	target, err := proc.Target(st.readEnd)
	if err == nil {
		c.Holders, err = proc.Holders(target)
	}
	c.HoldersUnknown = err
	if len(c.Holders) > 0 || err != nil {
		return c
	}
	// Everybody was asked and nobody holds it: it was let go of meanwhile.
	buf := make([]byte, readSize)
	for {
		n, err := st.readOnce(buf)
		switch {
		case n > 0:
			st.keep.add(buf[:n])
		case err == nil:
			return outcome.Capture{End: outcome.EndEOF}
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			return c // a holder we could not see; the state stays unknown
		default:
			return broken(fmt.Errorf("read the pipe: %w", err))
		}
	}
}

// result hands the stream to the result, with a note for every limit that
// shaped it.
func (st *stream) result(r *outcome.Result) outcome.Stream {
	r.Notes = append(r.Notes, st.keep.notes...)
	if st.keep.err != nil {
		r.Err = errors.Join(r.Err, st.keep.err)
	}
	return outcome.Stream{Bytes: st.keep.bytes(), Capture: st.capture}
}
