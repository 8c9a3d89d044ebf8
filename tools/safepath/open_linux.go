package safepath

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// openNoLinks opens an absolute path on which no component is a link. ELOOP
// says that one is.
func openNoLinks(path string, flags int) (*os.File, error) {
	flags |= unix.O_CLOEXEC | unix.O_NOFOLLOW
	for {
		fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: uint64(flags), Resolve: unix.RESOLVE_NO_SYMLINKS})
		switch {
		case err == nil:
			return os.NewFile(uintptr(fd), path), nil
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
			continue // a rename elsewhere disturbed the walk; the kernel says to repeat it
		case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM):
			return walkNoLinks(path, flags) // old kernel, or a sandbox that filters the call
		}
		return nil, err
	}
}

// walkNoLinks does the same one component at a time.
func walkNoLinks(path string, flags int) (*os.File, error) {
	const step = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	dir, err := openat(unix.AT_FDCWD, "/", step)
	if err != nil {
		return nil, err
	}
	parts := strings.Split(strings.Trim(path, "/"), "/")
	for _, part := range parts[:len(parts)-1] {
		next, err := openat(dir, part, step)
		_ = unix.Close(dir) // a descriptor without access has nothing to lose
		if err != nil {
			return nil, linkError(err)
		}
		dir = next
	}
	defer func() { _ = unix.Close(dir) }()
	last := parts[len(parts)-1]
	if last == "" {
		last = "."
	}
	fd, err := openat(dir, last, flags)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), filepath.Clean(path)), nil
}

func openat(dir int, name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// linkError makes the answer of O_PATH|O_DIRECTORY to a link the one that the
// callers know.
func linkError(err error) error {
	if errors.Is(err, unix.ENOTDIR) {
		return unix.ELOOP
	}
	return err
}
