package ptybridge

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/internal/proc"
	"github.com/honestty/honestty/outcome"
)

// TestMain lets the test binary be the program under a descriptor limit.
func TestMain(m *testing.M) {
	if err := proc.SealInherited(); err != nil {
		fmt.Println("FAIL", err)
		os.Exit(1)
	}
	if os.Getenv("HONESTTY_TEST_EMFILE") != "" {
		if err := emfileSweep(); err != nil {
			fmt.Println("FAIL", err)
			os.Exit(1)
		}
		fmt.Println("swept")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestEveryStepOfAStartSurvivesEMFILE runs the sweep in a process that may
// hold 64 descriptors. The limit is the shell's; we set none.
func TestEveryStepOfAStartSurvivesEMFILE(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", "-c", `ulimit -n 64; exec "$0"`, exe)
	cmd.Env = append(os.Environ(), "HONESTTY_TEST_EMFILE=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "swept") {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, step := range []string{"open a terminal pair", "start /bin/true"} {
		if !strings.Contains(string(out), "EMFILE at: "+step) {
			t.Errorf("no start failed at %q:\n%s", step, out)
		}
	}
	t.Logf("%s", out)
}

// emfileSweep leaves 0, 1, 2 … descriptors free and starts a child each time.
// It must start or fail with EMFILE at a named step, and must leave nothing.
func emfileSweep() error {
	p, err := fdwait.New()
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for free := range 14 {
		fillers, err := fill()
		if err != nil {
			return err
		}
		for _, fd := range fillers[len(fillers)-free:] {
			_ = unix.Close(fd)
		}
		fillers = fillers[:len(fillers)-free]
		b, err := Start(Config{Command: []string{"/bin/true"}, Poller: p, Output: func([]byte) {}, Env: []string{}})
		if err == nil {
			if e := b.Exit(); e.Code != 0 || e.Capture.State() != outcome.StateComplete {
				return fmt.Errorf("%d free: started and ended with %+v", free, e)
			}
			fmt.Println("started with", free, "free")
		} else {
			se, ok := errors.AsType[*outcome.StartError](err)
			if !ok || !errors.Is(err, unix.EMFILE) {
				return fmt.Errorf("%d free: %w", free, err)
			}
			if !seen[se.Step] {
				seen[se.Step] = true
				fmt.Println("EMFILE at:", se.Step)
			}
		}
		again, err := fill()
		if err != nil {
			return err
		}
		if len(again) != free {
			return fmt.Errorf("%d were free before the start and %d after it", free, len(again))
		}
		for _, fd := range append(fillers, again...) {
			_ = unix.Close(fd)
		}
	}
	b, err := Start(Config{Command: []string{"/bin/true"}, Poller: p, Output: func([]byte) {}, Env: []string{}})
	if err != nil {
		return fmt.Errorf("with descriptors back: %w", err)
	}
	b.Exit()
	return p.Close()
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

func TestReadersWorkPast1024Descriptors(t *testing.T) {
	for _, hold := range []int{1100, 10000} {
		t.Run(strconv.Itoa(hold), func(t *testing.T) {
			var lim unix.Rlimit
			if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &lim); err != nil {
				t.Fatal(err)
			}
			if lim.Cur < uint64(hold)+100 {
				t.Skipf("skipped: this machine allows %d descriptors", lim.Cur)
			}
			p := newPoller(t)
			for range hold {
				fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
				if err != nil {
					t.Fatal(err)
				}
				defer unix.Close(fd)
			}
			b, out := start(t, p, Config{Command: sh("stty -echo; echo ready; read go; seq 1 20000")})
			out.await("ready")
			if fd := b.masterForTest(); fd <= hold {
				t.Fatalf("the master is descriptor %d; the test holds too few", fd)
			}
			if _, err := b.Write([]byte("\n")); err != nil {
				t.Fatal(err)
			}
			e := b.Exit()
			if e.Capture.State() != outcome.StateComplete || e.Capture.Read != 128894+int64(len("ready\r\n")) || !strings.HasSuffix(out.String(), "20000\r\n") {
				t.Errorf("exit = %+v", e)
			}
		})
	}
}

func (b *Bridge) masterForTest() int {
	b.sizeMu.Lock()
	defer b.sizeMu.Unlock()
	return b.master
}
