package claims

import (
	"bytes"
	"encoding/json"
	"strings"
)

// layers is how deep a result is wrapped at most: a text that is JSON, in a
// list of contents, in an object that has nothing else.
const layers = 4

// unwrap takes a value out of what agents and servers wrap it in: JSON as a
// text, lists of contents ({"type":"text","text":…}), structuredContent, and
// an object whose one field is result.
func unwrap(raw json.RawMessage) json.RawMessage {
	for range layers {
		raw = bytes.TrimSpace(raw)
		if len(raw) == 0 {
			return raw
		}
		inner := raw
		switch raw[0] {
		case '"':
			var s string
			if json.Unmarshal(raw, &s) != nil {
				return raw
			}
			t := strings.TrimSpace(s)
			if t == "" || t[0] != '{' || !json.Valid([]byte(t)) {
				return raw
			}
			inner = json.RawMessage(t)
		case '[':
			s, ok := contents(raw)
			if !ok {
				return raw
			}
			inner, _ = json.Marshal(s) // a string always is JSON
		case '{':
			inner = within(raw)
		}
		if bytes.Equal(inner, raw) {
			return raw
		}
		raw = inner
	}
	return raw
}

// within is what an object wraps, or the object itself.
func within(raw json.RawMessage) json.RawMessage {
	o := object(raw)
	if s := o["structuredContent"]; len(s) > 0 && s[0] == '{' {
		return s
	}
	if s := o["structured_content"]; len(s) > 0 && s[0] == '{' {
		return s
	}
	if s, ok := o["result"]; ok && len(o) == 1 {
		return s
	}
	if s, ok := o["content"]; ok && len(s) > 0 && s[0] == '[' {
		if _, ok := contents(s); ok {
			return s
		}
	}
	return raw
}

// contents joins a list of contents. It is false when one is no text, or when
// the list is none of contents.
func contents(raw json.RawMessage) (string, bool) {
	var list []struct {
		Type string  `json:"type"`
		Text *string `json:"text"`
	}
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return "", false
	}
	var b strings.Builder
	for i, c := range list {
		if c.Text == nil || c.Type == "" {
			return "", false
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(*c.Text)
	}
	return b.String(), true
}

func object(raw json.RawMessage) map[string]json.RawMessage {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	var o map[string]json.RawMessage
	if json.Unmarshal(raw, &o) != nil {
		return nil
	}
	return o
}

// A said is what a result says, as far as it is understood.
type said struct {
	object map[string]json.RawMessage // nil when the result is no object
	plain  *string                    // the result where it is a text

	output  *string // of a command; nil when the result does not say
	exit    *int    // nil when the result does not say
	failure string  // the result's own words; empty when it has none
	status  string  // the word beside it
	success *bool   // nil when the result does not say
	partial bool
	pid     int // 0 when the result does not say
}

// readSaid reads a result.
func readSaid(r Result) said {
	raw := unwrap(r.Value)
	s := said{object: object(raw), exit: r.Exit}
	var str string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &str) == nil {
		s.plain = &str
	}
	if s.object == nil {
		s.output = s.plain
		return s
	}
	o := s.object
	if out, ok := field(o, "output", "aggregated_output"); ok {
		s.output = &out
	} else if out, ok := field(o, "stdout"); ok {
		if more, _ := field(o, "stderr"); more != "" {
			out += more
		}
		s.output = &out
	}
	for _, key := range []string{"exit_code", "exitCode"} {
		var n *int
		if raw, ok := o[key]; ok && s.exit == nil && json.Unmarshal(raw, &n) == nil {
			s.exit = n
		}
	}
	s.failure, _ = field(o, "error")
	if e := object(o["error"]); e != nil {
		s.failure, _ = field(e, "message")
	}
	s.status, _ = field(o, "status")
	s.success = boolean(o["success"])
	if p := boolean(o["partial_success"]); p != nil {
		s.partial = *p
	}
	_ = json.Unmarshal(o["pid"], &s.pid) // stays 0 when it is none
	return s
}

// field is the first of the fields that is a text.
func field(o map[string]json.RawMessage, keys ...string) (string, bool) {
	for _, key := range keys {
		var s *string
		if raw, ok := o[key]; ok && json.Unmarshal(raw, &s) == nil && s != nil {
			return *s, true
		}
	}
	return "", false
}

func boolean(raw json.RawMessage) *bool {
	var b *bool
	if len(raw) == 0 || json.Unmarshal(raw, &b) != nil {
		return nil
	}
	return b
}

// number is a whole number of an object.
func number(o map[string]json.RawMessage, key string) (int64, bool) {
	var n *int64
	if raw, ok := o[key]; ok && json.Unmarshal(raw, &n) == nil && n != nil {
		return *n, true
	}
	return 0, false
}

// list is the texts of a JSON list, or none.
func list(raw json.RawMessage) []string {
	var l []string
	if len(raw) == 0 || json.Unmarshal(raw, &l) != nil {
		return nil
	}
	return l
}
