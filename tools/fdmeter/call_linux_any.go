//go:build linux && !amd64 && !arm64

package fdmeter

import "golang.org/x/sys/unix"

// Elsewhere the calls have other names and structures.

func stat(path cpath, st *unix.Stat_t) error { return unix.Stat(path.String(), st) }

func openFolder(path cpath) (fd int, err error) {
	return unix.Open(path.String(), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
}
