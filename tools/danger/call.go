package danger

import (
	"slices"
	"strings"

	"github.com/honestty/honestty/internal/shellwords"
)

// A call is one simple command, its wrappers taken off.
type call struct {
	scan   *scan
	text   string
	before []*shellwords.Command
	redirs []*shellwords.Redir

	by    []string          // wrappers: sudo, xargs
	name  string            // without its folder; "" when it is not known
	words []shellwords.Word // the words after the name, braces spread
}

// set takes the words of the command.
func (x *call) set(words []shellwords.Word) {
	all := make([]shellwords.Word, 0, len(words))
	for _, w := range words {
		spread, whole := x.scan.expand(w).Braces()
		all = append(all, spread...)
		if !whole {
			x.ask(ruleUnread, "its braces make more words than are looked at")
		}
	}
	// An unquoted parameter becomes as many words as its value has.
	if len(all) > 0 && len(words[0].Params) > 0 && all[0].Known() && strings.Contains(all[0].Text, " ") {
		var first []shellwords.Word
		for _, f := range strings.Fields(all[0].Text) {
			first = append(first, shellwords.Literal(f))
		}
		all = append(first, all[1:]...)
	}
	w := shellwords.Unwrap(all)
	x.by, x.name = w.By, w.Name()
	if len(w.Words) > 0 {
		x.words = w.Words[1:]
	}
	if x.name == "" && len(w.Words) > 0 {
		x.ask(ruleUnknown, "which command it runs is not known before it runs")
	}
}

func (x *call) match(rule, why string, level Level) {
	x.scan.add(Match{Rule: rule, Why: why, Level: level, Command: x.text})
}

func (x *call) ask(rule, why string)   { x.match(rule, why, Ask) }
func (x *call) never(rule, why string) { x.match(rule, why, Never) }

// look asks every rule.
func (x *call) look() {
	if x.name == "" {
		x.deletes() // the words may say it without the name
		return
	}
	for _, r := range x.scan.rules {
		if len(r.names) == 0 || slices.Contains(r.names, x.name) {
			r.look(x)
		}
	}
}

// has reports whether an option is among the words, up to a "--". Short ones
// are found within clusters: has("r") in -fr.
func (x *call) has(options ...string) bool {
	for _, w := range x.words {
		if w.Text == "--" {
			return false
		}
		for _, o := range options {
			if isOption(w.Text, o) {
				return true
			}
		}
	}
	return false
}

func isOption(word, option string) bool {
	if len(option) == 1 {
		return len(word) > 1 && word[0] == '-' && word[1] != '-' && strings.Contains(word[1:], option)
	}
	rest, ok := strings.CutPrefix(word, option)
	return ok && (rest == "" || rest[0] == '=')
}

// operands are the words that are no options.
func (x *call) operands() []shellwords.Word {
	var out []shellwords.Word
	only := false
	for _, w := range x.words {
		switch {
		case only || w.Text == "-" || !strings.HasPrefix(w.Text, "-"):
			out = append(out, w)
		case w.Text == "--":
			only = true
		}
	}
	return out
}

// first is the text of the first operand, "" when there is none.
func (x *call) first() string {
	if ops := x.operands(); len(ops) > 0 {
		return ops[0].Text
	}
	return ""
}

// after returns the words behind the first one with this text.
func (x *call) after(text string) []shellwords.Word {
	for i, w := range x.words {
		if w.Text == text {
			return x.words[i+1:]
		}
	}
	return nil
}

// value is the word that follows one of the options, whether in the same word
// or the next.
func (x *call) value(options ...string) (shellwords.Word, bool) {
	for i, w := range x.words {
		for _, o := range options {
			if w.Text == o && i+1 < len(x.words) {
				return x.words[i+1], true
			}
			if rest, ok := strings.CutPrefix(w.Text, o+"="); ok && strings.HasPrefix(o, "--") {
				return shellwords.Literal(rest), true
			}
		}
	}
	return shellwords.Word{}, false
}

// piped reports whether another command feeds this one.
func (x *call) piped() bool { return len(x.before) > 0 }

// fedBy visits the commands that feed this one, those within groups included.
func (x *call) fedBy(visit func(name string, words []shellwords.Word)) {
	for _, c := range x.before {
		x.scan.within(c, visit)
	}
	for _, r := range x.redirs {
		if r.Op == "<" {
			for _, l := range r.Target.Subs {
				x.scan.inList(l, visit)
			}
		}
	}
}

func (s *scan) within(c *shellwords.Command, visit func(name string, words []shellwords.Word)) {
	w := shellwords.Unwrap(c.Words)
	visit(w.Name(), w.Words)
	for _, l := range c.Body {
		s.inList(l, visit)
	}
	for _, word := range c.Words {
		for _, l := range word.Subs {
			s.inList(l, visit)
		}
	}
}

func (s *scan) inList(l shellwords.List, visit func(name string, words []shellwords.Word)) {
	for _, it := range l {
		for _, c := range it.Stages {
			s.within(c, visit)
		}
	}
}

// fetches reports whether something that loads from the network feeds the
// command, in its pipeline or in one of its words.
func (x *call) fetches() bool {
	found := false
	visit := func(name string, _ []shellwords.Word) {
		found = found || slices.Contains([]string{"curl", "wget", "fetch", "aria2c", "http", "https", "xh", "nc", "ncat", "lynx", "w3m", "ftp", "scp"}, name)
	}
	x.fedBy(visit)
	for _, w := range x.words {
		for _, l := range w.Subs {
			x.scan.inList(l, visit)
		}
	}
	return found
}

// input is the text that is known to be fed to the command: a here-document, a
// here-string, or what echo and printf write into its pipe.
func (x *call) input() string {
	var b strings.Builder
	for _, r := range x.redirs {
		switch r.Op {
		case "<<":
			b.WriteString(r.Here.Text + "\n")
		case "<<<":
			b.WriteString(x.scan.expand(r.Target).Text + "\n")
		}
	}
	x.fedBy(func(name string, words []shellwords.Word) {
		if name != "echo" && name != "printf" {
			return
		}
		for _, w := range words[1:] {
			b.WriteString(x.scan.expand(w).Text + " ")
		}
		b.WriteString("\n")
	})
	return b.String()
}
