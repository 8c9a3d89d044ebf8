package slack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackutilsx"

	"github.com/honestty/honestty/tools/send"
)

// A run sends one message. It is used by one goroutine.
type run struct {
	p       *Platform
	m       send.Message
	channel string // empty until the direct message with user is open
	user    string
	thread  string

	uploaded []string // of each item: the id of its file, once its bytes are there
	warnings []string
}

func (r *run) warn(s string) {
	if !slices.Contains(r.warnings, s) {
		r.warnings = append(r.warnings, s)
	}
}

// open opens the direct message with a user. That shows nothing to anybody.
func (r *run) open(ctx context.Context) (send.Outcome, bool) {
	if r.channel != "" {
		return send.Outcome{}, true
	}
	ctx, t := newTrip(ctx)
	_, _, _, err := r.p.api.OpenConversationContext(ctx, &slack.OpenConversationParameters{Users: []string{r.user}})
	a, o, ok := r.read(ctx, t, err)
	if ok && !channelID.MatchString(a.channel()) {
		o, ok = send.Unsure("the answer names no direct message"), false
	}
	if !ok {
		return before("the direct message could not be opened", o, nil), false
	}
	r.channel = a.channel()
	return o, true
}

func (r *run) text(ctx context.Context, i int) send.Outcome {
	if o, ok := r.open(ctx); !ok {
		return o
	}
	text := slackutilsx.EscapeMessage(r.m.Texts[i])
	opts := []slack.MsgOption{slack.MsgOptionText(text, false), slack.MsgOptionDisableMarkdown()}
	if r.thread != "" {
		opts = append(opts, slack.MsgOptionTS(r.thread))
	}
	ctx, t := newTrip(ctx)
	_, _, err := r.p.api.PostMessageContext(ctx, r.channel, opts...)
	a, o, ok := r.read(ctx, t, err)
	if !ok {
		return o
	}
	if a.TS != "" {
		if id := a.channel(); channelID.MatchString(id) {
			r.channel = id
		}
		if r.thread != "" && a.Message.ThreadTS != "" && a.Message.ThreadTS != r.thread {
			r.warn("it was sent to thread " + r.thread + ", and Slack put it elsewhere")
		}
	}
	return send.SentAs(a.TS)
}

// item does the three steps of a file, or the last one when its bytes are
// there already.
func (r *run) item(ctx context.Context, i int) send.Outcome {
	if strings.HasPrefix(r.channel, "#") {
		return send.Drop("Slack takes a file only for a channel's id (C…), not for its name")
	}
	if o, ok := r.open(ctx); !ok {
		return o
	}
	if r.uploaded[i] == "" {
		address, id, o, ok := r.announce(ctx, i)
		if !ok {
			return o
		}
		if o, ok := r.upload(ctx, i, address); !ok {
			return o
		}
		r.uploaded[i] = id
	}
	return r.share(ctx, i)
}

// announce asks where the bytes may go.
func (r *run) announce(ctx context.Context, i int) (address, id string, o send.Outcome, ok bool) {
	const step = "the upload could not be announced"
	it := r.m.Items[i]
	tctx, t := newTrip(ctx)
	_, err := r.p.api.GetUploadURLExternalContext(tctx, slack.GetUploadURLExternalParameters{FileName: it.Name, FileSize: int(it.Size)})
	a, o, ok := r.read(tctx, t, err)
	switch {
	case !ok:
		return "", "", before(step, o, lost(ctx, t, err)), false
	case a.UploadURL == "" || a.FileID == "":
		return "", "", before(step, send.Reject("the answer names no address"), nil), false
	case !r.p.mayUpload(a.UploadURL):
		return "", "", before(step, send.Reject("the address that was named is not Slack's"), nil), false
	}
	return a.UploadURL, a.FileID, o, true
}

// lost is the error of a call that was not answered.
func lost(ctx context.Context, t *trip, err error) error {
	switch {
	case t.reply.Status != 0:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return err
}

// upload posts the bytes. Slack answers with their number, and does not take
// another one than was announced.
func (r *run) upload(ctx context.Context, i int, address string) (send.Outcome, bool) {
	const step = "the upload broke"
	it, body := r.m.Items[i], r.m.Body(i)
	form := send.NewForm()
	form.File("file", it, body)
	tctx, at := send.Track(ctx)
	req, err := form.Request(tctx, address)
	if err != nil {
		return before(step, send.Reject("the address that was named is none"), nil), false
	}
	res, err := r.p.wire.Client().Do(req)
	var said []byte
	if err == nil {
		said, err = io.ReadAll(res.Body)
		res.Body.Close() // it was read; nothing is learned from closing
	}
	if err != nil {
		o := at.Failed(ctx, err)
		if ctx.Err() != nil && !errors.Is(err, send.ErrChanged) {
			err = ctx.Err()
		}
		return before(step, o, err), false
	}
	if res.StatusCode/100 != 2 {
		o := send.Refusal(send.Reply{Status: res.StatusCode, Header: res.Header, Body: said})
		o.Fatal = false // it holds for this address
		o.Reason = r.p.scrub(o.Reason)
		return before(step, o, nil), false
	}
	if !at.Whole() || !body.Whole() {
		return before(step, send.Reject("Slack answered before all of it had gone out"), nil), false
	}
	var held int64
	if n, _ := fmt.Sscanf(string(said), "OK - %d", &held); n == 1 && held != it.Size {
		return before(step, send.Reject(fmt.Sprintf("%d bytes were sent, and Slack holds %d", it.Size, held)), nil), false
	}
	return send.Outcome{}, true
}

// share shows the file in the channel. From here on it may have arrived.
func (r *run) share(ctx context.Context, i int) send.Outcome {
	id := r.uploaded[i]
	ctx, t := newTrip(ctx)
	_, err := r.p.api.CompleteUploadExternalContext(ctx, slack.CompleteUploadExternalParameters{
		Files:   []slack.FileSummary{{ID: id, Title: r.m.Items[i].Name}},
		Channel: r.channel, ThreadTimestamp: r.thread,
	})
	a, o, ok := r.read(ctx, t, err)
	switch {
	case !ok:
		return o
	case len(a.Files) != 1 || a.Files[0].ID != id:
		return send.Outcome{ID: id, Reason: "Slack says that it shared the upload, but not that it shared this file"}
	}
	return send.SentAs(id)
}
