package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/honestty/honestty/internal/outer"
)

// manyHeld is how many descriptors an agent leaves to its MCP server: more than
// a set of select() has room for.
const manyHeld = 1100

// TestThePanelsShowWhatAnAgentsCallsReallyDid has a window and an agent side by
// side: a speech call that fails over a recording, a message with a file that is
// not there, and a command past 1,024 descriptors.
func TestThePanelsShowWhatAnAgentsCallsReallyDid(t *testing.T) {
	exe, home := program(t), t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	recording := put("recording.wav", "the only copy")
	put("chart.png", "\x89PNG\r\n\x1a\n")
	put(".config/honestty/config.toml", "[speech]\nwyoming = \"127.0.0.1:1\"\n") // nobody listens there
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_STATE_HOME=" + filepath.Join(home, ".state"),
		"XDG_CACHE_HOME=" + filepath.Join(home, ".cache"), "XDG_CONFIG_HOME=" + filepath.Join(home, ".config"), "XDG_RUNTIME_DIR=" + shortDir(t),
		"LANG=C.UTF-8", "PS1=$ ", "SHELL=/bin/sh", "TERM=xterm-256color",
	}
	window := outer.Open(t, outer.Config{Cols: 120, Rows: 40, Env: env, Command: []string{exe, "--", "/bin/sh"}})
	window.See("$")

	s := agentHolding(t, manyHeld, exe, home, env)
	call := func(tool string, args map[string]any, isError bool) map[string]any {
		t.Helper()
		res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(res.StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(raw, &m); err != nil || res.IsError != isError || m["displayed"] != true {
			t.Fatalf("%s: isError %v, %v\n%s", tool, res.IsError, err, raw)
		}
		return m
	}
	call("text_to_speech", map[string]any{"text": "The report is ready.", "output_path": recording, "provider": "wyoming"}, true)
	call("send_message", map[string]any{"target": "file", "message": "The report.", "attachments": []string{"chart.png", "report.html"}}, true)
	run := call("terminal", map[string]any{"command": "seq 1 2000"}, false)

	if out, _ := run["output"].(string); strings.Count(out, "\n") < 1999 || !strings.HasSuffix(strings.TrimSpace(out), "\n2000") {
		t.Errorf("past %d descriptors the output is %d bytes", manyHeld, len(out))
	}
	if now, err := os.ReadFile(recording); err != nil || string(now) != "the only copy" {
		t.Errorf("the recording is %q, %v", now, err)
	}
	for _, panel := range []struct {
		key  string
		says []string
	}{
		{"T", []string{"test-agent", "output complete (8,893 bytes)", "ok", "partial", "failed"}},
		{"V", []string{"recording.wav", "is as it was", "ECONNREFUSED", "failed"}},
		{"S", []string{"report.html", "dropped", "not found on this host", "chart.png", "sent", "partial"}},
	} {
		window.Type("\x02" + panel.key)
		for _, text := range panel.says {
			window.See(text)
		}
	}
}

// agentHolding connects the SDK's client to a server that inherits n descriptors.
func agentHolding(t *testing.T, n int, exe, dir string, env []string) *mcp.ClientSession {
	t.Helper()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	var said bytes.Buffer
	cmd := exec.Command(exe, "mcp")
	cmd.Dir, cmd.Env, cmd.Stderr = dir, env, &said
	for range n {
		cmd.ExtraFiles = append(cmd.ExtraFiles, null)
	}
	s, err := mcp.NewClient(&mcp.Implementation{Name: "test-agent", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	t.Cleanup(func() { _ = s.Close() })
	if held, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", cmd.Process.Pid)); err == nil && len(held) < n {
		t.Fatalf("the server holds %d descriptors, not %d", len(held), n)
	}
	return s
}
