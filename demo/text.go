package demo

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/honestty/honestty/outcome"
)

// Text writes the part for people.
func (p Part) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n  %s\n", p.Name, p.Title, p.Done)
	wide, counts := 0, 0
	for _, r := range p.Rows {
		wide, counts = max(wide, utf8.RuneCountInString(r.Who)), max(counts, len(r.count()))
	}
	for _, r := range p.Rows {
		way := "old "
		if r.Ours {
			way = "ours"
		}
		shows := r.Shows
		if r.NotRun != "" {
			shows = "not run: " + r.NotRun
		}
		line := fmt.Sprintf("  %s  %-*s  %*s  %s", way, wide, r.Who, counts, r.count(), shows)
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	fmt.Fprintf(&b, "  %s: %s\n", p.Verdict, p.Why)
	_, err := io.WriteString(w, b.String())
	return err
}

// count is the count of a row: "5 of 5", "4" where there should be none, or
// nothing where nothing was counted.
func (r Row) count() string {
	switch {
	case r.Count == nil:
		return ""
	case r.Of == nil || *r.Of == 0:
		return outcome.Count(*r.Count)
	}
	return outcome.Count(*r.Count) + " of " + outcome.Count(*r.Of)
}
