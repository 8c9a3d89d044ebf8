package ntfy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/honestty/honestty/tools/send"
)

const (
	// DefaultServer is the public server.
	DefaultServer = "https://ntfy.sh"

	// DefaultFileBytes is the limit of a server that nobody changed: 15M.
	DefaultFileBytes = 15 << 20

	// textBytes is the length from which a server makes a file of a text.
	textBytes = 4096

	// captionBytes keeps a header with an encoded text below the 8 KB that
	// front servers take.
	captionBytes = 1024
)

// A Config says which server, and who we are.
type Config struct {
	Server    string // empty: DefaultServer
	Token     string // access token; empty: none
	FileBytes int64  // of one file; 0: DefaultFileBytes
	Wire      *send.Wire
}

// A Server is one ntfy server.
type Server struct{ c Config }

// New checks the settings.
func New(c Config) (*Server, error) {
	if c.Server == "" {
		c.Server = DefaultServer
	}
	u, err := url.Parse(c.Server)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("set up ntfy: the server's address is not an http or https address")
	}
	c.Server = strings.TrimRight(c.Server, "/")
	if c.FileBytes == 0 {
		c.FileBytes = DefaultFileBytes
	}
	if c.Wire == nil {
		c.Wire = send.NewWire(send.WireConfig{})
	}
	return &Server{c}, nil
}

// Name is "ntfy".
func (s *Server) Name() string { return "ntfy" }

// Limits are the server's.
func (s *Server) Limits() send.Limits {
	return send.Limits{
		Text: textBytes, Unit: send.Bytes, Caption: captionBytes, Subject: true,
		Attach: true, FileBytes: s.c.FileBytes, NoEmpty: true, Chat: "a topic",
	}
}

var topic = regexp.MustCompile(`^[-_A-Za-z0-9]{1,64}$`)

// Send publishes the texts and then the files.
func (s *Server) Send(ctx context.Context, m send.Message) send.Delivery {
	return send.InOrder(ctx, m, func(ctx context.Context, i int) send.Outcome {
		if strings.TrimSpace(m.Texts[i]) == "" {
			return send.Reject("an empty text is shown as \"triggered\", which nobody wrote")
		}
		req, o, ok := s.request(ctx, m, strings.NewReader(m.Texts[i]))
		if !ok {
			return o
		}
		return s.publish(req, m.Target.Chat, -1)
	}, func(ctx context.Context, i int) send.Outcome {
		it := m.Items[i]
		req, o, ok := s.request(ctx, m, m.Body(i))
		if !ok {
			return o
		}
		req.ContentLength = it.Size
		req.Header.Set("Filename", header(it.Name))
		req.Header.Set("Content-Type", it.Type)
		if m.Caption != "" {
			req.Header.Set("X-Message", header(m.Caption))
		}
		return s.publish(req, m.Target.Chat, it.Size)
	})
}

// header is s as a header can carry it.
func header(s string) string { return mime.QEncoding.Encode("utf-8", s) }

func (s *Server) request(ctx context.Context, m send.Message, body io.Reader) (*http.Request, send.Outcome, bool) {
	if !topic.MatchString(m.Target.Chat) {
		return nil, send.Reject("that is no topic: letters, digits, - and _, at most 64").Stop(), false
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, s.c.Server+"/"+m.Target.Chat, body)
	if err != nil {
		return nil, send.Reject("the request could not be made: " + send.Cause(err)).Stop(), false
	}
	if m.Subject != "" {
		req.Header.Set("Title", header(m.Subject))
	}
	if s.c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+s.c.Token)
	}
	return req, send.Outcome{}, true
}

// An answer is the part of ntfy's answer that proves something.
type answer struct {
	ID         string `json:"id"`
	Topic      string `json:"topic"`
	Attachment *struct {
		Size int64 `json:"size"`
	} `json:"attachment"`
}

// publish makes the request. A size of -1 is a text.
func (s *Server) publish(req *http.Request, chat string, size int64) send.Outcome {
	r, o, ok := s.c.Wire.Exchange(req)
	if !ok {
		return o
	}
	var a answer
	if err := r.JSON(&a); err != nil {
		return send.Unsure("the answer could not be read: it may have arrived")
	}
	switch {
	case a.Topic != chat:
		return send.Unsure(fmt.Sprintf("the answer is about the topic %q", send.Plain(a.Topic)))
	case size < 0 && a.Attachment != nil:
		return send.Unsure("the server made a file of the text")
	case size < 0:
		return send.SentAs(a.ID)
	case a.Attachment == nil:
		return send.Unsure("the server took the message and names no attachment")
	}
	return send.SentSize(a.ID, size, a.Attachment.Size)
}
