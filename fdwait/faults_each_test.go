//go:build unix

package fdwait

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The tests of this file are for what only one mechanism says.

func TestEpollPermissionDeniedMeansAlwaysReady(t *testing.T) {
	k := scriptedEpoll{newScripted[epollEvent]()}
	be, err := newEpoll(k)
	p := startScripted(t, be, err)
	k.fail("add", unix.EPERM)
	x := register(t, p, someFD)
	wantReady(t, "Wait", x.Wait, -1)
	wantReady(t, "WaitWrite", x.WaitWrite, 0)
	if err := x.Close(); err != nil {
		t.Error(err)
	}
	if k.count("mod") != 0 || k.count("del") != 0 {
		t.Error("the kernel was asked about a file it does not watch")
	}
}

func TestEpollErrorAndHangUpAreReadyForBothSides(t *testing.T) {
	for _, c := range []struct {
		events uint32
		want   sides
	}{
		{epollIn, readSide},
		{epollOut, writeSide},
		{epollHup, bothSides},
		{epollErr, bothSides},
		{epollIn | epollHup, bothSides},
		{0, 0},
	} {
		if got := epollReady(c.events); got != c.want {
			t.Errorf("epollReady(%#x) = %b, want %b", c.events, got, c.want)
		}
	}
}

func TestEpollUnknownRegistrationIsToldByClose(t *testing.T) {
	k := scriptedEpoll{newScripted[epollEvent]()}
	be, err := newEpoll(k)
	p := startScripted(t, be, err)
	x := register(t, p, someFD)
	k.fail("del", unix.ENOENT)
	for range 2 {
		if err := x.Close(); !errors.Is(err, unix.ENOENT) {
			t.Errorf("Close = %v, want ENOENT", err)
		}
	}
	if n := p.Waiters(); n != 0 {
		t.Errorf("%d waiters", n)
	}
}

func TestUnreadableWakeUpEndsTheLoopWithAnError(t *testing.T) {
	k := scriptedEpoll{newScripted[epollEvent]()}
	be, err := newEpoll(k)
	p := startScripted(t, be, err)
	x := register(t, p, someFD)
	k.fail("drain", unix.EBADF)
	wantError(t, "Wait", x.Wait, 0, unix.EBADF)
}

func TestLoopThatCannotBeWokenIsAnErrorAndNotAHang(t *testing.T) {
	k := scriptedEpoll{newScripted[epollEvent]()}
	be, err := newEpoll(k)
	if err != nil {
		t.Fatal(err)
	}
	p := start(be, nil)
	x := register(t, p, someFD)
	k.fail("signal", unix.EBADF, unix.EBADF)
	wantError(t, "Wait whose deadline asks", x.Wait, 0, unix.EBADF)
	if err := p.Close(); !errors.Is(err, unix.EBADF) {
		t.Errorf("Close = %v, want EBADF", err)
	}
	wantError(t, "Wait afterwards", x.Wait, -1, ErrClosed)
	k.woken <- struct{}{}
	<-p.done
}

func TestKqueueEndOfFileWithBytesIsReadiness(t *testing.T) {
	k := newScriptedKqueue()
	be, err := newKqueue(k, true, time.Now)
	p := startScripted(t, be, err)
	x := register(t, p, someFD)
	for _, ev := range []kevent{
		{flags: evEOF, data: 12},                        // bytes, then the end
		{flags: evEOF, data: 0},                         // the end
		{flags: evEOF, fflags: uint32(unix.ECONNRESET)}, // a broken socket: read tells
		{data: 0},                 // a terminal that miscounts
		{flags: evError, data: 0}, // a receipt, not a failure
		{filter: filterRead, flags: evDispatch, data: 1},     // as the kernel echoes flags
		{filter: filterRead, flags: evEOF | evAdd, data: -1}, // nonsense in data
	} {
		end := inBackground(t, x, reading, -1)
		ev.ident, ev.token = someFD, x.reg.token
		k.say(ev)
		if got := <-end; !got.ready || got.err != nil {
			t.Errorf("%+v: Wait = %v, %v", ev, got.ready, got.err)
		}
	}
}

func TestKqueueErrorEventIsAnErrorForItsSideOnly(t *testing.T) {
	k := newScriptedKqueue()
	be, err := newKqueue(k, false, time.Now)
	p := startScripted(t, be, err)
	x := register(t, p, someFD)
	r, w := inBackground(t, x, reading, -1), inBackground(t, x, writing, -1)
	k.say(kevent{ident: someFD, flags: evError, data: int64(unix.EBADF), token: x.reg.token})
	got := <-r
	if _, ok := errors.AsType[*WaitError](got.err); got.ready || !ok || !errors.Is(got.err, unix.EBADF) {
		t.Errorf("Wait = %v, %v; want *WaitError with EBADF", got.ready, got.err)
	}
	k.say(kevent{ident: someFD, filter: filterWrite, token: x.reg.token})
	if got := <-w; !got.ready || got.err != nil {
		t.Errorf("WaitWrite = %v, %v", got.ready, got.err)
	}
}

func TestKqueueAddsTheWriteFilterOnceAndWhenItIsNeeded(t *testing.T) {
	k := newScriptedKqueue()
	be, err := newKqueue(k, false, time.Now)
	p := startScripted(t, be, err)
	x := register(t, p, someFD)
	if k.count("add write") != 0 {
		t.Error("the write filter was added before anybody waits to write")
	}
	k.fail("add write", unix.EPIPE)
	ready, err := x.WaitWrite(-1)
	if _, ok := errors.AsType[*SetupError](err); ready || !ok {
		t.Errorf("WaitWrite = %v, %v; want *SetupError", ready, err)
	}
	for range 2 {
		end := inBackground(t, x, writing, -1)
		k.say(kevent{ident: someFD, filter: filterWrite, token: x.reg.token})
		<-end
	}
	if add, on := k.count("add write"), k.count("enable write"); add != 2 || on != 1 {
		t.Errorf("added %d times, enabled %d times; want 2 (one failed), 1", add, on)
	}
	if err := x.Close(); err != nil || k.count("delete write") != 1 || k.count("delete read") != 1 {
		t.Errorf("Close = %v; both filters must be deleted", err)
	}
}

func TestKqueueInterruptedChangeIsRepeated(t *testing.T) {
	k := newScriptedKqueue()
	be, err := newKqueue(k, false, time.Now)
	p := startScripted(t, be, err)
	k.fail("add read", unix.EINTR)
	k.fail("delete read", unix.EINTR, unix.ENOENT) // it had been made
	x := register(t, p, someFD)
	if err := x.Close(); err != nil {
		t.Errorf("Close = %v", err)
	}
	y := register(t, p, someFD)
	k.fail("delete read", unix.ENOENT)
	if err := y.Close(); !errors.Is(err, unix.ENOENT) {
		t.Errorf("Close = %v, want ENOENT", err)
	}
}

// A clock is moved by the test.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func TestGuardWakesADeviceThatKqueueForgot(t *testing.T) {
	k := newScriptedKqueue()
	k.device = true
	c := new(clock)
	be, err := newKqueue(k, true, c.Now)
	p := startScripted(t, be, err)
	x, y := register(t, p, someFD), register(t, p, otherFD)
	forgotten := inBackground(t, x, reading, -1)
	// A busy neighbour: the kernel never reaches its timeout.
	for range 3 {
		busy := inBackground(t, y, reading, -1)
		c.advance(guardTick / 4)
		k.say(kevent{ident: otherFD, token: y.reg.token})
		<-busy
	}
	select {
	case got := <-forgotten:
		t.Fatalf("Wait = %v, %v before the tick", got.ready, got.err)
	default:
	}
	c.advance(guardTick / 4)
	k.say()
	if got := <-forgotten; !got.ready || got.err != nil {
		t.Errorf("Wait = %v, %v; want ready", got.ready, got.err)
	}
}

func TestOnlyAWaitingDeviceOnMacOSTicks(t *testing.T) {
	for _, c := range []struct {
		name          string
		guard, device bool
		armed         bool
		ticks         bool
	}{
		{"a waiting device under guard", true, true, true, true},
		{"a device nobody waits for", true, true, false, false},
		{"a pipe", true, false, true, false},
		{"a device elsewhere", false, true, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newScriptedKqueue()
			k.device = c.device
			be, err := newKqueue(k, c.guard, new(clock).Now)
			p := startScripted(t, be, err)
			x := register(t, p, someFD)
			eventually(t, "the loop blocks without a timeout", func() bool {
				_, ok := k.timeouts.Load(time.Duration(-1))
				return ok
			})
			if c.armed {
				inBackground(t, x, reading, -1)
			}
			ticks := func() bool { _, ok := k.timeouts.Load(guardTick); return ok }
			if c.ticks {
				eventually(t, "the loop waits for one tick", ticks)
				return
			}
			wantError(t, "a full round", x.WaitWrite, 0, ErrDeadline)
			if ticks() {
				t.Error("the loop ticks")
			}
		})
	}
}

func TestPollRefusesACharacterDeviceOnMacOSWithItsReason(t *testing.T) {
	for goos, refused := range map[string]bool{"darwin": true, "linux": false, "freebsd": false} {
		p := startScripted(t, newPoll(scriptedPoll{scripted: newScripted[pollFD](), fileKind: kindDevice}, goos), nil)
		_, err := p.Register(someFD)
		if !refused {
			if err != nil {
				t.Errorf("%s: Register = %v", goos, err)
			}
			continue
		}
		setup, ok := errors.AsType[*SetupError](err)
		if !ok || setup.FD != someFD || !errors.Is(err, ErrPollDevice) {
			t.Fatalf("%s: Register = %v, want *SetupError with ErrPollDevice", goos, err)
		}
		for _, word := range []string{"POLLNVAL", "terminal", "free some descriptors"} {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%q does not say %q", err, word)
			}
		}
		if n := p.Waiters(); n != 0 {
			t.Errorf("%d waiters", n)
		}
	}
	p := startScripted(t, newPoll(scriptedPoll{scripted: newScripted[pollFD]()}, "darwin"), nil)
	register(t, p, someFD) // a pipe is not refused
}

func TestPollInvalidDescriptorIsAnErrorAndNotReadiness(t *testing.T) {
	// Told by the zero-time poll of the Wait itself.
	k := scriptedPoll{scripted: newScripted[pollFD](), revents: pollNval}
	x := register(t, startScripted(t, newPoll(k, "linux"), nil), someFD)
	wantError(t, "Wait", x.Wait, -1, unix.EBADF)

	// Told by the loop.
	k = scriptedPoll{scripted: newScripted[pollFD]()}
	x = register(t, startScripted(t, newPoll(k, "linux"), nil), someFD)
	end := inBackground(t, x, reading, -1)
	k.say(pollFD{fd: someFD, revents: pollNval | pollIn})
	if got := <-end; got.ready || !errors.Is(got.err, unix.EBADF) {
		t.Errorf("Wait = %v, %v; want EBADF", got.ready, got.err)
	}
}

func TestPollInterruptedProbeIsRepeated(t *testing.T) {
	k := scriptedPoll{scripted: newScripted[pollFD](), revents: pollIn}
	x := register(t, startScripted(t, newPoll(k, "linux"), nil), someFD)
	k.fail("probe", unix.EINTR, unix.EINTR)
	wantReady(t, "Wait", x.Wait, -1)
}

func TestErrorsNameTheStepTheDescriptorAndTheErrno(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&SetupError{"epoll_create1", -1, unix.ENOMEM}, "set up waiting: epoll_create1: ENOMEM"},
		{&SetupError{"epoll_ctl add", 7, unix.EBADF}, "set up waiting for descriptor 7: epoll_ctl add: EBADF"},
		{&WaitError{"epoll_wait", -1, unix.EINVAL}, "wait: epoll_wait: EINVAL"},
		{&WaitError{"kevent", 9, ErrClosed}, "wait for descriptor 9: kevent: waiter closed"},
	} {
		if got := c.err.Error(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%q, want %q first", got, c.want)
		}
	}
}

func TestMechanismIsTheSystemsOwn(t *testing.T) {
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if got := p.Mechanism(); got != nativeName || p.Cause() != nil {
		t.Errorf("Mechanism = %q, Cause = %v; want %q, nil", got, p.Cause(), nativeName)
	}
}
