package fdmeter

import (
	"encoding/json"
	"fmt"
)

// FDSetSize is FD_SETSIZE: select() takes no descriptor whose number is this
// or higher. The number is the same in glibc, musl, macOS and the BSDs.
const FDSetSize = 1024

// AlertRatio is the part of a line that must be used before it is pointed at.
const AlertRatio = 0.8

// A LineKind names what runs out. The zero value is no line.
type LineKind uint8

const (
	LineNone   LineKind = iota
	LineSelect          // FD_SETSIZE, by the highest number
	LineSoft            // RLIMIT_NOFILE, soft
	LineHard            // RLIMIT_NOFILE, hard
	LineSystem          // file descriptions of the whole machine
	LinePTY             // pseudo-terminals of the whole machine
)

var lineNames = [...]string{
	LineNone: "none", LineSelect: "1024", LineSoft: "soft limit",
	LineHard: "hard limit", LineSystem: "system files", LinePTY: "pty pool",
}

func (k LineKind) String() string {
	if int(k) < len(lineNames) {
		return lineNames[k]
	}
	return fmt.Sprintf("line %d", uint8(k))
}

// A Line is a limit and how much of it is used.
type Line struct {
	Name  string
	Limit int64
	// Used is in the unit of the line. For the line at 1024 it is the highest
	// number plus one, so that Used == Limit means the last number is taken.
	Used Value
	Kind LineKind
}

// Ratio returns used over limit, and false when what is used is not known.
func (l Line) Ratio() (float64, bool) {
	used, known := l.Used.Get()
	if !known || l.Limit <= 0 {
		return 0, false
	}
	return float64(used) / float64(l.Limit), true
}

// Passed reports whether the process is beyond the line and goes on living
// there. Only the line at 1024 can be passed: at every other one the kernel
// refuses the next descriptor.
func (l Line) Passed() bool {
	used, known := l.Used.Get()
	return l.Kind == LineSelect && known && used > l.Limit
}

// Alert reports whether the line needs to be pointed at: passed, or at least
// AlertRatio of it used.
func (l Line) Alert() bool {
	ratio, known := l.Ratio()
	return known && ratio >= AlertRatio
}

// urgency orders lines: 2 about to be hit, 1 passed, 0 otherwise. A server
// that lives past 1024 on purpose must not hide one that is about to die.
func (l Line) urgency() int {
	switch {
	case l.Passed():
		return 1
	case l.Alert():
		return 2
	}
	return 0
}

// MarshalJSON writes name, limit, used and ratio; the last two may be null.
func (l Line) MarshalJSON() ([]byte, error) {
	var ratio *float64
	if r, known := l.Ratio(); known {
		ratio = &r
	}
	return json.Marshal(struct {
		Name  string   `json:"name"`
		Limit int64    `json:"limit"`
		Used  Value    `json:"used"`
		Ratio *float64 `json:"ratio"`
	}{l.Name, l.Limit, l.Used, ratio})
}

// Lines returns the lines of one process, in the order 1024, soft, hard. A
// limit that is not known, or does not exist, has no line, and a process that
// never calls select() has none at 1024.
func Lines(r Reading) []Line { return appendLines(make([]Line, 0, maxLines), &r) }

// maxLines is how many lines a process has at most.
const maxLines = 3

func appendLines(lines []Line, r *Reading) []Line {
	if !r.NoSelect {
		lines = append(lines, Line{LineSelect.String(), FDSetSize, numbersUsed(r), LineSelect})
	}
	if soft, known := r.Soft.Get(); known {
		lines = append(lines, Line{LineSoft.String(), soft, r.Count, LineSoft})
	}
	if hard, known := r.Hard.Get(); known {
		lines = append(lines, Line{LineHard.String(), hard, r.Count, LineHard})
	}
	return lines
}

// numbersUsed returns the highest number plus one. N descriptors need N
// numbers, so the count is a floor for it where the listing is missing or old.
func numbersUsed(r *Reading) Value {
	highest, known := r.Highest.Get()
	count, counted := r.Count.Get()
	switch {
	case known && counted:
		return Known(max(highest+1, count))
	case known:
		return Known(highest + 1)
	}
	return r.Count
}

// Nearest returns the line of one process that is nearest to being hit, by
// ratio. A line that is passed already stands behind one that is about to be
// hit and before all others. It is false when nothing is known.
func Nearest(r Reading) (Line, bool) { return nearest(&r) }

// nearest is Nearest without a copy of the reading and without an allocation.
func nearest(r *Reading) (Line, bool) {
	var lines [maxLines]Line
	return NearestOf(appendLines(lines[:0], r))
}

// SystemLines returns the lines all processes share. The PTY line leaves out
// the reserve, which only the host's own mount of devpts may use: inside a
// container the pool ends there.
func SystemLines(s System) []Line {
	var lines []Line
	if limit, known := s.FilesMax.Get(); known {
		lines = append(lines, Line{LineSystem.String(), limit, s.Files, LineSystem})
	}
	if limit, known := s.PTYsMax.Get(); known {
		if reserve, known := s.PTYsReserve.Get(); known && reserve < limit {
			limit -= reserve
		}
		lines = append(lines, Line{LinePTY.String(), limit, s.PTYs, LinePTY})
	}
	return lines
}

// NearestOf returns the most urgent of the lines; the earlier one of two equal
// ones. It is false when no line has a known ratio.
func NearestOf(lines []Line) (best Line, found bool) {
	for _, line := range lines {
		if _, known := line.Ratio(); known && (!found || nearer(line, best)) {
			best, found = line, true
		}
	}
	return best, found
}

// nearer reports whether a is strictly more urgent than b.
func nearer(a, b Line) bool {
	if a.urgency() != b.urgency() {
		return a.urgency() > b.urgency()
	}
	left, _ := a.Ratio()
	right, _ := b.Ratio()
	return left > right
}
