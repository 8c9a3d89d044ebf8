package email

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"testing"
)

// encrypted makes a fake offer STARTTLS for name, and says who trusts it.
func encrypted(t testing.TB, name string) (func(*fake), *tls.Config) {
	cert, pool := certificate(t, name)
	return func(f *fake) {
		f.tls = true
		f.srv.TLSConfig = &tls.Config{Certificates: []tls.Certificate{cert}}
	}, &tls.Config{RootCAs: pool, ServerName: name}
}

func TestTheConnectionIsEncryptedAsThePolicySays(t *testing.T) {
	offer, trusted := encrypted(t, "mail.honestty.example")
	nothing := func(*fake) {}
	strange := &tls.Config{ServerName: "mail.honestty.example"}
	for _, c := range []struct {
		name   string
		server func(*fake)
		policy Policy
		tls    *tls.Config
		want   string
		warned bool
	}{
		{"offered", offer, STARTTLS, trusted, "sent sent sent", false},
		{"missing", nothing, STARTTLS, trusted, "rejected rejected rejected", false},
		{"missing and not insisted on", nothing, Opportunistic, trusted, "sent sent sent", true},
		{"offered and not insisted on", offer, Opportunistic, trusted, "sent sent sent", false},
		{"by a stranger", offer, STARTTLS, strange, "rejected rejected rejected", false},
		{"by a stranger and not insisted on", offer, Opportunistic, strange, "rejected rejected rejected", false},
		{"not wanted", offer, Plain, trusted, "sent sent sent", false},
	} {
		f := start(t, c.server)
		p := f.with(f.Base(), func(cfg *Config) { cfg.Policy, cfg.TLS = c.policy, c.tls })
		d := deliver(t.Context(), t, f, p, letterOf(t, you))
		if statuses(d) != c.want || (len(d.Warnings) > 0) != c.warned {
			t.Errorf("%s: %+v", c.name, d)
		}
	}
}

func TestAConnectionCanBeginWithTLS(t *testing.T) {
	cert, pool := certificate(t, "mail.honestty.example")
	f := start(t)
	inner := &tls.Config{Certificates: []tls.Certificate{cert}}
	// The server speaks TLS behind a listener of its own.
	ln, err := tls.Listen("tcp", "127.0.0.1:0", inner)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); f.srv.Serve(ln) }()
	t.Cleanup(func() { ln.Close(); <-done })
	p := f.with("smtps://"+ln.Addr().String(), func(c *Config) {
		c.Policy, c.TLS = ImplicitTLS, &tls.Config{RootCAs: pool, ServerName: "mail.honestty.example"}
	})
	if d := deliver(t.Context(), t, f, p, letterOf(t, you)); statuses(d) != "sent sent sent" {
		t.Errorf("%+v", d)
	}
}

func TestAPasswordIsUsedSafelyAndNeverShown(t *testing.T) {
	offer, trusted := encrypted(t, "mail.honestty.example")
	login := func(f *fake) { f.withAuth = true }
	for _, c := range []struct {
		name    string
		servers []func(*fake)
		change  func(c *Config)
		want    string
		say     string
		auths   int
	}{
		{"over TLS", []func(*fake){offer, login}, func(c *Config) { c.Policy, c.TLS = STARTTLS, trusted }, "sent sent sent", "", 1},
		{"to this machine", []func(*fake){login}, func(c *Config) {}, "sent sent sent", "", 1},
		{"in the clear to another", []func(*fake){login}, elsewhere, "rejected rejected rejected", "not encrypted", 0},
		{"a wrong one", []func(*fake){login}, func(c *Config) { c.Password = "wrong " + password }, "rejected rejected rejected", "could not log in to the mail server: the mail server said 535", 1},
		{"a wrong one, short", []func(*fake){login}, func(c *Config) { c.Username, c.Password = "nobody", "pw" }, "rejected rejected rejected", "535", 1},
		{"no login offered", nil, func(c *Config) {}, "rejected rejected rejected", "no login", 0},
		{"none given", []func(*fake){login}, func(c *Config) { c.Username, c.Password = "", "" }, "rejected rejected rejected", "502", 0},
	} {
		f := start(t, c.servers...)
		p := f.with(f.Base(), func(cfg *Config) {
			cfg.Username, cfg.Password = user, password+"\n"
			c.change(cfg)
		})
		d := deliver(t.Context(), t, f, p, letterOf(t, you))
		if statuses(d) != c.want || !strings.Contains(d.Items[0].Reason, c.say) || f.auths != c.auths {
			t.Errorf("%s: %+v, %d logins", c.name, d, f.auths)
		}
		if strings.Contains(d.Items[0].Reason, "wrong") {
			t.Errorf("%s: a wrong password is shown: %q", c.name, d.Items[0].Reason)
		}
	}
}

// elsewhere makes the server one on another machine, by name.
func elsewhere(c *Config) {
	addr := net.JoinHostPort(c.Host, fmt.Sprint(c.Port))
	c.Host = "mail.honestty.example"
	c.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}
}
