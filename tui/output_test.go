package tui

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/honestty/honestty/internal/outer"
)

func TestAPasteCannotLeaveItsBrackets(t *testing.T) {
	const end = "\x1b[201~"
	for in, want := range map[string]string{
		"a\tb\nc":                                  "\x1b[200~a\tb\nc" + end,
		"x" + end + "rm\n":                         "\x1b[200~x[201~rm\n" + end,
		"x\x1b[20" + end + "1~rm\n":                "\x1b[200~x[20[201~1~rm\n" + end,
		"\u009b201~rm\x03\x7f":                     "\x1b[200~201~rm" + end,
		"\u5b57\U0001f469\u200d\U0001f467 e\u0301": "\x1b[200~\u5b57\U0001f469\u200d\U0001f467 e\u0301" + end,
	} {
		if got := pasted(in, true); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	if got := pasted("a\nb\x1b", false); got != "a\rb" {
		t.Errorf("without brackets: %q", got)
	}
}

func TestAClipboardProgramThatHangsIsStopped(t *testing.T) {
	err := runTool([]string{"/bin/sh", "-c", "exec sleep 1000"}, "text", 50*time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "no end after") {
		t.Errorf("%v", err)
	}
	if err := runTool([]string{"/bin/sh", "-c", `test "$(cat)" = text`}, "text", outer.Patience); err != nil {
		t.Error(err)
	}
}

func TestAnOutputIsTheInputOfAWholeCommandLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "it's output")
	if err := os.WriteFile(path, []byte("b\na\nb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"cat":                    "b\na\nb\n",
		"sort | uniq":            "a\nb\n",
		"head -n 1; exit 0":      "b\n",
		"cat # all of it":        "b\na\nb\n",
		"true && cat || echo no": "b\na\nb\n",
	} {
		argv := reading(line)
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env = append(os.Environ(), "HONESTTY_OUTPUT="+path)
		if got, err := cmd.Output(); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", line, got, err)
		}
	}
}
