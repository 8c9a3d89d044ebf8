package tui

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/honestty/honestty/ctl"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/ptybridge"
	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tui/copymode"
	"github.com/honestty/honestty/tui/layout"
	"github.com/honestty/honestty/vt"
)

// A remote carries out what commands ask of the window through its socket. Its
// methods run on the server's goroutines; what touches the Model is done inside
// Update.
type remote struct{ w *Window }

var _ ctl.Window = remote{}

// in runs do inside Update and waits for it.
func (r remote) in(ctx context.Context, do func(m *Model) tea.Cmd) error {
	done := make(chan struct{})
	r.w.program.Send(callMsg{func(m *Model) tea.Cmd {
		defer close(done)
		m.dirty = true
		return do(m)
	}})
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// find returns the view that parameters name; 0 is the focused one.
func (m *Model) find(pane int) (*view, error) {
	if pane == 0 {
		if v := m.focused(); v != nil {
			return v, nil
		}
		return nil, ctl.Errorf(ctl.NoSuchPane, "there is no pane")
	}
	if v := m.views[session.PaneID(pane)]; v != nil {
		return v, nil
	}
	return nil, ctl.Errorf(ctl.NoSuchPane, "there is no pane %d", pane)
}

// tabID names a tab by its first pane ever; its place in the bar may change.
func (m *Model) tabID(i int) int { return m.tabs[i].id }

func (r remote) List(ctx context.Context, _ ctl.ListParams) (ctl.ListResult, error) {
	out := ctl.ListResult{Tabs: []ctl.Tab{}}
	err := r.in(ctx, func(m *Model) tea.Cmd {
		for i, t := range m.tabs {
			tab := ctl.Tab{ID: m.tabID(i), Title: m.tabName(t), Focused: i == m.active, Zoomed: t.tree.Zoomed, Panes: []ctl.Pane{}}
			for _, id := range t.tree.Panes() {
				if v := m.views[session.PaneID(id)]; v != nil {
					tab.Panes = append(tab.Panes, v.ctlPane(id == t.tree.Focus()))
				}
			}
			out.Tabs = append(out.Tabs, tab)
		}
		return nil
	})
	return out, err
}

func (v *view) ctlPane(focused bool) ctl.Pane {
	v.info = v.pane.Info()
	i := v.info
	p := ctl.Pane{
		ID: int(i.ID), Title: i.Title, Command: append([]string{}, i.Running...), PID: i.PID, Cwd: i.Where.Dir,
		State: ctlState(i), Exit: ctlExit(i), Capture: completeness(v), Focused: focused, Refused: i.Refused,
	}
	if p.Cwd == "" {
		p.Cwd = i.Dir
	}
	if i.Err != nil {
		p.Error = i.Err.Error()
	}
	v.pane.Peek(func(t *vt.Terminal) { p.Cols, p.Rows = t.Size() })
	return p
}

func ctlState(i session.Info) ctl.State {
	switch i.State {
	case session.StateRunning:
		return ctl.StateRunning
	case session.StateEnded:
		return ctl.StateEnded
	case session.StateNotStarted:
		return ctl.StateNotStarted
	}
	return ctl.StateUnknown
}

func ctlExit(i session.Info) *ctl.Exit {
	if i.State != session.StateEnded {
		return nil
	}
	e := &ctl.Exit{DurationMS: i.Exit.Duration().Milliseconds()}
	switch {
	case i.Exit.Signal != 0:
		e.Signal = outcome.SignalName(i.Exit.Signal)
	case i.Exit.Err == nil && i.Exit.Code >= 0:
		e.Code = &i.Exit.Code
	}
	return e
}

// completeness says what is known of the output of a pane's last run, the cut
// history included.
func completeness(v *view) ctl.Completeness {
	i := v.info
	var c ctl.Completeness
	v.pane.Peek(func(t *vt.Terminal) { c.CutLines, c.CutBytes = t.HistoryCut() })
	switch i.State {
	case session.StateRunning:
		c.State, c.Running = ctl.CaptureRunning, true
		if c.CutLines != 0 {
			c.State, c.Why = ctl.CaptureTruncated, "the oldest rows were cut from the history"
		}
		return c
	case session.StateNotStarted:
		c.State, c.Why = ctl.CaptureNotStarted, i.Err.Error()
		return c
	case session.StateEnded:
	default:
		c.Why = "the pane's state is not known"
		return c
	}
	capture := i.Capture()
	c.LostBytes = capture.Lost
	c.State = ctl.CaptureState(capture.State().String())
	if c.State == ctl.CaptureComplete && c.CutLines != 0 {
		c.State, c.Why = ctl.CaptureTruncated, "the oldest rows were cut from the history"
	}
	if c.State != ctl.CaptureComplete && c.Why == "" {
		c.Why = capture.Sentence()
	}
	return c
}

func (r remote) Split(ctx context.Context, p ctl.SplitParams) (ctl.OpenResult, error) {
	dir := layout.Right
	if p.Direction == ctl.Down {
		dir = layout.Down
	}
	return r.opens(ctx, func(m *Model, reply func(session.PaneID, error)) tea.Cmd {
		v, err := m.find(p.Pane)
		if err != nil {
			reply(0, err)
			return nil
		}
		t := m.tabs[m.tabOf(v.pane.ID())]
		if err := t.tree.CanSplit(layout.ID(v.pane.ID()), dir, m.paneArea()); err != nil {
			reply(0, ctl.Errorf(ctl.NoRoom, "%v", err))
			return nil
		}
		spec := session.Spec{Command: p.Command, Dir: p.Cwd}
		if spec.Dir == "" && v.info.Where.Host == "" {
			spec.Dir = v.info.Where.Dir
		}
		return m.openPane(spec, openedMsg{Beside: v.pane.ID(), Dir: dir, Reply: reply}, m.bodySize(v.placed.Body))
	})
}

func (r remote) Tab(ctx context.Context, p ctl.TabParams) (ctl.OpenResult, error) {
	return r.opens(ctx, func(m *Model, reply func(session.PaneID, error)) tea.Cmd {
		spec := m.here()
		spec.Command = p.Command
		if p.Cwd != "" {
			spec.Dir = p.Cwd
		}
		return m.openPane(spec, openedMsg{Reply: reply}, m.bodySize(m.wholeBody()))
	})
}

// opens waits until a pane is in its place and describes it.
func (r remote) opens(ctx context.Context, open func(*Model, func(session.PaneID, error)) tea.Cmd) (out ctl.OpenResult, err error) {
	type answer struct {
		id  session.PaneID
		err error
	}
	answers := make(chan answer, 1) // one answer, taken or not
	reply := func(id session.PaneID, err error) { answers <- answer{id, err} }
	if err := r.in(ctx, func(m *Model) tea.Cmd { return open(m, reply) }); err != nil {
		return out, err
	}
	var a answer
	select {
	case a = <-answers:
	case <-ctx.Done():
		return out, ctx.Err()
	}
	if a.err != nil {
		return out, a.err
	}
	err = r.in(ctx, func(m *Model) tea.Cmd {
		v := m.views[a.id]
		if v == nil {
			return nil
		}
		pane := v.ctlPane(true)
		out = ctl.OpenResult{Pane: pane.ID, PID: pane.PID, State: pane.State, Error: pane.Error}
		if i := m.tabOf(a.id); i >= 0 {
			out.Tab = m.tabID(i)
		}
		return nil
	})
	return out, err
}

func (r remote) Focus(ctx context.Context, p ctl.FocusParams) (out ctl.FocusResult, err error) {
	var failed error
	err = r.in(ctx, func(m *Model) tea.Cmd {
		before := m.focused()
		failed = m.ctlFocus(p)
		if v := m.focused(); v != nil {
			out = ctl.FocusResult{Tab: m.tabID(m.active), Pane: int(v.pane.ID()), Moved: v != before}
		}
		return nil
	})
	if err == nil {
		err = failed
	}
	return out, err
}

func (m *Model) ctlFocus(p ctl.FocusParams) error {
	switch {
	case p.Pane != 0:
		v, err := m.find(p.Pane)
		if err != nil {
			return err
		}
		m.goToPane(v.pane.ID())
	case p.Tab != 0:
		i := slices.IndexFunc(m.tabs, func(t *tab) bool { return t.id == p.Tab })
		if i < 0 {
			return ctl.Errorf(ctl.NoSuchTab, "there is no tab %d", p.Tab)
		}
		m.showTab(i)
	case m.tab() == nil:
		return ctl.Errorf(ctl.NoSuchPane, "there is no pane")
	default:
		dirs := map[ctl.Direction]layout.Dir{ctl.Left: layout.Left, ctl.Right: layout.Right, ctl.Up: layout.Up, ctl.Down: layout.Down}
		m.setTree(m.tab().tree.FocusDir(dirs[p.Direction], m.paneArea()), nil)
	}
	return nil
}

// pane finds a pane for a method that needs nothing else of the Model.
func (r remote) pane(ctx context.Context, id int) (v *view, pane *session.Pane, err error) {
	var failed error
	err = r.in(ctx, func(m *Model) tea.Cmd {
		if v, failed = m.find(id); failed == nil {
			pane = v.pane
		}
		return nil
	})
	if err == nil {
		err = failed
	}
	return v, pane, err
}

func (r remote) Send(ctx context.Context, p ctl.SendParams) (ctl.SendResult, error) {
	_, pane, err := r.pane(ctx, p.Pane)
	if err != nil {
		return ctl.SendResult{}, err
	}
	in := p.Input()
	n, err := pane.InputCounted(in)
	out := ctl.SendResult{Accepted: int64(n), Refused: int64(len(in) - n)}
	switch {
	case err == ptybridge.ErrEnded && n == 0:
		return out, ctl.Errorf(ctl.NotRunning, "nothing runs in pane %d", pane.ID())
	case err != nil:
		out.Why = err.Error()
	}
	return out, nil
}

func (r remote) Capture(ctx context.Context, p ctl.CaptureParams) (out ctl.CaptureResult, err error) {
	var failed error
	err = r.in(ctx, func(m *Model) tea.Cmd {
		v, err := m.find(p.Pane)
		if err != nil {
			failed = err
			return nil
		}
		v.info = v.pane.Info()
		out.Pane = int(v.pane.ID())
		out.Completeness = completeness(v)
		v.pane.Peek(func(t *vt.Terminal) { captureText(t, p, &out) })
		return nil
	})
	if err == nil {
		err = failed
	}
	return out, err
}

func captureText(t *vt.Terminal, p ctl.CaptureParams, out *ctl.CaptureResult) {
	buf := copymode.Of(t)
	out.Alternate = buf.Alternate()
	from, to := buf.History(), buf.Rows()
	if p.Scrollback && !out.Alternate {
		from = 0
	}
	if p.Rows > 0 {
		from = max(from, to-p.Rows)
	}
	out.AboveRows = int64(from)
	var text []byte
	if p.ANSI {
		text = appendANSI(t, buf, from, to)
	} else {
		text = copymode.AppendRows(nil, buf, from, to)
	}
	out.Text = strings.TrimRight(string(text), "\n")
	if out.Text != "" {
		out.Text += "\n"
	}
}

// waitTick is how often a wait looks: the facts of a pane are the window's, so
// a waiting command asks.
const waitTick = 20 * time.Millisecond

func (r remote) Wait(ctx context.Context, p ctl.WaitParams) (ctl.WaitResult, error) {
	v, pane, err := r.pane(ctx, p.Pane)
	if err != nil {
		return ctl.WaitResult{}, err
	}
	began := time.Now()
	tick := time.NewTicker(waitTick)
	defer tick.Stop()
	quiet, last := began, int64(-1)
	for {
		info := pane.Info()
		now := time.Now()
		if n := info.BytesRead; n != last {
			last, quiet = n, now
		}
		out := ctl.WaitResult{Pane: int(pane.ID()), WaitedMS: now.Sub(began).Milliseconds(), State: ctlState(info), Exit: ctlExit(info)}
		out.Happened, out.Line = happened(p, pane, info, now.Sub(quiet))
		if p.TimeoutMS > 0 && now.Sub(began) >= p.Timeout() && out.Happened == ctl.HappenedUnknown {
			out.Happened = ctl.HappenedTimeout
		}
		if info.Closed && out.Happened == ctl.HappenedUnknown {
			out.Happened = ctl.HappenedClosed
		}
		if out.Happened != ctl.HappenedUnknown {
			out.Reached = string(out.Happened) == string(p.Until)
			v := &view{pane: v.pane, info: info}
			out.Capture = completeness(v)
			return out, nil
		}
		select {
		case <-ctx.Done():
			return out, ctx.Err()
		case <-tick.C:
		}
	}
}

// happened looks whether what is waited for is true.
func happened(p ctl.WaitParams, pane *session.Pane, info session.Info, quiet time.Duration) (ctl.Happened, string) {
	ended := info.State == session.StateEnded || info.State == session.StateNotStarted
	switch p.Until {
	case ctl.UntilText:
		if line, ok := findLine(pane, p.Text); ok {
			return ctl.HappenedText, line
		}
		if ended {
			return ctl.HappenedExit, ""
		}
	case ctl.UntilIdle:
		if quiet >= p.Idle() {
			return ctl.HappenedIdle, ""
		}
		if ended {
			return ctl.HappenedExit, ""
		}
	case ctl.UntilExit:
		if ended {
			return ctl.HappenedExit, ""
		}
	}
	return ctl.HappenedUnknown, ""
}

// findLine looks for a text on the screen and in the history, within one line,
// over soft wraps.
func findLine(pane *session.Pane, text string) (line string, ok bool) {
	pane.Peek(func(t *vt.Terminal) {
		buf := copymode.Of(t)
		from := max(0, buf.History()-waitRows)
		for l := range strings.Lines(string(copymode.AppendRows(nil, buf, from, buf.Rows()))) {
			if strings.Contains(l, text) {
				line, ok = strings.TrimRight(l, "\n"), true
				return
			}
		}
	})
	return line, ok
}

// waitRows is how far above the screen a wait looks for a text that passed.
const waitRows = 2000
