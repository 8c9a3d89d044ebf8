package jobhost

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/honestty/honestty/ctl"
	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/ptybridge"
	"github.com/honestty/honestty/tools"
	"github.com/honestty/honestty/tools/process"
)

// DefaultIdle is how long a host stays without a running job and without a call.
const DefaultIdle = 10 * time.Minute

// ErrRunning is why a host did not start: another one serves this user.
var ErrRunning = errors.New("a job host runs already")

// A Config says how a host is.
type Config struct {
	Env   ctl.Env // where it listens; Service is set
	Table *process.Table
	Tool  tools.Tool    // of the table
	Idle  time.Duration // 0: DefaultIdle

	// Descriptors counts what a process holds; ok is false where nobody can
	// tell. It is called by several goroutines. Nil: not known.
	Descriptors func(pid int) (n int64, ok bool)
}

// Serve answers until ctx ends, somebody asks the host to stop, or it was idle.
// It does not close the table.
func Serve(ctx context.Context, c Config) error {
	c.Env.Service = Service
	if c.Idle <= 0 {
		c.Idle = DefaultIdle
	}
	s, err := ctl.Listen(c.Env)
	if errors.Is(err, ctl.ErrInUse) {
		return ErrRunning
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	h := &host{Config: c, stop: cancel, asked: time.Now()}
	var wg sync.WaitGroup
	wg.Go(func() {
		h.untilIdle(ctx)
		cancel()
	})
	served := make(chan error, 1)
	wg.Go(func() { served <- s.Serve(h) })
	select {
	case <-ctx.Done():
		err = s.Close()
	case err = <-served: // the socket failed
		cancel()
		err = errors.Join(err, s.Close())
	}
	wg.Wait()
	return err
}

// A host carries out what clients ask.
type host struct {
	Config
	stop context.CancelFunc

	mu    sync.Mutex
	asked time.Time // when the last call came or ended
	calls int       // that run
}

var _ ctl.Handler = (*host)(nil)

// untilIdle returns when nothing has run and nobody has asked for the idle time.
func (h *host) untilIdle(ctx context.Context) {
	t := time.NewTicker(max(h.Idle/20, time.Millisecond))
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-t.C:
			if h.idleSince(now) >= h.Idle {
				return
			}
		}
	}
}

func (h *host) idleSince(now time.Time) time.Duration {
	for _, i := range h.Table.List() {
		if i.State == process.Running && !i.Detached {
			h.touch(0)
			return 0
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.calls > 0 {
		return 0
	}
	return now.Sub(h.asked)
}

func (h *host) touch(calls int) {
	h.mu.Lock()
	h.calls += calls
	h.asked = time.Now()
	h.mu.Unlock()
}

// Call carries out one method.
func (h *host) Call(ctx context.Context, method string, params json.RawMessage) (any, error) {
	h.touch(1)
	defer h.touch(-1)
	switch method {
	case methodTool:
		return with(params, func(p toolParams) (any, error) { return h.tool(ctx, p) })
	case methodList:
		return with(params, func(listParams) (any, error) { return h.list(), nil })
	case methodRead:
		return with(params, func(p readParams) (any, error) { return h.read(ctx, p) })
	case methodWrite:
		return with(params, func(p writeParams) (any, error) { return h.write(p) })
	case methodResize:
		return with(params, func(p resizeParams) (any, error) { return h.resize(p) })
	case methodStop:
		return with(params, func(stopParams) (any, error) { h.stop(); return struct{}{}, nil })
	}
	return nil, ctl.Errorf(ctl.UnknownMethod, "the job host has no method %q", method)
}

func with[P interface{ Validate() error }](params json.RawMessage, do func(P) (any, error)) (any, error) {
	p, err := ctl.Decode[P](params)
	if err != nil {
		return nil, err
	}
	return do(p)
}

func (h *host) tool(ctx context.Context, p toolParams) (any, error) {
	a := h.Tool.Run(ctx, &tools.Call{
		Source: journal.Source{Kind: "host"}, Dir: p.Dir, Env: p.Env, Live: io.Discard,
		Report: func(int64, int64, string) {},
		// The caller has asked already; see Tool.
		Ask: func(context.Context, tools.Question) error { return nil },
	}, p.Params)
	raw, err := json.Marshal(a.Result)
	if err != nil {
		return nil, ctl.Errorf(ctl.Internal, "write the result: %v", err)
	}
	r := toolResult{Status: a.Status, Summary: a.Summary, Result: raw}
	if a.Err != nil {
		r.Error, r.Refused = a.Err.Error(), errors.Is(a.Err, outcome.ErrRefused)
	}
	return r, nil
}

func (h *host) list() listResult {
	now := time.Now()
	r := listResult{Jobs: []Job{}}
	for _, i := range h.Table.List() {
		j := jobOf(i, now)
		if h.Descriptors != nil && j.Running {
			if n, ok := h.Descriptors(j.PID); ok {
				j.Descriptors = &n
			}
		}
		r.Jobs = append(r.Jobs, j)
	}
	return r
}

func (h *host) job(id string) (*process.Job, error) {
	j, err := h.Table.Get(id)
	if err != nil {
		return nil, ctl.Errorf(ctl.Failed, "%v", err)
	}
	return j, nil
}

// read waits for output beyond an offset.
func (h *host) read(ctx context.Context, p readParams) (any, error) {
	j, err := h.job(p.ID)
	if err != nil {
		return nil, err
	}
	wait := min(time.Duration(p.WaitMS)*time.Millisecond, maxWait)
	t := time.NewTimer(wait)
	defer t.Stop()
	c := Chunk{Data: []byte{}, From: p.From}
	buf := make([]byte, maxRead)
	for {
		changed := j.Changed() // asked first, so that nothing is missed
		n, err := j.Read(c.From, buf)
		missing, gone := errors.AsType[*process.NotKeptError](err)
		switch {
		case gone:
			c.Lost += missing.Next - c.From
			c.From = missing.Next
			continue
		case errors.Is(err, io.EOF):
			c.End = true
			return c, nil
		case err != nil:
			return nil, ctl.Errorf(ctl.Failed, "%v", err)
		case n > 0:
			c.Data = append(c.Data, buf[:n]...)
			return c, nil
		}
		select {
		case <-changed:
		case <-t.C:
			return c, nil
		case <-ctx.Done():
			return nil, ctl.Errorf(ctl.Cancelled, "%v", context.Cause(ctx))
		}
	}
}

func (h *host) write(p writeParams) (any, error) {
	j, err := h.job(p.ID)
	if err != nil {
		return nil, err
	}
	n, err := j.Write(p.Data)
	r := writeResult{Accepted: n}
	if err != nil {
		r.Why = err.Error()
	}
	return r, nil
}

func (h *host) resize(p resizeParams) (any, error) {
	j, err := h.job(p.ID)
	if err != nil {
		return nil, err
	}
	size, err := j.Resize(ptybridge.Size{Cols: p.Cols, Rows: p.Rows})
	if err != nil {
		return nil, ctl.Errorf(ctl.Failed, "%v", err)
	}
	return resizeParams{ID: p.ID, Cols: size.Cols, Rows: size.Rows}, nil
}
