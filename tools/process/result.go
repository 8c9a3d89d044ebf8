package process

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/honestty/honestty/outcome"
)

const (
	previewBytes = 1000 // of a poll
	waitBytes    = 2000 // of a wait that saw the end
	listPreview  = 200
	listCommand  = 200
)

// A Result is what one action of the tool returns. Which fields are there
// depends on the action; exit_code, signal and error always are, and null means
// that there is none.
type Result struct {
	Outcome   outcome.Status `json:"outcome" jsonschema:"how the action itself ended: complete, partial, failed, refused, cancelled or unknown"`
	Error     *string        `json:"error" jsonschema:"null only when outcome is complete"`
	Status    string         `json:"status,omitempty" jsonschema:"of the job: running, exited, lost, failed_start; of the action: timeout, interrupted, killed, already_exited, ok, not_found, refused, error"`
	SessionID string         `json:"session_id,omitempty"`
	Command   string         `json:"command,omitempty"`
	Cwd       string         `json:"cwd,omitempty"`
	PID       *int           `json:"pid,omitempty"`
	PTY       bool           `json:"pty,omitempty"`
	StartedAt string         `json:"started_at,omitempty"`
	Uptime    *float64       `json:"uptime_seconds,omitempty"`
	EndedAt   string         `json:"ended_at,omitempty"`

	ExitCode          *int    `json:"exit_code" jsonschema:"null while the job runs and when a signal ended it"`
	Signal            *string `json:"signal" jsonschema:"the signal that ended the job, as the system says"`
	CompletionReason  string  `json:"completion_reason,omitempty" jsonschema:"exited, killed, lost or failed_start"`
	TerminationSource string  `json:"termination_source,omitempty"`

	Output        *string `json:"output,omitempty" jsonschema:"without terminal control sequences; bytes that are not UTF-8 are replaced"`
	OutputBase64  *string `json:"output_base64,omitempty" jsonschema:"the exact bytes, when raw was asked for"`
	OutputPreview *string `json:"output_preview,omitempty" jsonschema:"the end of the output so far"`
	Showing       string  `json:"showing,omitempty"`
	Unit          string  `json:"unit,omitempty" jsonschema:"what offset and next_offset count: lines or bytes"`
	NextOffset    *int64  `json:"next_offset,omitempty" jsonschema:"where reading goes on"`
	FirstByte     *int64  `json:"first_byte,omitempty" jsonschema:"the output shown is first_byte up to and without end_byte, counted from the start of the job"`
	EndByte       *int64  `json:"end_byte,omitempty"`
	TotalBytes    *int64  `json:"total_bytes,omitempty"`
	Discarded     *int64  `json:"discarded_bytes,omitempty" jsonschema:"bytes of total_bytes that cannot be read any more"`
	TotalLines    *int64  `json:"total_lines,omitempty" jsonschema:"-1: not counted"`
	LogPath       string  `json:"log_path,omitempty"`

	Capture      *outcome.Capture `json:"capture,omitempty"`
	Detached     bool             `json:"detached,omitempty" jsonschema:"the host that started the job has ended"`
	LastOutputAt string           `json:"last_output_at,omitempty"`
	LastError    string           `json:"last_error_line,omitempty"`
	Orphans      []Process        `json:"orphans,omitempty" jsonschema:"processes that outlived the job"`
	Stdin        *Stdin           `json:"stdin,omitempty"`
	Watch        *WatchResult     `json:"watch,omitempty"`

	BytesWritten *int      `json:"bytes_written,omitempty" jsonschema:"taken for the job; stdin.bytes_waiting of them are not read yet"`
	BytesRefused *int      `json:"bytes_refused,omitempty"`
	Cols         int       `json:"cols,omitempty"`
	Rows         int       `json:"rows,omitempty"`
	SignalsSent  []string  `json:"signals_sent,omitempty"`
	NotSignalled []string  `json:"not_signalled,omitempty" jsonschema:"processes that were left alone, and why"`
	StillAlive   []Process `json:"still_alive,omitempty"`

	Processes   []Entry  `json:"processes,omitempty"`
	Evicted     int      `json:"evicted,omitempty" jsonschema:"finished jobs that were removed early to make room"`
	TimeoutNote string   `json:"timeout_note,omitempty"`
	Redacted    int      `json:"redacted,omitempty" jsonschema:"secrets that were replaced in what is shown"`
	Notes       []string `json:"notes,omitempty"`
}

// Process names a process in a result.
type Process = outcome.Process

// Stdin is how the input of a job stands, for JSON.
type Stdin struct {
	Open    bool   `json:"open"`
	Why     string `json:"closed_because,omitempty"`
	Taken   int64  `json:"bytes_taken"`
	Waiting int64  `json:"bytes_waiting"`
	Refused int64  `json:"bytes_refused"`
}

// WatchResult is how the watching of a job stands, for JSON.
type WatchResult struct {
	Watch
	State string  `json:"state"`
	Every float64 `json:"every_seconds"`
	Last  *Notice `json:"last_notice,omitempty"`
}

// An Entry is one job of a list.
type Entry struct {
	SessionID         string    `json:"session_id"`
	Command           string    `json:"command"`
	Cwd               string    `json:"cwd"`
	PID               *int      `json:"pid"`
	PTY               bool      `json:"pty"`
	StartedAt         string    `json:"started_at"`
	Uptime            *float64  `json:"uptime_seconds"`
	Status            string    `json:"status"`
	OutputPreview     string    `json:"output_preview"`
	ExitCode          *int      `json:"exit_code"`
	Signal            *string   `json:"signal"`
	CompletionReason  string    `json:"completion_reason,omitempty"`
	TerminationSource string    `json:"termination_source,omitempty"`
	Capture           string    `json:"capture"` // the state, in a word
	TotalBytes        int64     `json:"total_bytes"`
	Discarded         int64     `json:"discarded_bytes"`
	LastOutputAt      string    `json:"last_output_at,omitempty"`
	LastError         string    `json:"last_error_line,omitempty"`
	Detached          bool      `json:"detached,omitempty"`
	WatchPatterns     []string  `json:"watch_patterns,omitempty"`
	WatchHits         int64     `json:"watch_hits,omitempty"`
	Orphans           []Process `json:"orphans,omitempty"`
	Error             string    `json:"error,omitempty"`
}

// statusWord is Hermes' word where it has one. What is lost is not called
// exited.
func statusWord(s State) string {
	if s == Killed {
		return Exited.String()
	}
	return s.String()
}

func reason(s State) string {
	if s.Ended() {
		return s.String()
	}
	return ""
}

func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}

// uptime is how long a job ran, in seconds; nil when that is not known.
func uptime(i Info, now time.Time) *float64 {
	d := i.Duration(now)
	if d < 0 {
		return nil
	}
	s := float64(d.Milliseconds()) / 1000
	return &s
}

func pidOf(i Info) *int {
	if i.PID == 0 {
		return nil
	}
	return &i.PID
}

func signalOf(i Info) *string {
	if i.Signal == 0 {
		return nil
	}
	s := outcome.SignalName(i.Signal)
	return &s
}

// captureState is the state of a job's output in one word.
func captureState(i Info) outcome.State {
	if i.State == FailedStart {
		return outcome.StateNotStarted
	}
	return i.Capture.State()
}

// secret replaces secrets in a text that goes into a result and counts them.
func (t *Table) secret(s string, count *int) string {
	if t.opts.Redact == nil || s == "" {
		return s
	}
	b, n := t.opts.Redact([]byte(s))
	*count += n
	return string(b)
}

// describe fills in what is known of a job.
func (t *Table) describe(r *Result, i Info) {
	now := t.now()
	i.Command, i.LastError = t.secret(i.Command, &r.Redacted), t.secret(i.LastError, &r.Redacted)
	if i.LastNotice != nil {
		n := *i.LastNotice
		n.Lines = t.secret(n.Lines, &r.Redacted)
		i.LastNotice = &n
	}
	r.SessionID, r.Command, r.Cwd, r.PID, r.PTY = i.ID, i.Command, i.Dir, pidOf(i), i.PTY
	r.StartedAt, r.Uptime, r.EndedAt = when(i.Started), uptime(i, now), when(i.Ended)
	r.Status = statusWord(i.State)
	r.ExitCode, r.Signal = i.ExitCode, signalOf(i)
	r.CompletionReason, r.TerminationSource = reason(i.State), i.Termination
	r.Detached = i.Detached
	r.LastOutputAt, r.LastError = when(i.LastOutput), i.LastError
	r.Orphans = i.Orphans
	r.Notes = append(r.Notes, i.Notes...)
	if i.OrphansErr != nil && len(i.Orphans) == 0 {
		r.Notes = append(r.Notes, "nobody could look for processes that outlived it: "+outcome.Errno(i.OrphansErr))
	}
	r.TotalBytes, r.Discarded, r.TotalLines = &i.Kept.Total, &i.Kept.Discarded, &i.Kept.Lines
	r.LogPath = i.Kept.Path
	if i.State != FailedStart {
		c := i.Capture
		r.Capture = &c
	}
	if i.State == Running && !i.Detached {
		in := i.Input
		r.Stdin = &Stdin{in.Open, outcome.Errno(in.Why), in.Taken, in.Waiting, in.Refused}
	} else if n := i.Input.Refused; n > 0 {
		r.Notes = append(r.Notes, outcome.CountBytes(n)+" of input were refused or never reached it")
	}
	if len(i.Watch.Patterns) > 0 {
		r.Watch = &WatchResult{Watch: i.Watch, State: i.Watch.State(), Every: i.Watch.Every.Seconds(), Last: i.LastNotice}
	}
}

// entry makes the line of a list.
func (t *Table) entry(j *Job, i Info, now time.Time) (Entry, int) {
	n := 0
	e := Entry{
		SessionID: i.ID, Command: clip(t.secret(i.Command, &n), listCommand), Cwd: i.Dir, PID: pidOf(i), PTY: i.PTY,
		StartedAt: when(i.Started), Uptime: uptime(i, now), Status: statusWord(i.State),
		ExitCode: i.ExitCode, Signal: signalOf(i), CompletionReason: reason(i.State), TerminationSource: i.Termination,
		Capture: captureState(i).String(), TotalBytes: i.Kept.Total, Discarded: i.Kept.Discarded,
		LastOutputAt: when(i.LastOutput), LastError: t.secret(i.LastError, &n), Detached: i.Detached,
		WatchPatterns: i.Watch.Patterns, WatchHits: i.Watch.Hits, Orphans: i.Orphans, Error: outcome.Errno(i.Err),
	}
	if !i.State.Ended() && !i.Detached && i.Capture.End != outcome.EndBroken {
		e.Capture = Running.String()
	}
	if p, err := j.Tail(listPreview); err == nil {
		secrets := 0
		e.OutputPreview, secrets, _ = t.shown(p.Bytes)
		n += secrets
	} else {
		e.Error = strings.TrimPrefix(e.Error+"; its output could not be read: "+outcome.Errno(err), "; ")
	}
	return e, n
}

// shown makes text of bytes for a caller. It says how many secrets were
// replaced and how many bytes are not shown as they were.
func (t *Table) shown(b []byte) (text string, secrets, changed int) {
	if t.opts.Redact != nil {
		b, secrets = t.opts.Redact(b)
	}
	valid := utf8.Valid(b)
	text, changed = plain(strings.ToValidUTF8(string(b), "\uFFFD"))
	if !valid {
		changed++
	}
	return text, secrets, changed
}

// show puts a page into the result.
func (t *Table) show(r *Result, p Page, raw bool) {
	text, secrets, changed := t.shown(p.Bytes)
	r.Output, r.Showing = &text, p.Showing()
	r.Redacted += secrets
	r.FirstByte, r.EndByte = &p.From, &p.To
	r.TotalBytes, r.Discarded, r.TotalLines = &p.Total, &p.Discarded, &p.TotalLines
	r.Notes = append(r.Notes, p.Notes...)
	switch {
	case raw && secrets > 0:
		r.Notes = append(r.Notes, "the exact bytes are left out because secrets were replaced in them; the log file has them")
	case raw:
		s := base64.StdEncoding.EncodeToString(p.Bytes)
		r.OutputBase64 = &s
	case changed > 0:
		r.Notes = append(r.Notes, "terminal control sequences were left out, or bytes that are not UTF-8 replaced; ask with raw for the exact bytes")
	}
}

// notWhole is why the output of a job is not whole: of one that has ended, or
// whose reader has. It is nil while a job runs and is read: then nobody can tell
// yet.
func notWhole(i Info) error {
	if i.State == FailedStart || !i.State.Ended() && !i.Detached && i.Capture.End != outcome.EndBroken {
		return nil
	}
	return i.Capture.Err("output")
}

// judge says how a job that has ended did, in the words of outcome.
func judge(i Info) (outcome.Status, error) {
	if i.State == FailedStart {
		return outcome.Failed, i.Err
	}
	r := outcome.Result{
		PID: i.PID, ExitCode: i.ExitCode, Signal: i.Signal, Err: i.Err,
		Output: outcome.Stream{Capture: i.Capture},
	}
	r.Judge(nil)
	if i.State == Lost && !errors.Is(r.Err, outcome.ErrLost) {
		r.Status = outcome.Unknown
	}
	return r.Status, r.Err
}

// sentence says in one line how a job stands, for lists and summaries.
func sentence(i Info, now time.Time) string {
	took := outcome.Duration(i.Duration(now))
	switch {
	case i.State == Running && i.Detached:
		return "runs on; output after " + i.DetachedFrom.Format("15:04") + " cannot be read"
	case i.State == Running:
		return fmt.Sprintf("running for %s, %s so far", took, outcome.Size(i.Kept.Total))
	case i.State == FailedStart:
		return outcome.Errno(i.Err)
	case i.ExitCode != nil:
		return fmt.Sprintf("exit %d after %s, %s", *i.ExitCode, took, i.Capture.Sentence())
	case i.Signal != 0:
		return fmt.Sprintf("ended by %s after %s, %s", outcome.SignalName(i.Signal), took, i.Capture.Sentence())
	}
	return "lost: how it ended is not known"
}
