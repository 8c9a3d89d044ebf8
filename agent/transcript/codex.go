package transcript

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/honestty/honestty/agent/claims"
)

// codex reads rollouts of Codex. A call is a response_item; its end another
// one. The exit code stands in an event that only the extended mode writes, or
// in the head of the output, or nowhere.
type codex struct{}

type codexRecord struct {
	Timestamp string          `json:"timestamp"`
	Type      string          `json:"type"`
	Payload   json.RawMessage `json:"payload"`
}

type codexPayload struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	CWD       string          `json:"cwd"`
	Call      string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // JSON as a text
	Input     json.RawMessage `json:"input"`
	Output    json.RawMessage `json:"output"`
	Action    json.RawMessage `json:"action"`
	Reason    string          `json:"reason"`

	Exit     *int            `json:"exit_code"`
	Duration json.RawMessage `json:"duration"` // {"secs":1,"nanos":2} or a text
	Combined *string         `json:"aggregated_output"`
	Stdout   *string         `json:"stdout"`
	Stderr   *string         `json:"stderr"`
	Status   string          `json:"status"`
	Success  *bool           `json:"success"`
}

// codexItems and codexEvents are kinds that tell nothing of calls.
var (
	codexItems = set("message", "reasoning", "web_search_call", "ghost_snapshot", "compaction", "compaction_summary",
		"tool_search_call", "tool_search_output", "image_generation_call", "other")
	codexEvents = set("token_count", "user_message", "agent_message", "agent_reasoning", "agent_reasoning_raw_content",
		"agent_reasoning_section_break", "task_started", "task_complete", "turn_started", "turn_complete", "turn_diff",
		"mcp_tool_call_end", "exec_command_begin", "exec_command_output_delta", "patch_apply_begin", "mcp_tool_call_begin", "web_search_begin",
		"web_search_end", "plan_update", "entered_review_mode", "exited_review_mode", "context_compacted", "thread_rolled_back",
		"exec_approval_request", "apply_patch_approval_request", "background_event", "stream_error", "error", "warning",
		"session_configured", "thread_name_updated", "item_completed", "view_image_tool_call", "undo_started", "undo_completed")
)

func (*codex) record(line []byte, tell func(fact)) (string, error) {
	var r codexRecord
	if !decode(line, &r) {
		return "", errTorn
	}
	var p codexPayload
	decode(r.Payload, &p) // it was valid JSON with the line
	at := when(r.Timestamp)
	switch r.Type {
	case "session_meta":
		tell(fact{at: at, session: &session{p.ID, p.CWD}})
	case "turn_context":
		if p.CWD != "" {
			tell(fact{at: at, session: &session{"", p.CWD}})
		}
	case "response_item":
		return p.item(at, tell), nil
	case "event_msg":
		return p.event(at, tell), nil
	case "compacted":
	default:
		return first(r.Type, "a record without a type"), nil
	}
	return "", nil
}

// item reads a response_item.
func (p *codexPayload) item(at time.Time, tell func(fact)) string {
	switch p.Type {
	case "function_call":
		args := p.Arguments
		if s := asText(args); json.Valid([]byte(s)) {
			args = json.RawMessage(s)
		}
		tell(fact{at: at, began: &began{id: p.Call, tool: p.Name, args: args, dir: workdir(args)}})
	case "custom_tool_call":
		tell(fact{at: at, began: &began{id: p.Call, tool: p.Name, args: p.Input}})
	case "local_shell_call":
		tell(fact{at: at, began: &began{id: first(p.Call, p.ID), tool: "local_shell", args: p.Action, dir: workdir(p.Action)}})
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		e := &ended{id: first(p.Call, p.ID), Result: claims.Result{Value: p.Output, Ended: at}}
		e.output()
		tell(fact{at: at, ended: e})
	default:
		if !codexItems[p.Type] {
			return "response_item " + first(p.Type, "without a type")
		}
	}
	return ""
}

// workdir is the directory that a call names for itself.
func workdir(args json.RawMessage) string {
	var a struct {
		Workdir string `json:"workdir"`
		Dir     string `json:"working_directory"`
	}
	_ = json.Unmarshal(args, &a) // stays empty where there is none
	return first(a.Workdir, a.Dir)
}

// event reads an event_msg.
func (p *codexPayload) event(at time.Time, tell func(fact)) string {
	switch p.Type {
	case "exec_command_end", "patch_apply_end":
		e := &ended{id: p.Call, Result: claims.Result{Ended: at, Exit: p.Exit, Took: took(p.Duration)}}
		e.Failed = p.Status == "failed" && p.Exit == nil || p.Success != nil && !*p.Success
		e.Refused = p.Status == "declined"
		e.Missing = "its output was not recorded"
		out := map[string]any{}
		for key, s := range map[string]*string{"aggregated_output": p.Combined, "stdout": p.Stdout, "stderr": p.Stderr} {
			if s != nil {
				out[key] = *s
			}
		}
		if len(out) > 0 {
			e.Value, _ = json.Marshal(out) // texts always are JSON
			e.Missing = ""
		}
		if e.Failed {
			e.Error = first(deref(p.Stderr), deref(p.Combined))
		}
		tell(fact{at: at, ended: e})
	case "turn_aborted":
		tell(fact{at: at, none: "the turn was aborted (" + first(p.Reason, "no reason given") + ") before its end was recorded"})
	default:
		if !codexEvents[p.Type] {
			return "event_msg " + first(p.Type, "without a type")
		}
	}
	return ""
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// output reads exit code and duration that stand in an output itself: as JSON
// with metadata, or as lines before "Output:".
func (e *ended) output() {
	s := asText(e.Value)
	var o struct {
		Output   *string `json:"output"`
		Metadata *struct {
			Exit *int     `json:"exit_code"`
			Took *float64 `json:"duration_seconds"`
		} `json:"metadata"`
	}
	if json.Unmarshal([]byte(s), &o) == nil && o.Metadata != nil {
		e.Exit = o.Metadata.Exit
		if o.Metadata.Took != nil {
			e.Took = seconds(*o.Metadata.Took)
		}
		return
	}
	headText, rest, ok := strings.Cut(s, "Output:\n")
	if !ok {
		if headText, ok = strings.CutSuffix(s, "Output:"); !ok {
			return
		}
	}
	var exit *int
	for line := range strings.Lines(headText) {
		line = strings.TrimSpace(line)
		for _, prefix := range []string{"Exit code: ", "Process exited with code "} {
			if word, ok := strings.CutPrefix(line, prefix); ok {
				if n, err := strconv.Atoi(word); err == nil {
					exit = &n
				}
			}
		}
		if word, ok := strings.CutPrefix(line, "Wall time: "); ok {
			word, _, _ = strings.Cut(word, " ")
			if f, err := strconv.ParseFloat(word, 64); err == nil {
				e.Took = seconds(f)
			}
		}
	}
	if exit != nil { // without one the lines before may be anything
		e.Exit = exit
		e.Value, _ = json.Marshal(map[string]string{"output": rest}) // a text always is JSON
	}
}

func seconds(f float64) time.Duration {
	const most = 30 * 24 * 3600
	if !(f > 0) || f > most {
		return 0
	}
	return time.Duration(f * float64(time.Second))
}

// took reads a duration as Codex writes it.
func took(raw json.RawMessage) time.Duration {
	var d struct {
		Secs  float64 `json:"secs"`
		Nanos float64 `json:"nanos"`
	}
	if json.Unmarshal(raw, &d) == nil {
		return seconds(d.Secs + d.Nanos/1e9)
	}
	if t, err := time.ParseDuration(asText(raw)); err == nil {
		return max(t, 0)
	}
	return 0
}
