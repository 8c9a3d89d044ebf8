package fdwait

import (
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// openPTY returns non-blocking numbers that nothing but the test owns.
func openPTY(t *testing.T) (master int, slave *os.File) {
	t.Helper()
	m, s, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	master, err = unix.FcntlInt(m.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.SetNonblock(master, true); err != nil {
		t.Fatal(err)
	}
	closing(t, master)
	return master, s
}

func TestTerminalMasterTellsBytesThenHangUpThenLifeAgain(t *testing.T) {
	overEach(t, func(t *testing.T, p rig) {
		master, slave := openPTY(t)
		name := slave.Name()
		x := register(t, p.Poller, master)
		if p.name != "played kqueue with guard" { // the guard says ready now and then
			wantError(t, "Wait when idle", x.Wait, 0, ErrDeadline)
		}
		wantReady(t, "WaitWrite", x.WaitWrite, -1)
		if _, err := slave.WriteString("tail"); err != nil {
			t.Fatal(err)
		}
		slave.Close()
		wantReady(t, "Wait", x.Wait, -1)
		if got := read(t, master); got != "tail" {
			t.Errorf("read %q", got)
		}
		wantReady(t, "Wait after the hang-up", x.Wait, -1)
		var buf [1]byte
		if _, err := unix.Read(master, buf[:]); !errors.Is(err, unix.EIO) {
			t.Errorf("read = %v, want EIO", err)
		}
		// A terminal that is opened again lives again.
		again, err := os.OpenFile(name, os.O_RDWR|unix.O_NOCTTY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		if _, err := again.WriteString("more"); err != nil {
			t.Fatal(err)
		}
		for {
			wantReady(t, "Wait when opened again", x.Wait, -1)
			n, err := unix.Read(master, buf[:])
			if n == 1 && err == nil {
				break
			}
			if !errors.Is(err, unix.EAGAIN) {
				t.Fatalf("read = %d, %v", n, err)
			}
		}
	})
}

func TestPidfdIsReadyWhenTheProcessEnds(t *testing.T) {
	overEach(t, func(t *testing.T, p rig) {
		cmd := exec.Command("cat")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		fd, err := unix.PidfdOpen(cmd.Process.Pid, 0)
		if err != nil {
			t.Fatal(err)
		}
		closing(t, fd)
		x := register(t, p.Poller, fd)
		wantError(t, "Wait while it runs", x.Wait, 0, ErrDeadline)
		ended := inBackground(t, x, reading, forever)
		in.Close()
		if got := <-ended; !got.ready || got.err != nil {
			t.Errorf("Wait = %v, %v", got.ready, got.err)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
}

func TestEventfdIsReadyWhileItCounts(t *testing.T) {
	overEach(t, func(t *testing.T, p rig) {
		fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
		if err != nil {
			t.Fatal(err)
		}
		closing(t, fd)
		x := register(t, p.Poller, fd)
		wantError(t, "Wait at 0", x.Wait, 0, ErrDeadline)
		write(t, fd, "\x01\x00\x00\x00\x00\x00\x00\x00")
		wantReady(t, "Wait at 1", x.Wait, -1)
		empty(t, fd)
		wantError(t, "Wait at 0 again", x.Wait, 0, ErrDeadline)
	})
}

func TestDevNullIsReady(t *testing.T) {
	overEach(t, func(t *testing.T, p rig) {
		fd, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		closing(t, fd)
		x := register(t, p.Poller, fd)
		wantReady(t, "Wait", x.Wait, -1)
		wantReady(t, "WaitWrite", x.WaitWrite, -1)
	})
}
