package statusbar

import (
	"fmt"
	"math"
	"time"
)

// A MeterState says how near the line is. The zero value is calm.
type MeterState uint8

const (
	Calm MeterState = iota
	Near            // at least 80 % of the line is used
	Full            // nothing is left
	Past            // beyond a line that can be passed
)

// A Cell is one step of the sparkline. The zero value has no reading.
type Cell struct {
	Count int64
	Known bool
}

// A Meter is what the meter has to show: the process that is nearest to a
// line. Its zero value is an unknown count.
type Meter struct {
	Label string // what is counted; "" is "fd"
	Name  string // of the process; shown when the meter needs attention
	Count int64
	Known bool
	// Reason says why Count is not known.
	Reason string
	Spark  []Cell // oldest first
	Limit  int64  // the line; 0 when there is none
	State  MeterState
	// PerMinute is how fast the count changes, and means something when Growing
	// says that it is known.
	PerMinute float64
	Growing   bool
	// FullIn is when the line will be reached if it goes on; 0 when not known.
	FullIn time.Duration
}

// The detail of a meter, in the order in which it is given up.
const (
	meterWhole = iota
	meterPlain // without the sparkline
	meterShort // without the line, or with the shortest word for it
	meterLeast // glyph and count
	meterGlyph // the glyph of an alarm or of an unknown count, and nothing when calm
	meterAbsent
)

// nameWidth is the most a process name takes in the meter.
const nameWidth = 15

// Segments returns the meter in full.
func (m Meter) Segments(ascii bool) []Segment { return merge(m.segments(meterWhole, ascii)) }

func (m Meter) attention() bool { return m.Known && m.State != Calm }

func (m Meter) label() string {
	if m.Label == "" {
		return "fd"
	}
	return clean(m.Label)
}

func (m Meter) segments(detail int, ascii bool) []Segment {
	switch {
	case detail == meterAbsent, detail == meterGlyph && m.Known && !m.attention():
		return nil
	case detail == meterGlyph && m.Known:
		return []Segment{MarkAttention.segment(ascii)}
	case detail == meterGlyph:
		return []Segment{MarkUnknown.segment(ascii)}
	case !m.Known:
		return m.unknown(detail)
	case m.attention():
		return m.alarmed(detail, ascii)
	}
	out := []Segment{{m.label() + " ", Dim}, {grouped(m.Count), Normal}}
	if detail == meterWhole {
		if spark := sparkline(m.Spark, ascii); spark != "" {
			out = append(out, Segment{" " + spark, Dim})
		}
	}
	if detail <= meterPlain && m.Limit > 0 {
		out = append(out, Segment{" /" + grouped(m.Limit), Dim})
	}
	if growth := m.growth(); detail == meterWhole && growth != "" {
		out = append(out, Segment{" " + growth, Normal})
	}
	return out
}

// growthShown is the change a minute below which a count stands still: less is
// one descriptor in two minutes, which is what the history spans.
const growthShown = 0.5

// growth is the change a minute, or nothing when the count stands still or has
// not been watched for long enough.
func (m Meter) growth() string {
	if !m.Growing || math.Abs(m.PerMinute) < growthShown {
		return ""
	}
	if math.Abs(m.PerMinute) >= 10 {
		return fmt.Sprintf("%+.0f/min", m.PerMinute)
	}
	return fmt.Sprintf("%+.1f/min", m.PerMinute)
}

func (m Meter) unknown(detail int) []Segment {
	out := []Segment{{m.label() + " ", Dim}, {"?", Attention}}
	if detail <= meterPlain {
		reason := clean(m.Reason)
		if reason == "" {
			reason = "unknown"
		}
		out = append(out, Segment{" (" + reason + ")", Dim})
	}
	return out
}

// alarmed names the process and says in words what is the matter.
func (m Meter) alarmed(detail int, ascii bool) []Segment {
	text := MarkAttention.segment(ascii).Text + " " + m.label() + " "
	if m.Name != "" && detail < meterLeast {
		text += shorten(clean(m.Name), nameWidth, ascii) + " "
	}
	text += grouped(m.Count)
	if detail == meterWhole {
		if spark := sparkline(m.Spark, ascii); spark != "" {
			text += " " + spark
		}
	}
	if detail <= meterPlain && m.Limit > 0 && m.State != Past {
		text += " /" + grouped(m.Limit)
	}
	if growth := m.growth(); detail == meterWhole && growth != "" {
		text += " " + growth
	}
	if detail < meterLeast {
		text += " " + m.word(detail)
	}
	return []Segment{{text, Attention}}
}

func (m Meter) word(detail int) string {
	switch {
	case m.State == Full:
		return "full"
	case m.State == Past && m.Limit > 0:
		return "past " + grouped(m.Limit)
	case m.State == Past:
		return "past"
	case m.FullIn > 0 && detail <= meterPlain:
		return "full in " + about(m.FullIn)
	case m.FullIn > 0:
		return about(m.FullIn)
	}
	return "near"
}

// The steps of a sparkline, and what stands for a cell without a reading.
var (
	sparkBlocks = []rune("▁▂▃▄▅▆▇█")
	sparkASCII  = []rune("_.,-=+*#")
)

const (
	gapDot      = '·'
	gapASCII    = '?'
	flatShare   = 10 // a spread below a tenth of the highest count looks small
	flatMinimum = 8  // and so does one below eight descriptors
)

// sparkline draws the cells between their lowest and highest count. Cells
// before the first reading are left out; a later gap is drawn as a gap. A
// spread that means little is not blown up to the full height.
func sparkline(cells []Cell, ascii bool) string {
	for len(cells) > 0 && !cells[0].Known {
		cells = cells[1:]
	}
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	for _, c := range cells {
		if c.Known {
			low, high = min(low, c.Count), max(high, c.Count)
		}
	}
	steps, gap := sparkBlocks, gapDot
	if ascii {
		steps, gap = sparkASCII, gapASCII
	}
	spread := max(high-low, high/flatShare, flatMinimum)
	line := make([]rune, 0, len(cells))
	for _, c := range cells {
		if !c.Known {
			line = append(line, gap)
			continue
		}
		share := float64(c.Count-low) / float64(spread)
		line = append(line, steps[int(math.Round(share*float64(len(steps)-1)))])
	}
	return string(line)
}
