package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/honestty/honestty/internal/leak"
	"github.com/honestty/honestty/outcome"
)

// poll returns what the follower gives until there is nothing new.
func poll(t *testing.T, f *Follower) []Event {
	t.Helper()
	var out []Event
	for {
		events, err := f.Poll()
		if err != nil {
			t.Fatal(err)
		}
		if len(events) == 0 {
			return out
		}
		out = append(out, events...)
	}
}

func follow(t *testing.T, dir string) *Follower {
	t.Helper()
	f, err := Follow(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

// all reads a tail to its end and returns its events oldest first.
func all(t *testing.T, tail *Tail, budget int) []Event {
	t.Helper()
	var out []Event
	for more := true; more; {
		var events []Event
		var err error
		if events, more, err = tail.Chunk(budget); err != nil {
			t.Fatal(err)
		}
		out = append(out, events...)
	}
	slices.Reverse(out)
	return out
}

func TestFollowerGivesEachEventOnceOverRenamedFiles(t *testing.T) {
	before := leak.Take(t)
	dir := filepath.Join(t.TempDir(), "journal")
	f := follow(t, dir) // there is no folder yet
	if events, err := f.Poll(); events != nil || err != nil {
		t.Errorf("poll of nothing = %v, %v", events, err)
	}
	j := open(t, dir, Options{MaxFile: 2 << 10})
	var got []Event
	for i := range 100 {
		j.Begin(begin(fmt.Sprint(i)))
		if i%17 == 0 { // sometimes several files behind
			got = append(got, poll(t, f)...)
		}
	}
	got = append(got, poll(t, f)...)
	trouble(t, j)
	wantWhole(t, got)
	if len(got) != 100 || got[0].Start.Args == nil {
		t.Errorf("%d events, want 100 with arguments", len(got))
	}
	f.Close()
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	before.Check(t)
}

func TestFollowerBesideWritersMissesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	j := open(t, dir, Options{MaxFile: 8 << 10})
	j.Begin(begin("first"))
	tail, f, err := OpenTail(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	defer tail.Close()
	var wg sync.WaitGroup
	const writers, each = 4, 100
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				j.Begin(begin(fmt.Sprintf("%d-%d", w, i)))
			}
		})
	}
	got := all(t, tail, 1<<10)
	for len(got) < 1+writers*each {
		events, err := f.Poll()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, events...)
	}
	wg.Wait()
	wantWhole(t, append(got, poll(t, f)...))
}

func TestFollowerSaysThatTheJournalWasCutOrReplaced(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	path := filepath.Join(dir, currentName)
	j := open(t, dir, Options{})
	j.Begin(begin("a"))
	j.Begin(begin("b"))
	f := follow(t, dir)
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if got := brief(poll(t, f)); got != "0?-1" {
		t.Errorf("after a cut: %q", got)
	}
	j.Begin(begin("c"))
	if got := brief(poll(t, f)); got != "1?2 3?-1 4+c" {
		t.Errorf("after a cut and an event: %q", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := poll(t, f); got != nil {
		t.Errorf("after removal: %v", got)
	}
	j.Begin(begin("d"))
	if got := brief(poll(t, f)); got != "5?-1 6+d" {
		t.Errorf("after removal and an event: %q", got)
	}
}

func TestPollLeavesAPartOfALineUntilItsEnd(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	path := filepath.Join(dir, currentName)
	open(t, dir, Options{}).Begin(begin("a"))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	second := strings.Replace(string(whole), `"seq":1`, `"seq":2`, 1)
	if err := os.WriteFile(path, []byte(string(whole)+second[:30]), 0o600); err != nil {
		t.Fatal(err)
	}
	f := follow(t, dir)
	if got := poll(t, f); got != nil {
		t.Errorf("a part was given: %v", got)
	}
	if err := os.WriteFile(path, []byte(string(whole)+second), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := brief(poll(t, f)); got != "2+a" {
		t.Errorf("after the end of the line: %q", got)
	}
}

func TestBackwardGivesTheSameAsForward(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	j := open(t, dir, Options{MaxFile: 30 << 10, MaxInline: 20 << 10})
	for i := range 60 {
		id := fmt.Sprint(i)
		s := begin(id)
		s.Args = json.RawMessage(`"` + strings.Repeat("z", i*300) + `"`)
		j.Begin(s)
		j.End(end(id, outcome.Failed))
	}
	trouble(t, j)
	want := brief(read(t, dir))
	for _, budget := range []int{1, 5 << 10, 1 << 20} {
		tail, f, err := OpenTail(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := brief(all(t, tail, budget)); got != want {
			t.Errorf("budget %d:\ngot  %s\nwant %s", budget, got, want)
		}
		tail.Close()
		f.Close()
	}
}

func TestMissingNumbersAndForeignLinesAreTold(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	j := open(t, dir, Options{})
	for _, id := range []string{"a", "b", "c", "d"} {
		j.Begin(begin(id))
	}
	l := lines(t, dir)
	for _, c := range []struct {
		lines []string
		want  string
	}{
		{[]string{l[0], l[3]}, "1+a 2?2 4+d"},
		{[]string{l[1], l[2]}, "1?1 2+b 3+c"},
		{[]string{l[0], "noise", l[1]}, "1+a 0?-1 2+b"},
		{[]string{l[0], l[1][:20], l[2]}, "1+a 2?1 3+c"},
		{[]string{l[0], l[1], l[0]}, "1+a 2+b 0?-1 1+a"},
		{[]string{l[0], ""}, "1+a 0?-1"},
		{[]string{l[0], "{}"}, "1+a 0?-1"},
		{[]string{"", l[0]}, "0?-1 1+a"},
	} {
		if err := os.WriteFile(filepath.Join(dir, currentName), []byte(strings.Join(c.lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := brief(read(t, dir)); got != c.want {
			t.Errorf("%.60q: %q, want %q", c.lines, got, c.want)
		}
	}
}

func TestLineThatIsTooLongIsPassedOver(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	open(t, dir, Options{}).Begin(begin("a"))
	first := lines(t, dir)[0]
	second := strings.Replace(first, `"seq":1`, `"seq":2`, 1)
	long := strings.Repeat("x", 3*maxLine)
	if err := os.WriteFile(filepath.Join(dir, currentName), []byte(first+"\n"+long+"\n"+second+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := brief(read(t, dir)); got != "1+a 0?-1 2+a" {
		t.Errorf("forward: %q", got)
	}
	tail, f, err := OpenTail(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := brief(all(t, tail, 1<<20)); got != "1+a 0?-1 2+a" {
		t.Errorf("backward: %q", got)
	}
}

func TestLargeResultLiesInAFileOfItsOwn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	j := open(t, dir, Options{})
	want := json.RawMessage(`{"output":"` + strings.Repeat("long ", 100_000) + `","capture":{"state":"truncated"}}`)
	j.Begin(begin("big"))
	j.End(End{Call: "big", Status: outcome.Complete, Result: want})
	j.Begin(begin("../evil"))
	j.End(End{Call: "../evil", Status: outcome.Complete, Result: want})
	trouble(t, j)
	events := read(t, dir)
	e := events[1].End
	if len(e.Result) > 200 || e.Capture == nil || *e.Capture != outcome.StateTruncated {
		t.Errorf("result in the event: %s, capture %v", e.Result, e.Capture)
	}
	for _, i := range []int{1, 3} {
		if got, err := Resolve(dir, events[i].End.Result); err != nil || string(got) != string(want) {
			t.Errorf("resolve = %d bytes, %v", len(got), err)
		}
	}
	if names, _ := os.ReadDir(filepath.Dir(dir)); len(names) != 1 {
		t.Errorf("a call's id led out of the folder: %v", names)
	}
	if err := os.Truncate(filepath.Join(dir, resultsName, "big.result.json"), 100); err != nil {
		t.Fatal(err)
	}
	if got, err := Resolve(dir, e.Result); !errors.Is(err, ErrSpilled) || string(got) != string(e.Result) {
		t.Errorf("resolve of what was cut = %s, %v", got, err)
	}
	for _, raw := range []string{`{"spilled":"../../etc/passwd","bytes":5}`, `{"spilled":"results/../../x","bytes":5}`, `{"spilled":true}`, `null`} {
		if got, err := Resolve(dir, json.RawMessage(raw)); err != nil || string(got) != raw {
			t.Errorf("resolve of %s = %s, %v", raw, got, err)
		}
	}
}

func TestLargeResultsAloneAreKeptWithinTheTotal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	j := open(t, dir, Options{MaxTotal: 32 << 10, MaxInline: 100})
	raw := json.RawMessage(`"` + strings.Repeat("r", 1000) + `"`)
	for i := range 100 {
		j.End(End{Call: fmt.Sprint(i), Status: outcome.Complete, Result: raw})
	}
	trouble(t, j)
	names, err := os.ReadDir(filepath.Join(dir, resultsName))
	if err != nil || len(names) < 5 || len(names) > 34 {
		t.Errorf("%d results are kept, %v", len(names), err)
	}
	wantWhole(t, read(t, dir))
	last := read(t, dir)[99].End
	if got, err := Resolve(dir, last.Result); err != nil || len(got) != len(raw) {
		t.Errorf("the newest result: %d bytes, %v", len(got), err)
	}
}

func TestEventHoldsItsArgumentsAsTheyCame(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	j := open(t, dir, Options{})
	s := begin("a")
	s.Args = json.RawMessage(`{"command":"a <b> && c"}`)
	j.Begin(s)
	if got := read(t, dir)[0].Start.Args; string(got) != string(s.Args) {
		t.Errorf("arguments = %s", got)
	}
}

func TestLongTextsAreCutAtACharacter(t *testing.T) {
	if got := cut(strings.Repeat("é", 10), 10); got != "ééé…" {
		t.Errorf("cut = %q", got)
	}
	if got := cut("short", 10); got != "short" {
		t.Errorf("cut = %q", got)
	}
}

// TestLightDecodingAgreesWithTheWhole holds the quick decoder against the
// standard one, for events that were written by us.
func TestLightDecodingAgreesWithTheWhole(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	j := open(t, dir, Options{})
	s := begin("a\"\\\u2028é")
	s.Title, s.Live, s.Redacted = "<b>\t\"quoted\\\"", "/x", 3
	s.Source = Source{Kind: "mcp", Agent: "codex", Session: "s", Dir: "/d", PID: 1, Window: 2, Pane: 3}
	s.Args = json.RawMessage(`{"a":["]","}","\\\"",{"b":[1,2.5e3,null,true]}],"call":"no"}`)
	j.Begin(s)
	j.Progress(Progress{Call: "p", Done: 5, Total: 9, What: "w"})
	lost := outcome.StateLost
	j.End(End{Call: "e", Status: outcome.Partial, Error: "x\ny", Summary: "s", Result: s.Args, DurationMS: 12, Redacted: 1, Capture: &lost, Checks: []Check{{"n", "c", "s", outcome.Failed}}})
	trouble(t, j)
	for i, text := range lines(t, dir) {
		whole, err := newDecoder(true).decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		light, err := newDecoder(false).decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if whole.Start != nil {
			whole.Start.Args = nil
		}
		if whole.End != nil {
			whole.End.Result = nil
		}
		a, _ := json.Marshal(whole)
		b, _ := json.Marshal(light)
		if string(a) != string(b) {
			t.Errorf("line %d:\nwhole %s\nlight %s", i, a, b)
		}
		for n := range text {
			if e, err := newDecoder(false).decode([]byte(text[:n])); err == nil {
				t.Errorf("%d bytes of line %d were taken for %s", n, i, brief([]Event{e}))
			}
		}
	}
}

// FuzzRead opens a journal of any bytes: every reader ends, and an event that
// is written then is read as the last one.
func FuzzRead(f *testing.F) {
	dir := filepath.Join(f.TempDir(), "journal")
	j, err := Open(dir, Options{})
	if err != nil {
		f.Fatal(err)
	}
	j.Begin(begin("a"))
	j.End(end("a", outcome.Complete))
	if err := j.Close(); err != nil {
		f.Fatal(err)
	}
	seed, err := os.ReadFile(filepath.Join(dir, currentName))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add(seed[:len(seed)-9])
	f.Add([]byte("\n\n{\"seq\":9223372036854775807,\"gap\":{}}\n{\"seq\":1,"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		dir := filepath.Join(t.TempDir(), "journal")
		if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, currentName), raw, 0o600)); err != nil {
			t.Fatal(err)
		}
		read(t, dir)
		tail, fol, err := OpenTail(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer fol.Close()
		b := NewBook(0)
		if err := b.Fill(tail, 1<<30); err != nil {
			t.Fatal(err)
		}
		tail.Close()
		j, err := Open(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		j.Begin(begin("last"))
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		events := read(t, dir)
		if e := events[len(events)-1]; e.Start == nil || e.Start.Call != "last" {
			t.Fatalf("the last event is %s", brief(events))
		}
		if got := poll(t, fol); len(got) == 0 || got[len(got)-1].Start == nil {
			t.Fatalf("the follower gave %s", brief(got))
		}
	})
}
