package terminal

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/internal/leak"
	"github.com/honestty/honestty/internal/proc"
	"github.com/honestty/honestty/outcome"
)

// TestSlowReaderOfOurOutputLosesNothing takes the output slowly, as a pager
// does, long after the command has ended and all drain limits have passed.
// Other users' processes cannot be looked into, as on most machines.
func TestSlowReaderOfOurOutputLosesNothing(t *testing.T) {
	var got bytes.Buffer
	s := Spec{Command: sh("echo $$; exec seq 1 10000")} // less than a pipe holds
	s.fault.total = time.Nanosecond
	s.fault.holders = func(string) ([]outcome.Process, error) { return nil, os.ErrPermission }
	s.fault.read = func(fd int, p []byte) (int, error) { return unix.Read(fd, p[:min(len(p), 1000)]) }
	s.Stdout = writerFunc(func(p []byte) (int, error) {
		if got.Len() == 0 {
			pid, _, _ := strings.Cut(string(p), "\n")
			awaitZombie(t, pid)
		}
		return got.Write(p)
	})
	r := run(t, s)
	if r.Status != outcome.Complete || r.Output.Capture.Read != int64(got.Len()) || !strings.HasSuffix(got.String(), "\n10000\n") {
		t.Errorf("%v after %d bytes: %v", r.Status, got.Len(), r.Err)
	}
}

// awaitZombie returns when the process has ended; we are its parent and have
// not reaped it.
func awaitZombie(t *testing.T, pid string) {
	for {
		raw, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil {
			t.Error(err)
			return
		}
		if bytes.Contains(raw, []byte(") Z ")) {
			return
		}
	}
}

// TestHolderThatEndsWhileItIsLookedForLeavesACompleteOutput has the last holder
// let go of the pipe after the grace and before or after it is seen.
func TestHolderThatEndsWhileItIsLookedForLeavesACompleteOutput(t *testing.T) {
	t.Parallel()
	p := newPoller(t)
	for name, answer := range map[string]func(pid int) ([]outcome.Process, error){
		"not seen any more":    func(int) ([]outcome.Process, error) { return nil, nil },
		"just seen":            func(pid int) ([]outcome.Process, error) { return []outcome.Process{{PID: pid, Name: "sleep"}}, nil },
		"others not looked at": func(int) ([]outcome.Process, error) { return nil, os.ErrPermission },
	} {
		t.Run(name, func(t *testing.T) {
			s := Spec{Command: sh("sleep 100 & echo $!"), Poller: p}
			s.fault.holders = func(target string) ([]outcome.Process, error) {
				found, err := proc.Holders(target)
				if err != nil || len(found) != 1 {
					t.Errorf("holders = %v, %v", found, err)
					return found, err
				}
				pid := found[0].PID
				if err := unix.Kill(pid, unix.SIGKILL); err != nil {
					t.Error(err)
				}
				for len(found) > 0 && err == nil {
					found, err = proc.Holders(target)
				}
				return answer(pid)
			}
			r := run(t, s)
			if r.Status != outcome.Complete || r.Output.Capture.End != outcome.EndEOF {
				t.Errorf("%v: %v, %+v", r.Status, r.Err, r.Output.Capture)
			}
		})
	}
}

func TestNoEndAndNobodySeenIsUnknownAndSaysWhy(t *testing.T) {
	t.Parallel()
	for _, denied := range []error{nil, os.ErrPermission} {
		s := Spec{Command: sh("sleep 100 & echo $!")}
		s.fault.holders = func(string) ([]outcome.Process, error) { return nil, denied }
		r := run(t, s)
		defer unix.Kill(-r.PID, unix.SIGKILL)
		c := r.Output.Capture
		if c.State() != outcome.StateUnknown || c.HoldersUnknown == nil || r.Status != outcome.Unknown || r.Err == nil {
			t.Errorf("%v: %+v, %v", denied, c, r.Err)
		}
		if denied == nil && !errors.Is(c.HoldersUnknown, errNobodySeen) {
			t.Errorf("holders unknown because %v", c.HoldersUnknown)
		}
	}
}

// TestBrokenReaderDoesNotHangACommandThatGoesOnWriting writes more than a pipe
// or a terminal holds. Nobody reads it.
func TestBrokenReaderDoesNotHangACommandThatGoesOnWriting(t *testing.T) {
	t.Parallel()
	p := newPoller(t)
	for _, split := range []bool{false, true} {
		s := Spec{Command: []string{"seq", "1", "200000"}, Split: split, Poller: p}
		s.fault.read = func(int, []byte) (int, error) { return 0, unix.EIO }
		r := run(t, s)
		if r.Output.Capture.State() != outcome.StateLost || !errors.Is(r.Err, unix.EIO) || r.Status != outcome.Failed {
			t.Errorf("split %v: %v: %v", split, r.Status, r.Err)
		}
		if r.Signal != unix.SIGPIPE {
			t.Errorf("split %v: signal = %v, want SIGPIPE", split, r.Signal)
		}
	}
}

func TestAnEndCountsAlthoughItsTimeWasUp(t *testing.T) {
	exited := make(chan struct{})
	close(exited)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 200 { // select chooses at random among what is ready
		if err := await(ctx, exited, time.Nanosecond, nil); err != nil {
			t.Fatalf("a command that had ended was stopped: %v", err)
		}
	}
}

func TestOutputThatCannotBeReadStopsTheCommandAfterAGrace(t *testing.T) {
	t.Parallel()
	broke := make(chan struct{})
	close(broke)
	if err := await(t.Context(), make(chan struct{}), 0, broke); !errors.Is(err, errUnread) {
		t.Errorf("await = %v", err)
	}
}

// TestTimeoutReturnsAlthoughAnotherSessionHoldsThePipe leaves a process that
// the signal to the group does not reach.
func TestTimeoutReturnsAlthoughAnotherSessionHoldsThePipe(t *testing.T) {
	t.Parallel()
	s := Spec{Command: sh("setsid sleep 100 & echo $!; wait"), Timeout: 200 * time.Millisecond}
	r := run(t, s)
	pid, err := strconv.Atoi(strings.TrimSpace(string(r.Output.Bytes)))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Kill(pid, unix.SIGKILL)
	if !errors.Is(r.Err, outcome.ErrTimeout) || !errors.Is(r.Err, outcome.ErrDetached) || r.Status != outcome.Failed {
		t.Errorf("%v: %v", r.Status, r.Err)
	}
	if h := r.Output.Capture.Holders; len(h) != 1 || h[0].PID != pid {
		t.Errorf("holders = %v, want %d", h, pid)
	}
}

func TestTimeoutEndsAStoppedCommand(t *testing.T) {
	t.Parallel()
	for _, pty := range []bool{false, true} {
		r := run(t, Spec{Command: sh("kill -STOP $$"), Timeout: 100 * time.Millisecond, PTY: pty})
		if !errors.Is(r.Err, outcome.ErrTimeout) || r.Signal == 0 {
			t.Errorf("pty %v: %+v", pty, r)
		}
	}
}

// TestCommandThatClosesItsStreamsIsFollowedToItsEnd sees the end of the output
// long before the end of the command.
func TestCommandThatClosesItsStreamsIsFollowedToItsEnd(t *testing.T) {
	t.Parallel()
	r := run(t, Spec{Command: sh("echo all; exec >&- 2>&-; sleep 0.3; exit 9")})
	if string(r.Output.Bytes) != "all\n" || r.ExitCode == nil || *r.ExitCode != 9 || r.Output.Capture.End != outcome.EndEOF {
		t.Errorf("%+v", r)
	}
	if r.Duration < 300*time.Millisecond {
		t.Errorf("duration %v: the command was not followed to its end", r.Duration)
	}
}

func TestSpillThatFailsIsToldAndNotNamedAsTheRest(t *testing.T) {
	before := leak.Take(t)
	file := t.TempDir() + "/file"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p := newPoller(t)
	r := run(t, Spec{Command: []string{"seq", "1", "20000"}, Keep: 1000, SpillDir: file + "/sub", Poller: p})
	if r.Status.OK() || !errors.Is(r.Err, unix.ENOTDIR) || r.Output.Capture.Spill != "" || r.Output.Capture.State() != outcome.StateTruncated {
		t.Errorf("%v: %v, %+v", r.Status, r.Err, r.Output.Capture)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	before.Check(t)
}
