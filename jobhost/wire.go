package jobhost

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/process"
)

// Service is the name under which the host listens, see ctl.Env.
const Service = "jobs"

// The methods.
const (
	methodTool   = "tool"
	methodList   = "list"
	methodRead   = "read"
	methodWrite  = "write"
	methodResize = "resize"
	methodStop   = "stop"
)

// A toolParams is one call of the process tool.
type toolParams struct {
	Dir    string          `json:"dir"`
	Env    []string        `json:"env"`
	Params json.RawMessage `json:"params"`
}

// A toolResult is its answer.
type toolResult struct {
	Status  outcome.Status  `json:"status"`
	Refused bool            `json:"refused"` // the error is a rule's no
	Error   string          `json:"error"`
	Summary string          `json:"summary"`
	Result  json.RawMessage `json:"result"`
}

type listParams struct{}

type listResult struct {
	Jobs []Job `json:"jobs"`
}

// A Job is one background job as others than its host see it.
type Job struct {
	ID          string            `json:"id"`
	Command     string            `json:"command"`
	Dir         string            `json:"dir"`
	PID         int               `json:"pid"`
	PTY         bool              `json:"pty"`
	Cols        int               `json:"cols"`
	Rows        int               `json:"rows"`
	State       string            `json:"state"` // process.State in words
	Running     bool              `json:"running"`
	Detached    bool              `json:"detached"` // of a host that is gone: no input, no more output
	Started     time.Time         `json:"started"`
	Ended       time.Time         `json:"ended"`
	DurationMS  int64             `json:"duration_ms"` // -1: not known
	ExitCode    *int              `json:"exit_code"`
	Signal      string            `json:"signal"`
	Error       string            `json:"error"`
	Output      outcome.State     `json:"output"`      // of the capture; unknown while it runs
	Sentence    string            `json:"sentence"`    // what is known of the output, in words; empty while it runs
	Read        int64             `json:"bytes_read"`  //
	KeptFrom    int64             `json:"kept_from"`   // the first byte that is still kept
	LastOutput  time.Time         `json:"last_output"` //
	LastError   string            `json:"last_error"`  // the last line that looks like a failure
	Descriptors *int64            `json:"descriptors"` // its process holds; nil: not known
	TakesKeys   bool              `json:"takes_keys"`  // a terminal: every key, and a size
	TakesLines  bool              `json:"takes_lines"` // a pipe: lines
	Orphans     []outcome.Process `json:"orphans"`
	Notes       []string          `json:"notes"`
}

func jobOf(i process.Info, now time.Time) Job {
	j := Job{
		ID: i.ID, Command: i.Command, Dir: i.Dir, PID: i.PID, PTY: i.PTY, Cols: i.Size.Cols, Rows: i.Size.Rows,
		State: i.State.String(), Running: i.State == process.Running, Detached: i.Detached,
		Started: i.Started, Ended: i.Ended, DurationMS: -1, ExitCode: i.ExitCode,
		Read: i.Kept.Total, KeptFrom: i.Kept.From, LastOutput: i.LastOutput, LastError: i.LastError,
		TakesKeys: i.Input.Takes == process.TakesKeys, TakesLines: i.Input.Takes == process.TakesLines,
		Orphans: append([]outcome.Process{}, i.Orphans...), Notes: append([]string{}, i.Notes...),
	}
	if d := i.Duration(now); d >= 0 {
		j.DurationMS = d.Milliseconds()
	}
	if i.Signal != 0 {
		j.Signal = outcome.SignalName(i.Signal)
	}
	if i.Err != nil {
		j.Error = i.Err.Error()
	}
	if i.State.Ended() {
		j.Output, j.Sentence = i.Capture.State(), i.Capture.Sentence()
	}
	return j
}

// maxRead is how much output one answer carries. In base64 it is a third more,
// and far below what a frame may have.
const maxRead = 256 << 10

// maxWait bounds how long the host holds a read that has nothing to give.
const maxWait = 30 * time.Second

type readParams struct {
	ID     string `json:"id"`
	From   int64  `json:"from"`
	WaitMS int64  `json:"wait_ms"` // for the first byte
}

// A Chunk is output from one offset on.
type Chunk struct {
	Data []byte `json:"data"`
	From int64  `json:"from"` // of Data; beyond what was asked for where that is not kept any more
	Lost int64  `json:"lost"` // bytes between what was asked for and From
	End  bool   `json:"end"`  // nothing will follow Data
}

type writeParams struct {
	ID   string `json:"id"`
	Data []byte `json:"data"`
}

type writeResult struct {
	Accepted int    `json:"accepted"`
	Why      string `json:"why"` // why the rest was refused
}

type resizeParams struct {
	ID   string `json:"id"`
	Cols int    `json:"cols"`
	Rows int    `json:"rows"`
}

type stopParams struct{}

// Validate is nil where the table checks.
func (p toolParams) Validate() error {
	if len(p.Params) == 0 {
		return errors.New("params must be given")
	}
	return nil
}

// Validate is nil: there is nothing to check.
func (listParams) Validate() error { return nil }

// Validate is nil: there is nothing to check.
func (stopParams) Validate() error { return nil }

// Validate reports the first parameter that is out of range.
func (p readParams) Validate() error {
	if p.From < 0 || p.WaitMS < 0 {
		return fmt.Errorf("from is %d and wait_ms %d, and neither may be negative", p.From, p.WaitMS)
	}
	return nil
}

// Validate reports the first parameter that is out of range.
func (p writeParams) Validate() error {
	if len(p.Data) == 0 {
		return errors.New("there is nothing to write")
	}
	return nil
}

// Validate reports the first parameter that is out of range.
func (p resizeParams) Validate() error {
	if p.Cols <= 0 || p.Rows <= 0 {
		return fmt.Errorf("the size is %d×%d and must be above 0", p.Cols, p.Rows)
	}
	return nil
}
