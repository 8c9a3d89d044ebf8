package fdmeter

import (
	"encoding/json"
	"time"
)

// A Snapshot is one tick of a Sampler. It shares nothing with the Sampler or
// with other snapshots, so it may be sent to another goroutine.
type Snapshot struct {
	At  time.Time `json:"at"`
	Own Process   `json:"own"` // the process that asks
	// Roots are in the order they were asked for.
	Roots []Root `json:"roots"`
	// Processes are Own and the members of all roots, by pid, each once.
	Processes []Process `json:"processes"`
	System    System    `json:"system"`
	// Unknown are the processes without a count, with the reason.
	Unknown []Missing `json:"unknown"`
	// Scan says how complete the search for members was. Denied counts
	// processes that might belong to a root.
	Scan Scan `json:"scan"`

	nearest int // index into Processes; -1 when no line is known
}

// A Process is a reading with its history.
type Process struct {
	Reading
	Line    Line // nearest line
	HasLine bool
	Growth  Growth
	Spark   [SparkCells]Value // oldest first; unknown where there was no sample
}

// FullIn returns the time until the nearest line is reached, and false unless
// the count keeps rising.
func (p Process) FullIn() (time.Duration, bool) {
	if !p.HasLine {
		return 0, false
	}
	return p.Growth.FullIn(p.Line)
}

// An Outlook is when a line will be reached if the growth goes on.
type Outlook struct {
	Line       Line
	In         time.Duration
	Confidence Confidence
}

// Outlook returns the line of the process that it reaches first, which need not
// be the one it is nearest to now: a process past 1024 still has its soft limit
// before it. It is false unless the count keeps rising.
func (p Process) Outlook() (Outlook, bool) {
	var out Outlook
	found := false
	for _, line := range Lines(p.Reading) {
		if in, ok := p.Growth.FullIn(line); ok && (!found || in < out.In) {
			out, found = Outlook{line, in, p.Growth.Confidence}, true
		}
	}
	return out, found
}

// MarshalJSON writes the reading's fields and those of its history.
func (p Process) MarshalJSON() ([]byte, error) {
	base, err := p.Reading.MarshalJSON()
	if err != nil {
		return nil, err
	}
	more := struct {
		PerMinute  *float64          `json:"growth_per_minute"`
		Trend      Trend             `json:"trend"`
		Confidence Confidence        `json:"confidence"`
		FullIn     *float64          `json:"full_in_seconds"`
		Spark      [SparkCells]Value `json:"history"`
	}{Trend: p.Growth.Trend, Confidence: p.Growth.Confidence, Spark: p.Spark}
	if p.Growth.Known() {
		more.PerMinute = &p.Growth.PerMinute
	}
	if d, ok := p.FullIn(); ok {
		seconds := d.Seconds()
		more.FullIn = &seconds
	}
	extra, err := json.Marshal(more)
	if err != nil {
		return nil, err
	}
	// Two objects become one: {a} and {b} to {a,b}.
	return append(append(base[:len(base)-1], ','), extra[1:]...), nil
}

// A Root is a process whose descendants are counted together.
type Root struct {
	PID     int
	Gone    bool  // it has ended; survivors of its session are still members
	Members []int // by pid
	Sum     int64 // of the members whose count is known
	Unknown int   // members without a count
	Cause   Cause // why the first of them has none
}

// Total returns the sum, which is unknown as long as one member's count is.
// Sum is then what is known at least.
func (r Root) Total() Value {
	if r.Unknown > 0 {
		return Unknown(r.Cause)
	}
	return Known(r.Sum)
}

// MarshalJSON writes count as null when a member is unknown; at_least is what
// is known.
func (r Root) MarshalJSON() ([]byte, error) {
	members := r.Members
	if members == nil {
		members = []int{}
	}
	return json.Marshal(struct {
		PID     int   `json:"pid"`
		Gone    bool  `json:"gone"`
		Count   Value `json:"count"`
		AtLeast int64 `json:"at_least"`
		Unknown int   `json:"unknown"`
		Members []int `json:"members"`
	}{r.PID, r.Gone, r.Total(), r.Sum, r.Unknown, members})
}

// A Missing is a process whose count is not known.
type Missing struct {
	PID    int    `json:"pid"`
	Name   string `json:"name"`
	Reason string `json:"reason"`
	Cause  Cause  `json:"-"`
}

// Nearest returns the process that is nearest to one of its lines.
func (s Snapshot) Nearest() (Process, bool) {
	if s.nearest < 0 || s.nearest >= len(s.Processes) {
		return Process{}, false
	}
	return s.Processes[s.nearest], true
}

// SystemLine returns the line of the machine that is nearest to being hit. It
// concerns every process, and is to be shown when it is in Alert.
func (s Snapshot) SystemLine() (Line, bool) { return NearestOf(SystemLines(s.System)) }

// pickNearest finds the process that is nearest to a line.
func pickNearest(processes []Process) int {
	best := -1
	for i := range processes {
		if p := &processes[i]; p.HasLine && (best < 0 || nearer(p.Line, processes[best].Line)) {
			best = i
		}
	}
	return best
}
