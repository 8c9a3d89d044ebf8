//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package screen

import "golang.org/x/sys/unix"

// fwrite is FWRITE of <sys/fcntl.h>: the output side.
const fwrite = 2

// flushOutput throws away what the terminal has not taken yet: TIOCFLUSH with FWRITE.
func flushOutput(fd int) error { return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, fwrite) }
