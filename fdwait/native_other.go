//go:build unix && !linux && !darwin && !freebsd

package fdwait

import "golang.org/x/sys/unix"

// nativeName stands for the mechanism this system would need.
const nativeName = "kqueue"

func openNative() (backend, error) {
	return nil, &SetupError{Op: "kqueue on this system", FD: -1, Err: unix.ENOTSUP}
}
