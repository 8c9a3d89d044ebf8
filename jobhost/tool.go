package jobhost

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
	"github.com/honestty/honestty/tools/process"
)

// Gates are what a start passes before the host is told of it. A nil one judges
// nothing.
type Gates struct {
	// Check looks at a command. An error refuses it; a rule in ask has the
	// person asked.
	Check func(command string) (ask string, err error)

	// Dir returns the directory to use for workdir, which the caller meant from
	// dir. The error matches outcome.ErrRefused where a rule forbids it.
	Dir func(workdir, dir string) (string, error)
}

// Tool is the process tool for callers that are not the host: they judge a
// command, and ask the person where a rule wants that; the host does the rest.
// connect finds the host, or starts it.
func Tool(connect func(context.Context) (*Client, error), gates Gates) tools.Tool {
	t := process.Tool(nil) // for its name, schema and title
	t.Run = func(ctx context.Context, c *tools.Call, params json.RawMessage) tools.Answer {
		var p process.Params
		if json.Unmarshal(params, &p) == nil && p.Action == "start" {
			if err := gates.pass(ctx, c, &p); err != nil {
				status := outcome.Failed
				if errors.Is(err, outcome.ErrRefused) {
					status = outcome.Refused
				}
				return failed(status, err)
			}
			raw, err := json.Marshal(p) // with the directory as it was checked
			if err != nil {
				return failed(outcome.Failed, err)
			}
			params = raw
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

// pass judges a start and fills in the directory as it was checked.
func (g Gates) pass(ctx context.Context, c *tools.Call, p *process.Params) (err error) {
	if g.Dir != nil && p.Workdir != "" {
		if p.Workdir, err = g.Dir(p.Workdir, c.Dir); err != nil {
			return err
		}
	}
	if g.Check == nil {
		return nil
	}
	rule, err := g.Check(p.Command)
	if err != nil || rule == "" {
		return err
	}
	return c.Ask(ctx, tools.Question{Rule: rule, Detail: p.Command})
}

// failed is the answer where the host was not reached.
func failed(status outcome.Status, err error) tools.Answer {
	text := err.Error()
	return tools.Answer{Status: status, Err: err, Result: &process.Result{Status: "error", Error: &text, Outcome: status}, Summary: text}
}
