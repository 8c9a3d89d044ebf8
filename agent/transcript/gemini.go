package transcript

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/honestty/honestty/agent/claims"
	"github.com/honestty/honestty/journal"
)

// gemini reads chats of Gemini CLI. A message is written again whenever its
// calls change, with the same id; a $set replaces what is known, and $rewindTo
// takes messages back. A call has one word for its status and no exit code.
type gemini struct{}

type geminiRecord struct {
	ID          string           `json:"id"`
	Type        string           `json:"type"`
	Timestamp   string           `json:"timestamp"`
	SessionID   string           `json:"sessionId"`
	ProjectHash string           `json:"projectHash"`
	Directories []string         `json:"directories"`
	Calls       []geminiCall     `json:"toolCalls"`
	Messages    []geminiRecord   `json:"messages"`
	Set         *geminiRecord    `json:"$set"`
	Rewind      *json.RawMessage `json:"$rewindTo"`
}

type geminiCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Args      json.RawMessage `json:"args"`
	Status    string          `json:"status"`
	Result    json.RawMessage `json:"result"`
	Display   json.RawMessage `json:"resultDisplay"`
	Timestamp string          `json:"timestamp"`
}

var geminiKinds = set("user", "gemini", "info", "error", "warning")

func (g *gemini) record(line []byte, tell func(fact)) (string, error) {
	var r geminiRecord
	if !decode(line, &r) {
		return "", errTorn
	}
	at := when(r.Timestamp)
	switch {
	case r.Rewind != nil:
		tell(fact{at: at, rewound: true})
	case r.Set != nil:
		r.Set.meta(at, tell)
	case r.ID != "":
		r.calls(tell)
		if !geminiKinds[r.Type] {
			return "message " + first(r.Type, "without a type"), nil
		}
	case r.SessionID != "":
		r.meta(at, tell)
	default:
		return "a record of no known kind", nil
	}
	return "", nil
}

// meta reads what is known of the session as a whole.
func (r *geminiRecord) meta(at time.Time, tell func(fact)) {
	s := &session{id: r.SessionID}
	if len(r.Directories) > 0 {
		s.dir = r.Directories[0]
	}
	if *s != (session{}) {
		tell(fact{at: at, session: s})
	}
	for i := range r.Messages {
		r.Messages[i].calls(tell)
	}
}

// calls tells the calls of a message: that each began, and that those ended
// whose status is one of an end.
func (r *geminiRecord) calls(tell func(fact)) {
	for _, c := range r.Calls {
		if c.ID == "" {
			continue
		}
		at := when(r.Timestamp)
		tell(fact{at: at, began: &began{id: c.ID, tool: c.Name, args: c.Args}})
		e := &ended{id: c.ID, Result: claims.Result{Value: geminiValue(c.Result), Ended: when(first(c.Timestamp, r.Timestamp))}}
		if len(e.Value) == 0 {
			e.Value = c.Display
		}
		switch c.Status {
		case "success":
		case "error":
			e.Failed, e.Error = true, first(geminiError(e.Value), asText(c.Display))
		case "cancelled":
			e.Cancelled = true
		default: // validating, scheduled, awaiting_approval, executing, or a word to come
			if c.Status == "awaiting_approval" {
				tell(fact{at: at, progress: &progress{id: c.ID, what: journal.WaitsForApproval}})
			}
			continue
		}
		tell(fact{at: e.Ended, ended: e})
	}
}

// geminiValue takes the output out of the parts that a result consists of:
// [{"functionResponse":{"response":{"output":…}}}]. Other results stay as they
// are.
func geminiValue(raw json.RawMessage) json.RawMessage {
	var parts []struct {
		Function *struct {
			Response json.RawMessage `json:"response"`
		} `json:"functionResponse"`
	}
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &parts) != nil || len(parts) == 0 || parts[0].Function == nil {
		if string(raw) == "null" {
			return nil
		}
		return raw
	}
	return withoutEmpty(parts[0].Function.Response)
}

// withoutEmpty turns the words that stand for no output into none.
func withoutEmpty(raw json.RawMessage) json.RawMessage {
	var o struct {
		Output string `json:"output"`
	}
	if json.Unmarshal(raw, &o) != nil {
		return raw
	}
	for line := range strings.Lines(o.Output) {
		if line = strings.TrimSpace(line); line == "(empty)" || line == "Output: (empty)" {
			return json.RawMessage(`{"output":""}`)
		}
	}
	return raw
}

// geminiError is what a response says of its failure.
func geminiError(raw json.RawMessage) string {
	var o struct {
		Error string `json:"error"`
	}
	_ = json.Unmarshal(raw, &o) // stays empty where there is none
	return o.Error
}
