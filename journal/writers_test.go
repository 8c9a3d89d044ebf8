package journal

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/internal/leak"
	"github.com/honestty/honestty/outcome"
)

func TestThousandCallsOneAfterAnotherHaveNoGap(t *testing.T) {
	before := leak.Take(t)
	dir := filepath.Join(t.TempDir(), "journal")
	j := open(t, dir, Options{})
	for i := range 1000 {
		id := fmt.Sprint(i)
		j.Begin(begin(id))
		j.Progress(Progress{Call: id, Done: 1})
		j.End(end(id, outcome.Complete))
	}
	trouble(t, j)
	events := read(t, dir)
	wantWhole(t, events)
	if len(events) != 3000 {
		t.Errorf("%d events, want 3000", len(events))
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	before.Check(t)
}

// TestManyWritersShareOneSequence has 200 goroutines and 8 processes write at
// once, in files so small that they are renamed all the time.
func TestManyWritersShareOneSequence(t *testing.T) {
	before := leak.Take(t)
	const goroutines, each, processes, calls = 200, 5, 8, 50
	dir := filepath.Join(t.TempDir(), "journal")
	const maxFile = 64 << 10
	j := open(t, dir, Options{MaxFile: maxFile})
	var wg sync.WaitGroup
	for p := range processes {
		c := child(t, dir, fmt.Sprintf("p%d", p), calls, 100, maxFile)
		wg.Go(func() {
			if err := c.Wait(); err != nil {
				t.Errorf("writer %d: %v", p, err)
			}
		})
	}
	for g := range goroutines {
		wg.Go(func() {
			for i := range each {
				id := fmt.Sprintf("g%d-%d", g, i)
				j.Begin(begin(id))
				j.End(end(id, outcome.Complete))
			}
		})
	}
	wg.Wait()
	trouble(t, j)
	events := read(t, dir)
	wantWhole(t, events)
	const want = 2 * (goroutines*each + processes*calls)
	if len(events) != want {
		t.Errorf("%d events, want %d", len(events), want)
	}
	seen := map[string]int{}
	for _, e := range events {
		if e.Start != nil {
			seen[e.Start.Call]++
		} else {
			seen[e.End.Call] += 10
		}
	}
	for call, n := range seen {
		if n != 11 {
			t.Errorf("call %s was written %d times with a start and %d with an end", call, n%10, n/10)
		}
	}
	if firsts, err := olds(dir); err != nil || len(firsts) < 3 {
		t.Errorf("renamed files: %v, %v", firsts, err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	before.Check(t)
}

// TestKilledWriterLosesAtMostItsLastEvent kills a writing process 500 times,
// each time after it wrote some random number of bytes.
func TestKilledWriterLosesAtMostItsLastEvent(t *testing.T) {
	kills := 500
	if testing.Short() {
		kills = 60
	}
	dir := filepath.Join(t.TempDir(), "journal")
	const maxFile, maxSize = 2 << 20, 60 << 10
	rnd := rand.New(rand.NewPCG(1, 2))
	j := open(t, dir, Options{MaxFile: maxFile})
	marked := 0
	for k := range kills {
		c := child(t, dir, fmt.Sprintf("k%d", k), 0, rnd.IntN(maxSize), maxFile)
		waitGrowth(t, dir, c.Process.Pid, rnd.Int64N(3*maxSize))
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait() // it was killed
		j.Begin(begin(fmt.Sprintf("after%d", k)))
		trouble(t, j)
	}
	next := map[string]int{}
	var last int64
	for e, err := range Read(dir) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Seq != last+1 {
			t.Fatalf("number %d follows %d", e.Seq, last)
		}
		last = e.Seq
		switch {
		case e.Gap != nil:
			if !e.Gap.Torn || e.Gap.Events != 1 || e.Writer == 0 {
				t.Fatalf("gap at %d: %+v", e.Seq, e.Gap)
			}
			marked++
		case strings.HasPrefix(e.Start.Call, "k"):
			name, num, _ := strings.Cut(e.Start.Call, "-")
			if next[name]++; fmt.Sprint(next[name]) != num {
				t.Fatalf("event %s of %s follows number %d", num, name, next[name]-1)
			}
		default:
			next["after"]++
		}
	}
	if next["after"] != kills || marked > kills {
		t.Errorf("%d events after %d kills, %d torn", next["after"], kills, marked)
	}
	t.Logf("%d kills, %d of them tore an event, %d events", kills, marked, last)
}

// waitGrowth returns when the child has written so many bytes. It looks again
// and again: a file that grows wakes nobody.
func waitGrowth(t *testing.T, dir string, pid int, n int64) {
	t.Helper()
	size := func() int64 {
		var sum int64
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), ".jsonl") {
				sum += info.Size()
			}
		}
		return sum
	}
	from := size()
	for size() < from+n {
		if err := unix.Kill(pid, 0); err != nil {
			t.Fatalf("the writer ended by itself: %v", err)
		}
	}
}

func TestAnotherWritersRotationIsNoticed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	a, b := open(t, dir, Options{}), open(t, dir, Options{MaxFile: 1})
	for i := range 20 {
		a.Begin(begin(fmt.Sprint("a", i)))
		b.Begin(begin(fmt.Sprint("b", i)))
	}
	trouble(t, a)
	trouble(t, b)
	events := read(t, dir)
	wantWhole(t, events)
	if len(events) != 40 {
		t.Errorf("%d events, want 40", len(events))
	}
	if firsts, err := olds(dir); err != nil || len(firsts) < 19 {
		t.Errorf("renamed files: %v, %v", firsts, err)
	}
}

func TestOldFilesGoByTotalAndWhatStaysIsPrecededByAGap(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	j := open(t, dir, Options{MaxFile: 4 << 10, MaxTotal: 16 << 10, MaxInline: 512})
	big := begin("big")
	big.Args = []byte(`"` + strings.Repeat("y", 1000) + `"`)
	j.Begin(big)
	if _, err := os.Lstat(filepath.Join(dir, resultsName, "big.args.json")); err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		j.Begin(begin(fmt.Sprint(i)))
	}
	trouble(t, j)
	events := read(t, dir)
	gap := events[0]
	if gap.Gap == nil || gap.Seq != 1 || gap.Gap.Events != events[1].Seq-1 || gap.Gap.Why != whyOlder {
		t.Fatalf("first event: %+v %+v, then number %d", gap, gap.Gap, events[1].Seq)
	}
	for i, e := range events[1:] {
		if e.Seq != gap.Gap.Events+1+int64(i) || e.Gap != nil {
			t.Fatalf("event %d has number %d", i, e.Seq)
		}
	}
	var total int64
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && !info.IsDir() {
			total += info.Size()
		}
	}
	if total > 21<<10 {
		t.Errorf("%d bytes are kept", total)
	}
	if _, err := os.Lstat(filepath.Join(dir, resultsName, "big.args.json")); !os.IsNotExist(err) {
		t.Errorf("the arguments of a call that is gone stayed: %v", err)
	}
}
