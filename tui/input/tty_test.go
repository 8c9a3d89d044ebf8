//go:build unix

package input

import (
	"errors"
	"os"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// openPair opens a pseudo-terminal and returns the raw numbers of both sides.
func openPair(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatalf("open pseudo-terminal: %v", err)
	}
	t.Cleanup(func() { _ = master.Close(); _ = slave.Close() })
	return master, slave
}

// openSlave opens the terminal of a pair the way OpenTerminal does.
func openSlave(t *testing.T, slave *os.File, paths func(int) []string) *TTY {
	t.Helper()
	tty, err := openTerminal([]int{int(slave.Fd())}, paths)
	if err != nil {
		t.Fatal(err)
	}
	return tty
}

func flagsOf(t *testing.T, fd int) int {
	t.Helper()
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		t.Fatal(err)
	}
	return flags
}

func modesOf(t *testing.T, fd int) unix.Termios {
	t.Helper()
	modes, err := getTermios(fd)
	if err != nil {
		t.Fatal(err)
	}
	return *modes
}

func TestTheShellsOwnDescriptorStaysBlocking(t *testing.T) {
	_, slave := openPair(t)
	tty := openSlave(t, slave, devicePaths)
	defer tty.Close()
	if tty.Shared() || tty.FD() == int(slave.Fd()) {
		t.Fatalf("the device was not opened again: %s", tty.Name())
	}
	if tty.Name() != slave.Name() {
		t.Errorf("opened %s, want %s", tty.Name(), slave.Name())
	}
	if flagsOf(t, int(slave.Fd()))&unix.O_NONBLOCK != 0 {
		t.Error("the stream became non-blocking")
	}
	if flagsOf(t, tty.FD())&unix.O_NONBLOCK == 0 {
		t.Error("our descriptor is blocking")
	}
	if fl, err := unix.FcntlInt(uintptr(tty.FD()), unix.F_GETFD, 0); err != nil || fl&unix.FD_CLOEXEC == 0 {
		t.Errorf("our descriptor leaks into children: flags %x, %v", fl, err)
	}
}

func TestEveryListedPathOpensTheSameTerminal(t *testing.T) {
	_, slave := openPair(t)
	paths := devicePaths(int(slave.Fd()))
	if len(paths) == 0 {
		t.Fatal("no path for a terminal")
	}
	for _, path := range paths {
		if path == "/dev/tty" {
			t.Error("/dev/tty is listed")
		}
		fd, err := openSame(path, int(slave.Fd()))
		if err != nil {
			t.Error(err)
			continue
		}
		_ = unix.Close(fd)
	}
}

func TestCloseRestoresTheModesThatWereFound(t *testing.T) {
	_, slave := openPair(t)
	before := modesOf(t, int(slave.Fd()))
	tty := openSlave(t, slave, devicePaths)
	if err := tty.MakeRaw(); err != nil {
		t.Fatal(err)
	}
	raw := modesOf(t, int(slave.Fd()))
	if raw.Lflag&(unix.ICANON|unix.ECHO|unix.ISIG) != 0 || raw.Oflag&unix.OPOST != 0 || raw.Iflag&unix.ICRNL != 0 {
		t.Errorf("not raw: %+v", raw)
	}
	if err := tty.Close(); err != nil {
		t.Fatal(err)
	}
	if after := modesOf(t, int(slave.Fd())); after != before {
		t.Errorf("modes after Close = %+v, want %+v", after, before)
	}
	if err := tty.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("second Close = %v", err)
	}
	if err := tty.Restore(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Restore after Close = %v", err)
	}
}

func TestASharedStreamGetsItsBlockingModeBack(t *testing.T) {
	_, slave := openPair(t)
	_, other := openPair(t)
	for name, paths := range map[string]func(int) []string{
		"no path":          func(int) []string { return nil },
		"path is gone":     func(int) []string { return []string{"/dev/pts/gone"} },
		"another terminal": func(int) []string { return []string{other.Name()} },
	} {
		fd := int(slave.Fd())
		tty, err := openTerminal([]int{fd}, paths)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !tty.Shared() || tty.FD() != fd || flagsOf(t, fd)&unix.O_NONBLOCK == 0 {
			t.Errorf("%s: shared %v, descriptor %d, want %d non-blocking", name, tty.Shared(), tty.FD(), fd)
		}
		if err := tty.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if flagsOf(t, fd)&unix.O_NONBLOCK != 0 {
			t.Errorf("%s: the stream stays non-blocking after Close", name)
		}
	}
}

func TestAnyStandardStreamThatIsATerminalWillDo(t *testing.T) {
	_, slave := openPair(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	tty, err := openTerminal([]int{int(r.Fd()), int(w.Fd()), int(slave.Fd())}, devicePaths)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	if tty.Name() != slave.Name() {
		t.Errorf("opened %s, want %s", tty.Name(), slave.Name())
	}
	if _, err := openTerminal([]int{int(r.Fd()), int(w.Fd())}, devicePaths); !errors.Is(err, ErrNotTerminal) {
		t.Errorf("two pipes: %v, want ErrNotTerminal", err)
	}
}

func TestATerminalThatCannotBeOpenedIsAnErrorOfItsOwn(t *testing.T) {
	_, slave := openPair(t)
	ro, err := os.OpenFile(slave.Name(), unix.O_RDONLY|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer ro.Close()
	_, err = openTerminal([]int{int(ro.Fd())}, func(int) []string { return []string{"/dev/pts/gone"} })
	if err == nil || errors.Is(err, ErrNotTerminal) || !errors.Is(err, unix.ENOENT) {
		t.Errorf("read-only terminal without a path: %v", err)
	}
}

func TestSizeIsTheTerminalsSize(t *testing.T) {
	master, slave := openPair(t)
	tty := openSlave(t, slave, devicePaths)
	defer tty.Close()
	want := unix.Winsize{Row: 24, Col: 80, Xpixel: 800, Ypixel: 480}
	if err := unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &want); err != nil {
		t.Fatal(err)
	}
	cols, rows, w, h, err := tty.Size()
	if err != nil || cols != 80 || rows != 24 || w != 800 || h != 480 {
		t.Errorf("size = %d×%d, %d×%d pixels, %v", cols, rows, w, h, err)
	}
}
