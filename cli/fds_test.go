package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/ctl"
	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/internal/proc"
	"github.com/honestty/honestty/tools/fdmeter"
)

// holder starts a program that waits and holds these files besides the standard
// streams, and nothing that this process would leak.
func holder(t *testing.T, files ...*os.File) int {
	t.Helper()
	if err := proc.SealInherited(); err != nil { // what the tests' own parent leaked
		t.Fatal(err)
	}
	cmd := exec.Command("sleep", "1000")
	cmd.ExtraFiles = files
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	// It has been started, and opens its libraries until it sleeps.
	stat := fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid)
	for {
		text, err := os.ReadFile(stat)
		_, state, ok := strings.Cut(string(text), ") ")
		if err != nil || ok && strings.HasPrefix(state, "S") {
			return cmd.Process.Pid
		}
		if ok && strings.HasPrefix(state, "Z") {
			t.Fatal("it has ended")
		}
	}
}

// running starts honestty and returns the lines of one of its outputs.
func running(t *testing.T, stderr bool, args ...string) (cmd *exec.Cmd, lines *bufio.Scanner) {
	t.Helper()
	cmd = exec.Command(program(t), args...)
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0") // else a race build takes a second to end
	pipe := cmd.StdoutPipe
	if stderr {
		pipe = cmd.StderrPipe
	}
	out, err := pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, bufio.NewScanner(out)
}

// interrupted ends a program as Ctrl+C does and returns its exit code.
func interrupted(t *testing.T, cmd *exec.Cmd, lines *bufio.Scanner) int {
	t.Helper()
	if err := cmd.Process.Signal(unix.SIGINT); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() { // to the end, before Wait closes it
	}
	err := cmd.Wait()
	if err == nil {
		return 0
	}
	if ee, ok := errors.AsType[*exec.ExitError](err); ok {
		return ee.ExitCode()
	}
	t.Fatal(err)
	return -1
}

func openNull(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestWatchPrintsABlockForEachTickAndEndsWithAnInterrupt(t *testing.T) {
	pid := strconv.Itoa(holder(t))
	cmd, lines := running(t, false, "fds", "--watch", "100ms", pid)
	blocks, rows := 0, []string{}
	for blocks < 3 && lines.Scan() {
		text := lines.Text()
		if strings.Contains(text, "\x1b") {
			t.Errorf("a sequence for a terminal: %q", text)
		}
		if strings.Contains(text, ", again after 100ms") {
			blocks++
		}
		if strings.HasSuffix(text, "sleep") {
			rows = append(rows, strings.Join(strings.Fields(text)[:3], " "))
		}
	}
	if len(rows) != 2 || !strings.HasSuffix(rows[0], "?") || !strings.HasSuffix(rows[1], "+0") {
		t.Errorf("rows %q", rows)
	}
	if code := interrupted(t, cmd, lines); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestWatchEndsWithTheProcessAndSaysSo(t *testing.T) {
	sleep := exec.Command("sleep", "1000")
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	cmd, lines := running(t, true, "fds", "--watch", "100ms", "--warn", "0.01%", strconv.Itoa(sleep.Process.Pid))
	for lines.Scan() && !strings.Contains(lines.Text(), "sleep") { // the warning, which comes with the first block
	}
	if err := sleep.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = sleep.Wait()
	var last string
	for lines.Scan() {
		last = lines.Text()
	}
	if want := fmt.Sprintf("honestty: no process with pid %d", sleep.Process.Pid); last != want {
		t.Errorf("stderr ends with %q, want %q", last, want)
	}
	if ee, ok := errors.AsType[*exec.ExitError](cmd.Wait()); !ok || ee.ExitCode() != exitNotComplete {
		t.Errorf("ended with %v", ee)
	}
}

func TestMetricsAreServedToThisMachineOnlyUntilAnInterrupt(t *testing.T) {
	pid := strconv.Itoa(holder(t, openNull(t), openNull(t)))
	cmd, lines := running(t, true, "fds", "--openmetrics", ":0", pid)
	if !lines.Scan() {
		t.Fatal("it does not say where it serves")
	}
	_, url, found := strings.Cut(lines.Text(), "serving ")
	if !found || !strings.HasPrefix(url, "http://127.0.0.1:") || !strings.HasSuffix(url, "/metrics") {
		t.Fatalf("it serves %q", lines.Text())
	}
	get := func(url, host string) (int, string, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, resp.Header.Get("Content-Type"), string(body)
	}
	code, kind, body := get(url, "")
	if code != http.StatusOK || kind != "application/openmetrics-text; version=1.0.0; charset=utf-8" {
		t.Errorf("status %d, type %q", code, kind)
	}
	if want := fmt.Sprintf("honestty_process_open_fds{pid=%q,name=\"sleep\"} 5\n", pid); !strings.Contains(body, want) || !strings.HasSuffix(body, "# EOF\n") {
		t.Errorf("no %q in\n%s", want, body)
	}
	if code, _, body := get(url, "evil.example"); code != http.StatusForbidden || strings.Contains(body, "sleep") {
		t.Errorf("a page elsewhere gets status %d: %s", code, body)
	}
	if code, _, _ := get(strings.TrimSuffix(url, "metrics"), ""); code != http.StatusNotFound {
		t.Errorf("another path has status %d", code)
	}
	http.DefaultClient.CloseIdleConnections()
	if code := interrupted(t, cmd, lines); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestCountsOfAKnownProcessAreExact(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	pid := holder(t, r, w, openNull(t))
	var out strings.Builder
	a := &app{version: "test", in: os.Stdin, out: &out, err: io.Discard}
	c := &fdsCall{app: a, meter: &fdmeter.Meter{}, json: true, types: true}
	report, err := c.read(t.Context(), []string{strconv.Itoa(pid)})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.print(report); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Processes []struct {
			Count, Highest int
			Types          map[string]int
			Flags          map[string]int `json:"close_on_exec"`
		}
	}
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Skip(err)
	}
	p := got.Processes[0]
	if p.Count != len(names) || p.Count != 6 || p.Highest != 5 || p.Types["pipe"] != 2 || p.Types["device"] != 4 || p.Flags["clear"] != 6 {
		t.Errorf("%+v, and /proc has %d", p, len(names))
	}
}

// TestOurOwnProgramHasNoLineOfSelect gives it descriptors up to a number above
// 1024.
func TestOurOwnProgramHasNoLineOfSelect(t *testing.T) {
	if _, err := os.Stat("/proc/self/exe"); err != nil {
		t.Skip("skipped: this system does not tell which program another process runs")
	}
	var files []*os.File
	for range 1100 {
		files = append(files, openNull(t))
	}
	server := exec.Command(program(t), "mcp") // until its input ends
	server.ExtraFiles, server.Stderr = files, os.Stderr
	server.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	in, err := server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close(); _ = server.Wait() }()
	for pid, ours := range map[int]bool{os.Getpid(): true, server.Process.Pid: true, holder(t): false} {
		if neverSelects(pid) != ours {
			t.Errorf("neverSelects(%d) = %v", pid, !ours)
		}
	}
	r := (&fdmeter.Meter{NoSelect: neverSelects}).Read(server.Process.Pid, time.Now())
	if line, ok := fdmeter.Nearest(r); !ok || line.Kind == fdmeter.LineSelect || !r.NoSelect {
		t.Errorf("nearest line %+v of %+v", line, r)
	}
	if n, known := r.Highest.Get(); !known || n < fdmeter.FDSetSize {
		t.Errorf("highest %v", r.Highest)
	}
}

// panes are what a window's socket tells of.
type panes struct{ list ctl.ListResult }

func (p panes) Call(_ context.Context, method string, _ json.RawMessage) (any, error) {
	if method != ctl.MethodList {
		return nil, fmt.Errorf("%s is not expected", method)
	}
	return p.list, nil
}

func TestPaneAsksTheWindow(t *testing.T) {
	dir, err := os.MkdirTemp("", "fds") // short: it is part of a socket's path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Setenv("XDG_RUNTIME_DIR", dir)
	t.Setenv(ctl.SocketVariable, "")
	pid := holder(t)
	server, err := ctl.Listen(ctl.Env{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() {
		served <- server.Serve(panes{ctl.ListResult{Tabs: []ctl.Tab{{ID: 1, Focused: true, Panes: []ctl.Pane{
			{ID: 1, Command: []string{"sleep"}, PID: pid, Focused: true}, {ID: 2, Command: []string{"true"}},
		}}}}})
	}()
	t.Cleanup(func() {
		if err := errors.Join(server.Close(), <-served); err != nil && !errors.Is(err, ctl.ErrClosed) {
			t.Error(err)
		}
	})
	a := &app{version: "test", in: os.Stdin, out: io.Discard, err: io.Discard}
	for pane, want := range map[int]string{0: "", 1: "", 2: "nothing runs in pane 2", 3: "there is no pane 3"} {
		got, err := a.panePID(t.Context(), pane)
		if want == "" && (err != nil || got != pid) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("pane %d: %d, %v; want %q", pane, got, err, want)
		}
	}
}

func TestAWarningIsGivenOnceAndStillCounts(t *testing.T) {
	var errs strings.Builder
	c := &fdsCall{app: &app{err: &errs}}
	near := fdsReport{passed: []fdmeter.Alert{{PID: 7, Name: "ev\x1bil", Line: fdmeter.Line{Limit: 10, Used: fdmeter.Known(9), Kind: fdmeter.LineSoft}}}}
	for range 3 {
		c.warnOf(near)
	}
	if got := errs.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "(7) uses 9 of 10") || strings.Contains(got, "\x1b") {
		t.Errorf("stderr %q", got)
	}
	c.warnOf(fdsReport{})
	if code, ok := errors.AsType[*codeError](c.judge(fdsReport{})); !ok || code.code != exitNotComplete {
		t.Error("a line that was passed earlier is forgotten at the end")
	}
}

func TestAPidOfAnotherProcessIsNotTakenForTheFirst(t *testing.T) {
	c := &fdsCall{meter: &fdmeter.Meter{}}
	pid := os.Getpid()
	if err := c.same(pid); err != nil {
		t.Fatal(err)
	}
	c.births[pid]++
	if err := c.same(pid); err == nil || !strings.Contains(err.Error(), "another process now") {
		t.Errorf("got %v", err)
	}
}

func TestTheDoctorWaitsForANumberThatSelectCannotTake(t *testing.T) {
	p, err := fdwait.New()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	number, err := tryWait(p)
	if err != nil || number < fdmeter.FDSetSize {
		t.Errorf("number %d, %v", number, err)
	}
	if p.Waiters() != 0 {
		t.Errorf("%d waiters left", p.Waiters())
	}
}

func TestOnlyAddressesOfThisMachineAreServedAt(t *testing.T) {
	for at, want := range map[string]string{
		":9177": "127.0.0.1:9177", "9177": "127.0.0.1:9177", "127.0.0.2:1": "127.0.0.2:1", "[::1]:5": "[::1]:5", "localhost:0": "",
		"0.0.0.0:1": "others can reach", "[::]:1": "others can reach", "192.0.2.7:1": "others can reach", "nowhere": "takes an address",
	} {
		c := &fdsCall{serve: at}
		got, err := c.address(t.Context())
		switch {
		case strings.Contains(want, " "):
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q, %v", at, got, err)
			}
		case err != nil || want != "" && got != want:
			t.Errorf("%s: %q, %v; want %q", at, got, err, want)
		}
	}
	if got, err := (&fdsCall{serve: "0.0.0.0:1", public: true}).address(t.Context()); err != nil || got != "0.0.0.0:1" {
		t.Errorf("--public: %q, %v", got, err)
	}
}

func TestWatchTakesATimeOrSeconds(t *testing.T) {
	for text, want := range map[string]time.Duration{"5": 5 * time.Second, "0.5": time.Second / 2, "2m": 2 * time.Minute, "x": 0, "": 0, "5 s": 0} {
		var got time.Duration
		err := (*pause)(&got).Set(text)
		if got != want || (err != nil) != (want == 0) || err != nil && !strings.Contains(err.Error(), "as 5s") {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestAFigureThatIsNotKnownHasAReasonInTheText(t *testing.T) {
	denied, none := fdmeter.Unknown(fdmeter.Denied), fdmeter.Unknown(fdmeter.NoDescriptors)
	var out strings.Builder
	c := &fdsCall{app: &app{out: &out}}
	err := c.print(fdsReport{
		named: true, Hidden: true,
		Processes: []fdmeter.Reading{
			{PID: 7, Name: "other", Count: fdmeter.Known(300), Highest: denied, Soft: fdmeter.Known(4096), Hard: fdmeter.Known(4096)},
			{PID: 8, Name: "shut", Count: denied, Highest: denied, Soft: denied, Hard: denied},
		},
		System: fdmeter.System{Files: none, FilesMax: none, PTYs: none, PTYsMax: none},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"1024 ≥29%", "pid 7: highest number ? (not permitted): 299 or more, for 300 are open\n", "pid 8: not counted: not permitted\n",
		"processes of other users are hidden", "machine: files ? of ?, terminals ? of ? (" + none.Reason() + ")\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
