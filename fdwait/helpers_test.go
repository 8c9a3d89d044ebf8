//go:build unix

package fdwait

import (
	"errors"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// forever is a deadline that a healthy test never reaches.
const forever = time.Minute

// moment is a deadline that a test means to reach.
const moment = 5 * time.Millisecond

// pair makes two connected, non-blocking descriptors.
func pair(tb testing.TB, mk func() ([2]int, error)) (a, b int) {
	tb.Helper()
	fds, err := mk()
	if err != nil {
		tb.Fatal(err)
	}
	for _, fd := range fds {
		unix.CloseOnExec(fd)
		if err := unix.SetNonblock(fd, true); err != nil {
			tb.Fatal(err)
		}
	}
	return fds[0], fds[1]
}

// pipe returns the reading and the writing end. The test closes them.
func pipe(tb testing.TB) (r, w int) {
	tb.Helper()
	return pair(tb, func() (fds [2]int, err error) { return fds, unix.Pipe(fds[:]) })
}

// sockets returns two ends of a stream.
func sockets(tb testing.TB) (a, b int) {
	tb.Helper()
	return pair(tb, func() ([2]int, error) { return unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0) })
}

// closing closes fds when the test ends.
func closing(tb testing.TB, fds ...int) {
	tb.Cleanup(func() {
		for _, fd := range fds {
			_ = unix.Close(fd)
		}
	})
}

func register(tb testing.TB, p *Poller, fd int) *Waiter {
	tb.Helper()
	w, err := p.Register(fd)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = w.Close() })
	return w
}

func write(tb testing.TB, fd int, s string) {
	tb.Helper()
	if n, err := unix.Write(fd, []byte(s)); n != len(s) || err != nil {
		tb.Fatalf("write descriptor %d: %d, %v", fd, n, err)
	}
}

func read(tb testing.TB, fd int) string {
	tb.Helper()
	var buf [4096]byte
	n, err := unix.Read(fd, buf[:])
	if err != nil {
		tb.Fatalf("read descriptor %d: %v", fd, err)
	}
	return string(buf[:n])
}

// fill writes until there is no room.
func fill(tb testing.TB, fd int) {
	tb.Helper()
	for {
		_, err := unix.Write(fd, make([]byte, 4096))
		if errors.Is(err, unix.EAGAIN) {
			return
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
}

// empty reads until there is nothing left.
func empty(tb testing.TB, fd int) {
	tb.Helper()
	var buf [4096]byte
	for {
		n, err := unix.Read(fd, buf[:])
		if n == 0 || errors.Is(err, unix.EAGAIN) {
			return
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
}

func wantReady(tb testing.TB, what string, wait func(time.Duration) (bool, error), d time.Duration) {
	tb.Helper()
	if ready, err := wait(d); !ready || err != nil {
		tb.Fatalf("%s = %v, %v; want ready", what, ready, err)
	}
}

// wantError waits and expects an error that matches. Readiness beside an error
// is wrong whatever the error.
func wantError(tb testing.TB, what string, wait func(time.Duration) (bool, error), d time.Duration, want error) {
	tb.Helper()
	if ready, err := wait(d); ready || !errors.Is(err, want) {
		tb.Fatalf("%s = %v, %v; want false, %v", what, ready, err, want)
	}
}

// A result is what a Wait in another goroutine returned.
type result struct {
	ready bool
	err   error
}

// inBackground starts wait and returns when the kernel has been asked for s.
func inBackground(tb testing.TB, w *Waiter, s side, d time.Duration) <-chan result {
	tb.Helper()
	out := make(chan result, 1)
	go func() {
		ready, err := w.wait(s, d)
		out <- result{ready, err}
	}()
	eventually(tb, "the wait is armed", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.lanes[s].inside && w.armed&s.bit() != 0
	})
	return out
}

// eventually yields until cond holds. The limit only ends a broken test.
func eventually(tb testing.TB, what string, cond func() bool) {
	tb.Helper()
	for end := time.Now().Add(forever); !cond(); runtime.Gosched() {
		if time.Now().After(end) {
			tb.Fatalf("never came true: %s", what)
		}
	}
}

// openDescriptors counts what the process has open.
func openDescriptors(tb testing.TB) int {
	tb.Helper()
	for _, dir := range []string{"/proc/self/fd", "/dev/fd"} {
		if names, err := os.ReadDir(dir); err == nil {
			return len(names)
		}
	}
	tb.Fatal("no way to count descriptors here")
	return 0
}
