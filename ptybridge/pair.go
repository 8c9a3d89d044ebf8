package ptybridge

import (
	"fmt"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// A Size is a terminal's size in character cells, and in pixels where the
// outer terminal told them.
type Size struct {
	Cols, Rows       int
	PixelsX, PixelsY int // 0: not known
}

// Limits of a size. The upper ones are far above any screen and keep a wrong
// report (131,072 columns by 1 row has been seen) from costing memory.
const (
	MaxCols = 2000
	MaxRows = 1000
)

// Clamp returns s within 1–MaxCols by 1–MaxRows.
func (s Size) Clamp() Size {
	s.Cols = min(max(s.Cols, 1), MaxCols)
	s.Rows = min(max(s.Rows, 1), MaxRows)
	s.PixelsX = min(max(s.PixelsX, 0), 0xFFFF)
	s.PixelsY = min(max(s.PixelsY, 0), 0xFFFF)
	return s
}

func setSize(fd int, s Size) error {
	return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{
		Row: uint16(s.Rows), Col: uint16(s.Cols),
		Xpixel: uint16(s.PixelsX), Ypixel: uint16(s.PixelsY),
	})
}

// openPair opens a terminal pair: the master non-blocking, both CLOEXEC, both
// plain numbers that only the Bridge owns.
//
// creack/pty hands out files whose master is blocking and is known to the
// runtime's own poller. Duplicates of its descriptors are free of both; its
// files are closed at once.
func openPair() (master, slave int, err error) {
	m, s, err := pty.Open()
	if err != nil {
		return -1, -1, err
	}
	defer m.Close()
	defer s.Close()
	master, err = unix.FcntlInt(m.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return -1, -1, fmt.Errorf("take the master: %w", err)
	}
	slave, err = unix.FcntlInt(s.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		closeFDs(master)
		return -1, -1, fmt.Errorf("take the slave: %w", err)
	}
	if err := unix.SetNonblock(master, true); err != nil {
		closeFDs(master, slave)
		return -1, -1, fmt.Errorf("make the master non-blocking: %w", err)
	}
	return master, slave, nil
}

// closeFDs closes those that are open. Closing a terminal reports nothing
// that could still be acted on.
func closeFDs(fds ...int) {
	for _, fd := range fds {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}
