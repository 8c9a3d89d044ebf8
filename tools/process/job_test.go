package process

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/ptybridge"
)

func TestJobIsFollowedFromItsFirstByteToItsEnd(t *testing.T) {
	table := open(t, Options{})
	for _, pty := range []bool{false, true} {
		j := start(t, table, Spec{Command: sh("echo one; echo two >&2; exit 3"), PTY: pty})
		want := "one\ntwo\n"
		if pty {
			want = "one\r\ntwo\r\n"
		}
		if got := all(t, j); got != want {
			t.Errorf("pty %v: output %q", pty, got)
		}
		i := ended(t, j)
		if i.State != Exited || i.ExitCode == nil || *i.ExitCode != 3 || i.Signal != 0 || i.Termination != "" || !i.Capture.Whole() {
			t.Errorf("pty %v: %+v", pty, i)
		}
		if i.Kept.Total != int64(len(want)) || i.Kept.Lines != 2 || i.Kept.Discarded != 0 || i.Ended.Before(i.Started) || i.LastOutput.IsZero() {
			t.Errorf("pty %v: %+v", pty, i)
		}
		if st, err := os.Stat(i.Kept.Path); err != nil || st.Mode().Perm() != 0o600 || st.Size() != int64(len(want)) {
			t.Errorf("pty %v: log %v, %v", pty, st, err)
		}
	}
}

func TestRunningJobHasNoExitCode(t *testing.T) {
	table := open(t, Options{})
	j := start(t, table, Spec{Command: sh("echo on; read line")})
	awaitOutput(t, j, "on")
	i := j.Info()
	if i.State != Running || i.ExitCode != nil || !i.Ended.IsZero() || i.Capture.Empty() || i.Capture.Whole() || !i.Input.Open || i.Input.Takes != TakesLines {
		t.Errorf("%+v", i)
	}
}

func TestSignalOfTheEndIsTheSystemsWord(t *testing.T) {
	table := open(t, Options{})
	i := ended(t, start(t, table, Spec{Command: sh("kill -USR1 $$")}))
	if i.State != Exited || i.Signal != unix.SIGUSR1 || i.ExitCode != nil {
		t.Errorf("%+v", i)
	}
}

func TestWriteSubmitAndCloseReachTheJob(t *testing.T) {
	table := open(t, Options{})
	j := start(t, table, Spec{Command: []string{"cat"}})
	if n, err := j.Write([]byte("a")); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if n, err := j.Submit("b"); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	if err := j.CloseStdin(); err != nil {
		t.Fatal(err)
	}
	if got := all(t, j); got != "ab\n" {
		t.Errorf("output %q", got)
	}
	if i := ended(t, j); *i.ExitCode != 0 || i.Input.Taken != 3 || i.Input.Refused != 0 || i.Input.Open {
		t.Errorf("%+v", i.Input)
	}
}

func TestTerminalHasASizeWhereHalfOfItOrNothingIsNamed(t *testing.T) {
	table := open(t, Options{})
	for params, want := range map[string]string{
		`{"action":"start","command":"stty size","pty":true}`:             "30 120",
		`{"action":"start","command":"stty size","pty":true,"cols":200}`:  "30 200",
		`{"action":"start","command":"stty size","pty":true,"rows":9}`:    "9 120",
		`{"action":"start","command":"echo size","cols":200}`:             "size",
		`{"action":"start","command":"stty size","pty":true,"cols":9999}`: "30 2000",
	} {
		_, m := ask(t, table, params)
		id, _ := m["session_id"].(string)
		j, err := table.Get(id)
		if err != nil {
			t.Fatal(err)
		}
		awaitOutput(t, j, want)
		notes, _ := json.Marshal(m["notes"])
		if odd := strings.Contains(params, "9999") || !strings.Contains(params, "pty"); odd != strings.Contains(string(notes), "columns") {
			t.Errorf("%s: notes %s", params, notes)
		}
	}
}

func TestTerminalTakesKeysASizeAndTheEndOfInput(t *testing.T) {
	table := open(t, Options{})
	j := start(t, table, Spec{Command: sh("stty size; cat; stty size; tty -s && echo terminal"), PTY: true, Size: ptybridge.Size{Cols: 91, Rows: 23}})
	awaitOutput(t, j, "23 91")
	if i := j.Info(); i.Input.Takes != TakesKeys || i.Size.Cols != 91 {
		t.Errorf("%+v", i)
	}
	if got, err := j.Resize(ptybridge.Size{Cols: 5000, Rows: 40}); err != nil || got.Cols != ptybridge.MaxCols || got.Rows != 40 {
		t.Errorf("resize = %+v, %v", got, err)
	}
	if _, err := j.Submit("typed"); err != nil {
		t.Fatal(err)
	}
	awaitOutput(t, j, "typed\r\ntyped\r\n") // the echo, and then cat
	if _, err := j.Write([]byte("half")); err != nil {
		t.Fatal(err)
	}
	if err := j.CloseStdin(); err != nil { // within a line: it takes two
		t.Fatal(err)
	}
	awaitOutput(t, j, "40 2000\r\nterminal")
	if i := ended(t, j); *i.ExitCode != 0 {
		t.Errorf("%+v", i)
	}
}

func TestTerminalThatCannotBeHadIsAnErrorAndNeverPipes(t *testing.T) {
	table := open(t, Options{fault: fault{start: func(step string) error {
		if step == "start on a terminal" {
			return unix.ENOSPC
		}
		return nil
	}}})
	j, err := table.Start(Spec{Command: []string{"true"}, PTY: true})
	if !errors.Is(err, outcome.ErrNotStarted) || !errors.Is(err, unix.ENOSPC) || j.Info().State != FailedStart {
		t.Errorf("%v, %+v", err, j)
	}
}

func TestOutputHeldBySomebodyElseIsDetachedAndNamesThem(t *testing.T) {
	table := open(t, Options{})
	j := start(t, table, Spec{Command: sh("sleep 100 & echo $!")})
	i := ended(t, j)
	defer unix.Kill(-i.PID, unix.SIGKILL)
	pid, err := strconv.Atoi(strings.TrimSpace(all(t, j)))
	if err != nil {
		t.Fatal(err)
	}
	if i.Capture.State() != outcome.StateDetached || len(i.Orphans) != 1 || i.Orphans[0].PID != pid || i.State != Exited {
		t.Errorf("%+v", i)
	}
	k, err := j.Kill(t.Context(), 0)
	if err != nil || !k.Already || len(k.Left) != 1 || k.Left[0].PID != pid || len(k.Sent) != 0 {
		t.Errorf("kill of an ended job: %+v, %v", k, err)
	}
}

func TestReaderThatBreaksMakesTheOutputLostAndSaysSoAtOnce(t *testing.T) {
	table := open(t, Options{fault: fault{read: func(int, []byte) (int, error) { return 0, unix.EIO }}})
	j := start(t, table, Spec{Command: sh("read go; while echo more; do :; done")})
	for {
		changed := j.Changed()
		if i := j.Info(); i.Capture.End == outcome.EndBroken {
			if i.State != Running || len(i.Notes) == 0 {
				t.Errorf("%+v", i)
			}
			break
		}
		<-changed
	}
	if _, err := j.Submit(""); err != nil {
		t.Fatal(err)
	}
	i := ended(t, j)
	if i.Capture.State() != outcome.StateLost || !errors.Is(i.Capture.Cause, unix.EIO) || i.Capture.Empty() {
		t.Errorf("%+v", i.Capture)
	}
	if st, err := judge(i); st == outcome.Complete || !errors.Is(err, outcome.ErrLost) {
		t.Errorf("judged %v, %v", st, err)
	}
}

func TestStartThatFailsNamesTheStepAndLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	gone := filepath.Join(t.TempDir(), "gone")
	p := newPoller(t)
	var fail string
	table := open(t, Options{Dir: dir, Poller: p, fault: fault{start: func(step string) error {
		if step == fail {
			return unix.EMFILE
		}
		return nil
	}}})
	for _, step := range []string{"open the log", "open a pipe", "wait on the pipe", "open a pipe for the input", "wait on the input", "start /bin/true"} {
		fail = step
		j, err := table.Start(Spec{Command: []string{"/bin/true"}})
		se, ok := errors.AsType[*outcome.StartError](err)
		if !ok || se.Step != step || !errors.Is(err, unix.EMFILE) {
			t.Errorf("%s: %v", step, err)
		}
		if i := ended(t, j); i.State != FailedStart || i.PID != 0 || i.ExitCode != nil || i.Err == nil {
			t.Errorf("%s: %+v", step, i)
		}
		if _, err := j.Read(0, make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("%s: read = %v", step, err)
		}
	}
	fail = ""
	for name, c := range map[string]struct {
		spec Spec
		want error
	}{
		"command not found":        {Spec{Command: []string{"no-such-command-here"}}, os.ErrNotExist},
		"command on a terminal":    {Spec{Command: []string{"no-such-command-here"}, PTY: true}, os.ErrNotExist},
		"directory gone":           {Spec{Command: []string{"true"}, Dir: gone}, os.ErrNotExist},
		"directory of a terminal":  {Spec{Command: []string{"true"}, Dir: gone, PTY: true}, os.ErrNotExist},
		"directory that is a file": {Spec{Command: []string{"true"}, Dir: "/bin/sh"}, unix.ENOTDIR},
		"not executable":           {Spec{Command: []string{"/etc/passwd"}}, os.ErrPermission},
		"arguments too long":       {Spec{Command: []string{"true", strings.Repeat("x", 1<<20)}}, unix.E2BIG},
	} {
		j, err := table.Start(c.spec)
		if !errors.Is(err, outcome.ErrNotStarted) || !errors.Is(err, c.want) || j.Info().State != FailedStart {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestWaitThatTimesOutLeavesTheJobRunning(t *testing.T) {
	table := open(t, Options{})
	j := start(t, table, Spec{Command: sh("read line")})
	i, err := j.Wait(t.Context(), time.Millisecond)
	if !errors.Is(err, outcome.ErrTimeout) || i.State != Running || i.ExitCode != nil {
		t.Errorf("%v, %+v", err, i)
	}
	for _, d := range []time.Duration{0, -time.Second} {
		if _, err := j.Wait(t.Context(), d); !errors.Is(err, outcome.ErrRefused) {
			t.Errorf("wait %v = %v", d, err)
		}
	}
	if _, err := j.Submit(""); err != nil {
		t.Fatal(err)
	}
	if i, err := j.Wait(t.Context(), time.Minute); err != nil || i.State != Exited {
		t.Errorf("%v, %+v", err, i)
	}
}

func TestLastErrorLineIsKept(t *testing.T) {
	table := open(t, Options{})
	j := start(t, table, Spec{Command: sh("echo 'Error: first'; echo fine; echo 'build FAILED here'; echo '0 errors'; printf 'no newline'")})
	if i := ended(t, j); i.LastError != "build FAILED here" {
		t.Errorf("%q", i.LastError)
	}
}

func TestNoticesAndChangesReachThoseWhoWatch(t *testing.T) {
	told := make(chan Notice, 4)
	table := open(t, Options{WatchNotices: 1, Notice: func(n Notice) { told <- n }})
	j := start(t, table, Spec{Command: sh("echo first; read x; echo ready; echo ready"), Watch: []Pattern{{Text: "ready"}}})
	awaitOutput(t, j, "first")
	changed := table.Changed()
	if _, err := j.Submit(""); err != nil {
		t.Fatal(err)
	}
	<-changed
	n := <-told
	if n.Job != j.ID() || !strings.HasPrefix(n.Lines, "ready") || !n.Last {
		t.Errorf("%+v", n)
	}
	i := ended(t, j)
	if w := i.Watch; w.Hits != 2 || w.Notices != 1 || !strings.HasPrefix(w.State(), "silent") || i.LastNotice == nil || w.Hits-w.Suppressed != int64(strings.Count(n.Lines, "ready")) {
		t.Errorf("%+v", i.Watch)
	}
	if len(told) != 0 {
		t.Error("more notices than the limit")
	}
}

// TestEverybodyMayAskAtAnyTime asks for everything while a flood drops the
// head of its log again and again.
func TestEverybodyMayAskAtAnyTime(t *testing.T) {
	table := open(t, Options{LogLimit: minLogLimit})
	j := start(t, table, Spec{Command: []string{"yes", strings.Repeat("flood ", 9)}})
	for j.Info().Kept.Discarded == 0 {
		<-j.Changed()
	}
	asked := []func() error{
		func() error { _, err := j.Tail(1000); return err },
		func() error { _, err := j.LastLines(5); return err },
		func() error { _, err := j.Log(j.Info().Kept.From, 5000); return err },
		func() error { _, err := j.Lines(0, 10); return err },
		func() error { _, err := j.Lines(j.Info().Kept.Lines-300, 10); return err },
		func() error { _, err := j.Read(j.Info().Kept.From+1, make([]byte, 4096)); return err },
		func() error { table.List(); return nil },
	}
	var wg sync.WaitGroup
	for k, ask := range asked {
		wg.Go(func() {
			for range 200 {
				if err := ask(); err != nil && !errors.Is(err, ErrNotKept) {
					t.Errorf("%d: %v", k, err)
					return
				}
			}
		})
	}
	wg.Wait()
	if k, err := j.Kill(t.Context(), 0); err != nil || k.Info.Signal != unix.SIGTERM {
		t.Errorf("%+v, %v", k, err)
	}
}
