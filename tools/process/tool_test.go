package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
)

// ask runs one action of the tool and returns the answer with its JSON.
func ask(t *testing.T, table *Table, params string) (tools.Answer, map[string]any) {
	t.Helper()
	return askWith(t.Context(), t, table, params)
}

func askWith(ctx context.Context, t *testing.T, table *Table, params string) (tools.Answer, map[string]any) {
	t.Helper()
	c := &tools.Call{
		Dir: t.TempDir(), Live: io.Discard, Report: func(int64, int64, string) {},
		Ask: func(context.Context, tools.Question) error {
			return &outcome.RefusedError{Rule: "nobody is there to say yes"}
		},
	}
	a := Tool(table).Run(ctx, c, json.RawMessage(params))
	raw, err := json.Marshal(a.Result)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	if (a.Status == outcome.Complete) != (a.Err == nil) || (m["error"] == nil) != (a.Err == nil) || m["outcome"] != a.Status.String() {
		t.Errorf("%s: status, error and result disagree: %v, %v, %s", params, a.Status, a.Err, raw)
	}
	if a.Summary == "" || strings.Contains(a.Summary, "\n") {
		t.Errorf("%s: summary %q", params, a.Summary)
	}
	for _, key := range []string{"error", "exit_code", "signal", "outcome"} {
		if _, ok := m[key]; !ok {
			t.Errorf("%s: no %s in %s", params, key, raw)
		}
	}
	return a, m
}

func TestToolSpeaksHermesNamesAndOurs(t *testing.T) {
	table := open(t, Options{})
	a, m := ask(t, table, `{"action":"start","command":"echo one; echo two; read x; printf 'got %s' \"$x\"; exit 4","watch_patterns":["two"]}`)
	if a.Err != nil || m["output"] != "Background process started" || m["exit_code"] != nil || m["status"] != "running" || m["pid"] == nil {
		t.Fatalf("start: %v, %v", m, a.Err)
	}
	id := m["session_id"].(string)
	j, err := table.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	awaitOutput(t, j, "two")

	_, m = ask(t, table, fmt.Sprintf(`{"action":"poll","session_id":%q}`, id[:12]))
	if m["status"] != "running" || m["output_preview"] != "one\ntwo\n" || m["exit_code"] != nil || m["showing"] != "showing bytes 0–7 of 8, 0 discarded" || m["uptime_seconds"] == nil {
		t.Errorf("poll: %v", m)
	}
	if w := m["watch"].(map[string]any); w["hits"] != 1.0 || w["state"] != "watching" || w["last_notice"].(map[string]any)["lines"] != "two" {
		t.Errorf("watch: %v", w)
	}
	if in := m["stdin"].(map[string]any); in["open"] != true {
		t.Errorf("stdin: %v", in)
	}
	a, m = ask(t, table, fmt.Sprintf(`{"action":"wait","session_id":%q,"timeout":0.01}`, id))
	if m["status"] != "timeout" || a.Status != outcome.Partial || !errors.Is(a.Err, outcome.ErrTimeout) || !strings.Contains(m["error"].(string), "still running") || m["output"] != "one\ntwo\n" {
		t.Errorf("wait: %v", m)
	}
	_, m = ask(t, table, fmt.Sprintf(`{"action":"submit","session_id":%q,"data":"in\u001b[1m"}`, id))
	if m["status"] != "ok" || m["bytes_written"] != 7.0 || m["bytes_refused"] != 0.0 {
		t.Errorf("submit: %v", m)
	}
	a, m = ask(t, table, fmt.Sprintf(`{"action":"wait","session_id":%q}`, id))
	if m["status"] != "exited" || m["exit_code"] != 4.0 || a.Status != outcome.Failed || m["error"] != "exit 4" || m["completion_reason"] != "exited" || m["output"] != "one\ntwo\ngot in" {
		t.Errorf("wait: %v", m)
	}
	if c := m["capture"].(map[string]any); c["state"] != "complete" || c["bytes_read"] != 18.0 {
		t.Errorf("capture: %v", c)
	}
	_, m = ask(t, table, fmt.Sprintf(`{"action":"log","session_id":%q,"offset":0,"limit":1}`, id))
	if m["output"] != "one\n" || m["total_lines"] != 3.0 || m["next_offset"] != 1.0 || m["showing"] != "showing lines 1–1 of 3 (bytes 0–3 of 18, 0 discarded)" {
		t.Errorf("log: %v", m)
	}
	_, m = ask(t, table, fmt.Sprintf(`{"action":"log","session_id":%q,"offset":8,"limit":100,"unit":"bytes","raw":true}`, id))
	if m["output"] != "got in" || m["output_base64"] != "Z290IGluG1sxbQ==" || m["next_offset"] != 18.0 {
		t.Errorf("log by bytes: %v", m)
	}
	_, m = ask(t, table, fmt.Sprintf(`{"action":"log","session_id":%q,"limit":2}`, id))
	if m["output"] != "two\ngot in" || m["next_offset"] != 3.0 {
		t.Errorf("log without offset: %v", m)
	}
	_, m = ask(t, table, fmt.Sprintf(`{"action":"kill","session_id":%q}`, id))
	if m["status"] != "already_exited" || m["exit_code"] != 4.0 {
		t.Errorf("kill: %v", m)
	}
	_, m = ask(t, table, `{"action":"list"}`)
	ps := m["processes"].([]any)
	if len(ps) != 1 {
		t.Fatalf("list: %v", m)
	}
	e := ps[0].(map[string]any)
	if e["session_id"] != id || e["status"] != "exited" || e["exit_code"] != 4.0 || e["output_preview"] != "one\ntwo\ngot in" || e["capture"] != "complete" {
		t.Errorf("list: %v", e)
	}
}

func TestToolKillsResizesAndCloses(t *testing.T) {
	table := open(t, Options{})
	_, m := ask(t, table, `{"action":"start","command":"stty size; cat; stty size; exec sleep 100","pty":true,"cols":100,"rows":30}`)
	id := m["session_id"].(string)
	if m["cols"] != 100.0 || m["pty"] != true {
		t.Errorf("start: %v", m)
	}
	j, _ := table.Get(id)
	awaitOutput(t, j, "30 100")
	if _, m = ask(t, table, fmt.Sprintf(`{"action":"resize","session_id":%q,"cols":9999,"rows":20}`, id)); m["status"] != "ok" || m["cols"] != 2000.0 || m["notes"] == nil {
		t.Errorf("resize: %v", m)
	}
	if _, m = ask(t, table, fmt.Sprintf(`{"action":"close","session_id":%q}`, id)); m["status"] != "ok" || m["notes"] == nil {
		t.Errorf("close: %v", m)
	}
	awaitOutput(t, j, "20 2000")
	_, m = ask(t, table, fmt.Sprintf(`{"action":"kill","session_id":%q,"timeout":0.2}`, id))
	if m["status"] != "killed" || m["exit_code"] != nil || m["signal"] != "SIGTERM" || m["completion_reason"] != "killed" || m["termination_source"] != "process.kill" || m["error"] != nil {
		t.Errorf("kill: %v", m)
	}
}

// TestBadInputIsOneClearErrorEach goes through what a caller can get wrong.
func TestBadInputIsOneClearErrorEach(t *testing.T) {
	table := open(t, Options{MaxJobs: 3})
	cat := start(t, table, Spec{Command: []string{"cat"}})
	for { // two ids with a common beginning
		j := start(t, table, Spec{Command: []string{"true"}})
		ended(t, j)
		if table.Evicted() > 20 {
			break
		}
	}
	closedIn := start(t, table, Spec{Command: sh("cat; exec sleep 100")})
	if err := closedIn.CloseStdin(); err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(t.TempDir(), "gone")
	long := strings.Repeat("x", 1<<18)
	for _, c := range []struct {
		name, params string
		status       outcome.Status
		says         string
	}{
		{"no JSON", `{`, outcome.Refused, "params: "},
		{"wrong type", `{"action":"poll","session_id":7}`, outcome.Refused, "params: "},
		{"no action", `{}`, outcome.Refused, `action: "" is none`},
		{"unknown action", `{"action":"dance\u001b[31m"}`, outcome.Refused, `action: "dance\x1b[31m" is none`},
		{"no id", `{"action":"poll"}`, outcome.Refused, "session_id: no job given"},
		{"unknown id", `{"action":"poll","session_id":"proc_zzz"}`, outcome.Failed, `no job with the id "proc_zzz"`},
		{"ambiguous id", `{"action":"poll","session_id":"proc_"}`, outcome.Failed, "is the beginning of 3 ids"},
		{"negative offset", `{"action":"log","session_id":"CAT","offset":-1}`, outcome.Refused, "offset: -1 is before the first line"},
		{"negative byte offset", `{"action":"log","session_id":"CAT","offset":-1,"unit":"bytes"}`, outcome.Refused, "offset: -1 is before the start"},
		{"offset past the end", `{"action":"log","session_id":"CAT","offset":9,"unit":"bytes"}`, outcome.Refused, "offset: 9 is past the end of the output, which has 0 bytes so far"},
		{"lines past the end", `{"action":"log","session_id":"CAT","offset":9}`, outcome.Refused, "9 lines are to be skipped and the output has 0"},
		{"limit 0", `{"action":"log","session_id":"CAT","limit":0}`, outcome.Refused, "limit: it must be above 0"},
		{"unknown unit", `{"action":"log","session_id":"CAT","unit":"pages"}`, outcome.Refused, `unit: "pages" is none`},
		{"timeout 0", `{"action":"wait","session_id":"CAT","timeout":0}`, outcome.Refused, "timeout: 0 seconds cannot be waited"},
		{"timeout below 0", `{"action":"wait","session_id":"CAT","timeout":-3}`, outcome.Refused, "timeout: -3 seconds"},
		{"grace 0", `{"action":"kill","session_id":"CAT","timeout":0}`, outcome.Refused, "timeout: 0 seconds"},
		{"no data", `{"action":"write","session_id":"CAT"}`, outcome.Refused, "data: nothing to write"},
		{"closed stdin", `{"action":"write","session_id":"CLOSED","data":"x"}`, outcome.Failed, "the input of the job is closed"},
		{"closed twice", `{"action":"close","session_id":"CLOSED"}`, outcome.Failed, "the input of the job is closed"},
		{"resize of pipes", `{"action":"resize","session_id":"CAT","cols":80,"rows":24}`, outcome.Failed, "the job has no terminal"},
		{"resize to nothing", `{"action":"resize","session_id":"CAT","cols":80}`, outcome.Refused, "cols and rows: both are needed"},
		{"size below 1", `{"action":"start","command":"true","pty":true,"cols":-1}`, outcome.Refused, "cols and rows: a size is at least 1 by 1"},
		{"no command", `{"action":"start"}`, outcome.Refused, "command: no command given"},
		{"blank command", `{"action":"start","command":" \n"}`, outcome.Refused, "command: no command given"},
		{"directory gone", `{"action":"start","command":"true","workdir":"GONE"}`, outcome.Failed, "did not start: stat "},
		{"arguments too long", `{"action":"start","command":"` + long + `"}`, outcome.Failed, "argument list too long (E2BIG)"},
		{"empty pattern", `{"action":"start","command":"true","watch_patterns":[""]}`, outcome.Refused, "watch_patterns: pattern 1 is empty"},
		{"bad regexp", `{"action":"start","command":"true","watch_patterns":["re:("]}`, outcome.Refused, "watch_patterns: pattern 1 is no regular expression"},
	} {
		t.Run(c.name, func(t *testing.T) {
			params := strings.NewReplacer("CAT", cat.ID(), "CLOSED", closedIn.ID(), "GONE", gone).Replace(c.params)
			a, m := ask(t, table, params)
			got, _ := m["error"].(string)
			if a.Status != c.status || !strings.Contains(got, c.says) || strings.Contains(got, "\n") || len(got) > 400 {
				t.Errorf("%v: %.500q", a.Status, got)
			}
		})
	}
	if i := cat.Info(); i.State != Running {
		t.Errorf("one of them touched the job: %+v", i)
	}
}

func TestMoreThanTheLimitIsRefusedAndNamesTheOldest(t *testing.T) {
	table := open(t, Options{MaxJobs: 3})
	first := start(t, table, Spec{Command: []string{"sleep", "100"}, Title: "the oldest of all"})
	var rest []*Job
	for range 2 {
		rest = append(rest, start(t, table, Spec{Command: []string{"sleep", "100"}}))
	}
	a, m := ask(t, table, `{"action":"start","command":"true"}`)
	text, _ := m["error"].(string)
	if a.Status != outcome.Refused || !strings.Contains(text, first.ID()) || !strings.Contains(text, "the oldest of all") || !strings.Contains(text, "3 jobs are running") {
		t.Errorf("%v: %s", a.Status, text)
	}
	if _, err := rest[0].Kill(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if a, _ = ask(t, table, `{"action":"start","command":"true"}`); a.Err != nil {
		t.Error(a.Err)
	}
	if table.Evicted() != 1 {
		t.Errorf("%d evicted", table.Evicted())
	}
	if _, err := table.Get(rest[0].ID()); !errors.Is(err, ErrNotFound) {
		t.Errorf("%v", err)
	}
}

func TestToolAsksAndARefusalStartsNothing(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	table := open(t, Options{Ask: func(command string) *tools.Question {
		return &tools.Question{Rule: "test", Detail: command}
	}})
	a, _ := ask(t, table, fmt.Sprintf(`{"action":"start","command":"touch %s"}`, mark))
	if a.Status != outcome.Refused || len(table.List()) != 0 {
		t.Errorf("%v, %v", a.Status, a.Err)
	}
	if _, err := os.Lstat(mark); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestSecretsAreReplacedWhereTheyAreShownAndCounted(t *testing.T) {
	table := open(t, Options{Redact: func(b []byte) ([]byte, int) {
		n := strings.Count(string(b), "hunter2")
		return []byte(strings.ReplaceAll(string(b), "hunter2", "…")), n
	}})
	_, m := ask(t, table, `{"action":"start","command":"echo Error: hunter2","watch_patterns":["Error"]}`)
	j, _ := table.Get(m["session_id"].(string))
	ended(t, j)
	for _, params := range []string{`{"action":"poll","session_id":"ID"}`, `{"action":"log","session_id":"ID","raw":true}`, `{"action":"list"}`} {
		a, m := ask(t, table, strings.ReplaceAll(params, "ID", j.ID()))
		raw, _ := json.Marshal(a.Result)
		if strings.Contains(string(raw), "aHVudGVyMg") || strings.Contains(string(raw), "hunter2") || m["redacted"] == nil {
			t.Errorf("%s: %s", params, raw)
		}
	}
}

func TestInterruptedWaitIsCancelledAndTheJobGoesOn(t *testing.T) {
	table := open(t, Options{})
	j := start(t, table, Spec{Command: []string{"cat"}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a, m := askWith(ctx, t, table, fmt.Sprintf(`{"action":"wait","session_id":%q}`, j.ID()))
	if a.Status != outcome.Cancelled || m["status"] != "interrupted" || j.Info().State != Running {
		t.Errorf("%v, %v", a.Status, m)
	}
	a, m = askWith(ctx, t, table, `{"action":"start","command":"true"}`)
	if a.Status != outcome.Cancelled || len(table.List()) != 1 {
		t.Errorf("%v, %v", a.Status, m)
	}
}

func TestWaitLongerThanTheLimitIsSaid(t *testing.T) {
	table := open(t, Options{})
	j := start(t, table, Spec{Command: []string{"true"}})
	_, m := ask(t, table, fmt.Sprintf(`{"action":"wait","session_id":%q,"timeout":9000}`, j.ID()))
	if note, _ := m["timeout_note"].(string); !strings.Contains(note, outcome.Duration(maxWait)) || m["error"] != nil {
		t.Errorf("%v", m)
	}
	if d := maxWait; d != 10*time.Minute {
		t.Errorf("limit %v", d)
	}
}

func TestTitleSurvivesWhatIsNoJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{`: "process", `{"action":"start","command":"npm run dev"}`: "start npm run dev",
		`{"action":"list"}`: "list", `{"action":"poll","session_id":"proc_1"}`: "poll proc_1",
	} {
		if got := Tool(nil).Title(json.RawMessage(in)); got != want {
			t.Errorf("%s: %q", in, got)
		}
	}
}
