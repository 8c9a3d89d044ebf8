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
}

func (b *Bridge) readAll() outcome.Capture {
	buf := make([]byte, readSize)
	var d drain
	for {
		n, err := b.readOnce(buf)
		switch {
		case n > 0:
			b.bytesRead.Add(int64(n))
			b.output(buf[:n])
			d.progress()
		case err == nil:
			return outcome.Capture{End: outcome.EndEOF}
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EIO):
			if b.childEnded() {
				return outcome.Capture{End: outcome.EndHangup}
			}
			b.awaitReopen()
		case errors.Is(err, unix.EAGAIN):
			if end, ok := b.pause(&d); !ok {
				return end
			}
		default:
			return broken(fmt.Errorf("read the terminal: %w", err))
		}
		if d.over() {
			return b.stopped()
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

// pause waits for more bytes. ok is false when reading is over, and then the
// capture says how.
func (b *Bridge) pause(d *drain) (end outcome.Capture, ok bool) {
	limit := time.Duration(-1)
	if b.childEnded() {
		b.dropSlave()
		d.begin()
		limit = d.left()
	}
	_, err := b.waiter.Wait(limit)
	switch {
	case err == nil, errors.Is(err, fdwait.ErrWoken):
		return end, true
	case errors.Is(err, fdwait.ErrDeadline):
		return b.stopped(), false
	}
	return broken(fmt.Errorf("wait on the terminal: %w", err)), false
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
func (b *Bridge) stopped() outcome.Capture {
	c := outcome.Capture{End: outcome.EndStopped}
	slave, err := slaveName(b.master)
	if err == nil {
		c.Holders, err = proc.Holders(slave)
	}
	c.HoldersUnknown = err
	if len(c.Holders) == 0 {
		c.Lost = outcome.Uncounted
		c.Cause = errors.New("the drain limit passed and no end was seen")
	}
	return c
}

// awaitReopen lets a living child with a hung-up terminal be: it may open it
// again, and until then every wait would return at once.
func (b *Bridge) awaitReopen() {
	t := time.NewTimer(reopenTick)
	defer t.Stop()
	select {
	case <-b.child.Exited():
	case <-t.C:
	}
}

// A drain bounds the reading after the child's exit: DrainLimit without a
// byte, drainTotal in all.
type drain struct {
	start, last time.Time
}

func (d *drain) begin() {
	if d.start.IsZero() {
		d.start = time.Now()
		d.last = d.start
	}
}

func (d *drain) progress() {
	if !d.start.IsZero() {
		d.last = time.Now()
	}
}

func (d *drain) left() time.Duration {
	return max(0, DrainLimit-time.Since(d.last))
}

func (d *drain) over() bool {
	return !d.start.IsZero() && time.Since(d.start) > drainTotal
}
