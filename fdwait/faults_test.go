//go:build unix

package fdwait

import (
	"errors"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A faulty is one backend over its scripted kernel, in common terms.
type faulty struct {
	name   string
	be     func() (backend, error)
	fail   func(call string, errs ...error)
	say    func(t token, fd int) // "fd is readable"
	broken func(err error)       // the loop's call fails
	idle   func()                // the loop's call comes back with nothing
	arming string                // the call that arms a reader
	adding string                // the call that registers
	unsaid func() int            // steps the loop has not taken
}

func faulties() []faulty {
	e, q, l := scriptedEpoll{newScripted[epollEvent]()}, newScriptedKqueue(), scriptedPoll{scripted: newScripted[pollFD]()}
	return []faulty{
		{
			"epoll", func() (backend, error) { return newEpoll(e) }, e.fail,
			func(t token, _ int) { e.say(epollEvent{epollIn, t}) },
			e.sayError, func() { e.say() }, "mod", "add", func() int { return len(e.steps) },
		},
		{
			"kqueue", func() (backend, error) { return newKqueue(q, false, time.Now) }, q.fail,
			func(t token, fd int) { q.say(kevent{ident: fd, token: t}) },
			q.sayError, func() { q.say() }, "enable read", "add read", func() int { return len(q.steps) },
		},
		{
			"poll", func() (backend, error) { return newPoll(l, "linux"), nil }, l.fail,
			func(_ token, fd int) { l.say(pollFD{fd: fd, revents: pollIn}) },
			l.sayError, func() { l.say() }, "probe", "fstat", func() int { return len(l.steps) },
		},
	}
}

func overEachFault(t *testing.T, check func(t *testing.T, f faulty, p *Poller)) {
	t.Helper()
	for _, f := range faulties() {
		t.Run(f.name, func(t *testing.T) {
			be, err := f.be()
			check(t, f, startScripted(t, be, err))
		})
	}
}

func TestInterruptedWaitIsRetried(t *testing.T) {
	overEachFault(t, func(t *testing.T, f faulty, p *Poller) {
		x := register(t, p, someFD)
		end := inBackground(t, x, reading, -1)
		for range 3 {
			f.broken(unix.EINTR)
		}
		f.say(x.reg.token, someFD)
		if got := <-end; !got.ready || got.err != nil {
			t.Errorf("Wait = %v, %v", got.ready, got.err)
		}
	})
}

func TestSpuriousWakeOfTheKernelIsNotReadiness(t *testing.T) {
	overEachFault(t, func(t *testing.T, f faulty, p *Poller) {
		x, y := register(t, p, someFD), register(t, p, otherFD)
		end := inBackground(t, x, reading, -1)
		f.idle()
		f.say(y.reg.token, otherFD)        // registered, but nobody waits
		f.say(y.reg.token+1000, otherFD+1) // of nobody
		eventually(t, "the loop took it all", func() bool { return f.unsaid() == 0 })
		wantError(t, "a complete round", x.WaitWrite, 0, ErrDeadline)
		select {
		case got := <-end:
			t.Fatalf("Wait = %v, %v although nothing was reported", got.ready, got.err)
		default:
		}
		wantError(t, "Wait of the other", y.Wait, 0, ErrDeadline)
		f.say(x.reg.token, someFD)
		if got := <-end; !got.ready || got.err != nil {
			t.Errorf("Wait = %v, %v", got.ready, got.err)
		}
	})
}

func TestBrokenLoopReachesEveryWaiterAsAnErrorOfItsOwn(t *testing.T) {
	for _, errno := range persistent {
		overEachFault(t, func(t *testing.T, f faulty, p *Poller) {
			x, y, idle := register(t, p, someFD), register(t, p, otherFD), register(t, p, otherFD+1)
			ends := []<-chan result{inBackground(t, x, reading, -1), inBackground(t, y, writing, forever)}
			f.broken(errno)
			check := func(ready bool, err error) {
				t.Helper()
				wait, ok := errors.AsType[*WaitError](err)
				if ready || !ok || !errors.Is(err, errno) || wait.FD != -1 {
					t.Errorf("wait = %v, %v; want *WaitError with %v", ready, err, errno)
				}
				if ok && !strings.Contains(err.Error(), unix.ErrnoName(errno)) {
					t.Errorf("%q does not name %s", err, unix.ErrnoName(errno))
				}
			}
			for _, end := range ends {
				got := <-end
				check(got.ready, got.err)
			}
			<-p.done
			for range 2 { // it stays
				check(x.Wait(0))
				check(idle.WaitWrite(forever))
			}
			_, err := p.Register(otherFD + 2)
			if _, ok := errors.AsType[*SetupError](err); !ok || !errors.Is(err, errno) {
				t.Errorf("Register = %v", err)
			}
			for _, w := range []*Waiter{x, y, idle} {
				if err := w.Close(); err != nil {
					t.Error(err)
				}
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRefusedRegistrationIsASetupError(t *testing.T) {
	for _, errno := range []unix.Errno{unix.ENOMEM, unix.ENOSPC, unix.EBADF, unix.EINVAL} {
		overEachFault(t, func(t *testing.T, f faulty, p *Poller) {
			f.fail(f.adding, errno)
			_, err := p.Register(someFD)
			setup, ok := errors.AsType[*SetupError](err)
			if !ok || setup.FD != someFD || !errors.Is(err, errno) {
				t.Errorf("Register = %v, want *SetupError with %v", err, errno)
			}
			if n := p.Waiters(); n != 0 {
				t.Errorf("%d waiters", n)
			}
			// The next try finds no trace of it.
			register(t, p, someFD)
		})
	}
}

func TestRefusedArmingIsAWaitErrorAndTheNextWaitWorks(t *testing.T) {
	for _, errno := range []unix.Errno{unix.EBADF, unix.ENOENT, unix.ENOMEM} {
		overEachFault(t, func(t *testing.T, f faulty, p *Poller) {
			x := register(t, p, someFD)
			f.fail(f.arming, errno)
			ready, err := x.Wait(forever)
			wait, ok := errors.AsType[*WaitError](err)
			if ready || !ok || wait.FD != someFD || !errors.Is(err, errno) {
				t.Errorf("Wait = %v, %v; want *WaitError with %v", ready, err, errno)
			}
			end := inBackground(t, x, reading, -1)
			f.say(x.reg.token, someFD)
			if got := <-end; !got.ready || got.err != nil {
				t.Errorf("next Wait = %v, %v", got.ready, got.err)
			}
		})
	}
}

func TestStaleEventDoesNotReachTheNextWaiterOfTheNumber(t *testing.T) {
	overEachFault(t, func(t *testing.T, f faulty, p *Poller) {
		if f.name == "poll" {
			t.Skip("poll keeps no event; TestReusedNumberStartsClean covers it")
		}
		old := register(t, p, someFD)
		stale := old.reg.token
		if err := old.Close(); err != nil {
			t.Fatal(err)
		}
		x := register(t, p, someFD)
		end := inBackground(t, x, reading, moment)
		f.say(stale, someFD)
		if got := <-end; got.ready || !errors.Is(got.err, ErrDeadline) {
			t.Errorf("Wait = %v, %v; want ErrDeadline", got.ready, got.err)
		}
	})
}

func TestNoDescriptorForTheMechanismFallsBackToPoll(t *testing.T) {
	fallback := func() backend { return newPoll(sysPoll{}, "linux") }
	for _, errno := range []unix.Errno{unix.EMFILE, unix.ENFILE} {
		for _, c := range []struct {
			step   string
			native func(step string) (backend, func() bool, error)
		}{
			{"create", failingEpoll(errno)},
			{"eventfd", failingEpoll(errno, scriptedQueue)},
			{"create", failingKqueue(errno)},
		} {
			be, clean, err := c.native(c.step)
			p, err := newPoller(nativeName, func() (backend, error) { return be, err }, fallback)
			if err != nil {
				t.Fatalf("%s %v: %v", c.step, errno, err)
			}
			want := "poll (no descriptor for " + nativeName + ": " + unix.ErrnoName(errno) + ")"
			if got := p.Mechanism(); got != want {
				t.Errorf("Mechanism = %q, want %q", got, want)
			}
			if !errors.Is(p.Cause(), errno) {
				t.Errorf("Cause = %v", p.Cause())
			}
			if !clean() {
				t.Errorf("%s %v: a descriptor of the half-made mechanism is left", c.step, errno)
			}
			r, w := pipe(t)
			closing(t, r, w)
			write(t, w, "x")
			wantReady(t, "Wait", register(t, p, r).Wait, -1)
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func failingEpoll(errno error, left ...int) func(string) (backend, func() bool, error) {
	return func(step string) (backend, func() bool, error) {
		k := scriptedEpoll{newScripted[epollEvent]()}
		k.fail(step, errno)
		be, err := newEpoll(k)
		return be, func() bool { return k.closedAll(left...) }, err
	}
}

func failingKqueue(errno error, left ...int) func(string) (backend, func() bool, error) {
	return func(step string) (backend, func() bool, error) {
		k := newScriptedKqueue()
		k.fail(step, errno)
		be, err := newKqueue(k, false, time.Now)
		return be, func() bool { return k.closedAll(left...) }, err
	}
}

func TestAnyOtherSetupFailureIsReturnedAndLeavesNothing(t *testing.T) {
	fallback := func() backend {
		t.Error("fell back to poll")
		return newPoll(sysPoll{}, "linux")
	}
	for _, c := range []struct {
		step   string
		native func(step string) (backend, func() bool, error)
	}{
		{"create", failingEpoll(unix.ENOMEM)},
		{"eventfd", failingEpoll(unix.ENODEV, scriptedQueue)},
		{"add", failingEpoll(unix.ENOMEM, scriptedQueue, scriptedEvent)},
		{"create", failingKqueue(unix.ENOMEM)},
		{"add user", failingKqueue(unix.EINVAL, scriptedQueue)},
	} {
		be, clean, err := c.native(c.step)
		p, err := newPoller(nativeName, func() (backend, error) { return be, err }, fallback)
		setup, ok := errors.AsType[*SetupError](err)
		if p != nil || !ok || setup.FD != -1 {
			t.Errorf("%s: New = %v, %v", c.step, p, err)
		}
		if !clean() {
			t.Errorf("%s: a descriptor is left, or one too many was closed", c.step)
		}
	}
}

func TestPollerCloseReturnsItsOwnDescriptorsOnly(t *testing.T) {
	e, q := scriptedEpoll{newScripted[epollEvent]()}, newScriptedKqueue()
	for name, c := range map[string]struct {
		open  func() (backend, error)
		clean func() bool
	}{
		"epoll":  {func() (backend, error) { return newEpoll(e) }, func() bool { return e.closedAll(scriptedQueue, scriptedEvent) }},
		"kqueue": {func() (backend, error) { return newKqueue(q, true, time.Now) }, func() bool { return q.closedAll(scriptedQueue) }},
	} {
		be, err := c.open()
		p := startScripted(t, be, err)
		register(t, p, someFD)
		if err := p.Close(); err != nil || !c.clean() {
			t.Errorf("%s: Close = %v, all closed once: %v", name, err, c.clean())
		}
	}
}

// TestDeadlineIsTheKernelsWord holds back an event that the loop has taken
// while the time of the Wait passes: silence of the loop is not an answer.
func TestDeadlineIsTheKernelsWord(t *testing.T) {
	k := scriptedEpoll{newScripted[epollEvent]()}
	be, err := newEpoll(k)
	if err != nil {
		t.Fatal(err)
	}
	held := &heldBack{backend: be, taken: make(chan struct{}), release: make(chan struct{})}
	p := startScripted(t, held, nil)
	x := register(t, p, someFD)
	end := make(chan result, 1)
	go func() {
		ready, err := x.Wait(moment)
		end <- result{ready, err}
	}()
	eventually(t, "the wait is armed", func() bool { return k.count("mod") == 1 })
	k.say(epollEvent{epollIn, x.reg.token})
	<-held.taken
	eventually(t, "the time has passed and the loop is asked", func() bool { return k.count("signal") > 0 })
	select {
	case got := <-end:
		t.Errorf("Wait = %v, %v before the loop has answered", got.ready, got.err)
	default:
	}
	close(held.release)
	if got := <-end; !got.ready || got.err != nil {
		t.Errorf("Wait = %v, %v; want ready", got.ready, got.err)
	}
}

// heldBack keeps the first events until it is released.
type heldBack struct {
	backend
	taken, release chan struct{}
}

func (h *heldBack) wait(out []event, block bool) (int, bool, error) {
	n, full, err := h.backend.wait(out, block)
	if n > 0 {
		close(h.taken)
		<-h.release
	}
	return n, full, err
}
