package safepath

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// openNoLinks opens an absolute path on which no component is a link. ELOOP
// says that one is.
func openNoLinks(path string, flags int) (*os.File, error) {
	for {
		fd, err := unix.Open(path, flags|unix.O_CLOEXEC|unix.O_NOFOLLOW_ANY, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return os.NewFile(uintptr(fd), path), nil
	}
}
