package telegram

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/honestty/honestty/tools/send"
)

// errOver is what a file's reader gets once its request is over.
var errOver = errors.New("the request is over")

// A trip is one request: what the library was given for it, and what is known
// of it afterwards.
type trip struct {
	at    *send.Attempt
	over  atomic.Bool // the request has ended: its files are not read any more
	whole bool        // all of the form was handed to the connection
	files []*part
	reply send.Reply // Status 0: there was no answer, or none to its end
}

type tripKey struct{}

func newTrip(ctx context.Context) (context.Context, *trip) {
	t := &trip{}
	ctx, t.at = send.Track(ctx)
	return context.WithValue(ctx, tripKey{}, t), t
}

// file makes the reader of item i for this trip.
func (t *trip) file(m send.Message, i int) *part {
	p := &part{t: t, body: m.Body(i)}
	t.files = append(t.files, p)
	return p
}

// changed is the error of a file that was not what had been checked.
func (t *trip) changed() error {
	for _, p := range t.files {
		if errors.Is(p.err, send.ErrChanged) {
			return p.err
		}
	}
	return nil
}

// A part is one file in a form. The library's writer reads it; err may be
// looked at after Do has joined that writer.
type part struct {
	t    *trip
	body *send.Body
	err  error
}

func (p *part) Read(b []byte) (int, error) {
	if p.t.over.Load() {
		return 0, errOver
	}
	n, err := p.body.Read(b)
	if err != nil && err != io.EOF {
		p.err = err
	}
	return n, err
}

// A client makes the library's requests, keeps their answers, and joins the
// goroutine that writes the form.
type client struct{ http *http.Client }

// Do makes one request. When it returns, nothing of it runs any more.
func (c *client) Do(req *http.Request) (*http.Response, error) {
	t, ok := req.Context().Value(tripKey{}).(*trip)
	if !ok {
		return nil, errors.New("a request without a trip") // only for requests this package does not make
	}
	form := req.Body
	req.Body = keptOpen{form}
	res, err := c.http.Do(req)
	var answer []byte
	if err == nil {
		answer, err = io.ReadAll(res.Body)
		res.Body.Close() // it was read; nothing is learned from closing
	}
	// The writer ends when its files refuse and its pipe is empty; its last
	// act is to close the pipe, so the end of the copy is its end.
	t.over.Store(true)
	left, werr := io.Copy(io.Discard, form)
	form.Close()
	// A server may answer at the last byte of the form, before the transport
	// has seen that no other follows.
	t.whole = t.at.Whole() || left == 0 && werr == nil
	if err != nil {
		return nil, err
	}
	t.reply = send.Reply{Status: res.StatusCode, Header: res.Header, Body: answer}
	res.Body = io.NopCloser(bytes.NewReader(answer))
	return res, nil
}

// keptOpen is a pipe that the transport cannot close: closed, it would no
// longer tell when its writer has ended.
type keptOpen struct{ io.Reader }

func (keptOpen) Close() error { return nil }
