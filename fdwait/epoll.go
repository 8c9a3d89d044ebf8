package fdwait

import (
	"errors"

	"golang.org/x/sys/unix"
)

// The event bits of epoll, as Linux numbers them.
const (
	epollIn      = 0x1
	epollOut     = 0x4
	epollErr     = 0x8
	epollHup     = 0x10
	epollOneShot = 1 << 30
)

// An epollOp is what epoll_ctl does.
type epollOp uint8

const (
	epollAdd epollOp = iota
	epollMod
	epollDel
)

// An epollEvent is the kernel's struct with the 64 bits of data as a token.
type epollEvent struct {
	events uint32
	token  token
}

// An epollKernel is the part of Linux that epoll needs. Errors are bare errnos.
type epollKernel interface {
	create() (fd int, err error)  // epoll_create1, close-on-exec
	eventfd() (fd int, err error) // non-blocking, close-on-exec
	ctl(ep int, op epollOp, fd int, ev epollEvent) error
	wait(ep int, out []epollEvent, block bool) (n int, err error)
	signal(fd int) error // makes the eventfd readable
	drain(fd int) error  // makes it unreadable again
	close(fd int) error
}

// An epoll is the backend for Linux. Both sides of a Waiter share the one
// registration epoll has for a descriptor. It is one-shot: an event disarms it,
// so a hung-up descriptor that nobody reads is reported once, not for ever.
type epoll struct {
	k      epollKernel
	ep     int
	wakeFD int          // eventfd
	raw    []epollEvent // used by wait only
}

// newEpoll opens the epoll descriptor and the eventfd that wakes it. On an
// error nothing stays open.
func newEpoll(k epollKernel) (backend, error) {
	ep, err := k.create()
	if err != nil {
		return nil, &SetupError{Op: "epoll_create1", FD: -1, Err: err}
	}
	ev, err := k.eventfd()
	if err != nil {
		return nil, errors.Join(&SetupError{Op: "eventfd", FD: -1, Err: err}, k.close(ep))
	}
	if err := k.ctl(ep, epollAdd, ev, epollEvent{events: epollIn}); err != nil {
		return nil, errors.Join(&SetupError{Op: "epoll_ctl add eventfd", FD: -1, Err: err}, k.close(ev), k.close(ep))
	}
	return &epoll{k: k, ep: ep, wakeFD: ev, raw: make([]epollEvent, batch)}, nil
}

func (e *epoll) mechanism() string { return "epoll" }
func (e *epoll) asks() bool        { return false }

// add registers r for nothing. The kernel still reports a hang-up once; the
// Waiter drops it because nobody has asked. EPERM means a file that never
// blocks: a regular file, a directory, /dev/null.
func (e *epoll) add(r *registration) (always bool, err error) {
	err = e.k.ctl(e.ep, epollAdd, r.fd, epollEvent{events: epollOneShot, token: r.token})
	switch {
	case err == nil:
		return false, nil
	case errors.Is(err, unix.EPERM):
		return true, nil
	}
	return false, &SetupError{Op: "epoll_ctl add", FD: r.fd, Err: err}
}

func (e *epoll) arm(r *registration, want sides) (sides, error) {
	ev := epollEvent{events: epollOneShot, token: r.token}
	if want&readSide != 0 {
		ev.events |= epollIn
	}
	if want&writeSide != 0 {
		ev.events |= epollOut
	}
	if err := e.k.ctl(e.ep, epollMod, r.fd, ev); err != nil {
		return 0, &WaitError{Op: "epoll_ctl mod", FD: r.fd, Err: err}
	}
	return 0, nil
}

func (e *epoll) remove(r *registration) error {
	if err := e.k.ctl(e.ep, epollDel, r.fd, epollEvent{}); err != nil {
		return &WaitError{Op: "epoll_ctl del", FD: r.fd, Err: err}
	}
	return nil
}

func (e *epoll) wait(out []event, block bool) (n int, full bool, err error) {
	raw := e.raw[:min(len(e.raw), len(out))]
	got, err := e.k.wait(e.ep, raw, block)
	if errors.Is(err, unix.EINTR) {
		return 0, true, nil
	}
	if err != nil {
		return 0, false, &WaitError{Op: "epoll_wait", FD: -1, Err: err}
	}
	for _, ev := range raw[:got] {
		if ev.token == 0 {
			if err := e.k.drain(e.wakeFD); err != nil {
				return 0, false, &WaitError{Op: "read eventfd", FD: -1, Err: err}
			}
			continue
		}
		out[n] = event{token: ev.token, ready: epollReady(ev.events), spent: bothSides}
		n++
	}
	return n, got == len(raw), nil
}

// epollReady says which sides will not block. After a hang-up or an error
// neither does: the call collects it.
func epollReady(events uint32) (ready sides) {
	if events&(epollIn|epollHup|epollErr) != 0 {
		ready |= readSide
	}
	if events&(epollOut|epollHup|epollErr) != 0 {
		ready |= writeSide
	}
	return ready
}

func (e *epoll) wake() error {
	if err := e.k.signal(e.wakeFD); err != nil {
		return &WaitError{Op: "write eventfd", FD: -1, Err: err}
	}
	return nil
}

func (e *epoll) close() error {
	return errors.Join(e.k.close(e.wakeFD), e.k.close(e.ep))
}
