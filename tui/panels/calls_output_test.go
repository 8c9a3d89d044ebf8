package panels

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
)

func TestARunningCallShowsItsOutputLive(t *testing.T) {
	d := newDiary()
	id := samples(d)
	p := opened(t, toolsWith(d), id["running"], `{}`, "")
	req := asks[ReadOutput](t, p.Wants())
	if req.From != FromEnd || req.Path != "/state/live/0193.raw" || p.Wants() != nil {
		t.Fatalf("it asks for %+v", req)
	}
	p.TakeOutput(req.Call, 0, nil, -1, fs.ErrNotExist)
	if text := draw(p, 80, 20, unicodeTheme).Text(); !strings.Contains(text, "no output so far") || p.Wants() != nil {
		t.Errorf("got\n%s", text)
	}
	for i := range 30 {
		p.Show(d.b, d.at)
		req = asks[ReadOutput](t, p.Wants())
		text := fmt.Sprintf("line %02d\n", i)
		if req.From != int64(8*i) {
			t.Fatalf("it goes on from %d at line %d", req.From, i)
		}
		p.TakeOutput(req.Call, req.From, []byte(text), int64(8*i+8), nil)
		if p.Wants() != nil {
			t.Fatal("it asks again at once")
		}
	}
	text := draw(p, 80, 20, unicodeTheme).Text()
	if !strings.Contains(text, "› line 29") || strings.Contains(text, "line 02") {
		t.Errorf("it is not at the end:\n%s", text)
	}
	press(t, p, "k k k k")
	p.Show(d.b, d.at)
	req = asks[ReadOutput](t, p.Wants())
	p.TakeOutput(req.Call, req.From, []byte("line 30\n"), 248+300_000, nil)
	if text = draw(p, 80, 20, unicodeTheme).Text(); !strings.Contains(text, "› line 25") {
		t.Errorf("it moved:\n%s", text)
	}
	req = asks[ReadOutput](t, p.Wants()) // more is there: at once
	p.TakeOutput(req.Call, req.From, make([]byte, 0), 248, nil)
	d.end(id["running"], journal.End{Status: outcome.Complete})
	p.Show(d.b, d.at)
	asks[ReadCall](t, p.Wants())
	r, _ := d.b.Find(id["running"])
	p.TakeCall(id["running"], r.Start, &journal.End{Call: id["running"], Status: outcome.Complete, Result: json.RawMessage(`{"output":"x"}`)}, nil)
	req = asks[ReadOutput](t, p.Wants())
	p.TakeOutput(req.Call, req.From, []byte("the end\n"), 256, nil)
	p.Show(d.b, d.at)
	if a := p.Wants(); a != nil {
		t.Errorf("it asks after the end: %#v", a)
	}
	if text = draw(p, 80, 20, unicodeTheme).Text(); !strings.Contains(text, "› line 25") || !strings.Contains(text, " ok\n") {
		t.Errorf("got\n%s", text)
	}
}

func TestOutputThatWentOnIsReadWhereItWasKept(t *testing.T) {
	for name, result := range map[string]string{
		"not carried":       `{"output":null,"capture":{"state":"complete","bytes_read":6,"end":"eof"}}`,
		"an empty text":     `{"output":"","capture":{"state":"complete","bytes_read":6,"end":"eof"}}`,
		"nothing was there": `{"output":"","capture":{"state":"complete","bytes_read":0,"end":"eof"}}`,
	} {
		d := newDiary()
		id := samples(d)
		d.end(id["running"], journal.End{Status: outcome.Complete})
		p := opened(t, toolsWith(d), id["running"], `{}`, result)
		if name == "nothing was there" {
			if a := p.Wants(); a != nil {
				t.Errorf("%s: it asks for %#v", name, a)
			}
			continue
		}
		file("line 1").settle(t, p, p.Wants())
		if text := draw(p, 80, 40, unicodeTheme).Text(); !strings.Contains(text, "line 1") || strings.Contains(text, "0 B") {
			t.Errorf("%s: got\n%s", name, text)
		}
	}
}

// A file stands in for the file of an output.
type file string

// answer gives what a ReadOutput asks for.
func (f file) answer(p *Tools, req ReadOutput) {
	from := req.From
	if from == FromEnd {
		from = max(int64(len(f)-req.Max), 0)
	}
	to := min(from+int64(req.Max), int64(len(f)))
	p.TakeOutput(req.Call, from, []byte(f[min(from, int64(len(f))):to]), int64(len(f)), nil)
}

// settle answers all that the panel asks.
func (f file) settle(t *testing.T, p *Tools, a Action) {
	t.Helper()
	for n := 0; a != nil; n++ {
		if n > 1000 {
			t.Fatal("it asks without an end")
		}
		f.answer(p, asks[ReadOutput](t, a))
		a = p.Wants()
	}
}

func numbered(lines int) file {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "%07d %s\n", i, strings.Repeat("é", 20))
	}
	return file(b.String())
}

func TestOnlyAWindowOfALargeOutputIsHeld(t *testing.T) {
	d := newDiary()
	id := samples(d)
	f := numbered(100_000)
	p := opened(t, toolsWith(d), id["ok"], `{}`, `{"output":"head … tail","omitted":{"bytes":99},"full_output_path":"/state/spill/x"}`)
	draw(p, 80, 20, unicodeTheme)
	f.settle(t, p, p.Wants())
	if o := &p.open.output; o.from != 0 || len(o.raw) != outputStep || !strings.Contains(o.note(), "0 to 262,144 bytes of 4.7 MB") {
		t.Fatalf("it holds %d bytes from %d: %s", len(o.raw), o.from, o.note())
	}
	here := func() string { return p.open.text.line(p.open.text.at.place).text[:7] }
	f.settle(t, p, press(t, p, "end"))
	if draw(p, 80, 20, unicodeTheme); here() != "0099999" {
		t.Fatalf("End goes to %q", here())
	}
	for range 40 { // back by scrolling: what is read comes above, the place stays
		before := here()
		p.open.text.at = spot{place{p.open.text.section(headOutput), 0}, 0}
		p.open.text.settle()
		first := here()
		p.open.atEdge()
		f.settle(t, p, p.Wants())
		if here() != first {
			t.Fatalf("from %s it moved from %q to %q", before, first, here())
		}
		if n := len(p.open.output.raw); n > outputMax {
			t.Fatalf("%d bytes are held", n)
		}
	}
	if p.open.output.from != 0 || here() != "0000000" {
		t.Errorf("it did not come to the beginning: %d, %s", p.open.output.from, here())
	}
	f.settle(t, p, press(t, p, "]"))
	f.settle(t, p, press(t, p, "]"))
	if p.open.output.from == 0 || len(p.open.output.raw) > outputMax {
		t.Errorf("] reads from %d, %d bytes", p.open.output.from, len(p.open.output.raw))
	}
	if got := asks[CopyText](t, press(t, p, "y")); !strings.Contains(got.What, " of the output, of 4.7 MB") {
		t.Errorf("a part is copied as %q", got.What)
	}
	f.settle(t, p, press(t, p, "home"))
	if p.open.output.from != 0 {
		t.Errorf("Home reads from %d", p.open.output.from)
	}
	if press(t, p, "["); !strings.Contains(p.open.note, "beginning") {
		t.Errorf("[ says %q", p.open.note)
	}
}

func TestAFloodDoesNotTakeTheTextFromWhoReadsIt(t *testing.T) {
	d := newDiary()
	id := samples(d)
	p := opened(t, toolsWith(d), id["running"], `{}`, "")
	f := numbered(100)
	f.settle(t, p, p.Wants())
	draw(p, 80, 20, unicodeTheme)
	press(t, p, "k k k")
	here := func() string { return p.open.text.line(p.open.text.at.place).text }
	before := here()
	f = numbered(60_000)
	for range 20 {
		p.Show(d.b, d.at)
		f.settle(t, p, p.Wants())
	}
	if here() != before || len(p.open.output.raw) > outputMax || !p.open.output.after() {
		t.Errorf("it moved to %q and holds %d bytes", here(), len(p.open.output.raw))
	}
	f.settle(t, p, press(t, p, "G"))
	if !strings.HasPrefix(here(), "0059999") {
		t.Errorf("End goes to %q", here())
	}
	f = numbered(90_000)
	for range 20 { // at the end it follows, and the beginning goes
		p.Show(d.b, d.at)
		f.settle(t, p, p.Wants())
	}
	if !strings.HasPrefix(here(), "0089999") || len(p.open.output.raw) > outputMax {
		t.Errorf("it is at %q with %d bytes", here(), len(p.open.output.raw))
	}
}

func TestAFileThatCannotBeReadIsNotEmpty(t *testing.T) {
	for err, want := range map[error]string{
		fs.ErrNotExist:             "the file with the output is not there",
		errors.New("input/output"): "the file with the output cannot be read: input/output",
	} {
		d := newDiary()
		id := samples(d)
		p := opened(t, toolsWith(d), id["ok"], `{}`, `{"output":"head and tail","omitted":{"bytes":99},"full_output_path":"/state/spill/x"}`)
		req := asks[ReadOutput](t, p.Wants())
		p.TakeOutput(req.Call, 0, nil, -1, err)
		text := draw(p, 90, 30, unicodeTheme).Text()
		if !strings.Contains(text, want) || !strings.Contains(text, "what the result carries of it:") || !strings.Contains(text, "head and tail") {
			t.Errorf("got\n%s", text)
		}
		p.Show(d.b, d.at)
		if a := p.Wants(); a != nil {
			t.Errorf("it asks on: %#v", a)
		}
	}
}

func TestSecretsInLiveOutputAreMasked(t *testing.T) {
	d := newDiary()
	id := samples(d)
	p := opened(t, toolsWith(d), id["running"], `{}`, "")
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	file("token: "+secret+"\n").settle(t, p, p.Wants())
	text := draw(p, 90, 30, unicodeTheme).Text()
	if strings.Contains(text, secret) || !strings.Contains(text, "1 secret masked") {
		t.Errorf("got\n%s", text)
	}
	if got := asks[CopyText](t, press(t, p, "y")); strings.Contains(got.Text, secret) {
		t.Error("the secret is copied")
	}
}
