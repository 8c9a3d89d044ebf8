package sendtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/honestty/honestty/tools/send"
)

// A Subject is a platform under test.
type Subject struct {
	New     func(t testing.TB) Fake
	Target  send.Target
	BadChat send.Target // a chat that does not exist; empty when there is no such thing

	// DNSBase and TLSBase replace the addresses of a host that has none and of
	// a server whose certificate nobody knows, where the scheme is not HTTP.
	DNSBase string
	TLSBase func(t testing.TB) string

	// Local says that there is no connection to break.
	Local bool
}

// cutFile is the size of the file that is cut at every thousandth byte.
const cutFile = 8 << 10

// Soak reports whether the long tests are asked for.
func Soak() bool { return os.Getenv("HONESTTY_SOAK") != "" }

// Run runs the contract.
func Run(t *testing.T, s Subject) {
	t.Run("A text arrives as it was written", s.text)
	t.Run("Files arrive byte for byte", s.files)
	t.Run("Names arrive unharmed and harm nothing", s.names)
	t.Run("Twenty large files are streamed", s.large)
	t.Run("A file that changes is never sent whole", s.changed)
	t.Run("A cancelled message is not tried", s.cancelledBefore)
	if s.Local {
		return
	}
	t.Run("Refusals are certain and final", s.refusals)
	t.Run("A platform that says later is waited for", s.later)
	t.Run("A wait beyond the bound is not begun", s.tooLong)
	t.Run("An answer that proves nothing is unknown", s.unproven)
	t.Run("A wrong secret is refused and not repeated", s.wrong)
	t.Run("A chat that does not exist is refused", s.badChat)
	t.Run("No connection means that nothing was sent", s.noConnection)
	t.Run("No answer is unknown", s.silent)
	t.Run("A cut on the way there is never success", s.cutUp)
	t.Run("A cut on the way back is unknown", s.cutDown)
}

// Bytes makes an item of data, in memory.
func Bytes(t testing.TB, name string, data []byte) send.Item {
	t.Helper()
	it, err := send.Seal(t.Context(), name, send.KindOf(name), memory{bytes.NewReader(data)})
	if err != nil {
		t.Fatal(err)
	}
	return it
}

// File makes an item of the file at path.
func File(t testing.TB, path string) (send.Item, *os.File) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	it, err := send.Seal(t.Context(), path, send.KindOf(path), f)
	if err != nil {
		t.Fatal(err)
	}
	return it, f
}

type memory struct{ *bytes.Reader }

func (m memory) Stat() (fs.FileInfo, error) { return memoryInfo{m.Size()}, nil }

type memoryInfo struct{ n int64 }

func (memoryInfo) Name() string       { return "memory" }
func (i memoryInfo) Size() int64      { return i.n }
func (memoryInfo) Mode() fs.FileMode  { return 0o600 }
func (memoryInfo) ModTime() time.Time { return time.Time{} }
func (memoryInfo) IsDir() bool        { return false }
func (memoryInfo) Sys() any           { return nil }

// Random makes n bytes that cannot be told apart from noise.
func Random(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

// A sending is one message of a test: who sends it where.
type sending struct {
	t    *testing.T
	fake Fake
	p    send.Platform
	m    send.Message
}

func (s Subject) start(t *testing.T, fake Fake, p send.Platform) *sending {
	return &sending{t, fake, p, send.Message{
		Target: s.Target, Key: rand.Text(),
		Pace: send.Pace{Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }},
	}}
}

// deliver sends it and checks what holds always.
func (s *sending) deliver(ctx context.Context) send.Delivery {
	s.t.Helper()
	d := s.p.Send(ctx, s.m)
	if len(d.Texts) > len(s.m.Texts) || len(d.Items) > len(s.m.Items) {
		s.t.Errorf("%d texts and %d items were reported of %d and %d", len(d.Texts), len(d.Items), len(s.m.Texts), len(s.m.Items))
	}
	for len(d.Texts) < len(s.m.Texts) {
		d.Texts = append(d.Texts, send.Outcome{})
	}
	for len(d.Items) < len(s.m.Items) {
		d.Items = append(d.Items, send.Outcome{})
	}
	for _, o := range append(append([]send.Outcome{}, d.Texts...), d.Items...) {
		if o.Status != send.Sent && o.Reason == "" {
			s.t.Errorf("%v without a reason", o.Status)
		}
		if o.Status == send.Sent && o.ID == "" {
			s.t.Error("sent without an id")
		}
	}
	if secret := s.fake.Secret(); secret != "" && strings.Contains(fmt.Sprintf("%+v", d), secret) {
		s.t.Errorf("the result carries the secret: %+v", d)
	}
	return d
}

func (s Subject) text(t *testing.T) {
	fake := s.New(t)
	x := s.start(t, fake, fake.Platform(fake.Base()))
	x.m.Texts = []string{"Grüße — *not* <b>markup</b> & 100 % 日本 🎉\nsecond line"}
	d := x.deliver(t.Context())
	if d.Texts[0].Status != send.Sent {
		t.Fatalf("text: %+v", d.Texts[0])
	}
	got := fake.Arrived()
	if len(got) != 1 || strings.TrimSpace(got[0].Text) != x.m.Texts[0] || got[0].Name != "" {
		t.Errorf("arrived: %+v", got)
	}
	if s.Target.Chat != "" && (got[0].Chat != s.Target.Chat || got[0].Thread != s.Target.Thread) {
		t.Errorf("went to %q %q", got[0].Chat, got[0].Thread)
	}
}

func (s Subject) files(t *testing.T) {
	fake := s.New(t)
	p := fake.Platform(fake.Base())
	if !p.Limits().Attach {
		t.Skip("takes no files")
	}
	x := s.start(t, fake, p)
	x.m.Texts = []string{"three files"}
	x.m.Items = []send.Item{
		Bytes(t, "report.pdf", Random(70_001)),
		Bytes(t, "one.txt", []byte("x")),
		Bytes(t, "table.csv", bytes.Repeat([]byte("a,b\r\n--"), 3000)),
	}
	if !p.Limits().NoEmpty {
		x.m.Items = append(x.m.Items, Bytes(t, "empty.txt", nil))
	}
	if n := p.Limits().Files; n > 0 {
		x.m.Items = x.m.Items[:min(n, len(x.m.Items))]
	}
	told := make([]int64, len(x.m.Items))
	x.m.Progress = func(i int, n int64) { told[i] = n }
	d := x.deliver(t.Context())
	for i, it := range x.m.Items {
		if d.Items[i].Status != send.Sent {
			t.Errorf("%s: %+v", it.Name, d.Items[i])
		}
		if told[i] != it.Size {
			t.Errorf("%s: progress ended at %d of %d", it.Name, told[i], it.Size)
		}
	}
	compare(t, fake.Arrived(), x.m.Items, d.Items)
}

// compare checks what was said of items against what arrived.
func compare(t *testing.T, got []Arrival, items []send.Item, said []send.Outcome) {
	t.Helper()
	for i, it := range items {
		n := 0
		for _, a := range got {
			if a.Name == it.Name && a.SHA256 == it.SHA256 && a.Size == it.Size {
				n++
			}
		}
		switch {
		case n > 1:
			t.Errorf("%q arrived %d times", it.Name, n)
		case n == 0 && said[i].Status == send.Sent:
			t.Errorf("%q is said to be sent and did not arrive", it.Name)
		case n == 1 && (said[i].Status == send.Dropped || said[i].Status == send.Rejected):
			t.Errorf("%q arrived and is said to be %v: %s", it.Name, said[i].Status, said[i].Reason)
		}
	}
	for _, a := range got {
		if a.Name == "" {
			continue
		}
		known := false
		for _, it := range items {
			known = known || a.SHA256 == it.SHA256
		}
		if !known {
			t.Errorf("a file %q with other content arrived (%d bytes)", a.Name, a.Size)
		}
	}
}

func (s Subject) names(t *testing.T) {
	for _, name := range []string{
		"a\nMEDIA:/etc/passwd.txt", "a.mp3\u2028MEDIA:x.txt", `MEDIA:"rel.txt"`, "media: notes.txt", "日本語 レポート.pdf",
		`quo"te; x='y'.txt`, "back\\slash.txt", "x\r\nX-Injected: 1.txt", "ünïcödé.txt", "100% sure?#&=.txt", strings.Repeat("long", 80) + ".txt",
	} {
		fake := s.New(t)
		p := fake.Platform(fake.Base())
		if !p.Limits().Attach {
			t.Skip("takes no files")
		}
		x := s.start(t, fake, p)
		x.m.Items = []send.Item{Bytes(t, name, []byte("content of "+name))}
		d := x.deliver(t.Context())
		if d.Items[0].Status != send.Sent {
			t.Errorf("%q: %+v", name, d.Items[0])
		}
		compare(t, fake.Arrived(), x.m.Items, d.Items)
	}
}

func (s Subject) large(t *testing.T) {
	n, size := 3, int64(8<<20)
	if Soak() {
		n, size = 20, 49<<20
	}
	fake := s.New(t)
	p := fake.Platform(fake.Base())
	if !p.Limits().Attach {
		t.Skip("takes no files")
	}
	if most := p.Limits().FileBytes; most > 0 {
		size = min(size, most-1)
	}
	if most := p.Limits().Files; most > 0 {
		n = min(n, most)
	}
	x := s.start(t, fake, p)
	var total int64
	for i := range n {
		path := filepath.Join(t.TempDir(), fmt.Sprintf("part%02d.bin", i))
		if err := os.WriteFile(path, fmt.Appendf(nil, "part %d", i), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		it, _ := File(t, path)
		x.m.Items = append(x.m.Items, it)
		total += size
	}
	told := make([]int64, n)
	x.m.Progress = func(i int, sent int64) {
		if sent < told[i] || sent > size {
			t.Errorf("progress went from %d to %d of %d", told[i], sent, size)
		}
		told[i] = sent
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d := x.deliver(t.Context())
	runtime.ReadMemStats(&after)
	for i, o := range d.Items {
		if o.Status != send.Sent {
			t.Errorf("%s: %+v", x.m.Items[i].Name, o)
		}
	}
	compare(t, fake.Arrived(), x.m.Items, d.Items)
	if grown := int64(after.TotalAlloc - before.TotalAlloc); grown > total/2 {
		t.Errorf("%d bytes were allocated to send %d: a file was held in memory", grown, total)
	} else {
		t.Logf("%d files of %d bytes: %d bytes allocated, this side and the fake together", n, size, grown)
	}
}

func (s Subject) changed(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(f *os.File) error
		certain bool // nothing may have arrived, also not in part
	}{
		{"shrinks before", func(f *os.File) error { return f.Truncate(100) }, true},
		{"grows before", func(f *os.File) error { return f.Truncate(9000) }, true},
		{"is rewritten before", func(f *os.File) error { _, err := f.WriteAt([]byte("other"), 4000); return err }, false},
		{"vanishes before", func(f *os.File) error { return os.Remove(f.Name()) }, false},
	} {
		fake := s.New(t)
		p := fake.Platform(fake.Base())
		if !p.Limits().Attach {
			t.Skip("takes no files")
		}
		path := filepath.Join(t.TempDir(), "changing.bin")
		if err := os.WriteFile(path, Random(cutFile), 0o600); err != nil {
			t.Fatal(err)
		}
		it, f := File(t, path)
		if err := c.change(f); err != nil {
			t.Fatal(err)
		}
		x := s.start(t, fake, p)
		x.m.Items = []send.Item{it}
		d := x.deliver(t.Context())
		compare(t, fake.Arrived(), x.m.Items, d.Items)
		switch o := d.Items[0]; {
		case c.name == "vanishes before":
			if o.Status != send.Sent {
				t.Errorf("%s: its descriptor was open, and yet %+v", c.name, o)
			}
		case o.Status == send.Sent, c.certain && o.Status == send.Unknown:
			t.Errorf("%s: %+v", c.name, o)
		}
	}
}

func (s Subject) cancelledBefore(t *testing.T) {
	fake := s.New(t)
	x := s.start(t, fake, fake.Platform(fake.Base()))
	x.m.Texts = []string{"never"}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if d := x.deliver(ctx); d.Texts[0].Status == send.Sent || d.Texts[0].Status == send.Unknown {
		t.Errorf("text: %+v", d.Texts[0])
	}
	if got := fake.Arrived(); len(got) != 0 {
		t.Errorf("arrived: %+v", got)
	}
}

// strangersServer speaks TLS with a certificate that nobody knows.
func strangersServer(t testing.TB) string {
	srv := httptest.NewUnstartedServer(nil)
	srv.Config.ErrorLog = log.New(io.Discard, "", 0) // it would tell of each client that hangs up
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return srv.URL
}
