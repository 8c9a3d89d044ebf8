package shellwords

import (
	"path"
	"strings"
)

// A wrapper is a command that runs the command in its arguments.
type wrapper struct {
	short    string   // options whose value follows
	long     []string // the same, spelled out
	operands int      // words before the command
	lookup   string   // options with which nothing is run
	assigns  bool     // NAME=value may precede the command
	split    string   // the option whose value is a command line
}

// wrappers is from the manuals of sudo, GNU coreutils, util-linux, findutils
// and bash.
var wrappers = map[string]wrapper{
	"sudo":       {short: "ughpCrtTUDRa", long: []string{"user", "group", "host", "prompt", "chdir", "chroot", "role", "type", "other-user", "close-from", "command-timeout"}, lookup: "lvkKVe", assigns: true},
	"doas":       {short: "uCa", lookup: "L"},
	"env":        {short: "uCS", long: []string{"unset", "chdir", "split-string"}, assigns: true, split: "S"},
	"nice":       {short: "n", long: []string{"adjustment"}},
	"ionice":     {short: "cnpPu", long: []string{"class", "classdata", "pid"}},
	"nohup":      {},
	"setsid":     {},
	"timeout":    {short: "ks", long: []string{"kill-after", "signal"}, operands: 1},
	"gtimeout":   {short: "ks", long: []string{"kill-after", "signal"}, operands: 1},
	"time":       {short: "of", long: []string{"output", "format"}},
	"command":    {lookup: "vV"},
	"builtin":    {},
	"exec":       {short: "a"},
	"stdbuf":     {short: "ioe", long: []string{"input", "output", "error"}},
	"xargs":      {short: "IiLlnPdaEs", long: []string{"max-args", "max-procs", "max-lines", "delimiter", "arg-file", "replace", "max-chars"}},
	"busybox":    {},
	"toybox":     {},
	"chronic":    {},
	"caffeinate": {short: "tw"},
	"flock":      {short: "wE", long: []string{"timeout", "wait", "conflict-exit-code"}, operands: 1},
	"chroot":     {long: []string{"userspec", "groups"}, operands: 1},
	"taskset":    {operands: 1},
	"chrt":       {operands: 1},
	"watch":      {short: "n", long: []string{"interval"}},
	"strace":     {short: "eopsuEIabOSX"},
}

// Wrapped is a command and what runs it.
type Wrapped struct {
	Words []Word   // the command itself; empty when the wrappers run none
	By    []string // the wrappers, outermost first: "sudo", "env"
}

// Name is the last part of the path of the command, empty when there is none
// or it is not known.
func (w Wrapped) Name() string {
	if len(w.Words) == 0 || !w.Words[0].Known() {
		return ""
	}
	return path.Base(w.Words[0].Text)
}

// Unwrap takes off what only runs another command: sudo, env, nice, timeout.
func Unwrap(words []Word) Wrapped {
	w := Wrapped{Words: words}
	for len(w.Words) > 0 {
		kind, ok := wrappers[w.Name()]
		if !ok {
			break
		}
		w.By = append(w.By, w.Name())
		w.Words = kind.command(w.Words[1:])
		if len(w.By) > maxDepth {
			break
		}
	}
	return w
}

// command returns the words after the wrapper's own.
func (k wrapper) command(words []Word) []Word {
	operands := k.operands
	for i := 0; i < len(words); i++ {
		text := words[i].Text
		switch {
		case text == "--":
			continue
		case strings.HasPrefix(text, "--"):
			name, _, inline := strings.Cut(text[2:], "=")
			if !inline && contains(k.long, name) {
				i++
			}
		case len(text) > 1 && text[0] == '-':
			if strings.ContainsAny(text[1:], k.lookup) && k.lookup != "" && !strings.ContainsAny(text[1:], k.short) {
				return nil
			}
			at := strings.IndexAny(text[1:], k.short)
			if k.short == "" || at < 0 {
				continue
			}
			value := text[1+at+1:]
			if value == "" && i+1 < len(words) {
				i++
				value = words[i].Text
			}
			if k.split != "" && string(text[1+at]) == k.split {
				return append(splitWords(value), words[min(i+1, len(words)):]...)
			}
		case k.assigns && words[i].assigns():
		case operands > 0:
			operands--
		default:
			return words[i:]
		}
	}
	return nil
}

// splitWords reads the words of a command line that env -S would run.
func splitWords(line string) []Word {
	s := Parse(line)
	if len(s.List) == 0 || len(s.List[0].Stages) == 0 {
		return nil
	}
	return s.List[0].Stages[0].Words
}

func contains(of []string, s string) bool {
	for _, o := range of {
		if o == s {
			return true
		}
	}
	return false
}
