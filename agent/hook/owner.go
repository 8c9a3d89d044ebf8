package hook

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/honestty/honestty/journal"
)

// between are programs that may stand between an agent and its hook and that
// end with the hook.
var between = []string{
	"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "busybox",
	"timeout", "nice", "ionice", "nohup", "setsid", "env", "sudo", "doas", "stdbuf",
}

// maxParents bounds the walk upwards.
const maxParents = 8

// A parent is what has to be known of a process on the way to the agent.
type parent struct {
	name string   // without its folder; empty when it cannot be read
	args []string // nil when they cannot be read
	up   int      // its own parent
}

// Owner is the agent's process: the nearest one above this process that is no
// shell and no wrapper. It is nobody when there is none, as when a person runs
// the hook by hand: an interactive shell is nobody's agent.
func Owner() journal.Owner {
	pid := agentAbove(os.Getppid(), look)
	if pid == 0 {
		return journal.Owner{}
	}
	return journal.OwnerOf(pid)
}

// agentAbove walks up from pid; 0 when nobody is found.
func agentAbove(pid int, look func(int) (parent, error)) int {
	for range maxParents {
		if pid <= 1 {
			return 0
		}
		p, err := look(pid)
		if err != nil {
			return 0
		}
		if !slices.Contains(between, strings.TrimPrefix(filepath.Base(p.name), "-")) {
			return pid
		}
		if interactive(p.args) {
			return 0
		}
		pid = p.up
	}
	return 0
}

// interactive reports whether a shell was started to type into: it has nothing
// to run. What cannot be told is taken for one that has.
func interactive(args []string) bool {
	for _, a := range args[min(1, len(args)):] {
		if !strings.HasPrefix(a, "-") || strings.Contains(a, "c") && !strings.HasPrefix(a, "--") {
			return false
		}
	}
	return args != nil
}
