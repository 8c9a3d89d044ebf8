//go:build unix

package fdwait

import (
	"time"

	"golang.org/x/sys/unix"
)

// The numbers in poll.go are the system's: a difference does not compile.
const (
	_ = uint(pollIn-unix.POLLIN) + uint(unix.POLLIN-pollIn)
	_ = uint(pollOut-unix.POLLOUT) + uint(unix.POLLOUT-pollOut)
	_ = uint(pollErr-unix.POLLERR) + uint(unix.POLLERR-pollErr)
	_ = uint(pollHup-unix.POLLHUP) + uint(unix.POLLHUP-pollHup)
	_ = uint(pollNval-unix.POLLNVAL) + uint(unix.POLLNVAL-pollNval)
)

// sysFile is fstat.
type sysFile struct{}

func (sysFile) kind(fd int) (fileKind, error) {
	var st unix.Stat_t
	for {
		err := unix.Fstat(fd, &st)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return kindOther, err
		}
		break
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG, unix.S_IFDIR:
		return kindRegular, nil
	case unix.S_IFCHR:
		return kindDevice, nil
	}
	return kindOther, nil
}

// sysPoll is the real kernel.
type sysPoll struct{ sysFile }

// onStack is how many rows are translated without an allocation.
const onStack = 16

func (sysPoll) poll(rows []pollFD, timeout time.Duration) (int, error) {
	var few [onStack]unix.PollFd
	raw := few[:0]
	for _, row := range rows {
		raw = append(raw, unix.PollFd{Fd: int32(row.fd), Events: row.events})
	}
	n, err := unix.Poll(raw, int(timeout.Milliseconds()))
	if err != nil {
		return 0, err
	}
	for i := range raw {
		rows[i].revents = raw[i].Revents
	}
	return n, nil
}
