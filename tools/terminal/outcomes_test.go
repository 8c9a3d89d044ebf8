package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
)

// reply is the JSON of a result as a caller reads it.
type reply struct {
	Output          string   `json:"output"`
	ExitCode        *int     `json:"exit_code"`
	Error           *string  `json:"error"`
	Status          string   `json:"status"`
	ExitCodeMeaning *string  `json:"exit_code_meaning"`
	Signal          *string  `json:"signal"`
	PID             *int     `json:"pid"`
	TotalBytes      int64    `json:"output_total_bytes"`
	ControlBytes    int64    `json:"control_bytes"`
	Omitted         Omitted  `json:"omitted"`
	FullOutputPath  *string  `json:"full_output_path"`
	Redactions      int      `json:"redactions"`
	Notes           []string `json:"notes"`
	Partial         *PartialOutput
	Capture         struct {
		State   string            `json:"state"`
		Read    int64             `json:"bytes_read"`
		Shown   int64             `json:"bytes_shown"`
		Lost    int64             `json:"bytes_lost"`
		End     string            `json:"end"`
		Holders []outcome.Process `json:"holders"`
	} `json:"capture"`
}

func parse(t testing.TB, a tools.Answer) reply {
	t.Helper()
	raw, err := json.Marshal(a.Result)
	if err != nil {
		t.Fatal(err)
	}
	var r reply
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	var partial struct {
		Partial *PartialOutput `json:"partial_output"`
	}
	if err := json.Unmarshal(raw, &partial); err != nil {
		t.Fatal(err)
	}
	r.Partial = partial.Partial
	if (r.Error == nil) != (r.Status == "complete") || a.Status.String() != r.Status || (a.Err == nil) != (r.Error == nil) || a.Summary == "" {
		t.Errorf("answer %v, %v, %q and JSON %s do not agree", a.Status, a.Err, a.Summary, raw)
	}
	return r
}

func newCall() *tools.Call {
	return &tools.Call{
		ID: "call", Live: io.Discard,
		Report: func(int64, int64, string) {},
		Ask:    func(context.Context, tools.Question) error { return rule("nobody is there to ask") },
	}
}

func deps(t testing.TB) Deps {
	t.Helper()
	return Deps{Poller: newPoller(t), SpillDir: filepath.Join(t.TempDir(), "spill")}
}

// brokenAfter reads n bytes and then fails.
func brokenAfter(n int) func(int, []byte) (int, error) {
	return func(fd int, p []byte) (int, error) {
		if n == 0 {
			return 0, unix.EIO
		}
		got, err := unix.Read(fd, p[:min(n, len(p))])
		n -= max(got, 0)
		return got, err
	}
}

func startFails(step string, err error) fault {
	return fault{start: func(s string) error {
		if strings.HasPrefix(s, step) {
			return err
		}
		return nil
	}}
}

// none is the exit code of what has none.
const none = -1

// TestEveryOutcomeHasItsStateAndItsWords is the table of what can happen to a
// command. The columns are what the caller reads.
func TestEveryOutcomeHasItsStateAndItsWords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plainFile := filepath.Join(dir, "plain")
	if err := os.WriteFile(plainFile, []byte("no program\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	huge := strings.Repeat("x", 100_000)
	for _, c := range []struct {
		name   string
		job    Job
		status string
		state  string
		end    string
		code   int
		err    string // what the error begins with; empty: null
		output string
	}{
		{"clean exit", Job{Argv: sh("echo hi")}, "complete", "complete", "eof", 0, "", "hi\n"},
		{"no output at all", Job{Argv: sh("true")}, "complete", "complete", "eof", 0, "", ""},
		{"non-zero exit", Job{Argv: sh("echo no; exit 3")}, "failed", "complete", "eof", 3, "exit 3", "no\n"},
		{"killed by a signal", Job{Argv: sh("echo on; kill -9 $$")}, "failed", "complete", "eof", none, "killed by SIGKILL", "on\n"},
		{"a signal of its child", Job{Argv: sh("exec 2>/dev/null; sh -c 'kill -9 $$'; exit $?")}, "failed", "complete", "eof", 137, "exit 137", ""},
		{"timeout", Job{Argv: sh("echo on; exec sleep 60"), Timeout: 200 * time.Millisecond}, "failed", "complete", "eof", none, "timed out after 0.20s; killed by SIGTERM", "on\n"},
		{"timeout of what ignores TERM", Job{Argv: sh("trap '' TERM; echo on; while :; do sleep 0.05; done"), Timeout: 200 * time.Millisecond}, "failed", "complete", "eof", none, "timed out after 0.20s; killed by SIGKILL", "on\n"},
		{"interrupt", Job{Argv: sh("echo on; exec sleep 60")}, "cancelled", "complete", "eof", none, "interrupted; killed by SIGTERM", "on\n"},
		{"program missing", Job{Argv: []string{"no-such-program-here"}}, "failed", "not started", "unknown", none, `did not start: command "no-such-program-here" not found in PATH`, ""},
		{"not executable", Job{Argv: []string{plainFile}}, "failed", "not started", "unknown", none, "did not start: execute " + plainFile + ": permission denied (EACCES)", ""},
		{"directory gone", Job{Argv: sh("pwd"), Dir: dir + "/gone"}, "failed", "not started", "unknown", none, "did not start: stat " + dir + "/gone: no such file or directory (ENOENT) while trying to enter the directory", ""},
		{"directory is a file", Job{Argv: sh("pwd"), Dir: plainFile}, "failed", "not started", "unknown", none, "did not start: enter " + plainFile + ": not a directory (ENOTDIR)", ""},
		{"E2BIG", Job{Argv: sh(": " + strings.Repeat(huge, 2))}, "failed", "not started", "unknown", none, "did not start: argument list too long (E2BIG) while trying to start /bin/sh", ""},
		{"EMFILE at the pipe", Job{Argv: sh("true"), fault: startFails("open a pipe", unix.EMFILE)}, "failed", "not started", "unknown", none, "did not start: too many open files (EMFILE) while trying to open a pipe", ""},
		{"EMFILE at the waiter", Job{Argv: sh("true"), fault: startFails("wait on", unix.EMFILE)}, "failed", "not started", "unknown", none, "did not start: too many open files (EMFILE) while trying to wait on the pipe", ""},
		{"EMFILE at the start", Job{Argv: sh("true"), fault: startFails("start", unix.EMFILE)}, "failed", "not started", "unknown", none, "did not start: too many open files (EMFILE) while trying to start /bin/sh", ""},
		{"reader broken at byte 0", Job{Argv: sh("echo hello"), fault: fault{read: brokenAfter(0)}}, "failed", "lost", "broken", 0, "output lost: an uncounted number of bytes missing after 0 bytes: read the pipe: input/output error (EIO)", ""},
		{"reader broken at byte 3", Job{Argv: sh("echo hello"), fault: fault{read: brokenAfter(3)}}, "failed", "lost", "broken", 0, "output lost: an uncounted number of bytes missing after 3 bytes", "hel"},
		{"stream held", Job{Argv: sh("sleep 30 & echo on")}, "partial", "detached", "stopped", 0, "output detached: the command ended, pid ", "on\n"},
		{"daemonises and lets go", Job{Argv: sh("setsid sleep 0.2 >/dev/null 2>&1 & echo on")}, "complete", "complete", "eof", 0, "", "on\n"},
		{"daemonises and holds", Job{Argv: sh("setsid sleep 30 & echo on")}, "partial", "detached", "stopped", 0, "output detached: the command ended, pid ", "on\n"},
		{"closes its stdout early", Job{Argv: sh("echo on; exec >&- 2>&-; sleep 0.1; exit 9")}, "failed", "complete", "eof", 9, "exit 9", "on\n"},
		{"invalid UTF-8", Job{Argv: sh(`printf 'a\377b\342\202'`)}, "complete", "complete", "eof", 0, "", "a\uFFFDb\uFFFD"},
		{"NUL bytes", Job{Argv: sh(`printf 'a\000b'`)}, "complete", "complete", "eof", 0, "", "a\x00b"},
		{"no newline at the end", Job{Argv: sh("printf on")}, "complete", "complete", "eof", 0, "", "on"},
		{"whitespace only", Job{Argv: sh(`printf ' \n\t\n'`)}, "complete", "complete", "eof", 0, "", " \n\t\n"},
		{"colours", Job{Argv: sh(`printf '\033[31mred\033[0m\n'`)}, "complete", "complete", "eof", 0, "", "red\n"},
		{"input that it reads", Job{Argv: sh("cat"), Stdin: &huge}, "complete", "truncated", "eof", 0, "", ""},
		{"no input", Job{Argv: sh("cat")}, "complete", "complete", "eof", 0, "", ""},
		{"on a terminal", Job{Argv: sh("test -t 1 && echo on"), PTY: true}, "complete", "complete", "hangup", 0, "", "on\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := deps(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			call := newCall()
			if c.name == "interrupt" {
				call.Live = writerFunc(func(p []byte) (int, error) { cancel(); return len(p), nil })
			}
			r := parse(t, d.Answer(ctx, call, c.job))
			for _, h := range r.Capture.Holders {
				_ = unix.Kill(h.PID, unix.SIGKILL)
			}
			if r.Status != c.status || r.Capture.State != c.state || r.Capture.End != c.end {
				t.Errorf("%s, %s, end %s; want %s, %s, end %s (error %v)", r.Status, r.Capture.State, r.Capture.End, c.status, c.state, c.end, text(r.Error))
			}
			if code := number(r.ExitCode); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			if got := text(r.Error); (r.Error != nil) != (c.err != "") || !strings.HasPrefix(got, c.err) {
				t.Errorf("error %q, want %q", got, c.err)
			}
			if c.state != "truncated" && r.Output != c.output {
				t.Errorf("output %q, want %q", r.Output, c.output)
			}
			if (r.PID == nil) != (c.state == "not started") {
				t.Errorf("pid %v", r.PID)
			}
		})
	}
}

func number(p *int) int {
	if p == nil {
		return none
	}
	return *p
}

func text(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

func TestWhatOutputDoesNotShowLiesBesideItAsItCame(t *testing.T) {
	for _, c := range []struct{ name, script, raw string }{
		{"colours", `printf '\033[31mred\033[0m\n'`, "\x1b[31mred\x1b[0m\n"},
		{"invalid UTF-8", `printf 'a\377b'`, "a\xffb"},
	} {
		d := deps(t)
		r := parse(t, d.Answer(t.Context(), newCall(), Job{Argv: sh(c.script)}))
		if r.FullOutputPath == nil {
			t.Fatalf("%s: no file", c.name)
		}
		raw, err := os.ReadFile(*r.FullOutputPath)
		if err != nil || string(raw) != c.raw || r.TotalBytes != int64(len(c.raw)) {
			t.Errorf("%s: %q, %v", c.name, raw, err)
		}
		if r.ControlBytes+int64(len(strings.ReplaceAll(r.Output, "\uFFFD", "x"))) != r.TotalBytes {
			t.Errorf("%s: %d control bytes and %q do not make %d", c.name, r.ControlBytes, r.Output, r.TotalBytes)
		}
		if fi, err := os.Stat(*r.FullOutputPath); err != nil || fi.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v", c.name, fi.Mode(), err)
		}
	}
	d := deps(t)
	r := parse(t, d.Answer(t.Context(), newCall(), Job{Argv: sh("echo plain")}))
	if r.FullOutputPath != nil {
		t.Errorf("a file for an output that is shown whole: %s", *r.FullOutputPath)
	}
}

// TestFloodIsBoundedInMemoryAndOnDisk writes more than the spill file takes.
// HONESTTY_SOAK=1 makes it 5 GB.
func TestFloodIsBoundedInMemoryAndOnDisk(t *testing.T) {
	t.Parallel()
	total, limit := int64(40<<20), int64(1<<20)
	if os.Getenv("HONESTTY_SOAK") != "" {
		total, limit = 5<<30, 1<<30
	}
	d := deps(t)
	d.SpillMax = limit
	script := "yes 'a line of a flood' | head -c " + outcomeInt(total) + "; echo end"
	r := parse(t, d.Answer(t.Context(), newCall(), Job{Argv: sh(script)}))
	if r.Status != "complete" || r.Capture.State != "truncated" || r.TotalBytes != total+4 || r.FullOutputPath != nil {
		t.Errorf("%+v", r)
	}
	if r.Partial == nil || r.Partial.Bytes != limit || r.Partial.NotKept != total+4-limit {
		t.Fatalf("partial %+v", r.Partial)
	}
	if fi, err := os.Stat(r.Partial.Path); err != nil || fi.Size() != limit {
		t.Errorf("%v, %v", fi, err)
	}
	if !strings.Contains(strings.Join(r.Notes, "\n"), "because its limit is") {
		t.Errorf("notes %q", r.Notes)
	}
	head, tail, cut := strings.Cut(r.Output, "\n[")
	_, tail, _ = strings.Cut(tail, "left out here]\n")
	if !cut || int64(len(head)+1+len(tail))+r.Omitted.Bytes != r.TotalBytes || !strings.HasSuffix(tail, "end\n") || len(r.Output) > DefaultShown+200 {
		t.Errorf("%d and %d bytes shown, %d left out, of %d", len(head)+1, len(tail), r.Omitted.Bytes, r.TotalBytes)
	}
	lines := int64(strings.Count(head+"\n"+tail, "\n"))
	if want := total/int64(len("a line of a flood\n")) + 1; lines+r.Omitted.Lines != want {
		t.Errorf("%d line ends shown, %d left out, of %d", lines, r.Omitted.Lines, want)
	}
}

func outcomeInt(n int64) string { return strings.ReplaceAll(outcome.Count(n), ",", "") }

func TestSpillLeavesRoomOnTheDisk(t *testing.T) {
	d := deps(t)
	j := Job{Argv: sh("seq 1 200000"), fault: fault{free: func(string) (uint64, error) { return spillReserve, nil }}}
	r := parse(t, d.Answer(t.Context(), newCall(), j))
	if r.Partial == nil || r.Partial.Bytes != 0 || r.FullOutputPath != nil || r.Status != "complete" || !strings.Contains(strings.Join(r.Notes, "\n"), "would be left free") {
		t.Errorf("%+v, notes %q", r.Partial, r.Notes)
	}
}

func TestSweepRemovesOnlyOldSpillFiles(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	for name, age := range map[string]time.Duration{"out-1.log": 8 * 24 * time.Hour, "out-2.log": time.Hour, "other.log": 8 * 24 * time.Hour} {
		at := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(at, nil, 0o600), os.Chtimes(at, now, now.Add(-age))); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := SweepSpills(dir, 7*24*time.Hour, now); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if left, _ := filepath.Glob(dir + "/*"); len(left) != 2 {
		t.Errorf("left %q", left)
	}
	if n, err := SweepSpills(dir+"/gone", 0, now); n != 0 || err != nil {
		t.Errorf("a folder that is not there: %d, %v", n, err)
	}
}
