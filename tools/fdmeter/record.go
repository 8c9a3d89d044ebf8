package fdmeter

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// recordVersion is the layout of a saved Record. A file of another version is
// refused: read as this one it would compare wrongly.
const recordVersion = 1

// maxRecord bounds what ReadRecord takes: about 200,000 descriptors.
const maxRecord = 64 << 20

// ErrRecord matches every file that is not a record this version can read.
var ErrRecord = errors.New("not a descriptor snapshot")

// A Record is a snapshot that a person took and may keep in a file: every
// descriptor of some processes at one moment.
type Record struct {
	Name string    `json:"name"`
	At   time.Time `json:"at"`
	// Boot tells two runs of the machine apart: pids and start times begin
	// anew with each. "" when it was not known.
	Boot string `json:"boot_id"`
	// Whole says that every process there was is in it.
	Whole     bool       `json:"whole,omitempty"`
	Processes []Recorded `json:"processes"`
}

// A Recorded is one process of a Record.
type Recorded struct {
	Reading   Reading
	Breakdown Breakdown
}

// Record takes a snapshot of the processes under a name.
func (m *Meter) Record(name string, now time.Time, pids ...int) Record {
	rec := Record{Name: name, At: now, Boot: m.source().bootID(), Processes: make([]Recorded, 0, len(pids))}
	for _, pid := range pids {
		rec.Processes = append(rec.Processes, Recorded{m.Read(pid, now), m.Types(pid, now)})
	}
	return rec
}

// Write saves a record as JSON.
func (r Record) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(struct {
		Version int `json:"version"`
		Record
	}{recordVersion, r})
	if err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	return nil
}

// ReadRecord reads what Write wrote.
func ReadRecord(r io.Reader) (Record, error) {
	limited := &io.LimitedReader{R: r, N: maxRecord + 1}
	text, err := io.ReadAll(limited)
	if err != nil {
		return Record{}, fmt.Errorf("read snapshot: %w", err)
	}
	if limited.N == 0 {
		return Record{}, fmt.Errorf("read snapshot: longer than %d bytes: %w", maxRecord, ErrRecord)
	}
	in := struct {
		Version int `json:"version"`
		*Record
	}{Record: &Record{}}
	if err := json.Unmarshal(text, &in); err != nil {
		return Record{}, fmt.Errorf("read snapshot: %w: %w", ErrRecord, err)
	}
	if in.Version != recordVersion {
		return Record{}, fmt.Errorf("read snapshot: version %d, and this is %d: %w", in.Version, recordVersion, ErrRecord)
	}
	return *in.Record, nil
}

// recordedJSON fixes the names of a Recorded's fields.
type recordedJSON struct {
	PID     int              `json:"pid"`
	Birth   uint64           `json:"birth"`
	Name    string           `json:"name"`
	Command string           `json:"command"`
	Started time.Time        `json:"started_at"`
	At      time.Time        `json:"at"`
	Count   Value            `json:"count"`
	Highest Value            `json:"highest"`
	Soft    Value            `json:"soft_limit"`
	Hard    Value            `json:"hard_limit"`
	Method  Method           `json:"method"`
	Listed  Value            `json:"listed"`
	Unknown map[string]Cause `json:"unknown,omitempty"` // why a figure is null
	Beyond  int              `json:"not_inspected,omitempty"`
	FDs     []FD             `json:"fds"`
}

// fdJSON fixes the names of an FD's fields.

type fdJSON struct {
	Number      int     `json:"fd"`
	Kind        Kind    `json:"type"`
	Target      string  `json:"target,omitempty"`
	Deleted     bool    `json:"deleted,omitempty"`
	CloseOnExec *bool   `json:"close_on_exec"`
	Cause       Cause   `json:"unknown,omitempty"`
	Socket      *Socket `json:"socket,omitempty"`
	SocketCause Cause   `json:"socket_unknown,omitempty"`
	Detail      *Detail `json:"detail,omitempty"`
}

// MarshalJSON writes everything that is known of a descriptor; close_on_exec is
// null where it is not.
func (fd FD) MarshalJSON() ([]byte, error) {
	out := fdJSON{
		Number: fd.Number, Kind: fd.Kind, Target: fd.Target, Deleted: fd.Deleted,
		Cause: fd.Cause, Socket: fd.Socket, SocketCause: fd.SocketCause,
	}
	if fd.CloseOnExec != MaybeUnknown {
		yes := fd.CloseOnExec == MaybeYes
		out.CloseOnExec = &yes
	}
	if fd.Detail.Known() {
		out.Detail = &fd.Detail
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (fd *FD) UnmarshalJSON(text []byte) error {
	var in fdJSON
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	*fd = FD{
		Number: in.Number, Kind: in.Kind, Target: in.Target, Deleted: in.Deleted,
		Cause: in.Cause, Socket: in.Socket, SocketCause: in.SocketCause,
	}
	if in.CloseOnExec != nil {
		fd.CloseOnExec = maybe(*in.CloseOnExec)
	}
	if in.Detail != nil {
		fd.Detail = *in.Detail
	}
	return nil
}

// MarshalText and UnmarshalText write a cause as its sentence.
func (c Cause) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (c *Cause) UnmarshalText(text []byte) error {
	i := slices.Index(causeWords[:], string(text))
	if i < 0 {
		return fmt.Errorf("read cause: unknown words: %w", ErrRecord)
	}
	*c = Cause(i)
	return nil
}

// MarshalJSON writes every descriptor, so that a comparison needs nothing else.
func (r Recorded) MarshalJSON() ([]byte, error) {
	in, b := r.Reading, r.Breakdown
	out := recordedJSON{
		PID: in.PID, Birth: max(in.Birth, b.Birth), Name: in.Name, Command: in.Command, Started: in.Started, At: b.At,
		Count: in.Count, Highest: in.Highest, Soft: in.Soft, Hard: in.Hard, Method: in.Method,
		Listed: b.Listed, Unknown: map[string]Cause{}, Beyond: b.NotInspected, FDs: b.FDs,
	}
	for _, f := range append(in.figures(), figure{"listed", b.Listed}) {
		if !f.value.Known() {
			out.Unknown[f.field] = f.value.Cause()
		}
	}
	if out.FDs == nil {
		out.FDs = []FD{}
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Recorded) UnmarshalJSON(text []byte) error {
	var in recordedJSON
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	known := func(field string, v Value) Value {
		if cause, unknown := in.Unknown[field]; unknown {
			return Unknown(cause)
		}
		return v
	}
	r.Reading = Reading{
		PID: in.PID, Birth: in.Birth, Name: in.Name, Command: in.Command, Started: in.Started, At: in.At, Method: in.Method,
		Count: known("count", in.Count), Highest: known("highest", in.Highest),
		Soft: known("soft_limit", in.Soft), Hard: known("hard_limit", in.Hard),
	}
	if r.Reading.Highest.Known() {
		r.Reading.HighestAt = in.At
	}
	b := Breakdown{
		PID: in.PID, Birth: in.Birth, At: in.At, Listed: known("listed", in.Listed),
		Counts: map[Kind]int{}, NotInspected: in.Beyond, FDs: make([]FD, 0, len(in.FDs)),
	}
	for _, fd := range in.FDs {
		b.add(fd)
	}
	if !slices.IsSortedFunc(b.FDs, func(a, b FD) int { return a.Number - b.Number }) {
		return fmt.Errorf("descriptors out of order: %w", ErrRecord)
	}
	r.Breakdown = b
	return nil
}

// A Change is what became of one process between two records.
type Change struct {
	PID    int
	Name   string
	Before Value // its count; see absent for one that is in the later record only
	After  Value
	Diff   Diff
}

// startSlack is how far the start of a process may lie from when it is said to
// be: the kernel tells its own start in whole seconds.
const startSlack = time.Second

// absent is the count of a process that is not in r: Gone when it is known not
// to have been there then, and NotRecorded when it may have been. Started is
// when it began, or the zero time.
func (r Record) absent(started time.Time) Value {
	if r.Whole || started.After(r.At.Add(startSlack)) {
		return Unknown(Gone)
	}
	return Unknown(NotRecorded)
}

// instead is what stands for the descriptors of a process that is not in a
// record: none when it was not there.
func instead(count Value) Breakdown {
	if count.Cause() == Gone {
		return Breakdown{Listed: Known(0)}
	}
	return Breakdown{Listed: count}
}

// CompareRecords compares the processes of two records, the earlier one first,
// by pid. One that was not there at the time of one of them has everything
// opened or closed; of one that may have been there nothing is claimed.
func CompareRecords(a, b Record) []Change {
	other := a.Boot != b.Boot // then no process is the same one
	find := func(r Record, pid int) (Recorded, bool) {
		i := slices.IndexFunc(r.Processes, func(p Recorded) bool { return p.Breakdown.PID == pid })
		if i < 0 {
			return Recorded{}, false
		}
		return r.Processes[i], true
	}
	var pids []int
	for _, p := range slices.Concat(a.Processes, b.Processes) {
		pids = append(pids, p.Breakdown.PID)
	}
	slices.Sort(pids)
	out := make([]Change, 0, len(pids))
	for _, pid := range slices.Compact(pids) {
		before, was := find(a, pid)
		after, is := find(b, pid)
		c := Change{PID: pid, Name: after.Reading.Name, Before: before.Reading.Count, After: after.Reading.Count}
		if c.Name == "" {
			c.Name = before.Reading.Name
		}
		switch {
		case !was && other:
			c.Before = Unknown(Gone)
		case !was:
			c.Before = a.absent(after.Reading.Started)
		case !is && other:
			c.After = Unknown(Gone)
		case !is:
			c.After = b.absent(time.Time{})
		}
		if !was {
			before.Breakdown = instead(c.Before)
		}
		if !is {
			after.Breakdown = instead(c.After)
		}
		if other && was && is {
			before.Breakdown.Birth = after.Breakdown.Birth + 1
		}
		c.Diff = Compare(before.Breakdown, after.Breakdown)
		c.Diff.Replaced = c.Diff.Replaced && was && is
		out = append(out, c)
	}
	return out
}
