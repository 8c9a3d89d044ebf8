package terminal

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/honestty/honestty/outcome"
)

// DefaultKeep is how many bytes of a stream a result carries when the caller
// names no number: large enough for a build log, small enough for JSON.
const DefaultKeep = 8 << 20

// A keeper takes the bytes of one stream: to a writer as they come, or into a
// window of its beginning and its end. What the window cannot show whole lies
// in a spill file, as it came.
//
//	bytes ─┬─▶ live     everything, raw
//	       ├─▶ sink     everything, instead of the rest
//	       ├─▶ raw ──▶ spill     in memory until it is needed
//	       └─▶ stripper ──▶ window ──▶ the result
type keeper struct {
	limit int64
	live  io.Writer // may be nil; never fails the call
	sink  io.Writer

	strip *stripper // nil: the window gets the bytes as they came
	text  []byte    // scratch of the stripper
	show  *window
	raw   []byte // all of the stream, until it is longer than limit
	spill *spill // nil: there is no folder to spill to

	read   int64 // bytes given to add
	passed int64 // bytes the sink took
	texts  int64 // bytes given to the window
	err    error // the first failure of sink or spill
	notes  []string

	head, tail []byte // after finish
}

func newKeeper(s Spec, sink io.Writer) *keeper {
	k := &keeper{limit: s.Keep, live: s.Live, sink: sink}
	if k.limit <= 0 {
		k.limit = DefaultKeep
	}
	k.show = newWindow(k.limit)
	if s.Text {
		k.strip = &stripper{}
	}
	if s.SpillDir != "" && sink == nil {
		k.spill = &spill{dir: s.SpillDir, max: s.SpillMax, free: s.fault.freeSpace()}
		if k.spill.max <= 0 {
			k.spill.max = DefaultSpill
		}
	}
	return k
}

// add takes p. It goes on counting after a failure: the child must not block
// because our own output is gone.
func (k *keeper) add(p []byte) {
	k.read += int64(len(p))
	if k.live != nil {
		_, _ = k.live.Write(p) // counts by itself what it could not take
	}
	if k.sink != nil {
		k.pass(p)
		return
	}
	k.keepRaw(p)
	if k.strip != nil {
		k.text = k.strip.strip(k.text[:0], p)
		p = k.text
	}
	k.look(p)
}

func (k *keeper) look(text []byte) {
	k.texts += int64(len(text))
	k.show.add(text)
}

func (k *keeper) pass(p []byte) {
	if k.err != nil {
		return
	}
	n, err := k.sink.Write(p)
	k.passed += int64(n)
	if err != nil {
		k.err = fmt.Errorf("write output: %w", err)
	}
}

// keepRaw holds the bytes as they came, in memory while they are few.
func (k *keeper) keepRaw(p []byte) {
	switch {
	case k.spill == nil || k.err != nil:
	case k.spill.f == nil && int64(len(k.raw)+len(p)) <= k.limit:
		k.raw = append(k.raw, p...)
	default:
		k.spillRaw()
		if k.err == nil {
			k.err = k.spill.write(p)
		}
	}
}

// spillRaw moves what is in memory into the file.
func (k *keeper) spillRaw() {
	if k.spill.f != nil {
		return
	}
	if k.err = k.spill.open(); k.err == nil {
		k.err = k.spill.write(k.raw)
	}
	k.raw = nil
}

// finish cuts the window, closes the spill file and writes the counts into the
// capture.
func (k *keeper) finish(c *outcome.Capture) {
	c.Read = k.read
	if k.sink != nil {
		c.Shown = k.passed
		return
	}
	if k.strip != nil {
		k.look(k.strip.close(nil))
	}
	k.head, k.tail = k.show.finish()
	c.Shown = k.read
	if left := k.show.left; left.Bytes > 0 {
		c.Shown = int64(len(k.head) + len(k.tail))
		k.notes = append(k.notes, fmt.Sprintf("output carries the beginning and the end: %s between them are left out", left))
	}
	if n := k.controls(); n > 0 {
		k.notes = append(k.notes, fmt.Sprintf("%s of terminal control sequences are not in output", outcome.CountBytes(n)))
	}
	k.finishSpill(c)
}

// finishSpill writes the raw bytes to a file where the result does not show
// them as they are, and says what is in it.
func (k *keeper) finishSpill(c *outcome.Capture) {
	differs := c.Shown < k.read || k.controls() > 0 || k.strip != nil && !(utf8.Valid(k.head) && utf8.Valid(k.tail))
	if k.spill == nil {
		if c.Shown < k.read {
			k.notes = append(k.notes, "the rest was read and not kept: no spill folder")
		}
		return
	}
	if differs && k.err == nil {
		k.spillRaw()
	}
	k.raw = nil
	if err := k.spill.close(); err != nil && k.err == nil {
		k.err = err
	}
	switch {
	case k.err != nil || k.spill.path == "":
	case k.spill.full == "":
		c.Spill = k.spill.path
	default:
		k.notes = append(k.notes, fmt.Sprintf("%s took only the first %s of the output, because %s: %s were read and not kept there",
			k.spill.path, outcome.CountBytes(k.spill.written), k.spill.full, outcome.CountBytes(k.read-k.spill.written)))
	}
}

// controls is how many bytes the stripper took out.
func (k *keeper) controls() int64 {
	if k.strip == nil {
		return 0
	}
	return k.read - k.texts
}

// bytes is the output as a result carries it, with a line where something was
// left out.
func (k *keeper) bytes() []byte {
	if k.show.left.Bytes == 0 {
		return append(k.head, k.tail...)
	}
	return bytes.Join([][]byte{k.head, []byte(k.show.left.marker(k.head)), k.tail}, nil)
}
