package session

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/vt"
)

// tails are the sizes of the promise: one line, 3 KB, 109 KB, 300 KB, 5 MB.
// The counts of runs make 500.
var tails = []struct{ last, runs int }{{1, 150}, {770, 150}, {20000, 110}, {50000, 75}, {750000, 15}}

// TestTailOfAQuickCommandIsOnTheScreen counts every line that a command wrote
// before it ended at once, in the history and on the screen of its pane.
func TestTailOfAQuickCommandIsOnTheScreen(t *testing.T) {
	for _, c := range tails {
		t.Run(strconv.Itoa(c.last), func(t *testing.T) {
			t.Parallel()
			cl := connect(t, Config{Scrollback: 1_000_000, ScrollbackBytes: 256 << 20})
			want := int64(0)
			for i := 1; i <= c.last; i++ {
				want += int64(len(strconv.Itoa(i)) + len("\r\n"))
			}
			runs := c.runs
			if testing.Short() { // with the race detector the engine is many times slower
				runs = 1 + runs/10
			}
			for range runs {
				p := cl.Open(Spec{Command: []string{"seq", "1", strconv.Itoa(c.last)}}, size)
				i := cl.awaitState(p, StateEnded)
				if got := i.Capture(); got.State() != outcome.StateComplete || got.Read != want || i.Exit.Code != 0 {
					t.Fatalf("%+v, want %d bytes", i, want)
				}
				p.Look(func(term *vt.Terminal) { checkCounted(t, term, c.last) })
				p.Close()
			}
		})
	}
}

// checkCounted fails unless the lines are 1 to last, each once and in order.
func checkCounted(t *testing.T, term *vt.Terminal, last int) {
	t.Helper()
	_, rows := term.Size()
	line, n := 0, 0
	var cells []vt.Cell
	var b []byte
	for i := range term.HistoryLen() + rows {
		if i < term.HistoryLen() {
			cells = term.HistoryLine(i, cells[:0])
		} else {
			cells = term.Line(vt.Row(i - term.HistoryLen()))
		}
		b = b[:0]
		for _, c := range cells {
			b = term.AppendText(b, c)
		}
		if len(b) == 0 {
			continue
		}
		line++
		if n, _ = strconv.Atoi(string(b)); n != line {
			t.Fatalf("line %d is %q", line, b)
		}
	}
	if lines, bytes := term.HistoryCut(); line != last || lines != 0 || bytes != 0 {
		t.Fatalf("%d lines of %d; %d cut", line, last, lines)
	}
}

func TestPanesWorkPast1024Descriptors(t *testing.T) {
	for _, hold := range []int{1100, 10000} {
		t.Run(strconv.Itoa(hold), func(t *testing.T) {
			var lim unix.Rlimit
			if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &lim); err != nil {
				t.Fatal(err)
			}
			if lim.Cur < uint64(hold)+100 {
				t.Skipf("skipped: this machine allows %d descriptors", lim.Cur)
			}
			for range hold {
				fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
				if err != nil {
					t.Fatal(err)
				}
				defer unix.Close(fd)
			}
			c := connect(t, Config{Scrollback: 30_000})
			p := c.Open(sh("stty -echo; echo ready; read go; clear; exec seq 1 20000"), size)
			c.awaitText(p, "ready")
			if err := p.Input([]byte("\n")); err != nil {
				t.Fatal(err)
			}
			i := c.awaitState(p, StateEnded)
			if got := i.Capture(); got.State() != outcome.StateComplete || got.Read < 128894 {
				t.Errorf("%+v", i)
			}
			p.Look(func(term *vt.Terminal) { checkCounted(t, term, 20000) })
		})
	}
}

// TestAPaneWithoutDescriptorsSaysSoAndCanBeTriedAgain runs in a process that
// may hold 64 descriptors. The limit is the shell's; we set none.
func TestAPaneWithoutDescriptorsSaysSoAndCanBeTriedAgain(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", "-c", `ulimit -n 64; exec "$0"`, exe)
	cmd.Env = append(os.Environ(), "HONESTTY_TEST_EMFILE=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "opened") {
		t.Fatalf("%v\n%s", err, out)
	}
}

// opensUnderALimit opens a pane with 0, 1, 2 … descriptors free. It must run or
// say EMFILE, and run once the descriptors are back.
func opensUnderALimit() error {
	poller, err := fdwait.New()
	if err != nil {
		return err
	}
	facts := make(chan Fact, 1000) // more than this run publishes
	s := New(Config{Poller: poller, Version: "test", Publish: func(f Fact) { facts <- f }})
	failed := 0
	for free := range 12 {
		fillers, err := fill()
		if err != nil {
			return err
		}
		for range min(free, len(fillers)) {
			_ = unix.Close(fillers[len(fillers)-1])
			fillers = fillers[:len(fillers)-1]
		}
		p := s.Open(sh("exit 5"), size)
		i := awaitOver(p)
		switch {
		case i.State == StateEnded && i.Exit.Code == 5:
		case i.State == StateNotStarted && errors.Is(i.Err, unix.EMFILE) && errors.Is(i.Err, outcome.ErrNotStarted):
			failed++
		default:
			return fmt.Errorf("%d free: %+v", free, i)
		}
		for _, fd := range fillers {
			_ = unix.Close(fd)
		}
		p.Rerun()
		if i := awaitOver(p); i.State != StateEnded || i.Exit.Code != 5 || i.Err != nil {
			return fmt.Errorf("%d free, then all: %+v", free, i)
		}
		p.Close()
	}
	if failed < 3 {
		return fmt.Errorf("only %d starts failed: the limit is not in force", failed)
	}
	s.Close()
	if n := poller.Waiters(); n != 0 {
		return fmt.Errorf("%d waiters left", n)
	}
	return poller.Close()
}

// awaitOver waits for the end of a pane that this process may be too short of
// descriptors to be told about.
func awaitOver(p *Pane) Info {
	for {
		i := p.Info()
		if i.State == StateEnded || i.State == StateNotStarted {
			return i
		}
		runtime.Gosched()
	}
}

// fill opens descriptors until there are no more.
func fill() ([]int, error) {
	var fds []int
	for {
		fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.EMFILE) {
			return fds, nil
		}
		if err != nil {
			return fds, err
		}
		fds = append(fds, fd)
	}
}
