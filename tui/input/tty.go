package input

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// ErrNotTerminal is returned by OpenTerminal when none of the standard streams
// is a terminal.
var ErrNotTerminal = errors.New("no terminal: none of stdin, stdout and stderr is one, and the window needs keys and a screen")

// errOtherTerminal says that a path now names another device than the stream.
var errOtherTerminal = errors.New("another terminal than the one of the standard stream")

// A TTY is the outer terminal, opened for this program alone.
//
// Its descriptor is a new open of the device behind a standard stream, because
// O_NONBLOCK belongs to the open file: set on fd 0 it would also make the
// shell's reads fail after us, and the reads of every other process that shares
// the terminal. Where the device cannot be opened (another user's terminal
// after su, a device of another mount namespace) the stream itself is used
// non-blocking and its mode is put back by Close; Shared then says so.
//
// It is never /dev/tty: kqueue refuses that device.
//
// The descriptor is read by the Reader and may be written by one writer; both
// are joined before Close. Modes may be set and restored at any time.
type TTY struct {
	fd     int
	name   string
	shared bool
	flags  int          // of a shared descriptor, before O_NONBLOCK
	saved  unix.Termios // as found; Restore puts it back

	mu     sync.Mutex // orders mode changes before Close gives the number away
	closed bool
}

// OpenTerminal opens the terminal of the standard streams: stdin's, else
// stdout's, else stderr's, so that `producer | honestty` has keys.
func OpenTerminal() (*TTY, error) {
	return openTerminal([]int{unix.Stdin, unix.Stdout, unix.Stderr}, devicePaths)
}

func openTerminal(streams []int, paths func(fd int) []string) (*TTY, error) {
	var terminals []int
	var why error
	for _, fd := range streams {
		if _, err := getTermios(fd); err != nil {
			continue // not a terminal
		}
		terminals = append(terminals, fd)
		for _, path := range paths(fd) {
			opened, err := openSame(path, fd)
			if err == nil {
				return newTTY(&TTY{fd: opened, name: path})
			}
			why = errors.Join(why, err)
		}
	}
	for _, fd := range terminals {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err != nil || flags&unix.O_ACCMODE != unix.O_RDWR {
			continue // it must be both read and written
		}
		if err := unix.SetNonblock(fd, true); err != nil {
			return nil, fmt.Errorf("set terminal non-blocking: %w", err)
		}
		return newTTY(&TTY{fd: fd, name: fmt.Sprintf("descriptor %d", fd), shared: true, flags: flags})
	}
	if len(terminals) > 0 {
		return nil, fmt.Errorf("open terminal: %w", why)
	}
	return nil, ErrNotTerminal
}

// newTTY completes an opened TTY with the modes that were found.
func newTTY(t *TTY) (*TTY, error) {
	saved, err := getTermios(t.fd)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("get terminal modes: %w", err), t.release())
	}
	t.saved = *saved
	return t, nil
}

// openSame opens path and makes sure that it is the terminal behind fd.
func openSame(path string, fd int) (int, error) {
	opened, err := ignoringEINTR(func() (int, error) {
		return unix.Open(path, unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return -1, fmt.Errorf("open %s: %w", path, err)
	}
	want, err := deviceOf(fd)
	if err == nil {
		var got uint64
		if got, err = deviceOf(opened); err == nil && got == want {
			return opened, nil
		}
	}
	if err == nil {
		err = errOtherTerminal
	}
	return -1, errors.Join(fmt.Errorf("open %s: %w", path, err), unix.Close(opened))
}

// FD returns the non-blocking descriptor. It stays the TTY's.
func (t *TTY) FD() int { return t.fd }

// Name returns the device's path, or which stream is shared.
func (t *TTY) Name() string { return t.name }

// Shared reports that the device could not be opened and a standard stream is
// used in its place.
func (t *TTY) Shared() bool { return t.shared }

// Size returns the size in cells and, where the terminal tells, in pixels.
func (t *TTY) Size() (cols, rows, pixelW, pixelH int, err error) {
	ws, err := unix.IoctlGetWinsize(t.fd, unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0, 0, 0, fmt.Errorf("get terminal size: %w", err)
	}
	return int(ws.Col), int(ws.Row), int(ws.Xpixel), int(ws.Ypixel), nil
}

// MakeRaw turns off everything the line discipline does: echo, lines, signals,
// flow control, translation of CR and LF both ways.
func (t *TTY) MakeRaw() error {
	raw := t.saved
	raw.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	raw.Oflag &^= unix.OPOST
	raw.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	raw.Cflag &^= unix.CSIZE | unix.PARENB
	raw.Cflag |= unix.CS8
	raw.Cc[unix.VMIN], raw.Cc[unix.VTIME] = 1, 0
	return t.set("set terminal raw", &raw)
}

// Restore puts back the modes that were found. It does not wait for output:
// a terminal that takes none must not keep the program from ending.
func (t *TTY) Restore() error { return t.set("restore terminal", &t.saved) }

func (t *TTY) set(what string, modes *unix.Termios) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return fmt.Errorf("%s: %w", what, os.ErrClosed)
	}
	if err := setTermios(t.fd, modes); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// Close restores the modes and gives the descriptor back. The Reader and the
// writer have ended before. A second Close returns os.ErrClosed.
func (t *TTY) Close() error {
	err := t.Restore()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return os.ErrClosed
	}
	t.closed = true
	return errors.Join(err, t.release())
}

// release gives the descriptor back.
func (t *TTY) release() error {
	if t.shared {
		if _, err := unix.FcntlInt(uintptr(t.fd), unix.F_SETFL, t.flags); err != nil {
			return fmt.Errorf("restore flags of terminal: %w", err)
		}
		return nil
	}
	if err := unix.Close(t.fd); err != nil {
		return fmt.Errorf("close terminal: %w", err)
	}
	return nil
}

// ignoringEINTR repeats a call that a signal interrupted.
func ignoringEINTR[T any](call func() (T, error)) (T, error) {
	for {
		v, err := call()
		if !errors.Is(err, unix.EINTR) {
			return v, err
		}
	}
}
