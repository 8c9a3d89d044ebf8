package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
)

// A Config is what the server offers and how it calls.
type Config struct {
	Version string
	Tools   []tools.Tool
	Caller  *tools.Caller
	Source  journal.Source // Kind, Agent and Session are filled in
	Dir     string         // the directory that relative paths are meant from
	Env     []string       // for commands

	// Displayed reports whether a window is open that shows calls.
	Displayed func() bool

	// Stdin and Stdout carry the protocol, one JSON message a line.
	Stdin  io.ReadCloser
	Stdout io.WriteCloser
}

// instructions are what an agent is told of the server as a whole.
const instructions = `Results say what is known: status is complete only when everything was done and that is proven. ` +
	`Empty output with status complete was empty; anything else says what is missing (capture, delivery, notes). ` +
	`isError is set for every other status, and structuredContent still carries the whole result. ` +
	`Do not report success for a result whose status is not complete. A call is never run twice by the server.`

// Serve answers an agent until its input ends and every call is answered, or
// until ctx ends: then the calls that run are cancelled, and their answers are
// written to a client that reads them soon. It closes Stdin and Stdout.
func Serve(ctx context.Context, c Config) error {
	s := sdk.NewServer(&sdk.Implementation{Name: "honestty", Title: "honestty", Version: c.Version}, &sdk.ServerOptions{Instructions: instructions})
	for _, t := range c.Tools {
		if err := c.add(ctx, s, t); err != nil {
			return err
		}
	}
	defer c.cutOff(ctx)()
	// The SDK writes nothing more once its own context ends.
	err := s.Run(context.WithoutCancel(ctx), transport{c.Stdin, c.Stdout, ctx})
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve the agent: %w", err)
	}
	return nil
}

// lastAnswers is how long it may take to end the calls and to write the answers
// that are left when the server is told to end: a command gets half a second
// before it is killed, and clients kill a server two seconds after their SIGTERM.
const lastAnswers = 1500 * time.Millisecond

// cutOff closes the output when ctx has ended and its time is over: a client
// that does not read must not hold the server. stop ends and joins it.
func (c *Config) cutOff(ctx context.Context) (stop func()) {
	quit := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		select {
		case <-ctx.Done():
		case <-quit:
			return
		}
		t := time.NewTimer(lastAnswers)
		defer t.Stop()
		select {
		case <-t.C:
			_ = c.Stdout.Close() // what it says, nobody can be told
		case <-quit:
		}
	})
	return func() {
		close(quit)
		wg.Wait()
	}
}

func (c *Config) add(ctx context.Context, s *sdk.Server, t tools.Tool) error {
	in, err := inputSchema(t)
	if err != nil {
		return err
	}
	out, err := outputSchema(t)
	if err != nil {
		return err
	}
	s.AddTool(&sdk.Tool{
		Name: t.Name, Description: t.Short, InputSchema: in, OutputSchema: out,
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: t.ReadOnly, Title: t.Name},
	}, func(asked context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		asked, cancel := context.WithCancelCause(asked)
		defer cancel(nil)
		defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })() // the SDK waits for calls and does not end them
		return c.call(asked, t, req)
	})
	return nil
}

func (c *Config) call(ctx context.Context, t tools.Tool, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	src := c.Source
	src.Kind = "mcp"
	src.Agent = agentName(clientName(req))
	params := req.Params.Arguments
	if len(params) == 0 {
		params = json.RawMessage(`{}`)
	}
	p := &progress{ctx: ctx, req: req, token: req.Params.GetProgressToken()}
	id, a := c.Caller.Call(ctx, t, tools.Request{Source: src, Dir: c.Dir, Env: c.Env, Params: params, Report: p.report})
	return c.result(id, a)
}

// clientName is what the client calls itself: once for all requests, or from
// 2026-07-28 on with each of them.
func clientName(req *sdk.CallToolRequest) string {
	if info, ok := req.Params.Meta[sdk.MetaKeyClientInfo].(map[string]any); ok {
		name, _ := info["name"].(string)
		return name
	}
	if p := req.Session.InitializeParams(); p != nil && p.ClientInfo != nil {
		return p.ClientInfo.Name
	}
	return ""
}

// agentName is the client's own name in a form that lists can show.
func agentName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7F {
			return -1
		}
		return r
	}, name)
	const most = 40
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "")
	}
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), " ", "-")
}

// result is the answer on the wire: the tool's own object, the call's id, and
// whether a window shows it. It is there also when the call failed.
func (c *Config) result(id string, a tools.Answer) (*sdk.CallToolResult, error) {
	raw, err := json.Marshal(a.Result)
	var all map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(raw, &all)
	}
	if err != nil || all == nil {
		why, _ := json.Marshal(fmt.Sprintf("the result could not be written: %v", err))
		all = map[string]json.RawMessage{"error": why}
	}
	all["call"], _ = json.Marshal(id)
	all["displayed"], _ = json.Marshal(c.Displayed != nil && c.Displayed())
	raw, err = json.Marshal(all)
	if err != nil {
		return nil, fmt.Errorf("write the result: %w", err)
	}
	return &sdk.CallToolResult{
		Content:           []sdk.Content{&sdk.TextContent{Text: string(raw)}},
		StructuredContent: json.RawMessage(raw),
		IsError:           a.Status != outcome.Complete,
	}, nil
}

// progressGap is the least time between two notifications of a call.
const progressGap = 100 * time.Millisecond

// A progress tells the client how far a call is, where it asked for that. All
// notifications go out before the result, and the numbers never go back.
type progress struct {
	ctx   context.Context
	req   *sdk.CallToolRequest
	token any

	mu   sync.Mutex
	last time.Time
	done float64
}

func (p *progress) report(done, total int64, what string) {
	if p.token == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if float64(done) <= p.done && p.done > 0 || now.Sub(p.last) < progressGap && done != total {
		return
	}
	p.last, p.done = now, float64(done)
	_ = p.req.Session.NotifyProgress(p.ctx, &sdk.ProgressNotificationParams{ // who does not read it gets the result all the same
		ProgressToken: p.token, Progress: float64(done), Total: float64(total), Message: what,
	})
}
