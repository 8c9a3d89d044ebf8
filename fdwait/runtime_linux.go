package fdwait

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// runtimePolls looks for an epoll descriptor that this process has made: one
// that is closed on exec, since an inherited one has survived an exec. It takes
// no descriptor, for there is none.
func runtimePolls() answer {
	var lim unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &lim); err != nil {
		return couldNotTell
	}
	var name [64]byte
	for fd := range int(min(lim.Cur, 1<<20)) { // 1<<20: fs.nr_open unless somebody raised it
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil || flags&unix.FD_CLOEXEC == 0 {
			continue
		}
		n, err := unix.Readlink("/proc/self/fd/"+strconv.Itoa(fd), name[:])
		if err != nil {
			return couldNotTell
		}
		if string(name[:n]) == "anon_inode:[eventpoll]" {
			return yes
		}
	}
	return no
}
