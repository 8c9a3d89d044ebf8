package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/internal/leak"
	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
	"github.com/honestty/honestty/tools/terminal"
)

// TestManyCallsStandInTheJournalWithTheirOutputAndNoGap makes 1,000 calls one
// after another and then 200 at once, as commands and agents make them.
func TestManyCallsStandInTheJournalWithTheirOutputAndNoGap(t *testing.T) {
	one, atOnce := 1000, 200
	if testing.Short() {
		one, atOnce = 60, 40
	}
	before := leak.Take(t)
	p, err := fdwait.New()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	j, err := journal.Open(filepath.Join(dir, "journal"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := tools.Caller{Log: j, LiveDir: filepath.Join(dir, "live")}
	tool := terminal.Tool(terminal.Deps{Poller: p, SpillDir: filepath.Join(dir, "spill")})
	tool.Streams = true
	call := func(i int) {
		params := fmt.Sprintf(`{"command":"echo call %d"}`, i)
		if _, a := c.Call(t.Context(), tool, tools.Request{Dir: "/", Params: json.RawMessage(params)}); a.Status != outcome.Complete {
			t.Errorf("call %d: %v", i, a.Err)
		}
	}
	for i := range one {
		call(i)
	}
	var wg sync.WaitGroup
	for i := range atOnce {
		wg.Go(func() { call(one + i) })
	}
	wg.Wait()
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	before.Check(t)
	wantCalls(t, j.Dir(), one+atOnce)
}

// wantCalls holds a journal against calls that each told their number.
func wantCalls(t *testing.T, dir string, calls int) {
	t.Helper()
	var last int64
	live, told := map[string]string{}, map[string]bool{}
	for e, err := range journal.Read(dir) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Gap != nil || e.Seq != last+1 {
			t.Fatalf("number %d follows %d, gap %+v", e.Seq, last, e.Gap)
		}
		last = e.Seq
		if e.Start != nil {
			live[e.Start.Call] = e.Start.Live
		}
		if e.End == nil {
			continue
		}
		var r struct{ Output string }
		kept, err := os.ReadFile(live[e.End.Call])
		if json.Unmarshal(e.End.Result, &r) != nil || err != nil || string(kept) != r.Output || told[r.Output] {
			t.Fatalf("call %s: result %q, kept %q, %v", e.End.Call, r.Output, kept, err)
		}
		told[r.Output] = true
	}
	for i := range calls {
		if !told[fmt.Sprintf("call %d\n", i)] {
			t.Errorf("call %d left no output", i)
		}
	}
	if last != int64(2*calls) {
		t.Errorf("%d events, want %d", last, 2*calls)
	}
}
