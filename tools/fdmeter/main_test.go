package fdmeter

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
)

// helperEnv makes the test binary play a process that tests look at.
const helperEnv = "FDMETER_HELPER"

func TestMain(m *testing.M) {
	if role := os.Getenv(helperEnv); role != "" {
		if err := roles[role](); err != nil {
			fmt.Println(err)
		}
		return
	}
	keepFromChildren()
	m.Run()
}

// A helper is the test binary in a role. It lives until its stdin is closed.
type helper struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.WriteCloser
	out   *bufio.Reader
}

// start runs a command line in which the last words are the test binary's own
// path; nil means the binary alone.
func start(t *testing.T, role string, command ...string) *helper {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	argv := append(command, self)
	h := &helper{t: t, cmd: exec.Command(argv[0], argv[1:]...)}
	h.cmd.Env = append(os.Environ(), helperEnv+"="+role, "GORACE=atexit_sleep_ms=0")
	h.cmd.Stderr = os.Stderr
	if h.stdin, err = h.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	h.out = bufio.NewReader(stdout)
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		h.stdin.Close()
		h.cmd.Wait()
	})
	return h
}

func (h *helper) pid() int { return h.cmd.Process.Pid }

// answer reads one line of JSON that the helper printed.
func (h *helper) answer(into any) {
	h.t.Helper()
	line, err := h.out.ReadBytes('\n')
	if err != nil {
		h.t.Fatalf("helper said nothing: %q, %v", line, err)
	}
	if err := json.Unmarshal(line, into); err != nil {
		h.t.Fatalf("helper said %q: %v", line, err)
	}
}

// order tells the helper to go on.
func (h *helper) order() {
	h.t.Helper()
	if _, err := io.WriteString(h.stdin, "go\n"); err != nil {
		h.t.Fatal(err)
	}
}

// say prints one line of JSON for the test, and await waits for its order; it
// is false when the test has closed stdin.
func say(v any) { json.NewEncoder(os.Stdout).Encode(v) }

func await(in *bufio.Reader) bool {
	_, err := in.ReadString('\n')
	return err == nil
}
