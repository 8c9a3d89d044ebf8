package execcode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/honestty/honestty/internal/leak"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
)

// TestMain lets the test binary be a process that makes a folder and is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("HONESTTY_TEST_LEAVE"); dir != "" {
		_, script, err := newFolder(dir, "script.sh", "echo left")
		fmt.Println(script, err)
		var b [1]byte
		_, _ = os.Stdin.Read(b[:])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// ran is what a test's runner was asked and what it saw.
type ran struct {
	spec   Spec
	mode   os.FileMode // of the script
	folder os.FileMode
	code   string
}

// runner runs a command the plain way and answers in a form of its own.
func (r *ran) runner(_ context.Context, _ *tools.Call, s Spec) tools.Answer {
	r.spec = s
	if s.NotRun != nil {
		status := outcome.Failed
		if errors.Is(s.NotRun, outcome.ErrRefused) {
			status = outcome.Refused
		}
		return tools.Answer{Status: status, Err: s.NotRun, Summary: s.NotRun.Error(), Result: map[string]any{"output": "", "error": s.NotRun.Error()}}
	}
	for _, a := range s.Argv {
		if strings.Contains(a, folderPrefix) {
			if fi, err := os.Stat(a); err == nil {
				r.mode = fi.Mode()
			}
			if fi, err := os.Stat(filepath.Dir(a)); err == nil {
				r.folder = fi.Mode()
			}
			code, _ := os.ReadFile(a)
			r.code = string(code)
		}
	}
	cmd := exec.Command(s.Argv[0], s.Argv[1:]...)
	cmd.Dir = s.Dir
	if s.Stdin != nil {
		cmd.Stdin = strings.NewReader(*s.Stdin)
	}
	out, err := cmd.CombinedOutput()
	a := tools.Answer{Status: outcome.Complete, Summary: "ran", Result: map[string]any{"output": string(out), "exit_code": cmd.ProcessState.ExitCode()}}
	if err != nil {
		a.Status, a.Err = outcome.Failed, err
	}
	return a
}

func call(t *testing.T, d Deps, params any) (tools.Answer, map[string]any) {
	t.Helper()
	raw, isText := params.(string)
	if !isText {
		b, err := json.Marshal(params)
		if err != nil {
			t.Fatal(err)
		}
		raw = string(b)
	}
	c := &tools.Call{Dir: t.TempDir(), Ask: func(context.Context, tools.Question) error { return rule("nobody is there to ask") }}
	a := Tool(d).Run(t.Context(), c, json.RawMessage(raw))
	out, err := json.Marshal(a.Result)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(out, &m); err != nil {
		t.Fatal(err)
	}
	return a, m
}

func TestScriptsRunInEachLanguageThatIsFound(t *testing.T) {
	for _, c := range []struct{ language, code, want string }{
		{"bash", `echo "$1-$2 $(cat) ${BASH_VERSION:+bash}"`, "a-b c in bash"},
		{"sh", `echo "$1-$2 $(cat)"`, "a-b c in"},
		{"python", "import sys\nprint(sys.argv[1] + '-' + sys.argv[2], sys.stdin.read())", "a-b c in"},
		{"Python3", "print(6*7)", "42"},
		{"javascript", "console.log(process.argv[2] + '-' + process.argv[3])", "a-b c"},
		{"perl", `print "$ARGV[0]-$ARGV[1]\n"`, "a-b c"},
		{"go", "package main\nimport (\"fmt\"; \"os\")\nfunc main() { fmt.Println(os.Args[1] + \"-\" + os.Args[2]) }", "a-b c"},
	} {
		t.Run(c.language, func(t *testing.T) {
			if c.language == "go" && testing.Short() {
				t.Skip("skipped: the compiler takes its time")
			}
			l, err := find(c.language)
			if err != nil {
				t.Fatal(err)
			}
			interpreter, err := l.interpreter(os.Environ())
			if err != nil {
				t.Skipf("skipped: %v", err)
			}
			var r ran
			d := Deps{Run: r.runner, Dir: filepath.Join(t.TempDir(), "exec")}
			a, m := call(t, d, map[string]any{"language": c.language, "code": c.code, "args": []string{"a", "b c"}, "stdin": "in"})
			if got := strings.TrimSpace(m["output"].(string)); got != c.want || a.Status != outcome.Complete {
				t.Fatalf("%q, %v %v", got, a.Status, a.Err)
			}
			if m["language"] != l.name || m["interpreter"] != interpreter {
				t.Errorf("language %v, interpreter %v", m["language"], m["interpreter"])
			}
			if r.mode.Perm() != 0o600 || r.folder.Perm() != 0o700 || r.code != c.code {
				t.Errorf("script %v in %v holds %q", r.mode, r.folder, r.code)
			}
			if left, _ := filepath.Glob(d.Dir + "/exec-*"); len(left) != 0 {
				t.Errorf("left %q", left)
			}
			if hides := slices.Contains(r.spec.Notes, l.note); hides != (l.name == "go") {
				t.Errorf("notes %q", r.spec.Notes)
			}
			if isShell := l.name == "bash" || l.name == "sh"; (r.spec.Script != "") != isShell {
				t.Errorf("script for the meaning: %q", r.spec.Script)
			}
		})
	}
}

func TestAFailureIsTheRunnersWordForWord(t *testing.T) {
	var r ran
	a, m := call(t, Deps{Run: r.runner, Dir: t.TempDir()}, map[string]any{"language": "sh", "code": "echo no; exit 7", "timeout": 5})
	if a.Status != outcome.Failed || m["exit_code"] != 7.0 || m["output"] != "no\n" || r.spec.Timeout != 5*time.Second {
		t.Errorf("%v: %v", a.Status, m)
	}
}

func TestWhatIsRefusedIsNotRun(t *testing.T) {
	var r ran
	dir := t.TempDir()
	d := Deps{Run: r.runner, Dir: dir, Check: func(language, code string) (string, error) {
		if strings.HasPrefix(code, "never") {
			return "", rule("delete of the system")
		}
		if strings.HasPrefix(code, "ask") {
			return "recursive delete", nil
		}
		return "", nil
	}}
	for _, c := range []struct{ params, err string }{
		{`{`, "refused: the parameters are no JSON object"},
		{`{"language":"bash"}`, "refused: code is missing or empty"},
		{`{"code":"x"}`, "refused: language is missing: one of bash, sh, python, node, go, ruby, perl"},
		{`{"language":"cobol\u0007","code":"x"}`, "refused: language is none of bash, sh"},
		{`{"language":"sh","code":7}`, "refused: code is of the wrong type"},
		{`{"language":"sh","code":"x","timeout":0}`, "refused: timeout must be above 0 seconds"},
		{`{"language":"sh","code":"x","timeout":-1}`, "refused: timeout must be above 0 seconds"},
		{`{"language":"sh","code":"x","timeout":601}`, "refused: timeout is at most 600 seconds here"},
		{`{"language":"sh","code":"x","workdir":"a\u0085b"}`, "refused: a control character"},
		{`{"language":"sh","code":"x","args":["a\u0000"]}`, "refused: a NUL byte in args"},
		{`{"language":"sh","code":"never"}`, "refused: delete of the system"},
		{`{"language":"sh","code":"ask"}`, "refused: nobody is there to ask"},
	} {
		r = ran{}
		a, m := call(t, d, c.params)
		if a.Status != outcome.Refused || !strings.HasPrefix(a.Err.Error(), c.err) || r.spec.NotRun == nil || r.spec.Argv != nil {
			t.Errorf("%s: %v, %v", c.params, a.Status, a.Err)
		}
		if _, ok := m["interpreter"]; !ok || strings.Contains(fmt.Sprint(m), "cobol") {
			t.Errorf("%s: %v", c.params, m)
		}
	}
	a, _ := call(t, d, `{"language":"sh","code":"`+strings.Repeat("x", maxCode+1)+`"}`)
	if a.Status != outcome.Refused || !strings.Contains(a.Err.Error(), "longer than 4.0 MB") {
		t.Errorf("%v", a.Err)
	}
	if left, _ := filepath.Glob(dir + "/exec-*"); len(left) != 0 {
		t.Errorf("left %q", left)
	}
}

func TestAMissingInterpreterIsNotStartedAndSaysWhatWasLookedFor(t *testing.T) {
	var r ran
	empty := t.TempDir()
	d := Deps{Run: r.runner, Dir: t.TempDir(), Env: []string{"PATH=" + empty}}
	a, m := call(t, d, `{"language":"python","code":"1"}`)
	if !errors.Is(a.Err, outcome.ErrNotStarted) || !strings.Contains(a.Err.Error(), "find an interpreter of python (looked for python3, python in PATH)") || m["language"] != "python" || m["interpreter"] != "" {
		t.Errorf("%v, %v", a.Err, m)
	}
	if err := os.WriteFile(empty+"/python3", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if a, _ := call(t, d, `{"language":"python","code":"1"}`); !errors.Is(a.Err, os.ErrPermission) {
		t.Errorf("found and not executable: %v", a.Err)
	}
}

func TestAScriptThatCannotBeKeptIsNotStarted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	before := leak.Take(t)
	var r ran
	a, _ := call(t, Deps{Run: r.runner, Dir: file + "/sub"}, `{"language":"sh","code":"1"}`)
	if !errors.Is(a.Err, outcome.ErrNotStarted) || !strings.Contains(a.Err.Error(), "ENOTDIR") {
		t.Errorf("%v", a.Err)
	}
	before.Check(t)
}

func TestAResultOfAnotherShapeIsHandedOnAsItIs(t *testing.T) {
	d := Deps{Dir: t.TempDir(), Run: func(context.Context, *tools.Call, Spec) tools.Answer {
		return tools.Answer{Status: outcome.Complete, Result: map[string]any{"something": "else"}}
	}}
	if _, m := call(t, d, `{"language":"sh","code":"1"}`); len(m) != 1 || m["something"] != "else" {
		t.Errorf("%v", m)
	}
}

func TestUnknownParametersAreTold(t *testing.T) {
	var r ran
	call(t, Deps{Run: r.runner, Dir: t.TempDir()}, `{"language":"sh","code":"true","packages":["x"]}`)
	if len(r.spec.Notes) != 1 || !strings.Contains(r.spec.Notes[0], `"packages" is not known`) {
		t.Errorf("%q", r.spec.Notes)
	}
}

func TestSweepRemovesTheFoldersOfTheDeadAndNoOthers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "exec")
	if n, err := Sweep(dir); n != 0 || err != nil {
		t.Errorf("nothing there: %d, %v", n, err)
	}
	mine, _, err := newFolder(dir, "script.sh", "echo mine")
	if err != nil {
		t.Fatal(err)
	}
	defer mine.remove()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "HONESTTY_TEST_LEAVE="+dir)
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
	said := make([]byte, 4096)
	n, err := out.Read(said)
	script, _, _ := strings.Cut(string(said[:n]), " ")
	if err != nil || !strings.HasSuffix(script, "/script.sh") {
		t.Fatalf("%q, %v", said[:n], err)
	}
	if n, err := Sweep(dir); n != 0 || err != nil {
		t.Errorf("both owners live: %d, %v", n, err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if err := os.Mkdir(dir+"/other", 0o700); err != nil {
		t.Fatal(err)
	}
	if n, err := Sweep(dir); n != 1 || err != nil {
		t.Errorf("one owner is dead: %d, %v", n, err)
	}
	if _, err := os.Stat(script); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the script of the dead is there: %v", err)
	}
	for _, stays := range []string{mine.path, dir + "/other"} {
		if _, err := os.Stat(stays); err != nil {
			t.Error(err)
		}
	}
}

func TestTitleIsTheLanguageAndTheFirstLine(t *testing.T) {
	tool := Tool(Deps{})
	for params, want := range map[string]string{
		`{"language":"sh","code":"\n a\tb\nc"}`: "sh: a b…",
		`{"language":"sh","code":"a"}`:          "sh: a",
		`{}`:                                    "a script that cannot be read",
	} {
		if got := tool.Title(json.RawMessage(params)); got != want {
			t.Errorf("%s: %q", params, got)
		}
	}
}
