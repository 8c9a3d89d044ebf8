package email

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/emersion/go-smtp"

	"github.com/honestty/honestty/internal/leak"
	"github.com/honestty/honestty/tools/send"
	"github.com/honestty/honestty/tools/send/sendtest"
)

// TestEmailKeepsTheContract runs the part of the contract that is not about
// HTTP. What a cut means differs: SMTP says when the content begins and ends.
func TestEmailKeepsTheContract(t *testing.T) {
	before := leak.Take(t)
	t.Run("contract", func(t *testing.T) {
		sendtest.Run(t, sendtest.Subject{
			New:    func(t testing.TB) sendtest.Fake { return start(t) },
			Target: send.Target{Platform: "email", Chat: you},
			Local:  true,
		})
	})
	before.Check(t)
}

// header decodes a header's value.
func header(s string) (string, error) { return new(mime.WordDecoder).DecodeHeader(s) }

// letterOf is a message with a text and two files.
func letterOf(t testing.TB, to string) send.Message {
	return send.Message{
		Target: send.Target{Platform: "email", Chat: to}, Subject: "the report", Texts: []string{"here it is"},
		Items: []send.Item{sendtest.Bytes(t, "a.bin", sendtest.Random(9000)), sendtest.Bytes(t, "b.txt", []byte("b"))},
		Key:   "0193f2aa-0000-7000-8000-000000000001",
	}
}

// deliver sends m and compares what is said with what arrived.
func deliver(ctx context.Context, t *testing.T, f *fake, p *Platform, m send.Message) send.Delivery {
	t.Helper()
	d := p.Send(ctx, m)
	if len(d.Texts) != len(m.Texts) || len(d.Items) != len(m.Items) {
		t.Fatalf("%d texts and %d items of %d and %d", len(d.Texts), len(d.Items), len(m.Texts), len(m.Items))
	}
	if s := fmt.Sprintf("%+v", d); strings.Contains(s, password) || strings.Contains(s, "AGFnZW50AGNvcnJlY3Q") {
		t.Errorf("the result carries the password: %s", s)
	}
	counts := map[string]int{}
	for _, a := range f.Arrived() {
		counts[a.Text+a.SHA256]++
	}
	check := func(what string, n int, o send.Outcome) {
		t.Helper()
		if n > 1 || n == 1 && o.Status != send.Sent && o.Status != send.Unknown || n == 0 && o.Status == send.Sent {
			t.Errorf("%s arrived %d times: %+v", what, n, o)
		}
		if o.Status != send.Sent && o.Reason == "" || o.Status == send.Sent && o.ID == "" {
			t.Errorf("%s: %+v", what, o)
		}
	}
	for i, it := range m.Items {
		check(it.Name, counts[it.SHA256], d.Items[i])
	}
	for i, s := range m.Texts {
		check(s, counts[s], d.Texts[i])
	}
	return d
}

func statuses(d send.Delivery) string {
	var b strings.Builder
	for _, o := range append(append([]send.Outcome{}, d.Texts...), d.Items...) {
		b.WriteString(o.Status.String() + " ")
	}
	return strings.TrimSpace(b.String())
}

func TestAMailIsOneMailWithAllOfIt(t *testing.T) {
	f := start(t)
	m := letterOf(t, "You <"+you+">, "+other)
	m.Subject = "Grüße 日本\r\nBcc: evil@honestty.example"
	d := deliver(t.Context(), t, f, f.with(f.Base(), nil), m)
	want := "<" + m.Key + "@honestty.example>"
	if statuses(d) != "sent sent sent" || d.Texts[0].ID != want || d.Items[1].ID != want || d.Chat != you+","+other {
		t.Errorf("%+v", d)
	}
	if len(f.headers) != 1 || f.Requests() != 1 {
		t.Fatalf("%d mails over %d connections", len(f.headers), f.Requests())
	}
	h := f.headers[0]
	subject, err := header(h.Get("Subject"))
	if err != nil || subject != "Grüße 日本 Bcc: evil@honestty.example" {
		t.Errorf("subject %q, %v", subject, err)
	}
	if h.Get("Bcc") != "" || h.Get("From") != `"Agent" <`+me+">" || strings.Contains(fmt.Sprint(h), "go-mail") {
		t.Errorf("headers: %v", h)
	}
	if a := f.Arrived()[0]; a.Chat != you+","+other {
		t.Errorf("recipients %q", a.Chat)
	}
}

func TestSubjectsOfAnyLengthAreLegal(t *testing.T) {
	for _, s := range []string{strings.Repeat("x", 3000), strings.Repeat("日", 3000), strings.Repeat("word ", 600), "a\x00b\x1b[2J"} {
		f := start(t)
		m := letterOf(t, you)
		m.Subject = s
		d := deliver(t.Context(), t, f, f.with(f.Base(), nil), m)
		got, err := header(f.headers[0].Get("Subject"))
		if statuses(d) != "sent sent sent" || err != nil || strings.ContainsAny(got, "\x00\x1b") {
			t.Errorf("%.20q: %+v, %q, %v", s, d, got, err)
		}
		if (len(d.Warnings) == 1) != (len([]rune(s)) > maxSubject) {
			t.Errorf("%.20q: warnings %q", s, d.Warnings)
		}
	}
}

// TestEachStepHasItsOutcome plays refusals and cuts at every step.
func TestEachStepHasItsOutcome(t *testing.T) {
	say := func(code int, text string) error {
		return &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{code / 100, 0, 0}, Message: text}
	}
	for _, c := range []struct {
		at   step
		err  error
		want send.Status
		say  string
	}{
		{atMail, say(451, "try later"), send.Rejected, "451 4.0.0 try later (for now"},
		{atMail, say(552, "too big"), send.Rejected, "552 5.0.0 too big"},
		{atMail, errBreak, send.Rejected, "nothing was sent"},
		{atRcpt, say(450, "greylisted"), send.Rejected, "could not send to " + you},
		{atRcpt, say(550, "no such user"), send.Rejected, "550 5.0.0 no such user"},
		{atRcpt, errBreak, send.Rejected, "nothing was sent"},
		{atData, say(552, "too big"), send.Rejected, "did not take the mail"},
		{atData, errBreak, send.Unknown, "may have arrived"},
		{atEnd, say(451, "try later"), send.Rejected, "for now"},
		{atEnd, say(552, "too big"), send.Rejected, "552"},
		{atEnd, say(554, "virus"), send.Rejected, "554 5.0.0 virus"},
		{atEnd, errBreak, send.Unknown, "after all of the mail"},
		{atEnd, say(251, "will forward"), send.Unknown, "the mail server said 251"},
	} {
		f := start(t)
		f.fail[c.at] = c.err
		d := deliver(t.Context(), t, f, f.with(f.Base(), nil), letterOf(t, you))
		for _, o := range append(d.Texts, d.Items...) {
			if o.Status != c.want || !strings.Contains(o.Reason, c.say) {
				t.Errorf("%v at %s: %+v, want %v with %q", c.err, c.at, o, c.want, c.say)
			}
		}
		if f.Requests() != 1 {
			t.Errorf("%v at %s: %d connections", c.err, c.at, f.Requests())
		}
	}
}

func TestOneRefusedRecipientMeansThatNobodyIsSentAnything(t *testing.T) {
	f := start(t)
	d := deliver(t.Context(), t, f, f.with(f.Base(), nil), letterOf(t, you+","+nobody))
	if statuses(d) != "rejected rejected rejected" || f.contents() != 0 {
		t.Errorf("%+v, %d contents", d, f.contents())
	}
	if r := d.Items[0].Reason; !strings.Contains(r, nobody) || !strings.Contains(r, "none of the 2 recipients") {
		t.Errorf("reason %q", r)
	}
}

// TestACutAtAnyByteIsNeverALie cuts a session after every few bytes, both ways.
func TestACutAtAnyByteIsNeverALie(t *testing.T) {
	m := letterOf(t, you)
	m.Items = m.Items[1:]
	big := letterOf(t, you)
	cut := func(m send.Message, up, down int64) (o send.Outcome, f *fake, passed int64) {
		f = start(t)
		c := sendtest.NewCutter(t, f.Base(), up, down)
		defer c.Close()
		d := deliver(t.Context(), t, f, f.with(c.Base(f.Base()), nil), m)
		if n := c.After(); n != 0 {
			t.Errorf("cut at %d up, %d down: %d connections after it", up, down, n)
		}
		return d.Items[0], f, c.Passed()
	}
	// A fake parses in its own time: what began is read after it was joined by
	// the test's end, so only certain relations are checked here.
	check := func(up, down int64, o send.Outcome, f *fake) {
		if o.Status == send.Rejected && len(f.Arrived()) > 0 {
			t.Errorf("cut at %d up, %d down: arrived and %+v", up, down, o)
		}
		if o.Status == send.Dropped {
			t.Errorf("cut at %d up, %d down: %+v", up, down, o)
		}
	}
	o, _, whole := cut(m, -1, -1)
	if o.Status != send.Sent || whole < 500 {
		t.Fatalf("without a cut: %+v after %d bytes", o, whole)
	}
	seen := map[send.Status]int{}
	for up := int64(0); up < whole; up += 17 {
		o, f, _ := cut(m, up, -1)
		check(up, -1, o, f)
		seen[o.Status]++
	}
	for down := int64(0); down < 300; down += 13 {
		o, f, _ := cut(m, -1, down)
		check(-1, down, o, f)
		seen[o.Status]++
	}
	_, _, whole = cut(big, -1, -1)
	for up := int64(1000); up < whole-1000; up += 1000 {
		if o, f, _ := cut(big, up, -1); o.Status != send.Unknown {
			t.Errorf("cut at %d of %d: %+v", up, whole, o)
		} else {
			check(up, -1, o, f)
		}
	}
	if seen[send.Rejected] == 0 || seen[send.Unknown] == 0 {
		t.Errorf("the cuts met %v: one of the phases was never cut", seen)
	}
}

func TestNoConnectionMeansThatNothingWasSent(t *testing.T) {
	f := start(t)
	for what, change := range map[string]func(*Config){
		"host without address": func(c *Config) { c.Host = "no-such-host.invalid" },
		"closed port":          func(c *Config) { c.Port = 1 },
		"a server without TLS": func(c *Config) { c.Policy = ImplicitTLS },
		"a server of HTTP":     func(c *Config) { c.Dial = dialHTTP },
	} {
		d := deliver(t.Context(), t, f, f.with(f.Base(), change), letterOf(t, you))
		if statuses(d) != "rejected rejected rejected" || !strings.HasPrefix(d.Items[0].Reason, "nothing was sent") {
			t.Errorf("%s: %+v", what, d)
		}
	}
}

// dialHTTP is a connection to something that is no mail server.
func dialHTTP(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	go func() { // ends with its write, or with the other side's Close
		there.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
		there.Close()
	}()
	return here, nil
}

func TestAMailThatIsTooLargeIsNotBegun(t *testing.T) {
	f := start(t, func(f *fake) { f.srv.MaxMessageBytes = 5000 })
	d := deliver(t.Context(), t, f, f.with(f.Base(), nil), letterOf(t, you))
	if statuses(d) != "rejected rejected rejected" || !strings.Contains(d.Items[0].Reason, "5,000 bytes") || f.contents() != 0 {
		t.Errorf("%+v, %d contents", d, f.contents())
	}
	f = start(t, func(f *fake) { f.srv.MaxMessageBytes = 12600 }) // the files fit, their frame does not
	d = deliver(t.Context(), t, f, f.with(f.Base(), nil), letterOf(t, you))
	if statuses(d) != "rejected rejected rejected" || !strings.Contains(d.Items[0].Reason, "552") {
		t.Errorf("said during the content: %+v", d)
	}
}

func TestFilesThatDoNotFitTogetherAreLeftOutByName(t *testing.T) {
	f := start(t)
	p := f.with(f.Base(), func(c *Config) { c.Bytes = 60000 })
	m := letterOf(t, you)
	m.Items = append(m.Items, sendtest.Bytes(t, "c.bin", sendtest.Random(30000)), sendtest.Bytes(t, "d.bin", sendtest.Random(20000)))
	m.Items = m.Items[1:]
	d := deliver(t.Context(), t, f, p, m)
	if statuses(d) != "sent sent sent dropped" || !strings.Contains(d.Items[2].Reason, "60000") {
		t.Errorf("%+v", d)
	}
	if most := p.Limits().FileBytes; most > 33000 || most < 30000 {
		t.Errorf("one file may have %d bytes", most)
	}
	// Nothing but files that do not fit: no empty mail.
	f = start(t)
	p = f.with(f.Base(), func(c *Config) { c.Bytes = 20000 })
	m = letterOf(t, you)
	m.Texts, m.Subject, m.Items = nil, "", m.Items[:1]
	if d := deliver(t.Context(), t, f, p, m); statuses(d) != "dropped" || f.Requests() != 0 {
		t.Errorf("%+v after %d connections", d, f.Requests())
	}
}

func TestAFileThatChangesIsLeftOutOrBreaksTheMailOff(t *testing.T) {
	f := start(t)
	path := filepath.Join(t.TempDir(), "c.bin")
	if err := os.WriteFile(path, sendtest.Random(200<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	it, file := sendtest.File(t, path)
	m := letterOf(t, you)
	m.Items = append(m.Items, it)
	// While the first file goes out, the third is rewritten.
	m.Progress = func(int, int64) { file.WriteAt([]byte("other"), 150<<10) }
	d := deliver(t.Context(), t, f, f.with(f.Base(), nil), m)
	if statuses(d) != "rejected rejected rejected rejected" || !strings.Contains(d.Items[0].Reason, "changed") {
		t.Errorf("rewritten during: %+v", d)
	}
	f.srv.Close() // joins nothing that is still to write: the connection is closed
	f.mu.Lock()
	if f.ended != 0 {
		t.Error("the end of a mail was written behind a gap")
	}
	f.mu.Unlock()
	if err := file.Truncate(10); err != nil {
		t.Fatal(err)
	}
	f = start(t)
	m.Progress = nil
	if d := deliver(t.Context(), t, f, f.with(f.Base(), nil), m); statuses(d) != "sent sent sent rejected" {
		t.Errorf("shrunk before: %+v", d)
	}
}

func TestASinkTakesNothingBehindAGap(t *testing.T) {
	var b bytes.Buffer
	s := &sink{w: &b}
	if _, err := s.stream(io.MultiReader(strings.NewReader("abc"), failing{})); !errors.Is(err, errBreak) {
		t.Errorf("stream: %v", err)
	}
	n := b.Len()
	if _, err := s.Write([]byte("more")); !errors.Is(err, errBreak) || b.Len() != n {
		t.Errorf("write behind a gap: %v, %d bytes", err, b.Len()-n)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errBreak }

func TestEncodedLinesAreThoseOfRFC2045(t *testing.T) {
	for _, n := range []int{0, 1, 56, 57, 58, 114, lineBytes*chunkLines - 1, lineBytes * chunkLines, lineBytes*chunkLines + 1} {
		data := sendtest.Random(n)
		var b bytes.Buffer
		s := &sink{w: &b}
		// One byte at a time, so that no line depends on how the file is read.
		total, err := s.stream(iotest.OneByteReader(bytes.NewReader(data)))
		if err != nil || total != int64(b.Len()) || int64(b.Len()) > encoded(int64(n)) || s.n != total {
			t.Errorf("%d bytes: %d written, %v", n, total, err)
		}
		for line := range strings.Lines(b.String()) {
			if len(line) > lineChars || !strings.HasSuffix(line, "\r\n") {
				t.Errorf("%d bytes: line %q", n, line)
			}
		}
		back, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(b.String(), "\r\n", ""))
		if err != nil || !bytes.Equal(back, data) {
			t.Errorf("%d bytes came back as %d, %v", n, len(back), err)
		}
		if m := decoded(encoded(int64(n))); m < int64(n) {
			t.Errorf("decoded(encoded(%d)) = %d", n, m)
		}
	}
}

func TestACancelledMailIsUnknownOnceItsContentBegan(t *testing.T) {
	f := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	m := letterOf(t, you)
	m.Items = append(m.Items, sendtest.Bytes(t, "c.bin", make([]byte, 4<<20)))
	m.Progress = func(i int, n int64) {
		if i == 2 && n > 1<<20 {
			cancel()
		}
	}
	d := deliver(ctx, t, f, f.with(f.Base(), nil), m)
	if statuses(d) != "unknown unknown unknown unknown" || !strings.Contains(d.Items[0].Reason, "cancelled") {
		t.Errorf("%+v", d)
	}

	f = start(t)
	f.hold = make(chan struct{})
	t.Cleanup(func() { close(f.hold) })
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	done := make(chan struct{})
	go func() { defer close(done); <-f.Holding(); cancel() }()
	d = deliver(ctx, t, f, f.with(f.Base(), nil), letterOf(t, you))
	<-done
	if statuses(d) != "unknown unknown unknown" || !strings.Contains(d.Items[0].Reason, "all of the mail") {
		t.Errorf("no answer: %+v", d)
	}
}

func TestTargetsThatCannotBeAreRefusedBeforeAConnection(t *testing.T) {
	f := start(t)
	p := f.with(f.Base(), nil)
	for _, chat := range []string{"", "you", "a@b\r\nRCPT TO:<evil@x>", you + "\nBcc: x@y", "a@", "<>", you + ";" + other} {
		if d := deliver(t.Context(), t, f, p, letterOf(t, chat)); statuses(d) != "rejected rejected rejected" || f.Requests() != 0 {
			t.Errorf("%q: %+v", chat, d)
		}
	}
	m := letterOf(t, you)
	m.Target.Thread = "7"
	if d := deliver(t.Context(), t, f, p, m); statuses(d) != "rejected rejected rejected" || f.Requests() != 0 {
		t.Errorf("a thread: %+v", d)
	}
}

func TestNewRefusesWhatCannotBe(t *testing.T) {
	good := Config{Host: "mail.honestty.example", From: me}
	for name, change := range map[string]func(*Config){
		"no host": func(c *Config) { c.Host = "" }, "a host with a path": func(c *Config) { c.Host = "a/b" },
		"a host with a break": func(c *Config) { c.Host = "a\r\nb" }, "no sender": func(c *Config) { c.From = "" },
		"a sender with a break": func(c *Config) { c.From = "a@b\r\nBcc: c@d" }, "a policy of none": func(c *Config) { c.Policy = "ssl" },
		"a password for nobody": func(c *Config) { c.Password = password },
	} {
		c := good
		change(&c)
		if _, err := New(c); err == nil || strings.Contains(err.Error(), password) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for policy, addr := range map[Policy]string{"": "mail.honestty.example:587", ImplicitTLS: "mail.honestty.example:465"} {
		c := good
		c.Policy = policy
		if p, err := New(c); err != nil || p.addr != addr || p.Name() != "email" || !p.Limits().Subject {
			t.Errorf("%q: %+v, %v", policy, p, err)
		}
	}
}
