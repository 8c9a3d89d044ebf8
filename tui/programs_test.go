package tui

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestPrograms runs what people run and waits for what only a right screen
// shows.
func TestPrograms(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lines.txt")
	var lines strings.Builder
	for i := range 200 {
		fmt.Fprintf(&lines, "line %d of the file\n", i+1)
	}
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		command []string
		steps   []string // typed, seen, typed, seen …; after "!" what is to go
	}{
		{"bash", []string{"bash", "--norc"}, []string{"", "$", "echo $((6*7))\r", "42", "exit\r", "q closes"}},
		{"zsh", []string{"zsh", "-f"}, []string{"", "$", "echo $((6*7))\r", "42", "exit\r", "q closes"}},
		{"vim", []string{"vim", "-u", "NONE", "-N", file}, []string{"", "line 1 of the file", "G", "line 200 of the file", "ggOnew first line", "new first line", "\x1b", "!-- INSERT --", ":q!\r", "q closes"}},
		{"less", []string{"less", file}, []string{"", "line 1 of the file", "G", "line 200 of the file", "?line 150 \r", "line 150 of the file", "q", "q closes"}},
		{"htop", []string{"htop"}, []string{"", "PID", "q", "q closes"}},
		{"top", []string{"top"}, []string{"", "PID", "q", "q closes"}},
		{"python3", []string{"python3", "-q"}, []string{"", ">>>", "print(6*7)\r", "42", "exit()\r", "q closes"}},
		{"man", []string{"man", "man"}, []string{"", "NAME", "q", "q closes"}},
		{"tmux", []string{"tmux", "-L", "inner" + strconv.Itoa(os.Getpid()), "-f", "/dev/null", "new-session", "sh"}, []string{"", "[0] 0:", "echo $((6*7))\r", "42", "exit\r", "q closes"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := exec.LookPath(c.command[0]); err != nil {
				t.Skipf("skipped: %s is not here", c.command[0])
			}
			o := open(t, outerConfig{}, c.command...)
			for i := 0; i < len(c.steps); i += 2 {
				o.Type(c.steps[i])
				want, gone := strings.CutPrefix(c.steps[i+1], "!")
				o.Await(c.steps[i+1], func(s string) bool { return strings.Contains(s, want) != gone })
			}
			o.Type("q")
			o.End()
		})
	}
}

// TestAnIdleWindowWakesOnlyForItsMeter counts how often the threads of the
// program went to sleep while nothing happened for three ticks of the meter. A
// ticker at 60 a second alone makes it near a thousand.
func TestAnIdleWindowWakesOnlyForItsMeter(t *testing.T) {
	o := open(t, outerConfig{}, "/bin/sh", "-c", "echo ready; sleep 3; echo done; sleep 60")
	o.See("ready")
	before := sleeps(t, o.Bridge().PID())
	o.See("done")
	if n := sleeps(t, o.Bridge().PID()) - before; n > 400 {
		t.Errorf("%d wake-ups in three ticks of the meter", n)
	}
}

// sleeps is how often the threads of a process gave the processor up.
func sleeps(t *testing.T, pid int) int {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(files) == 0 {
		t.Skip("skipped: no /proc here")
	}
	total := 0
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			continue // a thread that has ended
		}
		_, rest, _ := strings.Cut(string(raw), "\nvoluntary_ctxt_switches:")
		n, err := strconv.Atoi(strings.Fields(rest)[0])
		if err != nil {
			t.Fatal(err)
		}
		total += n
	}
	return total
}
