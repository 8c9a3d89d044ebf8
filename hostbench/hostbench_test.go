package hostbench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/internal/leak"
)

// asHolder makes the test binary hold descriptors and become its arguments.
const asHolder = "-hold"

var poller *fdwait.Poller

func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == asHolder {
		n, err := strconv.Atoi(os.Args[2])
		if err == nil {
			err = HoldAndExec(n, os.Args[3:], os.Environ())
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if poller, err = fdwait.New(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer poller.Close()
	return m.Run()
}

func testConfig(hosts ...string) Config {
	return Config{
		Poller: poller, Version: "test", Hosts: hosts, Runs: 1, Tails: []int{1, 770}, Limits: []int{10, 64}, short: time.Second,
		Self:   os.Args[0],
		Helper: func(held int) []string { return []string{os.Args[0], asHolder, strconv.Itoa(held)} },
	}
}

// TestRealHostsAreMeasured drives every host of others that is here. What is
// not is named. Our own are driven by the tests of the command.
func TestRealHostsAreMeasured(t *testing.T) {
	if testing.Short() {
		t.Skip("every host is driven for seconds")
	}
	before := leak.Take(t)
	t.Run("all", func(t *testing.T) {
		for _, name := range []string{"tmux", "screen", "script", "expect", "mprocs"} {
			t.Run(name, func(t *testing.T) {
				if _, err := exec.LookPath(name); err != nil {
					t.Skipf("%s is not installed", name)
				}
				t.Parallel()
				measured(t, name)
			})
		}
	})
	before.Check(t)
}

func measured(t *testing.T, name string) {
	c := testConfig(name)
	c.dir = t.TempDir()
	r, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range r.Measures {
		c := m.Cells[0]
		t.Logf("%s: %s (%d of %d) %s", m.Name, c.short(), c.Good, c.Runs, c.Says)
		if c.State == StateUnknown || c.State == StateNotInstalled || c.State == StateNotMeasured {
			t.Errorf("%s: %q: %s", m.Name, c.State, c.Says)
		}
	}
	if one := r.Measures[0].Cells[0]; one.State != StateKept {
		t.Errorf("one line: %+v", one)
	}
	if r.Hosts[0].Version == "" && name != "script" {
		t.Error("no version")
	}
	nothingLeft(t, c.dir)
}

// nothingLeft fails when a folder of a run is still there, or a process of it
// stays. One that its host has told to end may take a moment for that.
func nothingLeft(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var runs string
	err = until(ctx, "ps", func() (bool, error) {
		out, err := exec.Command("ps", "-axww", "-o", "args=").Output()
		runs = ""
		for line := range strings.Lines(string(out)) {
			if strings.Contains(line, dir+"/") {
				runs += line
			}
		}
		return runs == "", err
	})
	if err != nil {
		t.Errorf("%v; still runs: %s", err, runs)
	}
}

func TestAnInterruptEndsEveryHost(t *testing.T) {
	for _, h := range []host{tmux{}, screen{}, script{}, expect{}} {
		t.Run(h.name(), func(t *testing.T) {
			if _, err := exec.LookPath(h.program()); err != nil {
				t.Skipf("%s is not installed", h.name())
			}
			t.Setenv("TMPDIR", t.TempDir())
			before := leak.Take(t)
			b, err := newBed(testConfig().filled())
			if err != nil {
				t.Fatal(err)
			}
			started := b.at("started")
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				_, err := h.run(ctx, b, Task{Command: []string{"sh", "-c", "touch " + started + "; exec sleep 600"}, History: 100})
				ended <- err
			}()
			if err := until(t.Context(), h.name(), func() (bool, error) {
				select {
				case err := <-ended:
					return false, fmt.Errorf("it has ended before it was asked to: %w", err)
				default:
					return exists(started), nil
				}
			}); err != nil {
				t.Fatal(err)
			}
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("err = %v", err)
			}
			if err := b.close(); err != nil {
				t.Error(err)
			}
			before.Check(t)
			nothingLeft(t, os.Getenv("TMPDIR"))
		})
	}
}

// A fake is a host whose answers are known.
type fake struct {
	kept func(t Task) Kept
	err  error
}

func (fake) name() string                                  { return "fake" }
func (fake) program() string                               { return "sh" }
func (fake) version(context.Context, *bed) (string, error) { return "1", nil }
func (f fake) run(_ context.Context, _ *bed, t Task) (Kept, error) {
	return f.kept(t), f.err
}

func lines(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintln(&b, i)
	}
	return b.String()
}

func testBed(t *testing.T) *bed {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	b, err := newBed(testConfig().filled())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func TestEveryMeasureTellsKeptFromShort(t *testing.T) {
	code := func(n int) *int { return &n }
	b := testBed(t)
	for _, c := range []struct {
		name   string
		judge  func(context.Context, *bed, host) (Cell, error)
		kept   Kept
		state  State
		figure string
	}{
		{"tail, all", tailOf(770).judge, Kept{Text: lines(1, 770)}, StateKept, "1 of 1"},
		{"tail, one line less", tailOf(770).judge, Kept{Text: lines(1, 769), End: End{Words: "status 0"}}, StateShort, "0 of 1"},
		{"inherited, nothing", held, Kept{Trouble: "SIGABRT"}, StateShort, "0 of 770 lines"},
		{"few, whole", few, Kept{Text: lines(1, 3)}, StateKept, "2 whole"},
		{"few, says why", few, Kept{Trouble: "exit 1", Said: "Too many open files"}, StateKept, "2 said why"},
		{"few, an empty success", few, Kept{End: End{Code: code(0)}}, StateShort, "2 said nothing"},
		{"few, dies of it and says so", few, Kept{Trouble: "SIGABRT", Said: "Too many open files"}, StateShort, "2 died or hung"},
		{"cut, told", cut, Kept{Text: lines(4501, 5000), Cut: 4500, CutSays: "4,500 rows"}, StateKept, "500 kept, says 4,500 are gone"},
		{"cut, another number", cut, Kept{Text: lines(4501, 5000), Cut: 4499}, StateShort, "500 kept, says 4,499 are gone"},
		{"cut, not told", cut, Kept{Text: lines(4501, 5000)}, StateShort, "500 of 5,000 kept, says nothing"},
		{"cut, nothing is", cut, Kept{Text: lines(1, 5000)}, StateKept, "keeps all 5,000"},
		{"ends, 7 only", ends, Kept{End: End{Code: code(7)}}, StateShort, "1 of 2"},
		{"ends, no word", ends, Kept{}, StateShort, "0 of 2"},
		{"hostile, no marker", hostile, Kept{}, StateShort, "what follows is not shown"},
	} {
		got, err := c.judge(t.Context(), b, fake{kept: func(Task) Kept { return c.kept }})
		if err != nil || got.State != c.state || got.Figure != c.figure {
			t.Errorf("%s: %q %q, %v; want %q %q", c.name, got.State, got.Figure, err, c.state, c.figure)
		}
	}
}

func TestAnAnswerToHostileBytesIsShort(t *testing.T) {
	b := testBed(t)
	for answer, want := range map[string]string{"": "shown, 0 answered", "\x04": "shown, 0 answered", "\x1b]lsh\x1b\\": "shown, 2 answered"} {
		c, err := hostile(t.Context(), b, fake{kept: func(task Task) Kept {
			_, rest, _ := strings.Cut(task.Command[2], "of='")
			file, _, _ := strings.Cut(rest, "'")
			if err := os.WriteFile(file, []byte(answer), 0o600); err != nil {
				t.Fatal(err)
			}
			return Kept{Text: marker}
		}})
		if err != nil || c.Figure != want {
			t.Errorf("%q: %q, %v; want %q", answer, c.Figure, err, want)
		}
	}
}

func TestAHostThatIsNotThereIsNotMeasured(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	r, err := Run(t.Context(), testConfig("tmux"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range r.Measures {
		if c := m.Cells[0]; c.State != StateNotInstalled || c.Runs != 0 || c.Figure != "" {
			t.Errorf("%s: %+v", m.Name, c)
		}
	}
	if r.Kept(true) || !r.Kept(false) {
		t.Errorf("kept: named %v, not named %v", r.Kept(true), r.Kept(false))
	}
	if _, _, err := TailsOf(t.Context(), testConfig(), "tmux", 5); !errors.Is(err, ErrNotInstalled) {
		t.Errorf("err = %v", err)
	}
	if _, err := Run(t.Context(), testConfig("emacs")); !errors.Is(err, ErrHost) {
		t.Errorf("err = %v", err)
	}
}

func TestHeldDescriptorsAreContiguousAndInherited(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("there is no /proc/self/fd here")
	}
	b := testBed(t)
	argv, err := b.start(Task{Held: 1100}, "sh", "-c", "exec 2>&-; cd /proc/self/fd && echo *")
	if errors.Is(err, ErrHard) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.do(t.Context(), b.dir, argv...)
	if err != nil || !r.ok() {
		t.Fatalf("%+v, %v", r, err)
	}
	have := map[string]bool{}
	for _, n := range strings.Fields(r.out) {
		have[n] = true
	}
	for fd := 3; fd < 1103; fd++ {
		if !have[strconv.Itoa(fd)] {
			t.Fatalf("descriptor %d is not held", fd)
		}
	}
	if _, err := b.start(Task{Held: 1 << 30}, "sh"); !errors.Is(err, ErrHard) {
		t.Errorf("err = %v", err)
	}
}

// TestARaceBuildIsToldHowToEnd: the other variables of whoever runs it are not
// passed on.
func TestARaceBuildIsToldHowToEnd(t *testing.T) {
	t.Setenv(raceOptions, "atexit_sleep_ms=0")
	t.Setenv("HONESTTY_TEST_OTHER", "1")
	b := testBed(t)
	r, err := b.do(t.Context(), b.dir, "sh", "-c", `echo "$GORACE|$HONESTTY_TEST_OTHER"`)
	if err != nil || r.out != "atexit_sleep_ms=0|\n" {
		t.Errorf("%q, %v", r.out, err)
	}
}

func TestAProgramThatIsSlowIsKilled(t *testing.T) {
	b := testBed(t)
	p, err := b.launch(b.dir, "sh", "-c", "trap '' TERM HUP; echo up; sleep 600")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithDeadlineCause(t.Context(), testStart, nil)
	defer cancel()
	r, err := p.end(ctx)
	if !errors.Is(err, ErrSlow) || r.signal != syscall.SIGKILL {
		t.Errorf("%+v, %v", r, err)
	}
}
