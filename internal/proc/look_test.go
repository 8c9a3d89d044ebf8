package proc

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func writeFile(t *testing.T, mode os.FileMode, path ...string) string {
	t.Helper()
	at := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte("#!/bin/sh\n"), mode); err != nil {
		t.Fatal(err)
	}
	return at
}

func TestLookPathFindsWhatAShellWould(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	tool := writeFile(t, 0o755, first, "tool")
	writeFile(t, 0o755, second, "tool")
	writeFile(t, 0o644, first, "plain")
	plain := writeFile(t, 0o755, second, "plain")
	if err := os.MkdirAll(filepath.Join(first, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	folder := writeFile(t, 0o755, second, "folder")
	writeFile(t, 0o644, first, "dead")
	here := writeFile(t, 0o755, dir, "here")

	both := first + ":" + second
	for _, c := range []struct {
		name, lookFor, dir, path string
		want                     string
		err                      error
	}{
		{"first of two", "tool", "", both, tool, nil},
		{"not executable is passed over", "plain", "", both, plain, nil},
		{"a folder is passed over", "folder", "", both, folder, nil},
		{"not executable anywhere", "dead", "", both, "", os.ErrPermission},
		{"nowhere", "none", "", both, "", os.ErrNotExist},
		{"a PATH entry that is no folder", "tool", "", here + ":" + first, tool, nil},
		{"a PATH entry that does not exist", "tool", "", dir + "/none:" + first, tool, nil},
		{"empty elements are passed over", "tool", "", "::" + first + "::", tool, nil},
		{"an empty element is not the current folder", "here", dir, ":", "", os.ErrNotExist},
		{"an empty PATH", "tool", "", "", "", os.ErrNotExist},
		{"a relative PATH entry counts from dir", "tool", dir, "first", "first/tool", nil},
		{"no name", "", "", both, "", os.ErrNotExist},
		{"a name with a slash is not searched", "first/tool", dir, "", "first/tool", nil},
		{"a name with a slash counts from dir", "./here", dir, both, "./here", nil},
		{"a name with a slash, elsewhere", "./here", first, both, "", os.ErrNotExist},
		{"an absolute name", here, first, "", here, nil},
		{"a folder by name", dir + "/first", "", "", "", unix.EISDIR},
		{"not executable by name", first + "/dead", "", "", "", os.ErrPermission},
	} {
		got, err := LookPath(c.lookFor, c.dir, []string{"PATH=" + c.path})
		if c.err == nil && (got != c.want || err != nil) {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
		if c.err != nil && !errors.Is(err, c.err) {
			t.Errorf("%s: %q, %v; want %v", c.name, got, err, c.err)
		}
	}
}

func TestNotFoundNamesTheCommand(t *testing.T) {
	_, err := LookPath("no-such-command", "", []string{"PATH=/bin"})
	nf, ok := errors.AsType[*NotFoundError](err)
	if !ok || nf.Name != "no-such-command" || !strings.Contains(err.Error(), `"no-such-command" not found in PATH`) {
		t.Errorf("%v", err)
	}
}

func TestGetenvTakesTheLastValue(t *testing.T) {
	env := []string{"A=1", "AB=2", "A=3", "EMPTY=", "novalue"}
	for key, want := range map[string]string{"A": "3", "AB": "2", "EMPTY": "", "novalue": "", "B": ""} {
		if got := Getenv(env, key); got != want {
			t.Errorf("Getenv(%q) = %q, want %q", key, got, want)
		}
	}
}

func TestChildEnvLosesTheOuterTerminalAndNothingElse(t *testing.T) {
	gone := []string{
		"TERM=xterm-kitty", "COLORTERM=24bit", "TERM_PROGRAM=tmux", "TERM_PROGRAM_VERSION=3.4", "TERM_SESSION_ID=w0t0",
		"TERMCAP=x", "LINES=5", "COLUMNS=7", "WINDOWID=1", "COLORFGBG=0;15",
		"TMUX=/tmp/tmux-0/default,1,0", "TMUX_PANE=%3", "STY=1.pts", "ZELLIJ=0", "ZELLIJ_SESSION_NAME=a",
		"VTE_VERSION=7600", "KITTY_WINDOW_ID=1", "KITTY_PID=9", "WEZTERM_PANE=0", "ALACRITTY_WINDOW_ID=4",
		"GHOSTTY_RESOURCES_DIR=/x", "KONSOLE_VERSION=1", "ITERM_SESSION_ID=x", "LC_TERMINAL=iTerm2",
		"LC_TERMINAL_VERSION=3", "WT_SESSION=a", "TERMINAL_EMULATOR=JetBrains", "VSCODE_INJECTION=1",
		"VSCODE_SHELL_INTEGRATION=1", "HONESTTY_PANE=3", "no equals sign",
	}
	kept := []string{
		"PATH=/bin", "HOME=/root", "TERMINAL=foot", "TMUXINATOR=1", "MYTERM=x", "LC_ALL=C.UTF-8", "NO_COLOR=1",
		"EMPTY=", "EQUALS=a=b", "KITTY=cat", "COLUMNSX=1",
		// Without these git cannot ask for a password inside an editor.
		"VSCODE_GIT_ASKPASS_NODE=/n", "VSCODE_GIT_ASKPASS_MAIN=/m", "VSCODE_GIT_IPC_HANDLE=/s",
	}
	want := append(slices.Clone(kept),
		"TERM=xterm-256color", "COLORTERM=truecolor", "TERM_PROGRAM=honestty", "TERM_PROGRAM_VERSION=v1")
	if got := ChildEnv(slices.Concat(gone, kept), "v1"); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
