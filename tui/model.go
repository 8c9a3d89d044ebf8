package tui

import (
	"errors"
	"os"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/honestty/honestty/config"
	"github.com/honestty/honestty/ptybridge"
	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tools/fdmeter"
	"github.com/honestty/honestty/tui/input"
	"github.com/honestty/honestty/tui/keymap"
	"github.com/honestty/honestty/tui/layout"
	"github.com/honestty/honestty/tui/panels"
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
	"github.com/honestty/honestty/vt"
)

// A Model is the state of one window.
type Model struct {
	w    *Window
	size ptybridge.Size // of the outer terminal

	views   map[session.PaneID]*view
	tabs    []*tab
	active  int // of tabs; -1 while there is none
	lastTab int
	tabIDs  int               // tabs ever
	opening int               // panes on their way
	waiting []chan<- struct{} // the router waits here until they are in their place
	had     session.PaneID    // the pane that had the focus, as it was told

	dock   layout.Dock
	docked layout.Docked // where it lies
	panels *panels.Dock
	fds    *panels.FDs
	tools  *panels.Tools
	speech *panels.Speech
	sends  *panels.Send
	jobs   *panels.Jobs
	inDock bool // the keyboard is the dock's

	dialog     *dialog
	prefix     bool // the prefix was pressed and waits for its key
	scrolling  bool // a scrollMsg is on its way
	grab       grab // what a mouse button that is held down moves
	click      click
	copiedText string // what was copied here last, for Paste
	note       *note  // what the status bar says until the next key
	alerts     []alert
	questions  []*question // tools that wait for an answer, the oldest first

	calls   ledger
	live    bool   // a liveMsg is on its way
	jobsDue bool   // a jobsDueMsg is on its way
	player  player // what is played; zero: nothing
	meter   fdmeter.Snapshot
	metered bool // meter holds a count
	watched bool // the session counts as for somebody who looks

	conf     config.Config
	state    config.State
	checked  time.Time // when the settings file was looked at
	problems []string  // what is wrong with the settings file: in few words, then whole
	troubles []string  // what has been wrong since the window opened
	keys     *keymap.Map
	orders   map[keymap.Action]order
	caps     screen.Caps
	theme    theme.Theme
	screen   *screen.Screen
	modes    screen.Modes // asked of the outer terminal

	dirty     bool      // something changed since the last frame
	urgent    bool      // it answers a key: no gap before the next frame
	pending   bool      // a frameDueMsg is on its way
	holding   bool      // a holdOverMsg is on its way
	queueing  bool      // a queueDueMsg is on its way
	lastFrame time.Time // when the last frame was composed
	frame     []byte

	why error // why the window ended, nil when the user closed it
}

// frameGap is the least time between two frames: 60 a second. The first change
// after a pause is drawn at once, so an echo is never late.
const frameGap = 16 * time.Millisecond

// syncLimit is how long a program may hold its screen (mode 2026) before it is
// drawn as it is: xterm and kitty allow between 0.15 s and 1 s.
const syncLimit = 150 * time.Millisecond

func newModel(w *Window, size ptybridge.Size) *Model {
	m := &Model{
		w: w, size: size, active: -1,
		views: map[session.PaneID]*view{},
		conf:  w.opt.Settings.Config(), state: w.opt.State,
		modes: screen.Modes{Paste: true}, dirty: true, watched: true,
	}
	m.caps = screen.Detect(w.opt.Env)
	m.screen = screen.New(size.Cols, size.Rows, m.caps)
	m.fds, m.tools, m.speech, m.sends, m.jobs = &panels.FDs{}, &panels.Tools{Window: os.Getpid()}, &panels.Speech{}, &panels.Send{}, &panels.Jobs{}
	m.panels = &panels.Dock{}
	for _, p := range []panels.Panel{m.tools, m.speech, m.sends, m.jobs, m.fds} {
		m.panels.Add(p)
	}
	m.panels.Show(m.fds.Name()) // the one that always has something to say
	m.orders = newOrders()
	m.configure(m.conf)
	for _, err := range append(slices.Clone(w.opt.Troubles), w.unheard) {
		if _, settings := errors.AsType[config.Problems](err); settings {
			m.problems = problemTexts(err)
		} else if err != nil {
			m.troubles = append(m.troubles, oneLine(err.Error()))
		}
	}
	d := m.state.DockIn(m.conf)
	m.dock = layout.Dock{Side: layout.Side(d.Side), Size: d.Size.Of(m.dockSpan(layout.Side(d.Side)))}
	m.docked = m.dock.Place(m.area())
	return m
}

// Init opens the first pane.
func (m *Model) Init() tea.Cmd {
	first := m.openPane(m.w.opt.Spec, openedMsg{}, m.bodySize(layout.Rect{W: m.docked.Main.W, H: m.docked.Main.H}))
	return tea.Batch(first, m.openCalls())
}

// openPane starts a command outside of Update. The message says where the pane
// goes.
func (m *Model) openPane(spec session.Spec, where openedMsg, size ptybridge.Size) tea.Cmd {
	w := m.w
	m.opening++
	if len(spec.Command) == 0 && m.conf.Terminal.Shell != "" {
		spec.Command = []string{m.conf.Terminal.Shell}
	}
	return func() tea.Msg {
		defer w.guard()
		where.Pane = w.session.Open(spec, size)
		return where
	}
}

// Update routes one message and draws when it is time to.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	defer m.w.guard()
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case orderedMsg:
		cmd = m.act(msg.msg)
		m.waiting = append(m.waiting, msg.done)
	case endMsg:
		m.why = msg.Why
		return m, tea.Quit
	default:
		cmd = m.take(msg)
	}
	if len(m.tabs) == 0 && m.opening == 0 {
		return m, tea.Quit // the last pane was closed
	}
	m.aim()
	m.watchMeter()
	if m.opening == 0 { // what is typed behind a split is for the new pane
		for _, done := range m.waiting {
			close(done)
		}
		m.waiting = m.waiting[:0]
	}
	return m, tea.Batch(cmd, m.watchQueue(), m.searchAnew(), m.draw())
}

// View is for Bubble Tea's own renderer, which a window does not use.
func (m *Model) View() tea.View { return tea.NewView(m.screen.Text()) }

// take acts on what came from the session, the writer and our own commands.
func (m *Model) take(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case session.PaneChanged:
		m.paneChanged(msg.ID)
		return m.checkConfigSoon()
	case session.PaneEnded:
		m.paneEnded(msg.ID)
	case session.PaneCalled:
		return m.paneCalled(msg.ID)
	case session.MeterRead:
		m.meterRead(msg.Snapshot)
		return m.checkConfig()
	case callsOpenedMsg, callsReadMsg, session.CallsChanged, callsGoneMsg, callsDueMsg:
		return tea.Batch(m.takeCalls(msg), m.panelsChanged())
	case callDetailMsg, outputMsg, jobsMsg, jobsDueMsg, tailMsg, playedMsg, liveMsg:
		return m.takePanels(msg)
	case targetsMsg, folderMsg, planMsg:
		m.takeForm(msg)
	case openedMsg:
		m.opened(msg)
	case notOpenedMsg:
		m.opening--
		m.say(msg.Err.Error(), true)
	case rerunMsg:
		m.opening--
		m.paneChanged(msg.ID)
	case paneClosedMsg:
		m.paneGone(msg.ID)
	case resizedMsg:
		m.size = msg.Size
		m.screen.Resize(m.size.Cols, m.size.Rows)
		m.moved()
	case resumedMsg:
		_ = m.w.writer.Enter(m.modes) // fails only when the terminal is gone, which ends the window
		m.screen.Invalidate()
		m.dirty = true
	case frameDueMsg:
		m.pending = false
	case holdOverMsg:
		m.holding, m.dirty = false, true
	case queueDueMsg:
		return m.queueDue(msg.ID)
	case frameDoneMsg: // the writer is free: perhaps there is something to draw
	case copiedMsg:
		m.copied(msg)
	case stepMsg:
		return m.stepSearch(msg.ID)
	case scrollMsg:
		return m.autoscroll(msg.ID)
	case configMsg:
		m.reconfigured(msg)
	case typesMsg:
		if msg.Own != nil {
			m.fds.TakeOwn(*msg.Own)
		}
		m.fds.TakeTypes(msg.Asked, msg.Breakdown)
		m.dirty = true
	case holdersMsg:
		m.fds.TakeHolders(msg.Asked, msg.Holders)
		m.dirty = true
	case noteMsg:
		m.say(msg.Text, msg.Bad)
	case callMsg:
		return msg.Do(m)
	}
	return nil
}

// act acts on what the router sent.
func (m *Model) act(msg ordered) tea.Cmd {
	m.dirty = true
	switch msg := msg.(type) {
	case keyMsg:
		m.prefix, m.note = false, nil
		return m.key(msg)
	case typedMsg:
		m.note = nil
	case pasteMsg:
		return m.pasteHere(msg.Text)
	case mouseMsg:
		if msg.Mouse.Action == input.ActionPress { // of the wheel too
			m.note = nil
		}
		return m.mouse(msg.Mouse)
	case prefixMsg:
		m.prefix = msg.On
	case focusMsg:
		m.outerFocus(msg.On)
		return m.checkConfigSoon()
	case replyMsg:
		if m.caps.Reply(msg.Bytes) {
			m.restyle()
		}
	}
	return nil
}

// key acts on a key of ours. Order: dialog, prefix, copy mode, dock, ended pane.
func (m *Model) key(msg keyMsg) tea.Cmd {
	name := msg.Key.String()
	if m.w.opt.fault != nil {
		m.w.opt.fault(name)
	}
	if m.dialog != nil {
		return m.dialogKey(name, msg.Key.Text)
	}
	v := m.focused()
	if msg.Prefixed && m.keys.IsPrefix(name) && v != nil && v.copy != nil && !m.inDock {
		return m.copyKey(v, msg.Key) // twice sends it on, and copy mode is what gets keys
	}
	if action, ok := m.keys.Resolve(msg.Prefixed, name); ok {
		return m.do(action)
	}
	if msg.Prefixed {
		m.say(m.keys.Unbound(true, name), true)
		return nil
	}
	if m.inDock {
		return m.dockKey(name)
	}
	switch {
	case v == nil:
	case v.copy != nil:
		return m.copyKey(v, msg.Key)
	case v.alive() && v.readOnly:
		m.sayReadOnly()
	case v.alive(), v.shownEnd != v.info.Runs: // typed before the end was on the screen: not meant for it
	case name == "enter":
		return m.do(keymap.Rerun)
	case name == "q":
		return m.do(keymap.ClosePane)
	}
	return nil
}

// aim tells the router who gets the next key.
func (m *Model) aim() {
	t := &target{outer: input.OuterModes{KittyFlags: m.modes.Kitty}, keys: m.keys, noted: m.note != nil}
	v := m.focused()
	if v != nil && v.shown && m.dialog == nil && !m.inDock && v.copy == nil && v.alive() && !v.readOnly {
		t.pane = v.pane
		b := v.placed.Body
		t.area = input.Area{X: b.X, Y: b.Y, W: b.W, H: b.H}
		t.cell = vt.Pixels{Width: m.size.PixelsX / m.size.Cols, Height: m.size.PixelsY / m.size.Rows}
	}
	m.w.router.target.Store(t)
}

// bodySize is a rectangle as a terminal's size.
func (m *Model) bodySize(r layout.Rect) ptybridge.Size {
	return ptybridge.Size{
		Cols: r.W, Rows: r.H,
		PixelsX: m.size.PixelsX / m.size.Cols * r.W, PixelsY: m.size.PixelsY / m.size.Rows * r.H,
	}
}

// restyle follows what is known of the outer terminal, and what the settings
// make of it.
func (m *Model) restyle() {
	caps := limit(m.caps, m.conf.UI)
	m.screen.SetCaps(caps)
	m.theme = newTheme(caps, m.conf.UI)
	m.colorPanes()
	for _, v := range m.views {
		v.stale = true
	}
	m.screen.Fill(0, 0, m.size.Cols, m.size.Rows, m.theme.Text)
	m.dirty = true
}

// colorPanes tells the engines what the outer terminal looks like, so that a
// program that asks gets the truth.
func (m *Model) colorPanes() {
	if !m.caps.HasBG {
		return
	}
	bg := vt.RGB(m.caps.Background[0], m.caps.Background[1], m.caps.Background[2])
	for _, v := range m.views {
		if v.told != bg {
			v.told = bg
			v.pane.SetColors(0, bg, 0)
		}
	}
}
