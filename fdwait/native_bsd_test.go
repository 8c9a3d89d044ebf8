//go:build darwin || freebsd

package fdwait

import (
	"runtime"
	"sync/atomic"
	"time"
)

func native() []mechanism {
	return []mechanism{{"kqueue", func(calls *atomic.Int64) (backend, error) {
		return newKqueue(countedKqueue{newSysKqueue(), calls}, runtime.GOOS == "darwin", time.Now)
	}}}
}

type countedKqueue struct {
	kqueueKernel
	calls *atomic.Int64
}

func (k countedKqueue) wait(kq int, out []kevent, timeout time.Duration) (int, error) {
	k.calls.Add(1)
	return k.kqueueKernel.wait(kq, out, timeout)
}
