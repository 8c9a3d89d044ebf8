package session

import (
	"bytes"
	"slices"
	"time"

	"github.com/honestty/honestty/vt"
)

// A Timing is how long one command of a shell took that marks its commands
// (OSC 133): from mark C to mark D.
type Timing struct {
	Line int64 // absolute line of mark D: lines cut from the history plus the row
	Took time.Duration
}

// timingsKept is how many commands of a pane are remembered: what scrolls out of
// the history needs no time any more.
const timingsKept = 1000

// timings are the commands of a pane, by line.
type timings struct {
	began time.Time // of the command that runs, zero when none does
	done  []Timing
	cols  int // lines are counted anew when the width changes
}

// mark takes a mark of OSC 133. The engine has read to its end and no further,
// so the cursor's row is the mark's.
func (x *timings) mark(kind string, t *vt.Terminal) {
	if cols, _ := t.Size(); cols != x.cols {
		x.cols, x.done = cols, nil
	}
	switch {
	case kind == "C":
		x.began = time.Now()
	case kind == "D" && !x.began.IsZero():
		x.done = append(x.done, Timing{absolute(t), time.Since(x.began)})
		x.done = x.done[max(0, len(x.done)-timingsKept):]
		x.began = time.Time{}
	}
}

// around carries the times over a resize. Lines are counted anew when the width
// changes, and their marks keep their order: the last mark D is the last one
// afterwards. Behind the alternate screen no marks can be seen, and the times
// are forgotten.
func (x *timings) around(t *vt.Terminal, resize func()) {
	if cols, _ := t.Size(); cols != x.cols || t.Modes().AltScreen {
		x.done = nil
	}
	var before []int64
	if len(x.done) > 0 {
		before = ends(t)
	}
	resize()
	cols, _ := t.Size()
	if cols == x.cols {
		return
	}
	x.cols = cols
	if len(x.done) == 0 {
		return
	}
	after := ends(t)
	kept := x.done[:0]
	for _, d := range x.done {
		at, found := slices.BinarySearch(before, d.Line)
		if at += len(after) - len(before); found && at >= 0 {
			kept = append(kept, Timing{after[at], d.Took})
		}
	}
	x.done = kept
}

// ends are the lines with a mark D, oldest first.
func ends(t *vt.Terminal) []int64 {
	var out []int64
	cut, _ := t.HistoryCut()
	hist := t.HistoryLen()
	for i := range hist {
		if t.HistoryMark(i).End {
			out = append(out, cut+int64(i))
		}
	}
	_, rows := t.Size()
	for r := range vt.Row(rows) {
		if t.LineMark(r).End {
			out = append(out, cut+int64(hist)+int64(r))
		}
	}
	return out
}

// absolute is the line of the cursor, counted from the first that ever was.
func absolute(t *vt.Terminal) int64 {
	cut, _ := t.HistoryCut()
	return cut + int64(t.HistoryLen()) + int64(t.Cursor().Row)
}

// Timings returns how long the commands took that are still known, by line.
func (p *Pane) Timings() []Timing {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.times.cols != p.size.Cols {
		return nil
	}
	return slices.Clone(p.times.done)
}

// marks begins every mark of OSC 133.
var marks = []byte("\x1b]133;")

// markEnd cuts data behind its first mark, so that the engine stands at the mark
// when the mark is told. Data without one is left whole.
func markEnd(data []byte) int {
	at := bytes.Index(data, marks)
	if at < 0 {
		return len(data)
	}
	rest := data[at+len(marks):]
	if i := bytes.IndexAny(rest, "\a\x1b"); i >= 0 {
		end := at + len(marks) + i + 1
		if data[end-1] == 0x1b && end < len(data) && data[end] == '\\' {
			end++
		}
		return end
	}
	return len(data)
}
