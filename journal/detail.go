package journal

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// ErrMoved matches the error of an event that is no longer where it was read:
// its file was removed for its age, or changed by somebody else.
var ErrMoved = errors.New("no longer in the journal")

// Detail reads a call whole: its arguments and, once it has ended, its result,
// also where they lie in files of their own. The end is nil while there is
// none. It reads files, so a window calls it outside of Update.
//
// An error that matches ErrSpilled comes with all else of the call.
func Detail(dir string, r Record) (Start, *End, error) {
	start, end := r.Start, r.End
	var errs []error
	if !r.NoStart {
		e, err := eventAt(dir, r.start)
		switch {
		case err != nil:
			errs = append(errs, err)
		case e.Start == nil || e.Start.Call != r.Start.Call:
			errs = append(errs, fmt.Errorf("read start of call: %w", ErrMoved))
		default:
			start = *e.Start
			start.Args, err = Resolve(dir, start.Args)
			errs = append(errs, err)
		}
	}
	if end != nil {
		e, err := eventAt(dir, r.end)
		switch {
		case err != nil:
			errs = append(errs, err)
		case e.End == nil || e.End.Call != r.Start.Call:
			errs = append(errs, fmt.Errorf("read end of call: %w", ErrMoved))
		default:
			end = e.End
			end.Result, err = Resolve(dir, end.Result)
			errs = append(errs, err)
		}
	}
	return start, end, errors.Join(errs...)
}

// eventAt reads one event where it was found.
func eventAt(dir string, p place) (Event, error) {
	for _, name := range []string{oldName(p.file), currentName} {
		seg, err := openSegment(dir, name, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Event{}, err
		}
		if name == currentName && seg.first != p.file {
			seg.close()
			continue
		}
		raw := make([]byte, p.size)
		_, err = pread(seg.fd).ReadAt(raw, p.off)
		seg.close()
		if err != nil {
			return Event{}, fmt.Errorf("read journal: %w", err)
		}
		e, err := newDecoder(true).decode(raw)
		if err != nil {
			return Event{}, fmt.Errorf("read event: %w", ErrMoved)
		}
		return e, nil
	}
	return Event{}, fmt.Errorf("read event: %w", ErrMoved)
}

// Formats are the names of the formats that Export knows.
var Formats = []string{"jsonl"}

// An exported is one line of an export: a whole call.
type exported struct {
	Call     string     `json:"call"`
	Seq      int64      `json:"seq"`
	State    string     `json:"state"`
	Why      string     `json:"why,omitempty"`
	Started  *time.Time `json:"started"` // null when the start is missing
	Ended    *time.Time `json:"ended"`   // null when there is no end
	Start    *Start     `json:"start"`
	Progress *Progress  `json:"progress,omitempty"`
	End      *End       `json:"end"`
}

// Export writes whole calls, with arguments and results, one JSON object a
// line, each when its end is found and those without one last. Gaps are lines
// too. Calls that the filter does not want are left out.
func Export(w io.Writer, dir, format string, f Filter) error {
	if !slices.Contains(Formats, format) {
		return fmt.Errorf("export journal: there is no format %q; there is %s", format, strings.Join(Formats, ", "))
	}
	out := bufio.NewWriterSize(w, 64<<10)
	x := export{dir: dir, filter: f, enc: json.NewEncoder(out), open: map[string]*exported{}}
	x.enc.SetEscapeHTML(false)
	for e, err := range Read(dir) {
		if err == nil {
			err = x.event(e)
		}
		if err != nil {
			return errors.Join(err, out.Flush())
		}
	}
	if err := x.unfinished(); err != nil {
		return err
	}
	return out.Flush()
}

type export struct {
	dir    string
	filter Filter
	enc    *json.Encoder
	open   map[string]*exported // calls without an end so far
}

func (x *export) event(e Event) error {
	switch {
	case e.Start != nil:
		x.open[e.Start.Call] = &exported{Call: e.Start.Call, Seq: e.Seq, Started: &e.At, Start: e.Start}
	case e.Progress != nil:
		if o := x.open[e.Progress.Call]; o != nil {
			o.Progress = e.Progress
		}
	case e.End != nil:
		o := x.open[e.End.Call]
		delete(x.open, e.End.Call)
		if o == nil {
			o = &exported{Call: e.End.Call, Seq: e.Seq}
		}
		o.End, o.Ended = e.End, &e.At
		return x.write(o)
	case e.Gap != nil:
		return x.enc.Encode(struct {
			Seq int64 `json:"seq"`
			Gap *Gap  `json:"gap"`
		}{e.Seq, e.Gap})
	}
	return nil
}

// write writes one call, if it is wanted.
func (x *export) write(o *exported) error {
	b := NewBook(1)
	b.whole = true
	var events []Event
	if o.Start != nil {
		events = append(events, Event{Seq: o.Seq, At: *o.Started, Start: o.Start})
	}
	if o.End != nil {
		events = append(events, Event{Seq: o.Seq, At: *o.Ended, End: o.End})
	}
	b.Add(events)
	b.MarkGone(Gone(b.Owners()))
	if b.Select(x.filter).Len() == 0 {
		return nil
	}
	r := b.At(0)
	o.State, o.Why = r.State().String(), r.Why()
	for _, raw := range []*json.RawMessage{argsOf(o.Start), resultOf(o.End)} {
		if raw != nil {
			*raw, _ = Resolve(x.dir, *raw) // what cannot be had stays as the event has it, which says so
		}
	}
	return x.enc.Encode(o)
}

func argsOf(s *Start) *json.RawMessage {
	if s == nil {
		return nil
	}
	return &s.Args
}

func resultOf(e *End) *json.RawMessage {
	if e == nil {
		return nil
	}
	return &e.Result
}

// unfinished writes the calls without an end, oldest first.
func (x *export) unfinished() error {
	var left []*exported
	for _, o := range x.open {
		left = append(left, o)
	}
	slices.SortFunc(left, func(a, b *exported) int { return cmp.Compare(a.Seq, b.Seq) })
	for _, o := range left {
		if err := x.write(o); err != nil {
			return err
		}
	}
	return nil
}
