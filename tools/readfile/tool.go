package readfile

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/honestty/honestty/internal/redact"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
	"github.com/honestty/honestty/tools/safepath"
)

// Tool is the tool that reads a file by the policy.
func Tool(policy safepath.Policy) tools.Tool {
	return tools.Tool{
		Name:   "read_file",
		Short:  "Read lines of a text file, and say what of it was read",
		Params: Params{}, Result: Result{},
		Title: title,
		Run: func(ctx context.Context, c *tools.Call, raw json.RawMessage) tools.Answer {
			var p Params
			dec := json.NewDecoder(bytes.NewReader(raw))
			dec.DisallowUnknownFields()
			if err := dec.Decode(&p); err != nil {
				return refusedParams(err)
			}
			r, err := Read(ctx, policy, p, c.Dir)
			return tools.Answer{Status: r.Status, Err: err, Result: r, Summary: r.Summary()}
		},
	}
}

func refusedParams(err error) tools.Answer {
	text, _ := redact.String(strings.ReplaceAll(err.Error(), "\n", " "))
	refusal := &outcome.RefusedError{Rule: "parameters that cannot be read: " + text}
	said := refusal.Error()
	r := Result{Notes: []string{}, Status: outcome.Refused, Error: &said}
	return tools.Answer{Status: r.Status, Err: refusal, Result: r, Summary: said}
}

func title(raw json.RawMessage) string {
	var p Params
	if json.Unmarshal(raw, &p) != nil || p.Path == "" {
		return "a file that is not named"
	}
	return safepath.Printable(p.Path)
}

// Summary is the result on one line.
func (r Result) Summary() string {
	if r.Error != nil {
		return *r.Error
	}
	lines := "an unknown number of lines"
	if r.TotalLines != nil {
		lines = counted(*r.TotalLines, "line")
	}
	end := "read to the end"
	if !r.EOFSeen {
		end = "not read to the end"
	}
	said := fmt.Sprintf("%s, %s, %s", outcome.Size(r.BytesRead), lines, end)
	if r.NextOffset != nil {
		said += fmt.Sprintf("; shown up to line %s", outcome.Count(*r.NextOffset-1))
	}
	if r.LinesCut > 0 {
		said += fmt.Sprintf("; %s cut after %s characters", counted(r.LinesCut, "line"), outcome.Count(maxLine))
	}
	return said
}

func counted(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return outcome.Count(n) + " " + noun + "s"
}
