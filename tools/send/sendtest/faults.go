package sendtest

import (
	"context"
	"testing"
	"time"

	"github.com/honestty/honestty/tools/send"
)

// both runs one with a text and, where files are taken, with a file.
func (s Subject) both(t *testing.T, one func(t *testing.T, x *sending, result func(send.Delivery) send.Outcome)) {
	text := func(d send.Delivery) send.Outcome { return d.Texts[0] }
	item := func(d send.Delivery) send.Outcome { return d.Items[0] }
	fake := s.New(t)
	x := s.start(t, fake, fake.Platform(fake.Base()))
	x.m.Texts = []string{"a text"}
	one(t, x, text)
	if !x.p.Limits().Attach {
		return
	}
	fake = s.New(t)
	x = s.start(t, fake, fake.Platform(fake.Base()))
	x.m.Items = []send.Item{Bytes(t, "report.bin", Random(cutFile))}
	one(t, x, item)
}

func (s Subject) refusals(t *testing.T) {
	for _, f := range []Fault{BadHTML, TooBigHTML, Unavailable, ServerError} {
		s.both(t, func(t *testing.T, x *sending, result func(send.Delivery) send.Outcome) {
			if !x.fake.Arm(f) {
				return
			}
			o := result(x.deliver(t.Context()))
			switch {
			case o.Status == send.Sent:
				t.Errorf("%v: sent", f)
			case f == ServerError && o.Status != send.Unknown && !s.stepped(x):
				t.Errorf("%v: %+v; an inner error does not say that nothing was done", f, o)
			case f != ServerError && o.Status != send.Rejected:
				t.Errorf("%v: %+v; want rejected", f, o)
			}
			if n := x.fake.Requests(); n != 1 {
				t.Errorf("%v: %d requests", f, n)
			}
			if got := x.fake.Arrived(); len(got) != 0 {
				t.Errorf("%v: arrived %+v", f, got)
			}
		})
	}
}

func (s Subject) later(t *testing.T) {
	s.both(t, func(t *testing.T, x *sending, result func(send.Delivery) send.Outcome) {
		if !x.fake.Arm(RateLimited) {
			return
		}
		var waited time.Duration
		x.m.Pace.Sleep = func(_ context.Context, d time.Duration) error { waited += d; return nil }
		d := x.deliver(t.Context())
		if o := result(d); o.Status != send.Sent {
			t.Errorf("%+v", o)
		}
		if waited < time.Second || waited > 2*time.Second {
			t.Errorf("waited %v, and was asked for one second", waited)
		}
		if got := x.fake.Arrived(); len(got) != 1 {
			t.Errorf("arrived: %+v", got)
		}
		compare(t, x.fake.Arrived(), x.m.Items, d.Items)
	})
}

func (s Subject) tooLong(t *testing.T) {
	s.both(t, func(t *testing.T, x *sending, result func(send.Delivery) send.Outcome) {
		if !x.fake.Arm(LimitedLong) {
			return
		}
		x.m.Pace.Sleep = func(context.Context, time.Duration) error { t.Error("waited"); return nil }
		if o := result(x.deliver(t.Context())); o.Status != send.Rejected {
			t.Errorf("%+v", o)
		}
		if n := x.fake.Requests(); n != 1 {
			t.Errorf("%d requests", n)
		}
	})
}

func (s Subject) unproven(t *testing.T) {
	for _, f := range []Fault{EmptyAnswer, NoID, OtherSize} {
		s.both(t, func(t *testing.T, x *sending, result func(send.Delivery) send.Outcome) {
			if f == OtherSize && len(x.m.Items) == 0 || !x.fake.Arm(f) {
				return
			}
			if o := result(x.deliver(t.Context())); o.Status != send.Unknown {
				t.Errorf("%v: %+v", f, o)
			}
			if got := x.fake.Arrived(); len(got) > 1 {
				t.Errorf("%v: sent twice: %+v", f, got)
			}
		})
	}
}

func (s Subject) wrong(t *testing.T) {
	fake := s.New(t)
	p, secret := fake.Wrong(fake.Base())
	if p == nil {
		t.Skip("has no secret")
	}
	x := s.start(t, &withSecret{fake, secret}, p)
	x.m.Texts = []string{"a text", "and its second part"}
	if p.Limits().Attach {
		x.m.Items = []send.Item{Bytes(t, "a.txt", []byte("a"))}
	}
	d := x.deliver(t.Context())
	if d.Texts[0].Status != send.Rejected {
		t.Errorf("%+v", d.Texts[0])
	}
	for _, o := range append(d.Texts[1:], d.Items...) {
		if o.Status == send.Sent || o.Status == send.Unknown {
			t.Errorf("after a wrong secret: %+v", o)
		}
	}
	if got := fake.Arrived(); len(got) != 0 {
		t.Errorf("arrived: %+v", got)
	}
}

type withSecret struct {
	Fake
	secret string
}

func (w *withSecret) Secret() string { return w.secret }

func (s Subject) badChat(t *testing.T) {
	if s.BadChat == (send.Target{}) {
		t.Skip("has no chats")
	}
	s.both(t, func(t *testing.T, x *sending, result func(send.Delivery) send.Outcome) {
		x.m.Target = s.BadChat
		if o := result(x.deliver(t.Context())); o.Status != send.Rejected {
			t.Errorf("%+v", o)
		}
		if got := x.fake.Arrived(); len(got) != 0 {
			t.Errorf("arrived: %+v", got)
		}
	})
}

func (s Subject) noConnection(t *testing.T) {
	dns, tls := s.DNSBase, s.TLSBase
	if dns == "" {
		dns = "http://no-such-host.invalid:9"
	}
	if tls == nil {
		tls = strangersServer
	}
	for what, base := range map[string]string{"host without address": dns, "unknown certificate": tls(t), "closed port": "http://127.0.0.1:1"} {
		s.both(t, func(t *testing.T, x *sending, result func(send.Delivery) send.Outcome) {
			x.p = x.fake.Platform(base)
			if o := result(x.deliver(t.Context())); o.Status != send.Rejected {
				t.Errorf("%s: %+v", what, o)
			}
		})
	}
}

func (s Subject) silent(t *testing.T) {
	s.both(t, func(t *testing.T, x *sending, result func(send.Delivery) send.Outcome) {
		if !x.fake.Arm(Silent) {
			return
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan struct{})
		go func() { // ends with the first of both; joined below
			defer close(done)
			select {
			case <-x.fake.Holding():
				cancel()
			case <-ctx.Done():
			}
		}()
		if o := result(x.deliver(ctx)); o.Status != send.Unknown && !s.stepped(x) || o.Status == send.Sent {
			t.Errorf("%+v", o)
		}
		cancel()
		<-done
		if n := x.fake.Requests(); n != 1 {
			t.Errorf("%d requests", n)
		}
	})
}

// cutUp cuts what the client sends at every thousandth byte, from the first to
// the last.
func (s Subject) cutUp(t *testing.T) {
	s.both(t, func(t *testing.T, x *sending, result func(send.Delivery) send.Outcome) {
		counter := NewCutter(t, x.fake.Base(), -1, -1)
		x.p = x.fake.Platform(counter.Base(x.fake.Base()))
		if o := result(x.deliver(t.Context())); o.Status != send.Sent {
			t.Fatalf("without a cut: %+v", o)
		}
		whole := counter.Passed()
		counter.Close()
		cuts := []int64{1, whole / 2, whole - 1}
		for n := int64(0); n < whole; n += 1000 {
			cuts = append(cuts, n)
		}
		for _, n := range cuts {
			s.cutAt(t, x, result, n, -1)
		}
	})
}

func (s Subject) cutDown(t *testing.T) {
	s.both(t, func(t *testing.T, x *sending, result func(send.Delivery) send.Outcome) {
		for _, n := range []int64{0, 1, 20} {
			s.cutAt(t, x, result, -1, n)
		}
	})
}

// cutAt sends x to a fresh fake through a cutter.
func (s Subject) cutAt(t *testing.T, x *sending, result func(send.Delivery) send.Outcome, up, down int64) {
	t.Helper()
	fake := s.New(t)
	c := NewCutter(t, fake.Base(), up, down)
	defer c.Close()
	y := *x
	y.fake, y.p = fake, fake.Platform(c.Base(fake.Base()))
	d := y.deliver(t.Context())
	o := result(d)
	c.Close()
	if o.Status == send.Sent {
		t.Errorf("cut at %d up, %d down: sent", up, down)
	}
	if (up > 0 || down >= 0) && o.Status != send.Unknown && c.After() == 0 && !s.stepped(x) {
		t.Errorf("cut at %d up, %d down: %+v; bytes had gone out", up, down, o)
	}
	if n := c.After(); n > 0 {
		t.Errorf("cut at %d up, %d down: %d connections after the cut", up, down, n)
	}
	if got := fake.Arrived(); len(got) > 1 {
		t.Errorf("cut at %d up, %d down: arrived %d times", up, down, len(got))
	}
	compare(t, fake.Arrived(), y.m.Items, d.Items)
}

// stepped reports whether the platform may be certain after a cut, because the
// step that was cut could deliver nothing by itself.
func (s Subject) stepped(x *sending) bool {
	u, ok := x.p.(send.Uploader)
	return ok && u.UploadsFirst() && len(x.m.Items) > 0
}
