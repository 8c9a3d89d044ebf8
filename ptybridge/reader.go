package ptybridge

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/internal/proc"
	"github.com/honestty/honestty/outcome"
)

// readSize holds what a read of a master can return at once: the kernel's
// buffer gives about 4 KiB a read on Linux, more after a stall.
const readSize = 64 << 10

// reopenTick is how often a hung-up terminal of a living child is looked at
// again: nothing tells when somebody opens the slave anew.
const reopenTick = 50 * time.Millisecond

// read carries the child's output to Output until an end is proven.
func (b *Bridge) read() {
	defer close(b.readerDone)
	b.capture = b.readAll()
	b.capture.Read = b.bytesRead.Load()
	b.capture.Shown = b.capture.Read
	if b.capture.End == outcome.EndBroken && !b.childEnded() && b.failed != nil {
		b.failed(b.capture.Cause)
	}
}

func (b *Bridge) readAll() outcome.Capture {
	buf := make([]byte, readSize)
	d := proc.Drain{Silence: DrainLimit, Total: drainTotal}
	for {
		if b.isAbandoned() {
			return b.stopped(buf)
		}
		// Asked before the read: only what a read finds after the end is the
		// last word. In between the child may open its terminal again, write
		// and end.
		ended := b.childEnded()
		if ended {
			d.Begin(time.Now())
		}
		n, err := b.readOnce(buf)
		switch {
		case n > 0:
			b.bytesRead.Add(int64(n))
			b.output(buf[:n])
			d.Progress(n, time.Now())
		case err == nil:
			return outcome.Capture{End: outcome.EndEOF}
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EIO):
			if ended {
				return outcome.Capture{End: outcome.EndHangup}
			}
			b.awaitReopen()
		case errors.Is(err, unix.EAGAIN):
			if ended {
				d.Empty()
				b.dropSlave()
			}
			_, err := b.waiter.Wait(d.Left(time.Now()))
			switch {
			case err == nil, errors.Is(err, fdwait.ErrWoken):
			case errors.Is(err, fdwait.ErrDeadline):
				return b.stopped(buf)
			default:
				return broken(fmt.Errorf("wait on the terminal: %w", err))
			}
		default:
			return broken(fmt.Errorf("read the terminal: %w", err))
		}
		if d.Over(time.Now()) {
			return b.stopped(buf)
		}
	}
}

func (b *Bridge) readOnce(p []byte) (int, error) {
	if b.fault.read != nil {
		return b.fault.read(b.master, p)
	}
	return unix.Read(b.master, p)
}

func broken(err error) outcome.Capture {
	return outcome.Capture{End: outcome.EndBroken, Lost: outcome.Uncounted, Cause: err}
}

func (b *Bridge) childEnded() bool {
	select {
	case <-b.child.Exited():
		return true
	default:
		return false
	}
}

// dropSlave closes our own slave once the child has ended and the master was
// read empty, so that the end can show.
func (b *Bridge) dropSlave() {
	if b.slave >= 0 {
		closeFDs(b.slave)
		b.slave = -1
	}
}

// stopped ends the reading without having seen an end, and says who may still
// be writing.
func (b *Bridge) stopped(buf []byte) outcome.Capture {
	c := outcome.Capture{End: outcome.EndStopped}
	slave, err := slaveName(b.master)
	if err == nil {
		c.Holders, err = b.holders(slave)
	}
	c.HoldersUnknown = err
	// Looking takes time: a process that was about to end, on a loaded
	// machine, may have let go of the terminal meanwhile.
	if end, ok := b.readRest(buf); ok {
		return end
	}
	if len(c.Holders) == 0 && c.HoldersUnknown == nil {
		c.HoldersUnknown = errNobodySeen
	}
	return c
}

// errNobodySeen is why the end of a drained terminal is unknown although every
// process could be asked.
var errNobodySeen = errors.New("no process that can be seen from here holds the terminal")

// readRest reads what is there now. ok says that the end was among it.
func (b *Bridge) readRest(buf []byte) (end outcome.Capture, ok bool) {
	for rest := 0; rest < proc.Backlog; {
		ended := b.childEnded()
		n, err := b.readOnce(buf)
		switch {
		case n > 0:
			b.bytesRead.Add(int64(n))
			b.output(buf[:n])
			rest += n
		case err == nil:
			return outcome.Capture{End: outcome.EndEOF}, true
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EIO) && ended:
			return outcome.Capture{End: outcome.EndHangup}, true
		case errors.Is(err, unix.EIO), errors.Is(err, unix.EAGAIN):
			return end, false
		default:
			return broken(fmt.Errorf("read the terminal: %w", err)), true
		}
	}
	return end, false
}

func (b *Bridge) holders(slave string) ([]outcome.Process, error) {
	if b.fault.holders != nil {
		return b.fault.holders(slave)
	}
	return proc.Holders(slave)
}

// awaitReopen lets a living child with a hung-up terminal be: it may open it
// again, and until then every wait would return at once.
func (b *Bridge) awaitReopen() {
	t := time.NewTimer(reopenTick)
	defer t.Stop()
	select {
	case <-b.child.Exited():
	case <-b.abandoned:
	case <-t.C:
	}
}
