package transcript

import (
	"encoding/json"
	"strings"

	"github.com/honestty/honestty/agent/claims"
)

// claude reads transcripts of Claude Code. A call is a tool_use of an
// assistant's record, its end a tool_result of a later user's record with
// toolUseResult beside it. There is no exit code.
type claude struct{}

type claudeRecord struct {
	Type      string `json:"type"`
	Timestamp string `json:"timestamp"`
	SessionID string `json:"sessionId"`
	CWD       string `json:"cwd"`
	Message   struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`
	Result json.RawMessage `json:"toolUseResult"` // an object, a text or a list
	Data   struct {
		Type    string  `json:"type"`
		Elapsed float64 `json:"elapsedTimeSeconds"`
		Bytes   float64 `json:"totalBytes"`
		Status  string  `json:"status"`
	} `json:"data"`
	ParentToolUse string `json:"parentToolUseID"`
	ToolUse       string `json:"toolUseID"`
}

type claudeBlock struct {
	Type    string          `json:"type"`
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	Use     string          `json:"tool_use_id"`
	Content json.RawMessage `json:"content"`
	Failed  bool            `json:"is_error"`
}

// claudeKinds are the records that tell nothing of calls.
var claudeKinds = set("system", "summary", "file-history-snapshot", "queue-operation", "attachment", "custom-title",
	"ai-title", "agent-name", "last-prompt", "permission-mode", "mode", "pr-link", "turn_end", "result", "compact", "tag")

func (*claude) record(line []byte, tell func(fact)) (string, error) {
	var r claudeRecord
	if !decode(line, &r) {
		return "", errTorn
	}
	at := when(r.Timestamp)
	if r.SessionID != "" || r.CWD != "" {
		tell(fact{at: at, session: &session{r.SessionID, r.CWD}})
	}
	switch r.Type {
	case "assistant":
		for _, b := range claudeBlocks(r.Message.Content) {
			if b.Type == "tool_use" && b.ID != "" {
				tell(fact{at: at, began: &began{id: b.ID, tool: b.Name, args: b.Input, dir: r.CWD}})
			}
		}
	case "user":
		r.results(tell)
	case "progress":
		id := r.ParentToolUse
		if id == "" {
			id = r.ToolUse
		}
		if id != "" {
			tell(fact{at: at, progress: &progress{id, int64(max(r.Data.Bytes, 0)), first(r.Data.Status, "running")}})
		}
	default:
		if !claudeKinds[r.Type] {
			return first(r.Type, "a record without a type"), nil
		}
	}
	return "", nil
}

// results tells the ends in a record of the user. toolUseResult belongs to the
// one result of the record; with several nobody can tell whose it is.
func (r *claudeRecord) results(tell func(fact)) {
	var results []claudeBlock
	for _, b := range claudeBlocks(r.Message.Content) {
		if b.Type == "tool_result" && b.Use != "" {
			results = append(results, b)
		}
	}
	at := when(r.Timestamp)
	for _, b := range results {
		e := &ended{id: b.Use, Result: claims.Result{Value: b.Content, Ended: at}}
		if len(results) == 1 && len(r.Result) > 0 && r.Result[0] == '{' {
			e.Value = r.Result
		}
		if b.Failed {
			e.Error = blockText(b.Content)
			e.Failed = true
			if strings.HasPrefix(e.Error, "The user doesn't want to") {
				e.Failed, e.Refused = false, true
			} else if strings.Contains(e.Error, "[Request interrupted by user") {
				e.Failed, e.Cancelled = false, true
			}
		}
		tell(fact{at: at, ended: e})
	}
}

// claudeBlocks are the blocks of a message; a message that is a text has none.
func claudeBlocks(raw json.RawMessage) []claudeBlock {
	var blocks []claudeBlock
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &blocks) != nil {
		return nil
	}
	return blocks
}

// blockText is the text of a content: a text, or a list of texts.
func blockText(raw json.RawMessage) string {
	if s := asText(raw); s != "" {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

func first(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}
