package transcript

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/honestty/honestty/journal"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A heap keeps what a sink was told.
type heap struct {
	mu     sync.Mutex
	starts []journal.Start
	ends   []journal.End
	done   chan struct{} // one for each end, when it is not nil

	resumed []journal.Start
}

func (h *heap) Resumed(s journal.Start) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.resumed = append(h.resumed, s)
}

func (h *heap) Begin(s journal.Start) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.starts = append(h.starts, s)
}

func (h *heap) Progress(journal.Progress) {}

func (h *heap) End(e journal.End) {
	h.mu.Lock()
	h.ends = append(h.ends, e)
	h.mu.Unlock()
	if h.done != nil {
		h.done <- struct{}{}
	}
}

// told is what was told, one line a call in the order of their beginning:
// tool, title, the last status, how often it ended.
func (h *heap) told() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var b strings.Builder
	for _, s := range h.starts {
		status, n := "open", 0
		for _, e := range h.ends {
			if e.Call == s.Call {
				status = e.Status.String()
				n++
			}
		}
		fmt.Fprintf(&b, "%s|%s|%s|%d\n", s.Tool, s.Title, status, n)
	}
	return b.String()
}

func (h *heap) end(t testing.TB, title string) journal.End {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.starts {
		if s.Title != title {
			continue
		}
		for _, e := range slices.Backward(h.ends) {
			if e.Call == s.Call {
				return e
			}
		}
	}
	t.Fatalf("no end of %q in:\n%+v", title, h.starts)
	return journal.End{}
}

// once follows a file to its end.
func once(t testing.TB, agent, path string, o Options) (*heap, Counts) {
	t.Helper()
	h := &heap{}
	var c Counts
	o.Once = true
	o.Counts = func(now Counts) { c = now }
	must(t, Follow(t.Context(), Session{Agent: agent, ID: "file", Path: path, Dir: "/"}, h, o))
	return h, c
}

func write(t testing.TB, path string, lines ...string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
}

func appendTo(t testing.TB, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	must(t, err)
	_, err = f.WriteString(text)
	must(t, err)
	must(t, f.Close())
}

// stamp is the time of record n.
func stamp(n int) string {
	return time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Second).Format("2006-01-02T15:04:05.000Z")
}

// claudeUse and claudeResult are the two records of a call.
func claudeUse(n int, id, tool, input string) string {
	return fmt.Sprintf(`{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"/","sessionId":"s-1","type":"assistant","uuid":"u%d","timestamp":%q,"message":{"role":"assistant","content":[{"type":"text","text":"now"},{"type":"tool_use","id":%q,"name":%q,"input":%s}]}}`,
		n, stamp(n), id, tool, input)
}

func claudeResult(n int, id, content string, failed bool, result string) string {
	return fmt.Sprintf(`{"cwd":"/","sessionId":"s-1","type":"user","uuid":"u%d","timestamp":%q,"message":{"role":"user","content":[{"tool_use_id":%q,"type":"tool_result","content":%s,"is_error":%v}]},"toolUseResult":%s}`,
		n, stamp(n), id, content, failed, result)
}

// bash is a call of Bash with its result.
func bash(n int, command, stdout string) []string {
	id := fmt.Sprintf("toolu_%020d", n)
	return []string{
		claudeUse(2*n, id, "Bash", fmt.Sprintf(`{"command":%q}`, command)),
		claudeResult(2*n+1, id, fmt.Sprintf("%q", stdout), false, fmt.Sprintf(`{"stdout":%q,"stderr":"","interrupted":false,"isImage":false}`, stdout)),
	}
}

// following follows a file in the background until the test ends or stop.
type following struct {
	*heap
	stop   func()
	counts func() Counts
}

func follow(t testing.TB, agent, path string, o Options) following {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	h := &heap{done: make(chan struct{}, 1<<20)}
	var mu sync.Mutex
	var c Counts
	o.Counts = func(now Counts) {
		mu.Lock()
		defer mu.Unlock()
		c = now
	}
	if o.Pause == 0 {
		o.Pause = time.Millisecond
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := Follow(ctx, Session{Agent: agent, ID: "file", Path: path, Dir: "/"}, h, o); err != nil {
			t.Errorf("follow: %v", err)
		}
	})
	stop := sync.OnceFunc(func() { cancel(); wg.Wait() })
	t.Cleanup(stop)
	return following{h, stop, func() Counts {
		mu.Lock()
		defer mu.Unlock()
		return c
	}}
}

// wait waits for so many ends.
func (f following) wait(t testing.TB, n int) {
	t.Helper()
	late := time.NewTimer(20 * time.Second)
	defer late.Stop()
	for range n {
		select {
		case <-f.done:
		case <-late.C:
			t.Fatalf("waited too long for an end; told so far:\n%s", f.told())
		}
	}
}

func corpus(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	must(t, err)
	path := filepath.Join(t.TempDir(), "copy.jsonl")
	must(t, os.WriteFile(path, b, 0o600))
	return path
}
