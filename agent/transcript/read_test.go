package transcript

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/honestty/honestty/outcome"
)

func TestClaudeCodeIsRead(t *testing.T) {
	h, c := once(t, ClaudeCode, corpus(t, "claude.jsonl"), Options{})
	const want = `Bash|ls -1|complete|1
Bash|make quiet|unknown|1
Bash|make fail|failed|1
mcp__files__list|/srv|complete|1
Bash|rm -r x|refused|1
Bash|sleep 1000|unknown|1
`
	if got := h.told(); got != want {
		t.Errorf("told:\n%swant:\n%s", got, want)
	}
	if c.Torn != 1 || c.Orphans != 1 || c.Strange["hologram"] != 1 || len(c.Strange) != 1 || c.Records != 17 {
		t.Errorf("counts %+v", c)
	}
	s := h.starts[0]
	if s.Source.Kind != "transcript" || s.Source.Agent != ClaudeCode || s.Source.Session != "5b0c0001-0000-4000-8000-000000000001" || s.Source.Dir != "/" {
		t.Errorf("source %+v", s.Source)
	}
	if d := h.end(t, "ls -1").DurationMS; d != 1250 {
		t.Errorf("ls took %d ms, want 1250", d)
	}
	if e := h.end(t, "sleep 1000"); !strings.Contains(e.Error, "stale since") && !strings.Contains(e.Error, "not followed") {
		t.Errorf("a call without an end: %q", e.Error)
	}
	if e := h.end(t, "make fail"); !strings.Contains(e.Error, "Exit code 2") {
		t.Errorf("error %q", e.Error)
	}
}

func TestCodexIsRead(t *testing.T) {
	h, c := once(t, Codex, corpus(t, "codex.jsonl"), Options{})
	const want = `shell|bash -lc ls|complete|1
exec_command|make fail|failed|1
exec_command|make quiet|unknown|1
js|1+1|complete|1
local_shell|sleep 1000|unknown|1
`
	if got := h.told(); got != want {
		t.Errorf("told:\n%swant:\n%s", got, want)
	}
	if c.Torn != 1 || c.Orphans != 0 || c.Strange["response_item telepathy"] != 1 || len(c.Strange) != 1 {
		t.Errorf("counts %+v", c)
	}
	if e := h.end(t, "bash -lc ls"); e.DurationMS != 250 || !strings.Contains(e.Summary, "exit 0") {
		t.Errorf("%+v", e)
	}
	if e := h.end(t, "make fail"); e.Error != "exit 2" || e.DurationMS != 1500 {
		t.Errorf("%+v", e)
	}
	if e := h.end(t, "make quiet"); !strings.Contains(e.Error, "exit 0 without output") {
		t.Errorf("%+v", e)
	}
	if e := h.end(t, "sleep 1000"); !strings.Contains(e.Error, "aborted") {
		t.Errorf("%+v", e)
	}
}

func TestGeminiIsRead(t *testing.T) {
	h, c := once(t, Gemini, corpus(t, "gemini.jsonl"), Options{})
	const want = `run_shell_command|ls|complete|1
run_shell_command|make quiet|unknown|1
read_file|/none|failed|1
run_shell_command|rm x|cancelled|1
run_shell_command|sleep 1000|unknown|1
glob|*.go|complete|1
`
	if got := h.told(); got != want {
		t.Errorf("told:\n%swant:\n%s", got, want)
	}
	if c.Rewinds != 1 || c.Torn != 0 || c.Strange["message prophecy"] != 1 || len(c.Strange) != 1 {
		t.Errorf("counts %+v", c)
	}
	if e := h.end(t, "sleep 1000"); !strings.Contains(e.Error, "took this part") {
		t.Errorf("%+v", e)
	}
	if s := h.starts[0].Source; s.Session != "9f5659bb-0000-4000-8000-000000000003" || s.Dir != "/" {
		t.Errorf("source %+v", s)
	}
}

func TestFieldsOfUnexpectedKindsCostNoRecord(t *testing.T) {
	path := t.TempDir() + "/x.jsonl"
	use := strings.Replace(claudeUse(1, "toolu_00000000000000000001", "Bash", `{"command":"ls"}`), `"sessionId":"s-1"`, `"sessionId":7,"data":[1]`, 1)
	write(t, path, use, claudeResult(2, "toolu_00000000000000000001", `"x"`, false, `"text"`))
	h, c := once(t, ClaudeCode, path, Options{})
	if got, want := h.told(), "Bash|ls|complete|1\n"; got != want || c.Torn != 0 {
		t.Errorf("told %q, torn %d", got, c.Torn)
	}
}

func TestAnEndInTwoRecordsIsOne(t *testing.T) {
	path := t.TempDir() + "/x.jsonl"
	write(
		t, path,
		`{"timestamp":"`+stamp(1)+`","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\"}","call_id":"call_0000000000000001"}}`,
		`{"timestamp":"`+stamp(2)+`","type":"event_msg","payload":{"type":"exec_command_end","call_id":"call_0000000000000001","exit_code":3,"duration":"2s"}}`,
		`{"timestamp":"`+stamp(3)+`","type":"response_item","payload":{"type":"function_call_output","call_id":"call_0000000000000001","output":"some"}}`,
	)
	h, _ := once(t, Codex, path, Options{})
	e := h.end(t, "ls")
	if len(h.ends) != 1 || e.Status != outcome.Failed || e.Error != "exit 3" || e.DurationMS != 2000 {
		t.Errorf("%+v", h.ends)
	}
}

func TestAWordIsNotAnExitCode(t *testing.T) {
	for _, text := range []string{"Process exited with code 7", "no head\nExit code: 7\n", "Output:\nExit code: 7"} {
		e := &ended{}
		e.Value = []byte(`"` + strings.ReplaceAll(text, "\n", `\n`) + `"`)
		if e.output(); e.Exit != nil {
			t.Errorf("%q: exit %d, which the command may have written itself", text, *e.Exit)
		}
	}
	if d := took([]byte(`{"secs":1e300}`)); d != 0 {
		t.Errorf("an impossible duration is %v", d)
	}
	if d := took([]byte(`"1.5s"`)); d != 1500*time.Millisecond {
		t.Errorf("1.5s is %v", d)
	}
}

func FuzzTranscript(f *testing.F) {
	for i, name := range []string{"claude.jsonl", "codex.jsonl", "gemini.jsonl"} {
		raw, err := os.ReadFile(filepath.Join("testdata", name))
		must(f, err)
		f.Add(uint8(i), raw, uint16(999))
	}
	f.Add(uint8(1), []byte(`{"timestamp":"x","type":"event_msg","payload":{"type":"exec_command_end","call_id":"a","duration":{"secs":-1}}}`), uint16(3))
	f.Add(uint8(2), []byte(`{"id":"m","type":"gemini","toolCalls":[{"id":"a","status":"success","result":[{}]}]}`), uint16(20))
	f.Fuzz(func(t *testing.T, which uint8, data []byte, cut uint16) {
		agent := Agents[int(which)%len(Agents)]
		path := t.TempDir() + "/x.jsonl"
		data = append(data, '\n')
		n := int(cut) % len(data)
		appendTo(t, path, string(data[:n]))
		h := &heap{}
		parts, err := newFollower(t.Context(), Session{Agent: agent, ID: "file", Path: path, Dir: "/"}, h, Options{})
		must(t, err)
		defer parts.close()
		for _, more := range []string{"", string(data[n:])} {
			appendTo(t, path, more)
			for again := true; again; {
				again, err = parts.poll()
				must(t, err)
			}
		}
		must(t, parts.stop())
		// What is read in two parts is the same as what is read at once.
		whole, c := once(t, agent, path, Options{})
		if h.told() != whole.told() {
			t.Errorf("in parts:\n%s\nat once:\n%s", h.told(), whole.told())
		}
		if c.Open > maxOpen || len(c.Strange) > maxStrange+1 || parts.fold.counts.Restarts > 0 {
			t.Errorf("counts %+v, %+v", c, parts.fold.counts)
		}
	})
}
