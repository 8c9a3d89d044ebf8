package panels

import (
	"fmt"
	"strings"

	"github.com/honestty/honestty/tools/fdmeter"
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
	"github.com/honestty/honestty/vt"
)

// columns are the widths of the table's columns; 0 is a column that is left
// out. lead holds the pointer and the sign of an alarm.
type columns struct {
	pid, process, fds, highest, perMinute, nearest, trend int
}

const (
	leadW      = 2
	minProcess = 10
	maxProcess = 48 // beyond it the eye loses the row
	minNearest = 13 // "not permitted"
	maxNearest = 36 // "no free descriptor to read it with" and a space
	trendWord  = 11 // "oscillating"
)

// columnsOf chooses the columns for a width. What tells least goes first: the
// trend, the growth, the highest number, the nearest line.
func (f *FDs) columnsOf(w int, plain bool) columns {
	c := columns{pid: 5, fds: 4, highest: 7, perMinute: 5, nearest: minNearest, trend: fdmeter.SparkCells}
	for _, r := range f.rows {
		c.pid = max(c.pid, len(pidText(r.PID)))
		c.fds = max(c.fds, len(figure(r.Count)))
		c.highest = max(c.highest, len(figure(r.Highest)))
		c.perMinute = max(c.perMinute, len(growth(r.Growth)))
		if r.Count.Known() {
			c.nearest = max(c.nearest, len(nearest(r.Process)))
		}
	}
	if plain {
		c.trend = trendWord
	}
	c.process = w - leadW - c.pid - 1 - 1 - c.fds - 1
	for _, optional := range []struct {
		width *int
		gap   int
	}{{&c.nearest, 2}, {&c.highest, 2}, {&c.perMinute, 2}, {&c.trend, 2}} {
		if c.process-*optional.width-optional.gap < minProcess {
			*optional.width = 0
			continue
		}
		c.process -= *optional.width + optional.gap
	}
	if c.nearest > 0 { // reasons are longer than lines
		more := min(max(c.process-maxProcess/2, 0), max(maxNearest-c.nearest, 0))
		c.nearest, c.process = c.nearest+more, c.process-more
	}
	c.process = min(c.process, maxProcess)
	return c
}

// drawTable draws the head and the rows from the top on.
func (f *FDs) drawTable(c canvas, x, y, w, h int, focused bool) {
	if h <= 0 {
		return
	}
	cols := f.columnsOf(w, c.th.Plain)
	if cols.process < 1 {
		c.text(x, y, w, "too narrow", c.th.Dim)
		return
	}
	c.drawCells(x, y, cols, cells{
		pid: "pid", process: f.head(cols.process), fds: "fds", highest: "highest", perMinute: "/min", nearest: "nearest line", trend: "trend",
		st: c.th.Dim, figures: c.th.Dim,
	})
	f.list = rect{x, y + 1, w, h - 1}
	f.top = max(min(f.top, len(f.rows)-f.list.h), 0)
	f.seen()
	if n := f.newAbove(); n > 0 {
		c.s.Fill(x, y, w, 1, c.th.Text)
		c.text(x+leadW, y, w-leadW-1, fmt.Sprintf("%d new above", n), c.th.Attention)
	}
	for i := range min(f.list.h, len(f.rows)-f.top) {
		f.drawRow(c, x, y+1+i, w, cols, f.rows[f.top+i], focused)
	}
}

// head is that of the processes. It names the order where that is not the one
// by the nearest line, and where it is narrow the order alone.
func (f *FDs) head(w int) string {
	if f.order == byNearest {
		return "process"
	}
	order := "by " + f.order.String()
	if full := "process, " + order; len(full) <= w {
		return full
	}
	return order
}

// cells are the texts of one row.
type cells struct {
	pid, process, mark, fds, highest, perMinute, nearest, trend string
	st, figures                                                 vt.Style
}

func (f *FDs) drawRow(c canvas, x, y, w int, cols columns, r row, focused bool) {
	out := cells{
		pid: pidText(r.PID), process: program(r.Reading), fds: figure(r.Count), highest: figure(r.Highest),
		perMinute: growth(r.Growth), nearest: nearest(r.Process), st: c.th.Text, figures: c.th.Text,
	}
	if r.mark != "" {
		out.mark = "(" + r.mark + ")"
	}
	out.trend = c.trend(r.Process)
	lead := " "
	if alarm(r.Process) {
		out.figures = c.th.Attention
		lead = c.th.Glyphs.State(theme.Partial)
	} else if !r.Count.Known() {
		out.figures = c.th.Dim
	}
	selected := f.picked && r.id() == f.chosen.id()
	if selected {
		out.st.Attrs |= vt.Bold
		if focused {
			out.st, out.figures = c.th.Chosen, c.th.Chosen
			c.s.Fill(x, y, w, 1, out.st)
		}
		c.s.SetText(x, y, 1, c.th.Glyphs.Pointer, out.st)
	}
	c.s.SetText(x+1, y, 1, lead, out.figures)
	c.drawCells(x, y, cols, out)
}

// trend is the sparkline against the nearest line, or the word for it.
func (c canvas) trend(p fdmeter.Process) string {
	if c.th.Plain {
		return p.Growth.Trend.String()
	}
	values := make([]int, 0, len(p.Spark))
	for _, v := range p.Spark {
		n, known := v.Get()
		switch {
		case known:
			values = append(values, int(min(n, 1<<30)))
		case len(values) > 0: // before the first reading there is nothing to miss
			values = append(values, theme.Missing)
		}
	}
	top := 0
	if p.HasLine {
		top = int(min(p.Line.Limit, 1<<30))
	}
	before := strings.Repeat(" ", fdmeter.SparkCells-len(values))
	return before + c.th.Glyphs.Sparkline(values, top, fdmeter.SparkCells)
}

// drawCells writes one row. Numbers end at their column's right edge.
func (c canvas) drawCells(x, y int, w columns, v cells) {
	at := x + leadW + w.pid
	c.right(at, y, w.pid, v.pid, v.st)
	at++
	c.drawProcess(at, y, w.process, v)
	at += w.process + 1 + w.fds
	c.right(at, y, w.fds, v.fds, v.figures)
	if w.highest > 0 {
		at += 2 + w.highest
		c.right(at, y, w.highest, v.highest, v.figures)
	}
	if w.perMinute > 0 {
		at += 2 + w.perMinute
		c.right(at, y, w.perMinute, v.perMinute, v.st)
	}
	if w.nearest > 0 {
		at += 2
		c.text(at, y, w.nearest, v.nearest, v.figures)
		at += w.nearest
	}
	if w.trend > 0 {
		at += 2
		c.text(at, y, w.trend, v.trend, v.st)
	}
}

// drawProcess writes the process and its mark. The mark stays whole where both
// do not fit, as long as some of the name is left.
func (c canvas) drawProcess(x, y, w int, v cells) {
	const name = 4 // what has to be left of a name
	n := screen.Width(v.mark)
	if v.mark == "" || w < name+1+n {
		c.text(x, y, w, v.process, v.st)
		return
	}
	used := c.text(x, y, w-n-1, v.process, v.st)
	c.s.SetText(x+used+1, y, n, v.mark, v.st)
}
