package email

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wneessen/go-mail/smtp"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/send"
)

// A session is one connection for one mail.
type session struct {
	p      *Platform
	conn   net.Conn
	client *smtp.Client
	d      *send.Delivery
}

// A refusedError is an end before the content of the mail began: nothing of it
// was sent.
type refusedError struct {
	step string // what was being done, for "could not …"
	err  error
}

func (e *refusedError) Error() string {
	if reply, ok := errors.AsType[*textproto.Error](e.err); ok {
		return fmt.Sprintf("could not %s: the mail server said %s%s", e.step, said(reply), temporary(reply))
	}
	return fmt.Sprintf("could not %s: %s", e.step, send.Cause(e.err))
}

func (e *refusedError) Unwrap() error { return e.err }

func said(e *textproto.Error) string {
	return strings.TrimSpace(strconv.Itoa(e.Code) + " " + send.Excerpt([]byte(e.Msg)))
}

func temporary(e *textproto.Error) string {
	if e.Code/100 == 4 {
		return " (for now; it may take it later)"
	}
	return ""
}

// deliver sends one mail and says what became of it.
func (p *Platform) deliver(ctx context.Context, m send.Message, to []*mail.Address, items []int, d *send.Delivery) send.Outcome {
	l, err := p.compose(m, to, items, d)
	if err != nil {
		return send.Reject("nothing was sent: " + err.Error())
	}
	if ctx.Err() != nil {
		return send.Drop("not tried: " + ended(ctx))
	}
	s := &session{p: p, d: d}
	stop := func() bool { return true }
	err = s.dial(ctx)
	if err == nil {
		// A cancelled session ends by its connection being closed.
		stop = context.AfterFunc(ctx, func() { s.conn.Close() })
		err = s.prepare(m, to, items)
	}
	defer func() {
		stop()
		if s.conn != nil {
			s.conn.Close() // whatever it says, the mail's fate is known by now
		}
	}()
	if err != nil {
		if ctx.Err() != nil {
			return send.Reject("nothing was sent: " + ended(ctx))
		}
		return send.Reject("nothing was sent: " + err.Error())
	}
	o := s.hand(ctx, l)
	if o.Status == send.Sent {
		s.farewell()
	}
	return o
}

func ended(ctx context.Context) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return "the time was up"
	}
	return "it was cancelled"
}

// dial connects, with TLS where it begins with it.
func (s *session) dial(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	step := "reach the mail server " + s.p.addr
	nc, err := s.p.c.Dial(ctx, "tcp", s.p.addr)
	if err != nil {
		return &refusedError{step, err}
	}
	s.conn = send.NewConn(nc, s.p.c.Stall)
	if s.p.c.Policy != ImplicitTLS {
		return nil
	}
	tc := tls.Client(s.conn, s.tls())
	if err := tc.HandshakeContext(ctx); err != nil {
		return &refusedError{"open a secure connection to " + s.p.addr, err}
	}
	s.conn = tc
	return nil
}

func (s *session) tls() *tls.Config {
	c := s.p.c.TLS.Clone()
	if c == nil {
		c = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if c.ServerName == "" {
		c.ServerName = s.p.c.Host
	}
	return c
}

// prepare does everything up to the server's word that the content may come.
func (s *session) prepare(m send.Message, to []*mail.Address, items []int) error {
	var err error
	if s.client, err = smtp.NewClient(s.conn, s.p.c.Host); err != nil {
		return &refusedError{"begin with the mail server", err}
	}
	if err := s.client.Hello(s.p.name); err != nil {
		return &refusedError{"begin with the mail server", err}
	}
	if err := s.encrypt(); err != nil {
		return err
	}
	if err := s.login(); err != nil {
		return err
	}
	if err := s.fits(m, items); err != nil {
		return err
	}
	if err := s.client.Mail(envelope(&s.p.from)); err != nil {
		return &refusedError{"send as " + s.p.from.Address, err}
	}
	for _, a := range to {
		if err := s.client.Rcpt(envelope(a)); err != nil {
			err := &refusedError{"send to " + a.Address, err}
			if len(to) > 1 {
				return fmt.Errorf("%w; so the mail went to none of the %d recipients", err, len(to))
			}
			return err
		}
	}
	return nil
}

// envelope is an address as a command carries it: in brackets, without the
// person's name, quoted where it has to be.
func envelope(a *mail.Address) string { return (&mail.Address{Address: a.Address}).String() }

// encrypt turns to TLS as the policy says.
func (s *session) encrypt() error {
	if p := s.p.c.Policy; p == ImplicitTLS || p == Plain {
		return nil
	}
	if offered, _ := s.client.Extension("STARTTLS"); !offered {
		if s.p.c.Policy == Opportunistic {
			s.d.Warnings = append(s.d.Warnings, "the mail server offers no encryption: the mail went in the clear")
			return nil
		}
		return errors.New("the mail server offers no encryption (STARTTLS), and none is not allowed")
	}
	if err := s.client.StartTLS(s.tls()); err != nil {
		return &refusedError{"turn to a secure connection", err}
	}
	return nil
}

// login says who we are. The strongest way comes first; the two that show the
// password itself refuse a connection that is neither encrypted nor local.
func (s *session) login() error {
	c := s.p.c
	if c.Username == "" {
		return nil
	}
	_, offered := s.client.Extension("AUTH")
	ways := strings.Fields(strings.ToUpper(offered))
	var auth smtp.Auth
	switch {
	case slices.Contains(ways, "SCRAM-SHA-256"):
		auth = smtp.ScramSHA256Auth(c.Username, c.Password)
	case slices.Contains(ways, "PLAIN"):
		auth = smtp.PlainAuth("", c.Username, c.Password, c.Host, false)
	case slices.Contains(ways, "LOGIN"):
		auth = smtp.LoginAuth(c.Username, c.Password, c.Host, false)
	case len(ways) == 0:
		return errors.New("the mail server offers no login on this connection")
	default:
		return errors.New("the mail server offers none of the logins that are known here (SCRAM-SHA-256, PLAIN, LOGIN)")
	}
	if err := s.client.Auth(auth); err != nil {
		if errors.Is(err, smtp.ErrUnencrypted) {
			return errors.New("the password is not sent over a connection that is not encrypted")
		}
		return &refusedError{"log in to the mail server", err}
	}
	return nil
}

// fits compares the mail with the size that the server says it takes (RFC 1870).
func (s *session) fits(m send.Message, items []int) error {
	_, param := s.client.Extension("SIZE")
	most, err := strconv.ParseInt(param, 10, 64)
	if err != nil || most <= 0 {
		return nil // it says none
	}
	least := int64(0)
	for _, i := range items {
		least += encoded(m.Items[i].Size)
	}
	if least > most {
		return fmt.Errorf("the mail would have more than %s, and the mail server takes %s", outcome.CountBytes(least), outcome.CountBytes(most))
	}
	return nil
}

// hand gives the content away. From its first byte on it is in doubt, until
// the server says what it did.
func (s *session) hand(ctx context.Context, l *letter) send.Outcome {
	w, err := s.client.Data()
	if err != nil {
		if ctx.Err() != nil {
			return send.Reject("nothing was sent: " + ended(ctx))
		}
		return send.Reject("nothing was sent: " + (&refusedError{"hand over the mail", err}).Error())
	}
	if err := l.write(w); err != nil {
		return s.broke(ctx, l, err)
	}
	err = w.Close() // writes the end, and reads what the server did
	if err == nil {
		return send.SentAs(l.id)
	}
	if o, ok := verdict(err); ok {
		return o
	}
	return send.Unsure(fmt.Sprintf("%s, after all of the mail (%s) had gone out: it may have arrived", cause(ctx, err), outcome.CountBytes(l.out.n)))
}

// broke says what a content that was not written to its end means.
func (s *session) broke(ctx context.Context, l *letter, err error) send.Outcome {
	if errors.Is(err, send.ErrChanged) {
		return send.Reject("the mail was broken off before its end: " + err.Error())
	}
	if ctx.Err() == nil {
		// A server that has enough says so and closes; its word may be there.
		t := time.AfterFunc(quitTime, func() { s.conn.Close() })
		_, _, rerr := s.client.Text.ReadResponse(250)
		t.Stop()
		if o, ok := verdict(rerr); ok {
			return o
		}
	}
	return send.Unsure(fmt.Sprintf("%s, after %s of the mail had gone out: it may have arrived", cause(ctx, err), outcome.CountBytes(l.out.n)))
}

// verdict is what the server said of the mail, when it said that it did not
// take it.
func verdict(err error) (send.Outcome, bool) {
	reply, ok := errors.AsType[*textproto.Error](err)
	if !ok || reply.Code/100 != 4 && reply.Code/100 != 5 {
		return send.Outcome{}, false
	}
	return send.Reject("the mail server did not take the mail: it said " + said(reply) + temporary(reply)), true
}

func cause(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return ended(ctx)
	}
	if reply, ok := errors.AsType[*textproto.Error](err); ok {
		return "the mail server said " + said(reply)
	}
	return send.Cause(err)
}

// farewell ends the session as it should be. Nothing depends on it, so it is
// not waited for long.
func (s *session) farewell() {
	t := time.AfterFunc(quitTime, func() { s.conn.Close() })
	defer t.Stop()
	_ = s.client.Quit() // the mail was taken before
}

// secrets are the forms in which the password could come back.
func (p *Platform) secrets() []string {
	if p.c.Password == "" {
		return nil
	}
	b64 := base64.StdEncoding.EncodeToString
	return []string{
		b64([]byte("\x00" + p.c.Username + "\x00" + p.c.Password)),
		b64([]byte(p.c.Password)),
		p.c.Password,
	}
}
