package panels

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/fdmeter"
)

// figure writes a value for people: thin grouping, "unlimited", or "?".
func figure(v fdmeter.Value) string {
	if n, known := v.Get(); known {
		return outcome.Count(n)
	}
	return v.String()
}

// reasoned is figure with the reason where it is a question mark.
func reasoned(v fdmeter.Value) string {
	text := figure(v)
	if text == "?" {
		return text + " (" + v.Reason() + ")"
	}
	return text
}

// growth writes descriptors a minute: +3.5, 0.0, -42.
func growth(g fdmeter.Growth) string {
	n := g.PerMinute
	switch {
	case !g.Known():
		return "?"
	case math.Abs(n) < 0.05:
		return "0.0"
	case math.Abs(n) >= 99.95:
		sign := "+"
		if n < 0 {
			sign = ""
		}
		return sign + outcome.Count(int64(math.Round(n)))
	}
	return fmt.Sprintf("%+.1f", n)
}

// about writes a time that is only estimated, in one unit.
func about(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return "<10s"
	case d < 90*time.Second:
		return fmt.Sprintf("~%ds", int(d.Round(10*time.Second).Seconds()))
	case d < 100*time.Minute:
		return fmt.Sprintf("~%dm", int(d.Round(time.Minute).Minutes()))
	}
	return fmt.Sprintf("~%dh", int(d.Round(time.Hour).Hours()))
}

// ago says how old something is.
func ago(d time.Duration) string {
	switch {
	case d < 2*time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%ds ago", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	}
	return fmt.Sprintf("%dh ago", int(d.Hours()))
}

// nearest says which line a process is nearest to and how near, or why nobody
// can tell.
func nearest(p fdmeter.Process) string {
	switch {
	case !p.Count.Known() && !(p.HasLine && p.Line.Alert()):
		return p.Count.Reason()
	case !p.HasLine:
		return "no line known"
	}
	name := lineName(p.Line)
	ratio, _ := p.Line.Ratio()
	full, growing := p.FullIn()
	in := " in "
	if p.Growth.Confidence == fdmeter.Guess {
		in = " guess "
	}
	switch {
	case p.Line.Passed():
		return "past " + name
	case ratio >= 1:
		return name + " full"
	case growing:
		return name + in + about(full)
	case p.Line.Alert():
		return name + " near"
	}
	return name
}

// trendWords is the trend with how far a rise is to be trusted.
func trendWords(g fdmeter.Growth) string {
	return g.Trend.String() + confident(g.Confidence)
}

func confident(c fdmeter.Confidence) string {
	if c == fdmeter.ConfidenceNone {
		return ""
	}
	return ", " + c.String()
}

// alarm reports a process that is near, at or past one of its lines.
func alarm(p fdmeter.Process) bool { return p.HasLine && p.Line.Alert() }

// program shortens a command for a table: the program without its folder, then
// its arguments, without a login shell's dash. Without a command it is the kernel's short name.
func program(r fdmeter.Reading) string {
	first, args, _ := strings.Cut(r.Command, " ")
	if i := strings.LastIndexByte(first, '/'); i >= 0 && i+1 < len(first) {
		first = first[i+1:]
	}
	first = strings.TrimPrefix(first, "-") // a login shell
	switch {
	case first == "" && r.Name == "":
		return "?"
	case first == "":
		return r.Name
	case args == "":
		return first
	}
	return first + " " + args
}

// kindNames are the words for more than one descriptor of a kind, where they
// are not the kind's own.
var kindNames = map[fdmeter.Kind]string{
	fdmeter.KindSocket: "sockets", fdmeter.KindPipe: "pipes", fdmeter.KindPTY: "ptys", fdmeter.KindFile: "files",
	fdmeter.KindDir: "folders", fdmeter.KindDevice: "devices", fdmeter.KindEventfd: "eventfds",
	fdmeter.KindTimerfd: "timerfds", fdmeter.KindSignalfd: "signalfds", fdmeter.KindPidfd: "pidfds",
	fdmeter.KindMemfd: "memfds",
}

// kindText names more than one descriptor of a kind.
func kindText(kind fdmeter.Kind) string {
	if name := kindNames[kind]; name != "" {
		return name
	}
	return string(kind)
}

// A kindCount is how many descriptors of one kind there are.
type kindCount struct {
	name string
	n    int
}

// kindsOf returns the kinds of a breakdown, the most frequent first, and what
// was not looked at as a kind of its own.
func kindsOf(b fdmeter.Breakdown) []kindCount {
	out := make([]kindCount, 0, len(b.Counts)+1)
	for kind, n := range b.Counts {
		out = append(out, kindCount{kindText(kind), n})
	}
	slices.SortFunc(out, func(a, b kindCount) int { return cmp.Or(b.n-a.n, cmp.Compare(a.name, b.name)) })
	if b.NotInspected > 0 {
		out = append(out, kindCount{"not looked at", b.NotInspected})
	}
	return out
}
