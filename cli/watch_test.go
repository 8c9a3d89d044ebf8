package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/honestty/honestty/journal"
)

// TestSessionsThatFellSilentAreLetGoAndTakenUpAgain counts who is followed after
// each look.
func TestSessionsThatFellSilentAreLetGoAndTakenUpAgain(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", home)
	t.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
	dir := filepath.Join(home, ".claude", "projects", "-")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	session := func(n int, silent time.Duration) {
		path := filepath.Join(dir, fmt.Sprintf("5b0c0001-0000-4000-8000-%012d.jsonl", n))
		if err := os.WriteFile(path, []byte(`{"type":"user","uuid":"u1","sessionId":"s","cwd":"/"}`+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-silent)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	j, err := journal.Open(filepath.Join(home, "journal"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	var notes bytes.Buffer
	w := &watchCall{app: &app{out: io.Discard, err: &notes}, journal: j, running: map[string]journal.Start{}}
	f := &followers{w: w, stops: map[string]context.CancelFunc{}}
	ctx, stop := context.WithCancel(t.Context())
	defer f.all.Wait()
	defer stop()
	for i, c := range []struct {
		silent time.Duration
		want   int
	}{{time.Hour, 0}, {0, 1}, {lively + time.Second, 1}, {letGo + time.Second, 0}, {0, 1}} {
		session(0, c.silent)
		if f.look(ctx); len(f.stops) != c.want {
			t.Errorf("look %d: %d are followed, want %d", i, len(f.stops), c.want)
		}
	}
	for n := range maxFollowed + 2 {
		session(n, 0)
	}
	f.look(ctx)
	f.look(ctx)
	stop()
	f.all.Wait()
	if got := strings.Count(notes.String(), "more than 64 sessions"); len(f.stops) != maxFollowed || got != 1 || !w.bad {
		t.Errorf("%d are followed, told %d times, bad %v", len(f.stops), got, w.bad)
	}
}
