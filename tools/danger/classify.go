package danger

import (
	"slices"
	"strings"

	"github.com/honestty/honestty/internal/shellwords"
)

// A Level is how much a match weighs. The zero value is Ask.
type Level uint8

// The levels.
const (
	Ask   Level = iota // a person decides
	Never              // nobody can allow it
)

func (l Level) String() string {
	if l == Never {
		return "never"
	}
	return "ask"
}

// A Match is a rule that a command falls under.
type Match struct {
	Rule    string // its name: "recursive delete"
	Why     string // what would happen, in words
	Level   Level
	Command string // the part of the command that matched
}

// Classify returns the rules that the command falls under, those of level
// Never first, and each rule once for each part of the command.
func Classify(command string) []Match {
	s := &scan{rules: allRules(), vars: map[string]string{"HOME": home, "IFS": " "}}
	s.script(command)
	slices.SortStableFunc(s.found, func(a, b Match) int { return int(b.Level) - int(a.Level) })
	return s.found
}

// home stands for the home directory, whose path no rule needs to know.
const home = "~"

const (
	maxNested  = 8    // scripts within scripts: sh -c "sh -c …"
	maxMatches = 100  // more say nothing more
	maxScanned = 5000 // simple commands looked at
)

// A scan walks over one command.
type scan struct {
	rules   []rule
	found   []Match
	vars    map[string]string // assignments whose value is known
	dir     string            // the directory after a cd whose target is known, else ""
	nested  int
	scanned int
}

func (s *scan) add(m Match) {
	if len(s.found) < maxMatches && !slices.Contains(s.found, m) {
		s.found = append(s.found, m)
	}
}

// script reads a text that a shell would run.
func (s *scan) script(text string) {
	if s.nested >= maxNested {
		s.add(Match{Rule: ruleUnread, Why: "scripts within scripts, too deep to be read", Command: short(text)})
		return
	}
	s.nested++
	defer func() { s.nested-- }()
	parsed := shellwords.Parse(text)
	if parsed.Problem != "" {
		s.add(Match{Rule: ruleUnread, Why: "it cannot be read whole: " + parsed.Problem, Command: short(text)})
	}
	s.list(parsed.List)
}

// short is the text for a Match that is about all of it.
func short(text string) string {
	const most = 200
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

func (s *scan) list(l shellwords.List) {
	for _, it := range l {
		for i, c := range it.Stages {
			s.command(c, it.Stages[:i])
		}
	}
}

// command looks at one stage of a pipeline. The stages before it feed it.
func (s *scan) command(c *shellwords.Command, before []*shellwords.Command) {
	if s.scanned++; s.scanned > maxScanned {
		s.add(Match{Rule: ruleUnread, Why: "it has more commands than are looked at", Command: short(c.Text)})
		return
	}
	s.substitutions(c)
	x := &call{scan: s, text: c.Text, before: before, redirs: c.Redirs}
	for _, r := range c.Redirs {
		if r.Writes() {
			x.writesTo(s.expand(r.Target), "a redirection")
		}
	}
	if c.Kind == shellwords.Function {
		x.forkBomb(c)
	}
	dir, vars := s.dir, s.vars
	if c.Kind == shellwords.Subshell || len(before) > 0 {
		s.vars = copyOf(vars) // what a subshell changes is gone with it
		defer func() { s.dir, s.vars = dir, vars }()
	}
	for _, l := range c.Body {
		s.list(l)
	}
	if c.Kind != shellwords.Simple {
		return
	}
	s.assign(c)
	x.set(c.Words)
	x.look()
}

func copyOf(m map[string]string) map[string]string {
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

// substitutions looks at the commands within words.
func (s *scan) substitutions(c *shellwords.Command) {
	words := slices.Concat(c.Assigns, c.Words)
	for _, r := range c.Redirs {
		words = append(words, r.Target, r.Here)
	}
	for _, w := range words {
		for _, l := range w.Subs {
			s.list(l)
		}
	}
}

// assign follows NAME=value where the value is known. Only an assignment
// without a command stays.
func (s *scan) assign(c *shellwords.Command) {
	if len(c.Words) > 0 {
		if len(c.Assigns) == 0 && c.Words[0].Is("export", "declare", "local", "readonly", "typeset") {
			for _, w := range c.Words[1:] {
				s.remember(w)
			}
		}
		return
	}
	for _, w := range c.Assigns {
		s.remember(w)
	}
}

func (s *scan) remember(w shellwords.Word) {
	w = s.expand(w)
	name, value, ok := strings.Cut(w.Text, "=")
	switch {
	case !ok:
	case w.Known():
		s.vars[name] = value
	default:
		delete(s.vars, name)
	}
}

// expand replaces the parameters whose values are known.
func (s *scan) expand(w shellwords.Word) shellwords.Word {
	return w.Expand(func(name string) (string, bool) {
		v, ok := s.vars[name]
		return v, ok
	})
}
