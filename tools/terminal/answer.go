package terminal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/honestty/honestty/internal/redact"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
)

// A Job is one command under the contract of the tool: what terminal and
// execute_code have in common.
type Job struct {
	Argv    []string
	Dir     string
	Env     []string // nil: our own environment
	Stdin   *string  // nil: /dev/null
	PTY     bool
	Timeout time.Duration // 0: none
	Script  string        // the shell command that Argv runs, for the meaning of its code; may be empty
	Notes   []string      // said in the result before its own

	// NotRun is why nothing is to be run: only the call is answered. It matches
	// outcome.ErrRefused, or context.Canceled where the caller took the call
	// back; any other error is one of starting.
	NotRun error

	fault fault
}

// Result is the JSON that the caller of the tool gets. Every key is always
// there. Error is null only when Status is complete: a code that is no failure
// for who knows the command (grep: 1) still is not 0, so the status is failed,
// the error says "exit 1", and exit_code_meaning says what that means.
type Result struct {
	Output           string         `json:"output" jsonschema:"both streams in their true order, without terminal control sequences, secrets masked"`
	ExitCode         *int           `json:"exit_code" jsonschema:"as the system gave it; null when there is none"`
	Error            *string        `json:"error" jsonschema:"null only when status is complete"`
	Status           string         `json:"status" jsonschema:"complete, partial, failed, refused, cancelled or unknown"`
	ExitCodeMeaning  *string        `json:"exit_code_meaning" jsonschema:"what the code means where it would mislead; null where that is not known"`
	Signal           *string        `json:"signal" jsonschema:"the signal that ended it"`
	PID              *int           `json:"pid"`
	DurationMS       int64          `json:"duration_ms"`
	Capture          any            `json:"capture" jsonschema:"what is known of the output: state, bytes_read, bytes_shown, bytes_lost (-1: uncounted), end, cause, spill, holders"`
	OutputTotalBytes int64          `json:"output_total_bytes" jsonschema:"bytes that were read"`
	ControlBytes     int64          `json:"control_bytes" jsonschema:"of these, bytes of terminal control sequences"`
	Omitted          Omitted        `json:"omitted" jsonschema:"what is left out of the middle of output"`
	FullOutputPath   *string        `json:"full_output_path" jsonschema:"private file with every byte as it came, where output does not show it so"`
	Partial          *PartialOutput `json:"partial_output" jsonschema:"private file with the beginning, when its limit was reached"`
	Redactions       int            `json:"redactions" jsonschema:"secrets that were masked in output"`
	Waiting          string         `json:"waiting" jsonschema:"the mechanism that waited for the output: epoll, kqueue, poll"`
	Notes            []string       `json:"notes" jsonschema:"every fallback and limit that shaped the result"`
}

// A PartialOutput is a spill file that reached its limit.
type PartialOutput struct {
	Path    string `json:"path"`
	Bytes   int64  `json:"bytes" jsonschema:"the first bytes of the output, which it has"`
	NotKept int64  `json:"not_kept" jsonschema:"bytes that were read and are not in it"`
}

// Answer runs a job and answers the call. It asks nobody: that is done before.
func (d Deps) Answer(ctx context.Context, c *tools.Call, j Job) tools.Answer {
	if j.NotRun != nil {
		return notRun(j.NotRun)
	}
	s := Spec{
		Command: j.Argv, Dir: j.Dir, Env: j.Env, Timeout: j.Timeout, PTY: j.PTY,
		Keep: orElse(d.Shown, DefaultShown), SpillDir: d.SpillDir, SpillMax: d.SpillMax,
		Text: true, Live: c.Live, Poller: d.Poller, fault: j.fault,
	}
	if j.Stdin != nil {
		f, err := inputFile(d.SpillDir, *j.Stdin)
		if err != nil {
			r := &outcome.Result{}
			notStarted(r, "keep the input", err)
			return answer(r, nil, j)
		}
		defer f.Close()
		s.Stdin = f
	}
	r, kept := execute(ctx, s)
	return answer(r, kept, j)
}

// inputFile is a file without a name that holds the input: no writer has to
// wait for a command that does not read.
func inputFile(dir, input string) (*os.File, error) {
	if dir != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	f, err := os.CreateTemp(dir, "in-*")
	if err != nil {
		return nil, err
	}
	_, err = f.WriteString(input)
	if err == nil {
		_, err = f.Seek(0, 0)
	}
	if err = errors.Join(os.Remove(f.Name()), err); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func answer(r *outcome.Result, kept *keeper, j Job) tools.Answer {
	r.Notes = append(append([]string{}, j.Notes...), r.Notes...)
	res := newResult(r, kept)
	if m := meaning(r, j.Script, res.Output); m != "" {
		res.ExitCodeMeaning = &m
	}
	a := tools.Answer{Status: r.Status, Err: r.Err, Result: res, Summary: r.Output.Capture.Sentence()}
	switch {
	case r.Err == nil:
	case r.State() == outcome.StateNotStarted || !r.Whole():
		a.Summary = *res.Error
	default:
		a.Summary = *res.Error + "; " + a.Summary
	}
	return a
}

func meaning(r *outcome.Result, script, output string) string {
	stopped := errors.Is(r.Err, outcome.ErrTimeout) || errors.Is(r.Err, ErrInterrupted)
	switch {
	case r.Signal != 0:
		return signalMeaning(r.Signal, stopped)
	case r.ExitCode == nil || script == "" || stopped:
		return ""
	}
	return Meaning(script, *r.ExitCode, output)
}

func newResult(r *outcome.Result, kept *keeper) *Result {
	res := &Result{
		ExitCode: r.ExitCode, Status: r.Status.String(), DurationMS: r.Duration.Milliseconds(),
		Capture: capture(r), Waiting: r.Waiting, Notes: append([]string{}, r.Notes...),
		OutputTotalBytes: r.Output.Capture.Read,
	}
	if r.PID != 0 {
		res.PID = &r.PID
	}
	if r.Signal != 0 {
		s := outcome.SignalName(r.Signal)
		res.Signal = &s
	}
	if r.Err != nil {
		s, n := redact.String(oneLine(r.Err))
		res.Error, res.Redactions = &s, n
	}
	if kept != nil {
		res.fill(kept)
	}
	return res
}

// fill takes what was kept of the output.
func (res *Result) fill(k *keeper) {
	res.Omitted, res.ControlBytes = k.show.left, k.controls()
	if k.show.left.Bytes == 0 {
		res.Output = res.mask(append(k.head, k.tail...))
	} else {
		head, tail, halves := wholeKeys(k.head, k.tail)
		res.Redactions += halves
		res.Output = res.mask(head) + k.show.left.marker(k.head) + res.mask(tail)
	}
	if sp := k.spill; sp != nil && k.err == nil && sp.path != "" {
		if sp.full == "" {
			res.FullOutputPath = &sp.path
		} else {
			res.Partial = &PartialOutput{Path: sp.path, Bytes: sp.written, NotKept: k.read - sp.written}
		}
	}
	if res.Redactions > 0 {
		note := "secrets are masked in output: " + outcome.Count(int64(res.Redactions))
		if res.FullOutputPath != nil || res.Partial != nil {
			note += "; the private file has them as they came"
		}
		res.Notes = append(res.Notes, note)
	}
}

// mask makes text of bytes and masks the secrets in it.
func (res *Result) mask(b []byte) string {
	s, n := redact.String(strings.ToValidUTF8(string(b), "\uFFFD"))
	res.Redactions += n
	return s
}

const (
	keyBegin = "-----BEGIN "
	keyEnd   = "-----END "
)

// wholeKeys masks the halves of a private key that the cut went through, and
// counts them: what masks secrets knows a key by its two ends.
func wholeKeys(head, tail []byte) (h, t []byte, halves int) {
	if i := bytes.LastIndex(head, []byte(keyBegin)); i >= 0 && isKey(head[i:]) && !bytes.Contains(head[i:], []byte(keyEnd)) {
		head = append(bytes.Clone(head[:i]), "[the beginning of a key is masked]\n"...)
		halves++
	}
	if i := bytes.Index(tail, []byte(keyEnd)); i >= 0 && isKey(tail[i:]) && !bytes.Contains(tail[:i], []byte(keyBegin)) {
		tail = append([]byte("[the rest of a key is masked]\n"), tail[i:]...)
		halves++
	}
	return head, tail, halves
}

// isKey reports whether the line of a key block names a private key.
func isKey(p []byte) bool {
	line, _, _ := bytes.Cut(p, []byte{'\n'})
	return bytes.Contains(line, []byte("PRIVATE KEY"))
}

// capture is the capture of the result in JSON, with the state "not started"
// where there was no command.
func capture(r *outcome.Result) json.RawMessage {
	bare := *r
	bare.Output.Bytes = nil
	var m struct {
		Capture json.RawMessage `json:"capture"`
	}
	raw, err := json.Marshal(&bare)
	if err == nil {
		err = json.Unmarshal(raw, &m)
	}
	if err != nil {
		return json.RawMessage(fmt.Sprintf(`{"state":"unknown","cause":%q}`, err.Error()))
	}
	return m.Capture
}
