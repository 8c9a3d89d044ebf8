package fdmeter

import (
	"encoding/json"
	"time"
)

// A Reading is what was found out about one process at one moment. It is a
// plain value and may be copied and sent; nothing in it changes later.
type Reading struct {
	PID     int
	Parent  int    // parent's pid; 0 when not known
	Session int    // session id; 0 when not known
	Name    string // the kernel's short name (comm); "" when not known
	Command string // argv joined by spaces; "" when not known or, for kernel threads, none
	Started time.Time
	// Birth tells two processes with the same pid apart: ticks since boot on
	// Linux, microseconds on macOS. 0 when not known.
	Birth uint64
	// NoSelect says that it never waits with select(), as Meter.NoSelect knows:
	// the line at 1024 is none of its lines.
	NoSelect bool

	Count     Value
	Highest   Value     // highest descriptor number; known and -1 when there is no descriptor
	HighestAt time.Time // when Highest was listed; the zero time when it never was
	Soft      Value     // RLIMIT_NOFILE, soft
	Hard      Value     // RLIMIT_NOFILE, hard
	Method    Method    // how Count was made
	LimitsBy  LimitMethod
	At        time.Time

	// Types is nil unless asked for; see Meter.Types.
	Types *Breakdown
}

// readingJSON fixes the names and the order of a Reading's fields.
type readingJSON struct {
	PID           int               `json:"pid"`
	Name          *string           `json:"name"`
	Command       *string           `json:"command"`
	StartedAt     *time.Time        `json:"started_at"`
	Count         Value             `json:"count"`
	Highest       Value             `json:"highest"`
	SoftLimit     Value             `json:"soft_limit"`
	HardLimit     Value             `json:"hard_limit"`
	UnknownReason *string           `json:"unknown_reason"` // why count is null
	Unknown       map[string]string `json:"unknown,omitempty"`
	Method        Method            `json:"method"`
	LimitsBy      LimitMethod       `json:"limits_by"`
	At            time.Time         `json:"at"`
	NoSelect      bool              `json:"no_select,omitempty"`
	Types         *Breakdown        `json:"types,omitempty"`
	CloseOnExec   *flagsJSON        `json:"close_on_exec,omitempty"`
	Targets       []Group           `json:"targets,omitempty"`
	NearestLine   *Line             `json:"nearest_line"`
}

// flagsJSON says how many descriptors a child would not inherit (set), would
// inherit (clear), and how many could not be asked.
type flagsJSON struct {
	Set     int `json:"set"`
	Clear   int `json:"clear"`
	Unknown int `json:"unknown"`
}

// MarshalJSON writes null for everything that is not known. unknown_reason
// says why the count is null; unknown has the reason of every null figure by
// its field's name.
func (r Reading) MarshalJSON() ([]byte, error) {
	out := readingJSON{
		PID:       r.PID,
		Name:      orNull(r.Name),
		Command:   orNull(r.Command),
		Count:     r.Count,
		Highest:   r.Highest,
		SoftLimit: r.Soft,
		HardLimit: r.Hard,
		Unknown:   map[string]string{},
		Method:    r.Method,
		LimitsBy:  r.LimitsBy,
		At:        r.At,
		NoSelect:  r.NoSelect,
		Types:     r.Types,
	}
	if !r.Started.IsZero() {
		out.StartedAt = &r.Started
	}
	for _, figure := range r.figures() {
		if !figure.value.Known() {
			out.Unknown[figure.field] = figure.value.Reason()
		}
	}
	if !r.Count.Known() {
		reason := r.Count.Reason()
		out.UnknownReason = &reason
	}
	if r.Types != nil && !r.Types.Listed.Known() {
		out.Unknown["types"] = r.Types.Listed.Reason()
	} else if r.Types != nil {
		out.CloseOnExec = &flagsJSON{r.Types.CloseOnExec, r.Types.Inherited, r.Types.FlagsUnknown}
		out.Targets = r.Types.Groups()
	}
	if line, ok := Nearest(r); ok {
		out.NearestLine = &line
	}
	return json.Marshal(out)
}

// A figure is one Value of a reading under its name in JSON.
type figure struct {
	field string
	value Value
}

func (r Reading) figures() []figure {
	return []figure{{"count", r.Count}, {"highest", r.Highest}, {"soft_limit", r.Soft}, {"hard_limit", r.Hard}}
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// A Report is what `honestty fds --json` prints.
type Report struct {
	Processes []Reading
	System    System
}

// MarshalJSON writes an empty list, not null, when no process was asked for.
func (r Report) MarshalJSON() ([]byte, error) {
	if r.Processes == nil {
		r.Processes = []Reading{}
	}
	return json.Marshal(struct {
		Processes []Reading `json:"processes"`
		System    System    `json:"system"`
	}{r.Processes, r.System})
}

// A System is what the whole machine has used of what all processes share.
type System struct {
	Files       Value `json:"files"`         // open file descriptions
	FilesMax    Value `json:"files_max"`     // their limit
	PerProcess  Value `json:"nr_open"`       // ceiling of any process's hard limit
	PTYs        Value `json:"ptys"`          // pseudo-terminals in use
	PTYsMax     Value `json:"ptys_max"`      // their limit
	PTYsReserve Value `json:"ptys_reserved"` // part of ptys_max kept for the host's own mount of devpts
}
