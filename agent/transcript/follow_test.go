package transcript

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/honestty/honestty/agent/claims"
	"github.com/honestty/honestty/internal/leak"
	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/safepath"
)

func TestFollowingTwiceTellsNothingTwice(t *testing.T) {
	for _, name := range []string{"claude.jsonl", "codex.jsonl", "gemini.jsonl"} {
		agent := map[string]string{"claude.jsonl": ClaudeCode, "codex.jsonl": Codex, "gemini.jsonl": Gemini}[name]
		path := corpus(t, name)
		o := Options{Cursors: t.TempDir()}
		h, _ := once(t, agent, path, o)
		again, c := once(t, agent, path, o)
		if len(again.starts) != 0 || c.Records != 0 || c.Restarts != 0 {
			t.Errorf("%s: the second time told\n%s and counted %+v", name, again.told(), c)
		}
		fresh, _ := once(t, agent, path, Options{})
		for i := range fresh.starts {
			if fresh.starts[i].Call != h.starts[i].Call {
				t.Errorf("%s: call %d has the ids %s and %s", name, i, h.starts[i].Call, fresh.starts[i].Call)
			}
		}
	}
}

func TestAnyPlaceIsWhereFollowingGoesOn(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("testdata", "claude.jsonl"))
	must(t, err)
	whole, _ := once(t, ClaudeCode, corpus(t, "claude.jsonl"), Options{})
	for cut := 0; cut <= len(raw); cut += 97 {
		path := t.TempDir() + "/x.jsonl"
		o := Options{Cursors: t.TempDir()}
		appendTo(t, path, string(raw[:cut]))
		a, _ := once(t, ClaudeCode, path, o)
		appendTo(t, path, string(raw[cut:]))
		b, c := once(t, ClaudeCode, path, o)
		both := &heap{starts: append(a.starts, b.starts...), ends: append(a.ends, b.ends...)}
		for i, line := range strings.Split(whole.told(), "\n") {
			if got := strings.Split(both.told(), "\n"); i >= len(got) || cutLast(got[i]) != cutLast(line) {
				t.Fatalf("cut at %d: told\n%swant\n%s", cut, both.told(), whole.told())
			}
		}
		if c.Orphans > 1 || c.Restarts > 0 {
			t.Fatalf("cut at %d: counts %+v", cut, c)
		}
	}
}

// cutLast leaves out how often a call ended: one that was open when the first
// run stopped was told as unknown then.
func cutLast(line string) string { return line[:max(strings.LastIndexByte(line, '|'), 0)] }

func TestCallsAreToldAsTheyCome(t *testing.T) {
	path := t.TempDir() + "/x.jsonl"
	f := follow(t, ClaudeCode, path, Options{}) // the file comes later
	one, two := bash(1, "one", "x"), bash(2, "two", "y")
	appendTo(t, path, one[0]+"\n"+one[1][:50])
	appendTo(t, path, one[1][50:])
	appendTo(t, path, "\n")
	f.wait(t, 1)
	appendTo(t, path, two[0]+"\n"+two[1]+"\n")
	f.wait(t, 1)
	f.stop()
	if got, want := f.told(), "Bash|one|complete|1\nBash|two|complete|1\n"; got != want {
		t.Errorf("told:\n%s", got)
	}
	if c := f.counts(); c.Torn != 0 || c.Restarts != 0 {
		t.Errorf("counts %+v", c)
	}
}

func TestATruncatedFileIsReadAnew(t *testing.T) {
	path := t.TempDir() + "/x.jsonl"
	one, two, three := bash(1, "one", "x"), bash(2, "two", "y"), bash(3, "three", "z")
	write(t, path, append(one, two...)...)
	f := follow(t, ClaudeCode, path, Options{})
	f.wait(t, 2)
	must(t, os.Truncate(path, 0))
	appendTo(t, path, strings.Join(append(one, three...), "\n")+"\n")
	f.wait(t, 1)
	f.stop()
	if got, want := f.told(), "Bash|one|complete|1\nBash|two|complete|1\nBash|three|complete|1\n"; got != want {
		t.Errorf("told:\n%s", got)
	}
}

func TestARewrittenFileOfTheSameLengthOrMoreIsNoticed(t *testing.T) {
	path := t.TempDir() + "/x.jsonl"
	one, two := bash(1, "one", "x"), bash(2, "two", "y")
	write(t, path, one...)
	o := Options{Cursors: t.TempDir()}
	h, _ := once(t, ClaudeCode, path, o)
	f, err := os.OpenFile(path, os.O_WRONLY, 0) // the same file, another content
	must(t, err)
	_, err = f.WriteAt([]byte(strings.Join(append([]string{`{"type":"summary"}`}, append(one, two...)...), "\n")+"\n"), 0)
	must(t, errors.Join(err, f.Close()))
	again, c := once(t, ClaudeCode, path, o)
	if got, want := again.told(), "Bash|two|complete|1\n"; got != want || c.Restarts != 1 {
		t.Errorf("told %q, counts %+v", got, c)
	}
	if len(h.ends) != 1 {
		t.Errorf("first told:\n%s", h.told())
	}
}

func TestAReplacedFileIsReadToItsEndFirst(t *testing.T) {
	dir := t.TempDir()
	path := dir + "/x.jsonl"
	one, two, three := bash(1, "one", "x"), bash(2, "two", "y"), bash(3, "three", "z")
	write(t, path, one...)
	f := follow(t, ClaudeCode, path, Options{})
	f.wait(t, 1)
	// The last of the old file and the new file come in one moment.
	appendTo(t, path, strings.Join(two, "\n")+"\n")
	write(t, dir+"/new", three...)
	must(t, os.Rename(path, dir+"/old"))
	must(t, os.Rename(dir+"/new", path))
	f.wait(t, 2)
	must(t, os.Remove(path))
	write(t, path, bash(4, "four", "w")...)
	f.wait(t, 1)
	f.stop()
	const want = "Bash|one|complete|1\nBash|two|complete|1\nBash|three|complete|1\nBash|four|complete|1\n"
	if got := f.told(); got != want {
		t.Errorf("told:\n%s", got)
	}
	if c := f.counts(); c.Restarts == 0 {
		t.Errorf("counts %+v", c)
	}
}

func TestLinesThatAreTooLongAreCountedAndPassedOver(t *testing.T) {
	path := t.TempDir() + "/x.jsonl"
	long := `{"type":"user","x":"` + strings.Repeat("y", MaxLine) + `"}`
	write(t, path, append(append(bash(1, "one", "x"), long), bash(2, "two", "y")...)...)
	h, c := once(t, ClaudeCode, path, Options{})
	if got, want := h.told(), "Bash|one|complete|1\nBash|two|complete|1\n"; got != want || c.TooLong != 1 || c.Torn != 0 {
		t.Errorf("told %q, counts %+v", got, c)
	}
	// One that has no end yet costs no memory either.
	appendTo(t, path, strings.Repeat("z", 3*MaxLine))
	f, err := newFollower(t.Context(), Session{Agent: ClaudeCode, Path: path}, &heap{}, Options{})
	must(t, err)
	defer f.close()
	_, err = f.poll()
	must(t, err)
	if n := cap(f.lines.buf); n > 2*MaxLine {
		t.Errorf("a line without an end holds %s", outcome.Size(int64(n)))
	}
	_, c = once(t, ClaudeCode, path, Options{})
	if c.TooLong != 1 {
		t.Errorf("a line without an end is counted before it ends: %+v", c)
	}
	appendTo(t, path, "\n"+strings.Join(bash(3, "three", "z"), "\n")+"\n")
	h, c = once(t, ClaudeCode, path, Options{})
	if !strings.HasSuffix(h.told(), "Bash|three|complete|1\n") || c.TooLong != 2 {
		t.Errorf("told %q, counts %+v", h.told(), c)
	}
}

func TestNewPassesOverWhatIsThere(t *testing.T) {
	path := t.TempDir() + "/x.jsonl"
	write(t, path, bash(1, "one", "x")...)
	two := bash(2, "two", "y")
	appendTo(t, path, two[0][:20]) // a line that is being written counts as new
	o := Options{New: true, Cursors: t.TempDir()}
	if h, _ := once(t, ClaudeCode, path, o); len(h.starts) != 0 {
		t.Errorf("told:\n%s", h.told())
	}
	appendTo(t, path, two[0][20:]+"\n"+two[1]+"\n")
	if h, _ := once(t, ClaudeCode, path, o); h.told() != "Bash|two|complete|1\n" {
		t.Errorf("told:\n%s", h.told())
	}
}

func TestAnOpenCallEndsInALaterRun(t *testing.T) {
	path := t.TempDir() + "/x.jsonl"
	one := bash(1, "one", "x")
	write(t, path, one[0])
	o := Options{Cursors: t.TempDir()}
	h, c := once(t, ClaudeCode, path, o)
	if got := h.told(); got != "Bash|one|unknown|1\n" || c.Open != 1 {
		t.Fatalf("told %q, counts %+v", got, c)
	}
	if e := h.ends[0]; e.Error == "" {
		t.Error("unknown without a reason")
	}
	appendTo(t, path, one[1]+"\n")
	again, c := once(t, ClaudeCode, path, o)
	if len(again.starts) != 0 || len(again.ends) != 1 || again.ends[0].Status != outcome.Complete || again.ends[0].Call != h.starts[0].Call || c.Orphans != 0 {
		t.Errorf("told %+v %+v, counts %+v", again.starts, again.ends, c)
	}
}

func TestOneProcessFollowsATranscript(t *testing.T) {
	path := t.TempDir() + "/x.jsonl"
	write(t, path, bash(1, "one", "x")...)
	o := Options{Cursors: t.TempDir()}
	f := follow(t, ClaudeCode, path, o)
	f.wait(t, 1)
	err := Follow(t.Context(), Session{Agent: ClaudeCode, Path: path}, &heap{}, o)
	if !errors.Is(err, ErrFollowed) {
		t.Errorf("err = %v, want ErrFollowed", err)
	}
	f.stop()
	if h, _ := once(t, ClaudeCode, path, o); len(h.starts) != 0 {
		t.Errorf("told again:\n%s", h.told())
	}
}

func TestSeveralAreFollowedAtOnceAndNothingIsLeft(t *testing.T) {
	was := leak.Take(t)
	dir := t.TempDir()
	var all []following
	for i := range 20 {
		path := fmt.Sprintf("%s/%d.jsonl", dir, i)
		write(t, path, bash(i, fmt.Sprint("command ", i), "x")...)
		all = append(all, follow(t, ClaudeCode, path, Options{Cursors: dir + "/cursors"}))
	}
	for i, f := range all {
		f.wait(t, 1)
		f.stop()
		if got, want := f.told(), fmt.Sprintf("Bash|command %d|complete|1\n", i); got != want {
			t.Errorf("told %q, want %q", got, want)
		}
	}
	was.Check(t)
}

func TestOpenCallsAreBounded(t *testing.T) {
	path := t.TempDir() + "/x.jsonl"
	var lines []string
	for i := range maxOpen + 100 {
		lines = append(lines, claudeUse(i, fmt.Sprintf("toolu_%020d", i), "Bash", `{"command":"x"}`))
	}
	for i := range 500 {
		lines = append(lines, fmt.Sprintf(`{"type":"kind %d"}`, i))
	}
	write(t, path, lines...)
	h, c := once(t, ClaudeCode, path, Options{})
	if c.Open != maxOpen || c.Forgot != 100 || len(h.ends) != maxOpen+100 {
		t.Errorf("%d ends, counts: open %d, forgot %d", len(h.ends), c.Open, c.Forgot)
	}
	if len(c.Strange) != maxStrange+1 || c.Strange[otherKinds] != 500-maxStrange {
		t.Errorf("%d names of kinds, %d others", len(c.Strange), c.Strange[otherKinds])
	}
}

func TestWhatWasToldLastIsBounded(t *testing.T) {
	var r recent
	id := func(i int) string { return fmt.Sprint("call ", i) }
	for i := range 2*recentSize + 7 {
		r.add(id(i))
		r.add(id(i))
	}
	if len(r.ids) != recentSize || len(r.ring) != recentSize {
		t.Errorf("%d ids and %d places, want %d", len(r.ids), len(r.ring), recentSize)
	}
	if !r.has(id(2*recentSize+6)) || !r.has(id(recentSize+7)) || r.has(id(recentSize+6)) {
		t.Error("not the last ones are remembered")
	}
}

func TestAQuietTranscriptIsStaleAndMayGoOn(t *testing.T) {
	path := t.TempDir() + "/x.jsonl"
	one := bash(1, "one", "x")
	write(t, path, one[0])
	clock := time.Now().Add(quiet + time.Minute)
	f := follow(t, ClaudeCode, path, Options{now: func() time.Time { return clock }})
	f.wait(t, 1)
	if e := f.end(t, "one"); e.Status != outcome.Unknown || !strings.Contains(e.Error, "stale since") {
		t.Errorf("%+v", e)
	}
	appendTo(t, path, one[1]+"\n")
	f.wait(t, 1)
	if e := f.end(t, "one"); e.Status != outcome.Complete {
		t.Errorf("%+v", e)
	}
	f.stop()
	if len(f.resumed) != 1 || f.resumed[0].Title != "one" {
		t.Errorf("resumed %+v: who prints lines cannot name the call", f.resumed)
	}
}

func TestAContradictionInATranscriptIsFound(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(dir+"/full.txt", []byte("hello"), 0o600))
	later := func(n int) string {
		return time.Now().Add(time.Hour + time.Duration(n)*time.Second).UTC().Format(time.RFC3339Nano)
	}
	path := t.TempDir() + "/x.jsonl"
	use := strings.Replace(claudeUse(1, "toolu_00000000000000000001", "Read", fmt.Sprintf(`{"file_path":%q}`, dir+"/full.txt")), stamp(1), later(1), 1)
	result := strings.Replace(claudeResult(2, "toolu_00000000000000000001", `""`, false, fmt.Sprintf(`{"type":"text","file":{"filePath":%q,"content":"","numLines":1,"startLine":1,"totalLines":1}}`, dir+"/full.txt")), stamp(2), later(2), 1)
	write(t, path, use, result)
	h, _ := once(t, ClaudeCode, path, Options{Claims: claims.Deps{Policy: safepath.Policy{Home: dir}}})
	e := h.end(t, dir+"/full.txt")
	if len(e.Checks) != 1 || e.Checks[0].Verdict != outcome.Failed || e.Status != outcome.Failed {
		t.Errorf("%+v", e)
	}
}

func TestTheJournalTakesATranscript(t *testing.T) {
	dir := t.TempDir()
	j, err := journal.Open(dir, journal.Options{})
	must(t, err)
	must(t, Follow(t.Context(), Session{Agent: ClaudeCode, ID: "x", Path: corpus(t, "claude.jsonl")}, j, Options{Once: true}))
	must(t, errors.Join(j.Trouble(), j.Close()))
	b := journal.NewBook(0)
	for e, err := range journal.Read(dir) {
		must(t, err)
		b.Add([]journal.Event{e})
	}
	if b.Len() != 6 || len(b.Gaps()) != 0 {
		t.Errorf("%d calls, gaps %v", b.Len(), b.Gaps())
	}
}

func TestSessionsAreFoundNewestFirst(t *testing.T) {
	home := t.TempDir()
	put := func(name, source string, age time.Duration) {
		path := filepath.Join(home, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		raw, err := os.ReadFile(filepath.Join("testdata", source))
		must(t, err)
		must(t, os.WriteFile(path, raw, 0o600))
		at := time.Now().Add(-age)
		must(t, os.Chtimes(path, at, at))
	}
	const claudeID, codexID = "5b0c0001-0000-4000-8000-000000000001", "0199aaaa-0000-7000-8000-000000000002"
	put(".claude/projects/-srv-x/"+claudeID+".jsonl", "claude.jsonl", 3*time.Hour)
	put(".claude/projects/-srv-x/"+claudeID+"/subagents/agent-1.jsonl", "claude.jsonl", 2*time.Hour)
	put(".codex/sessions/2026/01/02/rollout-2026-01-02T03-00-00-"+codexID+".jsonl", "codex.jsonl", 1*time.Hour)
	put(".gemini/tmp/c21e/chats/session-2026-01-02T03-00-9f5659bb.jsonl", "gemini.jsonl", 0)
	put(".gemini/tmp/c21e/logs.json", "gemini.jsonl", 0)
	put(".claude/history.jsonl", "claude.jsonl", 0)
	must(t, os.Symlink("/dev/zero", filepath.Join(home, ".claude/projects/-srv-x/link.jsonl")))
	found, err := Find(home)
	must(t, err)
	var got []string
	for _, s := range found {
		got = append(got, strings.Join([]string{s.Agent, s.ID, s.Parent, s.Dir}, " "))
	}
	want := []string{
		"gemini 9f5659bb  /", "codex " + codexID + "  /", "claude-code agent-1 " + claudeID + " /", "claude-code " + claudeID + "  /",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("found:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, s := range found {
		if at, err := At(s.Path, ""); err != nil || at.Agent != s.Agent {
			t.Errorf("%s is taken for one of %q: %v", s.Path, at.Agent, err)
		}
	}
	if none, err := Find(t.TempDir()); err != nil || len(none) != 0 {
		t.Errorf("an empty home has %v, %v", none, err)
	}
}

func TestWhatIsNoTranscriptIsRefused(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	must(t, os.WriteFile(text, []byte("hello\n"), 0o600))
	if _, err := At(text, ""); !errors.Is(err, ErrNotTranscript) {
		t.Errorf("a text: %v", err)
	}
	for _, path := range []string{dir, dir + "/none", "/dev/null"} {
		if _, err := At(path, ""); err == nil {
			t.Errorf("%s is a transcript", path)
		}
	}
	if _, err := At(text, "nobody"); err == nil {
		t.Error("an agent that is not known has a transcript")
	}
}

// TestAHundredThousandRecordsCostNoMemory also says how long it took; see the
// benchmarks for figures.
func TestAHundredThousandRecordsCostNoMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes a file of 50 MB")
	}
	path := t.TempDir() + "/x.jsonl"
	const n = 50_000
	manyRecords(t, path, n)
	runtime.GC()
	var was, is runtime.MemStats
	runtime.ReadMemStats(&was)
	var sink count
	began := time.Now()
	f, err := newFollower(t.Context(), Session{Agent: ClaudeCode, Path: path}, &sink, Options{})
	must(t, err)
	defer f.close()
	for more := true; more; {
		more, err = f.poll()
		must(t, err)
	}
	took := time.Since(began)
	runtime.GC()
	runtime.ReadMemStats(&is)
	if sink.starts != n || sink.ends != n {
		t.Fatalf("%d begin and %d end, want %d", sink.starts, sink.ends, n)
	}
	const most = 8 << 20
	if grown := int64(is.HeapAlloc) - int64(was.HeapAlloc); grown > most {
		t.Errorf("the heap grew by %s, want at most %s", outcome.Size(grown), outcome.Size(most))
	}
	t.Logf("%d records in %v, heap %s more", 2*n, took, outcome.Size(max(int64(is.HeapAlloc)-int64(was.HeapAlloc), 0)))
}

type count struct{ starts, ends int }

func (c *count) Begin(journal.Start)       { c.starts++ }
func (c *count) Progress(journal.Progress) {}
func (c *count) End(journal.End)           { c.ends++ }

func manyRecords(t testing.TB, path string, n int) {
	t.Helper()
	f, err := os.Create(path)
	must(t, err)
	var b strings.Builder
	for i := range n {
		for _, line := range bash(i, "some command that is of usual length --with=flags", strings.Repeat("x", 100)) {
			b.WriteString(line)
			b.WriteByte('\n')
		}
		if b.Len() > 1<<20 || i == n-1 {
			_, err = f.WriteString(b.String())
			must(t, err)
			b.Reset()
		}
	}
	must(t, f.Close())
}

// BenchmarkIdle is one look at a transcript to which nothing came.
func BenchmarkIdle(b *testing.B) {
	path := b.TempDir() + "/x.jsonl"
	manyRecords(b, path, 1000)
	f, err := newFollower(b.Context(), Session{Agent: ClaudeCode, Path: path}, &count{}, Options{})
	must(b, err)
	defer f.close()
	for more := true; more; {
		more, err = f.poll()
		must(b, err)
	}
	for b.Loop() {
		if _, err := f.poll(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLatency is from the writing of a record behind 100,000 others to its
// call's end being told, by a follower that looks as often as in the product.
func BenchmarkLatency(b *testing.B) {
	path := b.TempDir() + "/x.jsonl"
	const n = 50_000
	manyRecords(b, path, n)
	f := follow(b, ClaudeCode, path, Options{Pause: usualPause})
	f.wait(b, n)
	i := n
	for b.Loop() {
		appendTo(b, path, strings.Join(bash(i, "x", "y"), "\n")+"\n")
		f.wait(b, 1)
		i++
	}
}
