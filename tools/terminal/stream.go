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
		keep:  newKeeper(s, sink),
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
	if st.capture.End == outcome.EndBroken {
		st.letGo(child)
	}
	st.keep.finish(&st.capture)
}

// letGo closes a pipe that cannot be read any more, after the command had
// killGrace to end by itself: one that fills it would wait for ever, and now
// meets EPIPE.
func (st *stream) letGo(child *proc.Process) {
	t := time.NewTimer(killGrace)
	defer t.Stop()
	select {
	case <-child.Exited():
	case <-t.C:
		_ = st.waiter.Close()
		_ = unix.Close(st.readEnd)
		st.readEnd = -1
	}
}

func (st *stream) readAll(child *proc.Process) outcome.Capture {
	buf := make([]byte, readSize)
	d := proc.Drain{Silence: Grace, Total: st.fault.drain(drainTotal)}
	for {
		if ended(child.Exited()) { // asked before the read, so that Empty is the last word
			d.Begin(time.Now())
		}
		n, err := st.readOnce(buf)
		switch {
		case n > 0:
			st.keep.add(buf[:n])
			d.Progress(n, time.Now())
		case err == nil:
			return outcome.Capture{End: outcome.EndEOF}
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			d.Empty()
			_, err := st.waiter.Wait(d.Left(time.Now()))
			switch {
			case err == nil, errors.Is(err, fdwait.ErrWoken):
			case errors.Is(err, fdwait.ErrDeadline):
				return st.held(buf)
			default:
				return broken(fmt.Errorf("wait on the pipe: %w", err))
			}
		default:
			return broken(fmt.Errorf("read the pipe: %w", err))
		}
		if d.Over(time.Now()) {
			return st.held(buf)
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

func ended(exited <-chan struct{}) bool {
	select {
	case <-exited:
		return true
	default:
		return false
	}
}

// held ends the reading of a pipe that somebody still holds, and names them.
func (st *stream) held(buf []byte) outcome.Capture {
	c := outcome.Capture{End: outcome.EndStopped}
	target, err := proc.Target(st.readEnd)
	if err == nil {
		c.Holders, err = st.fault.whoHolds(target)
	}
	c.HoldersUnknown = err
	// Looking takes time: a process that was about to end, on a loaded
	// machine, may have let go of the pipe meanwhile.
	for rest := 0; rest < proc.Backlog; {
		n, err := st.readOnce(buf)
		switch {
		case n > 0:
			st.keep.add(buf[:n])
			rest += n
		case err == nil:
			return outcome.Capture{End: outcome.EndEOF}
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			return orNobodySeen(c)
		default:
			return broken(fmt.Errorf("read the pipe: %w", err))
		}
	}
	return orNobodySeen(c)
}

// errNobodySeen is why the end of a pipe is unknown although every process
// could be asked.
var errNobodySeen = errors.New("no process that can be seen from here holds the pipe")

func orNobodySeen(c outcome.Capture) outcome.Capture {
	if len(c.Holders) == 0 && c.HoldersUnknown == nil {
		c.HoldersUnknown = errNobodySeen
	}
	return c
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
