package send

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/honestty/honestty/outcome"
)

const (
	// DefaultStall is how long a connection may move no byte before it counts
	// as broken. Slow uploads go on as long as they move; services that look
	// into a large film answer after more than a minute.
	DefaultStall = 2 * time.Minute

	dialTime  = 30 * time.Second
	helloTime = 15 * time.Second

	// maxAnswer bounds what is read of an answer: the largest real ones, of
	// media groups, have some tens of kilobytes.
	maxAnswer = 4 << 20
)

// A WireConfig says how to reach servers. The zero value is the usual way.
type WireConfig struct {
	TLS   *tls.Config // nil: the system's certificates
	Dial  func(ctx context.Context, network, addr string) (net.Conn, error)
	Stall time.Duration // 0: DefaultStall
}

// A Wire carries HTTP requests for the platforms. Each request has a
// connection of its own, whose bytes are counted above TLS, so that it is
// known of every request whether anything of it went out. It never repeats a
// request and follows no redirect.
type Wire struct {
	client *http.Client
}

// NewWire makes a wire. It holds nothing open between requests.
func NewWire(c WireConfig) *Wire {
	if c.Stall <= 0 {
		c.Stall = DefaultStall
	}
	if c.Dial == nil {
		c.Dial = (&net.Dialer{Timeout: dialTime}).DialContext
	}
	tr := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DisableKeepAlives:   true,
		DisableCompression:  true,
		TLSClientConfig:     c.TLS,
		TLSHandshakeTimeout: helloTime,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			nc, err := c.Dial(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return &Conn{Conn: nc, stall: c.Stall}, nil
		},
		DialTLSContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			nc, err := dialTLS(ctx, c, network, addr)
			if err != nil {
				return nil, err
			}
			return &Conn{Conn: nc, stall: c.Stall, sealed: true}, nil
		},
	}
	return &Wire{client: &http.Client{
		Transport: tracker{tr},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // a redirect would send the message again
		},
	}}
}

func dialTLS(ctx context.Context, c WireConfig, network, addr string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime+helloTime)
	defer cancel()
	nc, err := c.Dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	cfg := c.TLS.Clone()
	if cfg == nil {
		cfg = &tls.Config{}
	}
	if cfg.ServerName == "" {
		if cfg.ServerName, _, err = net.SplitHostPort(addr); err != nil {
			return nil, errors.Join(err, nc.Close())
		}
	}
	tc := tls.Client(nc, cfg)
	if err := tc.HandshakeContext(ctx); err != nil {
		nc.Close() // the handshake's error is the one that says why
		return nil, fmt.Errorf("open a secure connection: %w", err)
	}
	return tc, nil
}

// Client is for libraries that bring requests of their own. Give each call a
// context from Track, to know afterwards how far it got.
func (w *Wire) Client() *http.Client { return w.client }

// A Conn counts what is written to it, and breaks when it moves no byte for
// too long.
type Conn struct {
	net.Conn
	stall   time.Duration
	sealed  bool // TLS: a failed write may have put part of a record out
	written atomic.Int64
	began   atomic.Bool
}

// NewConn counts the bytes of c for a protocol that is not HTTP. A stall of 0
// is DefaultStall.
func NewConn(c net.Conn, stall time.Duration) *Conn {
	if stall <= 0 {
		stall = DefaultStall
	}
	return &Conn{Conn: c, stall: stall}
}

// Write counts and writes.
func (c *Conn) Write(p []byte) (int, error) {
	if err := c.Conn.SetDeadline(time.Now().Add(c.stall)); err != nil {
		return 0, err
	}
	if c.sealed {
		c.began.Store(true)
	}
	n, err := c.Conn.Write(p)
	if n > 0 {
		c.began.Store(true)
		c.written.Add(int64(n))
	}
	return n, err
}

// Read reads. Writing on the other side of the connection extends its time.
func (c *Conn) Read(p []byte) (int, error) {
	if err := c.Conn.SetReadDeadline(time.Now().Add(c.stall)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

// Written is how many bytes the kernel took.
func (c *Conn) Written() int64 { return c.written.Load() }

// Began reports whether a byte may have gone out.
func (c *Conn) Began() bool { return c.began.Load() }

// An Attempt is what is known of the last request made under one Track. It may
// be read while the request runs.
type Attempt struct {
	mu       sync.Mutex
	requests int
	conn     *Conn
	foreign  bool // the connection is one whose bytes nobody counts: behind a proxy
	body     *countedBody
	answered bool
}

type attemptKey struct{}

// Track makes a context whose requests through a Wire are recorded.
func Track(ctx context.Context) (context.Context, *Attempt) {
	a := &Attempt{}
	return context.WithValue(ctx, attemptKey{}, a), a
}

// Requests is how many requests were made.
func (a *Attempt) Requests() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.requests
}

// Began reports whether a byte of the last request may have gone out.
func (a *Attempt) Began() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.foreign || a.conn != nil && a.conn.Began()
}

// Written is how many bytes of the last request went out, with its header; -1
// when nobody counted.
func (a *Attempt) Written() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.foreign:
		return outcome.Uncounted
	case a.conn == nil:
		return 0
	}
	return a.conn.Written()
}

// Answered reports whether the last request was answered, if only by a header.
func (a *Attempt) Answered() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.answered
}

// Whole reports whether all of the last request was handed to the connection.
func (a *Attempt) Whole() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.requests > 0 && (a.body == nil || a.body.ended.Load())
}

// Failed says what an error of the last request means: certainly not taken
// when nothing of it went out, otherwise unknown.
func (a *Attempt) Failed(ctx context.Context, err error) Outcome {
	began, written := a.Began(), a.Written()
	why := Cause(err)
	switch {
	case errors.Is(err, ErrChanged):
	case ctx.Err() != nil:
		why = stopped(ctx)
	}
	if !began {
		return Reject("nothing was sent: " + why)
	}
	how := "some bytes"
	if written >= 0 {
		how = outcome.CountBytes(written)
	}
	return Unsure(fmt.Sprintf("%s, after %s had gone out: it may have arrived", why, how))
}

// Cause is the part of an error that may be shown: without the address of the
// request, which can carry a token.
func Cause(err error) string {
	for {
		u, ok := errors.AsType[*url.Error](err)
		if !ok {
			break
		}
		err = u.Err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "the connection was closed without an answer"
	}
	if n, ok := errors.AsType[net.Error](err); ok && n.Timeout() {
		return "the connection moved no byte for too long"
	}
	return outcome.Errno(err)
}

// A tracker records what each request did in the Attempt of its context.
type tracker struct{ tr *http.Transport }

func (t tracker) RoundTrip(req *http.Request) (*http.Response, error) {
	a, ok := req.Context().Value(attemptKey{}).(*Attempt)
	if !ok {
		a = &Attempt{}
	}
	a.mu.Lock()
	a.requests++
	a.conn, a.foreign, a.answered, a.body = nil, false, false, nil
	a.mu.Unlock()
	ctx := httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		GotConn: func(g httptrace.GotConnInfo) {
			c, ours := g.Conn.(*Conn)
			a.mu.Lock()
			a.conn, a.foreign = c, !ours
			a.mu.Unlock()
		},
	})
	req = req.Clone(ctx)
	req.GetBody = nil // nothing is ever sent a second time by the transport
	if req.Body != nil && req.Body != http.NoBody {
		b := &countedBody{ReadCloser: req.Body, want: req.ContentLength, closed: make(chan struct{})}
		if req.ContentLength <= 0 {
			b.want = -1 // a body and no length: until its end
		}
		a.mu.Lock()
		a.body = b
		a.mu.Unlock()
		req.Body = b
	}
	res, err := t.tr.RoundTrip(req)
	if err != nil {
		a.letGo()
		return nil, err
	}
	a.mu.Lock()
	a.answered = true
	a.mu.Unlock()
	res.Body = &answerBody{io.LimitReader(res.Body, maxAnswer), res.Body, a}
	return res, nil
}

// letGo waits until the transport is done with the body of the last request.
// It may go on reading from it after it gave up or was answered early; whoever
// made the request closes files and starts again only after that.
func (a *Attempt) letGo() {
	a.mu.Lock()
	b := a.body
	a.mu.Unlock()
	if b != nil {
		<-b.closed
	}
}

// An answerBody is bounded, and its Close lets go of the request.
type answerBody struct {
	io.Reader
	body io.Closer
	at   *Attempt
}

func (b *answerBody) Close() error {
	err := b.body.Close() // this breaks the connection, and so ends the writing
	b.at.letGo()
	return err
}

// A countedBody knows whether all of a request's body was taken.
type countedBody struct {
	io.ReadCloser
	want  int64 // -1: until its end
	n     int64
	ended atomic.Bool

	once   sync.Once
	closed chan struct{} // closed when the transport is done with it
}

func (b *countedBody) Close() error {
	err := b.ReadCloser.Close()
	b.once.Do(func() { close(b.closed) })
	return err
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.n += int64(n)
	if b.want >= 0 && b.n >= b.want || err == io.EOF {
		b.ended.Store(true)
	}
	return n, err
}
