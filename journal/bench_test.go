package journal

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/outcome"
)

// manyCalls writes a journal of so many calls and returns its folder.
func manyCalls(b testing.TB, n int) string {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "journal")
	j := open(b, dir, Options{})
	result := json.RawMessage(`{"output":"` + strings.Repeat("ok  example.org/app/store 0.412s\\n", 8) + `","exit_code":0,"capture":{"state":"complete"}}`)
	for i := range n {
		id := fmt.Sprintf("0193f2a4-7b1c-7c3e-9f00-%012d", i)
		s := begin(id)
		s.Title = fmt.Sprintf("go test -run TestNumber%d ./internal/store/... ./internal/wire/...", i)
		s.Source = Source{Kind: "mcp", Agent: "hermes", Session: "a1b2c3", Dir: "/home/bob/src/app", PID: 4711, Window: 4700, Pane: 2}
		j.Begin(s)
		e := end(id, outcome.Complete)
		e.Summary, e.Result, e.DurationMS = "41.2 KB, read to the end", result, 12
		if i%50 == 0 {
			e.Status, e.Error = outcome.Failed, "command did not exit with 0: exit 1"
		}
		j.End(e)
	}
	if err := j.Trouble(); err != nil {
		b.Fatal(err)
	}
	return dir
}

// cpu reports the processor time of one round, of all threads: what passes on
// a busy machine says little.
func cpu(b *testing.B, do func()) {
	var before, after unix.Rusage
	spent := func(r *unix.Rusage) float64 {
		if err := unix.Getrusage(unix.RUSAGE_SELF, r); err != nil {
			b.Fatal(err)
		}
		return float64(r.Utime.Nano() + r.Stime.Nano())
	}
	from := spent(&before)
	for b.Loop() {
		do()
	}
	b.ReportMetric((spent(&after)-from)/float64(b.N), "cpu-ns/op")
}

func BenchmarkBook(b *testing.B) {
	const n = 100_000
	dir := manyCalls(b, n)
	fill := func(b *testing.B, want int) *Book {
		tail, f, err := OpenTail(dir)
		if err != nil {
			b.Fatal(err)
		}
		f.Close()
		book := NewBook(0)
		if err := book.Fill(tail, want); err != nil {
			b.Fatal(err)
		}
		tail.Close()
		return book
	}
	b.Run("open newest 500", func(b *testing.B) {
		cpu(b, func() { fill(b, 500) })
	})
	b.Run("read all", func(b *testing.B) {
		cpu(b, func() { fill(b, n) })
	})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	book := fill(b, n)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if book.Len() != n {
		b.Fatalf("%d calls", book.Len())
	}
	for name, f := range map[string]Filter{
		"all": {}, "text that is nowhere": {Text: "nowhere to be found"}, "text": {Text: "number9999"}, "bad": {Bad: true}, "letters outside of ascii": {Text: "ä"},
	} {
		b.Run("filter "+name, func(b *testing.B) {
			cpu(b, func() { book.Select(f) })
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "B/call")
		})
	}
	b.Run("poll without news", func(b *testing.B) {
		f, err := Follow(dir)
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		cpu(b, func() {
			if events, err := f.Poll(); len(events) > 0 || err != nil {
				b.Fatal(events, err)
			}
		})
	})
}

func BenchmarkWriteCall(b *testing.B) {
	j := open(b, filepath.Join(b.TempDir(), "journal"), Options{})
	cpu(b, func() {
		j.Begin(begin("0193f2a4-7b1c-7c3e-9f00-000000000001"))
		j.End(end("0193f2a4-7b1c-7c3e-9f00-000000000001", outcome.Complete))
	})
}
