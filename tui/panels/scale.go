package panels

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/fdmeter"
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/vt"
)

// A limit is a line of the scale: a number, and what ends or breaks there.
type limit struct {
	at   int64
	name string
}

// limitsOf returns the limits of a process in rising order, those of the same
// number as one.
func limitsOf(r fdmeter.Reading) []limit {
	var out []limit
	for _, l := range fdmeter.Lines(r) {
		at := slices.IndexFunc(out, func(o limit) bool { return o.at == l.Limit })
		switch {
		case at >= 0:
			out[at].name += " " + kindWord(l.Kind)
		default:
			out = append(out, limit{l.Limit, lineName(l)})
		}
	}
	slices.SortStableFunc(out, func(a, b limit) int { return cmp.Compare(a.at, b.at) })
	return out
}

// shares are where the limits stand on the scale, in percent of its width, by
// how many there are. What is below the first limit gets the most room: that is
// where a person looks.
var shares = [][]int{{}, {80}, {70, 88}, {70, 82, 95}}

// A scale maps numbers to columns.
type scale struct {
	w      int // columns, the end mark included
	limits []limit
}

// place returns the column of a number. Between two limits it is linear.
func (s scale) place(n int64) int {
	last, from, col := s.w-2, int64(0), 0
	for i, l := range s.limits {
		to := s.column(i)
		if n <= l.at {
			if l.at == from {
				return to
			}
			part := float64(n-from) / float64(l.at-from)
			return col + int(math.Round(part*float64(to-col)))
		}
		from, col = l.at, to
	}
	return max(last, col)
}

// column returns where limit i stands.
func (s scale) column(i int) int {
	all := shares[min(len(s.limits), len(shares)-1)]
	return (s.w - 2) * all[min(i, len(all)-1)] / 100
}

// A mark is one glyph on the scale and the words below it.
type mark struct {
	col    int
	text   string
	weight int // the lightest words go first where room is short
	st     vt.Style
	start  int // where the words begin
}

// drawScale draws the line with the count, the highest number and the limits,
// and below it what they are.
func (c canvas) drawScale(x, y, w int, r fdmeter.Reading, count vt.Style) {
	g, s := &c.th.Glyphs, scale{w, limitsOf(r)}
	c.s.SetText(x, y, w, g.TeeRight+strings.Repeat(g.Horizontal, w-2)+g.End, c.th.Border)
	marks := []mark{{col: 0, text: "0", weight: 1, st: c.th.Dim}}
	for i, l := range s.limits {
		col := s.column(i)
		c.s.SetText(x+col, y, 1, g.TeeDown, c.th.Border)
		marks = append(marks, mark{col: col, text: l.name, weight: 5 - i, st: c.th.Dim})
	}
	if n, known := r.Highest.Get(); known && n >= 0 {
		col := s.place(n)
		c.s.SetText(x+col, y, 1, g.Cross, c.th.Text)
		marks = append(marks, mark{col: col, text: "highest " + outcome.Count(n), weight: 2, st: c.th.Dim})
	}
	if n, known := r.Count.Get(); !known {
		marks[0] = mark{col: 0, text: "?", weight: 9, st: c.th.Attention}
	} else {
		col := s.place(n)
		c.s.SetText(x+col, y, 1, g.Mark, count)
		marks = append(marks, mark{col: col, text: outcome.Count(n), weight: 9, st: count})
	}
	for _, m := range arrange(marks, w) {
		c.s.SetText(x+m.start, y+1, w-m.start, m.text, m.st)
	}
}

// labelGap is what lies between two words below the scale, at least.
const labelGap = 2

// arrange places the words below their marks, moves them where they would
// touch, and leaves out the lightest where they cannot stand near their mark.
func arrange(marks []mark, w int) []mark {
	slices.SortStableFunc(marks, func(a, b mark) int { return cmp.Compare(a.col, b.col) })
	for len(marks) > 0 && !spread(marks, w) {
		lightest := 0
		for i, m := range marks {
			if m.weight < marks[lightest].weight {
				lightest = i
			}
		}
		marks = slices.Delete(marks, lightest, lightest+1)
	}
	return marks
}

// spread gives every word its start, and reports whether each still stands
// below its mark or right beside it.
func spread(marks []mark, w int) bool {
	free := 0
	for i := range marks {
		m := &marks[i]
		m.start = max(m.col-(screen.Width(m.text)-1)/2, free)
		free = m.start + screen.Width(m.text) + labelGap
	}
	end := w
	for i := len(marks) - 1; i >= 0; i-- {
		m := &marks[i]
		n := screen.Width(m.text)
		m.start = min(m.start, end-n)
		end = m.start - labelGap
		if m.start < 0 || m.col < m.start-1 || m.col > m.start+n {
			return false
		}
	}
	return true
}

// lineName names a line with its number: "1024", "4096 soft", "1M hard".
func lineName(l fdmeter.Line) string {
	if l.Kind == fdmeter.LineSelect {
		return limitText(l.Limit)
	}
	return limitText(l.Limit) + " " + kindWord(l.Kind)
}

func kindWord(k fdmeter.LineKind) string {
	switch k {
	case fdmeter.LineSelect:
		return "select()"
	case fdmeter.LineSoft:
		return "soft"
	case fdmeter.LineHard:
		return "hard"
	}
	return k.String()
}

// limitText writes a limit the way people write it: 1024, 4096, 512K, 1M.
func limitText(n int64) string {
	const k = 1024
	switch {
	case n < 10*k:
		return fmt.Sprint(n)
	case n%(k*k) == 0 && n < 10_000*k*k:
		return fmt.Sprintf("%dM", n/k/k)
	case n%k == 0 && n < 10_000*k:
		return fmt.Sprintf("%dK", n/k)
	}
	return outcome.Count(n)
}
