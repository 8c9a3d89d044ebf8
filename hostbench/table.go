package hostbench

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Title is a host with its version.
func (h HostInfo) Title() string {
	if h.Version == "" {
		return h.Name
	}
	return h.Name + " " + h.Version
}

// short is a cell in a few words.
func (c Cell) short() string {
	switch c.State {
	case StateKept, StateShort, StateNotAsked:
		return c.Figure
	case StateUnknown:
		return "not measured"
	}
	return string(c.State)
}

// Text writes the table for people: a block for each measure, a line for each
// host, with what the host said.
func (r *Report) Text(w io.Writer) error {
	wide, figures := 0, 0
	for i, h := range r.Hosts {
		wide = max(wide, utf8.RuneCountInString(h.Title()))
		for _, m := range r.Measures {
			figures = max(figures, utf8.RuneCountInString(m.Cells[i].short()))
		}
	}
	var b strings.Builder
	for n, m := range r.Measures {
		if n > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s: %s\n", m.Name, m.Asks)
		for i, h := range r.Hosts {
			c := m.Cells[i]
			line := fmt.Sprintf("  %-*s  %-*s  %s", wide, h.Title(), figures, c.short(), c.Says)
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Markdown writes the table with a row for each measure and a column for each
// host.
func (r *Report) Markdown(w io.Writer) error {
	var b strings.Builder
	row := func(first string, cell func(i int) string) {
		b.WriteString("| " + first + " |")
		for i := range r.Hosts {
			b.WriteString(" " + strings.ReplaceAll(cell(i), "|", `\|`) + " |")
		}
		b.WriteByte('\n')
	}
	row(fmt.Sprintf("asked, %d runs a tail", r.Runs), func(i int) string { return r.Hosts[i].Title() })
	row("---", func(int) string { return "---" })
	for _, m := range r.Measures {
		row(m.Name, func(i int) string { return m.Cells[i].short() })
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Kept reports whether our own program did all that was asked of it, and
// whether every host that was named could be measured.
func (r *Report) Kept(named bool) bool {
	for i, h := range r.Hosts {
		own := h.Name == ours || h.Name == ownRun{}.name()
		for _, m := range r.Measures {
			switch s := m.Cells[i].State; {
			case own && s != StateKept && s != StateNotAsked,
				named && (s == StateNotInstalled || s == StateNotMeasured || s == StateUnknown):
				return false
			}
		}
	}
	return true
}
