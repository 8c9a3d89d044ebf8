package process

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/outcome"
)

// deadHost has another process start jobs in dir and kills it.
func deadHost(t *testing.T, dir string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), helperEnv+"=host", "JOBS="+dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "ready\n" {
		t.Fatalf("the host said %q, %v", line, err)
	}
	// While it lives its jobs are its own.
	if jobs := open(t, Options{Dir: dir}).List(); len(jobs) != 0 {
		t.Errorf("jobs of a living host were taken over: %+v", jobs)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
}

func TestJobsOfADeadHostAreFoundAndNothingOfThemIsGuessed(t *testing.T) {
	dir := t.TempDir()
	deadHost(t, dir)
	table := open(t, Options{Dir: dir})
	if ps := table.Problems(); len(ps) != 0 {
		t.Error(ps)
	}
	byText := map[string]*Job{}
	for _, i := range table.List() {
		j, err := table.Get(i.ID)
		if err != nil {
			t.Fatal(err)
		}
		p, err := j.Lines(0, 10)
		if err != nil {
			t.Fatal(err)
		}
		byText[p.Text()] = j
	}
	if len(byText) != 3 {
		t.Fatalf("found %v", byText)
	}

	i := byText["all of it\n"].Info()
	if i.State != Exited || *i.ExitCode != 5 || i.Detached || !i.Capture.Whole() || i.Kept.Lines != 1 || i.Ended.IsZero() {
		t.Errorf("ended before its host: %+v", i)
	}

	j := byText["lives on\n"]
	i = j.Info()
	defer unix.Kill(i.PID, unix.SIGKILL)
	if i.State != Running || !i.Detached || i.ExitCode != nil || i.Capture.State() != outcome.StateLost || !strings.Contains(strings.Join(i.Notes, " "), "detached from us: output after "+i.DetachedFrom.Format("15:04")+" cannot be read") {
		t.Errorf("lives on: %+v", i)
	}
	if _, err := j.Write([]byte("x")); !errors.Is(err, ErrDetached) {
		t.Errorf("write: %v", err)
	}
	if _, err := j.Wait(t.Context(), time.Minute); !errors.Is(err, ErrDetached) {
		t.Errorf("wait: %v", err)
	}
	k, err := j.Kill(t.Context(), 100*time.Millisecond)
	if err != nil || k.Already || alive(i.PID) || k.Info.State != Lost || k.Info.Signal != 0 || k.Info.Termination != ByKill || len(k.Refused) != 0 {
		t.Errorf("kill: %+v, %v", k, err)
	}

	j = byText["goes\n"]
	for j.Info().State == Running { // its input ended with its host
		if !alive(j.Info().PID) {
			break
		}
	}
	i = j.Info()
	if i.State != Lost || i.ExitCode != nil || i.Termination != ByBackend || !errors.Is(i.Err, errHowUnknown) || i.Capture.Empty() {
		t.Errorf("ended with its host: %+v", i)
	}
	if st, err := judge(i); st == outcome.Complete || err == nil {
		t.Errorf("judged %v, %v", st, err)
	}
}

func TestRecordsAgeFromTheEnd(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	table := open(t, Options{Dir: dir, Keep: time.Minute, clock: func() time.Time { return now }})
	long := start(t, table, Spec{Command: sh("echo long; read line")})
	short := start(t, table, Spec{Command: sh("echo short")})
	ended(t, short)
	failed, _ := table.Start(Spec{Command: []string{"no-such-command-here"}})
	now = now.Add(time.Hour)
	if jobs := table.List(); len(jobs) != 1 || jobs[0].ID != long.ID() {
		t.Errorf("%+v", jobs)
	}
	for _, j := range []*Job{short, failed} {
		if _, err := table.Get(j.ID()); !errors.Is(err, ErrNotFound) {
			t.Errorf("%v", err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, short.ID()+"*")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	long.mu.Lock()
	long.info.Started = long.info.Started.Add(-time.Hour)
	long.mu.Unlock()
	now = time.Now()
	if _, err := long.Submit(""); err != nil {
		t.Fatal(err)
	}
	ended(t, long)
	now = time.Now().Add(50 * time.Second) // more than an hour after its start
	if len(table.List()) != 1 {
		t.Error("a job was removed that had ended just now")
	}
	now = now.Add(11 * time.Second)
	if len(table.List()) != 0 {
		t.Error("a job was kept for too long")
	}
}

func TestLeftoversAreSweptByAgeAndStrangersAreLeftAlone(t *testing.T) {
	dir := t.TempDir()
	deadHost(t, dir)
	old := time.Now().Add(-48 * time.Hour)
	write := func(name, text string, at time.Time) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		return path
	}
	swept := []string{
		write("proc_aaaaaaaaaaaa.log", "no record", old),
		write("proc_aaaaaaaaaaaa.4096.log", "no record", old),
		write(".proc_aaaaaaaaaaaa.json.XYZ.tmp", "half", old),
		write("proc_bbbbbbbbbbbb.json", "{torn", old),
	}
	kept := []string{
		write("proc_cccccccccccc.log", "no record yet", time.Now()),
		write("proc_dddddddddddd.json", "{torn", time.Now()),
		write("proc_eeeeeeeeeeee.json", `{"version":1,"id":"proc_ffffffffffff"}`, time.Now()),
		write("notes.txt", "somebody's", old),
		write("proc_short.log", "somebody's", old),
		write("../proc_outside.log", "somebody's", old),
	}
	table := open(t, Options{Dir: dir})
	for _, path := range swept {
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", filepath.Base(path), err)
		}
	}
	for _, path := range kept {
		if _, err := os.Lstat(path); err != nil {
			t.Error(err)
		}
	}
	if n := len(table.Problems()); n != 3 {
		t.Errorf("%d problems: %v", n, table.Problems())
	}
	if n := len(table.List()); n != 3 {
		t.Errorf("%d jobs", n)
	}
	for _, i := range table.List() {
		for i.State == Running && alive(i.PID) {
			_ = unix.Kill(i.PID, unix.SIGKILL)
		}
	}
	later := open(t, Options{Dir: dir, clock: func() time.Time { return time.Now().Add(25 * time.Hour) }})
	for _, i := range later.List() {
		if i.State.Ended() {
			t.Errorf("%+v", i)
		}
	}
}

func TestRecordThatCannotBeWrittenIsSaidAndTheJobGoesOn(t *testing.T) {
	table := open(t, Options{fault: fault{record: func(string, []byte) error { return unix.EROFS }}})
	j := start(t, table, Spec{Command: sh("echo on")})
	i := ended(t, j)
	if i.State != Exited || *i.ExitCode != 0 || !strings.Contains(strings.Join(i.Notes, " "), "EROFS") {
		t.Errorf("%+v", i)
	}
}

func TestLogOfAnEarlierHostHasItsLineNumbers(t *testing.T) {
	dir := t.TempDir()
	p := newPoller(t)
	first, err := Open(Options{Dir: dir, Poller: p, LogLimit: minLogLimit})
	if err != nil {
		t.Fatal(err)
	}
	j := start(t, first, Spec{Command: []string{"seq", "1", "100000"}})
	want, total := ended(t, j), int64(588_895)
	if want.Kept.Total != total || want.Kept.Discarded == 0 || want.Kept.Lines != 100_000 || want.Capture.State() != outcome.StateTruncated {
		t.Fatalf("%+v", want.Kept)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	// The record of a host that lives is not taken over: make it another one.
	r := j.record
	r.Host.Start++
	j.record = r
	j.writeRecord()
	table := open(t, Options{Dir: dir})
	found, err := table.Get(j.ID())
	if err != nil {
		t.Fatal(err, table.Problems())
	}
	page, err := found.LastLines(2)
	if err != nil || page.Text() != "99999\n100000\n" || page.FirstLine != 99_999 || page.Total != total {
		t.Errorf("%+v, %v", page, err)
	}
	if k := found.Info().Kept; k.Discarded != total-(k.Total-k.From) || k.Lines != 100_000 {
		t.Errorf("%+v", k)
	}
	if _, err := found.Read(total, make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("read at the end: %v", err)
	}
}
