package tui

import (
	"fmt"
	"path/filepath"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tools/fdmeter"
	"github.com/honestty/honestty/tui/statusbar"
	"github.com/honestty/honestty/vt"
)

// composeBar draws the status bar: tabs, the alert, the meter.
func (m *Model) composeBar(y int) {
	info := session.Info{}
	if m.pane != nil {
		info = m.pane.Info()
	}
	bar := statusbar.Bar{
		Tabs:  []statusbar.Tab{{Number: 1, Name: paneName(info), Active: true, Mark: endMark(info)}},
		Alert: m.alert(info),
		Meter: barMeter(m.meter, m.metered),
		Help:  "^B ? help",
		ASCII: !m.caps.UTF8,
	}
	x := 0
	for _, s := range bar.Segments(m.size.Cols) {
		x += m.screen.SetText(x, y, m.size.Cols-x, s.Text, m.barStyle(s.Role))
	}
}

func (m *Model) barStyle(r statusbar.Role) vt.Style {
	switch r {
	case statusbar.Accent:
		return m.theme.BarActive
	case statusbar.Dim:
		return m.theme.BarDim
	case statusbar.Attention:
		return m.theme.BarWarn
	case statusbar.Failure:
		return m.theme.BarAlert
	}
	return m.theme.Bar
}

// paneName is the title that the program set, or the program's name.
func paneName(i session.Info) string {
	if i.Title != "" {
		return i.Title
	}
	if len(i.Running) > 0 {
		return filepath.Base(i.Running[0])
	}
	return ""
}

// endMark is the glyph of a pane whose process does not run.
func endMark(i session.Info) statusbar.Mark {
	switch i.State {
	case session.StateNotStarted:
		return statusbar.MarkFailure
	case session.StateEnded:
	default:
		return statusbar.MarkNone
	}
	switch i.Capture().State() {
	case outcome.StateComplete:
		if i.Exit.Code == 0 {
			return statusbar.MarkOK
		}
		return statusbar.MarkFailure
	case outcome.StateLost:
		return statusbar.MarkFailure
	case outcome.StateUnknown:
		return statusbar.MarkUnknown
	}
	return statusbar.MarkAttention
}

// queuedShown is how many bytes of input may wait for a program before the
// bar says so: less is ordinary typing ahead.
const queuedShown = 4096

// alert is the one thing the bar says in its middle, the most urgent first.
func (m *Model) alert(i session.Info) statusbar.Alert {
	switch {
	case m.dialog == closeDialog:
		return statusbar.Alert{
			Mark: statusbar.MarkAttention,
			Text: fmt.Sprintf("%s (pid %d) still runs: y closes it, any other key goes back", paneName(i), i.PID),
		}
	case m.prefix:
		return statusbar.Alert{Mark: statusbar.MarkRunning, Text: "^B waits for a key", Hint: "? help"}
	case i.State != session.StateRunning:
		return statusbar.Alert{} // the pane says it all
	case i.Unshown > 0:
		return statusbar.Alert{Mark: statusbar.MarkFailure, Text: "the engine could not show " + outcome.CountBytes(i.Unshown)}
	case i.Refused > 0:
		return statusbar.Alert{Mark: statusbar.MarkFailure, Text: outcome.CountBytes(i.Refused) + " of input refused: the program does not read"}
	case i.Queued > queuedShown:
		return statusbar.Alert{Mark: statusbar.MarkRunning, Text: outcome.Size(int64(i.Queued)) + " of input wait for the program"}
	case len(i.Notes) > 0:
		return statusbar.Alert{Mark: statusbar.MarkAttention, Text: i.Notes[0]}
	}
	return statusbar.Alert{}
}

// barMeter shows the process nearest to one of its lines, or the machine when
// that is nearer to its end.
func barMeter(s fdmeter.Snapshot, read bool) statusbar.Meter {
	if !read {
		return statusbar.Meter{Reason: "not counted yet"}
	}
	if line, ok := s.SystemLine(); ok && line.Alert() {
		used, _ := line.Used.Get()
		return statusbar.Meter{Label: line.Name, Count: used, Known: true, Limit: line.Limit, State: meterState(line)}
	}
	p, ok := s.Nearest()
	if !ok {
		return statusbar.Meter{Reason: s.Own.Count.Reason()}
	}
	m := statusbar.Meter{Name: p.Name, Limit: p.Line.Limit, State: meterState(p.Line)}
	if m.Count, m.Known = p.Count.Get(); !m.Known {
		m.Reason = p.Count.Reason()
	}
	if highest, known := p.Highest.Get(); known && p.Line.Kind == fdmeter.LineSelect && m.State != statusbar.Calm {
		m.Label, m.Count = "fd no.", highest // the line at 1024 counts by number
	}
	for _, v := range p.Spark {
		n, known := v.Get()
		m.Spark = append(m.Spark, statusbar.Cell{Count: n, Known: known})
	}
	m.PerMinute, m.Growing = p.Growth.PerMinute, p.Growth.Known()
	m.FullIn, _ = p.FullIn()
	return m
}

func meterState(l fdmeter.Line) statusbar.MeterState {
	ratio, known := l.Ratio()
	switch {
	case !known:
		return statusbar.Calm
	case l.Passed():
		return statusbar.Past
	case ratio >= 1:
		return statusbar.Full
	case l.Alert():
		return statusbar.Near
	}
	return statusbar.Calm
}
