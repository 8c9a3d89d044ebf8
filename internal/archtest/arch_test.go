package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/honestty/honestty"

// mayImport is the architecture: a folder and the folders of ours it may use.
// A folder that is not listed may not exist. Test files follow the same rule,
// and may use internal/leak and internal/outer besides.
var mayImport = map[string][]string{
	"":                  {"cli"}, // main.go
	"outcome":           {},
	"fdwait":            {},
	"vt":                {},
	"vt/gentables":      {},
	"internal/archtest": {},
	"internal/leak":     {},
	"internal/outer":    {"fdwait", "ptybridge", "vt"}, // of tests
	"internal/proc":     {"fdwait", "outcome"},

	"internal/atomicfile": {},
	"internal/redact":     {},
	"internal/shellwords": {},

	"ptybridge":      {"fdwait", "outcome", "internal/proc"},
	"journal":        {"outcome", "internal/atomicfile"},
	"tools":          {"outcome", "journal", "internal/redact"},
	"tools/fdmeter":  {"outcome", "tools", "journal"},
	"tools/terminal": {"fdwait", "outcome", "ptybridge", "tools", "journal", "internal/proc", "internal/redact", "internal/shellwords"},
	"tools/process":  {"fdwait", "outcome", "ptybridge", "tools", "journal", "internal/proc", "internal/atomicfile"},
	"tools/execcode": {"outcome", "tools", "journal", "internal/proc", "internal/redact"},
	"tools/danger":   {"outcome", "internal/shellwords"},
	"tools/safepath": {"outcome"},

	"tools/checkpoint": {"outcome", "tools", "journal", "tools/safepath", "internal/redact", "internal/atomicfile"},
	"tools/readfile":   {"outcome", "tools", "journal", "tools/safepath", "internal/redact"},

	"tools/tts":          {"fdwait", "outcome", "tools", "journal", "tools/safepath", "tools/tts/audio", "tools/tts/provider", "tools/tts/publish", "tools/tts/script", "internal/atomicfile", "internal/proc", "internal/redact"},
	"tools/tts/audio":    {},
	"tools/tts/provider": {"fdwait", "outcome", "tools/tts/audio", "internal/proc"},
	"tools/tts/publish":  {"outcome"},
	"tools/tts/script":   {},

	"tools/send":          {"outcome", "tools", "journal", "tools/safepath", "internal/redact"},
	"tools/send/sendtest": {"outcome", "tools/send", "tools/safepath"},
	"tools/send/file":     {"tools/send", "tools/send/sendtest", "tools/safepath", "outcome"},
	"tools/send/webhook":  {"tools/send", "tools/send/sendtest", "tools/safepath", "outcome"},
	"tools/send/ntfy":     {"tools/send", "tools/send/sendtest", "tools/safepath", "outcome"},
	"tools/send/discord":  {"tools/send", "tools/send/sendtest", "tools/safepath", "outcome"},
	"tools/send/matrix":   {"tools/send", "tools/send/sendtest", "tools/safepath", "outcome"},
	"tools/send/telegram": {"tools/send", "tools/send/sendtest", "tools/safepath", "outcome"},
	"tools/send/slack":    {"tools/send", "tools/send/sendtest", "tools/safepath", "outcome"},
	"tools/send/email":    {"tools/send", "tools/send/sendtest", "tools/safepath", "outcome"},

	"agent/mcp":        {"journal", "outcome", "tools"},
	"agent/hook":       {"journal", "outcome", "internal/redact", "agent/claims"},
	"agent/transcript": {"journal", "outcome", "internal/redact", "internal/atomicfile", "tools/safepath", "agent/claims"},
	"agent/claims":     {"journal", "outcome", "tools/safepath", "internal/redact"},
	"demo":             {"outcome", "fdwait", "ptybridge", "vt", "session", "hostbench", "journal", "tools", "tools/terminal", "tools/checkpoint", "tools/tts", "tools/tts/audio", "tools/tts/provider", "tools/send", "tools/send/file", "tools/safepath", "internal/proc"},
	"hostbench":        {"outcome", "fdwait", "ptybridge", "vt", "tools/terminal", "internal/proc", "ctl"},

	"jobhost":       {"ctl", "fdwait", "journal", "outcome", "ptybridge", "tools", "tools/process"},
	"doctor":        {"outcome", "tools/fdmeter"},
	"session":       {"fdwait", "outcome", "ptybridge", "vt", "tools/fdmeter", "internal/proc", "journal"},
	"tui":           {"outcome", "session", "vt", "fdwait", "ptybridge", "tools/fdmeter", "internal/proc", "tui/input", "tui/screen", "tui/theme", "tui/statusbar", "tui/layout", "tui/keymap", "tui/copymode", "tui/picker", "tui/panels", "config", "ctl", "journal", "jobhost"},
	"tui/input":     {"fdwait"},
	"tui/screen":    {"fdwait", "vt", "tui/theme"},
	"tui/theme":     {"vt"},
	"tui/statusbar": {},
	"tui/layout":    {},
	"tui/keymap":    {},
	"tui/copymode":  {"vt", "outcome"},
	"tui/picker":    {"tui/screen", "tui/theme", "vt"},
	"tui/panels":    {"tui/screen", "tui/theme", "vt", "tools/fdmeter", "outcome", "journal", "jobhost", "internal/redact"},
	"config":        {"outcome", "tui/theme", "internal/atomicfile"},
	"ctl":           {},
	"cli": {
		"outcome", "fdwait", "ptybridge", "session", "vt", "tools/fdmeter", "tools/terminal",
		"tui", "tui/copymode", "tui/input", "tui/screen", "tui/theme", "tui/statusbar", "internal/proc", "cli/vtserve", "cli/shellmarks",
		"config", "ctl", "tui/keymap", "doctor", "demo", "hostbench", "agent/mcp", "agent/hook", "agent/transcript", "agent/claims", "jobhost", "journal", "tools", "internal/redact", "internal/atomicfile",
		"tools/checkpoint", "tools/danger", "tools/execcode", "tools/process", "tools/readfile", "tools/safepath", "tools/tts", "tools/tts/audio",
		"tools/send", "tools/send/file", "tools/send/webhook", "tools/send/ntfy", "tools/send/discord", "tools/send/matrix",
		"tools/send/telegram", "tools/send/slack", "tools/send/email",
	},
	"cli/vtserve":    {"vt"},
	"cli/shellmarks": {},
	"bench":          {"outcome", "fdwait", "ptybridge", "session", "tools", "tools/terminal", "tools/fdmeter", "journal", "internal/proc", "vt", "tui/screen", "tui/panels", "tui/theme"},

	"bench/peers/gopsutil": {},
	"bench/peers/xvt":      {}, // modules of their own: peers are no dependency of the product
}

// mayNotImport lists packages of others that a folder must stay free of, with
// the reason. A key that ends in "/" holds for everything below it.
var mayNotImport = []struct{ folder, pkg, why string }{
	{"vt", "os", "the engine is pure: bytes in, screen out"},
	{"vt", "sync", "the engine has no lock: its owner has one goroutine"},
	{"vt", "time", "the engine has no clock: its owner tells it"},
	{"session", "charm.land/bubbletea/v2", "a window is one client of the session"},
	{"ptybridge", "charm.land/bubbletea/v2", "the bridge knows no window"},
	{"tui/layout", "charm.land/bubbletea/v2", "layout is pure"},
	{"tui/keymap", "charm.land/bubbletea/v2", "keymap is pure"},
	{"tui/statusbar", "charm.land/bubbletea/v2", "the status bar is pure"},
}

// onlyIn lists calls that belong to one place, with the reason. An empty list
// means nowhere.
var onlyIn = map[string]struct {
	files []string
	why   string
}{
	"unix.Select":       {[]string{"demo/select_unix.go"}, "select() stops at descriptor 1024; the demo shows that it does"},
	"syscall.Select":    {nil, "select() stops at descriptor 1024"},
	"unix.Pselect":      {nil, "select() stops at descriptor 1024"},
	"unix.Poll":         {[]string{"fdwait/poll_unix.go"}, "poll() does not wait on macOS devices"},
	"unix.Ppoll":        {nil, "poll() does not wait on macOS devices"},
	"unix.Setrlimit":    {nil, "setting RLIMIT_NOFILE takes the user's own limit from the children"},
	"syscall.Setrlimit": {nil, "setting RLIMIT_NOFILE takes the user's own limit from the children"},
	"unix.Prlimit":      {[]string{"tools/fdmeter/files_linux.go"}, "only to read limits"},
	"os.Exit":           {[]string{"main.go", "bench/main.go"}, "commands return an exit code"},
	"log.Fatal":         {[]string{"vt/gentables/main.go"}, "commands return an exit code"},
	"pty.Start":         {nil, "it closes the slave too early for macOS"},
	"pty.StartWithSize": {nil, "it closes the slave too early for macOS"},
	"pty.Setsize":       {nil, "it makes the master blocking again"},
	"pty.InheritSize":   {nil, "it makes the master blocking again"},
}

// notInTests lists calls that no test may make.
var notInTests = map[string]string{
	"time.Sleep": "a test waits for a fact, not for time to pass",
}

// testMayExit are test files that re-run their own binary as another program.
var testMayExit = []string{"os.Exit"}

type source struct {
	path   string // slash-separated, from the root of the module
	folder string
	test   bool
	file   *ast.File
}

func sources(t *testing.T) []source {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatalf("find the root: %v", err)
	}
	var out []source
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != root || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		folder := filepath.ToSlash(filepath.Dir(rel))
		if folder == "." {
			folder = ""
		}
		out = append(out, source{rel, folder, strings.HasSuffix(rel, "_test.go"), f})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 20 {
		t.Fatalf("only %d files found: the test looks in the wrong place", len(out))
	}
	return out
}

func TestFoldersImportOnlyWhatTheyMay(t *testing.T) {
	for _, s := range sources(t) {
		for _, problem := range imports(s) {
			t.Error(problem)
		}
	}
}

func imports(s source) []string {
	var problems []string
	allowed, known := mayImport[s.folder]
	if !known {
		return []string{fmt.Sprintf("%s: folder %q is not in the architecture", s.path, s.folder)}
	}
	for _, imp := range s.file.Imports {
		path := strings.Trim(imp.Path.Value, `"`)
		if path == "C" {
			problems = append(problems, s.path+": imports C: the product has no cgo")
		}
		ours, isOurs := strings.CutPrefix(path, module+"/")
		switch {
		case isOurs && s.test && (ours == "internal/leak" || ours == "internal/outer" || ours == s.folder):
		case isOurs && !slices.Contains(allowed, ours):
			problems = append(problems, fmt.Sprintf("%s: %q may not import %q", s.path, s.folder, ours))
		}
		for _, no := range mayNotImport {
			if !s.test && s.folder == no.folder && path == no.pkg {
				problems = append(problems, fmt.Sprintf("%s: imports %s: %s", s.path, path, no.why))
			}
		}
	}
	return problems
}

func TestCallsStayInTheirPlace(t *testing.T) {
	for _, s := range sources(t) {
		for _, problem := range calls(s) {
			t.Error(problem)
		}
	}
}

func calls(s source) []string {
	var problems []string
	names := importNames(s.file)
	ast.Inspect(s.file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		id, ok := sel.X.(*ast.Ident)
		if !ok || names[id.Name] == "" {
			return true
		}
		call := names[id.Name] + "." + sel.Sel.Name
		if rule, ok := onlyIn[call]; ok && !slices.Contains(rule.files, s.path) && !(s.test && slices.Contains(testMayExit, call)) {
			problems = append(problems, fmt.Sprintf("%s: uses %s: %s", s.path, call, rule.why))
		}
		if why, ok := notInTests[call]; ok && s.test {
			problems = append(problems, fmt.Sprintf("%s: uses %s: %s", s.path, call, why))
		}
		return true
	})
	return problems
}

// importNames maps the name a file uses for a package to the last part of its
// path, so that a renamed import cannot hide a call.
func importNames(f *ast.File) map[string]string {
	names := map[string]string{}
	for _, imp := range f.Imports {
		path := strings.Trim(imp.Path.Value, `"`)
		base := path[strings.LastIndexByte(path, '/')+1:]
		name := base
		if imp.Name != nil {
			name = imp.Name.Name
		}
		names[name] = base
	}
	return names
}

// TestRulesTurnRed shows each kind of rule red on a file made for it.
func TestRulesTurnRed(t *testing.T) {
	for _, c := range []struct{ name, path, code string }{
		{"import", "vt/x.go", `package vt; import _ "github.com/honestty/honestty/session"`},
		{"cgo", "vt/x.go", `package vt; import "C"`},
		{"os in vt", "vt/x.go", `package vt; import _ "os"`},
		{"unknown folder", "util/x.go", `package util`},
		{"select", "fdwait/x.go", `package fdwait; import "golang.org/x/sys/unix"; var _ = unix.Select`},
		{"poll", "ptybridge/x.go", `package ptybridge; import "golang.org/x/sys/unix"; var _ = unix.Poll`},
		{"renamed poll", "ptybridge/x.go", `package ptybridge; import u "golang.org/x/sys/unix"; var _ = u.Poll`},
		{"setrlimit", "cli/x.go", `package cli; import "syscall"; var _ = syscall.Setrlimit`},
		{"exit", "cli/x.go", `package cli; import "os"; func f() { os.Exit(1) }`},
		{"sleep in a test", "vt/x_test.go", `package vt; import "time"; func f() { time.Sleep(1) }`},
	} {
		f, err := parser.ParseFile(token.NewFileSet(), c.path, c.code, parser.SkipObjectResolution)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		folder := filepath.ToSlash(filepath.Dir(c.path))
		s := source{c.path, folder, strings.HasSuffix(c.path, "_test.go"), f}
		if len(imports(s))+len(calls(s)) == 0 {
			t.Errorf("%s: no rule turned red on %s", c.name, c.code)
		}
	}
}
