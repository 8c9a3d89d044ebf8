package screen

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/fdwait"
)

// openTerminal returns a Writer on a real pseudo-terminal and its master.
func openTerminal(t *testing.T) (w *Writer, master *os.File, dones chan error) {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	poller, err := fdwait.New()
	if err != nil {
		t.Fatal(err)
	}
	fd := int(tty.Fd())
	if err := unix.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	waiter, err := poller.Register(fd)
	if err != nil {
		t.Fatal(err)
	}
	dones = make(chan error, 16)
	w = NewWriter(fd, waiter, func(err error) { dones <- err })
	t.Cleanup(func() {
		w.Close()
		for _, close := range []func() error{waiter.Close, poller.Close, tty.Close, master.Close} {
			if err := close(); err != nil && !errors.Is(err, os.ErrClosed) {
				t.Error(err)
			}
		}
	})
	return w, master, dones
}

// readUntil reads the master until what was read is enough.
func readUntil(t *testing.T, master *os.File, enough func(got []byte) bool) []byte {
	t.Helper()
	var got []byte
	buf := make([]byte, 64<<10)
	for !enough(got) {
		n, err := master.Read(buf)
		if err != nil {
			t.Fatalf("read master after %d bytes: %v", len(got), err)
		}
		got = append(got, buf[:n]...)
	}
	return got
}

func TestABlockedTerminalHoldsUpNobodyAndGetsEveryByteLater(t *testing.T) {
	w, master, dones := openTerminal(t)
	if err := w.Enter(Modes{Paste: true}); err != nil {
		t.Fatal(err)
	}
	frame := bytes.Repeat([]byte("x"), 1<<20) // far more than a terminal queues
	if !w.Submit(frame) {
		t.Fatal("the frame was refused")
	}
	// Nobody reads the master: the frame is stuck, and these return all the same.
	for range 100 {
		if !w.Busy() || w.Submit([]byte("y")) {
			t.Fatal("a frame was taken while one is stuck")
		}
	}
	if !w.Pass([]byte("<end>")) {
		t.Fatal("passthrough was refused")
	}
	// Passed bytes go before a frame that is not begun, else behind it.
	size := len(enterSequence(Modes{Paste: true})) + len(frame) + len("<end>")
	got := readUntil(t, master, func(got []byte) bool { return len(got) >= size })
	if err := <-dones; err != nil {
		t.Fatal(err)
	}
	if len(got) != size || !bytes.Contains(got, frame) || !bytes.Contains(got, []byte("<end>")) {
		t.Errorf("%d of %d bytes arrived, or in another order", len(got), size)
	}
}

func TestABlockedTerminalIsRestoredInAPanic(t *testing.T) {
	w, master, _ := openTerminal(t)
	w.pause = func() {}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
			if err := w.Restore(); err != nil {
				t.Error(err)
			}
		}()
		w.Enter(Modes{Paste: true})
		w.Submit(bytes.Repeat([]byte("x"), 1<<20))
		panic("in the middle of a frame")
	}()
	w.mu.Lock()
	entered := w.onScreen
	w.mu.Unlock()
	if entered {
		t.Error("still entered")
	}
	// The panic may have come before the first byte; then nothing is undone.
	if err := w.Enter(Modes{}); err != nil {
		t.Fatal(err)
	}
	w.Pass([]byte("<again>"))
	got := readUntil(t, master, func(got []byte) bool { return bytes.HasSuffix(got, []byte("<again>")) })
	if in, out := bytes.Count(got, []byte("\x1b[?2004h")), bytes.Count(got, []byte("\x1b[?2004l")); out < in {
		t.Errorf("bracketed paste was switched on %d times and off %d times", in, out)
	}
}

func TestAHungUpTerminalIsBroken(t *testing.T) {
	w, master, dones := openTerminal(t)
	w.Enter(Modes{})
	w.Submit([]byte("frame"))
	if err := <-dones; err != nil {
		t.Fatal(err)
	}
	if err := master.Close(); err != nil {
		t.Fatal(err)
	}
	if !w.Submit([]byte("frame")) {
		t.Fatal("the frame was refused before anything was known")
	}
	if err := <-dones; !errors.Is(err, ErrBroken) || !errors.Is(err, unix.EIO) {
		t.Errorf("done got %v, want EIO", err)
	}
}

func TestATerminalThatHangsUpWhileBlockedIsBroken(t *testing.T) {
	w, master, dones := openTerminal(t)
	w.Enter(Modes{})
	w.Submit(bytes.Repeat([]byte("x"), 1<<20))
	one := make([]byte, 1)
	if _, err := io.ReadFull(master, one); err != nil {
		t.Fatal(err)
	}
	if err := master.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-dones; !errors.Is(err, ErrBroken) {
		t.Errorf("done got %v, want ErrBroken", err)
	}
}
