package tools

import (
	"context"
	"encoding/json"
	"io"

	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
)

// A Tool is one thing that an agent or a person can ask for.
type Tool struct {
	Name  string // as agents know it: terminal, read_file, send_message
	Short string // one line

	// Params and Result are zero values of the structs that the JSON is read
	// into and written from. Their tags are the schema: json for the name,
	// jsonschema for the description.
	Params, Result any

	// Streams says that Run writes output to Call.Live.
	Streams bool

	// ReadOnly says that a call changes nothing, for agents that ask before
	// others.
	ReadOnly bool

	// Title says in one line what a call is about, for lists: the command, the
	// path, the target. It gets what the caller sent, which may be malformed.
	Title func(params json.RawMessage) string

	// Run does it, once. Parameters that cannot be read are an Answer with
	// Status Refused. It returns soon after ctx ends, and then says Cancelled.
	Run func(ctx context.Context, c *Call, params json.RawMessage) Answer
}

// A Call is what a tool is given besides its parameters. No field is nil.
type Call struct {
	ID     string // UUID, version 7: sorts by start
	Source journal.Source
	Dir    string   // the caller's directory; relative paths are meant from here
	Env    []string // the caller's environment, for commands; nil is our own

	// Live takes output as it comes, for those who watch. It never fails the
	// call: what it could not take is counted where it is shown.
	Live io.Writer

	// Report tells of progress. The total is 0 when it is not known.
	Report func(done, total int64, what string)

	// Ask asks the person. It returns nil when the answer is yes, and an error
	// that matches outcome.ErrRefused otherwise, also when nobody is there.
	Ask func(ctx context.Context, q Question) error
}

// A Question is what a person is asked before a call goes on.
type Question struct {
	Rule   string // the rule that asks, for example "recursive delete"
	Detail string // what would be done, whole: a command, a path
}

// An Answer is how a call ended.
type Answer struct {
	Status  outcome.Status
	Err     error  // nil only when Status is Complete
	Result  any    // marshals to the JSON object that the caller gets; never nil
	Summary string // one line for lists: "41.2 KB, read to the end"
}
