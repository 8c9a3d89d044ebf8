//go:build unix

package fdwait

import (
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A playedKqueue is a kqueue kernel played with poll over real descriptors. It
// keeps to what kqueue(2) says: filters are level-triggered, EV_DISPATCH
// disables what it reports, EV_DELETE and EV_ENABLE of an unknown filter are
// ENOENT, and a filter dies silently with its descriptor.
type playedKqueue struct {
	sysFile
	calls *atomic.Int64

	mu       sync.Mutex
	knotes   map[knoteKey]*knote
	trigger  bool
	bell     [2]int // a pipe; a byte in it makes wait look at the filters again
	rung     bool
	userSeen bool
}

type knoteKey struct {
	ident  int
	filter filter
}

type knote struct {
	key               knoteKey
	enabled, dispatch bool
	token             token
}

func (k *playedKqueue) create() (int, error) {
	if err := unix.Pipe(k.bell[:]); err != nil {
		return -1, err
	}
	for _, fd := range k.bell {
		unix.CloseOnExec(fd)
		if err := unix.SetNonblock(fd, true); err != nil {
			return -1, err
		}
	}
	k.knotes = make(map[knoteKey]*knote)
	return k.bell[0], nil
}

func (k *playedKqueue) close(fd int) error {
	if fd != k.bell[0] {
		return unix.EBADF
	}
	if err := unix.Close(k.bell[1]); err != nil {
		return err
	}
	return unix.Close(k.bell[0])
}

func (k *playedKqueue) change(kq int, ev kevent) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if ev.filter == filterUser {
		k.userSeen = k.userSeen || ev.flags&evAdd != 0
		if !k.userSeen {
			return unix.ENOENT
		}
		if ev.fflags&noteTrigger != 0 {
			k.trigger = true
			k.ring()
		}
		return nil
	}
	if _, err := k.kind(ev.ident); err != nil {
		return err
	}
	key := knoteKey{ev.ident, ev.filter}
	n := k.knotes[key]
	switch {
	case n == nil && ev.flags&evAdd == 0:
		return unix.ENOENT
	case ev.flags&evDelete != 0:
		delete(k.knotes, key)
		return nil
	case n == nil:
		n = &knote{key: key, enabled: true}
		k.knotes[key] = n
	}
	if ev.flags&evAdd != 0 {
		n.dispatch = ev.flags&evDispatch != 0
	}
	n.token = ev.token
	if ev.flags&evDisable != 0 {
		n.enabled = false
	}
	if ev.flags&evEnable != 0 {
		n.enabled = true
	}
	k.ring()
	return nil
}

// ring makes a blocked wait look again. mu is held.
func (k *playedKqueue) ring() {
	if !k.rung {
		k.rung = true
		_, _ = unix.Write(k.bell[1], []byte{0})
	}
}

func (k *playedKqueue) wait(kq int, out []kevent, timeout time.Duration) (int, error) {
	k.calls.Add(1)
	end := time.Now().Add(timeout)
	for {
		rows, asked := k.rows()
		left := time.Duration(-time.Millisecond)
		if timeout >= 0 {
			left = max(0, time.Until(end))
		}
		if _, err := (sysPoll{}).poll(rows, left); err != nil {
			return 0, err
		}
		if n := k.report(out, rows, asked); n > 0 || (timeout >= 0 && time.Until(end) <= 0) {
			return n, nil
		}
	}
}

// rows lists what poll has to watch: the bell and every enabled filter.
func (k *playedKqueue) rows() (rows []pollFD, asked []*knote) {
	k.mu.Lock()
	defer k.mu.Unlock()
	rows = append(rows, pollFD{fd: k.bell[0], events: pollIn})
	asked = append(asked, nil)
	for key, n := range k.knotes {
		if !n.enabled {
			continue
		}
		events := int16(pollIn)
		if key.filter == filterWrite {
			events = pollOut
		}
		rows = append(rows, pollFD{fd: key.ident, events: events})
		asked = append(asked, n)
	}
	return rows, asked
}

// report turns poll's answers into kevents. A filter that was deleted while
// poll ran is not the filter that has its place now.
func (k *playedKqueue) report(out []kevent, rows []pollFD, asked []*knote) (n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if rows[0].revents != 0 {
		var buf [16]byte
		_, _ = unix.Read(k.bell[0], buf[:])
		k.rung = false
	}
	if k.trigger && n < len(out) {
		k.trigger = false
		out[n] = kevent{filter: filterUser}
		n++
	}
	for i, row := range rows[1:] {
		kn := asked[i+1]
		key := kn.key
		switch {
		case row.revents == 0 || k.knotes[key] != kn || !kn.enabled:
			continue
		case row.revents&pollNval != 0:
			delete(k.knotes, key)
			continue
		case n == len(out):
			return n
		}
		ev := kevent{ident: key.ident, filter: key.filter, token: kn.token, data: 1}
		if row.revents&(pollHup|pollErr) != 0 {
			ev.flags |= evEOF
		}
		kn.enabled = !kn.dispatch
		out[n] = ev
		n++
	}
	return n
}
