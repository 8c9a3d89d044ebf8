package email

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/honestty/honestty/tools/send"
	"github.com/honestty/honestty/tools/send/sendtest"
)

const (
	me       = "agent@honestty.example"
	you      = "you@honestty.example"
	other    = "other@honestty.example"
	nobody   = "nobody@honestty.example"
	user     = "agent"
	password = "correct horse battery staple"
)

// A step is where a fake can be armed.
type step string

const (
	atMail step = "MAIL"
	atRcpt step = "RCPT"
	atData step = "DATA before its end"
	atEnd  step = "DATA after its end"
)

// A fake is a mail server in this process, by go-smtp, that parses what it
// takes and fails where it is told to.
type fake struct {
	t   testing.TB
	srv *smtp.Server
	ln  *counting

	mu       sync.Mutex
	fail     map[step]error // a *smtp.SMTPError is said; any other breaks the connection
	arrived  []sendtest.Arrival
	headers  []mail.Header
	ids      map[string]bool
	begun    int // contents that may have come
	ended    int // contents whose end came, whatever was in them
	auths    int
	hold     chan struct{} // not nil: the end of DATA is not answered until it is closed
	holding  chan struct{}
	tls      bool // offers STARTTLS, and login only with it
	withAuth bool
}

var errBreak = errors.New("the connection is broken off")

// A counting listener counts connections.
type counting struct {
	net.Listener
	mu sync.Mutex
	n  int
}

func (c *counting) Accept() (net.Conn, error) {
	nc, err := c.Listener.Accept()
	c.mu.Lock()
	c.n++
	c.mu.Unlock()
	return nc, err
}

func (c *counting) count() int { c.mu.Lock(); defer c.mu.Unlock(); return c.n }

// start serves on loopback; options come first.
func start(t testing.TB, options ...func(*fake)) *fake {
	f := &fake{t: t, fail: map[step]error{}, ids: map[string]bool{}, holding: make(chan struct{}, 1)}
	f.srv = smtp.NewServer(f)
	f.srv.Domain = "mail.honestty.example"
	f.srv.AllowInsecureAuth = true
	f.srv.EnableSMTPUTF8 = true
	f.srv.ErrorLog = log.New(io.Discard, "", 0)
	for _, o := range options {
		o(f)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.ln = &counting{Listener: ln}
	var join sync.WaitGroup
	join.Go(func() { f.srv.Serve(f.ln) })
	t.Cleanup(func() {
		f.srv.Close()
		ln.Close()
		join.Wait()
	})
	return f
}

func (f *fake) Base() string                         { return "smtp://" + f.ln.Addr().String() }
func (f *fake) Platform(base string) send.Platform   { return f.with(base, nil) }
func (f *fake) Wrong(string) (send.Platform, string) { return nil, "" }
func (f *fake) Secret() string                       { return "" }
func (f *fake) Arm(sendtest.Fault) bool              { return false } // those are faults of HTTP
func (f *fake) Requests() int                        { return f.ln.count() }
func (f *fake) Holding() <-chan struct{}             { return f.holding }
func (f *fake) with(base string, change func(*Config)) *Platform {
	u, err := url.Parse(base)
	if err != nil {
		f.t.Fatal(err)
	}
	port, _ := strconv.Atoi(u.Port())
	c := Config{Host: u.Hostname(), Port: port, Policy: Plain, From: "Agent <" + me + ">", Bytes: 4 << 30, Stall: 10 * time.Second}
	if change != nil {
		change(&c)
	}
	p, err := New(c)
	if err != nil {
		f.t.Fatal(err)
	}
	return p
}

func (f *fake) Arrived() []sendtest.Arrival {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.arrived)
}

func (f *fake) contents() int { f.mu.Lock(); defer f.mu.Unlock(); return f.begun }

// NewSession begins a connection.
func (f *fake) NewSession(c *smtp.Conn) (smtp.Session, error) {
	s := &mailSession{f: f, c: c}
	if f.withAuth {
		return authSession{s}, nil
	}
	return s, nil
}

type mailSession struct {
	f      *fake
	c      *smtp.Conn
	from   string
	to     []string
	authed bool
}

// meet plays the fault of a step.
func (s *mailSession) meet(at step) error {
	s.f.mu.Lock()
	err := s.f.fail[at]
	s.f.mu.Unlock()
	if err == nil {
		return nil
	}
	if _, ok := err.(*smtp.SMTPError); !ok {
		s.c.Conn().Close()
	}
	return err
}

func (s *mailSession) Reset()        { s.from, s.to = "", nil }
func (s *mailSession) Logout() error { return nil }

func (s *mailSession) Mail(from string, _ *smtp.MailOptions) error {
	if err := s.meet(atMail); err != nil {
		return err
	}
	if s.f.withAuth && !s.authed {
		return smtp.ErrAuthRequired
	}
	if from != me {
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 7, 1}, Message: "Sender not yours"}
	}
	s.from = from
	return nil
}

func (s *mailSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	if err := s.meet(atRcpt); err != nil {
		return err
	}
	if to == nobody {
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "No such user here"}
	}
	s.to = append(s.to, to)
	return nil
}

func (s *mailSession) Data(r io.Reader) error {
	s.f.mu.Lock()
	s.f.begun++
	hold := s.f.hold
	s.f.mu.Unlock()
	if err := s.meet(atData); err != nil {
		return err
	}
	got, h, err := s.f.parse(r, s.to)
	if err != nil {
		if _, rest := io.Copy(io.Discard, r); rest != nil {
			return rest // the client broke off
		}
		s.f.mu.Lock()
		s.f.ended++
		s.f.mu.Unlock()
		return &smtp.SMTPError{Code: 554, EnhancedCode: smtp.EnhancedCode{5, 6, 0}, Message: err.Error()}
	}
	if err := s.f.fail[atEnd]; err != nil {
		if _, ok := err.(*smtp.SMTPError); ok {
			return err
		}
	}
	s.f.mu.Lock()
	id := h.Get("Message-ID")
	twice := s.f.ids[id]
	s.f.ids[id] = true
	s.f.arrived = append(s.f.arrived, got...)
	s.f.headers = append(s.f.headers, h)
	s.f.mu.Unlock()
	if twice || id == "" {
		s.f.t.Errorf("fake: message id %q a second time", id)
	}
	if hold != nil {
		s.f.holding <- struct{}{}
		<-hold
	}
	return s.meet(atEnd)
}

// authSession adds a login.
type authSession struct{ *mailSession }

func (s authSession) AuthMechanisms() []string {
	if _, ok := s.c.TLSConnectionState(); s.f.tls && !ok {
		return nil
	}
	return []string{sasl.Plain}
}

func (s authSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, u, p string) error {
		s.f.mu.Lock()
		s.f.auths++
		s.f.mu.Unlock()
		if u != user || p != password {
			return &smtp.SMTPError{
				Code: 535, EnhancedCode: smtp.EnhancedCode{5, 7, 8},
				Message: "Not " + p + " nor " + base64.StdEncoding.EncodeToString([]byte("\x00"+u+"\x00"+p)),
			}
		}
		s.authed = true
		return nil
	}), nil
}

// parse reads a mail to its end and says what is in it.
func (f *fake) parse(r io.Reader, to []string) ([]sendtest.Arrival, mail.Header, error) {
	msg, err := mail.ReadMessage(r)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range []string{"From", "To", "Date", "Message-Id", "Mime-Version"} {
		if len(msg.Header[name]) != 1 {
			return nil, nil, fmt.Errorf("%d headers %s", len(msg.Header[name]), name)
		}
	}
	t, params, err := mime.ParseMediaType(msg.Header.Get("Content-Type"))
	if err != nil {
		return nil, nil, err
	}
	chat := strings.Join(to, ",")
	if t == "text/plain" {
		text, err := readText(msg.Body, params["charset"], msg.Header.Get("Content-Transfer-Encoding"))
		return []sendtest.Arrival{{Chat: chat, Text: text}}, msg.Header, err
	}
	if t != "multipart/mixed" {
		return nil, nil, fmt.Errorf("a mail of type %s", t)
	}
	var got []sendtest.Arrival
	mr := multipart.NewReader(msg.Body, params["boundary"])
	for {
		p, err := mr.NextRawPart()
		if err == io.EOF {
			_, err = io.Copy(io.Discard, msg.Body)
			return got, msg.Header, err
		}
		if err != nil {
			return nil, nil, err
		}
		a, err := readPart(p)
		if err != nil {
			return nil, nil, err
		}
		if a.Chat = chat; a.Name != "" || a.Text != "" {
			got = append(got, a)
		}
	}
}

func readPart(p *multipart.Part) (sendtest.Arrival, error) {
	enc := p.Header.Get("Content-Transfer-Encoding")
	if p.FileName() == "" {
		_, params, err := mime.ParseMediaType(p.Header.Get("Content-Type"))
		if err != nil {
			return sendtest.Arrival{}, err
		}
		text, err := readText(p, params["charset"], enc)
		return sendtest.Arrival{Text: text}, err
	}
	_, params, err := mime.ParseMediaType(p.Header.Get("Content-Type"))
	if err != nil || params["name"] != p.FileName() || enc != "base64" {
		return sendtest.Arrival{}, fmt.Errorf("a file %q named %q in %q: %w", p.FileName(), params["name"], enc, err)
	}
	size, sha, err := sendtest.Hash(base64.NewDecoder(base64.StdEncoding, p))
	return sendtest.Arrival{Name: p.FileName(), Size: size, SHA256: sha}, err
}

func readText(r io.Reader, charset, enc string) (string, error) {
	if !strings.EqualFold(charset, "utf-8") || enc != "quoted-printable" {
		return "", fmt.Errorf("a text in %s, %s", charset, enc)
	}
	b, err := io.ReadAll(quotedprintable.NewReader(r))
	return strings.TrimSuffix(string(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))), "\n"), err
}

// certificate makes a certificate for name, and what trusts it.
func certificate(t testing.TB, name string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}
