package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/honestty/honestty/tools/send"
)

// DefaultFileBytes is a size that common front servers let through when they
// are set up for uploads at all.
const DefaultFileBytes = 25 << 20

// A Config says where to post and how.
type Config struct {
	URL    string            // http or https; a secret when it carries a token
	Secret string            // signs the payload; empty: no signature
	Header map[string]string // sent with each request, for example Authorization

	// JSON allows texts only: the receiver reads JSON and no forms.
	JSON bool

	// IDField is the field of the JSON answer that carries the id, with dots
	// for fields of fields. Empty: the receiver gives no ids, and a 2xx is
	// enough.
	IDField string

	TextRunes int   // of one text; 0: no limit
	FileBytes int64 // of one file; 0: DefaultFileBytes
	Wire      *send.Wire
}

// A Webhook is one address.
type Webhook struct {
	c   Config
	now func() time.Time
}

// New checks the settings. Its errors do not carry the address.
func New(c Config) (*Webhook, error) {
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("set up webhook: its address is not an http or https address")
	}
	if c.FileBytes == 0 {
		c.FileBytes = DefaultFileBytes
	}
	if c.Wire == nil {
		c.Wire = send.NewWire(send.WireConfig{})
	}
	return &Webhook{c: c, now: time.Now}, nil
}

// Name is "webhook".
func (w *Webhook) Name() string { return "webhook" }

// Limits are those of the settings.
func (w *Webhook) Limits() send.Limits {
	l := send.Limits{Text: w.c.TextRunes, Subject: true, Threads: true}
	if !w.c.JSON {
		l.Attach, l.FileBytes = true, w.c.FileBytes
	}
	return l
}

// A Payload is what the receiver gets: as the body for a text, as the field
// "payload" beside the field "file" for a file.
type Payload struct {
	ID      string `json:"id"` // the same when it is sent a second time
	Kind    string `json:"kind"`
	Chat    string `json:"chat,omitempty"`
	Thread  string `json:"thread,omitempty"`
	Subject string `json:"subject,omitempty"`
	Text    string `json:"text,omitempty"`
	Part    int    `json:"part"` // from 1
	Parts   int    `json:"parts"`
	Name    string `json:"name,omitempty"`
	Type    string `json:"type,omitempty"`
	Size    *int64 `json:"size,omitempty"`
	SHA256  string `json:"sha256,omitempty"`
}

// Send posts the texts and then the files.
func (w *Webhook) Send(ctx context.Context, m send.Message) send.Delivery {
	var notes []string
	post := func(ctx context.Context, p Payload, it *send.Item, i int) send.Outcome {
		p.Chat, p.Thread, p.Subject = m.Target.Chat, m.Target.Thread, m.Subject
		req, err := w.request(ctx, m, p, it, i)
		if err != nil {
			return send.Reject("the request could not be made: " + send.Cause(err)).Stop()
		}
		r, o, ok := w.c.Wire.Exchange(req)
		if !ok {
			return o
		}
		if s := send.Excerpt(r.Body); s != "" {
			notes = append(notes, s)
		}
		return w.accepted(r, p.ID)
	}
	d := send.InOrder(ctx, m, func(ctx context.Context, i int) send.Outcome {
		return post(ctx, Payload{ID: m.TextKey(i), Kind: send.TextKind, Text: m.Texts[i], Part: i + 1, Parts: len(m.Texts)}, nil, i)
	}, func(ctx context.Context, i int) send.Outcome {
		it := m.Items[i]
		return post(ctx, Payload{
			ID: m.ItemKey(i), Kind: it.Kind.String(), Text: m.Caption, Part: i + 1, Parts: len(m.Items),
			Name: it.Name, Type: it.Type, Size: &it.Size, SHA256: it.SHA256,
		}, &it, i)
	})
	d.Note = strings.Join(notes, "; ")
	return d
}

func (w *Webhook) request(ctx context.Context, m send.Message, p Payload, it *send.Item, i int) (*http.Request, error) {
	payload, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	var req *http.Request
	if it == nil {
		req, err = http.NewRequestWithContext(ctx, http.MethodPost, w.c.URL, bytes.NewReader(payload))
		if err == nil {
			req.Header.Set("Content-Type", "application/json")
		}
	} else {
		f := send.NewForm()
		f.Field("payload", "application/json", string(payload))
		f.File("file", *it, m.Body(i))
		req, err = f.Request(ctx, w.c.URL)
	}
	if err != nil {
		return nil, err
	}
	for k, v := range w.c.Header {
		req.Header.Set(k, v)
	}
	req.Header.Set("X-Honestty-Delivery", p.ID)
	if w.c.Secret != "" {
		at := strconv.FormatInt(w.now().Unix(), 10)
		req.Header.Set("X-Honestty-Timestamp", at)
		req.Header.Set("X-Honestty-Signature-256", "sha256="+Sign(w.c.Secret, at, payload))
	}
	return req, nil
}

// Sign is the signature of a payload sent at a time, in seconds since 1970.
func Sign(secret, at string, payload []byte) string {
	h := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(h, "%s.", at)
	h.Write(payload)
	return hex.EncodeToString(h.Sum(nil))
}

func (w *Webhook) accepted(r send.Reply, key string) send.Outcome {
	if w.c.IDField == "" {
		return send.SentAs(key)
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(r.Body))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return send.Unsure("the answer is not JSON, so it carries no message id: it may have arrived")
	}
	for f := range strings.SplitSeq(w.c.IDField, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			v = nil
			break
		}
		v = m[f]
	}
	switch id := v.(type) {
	case string:
		return send.SentAs(id)
	case json.Number:
		return send.SentAs(id.String())
	}
	return send.Unsure("the answer carries no message id: it may have arrived")
}
