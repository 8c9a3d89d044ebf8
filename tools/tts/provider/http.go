package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/tts/audio"
)

// A Client is how servers are asked over HTTP. The zero value has the
// defaults.
type Client struct {
	Timeout time.Duration // for one request altogether; 0: DefaultTimeout
	Stall   time.Duration // how long a server may say nothing; 0: DefaultStall
	MaxBody int64         // 0: MaxBody

	// Fault is asked before each named step ("create", "write", "close"). Nil
	// in the product.
	Fault func(step string) error
}

// A post is one request for audio.
type post struct {
	server string // for messages: "openai"
	url    string
	header http.Header
	body   any      // sent as JSON
	secret string   // never repeated
	pcm    *pcmWant // non-nil when the body is expected to be bare samples
}

// A pcmWant is what bare samples are when the server does not say otherwise.
type pcmWant struct{ rate, channels int }

var errStalled = errors.New("the server fell silent")

// fetch sends the request and writes the audio to out. Whatever it returns,
// memory stays small: the body goes to the file as it comes.
func (c Client) fetch(ctx context.Context, p post, out string) (Made, error) {
	limit := orDefault(c.Timeout, DefaultTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, context.DeadlineExceeded)
	defer cancel()
	ctx, stall := context.WithCancelCause(ctx)
	defer stall(nil)
	quiet := orDefault(c.Stall, DefaultStall)
	watch := time.AfterFunc(max(quiet, limit), func() { stall(errStalled) }) // a synthesis may take its whole time to begin
	defer watch.Stop()

	resp, err := c.send(ctx, p)
	if err != nil {
		return Made{}, c.failure(ctx, p, err, limit, quiet)
	}
	defer resp.Body.Close()
	watch.Reset(quiet)
	body := &watched{r: resp.Body, left: orDefault(c.MaxBody, MaxBody), alive: func() { watch.Reset(quiet) }}
	if resp.StatusCode != http.StatusOK {
		return Made{}, refusal(p, resp, body)
	}
	made, err := c.store(p, resp, body, out)
	if err != nil {
		return made, c.failure(ctx, p, err, limit, quiet)
	}
	return made, nil
}

func orDefault[T ~int64](v, d T) T {
	if v <= 0 {
		return d
	}
	return v
}

func (c Client) send(ctx context.Context, p post) (*http.Response, error) {
	raw, err := json.Marshal(p.body)
	if err != nil {
		return nil, newError(Config, "write the request", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(raw))
	if err != nil {
		return nil, newError(Config, "the address of "+p.server+" is no URL", nil)
	}
	for k, v := range p.header {
		req.Header[k] = v
	}
	req.Header.Set("Content-Type", "application/json")
	client := http.Client{
		// One request, one connection: nothing of ours stays open afterwards.
		Transport: &http.Transport{
			Proxy:              http.ProxyFromEnvironment,
			DisableKeepAlives:  true,
			DisableCompression: true,
			DialContext:        (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
			// A header that never ends must not fill the memory.
			MaxResponseHeaderBytes: 64 << 10,
		},
		// A redirect would carry the text, and perhaps the key, elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return client.Do(req)
}

// watched reads a body, tells that something came, and stops above its limit.
type watched struct {
	r     io.Reader
	left  int64
	alive func()
}

var errTooLarge = errors.New("the body is larger than the limit")

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p[:min(int64(len(p)), w.left+1)])
	w.left -= int64(n)
	if n > 0 {
		w.alive()
	}
	if w.left < 0 {
		return n, errTooLarge
	}
	return n, err
}

// refusal makes the error of a status that is not 200.
func refusal(p post, resp *http.Response, body io.Reader) *Error {
	e := &Error{Kind: Failed, What: fmt.Sprintf("%s answered %d %s", p.server, resp.StatusCode, http.StatusText(resp.StatusCode)), Said: p.message(body)}
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		e.Kind = Denied
	case http.StatusTooManyRequests:
		e.Kind, e.RetryAfter = Throttled, retryAfter(resp)
	case http.StatusServiceUnavailable:
		if e.RetryAfter = retryAfter(resp); e.RetryAfter > 0 {
			e.Kind = Throttled
		}
	case http.StatusNotFound, http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusMethodNotAllowed:
		e.Kind = Config
	default:
		if resp.StatusCode/100 == 3 {
			e.Kind, e.Do = Config, "it points to another address; set that one"
		}
	}
	return e
}

// retryAfter reads RFC 9110 §10.2.3: seconds, or a date.
func retryAfter(resp *http.Response) time.Duration {
	v := resp.Header.Get("Retry-After")
	if n, err := strconv.Atoi(v); err == nil && n > 0 {
		return min(time.Duration(n)*time.Second, 24*time.Hour)
	}
	if t, err := http.ParseTime(v); err == nil {
		now, err := http.ParseTime(resp.Header.Get("Date"))
		if err != nil {
			now = time.Now()
		}
		return max(0, min(t.Sub(now).Round(time.Second), 24*time.Hour))
	}
	return 0
}

// message finds the words of a server in its answer: the usual JSON places, or
// the text itself.
func (p post) message(body io.Reader) string {
	b, _ := io.ReadAll(io.LimitReader(body, 8<<10))
	text := string(b)
	var m map[string]any
	if json.Unmarshal(b, &m) == nil {
		for _, key := range []string{"error", "detail", "message"} {
			if s := words(m[key]); s != "" {
				text = s
				break
			}
		}
	}
	if p.secret != "" {
		text = strings.ReplaceAll(text, p.secret, "[key]")
	}
	return Message(text)
}

func words(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case map[string]any:
		return firstOf(words(v["message"]), words(v["detail"]), words(v["msg"]))
	case []any:
		if len(v) > 0 {
			return words(v[0])
		}
	}
	return ""
}

// store writes a body that is audio to out.
func (c Client) store(p post, resp *http.Response, body io.Reader, out string) (Made, error) {
	kind, params, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	made := Made{Unproven: resp.ContentLength < 0 && len(resp.TransferEncoding) == 0}
	head := make([]byte, 64)
	n, err := io.ReadFull(body, head)
	head = head[:n]
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return made, err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) && resp.ContentLength > int64(n) {
		return made, io.ErrUnexpectedEOF
	}
	if n == 0 {
		return made, newError(Silent, p.server+" answered 200 with an empty body", nil)
	}
	found := audio.SniffBytes(head)
	isAudio := strings.HasPrefix(kind, "audio/") || kind == "" || kind == "application/octet-stream" || kind == "application/ogg"
	if !isAudio || found == audio.Unrecognised && (p.pcm == nil || looksLikeText(head)) {
		said := p.message(io.MultiReader(bytes.NewReader(head), body))
		what := fmt.Sprintf("%s answered 200 with %s instead of audio", p.server, Message(firstOf(kind, "something unnamed")))
		if isAudio {
			what = p.server + " answered 200 with a body that is no audio"
			if !looksLikeText(head) {
				said = ""
			}
		}
		return made, &Error{Kind: NotAudio, What: what, Said: said}
	}
	all := io.MultiReader(bytes.NewReader(head), body)
	if found != audio.Unrecognised {
		return made, c.save(out, func(f *os.File) error {
			_, err := io.Copy(f, all)
			return err
		})
	}
	format := audio.Format{Rate: p.pcm.rate, Channels: p.pcm.channels}
	for _, v := range []string{params["rate"], resp.Header.Get("X-Audio-Sample-Rate")} {
		if n, err := strconv.Atoi(v); err == nil && n > 0 {
			format.Rate = n
		}
	}
	if n, err := strconv.Atoi(params["channels"]); err == nil && n > 0 {
		format.Channels = n
	}
	if made.Unproven {
		return made, newError(Truncated, p.server+" sent samples without a length, so nobody can tell whether they are all", nil)
	}
	return made, c.saveSamples(out, format, all)
}

// looksLikeText reports a body that begins as JSON, HTML or prose would.
func looksLikeText(b []byte) bool {
	text := bytes.TrimLeft(b, " \t\r\n")
	if len(text) == 0 {
		return true
	}
	for _, c := range text {
		if c < 0x20 && c != '\n' && c != '\r' && c != '\t' || c == 0x7F {
			return false
		}
	}
	return true
}

func (c Client) saveSamples(out string, format audio.Format, samples io.Reader) error {
	return c.save(out, func(f *os.File) error {
		w, err := audio.NewWAVWriter(f, format)
		if err != nil {
			return err
		}
		if _, err := io.Copy(w, samples); err != nil {
			return err
		}
		return w.Finish()
	})
}

// save makes the file at out and fills it.
func (c Client) save(out string, fill func(f *os.File) error) error {
	step := func(name string) error {
		if c.Fault == nil {
			return nil
		}
		return c.Fault(name)
	}
	err := step("create")
	var f *os.File
	if err == nil {
		f, err = os.OpenFile(out, os.O_RDWR|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	}
	if err != nil {
		return newError(Local, "create the file for the audio", err)
	}
	err = step("write")
	if err == nil {
		err = fill(f)
	}
	cerr := f.Close()
	if cerr == nil {
		cerr = step("close")
	}
	switch _, isErrno := errors.AsType[syscall.Errno](err); {
	case err == nil && cerr != nil:
		return newError(Local, "close the file with the audio", cerr)
	case isErrno && !isNetwork(err):
		return newError(Local, "write the audio", err)
	}
	return err
}

func isNetwork(err error) bool {
	_, ok := errors.AsType[*net.OpError](err)
	return ok
}

// failure names what ended a request.
func (c Client) failure(ctx context.Context, p post, err error, limit, quiet time.Duration) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, errStalled):
		return newError(TimedOut, p.server+" sent nothing for "+quiet.String(), nil)
	case cause != nil:
		return ended(ctx, limit)
	case errors.Is(err, errTooLarge):
		return newError(TooLarge, p.server+" sent more than "+outcome.Size(orDefault(c.MaxBody, MaxBody)), nil)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, audio.ErrTruncated), errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF):
		return newError(Truncated, p.server+" ended the connection before the end of the audio", nil)
	case errors.Is(err, audio.ErrEmpty):
		return newError(Silent, p.server+" sent no samples", nil)
	}
	if e := unreachable(p.server, err); e != nil {
		return e
	}
	// The text of other errors of net/http can hold the address with its query.
	return newError(Failed, "the request to "+p.server+" failed", withoutURL(err))
}

// unreachable names a connection that was never made, and returns nil for
// every other error.
func unreachable(server string, err error) *Error {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return newError(Unreachable, "the name of the server of "+server+" was not found", errors.New(dns.Err))
	}
	op, ok := errors.AsType[*net.OpError](err)
	if !ok || op.Op != "dial" {
		return nil
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return newError(Unreachable, server+" is not reachable", errno)
	}
	return newError(Unreachable, server+" is not reachable", errors.New("no answer"))
}

func withoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// checkURL accepts http and https with a host.
func checkURL(server, raw string) error {
	u, err := url.Parse(raw)
	switch {
	case raw == "":
		return newError(Config, "no address is set for "+server, nil)
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return newError(Config, "the address of "+server+" is no http or https URL", nil)
	}
	return nil
}
