package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A Snippet is what makes one agent start our server.
type Snippet struct {
	Where   string // the file it belongs into
	Text    string // what stands there
	Command string // the agent's own command that does the same; empty: there is none
	After   string // what to do then; empty: nothing
}

// Clients are the agents whose settings are known.
func Clients() []string {
	return []string{"claude-code", "codex", "opencode", "hermes", "crush", "gemini"}
}

// SnippetFor writes the settings for an agent. version is that agent's own, as
// it prints it; it matters for opencode, whose form changed with version 2, and
// may be empty.
func SnippetFor(client, version, program string) (Snippet, error) {
	quoted, err := json.Marshal(program)
	if err != nil {
		return Snippet{}, fmt.Errorf("write the program's name: %w", err)
	}
	exe := string(quoted)
	switch client {
	case "claude-code":
		return Snippet{
			Where:   ".mcp.json in the project, or ~/.claude.json for all projects",
			Text:    `{"mcpServers":{"honestty":{"type":"stdio","command":` + exe + `,"args":["mcp"],"env":{}}}}`,
			Command: "claude mcp add --scope user honestty -- " + shellWord(program) + " mcp",
		}, nil
	case "codex":
		return Snippet{
			Where:   "~/.codex/config.toml",
			Text:    "[mcp_servers.honestty]\ncommand = " + exe + "\nargs = [\"mcp\"]\ntool_timeout_sec = 660",
			Command: "codex mcp add honestty -- " + shellWord(program) + " mcp",
		}, nil
	case "opencode":
		text := `{"mcp":{"servers":{"honestty":{"type":"local","command":[` + exe + `,"mcp"],"environment":{}}}}}`
		if major(version) == "1" {
			text = `{"mcp":{"honestty":{"type":"local","command":[` + exe + `,"mcp"],"enabled":true}}}`
		}
		s := Snippet{Where: "opencode.json in the project, or ~/.config/opencode/opencode.json", Text: text}
		if major(version) != "1" {
			s.Command = "opencode mcp add honestty -- " + shellWord(program) + " mcp"
		}
		return s, nil
	case "hermes":
		return Snippet{
			Where: "config.yaml in $HERMES_HOME (~/.hermes)",
			// Hermes gives servers only what is named here, and a safe base. Without
			// the folder of sockets no open window would be found.
			Text: "mcp_servers:\n  honestty:\n    command: " + exe + "\n    args: [\"mcp\"]\n" +
				"    env:\n      XDG_RUNTIME_DIR: \"${XDG_RUNTIME_DIR}\"",
			After: "/reload-mcp in a running session",
		}, nil
	case "crush":
		return Snippet{
			Where:   "crush.json in the project, or ~/.config/crush/crush.json",
			Text:    `{"mcp":{"honestty":{"type":"stdio","command":` + exe + `,"args":["mcp"],"timeout":660}}}`,
			Command: "mcp add honestty --command " + shellWord(program) + " --args mcp   (in crushrc)",
		}, nil
	case "gemini":
		return Snippet{
			Where: "~/.gemini/settings.json",
			Text:  `{"mcpServers":{"honestty":{"command":` + exe + `,"args":["mcp"],"timeout":660000}}}`,
		}, nil
	}
	return Snippet{}, fmt.Errorf("no settings are known for %q; there are %s", client, strings.Join(Clients(), ", "))
}

// major is the first number of a version as programs print it: "1" for "v1.2.3"
// and for "opencode 1.2.3".
func major(version string) string {
	words := strings.Fields(version)
	i := slices.IndexFunc(words, func(w string) bool { return strings.Trim(w, "v0123456789.") == "" && strings.ContainsRune(w, '.') })
	if i < 0 {
		return ""
	}
	number, _, _ := strings.Cut(strings.TrimPrefix(words[i], "v"), ".")
	return number
}

// shellWord writes a word so that a shell reads it back.
func shellWord(w string) string {
	if strings.IndexFunc(w, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./", r)
	}) < 0 {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}
