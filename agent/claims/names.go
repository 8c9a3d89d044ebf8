package claims

import "strings"

// A kind is what a tool does, as far as its claims can be compared.
type kind uint8

const (
	other kind = iota
	shell
	read
	write
	speak
	send
	process
)

// kinds are the names of tools, in lower case, without the name of the server
// they come from.
var kinds = map[string]kind{
	// Hermes, and our own
	"terminal": shell, "execute_code": shell, "read_file": read, "write_file": write, "patch": write,
	"text_to_speech": speak, "send_message": send, "process": process,
	// Claude Code
	"bash": shell, "read": read, "write": write, "edit": write, "multiedit": write, "notebookedit": write,
	// Codex
	"shell": shell, "shell_command": shell, "exec_command": shell, "local_shell": shell, "container.exec": shell, "apply_patch": write,
	// Gemini
	"run_shell_command": shell, "replace": write,
	// opencode, Crush
	"view": read,
}

// kindOf finds what a tool does. Tools of an MCP server carry its name:
// mcp__server__tool in Claude Code and Codex, mcp_server_tool in Hermes and
// Gemini; of those only our own server is known.
func kindOf(tool string) kind {
	name := strings.ToLower(tool)
	if rest, ok := strings.CutPrefix(name, "mcp__"); ok {
		if _, last, ok := strings.Cut(rest, "__"); ok {
			name = last
		}
	}
	name = strings.TrimPrefix(name, "mcp_honestty_")
	name = strings.TrimPrefix(name, "honestty__")
	return kinds[name]
}
