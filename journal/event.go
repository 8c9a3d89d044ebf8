package journal

import (
	"encoding/json"
	"time"

	"github.com/honestty/honestty/outcome"
)

// A Source says who made a call and where it was seen.
type Source struct {
	Kind    string `json:"kind"`              // "cli", "window", "mcp", "hook", "transcript"
	Agent   string `json:"agent,omitempty"`   // "hermes", "claude-code", "codex", "gemini" …
	Session string `json:"session,omitempty"` // the agent's own id of its session
	Dir     string `json:"dir,omitempty"`     // the directory the call was made from
	PID     int    `json:"pid,omitempty"`     // of the process that made the call, or followed it
	Window  int    `json:"window,omitempty"`  // pid of the window it was made in
	Pane    int    `json:"pane,omitempty"`    // pane of that window
	TTY     bool   `json:"tty,omitempty"`     // its errors go to a terminal, where somebody can read them
}

// A Start is what is known of a call before it ends.
type Start struct {
	Call   string          `json:"call"` // UUID, version 7
	Tool   string          `json:"tool"`
	Title  string          `json:"title"` // one line: the command, the path, the target
	Args   json.RawMessage `json:"args"`  // as the caller sent them, secrets redacted
	Source Source          `json:"source"`

	// Live is the file that receives the raw output while the call runs and
	// keeps it afterwards; empty when there is none.
	Live string `json:"live,omitempty"`

	// Redacted counts the secrets that were replaced in Title and Args.
	Redacted int `json:"redacted,omitempty"`

	// Owner is the process that will tell the end of this call: when it is
	// gone, nobody will. Begin fills in its own process for every kind of
	// source but hook and transcript, where the caller knows better: the agent,
	// or nobody.
	Owner Owner `json:"owner,omitzero"`
}

// An Owner is one process, told apart from a later one with the same number by
// when it was started. The zero value is nobody.
type Owner struct {
	PID   int    `json:"pid"`
	Began uint64 `json:"began,omitempty"` // in the kernel's own unit; 0 when it could not be read
}

// WaitsForApproval is the What of a call that goes on only when a person says
// yes. The next Progress, or the end, says that it waits no more.
const WaitsForApproval = "waiting for approval"

// A Progress is how far a running call is. Total is 0 when it is not known, and
// Done is 0 too when there is nothing to count.
type Progress struct {
	Call  string `json:"call"`
	Done  int64  `json:"done"`
	Total int64  `json:"total,omitempty"`
	What  string `json:"what,omitempty"`
}

// A Check compares one thing that a result claims with what could be seen.
type Check struct {
	Name    string         `json:"name"`    // "file size", "end of output", "audio decodes"
	Claimed string         `json:"claimed"` // in words
	Seen    string         `json:"seen"`    // in words; empty when nothing could be seen
	Verdict outcome.Status `json:"verdict"` // Complete: agrees; Failed: contradicts; Unknown: cannot be told
}

// An End is how a call ended. The zero value claims nothing.
type End struct {
	Call       string          `json:"call"`
	Status     outcome.Status  `json:"status"`
	Error      string          `json:"error,omitempty"`
	Summary    string          `json:"summary,omitempty"` // one line: "41.2 KB, read to the end"
	Result     json.RawMessage `json:"result"`            // what the caller was given, secrets redacted
	DurationMS int64           `json:"duration_ms"`
	Checks     []Check         `json:"checks,omitempty"`
	Redacted   int             `json:"redacted,omitempty"`

	// Capture is the worst state of the call's output; nil when the call has
	// none. Journal.End takes it from the result when it is nil.
	Capture *outcome.State `json:"capture,omitempty"`
}

// A Gap says that events are missing here.
type Gap struct {
	Events int64  `json:"events"` // -1: nobody counted them
	Why    string `json:"why"`
	Torn   bool   `json:"torn,omitempty"` // the line before was cut while it was written
}

// An Event is one line of the journal. Exactly one of the pointers is set.
type Event struct {
	Seq      int64     `json:"seq"` // counts up by one over all writers
	At       time.Time `json:"at"`
	Writer   int       `json:"writer"` // pid
	Start    *Start    `json:"start,omitempty"`
	Progress *Progress `json:"progress,omitempty"`
	End      *End      `json:"end,omitempty"`
	Gap      *Gap      `json:"gap,omitempty"`

	place place
}

// A place is where the line of an event lies. A file is named by the number of
// its first event, which stays the same when it is renamed.
type place struct {
	file, off int64
	size      int32
}
