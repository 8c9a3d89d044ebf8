package fdmeter

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
)

// Params are the parameters of the tool.
type Params struct {
	PIDs  []int    `json:"pids,omitempty" jsonschema:"processes by pid"`
	Names []string `json:"names,omitempty" jsonschema:"processes by name"`
	Limit int      `json:"limit,omitempty" jsonschema:"without pids and names: how many processes, those nearest to a limit first; 20 when not given"`
}

// A ToolResult is what the tool answers.
type ToolResult struct {
	Report  `json:"-"`
	Status  outcome.Status `json:"status"`
	Error   *string        `json:"error" jsonschema:"null only when everything asked for was counted"`
	Missing []string       `json:"missing,omitempty" jsonschema:"names that no process has"`
}

// MarshalJSON puts the keys of the report and those of the tool into one object.
func (r *ToolResult) MarshalJSON() ([]byte, error) {
	raw, err := json.Marshal(r.Report)
	if err != nil {
		return nil, err
	}
	var all map[string]any
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, err
	}
	all["status"], all["error"] = r.Status, r.Error
	if len(r.Missing) > 0 {
		all["missing"] = r.Missing
	}
	return json.Marshal(all)
}

// defaultProcesses is how many processes a report has when none was named.
const defaultProcesses = 20

// Tool is the tool that counts descriptors.
func Tool(m *Meter) tools.Tool {
	return tools.Tool{
		Name:   "fd_report",
		Short:  "Count open descriptors, and say how near processes are to their limits",
		Params: Params{}, Result: ToolResult{},
		Title: func(raw json.RawMessage) string {
			var p Params
			if json.Unmarshal(raw, &p) != nil {
				return "parameters that cannot be read"
			}
			if len(p.PIDs)+len(p.Names) == 0 {
				return "the processes nearest to a limit"
			}
			return strings.Trim(fmt.Sprint(p.PIDs, " ", strings.Join(p.Names, " ")), "[] ")
		},
		Run: func(ctx context.Context, _ *tools.Call, raw json.RawMessage) tools.Answer {
			var p Params
			dec := json.NewDecoder(bytes.NewReader(raw))
			dec.DisallowUnknownFields()
			if err := dec.Decode(&p); err != nil && len(raw) > 0 {
				return tools.Refuse("the parameters cannot be read: %v", err)
			}
			return m.report(ctx, p, time.Now())
		},
	}
}

func (m *Meter) report(ctx context.Context, p Params, now time.Time) tools.Answer {
	r := &ToolResult{Report: Report{System: m.System()}, Status: outcome.Complete}
	errs := m.asked(r, p, now)
	if len(p.PIDs)+len(p.Names) == 0 {
		errs = append(errs, m.nearest(r, p.Limit, now))
	}
	if err := ctx.Err(); err != nil {
		errs = append(errs, err)
	}
	a := tools.Answer{Result: r, Summary: fmt.Sprintf("%d processes counted", len(r.Processes))}
	if err := errors.Join(errs...); err != nil {
		text := strings.ReplaceAll(err.Error(), "\n", "; ")
		r.Error, a.Err, a.Summary = &text, err, text
		r.Status = outcome.Partial
		if len(r.Processes) == 0 {
			r.Status = outcome.Failed
		}
	}
	a.Status = r.Status
	return a
}

// asked reads the processes that were named.
func (m *Meter) asked(r *ToolResult, p Params, now time.Time) (errs []error) {
	pids := p.PIDs
	for _, name := range p.Names {
		found, scan := m.Find(name)
		switch {
		case !scan.Listed:
			errs = append(errs, fmt.Errorf("find %q: %s", name, scan.Cause))
		case len(found) == 0:
			r.Missing = append(r.Missing, name)
			errs = append(errs, fmt.Errorf("no process is called %q", name))
		}
		for _, proc := range found {
			pids = append(pids, proc.PID)
		}
	}
	for _, pid := range pids {
		reading := m.ReadTypes(pid, now)
		r.Processes = append(r.Processes, reading)
		if !reading.Count.Known() {
			errs = append(errs, fmt.Errorf("pid %d: %s", pid, reading.Count.Reason()))
		}
	}
	return errs
}

// nearest reads the processes that are nearest to a line.
func (m *Meter) nearest(r *ToolResult, limit int, now time.Time) error {
	all, scan := m.All()
	if !scan.Listed {
		return fmt.Errorf("list processes: %s", scan.Cause)
	}
	ratio := func(x Reading) float64 {
		line, ok := Nearest(x)
		if !ok {
			return -1
		}
		of, _ := line.Ratio()
		return of
	}
	for _, proc := range all {
		if x := m.Read(proc.PID, now); x.Count.Cause() != Gone {
			r.Processes = append(r.Processes, x)
		}
	}
	slices.SortStableFunc(r.Processes, func(x, y Reading) int { return cmp.Compare(ratio(y), ratio(x)) })
	if limit <= 0 {
		limit = defaultProcesses
	}
	r.Processes = r.Processes[:min(len(r.Processes), limit)]
	switch n := scan.Unseen(); {
	case n > 0:
		return fmt.Errorf("processes that could not be looked at: %d", n)
	case scan.Hidden:
		return errors.New("processes of other users are hidden from this user")
	}
	return nil
}
