package fdmeter

import (
	"cmp"
	"fmt"
	"slices"
)

// An Alert is a line of which a part is used that somebody wanted to be told
// of.
type Alert struct {
	PID  int // 0: the line is the whole machine's
	Name string
	Line Line
}

// Alerts returns the lines of which at least ratio is used, the most urgent
// first. A process is named once, with the line nearest to being hit. What is
// not known raises no alert.
func Alerts(readings []Reading, s System, ratio float64) []Alert {
	out := systemAlerts(s, ratio)
	for i := range readings {
		r := &readings[i]
		if line, ok := nearest(r); ok && reaches(line, ratio) {
			out = append(out, Alert{r.PID, r.Name, line})
		}
	}
	return sortAlerts(out)
}

// Alerts returns those of a tick, at AlertRatio.
func (s Snapshot) Alerts() []Alert {
	out := systemAlerts(s.System, AlertRatio)
	for i := range s.Processes {
		if p := &s.Processes[i]; p.HasLine && reaches(p.Line, AlertRatio) {
			out = append(out, Alert{p.PID, p.Name, p.Line})
		}
	}
	return sortAlerts(out)
}

func systemAlerts(s System, ratio float64) (out []Alert) {
	for _, line := range SystemLines(s) {
		if reaches(line, ratio) {
			out = append(out, Alert{Line: line})
		}
	}
	return out
}

func reaches(line Line, ratio float64) bool {
	used, known := line.Ratio()
	return known && used >= ratio
}

func sortAlerts(alerts []Alert) []Alert {
	slices.SortStableFunc(alerts, func(a, b Alert) int {
		left, _ := a.Line.Ratio()
		right, _ := b.Line.Ratio()
		return cmp.Or(b.Line.urgency()-a.Line.urgency(), cmp.Compare(right, left))
	})
	return alerts
}

// Words says what is near its end, and how near.
func (a Alert) Words() string {
	who := a.Name
	switch {
	case a.PID == 0:
		who = "this machine"
	case who == "":
		who = fmt.Sprintf("process %d", a.PID)
	default:
		who = fmt.Sprintf("%s (%d)", who, a.PID)
	}
	ratio, _ := a.Line.Ratio()
	what := map[LineKind]string{
		LineSelect: "descriptor numbers that select() can take", LineSoft: "descriptors of its soft limit",
		LineHard: "descriptors of its hard limit", LineSystem: "open files", LinePTY: "pseudo-terminals",
	}[a.Line.Kind]
	if a.Line.Passed() {
		return fmt.Sprintf("%s holds a descriptor numbered %d; select() takes none from %d on", who, a.Line.Used.n-1, a.Line.Limit)
	}
	return fmt.Sprintf("%s uses %d of %d %s (%.0f %%)", who, a.Line.Used.n, a.Line.Limit, what, ratio*100)
}
