package safepath

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
)

// byName judges what is known by its name wherever it lies: environment files
// for Read and Deliver, secrets of processes for Read, and what git runs for
// Write.
func byName(path Path, use Use) judgement {
	for _, p := range [...]string{path.Abs, path.Real} {
		name, v := "", silent
		switch {
		case use != Write && isEnvFile(spelling(filepath.Base(p))):
			name, v = "environment file", denied
		case use == Read && isProcessSecret(p):
			name, v = "secrets of a process", denied
		case use == Write:
			name, v = gitRuns(strings.Split(spelling(p), "/"))
		}
		if v != silent {
			// Deeper than any folder, so that only a place that names this
			// very file says otherwise.
			return judgement{v, name, depthOf(path, v)}
		}
	}
	return judgement{verdict: silent}
}

func depthOf(path Path, v verdict) int {
	if v == approval {
		return 0 // any place that denies goes first
	}
	if path.Real == "" {
		return math.MaxInt
	}
	return max(strings.Count(path.Abs, "/"), strings.Count(path.Real, "/"))
}

// isEnvFile knows .env, .envrc and .env.production; not the examples that
// people commit.
func isEnvFile(name string) bool {
	if name == ".env" || name == ".envrc" {
		return true
	}
	kind, ok := strings.CutPrefix(name, ".env.")
	return ok && !slices.Contains([]string{"example", "sample", "template", "dist", "defaults"}, kind)
}

// processSecrets are files under /proc that hold the environment, the memory
// or the arguments of a process, or lead to its open files; and those that
// hold the memory or the messages of the kernel.
var processSecrets = []string{
	"environ", "mem", "cmdline", "auxv", "maps", "smaps", "numa_maps", "pagemap", "stack", "syscall",
	"fd", "map_files", "kcore", "kmsg", "keys", "key-users", "kallsyms", "kpagecount", "kpageflags",
	"sysrq-trigger",
}

func isProcessSecret(path string) bool {
	rest, ok := below(path, "/proc")
	if !ok {
		return false
	}
	for part := range strings.SplitSeq(rest, "/") {
		if slices.Contains(processSecrets, part) {
			return rest != "/cmdline" // the kernel's own is no secret
		}
	}
	return false
}

// gitRuns wants approval for what git executes: hooks, and configuration that
// can name commands.
func gitRuns(parts []string) (string, verdict) {
	at := slices.Index(parts, ".git")
	switch {
	case slices.Contains(parts, ".husky"):
		return "git hooks", approval
	case at < 0:
		return "", silent
	case slices.Contains(parts[at:], "hooks"):
		return "git hooks", approval
	case strings.HasPrefix(parts[len(parts)-1], "config"):
		return "git configuration", approval
	}
	return "", silent
}
