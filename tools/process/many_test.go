package process

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/internal/leak"
	"github.com/honestty/honestty/outcome"
)

// hold opens descriptors until n are held.
func hold(t *testing.T, n int) {
	t.Helper()
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		t.Fatal(err)
	}
	if lim.Cur < uint64(n)+200 {
		t.Skipf("skipped: the limit is %d descriptors", lim.Cur)
	}
	for range n {
		fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(fd) })
	}
}

func TestResultsAreCompleteWithManyDescriptorsHeld(t *testing.T) {
	for _, n := range []int{1100, 10_000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			hold(t, n)
			table := open(t, Options{})
			for _, pty := range []bool{false, true} {
				j := start(t, table, Spec{Command: sh("seq 1 20000; read x; echo got $x; cd /proc/self/fd && echo *"), PTY: pty})
				awaitOutput(t, j, "20000")
				if _, err := j.Submit("it"); err != nil {
					t.Fatal(err)
				}
				out := strings.ReplaceAll(all(t, j), "\r", "")
				i := ended(t, j)
				if !strings.HasPrefix(out, "1\n2\n") || !strings.Contains(out, "\n20000\n") || !strings.HasSuffix(out, "got it\n0 1 2 3\n") {
					t.Errorf("pty %v: %d bytes that end with %q", pty, len(out), out[max(0, len(out)-60):])
				}
				if st, err := judge(i); st != outcome.Complete || err != nil || !i.Capture.Whole() || i.Kept.Discarded != 0 {
					t.Errorf("pty %v: %v, %v, %+v", pty, st, err, i)
				}
				k := start(t, table, Spec{Command: sh("echo up; exec sleep 100"), PTY: pty})
				awaitOutput(t, k, "up")
				if r, err := k.Kill(t.Context(), 0); err != nil || r.Info.Signal != unix.SIGTERM {
					t.Errorf("pty %v: %+v, %v", pty, r, err)
				}
			}
		})
	}
}

func TestStartWithoutDescriptorsIsAnErrorAndLeavesNothing(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", "-c", `ulimit -n 80 && exec "$0"`, self)
	cmd.Env = append(os.Environ(), helperEnv+"=exhausted", "JOBS="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "fine\n" {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestJobsOneAfterAnotherLeaveNothing(t *testing.T) {
	n := 200
	if os.Getenv("HONESTTY_SOAK") != "" {
		n = 1000
	}
	dir := t.TempDir()
	table := open(t, Options{Dir: dir})
	run := func(k int) {
		j := start(t, table, Spec{Command: []string{"/bin/echo", fmt.Sprint(k)}, PTY: k%10 == 0})
		i := ended(t, j)
		if st, err := judge(i); st != outcome.Complete || err != nil || i.Kept.Lines != 1 {
			t.Fatalf("job %d: %v, %v, %+v", k, st, err, i)
		}
		p, err := j.Tail(100)
		if err != nil || strings.TrimSpace(p.Text()) != fmt.Sprint(k) {
			t.Fatalf("job %d: %q, %v", k, p.Text(), err)
		}
	}
	run(10)
	before := leak.Take(t)
	for k := range n {
		run(k)
	}
	before.Check(t)
	if got := len(table.List()); got != DefaultMaxJobs {
		t.Errorf("%d jobs are kept", got)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2*DefaultMaxJobs {
		t.Errorf("%d files, %v", len(left), err)
	}
	if ps := table.Problems(); len(ps) != 0 {
		t.Error(ps)
	}
}

func TestLiveJobCostsFourDescriptorsWithPipesAndThreeWithATerminal(t *testing.T) {
	table := open(t, Options{})
	for pty, want := range map[bool]int{false: 4, true: 3} {
		warm := start(t, table, Spec{Command: []string{"cat"}, PTY: pty}) // and what the runtime opens once
		before := leak.Descriptors(t)
		j := start(t, table, Spec{Command: []string{"cat"}, PTY: pty})
		if got := leak.Descriptors(t) - before; got != want {
			t.Errorf("pty %v: %d descriptors, want %d", pty, got, want)
		}
		for _, j := range []*Job{warm, j} {
			if _, err := j.Kill(t.Context(), 0); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestAllTheJobsAtOnceLoseNothing(t *testing.T) {
	table := open(t, Options{})
	before := leak.Take(t)
	var wg sync.WaitGroup
	for k := range DefaultMaxJobs {
		wg.Go(func() {
			j, err := table.Start(Spec{Command: sh("seq 1 5000; read x; echo $x"), PTY: k%8 == 0})
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := j.Submit(fmt.Sprint("end ", k)); err != nil {
				t.Error(err)
			}
			out := strings.ReplaceAll(all(t, j), "\r", "")
			if !strings.Contains(out, "\n5000\n") || !strings.HasSuffix(out, fmt.Sprintf("end %d\n", k)) {
				t.Errorf("job %d: %d bytes that end with %q", k, len(out), out[max(0, len(out)-40):])
			}
			if i := ended(t, j); *i.ExitCode != 0 || !i.Capture.Whole() {
				t.Errorf("job %d: %+v", k, i)
			}
		})
	}
	wg.Wait()
	before.Check(t)
}

func TestFloodIsBoundedOnDiskAndInMemory(t *testing.T) {
	table := open(t, Options{LogLimit: 1 << 20})
	j := start(t, table, Spec{Command: sh("yes 'a line of a flood' | head -c 64000000; echo last")})
	i := ended(t, j)
	if i.Kept.Total != 64_000_005 || i.Kept.Total-i.Kept.Discarded > 1<<20+2*tailSize || !i.Kept.keepsTail() {
		t.Errorf("%+v", i.Kept)
	}
	if i.Capture.State() != outcome.StateTruncated {
		t.Errorf("%v", i.Capture.State())
	}
	p, err := j.LastLines(1)
	if err != nil || !strings.HasSuffix(p.Text(), "last\n") {
		t.Errorf("%q, %v", p.Text(), err)
	}
	if _, err := j.Read(0, make([]byte, 1)); err == nil || err == io.EOF {
		t.Errorf("what was dropped reads as %v", err)
	}
}

func (k Kept) keepsTail() bool { return k.Total-k.From >= 7<<17 }
