package telegram

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-telegram/bot"

	"github.com/honestty/honestty/tools/send"
)

// Limits of the Bot API at api.telegram.org (core.telegram.org/bots/api,
// "Sending files" and the methods' parameters).
const (
	maxText    = 4096     // UTF-16 units of a message
	maxCaption = 1024     // UTF-16 units of a caption
	maxUpload  = 50 << 20 // bytes of one file
	maxPhoto   = 10 << 20 // bytes of one photo; larger ones go as documents
	maxSides   = 10000    // width and height of a photo together, pixels
	maxRatio   = 20       // the longer side of a photo by the shorter
	maxAlbum   = 10       // photos and videos in one media group; the least is 2
)

// A Config is one bot.
type Config struct {
	// Token is the bot's token, "123456:ABC…". It is never shown.
	Token string

	// Server is where the Bot API is; empty: https://api.telegram.org.
	Server string

	// FileBytes is the largest file the server takes; 0: 50 MB. A server of
	// one's own takes 2000 MB.
	FileBytes int64

	// Wire carries the requests; nil: the usual way.
	Wire *send.Wire
}

const officialServer = "https://api.telegram.org"

// tokenShape is what tokens look like. The token goes into the path of every
// URL: nothing else may get there.
var tokenShape = regexp.MustCompile(`^[0-9]{1,20}:[A-Za-z0-9_-]{1,100}$`)

// ErrToken is the error of a token that cannot be one.
var ErrToken = errors.New("the Telegram token does not look like one: it is a number, a colon, and letters")

// A Platform is one bot.
type Platform struct {
	bot   *bot.Bot
	token string
	bytes int64
}

// New makes the platform. It makes no request: a wrong token shows when
// something is sent.
func New(c Config) (*Platform, error) {
	token := strings.TrimSpace(c.Token)
	if !tokenShape.MatchString(token) {
		return nil, ErrToken
	}
	if c.Server == "" {
		c.Server = officialServer
	}
	u, err := url.Parse(c.Server)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return nil, errors.New("the address of the Telegram server is not an http or https address")
	}
	if c.FileBytes == 0 {
		c.FileBytes = maxUpload
	}
	if c.Wire == nil {
		c.Wire = send.NewWire(send.WireConfig{})
	}
	b, err := bot.New(token,
		bot.WithSkipGetMe(),
		bot.WithServerURL(strings.TrimRight(c.Server, "/")),
		bot.WithHTTPClient(0, &client{c.Wire.Client()}),
		// Everything that it reports here comes back as an error too; its own
		// handler would print it.
		bot.WithErrorsHandler(func(error) {}))
	if err != nil {
		return nil, ErrToken
	}
	return &Platform{bot: b, token: token, bytes: c.FileBytes}, nil
}

// Name is "telegram".
func (p *Platform) Name() string { return "telegram" }

// Limits are the Bot API's. A photo that is too large for one is not over a
// limit: it goes as a document.
func (p *Platform) Limits() send.Limits {
	return send.Limits{
		Text: maxText, Unit: send.UTF16, Caption: maxCaption,
		Attach: true, Threads: true, FileBytes: p.bytes, NoEmpty: true,
		Chat: "a chat id or @channelname",
	}
}

// Send sends the texts, then the files. Photos and videos that follow each
// other go as albums.
func (p *Platform) Send(ctx context.Context, m send.Message) send.Delivery {
	r := &run{p: p, m: m, files: make([]*send.Outcome, len(m.Items))}
	if err := r.address(m.Target); err != nil {
		return refuseAll(ctx, m, err)
	}
	return r.send(ctx)
}

func refuseAll(ctx context.Context, m send.Message, err error) send.Delivery {
	no := func(context.Context, int) send.Outcome { return send.Reject(err.Error()).Stop() }
	return send.InOrder(ctx, m, no, no)
}

// channelName is the public name of a channel or group.
var channelName = regexp.MustCompile(`^@[A-Za-z][A-Za-z0-9_]{3,31}$`)

// address reads the target.
func (r *run) address(t send.Target) error {
	if id, err := strconv.ParseInt(t.Chat, 10, 64); err == nil && id != 0 {
		r.chat = id
	} else if channelName.MatchString(t.Chat) {
		r.chat = t.Chat
	} else {
		return errors.New("nothing was sent: a Telegram chat is a number, negative for groups, or @channelname")
	}
	if t.Thread == "" {
		return nil
	}
	n, err := strconv.Atoi(t.Thread)
	if err != nil || n <= 0 {
		return errors.New("nothing was sent: a Telegram topic is a positive number")
	}
	r.thread = n
	return nil
}

// scrub takes the token out of a text, whole or as its secret half.
func (p *Platform) scrub(s string) string {
	s = strings.ReplaceAll(s, p.token, "***")
	_, secret, _ := strings.Cut(p.token, ":")
	if len(secret) >= 8 { // shorter ones are words that occur by chance
		s = strings.ReplaceAll(s, secret, "***")
	}
	return s
}

func topic(n int) string { return fmt.Sprintf("topic %d", n) }
