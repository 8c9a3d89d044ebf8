package fdwait

import (
	"encoding/binary"
	"errors"

	"golang.org/x/sys/unix"
)

// nativeName is the mechanism New tries first.
const nativeName = "epoll"

func openNative() (backend, error) { return newEpoll(newSysEpoll()) }

// The numbers in epoll.go are the kernel's: a difference does not compile.
const (
	_ = uint(epollIn-unix.EPOLLIN) + uint(unix.EPOLLIN-epollIn)
	_ = uint(epollOut-unix.EPOLLOUT) + uint(unix.EPOLLOUT-epollOut)
	_ = uint(epollErr-unix.EPOLLERR) + uint(unix.EPOLLERR-epollErr)
	_ = uint(epollHup-unix.EPOLLHUP) + uint(unix.EPOLLHUP-epollHup)
	_ = uint(epollOneShot-unix.EPOLLONESHOT) + uint(unix.EPOLLONESHOT-epollOneShot)
)

// sysEpoll is the real kernel.
type sysEpoll struct {
	buf   [batch]unix.EpollEvent // used by wait only
	count [8]byte                // used by drain only, which the loop calls
	one   [8]byte                // the number 1, never changed
}

func newSysEpoll() *sysEpoll {
	s := new(sysEpoll)
	binary.NativeEndian.PutUint64(s.one[:], 1)
	return s
}

func (*sysEpoll) create() (int, error) { return unix.EpollCreate1(unix.EPOLL_CLOEXEC) }

func (*sysEpoll) eventfd() (int, error) {
	return unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
}

func (*sysEpoll) ctl(ep int, op epollOp, fd int, ev epollEvent) error {
	nr := [...]int{epollAdd: unix.EPOLL_CTL_ADD, epollMod: unix.EPOLL_CTL_MOD, epollDel: unix.EPOLL_CTL_DEL}[op]
	raw := unix.EpollEvent{Events: ev.events}
	raw.Fd, raw.Pad = split(ev.token)
	return unix.EpollCtl(ep, nr, fd, &raw)
}

func (s *sysEpoll) wait(ep int, out []epollEvent, block bool) (int, error) {
	timeout := 0
	if block {
		timeout = -1
	}
	buf := s.buf[:min(len(s.buf), len(out))]
	n, err := unix.EpollWait(ep, buf, timeout)
	if err != nil {
		return 0, err
	}
	for i := range n {
		out[i] = epollEvent{events: buf[i].Events, token: join(buf[i].Fd, buf[i].Pad)}
	}
	return n, nil
}

// split and join keep a token in the two halves of the kernel's 64 bits of
// data, which the kernel hands back untouched.
func split(t token) (lo, hi int32) { return int32(uint32(t)), int32(uint32(uint64(t) >> 32)) }
func join(lo, hi int32) token      { return token(uint64(uint32(lo)) | uint64(uint32(hi))<<32) }

// signal adds one to the counter. A full counter (EAGAIN) is readable already.
func (s *sysEpoll) signal(fd int) error {
	for {
		_, err := unix.Write(fd, s.one[:])
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return nil
		}
		return err
	}
}

func (s *sysEpoll) drain(fd int) error {
	for {
		_, err := unix.Read(fd, s.count[:])
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return nil
		}
		return err
	}
}

func (*sysEpoll) close(fd int) error { return unix.Close(fd) }
