package ptybridge

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/internal/leak"
	"github.com/honestty/honestty/internal/proc"
	"github.com/honestty/honestty/outcome"
)

// TestOutputBetweenAHangupAndTheEndIsRead holds the reader between an EIO,
// which it got while the child lived without its terminal, and its look at the
// child. Meanwhile the child opens the terminal again, writes and ends.
func TestOutputBetweenAHangupAndTheEndIsRead(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "go")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	var b *Bridge
	started := make(chan struct{})
	var held bool
	out := newSink()
	b, err := Start(Config{
		Command: sh(`tty=$(tty); exec 0<&- 1>&- 2>&-; read wait < "` + fifo + `"; echo last words > "$tty"`),
		Env:     os.Environ(), Poller: newPoller(t), Output: out.take,
		fault: fault{read: func(fd int, p []byte) (int, error) {
			n, err := unix.Read(fd, p)
			if errors.Is(err, unix.EIO) && !held {
				held = true
				<-started
				if err := os.WriteFile(fifo, []byte("\n"), 0); err != nil {
					t.Error(err)
				}
				<-b.child.Exited()
			}
			return n, err
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	close(started)
	e := b.Exit()
	if out.String() != "last words\r\n" || e.Capture.State() != outcome.StateComplete || !held {
		t.Errorf("output = %q, %+v", out.String(), e.Capture)
	}
}

// TestHolderThatEndsWhileItIsLookedForLeavesACompleteOutput has the last holder
// let go of the terminal after the drain limit and before or after it is seen.
func TestHolderThatEndsWhileItIsLookedForLeavesACompleteOutput(t *testing.T) {
	p := newPoller(t)
	for name, answer := range map[string]func(pid int) ([]outcome.Process, error){
		"not seen any more":    func(int) ([]outcome.Process, error) { return nil, nil },
		"just seen":            func(pid int) ([]outcome.Process, error) { return []outcome.Process{{PID: pid, Name: "sleep"}}, nil },
		"others not looked at": func(int) ([]outcome.Process, error) { return nil, os.ErrPermission },
	} {
		t.Run(name, func(t *testing.T) {
			out := newSink()
			c := Config{
				Command: sh("trap '' HUP; sleep 100 & echo $!; exit 0"),
				Env:     os.Environ(), Poller: p, Output: out.take,
			}
			c.fault.holders = func(string) ([]outcome.Process, error) {
				pid, err := strconv.Atoi(strings.TrimSpace(out.String()))
				if err != nil {
					return nil, err
				}
				if err := unix.Kill(pid, unix.SIGKILL); err != nil {
					return nil, err
				}
				for alive(pid) { // its new parent takes the zombie, or not
				}
				return answer(pid)
			}
			b, err := Start(c)
			if err != nil {
				t.Fatal(err)
			}
			if e := b.Exit(); e.Capture.State() != outcome.StateComplete || e.Capture.End != outcome.EndHangup || e.Capture.HoldersUnknown != nil {
				t.Errorf("capture = %+v, want complete", e.Capture)
			}
		})
	}
}

func alive(pid int) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	f := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
	return len(f) > 0 && f[0][0] != 'Z' && f[0][0] != 'X'
}

func TestNoEndAndNobodySeenIsUnknownAndNotEmpty(t *testing.T) {
	out := newSink()
	c := Config{
		Command: sh("trap '' HUP; sleep 100 & echo $!; exit 0"),
		Env:     os.Environ(), Poller: newPoller(t), Output: out.take,
	}
	c.fault.holders = func(string) ([]outcome.Process, error) { return nil, nil }
	b, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	capture := b.Exit().Capture
	pid, err := strconv.Atoi(strings.TrimSpace(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Kill(pid, unix.SIGKILL)
	// The survivors of the session name it even so.
	if capture.State() != outcome.StateDetached || capture.End != outcome.EndStopped || capture.Empty() {
		t.Errorf("capture = %+v", capture)
	}
	capture.Holders = nil
	if capture.State() != outcome.StateUnknown || !strings.Contains(capture.Sentence(), errNobodySeen.Error()) {
		t.Errorf("without survivors: %v, %q", capture.State(), capture.Sentence())
	}
}

// TestCloseLetsGoOfAChildThatCannotBeEnded refuses every signal, as the system
// does for a child that has become another user's.
func TestCloseLetsGoOfAChildThatCannotBeEnded(t *testing.T) {
	p := newPoller(t)
	refuse := func(*Bridge, unix.Signal) error { return unix.EPERM }
	warm, _ := start(t, p, Config{Command: []string{"true"}})
	warm.Exit()

	t.Run("it ends with its terminal", func(t *testing.T) {
		before := leak.Take(t)
		b, out := start(t, p, Config{Command: sh("echo ready; exec sleep 100"), fault: fault{signal: refuse}})
		out.await("ready")
		e := b.Close()
		if e.Signal != unix.SIGHUP || e.Err != nil {
			t.Errorf("exit = %+v, want SIGHUP from the kernel", e)
		}
		if c := e.Capture; c.State() != outcome.StateUnknown || len(c.Holders) != 0 || !errors.Is(c.HoldersUnknown, errClosedUnder) {
			t.Errorf("capture = %+v; its end was not seen", c)
		}
		before.Check(t)
	})
	t.Run("it lives on", func(t *testing.T) {
		before := leak.Take(t)
		b, out := start(t, p, Config{Command: sh("trap '' HUP; echo ready; exec sleep 100"), fault: fault{signal: refuse}})
		out.await("ready")
		e := b.Close()
		if e.Code != -1 || !errors.Is(e.Err, unix.EPERM) || e.Capture.State() != outcome.StateDetached {
			t.Errorf("exit = %+v, want EPERM and detached", e)
		}
		if len(e.Capture.Holders) != 1 || e.Capture.Holders[0].PID != b.PID() {
			t.Errorf("holders = %v, want the child %d", e.Capture.Holders, b.PID())
		}
		if again := b.Close(); again.Err == nil {
			t.Error("a second Close knows less")
		}
		if err := b.child.SignalGroup(unix.SIGKILL); err != nil {
			t.Error(err)
		}
		before.Check(t) // the pidfd goes when it ends, and no zombie is left
	})
}

func TestReaderThatBreaksTellsAtOnce(t *testing.T) {
	told := make(chan error, 2)
	b, _ := start(t, newPoller(t), Config{
		Command: sh("while :; do echo more; done"), // waits for ever once the terminal is full
		Failed:  func(cause error) { told <- cause },
		fault:   fault{read: func(int, []byte) (int, error) { return 0, unix.ENOMEM }},
	})
	if cause := <-told; !errors.Is(cause, unix.ENOMEM) {
		t.Errorf("told %v", cause)
	}
	if e := b.Close(); e.Capture.State() != outcome.StateLost || len(told) != 0 {
		t.Errorf("capture = %+v, told %d times more", e.Capture, len(told))
	}
}

func TestInputOnItsWayWhileTheQueueClosesCountsAsGiven(t *testing.T) {
	var q queue
	q.init()
	if n, err := q.push([]byte("0123456789")); n != 10 || err != nil {
		t.Fatal(n, err)
	}
	if p, err := q.next(); len(p) != 10 || err != nil {
		t.Fatal(p, err)
	}
	q.close(ErrEnded)
	q.took(4) // write(2) returned now
	if got := q.refusedBytes(); got != 6 {
		t.Errorf("refused = %d, want 6: four bytes were written", got)
	}
}

// TestGiversShareTheRoomFairly has many givers wait at once. None may give up
// while the child goes on reading, and a close wakes all of them.
func TestGiversShareTheRoomFairly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q queue
		q.init()
		if _, err := q.push(make([]byte, QueueLimit)); err != nil {
			t.Fatal(err)
		}
		const givers, stall = 20, time.Minute
		errs := make(chan error, givers)
		for range givers {
			go func() {
				_, err := q.pushWait(make([]byte, 1000), stall)
				errs <- err
			}()
		}
		for range givers / 2 {
			<-time.After(stall * 2 / 3) // of the bubble's clock: longer than stall in all
			synctest.Wait()
			q.took(1000)
			if err := <-errs; err != nil {
				t.Fatalf("a giver gave up although the child reads: %v", err)
			}
		}
		synctest.Wait()
		began := time.Now()
		q.close(ErrEnded)
		for range givers / 2 {
			if err := <-errs; !errors.Is(err, ErrEnded) {
				t.Errorf("giver at the close: %v", err)
			}
		}
		if waited := time.Since(began); waited != 0 {
			t.Errorf("the close woke not all: the last one waited %v", waited)
		}
	})
}

func TestCloseFromManySidesGivesOneExit(t *testing.T) {
	p := newPoller(t)
	for range 20 {
		b, err := Start(Config{Command: sh("exec sleep 100"), Env: os.Environ(), Poller: p, Output: func([]byte) {}})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for i := range 6 {
			wg.Go(func() {
				switch i % 3 {
				case 0:
					b.Close()
				case 1:
					_, _ = b.Write([]byte("input"))
					_, _ = b.Resize(Size{Cols: 10 + i, Rows: 5})
				case 2:
					_ = b.Signal(unix.SIGWINCH)
					_, _ = b.ForegroundGroup()
				}
			})
		}
		wg.Wait()
		if e := b.Close(); e.Signal == 0 || !e.Capture.End.Seen() {
			t.Errorf("exit = %+v", e)
		}
	}
}

// TestChildThatLeavesItsTerminalToAnotherSession gives the terminal to a
// process that the hang-up does not reach.
func TestChildThatLeavesItsTerminalToAnotherSession(t *testing.T) {
	b, out := start(t, newPoller(t), Config{Command: sh(`trap '' HUP; setsid sleep 100 & echo $!; exit 0`)})
	e := b.Exit()
	pid, err := strconv.Atoi(strings.TrimSpace(out.String()))
	if err != nil {
		t.Fatalf("%v in %q", err, out.String())
	}
	defer unix.Kill(pid, unix.SIGKILL)
	if e.Capture.State() != outcome.StateDetached || len(e.Capture.Holders) != 1 || e.Capture.Holders[0].PID != pid {
		t.Errorf("capture = %+v, want pid %d as its holder", e.Capture, pid)
	}
	if errors.Is(b.Signal(unix.SIGTERM), proc.ErrReaped) == false {
		t.Error("the child is still signalled")
	}
}
