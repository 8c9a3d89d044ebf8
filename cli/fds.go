package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/fdmeter"
)

// fdsShown is how many processes are listed when none was named.
const fdsShown = 20

func (a *app) cmdFds() *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use:   "fds [flags] [PID|NAME]...",
		Short: "Count open descriptors, and say how near each process is to its limit",
		Long: `fds counts the open descriptors of the processes named by pid or by name, and
by type. Without a name it lists the ` + strconv.Itoa(fdsShown) + ` processes nearest to a limit (--all: every
one). The lines are 1024, which select() cannot pass and which counts by the
highest number, and the soft limit (RLIMIT_NOFILE).

Success means that every descriptor of every process named was counted. What
could not be read is shown as ? with the reason, never as 0, and the exit code
is 1 then.`,
		Example: "  honestty fds\n  honestty fds 4711 node --json",
		Args:    cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			return a.fds(args, asJSON, all)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.Flags().BoolVar(&all, "all", false, "without a name: list every process")
	return cmd
}

func (a *app) fds(args []string, asJSON, all bool) error {
	p, err := start()
	if err != nil {
		return err
	}
	defer p.Close()
	m, now := &fdmeter.Meter{}, time.Now()
	var report fdmeter.Report
	if len(args) == 0 {
		report.Processes, err = surveyAll(m, now, all)
	} else {
		report.Processes, err = readNamed(m, now, args)
	}
	if err != nil {
		return err
	}
	report.System = m.System()
	if asJSON {
		enc := json.NewEncoder(a.out)
		enc.SetEscapeHTML(false)
		err = enc.Encode(report)
	} else {
		err = printFds(a.out, report)
	}
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if len(args) == 0 {
		return nil
	}
	return uncounted(report)
}

// surveyAll reads every process and keeps those nearest to a line.
func surveyAll(m *fdmeter.Meter, now time.Time, all bool) ([]fdmeter.Reading, error) {
	procs, scan := m.All()
	if !scan.Listed {
		return nil, fmt.Errorf("list processes: %s", scan.Cause)
	}
	var out []fdmeter.Reading
	for _, p := range procs {
		if r := m.Read(p.PID, now); r.Count.Cause() != fdmeter.Gone {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b fdmeter.Reading) int { return cmp.Compare(nearness(b), nearness(a)) })
	if !all && len(out) > fdsShown {
		out = out[:fdsShown]
	}
	return out, nil
}

// nearness is the ratio of the nearest line; unknown sorts behind everything.
func nearness(r fdmeter.Reading) float64 {
	line, ok := fdmeter.Nearest(r)
	if !ok {
		return -1
	}
	ratio, _ := line.Ratio()
	return ratio
}

func readNamed(m *fdmeter.Meter, now time.Time, args []string) ([]fdmeter.Reading, error) {
	var out []fdmeter.Reading
	for _, arg := range args {
		if pid, err := strconv.Atoi(arg); err == nil {
			if pid <= 0 {
				return nil, usagef("%d is not a pid", pid)
			}
			r := m.ReadTypes(pid, now)
			if r.Count.Cause() == fdmeter.Gone && !r.Count.Known() {
				return nil, fmt.Errorf("no process with pid %d", pid)
			}
			out = append(out, r)
			continue
		}
		procs, scan := m.Find(arg)
		if !scan.Listed {
			return nil, fmt.Errorf("list processes: %s", scan.Cause)
		}
		if len(procs) == 0 {
			return nil, fmt.Errorf("no process named %q%s", arg, notLooked(scan))
		}
		for _, p := range procs {
			out = append(out, m.ReadTypes(p.PID, now))
		}
	}
	return out, nil
}

// notLooked keeps "none found" from reading as "there is none" where some
// could not be looked at.
func notLooked(s fdmeter.Scan) string {
	if n := s.Denied + s.Failed + s.Skipped; n > 0 {
		return fmt.Sprintf(" (%d processes could not be looked at)", n)
	}
	return ""
}

// uncounted is the error when some process has no count.
func uncounted(r fdmeter.Report) error {
	var bad []string
	for _, p := range r.Processes {
		if !p.Count.Known() {
			bad = append(bad, fmt.Sprintf("pid %d: %s", p.PID, p.Count.Reason()))
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return fmt.Errorf("not counted: %s", strings.Join(bad, ", "))
}

func printFds(out io.Writer, r fdmeter.Report) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "pid\tfds\thighest\tsoft limit\tnearest line\t process")
	for _, p := range r.Processes {
		line := "?"
		if l, ok := fdmeter.Nearest(p); ok {
			ratio, _ := l.Ratio()
			line = fmt.Sprintf("%s %3.0f%%", l.Name, ratio*100)
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t %s\n", p.PID, count(p.Count), count(p.Highest), count(p.Soft), line, printable(p.Name))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, p := range r.Processes {
		printTypes(out, p)
		if !p.Count.Known() {
			fmt.Fprintf(out, "pid %d: not counted: %s\n", p.PID, p.Count.Reason())
		}
	}
	s := r.System
	_, err := fmt.Fprintf(out, "machine: files %s of %s, terminals %s of %s\n", count(s.Files), count(s.FilesMax), count(s.PTYs), count(s.PTYsMax))
	return err
}

// printTypes writes the breakdown of one process, the most frequent first.
func printTypes(out io.Writer, p fdmeter.Reading) {
	if p.Types == nil || len(p.Types.Counts) == 0 {
		return
	}
	kinds := make([]fdmeter.Kind, 0, len(p.Types.Counts))
	for k := range p.Types.Counts {
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b fdmeter.Kind) int {
		return cmp.Or(cmp.Compare(p.Types.Counts[b], p.Types.Counts[a]), cmp.Compare(a, b))
	})
	fmt.Fprintf(out, "pid %d:", p.PID)
	for _, k := range kinds {
		fmt.Fprintf(out, "  %s %d", k, p.Types.Counts[k])
	}
	fmt.Fprintln(out)
}

func count(v fdmeter.Value) string {
	n, ok := v.Get()
	if !ok {
		return "?"
	}
	return outcome.Count(n)
}

// printable shows a name from outside without its control characters.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7F && r < 0xA0 {
			return '\uFFFD'
		}
		return r
	}, s)
}
