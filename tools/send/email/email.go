package email

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/honestty/honestty/tools/send"
)

// A Policy says how the connection is encrypted.
type Policy string

// The policies. The zero value is STARTTLS.
const (
	STARTTLS      Policy = "starttls"      // begins in the clear, and must turn to TLS before anything is said
	ImplicitTLS   Policy = "tls"           // TLS from the first byte
	Opportunistic Policy = "opportunistic" // STARTTLS where the server offers it; it is said when not
	Plain         Policy = "none"          // never encrypted; a password goes to this machine only
)

const (
	// defaultBytes is what most servers take of one mail.
	defaultBytes = 25 << 20

	// frameBytes is more than the headers of a mail and of its parts need.
	frameBytes = 16 << 10

	// defaultStall is long because a server may look through a mail before it
	// says that it took it. RFC 5321, 4.5.3.2.6, allows it ten minutes.
	defaultStall = 5 * time.Minute

	dialTime = 30 * time.Second
	quitTime = 2 * time.Second // for a farewell that changes nothing any more
)

// A Config is one mailbox on one server.
type Config struct {
	Host   string
	Port   int    // 0: 465 with ImplicitTLS, else 587
	Policy Policy // empty: STARTTLS

	Username string // empty: no login
	Password string // never shown
	From     string // "Name <address>" or the address

	// Bytes is the largest mail, encoded; 0: 25 MB. What the server says
	// itself counts too.
	Bytes int64

	TLS   *tls.Config // nil: the system's certificates
	Dial  func(ctx context.Context, network, addr string) (net.Conn, error)
	Stall time.Duration // how long nothing may move; 0: 5 minutes
}

// A Platform is one mailbox on one server.
type Platform struct {
	c    Config
	addr string
	from mail.Address
	name string // of this machine, for EHLO
}

// hostShape is a name or an address without anything around it. It is made at
// the first use, as a count this long takes half a millisecond.
var hostShape = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9._:-]{1,255}$`)
})

// New makes the platform. It makes no connection.
func New(c Config) (*Platform, error) {
	c.Password = strings.TrimRight(c.Password, "\r\n") // of the file it came from
	if !hostShape().MatchString(c.Host) {
		return nil, errors.New("the mail server is missing, or its name cannot be one")
	}
	switch c.Policy {
	case "":
		c.Policy = STARTTLS
	case STARTTLS, ImplicitTLS, Opportunistic, Plain:
	default:
		return nil, fmt.Errorf("the mail server's encryption is %s, %s, %s or %s", STARTTLS, ImplicitTLS, Opportunistic, Plain)
	}
	from, err := mail.ParseAddress(c.From)
	if err != nil {
		return nil, errors.New("the sender's address is missing, or cannot be one")
	}
	if c.Username == "" && c.Password != "" {
		return nil, errors.New("there is a password for the mail server, and no user name")
	}
	if c.Port == 0 {
		c.Port = 587
		if c.Policy == ImplicitTLS {
			c.Port = 465
		}
	}
	if c.Bytes == 0 {
		c.Bytes = defaultBytes
	}
	if c.Stall <= 0 {
		c.Stall = defaultStall
	}
	if c.Dial == nil {
		c.Dial = (&net.Dialer{Timeout: dialTime}).DialContext
	}
	return &Platform{c: c, addr: net.JoinHostPort(c.Host, strconv.Itoa(c.Port)), from: *from, name: machine()}, nil
}

// machine is this machine's name for EHLO, "localhost" where it has none that
// may be said.
func machine() string {
	name, err := os.Hostname()
	if err != nil || !hostShape().MatchString(name) || strings.Contains(name, ":") {
		return "localhost"
	}
	return name
}

// Name is "email".
func (p *Platform) Name() string { return "email" }

// Limits are those of one mail. That its files fit in together is seen to by
// Send, which leaves out by name what does not.
func (p *Platform) Limits() send.Limits {
	return send.Limits{
		Attach: true, FileBytes: max(decoded(p.c.Bytes-frameBytes), 1),
		Subject: true, Chat: "an address, or several with commas between them",
	}
}

// Send makes one mail of the message and hands it over.
func (p *Platform) Send(ctx context.Context, m send.Message) send.Delivery {
	d := send.Delivery{Texts: make([]send.Outcome, len(m.Texts)), Items: make([]send.Outcome, len(m.Items))}
	to, err := recipients(m.Target)
	settled := make([]bool, len(m.Items))
	var o send.Outcome
	switch {
	case err != nil:
		o = send.Reject(err.Error())
	default:
		var items []int
		items, settled = p.fitting(m, &d)
		if len(items) == 0 && !hasText(m) {
			o = send.Drop("not tried: nothing of the message is left to be sent")
			break
		}
		o = p.deliver(ctx, m, to, items, &d)
	}
	o.Reason = p.scrub(o.Reason)
	for i := range d.Texts {
		d.Texts[i] = o
	}
	for i := range d.Items {
		if !settled[i] {
			d.Items[i] = o
		}
	}
	d.Chat = addresses(to)
	return d
}

func hasText(m send.Message) bool { return len(m.Texts) > 0 || m.Subject != "" || m.Caption != "" }

// recipients reads the target.
func recipients(t send.Target) ([]*mail.Address, error) {
	if t.Thread != "" {
		return nil, errors.New("nothing was sent: an e-mail has no threads")
	}
	to, err := mail.ParseAddressList(t.Chat)
	if err != nil || strings.ContainsAny(t.Chat, "\r\n") {
		return nil, errors.New("nothing was sent: the target is not an e-mail address")
	}
	return to, nil
}

func addresses(to []*mail.Address) string {
	var list []string
	for _, a := range to {
		list = append(list, a.Address)
	}
	return strings.Join(list, ",")
}

// fitting lists the items that are as they were checked and fit into one mail
// together. The others are settled here.
func (p *Platform) fitting(m send.Message, d *send.Delivery) (items []int, settled []bool) {
	settled = make([]bool, len(m.Items))
	room := p.c.Bytes - frameBytes - textBytes(m)
	for i, it := range m.Items {
		if err := it.Check(); err != nil {
			d.Items[i], settled[i] = send.Reject(err.Error()), true
			continue
		}
		need := encoded(it.Size) + partBytes(it)
		if need > room {
			d.Items[i], settled[i] = send.Drop(fmt.Sprintf("it does not fit: a mail may have %d bytes, and with it this one would have more", p.c.Bytes)), true
			continue
		}
		room -= need
		items = append(items, i)
	}
	return items, settled
}

// textBytes bounds what the text needs: a byte that is not ASCII is written as
// three, and lines are broken at 76.
func textBytes(m send.Message) int64 {
	n := len(m.Caption) + len(m.Subject)
	for _, t := range m.Texts {
		n += len(t) + 2
	}
	return int64(n)*3*78/76 + 78
}

// partBytes bounds what the header of a file's part needs.
func partBytes(it send.Item) int64 { return int64(len(it.Name))*6 + 512 }

// scrub takes the password out of a text, plain and as AUTH writes it.
func (p *Platform) scrub(s string) string {
	for _, secret := range p.secrets() {
		s = strings.ReplaceAll(s, secret, "***")
	}
	return s
}
