package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/honestty/honestty/ctl"
	"github.com/honestty/honestty/tools/fdmeter"
)

// An fdsReport is what fds found out at one moment.
type fdsReport struct {
	At        time.Time         `json:"at"`
	Processes []fdmeter.Reading `json:"processes"`
	System    fdmeter.System    `json:"system"`
	Trees     []fdsTree         `json:"trees,omitempty"`
	// Unseen is how many processes could not be looked at when the ones asked
	// for were looked for: there may be more. Hidden says that those of other
	// users are not shown at all, so that nobody knows how many.
	Unseen int  `json:"not_looked_at"`
	Hidden bool `json:"others_hidden"`
	// Warned are the lines of which the part that --warn names is used; null
	// without --warn.
	Warned *[]fdsWarning `json:"warned,omitempty"`

	named  bool // somebody pointed at these processes: each must be counted
	depths map[int]int
	passed []fdmeter.Alert
}

// An fdsTree is a process and all that came from it.
type fdsTree struct {
	PID      int           `json:"pid"`
	Count    fdmeter.Value `json:"count"` // null when one of them could not be counted
	AtLeast  int64         `json:"at_least"`
	Unknown  int           `json:"unknown"` // how many could not be counted
	Members  []int         `json:"members"`
	complete bool
}

// An fdsWarning is a line of which too much is used.
type fdsWarning struct {
	PID  int          `json:"pid"` // 0: the whole machine's
	Name string       `json:"name"`
	Line fdmeter.Line `json:"line"`
}

// found are the processes that a report is about.
type found struct {
	pids  []int // in the order in which they are shown
	named bool
	most  int // how many are shown; 0: all
	scan  fdmeter.Scan
}

// read makes a report.
func (c *fdsCall) read(ctx context.Context, args []string) (fdsReport, error) {
	which, err := c.find(ctx, args)
	if err != nil {
		return fdsReport{}, err
	}
	now := time.Now()
	r := fdsReport{At: now, Processes: []fdmeter.Reading{}, named: which.named, Unseen: which.scan.Unseen(), Hidden: which.scan.Hidden}
	if c.tree || c.byPane {
		which = c.grow(which, &r)
	}
	tables := fdmeter.Sockets{}
	if c.types {
		tables = c.meter.Sockets()
	}
	for _, pid := range which.pids {
		one := c.readOne(pid, now, which.named, tables)
		if !one.Count.Known() && one.Count.Cause() == fdmeter.Gone {
			continue // it ended since it was found
		}
		r.Processes = append(r.Processes, one)
	}
	if len(r.Processes) == 0 && which.named {
		return fdsReport{}, errors.New("the processes have ended")
	}
	if r.depths == nil && !which.named {
		byNearness(r.Processes)
	}
	if which.most > 0 && len(r.Processes) > which.most {
		r.Processes = r.Processes[:which.most]
	}
	r.sum()
	r.System = c.meter.System()
	if c.ratio > 0 {
		r.passed = fdmeter.Alerts(r.Processes, r.System, c.ratio)
		warned := []fdsWarning{}
		for _, a := range r.passed {
			warned = append(warned, fdsWarning{a.PID, a.Name, a.Line})
		}
		r.Warned = &warned
	}
	return r, nil
}

// readOne reads one process, with its types where they are shown.
func (c *fdsCall) readOne(pid int, now time.Time, named bool, tables fdmeter.Sockets) fdmeter.Reading {
	if !named && !c.types {
		return c.meter.Read(pid, now)
	}
	r := c.meter.ReadTypes(pid, now)
	if c.types {
		c.meter.Join(r.Types, tables)
	}
	return r
}

// find looks for the processes that are asked for.
func (c *fdsCall) find(ctx context.Context, args []string) (found, error) {
	var procs []fdmeter.Proc
	var f found
	switch {
	case c.byPane:
		pid, err := c.app.panePID(ctx, c.pane)
		return found{pids: []int{pid}, named: true}, err
	case c.user:
		procs, f.scan = c.meter.OfUser(os.Geteuid())
	case len(args) > 0:
		return c.findNamed(args)
	default:
		procs, f.scan = c.meter.All()
		if !c.all {
			f.most = fdsShown
		}
	}
	if !f.scan.Listed {
		return found{}, fmt.Errorf("list processes: %s", f.scan.Cause)
	}
	for _, p := range procs {
		f.pids = append(f.pids, p.PID)
	}
	return f, nil
}

// findNamed finds the processes of the arguments. One that two arguments name
// is listed once.
func (c *fdsCall) findNamed(args []string) (found, error) {
	patterns, err := c.patterns(args)
	if err != nil {
		return found{}, err
	}
	f := found{named: true}
	for i, arg := range args {
		if pid, err := strconv.Atoi(arg); err == nil {
			if err := c.same(pid); err != nil {
				return found{}, err
			}
			f.pids = append(f.pids, pid)
			continue
		}
		var procs []fdmeter.Proc
		var scan fdmeter.Scan
		what := "named " + strconv.Quote(arg)
		if patterns[i] != nil {
			procs, scan = c.meter.Match(patterns[i])
			what = "that matches " + arg
		} else {
			procs, scan = c.meter.Find(arg)
		}
		if !scan.Listed {
			return found{}, fmt.Errorf("list processes: %s", scan.Cause)
		}
		// Our own command line has the name in it.
		procs = slices.DeleteFunc(procs, func(p fdmeter.Proc) bool { return p.PID == os.Getpid() })
		if len(procs) == 0 {
			return found{}, fmt.Errorf("no process %s%s", what, notLooked(scan))
		}
		for _, p := range procs {
			f.pids = append(f.pids, p.PID)
		}
		f.scan.Denied += scan.Denied
		f.scan.Failed += scan.Failed
		f.scan.Skipped += scan.Skipped
		f.scan.Hidden = f.scan.Hidden || scan.Hidden
	}
	f.pids = unique(f.pids)
	return f, nil
}

// patterns compiles the arguments between slashes; the others are nil.
func (c *fdsCall) patterns(args []string) ([]*regexp.Regexp, error) {
	out := make([]*regexp.Regexp, len(args))
	for i, arg := range args {
		text, ok := strings.CutPrefix(arg, "/")
		text, closed := strings.CutSuffix(text, "/")
		if c.diff || !ok || !closed || len(arg) < 3 {
			continue
		}
		pattern, err := regexp.Compile(text)
		if err != nil {
			return nil, usagef("%s is not a regular expression: %w", arg, err)
		}
		out[i] = pattern
	}
	return out, nil
}

// same reports whether a pid still names the process that it named first.
func (c *fdsCall) same(pid int) error {
	r := c.meter.Read(pid, time.Now())
	birth, seen := c.births[pid]
	switch {
	case !r.Count.Known() && r.Count.Cause() == fdmeter.Gone:
		return fmt.Errorf("no process with pid %d", pid)
	case seen && birth != r.Birth:
		return fmt.Errorf("pid %d belongs to another process now", pid)
	}
	if c.births == nil {
		c.births = map[int]uint64{}
	}
	c.births[pid] = r.Birth
	return nil
}

// notLooked keeps "none found" from reading as "there is none" where some
// could not be looked at.
func notLooked(s fdmeter.Scan) string {
	switch n := s.Unseen(); {
	case n > 0:
		return fmt.Sprintf(" (%s could not be looked at)", processCount(n))
	case s.Hidden:
		return " (processes of other users are hidden from this user)"
	}
	return ""
}

// unique leaves the first of each number.
func unique(numbers []int) []int {
	seen := map[int]bool{}
	return slices.DeleteFunc(numbers, func(n int) bool {
		again := seen[n]
		seen[n] = true
		return again
	})
}

// grow adds all descendants of the processes, each below its parent.
func (c *fdsCall) grow(f found, r *fdsReport) found {
	tree := c.meter.Tree(f.pids...)
	parents, children := map[int]int{}, map[int][]int{}
	for _, p := range tree.Procs {
		parents[p.PID] = p.Parent
	}
	inside := func(pid int) bool { _, ok := parents[pid]; return ok }
	placed := map[int]bool{}
	var out []int
	r.depths = map[int]int{}
	for _, p := range tree.Procs {
		if inside(p.Parent) {
			children[p.Parent] = append(children[p.Parent], p.PID)
		}
	}
	var place func(pid, depth int)
	place = func(pid, depth int) {
		if placed[pid] {
			return
		}
		placed[pid] = true
		out, r.depths[pid] = append(out, pid), depth
		for _, child := range children[pid] {
			place(child, depth+1)
		}
	}
	for _, root := range f.pids {
		if inside(parents[root]) {
			continue // it stands below another root
		}
		place(root, 0)
		for _, pid := range tree.Roots[root] {
			if !inside(parents[pid]) {
				place(pid, 1) // adopted by somebody else, and still of the session
			}
		}
		r.Trees = append(r.Trees, fdsTree{PID: root, Members: tree.Roots[root], complete: tree.Scan.Complete()})
	}
	f.pids = out
	r.Unseen += tree.Scan.Unseen()
	r.Hidden = r.Hidden || tree.Scan.Hidden
	return f
}

// sum counts the trees. Of a member that has ended there is nothing to count.
func (r *fdsReport) sum() {
	counts := map[int]fdmeter.Value{}
	for _, p := range r.Processes {
		counts[p.PID] = p.Count
	}
	for i := range r.Trees {
		t := &r.Trees[i]
		t.Members = slices.DeleteFunc(t.Members, func(pid int) bool { _, here := counts[pid]; return !here })
		if t.Members == nil {
			t.Members = []int{}
		}
		for _, pid := range t.Members {
			n, known := counts[pid].Get()
			t.AtLeast += n
			if !known {
				t.Unknown++
				t.Count = counts[pid]
			}
		}
		if t.Unknown == 0 {
			t.Count = fdmeter.Known(t.AtLeast)
		}
	}
}

// panePID asks the running window for the first process of a pane.
func (a *app) panePID(ctx context.Context, pane int) (int, error) {
	client, err := ctl.Dial(a.ctlEnv(), "")
	if err != nil {
		return 0, err
	}
	defer client.Close()
	var list ctl.ListResult
	if err := client.Call(ctx, ctl.MethodList, ctl.ListParams{}, &list); err != nil {
		return 0, err
	}
	for _, t := range list.Tabs {
		for _, p := range t.Panes {
			if p.ID != pane && !(pane == 0 && t.Focused && p.Focused) {
				continue
			}
			if p.PID == 0 {
				return 0, fmt.Errorf("nothing runs in pane %d", p.ID)
			}
			return p.PID, nil
		}
	}
	return 0, fmt.Errorf("there is no pane %d: `honestty ctl list` lists them", pane)
}
