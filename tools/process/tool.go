package process

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/honestty/honestty/internal/proc"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/ptybridge"
	"github.com/honestty/honestty/tools"
)

const (
	// defaultWait and maxWait are how long the tool waits for a job when the
	// caller names no time, and at most: a call that hangs longer looks broken.
	defaultWait = 180 * time.Second
	maxWait     = 600 * time.Second
)

// Params are what a caller of the tool sends.
type Params struct {
	Action    string   `json:"action" jsonschema:"start, list, poll, log, wait, kill, write, submit, close or resize"`
	SessionID string   `json:"session_id,omitempty" jsonschema:"the job, or a beginning of its id that no other job has; for every action but start and list"`
	Command   string   `json:"command,omitempty" jsonschema:"for start: a shell command"`
	Workdir   string   `json:"workdir,omitempty" jsonschema:"for start: the directory; relative ones are meant from the caller's"`
	PTY       bool     `json:"pty,omitempty" jsonschema:"for start: give it a terminal instead of pipes"`
	Cols      int      `json:"cols,omitempty" jsonschema:"for start with pty, 120 when not given, and resize"`
	Rows      int      `json:"rows,omitempty" jsonschema:"for start with pty, 30 when not given, and resize"`
	Watch     []string `json:"watch_patterns,omitempty" jsonschema:"for start: tell when a line of output contains one of these; one that begins with re: is a regular expression"`
	Data      *string  `json:"data,omitempty" jsonschema:"for write: the bytes as they are; for submit: a line, the newline is added"`
	Timeout   *float64 `json:"timeout,omitempty" jsonschema:"seconds; for wait: how long to wait, 180 when not given, at most 600; for kill: between TERM and KILL"`
	Offset    *int64   `json:"offset,omitempty" jsonschema:"for log: how many lines to skip from the start, or with unit bytes the first byte; not given: the end of the output"`
	Limit     *int     `json:"limit,omitempty" jsonschema:"for log: how many lines, 200 when not given, or bytes, 65536 when not given"`
	Unit      string   `json:"unit,omitempty" jsonschema:"for log: lines or bytes; lines when not given"`
	Raw       bool     `json:"raw,omitempty" jsonschema:"for log: the exact bytes as well, in base64"`
}

// Tool wraps a table as the tool that agents know as process.
func Tool(t *Table) tools.Tool {
	return tools.Tool{
		Name:   "process",
		Short:  "start, watch, feed and stop background processes",
		Params: Params{},
		Result: Result{},
		Title:  title,
		Run: func(ctx context.Context, c *tools.Call, raw json.RawMessage) tools.Answer {
			var p Params
			if err := json.Unmarshal(raw, &p); err != nil {
				return t.answer(&Result{}, fmt.Errorf("read the parameters: %w", &UsageError{"params", err.Error()}), "")
			}
			act, ok := actions[p.Action]
			if !ok {
				return t.answer(&Result{}, &UsageError{"action", quote(p.Action) + " is none; there are start, list, poll, log, wait, kill, write, submit, close and resize"}, "")
			}
			return act(ctx, t, c, p)
		},
	}
}

// title says what a call is about. The parameters may be malformed.
func title(raw json.RawMessage) string {
	var p Params
	if json.Unmarshal(raw, &p) != nil || p.Action == "" {
		return "process"
	}
	about := cmp.Or(p.SessionID, p.Command)
	if p.Action == "start" {
		about = p.Command
	}
	return strings.TrimSpace(p.Action + " " + about)
}

type action func(ctx context.Context, t *Table, c *tools.Call, p Params) tools.Answer

// actions is what the tool can do. Those made by onJob are given the job.
var actions = map[string]action{
	"start":  startAction,
	"list":   listAction,
	"poll":   onJob(pollAction),
	"log":    onJob(logAction),
	"wait":   onJob(waitAction),
	"kill":   onJob(killAction),
	"write":  onJob(writeAction),
	"submit": onJob(writeAction),
	"close":  onJob(closeAction),
	"resize": onJob(resizeAction),
}

func onJob(do func(ctx context.Context, j *Job, p Params, r *Result) (string, error)) action {
	return func(ctx context.Context, t *Table, _ *tools.Call, p Params) tools.Answer {
		r := &Result{}
		j, err := t.Get(p.SessionID)
		if err != nil {
			return t.answer(r, err, "")
		}
		r.SessionID = j.ID()
		summary, err := do(ctx, j, p, r)
		return t.answer(r, err, summary)
	}
}

// answer judges the action by its error and fills in what every result has.
func (t *Table) answer(r *Result, err error, summary string) tools.Answer {
	a := tools.Answer{Status: outcome.Complete, Err: err, Result: r, Summary: summary}
	switch {
	case err == nil:
	case r.Outcome != outcome.Unknown:
		a.Status = r.Outcome
	default:
		a.Status = statusOf(err)
	}
	r.Outcome = a.Status
	if err != nil {
		s := strings.ReplaceAll(err.Error(), "\n", "; ")
		r.Error = &s
		a.Summary = cmp.Or(summary, s)
		if r.Status == "" {
			r.Status = wordFor(err)
		}
	}
	return a
}

func statusOf(err error) outcome.Status {
	switch {
	case errors.Is(err, outcome.ErrRefused):
		return outcome.Refused
	case errors.Is(err, ErrInterrupted):
		return outcome.Cancelled
	case errors.Is(err, ErrInputFull), errors.Is(err, outcome.ErrTimeout), errors.Is(err, outcome.ErrDetached):
		return outcome.Partial
	case errors.Is(err, outcome.ErrUnknownEnd):
		return outcome.Unknown
	}
	return outcome.Failed
}

func wordFor(err error) string {
	switch {
	case errors.Is(err, ErrNotFound):
		return "not_found"
	case errors.Is(err, outcome.ErrRefused):
		return "refused"
	case errors.Is(err, outcome.ErrNotStarted):
		return FailedStart.String()
	}
	return "error"
}

func startAction(ctx context.Context, t *Table, c *tools.Call, p Params) tools.Answer {
	r := &Result{Command: p.Command}
	if strings.TrimSpace(p.Command) == "" {
		return t.answer(r, &UsageError{"command", "no command given"}, "")
	}
	if p.Cols < 0 || p.Rows < 0 {
		return t.answer(r, &UsageError{"cols and rows", "a size is at least 1 by 1"}, "")
	}
	if t.opts.Ask != nil {
		if q := t.opts.Ask(p.Command); q != nil {
			if err := c.Ask(ctx, *q); err != nil {
				return t.answer(r, err, "")
			}
		}
	}
	s := Spec{
		Command: append(shell(), p.Command), Title: p.Command, Dir: c.Dir, Env: c.Env, PTY: p.PTY,
		Size: ptybridge.Size{Cols: p.Cols, Rows: p.Rows},
	}
	if p.Workdir != "" {
		s.Dir = p.Workdir
		if !filepath.IsAbs(s.Dir) {
			s.Dir = filepath.Join(c.Dir, s.Dir)
		}
	}
	for _, w := range p.Watch {
		s.Watch = append(s.Watch, ParsePattern(w))
	}
	if ctx.Err() != nil {
		r.Outcome = outcome.Cancelled
		return t.answer(r, errors.New("interrupted before the job was started"), "")
	}
	j, err := t.Start(s)
	if j == nil {
		return t.answer(r, err, "")
	}
	i := j.Info()
	t.describe(r, i)
	if err != nil {
		return t.answer(r, err, "")
	}
	said := "Background process started"
	r.Output = &said
	r.Cols, r.Rows = i.Size.Cols, i.Size.Rows
	switch {
	case !p.PTY && (p.Cols > 0 || p.Rows > 0):
		r.Notes = append(r.Notes, "columns and rows are for a terminal: without pty they were not used")
	case p.Cols > r.Cols || p.Rows > r.Rows:
		r.Notes = append(r.Notes, clampNote)
	}
	return t.answer(r, nil, fmt.Sprintf("%s started, pid %d", i.ID, i.PID))
}

// shell is what runs a command line: bash where there is one.
func shell() []string {
	if path, err := proc.LookPath("bash", "", os.Environ()); err == nil {
		return []string{path, "-c"}
	}
	return []string{"/bin/sh", "-c"}
}

func listAction(_ context.Context, t *Table, _ *tools.Call, _ Params) tools.Answer {
	r := &Result{Processes: []Entry{}, Evicted: t.Evicted()}
	now, running := t.now(), 0
	for _, i := range t.List() {
		j, err := t.Get(i.ID)
		if err != nil {
			continue // removed since
		}
		e, n := t.entry(j, i, now)
		r.Redacted += n
		r.Processes = append(r.Processes, e)
		if i.State == Running {
			running++
		}
	}
	for _, err := range t.Problems() {
		r.Notes = append(r.Notes, outcome.Errno(err))
	}
	return t.answer(r, nil, fmt.Sprintf("%d jobs, %d running", len(r.Processes), running))
}

func pollAction(_ context.Context, j *Job, _ Params, r *Result) (string, error) {
	return tail(j, previewBytes, r)
}

// tail describes the job and shows the end of its output.
func tail(j *Job, limit int, r *Result) (string, error) {
	t := j.table
	i := j.Info()
	t.describe(r, i)
	p, err := j.Tail(limit)
	if err != nil {
		return "", err
	}
	t.show(r, p, false)
	r.OutputPreview, r.Output = r.Output, nil
	return sentence(i, t.now()), notWhole(i)
}

func logAction(_ context.Context, j *Job, p Params, r *Result) (string, error) {
	t := j.table
	r.Unit = cmp.Or(p.Unit, "lines")
	var page Page
	var err error
	switch {
	case r.Unit == "bytes" && p.Offset != nil:
		page, err = j.Log(*p.Offset, limitOf(p, DefaultPage))
	case r.Unit == "bytes":
		page, err = j.Tail(limitOf(p, DefaultPage))
	case r.Unit == "lines" && p.Offset != nil:
		page, err = j.Lines(*p.Offset, limitOf(p, DefaultLines))
	case r.Unit == "lines":
		page, err = j.LastLines(limitOf(p, DefaultLines))
	default:
		err = &UsageError{"unit", quote(p.Unit) + " is none; there are lines and bytes"}
	}
	i := j.Info()
	if err != nil {
		return "", err
	}
	t.describe(r, i)
	t.show(r, page, p.Raw)
	next := page.To
	if r.Unit == "lines" {
		next = page.LastLine
		if page.FirstLine == 0 {
			next = page.TotalLines
		}
	}
	r.NextOffset = &next
	return page.Showing(), notWhole(i)
}

func limitOf(p Params, otherwise int) int {
	if p.Limit == nil {
		return otherwise
	}
	return *p.Limit
}

// seconds reads a timeout. Zero and below are errors.
func seconds(p Params, otherwise time.Duration, what string) (time.Duration, error) {
	if p.Timeout == nil {
		return otherwise, nil
	}
	s := *p.Timeout
	if !(s > 0) {
		return 0, &UsageError{"timeout", fmt.Sprintf("%v seconds cannot be %s; give a number above 0", s, what)}
	}
	return time.Duration(math.Min(s, 1e6) * float64(time.Second)), nil
}

func waitAction(ctx context.Context, j *Job, p Params, r *Result) (string, error) {
	limit, err := seconds(p, defaultWait, "waited")
	if err != nil {
		return "", err
	}
	if limit > maxWait {
		r.TimeoutNote = fmt.Sprintf("a wait is at most %s; that was used instead of %s", outcome.Duration(maxWait), outcome.Duration(limit))
		limit = maxWait
	}
	i, err := j.Wait(ctx, limit)
	size := waitBytes
	if err != nil {
		size = previewBytes
	}
	summary, readErr := tail(j, size, r)
	r.Output, r.OutputPreview = r.OutputPreview, nil
	switch {
	case errors.Is(err, outcome.ErrTimeout):
		r.Status = "timeout"
	case errors.Is(err, ErrInterrupted):
		r.Status = "interrupted"
	case err != nil:
	case readErr != nil && r.Output == nil:
		err = readErr
	default:
		r.Outcome, err = judge(i)
	}
	return summary, err
}

func killAction(ctx context.Context, j *Job, p Params, r *Result) (string, error) {
	grace, err := seconds(p, 0, "the time between TERM and KILL")
	if err != nil {
		return "", err
	}
	k, err := j.Kill(ctx, grace)
	j.table.describe(r, k.Info)
	for _, s := range k.Sent {
		r.SignalsSent = append(r.SignalsSent, outcome.SignalName(s))
	}
	for _, no := range k.Refused {
		r.NotSignalled = append(r.NotSignalled, fmt.Sprintf("%v: %s", no.Process, outcome.Errno(no.Err)))
	}
	r.StillAlive = k.Left
	switch {
	case err != nil:
		r.Status = "error"
	case k.Already:
		r.Status = "already_exited"
	default:
		r.Status = "killed"
		if len(k.Left) > 0 {
			err = fmt.Errorf("the job has ended and %d processes of it live on: %w", len(k.Left),
				&outcome.DetachedError{Stream: "job", Holders: k.Left})
		}
	}
	return sentence(k.Info, j.table.now()), err
}

func writeAction(_ context.Context, j *Job, p Params, r *Result) (string, error) {
	if p.Data == nil {
		return "", &UsageError{"data", "nothing to write was given"}
	}
	var n int
	var err error
	size := len(*p.Data)
	if p.Action == "submit" {
		size++
		n, err = j.Submit(*p.Data)
	} else {
		n, err = j.Write([]byte(*p.Data))
	}
	i := j.Info()
	j.table.describe(r, i)
	refused := size - n
	r.BytesWritten, r.BytesRefused = &n, &refused
	if err == nil {
		r.Status = "ok"
	}
	return outcome.CountBytes(int64(n)) + " written", err
}

func closeAction(_ context.Context, j *Job, _ Params, r *Result) (string, error) {
	err := j.CloseStdin()
	i := j.Info()
	j.table.describe(r, i)
	if err != nil {
		return "", err
	}
	r.Status = "ok"
	if i.PTY {
		r.Notes = append(r.Notes, "a terminal has no end of input: Ctrl+D was typed, and the terminal stays open")
	}
	return "input closed", nil
}

// clampNote says that a size is not the one that was asked for.
var clampNote = fmt.Sprintf("the size was brought within 1–%d columns and 1–%d rows", ptybridge.MaxCols, ptybridge.MaxRows)

func resizeAction(_ context.Context, j *Job, p Params, r *Result) (string, error) {
	if p.Cols <= 0 || p.Rows <= 0 {
		return "", &UsageError{"cols and rows", "both are needed, above 0"}
	}
	want := ptybridge.Size{Cols: p.Cols, Rows: p.Rows}
	got, err := j.Resize(want)
	if err != nil {
		return "", err
	}
	j.table.describe(r, j.Info())
	r.Status, r.Cols, r.Rows = "ok", got.Cols, got.Rows
	if got != want {
		r.Notes = append(r.Notes, clampNote)
	}
	return fmt.Sprintf("%d columns by %d rows", got.Cols, got.Rows), nil
}
