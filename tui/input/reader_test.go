//go:build unix

package input

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/internal/leak"
)

// A step is one thing that a scripted terminal does: what a read returns, or,
// with wait set, how a wait ends.
type step struct {
	read string
	err  error
	wait bool
}

// script is a terminal and its Waiter without kernel and clock. When the steps
// are used up the terminal hangs up.
type script struct {
	steps []step
	asked []time.Duration // deadline of each wait
	woken int
}

func (s *script) next(wait bool) (step, bool) {
	if len(s.steps) == 0 || s.steps[0].wait != wait {
		return step{}, false
	}
	st := s.steps[0]
	s.steps = s.steps[1:]
	return st, true
}

func (s *script) readFD(_ int, p []byte) (int, error) {
	st, ok := s.next(false)
	switch {
	case !ok && len(s.steps) > 0:
		return -1, unix.EAGAIN
	case !ok:
		return 0, nil
	case st.err != nil:
		return -1, st.err
	}
	return copy(p, st.read), nil
}

func (s *script) Wait(d time.Duration) (bool, error) {
	s.asked = append(s.asked, d)
	st, _ := s.next(true)
	return st.err == nil, st.err
}

func (s *script) Wake()        { s.woken++ }
func (s *script) Close() error { return nil }

// play runs a Reader over a script to its end.
func play(s *script, kitty bool) (got []string, r *Reader) {
	r = newReader(-1, s, func(batch []Token) { got = append(got, describeAll(batch)...) })
	r.read = s.readFD
	r.SetKitty(kitty)
	r.loop()
	return got, r
}

var (
	ready    = step{wait: true}
	deadline = step{wait: true, err: fdwait.ErrDeadline}
	wokenUp  = step{wait: true, err: fdwait.ErrWoken}
)

func TestOnlyALoneEscapeWaitsForTime(t *testing.T) {
	for name, row := range map[string]struct {
		steps []step
		kitty bool
		want  string
		asked []time.Duration
	}{
		"Escape key":             {[]step{{read: "\x1b"}, deadline}, false, "key esc", []time.Duration{escapeWait}},
		"Escape key, kitty":      {[]step{{read: "\x1b"}, deadline}, true, "key esc", []time.Duration{kittyEscapeWait}},
		"sequence split in time": {[]step{{read: "\x1b"}, ready, {read: "[A"}}, false, "key up", []time.Duration{escapeWait}},
		"sequence split later":   {[]step{{read: "\x1b["}, ready, {read: "1;5A"}}, false, "key ctrl+up", []time.Duration{-1}},
		"woken while waiting":    {[]step{{read: "\x1b"}, wokenUp, deadline}, false, "key esc", []time.Duration{escapeWait, escapeWait}},
		"paste split":            {[]step{{read: "\x1b[200~a\x1b"}, ready, {read: "[201~"}}, false, `paste start "\x1b[200~"|paste data "a"|paste end "\x1b[201~"`, []time.Duration{-1}},
		"reply split":            {[]step{{read: "\x1b]11;x"}, ready, {read: "\x1b\\"}}, false, `reply 15 num 11 [] "x"`, []time.Duration{-1}},
		"spurious readiness":     {[]step{{read: "a"}, ready, ready, {read: "b"}}, false, "key a|key b", []time.Duration{-1, -1}},
		"interrupted read":       {[]step{{err: unix.EINTR}, {read: "a"}}, false, "key a", nil},
		"held at the end":        {[]step{{read: "\x1b["}}, false, `unknown "\x1b["`, nil},
	} {
		s := &script{steps: row.steps}
		got, r := play(s, row.kitty)
		if strings.Join(got, "|") != row.want || !slices.Equal(s.asked, row.asked) {
			t.Errorf("%s: got %q after waits %v, want %s after %v", name, got, s.asked, row.want, row.asked)
		}
		if end, err := r.End(); end != EndHangup || err != nil {
			t.Errorf("%s: end = %v, %v", name, end, err)
		}
	}
}

func TestAFailureIsNeverAHangup(t *testing.T) {
	broken := errors.New("wait broke")
	for name, row := range map[string]struct {
		steps []step
		end   End
		err   error
	}{
		"end of file":  {nil, EndHangup, nil},
		"EIO":          {[]step{{err: unix.EIO}}, EndHangup, nil},
		"EBADF":        {[]step{{err: unix.EBADF}}, EndBroken, unix.EBADF},
		"wait failed":  {[]step{{read: "a"}, {wait: true, err: broken}}, EndBroken, broken},
		"waiter gone":  {[]step{{wait: true, err: fdwait.ErrClosed}}, EndBroken, fdwait.ErrClosed},
		"waiter busy":  {[]step{{wait: true, err: fdwait.ErrBusy}}, EndBroken, fdwait.ErrBusy},
		"after a wait": {[]step{{read: "a"}, ready, {err: unix.ENXIO}}, EndBroken, unix.ENXIO},
	} {
		_, r := play(&script{steps: row.steps}, false)
		if end, err := r.End(); end != row.end || !errors.Is(err, row.err) || (row.err == nil) != (err == nil) {
			t.Errorf("%s: end = %v, %v, want %v, %v", name, end, err, row.end, row.err)
		}
	}
}

func TestABlockedSinkStopsReading(t *testing.T) {
	var reads atomic.Int32
	entered, release := make(chan struct{}), make(chan struct{})
	s := &script{}
	r := newReader(-1, s, func([]Token) { entered <- struct{}{}; <-release })
	r.read = func(_ int, p []byte) (int, error) {
		if reads.Add(1) > 2 {
			return 0, nil
		}
		return copy(p, "x"), nil
	}
	go r.loop()
	<-entered
	if n := reads.Load(); n != 1 {
		t.Errorf("%d reads while the sink blocks, want 1", n)
	}
	release <- struct{}{}
	<-entered
	close(release)
	<-r.Done()
}

func TestABatchIsBounded(t *testing.T) {
	s := &script{steps: []step{{read: strings.Repeat("\x02", 1000)}}}
	total, largest := 0, 0
	r := newReader(-1, s, func(batch []Token) { total += len(batch); largest = max(largest, len(batch)) })
	r.read = s.readFD
	r.loop()
	if total != 1000 || largest != maxBatch {
		t.Errorf("%d tokens, largest batch %d, want 1000 and %d", total, largest, maxBatch)
	}
}

// newPoller makes a Poller that ends with the test.
func newPoller(t *testing.T) *fdwait.Poller {
	t.Helper()
	p, err := fdwait.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// writeAll writes to a non-blocking descriptor, waiting for room.
func writeAll(p *fdwait.Poller, fd int, data []byte) error {
	w, err := p.Register(fd)
	if err != nil {
		return err
	}
	for len(data) > 0 {
		n, err := unix.Write(fd, data)
		if n > 0 {
			data = data[n:]
		}
		switch {
		case err == nil, errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			if _, err := w.WaitWrite(-1); err != nil {
				return errors.Join(err, w.Close())
			}
		default:
			return errors.Join(err, w.Close())
		}
	}
	return w.Close()
}

func TestTenMegabytesOfAnyBytesPasteToTheByte(t *testing.T) {
	const size = 10 << 20
	p := newPoller(t)
	master, slave := openPair(t)
	tty := openSlave(t, slave, devicePaths)
	defer tty.Close()
	if err := tty.MakeRaw(); err != nil {
		t.Fatal(err)
	}
	fd := int(master.Fd())
	if err := unix.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	want := make([]byte, size)
	rng := rand.NewChaCha8([32]byte{1})
	_, _ = rng.Read(want)
	copy(want[size/2:], "\x1b[201\x1b[200~\x1b]11;\x1b[A\x1b") // looks like an end, a start, a reply, a key
	if bytes.Contains(want, pasteEnd) {
		t.Fatal("the sample ends the paste by itself")
	}

	var got []byte
	after := make(chan Token, 1)
	r, err := StartReader(p, tty.FD(), func(batch []Token) {
		for _, tok := range batch {
			got = Translate(got, tok, OuterModes{}, ChildModes{BracketedPaste: true})
			if tok.Kind == KindKey {
				after <- tok
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Concat([]byte("\x1b[200~"), want, []byte("\x1b[201~"), []byte("q"))
	if err := writeAll(p, fd, all); err != nil {
		t.Fatal(err)
	}
	<-after
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, all) {
		t.Errorf("%d bytes reached the child, want the same %d", len(got), len(all))
	}
	if end, err := r.End(); end != EndStopped || err != nil {
		t.Errorf("end = %v, %v", end, err)
	}
	if n := cap(r.tok.held) + cap(r.tok.spare); n > 2*readSize {
		t.Errorf("the tokenizer kept %d bytes of memory for a streamed paste", n)
	}
}

func TestKeysArriveOnADescriptorPast1024(t *testing.T) {
	p := newPoller(t)
	master, slave := openPair(t)
	tty := openSlave(t, slave, devicePaths)
	defer tty.Close()
	if err := tty.MakeRaw(); err != nil {
		t.Fatal(err)
	}
	high, err := unix.FcntlInt(uintptr(tty.FD()), unix.F_DUPFD_CLOEXEC, 1500)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EMFILE) {
		t.Skipf("the limit of descriptors is below 1500: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(high)
	got := make(chan string, 1)
	r, err := StartReader(p, high, func(batch []Token) { got <- batch[0].Key.String() })
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := master.WriteString("\x02"); err != nil {
		t.Fatal(err)
	}
	if key := <-got; key != "ctrl+b" {
		t.Errorf("key = %s", key)
	}
}

func TestAHangupEndsTheReaderAndCloseLeavesNothingBehind(t *testing.T) {
	p := newPoller(t)
	before := leak.Take(t)
	for _, hangup := range []bool{true, false} {
		master, slave := openPair(t)
		tty := openSlave(t, slave, devicePaths)
		r, err := StartReader(p, tty.FD(), func([]Token) {})
		if err != nil {
			t.Fatal(err)
		}
		want := EndStopped
		if hangup {
			want = EndHangup
			_ = master.Close()
			<-r.Done()
		}
		if err := errors.Join(r.Close(), r.Close()); err != nil {
			t.Errorf("close: %v", err)
		}
		if end, err := r.End(); end != want || err != nil {
			t.Errorf("end = %v, %v, want %v", end, err, want)
		}
		_ = tty.Close() // a terminal that is gone cannot be restored
		_, _ = master.Close(), slave.Close()
	}
	before.Check(t)
}

func TestCloseWhileTheSinkBlocksReturnsWhenTheSinkGivesUp(t *testing.T) {
	p := newPoller(t)
	master, slave := openPair(t)
	tty := openSlave(t, slave, devicePaths)
	defer tty.Close()
	if err := tty.MakeRaw(); err != nil {
		t.Fatal(err)
	}
	entered := make(chan struct{})
	started := make(chan *Reader, 1)
	r, err := StartReader(p, tty.FD(), func([]Token) {
		self := <-started
		close(entered)
		<-self.Stopping()
	})
	if err != nil {
		t.Fatal(err)
	}
	started <- r
	if _, err := master.WriteString("x"); err != nil {
		t.Fatal(err)
	}
	<-entered
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}
