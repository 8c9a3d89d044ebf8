package hook

import (
	"encoding/json"
	"fmt"
	"strings"
)

// seconds is how long an agent may wait for a hook of ours, as the agent's
// settings say it. A hook needs some milliseconds.
const seconds = 10

// hermesConfig goes into config.yaml of Hermes.
const hermesConfig = `# In config.yaml of Hermes ($HERMES_HOME, else ~/.hermes):
hooks:
  pre_tool_call:
    - command: %[1]s
      timeout: %[2]d
  post_tool_call:
    - command: %[1]s
      timeout: %[2]d
  on_session_end:
    - command: %[1]s
      timeout: %[2]d
`

// Config is the snippet that makes an agent call program for each event, with
// a note on where it goes. Nothing is edited.
func Config(agent, program string) (string, error) {
	command := quote(program) + " hook " + agent
	switch agent {
	case Hermes:
		word, err := json.Marshal(command) // a JSON string is a YAML string
		if err != nil {
			return "", err
		}
		return fmt.Sprintf(hermesConfig, word, seconds), nil
	case ClaudeCode:
		return claudeConfig(command)
	}
	return "", fmt.Errorf("print settings: there is no agent called %q; there are %s", agent, strings.Join(Agents, " and "))
}

func claudeConfig(command string) (string, error) {
	type action struct {
		Type    string `json:"type"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
	}
	type rule struct {
		Matcher string   `json:"matcher,omitempty"`
		Hooks   []action `json:"hooks"`
	}
	run := []action{{"command", command, seconds}}
	tool, turn := []rule{{"*", run}}, []rule{{"", run}}
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(map[string]any{"hooks": map[string][]rule{
		"PreToolUse": tool, "PostToolUse": tool, "PostToolUseFailure": tool, "Stop": turn, "SessionEnd": turn,
	}})
	return out.String(), err
}

// quote writes a path as one word of a shell.
func quote(path string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+@%", r)
	}
	if path != "" && strings.IndexFunc(path, func(r rune) bool { return !plain(r) }) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
