//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package input

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// devicePaths finds the device by its number among the terminals in /dev, as
// ttyname does. /dev/tty has a number of its own; where fd is that one, the
// number of the controlling terminal is looked for.
func devicePaths(fd int) []string {
	want, err := deviceOf(fd)
	if err != nil {
		return nil
	}
	var paths []string
	for _, pattern := range []string{"/dev/tty?*", "/dev/pts/*", "/dev/console"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			continue
		}
		for _, name := range names {
			var st unix.Stat_t
			if unix.Lstat(name, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFCHR && uint64(st.Rdev) == want {
				paths = append(paths, name)
			}
		}
	}
	return paths
}

// deviceOf returns the device number of the terminal behind fd.
func deviceOf(fd int) (uint64, error) {
	var st, alias unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return 0, fmt.Errorf("stat terminal: %w", err)
	}
	if unix.Stat("/dev/tty", &alias) == nil && alias.Rdev == st.Rdev {
		if dev, ok := controllingTerminal(os.Getpid()); ok {
			return dev, nil
		}
	}
	return uint64(st.Rdev), nil
}

func getTermios(fd int) (*unix.Termios, error) { return unix.IoctlGetTermios(fd, unix.TIOCGETA) }

func setTermios(fd int, t *unix.Termios) error {
	_, err := ignoringEINTR(func() (struct{}, error) {
		return struct{}{}, unix.IoctlSetTermios(fd, unix.TIOCSETA, t)
	})
	return err
}
