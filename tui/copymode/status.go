package copymode

import (
	"strings"

	"github.com/honestty/honestty/outcome"
)

// A Status is what the bar says of copy mode.
type Status struct {
	Line, Lines int    // the cursor's row, from 1, of how many
	Matches     string // "3 of 17 matches", "10,000+ matches", "no match", "searching"; "" without a search
	Pattern     string // with the / or ? before it
	Typing      bool   // the pattern is being typed; the text cursor is behind it
	Error       string // why the pattern is no regular expression
	Selected    string // "12 lines selected"
	Count       int    // typed so far, 0 for none
	Notice      string // what the last call has to say
	Warning     bool   // the notice tells of a loss or a mistake
}

// String is the whole status in one line, what matters now in front: a bar that
// is too narrow cuts the end.
func (s Status) String() string {
	line := "line " + outcome.Count(int64(s.Line)) + " of " + outcome.Count(int64(s.Lines))
	order := []string{line, s.Selected, s.Matches, s.Pattern, s.Error, s.Notice}
	switch {
	case s.Typing: // who types sees what
		order = []string{s.Pattern, s.Error, s.Matches, line, s.Selected, s.Notice}
	case s.Warning:
		order = []string{s.Notice, line, s.Selected}
	}
	parts := []string{"copy"}
	for _, p := range order {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if s.Count > 0 {
		parts = append(parts, outcome.Count(int64(s.Count)))
	}
	return strings.Join(parts, "  ")
}

// Status returns what the bar says.
func (m *Mode) Status() Status {
	row := m.rowOf(m.cursor.Line)
	s := Status{
		Line: row + 1, Lines: max(m.last, row) + 1, Count: m.count,
		Typing: m.prompt.open, Notice: m.notice, Warning: m.warning,
		Selected: m.selectedText(),
	}
	sign, source := "/", ""
	if m.search.pat != nil {
		source = m.search.pat.source
		s.Matches = m.matches()
	}
	if m.search.backward {
		sign = "?"
	}
	if p := &m.prompt; p.open {
		source = string(p.text)
		if sign = "/"; p.backward {
			sign = "?"
		}
		if p.err != nil {
			s.Error = ErrPattern.Error() + ": " + reason(p.err)
			s.Matches = ""
		}
	}
	if source != "" || s.Typing {
		s.Pattern = sign + source
	}
	return s
}

// matches says how many matches there are and which of them the cursor is on.
// "+" says that there may be more.
func (m *Mode) matches() string {
	found, tail, whole := m.search.all(m.r.Buffer, m.cut)
	total := len(found) + len(tail)
	more := ""
	switch {
	case total == 0 && (whole || m.search.none):
		return "no match"
	case total == 0 || m.search.seek.active:
		return "searching"
	case total > maxFound:
		total, more = maxFound, "+"
	case !whole:
		more = "+"
	}
	word := " matches"
	if total == 1 && more == "" {
		word = " match"
	}
	count := outcome.Count(int64(total)) + more + word
	n := countBefore(found, tail, Pos{m.cursor.Line, m.cursor.Col + 1})
	if n > 0 && n <= total && nth(found, tail, n-1).contains(m.cursor) {
		return outcome.Count(int64(n)) + " of " + count
	}
	return count
}

// countedRows is how many rows of a selection are counted as lines for the
// status: more than anybody reads off, few enough for each frame.
const countedRows = 4096

// selectedText says how much is selected, and what of it was cut.
func (m *Mode) selectedText() string {
	if m.sel.kind == NoSelection {
		return ""
	}
	s := m.selected()
	text := ""
	switch rows := s.to.row - s.from.row + 1; {
	case m.sel.kind == Block:
		text = outcome.Count(int64(s.to.col-s.from.col+1)) + " × " + outcome.Count(int64(rows)) + " selected"
	case rows > countedRows:
		text = outcome.Count(countedRows) + "+ lines selected"
	default:
		n := int64(1)
		for row := s.from.row + 1; row <= s.to.row; row++ {
			if !m.r.Wrapped(row) {
				n++
			}
		}
		text = plural(n, "line") + " selected"
	}
	if m.sel.lost > 0 {
		text += ", " + outcome.Count(m.sel.lost) + " more cut"
	}
	return text
}

// plural writes a count and its word.
func plural(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return outcome.Count(n) + " " + word + "s"
}
