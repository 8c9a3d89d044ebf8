package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/honestty/honestty/journal"
)

// asHook makes the test binary a hook: AGENT FOLDER.
const asHook = "HONESTTY_TEST_HOOK"

func TestMain(m *testing.M) {
	if spec := os.Getenv(asHook); spec != "" {
		agent, dir, _ := strings.Cut(spec, " ")
		j, _ := journal.Open(filepath.Join(dir, "journal"), journal.Options{})
		d := Deps{Agent: agent, Log: j, Marks: filepath.Join(dir, "hooks"), Owner: Owner()}
		err := Handle(context.Background(), os.Stdin, d)
		_ = j.Close()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// process is a hook as a process of its own.
func process(t testing.TB, agent, dir, event string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), asHook+"="+agent+" "+dir)
	c.Stdin = strings.NewReader(event)
	return c
}

// here handles one event in this process.
func here(t testing.TB, agent, dir, event string) error {
	t.Helper()
	j, _ := journal.Open(filepath.Join(dir, "journal"), journal.Options{})
	defer func() { _ = j.Close() }()
	return Handle(t.Context(), strings.NewReader(event), Deps{
		Agent: agent, Log: j, Marks: filepath.Join(dir, "hooks"), Owner: journal.OwnerOf(os.Getpid()),
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// calls are the calls in the journal, oldest first.
func calls(t testing.TB, dir string) []journal.Record {
	t.Helper()
	b := journal.NewBook(0)
	for e, err := range journal.Read(filepath.Join(dir, "journal")) {
		must(t, err)
		if e.Gap != nil && !strings.HasPrefix(e.Gap.Why, "hooks could not record") {
			t.Errorf("gap in the journal: %+v", e.Gap)
		}
		b.Add([]journal.Event{e})
	}
	var out []journal.Record
	for i := b.Len() - 1; i >= 0; i-- {
		out = append(out, b.At(i))
	}
	return out
}

// missing are the numbers of events that the journal says hooks lost.
func missing(t testing.TB, dir string) []int64 {
	t.Helper()
	var out []int64
	for e, err := range journal.Read(filepath.Join(dir, "journal")) {
		must(t, err)
		if e.Gap != nil {
			out = append(out, e.Gap.Events)
		}
	}
	return out
}

// starts counts how often each call begins in the journal.
func starts(t testing.TB, dir string) map[string]int {
	t.Helper()
	n := map[string]int{}
	for e, err := range journal.Read(filepath.Join(dir, "journal")) {
		must(t, err)
		if e.Start != nil {
			n[e.Start.Call]++
		}
	}
	return n
}

func hermes(t testing.TB, event, id, tool string, input, extra map[string]any) string {
	t.Helper()
	more := map[string]any{"tool_call_id": id, "turn_id": "t1", "task_id": "x"}
	for k, v := range extra {
		more[k] = v
	}
	b, err := json.Marshal(map[string]any{
		"hook_event_name": event, "tool_name": tool, "tool_input": input, "session_id": "s1", "cwd": "/", "profile": "default", "extra": more,
	})
	must(t, err)
	return string(b)
}

func claude(t testing.TB, event, id, tool string, input any, extra map[string]any) string {
	t.Helper()
	m := map[string]any{
		"hook_event_name": event, "tool_name": tool, "tool_input": input, "tool_use_id": id, "session_id": "c1", "cwd": "/",
		"transcript_path": "/x.jsonl", "permission_mode": "default",
	}
	for k, v := range extra {
		m[k] = v
	}
	b, err := json.Marshal(m)
	must(t, err)
	return string(b)
}
