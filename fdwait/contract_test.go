//go:build unix

package fdwait

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The tests of this file are the contract: each runs over every mechanism.

func TestWaitIsReadyWhenBytesAreThere(t *testing.T) {
	overEach(t, func(t *testing.T, p rig) {
		r, w := pipe(t)
		closing(t, r, w)
		write(t, w, "before")
		x := register(t, p.Poller, r)
		wantReady(t, "Wait", x.Wait, -1)
		if got := read(t, r); got != "before" {
			t.Errorf("read %q", got)
		}
		x2 := inBackground(t, x, reading, -1)
		write(t, w, "after")
		if got := <-x2; !got.ready || got.err != nil {
			t.Errorf("Wait = %v, %v", got.ready, got.err)
		}
	})
}

func TestReadyDoesNotDependOnHistory(t *testing.T) {
	overEach(t, func(t *testing.T, p rig) {
		r, w := pipe(t)
		closing(t, r, w)
		x := register(t, p.Poller, r)
		write(t, w, "abc")
		for range 3 {
			// Nothing new comes between the waits: an edge would be gone.
			wantReady(t, "Wait", x.Wait, forever)
			wantReady(t, "Wait again", x.Wait, 0)
			var one [1]byte
			if _, err := unix.Read(r, one[:]); err != nil {
				t.Fatal(err)
			}
		}
		wantError(t, "Wait when all is read", x.Wait, 0, ErrDeadline)
	})
}

func TestDeadlinePassesWhenNothingComes(t *testing.T) {
	overEach(t, func(t *testing.T, p rig) {
		r, w := pipe(t)
		closing(t, r, w)
		x := register(t, p.Poller, r)
		wantError(t, "Wait(0)", x.Wait, 0, ErrDeadline)
		wantError(t, "Wait(moment)", x.Wait, moment, ErrDeadline)
		wantError(t, "Wait(moment) again", x.Wait, moment, ErrDeadline)
		// What was armed for a wait that gave up serves the next one.
		write(t, w, "late")
		wantReady(t, "Wait after deadlines", x.Wait, 0)
	})
}

func TestHangUpIsReadyAndBytesBeforeItStay(t *testing.T) {
	overEach(t, func(t *testing.T, p rig) {
		r, w := pipe(t)
		closing(t, r)
		x := register(t, p.Poller, r)
		write(t, w, "last words")
		unix.Close(w)
		wantReady(t, "Wait", x.Wait, -1)
		if got := read(t, r); got != "last words" {
			t.Errorf("read %q", got)
		}
		wantReady(t, "Wait at the end", x.Wait, -1)
		if got := read(t, r); got != "" {
			t.Errorf("read %q at the end", got)
		}
	})
}

func TestHangUpNobodyReadsDoesNotSpin(t *testing.T) {
	overEach(t, func(t *testing.T, p rig) {
		hung, w := pipe(t)
		quiet, w2 := pipe(t)
		closing(t, hung, quiet, w2)
		x := register(t, p.Poller, hung)
		y := register(t, p.Poller, quiet)
		unix.Close(w)
		wantReady(t, "Wait", x.Wait, -1)
		before := p.calls.Load()
		wantError(t, "Wait for the quiet one", y.Wait, 100*time.Millisecond, ErrDeadline)
		// A loop that spins makes tens of thousands of calls in that time. The
		// fallback makes one each pollSlice.
		if n := p.calls.Load() - before; n > 50 {
			t.Errorf("%d calls to the kernel while nothing happened", n)
		}
	})
}

func TestWaitWriteIsReadyWhenThereIsRoom(t *testing.T) {
	overEach(t, func(t *testing.T, p rig) {
		a, b := sockets(t)
		closing(t, a, b)
		x := register(t, p.Poller, a)
		wantReady(t, "WaitWrite", x.WaitWrite, -1)
		fill(t, a)
		// The readiness of before may be latched once; then the truth shows.
		_, _ = x.WaitWrite(0)
		wantError(t, "WaitWrite when full", x.WaitWrite, moment, ErrDeadline)
		room := inBackground(t, x, writing, forever)
		empty(t, b)
		if got := <-room; !got.ready || got.err != nil {
			t.Errorf("WaitWrite = %v, %v", got.ready, got.err)
		}
	})
}

func TestWaitWriteIsReadyWhenTheOtherEndIsGone(t *testing.T) {
	overEach(t, func(t *testing.T, p rig) {
		a, b := sockets(t)
		closing(t, a)
		x := register(t, p.Poller, a)
		fill(t, a)
		gone := inBackground(t, x, writing, forever)
		unix.Close(b)
		if got := <-gone; !got.ready || got.err != nil {
			t.Errorf("WaitWrite = %v, %v", got.ready, got.err)
		}
	})
}

func TestReadAndWriteOfOneDescriptorDoNotDisturbEachOther(t *testing.T) {
	overEach(t, func(t *testing.T, p rig) {
		a, b := sockets(t)
		closing(t, a, b)
		x := register(t, p.Poller, a)
		fill(t, a)
		r := inBackground(t, x, reading, forever)
		w := inBackground(t, x, writing, forever)
		write(t, b, "x")
		if got := <-r; !got.ready || got.err != nil {
			t.Fatalf("Wait = %v, %v", got.ready, got.err)
		}
		empty(t, a)
		// The event of the reader has disarmed what both share in epoll.
		r = inBackground(t, x, reading, forever)
		empty(t, b)
		if got := <-w; !got.ready || got.err != nil {
			t.Fatalf("WaitWrite = %v, %v", got.ready, got.err)
		}
		write(t, b, "y")
		if got := <-r; !got.ready || got.err != nil {
			t.Fatalf("Wait after the write event = %v, %v", got.ready, got.err)
		}
	})
}

func TestWakeEndsTheRunningWaitsOnce(t *testing.T) {
	overEach(t, func(t *testing.T, p rig) {
		a, b := sockets(t)
		closing(t, a, b)
		x := register(t, p.Poller, a)
		fill(t, a)
		r := inBackground(t, x, reading, -1)
		w := inBackground(t, x, writing, -1)
		x.Wake()
		for name, c := range map[string]<-chan result{"Wait": r, "WaitWrite": w} {
			if got := <-c; got.ready || !errors.Is(got.err, ErrWoken) {
				t.Errorf("%s = %v, %v; want ErrWoken", name, got.ready, got.err)
			}
		}
		wantError(t, "Wait after it", x.Wait, 0, ErrDeadline)
		wantError(t, "WaitWrite after it", x.WaitWrite, 0, ErrDeadline)
	})
}

func TestWakeBeforeTheWaitIsKeptAndCountsOnce(t *testing.T) {
	overEach(t, func(t *testing.T, p rig) {
		r, w := pipe(t)
		closing(t, r, w)
		x := register(t, p.Poller, r)
		write(t, w, "bytes")
		x.Wake()
		x.Wake()
		wantError(t, "Wait", x.Wait, -1, ErrWoken)
		// The wake-up did not swallow the bytes.
		wantReady(t, "next Wait", x.Wait, -1)
		wantError(t, "WaitWrite", x.WaitWrite, -1, ErrWoken)
	})
}

func TestCloseEndsAndJoinsTheRunningWaits(t *testing.T) {
	overEach(t, func(t *testing.T, p rig) {
		a, b := sockets(t)
		closing(t, a, b)
		x := register(t, p.Poller, a)
		fill(t, a)
		r := inBackground(t, x, reading, -1)
		w := inBackground(t, x, writing, -1)
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
		if x.lanes[reading].inside || x.lanes[writing].inside {
			t.Error("Close returned while a wait was inside")
		}
		for name, c := range map[string]<-chan result{"Wait": r, "WaitWrite": w} {
			if got := <-c; got.ready || !errors.Is(got.err, ErrClosed) {
				t.Errorf("%s = %v, %v; want ErrClosed", name, got.ready, got.err)
			}
		}
		if err := x.Close(); err != nil {
			t.Errorf("second Close: %v", err)
		}
		wantError(t, "Wait afterwards", x.Wait, -1, ErrClosed)
		if n := p.Waiters(); n != 0 {
			t.Errorf("%d waiters left", n)
		}
		// The descriptor is still open, and may be registered again.
		write(t, b, "still open")
		y := register(t, p.Poller, a)
		wantReady(t, "Wait of the next waiter", y.Wait, -1)
	})
}

func TestPollerCloseEndsEveryWait(t *testing.T) {
	overEach(t, func(t *testing.T, p rig) {
		const n = 20
		var ends []<-chan result
		var waiters []*Waiter
		for range n {
			r, w := pipe(t)
			closing(t, r, w)
			x := register(t, p.Poller, r)
			waiters = append(waiters, x)
			ends = append(ends, inBackground(t, x, reading, -1))
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		for _, c := range ends {
			if got := <-c; got.ready || !errors.Is(got.err, ErrClosed) {
				t.Fatalf("Wait = %v, %v; want ErrClosed", got.ready, got.err)
			}
		}
		_, err := p.Register(waiters[0].reg.fd)
		if _, ok := errors.AsType[*SetupError](err); !ok || !errors.Is(err, ErrClosed) {
			t.Errorf("Register afterwards = %v", err)
		}
		for _, x := range waiters {
			wantError(t, "Wait afterwards", x.Wait, -1, ErrClosed)
			if err := x.Close(); err != nil {
				t.Errorf("close waiter after poller: %v", err)
			}
		}
		if n := p.Waiters(); n != 0 {
			t.Errorf("%d waiters left", n)
		}
	})
}

func TestRegularFileIsAlwaysReady(t *testing.T) {
	overEach(t, func(t *testing.T, p rig) {
		name := filepath.Join(t.TempDir(), "empty")
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		fd, err := unix.Open(name, unix.O_RDWR|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		closing(t, fd)
		x := register(t, p.Poller, fd)
		for range 3 {
			wantReady(t, "Wait", x.Wait, -1)
			wantReady(t, "WaitWrite", x.WaitWrite, -1)
		}
		x.Wake()
		wantError(t, "Wait after Wake", x.Wait, -1, ErrWoken)
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
		wantError(t, "Wait after Close", x.Wait, -1, ErrClosed)
	})
}

func TestRegisterRefusesWhatCannotBeWaitedFor(t *testing.T) {
	overEach(t, func(t *testing.T, p rig) {
		r, w := pipe(t)
		closing(t, w)
		x := register(t, p.Poller, w)
		for _, c := range []struct {
			name string
			fd   int
			want error
		}{
			{"no number", -1, unix.EBADF},
			{"never opened", 1 << 20, unix.EBADF},
			{"has a waiter", w, unix.EEXIST},
			{"closed", r, unix.EBADF},
		} {
			if c.name == "closed" {
				unix.Close(r)
			}
			_, err := p.Register(c.fd)
			setup, ok := errors.AsType[*SetupError](err)
			if !ok || setup.FD != c.fd || !errors.Is(err, c.want) {
				t.Errorf("%s: Register(%d) = %v, want *SetupError with %v", c.name, c.fd, err, c.want)
			}
		}
		if n := p.Waiters(); n != 1 {
			t.Errorf("%d waiters, want 1", n)
		}
		wantReady(t, "WaitWrite", x.WaitWrite, -1)
	})
}

func TestSecondWaitOfTheSameKindIsRefused(t *testing.T) {
	overEach(t, func(t *testing.T, p rig) {
		r, w := pipe(t)
		closing(t, r, w)
		x := register(t, p.Poller, r)
		first := inBackground(t, x, reading, -1)
		wantError(t, "second Wait", x.Wait, -1, ErrBusy)
		x.Wake()
		if got := <-first; !errors.Is(got.err, ErrWoken) {
			t.Errorf("first Wait = %v, %v", got.ready, got.err)
		}
	})
}

func TestDescriptorClosedUnderItsWaiterIsAnError(t *testing.T) {
	overEach(t, func(t *testing.T, p rig) {
		r, w := pipe(t)
		closing(t, w)
		x := register(t, p.Poller, r)
		unix.Close(r)
		ready, err := x.Wait(forever)
		if _, ok := errors.AsType[*WaitError](err); ready || !ok {
			t.Errorf("Wait = %v, %v; want *WaitError", ready, err)
		}
		if err := x.Close(); err == nil && p.name != "poll" {
			t.Error("Close did not tell that the descriptor was closed first")
		}
		if n := p.Waiters(); n != 0 {
			t.Errorf("%d waiters left", n)
		}
	})
}

func TestReusedNumberStartsClean(t *testing.T) {
	overEach(t, func(t *testing.T, p rig) {
		for range 200 {
			r, w := pipe(t)
			x, err := p.Register(r)
			if err != nil {
				t.Fatal(err)
			}
			end := inBackground(t, x, reading, -1)
			write(t, w, "x")
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
			unix.Close(r)
			unix.Close(w)
			r2, w2 := pipe(t)
			if r2 != r {
				t.Fatalf("number %d was not reused, got %d", r, r2)
			}
			y, err := p.Register(r2)
			if err != nil {
				t.Fatal(err)
			}
			wantError(t, "Wait of the new waiter", y.Wait, 0, ErrDeadline)
			<-end
			if err := y.Close(); err != nil {
				t.Fatal(err)
			}
			unix.Close(r2)
			unix.Close(w2)
		}
	})
}
