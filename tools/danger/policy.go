package danger

import (
	"fmt"
	"slices"
	"strings"

	"github.com/honestty/honestty/internal/shellwords"
	"github.com/honestty/honestty/outcome"
)

// A Mode says what happens to a command that a rule asks about. The zero value
// is ModeAsk.
type Mode uint8

// The modes.
const (
	ModeAsk   Mode = iota // a person is asked
	ModeAllow             // it runs
	ModeDeny              // it is refused
)

var modes = [...]string{"ask", "allow", "deny"}

func (m Mode) String() string {
	if int(m) < len(modes) {
		return modes[m]
	}
	return fmt.Sprintf("invalid(%d)", m)
}

// MarshalText writes the word of the settings.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads the word of the settings.
func (m *Mode) UnmarshalText(text []byte) error {
	i := slices.Index(modes[:], string(text))
	if i < 0 {
		return fmt.Errorf("read the approval mode: %q is none of %s", text, strings.Join(modes[:], ", "))
	}
	*m = Mode(i)
	return nil
}

// A Policy is what a person decided beforehand.
type Policy struct {
	Mode Mode

	// Allow lists names of rules, and globs of commands. A glob allows what
	// matches in a command only where it fits that very part: "git push *" does
	// not allow what follows a ; after it.
	Allow []string

	// Deny lists names of rules, and globs of commands, that are refused. A
	// glob is compared with the whole command and with each part of it.
	Deny []string
}

// A Verdict is what to do with a command. The zero value is Refuse.
type Verdict uint8

// The verdicts.
const (
	Refuse Verdict = iota
	AskFirst
	Run
)

func (v Verdict) String() string {
	return [...]string{"refuse", "ask", "run"}[min(int(v), int(Run))]
}

// A Decision is what a policy says of a command.
type Decision struct {
	Verdict Verdict
	Rule    string  // the rule that decided; empty with Run
	Why     string  // in words
	Matches []Match // everything that was found, allowed or not
}

// Err is nil unless the verdict is Refuse.
func (d Decision) Err() error {
	if d.Verdict != Refuse {
		return nil
	}
	return &outcome.RefusedError{Rule: d.Rule + ": " + d.Why}
}

// Decide judges a command. Never comes first, then Deny, then Allow, then Mode.
func Decide(p Policy, command string) Decision {
	d := Decision{Verdict: Run, Matches: Classify(command)}
	for _, m := range d.Matches {
		if m.Level == Never {
			return d.with(Refuse, m.Rule, m.Why+"; nothing can allow this")
		}
	}
	for _, m := range d.Matches {
		if slices.Contains(p.Deny, m.Rule) {
			return d.with(Refuse, m.Rule, m.Why+"; the settings deny this")
		}
	}
	if pattern := denied(p.Deny, command); pattern != "" {
		return d.with(Refuse, "denied by the settings", "the pattern "+pattern)
	}
	for _, m := range d.Matches {
		switch {
		case allowed(p.Allow, m):
		case p.Mode == ModeAllow:
		case p.Mode == ModeAsk && d.Verdict == Run:
			d = d.with(AskFirst, m.Rule, m.Why)
		case p.Mode == ModeAsk:
		default:
			return d.with(Refuse, m.Rule, m.Why+"; the settings refuse what would be asked")
		}
	}
	return d
}

func (d Decision) with(v Verdict, rule, why string) Decision {
	d.Verdict, d.Rule, d.Why = v, rule, why
	return d
}

// Gate is Decide in the form that tools take: a rule to ask by, or a refusal.
func Gate(p Policy) func(command string) (ask string, err error) {
	return func(command string) (string, error) {
		d := Decide(p, command)
		if d.Verdict == AskFirst {
			return d.Rule + ": " + d.Why, nil
		}
		return "", d.Err()
	}
}

// CodeGate is Gate for scripts: those of a shell are judged as commands. Of a
// script in another language nothing is known, and only a policy that denies
// what would be asked refuses it.
func CodeGate(p Policy) func(language, code string) (ask string, err error) {
	gate := Gate(p)
	return func(language, code string) (string, error) {
		switch {
		case slices.Contains(shells, language):
			return gate(code)
		case slices.Contains(p.Allow, ruleCode) || p.Mode == ModeAllow:
			return "", nil
		case p.Mode == ModeDeny || slices.Contains(p.Deny, ruleCode):
			return "", &outcome.RefusedError{Rule: ruleCode + ": what it does cannot be told from its text; the settings deny this"}
		}
		return "", nil
	}
}

func allowed(patterns []string, m Match) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return p == m.Rule || glob(p, m.Command) })
}

// denied returns the first pattern that fits the command or a part of it.
func denied(patterns []string, command string) string {
	if len(patterns) == 0 {
		return ""
	}
	texts := []string{strings.TrimSpace(command)}
	var collect func(l shellwords.List)
	collect = func(l shellwords.List) {
		for _, it := range l {
			for _, c := range it.Stages {
				texts = append(texts, c.Text)
				var plain []string
				for _, w := range shellwords.Unwrap(c.Words).Words {
					plain = append(plain, w.Text)
				}
				texts = append(texts, strings.Join(plain, " "))
				for _, w := range slices.Concat(c.Assigns, c.Words) {
					for _, s := range w.Subs {
						collect(s)
					}
				}
				for _, b := range c.Body {
					collect(b)
				}
			}
		}
	}
	collect(shellwords.Parse(command).List)
	for _, p := range patterns {
		for _, t := range texts {
			if t != "" && glob(p, t) {
				return p
			}
		}
	}
	return ""
}

// glob reports whether the pattern fits the whole text. * is any run of
// characters, ? one; everything else is itself. The time is at most their
// lengths multiplied.
func glob(pattern, text string) bool {
	p, t := []rune(pattern), []rune(text)
	i, j, star, from := 0, 0, -1, 0
	for j < len(t) {
		switch {
		case i < len(p) && p[i] == '*':
			star, from = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == t[j]):
			i, j = i+1, j+1
		case star >= 0:
			from++
			i, j = star+1, from
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}
