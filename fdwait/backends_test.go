//go:build unix

package fdwait

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// A mechanism is one backend over one kernel, for the contract suite.
type mechanism struct {
	name string
	// open makes the backend; every blocking call to its kernel adds to calls.
	open func(calls *atomic.Int64) (backend, error)
}

// mechanisms is what the contract suite runs over: what this system has
// (native), poll, and the kqueue backend over a kernel that is played with
// poll, so that its logic runs where kqueue does not exist.
func mechanisms() []mechanism {
	return append(native(),
		mechanism{"poll", func(calls *atomic.Int64) (backend, error) {
			return newPoll(countedPoll{sysPoll{}, calls}, runtime.GOOS), nil
		}},
		mechanism{"played kqueue", func(calls *atomic.Int64) (backend, error) {
			return newKqueue(&playedKqueue{calls: calls}, false, time.Now)
		}},
		mechanism{"played kqueue with guard", func(calls *atomic.Int64) (backend, error) {
			return newKqueue(&playedKqueue{calls: calls}, true, time.Now)
		}},
	)
}

// A rig is one Poller under test.
type rig struct {
	*Poller
	calls *atomic.Int64 // blocking calls to the kernel
	name  string
}

// overEach runs check once for each mechanism, with a fresh Poller.
func overEach(t *testing.T, check func(t *testing.T, p rig)) {
	t.Helper()
	for _, m := range mechanisms() {
		t.Run(m.name, func(t *testing.T) {
			p := m.start(t)
			t.Cleanup(func() {
				if err := p.Close(); err != nil {
					t.Errorf("close poller: %v", err)
				}
			})
			check(t, p)
		})
	}
}

func (m mechanism) start(tb testing.TB) rig {
	tb.Helper()
	calls := new(atomic.Int64)
	be, err := m.open(calls)
	if err != nil {
		tb.Fatal(err)
	}
	return rig{start(be, nil), calls, m.name}
}

// countedPoll counts the calls of the loop.
type countedPoll struct {
	pollKernel
	calls *atomic.Int64
}

func (k countedPoll) poll(rows []pollFD, timeout time.Duration) (int, error) {
	if timeout != 0 {
		k.calls.Add(1)
	}
	return k.pollKernel.poll(rows, timeout)
}
