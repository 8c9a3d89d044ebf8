//go:build unix

package fdwait

import (
	"errors"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

// inChild tells this test binary that it runs under a low limit.
const inChild = "FDWAIT_TEST_EXHAUST"

// TestExhaustedProcessStillWaits runs the real thing: a process whose
// descriptors are used up, to the last or to the last but one, makes a Poller.
func TestExhaustedProcessStillWaits(t *testing.T) {
	if os.Getenv(inChild) == "" {
		// A limit is for the whole process and cannot be raised again, so a
		// child has it.
		cmd := exec.Command("/bin/sh", "-c", `ulimit -n 64 && exec "$0" "$@"`,
			os.Args[0], "-test.run=^TestExhaustedProcessStillWaits$", "-test.v")
		cmd.Env = append(os.Environ(), inChild+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	r, w := pipe(t)
	refuseFull(t)
	for _, free := range []int{0, 1} {
		held := exhaust(t)
		for range free {
			unix.Close(held[len(held)-1])
			held = held[:len(held)-1]
		}
		p, err := New()
		if err != nil {
			t.Fatal(err)
		}
		// A kqueue needs one descriptor, epoll and its eventfd need two.
		if free == 0 || nativeName == "epoll" {
			if want := "poll (no descriptor for " + nativeName + ": EMFILE)"; p.Mechanism() != want {
				t.Errorf("%d free: Mechanism = %q, want %q", free, p.Mechanism(), want)
			}
			if !errors.Is(p.Cause(), unix.EMFILE) {
				t.Errorf("%d free: Cause = %v", free, p.Cause())
			}
			for range free {
				fd, err := unix.FcntlInt(uintptr(r), unix.F_DUPFD_CLOEXEC, 0)
				if err != nil {
					t.Fatalf("the descriptor that was free is not: %v", err)
				}
				held = append(held, fd)
			}
		}
		x, err := p.Register(r)
		if err != nil {
			t.Fatal(err)
		}
		wantError(t, "Wait", x.Wait, moment, ErrDeadline)
		end := inBackground(t, x, reading, forever)
		write(t, w, "x")
		if got := <-end; !got.ready || got.err != nil {
			t.Errorf("Wait = %v, %v", got.ready, got.err)
		}
		empty(t, r)
		if err := errors.Join(x.Close(), p.Close()); err != nil {
			t.Error(err)
		}
		for _, fd := range held {
			unix.Close(fd)
		}
		// With descriptors back, the next process-wide Poller is a full one.
		p, err = New()
		if err != nil || p.Mechanism() != nativeName {
			t.Fatalf("New with descriptors back: %v", err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// refuseFull makes a Poller before the Go runtime has made its own: that must be
// a named error, since the first timer would end the process.
func refuseFull(t *testing.T) {
	t.Helper()
	if runtimePolls() != no {
		if nativeName == "epoll" {
			t.Fatal("the runtime has its poller already, so the test tests nothing")
		}
		return
	}
	held := exhaust(t)
	p, err := New()
	if _, ok := errors.AsType[*SetupError](err); p != nil || !ok || !errors.Is(err, unix.EMFILE) {
		t.Fatalf("New in a full process = %v, %v; want *SetupError with EMFILE", p, err)
	}
	for _, fd := range held {
		unix.Close(fd)
	}
	p, err = New()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if runtimePolls() != yes {
		t.Error("New did not make the runtime open its poller first")
	}
}

// exhaust opens descriptors until there is none left.
func exhaust(t *testing.T) (held []int) {
	t.Helper()
	for {
		fd, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 0)
		if errors.Is(err, unix.EMFILE) {
			return held
		}
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, fd)
	}
}
