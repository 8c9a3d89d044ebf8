package tui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tools/fdmeter"
	"github.com/honestty/honestty/tui/keymap"
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/statusbar"
	"github.com/honestty/honestty/tui/theme"
)

// bar is the status bar as it is now.
func (m *Model) bar() statusbar.Bar {
	b := statusbar.Bar{
		Tabs:  m.barTabs(),
		Alert: m.barAlert(),
		Meter: barMeter(m.meter, m.metered),
		Help:  m.hint(keymap.Help, "help"),
		ASCII: !m.caps.UTF8 || m.conf.UI.ASCII,
	}
	if m.theme.Plain {
		b.Meter.Spark = nil // a row of bars is nothing to read out
	}
	return b
}

// composeBar draws the status bar.
func (m *Model) composeBar(y int) {
	x := 0
	segments := m.bar().Segments(m.size.Cols)
	if m.note != nil && !m.prefix && !holds(segments, m.note.text) {
		segments = m.noteAlone()
	}
	for _, s := range segments {
		x += m.screen.SetText(x, y, m.size.Cols-x, s.Text, m.barStyle(s.Role))
	}
}

// holds reports whether a text stands whole in a bar.
func holds(segments []statusbar.Segment, text string) bool {
	var b strings.Builder
	for _, s := range segments {
		b.WriteString(s.Text)
	}
	return strings.Contains(b.String(), screen.Visible(text))
}

// noteAlone is the bar with nothing but the note, for one that finds no room
// beside tabs and meter: it says why something did not happen, and the next key
// takes it away.
func (m *Model) noteAlone() []statusbar.Segment {
	state, role := theme.Complete, statusbar.Normal
	if m.note.bad {
		state, role = theme.Partial, statusbar.Attention
	}
	text := m.cut(" "+m.theme.Glyphs.State(state)+" "+screen.Visible(m.note.text), m.size.Cols)
	return []statusbar.Segment{{Text: text + strings.Repeat(" ", max(0, m.size.Cols-screen.Width(text))), Role: role}}
}

// queuedShown is how many bytes of input may wait for a program before the
// bar says so: less is ordinary typing ahead.
const queuedShown = 4096

// barAlert is the one thing the bar says in its middle, the most urgent first.
func (m *Model) barAlert() statusbar.Alert {
	v := m.focused()
	switch {
	case m.prefix:
		return statusbar.Alert{Mark: statusbar.MarkRunning, Text: keymap.Label(m.keys.Prefix()) + " waits for a key", Hint: "? help"}
	case m.note != nil && m.note.bad:
		return statusbar.Alert{Mark: statusbar.MarkAttention, Text: m.note.text}
	case m.note != nil:
		return statusbar.Alert{Mark: statusbar.MarkOK, Text: m.note.text}
	case v != nil && v.copy != nil:
		return copyStatus(v)
	case v != nil && v.alive():
		if a, ok := inputAlert(v); ok {
			return a
		}
		if v.readOnly {
			return statusbar.Alert{Mark: statusbar.MarkAttention, Text: "read-only", Hint: m.hint(keymap.ReadOnly, "ends it")}
		}
	}
	if a, ok := m.worst(); ok {
		return statusbar.Alert{Mark: a.mark, Text: a.text, Hint: m.hint(keymap.Alerts, "looks")}
	}
	if texts := m.standing(); len(texts) > 0 {
		return statusbar.Alert{Mark: statusbar.MarkAttention, Text: texts[0], Hint: m.hint(keymap.Alerts, "reads it"), More: true}
	}
	return statusbar.Alert{}
}

// standing is what is wrong or different as long as nobody changes it: the
// settings, and what the focused pane could not be given. The first is the one
// that the bar shows.
func (m *Model) standing() []string {
	texts := slices.Concat(m.problems, m.troubles)
	if v := m.focused(); v != nil && v.alive() {
		texts = append(texts, v.info.Notes...)
	}
	return texts
}

// queueTime is how often the input that waits is looked at while the bar tells
// of it: a program that reads and says nothing brings no fact.
const queueTime = 200 * time.Millisecond

// watchQueue has the focused pane looked at again while its input waits.
func (m *Model) watchQueue() tea.Cmd {
	v := m.focused()
	if m.queueing || v == nil || !v.alive() || v.info.Queued <= queuedShown {
		return nil
	}
	m.queueing = true
	id := v.pane.ID()
	return tea.Tick(queueTime, func(time.Time) tea.Msg { return queueDueMsg{id} })
}

func (m *Model) queueDue(id session.PaneID) tea.Cmd {
	m.queueing = false
	if v := m.views[id]; v != nil {
		v.refresh()
		m.dirty = true
	}
	return nil
}

// inputAlert says what happens to input that the program does not read.
func inputAlert(v *view) (statusbar.Alert, bool) {
	i := v.info
	switch {
	case i.Unshown > 0:
		return statusbar.Alert{Mark: statusbar.MarkFailure, Text: "the engine could not show " + outcome.CountBytes(i.Unshown)}, true
	case i.Refused > 0:
		return statusbar.Alert{Mark: statusbar.MarkFailure, Text: outcome.CountBytes(i.Refused) + " of input refused: the program does not read"}, true
	case i.Queued > queuedShown:
		return statusbar.Alert{Mark: statusbar.MarkRunning, Text: outcome.Size(int64(i.Queued)) + " of input wait for the program"}, true
	}
	return statusbar.Alert{}, false
}

func copyStatus(v *view) statusbar.Alert {
	s := v.copy.Status()
	mark := statusbar.MarkRunning
	if s.Error != "" || s.Warning {
		mark = statusbar.MarkAttention
	}
	a := statusbar.Alert{Mark: mark, Text: s.String()}
	if !s.Typing {
		a.Hint = "q leaves"
		if v.wroteOn() {
			a.Text += ", new output since"
		}
	}
	return a
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
