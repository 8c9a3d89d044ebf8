package danger

import (
	"strings"

	"github.com/honestty/honestty/internal/shellwords"
)

func (x *call) chmod() {
	recursive := x.has("R", "--recursive")
	for i, w := range x.operands() {
		if i == 0 && x.name == "chmod" {
			continue
		}
		if at, _, known := x.where(w); known && recursive && isVital(at) {
			x.never(ruleSystem, "it changes the permissions of everything below a directory that the system or a person lives in")
		} else if known && guards(at) != "" {
			x.ask(ruleProtected, "it changes permissions of "+guards(at))
		}
	}
	if x.name == "chmod" && opensToAll(x.mode()) {
		x.ask(ruleOpen, "everybody on the machine may then write there")
	}
}

// mode is the mode that chmod sets: the first word that is no option. A mode
// such as -w looks like one and takes away.
func (x *call) mode() string { return x.first() }

// opensToAll reports whether a mode lets others write.
func opensToAll(mode string) bool {
	digits := strings.TrimLeft(mode, "0")
	if digits != "" && strings.Trim(mode, "01234567") == "" {
		other := mode[len(mode)-1]
		return other == '2' || other == '3' || other == '6' || other == '7'
	}
	for part := range strings.SplitSeq(mode, ",") {
		i := strings.IndexAny(part, "+=")
		if i < 0 {
			continue
		}
		who, what := part[:i], part[i+1:]
		if strings.ContainsAny(who, "ao") && strings.Contains(what, "w") {
			return true
		}
	}
	return false
}

func (x *call) chown() {
	if !x.has("R", "--recursive") {
		return
	}
	for i, w := range x.operands() {
		if i == 0 && !x.has("--reference") {
			continue
		}
		if at, _, known := x.where(w); known && isVital(at) {
			x.never(ruleSystem, "it changes the owner of everything below a directory that the system or a person lives in")
		}
	}
	x.ask(ruleOwner, "it changes the owner of everything below")
}

// writes looks at the commands that write to paths in their words.
func (x *call) writes() {
	ops := x.operands()
	switch x.name {
	case "sed", "perl":
		if !x.inPlace() {
			return
		}
	case "cp", "mv", "install", "ln", "rsync", "scp":
		if x.name == "rsync" && x.has("--delete", "--delete-after", "--delete-before", "--delete-excluded", "--remove-source-files") {
			x.ask(ruleRecursive, "rsync deletes what the other side does not have")
		}
		if x.name == "mv" {
			x.moves(ops)
		}
		if w, ok := x.value("-t", "--target-directory"); ok {
			x.writesTo(w, x.name)
		}
		if len(ops) < 2 {
			return
		}
		ops = ops[len(ops)-1:]
	}
	for _, w := range ops {
		x.writesTo(w, x.name)
	}
}

// moves looks at what mv takes away.
func (x *call) moves(ops []shellwords.Word) {
	for _, w := range ops[:max(len(ops)-1, 0)] {
		at, _, known := x.where(w)
		switch {
		case known && isVital(at):
			x.never(ruleSystem, "it moves away a directory that the system or a person lives in")
		case known && guards(at) != "":
			x.ask(ruleProtected, "it moves something out of "+guards(at))
		}
	}
}

// inPlace reports whether sed or perl writes back into its files.
func (x *call) inPlace() bool {
	for _, w := range x.words {
		if w.Text == "--in-place" || strings.HasPrefix(w.Text, "--in-place=") || x.name == "sed" && strings.HasPrefix(w.Text, "-i") {
			return true
		}
		if len(w.Text) > 1 && w.Text[0] == '-' && w.Text[1] != '-' && strings.Contains(w.Text, "i") &&
			strings.Trim(strings.SplitN(w.Text[1:], "i", 2)[0], "nEprsz0laF") == "" {
			return true
		}
	}
	return false
}
