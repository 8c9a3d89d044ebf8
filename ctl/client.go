package ctl

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// helloPatience is how long a window may take for hello: it answers
	// without asking anybody, so longer means that it was stopped.
	helloPatience = 5 * time.Second

	// dialRetry is the pause after the kernel's queue for new connections was
	// full.
	dialRetry = 5 * time.Millisecond

	// maxIdle is how many connections a client keeps for later calls.
	maxIdle = 8
)

// A Client talks to one window. Its methods may be called at the same time:
// each call has a connection to itself. It has no goroutine.
type Client struct {
	env      Env
	path     string
	patience time.Duration // for hello
	window   HelloResult   // as the first connection was greeted

	mu     sync.Mutex
	closed bool
	idle   []*link
	busy   map[*link]struct{}
}

// A link is one connection of a client.
type link struct {
	nc   *net.UnixConn
	r    *bufio.Reader
	next int64 // the id of the last request
	torn bool  // it is not between two frames, or closed: no further call
}

// Dial finds a window and greets it. which is "" for the window that
// SocketVariable names, or else the latest; Latest; a pid; or the path of a
// socket, with a separator in it.
//
// Errors: ErrNoWindow, ErrVersion, ErrSilent, ErrForeign, ErrTooLong, an
// *Error, and what the system says.
func Dial(env Env, which string) (*Client, error) {
	patience := env.Patience
	if patience <= 0 {
		patience = helloPatience
	}
	s, err := newSearch(env)
	if err != nil && which == "" { // named otherwise, the variable does not matter
		return nil, err
	}
	paths, err := s.paths(which)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		c := &Client{env: env, path: path, patience: patience, busy: map[*link]struct{}{}}
		l, hello, err := c.connect(context.Background())
		if isAbsent(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		c.window = hello
		c.idle = append(c.idle, l)
		return c, nil
	}
	return nil, s.none(which)
}

// isAbsent reports whether an error of connect says that nobody listens.
func isAbsent(err error) bool {
	return errors.Is(err, unix.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist)
}

// Window is what the window said of itself.
func (c *Client) Window() HelloResult { return c.window }

// Path is the socket of the window.
func (c *Client) Path() string { return c.path }

// connect makes one more connection and greets.
func (c *Client) connect(ctx context.Context) (*link, HelloResult, error) {
	by := time.Now().Add(c.patience)
	nc, err := dialUntil(ctx, c.path, by)
	if err != nil {
		return nil, HelloResult{}, fmt.Errorf("connect to window: %w", err)
	}
	uid, err := peerUID(nc)
	if err == nil && uid != ownUID() {
		err = fmt.Errorf("%w: uid %d listens on %q, and this is uid %d", ErrForeign, uid, c.path, ownUID())
	}
	if err != nil {
		return nil, HelloResult{}, errors.Join(fmt.Errorf("connect to window: %w", err), nc.Close())
	}
	l := &link{nc: nc, r: bufio.NewReader(nc)}
	stop := context.AfterFunc(ctx, func() { _ = nc.Close() })
	hello, err := c.greet(l, by)
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		_ = nc.Close() // the error before is the one that matters
		return nil, HelloResult{}, err
	}
	return l, hello, nil
}

// dialUntil dials, again while the kernel has no place for one more.
func dialUntil(ctx context.Context, path string, by time.Time) (*net.UnixConn, error) {
	for {
		nc, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
		if err == nil || !errors.Is(err, unix.EAGAIN) || time.Now().After(by) || ctx.Err() != nil {
			return nc, err
		}
		time.Sleep(dialRetry)
	}
}

// greet says hello and compares the versions.
func (c *Client) greet(l *link, by time.Time) (HelloResult, error) {
	var hello HelloResult
	_ = l.nc.SetDeadline(by) // fails only on a closed connection, where the call fails too
	frame, err := l.request(MethodHello, HelloParams{Protocol: Protocol, Version: c.env.Version})
	if err != nil {
		return hello, err
	}
	raw, err := l.exchange(frame)
	switch {
	case isTimeout(err):
		return hello, fmt.Errorf("greet window on %q: %w", c.path, ErrSilent)
	case err != nil:
		return hello, fmt.Errorf("greet window: %w", err)
	}
	if err := json.Unmarshal(raw, &hello); err != nil {
		return hello, fmt.Errorf("greet window: %w: %w", ErrProtocol, plain(err))
	}
	if hello.Protocol != Protocol {
		return hello, &VersionError{Ours: Protocol, Theirs: hello.Protocol, Window: hello.Version}
	}
	_ = l.nc.SetDeadline(time.Time{})
	return hello, nil
}

// Call asks the window and reads the answer into result, which may be nil.
// Parameters of a type of this package are checked before anything is sent.
//
// Errors: an *Error is the window's answer, or says that the parameters or the
// request could not be sent; the cause of ctx when it ended before the answer,
// and ErrUnanswered when the connection did. After these two nobody knows
// whether the call was carried out.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", method, context.Cause(ctx))
	}
	if v, ok := params.(validator); ok {
		if err := v.Validate(); err != nil {
			return Errorf(InvalidParams, "check parameters: %v", err)
		}
	}
	l, err := c.take(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	raw, err := l.call(ctx, method, params)
	c.giveBack(l)
	if err != nil {
		return err
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(raw, result); err != nil {
		return fmt.Errorf("%s: %w: %w", method, ErrProtocol, plain(err))
	}
	return nil
}

// take returns a connection that nobody uses. A new one must reach the process
// that the first one reached.
func (c *Client) take(ctx context.Context) (*link, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, ErrClosed
	}
	var l *link
	if n := len(c.idle); n > 0 {
		l, c.idle = c.idle[n-1], c.idle[:n-1]
	}
	if l == nil {
		c.mu.Unlock()
		fresh, hello, err := c.connect(ctx)
		c.mu.Lock()
		switch {
		case isAbsent(err):
			return nil, c.gone()
		case err != nil:
			return nil, err
		case c.closed:
			return nil, errors.Join(ErrClosed, fresh.nc.Close())
		case hello.PID != c.window.PID:
			return nil, errors.Join(c.gone(), fresh.nc.Close())
		}
		l = fresh
	}
	c.busy[l] = struct{}{}
	return l, nil
}

// gone is the error of a window that was there and is not any more.
func (c *Client) gone() error {
	return &NoWindowError{Which: strconv.Itoa(c.window.PID), Looked: []string{c.path}}
}

// giveBack keeps a connection that is between two frames, and closes any other.
func (c *Client) giveBack(l *link) {
	c.mu.Lock()
	delete(c.busy, l)
	keep := !l.torn && !c.closed && len(c.idle) < maxIdle
	if keep {
		c.idle = append(c.idle, l)
	}
	c.mu.Unlock()
	if !keep {
		_ = l.nc.Close() // the answer was read, or will not be
	}
}

// Close ends the connections. Calls that run fail with ErrUnanswered.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	all := c.idle
	c.idle = nil
	for l := range c.busy {
		all = append(all, l)
	}
	c.mu.Unlock()
	for _, l := range all {
		_ = l.nc.Close() // a connection that is closed twice says so, and that is all it can say
	}
	return nil
}

// request writes a frame with the next id.
func (l *link) request(method string, params any) ([]byte, error) {
	l.next++
	body, err := encode(struct {
		ID     int64  `json:"id"`
		Method string `json:"method"`
		Params any    `json:"params,omitempty"`
	}{l.next, method, params})
	if err != nil {
		return nil, Errorf(InvalidParams, "write request: %v", err)
	}
	if len(body) > MaxRequest {
		return nil, Errorf(TooLarge, "the request has %d bytes and %d are allowed; nothing was sent", len(body), MaxRequest)
	}
	return append(body, '\n'), nil
}

// call makes one call.
func (l *link) call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	frame, err := l.request(method, params)
	if err != nil {
		return nil, err
	}
	// Closing is how the window learns that the call is given up.
	stop := context.AfterFunc(ctx, func() { _ = l.nc.Close() })
	raw, err := l.exchange(frame)
	cut := !stop()
	l.torn = l.torn || cut
	_, answered := errors.AsType[*Error](err)
	switch {
	case err == nil || answered: // also when ctx ended just after it
		return raw, err
	case cut:
		return nil, fmt.Errorf("%s: %w", method, context.Cause(ctx))
	}
	return nil, fmt.Errorf("%s: %w", method, err)
}

// exchange writes a request and reads its answer.
func (l *link) exchange(frame []byte) (json.RawMessage, error) {
	l.torn = true
	// A window that refuses us says so before it reads: a write that fails is
	// no reason not to look for the answer.
	n, werr := l.nc.Write(frame)
	answer, err := readFrame(l.r, MaxAnswer)
	switch {
	case errors.Is(err, errFrameTooLong):
		return nil, fmt.Errorf("%w: it has more than %d bytes", ErrProtocol, MaxAnswer)
	case isTimeout(err):
		return nil, err
	case err != nil && n == 0 && errors.Is(werr, unix.EPIPE):
		return nil, fmt.Errorf("%w any more: it closed before anything was sent", ErrNoWindow)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrUnanswered, errors.Join(werr, err))
	}
	r, err := parseResponse(answer)
	switch {
	case err != nil:
		return nil, err
	case r.ID == nil && r.Error != nil: // it could not read the request, or did not try
		return nil, r.Error
	case r.ID == nil || *r.ID != l.next:
		return nil, fmt.Errorf("%w: it answers another request", ErrProtocol)
	}
	l.torn = false
	if r.Error != nil {
		return nil, r.Error
	}
	return r.Result, nil
}
