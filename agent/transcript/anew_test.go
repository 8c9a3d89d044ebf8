package transcript

import (
	"testing"

	"github.com/honestty/honestty/journal"
)

// cutter writes a file anew as soon as it is told of an end.
type cutter struct {
	heap
	anew func()
}

func (c *cutter) End(e journal.End) {
	c.heap.End(e)
	if c.anew != nil {
		c.anew()
		c.anew = nil
	}
}

// TestAFileThatIsWrittenAnewWhileItIsReadIsReadAnew has the new bytes there
// before the follower looks where it stands.
func TestAFileThatIsWrittenAnewWhileItIsReadIsReadAnew(t *testing.T) {
	path := t.TempDir() + "/x.jsonl"
	write(t, path, bash(1, "one", "x")...)
	sink := &cutter{anew: func() { write(t, path, bash(2, "another", "y")...) }}
	f, err := newFollower(t.Context(), Session{Agent: ClaudeCode, ID: "file", Path: path, Dir: "/"}, sink, Options{})
	must(t, err)
	defer f.close()
	for range 4 {
		_, err = f.poll()
		must(t, err)
	}
	if got, want := sink.told(), "Bash|one|complete|1\nBash|another|complete|1\n"; got != want || f.fold.counts.Torn != 0 || f.fold.counts.Restarts != 1 {
		t.Errorf("told:\n%s%+v", got, f.fold.counts)
	}
}
