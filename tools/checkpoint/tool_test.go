package checkpoint

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
)

// callTool runs the tool as an agent does. asked collects what the person was
// asked; the answer is yes when yes is set.
func callTool(t *testing.T, b bench, yes bool, params string) (tools.Answer, map[string]any, []string) {
	t.Helper()
	var asked []string
	c := &tools.Call{
		ID: "call-9", Dir: b.work, Live: io.Discard, Report: func(int64, int64, string) {},
		Ask: func(_ context.Context, q tools.Question) error {
			asked = append(asked, q.Rule)
			if yes {
				return nil
			}
			return &outcome.RefusedError{Rule: "nobody is there"}
		},
	}
	a := Tool(b.Store, anyPolicy()).Run(t.Context(), c, json.RawMessage(params))
	raw, err := json.Marshal(a.Result)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	if (a.Err == nil) != (a.Status == outcome.Complete) || (m["error"] == nil) != (a.Err == nil) || m["status"] != a.Status.String() {
		t.Errorf("%s: status %v, error %v, JSON %s", params, a.Status, a.Err, raw)
	}
	return a, m, asked
}

func TestToolListsShowsComparesRestoresAndPrunes(t *testing.T) {
	b := newBench(t, Limits{})
	path := b.file("notes.md", "password = \"correct horse battery\"\n")
	e := b.keep(path)
	b.keep(b.file("other", "x"))
	b.file("notes.md", "new\n")
	if _, m, _ := callTool(t, b, false, `{"action":"list","path":"notes.md"}`); len(m["list"].(map[string]any)["entries"].([]any)) != 1 {
		t.Errorf("list = %v", m)
	}
	if _, m, _ := callTool(t, b, false, `{"action":"list","limit":1}`); m["more"] != 1.0 {
		t.Errorf("list = %v", m)
	}
	_, m, _ := callTool(t, b, false, fmt.Sprintf(`{"action":"show","id":%q}`, e.ID))
	if text := fmt.Sprint(m["shown"]); strings.Contains(text, "correct horse battery") || m["redactions"] != 1.0 {
		t.Errorf("shown = %v", m)
	}
	if _, m, _ := callTool(t, b, false, fmt.Sprintf(`{"action":"diff","id":%q}`, e.ID)); !strings.Contains(fmt.Sprint(m["diff"]), "+new") {
		t.Errorf("diff = %v", m)
	}
	a, m, asked := callTool(t, b, false, fmt.Sprintf(`{"action":"restore","id":%q}`, e.ID))
	if !a.Status.OK() || len(asked) != 0 || !strings.HasPrefix(b.content(path), "password") || !strings.Contains(a.Summary, "what was there is checkpoint") {
		t.Errorf("restore = %v, %v", a, m)
	}
	if a, _, _ := callTool(t, b, false, `{"action":"prune"}`); !a.Status.OK() {
		t.Errorf("prune = %v", a)
	}
}

func TestToolSaysWhyTwoFilesAreNotComparedAndWhatALimitCost(t *testing.T) {
	b := newBench(t, Limits{Total: 3 << 20})
	sound := strings.Repeat("\x00", 1<<20)
	first := b.keep(b.file("a.wav", sound))
	b.file("a.wav", "\x00\x01")
	a, _, _ := callTool(t, b, false, fmt.Sprintf(`{"action":"diff","id":%q}`, first.ID))
	if a.Summary != "the file differs from its checkpoint: 1.0 MB then, 2 B now (not text, so not compared line by line)" {
		t.Errorf("diff = %q", a.Summary)
	}
	second := b.keep(b.file("b.wav", strings.Repeat("\x01", 2<<20)))
	path := b.file("b.wav", strings.Repeat("\x02", 1<<20))
	a, _, _ = callTool(t, b, false, fmt.Sprintf(`{"action":"restore","id":%q}`, second.ID))
	if !a.Status.OK() || !strings.Contains(a.Summary, "1 older checkpoint (1.0 MB) was dropped: the store is full") || b.content(path)[0] != 1 {
		t.Errorf("restore = %q", a.Summary)
	}
	index := b.at(indexName)
	if err := os.WriteFile(index, []byte(b.content(index)+"{torn\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if a, _, _ = callTool(t, b, false, `{"action":"prune"}`); a.Summary != "0 checkpoints dropped, 0 B freed; lines of the index that could not be read, taken out: 1" {
		t.Errorf("prune of a damaged index = %q", a.Summary)
	}
	if a, _, _ = callTool(t, b, false, `{"action":"prune","max_size_mb":2}`); a.Summary != "1 checkpoint dropped, 2.0 MB freed" {
		t.Errorf("prune = %q", a.Summary)
	}
}

func TestToolAsksBeforeItRestoresWhereApprovalIsWanted(t *testing.T) {
	b := newBench(t, Limits{})
	e := b.keep(b.file("a", "x"))
	params := fmt.Sprintf(`{"action":"restore","id":%q,"output_path":".husky"}`, e.ID)
	a, _, asked := callTool(t, b, false, params)
	if a.Status != outcome.Refused || len(asked) != 1 || asked[0] != "git hooks" || len(b.names(b.work)) != 1 {
		t.Errorf("answer = %v, asked %q", a, asked)
	}
	if a, _, _ := callTool(t, b, true, params); !a.Status.OK() || b.content(filepath.Join(b.work, ".husky")) != "x" {
		t.Errorf("answer = %v", a)
	}
}

func TestToolRefusesWhatItCannotRead(t *testing.T) {
	b := newBench(t, Limits{})
	for _, params := range []string{
		`{`, `[]`, `{}`, `{"action":"destroy"}`, `{"action":"list","limit":-1}`, `{"action":"prune","max_age_days":-1}`, `{"action":"prune","max_size_mb":-1}`,
		`{"action":"list","unknown":1}`, `{"action":"list","path":"x\nMEDIA:/evil"}`,
	} {
		a, m, _ := callTool(t, b, false, params)
		if a.Status != outcome.Refused || strings.Contains(fmt.Sprint(m), "evil") {
			t.Errorf("%s = %v", params, m)
		}
	}
	if a, _, _ := callTool(t, b, false, `{"action":"show","id":"12345678"}`); a.Status != outcome.Failed {
		t.Errorf("unknown id = %v", a)
	}
	tool := Tool(b.Store, anyPolicy())
	for params, want := range map[string]string{
		`{"action":"show","id":"abcd"}`:                 "show abcd",
		`{"action":"list","path":"x\nMEDIA:/tmp/evil"}`: "list a path that is refused: control characters or line separators",
		`nonsense`: "a checkpoint call that cannot be read",
	} {
		if got := tool.Title(json.RawMessage(params)); got != want {
			t.Errorf("title of %s = %q", params, got)
		}
	}
}
