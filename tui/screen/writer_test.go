package screen

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/fdwait"
)

// A fakeTTY takes room bytes and then EAGAIN until it is given more.
type fakeTTY struct {
	mu    sync.Mutex
	out   []byte
	room  int
	fail  error
	ready chan struct{} // room was given
	wake  chan struct{}
	full  chan struct{} // gets one value when a write found no room
}

func newFakeTTY(room int) *fakeTTY {
	return &fakeTTY{room: room, ready: make(chan struct{}, 1), wake: make(chan struct{}, 1), full: make(chan struct{}, 1)}
}

func put(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (f *fakeTTY) write(_ int, p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil {
		return -1, f.fail
	}
	n := min(len(p), f.room)
	if n == 0 {
		put(f.full)
		return -1, unix.EAGAIN
	}
	f.room -= n
	f.out = append(f.out, p[:n]...)
	return n, nil
}

func (f *fakeTTY) give(room int) {
	f.mu.Lock()
	f.room += room
	f.mu.Unlock()
	put(f.ready)
}

func (f *fakeTTY) written() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return string(f.out)
}

func (f *fakeTTY) WaitWrite(time.Duration) (bool, error) {
	select {
	case <-f.wake:
		return false, fdwait.ErrWoken
	case <-f.ready:
		return true, nil
	}
}

func (f *fakeTTY) Wake() { put(f.wake) }

// startFake runs a Writer on a fake terminal. dones gets what the callback got.
func startFake(t *testing.T, f *fakeTTY) (w *Writer, dones chan error) {
	dones = make(chan error, 16)
	w = newWriter(-1, f, func(err error) { dones <- err })
	w.write = f.write
	w.pause = func() {}
	w.flush = func(int) error { return unix.ENOTTY }
	go w.run()
	t.Cleanup(func() { w.Close() })
	return w, dones
}

const plenty = 1 << 30

func TestFramesAreSkippedNotQueued(t *testing.T) {
	f := newFakeTTY(0)
	w, dones := startFake(t, f)
	if w.Submit([]byte("early")) {
		t.Error("a frame was taken before Enter")
	}
	if err := w.Enter(Modes{}); err != nil {
		t.Fatal(err)
	}
	frame := []byte("frame one")
	if !w.Submit(frame) {
		t.Fatal("the first frame was refused")
	}
	copy(frame, "XXXXXXXXX") // the Writer has its own copy
	if !w.Busy() || w.Submit([]byte("frame two")) {
		t.Error("a second frame was taken while the first is in flight")
	}
	f.give(plenty)
	if err := <-dones; err != nil {
		t.Fatal(err)
	}
	if w.Busy() || !w.Submit([]byte("frame three")) {
		t.Error("the next frame was refused after done")
	}
	<-dones
	if got := f.written(); !strings.HasSuffix(got, "frame oneframe three") {
		t.Errorf("terminal got %q", got)
	}
}

func TestASlowTerminalGetsTheWholeFrame(t *testing.T) {
	f := newFakeTTY(0)
	w, dones := startFake(t, f)
	w.Enter(Modes{})
	frame := bytes.Repeat([]byte("0123456789"), 50)
	w.Submit(frame)
	for len(dones) == 0 {
		select {
		case <-f.full:
			f.give(7)
		case err := <-dones:
			dones <- err
		}
	}
	if got := f.written(); !strings.HasSuffix(got, string(frame)) {
		t.Errorf("terminal got %d bytes", len(got))
	}
}

func TestPassedBytesGoBetweenFramesInOrder(t *testing.T) {
	f := newFakeTTY(0)
	w, dones := startFake(t, f)
	w.Enter(Modes{})
	<-f.full // Enter is being written
	w.Submit([]byte("[frame]"))
	w.Pass([]byte("<one>"))
	w.Pass([]byte("<two>"))
	f.give(plenty)
	<-dones
	if got := f.written(); !strings.HasSuffix(got, "<one><two>[frame]") {
		t.Errorf("terminal got %q", got)
	}
	if w.Pass(make([]byte, maxPassed+1)) || w.Refused() != maxPassed+1 {
		t.Errorf("%d bytes counted as refused", w.Refused())
	}
}

func TestABrokenTerminalIsReportedOnceByName(t *testing.T) {
	for _, errno := range []error{unix.EIO, unix.EPIPE, unix.EBADF} {
		f := newFakeTTY(plenty)
		f.fail = errno
		w, dones := startFake(t, f)
		w.Enter(Modes{})
		err := <-dones
		if !errors.Is(err, ErrBroken) || !errors.Is(err, errno) {
			t.Errorf("done got %v, want %v", err, errno)
		}
		if w.Submit([]byte("x")) || w.Pass([]byte("x")) || !w.Busy() || !errors.Is(w.Err(), errno) {
			t.Error("a broken terminal still takes output")
		}
		if err := w.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if len(dones) != 0 {
			t.Error("reported twice")
		}
	}
}

func TestRestoreUndoesEveryModeEverAskedFor(t *testing.T) {
	f := newFakeTTY(plenty)
	w, dones := startFake(t, f)
	all := Modes{Mouse: MouseMove, Focus: true, Paste: true, Graphemes: true, Kitty: 5, Title: true}
	w.Enter(all)
	w.SetModes(Modes{Kitty: 1, Mouse: MouseDrag})
	w.SetModes(all)
	w.Submit([]byte("f"))
	<-dones
	in := f.written()
	for _, on := range []string{"\x1b[?1049h", "\x1b[?2004h", "\x1b[?1003h", "\x1b[?1006h", "\x1b[?1004h", "\x1b[>5u", "\x1b[=1;1u", "\x1b[?1003l", "\x1b[?1002h"} {
		if !strings.Contains(in, on) {
			t.Errorf("entering wrote %q without %q", in, on)
		}
	}
	for range 3 {
		if err := w.Restore(); err != nil {
			t.Fatal(err)
		}
	}
	out := strings.TrimPrefix(f.written(), in)
	last := -1
	for _, off := range []string{
		"\x18\x1b\\", "\x1b[?2004l", "\x1b[?1004l", "\x1b[?2027l", "\x1b[?1003l", "\x1b[?1006l", "\x1b[<u",
		"\x1b[m", "\x1b[?7h", "\x1b[?1049l", "\x1b[?25h", "\x1b[23;0t",
	} {
		at := strings.Index(out, off)
		if at <= last || strings.Count(out, off) != 1 {
			t.Errorf("%q stands at %d of %q, want it once and behind %d", off, at, out, last)
		}
		last = at
	}
}

func TestRestoreWritesNothingToATerminalThatWasNotEntered(t *testing.T) {
	f := newFakeTTY(0)
	w, _ := startFake(t, f)
	if err := w.Restore(); err != nil {
		t.Fatal(err)
	}
	f.give(plenty)
	w.Close()
	if got := f.written(); got != "" {
		t.Errorf("terminal got %q", got)
	}
}

func TestRestoreOfABlockedTerminalEndsAndSaysSo(t *testing.T) {
	f := newFakeTTY(0)
	w, _ := startFake(t, f)
	w.Enter(Modes{})
	<-f.full
	if err := w.Restore(); !errors.Is(err, ErrBlocked) && !errors.Is(err, unix.EAGAIN) {
		t.Errorf("restore of a blocked terminal: %v", err)
	}
}

func TestRestoreThrowsQueuedOutputAwayBeforeItGivesUp(t *testing.T) {
	f := newFakeTTY(0)
	w, _ := startFake(t, f)
	w.flush = func(int) error {
		f.give(plenty)
		return nil
	}
	w.Enter(Modes{})
	<-f.full
	if err := w.Restore(); err != nil {
		t.Fatal(err)
	}
	if got := f.written(); !strings.HasPrefix(got, "\x18\x1b\\") || !strings.Contains(got, "\x1b[?1049l") {
		t.Errorf("terminal got %q", got)
	}
}

func TestAFrameCutByRestoreIsNotContinuedAfterTheNextEnter(t *testing.T) {
	f := newFakeTTY(0)
	w, dones := startFake(t, f)
	w.Enter(Modes{})
	<-f.full
	w.Submit([]byte("OLD FRAME"))
	f.give(len(enterSequence(Modes{})) + 3)
	<-f.full // "OLD" is written, the rest waits
	w.flush = func(int) error {
		f.give(plenty)
		return nil
	}
	if err := w.Restore(); err != nil {
		t.Fatal(err)
	}
	if err := w.Enter(Modes{}); err != nil {
		t.Fatal(err)
	}
	w.Submit([]byte("NEW"))
	<-dones
	if got := f.written(); strings.Contains(got, "FRAME") || !strings.HasSuffix(got, "NEW") {
		t.Errorf("terminal got %q", got)
	}
}

func TestCloseEndsAWriterThatIsBlocked(t *testing.T) {
	f := newFakeTTY(0)
	w, _ := startFake(t, f)
	w.Enter(Modes{})
	<-f.full
	w.Close()
	select {
	case <-w.end:
	default:
		t.Error("the goroutine outlives Close")
	}
	if err := w.Enter(Modes{}); !errors.Is(err, ErrClosed) {
		t.Errorf("enter after close: %v", err)
	}
}

func TestAnEmptyFrameIsNeitherWrittenNorReported(t *testing.T) {
	f := newFakeTTY(plenty)
	w, dones := startFake(t, f)
	w.Enter(Modes{})
	if !w.Submit(nil) || w.Busy() {
		t.Error("an empty frame makes the Writer busy")
	}
	w.Submit([]byte("x"))
	<-dones
	if len(dones) != 0 {
		t.Error("the empty frame was reported")
	}
}

func TestModesChangeByTheirDifference(t *testing.T) {
	got := string(appendModes(nil, Modes{Paste: true, Mouse: MouseDrag}, Modes{Paste: true, Focus: true}))
	parts := strings.Split(strings.TrimPrefix(got, "\x1b["), "\x1b[")
	slices.Sort(parts)
	if want := []string{"?1002l", "?1004h", "?1006l"}; !slices.Equal(parts, want) {
		t.Errorf("wrote %q, want %q", parts, want)
	}
}
