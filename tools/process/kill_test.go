package process

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pids reads numbers that a job wrote, one a line.
func pids(t *testing.T, out string) []int {
	t.Helper()
	var ns []int
	for _, f := range strings.Fields(out) {
		if n, err := strconv.Atoi(f); err == nil {
			ns = append(ns, n)
		}
	}
	return ns
}

func alive(pid int) bool {
	p, err := look(pid)
	return err == nil && !p.ended
}

func TestKillTellsTheSignalThatReallyEndedTheJob(t *testing.T) {
	table := open(t, Options{})
	for _, c := range []struct {
		script string
		grace  time.Duration
		signal unix.Signal
		code   int
	}{
		{"echo up; exec sleep 100", time.Minute, unix.SIGTERM, -1},
		{"trap '' TERM; echo up; while :; do sleep 0.02; done", 50 * time.Millisecond, unix.SIGKILL, -1},
		{"trap 'exit 7' TERM; echo up; while :; do sleep 0.02; done", time.Minute, 0, 7},
		{"echo up; kill -STOP $$", time.Minute, unix.SIGTERM, -1},
	} {
		j := start(t, table, Spec{Command: sh(c.script)})
		awaitOutput(t, j, "up")
		k, err := j.Kill(t.Context(), c.grace)
		i := k.Info
		if err != nil || k.Already || i.State != Killed || i.Signal != c.signal || i.Termination != ByKill {
			t.Errorf("%s: %+v, %v", c.script, k, err)
		}
		if (c.code >= 0) != (i.ExitCode != nil) || i.ExitCode != nil && *i.ExitCode != c.code {
			t.Errorf("%s: exit code %v", c.script, i.ExitCode)
		}
		if again, err := j.Kill(t.Context(), 0); err != nil || !again.Already || again.Info.Signal != c.signal {
			t.Errorf("%s: again: %+v, %v", c.script, again, err)
		}
	}
}

func TestInteractiveShellOnATerminalIsKilledWithoutKILL(t *testing.T) {
	table := open(t, Options{})
	j := start(t, table, Spec{Command: []string{"/bin/sh", "-i"}, PTY: true})
	if _, err := j.Submit("echo u''p"); err != nil {
		t.Fatal(err)
	}
	awaitOutput(t, j, "up\r\n")
	k, err := j.Kill(t.Context(), 2*time.Second)
	if err != nil || k.Info.State != Killed || k.Info.Signal == unix.SIGKILL {
		t.Errorf("%+v, %v", k, err)
	}
}

// TestKillReachesTheWholeTree has processes in other groups and sessions, one
// that ignores TERM, and one whose parent has ended.
func TestKillReachesTheWholeTree(t *testing.T) {
	table := open(t, Options{})
	j := start(t, table, Spec{Command: sh(`
		setsid sh -c 'trap "" TERM; echo $$; while :; do sleep 0.02; done' &
		setsid sh -c 'echo $$; exec sleep 100' &
		(sleep 100 & echo $!)
		sh -c 'echo $$; exec sleep 100' &
		echo up; wait`)})
	for len(pids(t, awaitOutput(t, j, "up"))) < 4 {
		<-j.Changed()
	}
	ps := pids(t, all0(t, j))
	k, err := j.Kill(t.Context(), 100*time.Millisecond)
	if err != nil || k.Info.State != Killed || len(k.Left) != 0 || len(k.Refused) != 0 {
		t.Errorf("%+v, %v", k, err)
	}
	for _, pid := range ps {
		if alive(pid) {
			t.Errorf("pid %d lives on", pid)
		}
	}
	if len(k.Signalled) < 2 {
		t.Errorf("signalled by themselves: %v", k.Signalled)
	}
}

// all0 is the output so far.
func all0(t *testing.T, j *Job) string {
	t.Helper()
	p, err := j.Tail(tailSize)
	if err != nil {
		t.Fatal(err)
	}
	return string(p.Bytes)
}

func TestPidWithAnotherStartTimeIsNotSignalled(t *testing.T) {
	table := open(t, Options{})
	j := start(t, table, Spec{Command: sh("echo up; exec sleep 100")})
	awaitOutput(t, j, "up")
	pid := j.Info().PID
	me, err := look(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := signalChecked(pid, me.start+1, unix.SIGKILL); !errors.Is(err, errOtherProcess) {
		t.Errorf("signal to another process: %v", err)
	}
	if !alive(pid) {
		t.Fatal("it was signalled")
	}
	k := &killing{job: j, victims: map[int]branch{pid: {ps: ps{pid: pid, start: me.start + 1, name: "sleep"}}}, order: []int{pid}}
	k.sendBelow(unix.SIGKILL)
	if len(k.done.Refused) != 1 || !errors.Is(k.done.Refused[0].Err, errOtherProcess) || !alive(pid) {
		t.Errorf("%+v", k.done)
	}
	if err := signalChecked(pid, me.start, unix.SIGTERM); err != nil {
		t.Error(err)
	}
	if i := ended(t, j); i.State != Exited || i.Signal != unix.SIGTERM {
		t.Errorf("a signal of somebody else's is called ours: %+v", i)
	}
	if err := signalChecked(pid, me.start, unix.SIGKILL); !errors.Is(err, unix.ESRCH) && !errors.Is(err, errOtherProcess) {
		t.Errorf("signal after the end: %v", err)
	}
}

func TestTreeLeavesOutThoseWhoAreOlderThanTheirParent(t *testing.T) {
	all := []ps{
		{pid: 10, parent: 1, session: 10, start: 100},
		{pid: 11, parent: 10, session: 10, start: 101},
		{pid: 12, parent: 11, session: 12, start: 102},
		{pid: 13, parent: 10, session: 5, start: 50},              // of an earlier user of pid 10
		{pid: 14, parent: 13, session: 5, start: 60},              // below it
		{pid: 15, parent: 1, session: 10, start: 103},             // its parent has ended
		{pid: 16, parent: 15, session: 16, start: 104},            // below that one
		{pid: 17, parent: 11, session: 10, start: 5, ended: true}, // gone
		{pid: 20, parent: 1, session: 20, start: 1},
	}
	var got []int
	for _, b := range treeOf(all, 10, 100) {
		got = append(got, b.pid)
	}
	if len(got) != 4 || got[0] != 12 && got[0] != 16 || got[3] != 11 && got[3] != 15 {
		t.Errorf("tree = %v", got)
	}
	if other := treeOf(all, 10, 99); other != nil {
		t.Errorf("the tree of another process: %v", other)
	}
}

func TestKillThatIsTakenBackSendsNothingFurther(t *testing.T) {
	table := open(t, Options{})
	j := start(t, table, Spec{Command: sh("trap 'echo asked' TERM; echo up; while :; do sleep 0.02; done")})
	awaitOutput(t, j, "up")
	ctx, cancel := context.WithCancel(t.Context())
	var k KillReport
	var err error
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		k, err = j.Kill(ctx, time.Hour)
	}()
	awaitOutput(t, j, "asked")
	cancel()
	<-returned
	if !errors.Is(err, ErrInterrupted) || len(k.Sent) != 1 || k.Info.State != Running {
		t.Errorf("%+v, %v", k, err)
	}
}

func TestCloseEndsAndJoinsEverything(t *testing.T) {
	p := newPoller(t)
	table, err := Open(Options{Dir: t.TempDir(), Poller: p, KillGrace: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	var jobs []*Job
	for _, s := range []Spec{
		{Command: sh("exec sleep 100")},
		{Command: sh("trap '' TERM HUP; while :; do sleep 0.02; done"), PTY: true},
		{Command: sh("sleep 100 & exit 0")},
		{Command: []string{"no-such-command-here"}},
	} {
		j, _ := table.Start(s)
		jobs = append(jobs, j)
	}
	defer unix.Kill(-jobs[2].Info().PID, unix.SIGKILL)
	if err := table.Close(); err != nil {
		t.Error(err)
	}
	for _, j := range jobs {
		if i := j.Info(); !i.State.Ended() {
			t.Errorf("%+v", i)
		}
	}
	if i := jobs[0].Info(); i.Termination != ByClose || i.State != Killed || i.Signal != unix.SIGTERM {
		t.Errorf("%+v", i)
	}
	if _, err := table.Start(Spec{Command: []string{"true"}}); !errors.Is(err, ErrTableClosed) {
		t.Errorf("start after close: %v", err)
	}
}
