package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/fdmeter"
)

// print writes a report as JSON or as text.
func (c *fdsCall) print(r fdsReport) error {
	if c.json {
		return c.app.printJSON(r)
	}
	w := &steady{Writer: c.app.out}
	c.table(w, r)
	for _, p := range r.Processes {
		c.printTypes(w, p)
		if r.named {
			printReasons(w, p)
		}
	}
	for _, t := range r.Trees {
		printTree(w, t)
	}
	if r.Unseen > 0 {
		fmt.Fprintf(w, "%s could not be looked at: there may be more\n", processCount(r.Unseen))
	}
	if r.Hidden {
		fmt.Fprintln(w, "processes of other users are hidden from this user (hidepid): there may be more")
	}
	fmt.Fprintln(w, machine(r.System))
	if w.err != nil {
		return fmt.Errorf("write the report: %w", w.err)
	}
	return nil
}

// machine is the line of what all processes share, with the reason where a
// figure is not known.
func machine(s fdmeter.System) string {
	text := fmt.Sprintf("machine: files %s of %s, terminals %s of %s", count(s.Files), count(s.FilesMax), count(s.PTYs), count(s.PTYsMax))
	for _, v := range []fdmeter.Value{s.Files, s.FilesMax, s.PTYs, s.PTYsMax} {
		if count(v) == "?" {
			return text + " (" + v.Reason() + ")"
		}
	}
	return text
}

// printReasons says why a row of the table has a ?.
func printReasons(out io.Writer, p fdmeter.Reading) {
	if !p.Count.Known() {
		fmt.Fprintf(out, "pid %d: not counted: %s\n", p.PID, p.Count.Reason())
		return
	}
	if n, _ := p.Count.Get(); !p.Highest.Known() && n > 0 {
		fmt.Fprintf(out, "pid %d: highest number ? (%s): %s or more, for %s are open\n", p.PID, p.Highest.Reason(), outcome.Count(n-1), outcome.Count(n))
	}
	if count(p.Soft) == "?" {
		fmt.Fprintf(out, "pid %d: soft limit ? (%s)\n", p.PID, p.Soft.Reason())
	}
}

// printBlock writes one report of --watch. On a terminal it takes the place of
// the one before; elsewhere an empty line lies between them.
func (c *fdsCall) printBlock(r fdsReport, first bool) error {
	if !c.json {
		lead := "\n"
		if first {
			lead = ""
		}
		if f, ok := c.app.out.(*os.File); ok && isTerminal(f) {
			lead = "\x1b[H\x1b[2J"
		}
		if _, err := fmt.Fprintf(c.app.out, "%s%s, again after %v\n", lead, r.At.Format("2006-01-02 15:04:05"), c.watch); err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
	}
	return c.print(r)
}

// A steady writer remembers its first error.
type steady struct {
	io.Writer
	err error
}

func (s *steady) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.Writer.Write(p)
	s.err = err
	return n, err
}

// table writes a row for each process. With --watch it says what changed since
// the block before.
func (c *fdsCall) table(out io.Writer, r fdsReport) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	change := ""
	if c.watch != 0 {
		change = "change\t"
	}
	fmt.Fprintln(w, "pid\tfds\t"+change+"highest\tsoft limit\tnearest line\t process")
	for _, p := range r.Processes {
		if c.watch != 0 {
			change = c.change(p) + "\t"
		}
		indent := strings.Repeat("  ", r.depths[p.PID])
		fmt.Fprintf(w, "%d\t%s\t%s%s\t%s\t%s\t %s%s\n", p.PID, count(p.Count), change, count(p.Highest), count(p.Soft), nearestLine(p), indent, printable(p.Name))
	}
	_ = w.Flush() // out keeps the error
}

// change is how the count of a process moved since the block before.
func (c *fdsCall) change(p fdmeter.Reading) string {
	was, ok := c.before[p.PID]
	before, known := was.Count.Get()
	now, still := p.Count.Get()
	switch {
	case c.before == nil || ok && (!known || !still):
		return "?"
	case !ok || was.Birth != p.Birth:
		return "new"
	}
	return fmt.Sprintf("%+d", now-before)
}

func nearestLine(p fdmeter.Reading) string {
	l, ok := fdmeter.Nearest(p)
	if !ok {
		return "?"
	}
	ratio, _ := l.Ratio()
	floor := ""
	if l.Kind == fdmeter.LineSelect && !p.Highest.Known() {
		floor = "≥" // the number is not known, and the count is a floor for it
	}
	return fmt.Sprintf("%s %4s", l.Name, fmt.Sprintf("%s%.0f%%", floor, ratio*100))
}

// printTypes writes the breakdown of one process, the most frequent first, and
// with --types what the descriptors lead to.
func (c *fdsCall) printTypes(out io.Writer, p fdmeter.Reading) {
	if p.Types == nil {
		return
	}
	b := p.Types
	if !b.Listed.Known() {
		fmt.Fprintf(out, "pid %d:  types ? (%s)\n", p.PID, b.Listed.Reason())
		return
	}
	kinds := make([]fdmeter.Kind, 0, len(b.Counts))
	for k := range b.Counts {
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(x, y fdmeter.Kind) int {
		return cmp.Or(cmp.Compare(b.Counts[y], b.Counts[x]), cmp.Compare(x, y))
	})
	fmt.Fprintf(out, "pid %d:", p.PID)
	for _, k := range kinds {
		fmt.Fprintf(out, "  %s %d", k, b.Counts[k])
	}
	if b.NotInspected > 0 {
		fmt.Fprintf(out, "  not looked at %d", b.NotInspected)
	}
	fmt.Fprintln(out)
	if c.types {
		printTargets(out, b)
	}
}

// printTargets writes what the descriptors of a process lead to: sockets by
// their peers, everything else by its target.
func printTargets(out io.Writer, b *fdmeter.Breakdown) {
	leakable := map[int]bool{}
	for _, fd := range b.Leakable() {
		leakable[fd.Number] = true
	}
	groups := slices.DeleteFunc(b.Groups(), func(g fdmeter.Group) bool { return g.Kind == fdmeter.KindSocket })
	groups = append(groups, b.Peers()...)
	slices.SortStableFunc(groups, func(x, y fdmeter.Group) int { return y.Count - x.Count })
	for _, g := range groups {
		leaks := 0
		for _, n := range g.FDs {
			if leakable[n] {
				leaks++
			}
		}
		mark := ""
		if leaks > 0 {
			mark = fmt.Sprintf("  (a child inherits %d)", leaks)
		}
		fmt.Fprintf(out, "%8d  %-8s  %s%s\n", g.Count, g.Kind, printable(g.Target), mark)
	}
	if b.FlagsUnknown > 0 {
		fmt.Fprintf(out, "       ?  of %d nobody can tell whether a child inherits them\n", b.FlagsUnknown)
	}
}

func printTree(out io.Writer, t fdsTree) {
	holds := "hold"
	if len(t.Members) == 1 {
		holds = "holds"
	}
	held := holds + " " + outcome.Count(t.AtLeast)
	if t.Unknown > 0 {
		held = fmt.Sprintf(holds+" ? (%s): %d not counted, the others %s", t.Count.Reason(), t.Unknown, outcome.Count(t.AtLeast))
	}
	more := ""
	if !t.complete {
		more = "; not every process could be looked at"
	}
	fmt.Fprintf(out, "tree of %d: %s %s%s\n", t.PID, processCount(len(t.Members)), held, more)
}

func processCount(n int) string {
	if n == 1 {
		return "1 process"
	}
	return outcome.Count(int64(n)) + " processes"
}

func count(v fdmeter.Value) string {
	n, ok := v.Get()
	switch {
	case ok:
		return outcome.Count(n)
	case v.Cause() == fdmeter.Unlimited:
		return v.String()
	}
	return "?"
}

// printable shows a name from outside without its control characters, nor
// those that turn the direction of what is written.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < 0x20, r >= 0x7F && r < 0xA0, r == 0x2028, r == 0x2029, r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069:
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

var errNotCompared = errors.New("not every descriptor could be compared")
