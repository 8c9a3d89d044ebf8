package transcript

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/honestty/honestty/agent/claims"
)

// A reader reads the records of one agent. It keeps nothing that grows.
type reader interface {
	// record reads one line and tells what it says, in order. It returns the
	// name of a kind of record that it does not know, and errTorn for a line
	// that is none.
	record(line []byte, tell func(fact)) (unknown string, err error)
}

func readerOf(agent string) reader {
	switch agent {
	case Codex:
		return &codex{}
	case Gemini:
		return &gemini{}
	}
	return &claude{}
}

// A fact is one thing that a record says. One of the pointers or flags is set.
type fact struct {
	at time.Time // as the record says; zero when it does not

	began    *began
	ended    *ended
	progress *progress
	session  *session // what the records are of, from here on

	// none says that no call that is open now will tell its end, and why.
	none string
	// rewound says that the agent took a part of the session back.
	rewound bool
}

type began struct {
	id, tool string
	args     json.RawMessage
	dir      string // empty: that of the session
}

type ended struct {
	id string
	claims.Result
}

type progress struct {
	id    string
	bytes int64
	what  string
}

type session struct{ id, dir string }

// errTorn is the error of a line that is no record.
var errTorn = errors.New("no record")

// decode reads a record. A field of an unexpected kind stays empty; all others
// are read.
func decode(raw []byte, into any) bool {
	err := json.Unmarshal(raw, into)
	_, odd := errors.AsType[*json.UnmarshalTypeError](err)
	return err == nil || odd
}

// when reads a time as agents write it; zero when it is none.
func when(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}
	}
	return t
}

// asText is a JSON string as a text; other values as they are.
func asText(raw json.RawMessage) string {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	return ""
}
