package slack

import (
	"context"
	"errors"
	"net/url"
	"regexp"
	"strings"

	"github.com/slack-go/slack"

	"github.com/honestty/honestty/tools/send"
)

// Limits of the Web API (docs.slack.dev: chat.postMessage, "Truncating
// content"; "Working with files").
const (
	// maxText keeps a part below the 40,000 characters at which Slack cuts a
	// text without an error, also when each character is escaped to five.
	maxText  = 8000
	maxBytes = 1 << 30 // one file
)

// A Config is one app in one workspace.
type Config struct {
	// Token is the app's token, "xoxb-…". It is never shown.
	Token string

	// Server is where the Web API is; empty: https://slack.com/api/.
	Server string

	// Wire carries the requests; nil: the usual way.
	Wire *send.Wire
}

// tokenShape is what tokens look like.
var tokenShape = regexp.MustCompile(`^xox[a-z](\.xox[a-z])?-[A-Za-z0-9-]+$`)

// ErrToken is the error of a token that cannot be one.
var ErrToken = errors.New("the Slack token does not look like one: it begins with xoxb- or xoxp-")

// A Platform is one app in one workspace.
type Platform struct {
	api   *slack.Client
	wire  *send.Wire
	base  *url.URL
	token string
}

// New makes the platform. It makes no request: a wrong token shows when
// something is sent.
func New(c Config) (*Platform, error) {
	token := strings.TrimSpace(c.Token)
	if !tokenShape.MatchString(token) {
		return nil, ErrToken
	}
	if c.Server == "" {
		c.Server = slack.APIURL
	}
	u, err := url.Parse(c.Server)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return nil, errors.New("the address of the Slack server is not an http or https address")
	}
	if c.Wire == nil {
		c.Wire = send.NewWire(send.WireConfig{})
	}
	api := slack.New(token,
		slack.OptionAPIURL(strings.TrimRight(u.String(), "/")+"/"),
		slack.OptionHTTPClient(&client{c.Wire.Client()}))
	return &Platform{api: api, wire: c.Wire, base: u, token: token}, nil
}

// Name is "slack".
func (p *Platform) Name() string { return "slack" }

// Limits are the Web API's.
func (p *Platform) Limits() send.Limits {
	return send.Limits{
		Text: maxText, Unit: send.Runes,
		Attach: true, Threads: true, FileBytes: maxBytes, NoEmpty: true,
		Chat: "a channel id (C…), a user id (U…) for a direct message, or #channel for text only",
	}
}

// UploadsFirst says that a file shows nowhere before the last of its requests.
func (p *Platform) UploadsFirst() bool { return true }

// Send sends the texts, then the files.
func (p *Platform) Send(ctx context.Context, m send.Message) send.Delivery {
	r := &run{p: p, m: m, uploaded: make([]string, len(m.Items))}
	if err := r.address(m.Target); err != nil {
		no := func(context.Context, int) send.Outcome { return send.Reject(err.Error()).Stop() }
		return send.InOrder(ctx, m, no, no)
	}
	d := send.InOrder(ctx, m, r.text, r.item)
	d.Warnings = r.warnings
	if channelID.MatchString(r.channel) {
		d.Chat = r.channel
	}
	return d
}

var (
	channelID   = regexp.MustCompile(`^[CGD][A-Z0-9]{2,20}$`)
	userID      = regexp.MustCompile(`^[UW][A-Z0-9]{2,20}$`)
	channelName = regexp.MustCompile(`^#[^\s<>&|#@"'/:;,\\]{1,80}$`)
	threadTS    = regexp.MustCompile(`^[0-9]{10}\.[0-9]{6}$`)
)

// address reads the target.
func (r *run) address(t send.Target) error {
	switch {
	case channelID.MatchString(t.Chat), channelName.MatchString(t.Chat):
		r.channel = t.Chat
	case userID.MatchString(t.Chat):
		r.user = t.Chat
	default:
		return errors.New("nothing was sent: a Slack chat is a channel id (C…), a user id (U…), or #channel")
	}
	if t.Thread != "" && !threadTS.MatchString(t.Thread) {
		return errors.New("nothing was sent: a Slack thread is the time of its first message, like 1700000000.123456")
	}
	r.thread = t.Thread
	return nil
}

// scrub takes the token out of a text.
func (p *Platform) scrub(s string) string { return strings.ReplaceAll(s, p.token, "***") }

// mayUpload reports whether a file may be given to an address that the API
// named: the API's own host, or one of Slack's over TLS.
func (p *Platform) mayUpload(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.User != nil {
		return false
	}
	if u.Scheme == p.base.Scheme && strings.EqualFold(u.Host, p.base.Host) {
		return true
	}
	host := strings.ToLower(u.Hostname())
	for _, d := range []string{"slack.com", "slack-files.com", "slack-gov.com"} {
		if u.Scheme == "https" && (host == d || strings.HasSuffix(host, "."+d)) {
			return true
		}
	}
	return false
}
