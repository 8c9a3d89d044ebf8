package proc

import "strings"

// outer names what an outer terminal or multiplexer put into the environment
// about itself. A child that believed it would speak to the wrong terminal.
// An entry that ends in '*' is a prefix.
var outer = []string{
	"TERM", "COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TERM_SESSION_ID", "TERM_FEATURES", "TERMCAP",
	"LINES", "COLUMNS", "WINDOWID", "COLORFGBG",
	"TMUX", "TMUX_PANE", "STY", "WINDOW", "ZELLIJ*",
	"VTE_VERSION", "KITTY_*", "WEZTERM_*", "ALACRITTY_*", "GHOSTTY_*", "KONSOLE_*", "ITERM_*", "LC_TERMINAL*",
	"WT_SESSION", "WT_PROFILE_ID", "TERMINAL_EMULATOR", "HONESTTY_PANE", "HONESTTY_SOCKET",
	// Not VSCODE_*: git inside an editor asks for passwords through some of them.
	"VSCODE_INJECTION", "VSCODE_NONCE", "VSCODE_SHELL_*",
}

// ChildEnv returns env as a child inside a pane should see it: what belongs
// to the outer terminal is gone, and TERM, COLORTERM, TERM_PROGRAM and
// TERM_PROGRAM_VERSION name our engine. LINES and COLUMNS are left out
// because the window size of the terminal is the only truth about them.
func ChildEnv(env []string, version string) []string {
	out := make([]string, 0, len(env)+4)
	for _, kv := range env {
		if k, _, ok := strings.Cut(kv, "="); ok && !isOuter(k) {
			out = append(out, kv)
		}
	}
	return append(out,
		"TERM=xterm-256color",
		"COLORTERM=truecolor",
		"TERM_PROGRAM=honestty",
		"TERM_PROGRAM_VERSION="+version,
	)
}

func isOuter(key string) bool {
	for _, o := range outer {
		if prefix, ok := strings.CutSuffix(o, "*"); ok && strings.HasPrefix(key, prefix) {
			return true
		}
		if o == key {
			return true
		}
	}
	return false
}
