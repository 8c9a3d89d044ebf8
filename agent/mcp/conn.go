package mcp

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A transport counts the requests that are not answered.
type transport struct{ sdk.Transport }

// Connect opens the connection below.
func (t transport) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{Connection: c, open: map[jsonrpc.ID]int{}, changed: make(chan struct{}), closed: make(chan struct{})}, nil
}

// A conn holds the end of the input back until every request that was read has
// its answer.
type conn struct {
	sdk.Connection

	mu      sync.Mutex
	open    map[jsonrpc.ID]int // requests without an answer; ids of a careless client may repeat
	changed chan struct{}      // closed and made anew when an answer was written
	once    sync.Once
	closed  chan struct{}
}

// Read returns the next message, and the end only when nothing is unanswered.
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if req, ok := msg.(*jsonrpc.Request); ok && req.ID.IsValid() {
		c.mu.Lock()
		c.open[req.ID]++
		c.mu.Unlock()
	}
	if errors.Is(err, io.EOF) {
		c.drain(ctx)
	}
	return msg, err
}

// drain waits until every request is answered, or nobody is left to answer to.
func (c *conn) drain(ctx context.Context) {
	for {
		c.mu.Lock()
		left, changed := len(c.open), c.changed
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

// Write sends a message. An answer counts as given also when it could not be
// written: there is nobody to try it again for.
func (c *conn) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := c.Connection.Write(ctx, msg)
	if resp, ok := msg.(*jsonrpc.Response); ok {
		c.mu.Lock()
		if c.open[resp.ID]--; c.open[resp.ID] <= 0 {
			delete(c.open, resp.ID)
		}
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
