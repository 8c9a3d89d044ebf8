package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/honestty/honestty/outcome"
)

func started(seq int64, call, tool, title string) Event {
	return Event{Seq: seq, At: time.Unix(seq, 0), Start: &Start{Call: call, Tool: tool, Title: title, Owner: Owner{PID: 1, Began: 2}}}
}

func ended(seq int64, call string, s outcome.Status) Event {
	return Event{Seq: seq, At: time.Unix(seq, 0), End: &End{Call: call, Status: s, Summary: "sum " + call}}
}

func calls(v View) string {
	var out []string
	for i := range v.Len() {
		out = append(out, v.At(i).Start.Call)
	}
	return strings.Join(out, " ")
}

func wholeBook(events ...Event) *Book {
	b := NewBook(0)
	b.AddOlder(nil, false)
	b.Add(events)
	return b
}

func TestBookListsTheNewestFirstWithTheirStates(t *testing.T) {
	lost := outcome.StateLost
	e := ended(8, "c", outcome.Failed)
	e.End.Capture = &lost
	b := wholeBook(started(1, "a", "terminal", "x"), started(2, "b", "send", "y"), started(3, "c", "terminal", "z"),
		Event{Seq: 4, Progress: &Progress{Call: "a", Done: 1}}, Event{Seq: 5, Progress: &Progress{Call: "a", Done: 7}},
		ended(6, "b", outcome.Partial), e, ended(9, "lone", outcome.Complete))
	var got []string
	for i := range b.Len() {
		r := b.At(i)
		got = append(got, r.Start.Call+" "+r.State().String())
	}
	if want := []string{"lone complete", "c lost", "b partial", "a running"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if p := b.At(3).Progress; p == nil || p.Done != 7 {
		t.Errorf("progress = %+v", p)
	}
	if r := b.At(0); !r.NoStart || r.Why() == "" {
		t.Errorf("a call without a start: %+v, %q", r, r.Why())
	}
}

func TestCallWhoseOwnerIsGoneIsUnknown(t *testing.T) {
	b := wholeBook(started(1, "a", "terminal", "x"), Event{Seq: 2, Start: &Start{Call: "nobody", Tool: "terminal"}})
	if b.At(1).State() != Running || b.At(0).State() != Unknown {
		t.Errorf("states: %v, %v", b.At(1).State(), b.At(0).State())
	}
	b.MarkGone([]Owner{{PID: 1, Began: 3}}) // a later process with that number
	if b.At(1).State() != Running {
		t.Error("another process's end was taken for the owner's")
	}
	b.MarkGone(b.Owners())
	if r := b.At(1); r.State() != Unknown || r.Why() != "unknown: its process ended without telling" || !r.Unseen {
		t.Errorf("%v, %q, unseen %v", r.State(), r.Why(), r.Unseen)
	}
	if len(b.Owners()) != 0 {
		t.Errorf("still asked about: %v", b.Owners())
	}
	b.Add([]Event{ended(3, "a", outcome.Complete)}) // its end was on the way
	if b.At(1).State() != Complete {
		t.Errorf("state after its end = %v", b.At(1).State())
	}
}

func TestOwnerIsToldFromALaterProcess(t *testing.T) {
	me := OwnerOf(os.Getpid())
	if me.Began == 0 || me.Gone() {
		t.Errorf("this process: %+v, gone %v", me, me.Gone())
	}
	if later := (Owner{PID: me.PID, Began: me.Began + 1}); !later.Gone() {
		t.Error("a process with another start is not told apart")
	}
	c := child(t, filepath.Join(t.TempDir(), "journal"), "x", 1, 1, 0)
	o := OwnerOf(c.Process.Pid)
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	if !o.Gone() || (Owner{}).Gone() {
		t.Errorf("ended process gone %v, nobody gone %v", o.Gone(), Owner{}.Gone())
	}
	if got := Gone([]Owner{me, o}); !slices.Equal(got, []Owner{o}) {
		t.Errorf("gone = %v", got)
	}
}

func TestFilterChoosesByEachField(t *testing.T) {
	checked := ended(13, "d", outcome.Complete)
	checked.End.Checks = []Check{{Name: "file size", Claimed: "0 bytes", Seen: "9 bytes", Verdict: outcome.Failed}}
	d := started(4, "d", "read_file", "/etc/Hosts")
	d.Start.Source = Source{Kind: "hook", Agent: "hermes", Window: 7}
	b := wholeBook(started(1, "a", "terminal", "go test ./..."), started(2, "b", "send_message", "telegram"),
		started(3, "c", "terminal", "GO build ÄPFEL"), d, ended(10, "a", outcome.Failed), ended(11, "b", outcome.Refused), checked)
	for _, c := range []struct {
		f    Filter
		want string
	}{
		{Filter{}, "d c b a"},
		{Filter{Tool: "terminal"}, "c a"},
		{Filter{States: []State{Running}}, "c"},
		{Filter{States: []State{Failed, Refused}}, "b a"},
		{Filter{Bad: true}, "b a"},
		{Filter{Contradicted: true}, "d"},
		{Filter{Agent: "hermes"}, "d"},
		{Filter{Kind: "hook"}, "d"},
		{Filter{Window: 7}, "d"},
		{Filter{Text: "go "}, "c a"},
		{Filter{Text: "HOSTS"}, "d"},
		{Filter{Text: "äpfel"}, "c"},
		{Filter{Text: "sum b"}, "b"},
		{Filter{Text: "testt"}, ""},
		{Filter{Tool: "terminal", Text: "go", States: []State{Failed}}, "a"},
	} {
		v := b.Select(c.f)
		if got := calls(v); got != c.want {
			t.Errorf("%+v: %q, want %q", c.f, got, c.want)
		}
		if c.want == "b a" && (v.Index("a") != 1 || v.Index("d") != -1) {
			t.Errorf("index of a = %d, of d = %d", v.Index("a"), v.Index("d"))
		}
	}
}

func TestOnlyWhatEndedBadlyWhileTheBookWasOpenIsUnseen(t *testing.T) {
	b := NewBook(0)
	b.AddOlder([]Event{ended(2, "old", outcome.Failed), started(1, "old", "terminal", "x")}, false)
	events := []Event{started(3, "ok", "terminal", "x"), ended(4, "ok", outcome.Complete)}
	for i, s := range []outcome.Status{outcome.Failed, outcome.Partial, outcome.Refused, outcome.Unknown, outcome.Cancelled} {
		call := s.String()
		events = append(events, started(int64(10+i), call, "terminal", "x"), ended(int64(20+i), call, s))
	}
	b.Add(events)
	names := func() (out []string) {
		for _, r := range b.Unseen() {
			out = append(out, r.Start.Call)
		}
		return out
	}
	if got, want := names(), []string{"unknown", "refused", "partial", "failed"}; !slices.Equal(got, want) {
		t.Errorf("unseen: %q, want %q", got, want)
	}
	b.Seen("refused")
	if got, want := names(), []string{"unknown", "partial", "failed"}; !slices.Equal(got, want) {
		t.Errorf("unseen: %q, want %q", got, want)
	}
	if b.Seen(""); len(b.Unseen()) != 0 {
		t.Errorf("unseen after all were seen: %q", names())
	}
}

func TestBadEndIsUnseenAlsoWhenItsStartIsReadLater(t *testing.T) {
	b := NewBook(0)
	b.Add([]Event{ended(5, "a", outcome.Failed)})
	b.AddOlder([]Event{started(4, "a", "t", "x"), ended(3, "b", outcome.Failed), started(2, "b", "t", "x")}, true)
	if got := b.Unseen(); len(got) != 1 || got[0].Start.Call != "a" {
		t.Errorf("unseen: %+v", got)
	}
}

func TestCallIsFoundByTheBeginningOfItsID(t *testing.T) {
	b := wholeBook(started(1, "0193aa", "terminal", "x"), started(2, "0193ab", "terminal", "y"), started(3, "0193", "terminal", "z"))
	if r, err := b.Find("0193aa"); err != nil || r.Seq != 1 {
		t.Errorf("find = %+v, %v", r, err)
	}
	if r, err := b.Find("0193"); err != nil || r.Seq != 3 {
		t.Errorf("a whole id that others begin with = %+v, %v", r, err)
	}
	var many *AmbiguousError
	if _, err := b.Find("0193a"); !errors.As(err, &many) || len(many.Calls) != 2 {
		t.Errorf("find = %v", err)
	}
	for _, none := range []string{"", "x"} {
		if _, err := b.Find(none); !errors.Is(err, ErrNoCall) {
			t.Errorf("find %q = %v", none, err)
		}
	}
}

func TestBookLetsTheOldestGoAndSaysHowMany(t *testing.T) {
	b := NewBook(3)
	b.AddOlder([]Event{started(3, "c", "t", ""), started(2, "b", "t", ""), started(1, "a", "t", "")}, false)
	b.Add([]Event{started(4, "d", "t", ""), started(5, "e", "t", "")})
	if got := calls(b.Select(Filter{})); got != "e d c" || b.Cut() != 2 || b.Whole() {
		t.Errorf("holds %q, cut %d, whole %v", got, b.Cut(), b.Whole())
	}
	b.Add([]Event{started(6, "f", "t", ""), started(7, "g", "t", ""), started(8, "h", "t", "")})
	if got := calls(b.Select(Filter{})); got != "h g f" || b.Cut() != 5 || len(b.byCall) != 3 {
		t.Errorf("holds %q, cut %d, known %d", got, b.Cut(), len(b.byCall))
	}
}

// TestBookIsTheSameHoweverItWasRead splits a history into what the tail gives
// and what the follower gives, at any place.
func TestBookIsTheSameHoweverItWasRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var events []Event
		seq := int64(0)
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, 29), 0, 40).Draw(t, "events") {
			seq++
			call := fmt.Sprint(n / 3)
			switch n % 3 {
			case 0:
				events = append(events, started(seq, call, "t", "x"))
			case 1:
				events = append(events, ended(seq, call, outcome.Failed))
			default:
				events = append(events, Event{Seq: seq, Progress: &Progress{Call: call, Done: seq}})
			}
		}
		events = plausible(events)
		at := rapid.IntRange(0, len(events)).Draw(t, "split")
		step := rapid.IntRange(1, 9).Draw(t, "step")
		before := slices.Clone(events[:at])
		slices.Reverse(before)
		b := NewBook(0)
		late := rapid.Bool().Draw(t, "older first")
		if !late {
			b.Add(events[at:])
		}
		for i := 0; i < len(before) || i == 0; i += step {
			b.AddOlder(before[min(i, len(before)):min(i+step, len(before))], i+step < len(before))
		}
		if late {
			b.Add(events[at:])
		}
		want := wholeBook(events...)
		if got, want := listing(b), listing(want); got != want {
			t.Fatalf("split at %d:\ngot  %s\nwant %s", at, got, want)
		}
	})
}

// plausible leaves out what writers do not write: a second start or end, and
// anything of a call before its start.
func plausible(events []Event) []Event {
	state := map[string]int{}
	return slices.DeleteFunc(events, func(e Event) bool {
		switch {
		case e.Start != nil:
			state[e.Start.Call]++
			return state[e.Start.Call] != 1
		case e.End != nil && state[e.End.Call] == 1:
			state[e.End.Call] = 2
			return false
		case e.Progress != nil && state[e.Progress.Call] == 1:
			return false
		}
		return true
	})
}

func listing(b *Book) string {
	var s strings.Builder
	for i := range b.Len() {
		r := b.At(i)
		fmt.Fprintf(&s, "%d:%s %v", r.Seq, r.Start.Call, r.State())
		if r.Progress != nil {
			fmt.Fprintf(&s, " %d", r.Progress.Done)
		}
		s.WriteString("; ")
	}
	return s.String()
}

func TestDetailIsReadFromTheFileAlsoAfterItWasRenamed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	j := open(t, dir, Options{MaxFile: 2 << 10, MaxInline: 100})
	tail, f, err := OpenTail(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := NewBook(0)
	if err := b.Fill(tail, 10); err != nil {
		t.Fatal(err)
	}
	big := json.RawMessage(`{"output":"` + strings.Repeat("o", 500) + `"}`)
	for i := range 20 {
		id := fmt.Sprint("call", i)
		j.Begin(begin(id))
		b.Add(poll(t, f)) // its place is known before the file is renamed
		e := end(id, outcome.Complete)
		if i%2 == 0 {
			e.Result = big
		}
		j.End(e)
	}
	b.Add(poll(t, f))
	trouble(t, j)
	if b.Len() != 20 {
		t.Fatalf("%d calls", b.Len())
	}
	for i := range b.Len() {
		r := b.At(i)
		if r.Start.Args != nil || r.End.Result != nil {
			t.Fatal("the book holds arguments or a result")
		}
		s, e, err := Detail(dir, r)
		if err != nil || string(s.Args) != `{"command":"echo"}` || s.Call != r.Start.Call {
			t.Errorf("detail of %s: %s, %v", r.Start.Call, s.Args, err)
		}
		if want := len(big); i%2 == 1 && len(e.Result) != want {
			t.Errorf("result of %s has %d bytes, want %d", r.Start.Call, len(e.Result), want)
		}
	}
	if err := os.Remove(filepath.Join(dir, oldName(1))); err != nil {
		t.Fatal(err)
	}
	if s, _, err := Detail(dir, b.At(19)); !errors.Is(err, ErrMoved) || s.Title != "echo call0" {
		t.Errorf("detail of what was removed: %+v, %v", s, err)
	}
}

func TestExportWritesWholeCallsOneALine(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	j := open(t, dir, Options{MaxInline: 100})
	j.Begin(begin("a"))
	j.Begin(begin("b"))
	j.Begin(begin("c"))
	e := end("b", outcome.Failed)
	e.Result = json.RawMessage(`{"output":"` + strings.Repeat("<b>", 100) + `"}`)
	j.End(e)
	j.End(end("a", outcome.Complete))
	trouble(t, j)
	var out bytes.Buffer
	if err := Export(&out, dir, "jsonl", Filter{}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for l := range strings.Lines(out.String()) {
		var x struct {
			Call, State string
			Start       *Start
			End         *End
		}
		if err := json.Unmarshal([]byte(l), &x); err != nil || x.Start == nil || x.Start.Args == nil {
			t.Fatalf("%s: %v", l, err)
		}
		got = append(got, x.Call+" "+x.State)
	}
	if want := []string{"b failed", "a complete", "c running"}; !slices.Equal(got, want) {
		t.Errorf("exported %q, want %q", got, want)
	}
	if !strings.Contains(out.String(), "<b><b>") {
		t.Error("a result that lay in a file of its own is not whole")
	}
	out.Reset()
	if err := Export(&out, dir, "jsonl", Filter{Bad: true}); err != nil || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("only the bad ones: %q, %v", out.String(), err)
	}
	if err := Export(&out, dir, "xml", Filter{}); err == nil {
		t.Error("an unknown format was taken")
	}
}
