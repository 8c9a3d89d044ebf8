package cli

import (
	"encoding/json"

	"github.com/honestty/honestty/internal/redact"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/terminal"
)

// A runResult is an outcome.Result as run prints it and the journal keeps it:
// with what the exit code means, and how many secrets were masked.
type runResult struct {
	Output        *string         `json:"output"` // null: it went on, and is not in here
	OutputBase64  *string         `json:"output_base64,omitempty"`
	Stderr        *string         `json:"stderr,omitempty"`
	StderrBase64  *string         `json:"stderr_base64,omitempty"`
	Order         *string         `json:"stream_order,omitempty"`
	ExitCode      *int            `json:"exit_code"`
	Error         *string         `json:"error"`
	Status        string          `json:"status"`
	Signal        *string         `json:"signal"`
	Meaning       *string         `json:"exit_code_meaning"`
	PID           *int            `json:"pid"`
	DurationMS    int64           `json:"duration_ms"`
	Capture       json.RawMessage `json:"capture"`
	StderrCapture json.RawMessage `json:"stderr_capture,omitempty"`
	Redactions    int             `json:"redactions"`
	Waiting       string          `json:"waiting"`
	Notes         []string        `json:"notes"`
}

// newRunResult adds what run knows of the command to its result, as it came.
func newRunResult(r *outcome.Result, argv []string) *runResult {
	out := &runResult{}
	raw, err := json.Marshal(r)
	if err == nil {
		err = json.Unmarshal(raw, out)
	}
	if err != nil {
		why := "the result could not be written: " + err.Error()
		return &runResult{Error: &why, Status: outcome.Unknown.String(), Notes: []string{}}
	}
	if r.ExitCode != nil && isExit(r.Err) {
		if m := terminal.Meaning(shellJoin(argv), *r.ExitCode, *out.Output); m != "" {
			out.Meaning = &m
		}
	}
	return out
}

// handedOn takes the output out: it went to our own output, and an empty text
// in its place would say that there was none.
func (r *runResult) handedOn() {
	r.Output, r.OutputBase64, r.Stderr, r.StderrBase64 = nil, nil, nil, nil
	r.Notes = append(r.Notes, "the output went on to the caller: this record does not carry it")
}

// shownResult is newRunResult with its secrets masked and counted.
func shownResult(r *outcome.Result, argv []string) *runResult {
	shown, n := *r, 0
	shown.Output.Bytes, n = redact.Bytes(r.Output.Bytes)
	count := n
	if r.Stderr != nil {
		shown.Stderr = &outcome.Stream{Capture: r.Stderr.Capture}
		shown.Stderr.Bytes, n = redact.Bytes(r.Stderr.Bytes)
		count += n
	}
	out := newRunResult(&shown, argv)
	if out.Error != nil {
		*out.Error, n = redact.String(*out.Error)
		count += n
	}
	if out.Redactions = count; count > 0 {
		out.Notes = append(out.Notes, "secrets are masked here: "+outcome.Count(int64(count))+"; without --json every byte is passed on as it came")
	}
	return out
}
