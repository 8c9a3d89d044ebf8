package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
)

type fields = map[string]any

const longID = "toolu_01ABCDEFGHIJKLMNOP"

func TestBeforeAndAfterAreOneCall(t *testing.T) {
	for _, id := range []string{"call_0", "", "call_abcdefghijklmnopqrstuvwx"} {
		dir := t.TempDir()
		args := fields{"command": "ls", "timeout": 5}
		must(t, here(t, Hermes, dir, hermes(t, "pre_tool_call", id, "terminal", args, nil)))
		c := calls(t, dir)
		if len(c) != 1 || c[0].State() != journal.Running {
			t.Fatalf("id %q: after the first event: %+v", id, c)
		}
		result := `{"output":"a.txt","exit_code":0,"error":null}`
		must(t, here(t, Hermes, dir, hermes(t, "post_tool_call", id, "terminal", args, fields{"result": result, "duration_ms": 42, "status": "ok"})))
		c = calls(t, dir)
		if len(c) != 1 || c[0].State() != journal.Complete || c[0].End.DurationMS != 42 {
			t.Fatalf("id %q: %+v", id, c)
		}
		s := c[0].Start
		if s.Tool != "terminal" || s.Title != "ls" || s.Source.Kind != "hook" || s.Source.Agent != Hermes || s.Source.Session != "s1" || s.Source.Dir != "/" || s.Source.PID != os.Getpid() {
			t.Errorf("id %q: start is %+v", id, s)
		}
		for call, n := range starts(t, dir) {
			if n != 1 {
				t.Errorf("id %q: %s begins %d times", id, call, n)
			}
		}
	}
}

func TestAnIDThatComesAgainIsAnotherCall(t *testing.T) {
	dir := t.TempDir()
	for range 3 {
		for _, name := range []string{"pre_tool_call", "post_tool_call"} {
			must(t, here(t, Hermes, dir, hermes(t, name, "call_0", "terminal", fields{"command": "ls"}, fields{"result": `{"output":"x","exit_code":0}`})))
		}
	}
	if c := calls(t, dir); len(c) != 3 {
		t.Errorf("%d calls, want 3", len(c))
	}
}

func TestAnEndWithoutABeginningMakesBoth(t *testing.T) {
	dir := t.TempDir()
	must(t, here(t, ClaudeCode, dir, claude(t, "PostToolUse", longID, "Bash", fields{"command": "ls"}, fields{"tool_response": fields{"stdout": "x", "stderr": "", "interrupted": false}})))
	c := calls(t, dir)
	if len(c) != 1 || c[0].State() != journal.Complete || c[0].Start.Title != "ls" || c[0].NoStart {
		t.Fatalf("%+v", c)
	}
	if c[0].End.DurationMS != -1 {
		t.Errorf("a duration that nobody told is %d, want -1", c[0].End.DurationMS)
	}
}

func TestEndsSayWhatTheAgentSaid(t *testing.T) {
	ok := `{"output":"x","exit_code":0,"error":null}`
	for _, c := range []struct {
		name, agent, event string
		want               outcome.Status
		why                string
	}{
		{"hermes error", Hermes, hermes(t, "post_tool_call", "1", "terminal", nil, fields{"status": "error", "error_type": "OSError", "error_message": "no space", "result": nil}), outcome.Failed, "OSError: no space"},
		{"hermes error without a word", Hermes, hermes(t, "post_tool_call", "1", "x", nil, fields{"status": "error"}), outcome.Failed, "does not say why"},
		{"hermes blocked", Hermes, hermes(t, "post_tool_call", "1", "x", nil, fields{"status": "blocked"}), outcome.Refused, "refused"},
		{"hermes without result", Hermes, hermes(t, "post_tool_call", "1", "x", nil, nil), outcome.Unknown, "no result"},
		{"hermes result as an object", Hermes, hermes(t, "post_tool_call", "1", "terminal", nil, fields{"result": json.RawMessage(ok)}), outcome.Complete, ""},
		{"claude failure", ClaudeCode, claude(t, "PostToolUseFailure", longID, "Bash", nil, fields{"error": "Command exited with non-zero status code 1", "is_interrupt": false}), outcome.Failed, "status code 1"},
		{"claude interrupt", ClaudeCode, claude(t, "PostToolUseFailure", longID, "Bash", nil, fields{"error": "interrupted", "is_interrupt": true}), outcome.Cancelled, "interrupted"},
		{"claude denied", ClaudeCode, claude(t, "PermissionDenied", longID, "Bash", nil, nil), outcome.Refused, "refused"},
		{"claude empty", ClaudeCode, claude(t, "PostToolUse", longID, "Bash", nil, fields{"tool_response": fields{"stdout": "", "stderr": ""}}), outcome.Unknown, "no exit code"},
		{"odd kinds of fields", Hermes, hermes(t, "post_tool_call", "1", "terminal", nil, fields{"duration_ms": "12", "status": 7, "error_message": fields{"message": "odd"}}), outcome.Failed, "odd"},
	} {
		dir := t.TempDir()
		must(t, here(t, c.agent, dir, c.event))
		got := calls(t, dir)
		if len(got) != 1 || got[0].End == nil {
			t.Errorf("%s: %+v", c.name, got)
			continue
		}
		e := got[0].End
		if e.Status != c.want || !strings.Contains(e.Error, c.why) {
			t.Errorf("%s: %v (%q), want %v (%q)", c.name, e.Status, e.Error, c.want, c.why)
		}
	}
}

func TestATurnThatEndsLeavesNoCallRunning(t *testing.T) {
	dir := t.TempDir()
	must(t, here(t, ClaudeCode, dir, claude(t, "PreToolUse", longID, "Bash", fields{"command": "x"}, nil)))
	must(t, here(t, ClaudeCode, dir, `{"hook_event_name":"Stop","session_id":"other","cwd":"/"}`))
	if c := calls(t, dir); len(c) != 1 || c[0].State() != journal.Running {
		t.Fatalf("another session's end: %+v", c)
	}
	must(t, here(t, ClaudeCode, dir, `{"hook_event_name":"Stop","session_id":"c1","cwd":"/"}`))
	if c := calls(t, dir); len(c) != 1 || c[0].State() != journal.Unknown || c[0].End == nil || c[0].End.Error == "" {
		t.Fatalf("%+v", c)
	}
	// The end may come later all the same, from a helper in the background.
	must(t, here(t, ClaudeCode, dir, claude(t, "PostToolUse", longID, "Bash", fields{"command": "x"}, fields{"tool_response": fields{"stdout": "done"}})))
	if c := calls(t, dir); len(c) != 1 || c[0].State() != journal.Complete {
		t.Fatalf("%+v", c)
	}
}

func TestGarbageIsANoteAndNeverAFailure(t *testing.T) {
	dir := t.TempDir()
	inputs := []string{"", "\x00\xff", "[]", "null", "{}", "7", `{"hook_event_name":"PreToolUse"}`, `{"hook_event_name":5}`, strings.Repeat("[", 100_000)}
	for _, agent := range Agents {
		for _, in := range inputs {
			if err := here(t, agent, dir, in); err == nil {
				t.Errorf("%s: no note on %.20q", agent, in)
			}
		}
	}
	if err := here(t, ClaudeCode, dir, `{"hook_event_name":"Notification","session_id":"c1"}`); err == nil {
		t.Error("no note on an event of which nothing is recorded")
	}
	must(t, here(t, ClaudeCode, dir, claude(t, "PreToolUse", longID, "Bash", nil, nil)))
	if c := calls(t, dir); len(c) != 1 {
		t.Errorf("%d calls, want the one that could be read", len(c))
	}
	if got, want := missing(t, dir), []int64{int64(2*len(inputs) + 1)}; !slices.Equal(got, want) {
		t.Errorf("missing = %v, want %v", got, want)
	}
}

// endless is an agent that never stops writing.
type endless struct{ n int }

func (e *endless) Read(p []byte) (int, error) {
	e.n += len(p)
	return copy(p, bytes.Repeat([]byte("x"), len(p))), nil
}

func TestReadingIsBounded(t *testing.T) {
	dir := t.TempDir()
	j, err := journal.Open(filepath.Join(dir, "journal"), journal.Options{})
	must(t, err)
	defer func() { _ = j.Close() }()
	in := &endless{}
	err = Handle(t.Context(), in, Deps{Agent: Hermes, Log: j, Marks: filepath.Join(dir, "hooks")})
	if !errors.Is(err, ErrTooLong) || in.n > MaxInput+1<<20 {
		t.Errorf("read %d bytes: %v", in.n, err)
	}
	// A result that is as long as is allowed is recorded.
	big := strings.Repeat("x", 12<<20)
	must(t, here(t, Hermes, dir, hermes(t, "post_tool_call", "1", "terminal", nil, fields{"result": `{"output":"` + big + `","exit_code":0}`})))
	if c := calls(t, dir); c[0].State() != journal.Complete {
		t.Errorf("%v: %s", c[0].State(), c[0].End.Error)
	}
}

// broken are ways in which nothing can be written.
func broken(t *testing.T) map[string]string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(t.TempDir(), link))
	must(t, os.Symlink(link, filepath.Join(link, "journal")))
	return map[string]string{"a file in the place of the folder": file, "a link in the place of the journal": link}
}

func TestABrokenJournalNeverFailsTheAgent(t *testing.T) {
	for name, dir := range broken(t) {
		for _, event := range []string{
			claude(t, "PreToolUse", longID, "Bash", nil, nil),
			claude(t, "PostToolUse", longID, "Bash", nil, fields{"tool_response": "x"}),
			`{"hook_event_name":"Stop","session_id":"c1"}`, "garbage",
		} {
			c := process(t, ClaudeCode, dir, event)
			var out, note bytes.Buffer
			c.Stdout, c.Stderr = &out, &note
			if err := c.Run(); err != nil || out.Len() > 0 {
				t.Errorf("%s: %v, stdout %q", name, err, out.String())
			}
			if note.Len() == 0 && !strings.Contains(event, "Stop") {
				t.Errorf("%s: no note on %.60s", name, event)
			}
		}
	}
}

// TestAFullDiskIsToldOnceThereIsRoom writes no byte anywhere, as on a full
// disk: files may have no length.
func TestAFullDiskIsToldOnceThereIsRoom(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell")
	}
	dir := t.TempDir()
	must(t, here(t, ClaudeCode, dir, claude(t, "PreToolUse", longID+"0", "Bash", nil, nil)))
	for i := range 3 {
		c := process(t, ClaudeCode, dir, claude(t, "PreToolUse", fmt.Sprint(longID, "full", i), "Bash", nil, nil))
		c.Path, c.Args = sh, []string{"sh", "-c", `ulimit -f 0; exec "$0"`, os.Args[0]}
		note, err := c.CombinedOutput()
		if err != nil || !strings.Contains(string(note), "EFBIG") {
			t.Fatalf("%v, note %q", err, note)
		}
	}
	must(t, here(t, ClaudeCode, dir, claude(t, "PostToolUse", longID+"0", "Bash", nil, fields{"tool_response": fields{"stdout": "x"}})))
	c := calls(t, dir)
	if len(c) != 1 || c[0].State() != journal.Complete {
		t.Errorf("%+v", c)
	}
	if got := missing(t, dir); !slices.Equal(got, []int64{3}) {
		t.Errorf("missing = %v, want [3]", got)
	}
}

func TestTwoHundredHooksAtOnceLoseNone(t *testing.T) {
	const n = 100 // calls, with two events each
	dir := t.TempDir()
	run := func(event func(i int) string) {
		procs := make([]*exec.Cmd, n)
		notes := make([]bytes.Buffer, n)
		for i := range procs {
			procs[i] = process(t, ClaudeCode, dir, event(i))
			procs[i].Stderr = &notes[i]
			must(t, procs[i].Start())
		}
		for i, p := range procs {
			if err := p.Wait(); err != nil || notes[i].Len() > 0 {
				t.Errorf("hook %d: %v: %s", i, err, notes[i].String())
			}
		}
	}
	id := func(i int) string { return fmt.Sprintf("toolu_%020d", i) }
	run(func(i int) string { return claude(t, "PreToolUse", id(i), "Bash", fields{"command": id(i)}, nil) })
	run(func(i int) string { // the ends of these calls, and the beginnings of others, at once
		if i%2 == 0 {
			return claude(t, "PreToolUse", id(n+i), "Bash", nil, nil)
		}
		return claude(t, "PostToolUse", id(i), "Bash", nil, fields{"tool_response": fields{"stdout": "x"}})
	})
	got := calls(t, dir)
	if len(got) != n+n/2 {
		t.Errorf("%d calls, want %d", len(got), n+n/2)
	}
	done := 0
	for _, c := range got {
		if c.End != nil {
			done++
		}
	}
	if done != n/2 {
		t.Errorf("%d ended, want %d", done, n/2)
	}
	if names, _ := os.ReadDir(filepath.Join(dir, "hooks")); len(names) != n {
		t.Errorf("%d marks, want %d of calls that run", len(names), n)
	}
}

func TestTheOwnerIsTheAgentBehindTheShells(t *testing.T) {
	table := map[int]parent{
		10: {"sh", []string{"sh", "-c", "honestty hook hermes"}, 20},
		20: {"timeout", []string{"timeout", "5", "sh"}, 30},
		30: {"python3", []string{"python3", "hermes"}, 40},
		40: {"bash", []string{"bash"}, 1},
		50: {"bash", []string{"bash", "/home/x/hook.sh"}, 60},
		60: {"node", nil, 40},
		70: {"zsh", []string{"-zsh"}, 1},
		80: {"bash", []string{"bash", "-il"}, 30},
		90: {"sh", nil, 60},
	}
	look := func(pid int) (parent, error) {
		p, ok := table[pid]
		if !ok {
			return parent{}, os.ErrNotExist
		}
		return p, nil
	}
	for from, want := range map[int]int{10: 30, 30: 30, 40: 0, 50: 60, 70: 0, 80: 0, 90: 60, 99: 0, 1: 0} {
		if got := agentAbove(from, look); got != want {
			t.Errorf("from %d: %d, want %d", from, got, want)
		}
	}
}

func TestACallRunsAsLongAsItsAgentLives(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell")
	}
	dir := t.TempDir()
	c := process(t, ClaudeCode, dir, claude(t, "PreToolUse", longID, "Bash", nil, nil))
	c.Path, c.Args = sh, []string{"sh", "-c", `"$0"; true`, os.Args[0]}
	c.Stderr = os.Stderr
	must(t, c.Run())
	got := calls(t, dir)
	if len(got) != 1 || got[0].Start.Owner.PID != os.Getpid() || got[0].Start.Owner.Gone() {
		t.Fatalf("%+v, want this process as the owner", got)
	}
	if got[0].State() != journal.Running {
		t.Errorf("state = %v", got[0].State())
	}
	got[0].Gone = true
	if got[0].State() != journal.Unknown {
		t.Errorf("state = %v once its agent is gone, want unknown", got[0].State())
	}
}

func TestOldMarksAreRemoved(t *testing.T) {
	m := marks{t.TempDir()}
	old := time.Now().Add(-2 * markAge)
	for i := range manyMarks + 1 {
		name := fmt.Sprint(markRun, "s.k.", i)
		must(t, m.set(name))
		must(t, os.Chtimes(filepath.Join(m.dir, name), old, old))
	}
	must(t, m.set(markRun+"s.k.new"))
	m.names(markRun)
	if left := m.names(markRun); len(left) != 1 || left[0] != markRun+"s.k.new" {
		t.Errorf("%d marks left", len(left))
	}
}

func TestSettingsAreWhatTheAgentsRead(t *testing.T) {
	for _, program := range []string{"honestty", "/opt/my tools/it's/honestty"} {
		s, err := Config(ClaudeCode, program)
		must(t, err)
		var c struct {
			Hooks map[string][]struct {
				Matcher string
				Hooks   []struct{ Type, Command string }
			}
		}
		must(t, json.Unmarshal([]byte(s), &c))
		for _, name := range []string{"PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "SessionEnd"} {
			if len(c.Hooks[name]) != 1 || c.Hooks[name][0].Hooks[0].Type != "command" {
				t.Fatalf("%s: %+v", name, c.Hooks[name])
			}
			command := c.Hooks[name][0].Hooks[0].Command
			if got := shellWords(t, command); len(got) != 3 || got[0] != program || got[2] != ClaudeCode {
				t.Errorf("command %q is the words %q", command, got)
			}
		}
		s, err = Config(Hermes, program)
		must(t, err)
		if !strings.Contains(s, "\nhooks:\n  pre_tool_call:\n    - command: \"") || strings.Count(s, "hook hermes") != 3 {
			t.Errorf("settings of Hermes:\n%s", s)
		}
	}
	if _, err := Config("nobody", "x"); err == nil {
		t.Error("settings for an agent that is not known")
	}
}

// shellWords splits a command as a shell does.
func shellWords(t *testing.T, command string) []string {
	t.Helper()
	out, err := exec.Command("sh", "-c", `printf '%s\n' `+command).Output()
	if err != nil {
		t.Skip("there is no shell")
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

type silentLog struct{ bad error }

func (silentLog) Begin(journal.Start)           {}
func (silentLog) End(journal.End)               {}
func (l silentLog) Missing(int64, string) error { return l.bad }
func (silentLog) Trouble() error                { return nil }

func TestALossThatCannotBeToldYetIsToldLater(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		if err := here(t, ClaudeCode, dir, "garbage"); err == nil {
			t.Fatal("no note on garbage")
		}
	}
	event := claude(t, "PreToolUse", longID, "Bash", nil, nil)
	err := Handle(t.Context(), strings.NewReader(event), Deps{Agent: ClaudeCode, Log: silentLog{os.ErrClosed}, Marks: filepath.Join(dir, "hooks")})
	if !errors.Is(err, os.ErrClosed) {
		t.Errorf("err = %v, want what kept it from being told", err)
	}
	for i := range 2 {
		must(t, here(t, ClaudeCode, dir, claude(t, "PreToolUse", fmt.Sprint(longID, i), "Bash", nil, nil)))
	}
	if got := missing(t, dir); !slices.Equal(got, []int64{2}) {
		t.Errorf("missing = %v, want [2] once", got)
	}
}

func TestAPanicIsANote(t *testing.T) {
	err := Handle(t.Context(), strings.NewReader(claude(t, "PreToolUse", longID, "Bash", nil, nil)), Deps{Agent: ClaudeCode, Marks: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "the hook itself failed") {
		t.Errorf("err = %v", err)
	}
}

func FuzzHook(f *testing.F) {
	f.Add(false, `{"hook_event_name":"post_tool_call","tool_name":"terminal","tool_input":{},"session_id":"s","cwd":"/","extra":{"result":"{}","duration_ms":1e99}}`)
	f.Add(true, `{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_response":[],"tool_use_id":"x"}`)
	f.Add(true, `{"hook_event_name":"Stop","session_id":"../../x"}`)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, isClaude bool, in string) {
		agent := Hermes
		if isClaude {
			agent = ClaudeCode
		}
		err := Handle(t.Context(), io.LimitReader(strings.NewReader(in), 1<<20), Deps{Agent: agent, Log: silentLog{}, Marks: filepath.Join(dir, "hooks")})
		if err != nil && strings.Contains(err.Error(), "the hook itself failed") {
			t.Error(err)
		}
		names, derr := os.ReadDir(dir)
		if derr != nil || len(names) > 1 {
			t.Errorf("something was written outside of the folder of marks: %v %v", names, derr)
		}
	})
}
