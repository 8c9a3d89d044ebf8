package discord

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/honestty/honestty/tools/send"
)

const (
	// API is the address of the service.
	API = "https://discord.com/api/v10"

	// DefaultFileBytes is the limit for servers without boosts.
	DefaultFileBytes = 10 << 20

	// textUnits is the length of a message. It is counted in UTF-16 here,
	// which is never less than what the service counts.
	textUnits = 2000
)

// A Config is a webhook or a bot. Exactly one of Webhook and Token is set.
type Config struct {
	Webhook   string // the webhook's whole address: a secret
	Token     string // of a bot
	API       string // empty: API
	FileBytes int64  // of one file; 0: DefaultFileBytes
	Wire      *send.Wire
}

// A Discord is one webhook or one bot.
type Discord struct{ c Config }

// New checks the settings. Its errors carry no secret.
func New(c Config) (*Discord, error) {
	if (c.Webhook == "") == (c.Token == "") {
		return nil, errors.New("set up discord: either a webhook's address or a bot's token is needed")
	}
	if c.Webhook != "" {
		u, err := url.Parse(c.Webhook)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || !strings.Contains(u.Path, "/webhooks/") {
			return nil, errors.New("set up discord: that is not the address of a webhook")
		}
	}
	if c.API == "" {
		c.API = API
	}
	if c.FileBytes == 0 {
		c.FileBytes = DefaultFileBytes
	}
	if c.Wire == nil {
		c.Wire = send.NewWire(send.WireConfig{})
	}
	return &Discord{c}, nil
}

// Name is "discord".
func (d *Discord) Name() string { return "discord" }

// Limits are those of the service.
func (d *Discord) Limits() send.Limits {
	l := send.Limits{
		Text: textUnits, Unit: send.UTF16, Caption: textUnits,
		Attach: true, Threads: true, FileBytes: d.c.FileBytes,
	}
	if d.c.Token != "" {
		l.Chat = "a channel's number"
	}
	return l
}

// A payload is a message as the service reads it.
type payload struct {
	Content  string `json:"content,omitempty"`
	Mentions struct {
		Parse []string `json:"parse"`
	} `json:"allowed_mentions"`
	Files   []file `json:"attachments,omitempty"`
	Nonce   string `json:"nonce,omitempty"`
	Enforce bool   `json:"enforce_nonce,omitempty"`
}

type file struct {
	ID   int    `json:"id"`
	Name string `json:"filename"`
}

// Send posts the texts and then the files.
func (d *Discord) Send(ctx context.Context, m send.Message) send.Delivery {
	return send.InOrder(ctx, m, func(ctx context.Context, i int) send.Outcome {
		p := d.payload(m.TextKey(i))
		p.Content = m.Texts[i]
		return d.post(ctx, m, p, -1)
	}, func(ctx context.Context, i int) send.Outcome {
		p := d.payload(m.ItemKey(i))
		p.Content = m.Caption
		p.Files = []file{{0, m.Items[i].Name}}
		return d.post(ctx, m, p, i)
	})
}

// payload begins a message. A bot's message has a nonce: the service takes the
// second message with it for the first.
func (d *Discord) payload(key string) payload {
	var p payload
	p.Mentions.Parse = []string{}
	if d.c.Token != "" {
		sum := sha256.Sum256([]byte(key))
		p.Nonce, p.Enforce = hex.EncodeToString(sum[:12]), true // 25 characters at most
	}
	return p
}

// post makes one message. An item of -1 is none.
func (d *Discord) post(ctx context.Context, m send.Message, p payload, item int) send.Outcome {
	raw, err := json.Marshal(p)
	if err != nil {
		return send.Reject("the message could not be written: " + err.Error())
	}
	addr, err := d.address(m.Target)
	if err != nil {
		return send.Reject(err.Error()).Stop()
	}
	var req *http.Request
	if item < 0 {
		req, err = http.NewRequestWithContext(ctx, http.MethodPost, addr, bytes.NewReader(raw))
		if err == nil {
			req.Header.Set("Content-Type", "application/json")
		}
	} else {
		f := send.NewForm()
		f.Field("payload_json", "application/json", string(raw))
		f.File("files[0]", m.Items[item], m.Body(item))
		req, err = f.Request(ctx, addr)
	}
	if err != nil {
		return send.Reject("the request could not be made: " + send.Cause(err)).Stop()
	}
	req.Header.Set("User-Agent", "DiscordBot (https://github.com/honestty/honestty, 1)")
	if d.c.Token != "" {
		req.Header.Set("Authorization", "Bot "+d.c.Token)
	}
	r, o, ok := d.c.Wire.Exchange(req)
	if !ok {
		return refusal(r, o)
	}
	if item < 0 {
		return accepted(r, -1)
	}
	return accepted(r, m.Items[item].Size)
}

// address is where a message for t is posted. A bot's thread is a channel.
func (d *Discord) address(t send.Target) (string, error) {
	if d.c.Token != "" {
		chat := t.Chat
		if t.Thread != "" {
			chat = t.Thread
		}
		if !number(chat) {
			return "", errors.New("a channel of discord is a number: copy it from the channel's menu")
		}
		return d.c.API + "/channels/" + chat + "/messages", nil
	}
	if t.Chat != "" {
		return "", errors.New("a webhook of discord posts to its own channel and to no other: name no channel in the target, and set no home channel for discord; discord::THREAD names a thread")
	}
	u, err := url.Parse(d.c.Webhook)
	if err != nil {
		return "", errors.New("the webhook's address cannot be read")
	}
	q := u.Query()
	q.Set("wait", "true")
	if t.Thread != "" {
		if !number(t.Thread) {
			return "", errors.New("a thread of discord is a number")
		}
		q.Set("thread_id", t.Thread)
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}

func number(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// The service's own codes that say more than the status does.
const (
	codeUnknownChannel = 10003
	codeUnknownWebhook = 10015
	codeTooLarge       = 40005
	codeNoAccess       = 50001
	codeNoPermission   = 50013
)

// refusal makes an outcome clearer where the service gave a code.
func refusal(r send.Reply, o send.Outcome) send.Outcome {
	var e struct {
		Code       int     `json:"code"`
		RetryAfter float64 `json:"retry_after"`
	}
	if r.Status < 400 || r.JSON(&e) != nil {
		return o
	}
	switch e.Code {
	case codeUnknownChannel, codeUnknownWebhook, codeNoAccess, codeNoPermission:
		return o.Stop()
	case codeTooLarge:
		return send.Reject("the file is too big for this channel: " + o.Reason)
	}
	if r.Status == http.StatusTooManyRequests && e.RetryAfter > 0 && e.RetryAfter < 1e6 {
		return o.After(max(o.Later, time.Duration(e.RetryAfter*float64(time.Second))))
	}
	return o
}

// accepted compares the answer with what was sent; a size of -1 is a text.
func accepted(r send.Reply, size int64) send.Outcome {
	var a struct {
		ID          string `json:"id"`
		Attachments []struct {
			Size int64 `json:"size"`
		} `json:"attachments"`
	}
	if err := r.JSON(&a); err != nil {
		return send.Unsure("the answer could not be read: it may have arrived")
	}
	want := 1
	if size < 0 {
		want = 0
	}
	if len(a.Attachments) != want {
		return send.Unsure(fmt.Sprintf("the message holds %d files, and %d were sent", len(a.Attachments), want))
	}
	if size < 0 {
		return send.SentAs(a.ID)
	}
	return send.SentSize(a.ID, size, a.Attachments[0].Size)
}
