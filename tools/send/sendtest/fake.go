package sendtest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/honestty/honestty/tools/send"
)

// A Fault is what goes wrong once with the next request of a fake.
type Fault uint8

// The faults. A fake that has no such thing says so when it is armed.
const (
	NoFault     Fault = iota
	RateLimited       // 429, asks to wait one second
	LimitedLong       // 429, asks to wait one hour
	ServerError       // 500
	Unavailable       // 503, without saying until when
	BadHTML           // 400 with a page of markup
	TooBigHTML        // 413 with a page of markup, after reading the request
	EmptyAnswer       // accepted, answered with success and no body
	NoID              // accepted, answered without a message id
	OtherSize         // accepted, answered with another file size
	Silent            // reads the request and never answers
)

var faultNames = [...]string{
	"no fault", "429", "429 for an hour", "500", "503", "400 with markup", "413 with markup",
	"empty answer", "no message id", "other file size", "no answer",
}

func (f Fault) String() string { return faultNames[f] }

// An Arrival is one text or file that a fake accepted for good.
type Arrival struct {
	Chat, Thread string
	Text         string // of a text, or the caption of a file
	Name         string // of a file; empty for a text
	Size         int64
	SHA256       string // of a file
}

// A Fake is a strict stand-in for a service: it rejects what the real one
// rejects, and it accepts nothing twice.
type Fake interface {
	// Base says where it listens, as scheme://host:port.
	Base() string

	// Platform is a client of the service at base, with the right secret.
	Platform(base string) send.Platform

	// Wrong is a client with a wrong secret, and that secret. A nil platform
	// says that the service has none.
	Wrong(base string) (send.Platform, string)

	// Secret is what must be in no result; empty when there is none.
	Secret() string

	// Arm makes the next request meet f. False: the service knows no such thing.
	Arm(f Fault) bool

	Arrived() []Arrival
	Requests() int            // requests or connections that began
	Holding() <-chan struct{} // gets one when a Silent request was read
}

// HTTP is what fakes of HTTP services have in common.
type HTTP struct {
	srv     *httptest.Server
	holding chan struct{}
	release chan struct{}
	lacks   []Fault

	mu       sync.Mutex
	armed    Fault
	arrived  []Arrival
	requests int
	problems []string
}

// NewHTTP serves h on loopback until the test ends. Arm says false to the
// faults in lacks.
func NewHTTP(t testing.TB, h http.HandlerFunc, lacks ...Fault) *HTTP {
	f := &HTTP{holding: make(chan struct{}, 1), release: make(chan struct{}), lacks: lacks}
	f.srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.requests++
		f.mu.Unlock()
		if !f.fail(w, r) {
			h(w, r)
		}
	}))
	t.Cleanup(func() {
		close(f.release)
		f.srv.Close()
		for _, p := range f.problems {
			t.Error(p)
		}
	})
	return f
}

// fail meets the faults that need no knowledge of the service.
func (f *HTTP) fail(w http.ResponseWriter, r *http.Request) bool {
	f.mu.Lock()
	fault := f.armed
	switch fault {
	case RateLimited, LimitedLong, ServerError, Unavailable, BadHTML, TooBigHTML, Silent:
		f.armed = NoFault
	default:
		f.mu.Unlock()
		return false
	}
	f.mu.Unlock()
	io.Copy(io.Discard, r.Body) // a cut shows at the client
	page := func(status int) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(status)
		fmt.Fprintf(w, "<html>\r\n<head><title>%d</title></head>\r\n<body>nginx</body>\r\n</html>", status)
	}
	switch fault {
	case RateLimited:
		w.Header().Set("Retry-After", "1")
		TooMany(w, 1)
	case LimitedLong:
		w.Header().Set("Retry-After", "3600")
		TooMany(w, 3600)
	case ServerError:
		page(http.StatusInternalServerError)
	case Unavailable:
		page(http.StatusServiceUnavailable)
	case BadHTML:
		page(http.StatusBadRequest)
	case TooBigHTML:
		page(http.StatusRequestEntityTooLarge)
	case Silent:
		f.holding <- struct{}{}
		select {
		case <-f.release:
		case <-r.Context().Done():
		}
	}
	return true
}

// TooMany answers 429 in a form that every service of ours understands: the
// header, and the fields that Telegram, Discord and Matrix use.
func TooMany(w http.ResponseWriter, seconds int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusTooManyRequests)
	fmt.Fprintf(w, `{"ok":false,"error_code":429,"errcode":"M_LIMIT_EXCEEDED","error":"ratelimited",`+
		`"description":"Too Many Requests: retry after %d","parameters":{"retry_after":%d},`+
		`"retry_after":%d,"retry_after_ms":%d}`, seconds, seconds, seconds, seconds*1000)
}

// Base is the address.
func (f *HTTP) Base() string { return f.srv.URL }

// Arm sets the next fault.
func (f *HTTP) Arm(fault Fault) bool {
	for _, l := range f.lacks {
		if l == fault {
			return false
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed = fault
	return true
}

// Take reports whether the fault is armed, and disarms it: for the faults that
// only the service's own handler can play.
func (f *HTTP) Take(fault Fault) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.armed != fault {
		return false
	}
	f.armed = NoFault
	return true
}

// Accept records arrivals. A handler calls it once the request was read to its
// end and everything in it was right.
func (f *HTTP) Accept(a ...Arrival) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.arrived = append(f.arrived, a...)
}

// Problem fails the test when it ends: the client did something that no
// service should have to see.
func (f *HTTP) Problem(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.problems = append(f.problems, "fake: "+fmt.Sprintf(format, args...))
}

// Arrived is what was accepted.
func (f *HTTP) Arrived() []Arrival {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Arrival(nil), f.arrived...)
}

// Requests counts.
func (f *HTTP) Requests() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests
}

// Holding tells of a request that gets no answer.
func (f *HTTP) Holding() <-chan struct{} { return f.holding }

// Hash reads r to its end and says what it was. The error is a client that
// broke off.
func Hash(r io.Reader) (size int64, sum string, err error) {
	h := sha256.New()
	size, err = io.Copy(h, r)
	return size, hex.EncodeToString(h.Sum(nil)), err
}
