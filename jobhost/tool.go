package jobhost

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
	"github.com/honestty/honestty/tools/process"
)

// Tool is the process tool for callers that are not the host: they judge a
// command, and ask the person where a rule wants that; the host does the rest.
// connect finds the host, or starts it. A nil check judges nothing.
func Tool(connect func(context.Context) (*Client, error), check func(command string) (ask string, err error)) tools.Tool {
	t := process.Tool(nil) // for its name, schema and title
	t.Run = func(ctx context.Context, c *tools.Call, params json.RawMessage) tools.Answer {
		var p process.Params
		if json.Unmarshal(params, &p) == nil && p.Action == "start" && check != nil {
			rule, err := check(p.Command)
			if err == nil && rule != "" {
				err = c.Ask(ctx, tools.Question{Rule: rule, Detail: p.Command})
			}
			if err != nil {
				return failed(outcome.Refused, err)
			}
		}
		client, err := connect(ctx)
		if err != nil {
			status := outcome.Failed
			if errors.Is(err, context.Canceled) {
				status = outcome.Cancelled
			}
			return failed(status, err)
		}
		defer client.Close()
		return client.Run(ctx, c, params)
	}
	return t
}

// failed is the answer where the host was not reached.
func failed(status outcome.Status, err error) tools.Answer {
	text := err.Error()
	return tools.Answer{Status: status, Err: err, Result: &process.Result{Status: "error", Error: &text, Outcome: status}, Summary: text}
}
