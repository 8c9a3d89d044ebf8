package vt

import (
	"math/rand/v2"
	"testing"
)

// TestSnapshotStandsStillWhileTheTerminalGoesOn feeds programs that reach every
// table, takes a snapshot, and holds both against a twin that was fed the same.
func TestSnapshotStandsStillWhileTheTerminalGoesOn(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		cols, rows := 5+rnd.IntN(40), 2+rnd.IntN(12)
		v, twin := New(cols, rows, smallOptions()), New(cols, rows, smallOptions())
		for range 1 + rnd.IntN(25) {
			p := []byte(seeds[rnd.IntN(len(seeds))])
			v.Write(p)
			twin.Write(p)
		}
		for _, end := range []string{"\x18", "\x1b[m"} { // an unfinished sequence stays with v
			v.Write([]byte(end))
			twin.Write([]byte(end))
		}
		s := v.Snapshot()
		want := snapshot(twin)
		for range 30 {
			checkWrite(t, v, []byte(seeds[rnd.IntN(len(seeds))]))
		}
		if err := s.Check(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if got := snapshot(s); got != want {
			t.Fatalf("seed %d: the snapshot changed:\n%s\nwant\n%s", seed, got, want)
		}
		before := snapshot(v)
		for range 4 {
			c, r := 1+rnd.IntN(60), 1+rnd.IntN(20)
			s.Resize(c, r)
			twin.Resize(c, r)
		}
		if err := s.Check(); err != nil {
			t.Fatalf("seed %d, resized: %v", seed, err)
		}
		if got, want := snapshot(s), snapshot(twin); got != want {
			t.Fatalf("seed %d: resized differently:\n%s\nwant\n%s", seed, got, want)
		}
		if after := snapshot(v); after != before {
			t.Fatalf("seed %d: resizing the snapshot changed the terminal", seed)
		}
	}
}
