//go:build amd64 || arm64

package fdmeter

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// The calls of a tick, for paths that have their NUL already: those of package
// unix copy every path to add one.

func stat(path cpath, st *unix.Stat_t) error {
	cwd := unix.AT_FDCWD
	_, _, errno := unix.Syscall6(unix.SYS_NEWFSTATAT, uintptr(cwd), uintptr(unsafe.Pointer(unsafe.SliceData(path))),
		uintptr(unsafe.Pointer(st)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

func openFolder(path cpath) (fd int, err error) {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC
	cwd := unix.AT_FDCWD
	r, _, errno := unix.Syscall6(unix.SYS_OPENAT, uintptr(cwd), uintptr(unsafe.Pointer(unsafe.SliceData(path))), flags, 0, 0, 0)
	if errno != 0 {
		return -1, errno
	}
	return int(r), nil
}
