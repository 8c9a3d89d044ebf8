package matrix

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/honestty/honestty/tools/send"
)

const (
	// DefaultFileBytes is the limit of a server that nobody changed: 50 MB.
	DefaultFileBytes = 50 << 20

	// textBytes leaves room for the rest of an event, which has 65,536 bytes.
	textBytes = 16000
)

// A Config says which server, and who we are.
type Config struct {
	Server    string // "https://matrix.example.org"
	Token     string // access token
	FileBytes int64  // of one file; 0: DefaultFileBytes
	Wire      *send.Wire
}

// A Matrix is one account on one server.
type Matrix struct{ c Config }

// New checks the settings.
func New(c Config) (*Matrix, error) {
	u, err := url.Parse(c.Server)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("set up matrix: the server's address is not an http or https address")
	}
	if c.Token == "" {
		return nil, errors.New("set up matrix: an access token is needed")
	}
	c.Server = strings.TrimRight(c.Server, "/")
	if c.FileBytes == 0 {
		c.FileBytes = DefaultFileBytes
	}
	if c.Wire == nil {
		c.Wire = send.NewWire(send.WireConfig{})
	}
	return &Matrix{c}, nil
}

// Name is "matrix".
func (x *Matrix) Name() string { return "matrix" }

// Limits are the server's.
func (x *Matrix) Limits() send.Limits {
	return send.Limits{
		Text: textBytes, Unit: send.Bytes, Attach: true, Threads: true, FileBytes: x.c.FileBytes,
		Chat: "a room (!id:server or #name:server)",
	}
}

// ParseTarget takes apart "!room:server" and "!room:server:$event": room names
// have colons in them, and only a thread begins with a dollar.
func (x *Matrix) ParseTarget(rest string) (chat, thread string, err error) {
	if i := strings.LastIndex(rest, ":$"); i >= 0 {
		rest, thread = rest[:i], rest[i+1:]
	}
	if rest == "" || rest[0] != '!' && rest[0] != '#' {
		return "", "", errors.New("a room of matrix is written !id:server or #name:server")
	}
	return rest, thread, nil
}

// UploadsFirst says that a file that did not get past its first step is in no
// room.
func (x *Matrix) UploadsFirst() bool { return true }

// Send posts the texts and then the files.
func (x *Matrix) Send(ctx context.Context, m send.Message) send.Delivery {
	room := m.Target.Chat
	found := func(ctx context.Context) (send.Outcome, bool) {
		if room == "" || room[0] != '#' {
			return send.Outcome{}, true
		}
		id, o, ok := x.lookUp(ctx, room)
		if ok {
			room = id
		}
		return o, ok
	}
	d := send.InOrder(ctx, m, func(ctx context.Context, i int) send.Outcome {
		if o, ok := found(ctx); !ok {
			return o
		}
		return x.event(ctx, room, m.TextKey(i), content{Type: "m.text", Body: m.Texts[i]}.in(m.Target.Thread))
	}, func(ctx context.Context, i int) send.Outcome {
		if o, ok := found(ctx); !ok {
			return o
		}
		it := m.Items[i]
		uri, o, ok := x.upload(ctx, m, i)
		if !ok {
			return o
		}
		c := content{Type: msgType(it.Kind), Body: it.Name, FileName: it.Name, URL: uri, Info: &info{it.Type, it.Size}}
		if m.Caption != "" {
			c.Body = m.Caption
		}
		return x.event(ctx, room, m.ItemKey(i), c.in(m.Target.Thread))
	})
	if room != m.Target.Chat {
		d.Chat = room
	}
	return d
}

func msgType(k send.Kind) string {
	switch k {
	case send.Photo:
		return "m.image"
	case send.Video:
		return "m.video"
	case send.Audio, send.Voice:
		return "m.audio"
	}
	return "m.file"
}

// A content is the content of an m.room.message event.
type content struct {
	Type     string    `json:"msgtype"`
	Body     string    `json:"body"`
	FileName string    `json:"filename,omitempty"`
	URL      string    `json:"url,omitempty"`
	Info     *info     `json:"info,omitempty"`
	Relates  *relation `json:"m.relates_to,omitempty"`
}

type info struct {
	Type string `json:"mimetype"`
	Size int64  `json:"size"`
}

type relation struct {
	Type  string `json:"rel_type"`
	Event string `json:"event_id"`
}

func (c content) in(thread string) content {
	if thread != "" {
		c.Relates = &relation{"m.thread", thread}
	}
	return c
}

// event puts one event into the room.
func (x *Matrix) event(ctx context.Context, room, txn string, c content) send.Outcome {
	raw, err := json.Marshal(c)
	if err != nil {
		return send.Reject("the event could not be written: " + err.Error())
	}
	path := "/_matrix/client/v3/rooms/" + url.PathEscape(room) + "/send/m.room.message/" + url.PathEscape(txn)
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, x.c.Server+path, bytes.NewReader(raw))
	if err != nil {
		return send.Reject("the request could not be made: " + send.Cause(err)).Stop()
	}
	req.Header.Set("Content-Type", "application/json")
	r, o, ok := x.exchange(req)
	if !ok {
		return o
	}
	var a struct {
		Event string `json:"event_id"`
	}
	if err := r.JSON(&a); err != nil {
		return send.Unsure("the answer could not be read: it may have arrived")
	}
	return send.SentAs(a.Event)
}

// upload stores a file on the server, where nobody sees it until an event
// names it. Whatever goes wrong here, the room has nothing of it.
func (x *Matrix) upload(ctx context.Context, m send.Message, i int) (uri string, o send.Outcome, ok bool) {
	it := m.Items[i]
	addr := x.c.Server + "/_matrix/media/v3/upload?filename=" + url.QueryEscape(it.Name)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, addr, m.Body(i))
	if err != nil {
		return "", send.Reject("the request could not be made: " + send.Cause(err)).Stop(), false
	}
	req.ContentLength = it.Size
	if it.Size == 0 {
		req.Body.Close() // nothing to read; an unknown length would be sent in chunks
		req.Body = http.NoBody
	}
	req.Header.Set("Content-Type", it.Type)
	r, o, ok := x.exchange(req)
	if !ok {
		if o.Status == send.Unknown {
			o.Status = send.Rejected
			o.Reason = "the upload did not end, so nothing of it is in the room: " + strings.TrimSuffix(o.Reason, ": it may have arrived")
		}
		return "", o, false
	}
	var a struct {
		URI string `json:"content_uri"`
	}
	if err := r.JSON(&a); err != nil || !strings.HasPrefix(a.URI, "mxc://") {
		return "", send.Reject("the server did not say where it put the file, so nothing of it is in the room"), false
	}
	return a.URI, send.Outcome{}, true
}

// lookUp finds the id behind a room's name.
func (x *Matrix) lookUp(ctx context.Context, name string) (id string, o send.Outcome, ok bool) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, x.c.Server+"/_matrix/client/v3/directory/room/"+url.PathEscape(name), nil)
	if err != nil {
		return "", send.Reject("the request could not be made: " + send.Cause(err)).Stop(), false
	}
	r, o, ok := x.exchange(req)
	var a struct {
		Room string `json:"room_id"`
	}
	if ok && (r.JSON(&a) != nil || a.Room == "") {
		o, ok = send.Reject("the server did not say which room that is"), false
	}
	if !ok {
		o.Status = send.Rejected // asking for a name delivers nothing
		return "", o, false
	}
	return a.Room, o, true
}

// exchange makes a request as the account, and reads the server's own words
// about waiting.
func (x *Matrix) exchange(req *http.Request) (send.Reply, send.Outcome, bool) {
	req.Header.Set("Authorization", "Bearer "+x.c.Token)
	r, o, ok := x.c.Wire.Exchange(req)
	if ok || r.Status != http.StatusTooManyRequests {
		return r, o, ok
	}
	var e struct {
		After int64 `json:"retry_after_ms"`
	}
	if r.JSON(&e) == nil && e.After > 0 && e.After < 1e9 {
		o = o.After(max(o.Later, time.Duration(e.After)*time.Millisecond))
	}
	return r, o, false
}
