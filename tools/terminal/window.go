package terminal

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/honestty/honestty/outcome"
)

// Omitted is what a result leaves out of the middle of an output.
type Omitted struct {
	Bytes int64 `json:"bytes" jsonschema:"bytes of text that are not in output"`
	Lines int64 `json:"lines" jsonschema:"line ends in them"`
}

func (o Omitted) plus(p []byte) Omitted {
	return Omitted{o.Bytes + int64(len(p)), o.Lines + lineEnds(p)}
}

func (o Omitted) minus(p []byte) Omitted {
	return Omitted{o.Bytes - int64(len(p)), o.Lines - lineEnds(p)}
}

func lineEnds(p []byte) int64 { return int64(bytes.Count(p, []byte{'\n'})) }

// headPart is how much of what is kept is the beginning, in percent. Errors
// stand at the end more often.
const headPart = 40

// seam is how far from where a cut would fall a better place is looked for: a
// line end, or else a blank, so that no word and no secret is cut in two.
const seam = 4 << 10

// A window keeps the beginning and the end of a stream and counts what is
// between them. It copies a byte once: into head, and when that is full into
// tail, which is a ring as soon as it is full itself.
type window struct {
	headCap, tailCap int
	head             []byte
	tail             []byte  // made whole by the first byte that head has no room for
	oldest           int     // where the oldest byte of a full tail is
	past             Omitted // all that came after head, kept or not
	left             Omitted // known after finish
}

func newWindow(limit int64) *window {
	head := int(limit * headPart / 100)
	return &window{headCap: head, tailCap: int(limit) - head}
}

func (w *window) add(p []byte) {
	n := min(len(p), w.headCap-len(w.head))
	w.head = append(w.head, p[:n]...)
	if p = p[n:]; len(p) == 0 {
		return
	}
	w.past = w.past.plus(p) // now: later, in the ring, they are in no cache
	if w.tail == nil {
		w.tail = make([]byte, 0, w.tailCap)
	}
	n = min(len(p), w.tailCap-len(w.tail))
	w.tail = append(w.tail, p[:n]...)
	for p = p[n:]; len(p) > 0; p = p[n:] {
		n = copy(w.tail[w.oldest:], p)
		w.oldest = (w.oldest + n) % w.tailCap
	}
}

// finish cuts at the seams and returns the two parts. Nothing is between them
// when left.Bytes is 0. No add follows.
func (w *window) finish() (head, tail []byte) {
	if w.past.Bytes == int64(len(w.tail)) {
		return w.head, w.tail
	}
	tail = slices.Concat(w.tail[w.oldest:], w.tail[:w.oldest])
	w.tail = nil
	end, start := headSeam(w.head), tailSeam(tail)
	head, tail = w.head[:end], tail[start:]
	w.left = w.past.plus(w.head[end:]).minus(tail)
	return head, tail
}

// headSeam is where the beginning of an output is best cut: after its last
// line end, or else blank, that is near, and never within a character.
func headSeam(p []byte) int {
	near := max(len(p)-min(seam, len(p)/4), 0)
	for _, at := range []string{"\n", " \t"} {
		if i := bytes.LastIndexAny(p[near:], at); i >= 0 {
			return near + i + 1
		}
	}
	return wholeRunes(p)
}

// tailSeam is where the end of an output is best begun.
func tailSeam(p []byte) int {
	near := min(seam, len(p)/4)
	for _, at := range []string{"\n", " \t"} {
		if i := bytes.IndexAny(p[:near], at); i >= 0 {
			return i + 1
		}
	}
	i := 0
	for i < min(len(p), utf8.UTFMax-1) && !utf8.RuneStart(p[i]) {
		i++
	}
	if i == utf8.UTFMax-1 && i < len(p) && !utf8.RuneStart(p[i]) {
		return 0 // no character is so long: these bytes are none
	}
	return i
}

// wholeRunes is the length of p without an unfinished character at its end.
func wholeRunes(p []byte) int {
	for i := len(p) - 1; i >= max(0, len(p)-utf8.UTFMax+1); i-- {
		if utf8.RuneStart(p[i]) {
			if !utf8.FullRune(p[i:]) {
				return i
			}
			break
		}
	}
	return len(p)
}

// marker is the line that stands in an output where something was left out.
func (o Omitted) marker(head []byte) string {
	before := ""
	if len(head) > 0 && head[len(head)-1] != '\n' {
		before = "\n"
	}
	return fmt.Sprintf("%s[%s left out here]\n", before, o)
}

func (o Omitted) String() string {
	if o.Lines == 1 {
		return outcome.CountBytes(o.Bytes) + " with 1 line end"
	}
	return outcome.CountBytes(o.Bytes) + " with " + outcome.Count(o.Lines) + " line ends"
}
