package panels

import (
	"maps"

	"github.com/honestty/honestty/tools/fdmeter"
	"github.com/honestty/honestty/tui/screen"
)

// An Alarm is a line that a process, or the machine, has come near to.
type Alarm struct {
	PID  int // 0: the whole machine's
	Root int // the first process of the pane it is in; 0: it is in none
	Text string
}

// alarms remembers which lines were told of, so that each is told once: again
// only after the process has been well away from it.
type alarms struct {
	told map[alarmed]bool
	news []Alarm
}

// An alarmed is one line of one process.
type alarmed struct {
	id
	line fdmeter.LineKind
}

// calmRatio is the part of a line below which it may be told of anew. Between
// it and fdmeter.AlertRatio a count that moves to and fro raises no alarm twice.
const calmRatio = 0.7

// take finds what is new in a tick.
func (a *alarms) take(s fdmeter.Snapshot) {
	now := map[alarmed]float64{} // every line of every process, and how much of it is used
	births := map[int]uint64{}
	for _, line := range fdmeter.SystemLines(s.System) {
		if ratio, known := line.Ratio(); known {
			now[alarmed{line: line.Kind}] = ratio
		}
	}
	for _, p := range s.Processes {
		births[p.PID] = p.Birth
		for _, line := range fdmeter.Lines(p.Reading) {
			if ratio, known := line.Ratio(); known {
				now[alarmed{id{p.PID, p.Birth}, line.Kind}] = ratio
			}
		}
	}
	unknown := func(k alarmed) bool {
		_, known := now[k]
		_, lives := births[k.pid]
		return !known && (lives || k.pid == 0)
	}
	maps.DeleteFunc(a.told, func(k alarmed, _ bool) bool { return now[k] < calmRatio && !unknown(k) })
	for _, alert := range s.Alerts() {
		key := alarmed{id{alert.PID, births[alert.PID]}, alert.Line.Kind}
		if a.told[key] {
			continue
		}
		if a.told == nil {
			a.told = map[alarmed]bool{}
		}
		a.told[key] = true
		a.news = append(a.news, Alarm{PID: alert.PID, Text: screen.Visible(alert.Words())})
	}
}

// Alarms returns what has come near to a line since it was last asked.
func (f *FDs) Alarms() []Alarm {
	news := f.alarms.news
	f.alarms.news = nil
	for i := range news {
		for _, r := range f.rows {
			if r.PID == news[i].PID {
				news[i].Root = r.root
			}
		}
	}
	return news
}

// Choose selects a process by its pid, if it is in the table.
func (f *FDs) Choose(pid int) {
	for i, r := range f.rows {
		if r.PID == pid {
			f.leave()
			f.pick(i)
			f.top = max(i-max(f.list.h, 1)+1, 0)
		}
	}
}
