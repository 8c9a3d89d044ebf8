package demo

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// setSize is how many descriptors a set of select() has room for (FD_SETSIZE),
// counted by their numbers.
const setSize = 1024

// errSetSize is what a library answers for a descriptor that no set of select()
// has room for.
var errSetSize = errors.New("descriptor out of range in select()")

// selectReadable waits with select() until the descriptor can be read. It is
// the old way, kept for this demo alone.
func selectReadable(fd int, d time.Duration) (bool, error) {
	if fd >= setSize {
		return false, errSetSize
	}
	var set unix.FdSet
	set.Set(fd)
	left := unix.NsecToTimeval(d.Nanoseconds())
	n, err := unix.Select(fd+1, &set, nil, nil, &left)
	if errors.Is(err, unix.EINTR) {
		return false, nil
	}
	return n > 0, err
}
