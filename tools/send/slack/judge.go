package slack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/slack-go/slack"

	"github.com/honestty/honestty/tools/send"
)

// A trip is one call of the library and what came back.
type trip struct {
	at    *send.Attempt
	reply send.Reply // Status 0: there was no answer, or none to its end
}

type tripKey struct{}

func newTrip(ctx context.Context) (context.Context, *trip) {
	t := &trip{}
	ctx, t.at = send.Track(ctx)
	return context.WithValue(ctx, tripKey{}, t), t
}

// A client makes the library's requests and keeps their answers.
type client struct{ http *http.Client }

// Do makes one request.
func (c *client) Do(req *http.Request) (*http.Response, error) {
	t, ok := req.Context().Value(tripKey{}).(*trip)
	if !ok {
		return nil, errors.New("a request without a trip") // only for requests this package does not make
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(res.Body)
	res.Body.Close() // it was read; nothing is learned from closing
	if err != nil {
		return nil, err
	}
	t.reply = send.Reply{Status: res.StatusCode, Header: res.Header, Body: body}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}

// An answer is what the Web API says of a call; fields of other methods are
// empty.
type answer struct {
	OK      bool
	Error   string
	TS      string // of the message
	Channel any    // an id, or an object with one
	Message struct {
		ThreadTS string `json:"thread_ts"`
	}
	UploadURL string `json:"upload_url"`
	FileID    string `json:"file_id"`
	Files     []struct{ ID string }
	Needed    string // the scope that is missing
}

// channel is the channel's id in an answer.
func (a answer) channel() string {
	switch c := a.Channel.(type) {
	case string:
		return c
	case map[string]any:
		id, _ := c["id"].(string)
		return id
	}
	return ""
}

// read judges what came back of a call. It reports true when the API says that
// it did it.
func (r *run) read(ctx context.Context, t *trip, err error) (answer, send.Outcome, bool) {
	var a answer
	o, ok := judge(ctx, t, err, &a)
	o.Reason = r.p.scrub(o.Reason)
	return a, o, ok
}

func judge(ctx context.Context, t *trip, err error, a *answer) (send.Outcome, bool) {
	switch {
	case t.reply.Status == 0:
		o := t.at.Failed(ctx, err)
		// Without a connection every other part would wait for the same end.
		o.Fatal = o.Status == send.Rejected
		return o, false
	case t.reply.Status/100 != 2:
		return send.Refusal(t.reply), false
	case t.reply.JSON(a) != nil:
		return send.Unsure("the answer could not be read: it may have arrived"), false
	case a.OK:
		return send.Outcome{}, true
	case a.Error == "":
		return send.Unsure("the answer says neither that it was done nor that it was not"), false
	}
	if later, ok := errors.AsType[*slack.RateLimitedError](err); ok {
		return send.Reject("Slack asks to wait").After(later.RetryAfter), false
	}
	return complain(*a, t.reply), false
}

// A complaint is an error code of the Web API.
type complaint struct {
	status send.Status
	fatal  bool // holds for the whole channel
	help   string
}

var complaints = map[string]complaint{
	"invalid_auth":     {send.Rejected, true, "the token is not accepted"},
	"not_authed":       {send.Rejected, true, "the token is not accepted"},
	"account_inactive": {send.Rejected, true, "the token belongs to an account that was switched off"},
	"token_revoked":    {send.Rejected, true, "the token was taken back"},
	"token_expired":    {send.Rejected, true, "the token is too old"},

	"channel_not_found":           {send.Rejected, true, "the channel does not exist, or the app is not in it"},
	"not_in_channel":              {send.Rejected, true, "the app has to be invited to the channel"},
	"is_archived":                 {send.Rejected, true, "the channel is archived"},
	"restricted_action":           {send.Rejected, true, "the app may not write there"},
	"user_not_found":              {send.Rejected, true, "there is no such person"},
	"cannot_dm_bot":               {send.Rejected, true, "a bot takes no direct messages"},
	"thread_not_found":            {send.Rejected, true, "there is no such thread; nothing was put elsewhere"},
	"invalid_thread_ts":           {send.Rejected, true, "there is no such thread; nothing was put elsewhere"},
	"missing_scope":               {send.Rejected, false, "the app lacks a permission"},
	"msg_too_long":                {send.Rejected, false, "the text is too long"},
	"file_uploads_disabled":       {send.Rejected, false, "the workspace takes no files"},
	"file_upload_size_restricted": {send.Rejected, false, "the file is larger than the workspace takes"},
	"file_type_not_allowed":       {send.Rejected, false, "the workspace takes no files of this type"},
	"missing_argument":            {send.Rejected, false, ""},

	// The documentation says of these two that part of it may have been done.
	"internal_error": {send.Unknown, false, "it may have arrived"},
	"fatal_error":    {send.Unknown, false, "it may have arrived"},
}

func complain(a answer, reply send.Reply) send.Outcome {
	c, known := complaints[a.Error]
	if !known {
		c.status = send.Rejected
	}
	reason := "Slack said " + send.Plain(a.Error)
	if c.help != "" {
		reason += ": " + c.help
	}
	if a.Needed != "" {
		reason += fmt.Sprintf(" (%s)", send.Plain(a.Needed))
	}
	o := send.Outcome{Status: c.status, Reason: reason, Fatal: c.fatal}
	if a.Error == "ratelimited" || a.Error == "rate_limited" {
		o.Later = max(send.RetryAfter(reply.Header.Get("Retry-After")), time.Second)
	}
	return o
}

// before makes the outcome of a step certain that shows nothing to anybody.
func before(step string, o send.Outcome, err error) send.Outcome {
	if o.Status == send.Unknown {
		o.Status = send.Rejected
		if err != nil {
			o.Reason = why(err)
		}
	}
	o.Reason = step + ", so that the file shows nowhere: " + o.Reason
	return o
}

func why(err error) string {
	switch {
	case errors.Is(err, context.Canceled):
		return "it was cancelled"
	case errors.Is(err, context.DeadlineExceeded):
		return "the time was up"
	}
	return send.Cause(err)
}
