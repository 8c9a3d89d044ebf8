package doctor

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

const goarch = runtime.GOARCH

// TestARealProcessInSelectIsCaught looks at perl, whose four-argument select
// is select(2), holding a descriptor of number 1500.
func TestARealProcessInSelectIsCaught(t *testing.T) {
	perl, err := exec.LookPath("perl")
	if err != nil {
		t.Skip("perl is not installed")
	}
	if _, known := waitNumbers[goarch]; !known {
		t.Skip("no numbers for this architecture")
	}
	cmd := exec.Command("sh", "-c", `ulimit -n 2048 && exec "$0" -MPOSIX -e '$|=1; POSIX::dup2(0, 1500) or die; print "ready\n"; select(undef, undef, undef, 600)'`, perl)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("perl with a high limit does not start: %v", err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Skipf("perl said %q: %v", line, err)
	}
	// It says "ready" a moment before it is there.
	var c Check
	for range 100_000 {
		c = Check{Name: "select"}
		selectExposure(t.Context(), Env{PIDs: []int{cmd.Process.Pid}}.filled(), &c)
		if c.Verdict == Failure {
			break
		}
		runtime.Gosched()
	}
	wants(t, c, Failure, "highest number 1,500", "1 in select")
	limits(t.Context(), Env{PIDs: []int{cmd.Process.Pid}}.filled(), &c)
	wants(t, c, Failure, "soft limit 2", "by prlimit")
}

func TestAllChecksRunOnThisMachine(t *testing.T) {
	env := Env{
		State:     filepath.Join(t.TempDir(), "honestty"),
		Waiting:   "epoll",
		Leftovers: []Leftover{{What: "sockets", Folder: t.TempDir(), Dead: SocketDead}},
	}
	checks := Run(t.Context(), env)
	if len(checks) != 10 {
		t.Errorf("%d checks", len(checks))
	}
	for _, c := range checks {
		if len(c.Evidence) == 0 || c.Why == "" || (c.Remedy == "") != (c.Verdict == OK) {
			t.Errorf("%+v", c)
		}
	}
	if _, err := os.Stat(env.State); err == nil {
		t.Error("a check made the state folder")
	}
	t.Log("\n" + strings.Join(Lines(checks), "\n"))
}

func TestARealProcessOfAWindowThatIsGoneIsFound(t *testing.T) {
	// A name of its own: this test may run a second time beside this one.
	variable := fmt.Sprintf("HONESTTY_TEST_OUTLIVED_%d", os.Getpid())
	gone := filepath.Join(t.TempDir(), "1.sock")
	cmd := exec.Command("sleep", "1000")
	cmd.Env = []string{variable + "=" + gone}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := check(t, Env{SocketVariable: variable}, "outlived")
	wants(t, c, Attention, fmt.Sprintf("sleep (%d): sleep 1000, since ", cmd.Process.Pid), "its window was "+gone)
	if err := cmd.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("it was signalled: %v", err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if c := check(t, Env{SocketVariable: variable}, "outlived"); c.Verdict == Attention {
		t.Errorf("after its end: %v", c.Evidence)
	}
}
