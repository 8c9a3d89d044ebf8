package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/honestty/honestty/agent/claims"
	"github.com/honestty/honestty/journal"
)

// errNoEvent is the note of input that is none of an agent's events.
var errNoEvent = errors.New("read event: it is not the JSON that the agent's hooks send, and was not recorded")

// An EventError reports an event that nothing is recorded of.
type EventError struct{ Name string }

func (e *EventError) Error() string {
	return fmt.Sprintf("read event: nothing is recorded of %q; take this hook out of the agent's settings", e.Name)
}

// parse reads one event of an agent.
func parse(agent string, raw []byte) (event, error) {
	switch agent {
	case Hermes:
		return parseHermes(raw)
	case ClaudeCode:
		return parseClaude(raw)
	}
	return event{}, fmt.Errorf("read event: there is no agent called %q; there are %s", agent, strings.Join(Agents, " and "))
}

// hermesEvent is what Hermes writes to a shell hook.
type hermesEvent struct {
	Name    word            `json:"hook_event_name"`
	Tool    word            `json:"tool_name"`
	Input   json.RawMessage `json:"tool_input"`
	Session word            `json:"session_id"`
	Dir     word            `json:"cwd"`
	Extra   struct {
		Result  json.RawMessage `json:"result"`
		Took    amount          `json:"duration_ms"`
		Status  word            `json:"status"`
		Type    word            `json:"error_type"`
		Message word            `json:"error_message"`
		ID      word            `json:"tool_call_id"`
	} `json:"extra"`
}

func parseHermes(raw []byte) (event, error) {
	var in hermesEvent
	if json.Unmarshal(raw, &in) != nil {
		return event{}, errNoEvent
	}
	e := event{id: string(in.Extra.ID), session: string(in.Session)}
	// The directory is that of Hermes itself; its tools have one of their own.
	e.call = claims.Call{Tool: string(in.Tool), Args: in.Input, Source: journal.Source{Dir: string(in.Dir)}}
	switch in.Name {
	case "pre_tool_call":
		e.moment = before
	case "post_tool_call":
		e.moment = after
		e.result = claims.Result{Value: in.Extra.Result, Took: milliseconds(in.Extra.Took), Error: join(string(in.Extra.Type), string(in.Extra.Message))}
		switch strings.ToLower(string(in.Extra.Status)) {
		case "", "ok", "success", "completed", "complete":
			e.result.Failed = in.Extra.Message != ""
		case "blocked", "denied", "refused":
			e.result.Refused = true
		case "cancelled", "canceled", "interrupted":
			e.result.Cancelled = true
		default:
			e.result.Failed = true
		}
		if null(in.Extra.Result) {
			e.result.Value = nil
		}
	case "on_session_end", "on_session_finalize":
		e.moment = over
		return e, nil
	default:
		return event{}, named(string(in.Name))
	}
	if in.Tool == "" {
		return event{}, errNoEvent
	}
	return e, nil
}

// claudeEvent is what Claude Code writes to a command hook.
type claudeEvent struct {
	Name      word            `json:"hook_event_name"`
	Tool      word            `json:"tool_name"`
	Input     json.RawMessage `json:"tool_input"`
	Response  json.RawMessage `json:"tool_response"`
	ID        word            `json:"tool_use_id"`
	Session   word            `json:"session_id"`
	Dir       word            `json:"cwd"`
	Error     json.RawMessage `json:"error"`
	Interrupt json.RawMessage `json:"is_interrupt"`
	Took      amount          `json:"duration_ms"`
}

func parseClaude(raw []byte) (event, error) {
	var in claudeEvent
	if json.Unmarshal(raw, &in) != nil {
		return event{}, errNoEvent
	}
	e := event{id: string(in.ID), session: string(in.Session)}
	e.call = claims.Call{Tool: string(in.Tool), Args: in.Input, Source: journal.Source{Dir: string(in.Dir)}, DirKnown: true}
	e.result = claims.Result{Value: in.Response, Took: milliseconds(in.Took)}
	if null(in.Response) {
		e.result.Value = nil
	}
	switch in.Name {
	case "PreToolUse":
		e.moment = before
	case "PostToolUse":
		e.moment = after
	case "PostToolUseFailure":
		e.moment = after
		e.result.Cancelled = string(in.Interrupt) == "true"
		e.result.Failed = !e.result.Cancelled
		if !null(in.Error) {
			e.result.Error = words(in.Error)
		}
		if e.result.Value == nil {
			e.result.Value = in.Error
		}
	case "PermissionDenied":
		e.moment, e.result.Refused = after, true
	case "Stop", "SessionEnd":
		e.moment = over
		return e, nil
	default:
		return event{}, named(string(in.Name))
	}
	if in.Tool == "" {
		return event{}, errNoEvent
	}
	return e, nil
}

// A word is a text of an event. Another value is kept as it is written: one
// field of an unexpected kind must not lose an event.
type word string

func (w *word) UnmarshalJSON(raw []byte) error {
	if *w = ""; !null(raw) {
		*w = word(words(raw))
	}
	return nil
}

// An amount is a number of an event; 0 where it is none.
type amount float64

func (a *amount) UnmarshalJSON(raw []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err != nil {
		f = 0
	}
	*a = amount(f)
	return nil
}

func named(name string) error {
	const longest = 80
	if name == "" {
		return errNoEvent
	}
	return &EventError{Name: strings.ToValidUTF8(name[:min(len(name), longest)], "\uFFFD")}
}

func null(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// milliseconds keeps a duration that a record gives within reason.
func milliseconds(ms amount) time.Duration {
	const longest = 30 * 24 * time.Hour
	if !(ms > 0) || float64(ms) > float64(longest.Milliseconds()) {
		return 0
	}
	return time.Duration(float64(ms) * float64(time.Millisecond))
}

func join(kind, message string) string {
	if kind == "" || message == "" || strings.HasPrefix(message, kind) {
		return kind + message
	}
	return kind + ": " + message
}
