//go:build darwin || freebsd

package fdwait

import (
	"runtime"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// nativeName is the mechanism New tries first.
const nativeName = "kqueue"

func openNative() (backend, error) {
	return newKqueue(newSysKqueue(), runtime.GOOS == "darwin" || runtime.GOOS == "ios", time.Now)
}

// The numbers in kqueue.go are the systems': a difference does not compile.
const (
	_ = uint(evAdd-unix.EV_ADD) + uint(unix.EV_ADD-evAdd)
	_ = uint(evDelete-unix.EV_DELETE) + uint(unix.EV_DELETE-evDelete)
	_ = uint(evEnable-unix.EV_ENABLE) + uint(unix.EV_ENABLE-evEnable)
	_ = uint(evDisable-unix.EV_DISABLE) + uint(unix.EV_DISABLE-evDisable)
	_ = uint(evClear-unix.EV_CLEAR) + uint(unix.EV_CLEAR-evClear)
	_ = uint(evDispatch-unix.EV_DISPATCH) + uint(unix.EV_DISPATCH-evDispatch)
	_ = uint(evError-unix.EV_ERROR) + uint(unix.EV_ERROR-evError)
	_ = uint(evEOF-unix.EV_EOF) + uint(unix.EV_EOF-evEOF)
	_ = uint(noteTrigger-unix.NOTE_TRIGGER) + uint(unix.NOTE_TRIGGER-noteTrigger)
)

// filters are the systems' numbers for this package's filters.
var filters = [...]int16{
	filterRead:  unix.EVFILT_READ,
	filterWrite: unix.EVFILT_WRITE,
	filterUser:  unix.EVFILT_USER,
}

// sysKqueue is the real kernel.
type sysKqueue struct {
	sysFile
	buf []unix.Kevent_t // used by wait only; see kevents

	mu  sync.Mutex // held for one change, which does not block
	one []unix.Kevent_t
}

func newSysKqueue() *sysKqueue { return &sysKqueue{buf: kevents(batch), one: kevents(1)} }

// kevents allocates n kevents in memory the garbage collector does not look
// into. The package keeps a token in udata, whose Go type is a pointer; a token
// that looked like a pointer would make the collector stop the program.
//
// A Kevent_t is therefore never copied, only its fields are.
func kevents(n int) []unix.Kevent_t {
	const words = (unsafe.Sizeof(unix.Kevent_t{}) + 7) / 8
	mem := make([]uint64, words*uintptr(n))
	return unsafe.Slice((*unix.Kevent_t)(unsafe.Pointer(&mem[0])), n)
}

func udata(ev *unix.Kevent_t) *uintptr { return (*uintptr)(unsafe.Pointer(&ev.Udata)) }

func (*sysKqueue) create() (int, error) {
	// A kqueue is not inherited across fork; close-on-exec is for an exec
	// without one.
	kq, err := unix.Kqueue()
	if err != nil {
		return -1, err
	}
	unix.CloseOnExec(kq)
	return kq, nil
}

func (s *sysKqueue) change(kq int, ev kevent) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	raw := &s.one[0]
	unix.SetKevent(raw, ev.ident, int(filters[ev.filter]), int(ev.flags))
	raw.Fflags = ev.fflags
	*udata(raw) = uintptr(ev.token)
	_, err := unix.Kevent(kq, s.one, nil, nil)
	return err
}

func (s *sysKqueue) wait(kq int, out []kevent, timeout time.Duration) (int, error) {
	var limit *unix.Timespec
	if timeout >= 0 {
		ts := unix.NsecToTimespec(timeout.Nanoseconds())
		limit = &ts
	}
	buf := s.buf[:min(len(s.buf), len(out))]
	n, err := unix.Kevent(kq, nil, buf, limit)
	if err != nil {
		return 0, err
	}
	for i := range n {
		ev := &buf[i]
		out[i] = kevent{
			ident:  int(ev.Ident),
			filter: filterOf(ev.Filter),
			flags:  ev.Flags,
			fflags: ev.Fflags,
			data:   int64(ev.Data),
			token:  token(*udata(ev)),
		}
	}
	return n, nil
}

func filterOf(nr int16) filter {
	switch nr {
	case unix.EVFILT_WRITE:
		return filterWrite
	case unix.EVFILT_USER:
		return filterUser
	}
	return filterRead
}

func (*sysKqueue) close(fd int) error { return unix.Close(fd) }
