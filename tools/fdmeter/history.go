package fdmeter

import (
	"encoding/json"
	"math"
	"slices"
	"time"
)

// History is kept in cells whose borders are multiples of CellSpan, so that a
// sparkline moves once a cell and not at every tick.
const (
	SparkCells = 8                // cells that are kept and drawn
	CellSpan   = 15 * time.Second // together two minutes
)

// A cell sums up the samples of one CellSpan.
type cell struct {
	index    int64 // time divided by CellSpan
	samples  int
	low, top int64
	lowAt    time.Time // when low was seen first
}

// A history is the counts of one process over the last SparkCells cells.
// Samples that are not known are left out: a gap is not a zero.
type history struct {
	cells [SparkCells]cell // by index modulo SparkCells
}

func cellIndex(t time.Time) int64 {
	return int64(math.Floor(float64(t.UnixMilli()) / float64(CellSpan.Milliseconds())))
}

// add takes one sample. The clock may jump either way: samples of a time that
// is overwritten are gone, nothing else happens.
func (h *history) add(now time.Time, count Value) {
	n, known := count.Get()
	if !known {
		return
	}
	index := cellIndex(now)
	c := &h.cells[((index%SparkCells)+SparkCells)%SparkCells]
	if c.samples == 0 || c.index != index {
		*c = cell{index: index, samples: 1, low: n, top: n, lowAt: now}
		return
	}
	c.samples++
	c.top = max(c.top, n)
	if n < c.low {
		c.low, c.lowAt = n, now
	}
}

// window returns the cells of the last two minutes, oldest first; those
// without a sample have samples 0.
func (h *history) window(now time.Time) [SparkCells]cell {
	var out [SparkCells]cell
	last := cellIndex(now)
	for _, c := range h.cells {
		if age := last - c.index; c.samples > 0 && age >= 0 && age < SparkCells {
			out[SparkCells-1-age] = c
		}
	}
	return out
}

// spark returns the highest count of each cell.
func (h *history) spark(now time.Time) (values [SparkCells]Value) {
	for i, c := range h.window(now) {
		if c.samples > 0 {
			values[i] = Known(c.top)
		}
	}
	return values
}

// A Trend is what the last two minutes look like.
type Trend uint8

const (
	TrendUnknown Trend = iota // too few samples
	Flat
	Stepped     // it went up or down once and stayed there
	Oscillating // it goes up and comes down again
	Falling
	Rising // it went up again and again and did not come down
)

var trendWords = [...]string{
	TrendUnknown: "unknown", Flat: "flat", Stepped: "stepped",
	Oscillating: "oscillating", Falling: "falling", Rising: "rising",
}

func (t Trend) String() string {
	if int(t) < len(trendWords) {
		return trendWords[t]
	}
	return "unknown"
}

// MarshalJSON writes the word.
func (t Trend) MarshalJSON() ([]byte, error) { return json.Marshal(t.String()) }

// A Growth is how fast a count changes.
type Growth struct {
	// PerMinute means something unless Trend is TrendUnknown.
	PerMinute float64
	Trend     Trend
}

// Known reports whether there were enough samples.
func (g Growth) Known() bool { return g.Trend != TrendUnknown }

// minCells is how many finished cells need samples before a growth is named:
// with fewer, any two readings would make a trend.
const minCells = 4

// growth judges the lowest count of each finished cell; the one that has only
// begun may not have seen its lowest yet. What is opened and closed again
// within a cell does not lift the lowest count; a leak does. The slope is the
// median of the slopes between all pairs of cells, so that one odd cell does
// not move it.
func (h *history) growth(now time.Time) Growth {
	floors := make([]cell, 0, SparkCells)
	window := h.window(now)
	for _, c := range window[:SparkCells-1] {
		if c.samples > 0 {
			floors = append(floors, c)
		}
	}
	if len(floors) < minCells {
		return Growth{}
	}
	var up, down int64
	risesEarly, risesLate, moves := false, false, 0
	for i := 1; i < len(floors); i++ {
		step := floors[i].low - floors[i-1].low
		if step != 0 {
			moves++
		}
		if step < 0 {
			down -= step
			continue
		}
		up += step
		if step > 0 && i <= len(floors)/2 {
			risesEarly = true
		}
		if step > 0 && i > len(floors)/2 {
			risesLate = true
		}
	}
	switch {
	case moves == 0:
		return Growth{Trend: Flat}
	case 4*min(up, down) >= max(up, down):
		return Growth{Trend: Oscillating}
	}
	g := Growth{PerMinute: medianSlope(floors), Trend: Stepped}
	switch {
	case down > up && moves > 1:
		g.Trend = Falling
	case up > down && moves > 1 && risesEarly && risesLate:
		g.Trend = Rising
	}
	return g
}

// medianSlope is the estimator of Theil and Sen, in descriptors a minute.
func medianSlope(floors []cell) float64 {
	slopes := make([]float64, 0, SparkCells*(SparkCells-1)/2)
	for i, a := range floors {
		for _, b := range floors[i+1:] {
			if minutes := b.lowAt.Sub(a.lowAt).Minutes(); minutes > 0 {
				slopes = append(slopes, float64(b.low-a.low)/minutes)
			}
		}
	}
	if len(slopes) == 0 {
		return 0
	}
	slices.Sort(slopes)
	middle := len(slopes) / 2
	if len(slopes)%2 == 1 {
		return slopes[middle]
	}
	return (slopes[middle-1] + slopes[middle]) / 2
}

// longest is the longest time to a line that is worth naming: beyond it two
// minutes of history prove nothing.
const longest = 48 * time.Hour

// FullIn returns how long it takes until the line is reached if the growth
// goes on. It is false unless the count keeps rising.
func (g Growth) FullIn(line Line) (time.Duration, bool) {
	used, known := line.Used.Get()
	if !known || g.Trend != Rising || g.PerMinute <= 0 || used > line.Limit {
		return 0, false
	}
	minutes := float64(line.Limit-used) / g.PerMinute
	if minutes > longest.Minutes() {
		return 0, false
	}
	return time.Duration(minutes * float64(time.Minute)), true
}
