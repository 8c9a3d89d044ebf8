package terminal

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"github.com/honestty/honestty/internal/shellwords"
	"github.com/honestty/honestty/outcome"
)

// codes says what exit codes of a command mean that are no failure of it, or
// whose number is not an answer by itself. From the manuals of the commands.
var codes = map[string]map[int]string{
	"grep": noMatch, "egrep": noMatch, "fgrep": noMatch, "zgrep": noMatch, "pgrep": {1: "no process matched"},
	"rg": noMatch, "ag": noMatch, "ack": noMatch,
	"diff": differ, "colordiff": differ, "cmp": differ,
	"find": {1: "part of the search could not be done; the rest was"},
	"test": {1: "the condition is false"}, "[": {1: "the condition is false"}, "[[": {1: "the condition is false"},
	"curl": {
		6:  "the host name could not be resolved",
		7:  "the connection could not be made",
		22: "the server answered with an error status",
		28: "curl's own time limit passed",
	},
	"timeout": {124: "timeout(1) stopped the command because its time was up"},
}

var (
	noMatch = map[int]string{1: "no line matched"}
	differ  = map[int]string{1: "the inputs differ"}
)

// Meaning says what the exit code of a shell command means where the code by
// itself would mislead: grep exits with 1 when nothing matched. It returns ""
// where that cannot be known, which is whenever another command than the one
// it would speak of may have given the code. The output is looked at for the
// complaints of cd and sudo.
func Meaning(command string, code int, output string) string {
	if code == 0 {
		return ""
	}
	script := shellwords.Parse(command)
	if script.Problem != "" || len(script.List) == 0 {
		return ""
	}
	if m := byName(script.List, code, output); m != "" {
		return m
	}
	return byNumber(code)
}

// byNumber is what a number means by the convention of shells, whoever gave
// it.
func byNumber(code int) string {
	switch {
	case code == 126:
		return "by convention: a command was found and could not be executed"
	case code == 127:
		return "by convention: a command was not found"
	case code > 128 && code <= 128+64:
		sig := syscall.Signal(code - 128)
		return fmt.Sprintf("by convention 128 + %d: a command was killed by %s", code-128, outcome.SignalName(sig))
	}
	return ""
}

// byName is the meaning that the last command gives to the code.
func byName(l shellwords.List, code int, output string) string {
	last := len(l) - 1
	if !plain(l, last) {
		return ""
	}
	c := l[last].Stages[len(l[last].Stages)-1]
	meaning := ofCommand(c, code, output)
	if meaning == "" {
		return ""
	}
	// A command that failed before && gave the code itself.
	for i := last; i > 0 && l[i].Join == shellwords.AndIf; i-- {
		if !cannotGive(l[i-1], output) {
			return ""
		}
	}
	return meaning
}

// plain reports whether the list ends with a pipeline that gives the code of
// its last command to the shell.
func plain(l shellwords.List, last int) bool {
	if l[last].Background || l[last].Negated {
		return false
	}
	for i, it := range l {
		for _, c := range it.Stages {
			switch {
			case i == last && c.Kind == shellwords.Simple:
			case c.Kind == shellwords.Compound && c.Name == "[[":
			case i == last && c == it.Stages[len(it.Stages)-1]:
				return false
			}
			switch shellwords.Unwrap(c.Words).Name() {
			case "set", "shopt", "trap", "exit", "exec", "return", "source", ".", "eval", "alias", "kill":
				return false // the code may come from elsewhere
			}
			if c.Kind == shellwords.Function {
				return false // a name may be no longer what it was
			}
		}
	}
	return true
}

// cannotGive reports whether a pipeline before && surely succeeded: it cannot
// fail, or it would have said so in the output.
func cannotGive(it shellwords.Item, output string) bool {
	if len(it.Stages) != 1 || it.Negated || it.Join == shellwords.OrIf {
		return false
	}
	c := it.Stages[0]
	if c.Kind != shellwords.Simple || len(c.Redirs) > 0 {
		return false
	}
	for _, w := range append(c.Assigns, c.Words...) {
		if len(w.Subs) > 0 {
			return false
		}
	}
	if len(c.Words) == 0 || c.Words[0].Is("true", ":", "echo", "printf") {
		return true
	}
	return c.Words[0].Is("cd", "pushd") && !strings.Contains(output, "cd:") && !strings.Contains(output, "pushd:")
}

// ofCommand is what a code of one command means.
func ofCommand(c *shellwords.Command, code int, output string) string {
	if c.Name == "[[" {
		return codes["[["][code]
	}
	w := shellwords.Unwrap(c.Words)
	for _, by := range w.By {
		switch by {
		case "sudo", "doas":
			if strings.Contains(output, by+":") || len(c.Redirs) > 0 {
				return "" // it may have refused, and given the code itself
			}
		case "xargs", "watch", "flock", "strace", "chronic":
			return "" // these have codes of their own
		case "timeout", "gtimeout":
			if m := codes["timeout"][code]; m != "" {
				return m
			}
		}
	}
	name := w.Name()
	if name == "busybox" || name == "" {
		return ""
	}
	if name == "git" {
		return ofGit(w.Words[1:], code)
	}
	meaning := codes[name][code]
	if meaning == "" {
		return ""
	}
	return name + ": " + meaning
}

// ofGit knows the two of git's commands whose 1 is an answer.
func ofGit(words []shellwords.Word, code int) string {
	if code != 1 {
		return ""
	}
	for i := 0; i < len(words); i++ {
		switch t := words[i].Text; {
		case t == "-C" || t == "-c" || t == "--git-dir" || t == "--work-tree":
			i++
		case strings.HasPrefix(t, "-"):
		case words[i].Is("grep"):
			return "git grep: no line matched"
		case words[i].Is("diff"):
			for _, o := range words[i+1:] {
				if o.Is("--exit-code", "--quiet", "--no-index") {
					return "git diff: the inputs differ"
				}
			}
			return ""
		default:
			return ""
		}
	}
	return ""
}

// startsBackground returns how a command leaves something running behind it,
// "" when it does not as far as its text tells.
func startsBackground(command string) string {
	for _, it := range shellwords.Parse(command).List {
		if it.Background {
			return "&"
		}
		for _, c := range it.Stages {
			if len(c.Words) > 0 && c.Words[0].Is("disown") {
				return "disown"
			}
			for _, by := range shellwords.Unwrap(c.Words).By {
				if by == "nohup" || by == "setsid" {
					return by
				}
			}
		}
	}
	return ""
}

// signalMeaning says who did not send the signal that ended a command.
func signalMeaning(sig syscall.Signal, stopped bool) string {
	switch {
	case sig == 0 || stopped:
		return ""
	case sig == syscall.SIGKILL:
		return "killed by SIGKILL, which was not sent from here: somebody else or the kernel, when memory is short, did"
	case sig == syscall.SIGPIPE:
		return "killed by SIGPIPE: it wrote to a pipe whose reader had gone"
	}
	return "killed by " + outcome.SignalName(sig) + ", which was not sent from here (signal " + strconv.Itoa(int(sig)) + ")"
}
