package terminal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/internal/leak"
	"github.com/honestty/honestty/internal/proc"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
)

// use calls the tool with parameters as JSON.
func use(t testing.TB, d Deps, c *tools.Call, params any) reply {
	t.Helper()
	raw, ok := params.(string)
	if !ok {
		b, err := json.Marshal(params)
		if err != nil {
			t.Fatal(err)
		}
		raw = string(b)
	}
	return parse(t, Tool(d).Run(t.Context(), c, json.RawMessage(raw)))
}

func command(s string) map[string]any { return map[string]any{"command": s} }

func TestToolRunsACommandByAShell(t *testing.T) {
	d := deps(t)
	c := newCall()
	c.Dir = t.TempDir()
	if err := os.Mkdir(c.Dir+"/sub", 0o700); err != nil {
		t.Fatal(err)
	}
	r := use(t, d, c, map[string]any{"command": "pwd; echo err >&2; echo $((6*7)); cat", "workdir": "sub", "stdin": "in", "timeout": 20})
	if r.Output != c.Dir+"/sub\nerr\n42\nin" || r.Status != "complete" || r.Redactions != 0 || len(r.Notes) != 0 {
		t.Errorf("%+v", r)
	}
	r = use(t, d, c, command("echo -n; grep nothing /dev/null"))
	if *r.ExitCode != 1 || text(r.ExitCodeMeaning) != "grep: no line matched" || r.Status != "failed" || text(r.Error) != "exit 1" {
		t.Errorf("grep: %+v", r)
	}
}

func TestWithoutBashTheResultSaysThatShRanIt(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("/bin/sh", dir+"/sh"); err != nil {
		t.Fatal(err)
	}
	d := deps(t)
	d.Env = []string{"PATH=" + dir}
	r := use(t, d, newCall(), command("echo on"))
	if r.Output != "on\n" || !slices.Equal(r.Notes, []string{"bash was not found: sh ran the command"}) {
		t.Errorf("%+v", r)
	}
}

func TestWhatIsRefusedIsNotRunAndSaysWhy(t *testing.T) {
	dir := t.TempDir()
	d := deps(t)
	d.Check = func(c string) (string, error) {
		switch {
		case strings.HasPrefix(c, "never"):
			return "", rule("delete of the system")
		case strings.HasPrefix(c, "ask"):
			return "recursive delete", nil
		}
		return "", nil
	}
	mark := filepath.Join(dir, "ran")
	for _, c := range []struct{ params, err string }{
		{`{`, "refused: the parameters are no JSON object of this tool"},
		{`[]`, "refused: the parameters are no JSON object of this tool"},
		{`{}`, "refused: command is missing or empty"},
		{`{"command":" \n"}`, "refused: command is missing or empty"},
		{`{"command":7}`, "refused: command is of the wrong type"},
		{`{"command":"touch MARK","timeout":"5"}`, "refused: timeout is of the wrong type"},
		{`{"command":"touch MARK\u0000x"}`, "refused: a NUL byte in the command: no program can be given one"},
		{`{"command":"touch MARK","timeout":0}`, "refused: timeout must be above 0 seconds"},
		{`{"command":"touch MARK","timeout":-3}`, "refused: timeout must be above 0 seconds"},
		{`{"command":"touch MARK","timeout":600.5}`, "refused: timeout is at most 600 seconds here: start longer work with background: true"},
		{`{"command":"touch MARK","timeout":1e300}`, "refused: timeout is at most 600 seconds here"},
		{`{"command":"touch MARK","workdir":"a\nMEDIA:/etc/passwd"}`, "refused: a control character or a broken character in workdir"},
		{`{"command":"touch MARK","workdir":"a\u2028b"}`, "refused: a control character"},
		{`{"command":"touch MARK","background":true}`, "refused: background processes are not available here"},
		{`{"command":"touch MARK","pty":true,"stdin":"x"}`, "refused: pty and stdin exclude each other"},
		{`{"command":"never; touch MARK"}`, "refused: delete of the system"},
		{`{"command":"ask; touch MARK"}`, "refused: nobody is there to ask"},
	} {
		r := use(t, d, newCall(), strings.ReplaceAll(c.params, "MARK", mark))
		if r.Status != "refused" || !strings.HasPrefix(text(r.Error), c.err) || r.PID != nil || r.ExitCode != nil || r.Capture.State != "not started" {
			t.Errorf("%s: %+v, error %q", c.params, r, text(r.Error))
		}
		if strings.Contains(text(r.Error), "passwd") {
			t.Errorf("%s: the error repeats what was refused", c.params)
		}
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a refused command ran")
	}
	asked := tools.Question{}
	call := newCall()
	call.Ask = func(_ context.Context, q tools.Question) error { asked = q; return nil }
	if r := use(t, d, call, command("ask() { :; }; ask whole")); r.Status != "complete" || asked != (tools.Question{Rule: "recursive delete", Detail: "ask() { :; }; ask whole"}) {
		t.Errorf("%+v after %+v", r, asked)
	}
	call.Ask = func(context.Context, tools.Question) error { return context.Canceled }
	if r := use(t, d, call, command("ask")); r.Status != "cancelled" {
		t.Errorf("%+v", r)
	}
}

type starter struct{ got Background }

func (s *starter) StartBackground(_ context.Context, _ *tools.Call, b Background) tools.Answer {
	s.got = b
	return tools.Answer{Status: outcome.Complete, Result: &Result{Status: "complete"}, Summary: "started"}
}

func TestBackgroundGoesToTheStarterAfterTheChecks(t *testing.T) {
	d, s := deps(t), &starter{}
	d.Background = s
	a := Tool(d).Run(t.Context(), newCall(), json.RawMessage(`{"command":"sleep 9","background":true,"workdir":"/tmp","pty":true,"notify_on_complete":true,"watch_patterns":["x"]}`))
	want := Background{Command: "sleep 9", Argv: s.got.Argv, Dir: "/tmp", PTY: true, NotifyOnComplete: true, WatchPatterns: []string{"x"}}
	if a.Summary != "started" || fmt.Sprint(s.got) != fmt.Sprint(want) || len(s.got.Argv) != 3 || s.got.Argv[2] != "sleep 9" {
		t.Errorf("%+v: %+v", a, s.got)
	}
	d.Check = func(string) (string, error) { return "", rule("no") }
	*s = starter{}
	if r := use(t, d, newCall(), `{"command":"x","background":true}`); r.Status != "refused" || s.got.Command != "" {
		t.Errorf("%+v, started %+v", r, s.got)
	}
}

func TestNotesTellWhatWasNotUsedAndWhatGoesOn(t *testing.T) {
	d := deps(t)
	r := use(t, d, newCall(), `{"command":"true","heartbeat_seconds":5,"watch_patterns":["x"]}`)
	if len(r.Notes) != 2 || !strings.Contains(r.Notes[0], "work only with background") || !strings.Contains(r.Notes[1], `"heartbeat_seconds" is not known`) {
		t.Errorf("%q", r.Notes)
	}
	for cmd, how := range map[string]string{
		"sleep 0 & wait": "(&)", "nohup true": "(nohup)", "setsid true": "(setsid)", "sudo -n nohup true; true": "(nohup)",
		"echo 'a & b'": "", "true && true": "", "echo nohup": "",
	} {
		r := use(t, d, newCall(), command(cmd))
		if has := strings.Contains(strings.Join(r.Notes, "\n"), "in the background "+how); has != (how != "") {
			t.Errorf("%q: %q", cmd, r.Notes)
		}
	}
}

func TestLiveGetsTheBytesAsTheyComeWhileItRuns(t *testing.T) {
	d := deps(t)
	fifo := filepath.Join(t.TempDir(), "go")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	c := newCall()
	c.Live = writerFunc(func(p []byte) (int, error) {
		if got.Len() == 0 { // the command waits for this
			if err := os.WriteFile(fifo, []byte("go\n"), 0); err != nil {
				t.Error(err)
			}
		}
		got.Write(p)
		return 0, errors.New("this watcher takes nothing")
	})
	r := use(t, d, c, command(`printf '\033[1mfirst\033[0m\n'; read x < '`+fifo+`'; echo second`))
	if got.String() != "\x1b[1mfirst\x1b[0m\nsecond\n" || r.Output != "first\nsecond\n" || r.Status != "complete" {
		t.Errorf("live %q, %+v", got.String(), r)
	}
}

func TestSecretsAreMaskedAndCounted(t *testing.T) {
	d := deps(t)
	secret := "ghp_" + strings.Repeat("aB3dE6", 6)
	r := use(t, d, newCall(), command("printf '\\033[1mtoken '; echo "+secret))
	if r.Redactions != 1 || strings.Contains(r.Output, secret) || !strings.Contains(strings.Join(r.Notes, "\n"), "secrets are masked in output: 1") {
		t.Errorf("%+v", r)
	}
	raw, err := os.ReadFile(text(r.FullOutputPath))
	if err != nil || !strings.Contains(string(raw), secret) {
		t.Errorf("the file beside it: %q, %v", raw, err)
	}
	raw2, _ := json.Marshal(r)
	if strings.Contains(string(raw2), secret) {
		t.Error("the secret is in the result")
	}
}

func TestNoHalfOfAKeyIsShown(t *testing.T) {
	key := "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat("MIIEabcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWX\n", 60) + "-----END RSA PRIVATE KEY-----\n"
	d := deps(t)
	d.Shown = 2000
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(key), 0o600); err != nil {
		t.Fatal(err)
	}
	r := use(t, d, newCall(), command("echo before; cat "+file+"; echo after"))
	if strings.Contains(r.Output, "MIIE") || r.Redactions == 0 || !strings.HasPrefix(r.Output, "before\n") || !strings.HasSuffix(r.Output, "after\n") {
		t.Errorf("%d masked: %s", r.Redactions, r.Output)
	}
}

// TestTimeoutKillsThoseOfTheGroupThatOutliveTheLeader has a member that
// ignores TERM, while the leader ends by it.
func TestTimeoutKillsThoseOfTheGroupThatOutliveTheLeader(t *testing.T) {
	t.Parallel()
	d := deps(t)
	r := use(t, d, newCall(), map[string]any{
		"command": `sh -c 'trap "" TERM; echo $$; exec >&- 2>&-; while :; do sleep 0.05; done' & wait`, "timeout": 0.4,
	})
	pid, err := strconv.Atoi(strings.TrimSpace(r.Output))
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != "failed" || !strings.HasPrefix(text(r.Error), "timed out after 0.40s") || !strings.Contains(strings.Join(r.Notes, "\n"), "they got KILL") {
		t.Errorf("%+v", r)
	}
	if g, err := proc.Look(pid); err == nil && len(g.Args) > 0 {
		t.Errorf("%d still runs: %q", pid, g.Args)
	}
}

func TestAThousandCallsLeaveNothing(t *testing.T) {
	d := deps(t)
	use(t, d, newCall(), command("true"))
	before := leak.Take(t)
	n := 1000
	if testing.Short() {
		n = 100
	}
	for i := range n {
		if r := use(t, d, newCall(), command("echo "+strconv.Itoa(i))); r.Output != strconv.Itoa(i)+"\n" || r.Status != "complete" {
			t.Fatalf("call %d: %+v", i, r)
		}
	}
	before.Check(t)
	if left, _ := os.ReadDir(d.SpillDir); len(left) != 0 {
		t.Errorf("%d files left", len(left))
	}
}

func TestTwoHundredCallsAtOnceLeaveNothing(t *testing.T) {
	d := deps(t)
	use(t, d, newCall(), command("true"))
	before := leak.Take(t)
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			want := strings.Repeat(strconv.Itoa(i)+"\n", 100)
			if r := use(t, d, newCall(), command(fmt.Sprintf("for i in $(seq 100); do echo %d; done", i))); r.Output != want || r.Status != "complete" {
				t.Errorf("call %d: %q, %v", i, r.Status, text(r.Error))
			}
		})
	}
	wg.Wait()
	before.Check(t)
}

func TestManyHeldDescriptorsCostNoOutput(t *testing.T) {
	for _, held := range []int{1100, 10_000} {
		t.Run(strconv.Itoa(held), func(t *testing.T) {
			var lim unix.Rlimit
			if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &lim); err != nil {
				t.Fatal(err)
			}
			if lim.Cur < uint64(held)+100 {
				t.Skipf("skipped: this machine allows %d descriptors", lim.Cur)
			}
			for range held {
				fd, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
				if err != nil {
					t.Fatal(err)
				}
				defer unix.Close(fd)
			}
			d := deps(t)
			for _, pty := range []bool{false, true} {
				r := use(t, d, newCall(), map[string]any{"command": "seq 1 5000", "pty": pty})
				if r.Status != "complete" || r.Capture.State != "complete" || !strings.HasSuffix(strings.ReplaceAll(r.Output, "\r", ""), "\n5000\n") {
					t.Errorf("pty %v: %+v, %v", pty, r.Capture, text(r.Error))
				}
			}
		})
	}
}

func TestTitleIsOneLine(t *testing.T) {
	tool := Tool(Deps{})
	for params, want := range map[string]string{
		`{"command":"a\n  b\t\u001b[1m c"}`: "a b [1m c",
		`{"command":""}`:                    "a command that cannot be read",
		`nonsense`:                          "a command that cannot be read",
	} {
		if got := tool.Title(json.RawMessage(params)); got != want {
			t.Errorf("%s: %q", params, got)
		}
	}
	raw, _ := json.Marshal(command(strings.Repeat("é", 1000)))
	if got := []rune(tool.Title(raw)); len(got) != 200 || got[199] != '…' {
		t.Errorf("%d characters", len(got))
	}
}

func TestTimeoutDefaultsStayUnderTheirCap(t *testing.T) {
	five := 5.0
	for _, c := range []struct {
		d    Deps
		p    Params
		want time.Duration
	}{
		{Deps{}, Params{}, DefaultTimeout},
		{Deps{Max: time.Second}, Params{}, time.Second},
		{Deps{Default: time.Minute}, Params{}, time.Minute},
		{Deps{}, Params{Timeout: &five}, 5 * time.Second},
	} {
		if got, err := c.d.timeout(c.p); got != c.want || err != nil {
			t.Errorf("%+v: %v, %v", c.d, got, err)
		}
	}
}
