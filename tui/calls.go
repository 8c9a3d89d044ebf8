package tui

import (
	"fmt"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/statusbar"
)

// chunkSize is how much of the journal is read between two messages: a few
// thousand calls, which take a few milliseconds to enter.
const chunkSize = 2 << 20

// goneTime is the time between two looks whether the processes of running calls
// still live.
const goneTime = 3 * time.Second

type (
	// callsOpenedMsg says that the journal was opened, or why not.
	callsOpenedMsg struct {
		Tail   *journal.Tail
		Follow *journal.Follower
		Err    error
	}

	// callsReadMsg carries a part of the journal from before the window.
	callsReadMsg struct {
		Tail   *journal.Tail
		Events []journal.Event
		More   bool
		Err    error
	}

	// callsGoneMsg names processes that have ended without ending their calls.
	callsGoneMsg struct{ Gone []journal.Owner }

	// callsDueMsg says that it is time to look for them.
	callsDueMsg struct{}
)

// A ledger is the calls that this window knows of.
type ledger struct {
	dir     string // of the journal; empty: none
	book    *journal.Book
	asking  bool   // a callsDueMsg or a callsGoneMsg is on its way
	trouble string // why calls are missing; empty: nothing is known to be
}

// openCalls begins to read the journal, the newest calls first.
func (m *Model) openCalls() tea.Cmd {
	m.calls.book = journal.NewBook(0)
	m.calls.dir = m.w.opt.Journal
	dir, w := m.calls.dir, m.w
	if dir == "" {
		return nil
	}
	return func() tea.Msg {
		defer w.guard()
		tail, follow, err := journal.OpenTail(dir)
		return callsOpenedMsg{tail, follow, err}
	}
}

// takeCalls acts on messages about calls.
func (m *Model) takeCalls(msg tea.Msg) tea.Cmd {
	m.dirty = true
	switch msg := msg.(type) {
	case callsOpenedMsg:
		if msg.Err != nil {
			m.calls.trouble = "calls cannot be shown: " + oneLine(msg.Err.Error())
			return nil
		}
		m.w.session.FollowCalls(msg.Follow)
		return m.readCalls(msg.Tail)
	case callsReadMsg:
		m.calls.book.AddOlder(msg.Events, msg.More)
		if msg.Err != nil {
			m.calls.trouble = "older calls cannot be shown: " + oneLine(msg.Err.Error())
		}
		if msg.Err == nil && msg.More && m.calls.book.Cut() == 0 {
			return m.readCalls(msg.Tail)
		}
		msg.Tail.Close()
		return m.lookForGone()
	case session.CallsChanged:
		n := m.w.session.TakeCalls()
		if n.Missed {
			return m.openCalls()
		}
		if m.calls.trouble = ""; n.Err != nil {
			m.calls.trouble = "calls cannot be followed: " + oneLine(n.Err.Error())
		}
		m.calls.book.Add(n.Events)
		m.alertCalls(n.Events)
		return m.lookForGone()
	case callsGoneMsg:
		m.calls.book.MarkGone(msg.Gone)
		m.calls.asking = false
		return m.lookForGone()
	case callsDueMsg:
		owners, w := m.calls.book.Owners(), m.w
		return func() tea.Msg {
			defer w.guard()
			return callsGoneMsg{journal.Gone(owners)}
		}
	}
	return nil
}

// readCalls reads one part more.
func (m *Model) readCalls(t *journal.Tail) tea.Cmd {
	w := m.w
	return func() tea.Msg {
		defer w.guard()
		events, more, err := t.Chunk(chunkSize)
		return callsReadMsg{t, events, more, err}
	}
}

// lookForGone keeps looking as long as a call runs.
func (m *Model) lookForGone() tea.Cmd {
	if m.calls.asking || len(m.calls.book.Owners()) == 0 {
		return nil
	}
	m.calls.asking = true
	return tea.Tick(goneTime, func(time.Time) tea.Msg { return callsDueMsg{} })
}

// alertCalls raises an alert for each call that ended in a way that somebody
// should look at. What somebody typed in a pane that is in view says so there.
func (m *Model) alertCalls(events []journal.Event) {
	for _, e := range events {
		if e.Gap != nil {
			m.alert(alert{mark: statusbar.MarkUnknown, text: "the journal lacks events: " + screen.Visible(oneLine(e.Gap.Why))})
			continue
		}
		if e.End == nil {
			continue
		}
		r, err := m.calls.book.Find(e.End.Call)
		if err != nil || !r.State().Bad() && !r.Contradicted() || m.inView(r) {
			continue
		}
		m.alert(alert{mark: callMark(r), text: callText(r), call: r.Start.Call})
	}
}

// inView reports whether somebody has seen how a call ended: it is one of a
// command in a pane that is shown, or on another terminal. One without a
// terminal, as cron makes them, was seen by nobody.
func (m *Model) inView(r journal.Record) bool {
	src := r.Start.Source
	if src.Kind != "cli" {
		return false
	}
	if src.Window != os.Getpid() {
		return src.TTY
	}
	v := m.views[session.PaneID(src.Pane)]
	return v != nil && v.shown
}

func callMark(r journal.Record) statusbar.Mark {
	switch r.State() {
	case journal.Unknown:
		return statusbar.MarkUnknown
	case journal.Partial:
		return statusbar.MarkAttention
	}
	return statusbar.MarkFailure
}

// callText says in a few words what became of a call: "send: 1 of 2 sent".
func callText(r journal.Record) string {
	who := r.Start.Tool
	if a := r.Start.Source.Agent; a != "" {
		who = a + " " + who
	}
	said := r.State().String()
	switch {
	case r.Contradicted():
		said = "its result contradicts what can be seen"
	case r.End != nil && r.End.Error != "":
		said = r.End.Error
	case r.Why() != "":
		said = r.Why()
	}
	return screen.Visible(fmt.Sprintf("%s: %s", who, oneLine(said)))
}
