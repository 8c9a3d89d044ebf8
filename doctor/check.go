package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// A Verdict is what a check came to. The zero Verdict is Unknown.
type Verdict uint8

const (
	Unknown   Verdict = iota // it could not be told
	OK                       // looked at, and in order
	Attention                // works, and will not for long, or not in every case
	Failure                  // something does not work now
)

var verdictWords = [...]string{Unknown: "unknown", OK: "ok", Attention: "attention", Failure: "failure"}

func (v Verdict) String() string {
	if int(v) < len(verdictWords) {
		return verdictWords[v]
	}
	return verdictWords[Unknown]
}

// MarshalJSON writes the word.
func (v Verdict) MarshalJSON() ([]byte, error) { return json.Marshal(v.String()) }

// severity orders verdicts: what is not known stands between ok and attention.
func (v Verdict) severity() int {
	return map[Verdict]int{OK: 0, Unknown: 1, Attention: 2, Failure: 3}[v]
}

// A Check is one thing that was looked at.
type Check struct {
	Name     string   `json:"name"`
	Verdict  Verdict  `json:"verdict"`
	Evidence []string `json:"evidence"` // what was seen; never empty
	Why      string   `json:"why"`      // what it means
	Remedy   string   `json:"remedy"`   // what to do; "" when the verdict is OK
}

// sees adds a piece of evidence.
func (c *Check) sees(format string, args ...any) {
	c.Evidence = append(c.Evidence, fmt.Sprintf(format, args...))
}

// finds takes a finding. The worst one gives the verdict, why and remedy; of
// two that are as bad, the first.
func (c *Check) finds(v Verdict, why, remedy string) {
	if c.Why != "" && v.severity() <= c.Verdict.severity() {
		return
	}
	c.Verdict, c.Why, c.Remedy = v, why, remedy
	if v == OK {
		c.Remedy = ""
	}
}

// Run runs all checks, in a fixed order. What ctx ends before it was run is
// unknown.
func Run(ctx context.Context, env Env) []Check {
	env = env.filled()
	var out []Check
	for _, c := range []struct {
		name string
		run  func(context.Context, Env, *Check)
	}{
		{"limits", limits},
		{"select", selectExposure},
		{"terminal pool", pool},
		{"space", space},
		{"clipboard", clipboard},
		{"terminal", terminal},
		{"waiting", waiting},
		{"leftovers", leftovers},
		{"outlived", outlived},
		{"hermes", hermes},
	} {
		check := Check{Name: c.name}
		if ctx.Err() == nil {
			c.run(ctx, env, &check)
		}
		if err := ctx.Err(); err != nil {
			check.sees("not finished: %v", err)
			check.finds(Unknown, "The check was ended before it had looked at everything.", "Run it again and let it finish.")
		}
		if len(check.Evidence) == 0 {
			check.sees("nothing was seen")
		}
		out = append(out, check)
	}
	return out
}

// Worst returns the worst verdict, for an exit code. It is Unknown for none.
func Worst(checks []Check) Verdict {
	if len(checks) == 0 {
		return Unknown
	}
	worst := OK
	for _, c := range checks {
		if c.Verdict.severity() > worst.severity() {
			worst = c.Verdict
		}
	}
	return worst
}

// Lines renders the checks as text.
func Lines(checks []Check) []string {
	width := 0
	for _, c := range checks {
		width = max(width, len(c.Name))
	}
	counts := map[Verdict]int{}
	var out []string
	for _, c := range checks {
		counts[c.Verdict]++
		out = append(out, fmt.Sprintf("%-9s  %-*s  %s", c.Verdict, width, c.Name, c.Why))
		for _, e := range c.Evidence {
			out = append(out, "             saw: "+e)
		}
		if c.Remedy != "" {
			out = append(out, "             do:  "+c.Remedy)
		}
	}
	var sum []string
	for _, v := range []Verdict{OK, Attention, Failure, Unknown} {
		sum = append(sum, fmt.Sprintf("%d %s", counts[v], v))
	}
	return append(out, fmt.Sprintf("%d checks: %s", len(checks), strings.Join(sum, ", ")))
}

// JSON renders the checks as one object.
func JSON(checks []Check) ([]byte, error) {
	if checks == nil {
		checks = []Check{}
	}
	return json.Marshal(struct {
		Verdict Verdict `json:"verdict"`
		Checks  []Check `json:"checks"`
	}{Worst(checks), checks})
}

// clean shows text from outside without its control characters, and cut where
// it is long.
func clean(s string) string {
	const longest = 120
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7F && r < 0xA0 || r == '\u2028' || r == '\u2029' {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if runes := []rune(s); len(runes) > longest {
		return string(runes[:longest-1]) + "…"
	}
	return s
}
