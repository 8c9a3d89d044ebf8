package ptybridge

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/internal/leak"
	"github.com/honestty/honestty/internal/proc"
	"github.com/honestty/honestty/outcome"
)

func newPoller(t testing.TB) *fdwait.Poller {
	t.Helper()
	p, err := fdwait.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if n := p.Waiters(); n != 0 {
			t.Errorf("%d waiters left", n)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// A sink keeps what a child wrote and lets a test wait for a fact in it.
type sink struct {
	mu   sync.Mutex
	cond *sync.Cond
	buf  bytes.Buffer
}

func newSink() *sink {
	s := &sink{}
	s.cond = sync.NewCond(&s.mu)
	return s
}

func (s *sink) take(p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buf.Write(p)
	s.cond.Broadcast()
}

func (s *sink) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// await returns when the output holds want; the test binary's own timeout is
// the only clock.
func (s *sink) await(want string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !strings.Contains(s.buf.String(), want) {
		s.cond.Wait()
	}
}

func start(t testing.TB, p *fdwait.Poller, c Config) (*Bridge, *sink) {
	t.Helper()
	out := newSink()
	c.Poller = p
	if c.Output == nil {
		c.Output = out.take
	}
	if c.Size == (Size{}) {
		c.Size = Size{Cols: 80, Rows: 24}
	}
	if c.Env == nil {
		c.Env = proc.ChildEnv(os.Environ(), "test")
	}
	b, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b, out
}

func sh(script string) []string { return []string{"/bin/sh", "-c", script} }

func TestExitCarriesCodeEndAndBytes(t *testing.T) {
	p := newPoller(t)
	b, out := start(t, p, Config{Command: sh("printf hello; exit 7")})
	e := b.Exit()
	if e.Code != 7 || e.Signal != 0 || e.Err != nil {
		t.Errorf("exit = %+v, want code 7", e)
	}
	if e.Capture.Read != 5 || e.Capture.State() != outcome.StateComplete {
		t.Errorf("capture = %+v, want 5 bytes, complete", e.Capture)
	}
	if out.String() != "hello" {
		t.Errorf("output = %q", out.String())
	}
	if e.Duration() <= 0 {
		t.Errorf("duration = %v", e.Duration())
	}
}

func TestSilentCommandIsKnownToBeSilent(t *testing.T) {
	b, _ := start(t, newPoller(t), Config{Command: []string{"true"}})
	if e := b.Exit(); !e.Capture.Empty() || !e.Capture.End.Seen() {
		t.Errorf("capture of true = %+v, want empty with its end seen", e.Capture)
	}
}

func TestSignalIsToldApartFromCode(t *testing.T) {
	b, _ := start(t, newPoller(t), Config{Command: sh("kill -9 $$")})
	if e := b.Exit(); e.Signal != unix.SIGKILL || e.Code != -1 {
		t.Errorf("exit = %+v, want SIGKILL", e)
	}
}

// tails are the sizes of the promise: one line, 3 KB, 109 KB, 300 KB, 5 MB.
// The counts of runs make 500.
var tails = []struct {
	last, runs int
}{{1, 150}, {770, 150}, {20000, 110}, {50000, 75}, {750000, 15}}

func seqOutput(last int) [sha256.Size]byte {
	h := sha256.New()
	for i := 1; i <= last; i++ {
		fmt.Fprintf(h, "%d\r\n", i)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

func TestTailOfAQuickCommandIsNeverLost(t *testing.T) {
	for _, keepSlave := range []bool{false, true} {
		for _, c := range tails {
			t.Run(fmt.Sprintf("seq%d/slave=%v", c.last, keepSlave), func(t *testing.T) {
				t.Parallel()
				p := newPoller(t)
				want := seqOutput(c.last)
				for range c.runs / 2 {
					h := sha256.New()
					b, _ := start(t, p, Config{
						Command:   []string{"seq", "1", strconv.Itoa(c.last)},
						Output:    func(p []byte) { h.Write(p) },
						keepSlave: keepSlave,
					})
					e := b.Exit()
					if got := [sha256.Size]byte(h.Sum(nil)); got != want || e.Capture.State() != outcome.StateComplete || e.Code != 0 {
						t.Fatalf("lost: %d bytes read, %+v", e.Capture.Read, e)
					}
				}
			})
		}
	}
}

func TestBrokenReaderIsLostAndNeverEmpty(t *testing.T) {
	p := newPoller(t)
	for _, after := range []int{0, 1} {
		reads := 0
		b, _ := start(t, p, Config{
			Command: sh("echo one; sleep 0.1; echo two"),
			fault: fault{read: func(fd int, p []byte) (int, error) {
				if reads == after {
					return 0, unix.ENOMEM
				}
				n, err := unix.Read(fd, p)
				if n > 0 {
					reads++
				}
				return n, err
			}},
		})
		e := b.Exit()
		c := e.Capture
		if c.State() != outcome.StateLost || c.Lost != outcome.Uncounted || !errors.Is(c.Cause, unix.ENOMEM) || c.Empty() {
			t.Errorf("after %d reads: capture = %+v, want lost with ENOMEM", after, c)
		}
		if e.Code != 0 {
			t.Errorf("after %d reads: code = %d; the child was not harmed and exits with 0", after, e.Code)
		}
	}
}

func TestProcessesThatOutliveTheShellAreNamed(t *testing.T) {
	b, _ := start(t, newPoller(t), Config{Command: sh("trap '' HUP; sleep 30 & echo $!; exit 0")})
	e := b.Exit()
	if len(e.Capture.Holders) != 1 || e.Capture.Holders[0].Name != "sleep" || e.Capture.State() != outcome.StateDetached {
		t.Fatalf("capture = %+v, want one holder named sleep", e.Capture)
	}
	_ = unix.Kill(e.Capture.Holders[0].PID, unix.SIGKILL)
}

func TestTerminalClosedByAllAndOpenedAgainIsNotAnEnd(t *testing.T) {
	script := `exec 3>&1; tty=$(tty); exec 0<&- 1>&- 2>&- 3>&-; sleep 0.2; echo back > "$tty"`
	b, out := start(t, newPoller(t), Config{Command: sh(script)})
	e := b.Exit()
	if out.String() != "back\r\n" || e.Capture.State() != outcome.StateComplete {
		t.Errorf("output = %q, %+v", out.String(), e)
	}
}

func TestCloseEscalatesToKill(t *testing.T) {
	b, out := start(t, newPoller(t), Config{Command: sh("trap '' HUP TERM; echo ready; while :; do sleep 1; done")})
	out.await("ready")
	if e := b.Close(); e.Signal != unix.SIGKILL {
		t.Errorf("exit = %+v, want SIGKILL", e)
	}
	if err := b.Signal(unix.SIGTERM); !errors.Is(err, proc.ErrReaped) {
		t.Errorf("signal after the end = %v, want ErrReaped", err)
	}
}

func TestCloseEndsAStoppedChild(t *testing.T) {
	b, out := start(t, newPoller(t), Config{Command: sh("echo ready; kill -STOP $$; echo never")})
	out.await("ready")
	b.Close()
}

func TestChildSeesItsTerminalAndNothingOfOurs(t *testing.T) {
	t.Setenv("TMUX", "/outer,1,0")
	t.Setenv("LINES", "5")
	t.Setenv("KITTY_WINDOW_ID", "3")
	b, out := start(t, newPoller(t), Config{
		Command: sh(`stty size; ls /proc/self/fd | tr '\n' ' '; echo; env; tty; ps -o sid=,tpgid= -p $$`),
		Size:    Size{Cols: 77, Rows: 33},
	})
	b.Exit()
	s := out.String()
	for _, want := range []string{"33 77\r\n", "0 1 2 3 \r\n", "TERM=xterm-256color", "COLORTERM=truecolor", "TERM_PROGRAM=honestty", "/dev/pts/"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q in %q", want, s)
		}
	}
	for _, never := range []string{"TMUX=", "LINES=", "KITTY_WINDOW_ID="} {
		if strings.Contains(s, never) {
			t.Errorf("%q in %q", never, s)
		}
	}
}

func TestResizeReachesTheChildAndIsClamped(t *testing.T) {
	b, out := start(t, newPoller(t), Config{Command: sh(`trap 'stty size' WINCH; echo ready; while :; do sleep 0.02; done`)})
	out.await("ready")
	got, err := b.Resize(Size{Cols: 131072, Rows: 1})
	if err != nil || got.Cols != MaxCols || got.Rows != 1 {
		t.Errorf("resize = %+v, %v", got, err)
	}
	out.await("1 2000\r\n")
	b.Close()
	if _, err := b.Resize(Size{Cols: 80, Rows: 24}); !errors.Is(err, ErrEnded) {
		t.Errorf("resize after the end: %v", err)
	}
}

func TestPasteOfTenMegabytesArrivesByteForByte(t *testing.T) {
	paste := make([]byte, 10<<20)
	x := uint32(1)
	for i := range paste {
		x = x*1664525 + 1013904223
		paste[i] = byte(x >> 24)
	}
	b, out := start(t, newPoller(t), Config{Command: sh(fmt.Sprintf("stty raw -echo; echo ready; head -c %d | sha256sum", len(paste)))})
	out.await("ready")
	if n, err := b.WriteWait(paste, 10*time.Second); n != len(paste) || err != nil {
		t.Fatalf("write = %d, %v", n, err)
	}
	sum := sha256.Sum256(paste)
	if e := b.Exit(); e.Refused != 0 || !strings.Contains(out.String(), hex.EncodeToString(sum[:])) {
		t.Errorf("exit = %+v, output %q", e, out.String())
	}
}

func TestInputThatNobodyReadsIsRefusedAndCounted(t *testing.T) {
	b, out := start(t, newPoller(t), Config{Command: sh("stty raw -echo; echo ready; exec sleep 60")})
	out.await("ready")
	total := 0
	big := make([]byte, QueueLimit)
	for {
		n, err := b.Write(big)
		total += n
		if errors.Is(err, ErrFull) {
			break
		}
	}
	if b.Queued() > QueueLimit {
		t.Errorf("%d bytes queued, limit %d", b.Queued(), QueueLimit)
	}
	refused := b.Refused()
	n, err := b.WriteWait(big, time.Millisecond)
	if !errors.Is(err, ErrFull) || b.Refused() != refused+int64(len(big)-n) {
		t.Errorf("write = %d, %v; refused %d, then %d", n, err, refused, b.Refused())
	}
	if e := b.Close(); e.Refused <= refused {
		t.Errorf("refused = %d; what was still queued at the end counts too", e.Refused)
	}
	if _, err := b.Write([]byte("x")); !errors.Is(err, ErrEnded) {
		t.Errorf("write after the end: %v", err)
	}
}

func TestStartThatFailsLeavesNothingAndSaysWhere(t *testing.T) {
	p := newPoller(t)
	before := leak.Take(t)
	steps := []string{"open a terminal pair", "wait on the terminal", "set the terminal's size", "start /bin/true"}
	for _, step := range steps {
		_, err := Start(Config{
			Command: []string{"/bin/true"}, Poller: p, Output: func([]byte) {}, Env: os.Environ(),
			fault: fault{start: func(s string) error {
				if s == step {
					return unix.EMFILE
				}
				return nil
			}},
		})
		se, ok := errors.AsType[*outcome.StartError](err)
		if !ok || se.Step != step || !errors.Is(err, unix.EMFILE) || !errors.Is(err, outcome.ErrNotStarted) {
			t.Errorf("%s: %v", step, err)
		}
	}
	for _, c := range []struct {
		name string
		c    Config
		want error
	}{
		{"missing", Config{Command: []string{"no-such-command-here"}, Env: os.Environ()}, os.ErrNotExist},
		{"folder gone", Config{Command: []string{"true"}, Dir: "/no/such/folder", Env: os.Environ()}, os.ErrNotExist},
		{"folder is a file", Config{Command: []string{"true"}, Dir: "/etc/passwd", Env: os.Environ()}, unix.ENOTDIR},
		{"not executable", Config{Command: []string{"/etc/passwd"}, Env: os.Environ()}, os.ErrPermission},
		{"a folder", Config{Command: []string{"/etc"}, Env: os.Environ()}, unix.EISDIR},
	} {
		c.c.Poller, c.c.Output = p, func([]byte) {}
		if _, err := Start(c.c); !errors.Is(err, c.want) || !errors.Is(err, outcome.ErrNotStarted) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	if p.Waiters() != 0 {
		t.Errorf("%d waiters left", p.Waiters())
	}
	before.Check(t)
}

func TestFiveHundredPanesLeaveNothingBehind(t *testing.T) {
	p := newPoller(t)
	warm, _ := start(t, p, Config{Command: []string{"true"}}) // lets the runtime open what it keeps
	warm.Exit()
	before := leak.Take(t)
	for range 10 {
		var live []*Bridge
		for i := range 50 {
			cmd := []string{"sleep", "60"}
			if i%2 == 0 {
				cmd = []string{"true"}
			}
			b, err := Start(Config{Command: cmd, Poller: p, Output: func([]byte) {}, Env: os.Environ()})
			if err != nil {
				t.Fatal(err)
			}
			live = append(live, b)
		}
		for _, b := range live {
			b.Close()
		}
	}
	before.Check(t)
}

func TestALivePaneCostsTwoDescriptors(t *testing.T) {
	p := newPoller(t)
	warm, _ := start(t, p, Config{Command: []string{"true"}})
	warm.Exit()
	before := leak.Descriptors(t)
	b, out := start(t, p, Config{Command: sh("echo ready; sleep 60")})
	out.await("ready")
	if cost := leak.Descriptors(t) - before; cost != 2 {
		t.Errorf("a live pane costs %d descriptors, want 2 (master, pidfd)", cost)
	}
	b.Close()
}
