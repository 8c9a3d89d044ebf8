//go:build unix

package fdwait

import (
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A step is one answer of a scripted kernel to the loop.
type step[E any] struct {
	events []E
	err    error
}

// A scripted kernel says what the test tells it to. Each kernel embeds one.
type scripted[E any] struct {
	steps chan step[E] // what wait answers, in order; it blocks when there is none
	woken chan struct{}

	mu     sync.Mutex
	errs   map[string][]error // by call: its next answers; nil when used up
	calls  []string
	closed []int
}

func newScripted[E any]() *scripted[E] {
	return &scripted[E]{
		steps: make(chan step[E], 100), woken: make(chan struct{}, 100),
		errs: make(map[string][]error),
	}
}

// fail makes the next calls of this name return errs.
func (s *scripted[E]) fail(call string, errs ...error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errs[call] = append(s.errs[call], errs...)
}

func (s *scripted[E]) called(call string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, call)
	if len(s.errs[call]) == 0 {
		return nil
	}
	err := s.errs[call][0]
	s.errs[call] = s.errs[call][1:]
	return err
}

func (s *scripted[E]) count(call string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c == call {
			n++
		}
	}
	return n
}

func (s *scripted[E]) say(events ...E)    { s.steps <- step[E]{events: events} }
func (s *scripted[E]) sayError(err error) { s.steps <- step[E]{err: err} }
func (s *scripted[E]) close(fd int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = append(s.closed, fd)
	return nil
}

// next is wait: a step that is there, or else what block says.
func (s *scripted[E]) next(out []E, block bool, wakeUp E) (int, error) {
	select {
	case st := <-s.steps:
		return copy(out, st.events), st.err
	default:
	}
	if !block {
		select {
		case <-s.woken:
			return copy(out, []E{wakeUp}), nil
		default:
			return 0, nil
		}
	}
	select {
	case st := <-s.steps:
		return copy(out, st.events), st.err
	case <-s.woken:
		return copy(out, []E{wakeUp}), nil
	}
}

func (s *scripted[E]) closedAll(fds ...int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.closed)
	return slices.Equal(s.closed, fds)
}

// The descriptors the scripted kernels give out.
const (
	scriptedQueue = 900
	scriptedEvent = 901
)

type scriptedEpoll struct{ *scripted[epollEvent] }

func (k scriptedEpoll) create() (int, error)  { return scriptedQueue, k.called("create") }
func (k scriptedEpoll) eventfd() (int, error) { return scriptedEvent, k.called("eventfd") }
func (k scriptedEpoll) drain(int) error       { return k.called("drain") }

func (k scriptedEpoll) ctl(_ int, op epollOp, _ int, _ epollEvent) error {
	return k.called([...]string{epollAdd: "add", epollMod: "mod", epollDel: "del"}[op])
}

func (k scriptedEpoll) signal(int) error {
	if err := k.called("signal"); err != nil {
		return err
	}
	k.woken <- struct{}{}
	return nil
}

func (k scriptedEpoll) wait(_ int, out []epollEvent, block bool) (int, error) {
	return k.next(out, block, epollEvent{events: epollIn})
}

type scriptedKqueue struct {
	*scripted[kevent]
	device   bool
	timeouts *sync.Map // every timeout wait was given
}

func newScriptedKqueue() scriptedKqueue {
	return scriptedKqueue{scripted: newScripted[kevent](), timeouts: new(sync.Map)}
}

func (k scriptedKqueue) create() (int, error) { return scriptedQueue, k.called("create") }

func (k scriptedKqueue) kind(int) (fileKind, error) {
	if k.device {
		return kindDevice, k.called("fstat")
	}
	return kindOther, k.called("fstat")
}

func (k scriptedKqueue) change(_ int, ev kevent) error {
	name := [...]string{filterRead: "read", filterWrite: "write", filterUser: "user"}[ev.filter]
	switch {
	case ev.flags&evAdd != 0:
		name = "add " + name
	case ev.flags&evDelete != 0:
		name = "delete " + name
	case ev.flags&evEnable != 0:
		name = "enable " + name
	}
	if err := k.called(name); err != nil {
		return err
	}
	if ev.fflags&noteTrigger != 0 {
		k.woken <- struct{}{}
	}
	return nil
}

func (k scriptedKqueue) wait(_ int, out []kevent, timeout time.Duration) (int, error) {
	k.timeouts.Store(timeout, true)
	return k.next(out, timeout != 0, kevent{filter: filterUser})
}

// A scriptedPoll answers the loop by steps, and a zero-time poll by probe.
type scriptedPoll struct {
	*scripted[pollFD]
	fileKind fileKind
	revents  int16 // what a zero-time poll says
}

func (k scriptedPoll) kind(int) (fileKind, error) { return k.fileKind, k.called("fstat") }

func (k scriptedPoll) poll(rows []pollFD, timeout time.Duration) (int, error) {
	if timeout == 0 {
		if err := k.called("probe"); err != nil || k.revents == 0 {
			return 0, err
		}
		rows[0].revents = k.revents
		return 1, nil
	}
	select {
	case st := <-k.steps:
		for i := range rows {
			for _, ev := range st.events {
				if ev.fd == rows[i].fd {
					rows[i].revents = ev.revents
				}
			}
		}
		return len(st.events), st.err
	case <-time.After(timeout): // the end of a slice
		return 0, nil
	}
}

// Anything the scripted kernels are asked to watch.
const (
	someFD  = 700
	otherFD = 701
)

// startScripted runs a Poller over be and ends it with the test.
func startScripted(t *testing.T, be backend, err error) *Poller {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	p := start(be, nil)
	t.Cleanup(func() { _ = p.Close() })
	return p
}

var persistent = []unix.Errno{unix.EBADF, unix.EINVAL, unix.ENOMEM, unix.EFAULT}
