package send

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"
)

// A Reply is an answer that was read to its end. Its zero value means that
// there was none.
type Reply struct {
	Status int // HTTP; 0: no answer, or none to its end
	Header http.Header
	Body   []byte
}

// JSON reads the body into v.
func (r Reply) JSON(v any) error {
	if len(bytes.TrimSpace(r.Body)) == 0 {
		return io.ErrUnexpectedEOF
	}
	return json.Unmarshal(r.Body, v)
}

// Exchange makes one request. It reports true when a 2xx answer was read to
// its end and all of the request had gone out by then; otherwise the outcome
// says what is known. A platform that can say more about a refusal reads the
// Reply.
func (w *Wire) Exchange(req *http.Request) (Reply, Outcome, bool) {
	outer := req.Context()
	ctx, at := Track(outer)
	res, err := w.client.Do(req.WithContext(ctx))
	if err != nil {
		return Reply{}, at.Failed(outer, err), false
	}
	whole := at.Whole() // now: what goes out later is not what was answered
	body, err := io.ReadAll(res.Body)
	res.Body.Close() // it was read; nothing is learned from closing
	if err != nil {
		return Reply{}, at.Failed(outer, err), false
	}
	r := Reply{Status: res.StatusCode, Header: res.Header, Body: body}
	if r.Status/100 != 2 {
		return r, Refusal(r), false
	}
	if !whole {
		return r, Unsure("the server answered before all of the message had gone out"), false
	}
	return r, Outcome{}, true
}

// Refusal says what an answer that is not 2xx means. Only a server that says
// that it did not act is certain: where a gateway or an inner error answers,
// the message may have arrived.
func Refusal(r Reply) Outcome {
	reason := fmt.Sprintf("the server said %d %s", r.Status, http.StatusText(r.Status))
	if s := Excerpt(r.Body); s != "" {
		reason += ": " + s
	}
	switch {
	case r.Status == http.StatusTooManyRequests, r.Status == http.StatusServiceUnavailable:
		return Reject(reason).After(RetryAfter(r.Header.Get("Retry-After")))
	case r.Status == http.StatusUnauthorized, r.Status == http.StatusForbidden, r.Status == http.StatusNotFound:
		return Reject(reason).Stop()
	case r.Status == http.StatusNotImplemented, r.Status == http.StatusHTTPVersionNotSupported:
		return Reject(reason)
	case r.Status >= 300 && r.Status < 400:
		return Reject(reason + "; a redirect is not followed").Stop()
	case r.Status >= 400 && r.Status < 500:
		return Reject(reason)
	}
	return Unsure(reason + "; it may have arrived")
}

// excerptRunes is how much of a foreign answer is repeated.
const excerptRunes = 160

// Excerpt is the sentence in an answer that a person can use: the message
// field of JSON, or the start of a plain text. Markup has none. It carries no
// control character.
func Excerpt(body []byte) string {
	body = bytes.TrimSpace(body)
	switch {
	case len(body) == 0:
		return ""
	case body[0] == '<':
		return "a page of markup instead of an answer"
	case body[0] == '{':
		var m struct {
			Message, Error, Description, Reason, Detail json.RawMessage
		}
		if json.Unmarshal(body, &m) == nil {
			for _, raw := range []json.RawMessage{m.Message, m.Description, m.Error, m.Reason, m.Detail} {
				var s string
				if json.Unmarshal(raw, &s) == nil && s != "" {
					return clip(s)
				}
			}
		}
	}
	return clip(string(body))
}

func clip(s string) string {
	s = Plain(s)
	if utf8.RuneCountInString(s) <= excerptRunes {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:excerptRunes])) + "…"
}
