package input

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// devicePaths lists where the terminal behind fd may be opened: the name of its
// device, then the link in /proc, which opens the right device even where the
// name belongs to another mount namespace.
func devicePaths(fd int) []string {
	link := "/proc/self/fd/" + strconv.Itoa(fd)
	var paths []string
	if name, err := os.Readlink(link); err == nil && strings.HasPrefix(name, "/dev/") && name != "/dev/tty" {
		paths = append(paths, name)
	}
	if dev, err := deviceOf(fd); err == nil && unix.Major(dev) >= firstPTS && unix.Major(dev) <= lastPTS {
		n := (unix.Major(dev)-firstPTS)<<8 | unix.Minor(dev)
		paths = append(paths, "/dev/pts/"+strconv.FormatUint(uint64(n), 10))
	}
	return append(paths, link)
}

// Majors of Unix98 pseudo-terminals, Documentation/admin-guide/devices.txt.
const (
	firstPTS = 136
	lastPTS  = 143
)

// deviceOf returns the device number of the terminal itself, which for
// /dev/tty is not the number of the file.
func deviceOf(fd int) (uint64, error) {
	if dev, err := unix.IoctlGetUint32(fd, unix.TIOCGDEV); err == nil {
		// The kernel packs it as major<<8 | minor with the high bits of
		// the minor above (new_encode_dev).
		return unix.Mkdev(dev>>8&0xFFF, dev&0xFF|dev>>12&0xFFF00), nil
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return 0, fmt.Errorf("stat terminal: %w", err)
	}
	return st.Rdev, nil
}

func getTermios(fd int) (*unix.Termios, error) { return unix.IoctlGetTermios(fd, unix.TCGETS) }

func setTermios(fd int, t *unix.Termios) error {
	_, err := ignoringEINTR(func() (struct{}, error) {
		return struct{}{}, unix.IoctlSetTermios(fd, unix.TCSETS, t)
	})
	return err
}
