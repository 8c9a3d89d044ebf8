package terminal

import (
	"fmt"
	"io"
	"os"

	"github.com/honestty/honestty/outcome"
)

// DefaultKeep is how many bytes of a stream a result carries when the caller
// names no number: large enough for a build log, small enough for JSON.
const DefaultKeep = 8 << 20

// A keeper takes the bytes of one stream: to a writer as they come, or into
// memory up to a limit and from there into a spill file that holds them all.
type keeper struct {
	limit    int64
	spillDir string
	sink     io.Writer

	buf   []byte
	spill *os.File
	read  int64 // bytes given to add
	shown int64 // bytes the sink took or buf holds
	err   error // the first failure of sink or spill
	notes []string
}

func newKeeper(limit int64, spillDir string, sink io.Writer) *keeper {
	if limit <= 0 {
		limit = DefaultKeep
	}
	return &keeper{limit: limit, spillDir: spillDir, sink: sink}
}

// add takes p. It goes on counting after a failure: the child must not block
// because our own output is gone.
func (k *keeper) add(p []byte) {
	k.read += int64(len(p))
	if k.sink != nil {
		k.pass(p)
		return
	}
	fits := min(int64(len(p)), k.limit-int64(len(k.buf)))
	k.buf = append(k.buf, p[:fits]...)
	k.shown += fits
	if fits < int64(len(p)) || k.spill != nil {
		k.toSpill(p[fits:])
	}
}

func (k *keeper) pass(p []byte) {
	if k.err != nil {
		return
	}
	n, err := k.sink.Write(p)
	k.shown += int64(n)
	if err != nil {
		k.err = fmt.Errorf("write output: %w", err)
	}
}

// toSpill appends rest, and before the first time what buf already holds.
func (k *keeper) toSpill(rest []byte) {
	if k.err != nil {
		return
	}
	if k.spill == nil {
		if k.spillDir == "" {
			return
		}
		if err := os.MkdirAll(k.spillDir, 0o700); err != nil {
			k.err = fmt.Errorf("make the spill folder: %w", err)
			return
		}
		f, err := os.CreateTemp(k.spillDir, "out-*.log") // 0600, exclusive
		if err != nil {
			k.err = fmt.Errorf("open a spill file: %w", err)
			return
		}
		k.spill = f
		if _, err := f.Write(k.buf); err != nil {
			k.err = fmt.Errorf("write the spill file: %w", err)
			return
		}
	}
	if _, err := k.spill.Write(rest); err != nil {
		k.err = fmt.Errorf("write the spill file: %w", err)
	}
}

// finish closes the spill file and writes the counts into the capture.
func (k *keeper) finish(c *outcome.Capture) {
	c.Read, c.Shown = k.read, k.shown
	if k.spill != nil {
		if err := k.spill.Close(); err != nil && k.err == nil {
			k.err = fmt.Errorf("close the spill file: %w", err)
		}
		if k.err == nil {
			c.Spill = k.spill.Name()
		}
	}
	if k.shown < k.read && k.sink == nil {
		k.notes = append(k.notes, fmt.Sprintf("the result carries the first %s of %s",
			outcome.Size(k.shown), outcome.Size(k.read)))
		if k.spill == nil && k.err == nil {
			k.notes = append(k.notes, "the rest was read and not kept: no spill folder")
		}
	}
}

func (k *keeper) bytes() []byte { return k.buf }
