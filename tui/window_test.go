package tui

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/config"
	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/internal/outer"
	"github.com/honestty/honestty/internal/proc"
	"github.com/honestty/honestty/session"
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

// A window is the program in an outer terminal.
type window struct {
	*outer.Terminal
	t      *testing.T
	socket string // of the window, once it was asked for
}

type outerConfig struct {
	cols, rows int
	env        []string
	mode       string // of HONESTTY_TEST_WINDOW
	shell      string // runs the program, for what has to be set up around it
}

func open(t *testing.T, c outerConfig, command ...string) *window {
	t.Helper()
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
		"XDG_RUNTIME_DIR="+runtimeDir(t), "TERM=xterm-256color", "COLORTERM=truecolor", "HONESTTY_TEST_WINDOW="+cmp.Or(c.mode, "1"),
	)
	return &window{Terminal: outer.Open(t, outer.Config{Cols: c.cols, Rows: c.rows, Env: env, Command: argv}), t: t}
}

// runtimeDir is a place for the socket of one window: agents and commands that
// other tests run at the same time must not find it and show their calls there.
func runtimeDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hon") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// shows looks at the screen as it is, also after the end.
func (o *window) shows(text string) {
	o.t.Helper()
	if s := o.Screen(); !strings.Contains(s, text) {
		o.t.Errorf("no %q on\n%s", text, s)
	}
}

const prefixKey = "\x02"

func TestAShellInAPaneFromFirstKeyToLast(t *testing.T) {
	o := open(t, outerConfig{}, "/bin/sh")
	o.See("$")
	o.Type("echo sum $((20+3))\r")
	o.See("sum 23")
	o.See("fd ") // the meter
	o.Type("exit 3\r")
	s := o.See("Enter runs it again · q closes")
	if !strings.Contains(s, "✗ exit 3 · ") || !strings.Contains(s, " bytes, complete") {
		t.Errorf("the end says\n%s", s)
	}
	o.Type("\r")
	o.See("run again at ")
	o.See("exit 3 before")
	o.Await("a new prompt", func(s string) bool { return strings.HasSuffix(strings.TrimRight(upToBar(s), "\n "), "$") })
	o.Type("exit\r")
	o.See("✓ exit 0")
	o.Type("q")
	if e := o.End(); e.Code != 0 {
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
	s := o.See("q closes")
	if !strings.Contains(s, "✗ SIGKILL · ") || !strings.Contains(s, "bytes, complete") {
		t.Errorf("the end says\n%s", s)
	}
	o.Type("q")
	o.End()

	o = open(t, outerConfig{}, "/bin/sh", "-c", "trap '' HUP; sleep 60 & echo left $!")
	s = o.See("q closes")
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
	s := o.See("Enter tries again · q closes")
	if !strings.Contains(s, "did not start") || !strings.Contains(s, "ENOENT") {
		t.Errorf("the pane says\n%s", s)
	}
	o.Type("q")
	if e := o.End(); e.Code != 0 {
		t.Errorf("exit = %+v", e)
	}
}

func TestSignalsGiveTheTerminalBack(t *testing.T) {
	for _, sig := range []unix.Signal{unix.SIGTERM, unix.SIGHUP, unix.SIGINT} {
		o := open(t, outerConfig{}, "/bin/sh")
		o.See("$")
		if err := unix.Kill(o.Bridge().PID(), sig); err != nil {
			t.Fatal(err)
		}
		if e := o.End(); e.Code != 1 {
			t.Errorf("%v: exit = %+v", sig, e)
		}
		o.shows("ended by")
	}
}

func TestAPanicGivesTheTerminalBack(t *testing.T) {
	o := open(t, outerConfig{mode: "panic"}, "/bin/sh")
	o.See("$")
	o.Type(prefixKey + "P")
	e := o.End()
	if e.Code != 2 {
		t.Errorf("exit = %+v, want the runtime's 2", e)
	}
	if !strings.Contains(o.Raw(), "injected") {
		t.Error("the panic was swallowed")
	}
}

func TestTheLineDisciplineIsGivenBack(t *testing.T) {
	o := open(t, outerConfig{shell: `before=$(stty -g); "$@"; test "$before" = "$(stty -g)" && echo same modes; cat </dev/null`}, "/bin/sh", "-c", "exit 0")
	o.See("q closes")
	o.Type("q")
	o.End()
	o.shows("same modes")
}

// TestAStoppedWindowTakesItsTerminalBack stops the program, lets a shell put its
// own modes in force, and brings it back.
func TestAStoppedWindowTakesItsTerminalBack(t *testing.T) {
	o := open(t, outerConfig{shell: `set -m; "$@"; stty sane; echo stopped; fg >/dev/null; stty -a | grep -o " icanon"; echo left; cat </dev/null`}, "/bin/sh")
	o.See("$")
	o.Type("echo window $PPID e''nd\r") // the echo of the line is not the answer
	s := o.See("end\n")
	_, rest, _ := strings.Cut(s[strings.LastIndex(s, "window"):], " ")
	pid, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	o.AwaitRaw("a window that is back", func(raw string) bool {
		_, after, stopped := strings.Cut(raw, "stopped")
		return stopped && strings.Contains(after, "\x1b[?1049h")
	})
	o.Type("echo back$((40+2))\r")
	o.See("back42\n")
	o.Type("exit\r")
	o.See("q closes")
	o.Type("q")
	o.End()
	o.shows("icanon")
	o.shows("left")
}

func TestResizeFollows(t *testing.T) {
	o := open(t, outerConfig{}, "/bin/sh")
	o.See("$")
	o.Type("stty size\r")
	o.See("23 80")
	o.Resize(100, 30)
	o.Await("a bar in the new last row", func(s string) bool {
		rows := strings.Split(s, "\n")
		return len(rows) >= 30 && strings.Contains(rows[29], "fd ")
	})
	o.Type("\rstty size\r")
	o.See("29 100")
}

func TestThePrefixTwiceGoesThroughAndOnceIsOurs(t *testing.T) {
	o := open(t, outerConfig{}, "/bin/sh", "-c", "stty raw -echo; echo ready; cat -v")
	o.See("ready")
	o.Type("a" + prefixKey + prefixKey + "b")
	o.See("a^Bb")
	o.Type(prefixKey + "?")
	o.See("Split right")
	o.Type("\x1b")
	o.Await("a closed help", func(s string) bool { return !strings.Contains(s, "Split right") })
	o.Type("c")
	o.See("a^Bbc")
	o.Type(prefixKey + "x")
	o.See("Close this pane?")
	o.Type("n" + "d")
	o.See("a^Bbcd")
	o.Type(prefixKey + "xy")
	if e := o.End(); e.Code != 0 {
		t.Errorf("exit = %+v", e)
	}
}

func TestKeysReachTheChildInItsOwnModes(t *testing.T) {
	o := open(t, outerConfig{}, "/bin/sh", "-c", `stty raw -echo; printf 'ready'; cat -v`)
	o.See("ready")
	o.Type("\x1b[A\x1b") // Up, then a lone Escape
	o.See("^[[A^[")
	o = open(t, outerConfig{}, "/bin/sh", "-c", `stty raw -echo; printf '\033[?1hready'; cat -v`)
	o.See("ready")
	o.Type("\x1b[A") // the child asked for application cursor keys
	o.See("^[OA")
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
	o.See("ready")
	o.Type("\x1b[200~" + string(paste) + "\x1b[201~")
	sum := sha256.Sum256(paste)
	o.See(hex.EncodeToString(sum[:])[:60])
}

func TestBracketsOfAPasteGoToWhoAskedForThem(t *testing.T) {
	o := open(t, outerConfig{}, "/bin/sh", "-c", `stty raw -echo; printf '\033[?2004hready'; cat -v`)
	o.See("ready")
	o.Type("\x1b[200~a\x02b\x1b[201~")
	o.See("^[[200~a^Bb^[[201~") // a prefix inside a paste is text
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
		o.See("ready")
		raw := o.Raw()
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
	o.See("$")
	o.Type("ls /proc/$PPID/fd | sort -n | tail -1; cd /proc/self/fd; echo fds * end\r")
	s := o.See("fds 0 ")
	if !strings.Contains(s, "fds 0 1 10 2 3 end") { // 10 is the shell's own terminal, 3 the listing
		t.Errorf("the shell holds more than its own descriptors:\n%s", s)
	}
	o.Type("seq 1 20000; exit\r")
	s = o.See("q closes")
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
			o.See("$")
			o.Type("echo before$((40+2))\r")
			o.See("before42")
			o.Type(stop)
			o.See("stopped: icanon echo")
			if o.Modes().AltScreen {
				t.Error("the alternate screen was left on")
			}
			o.Type("\r")
			o.Await("the window as it was", func(s string) bool {
				return strings.Contains(s, "before42") && !strings.Contains(s, "stopped:")
			})
			o.Type("echo after$((40+2))\r")
			o.See("after42")
			o.Type("exit\r")
		})
	}
}

// TestAStopThatNobodyCouldEndIsIgnored suspends a window without a job control
// shell around it: its process group is an orphan.
func TestAStopThatNobodyCouldEndIsIgnored(t *testing.T) {
	o := open(t, outerConfig{}, "/bin/sh")
	o.See("$")
	o.Type(prefixKey + "\x1a")
	o.See("not suspended: no shell")
	o.Type("echo after$((40+2))\r")
	o.See("after42")
}
