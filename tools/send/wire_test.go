package send

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/honestty/honestty/internal/leak"
)

func post(t *testing.T, addr string, body io.Reader) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, addr, body)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// endless is a body that never ends, and counts what was taken of it.
type endless struct{ n atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) { e.n.Add(int64(len(p))); return len(p), nil }

func TestAnAnswerBeforeTheWholeMessageProvesNothing(t *testing.T) {
	before := leak.Take(t)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).EnableFullDuplex()
		fmt.Fprint(w, `{"id":"1"}`) // without reading the request
	}))
	body := &endless{}
	_, o, ok := NewWire(WireConfig{}).Exchange(post(t, srv.URL, body))
	taken := body.n.Load()
	if ok || o.Status != Unknown {
		t.Errorf("ok %v, %+v", ok, o)
	}
	srv.Close()
	if again := body.n.Load(); again != taken {
		t.Errorf("the body was read after the exchange was over: %d, then %d", taken, again)
	}
	before.Check(t)
}

// stuck is a body whose second Read waits until it is let go.
type stuck struct {
	reads            atomic.Int64
	started, release chan struct{}
}

func (s *stuck) Read(p []byte) (int, error) {
	if s.reads.Add(1) > 1 {
		close(s.started)
		<-s.release
		return 0, io.EOF
	}
	return len(p), nil
}

func TestAnExchangeIsNotOverWhileItsBodyIsRead(t *testing.T) {
	body := &stuck{started: make(chan struct{}), release: make(chan struct{})}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).EnableFullDuplex()
		<-body.started
		fmt.Fprint(w, `{"id":"1"}`)
	}))
	defer srv.Close()
	over := make(chan struct{})
	req := post(t, srv.URL, body)
	go func() { // joined below
		defer close(over)
		if _, o, ok := NewWire(WireConfig{}).Exchange(req); ok || o.Status != Unknown {
			t.Errorf("ok %v, %+v", ok, o)
		}
	}()
	select {
	case <-over:
		t.Error("the exchange was over while its body was being read")
	case <-time.After(100 * time.Millisecond): // long enough for a mistake to show
	}
	close(body.release)
	<-over
}

func TestACancelledRequestLetsGoOfItsBody(t *testing.T) {
	before := leak.Take(t)
	ctx, cancel := context.WithCancel(t.Context())
	started := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(started)
		io.Copy(io.Discard, r.Body)
	}))
	go func() { <-started; cancel() }() // ends when the request began; the exchange below waits for it
	body := &endless{}
	req := post(t, srv.URL, body).WithContext(ctx)
	_, o, ok := NewWire(WireConfig{}).Exchange(req)
	taken := body.n.Load()
	if ok || o.Status != Unknown || !strings.Contains(o.Reason, "cancelled") {
		t.Errorf("ok %v, %+v", ok, o)
	}
	srv.Close()
	if again := body.n.Load(); again != taken {
		t.Errorf("the body was read after the exchange was over")
	}
	before.Check(t)
}

func TestNothingWentOutMeansRejected(t *testing.T) {
	refused := errors.New("no such host")
	w := NewWire(WireConfig{Dial: func(context.Context, string, string) (net.Conn, error) { return nil, refused }})
	for _, scheme := range []string{"http", "https"} {
		_, o, ok := w.Exchange(post(t, scheme+"://example.org/bot123:TOKEN/send", strings.NewReader("x")))
		if ok || o.Status != Rejected || strings.Contains(o.Reason, "TOKEN") || !strings.Contains(o.Reason, "no such host") {
			t.Errorf("%s: %+v", scheme, o)
		}
	}
}

func TestAConnectionThatMovesNothingBreaks(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	defer srv.Close()
	w := NewWire(WireConfig{Stall: 20 * time.Millisecond})
	_, o, ok := w.Exchange(post(t, srv.URL, strings.NewReader("x")))
	if ok || o.Status != Unknown || !strings.Contains(o.Reason, "moved no byte") {
		t.Errorf("%+v", o)
	}
}

func TestATunnelThatIsRefusedCarriedNothing(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	w := NewWire(WireConfig{})
	proxy := &url.URL{Scheme: "http", Host: ln.Addr().String()}
	w.client.Transport.(tracker).tr.Proxy = http.ProxyURL(proxy)
	done := make(chan struct{})
	go func() { // ends with its one connection; joined below
		defer close(done)
		c, err := ln.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		buf := make([]byte, 512)
		if _, err := c.Read(buf); err == nil {
			io.WriteString(c, "HTTP/1.1 502 Bad Gateway\r\n\r\n")
		}
	}()
	_, o, ok := w.Exchange(post(t, "https://example.org/", strings.NewReader("x")))
	<-done
	if ok || o.Status != Rejected {
		t.Errorf("a tunnel that was refused carried nothing: %+v", o)
	}
}

func TestRefusalsAreCertainOnlyWhereTheServerSaysThatItDidNotAct(t *testing.T) {
	for status, want := range map[int]Status{
		301: Rejected, 308: Rejected, 400: Rejected, 401: Rejected, 403: Rejected, 404: Rejected, 408: Rejected, 413: Rejected,
		429: Rejected, 500: Unknown, 501: Rejected, 502: Unknown, 503: Rejected, 504: Unknown, 520: Unknown, 599: Unknown, 199: Unknown,
	} {
		o := Refusal(Reply{Status: status, Body: []byte("<html>\x1b[2J</html>")})
		if o.Status != want || strings.ContainsAny(o.Reason, "<\x1b") {
			t.Errorf("%d: %+v", status, o)
		}
	}
	o := Refusal(Reply{Status: 429, Header: http.Header{"Retry-After": {"1.5"}}})
	if o.Later != 1500*time.Millisecond {
		t.Errorf("%+v", o)
	}
	for _, s := range []string{"", "soon", "-1", "1e99", "NaN"} {
		if d := RetryAfter(s); d != 0 {
			t.Errorf("%q: %v", s, d)
		}
	}
}

func TestExcerptsAreOneSafeLine(t *testing.T) {
	for body, want := range map[string]string{
		"":                                       "",
		"  <!DOCTYPE html><title>x</title>":      "a page of markup instead of an answer",
		`{"message":"Unknown Channel","code":1}`: "Unknown Channel",
		`{"errcode":"M_X","error":"no\u001b[2J room"}`: "no\uFFFD[2J room",
		`{"other":1}`:             `{"other":1}`,
		"plain\r\ntext\u2028here": "plain text\uFFFDhere",
	} {
		if got := Excerpt([]byte(body)); got != want {
			t.Errorf("%q: %q", body, got)
		}
	}
	if got := Excerpt([]byte(strings.Repeat("é", 500))); len([]rune(got)) != excerptRunes+1 {
		t.Errorf("%d characters", len([]rune(got)))
	}
}

func TestInOrderWaitsWithinItsBoundAndNeverAfterUnknown(t *testing.T) {
	var waits []time.Duration
	m := Message{Texts: []string{"a", "b"}, Pace: Pace{Bound: 10 * time.Second, Sleep: func(_ context.Context, d time.Duration) error {
		waits = append(waits, d)
		return nil
	}}}
	run := func(outs ...Outcome) (Delivery, int) {
		waits = nil
		n := 0
		d := InOrder(t.Context(), m, func(context.Context, int) Outcome { n++; return outs[min(n, len(outs))-1] }, nil)
		return d, n
	}
	busy := Reject("busy").After(4 * time.Second)
	if d, n := run(busy, SentAs("1"), SentAs("2")); d.Texts[1].Status != Sent || n != 3 || len(waits) != 1 {
		t.Errorf("%+v after %d tries, waits %v", d, n, waits)
	}
	if d, n := run(busy); d.Texts[0].Status != Rejected || d.Texts[1].Status != Dropped || n != 3 || len(waits) != 2 {
		t.Errorf("%+v after %d tries, waits %v", d, n, waits)
	}
	if d, n := run(Outcome{Later: time.Second, Reason: "cut"}); d.Texts[0].Status != Unknown || n != 1 || len(waits) != 0 {
		t.Errorf("%+v after %d tries, waits %v", d, n, waits)
	}
	if d, n := run(SentAs("1"), Reject("token").Stop()); d.Texts[0].Status != Sent || d.Texts[1].Status != Rejected || n != 2 {
		t.Errorf("%+v after %d tries", d, n)
	}
}
