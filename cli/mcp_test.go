package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sys/unix"
)

// agent connects the SDK's client to the real program.
func agent(t *testing.T) (*mcp.ClientSession, string) {
	t.Helper()
	dir := t.TempDir()
	cmd := server(t, dir)
	s, err := mcp.NewClient(&mcp.Implementation{Name: "Test Agent", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: "process", Arguments: map[string]any{"action": "list"}}); err != nil {
			t.Error(err)
		}
		_ = s.Close()
		stop := exec.Command(program(t), "job", "host", "--stop")
		stop.Env = cmd.Env
		if out, err := stop.CombinedOutput(); err != nil {
			t.Errorf("stop the job host: %v\n%s", err, out)
		}
	})
	return s, dir
}

// server is the real program, with a home of its own.
func server(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(program(t), "mcp")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+filepath.Join(dir, ".state"),
		"XDG_CACHE_HOME="+filepath.Join(dir, ".cache"), "XDG_CONFIG_HOME="+filepath.Join(dir, ".config"), "XDG_RUNTIME_DIR="+shortDir(t),
		"HONESTTY_SOCKET="+filepath.Join(dir, "none.sock")) // no window of anybody else
	cmd.Stderr = os.Stderr
	return cmd
}

// TestASignalEndsTheServerAndItsCommands sends SIGTERM while a command runs: to a
// server whose client reads, and to one whose client never does.
func TestASignalEndsTheServerAndItsCommands(t *testing.T) {
	for _, reads := range []bool{true, false} {
		dir := t.TempDir()
		cmd := server(t, dir)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		out := bufio.NewReader(stdout)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		say := func(line string) {
			if _, err := io.WriteString(in, line+"\n"); err != nil {
				t.Fatal(err)
			}
		}
		say(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
		say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		if _, err := out.ReadBytes('\n'); err != nil {
			t.Fatal(err)
		}
		fifo := filepath.Join(dir, "fifo")
		if err := unix.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		for id := range 10 { // their answers are more than a pipe holds
			say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"terminal","arguments":{"command":"seq 1 9999"}}}`, id+2))
		}
		say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"terminal","arguments":{"command":"echo $$ >fifo; exec sleep 1000"}}}`)
		pid, err := os.ReadFile(fifo) // the command runs
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(unix.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if reads {
			all, _ := io.ReadAll(out)
			if !strings.Contains(string(all), `"id":1,`) || !strings.Contains(string(all), `"status":"cancelled"`) {
				t.Errorf("the command that ran is not answered: %.300s", all)
			}
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("reads %v: %v", reads, err)
		}
		n, err := strconv.Atoi(strings.TrimSpace(string(pid)))
		if err != nil || unix.Kill(n, 0) == nil {
			t.Errorf("reads %v: the command goes on (%v)", reads, err)
		}
	}
}

// shortDir is a folder whose socket paths fit (104 bytes on macOS).
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// TestEveryToolKeepsItsSchemaForEveryEnd calls each tool so that it works, fails
// and is refused, and holds each result against the schema that agents are told.
func TestEveryToolKeepsItsSchemaForEveryEnd(t *testing.T) {
	s, dir := agent(t)
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	schemas := map[string]*jsonschema.Resolved{}
	for _, tool := range list.Tools {
		raw, err := json.Marshal(tool.OutputSchema)
		if err != nil {
			t.Fatal(err)
		}
		var schema jsonschema.Schema
		if err := json.Unmarshal(raw, &schema); err != nil {
			t.Fatal(err)
		}
		if schemas[tool.Name], err = schema.Resolve(nil); err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
	}
	if len(schemas) != 8 {
		t.Errorf("%d tools", len(schemas))
	}
	text := filepath.Join(dir, "text.txt")
	if err := os.WriteFile(text, []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	type args = map[string]any
	for _, c := range []struct {
		tool string
		args args
		bad  bool
	}{
		{"terminal", args{"command": "seq 1 3"}, false},
		{"terminal", args{"command": "exit 7"}, true},
		{"terminal", args{"command": "rm -rf /"}, true},
		{"terminal", args{"command": "rm -rf ./x"}, true}, // nobody is there to ask
		{"terminal", args{"command": "sleep 10", "timeout": 0.1}, true},
		{"terminal", args{"command": 7}, true},
		{"terminal", args{}, true},
		{"execute_code", args{"language": "bash", "code": "echo hi"}, false},
		{"execute_code", args{"language": "cobol", "code": "x"}, true},
		{"process", args{"action": "start", "command": "echo job; sleep 0.1"}, false},
		{"process", args{"action": "list"}, false},
		{"process", args{"action": "poll", "session_id": "proc_nothere"}, true},
		{"process", args{"action": "fly"}, true},
		{"read_file", args{"path": text}, false},
		{"read_file", args{"path": dir}, true},
		{"read_file", args{"path": filepath.Join(dir, "gone")}, true},
		{"text_to_speech", args{"text": "hello", "output_path": "../MEDIA:\"x\""}, true},
		{"text_to_speech", args{"text": ""}, true},
		{"send_message", args{"action": "list"}, false},
		{"send_message", args{"target": "file", "message": "hello"}, false},
		{"send_message", args{"target": "file", "message": "x", "attachments": []string{text, "/no/such/file"}}, true},
		{"send_message", args{"target": "nowhere", "message": "x"}, true},
		{"fd_report", args{}, false},
		{"fd_report", args{"names": []string{"no-such-program"}}, true},
		{"checkpoint", args{"action": "list"}, false},
		{"checkpoint", args{"action": "show", "id": "ffffffff"}, true},
	} {
		res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: c.args})
		if err != nil {
			t.Errorf("%s %v: %v", c.tool, c.args, err)
			continue
		}
		raw, _ := json.Marshal(res.StructuredContent)
		if res.IsError != c.bad {
			t.Errorf("%s %v: isError %v\n%s", c.tool, c.args, res.IsError, raw)
		}
		if err := schemas[c.tool].Validate(res.StructuredContent); err != nil {
			t.Errorf("%s %v: the schema: %v\n%s", c.tool, c.args, err, raw)
		}
		m, ok := res.StructuredContent.(map[string]any)
		if !ok || m["displayed"] != false || m["call"] == nil {
			t.Errorf("%s %v: %s", c.tool, c.args, raw)
		}
		if e, has := m["error"]; has && (e == nil) == c.bad {
			t.Errorf("%s %v: error %v with isError %v", c.tool, c.args, e, c.bad)
		}
	}
}
