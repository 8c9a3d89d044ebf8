package fdwait

import (
	"errors"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// guardTick is how often a Wait for a character device is woken on macOS
// although kqueue reported nothing. Programs have seen kqueue there miss bytes
// on the master of a pseudo-terminal (golang/go#22099); a reader that is told
// "ready" too often reads EAGAIN, a reader that is never told loses output.
// A quarter of a second is what a person still takes for a slow machine.
// Other systems and other descriptors are not guarded.
const guardTick = 250 * time.Millisecond

// The flags of kqueue, as macOS and FreeBSD number them.
const (
	evAdd      = 0x1
	evDelete   = 0x2
	evEnable   = 0x4
	evDisable  = 0x8
	evClear    = 0x20
	evDispatch = 0x80
	evError    = 0x4000
	evEOF      = 0x8000

	noteTrigger = 0x01000000
)

// A filter is what a kevent watches. The kernels number them differently.
type filter int8

const (
	filterRead filter = iota
	filterWrite
	filterUser
)

// A kevent is the kernel's struct in the terms of this package.
type kevent struct {
	ident  int
	filter filter
	flags  uint16
	fflags uint32
	data   int64
	token  token
}

// A kqueueKernel is the part of macOS and FreeBSD that kqueue needs. Errors are
// bare errnos.
type kqueueKernel interface {
	fileKernel
	create() (fd int, err error) // close-on-exec
	// change applies one change and takes no event.
	change(kq int, ev kevent) error
	// wait takes events. A negative timeout blocks.
	wait(kq int, out []kevent, timeout time.Duration) (n int, err error)
	close(fd int) error
}

// A kqueue is the backend for macOS and FreeBSD. Each side of a Waiter has a
// filter of its own. EV_DISPATCH disables a filter when it has reported, so a
// hung-up descriptor that nobody reads is reported once, not for ever. The
// filters are level-triggered: enabling one asks the kernel for the state now.
type kqueue struct {
	k     kqueueKernel
	kq    int
	guard bool // this system needs guardTick
	now   func() time.Time
	raw   []kevent // used by wait only, like due
	due   []token  // devices the tick found waiting, not yet reported

	mu      sync.Mutex
	guarded map[token]struct{} // devices whose read filter is enabled
	ticked  time.Time          // the last tick, or when guarded ceased to be empty
}

// newKqueue opens the kqueue and adds the user event that wakes it. On an error
// nothing stays open.
func newKqueue(k kqueueKernel, guard bool, now func() time.Time) (backend, error) {
	kq, err := k.create()
	if err != nil {
		return nil, &SetupError{Op: "kqueue", FD: -1, Err: err}
	}
	// EV_CLEAR resets the trigger when it has been taken.
	if err := k.change(kq, kevent{filter: filterUser, flags: evAdd | evClear}); err != nil {
		return nil, errors.Join(&SetupError{Op: "kevent add EVFILT_USER", FD: -1, Err: err}, k.close(kq))
	}
	return &kqueue{
		k: k, kq: kq, guard: guard, now: now,
		raw:     make([]kevent, batch),
		guarded: make(map[token]struct{}),
	}, nil
}

func (q *kqueue) mechanism() string { return "kqueue" }
func (q *kqueue) asks() bool        { return false }

// add adds the read filter, disabled, so that a descriptor kqueue refuses is
// refused now. The write filter waits for the first WaitWrite: many a
// descriptor is only read, and some kernels refuse it there.
//
// A regular file never blocks, but its read filter is silent at the end of the
// file; so it is not registered.
func (q *kqueue) add(r *registration) (always bool, err error) {
	kind, err := q.k.kind(r.fd)
	if err != nil {
		return false, &SetupError{Op: "fstat", FD: r.fd, Err: err}
	}
	if kind == kindRegular {
		return true, nil
	}
	r.device = kind == kindDevice
	err = q.change(r, filterRead, evAdd|evDisable|evDispatch)
	if err != nil {
		return false, &SetupError{Op: "kevent add EVFILT_READ", FD: r.fd, Err: err}
	}
	return false, nil
}

// change applies flags to one filter of r.
func (q *kqueue) change(r *registration, f filter, flags uint16) error {
	return q.apply(kevent{ident: r.fd, filter: f, flags: flags, token: r.token})
}

// apply makes one change. A signal does not stop it half-way: the kernel may
// have made the change already, which only a deletion can notice.
func (q *kqueue) apply(ev kevent) error {
	err := q.k.change(q.kq, ev)
	for errors.Is(err, unix.EINTR) {
		err = q.k.change(q.kq, ev)
		if ev.flags == evDelete && errors.Is(err, unix.ENOENT) {
			return nil
		}
	}
	return err
}

// arm enables filters without EV_ADD: a descriptor that was closed under its
// Waiter is an error (ENOENT) and not a new registration of whatever has its
// number now.
func (q *kqueue) arm(r *registration, want sides) (sides, error) {
	if want&readSide != 0 {
		if err := q.watch(r); err != nil {
			return 0, err
		}
		if err := q.change(r, filterRead, evEnable|evDispatch); err != nil {
			return 0, &WaitError{Op: "kevent enable EVFILT_READ", FD: r.fd, Err: err}
		}
	}
	switch {
	case want&writeSide == 0:
	case !r.hasWrite:
		if err := q.change(r, filterWrite, evAdd|evEnable|evDispatch); err != nil {
			return 0, &SetupError{Op: "kevent add EVFILT_WRITE", FD: r.fd, Err: err}
		}
		r.hasWrite = true
	default:
		if err := q.change(r, filterWrite, evEnable|evDispatch); err != nil {
			return 0, &WaitError{Op: "kevent enable EVFILT_WRITE", FD: r.fd, Err: err}
		}
	}
	return 0, nil
}

// watch puts r under the guard where that is needed. The loop may be blocked
// without a timeout: the first guarded device wakes it.
func (q *kqueue) watch(r *registration) error {
	if !q.guard || !r.device {
		return nil
	}
	q.mu.Lock()
	first := len(q.guarded) == 0
	if first {
		q.ticked = q.now()
	}
	q.guarded[r.token] = struct{}{}
	q.mu.Unlock()
	if first {
		return q.wake()
	}
	return nil
}

func (q *kqueue) unwatch(t token) {
	if !q.guard {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.guarded, t)
}

func (q *kqueue) remove(r *registration) error {
	q.unwatch(r.token)
	var errs []error
	if err := q.change(r, filterRead, evDelete); err != nil {
		errs = append(errs, &WaitError{Op: "kevent delete EVFILT_READ", FD: r.fd, Err: err})
	}
	if r.hasWrite {
		if err := q.change(r, filterWrite, evDelete); err != nil {
			errs = append(errs, &WaitError{Op: "kevent delete EVFILT_WRITE", FD: r.fd, Err: err})
		}
	}
	return errors.Join(errs...)
}

func (q *kqueue) wait(out []event, block bool) (n int, full bool, err error) {
	if n = q.overdue(out); n > 0 {
		return n, true, nil
	}
	raw := q.raw[:min(len(q.raw), len(out))]
	got, err := q.k.wait(q.kq, raw, q.timeout(block))
	if errors.Is(err, unix.EINTR) {
		return 0, true, nil
	}
	if err != nil {
		return 0, false, &WaitError{Op: "kevent", FD: -1, Err: err}
	}
	for _, ev := range raw[:got] {
		if ev.filter == filterUser {
			continue
		}
		out[n] = q.event(ev)
		n++
	}
	q.tick()
	return n, got == len(raw), nil
}

// event translates one kevent. EV_EOF is readiness, with or without bytes
// before it: the read collects them and then the end. The count in data is
// ignored, since terminals report it wrongly.
func (q *kqueue) event(ev kevent) event {
	side := readSide
	if ev.filter == filterWrite {
		side = writeSide
	}
	if side == readSide {
		q.unwatch(ev.token)
	}
	if ev.flags&evError != 0 && ev.data != 0 {
		return event{token: ev.token, spent: side, err: &WaitError{
			Op: "kevent reports EV_ERROR", FD: ev.ident, Err: unix.Errno(ev.data),
		}}
	}
	return event{token: ev.token, ready: side, spent: side}
}

// timeout is how long the kernel may block: for ever, unless a device is under
// the guard.
func (q *kqueue) timeout(block bool) time.Duration {
	if !block {
		return 0
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.guarded) == 0 {
		return -1
	}
	return max(0, guardTick-q.now().Sub(q.ticked))
}

// tick makes every device under the guard due when guardTick has passed. It
// goes by the clock and not by a timeout of the kernel, since a busy neighbour
// would keep that from coming.
func (q *kqueue) tick() {
	if !q.guard {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	if len(q.guarded) == 0 || now.Sub(q.ticked) < guardTick {
		return
	}
	q.ticked = now
	for t := range q.guarded {
		q.due = append(q.due, t)
	}
	clear(q.guarded)
}

// overdue reports devices as readable that the tick found waiting. The filter
// stays enabled in the kernel; the next arm enables it again.
func (q *kqueue) overdue(out []event) (n int) {
	for n < len(out) && len(q.due) > 0 {
		last := len(q.due) - 1
		out[n] = event{token: q.due[last], ready: readSide, spent: readSide}
		q.due = q.due[:last]
		n++
	}
	return n
}

func (q *kqueue) wake() error {
	if err := q.apply(kevent{filter: filterUser, fflags: noteTrigger}); err != nil {
		return &WaitError{Op: "kevent trigger EVFILT_USER", FD: -1, Err: err}
	}
	return nil
}

func (q *kqueue) close() error { return q.k.close(q.kq) }
