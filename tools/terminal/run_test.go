package terminal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/internal/leak"
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

func run(t testing.TB, s Spec) *outcome.Result {
	t.Helper()
	if s.Poller == nil {
		s.Poller = newPoller(t)
	}
	return Run(t.Context(), s)
}

func sh(script string) []string { return []string{"/bin/sh", "-c", script} }

func TestBothStreamsShareOnePipeInTheirTrueOrder(t *testing.T) {
	r := run(t, Spec{Command: sh("echo a; echo b >&2; echo c")})
	if string(r.Output.Bytes) != "a\nb\nc\n" || r.Status != outcome.Complete || r.Err != nil || *r.ExitCode != 0 || r.Stderr != nil {
		t.Errorf("%+v", r)
	}
}

func TestSplitKeepsTheStreamsApart(t *testing.T) {
	r := run(t, Spec{Command: sh("echo a; echo b >&2; echo c"), Split: true})
	if string(r.Output.Bytes) != "a\nc\n" || string(r.Stderr.Bytes) != "b\n" || r.Status != outcome.Complete {
		t.Errorf("%+v", r)
	}
}

func TestExitCodeAndSignalAreKeptApart(t *testing.T) {
	r := run(t, Spec{Command: sh("echo no; exit 3")})
	if *r.ExitCode != 3 || r.Signal != 0 || r.Status != outcome.Failed || r.Err.Error() != "exit 3" || r.State() != outcome.StateComplete {
		t.Errorf("%+v", r)
	}
	r = run(t, Spec{Command: sh("kill -9 $$")})
	if r.ExitCode != nil || r.Signal != unix.SIGKILL || r.Status != outcome.Failed {
		t.Errorf("%+v", r)
	}
}

func TestZeroBytesAreToldApart(t *testing.T) {
	r := run(t, Spec{Command: []string{"true"}})
	if !r.Output.Capture.Empty() || r.Output.Capture.Sentence() != "0 bytes, end seen" || r.Status != outcome.Complete {
		t.Errorf("true: %+v", r)
	}
	for name, f := range map[string]fault{
		"read": {read: func(int, []byte) (int, error) { return 0, unix.EIO }},
	} {
		r = run(t, Spec{Command: sh("echo gone"), fault: f})
		c := r.Output.Capture
		if len(r.Output.Bytes) != 0 || c.Empty() || c.State() != outcome.StateLost || r.Status != outcome.Failed || !errors.Is(r.Err, unix.EIO) || *r.ExitCode != 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestNoPathYieldsCompleteWithoutAnEnd walks the results that carry no bytes.
func TestNoPathYieldsCompleteWithoutAnEnd(t *testing.T) {
	for _, end := range []outcome.End{outcome.EndUnknown, outcome.EndStopped, outcome.EndBroken} {
		code := 0
		r := &outcome.Result{PID: 1, ExitCode: &code, Output: outcome.Stream{Capture: outcome.Capture{End: end}}}
		r.Judge(nil)
		if r.Status == outcome.Complete || r.Err == nil || r.Output.Capture.Empty() {
			t.Errorf("end %v: %+v", end, r)
		}
	}
}

func TestHeldStreamIsDetachedAndNamesItsHolder(t *testing.T) {
	t.Parallel()
	began := time.Now()
	r := run(t, Spec{Command: sh("(sleep 20; echo late) & echo $!")})
	took := time.Since(began)
	pid, err := strconv.Atoi(strings.TrimSpace(string(r.Output.Bytes)))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Kill(-r.PID, unix.SIGKILL)
	if r.State() != outcome.StateDetached || r.Status != outcome.Partial || !errors.Is(r.Err, outcome.ErrDetached) {
		t.Errorf("%+v", r)
	}
	found := false
	for _, h := range r.Output.Capture.Holders {
		found = found || h.PID == pid
	}
	if !found {
		t.Errorf("holders %v do not name %d", r.Output.Capture.Holders, pid)
	}
	if took > 15*time.Second { // the held stream lasts 20
		t.Errorf("waited %v for a stream that somebody else held", took)
	}
}

func TestChatteringHolderDoesNotKeepTheCall(t *testing.T) {
	t.Parallel()
	r := run(t, Spec{Command: sh("yes & echo started"), Keep: 1 << 10})
	defer unix.Kill(-r.PID, unix.SIGKILL)
	if r.State() != outcome.StateDetached {
		t.Errorf("state %v: %+v", r.State(), r.Output.Capture)
	}
}

func TestTimeoutStopsTheGroupAndIsAnError(t *testing.T) {
	t.Parallel()
	for _, s := range []Spec{{}, {PTY: true}} {
		s.Command = sh("trap '' HUP TERM; echo before; while :; do sleep 0.05; done")
		s.Timeout = 300 * time.Millisecond
		r := run(t, s)
		if r.Status != outcome.Failed || !errors.Is(r.Err, outcome.ErrTimeout) || r.Signal != unix.SIGKILL || r.ExitCode != nil {
			t.Errorf("pty %v: %+v", s.PTY, r)
		}
		if !bytes.HasPrefix(r.Output.Bytes, []byte("before")) {
			t.Errorf("pty %v: output %q", s.PTY, r.Output.Bytes)
		}
	}
}

func TestInterruptIsCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := Spec{Command: sh("echo on; exec sleep 60"), Poller: newPoller(t)}
	s.Stdout = writerFunc(func(p []byte) (int, error) { cancel(); return len(p), nil })
	r := Run(ctx, s)
	if r.Status != outcome.Cancelled || !errors.Is(r.Err, ErrInterrupted) {
		t.Errorf("%+v", r)
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestOutputPastTheLimitIsTruncatedAndSpilled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "spill")
	r := run(t, Spec{Command: []string{"seq", "1", "20000"}, Keep: 1000, SpillDir: dir})
	c := r.Output.Capture
	if c.State() != outcome.StateTruncated || c.Shown > 1000 || c.Shown < 900 || c.Read != 108894 || r.Status != outcome.Complete {
		t.Errorf("%+v", c)
	}
	if out := string(r.Output.Bytes); !strings.HasPrefix(out, "1\n2\n3\n") || !strings.HasSuffix(out, "\n19999\n20000\n") || strings.Count(out, "left out here]\n") != 1 {
		t.Errorf("%s", out)
	}
	all, err := os.ReadFile(c.Spill)
	if err != nil || int64(len(all)) != c.Read || !bytes.HasSuffix(all, []byte("\n20000\n")) {
		t.Errorf("spill: %d bytes, %v", len(all), err)
	}
	if fi, err := os.Stat(c.Spill); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("spill mode %v, %v", fi.Mode(), err)
	}
}

func TestOwnBrokenOutputIsNotSuccess(t *testing.T) {
	s := Spec{Command: []string{"seq", "1", "20000"}}
	s.Stdout = writerFunc(func(p []byte) (int, error) { return 0, unix.EPIPE })
	r := run(t, s)
	if r.Status.OK() || !errors.Is(r.Err, unix.EPIPE) || r.Output.Capture.Shown != 0 {
		t.Errorf("%+v", r)
	}
}

// tails are the sizes of the promise; the counts of runs make 500.
var tails = []struct{ last, runs int }{{1, 150}, {770, 150}, {20000, 110}, {50000, 75}, {750000, 15}}

func TestTailOfAQuickCommandIsNeverLost(t *testing.T) {
	for _, c := range tails {
		t.Run(strconv.Itoa(c.last), func(t *testing.T) {
			t.Parallel()
			p := newPoller(t)
			h := sha256.New()
			for i := 1; i <= c.last; i++ {
				fmt.Fprintf(h, "%d\n", i)
			}
			want := [sha256.Size]byte(h.Sum(nil))
			for range c.runs {
				r := Run(t.Context(), Spec{Command: []string{"seq", "1", strconv.Itoa(c.last)}, Poller: p})
				if sha256.Sum256(r.Output.Bytes) != want || r.Status != outcome.Complete {
					t.Fatalf("lost: %+v", r.Output.Capture)
				}
			}
		})
	}
}

func TestChildHoldsOnlyItsThreeDescriptors(t *testing.T) {
	for range 1100 {
		fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
	}
	r := run(t, Spec{Command: sh("cd /proc/self/fd && echo *")})
	// The shell lists its own folder while the descriptor of it is open.
	if got := string(r.Output.Bytes); got != "0 1 2 3\n" {
		t.Errorf("the child holds %q", got)
	}
}

func TestStartThatFailsNamesTheStepAndLeavesNothing(t *testing.T) {
	p := newPoller(t)
	run(t, Spec{Command: []string{"true"}, Poller: p})
	before := leak.Take(t)
	for _, step := range []string{"open /dev/null", "open a pipe", "wait on the pipe", "start /bin/true"} {
		for _, split := range []bool{false, true} {
			r := run(t, Spec{Command: []string{"/bin/true"}, Split: split, Poller: p, fault: fault{start: func(s string) error {
				if s == step {
					return unix.EMFILE
				}
				return nil
			}}})
			se, ok := errors.AsType[*outcome.StartError](r.Err)
			if !ok || se.Step != step || !errors.Is(r.Err, unix.EMFILE) || r.State() != outcome.StateNotStarted || r.Status != outcome.Failed || r.ExitCode != nil {
				t.Errorf("%s: %+v", step, r)
			}
		}
	}
	r := run(t, Spec{Command: []string{"no-such-command-here"}, Poller: p})
	if !errors.Is(r.Err, os.ErrNotExist) || r.PID != 0 {
		t.Errorf("%+v", r)
	}
	before.Check(t)
}

func TestRunsLeaveNothingBehind(t *testing.T) {
	p := newPoller(t)
	run(t, Spec{Command: []string{"true"}, Poller: p})
	before := leak.Take(t)
	for i := range 100 {
		Run(t.Context(), Spec{Command: []string{"true"}, Poller: p, Split: i%2 == 0, PTY: i%3 == 0 && i%2 != 0})
	}
	before.Check(t)
}

func TestJSONNamesEverything(t *testing.T) {
	r := run(t, Spec{Command: sh(`printf 'a\377b'; exit 4`)})
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	if m["output"] != "a\uFFFDb" || m["output_base64"] != "Yf9i" || m["exit_code"] != 4.0 || m["error"] != "exit 4" || m["status"] != "failed" || m["signal"] != nil {
		t.Errorf("%s", raw)
	}
	c := m["capture"].(map[string]any)
	if c["state"] != "complete" || c["bytes_read"] != 3.0 || c["bytes_lost"] != 0.0 || c["end"] != "eof" || c["cause"] != nil {
		t.Errorf("%s", raw)
	}
	r = run(t, Spec{Command: []string{"no-such-command-here"}})
	raw, _ = json.Marshal(r)
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	if m["exit_code"] != nil || m["pid"] != nil || m["capture"].(map[string]any)["state"] != "not started" {
		t.Errorf("%s", raw)
	}
}
