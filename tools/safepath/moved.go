package safepath

import (
	"path/filepath"
	"strings"
)

// A Move says that a folder or file which the list of places names below the
// home lies somewhere else for this user.
type Move struct {
	From string // as the list of places writes it: "~/.config"
	Here string // absolute
}

// moves are the variables that move places, and what they move. A variable with
// a list of paths moves each of them.
var moves = []struct{ variable, from string }{
	{"XDG_CONFIG_HOME", "~/.config"},
	{"XDG_DATA_HOME", "~/.local/share"},
	{"GNUPGHOME", "~/.gnupg"},
	{"KUBECONFIG", "~/.kube"},
	{"DOCKER_CONFIG", "~/.docker"},
	{"AWS_SHARED_CREDENTIALS_FILE", "~/.aws"},
	{"AWS_CONFIG_FILE", "~/.aws"},
	{"AZURE_CONFIG_DIR", "~/.azure"},
	{"CLOUDSDK_CONFIG", "~/.config/gcloud"},
	{"GH_CONFIG_DIR", "~/.config/gh"},
	{"NETRC", "~/.netrc"},
	{"PGPASSFILE", "~/.pgpass"},
	{"NPM_CONFIG_USERCONFIG", "~/.npmrc"},
	{"CARGO_HOME", "~/.cargo"},
	{"PASSWORD_STORE_DIR", "~/.password-store"},
	{"HERMES_HOME", "~/.hermes"},
	{"CLAUDE_CONFIG_DIR", "~/.claude"},
	{"CODEX_HOME", "~/.codex"},
	{"ZDOTDIR", "~"},
	{"GIT_CONFIG_GLOBAL", "~/.gitconfig"},
}

// Moved reads where the variables of the environment say that places lie. What
// is not absolute moves nothing.
func Moved(getenv func(string) string) []Move {
	var out []Move
	for _, m := range moves {
		for _, here := range filepath.SplitList(getenv(m.variable)) {
			if filepath.IsAbs(here) {
				out = append(out, Move{m.from, filepath.Clean(here)})
			}
		}
	}
	return out
}

// spots are where a place of the list lies: for one in the home also where it
// was moved to. A place that would hold the whole home is none.
func (p Policy) spots(pl place) []place {
	rest, ok := strings.CutPrefix(pl.path, "~/")
	if !ok {
		return []place{pl}
	}
	var out []place
	if p.Home != "" {
		out = append(out, place{filepath.Join(p.Home, rest), pl.name, pl.says})
	}
	for _, m := range p.Moved {
		inside, ok := below(pl.path, m.From)
		if !ok {
			continue
		}
		here := filepath.Join(m.Here, inside)
		if p.Home != "" && under(p.Home, here) {
			continue
		}
		out = append(out, place{here, pl.name, pl.says})
	}
	return out
}
