package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/demo"
	"github.com/honestty/honestty/internal/proc"
	"github.com/honestty/honestty/tools/fdmeter"
)

// fdsShown is how many processes are listed when none was named.
const fdsShown = 20

// shortestWatch keeps --watch from taking a core for itself.
const shortestWatch = 100 * time.Millisecond

// An fdsCall is one call of fds.
type fdsCall struct {
	app   *app
	meter *fdmeter.Meter

	json, all, user, types, tree, diff, public bool

	pane   int
	byPane bool
	watch  time.Duration
	into   string // where the snapshot goes; "": nowhere
	serve  string // where OpenMetrics are served; "": nowhere
	warn   string
	ratio  float64 // of warn; 0: nobody wants to be warned

	births map[int]uint64          // of the processes named by pid
	before map[int]fdmeter.Reading // of the block before, with --watch
	told   map[string]bool         // warnings of earlier blocks
	passed bool                    // whether a line was passed in any block
}

// neverSelects reports whether a process runs this program, which waits on epoll,
// kqueue or poll. One helper of it does not: the old way that the demo shows.
func neverSelects(pid int) bool {
	args, same := proc.SameProgram(pid)
	return same && !(len(args) > 3 && args[1] == "demo" && args[2] == "--as" && args[3] == demo.RoleSelect)
}

func (a *app) cmdFds() *cobra.Command {
	c := &fdsCall{app: a, meter: &fdmeter.Meter{NoSelect: neverSelects}}
	cmd := &cobra.Command{
		Use:   "fds [flags] [PID|NAME|/PATTERN/]...",
		Short: "Count open descriptors, and say how near each process is to its limit",
		Long: `fds counts the open descriptors of the processes named by pid, by name, or by a
regular expression between slashes that their command line matches, and by type.
Without a name it lists the ` + strconv.Itoa(fdsShown) + ` processes nearest to a limit; --all lists every one,
--user those of the user who asks, and --pane those of a pane of a window. The
lines are 1024, which select() cannot pass and which counts by the highest
number, the soft limit (RLIMIT_NOFILE) and the hard one.

--openmetrics serves the figures for Prometheus until it is ended (Ctrl+C). An
address without a host is this machine only (127.0.0.1). One that others can
reach is refused unless --public is given too: it tells everybody the names of
the processes.

Success means that every descriptor of every process named, or of the pane, was
counted. What could not be read is shown as ? with the reason, never as 0, and
the exit code is 1 then. With --warn it is 1 as well when that part of a line is
used. It is 2 on wrong use.`,
		Example: "  honestty fds\n  honestty fds 4711 node /server[.]js/ --types\n  honestty fds --pane 2 --watch 5s --warn 80%\n" +
			"  honestty fds node --snapshot before.json\n  honestty fds --diff before.json after.json\n  honestty fds --all --openmetrics :9177",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			c.byPane = cmd.Flags().Changed("pane")
			if err := c.check(cmd, args); err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
			defer stop()
			return c.run(ctx, args)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&c.json, "json", false, "print one JSON object")
	f.BoolVar(&c.all, "all", false, "every process")
	f.BoolVar(&c.user, "user", false, "the processes of this user")
	f.IntVar(&c.pane, "pane", 0, "the processes of this pane of the window; 0 is the focused one")
	f.BoolVar(&c.types, "types", false, "show what the descriptors lead to, and which of them a child inherits")
	f.BoolVar(&c.tree, "tree", false, "with all descendants, and their sum")
	f.Var((*pause)(&c.watch), "watch", "count again after this time, as 5s, until ended")
	f.StringVar(&c.into, "snapshot", "", "write every descriptor to this file as JSON; - is stdout")
	f.BoolVar(&c.diff, "diff", false, "compare two files of --snapshot, the earlier one first")
	f.StringVar(&c.serve, "openmetrics", "", "serve the figures at this address, as :9177")
	f.BoolVar(&c.public, "public", false, "let --openmetrics listen where others can reach it")
	f.StringVar(&c.warn, "warn", "", "exit with 1 when this part of a line is used, as 80%")
	return cmd
}

// A pause is a flag that takes a time, or a number of seconds.
type pause time.Duration

func (p *pause) String() string { return time.Duration(*p).String() }

// Type is the word for it in the help.
func (*pause) Type() string { return "duration" }

func (p *pause) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil {
		if d, err = time.ParseDuration(text + "s"); err != nil {
			return errors.New("it takes a time, as 5s")
		}
	}
	*p = pause(d)
	return nil
}

// check refuses what does not go together, before anything is read.
func (c *fdsCall) check(cmd *cobra.Command, args []string) error {
	sources := 0
	for _, given := range []bool{len(args) > 0 && !c.diff, c.all, c.user, c.byPane, c.diff} {
		if given {
			sources++
		}
	}
	outputs := 0
	for _, given := range []bool{c.diff, c.serve != "", c.watch != 0, c.into != ""} {
		if given {
			outputs++
		}
	}
	switch {
	case sources > 1:
		return usagef("give processes, --all, --user, --pane or --diff, and only one of them")
	case c.diff && len(args) != 2:
		return usagef("--diff compares two files, the earlier one first")
	case outputs > 1:
		return usagef("--watch, --snapshot, --diff and --openmetrics exclude each other")
	case c.diff && (c.types || c.tree || c.warn != ""), c.serve != "" && (c.json || c.warn != ""):
		return usagef("--%s does not take these flags", map[bool]string{true: "diff", false: "openmetrics"}[c.diff])
	case c.into == "-" && c.json:
		return usagef("--snapshot - prints JSON already")
	case c.tree && sources == 0:
		return usagef("--tree needs processes, --all, --user or --pane")
	case cmd.Flags().Changed("watch") && c.watch < shortestWatch:
		return usagef("--watch takes %v or more", shortestWatch)
	case c.public && c.serve == "":
		return usagef("--public is for --openmetrics")
	}
	for _, arg := range args {
		if pid, err := strconv.Atoi(arg); err == nil && pid <= 0 && !c.diff {
			return usagef("%d is not a pid", pid)
		}
	}
	if _, err := c.patterns(args); err != nil {
		return err
	}
	return c.parseWarn()
}

// parseWarn reads a part of a line: 80%, or 80.
func (c *fdsCall) parseWarn() error {
	if c.warn == "" {
		return nil
	}
	percent, err := strconv.ParseFloat(strings.TrimSuffix(c.warn, "%"), 64)
	if err != nil || !(percent > 0 && percent <= 100) {
		return usagef("--warn takes a part of a line, as 80%%")
	}
	c.ratio = percent / 100
	return nil
}

func (c *fdsCall) run(ctx context.Context, args []string) error {
	p, err := start()
	if err != nil {
		return err
	}
	defer p.Close()
	switch {
	case c.diff:
		return c.compare(args[0], args[1])
	case c.serve != "":
		return c.listen(ctx, args)
	case c.watch != 0:
		return c.follow(ctx, args)
	}
	r, err := c.read(ctx, args)
	if err != nil {
		return err
	}
	if c.into != "" {
		if err := c.keep(r); err != nil {
			return err
		}
	}
	if c.into != "-" {
		if err := c.print(r); err != nil {
			return err
		}
	}
	return c.judge(r)
}

// judge turns a report into the end of the command.
func (c *fdsCall) judge(r fdsReport) error {
	c.warnOf(r)
	if err := uncounted(r); err != nil {
		return err
	}
	if c.passed {
		return &codeError{exitNotComplete}
	}
	return nil
}

// warnOf says once on stderr of every line of which too much is used.
func (c *fdsCall) warnOf(r fdsReport) {
	for _, a := range r.passed {
		c.passed = true
		key := fmt.Sprint(a.PID, a.Line.Kind)
		if c.told[key] {
			continue
		}
		if c.told == nil {
			c.told = map[string]bool{}
		}
		c.told[key] = true
		fmt.Fprintln(c.app.err, "honestty: "+printable(a.Words()))
	}
}

// follow prints a block after every pause, until it is ended or the processes
// named are gone.
func (c *fdsCall) follow(ctx context.Context, args []string) error {
	tick := time.NewTicker(c.watch)
	defer tick.Stop()
	for first := true; ; first = false {
		r, err := c.read(ctx, args)
		if err != nil {
			return err
		}
		if err := c.printBlock(r, first); err != nil {
			return err
		}
		c.warnOf(r)
		c.before = map[int]fdmeter.Reading{}
		for _, p := range r.Processes {
			c.before[p.PID] = p
		}
		select {
		case <-tick.C:
			continue
		case <-ctx.Done():
		}
		return c.judge(r)
	}
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

// byNearness sorts readings, the nearest to a line first.
func byNearness(readings []fdmeter.Reading) {
	slices.SortStableFunc(readings, func(a, b fdmeter.Reading) int { return cmp.Compare(nearness(b), nearness(a)) })
}

// uncounted is the error when a process that was pointed at has no count.
func uncounted(r fdsReport) error {
	var bad []string
	for _, p := range r.Processes {
		if r.named && !p.Count.Known() {
			bad = append(bad, fmt.Sprintf("pid %d: %s", p.PID, p.Count.Reason()))
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return fmt.Errorf("not counted: %s", strings.Join(bad, ", "))
}
