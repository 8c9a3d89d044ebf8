package fdmeter

import (
	"encoding/json"
	"math"
	"slices"
	"time"
)

// History is kept in cells whose borders are multiples of their span, so that a
// sparkline moves once a cell and not at every tick. Two scales are kept: the
// fine one shows a fast leak within a minute, the coarse one a slow leak, and a
// sawtooth whose teeth are longer than the fine one reaches.
const (
	SparkCells = 8                // fine cells that are kept and drawn
	CellSpan   = 15 * time.Second // together two minutes

	coarseCells = 32
	coarseSpan  = time.Minute // together half an hour
)

// A cell sums up the samples of one span.
type cell struct {
	index    int64 // time divided by the span
	samples  int
	low, top int64
	lowAt    time.Time // when low was seen first
}

// A history is the counts of one process. Samples that are not known are left
// out: a gap is not a zero.
type history struct {
	fine   [SparkCells]cell // by index modulo their number
	coarse [coarseCells]cell

	judged Growth
	at     int64 // the fine cell in which judged was found
	valid  bool
}

func cellIndex(t time.Time, span time.Duration) int64 {
	return int64(math.Floor(float64(t.UnixMilli()) / float64(span.Milliseconds())))
}

// add takes one sample. The clock may jump either way: samples of a time that
// is overwritten are gone, nothing else happens.
func (h *history) add(now time.Time, count Value) {
	n, known := count.Get()
	if !known {
		return
	}
	note(h.fine[:], CellSpan, now, n)
	note(h.coarse[:], coarseSpan, now, n)
}

func note(ring []cell, span time.Duration, now time.Time, n int64) {
	index, size := cellIndex(now, span), int64(len(ring))
	c := &ring[((index%size)+size)%size]
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

// window puts the cells that are not too old into out, oldest first; those
// without a sample have samples 0.
func window(ring, out []cell, span time.Duration, now time.Time) {
	last, size := cellIndex(now, span), int64(len(ring))
	for i := range ring {
		c := &ring[i]
		if age := last - c.index; c.samples > 0 && age >= 0 && age < size {
			out[size-1-age] = *c
		}
	}
}

// finished returns the cells with samples, without the one that has only begun
// and may not have seen its lowest count yet.
// They are put into all, which is as long as the ring.
func finished(ring, all []cell, span time.Duration, now time.Time) []cell {
	window(ring, all, span, now)
	return slices.DeleteFunc(all[:len(all)-1], func(c cell) bool { return c.samples == 0 })
}

// spark returns the highest count of each fine cell.
func (h *history) spark(now time.Time) (values [SparkCells]Value) {
	var cells [SparkCells]cell
	window(h.fine[:], cells[:], CellSpan, now)
	for i := range cells {
		if c := &cells[i]; c.samples > 0 {
			values[i] = Known(c.top)
		}
	}
	return values
}

// A Trend is what the history looks like.
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

// A Confidence says how far a rise is to be trusted. The zero value says
// nothing, as for a count that does not keep rising.
type Confidence uint8

const (
	ConfidenceNone Confidence = iota
	Guess                     // few steps, or steps of very different size
	Likely
	Steady // many steps of about the same size
)

func (c Confidence) String() string {
	switch c {
	case Guess:
		return "a guess"
	case Likely:
		return "likely"
	case Steady:
		return "steady"
	}
	return "none"
}

// MarshalJSON writes the word, or null.
func (c Confidence) MarshalJSON() ([]byte, error) {
	if c == ConfidenceNone {
		return []byte("null"), nil
	}
	return json.Marshal(c.String())
}

// A Growth is how fast a count changes.
type Growth struct {
	// PerMinute means something unless Trend is TrendUnknown.
	PerMinute  float64
	Trend      Trend
	Confidence Confidence // of Rising only
}

// Known reports whether there were enough samples.
func (g Growth) Known() bool { return g.Trend != TrendUnknown }

// How many finished cells a scale needs before it says anything, and how often
// the count must have risen to be called rising. With fewer, any two readings
// would make a trend. The coarse scale sees half an hour, in which a quiet
// program may well open two files for good.
const (
	minFine, minFineRises     = 4, 2
	minCoarse, minCoarseRises = 5, 3
)

// growth says what the finished cells look like. They change once a fine cell,
// so that is how often they are judged.
func (h *history) growth(now time.Time) Growth {
	if at := cellIndex(now, CellSpan); !h.valid || at != h.at {
		h.judged, h.at, h.valid = h.judge(now), at, true
	}
	return h.judged
}

// judge judges both scales and joins them.
func (h *history) judge(now time.Time) Growth {
	var fineCells [SparkCells]cell
	var pastCells [coarseCells]cell
	recent := finished(h.fine[:], fineCells[:], CellSpan, now)
	past := finished(h.coarse[:], pastCells[:], coarseSpan, now)
	fine := judge(recent, minFine, minFineRises)
	coarse := judge(past, minCoarse, minCoarseRises)
	switch {
	case !fine.Known() || !coarse.Known():
		return fine
	case fine.Trend == Rising && coarse.Trend == Rising:
		if ratio := fine.PerMinute / coarse.PerMinute; ratio > 0.5 && ratio < 2 {
			fine.Confidence = min(fine.Confidence+1, Steady)
		}
		return fine
	case fine.Trend == Rising && (coarse.Trend == Oscillating || coarse.Trend == Falling):
		// A tooth of a sawtooth that is longer than two minutes rises too. It
		// is a leak only when it leaves every earlier tooth behind.
		if recent[len(recent)-1].low <= topBefore(past, recent[0].lowAt) {
			return Growth{Trend: Oscillating}
		}
		return fine
	case coarse.Trend == Rising && fine.Trend != Falling:
		return coarse // so slow that two minutes see one step of it, or none
	}
	return fine
}

// topBefore returns the highest count of the cells that ended before t.
func topBefore(cells []cell, t time.Time) int64 {
	top := int64(math.MinInt64)
	for _, c := range cells {
		if c.index < cellIndex(t, coarseSpan) {
			top = max(top, c.top)
		}
	}
	return top
}

// judge looks at the lowest count of each cell. What is opened and closed again
// within a cell does not lift the lowest count; a leak does.
func judge(floors []cell, minCells, minRises int) Growth {
	if len(floors) < minCells {
		return Growth{}
	}
	var up, down int64
	moves, rises, lastRise, longestGap := 0, 0, 0, 0
	early, late := false, false
	for i := 1; i < len(floors); i++ {
		step := floors[i].low - floors[i-1].low
		if step != 0 {
			moves++
		}
		if step < 0 {
			down -= step
		}
		if step <= 0 {
			continue
		}
		up += step
		if rises++; rises > 1 {
			longestGap = max(longestGap, i-lastRise)
		}
		lastRise = i
		early, late = early || i <= len(floors)/2, late || i > len(floors)/2
	}
	switch {
	case moves == 0:
		return Growth{Trend: Flat}
	case 4*min(up, down) >= max(up, down):
		return Growth{Trend: Oscillating}
	}
	slope, spread := medianSlope(floors)
	g := Growth{PerMinute: slope, Trend: Stepped}
	// It has come to rest when it is quiet for much longer than it ever was
	// between two rises.
	resting := len(floors)-1-lastRise > 2*longestGap+1
	switch {
	case down > up && moves > 1:
		g.Trend = Falling
	case up > down && rises >= minRises && early && late && !resting && slope > 0:
		g.Trend, g.Confidence = Rising, confidence(rises, spread)
	}
	return g
}

func confidence(rises int, spread float64) Confidence {
	switch {
	case rises >= 5 && spread <= 0.5:
		return Steady
	case rises >= 3 && spread <= 1:
		return Likely
	}
	return Guess
}

// medianSlope is the estimator of Theil and Sen, in descriptors a minute: the
// median of the slopes between all pairs of cells, so that one odd cell does
// not move it. The spread is how far the middle half of the slopes lies apart,
// in medians.
func medianSlope(floors []cell) (slope, spread float64) {
	slopes := make([]float64, 0, len(floors)*(len(floors)-1)/2)
	for i, a := range floors {
		for _, b := range floors[i+1:] {
			if minutes := b.lowAt.Sub(a.lowAt).Minutes(); minutes > 0 {
				slopes = append(slopes, float64(b.low-a.low)/minutes)
			}
		}
	}
	if len(slopes) == 0 {
		return 0, math.Inf(1)
	}
	slices.Sort(slopes)
	middle, quarter := len(slopes)/2, len(slopes)/4
	slope = slopes[middle]
	if len(slopes)%2 == 0 {
		slope = (slopes[middle-1] + slopes[middle]) / 2
	}
	if slope == 0 {
		return 0, math.Inf(1)
	}
	return slope, (slopes[len(slopes)-1-quarter] - slopes[quarter]) / math.Abs(slope)
}

// longest is the longest time to a line that is worth naming: beyond it half an
// hour of history proves nothing.
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
