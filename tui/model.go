package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/honestty/honestty/ptybridge"
	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tools/fdmeter"
	"github.com/honestty/honestty/tui/input"
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
	"github.com/honestty/honestty/vt"
)

// A dialog is what lies over the pane and takes every key.
type dialog uint8

const (
	noDialog dialog = iota
	helpDialog
	closeDialog // asks whether a pane whose process lives shall be closed
)

// A Model is the state of one window.
type Model struct {
	w       *Window
	size    ptybridge.Size // of the outer terminal
	pane    *session.Pane
	dialog  dialog
	prefix  bool // the prefix was pressed and waits for its key
	meter   fdmeter.Snapshot
	metered bool // meter holds a count

	caps   screen.Caps
	theme  theme.Theme
	screen *screen.Screen
	styles *screen.StyleMap
	modes  screen.Modes // asked of the outer terminal
	wanted vt.Modes     // what the pane's program wanted when it was last drawn

	dirty     bool      // something changed since the last frame
	pending   bool      // a frameDueMsg is on its way
	lastFrame time.Time // when the last frame was composed
	syncSince time.Time // since when the program holds its screen (mode 2026)
	shownEnd  int       // the run whose end was on the screen: only then keys act on it

	frame []byte
	why   error // why the window ended, nil when the user closed it
}

// frameGap is the least time between two frames: 60 a second. The first change
// after a pause is drawn at once, so an echo is never late.
const frameGap = 16 * time.Millisecond

// syncLimit is how long a program may hold its screen (mode 2026) before it is
// drawn as it is: xterm and kitty allow between 0.15 s and 1 s.
const syncLimit = 150 * time.Millisecond

func newModel(w *Window, size ptybridge.Size) Model {
	caps := screen.Detect(w.opt.Env)
	return Model{
		w: w, size: size, caps: caps, theme: newTheme(caps),
		screen: screen.New(size.Cols, size.Rows, caps), styles: &screen.StyleMap{},
		modes: baseModes, dirty: true,
	}
}

// baseModes are what the window always asks of the outer terminal.
var baseModes = screen.Modes{Paste: true}

// Init opens the first pane.
func (m Model) Init() tea.Cmd {
	w, size := m.w, m.paneSize()
	return func() tea.Msg {
		defer w.guard()
		return openedMsg{w.session.Open(w.opt.Spec, size)}
	}
}

// openedMsg says that a pane was opened.
type openedMsg struct{ Pane *session.Pane }

// Update routes one message and draws when it is time to.
func (m Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	defer m.w.guard()
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case orderedMsg:
		m, cmd = m.act(msg.msg)
		m.aim()
		defer close(msg.done)
	case openedMsg:
		m.pane = msg.Pane
		m.pane.Resize(m.paneSize())
		m.dirty = true
	case session.PaneChanged, session.PaneEnded:
		m.dirty = true
	case session.MeterRead:
		m.meter, m.metered, m.dirty = msg.Snapshot, true, true
	case resizedMsg:
		m.size = msg.Size
		m.screen.Resize(m.size.Cols, m.size.Rows)
		if m.pane != nil {
			m.pane.Resize(m.paneSize())
		}
		m.dirty = true
	case frameDueMsg:
		m.pending = false
	case frameDoneMsg: // the writer is free: perhaps there is something to draw
	case endMsg:
		m.why = msg.Why
		return m, tea.Quit
	}
	m.aim()
	return m.draw(cmd)
}

// View is for Bubble Tea's own renderer, which a window does not use.
func (m Model) View() tea.View { return tea.NewView(m.screen.Text()) }

func (m Model) act(msg ordered) (Model, tea.Cmd) {
	m.dirty = true
	switch msg := msg.(type) {
	case keyMsg:
		m.prefix = false
		return m.key(msg)
	case prefixMsg:
		m.prefix = msg.On
	case replyMsg:
		if m.caps.Reply(msg.Bytes) {
			m.screen.SetCaps(m.caps)
			m.theme = newTheme(m.caps)
		}
	}
	return m, nil
}

// aim tells the router who gets the next key.
func (m Model) aim() {
	size := m.paneSize()
	t := &target{area: input.Area{W: size.Cols, H: size.Rows}}
	t.cell = vt.Pixels{Width: size.PixelsX / size.Cols, Height: size.PixelsY / size.Rows}
	t.outer.KittyFlags = m.modes.Kitty
	if m.pane != nil && m.dialog == noDialog && m.pane.Info().State == session.StateRunning {
		t.pane = m.pane
	}
	m.w.router.target.Store(t)
}

// key acts on a key of ours. Order: dialog, prefix, ended pane.
func (m Model) key(msg keyMsg) (Model, tea.Cmd) {
	name := msg.Key.String()
	if m.w.opt.fault != nil {
		m.w.opt.fault(name)
	}
	switch m.dialog {
	case helpDialog:
		m.dialog = noDialog
		return m, nil
	case closeDialog:
		m.dialog = noDialog
		if name == "y" {
			return m, tea.Quit
		}
		return m, nil
	}
	if msg.Prefixed {
		return m.command(name)
	}
	if m.pane == nil || m.shownEnd != m.pane.Info().Runs {
		return m, nil // typed before the end was on the screen: not meant for it
	}
	switch name {
	case "enter":
		m.shownEnd = 0
		pane, guard := m.pane, m.w.guard
		return m, func() tea.Msg {
			defer guard()
			pane.Rerun()
			return session.PaneChanged{ID: pane.ID()}
		}
	case "q":
		return m, tea.Quit
	}
	return m, nil
}

// command acts on the key after the prefix. Every key here stands in the help.
func (m Model) command(name string) (Model, tea.Cmd) {
	switch name {
	case "?":
		m.dialog = helpDialog
	case "x":
		if m.pane != nil && m.pane.Info().State == session.StateRunning {
			m.dialog = closeDialog
			return m, nil
		}
		return m, tea.Quit
	case "r":
		m.screen.Invalidate()
	}
	return m, nil
}

// help is the table that the help shows. A test holds it against command.
var help = [][2]string{
	{"^B ?", "this help"},
	{"^B ^B", "send Ctrl+b to the program"},
	{"^B x", "close the pane and leave"},
	{"^B r", "draw everything again"},
	{"Enter", "after the end: run it again"},
	{"q", "after the end: leave"},
}

// paneSize is what the status bar leaves.
func (m Model) paneSize() ptybridge.Size {
	s := m.size
	if s.Rows > 1 {
		s.PixelsY = s.PixelsY / s.Rows * (s.Rows - 1)
		s.Rows--
	}
	return s
}
