package tui

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/config"
	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/internal/proc"
	"github.com/honestty/honestty/ptybridge"
	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/vt"
)

// TestMain lets the test binary be the program in the outer terminal.
func TestMain(m *testing.M) {
	if os.Getenv("HONESTTY_TEST_WINDOW") == "" {
		os.Exit(m.Run())
	}
	if err := windowMain(); err != nil {
		fmt.Fprintln(os.Stderr, "honestty:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func windowMain() error {
	p, err := fdwait.New()
	if err != nil {
		return err
	}
	if err := proc.SealInherited(); err != nil {
		return err
	}
	settings, err := config.NewStore(config.Options{})
	if err != nil {
		return err
	}
	o := Options{
		Poller: p, Version: "test", Env: os.Getenv, Spec: session.Spec{Command: os.Args[1:]},
		Settings: settings,
	}
	if os.Getenv("HONESTTY_TEST_WINDOW") == "panic" {
		o.fault = func(key string) {
			if key == "P" {
				panic("injected")
			}
		}
	}
	_, err = Run(context.Background(), o)
	return err
}

// An outer is an outer terminal: a pair, our engine behind it, and the program
// in it. Tests wait for what it shows and never for time to pass.
type outer struct {
	t      *testing.T
	bridge *ptybridge.Bridge
	mu     sync.Mutex
	cond   *sync.Cond
	term   *vt.Terminal
	raw    []byte // everything the program wrote
	ended  bool
	socket string // of the window, once it was asked for
}

type outerConfig struct {
	cols, rows int
	env        []string
	mode       string // of HONESTTY_TEST_WINDOW
	shell      string // runs the program, for what has to be set up around it
}

func open(t *testing.T, c outerConfig, command ...string) *outer {
	t.Helper()
	p, err := fdwait.New()
	if err != nil {
		t.Fatal(err)
	}
	o := &outer{t: t}
	o.cond = sync.NewCond(&o.mu)
	if c.cols == 0 {
		c.cols, c.rows = 80, 24
	}
	if c.mode == "" {
		c.mode = "1"
	}
	o.term = vt.New(c.cols, c.rows, vt.Options{})
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	argv := append([]string{exe}, command...)
	if c.shell != "" {
		argv = append([]string{"/bin/sh", "-c", c.shell, "sh"}, argv...)
	}
	env := append(c.env, // the first of two entries counts
		"PATH="+os.Getenv("PATH"), "HOME="+t.TempDir(), "LANG=C.UTF-8", "PS1=$ ", "SHELL=/bin/sh",
		"TERM=xterm-256color", "COLORTERM=truecolor", "HONESTTY_TEST_WINDOW="+c.mode,
	)
	o.bridge, err = ptybridge.Start(ptybridge.Config{
		Command: argv, Env: env, Poller: p,
		Size:   ptybridge.Size{Cols: c.cols, Rows: c.rows},
		Output: o.take,
	})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		o.bridge.Exit()
		o.mu.Lock()
		o.ended = true
		o.cond.Broadcast()
		o.mu.Unlock()
	}()
	t.Cleanup(func() {
		o.bridge.Close()
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return o
}

func (o *outer) take(p []byte) {
	o.mu.Lock()
	reply := append([]byte(nil), o.term.Write(p).Reply...)
	o.raw = append(o.raw, p...)
	o.cond.Broadcast()
	o.mu.Unlock()
	if len(reply) > 0 {
		_, _ = o.bridge.Write(reply)
	}
}

// patience bounds a wait so that a failure shows the screen it is stuck on.
const patience = 20 * time.Second

// await waits until the screen satisfies ok and returns it.
func (o *outer) await(what string, ok func(screen string) bool) string {
	o.t.Helper()
	deadline := time.Now().Add(patience)
	late := time.AfterFunc(patience+time.Millisecond, o.cond.Broadcast)
	defer late.Stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		s := o.screen()
		if ok(s) {
			return s
		}
		if o.ended || time.Now().After(deadline) {
			o.t.Fatalf("no %s; ended %v; the screen is\n%s", what, o.ended, s)
		}
		o.cond.Wait()
	}
}

func (o *outer) see(text string) string {
	o.t.Helper()
	return o.await(strconv.Quote(text), func(s string) bool { return strings.Contains(s, text) })
}

func (o *outer) screen() string {
	var b []byte
	_, rows := o.term.Size()
	for r := range rows {
		start := len(b)
		for _, c := range o.term.Line(vt.Row(r)) {
			if c.Blank() {
				b = append(b, ' ')
			}
			b = o.term.AppendText(b, c)
		}
		for len(b) > start && b[len(b)-1] == ' ' {
			b = b[:len(b)-1]
		}
		b = append(b, '\n')
	}
	return string(b)
}

func (o *outer) typ(s string) {
	o.t.Helper()
	if _, err := o.bridge.WriteWait([]byte(s), 10*time.Second); err != nil {
		o.t.Fatal(err)
	}
}

// end waits for the program's end and checks that the outer terminal is as a
// shell expects it.
func (o *outer) end() ptybridge.Exit {
	o.t.Helper()
	e := o.bridge.Exit()
	o.mu.Lock()
	defer o.mu.Unlock()
	m := o.term.Modes()
	if m.AltScreen || m.BracketedPaste || m.FocusEvents || m.Mouse != vt.MouseOff || m.KittyFlags != 0 || m.AppCursor || m.AppKeypad || m.SyncOutput {
		o.t.Errorf("modes left behind: %+v", m)
	}
	if !o.term.Cursor().Visible {
		o.t.Error("the cursor is still hidden")
	}
	return e
}

const prefixKey = "\x02"

func TestAShellInAPaneFromFirstKeyToLast(t *testing.T) {
	o := open(t, outerConfig{}, "/bin/sh")
	o.see("$")
	o.typ("echo sum $((20+3))\r")
	o.see("sum 23")
	o.see("fd ") // the meter
	o.typ("exit 3\r")
	s := o.see("Enter runs it again · q closes")
	if !strings.Contains(s, "✗ exit 3 · ") || !strings.Contains(s, " bytes, complete") {
		t.Errorf("the end says\n%s", s)
	}
	o.typ("\r")
	o.see("run again at ")
	o.see("exit 3 before")
	o.await("a new prompt", func(s string) bool { return strings.HasSuffix(strings.TrimRight(upToBar(s), "\n "), "$") })
	o.typ("exit\r")
	o.see("✓ exit 0")
	o.typ("q")
	if e := o.end(); e.Code != 0 {
		t.Errorf("exit = %+v", e)
	}
}

// upToBar is the screen without its last row that holds something.
func upToBar(s string) string {
	s = strings.TrimRight(s, "\n")
	return s[:max(0, strings.LastIndexByte(s, '\n'))]
}

func TestTheEndSaysSignalAndWhatOutlived(t *testing.T) {
	o := open(t, outerConfig{}, "/bin/sh", "-c", "echo pid $$; kill -9 $$")
	s := o.see("q closes")
	if !strings.Contains(s, "✗ SIGKILL · ") || !strings.Contains(s, "bytes, complete") {
		t.Errorf("the end says\n%s", s)
	}
	o.typ("q")
	o.end()

	o = open(t, outerConfig{}, "/bin/sh", "-c", "trap '' HUP; sleep 60 & echo left $!")
	s = o.see("q closes")
	if !strings.Contains(s, "detached") || !strings.Contains(s, `"sleep"`) {
		t.Errorf("the end says\n%s", s)
	}
	_, rest, _ := strings.Cut(s, "left ")
	pid, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	_ = unix.Kill(pid, unix.SIGKILL)
}

func TestACommandThatCannotStartSaysWhyInThePane(t *testing.T) {
	o := open(t, outerConfig{}, "/no/such/program")
	s := o.see("Enter tries again · q closes")
	if !strings.Contains(s, "did not start") || !strings.Contains(s, "ENOENT") {
		t.Errorf("the pane says\n%s", s)
	}
	o.typ("q")
	if e := o.end(); e.Code != 0 {
		t.Errorf("exit = %+v", e)
	}
}

func TestSignalsGiveTheTerminalBack(t *testing.T) {
	for _, sig := range []unix.Signal{unix.SIGTERM, unix.SIGHUP, unix.SIGINT} {
		o := open(t, outerConfig{}, "/bin/sh")
		o.see("$")
		if err := unix.Kill(o.bridge.PID(), sig); err != nil {
			t.Fatal(err)
		}
		if e := o.end(); e.Code != 1 {
			t.Errorf("%v: exit = %+v", sig, e)
		}
		o.see2("ended by")
	}
}

// see2 looks at the screen after the end.
func (o *outer) see2(text string) {
	o.t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if s := o.screen(); !strings.Contains(s, text) {
		o.t.Errorf("no %q on\n%s", text, s)
	}
}

func TestAPanicGivesTheTerminalBack(t *testing.T) {
	o := open(t, outerConfig{mode: "panic"}, "/bin/sh")
	o.see("$")
	o.typ(prefixKey + "P")
	e := o.end()
	if e.Code != 2 {
		t.Errorf("exit = %+v, want the runtime's 2", e)
	}
	if !strings.Contains(string(o.raw), "injected") {
		t.Error("the panic was swallowed")
	}
}

func TestTheLineDisciplineIsGivenBack(t *testing.T) {
	o := open(t, outerConfig{shell: `before=$(stty -g); "$@"; test "$before" = "$(stty -g)" && echo same modes; cat </dev/null`}, "/bin/sh", "-c", "exit 0")
	o.see("q closes")
	o.typ("q")
	o.end()
	o.see2("same modes")
}

// TestAStoppedWindowTakesItsTerminalBack stops the program, lets a shell put its
// own modes in force, and brings it back.
func TestAStoppedWindowTakesItsTerminalBack(t *testing.T) {
	o := open(t, outerConfig{shell: `set -m; "$@"; stty sane; echo stopped; fg >/dev/null; stty -a | grep -o " icanon"; echo left; cat </dev/null`}, "/bin/sh")
	o.see("$")
	o.typ("echo window $PPID e''nd\r") // the echo of the line is not the answer
	s := o.see("end\n")
	_, rest, _ := strings.Cut(s[strings.LastIndex(s, "window"):], " ")
	pid, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	o.await("a window that is back", func(string) bool {
		_, after, stopped := strings.Cut(string(o.raw), "stopped")
		return stopped && strings.Contains(after, "\x1b[?1049h")
	})
	o.typ("echo back$((40+2))\r")
	o.see("back42\n")
	o.typ("exit\r")
	o.see("q closes")
	o.typ("q")
	o.end()
	o.see2("icanon")
	o.see2("left")
}

func TestResizeFollows(t *testing.T) {
	o := open(t, outerConfig{}, "/bin/sh")
	o.see("$")
	o.typ("stty size\r")
	o.see("23 80")
	o.mu.Lock()
	o.term.Resize(100, 30)
	o.mu.Unlock()
	if _, err := o.bridge.Resize(ptybridge.Size{Cols: 100, Rows: 30}); err != nil {
		t.Fatal(err)
	}
	o.await("a bar in the new last row", func(s string) bool {
		rows := strings.Split(s, "\n")
		return len(rows) >= 30 && strings.Contains(rows[29], "fd ")
	})
	o.typ("\rstty size\r")
	o.see("29 100")
}

func TestThePrefixTwiceGoesThroughAndOnceIsOurs(t *testing.T) {
	o := open(t, outerConfig{}, "/bin/sh", "-c", "stty raw -echo; echo ready; cat -v")
	o.see("ready")
	o.typ("a" + prefixKey + prefixKey + "b")
	o.see("a^Bb")
	o.typ(prefixKey + "?")
	o.see("Split right")
	o.typ("\x1b")
	o.await("a closed help", func(s string) bool { return !strings.Contains(s, "Split right") })
	o.typ("c")
	o.see("a^Bbc")
	o.typ(prefixKey + "x")
	o.see("Close this pane?")
	o.typ("n" + "d")
	o.see("a^Bbcd")
	o.typ(prefixKey + "xy")
	if e := o.end(); e.Code != 0 {
		t.Errorf("exit = %+v", e)
	}
}

func TestKeysReachTheChildInItsOwnModes(t *testing.T) {
	o := open(t, outerConfig{}, "/bin/sh", "-c", `stty raw -echo; printf 'ready'; cat -v`)
	o.see("ready")
	o.typ("\x1b[A\x1b") // Up, then a lone Escape
	o.see("^[[A^[")
	o = open(t, outerConfig{}, "/bin/sh", "-c", `stty raw -echo; printf '\033[?1hready'; cat -v`)
	o.see("ready")
	o.typ("\x1b[A") // the child asked for application cursor keys
	o.see("^[OA")
}

func TestTenMegabytesPastedReachTheChild(t *testing.T) {
	paste := make([]byte, 10<<20)
	x := uint32(7)
	for i := range paste {
		x = x*1664525 + 1013904223
		paste[i] = byte(x >> 24)
	}
	// The one thing a paste cannot hold is its own end.
	paste = []byte(strings.ReplaceAll(string(paste), "\x1b[201~", "\x1b[20x~"))
	o := open(t, outerConfig{}, "/bin/sh", "-c", fmt.Sprintf("stty raw -echo; echo ready; head -c %d | sha256sum", len(paste)))
	o.see("ready")
	o.typ("\x1b[200~" + string(paste) + "\x1b[201~")
	sum := sha256.Sum256(paste)
	o.see(hex.EncodeToString(sum[:])[:60])
}

func TestBracketsOfAPasteGoToWhoAskedForThem(t *testing.T) {
	o := open(t, outerConfig{}, "/bin/sh", "-c", `stty raw -echo; printf '\033[?2004hready'; cat -v`)
	o.see("ready")
	o.typ("\x1b[200~a\x02b\x1b[201~")
	o.see("^[[200~a^Bb^[[201~") // a prefix inside a paste is text
}

func TestNoColorAndFewColorsAreKept(t *testing.T) {
	script := `printf '\033[38;2;10;200;30mgreen\033[0m \033[31mred\033[0m ready'; sleep 60`
	for _, c := range []struct {
		env           []string
		never, always string
	}{
		{[]string{"NO_COLOR=1"}, "\x1b[3", ""},
		{[]string{"COLORTERM=", "TERM=linux"}, "38;", ""},
		{nil, "", "38;2;10;200;30"},
	} {
		o := open(t, outerConfig{env: c.env}, "/bin/sh", "-c", script)
		o.see("ready")
		o.mu.Lock()
		raw := string(o.raw)
		o.mu.Unlock()
		for _, seq := range strings.SplitAfter(raw, "m") {
			if i := strings.LastIndex(seq, "\x1b["); i >= 0 && c.never != "" && strings.Contains(seq[i:], c.never) && strings.HasSuffix(seq, "m") {
				t.Errorf("%v: %q was sent", c.env, seq[i:])
			}
		}
		if !strings.Contains(raw, c.always) {
			t.Errorf("%v: no %q", c.env, c.always)
		}
	}
}

func TestAWindowWorksPast1024Descriptors(t *testing.T) {
	for range 1100 { // inherited by the window: not close-on-exec
		fd, err := unix.Open("/dev/null", unix.O_RDONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
	}
	o := open(t, outerConfig{}, "/bin/sh")
	o.see("$")
	o.typ("ls /proc/$PPID/fd | sort -n | tail -1; cd /proc/self/fd; echo fds * end\r")
	s := o.see("fds 0 ")
	if !strings.Contains(s, "fds 0 1 10 2 3 end") { // 10 is the shell's own terminal, 3 the listing
		t.Errorf("the shell holds more than its own descriptors:\n%s", s)
	}
	o.typ("seq 1 20000; exit\r")
	s = o.see("q closes")
	if !strings.Contains(s, "complete") || !strings.Contains(s, "20000\n") {
		t.Errorf("the end says\n%s", s)
	}
}

// TestASuspendedWindowGivesTheTerminalBackAndReturns stops the window as a
// shell's job, once by signal and once by key, and brings it back.
func TestASuspendedWindowGivesTheTerminalBackAndReturns(t *testing.T) {
	for name, stop := range map[string]string{
		"signal": "kill -TSTP $PPID\r", // the shell's parent is the window
		"key":    prefixKey + "\x1a",
	} {
		t.Run(name, func(t *testing.T) {
			o := open(t, outerConfig{shell: `set -m; "$@"; echo stopped: $(stty -a | tr ' ;' '\n\n' | grep -x -e icanon -e echo); read x; fg >/dev/null`}, "/bin/sh")
			o.see("$")
			o.typ("echo before$((40+2))\r")
			o.see("before42")
			o.typ(stop)
			o.see("stopped: icanon echo")
			o.mu.Lock()
			alt := o.term.Modes().AltScreen
			o.mu.Unlock()
			if alt {
				t.Error("the alternate screen was left on")
			}
			o.typ("\r")
			o.await("the window as it was", func(s string) bool {
				return strings.Contains(s, "before42") && !strings.Contains(s, "stopped:")
			})
			o.typ("echo after$((40+2))\r")
			o.see("after42")
			o.typ("exit\r")
		})
	}
}

// TestAStopThatNobodyCouldEndIsIgnored suspends a window without a job control
// shell around it: its process group is an orphan.
func TestAStopThatNobodyCouldEndIsIgnored(t *testing.T) {
	o := open(t, outerConfig{}, "/bin/sh")
	o.see("$")
	o.typ(prefixKey + "\x1a")
	o.see("not suspended: no shell")
	o.typ("echo after$((40+2))\r")
	o.see("after42")
}
