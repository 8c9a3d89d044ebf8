package jobhost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/honestty/honestty/ctl"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
)

// ErrNoHost is why nobody could be asked about jobs: no host runs, so no job
// does either, but for those of hosts that have died.
var ErrNoHost = errors.New("no job host runs")

// startTime is how long a host may take until it listens: as long as it waits
// for one before it that is about to end, and a little.
const startTime = endTime + 5*time.Second

// startPoll is the pause between two looks at a host that is starting.
const startPoll = 10 * time.Millisecond

// A Client asks the host. Its methods may be called at the same time.
type Client struct{ c *ctl.Client }

// Dial finds the host that runs, or returns ErrNoHost.
func Dial(env ctl.Env) (*Client, error) {
	env.Service = Service
	c, err := ctl.Dial(env, ctl.Latest)
	if errors.Is(err, ctl.ErrNoWindow) || errors.Is(err, ctl.ErrUnanswered) {
		return nil, ErrNoHost // or one that ended as it was greeted: nothing was asked yet
	}
	if err != nil {
		return nil, fmt.Errorf("reach the job host: %w", err)
	}
	return &Client{c}, nil
}

// Connect finds the host, or starts one and waits until it listens. Of several
// that are started at once one stays.
func Connect(ctx context.Context, env ctl.Env, start func() error) (*Client, error) {
	c, err := Dial(env)
	if !errors.Is(err, ErrNoHost) {
		return c, err
	}
	if err := start(); err != nil {
		return nil, fmt.Errorf("start the job host: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTime, fmt.Errorf("the job host did not listen within %s", outcome.Duration(startTime)))
	defer cancel()
	t := time.NewTicker(startPoll)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("start the job host: %w", context.Cause(ctx))
		case <-t.C:
		}
		if c, err := Dial(env); !errors.Is(err, ErrNoHost) {
			return c, err
		}
	}
}

// Close ends the connections. Jobs go on.
func (c *Client) Close() error { return c.c.Close() }

// PID is the host's.
func (c *Client) PID() int { return c.c.Window().PID }

// Run makes one call of the process tool in the host.
func (c *Client) Run(ctx context.Context, call *tools.Call, params json.RawMessage) tools.Answer {
	var r toolResult
	if err := c.c.Call(ctx, methodTool, toolParams{Dir: call.Dir, Env: call.Env, Params: params}, &r); err != nil {
		status := outcome.Failed
		if errors.Is(err, ctl.ErrUnanswered) || ctx.Err() != nil {
			status = outcome.Unknown // whether it was carried out, nobody knows
		}
		return failed(status, err)
	}
	a := tools.Answer{Status: r.Status, Summary: r.Summary, Result: r.Result}
	if r.Error != "" {
		a.Err = &HostError{Text: r.Error, Refused: r.Refused}
	}
	return a
}

// A HostError is an error that the host told.
type HostError struct {
	Text    string
	Refused bool // by a rule
}

func (e *HostError) Error() string { return e.Text }

// Is makes a refusal match outcome.ErrRefused.
func (e *HostError) Is(target error) bool { return e.Refused && target == outcome.ErrRefused }

// List returns all jobs, the newest first.
func (c *Client) List(ctx context.Context) ([]Job, error) {
	var r listResult
	err := c.c.Call(ctx, methodList, listParams{}, &r)
	return r.Jobs, err
}

// Read returns output from an offset on. It waits for the first byte, at most
// for wait; an empty chunk that is not the End says that none came.
func (c *Client) Read(ctx context.Context, id string, from int64, wait time.Duration) (Chunk, error) {
	var r Chunk
	err := c.c.Call(ctx, methodRead, readParams{ID: id, From: from, WaitMS: min(wait, maxWait).Milliseconds()}, &r)
	return r, err
}

// Write gives bytes to a job's input. It says how many were taken, and why the
// rest was refused.
func (c *Client) Write(ctx context.Context, id string, p []byte) (int, error) {
	var r writeResult
	if err := c.c.Call(ctx, methodWrite, writeParams{ID: id, Data: p}, &r); err != nil {
		return 0, err
	}
	if r.Why != "" {
		return r.Accepted, &HostError{Text: r.Why}
	}
	return r.Accepted, nil
}

// Resize sets the size of a job's terminal and returns what is in force.
func (c *Client) Resize(ctx context.Context, id string, cols, rows int) (int, int, error) {
	var r resizeParams
	err := c.c.Call(ctx, methodResize, resizeParams{ID: id, Cols: cols, Rows: rows}, &r)
	return r.Cols, r.Rows, err
}

// Stop asks the host to end, and all jobs with it.
func (c *Client) Stop(ctx context.Context) error {
	return c.c.Call(ctx, methodStop, stopParams{}, nil)
}
