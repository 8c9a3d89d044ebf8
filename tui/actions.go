package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tui/copymode"
	"github.com/honestty/honestty/tui/input"
	"github.com/honestty/honestty/tui/keymap"
	"github.com/honestty/honestty/tui/layout"
	"github.com/honestty/honestty/tui/picker"
	"github.com/honestty/honestty/vt"
)

// An order does one action. why says why it cannot be done now, "" when it can;
// without why it always can.
type order struct {
	run func(m *Model) tea.Cmd
	why func(m *Model) string
}

// do does an action, or says why not.
func (m *Model) do(a keymap.Action) tea.Cmd {
	if why := m.whyNot(a); why != "" {
		m.say(why, true)
		return nil
	}
	m.dirty = true
	return m.orders[a].run(m)
}

func (m *Model) whyNot(a keymap.Action) string {
	o, ok := m.orders[a]
	switch {
	case !ok:
		return "not in this version"
	case o.why == nil:
		return ""
	}
	return o.why(m)
}

// newOrders is what every action does. A test holds it against keymap.
func newOrders() map[keymap.Action]order {
	orders := map[keymap.Action]order{
		keymap.SplitRight: {splitter(layout.Right), cannotSplit(layout.Right)},
		keymap.SplitDown:  {splitter(layout.Down), cannotSplit(layout.Down)},
		keymap.FocusLeft:  {focusDir(layout.Left), noNeighbour},
		keymap.FocusRight: {focusDir(layout.Right), noNeighbour},
		keymap.FocusUp:    {focusDir(layout.Up), noNeighbour},
		keymap.FocusDown:  {focusDir(layout.Down), noNeighbour},
		keymap.FocusNext:  {onTree(func(t layout.Tree) layout.Tree { return t.FocusNext() }), noNeighbour},
		keymap.FocusPrev:  {onTree(func(t layout.Tree) layout.Tree { return t.FocusPrev() }), noNeighbour},
		keymap.FocusLast:  {onTree(func(t layout.Tree) layout.Tree { return t.FocusLast() }), noNeighbour},
		keymap.Zoom:       {onTree(func(t layout.Tree) layout.Tree { return t.Zoom() }), noNeighbour},
		keymap.SwapNext:   {swap(1), noNeighbour},
		keymap.SwapPrev:   {swap(-1), noNeighbour},
		keymap.MoveToTab:  {(*Model).askMove, noPane},
		keymap.BreakPane:  {func(m *Model) tea.Cmd { return m.moveTo(m.focused(), len(m.tabs)) }, noNeighbour},
		keymap.ChoosePane: {(*Model).choosePane, noPane},
		keymap.ReadOnly:   {(*Model).toggleReadOnly, noPane},
		keymap.Rerun:      {(*Model).rerun, notEnded},
		keymap.ClosePane:  {(*Model).askClosePane, noPane},

		keymap.ResizeLeft:    {resize(layout.Left), noNeighbour},
		keymap.ResizeRight:   {resize(layout.Right), noNeighbour},
		keymap.ResizeUp:      {resize(layout.Up), noNeighbour},
		keymap.ResizeDown:    {resize(layout.Down), noNeighbour},
		keymap.LayoutNext:    {func(m *Model) tea.Cmd { return m.setTree(m.tab().tree.Cycle(1, m.paneArea()), nil) }, noNeighbour},
		keymap.LayoutEqual:   {onTree(func(t layout.Tree) layout.Tree { return t.Equal() }), noNeighbour},
		keymap.LayoutMain:    {func(m *Model) tea.Cmd { return m.setTree(m.tab().tree.Main(m.paneArea())) }, noNeighbour},
		keymap.LayoutColumns: {preset(layout.EvenColumns), noNeighbour},
		keymap.LayoutRows:    {preset(layout.EvenRows), noNeighbour},
		keymap.LayoutTop:     {preset(layout.MainTop), noNeighbour},
		keymap.LayoutTiled:   {preset(layout.Tiled), noNeighbour},

		keymap.NewTab:    {func(m *Model) tea.Cmd { return m.openPane(m.here(), openedMsg{}, m.bodySize(m.wholeBody())) }, nil},
		keymap.NextTab:   {func(m *Model) tea.Cmd { m.showTab((m.active + 1) % len(m.tabs)); return nil }, oneTab},
		keymap.PrevTab:   {func(m *Model) tea.Cmd { m.showTab((m.active + len(m.tabs) - 1) % len(m.tabs)); return nil }, oneTab},
		keymap.LastTab:   {func(m *Model) tea.Cmd { m.showTab(m.lastTab); return nil }, oneTab},
		keymap.TabLeft:   {moveTab(-1), noTabBeside(-1)},
		keymap.TabRight:  {moveTab(1), noTabBeside(1)},
		keymap.RenameTab: {(*Model).askName, noPane},
		keymap.CloseTab:  {(*Model).askCloseTab, noPane},

		keymap.CopyMode:       {onCopy(""), noPane},
		keymap.Search:         {onCopy("?"), noPane},
		keymap.Paste:          {(*Model).pasteCopied, nothingCopied},
		keymap.ScrollPageUp:   {onCopy("pgup"), noPane},
		keymap.ScrollPageDown: {onCopy("pgdown"), noPane},
		keymap.ScrollUp:       {onCopy("ctrl+y"), noPane},
		keymap.ScrollDown:     {onCopy("ctrl+e"), noPane},
		keymap.ScrollTop:      {onCopy("g"), noPane},
		keymap.ScrollBottom:   {onCopy("G"), noPane},
		keymap.PromptPrev:     {onCopy("["), noMarks},
		keymap.PromptNext:     {onCopy("]"), noMarks},
		keymap.FoldOutput:     {onCopy("za"), noMarks},
		keymap.CopyLastOutput: {(*Model).copyLast, noMarks},
		keymap.PipeOutput:     {(*Model).askPipe, noMarks},
		keymap.OpenInEditor:   {(*Model).openEditor, noPane},
		keymap.ClearHistory:   {func(m *Model) tea.Cmd { m.focused().pane.ClearHistory(); return nil }, noPane},

		keymap.ToggleDock:  {(*Model).toggleDock, nil},
		keymap.FocusDock:   {(*Model).focusDock, nil},
		keymap.DockNext:    {func(m *Model) tea.Cmd { m.panels.Turn(1); return tea.Batch(m.panelsChanged(), m.soon()) }, noDock},
		keymap.DockPrev:    {func(m *Model) tea.Cmd { m.panels.Turn(-1); return tea.Batch(m.panelsChanged(), m.soon()) }, noDock},
		keymap.DockSide:    {(*Model).moveDock, noDock},
		keymap.PanelTools:  {func(m *Model) tea.Cmd { return m.showPanel(m.tools) }, nil},
		keymap.PanelSpeech: {func(m *Model) tea.Cmd { return m.showPanel(m.speech) }, nil},
		keymap.PanelSend:   {func(m *Model) tea.Cmd { return m.showPanel(m.sends) }, nil},
		keymap.PanelJobs:   {func(m *Model) tea.Cmd { return m.showPanel(m.jobs) }, nil},
		keymap.PanelFDs:    {(*Model).showFDs, nil},
		keymap.Compose:     {(*Model).openForm, nil},
		keymap.WatchAgent:  {func(m *Model) tea.Cmd { return m.inTab("watch", "--latest") }, nil},
		keymap.Doctor:      {func(m *Model) tea.Cmd { return m.inTab("doctor") }, nil},
		keymap.Alerts:      {(*Model).lookAtAlert, noAlerts},

		keymap.Palette:      {func(m *Model) tea.Cmd { m.openPalette("Palette", false); return nil }, nil},
		keymap.Help:         {(*Model).help, nil},
		keymap.ChoosePrefix: {func(m *Model) tea.Cmd { m.choosePrefix(); return nil }, nil},
		keymap.SendPrefix:   {(*Model).sendPrefix, noPrefix},
		keymap.Redraw:       {func(m *Model) tea.Cmd { m.screen.Invalidate(); m.arrange(); return nil }, nil},
		keymap.ReloadConfig: {(*Model).reloadConfig, nil},
		keymap.Suspend:      {suspend, nil},
		keymap.Quit:         {(*Model).askQuit, nil},
	}
	for n := range 9 {
		a := keymap.Action("tab-" + strconv.Itoa(n+1))
		orders[a] = order{
			func(m *Model) tea.Cmd { m.showTab(n); return nil },
			func(m *Model) string {
				if n >= len(m.tabs) {
					return fmt.Sprintf("there is no tab %d", n+1)
				}
				return ""
			},
		}
	}
	return orders
}

// suspend sends what the terminal sends for ^Z where that key is not the
// program's: SIGTSTP to the whole process group.
func suspend(m *Model) tea.Cmd {
	return func() tea.Msg {
		defer m.w.guard()
		if err := unix.Kill(0, unix.SIGTSTP); err != nil {
			return noteMsg{"suspend: " + outcome.Errno(err), true}
		}
		return nil
	}
}

// Orders on the layout.

// setTree puts a changed layout in force, or says why there is none.
func (m *Model) setTree(tree layout.Tree, err error) tea.Cmd {
	if err != nil {
		m.say(err.Error(), true)
		return nil
	}
	m.tab().tree = tree
	m.inDock = false
	m.moved()
	return nil
}

func onTree(change func(layout.Tree) layout.Tree) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { return m.setTree(change(m.tab().tree), nil) }
}

func focusDir(dir layout.Dir) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { return m.setTree(m.tab().tree.FocusDir(dir, m.paneArea()), nil) }
}

func preset(p layout.Preset) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { return m.setTree(m.tab().tree.Arrange(p, m.paneArea())) }
}

// resizeCells is how far one press of a key moves a border.
const resizeCells = 2

func resize(dir layout.Dir) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		t := m.tab()
		tree, _ := t.tree.Resize(t.tree.Focus(), dir, resizeCells, m.paneArea())
		return m.setTree(tree, nil)
	}
}

func swap(step int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		t := m.tab().tree
		return m.setTree(t.Swap(t.Focus(), t.Next(t.Focus(), step)))
	}
}

// here is a shell in the directory of the focused pane.
func (m *Model) here() session.Spec {
	spec := session.Spec{}
	if v := m.focused(); v != nil {
		if w := v.info.Where; w.Dir != "" && w.Host == "" {
			spec.Dir = w.Dir
		}
	}
	return spec
}

func (m *Model) wholeBody() layout.Rect {
	a := m.paneArea()
	return layout.Rect{W: a.W, H: a.H}
}

func splitter(dir layout.Dir) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		v := m.focused()
		if v == nil {
			return m.openPane(m.here(), openedMsg{}, m.bodySize(m.wholeBody()))
		}
		b := v.placed.Body
		if dir == layout.Right {
			b.W = max(b.W/2, 1)
		} else {
			b.H = max(b.H/2, 1)
		}
		return m.openPane(m.here(), openedMsg{Beside: v.pane.ID(), Dir: dir}, m.bodySize(b))
	}
}

// moveTo takes a pane to another tab, or to a new one behind the last.
func (m *Model) moveTo(v *view, to int) tea.Cmd {
	id := layout.ID(v.pane.ID())
	from := m.tabOf(v.pane.ID())
	if to == from || to < 0 || to > len(m.tabs) {
		m.say("it is in that tab already, or there is none", true)
		return nil
	}
	if to < len(m.tabs) {
		tree, err := m.tabs[to].tree.Insert(id, m.paneArea())
		if err != nil {
			m.say(err.Error(), true)
			return nil
		}
		m.tabs[to].tree = tree
	} else {
		m.newTab(v.pane.ID(), "")
	}
	target := m.tabs[to]
	if tree, err := m.tabs[from].tree.Close(id); err == nil {
		m.tabs[from].tree = tree
		if tree.Len() == 0 {
			m.closeTabAt(from)
		}
	}
	m.active = slices.Index(m.tabs, target)
	m.moved()
	return nil
}

func (m *Model) askMove() tea.Cmd {
	v := m.focused()
	m.ask("Move this pane to tab", "moves it; a number above the last makes a tab", "", func(text string) tea.Cmd {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 {
			m.say("that is no number of a tab", true)
			return nil
		}
		if m.tabOf(v.pane.ID()) < 0 {
			m.say("that pane was closed meanwhile", true)
			return nil
		}
		return m.moveTo(v, min(n-1, len(m.tabs)))
	})
	return nil
}

func (m *Model) askName() tea.Cmd {
	t := m.tab()
	m.ask("Rename tab", "renames it; empty takes the name away", t.name, func(text string) tea.Cmd {
		t.name = oneLine(text)
		m.dirty = true
		return nil
	})
	return nil
}

// Orders on processes.

func (m *Model) rerun() tea.Cmd {
	v, w := m.focused(), m.w
	v.shownEnd, v.seen = 0, false
	if v.copy != nil {
		m.leaveCopy(v)
	}
	m.opening++
	return func() tea.Msg {
		defer w.guard()
		v.pane.Rerun()
		return rerunMsg{v.pane.ID()}
	}
}

func (m *Model) askClosePane() tea.Cmd {
	v := m.focused()
	if !v.alive() {
		return m.closePane(v)
	}
	m.confirm("Close this pane? "+m.describe(v)+" still runs.", "It gets HUP, then TERM, then KILL.", "closes it", "keeps it",
		func() tea.Cmd { return m.closePane(v) })
	return nil
}

// running says which programs still run in panes, for a question: "3 panes
// still run: zsh (2), vim". It is empty when none does.
func running(views []*view) string {
	var names []string
	count := map[string]int{}
	all := 0
	for _, v := range views {
		if !v.alive() {
			continue
		}
		name := v.command()
		if count[name]++; count[name] == 1 {
			names = append(names, name)
		}
		all++
	}
	for i, name := range names {
		if n := count[name]; n > 1 {
			names[i] = fmt.Sprintf("%s (%d)", name, n)
		}
	}
	list := strings.Join(names, ", ")
	switch all {
	case 0:
		return ""
	case 1:
		return "1 pane still runs: " + list
	}
	return fmt.Sprintf("%d panes still run: %s", all, list)
}

func (m *Model) tabViews(t *tab) []*view {
	var out []*view
	for _, id := range t.tree.Panes() {
		if v := m.views[session.PaneID(id)]; v != nil {
			out = append(out, v)
		}
	}
	return out
}

func (m *Model) askCloseTab() tea.Cmd {
	views := m.tabViews(m.tab())
	closeAll := func() tea.Cmd {
		var cmds []tea.Cmd
		for _, v := range views {
			cmds = append(cmds, m.closePane(v))
		}
		return tea.Batch(cmds...)
	}
	what := running(views)
	if what == "" {
		return closeAll()
	}
	m.confirm("Close this tab? "+what+".", "What runs gets HUP, then TERM, then KILL.", "closes it", "keeps it", closeAll)
	return nil
}

func (m *Model) askQuit() tea.Cmd {
	var views []*view
	for _, t := range m.tabs {
		views = append(views, m.tabViews(t)...)
	}
	what := running(views)
	if what == "" {
		return tea.Quit
	}
	m.confirm("Leave honestty? "+what+".", "What runs gets HUP, then TERM, then KILL.", "leaves", "stays",
		func() tea.Cmd { return tea.Quit })
	return nil
}

// sendPrefix gives the prefix key to the program.
func (m *Model) sendPrefix() tea.Cmd {
	v := m.focused()
	key, _ := keyNamed(m.keys.Prefix())
	v.pane.Post(input.EncodeKey(nil, key, childModes(v.wanted, input.Area{}, vt.Pixels{})))
	return nil
}

// keyNamed returns the key that has a name, as keymap and input spell it.
func keyNamed(name string) (input.Key, bool) {
	k := input.Key{}
	for _, mod := range []struct {
		bit  input.Mods
		name string
	}{
		{input.ModSuper, "super+"},
		{input.ModHyper, "hyper+"},
		{input.ModMeta, "meta+"},
		{input.ModCtrl, "ctrl+"},
		{input.ModAlt, "alt+"},
		{input.ModShift, "shift+"},
	} {
		if rest, ok := strings.CutPrefix(name, mod.name); ok && rest != "" {
			k.Mods |= mod.bit
			name = rest
		}
	}
	if r, n := utf8.DecodeRuneInString(name); n > 0 && n == len(name) {
		k.Code = r
		return k, true
	}
	codes := []rune{input.KeyTab, input.KeyEnter, input.KeyEscape, input.KeySpace, input.KeyBackspace}
	for r := input.KeyInsert; r <= input.KeyKPBegin; r++ {
		codes = append(codes, r)
	}
	for _, r := range codes {
		if (input.Key{Code: r}).String() == name {
			k.Code = r
			return k, true
		}
	}
	return input.Key{}, false
}

func (m *Model) lookAtAlert() tea.Cmd {
	a, ok := m.worst()
	if !ok {
		m.readStanding()
		return nil
	}
	if a.meter {
		return m.lookAtMeter(a)
	}
	if a.call != "" {
		return m.lookAtCall(a.call)
	}
	m.dropAlerts(a.pane)
	m.goToPane(a.pane)
	return nil
}

// readStanding shows whole what the bar has only the beginning of.
func (m *Model) readStanding() {
	texts := m.standing()
	if len(m.problems) > 1 {
		texts = texts[1:] // the others say it in full
	}
	m.open(&dialog{Dialog: &picker.Notice{Title: "What is to be known here", Texts: texts}})
}

// Orders on output.

// onCopy enters copy mode and gives it a key. Without a key, or with one that
// only scrolls forward, nothing but the mode itself is wanted.
func onCopy(key string) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		v := m.focused()
		scrolls := key == "pgup" || key == "pgdown" || key == "ctrl+y" || key == "ctrl+e" || key == "G"
		m.enterCopy(v, scrolls)
		if key == "" {
			return nil
		}
		return m.selecting(v, func(c *copymode.Mode) copymode.Result {
			var r copymode.Result
			for _, k := range keysOf(key) {
				r = c.Key(k)
			}
			return r
		})
	}
}

// keysOf takes "za" apart and leaves "pgup" whole.
func keysOf(key string) []string {
	if len(key) == 2 && key[0] == 'z' {
		return []string{"z", key[1:]}
	}
	return []string{key}
}
