package doctor

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/fdmeter"
)

// lowSoft is the soft limit below which ordinary programs fail: launchd gives
// 256.
const lowSoft = 1024

// shown bounds how many processes or paths stand in the evidence of one check.
const shown = 8

// subjects are the processes pointed at, or this one.
func (e Env) subjects() []int {
	if len(e.PIDs) > 0 {
		return e.PIDs
	}
	return []int{os.Getpid()}
}

// limits compares what is open with the soft and the hard limit of each
// process, and with the machine's.
func limits(_ context.Context, env Env, c *Check) {
	for _, pid := range env.subjects() {
		r := env.read(pid)
		who := called(r)
		count, known := r.Count.Get()
		if !known {
			c.sees("%s: count unknown: %s", who, r.Count.Reason())
			c.finds(Unknown, "The descriptors of "+who+" could not be counted: "+r.Count.Reason()+".", lookAgain(r.Count))
			continue
		}
		c.sees("%s: %s open (by %s), highest number %s, soft limit %s, hard limit %s (by %s)",
			who, outcome.Count(count), r.Method, figure(r.Highest), figure(r.Soft), figure(r.Hard), r.LimitsBy)
		judgeLimits(c, who, r, count)
	}
	s := env.meter.System()
	c.sees("machine: %s of %s files open; no process may have more than %s", figure(s.Files), figure(s.FilesMax), figure(s.PerProcess))
	for _, line := range fdmeter.SystemLines(s) {
		if line.Kind == fdmeter.LineSystem && line.Alert() {
			c.finds(Attention, "The whole machine runs out of open files.", "Find the process with the most with `honestty fds --all`, or raise fs.file-max.")
		}
	}
	if !s.Files.Known() && s.Files.Cause() != fdmeter.Unsupported {
		c.finds(Unknown, "The machine's open files are not known: "+s.Files.Reason()+".", unlisted(s.Files.Cause()))
	}
	c.finds(OK, "No limit is near.", "")
}

func judgeLimits(c *Check, who string, r fdmeter.Reading, count int64) {
	soft, known := r.Soft.Get()
	if !known && r.Soft.Cause() != fdmeter.Unlimited {
		c.finds(Unknown, "The limits of "+who+" are not known: "+r.Soft.Reason()+".", "Run this as the user that owns the process.")
		return
	}
	if !known {
		return
	}
	remedy := fmt.Sprintf("See what it holds with `honestty fds %d`, and close it or start the program under a higher `ulimit -n`.", r.PID)
	switch {
	case count >= soft:
		c.finds(Failure, who+" has no descriptor left: the next file, pipe or connection fails with EMFILE.", remedy)
	case float64(count) >= fdmeter.AlertRatio*float64(soft):
		c.finds(Attention, fmt.Sprintf("%s has used %d %% of its soft limit.", who, 100*count/soft), remedy)
	case soft < lowSoft:
		c.finds(Attention, fmt.Sprintf("The soft limit of %s is %d, which ordinary programs reach.", who, soft), "Start it under `ulimit -n 4096`, or higher where nothing in it uses select().")
	}
}

// selectExposure looks for processes with descriptors that select() cannot
// take, and asks the kernel whether one of their threads is in select() now.
func selectExposure(ctx context.Context, env Env, c *Check) {
	readings, unseen, listed := env.candidates(ctx, c)
	past := 0
	for _, r := range readings {
		highest, known := r.Highest.Get()
		switch {
		case !known:
			c.sees("%s: highest number unknown: %s", called(r), r.Highest.Reason())
			c.finds(Unknown, "Whether "+called(r)+" has descriptors that select() cannot take is not known.", lookAgain(r.Highest))
		case highest >= fdmeter.FDSetSize && r.NoSelect:
			c.sees("%s: highest number %s; it runs this program, which never calls select()", called(r), outcome.Count(highest))
		case highest >= fdmeter.FDSetSize:
			past++
			env.judgeSelect(c, r, highest, past <= shown)
		case len(env.PIDs) > 0:
			c.sees("%s: highest number %s, below %d", called(r), outcome.Count(highest), fdmeter.FDSetSize)
		}
	}
	if listed && len(env.PIDs) == 0 {
		c.sees("%s looked at, %s past %d, %s not looked at", processes(len(readings)), outcome.Count(int64(past)), fdmeter.FDSetSize, outcome.Count(int64(unseen)))
	}
	if unseen > 0 {
		c.finds(Unknown, "Some processes may not be looked at by this user.", "Name the one you suspect, and run this as its owner or as root.")
	}
	c.finds(OK, "No process holds a descriptor that select() cannot take.", "")
}

// candidates are the processes pointed at, or all that can be looked at.
func (e Env) candidates(ctx context.Context, c *Check) (readings []fdmeter.Reading, unseen int, listed bool) {
	if len(e.PIDs) > 0 {
		for _, pid := range e.PIDs {
			readings = append(readings, e.read(pid))
		}
		return readings, 0, true
	}
	procs, scan := e.meter.All()
	if !scan.Listed {
		c.sees("the processes could not be listed: %s", scan.Cause)
		c.finds(Unknown, "Which processes there are is not known.", unlisted(scan.Cause))
		return nil, 0, false
	}
	unseen = scan.Unseen()
	if scan.Hidden {
		c.sees(hiddenWords)
		c.finds(Unknown, "Processes of other users are not shown to this user.", "Run this as root to see all of them.")
	}
	for _, p := range procs {
		if ctx.Err() != nil {
			break
		}
		r := e.read(p.PID)
		switch {
		case r.Highest.Known():
			readings = append(readings, r)
		case r.Highest.Cause() != fdmeter.Gone:
			unseen++
		}
	}
	return readings, unseen, true
}

// judgeSelect says what the threads of a process past the line are doing.
func (e Env) judgeSelect(c *Check, r fdmeter.Reading, highest int64, say bool) {
	who := called(r)
	calls := threadCalls(e.Proc, r.PID)
	if say {
		c.sees("%s: highest number %s; threads: %s", who, outcome.Count(highest), calls)
	}
	restart := "Restart " + who + " to bring the numbers down, and update it to a version that waits with epoll or kqueue."
	switch {
	case calls.in[waitSelect] > 0:
		c.finds(Failure, fmt.Sprintf("%s is in select() and holds descriptor %d: what it reads from a number above %d is lost or taken for closed.", who, highest, fdmeter.FDSetSize-1), restart)
	case calls.in[waitEither] > 0 || calls.unread > 0 || calls.total == 0:
		c.finds(Unknown, who+" is past "+fmt.Sprint(fdmeter.FDSetSize)+", and the kernel does not show this user whether it is in select().", "Run this as root, or point it at the process while output is missing.")
	default:
		c.finds(Unknown, who+" is past "+fmt.Sprint(fdmeter.FDSetSize)+" and was not in select() at this moment, which does not prove that it never is.", "Run this again while output is missing. A program that waits with epoll or poll is not harmed.")
	}
}

// pool looks at the machine's pseudo-terminals, and for those that nobody uses.
func pool(ctx context.Context, env Env, c *Check) {
	s := env.meter.System()
	line := fdmeter.Line{}
	for _, l := range fdmeter.SystemLines(s) {
		if l.Kind == fdmeter.LinePTY {
			line = l
		}
	}
	c.sees("%s pseudo-terminals in use, limit %s, of which %s are kept for the host", figure(s.PTYs), figure(s.PTYsMax), figure(s.PTYsReserve))
	survey := env.meter.Survey(ctx, env.Now)
	ghosts := survey.Ghosts()
	for _, g := range ghosts[:min(len(ghosts), shown)] {
		sure := "nobody has its other end open"
		if g.Certain != fdmeter.MaybeYes {
			sure = "nobody that could be looked at has its other end open"
		}
		c.sees("%s (%d) holds the master of %s as descriptor %d; %s", clean(g.Name), g.PID, cmp.Or(g.Slave, "an unknown terminal"), g.FD, sure)
	}
	if more := len(ghosts) - shown; more > 0 {
		c.sees("and %s more", outcome.Count(int64(more)))
	}
	if n := len(survey.Unseen); n > 0 {
		first := survey.Unseen[0]
		c.sees("the descriptors of %s could not be looked at, among them %s (%d): %s", processes(n), clean(first.Name), first.PID, first.Reason)
	}
	remedy := "Close the programs that hold masters nobody uses, or raise kernel.pty.max (Linux) or kern.tty.ptmx_max (macOS)."
	ratio, known := line.Ratio()
	switch {
	case !known && s.PTYs.Cause() == fdmeter.Unlimited:
	case !known:
		reason := s.PTYs.Reason()
		if reason == "" {
			reason = s.PTYsMax.Reason()
		}
		c.finds(Unknown, "How much of the pool is used is not known: "+cmp.Or(reason, "no limit was read")+".", "Count them by hand: `ls /dev/ttys* | wc -l` on macOS, `ls /dev/pts | wc -l` on Linux.")
	case ratio >= 1:
		c.finds(Failure, "The pool is used up: no program can open a terminal.", remedy)
	case line.Alert():
		c.finds(Attention, fmt.Sprintf("%.0f %% of the pool is used.", ratio*100), remedy)
	}
	if sure := slices.ContainsFunc(ghosts, func(g fdmeter.Ghost) bool { return g.Certain == fdmeter.MaybeYes }); sure {
		c.finds(Attention, fmt.Sprintf("%d terminals are held open although nobody lives in them.", len(ghosts)), remedy)
	}
	c.finds(OK, "The pool has room.", "")
}

// hiddenWords say that a list of processes is not the whole one.
const hiddenWords = "processes of other users are hidden from this user (hidepid); how many is not known"

// unlisted is what to do where the system's own figures could not be read.
func unlisted(cause fdmeter.Cause) string {
	if cause == fdmeter.NoDescriptors {
		return noneFree
	}
	return "Run this where /proc is mounted."
}

// lookAgain is what to do where a figure of a process is not known.
func lookAgain(v fdmeter.Value) string {
	switch v.Cause() {
	case fdmeter.Gone:
		return "Look for its number with `honestty fds --all`."
	case fdmeter.NoDescriptors:
		return noneFree
	}
	return "Run this as the user that owns the process, or as root."
}

// noneFree is what to do where this process had no descriptor free to look with.
const noneFree = "Run this again under a higher `ulimit -n`."

// figure writes a value with its reason where there is none.
func figure(v fdmeter.Value) string {
	if n, known := v.Get(); known {
		return outcome.Count(n)
	}
	if v.Cause() == fdmeter.Unlimited {
		return v.String()
	}
	return "? (" + v.Reason() + ")"
}

// called names a process in a sentence.
func called(r fdmeter.Reading) string {
	if name := clean(r.Name); strings.TrimSpace(name) != "" {
		return fmt.Sprintf("%s (%d)", name, r.PID)
	}
	return fmt.Sprintf("process %d", r.PID)
}

func processes(n int) string {
	if n == 1 {
		return "1 process"
	}
	return outcome.Count(int64(n)) + " processes"
}
