package mcp

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A transport reads messages a line each and counts the requests that are not
// answered.
type transport struct {
	in     io.ReadCloser
	out    io.WriteCloser
	ending context.Context // its end is the end of the input
}

// Connect opens the connection. What the client sends is read from then on.
func (t transport) Connect(ctx context.Context) (sdk.Connection, error) {
	c := &conn{ending: t.ending, open: map[jsonrpc.ID]bool{}, changed: make(chan struct{}), closed: make(chan struct{})}
	ready := make(chan struct{})
	in := newLines(t.in, func(code int64, why string) {
		<-ready
		c.refuse(ctx, code, why)
	})
	below, err := (&sdk.IOTransport{Reader: in, Writer: t.out, MaxLineLength: -1}).Connect(ctx) // in has the limit
	if err != nil {
		return nil, err
	}
	c.Connection = below
	close(ready)
	return c, nil
}

// A conn holds the end of the input back until every request that was read has
// its answer. The end of ending is an end of the input too.
type conn struct {
	sdk.Connection
	ending context.Context

	mu         sync.Mutex
	open       map[jsonrpc.ID]bool // requests whose answer was not made yet
	unanswered int                 // requests whose answer was not written yet
	changed    chan struct{}       // closed and made anew when an answer was written
	once       sync.Once
	closed     chan struct{}
}

// Read returns the next message, and the end only when nothing is unanswered.
// A request whose id another one still has is refused here: the SDK would never
// answer it.
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		msg, err := c.Connection.Read(c.ending)
		if c.ending.Err() != nil {
			msg, err = nil, io.EOF
		}
		if err != nil {
			c.drain(ctx)
			return nil, err
		}
		req, ok := msg.(*jsonrpc.Request)
		if !ok || !req.ID.IsValid() {
			return msg, nil
		}
		c.mu.Lock()
		taken := c.open[req.ID]
		if !taken {
			c.open[req.ID] = true
			c.unanswered++
		}
		c.mu.Unlock()
		if !taken {
			return msg, nil
		}
		c.refuse(ctx, jsonrpc.CodeInvalidRequest, fmt.Sprintf("the id %v belongs to a request that still runs, and this one was passed over", req.ID.Raw()))
	}
}

// refuse answers what cannot be answered by its id.
func (c *conn) refuse(ctx context.Context, code int64, why string) {
	_ = c.Connection.Write(ctx, &jsonrpc.Response{Error: &jsonrpc.Error{Code: code, Message: why}}) // who cannot be written to learns nothing
}

// drain waits until every request is answered, or nobody is left to answer to.
func (c *conn) drain(ctx context.Context) {
	for {
		c.mu.Lock()
		left, changed := c.unanswered, c.changed
		c.mu.Unlock()
		if left == 0 {
			return
		}
		select {
		case <-changed:
		case <-c.closed:
			return
		case <-ctx.Done():
			return
		}
	}
}

// Write sends a message. The id of an answer is free before the client can know
// of it. An answer counts as given also when it could not be written: there is
// nobody to try it again for.
func (c *conn) Write(ctx context.Context, msg jsonrpc.Message) error {
	resp, ok := msg.(*jsonrpc.Response)
	if !ok {
		return c.Connection.Write(ctx, msg)
	}
	c.mu.Lock()
	mine := c.open[resp.ID]
	delete(c.open, resp.ID)
	c.mu.Unlock()
	err := c.Connection.Write(ctx, msg)
	if mine {
		c.mu.Lock()
		c.unanswered--
		close(c.changed)
		c.changed = make(chan struct{})
		c.mu.Unlock()
	}
	return err
}

// Close ends the connection, and a Read that holds the end back.
func (c *conn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Connection.Close()
}
