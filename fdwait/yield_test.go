//go:build unix

package fdwait

import (
	"runtime"
	"testing"
)

// TestReaderRunsBeforeTheLoopWaitsAgain leaves one thread to both, so that the
// order in which they run can be seen. The Go runtime prefers another order
// now and then: most of the rounds count.
func TestReaderRunsBeforeTheLoopWaitsAgain(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const rounds = 60
	for _, m := range native() {
		t.Run(m.name, func(t *testing.T) {
			p := m.start(t)
			t.Cleanup(func() { _ = p.Close() })
			r, w := pipe(t)
			closing(t, r, w)
			x := register(t, p.Poller, r)
			first, last := 0, int64(0)
			for range rounds {
				eventually(t, "the loop waits", func() bool { return p.calls.Load() > last })
				last = p.calls.Load()
				seen := make(chan int64, 1)
				go func() {
					_, _ = x.Wait(forever)
					seen <- p.calls.Load()
				}()
				eventually(t, "the wait is armed", func() bool {
					x.mu.Lock()
					defer x.mu.Unlock()
					return x.armed&readSide != 0
				})
				write(t, w, "x")
				if <-seen == last {
					first++
				}
				if got := read(t, r); got != "x" {
					t.Fatalf("read %q", got)
				}
			}
			if first < rounds/2 {
				t.Errorf("the reader ran before the loop waited again %d times of %d", first, rounds)
			}
		})
	}
}
