package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/internal/leak"
)

// TestMain lets the test binary be the program that inherited descriptors and
// the one that traces a child.
func TestMain(m *testing.M) {
	if pid := os.Getenv("HONESTTY_TEST_TRACE"); pid != "" {
		if err := trace(pid); err != nil {
			fmt.Println("FAIL", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if os.Getenv("HONESTTY_TEST_SEAL") != "" {
		if err := listsWhatChildrenGet(); err != nil {
			fmt.Println("FAIL", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if err := SealInherited(); err != nil {
		fmt.Println("FAIL", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

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

// A child is a Process whose output the test reads and whose end the test
// takes care of.
type child struct {
	*Process
	out *os.File
}

// script starts a shell script. The test reads its standard output.
func script(t testing.TB, p *fdwait.Poller, code string) child {
	t.Helper()
	c, err := startScript(p, code)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.SignalGroup(unix.SIGKILL)
		_, _ = c.Reap()
		c.out.Close()
	})
	return c
}

func startScript(p *fdwait.Poller, code string) (child, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return child{}, err
	}
	defer null.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return child{}, err
	}
	defer w.Close()
	c, err := Start(p, Spec{
		Path: "/bin/sh", Args: []string{"sh", "-c", code}, Env: os.Environ(),
		Files: [3]int{int(null.Fd()), int(w.Fd()), 2},
	})
	if err != nil {
		r.Close()
		return child{}, err
	}
	return child{c, r}, nil
}

// line reads one line of the child's output.
func (c child) line(t testing.TB) string {
	t.Helper()
	var b [1]byte
	var line strings.Builder
	for {
		if _, err := io.ReadFull(c.out, b[:]); err != nil {
			t.Fatalf("read the child's output after %q: %v", line.String(), err)
		}
		if b[0] == '\n' {
			return line.String()
		}
		line.WriteByte(b[0])
	}
}

func TestEndsAreToldAsTheSystemGaveThem(t *testing.T) {
	p := newPoller(t)
	for _, c := range []struct {
		code string
		want Status
	}{
		{"exit 0", Status{}},
		{"exit 7", Status{Code: 7}},
		{"kill -9 $$", Status{Code: -1, Signal: unix.SIGKILL}},
		{"kill -15 $$", Status{Code: -1, Signal: unix.SIGTERM}},
	} {
		ch := script(t, p, c.code)
		<-ch.Exited()
		if got, err := ch.Reap(); got != c.want || err != nil {
			t.Errorf("%s: %+v, %v; want %+v", c.code, got, err, c.want)
		}
		if again, err := ch.Reap(); again != c.want || err != nil {
			t.Errorf("%s: asked again: %+v, %v", c.code, again, err)
		}
	}
}

func TestAnEndThatSomebodyElseTookIsNotCalledSuccess(t *testing.T) {
	c := script(t, newPoller(t), "exit 0")
	<-c.Exited()
	if _, err := syscall.Wait4(c.PID, nil, 0, nil); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if st, err := c.Reap(); st.Code != -1 || !errors.Is(err, unix.ECHILD) {
			t.Errorf("reap = %+v, %v; want an unknown end and ECHILD", st, err)
		}
	}
}

func TestChildLeadsItsOwnGroupAndSession(t *testing.T) {
	c := script(t, newPoller(t), "echo ready; read wait")
	c.line(t)
	group, err := unix.Getpgid(c.PID)
	if err != nil || group != c.PID {
		t.Errorf("group = %d, %v; want %d", group, err, c.PID)
	}
	if sid, err := unix.Getsid(c.PID); err != nil || sid != c.PID {
		t.Errorf("session = %d, %v; want %d", sid, err, c.PID)
	}
}

func TestSignalReachesTheWholeGroup(t *testing.T) {
	c := script(t, newPoller(t), `sleep 100 & echo $!; wait`)
	member, err := strconv.Atoi(c.line(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SignalGroup(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, c.out); err != nil { // ends when both are gone
		t.Fatal(err)
	}
	if st, err := c.Reap(); st.Signal != unix.SIGKILL || err != nil {
		t.Errorf("leader: %+v, %v", st, err)
	}
	if s, err := readStat(member); err == nil && s.alive() {
		t.Errorf("member %d is still %c", member, s.state)
	}
}

func TestSignalAfterReapIsRefused(t *testing.T) {
	c := script(t, newPoller(t), "exit 0")
	<-c.Exited()
	if err := c.SignalGroup(unix.SIGTERM); err != nil {
		t.Errorf("signal to a zombie, whose pid is still its own: %v", err)
	}
	if _, err := c.Reap(); err != nil {
		t.Fatal(err)
	}
	if err := c.SignalGroup(unix.SIGTERM); !errors.Is(err, ErrReaped) {
		t.Errorf("signal after reap: %v, want ErrReaped", err)
	}
}

// TestSignalNeverReachesAReapedPid lets several goroutines signal while the
// child is reaped. A signal that left after the reap would reach nobody
// (ESRCH), or somebody else; both are wrong.
func TestSignalNeverReachesAReapedPid(t *testing.T) {
	p := newPoller(t)
	for range 100 {
		c, err := startScript(p, "exit 0")
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for {
					err := c.SignalGroup(unix.SIGCONT)
					if errors.Is(err, ErrReaped) {
						return
					}
					if err != nil {
						t.Errorf("signal: %v", err)
						return
					}
				}
			})
		}
		if _, err := c.Reap(); err != nil {
			t.Error(err)
		}
		wg.Wait()
		c.out.Close()
	}
}

// TestClosedPollerStillSeesTheEnd takes the Poller away from a running child.
func TestClosedPollerStillSeesTheEnd(t *testing.T) {
	p, err := fdwait.New()
	if err != nil {
		t.Fatal(err)
	}
	c := script(t, p, "echo ready; exec sleep 100")
	c.line(t)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.SignalGroup(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-c.Exited()
	if s, err := readStat(c.PID); err != nil || s.state != 'Z' {
		t.Errorf("state %c, %v; the pid must stay the child's until Reap", s.state, err)
	}
	if err := c.SignalGroup(unix.SIGTERM); err != nil {
		t.Errorf("signal before Reap: %v", err)
	}
	if st, err := c.Reap(); err != nil || st.Signal != unix.SIGTERM {
		t.Errorf("reap = %+v, %v; the end is known although nobody could wait for it", st, err)
	}
}

func TestStartThatCannotBeWatchedLeavesNothingRunning(t *testing.T) {
	live := newPoller(t)
	warm := script(t, live, "exit 0")
	<-warm.Exited()
	before := leak.Take(t)
	p, err := fdwait.New()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	pidFile := filepath.Join(t.TempDir(), "pid")
	for range 20 {
		_, err := startScript(p, "echo $$ > '"+pidFile+"'; exec sleep 100")
		if !errors.Is(err, fdwait.ErrClosed) {
			t.Fatalf("start = %v, want ErrClosed", err)
		}
	}
	if raw, err := os.ReadFile(pidFile); err == nil && len(raw) > 1 {
		pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
		if err != nil {
			t.Fatal(err)
		}
		if s, err := readStat(pid); err == nil {
			t.Errorf("pid %d is left as %c", pid, s.state)
		}
	}
	if err := childrenOf(os.Getpid(), warm.PID); err != nil {
		t.Error(err)
	}
	before.Check(t)
}

// childrenOf returns an error that names a child of pid other than but,
// zombies included.
func childrenOf(pid, but int) error {
	all, err := pids()
	if err != nil {
		return err
	}
	for _, other := range all {
		raw, err := os.ReadFile("/proc/" + strconv.Itoa(other) + "/stat")
		if err != nil || other == but {
			continue
		}
		f := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
		if len(f) > 1 && f[1] == strconv.Itoa(pid) {
			return fmt.Errorf("child %d is left in state %s", other, f[0])
		}
	}
	return nil
}

func TestStartThatFailsLeavesNothing(t *testing.T) {
	p := newPoller(t)
	warm := script(t, p, "exit 0")
	<-warm.Exited()
	before := leak.Take(t)
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("no program\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{
		filepath.Join(dir, "none"): unix.ENOENT,
		dir:                        unix.EACCES,
		text:                       unix.ENOEXEC,
	} {
		_, err := Start(p, Spec{Path: path, Args: []string{path}, Files: [3]int{0, 1, 2}})
		if !errors.Is(err, want) {
			t.Errorf("start %s = %v, want %v", path, err, want)
		}
	}
	if err := childrenOf(os.Getpid(), warm.PID); err != nil {
		t.Error(err)
	}
	before.Check(t)
}

func TestManyChildrenCostOneDescriptorEach(t *testing.T) {
	p := newPoller(t)
	first := script(t, p, "read wait")
	before := leak.Descriptors(t)
	second := script(t, p, "read wait")
	if cost := leak.Descriptors(t) - before; cost != 2 {
		t.Errorf("a child costs %d descriptors, want 2: its pidfd and the test's end of its output", cost)
	}
	for _, c := range []child{first, second} {
		_ = c.SignalGroup(unix.SIGKILL)
		if _, err := c.Reap(); err != nil {
			t.Error(err)
		}
	}
}

// TestSealInheritedKeepsDescriptorsFromChildren runs this binary with two
// descriptors more than it should have.
func TestSealInheritedKeepsDescriptorsFromChildren(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for sealed, want := range map[string]string{
		"no":  "0 1 2 3 4 5\n", // 3 and 4 leak, 5 is the folder being listed
		"yes": "0 1 2 3\n",
	} {
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), "HONESTTY_TEST_SEAL="+sealed)
		cmd.ExtraFiles = []*os.File{null, null}
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != want {
			t.Errorf("sealed %s: the child holds %q, %v; want %q", sealed, out, err, want)
		}
	}
}

func listsWhatChildrenGet() error {
	if os.Getenv("HONESTTY_TEST_SEAL") == "yes" {
		if err := SealInherited(); err != nil {
			return err
		}
	}
	p, err := fdwait.New()
	if err != nil {
		return err
	}
	c, err := Start(p, Spec{
		Path: "/bin/sh", Args: []string{"sh", "-c", "cd /proc/self/fd && echo *"},
		Env: os.Environ(), Files: [3]int{0, 1, 2},
	})
	if err != nil {
		return err
	}
	st, err := c.Reap()
	if err == nil && st.Code != 0 {
		err = fmt.Errorf("exit %d", st.Code)
	}
	return errors.Join(err, p.Close())
}

func TestStatusOfAStoppedChildIsNoEnd(t *testing.T) {
	c := script(t, newPoller(t), "echo ready; kill -STOP $$; echo on; exit 3")
	c.line(t)
	for { // the state is the kernel's to change; Exited must not close for it
		s, err := readStat(c.PID)
		if err != nil {
			t.Fatal(err)
		}
		if s.state == 'T' {
			break
		}
	}
	select {
	case <-c.Exited():
		t.Fatal("a stopped child was called ended")
	default:
	}
	if err := c.SignalGroup(unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if got := c.line(t); got != "on" {
		t.Errorf("line = %q", got)
	}
	if st, err := c.Reap(); st.Code != 3 || err != nil {
		t.Errorf("reap = %+v, %v", st, err)
	}
}

func TestChildKeepsTheSoftLimitOfTheUser(t *testing.T) {
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("/bin/sh", "-c", `ulimit -Sn 256; HONESTTY_TEST_LIMIT=1 exec "$0" -test.run '^TestSoftLimitHelper$'`, exe).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "soft limit 256\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestSoftLimitHelper is the program that TestChildKeepsTheSoftLimitOfTheUser
// starts under a limit of its own.
func TestSoftLimitHelper(t *testing.T) {
	if os.Getenv("HONESTTY_TEST_LIMIT") == "" {
		t.Skip("skipped: only a helper")
	}
	c := script(t, newPoller(t), "echo soft limit $(ulimit -Sn)")
	fmt.Println(c.line(t))
}

// trace attaches to a process and leaves its end untaken until standard input
// closes.
func trace(pid string) error {
	n, err := strconv.Atoi(pid)
	if err != nil {
		return err
	}
	runtime.LockOSThread() // ptrace(2) belongs to a thread
	if err := unix.PtraceAttach(n); err != nil {
		return fmt.Errorf("attach: %w", err)
	}
	if _, err := unix.Wait4(n, nil, unix.WALL, nil); err != nil {
		return fmt.Errorf("wait: %w", err)
	}
	if err := unix.PtraceCont(n, 0); err != nil {
		return fmt.Errorf("continue: %w", err)
	}
	fmt.Println("attached")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// TestTracedChildIsWaitedForWithoutSpinning has a debugger hold back the end:
// the pidfd is ready then, and the zombie is visible to the debugger alone.
func TestTracedChildIsWaitedForWithoutSpinning(t *testing.T) {
	c := script(t, newPoller(t), "echo ready; read wait; exec sleep 100")
	c.line(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tracer := exec.Command(exe)
	tracer.Env = append(os.Environ(), "HONESTTY_TEST_TRACE="+strconv.Itoa(c.PID))
	in, err := tracer.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := tracer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := tracer.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, len("attached"))
	if _, err := io.ReadFull(out, said); err != nil || string(said) != "attached" {
		_ = tracer.Wait()
		t.Skipf("skipped: nobody may trace here (%q, %v)", said, err)
	}
	if err := c.SignalGroup(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for {
		s, err := readStat(c.PID)
		if err != nil {
			t.Fatal(err)
		}
		if s.state == 'Z' {
			break
		}
	}
	before, began := cpu(t), time.Now()
	if err := exec.Command("sleep", "0.3").Run(); err != nil {
		t.Fatal(err)
	}
	used, took := cpu(t)-before, time.Since(began)
	select {
	case <-c.Exited():
		t.Error("the end was told while the debugger still had it")
	default:
	}
	if used > took/2 {
		t.Errorf("waiting for a traced child used %v of CPU in %v", used, took)
	}
	in.Close()
	if err := tracer.Wait(); err != nil {
		t.Error(err)
	}
	if st, err := c.Reap(); st.Signal != unix.SIGKILL || err != nil {
		t.Errorf("reap = %+v, %v", st, err)
	}
}

// cpu is the CPU time this process has used.
func cpu(t *testing.T) time.Duration {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func TestAProcessOfTheSameProgramIsKnown(t *testing.T) {
	if args, same := SameProgram(os.Getpid()); !same || !slices.Equal(args, os.Args) {
		t.Errorf("this process: %q, %v", args, same)
	}
	other := exec.Command("sleep", "1000")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	if args, same := SameProgram(other.Process.Pid); same {
		t.Errorf("another program: %q", args)
	}
	if args, same := SameProgram(1 << 30); same {
		t.Errorf("no process: %q", args)
	}
}
