package screen

import "golang.org/x/sys/unix"

// flushOutput throws away what the terminal has not taken yet: tcflush(TCOFLUSH).
func flushOutput(fd int) error { return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCOFLUSH) }
