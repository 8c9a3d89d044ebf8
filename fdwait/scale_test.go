//go:build unix

package fdwait

import (
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// needDescriptors fails, rather than skips, when the limit is too low for a
// test that the contract rests on.
func needDescriptors(t *testing.T, n uint64) {
	t.Helper()
	if have := descriptorLimit(t); have < n {
		t.Fatalf("needs %d descriptors, the limit is %d: raise ulimit -n", n, have)
	}
}

func descriptorLimit(t *testing.T) uint64 {
	t.Helper()
	var lim unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &lim); err != nil {
		t.Fatal(err)
	}
	return uint64(lim.Cur)
}

// threads counts the threads of the process: what the kernel says, or how many
// the runtime ever made.
func threads(t *testing.T) int {
	t.Helper()
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		_, rest, _ := strings.Cut(string(status), "Threads:")
		line, _, _ := strings.Cut(rest, "\n")
		if n, err := strconv.Atoi(strings.TrimSpace(line)); err == nil {
			return n
		}
	}
	return pprof.Lookup("threadcreate").Count()
}

func TestThousandWaitingReadersNeedNoThreads(t *testing.T) {
	const readers = 1000
	needDescriptors(t, 2*readers+50)
	overEach(t, func(t *testing.T, p rig) {
		before := threads(t)
		ends := make([]<-chan result, readers)
		writers := make([]int, readers)
		for i := range readers {
			r, w := pipe(t)
			closing(t, r, w)
			writers[i] = w
			ends[i] = inBackground(t, register(t, p.Poller, r), reading, -1)
		}
		if grown := threads(t) - before; grown > 20 {
			t.Errorf("%d threads more for %d waiting readers", grown, readers)
		}
		if n := p.Waiters(); n != readers {
			t.Errorf("%d waiters, want %d", n, readers)
		}
		for _, i := range rand.Perm(readers) {
			write(t, writers[i], "x")
		}
		for _, end := range ends {
			if got := <-end; !got.ready || got.err != nil {
				t.Fatalf("Wait = %v, %v", got.ready, got.err)
			}
		}
	})
}

// TestDescriptorsAbove1024Work holds more descriptors open than select() could
// count, and waits on the highest.
func TestDescriptorsAbove1024Work(t *testing.T) {
	needDescriptors(t, 1150)
	counts := []int{1100}
	if lim := descriptorLimit(t); lim >= 10_100 {
		counts = append(counts, 10_000)
	} else {
		t.Logf("10,000 descriptors left out: the limit is %d", lim)
	}
	for _, count := range counts {
		held := make([]int, 0, count)
		for range count {
			fd, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 0)
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, fd)
		}
		overEach(t, func(t *testing.T, p rig) {
			a, b := sockets(t)
			closing(t, a, b)
			if a < count {
				t.Fatalf("descriptor %d is not above %d", a, count)
			}
			x := register(t, p.Poller, a)
			wantError(t, "Wait when idle", x.Wait, 0, ErrDeadline)
			end := inBackground(t, x, reading, forever)
			write(t, b, "x")
			if got := <-end; !got.ready || got.err != nil {
				t.Errorf("Wait on descriptor %d = %v, %v", a, got.ready, got.err)
			}
			wantReady(t, "WaitWrite", x.WaitWrite, forever)
		})
		for _, fd := range held {
			_ = unix.Close(fd)
		}
	}
}

func TestNothingIsLeftWhenEverythingIsClosed(t *testing.T) {
	for _, m := range mechanisms() {
		t.Run(m.name, func(t *testing.T) {
			fds, goroutines := openDescriptors(t), runtime.NumGoroutine()
			for range 20 {
				p := m.start(t)
				for i := range 25 {
					r, w := pipe(t)
					x, err := p.Register(r)
					if err != nil {
						t.Fatal(err)
					}
					if i%2 == 0 {
						end := inBackground(t, x, reading, forever)
						x.Wake()
						<-end
					}
					if err := x.Close(); err != nil {
						t.Fatal(err)
					}
					unix.Close(r)
					unix.Close(w)
				}
				if n := p.Waiters(); n != 0 {
					t.Fatalf("%d waiters left", n)
				}
				if err := p.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if n := openDescriptors(t); n != fds {
				t.Errorf("%d descriptors before, %d after", fds, n)
			}
			// The goroutine of a finished wait may still be on its way out.
			eventually(t, "as many goroutines as before", func() bool {
				return runtime.NumGoroutine() <= goroutines
			})
		})
	}
}

func TestWaiterCostsNoDescriptor(t *testing.T) {
	overEach(t, func(t *testing.T, p rig) {
		r, w := pipe(t)
		closing(t, r, w)
		before := openDescriptors(t)
		x := register(t, p.Poller, r)
		wantError(t, "Wait", x.Wait, 0, ErrDeadline)
		if n := openDescriptors(t); n != before {
			t.Errorf("%d descriptors before, %d with a waiter", before, n)
		}
	})
}

func TestWaitDoesNotAllocate(t *testing.T) {
	for _, m := range mechanisms() {
		if strings.HasPrefix(m.name, "played") {
			continue // the kernel of the test allocates
		}
		t.Run(m.name, func(t *testing.T) {
			p := m.start(t)
			defer p.Close()
			r, w := pipe(t)
			closing(t, r, w)
			x := register(t, p.Poller, r)
			byte1, buf := []byte("x"), make([]byte, 8)
			check := func(name string, f func()) {
				if n := testing.AllocsPerRun(200, f); n != 0 {
					t.Errorf("%s: %v allocations a run", name, n)
				}
			}
			check("ready", func() {
				_, _ = unix.Write(w, byte1)
				_, _ = x.Wait(forever)
				_, _ = unix.Read(r, buf)
			})
			check("nothing there", func() { _, _ = x.Wait(0) })
			check("woken", func() {
				x.Wake()
				_, _ = x.Wait(-1)
			})
		})
	}
}

// TestEveryByteArrives sends through a small buffer, so that both ends wait
// again and again, and wakes both all the while.
func TestEveryByteArrives(t *testing.T) {
	const total = 4 << 20
	overEach(t, func(t *testing.T, p rig) {
		a, b := sockets(t)
		closing(t, b)
		if err := unix.SetsockoptInt(a, unix.SOL_SOCKET, unix.SO_SNDBUF, 8<<10); err != nil {
			t.Fatal(err)
		}
		data := make([]byte, total)
		for i := range data {
			data[i] = byte(i * i >> 7)
		}
		out, in := register(t, p.Poller, a), register(t, p.Poller, b)
		sent := make(chan error, 1)
		go func() {
			sent <- sendAll(out, a, data)
			out.Close()
			unix.Close(a)
		}()
		stop, woken := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(woken)
			for {
				select {
				case <-stop:
					return
				default:
					in.Wake()
					out.Wake()
					runtime.Gosched()
				}
			}
		}()
		got, err := receiveAll(in, b)
		close(stop)
		<-woken
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != total || crc32.ChecksumIEEE(got) != crc32.ChecksumIEEE(data) {
			t.Errorf("%d of %d bytes arrived, or not the same", len(got), total)
		}
	})
}

func sendAll(w *Waiter, fd int, data []byte) error {
	for len(data) > 0 {
		n, err := unix.Write(fd, data)
		if errors.Is(err, unix.EAGAIN) {
			if _, err := w.WaitWrite(forever); err != nil && !errors.Is(err, ErrWoken) {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

func receiveAll(w *Waiter, fd int) (got []byte, err error) {
	buf := make([]byte, 64<<10)
	for {
		n, err := unix.Read(fd, buf)
		switch {
		case errors.Is(err, unix.EAGAIN):
			if _, err := w.Wait(forever); err != nil && !errors.Is(err, ErrWoken) {
				return got, err
			}
		case err != nil:
			return got, err
		case n == 0:
			return got, nil
		default:
			got = append(got, buf[:n]...)
		}
	}
}

// TestAnyOrderOfCallsEnds lets everything happen at once. It is for the race
// detector and for hangs; each answer must still be one of the contract's.
func TestAnyOrderOfCallsEnds(t *testing.T) {
	overEach(t, func(t *testing.T, p rig) {
		for round := range 30 {
			a, b := sockets(t)
			x, err := p.Register(a)
			if err != nil {
				t.Fatal(err)
			}
			var all sync.WaitGroup
			for _, wait := range []func() (bool, error){
				func() (bool, error) { return x.Wait(-1) },
				func() (bool, error) { return x.Wait(moment / 10) },
				func() (bool, error) { return x.WaitWrite(-1) },
				func() (bool, error) { return x.Wait(0) },
			} {
				all.Go(func() {
					for {
						ready, err := wait()
						switch {
						case errors.Is(err, ErrClosed):
							return
						case ready && err == nil, errors.Is(err, ErrWoken),
							errors.Is(err, ErrDeadline), errors.Is(err, ErrBusy):
							runtime.Gosched()
						default:
							t.Errorf("wait = %v, %v", ready, err)
							return
						}
					}
				})
			}
			all.Go(func() {
				for range 20 {
					x.Wake()
					_, _ = unix.Write(b, []byte("x"))
				}
			})
			for range 2 {
				all.Go(func() {
					for range round {
						runtime.Gosched()
					}
					if err := x.Close(); err != nil {
						t.Errorf("close: %v", err)
					}
				})
			}
			all.Wait()
			unix.Close(a)
			unix.Close(b)
		}
	})
}
