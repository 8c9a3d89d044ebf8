package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/honestty/honestty/config"
	"github.com/honestty/honestty/jobhost"
	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tui/panels"
	"github.com/honestty/honestty/tui/screen"
)

// Times of the panels.
const (
	// livePause is the time between two reads of what a panel shows live.
	livePause = 200 * time.Millisecond

	// jobsPause is the time between two looks at the jobs while their panel is
	// shown.
	jobsPause = time.Second

	// ownLimit bounds a command of our own that is run out of sight.
	ownLimit = time.Minute
)

type (
	// callDetailMsg carries a call whole. Each panel takes those it asked for.
	callDetailMsg struct {
		Call  string
		Start journal.Start
		End   *journal.End
		Err   error
	}

	// outputMsg carries a part of a call's output.
	outputMsg struct {
		Call string
		From int64
		Data []byte
		Size int64
		Err  error
	}

	// jobsMsg carries the jobs; without a host there are none.
	jobsMsg struct {
		Jobs []jobhost.Job
		Err  error
	}

	// tailMsg carries a part of a job's output.
	tailMsg struct {
		ID   string
		From int64
		Data []byte
		End  bool
		Lost int64
		Err  error
	}

	// playedMsg says that a player ended, or why it could not.
	playedMsg struct {
		Call string
		Err  error
	}

	// liveMsg says that it is time to look at what a panel shows live.
	liveMsg struct{}

	// jobsDueMsg says that it is time to look at the jobs.
	jobsDueMsg struct{}
)

// A typing panel takes text for a filter.
type typing interface {
	Typing() bool
	Paste(text string) bool
}

// A wanting panel has to be read to again.
type wanting interface{ Wants() panels.Action }

// A player is an audio file that is played.
type player struct {
	call string
	stop context.CancelFunc
}

// showPanel brings a panel to the front, and the keyboard to it.
func (m *Model) showPanel(p panels.Panel) tea.Cmd {
	m.panels.Show(p.Name())
	if !m.docked.Shown() {
		m.openDock()
	}
	m.inDock = m.docked.Shown()
	return tea.Batch(m.panelsChanged(), m.soon())
}

// shows reports whether a panel is in view.
func (m *Model) shows(p panels.Panel) bool { return m.docked.Shown() && m.panels.Active() == p }

// panelsChanged brings the panels up to date and keeps what moves in them
// moving: it is called when calls came and when another panel is shown.
func (m *Model) panelsChanged() tea.Cmd {
	m.dirty = true
	if m.calls.book == nil {
		return nil
	}
	now := time.Now()
	m.tools.Waiting(m.asking())
	m.tools.Show(m.calls.book, now)
	m.speech.Show(m.calls.book, now)
	m.sends.Show(m.calls.book, now)
	watched := m.shows(m.tools) || m.shows(m.speech) || m.shows(m.sends)
	m.w.session.WatchCalls(watched)
	var cmds []tea.Cmd
	if m.docked.Shown() {
		if p, ok := m.panels.Active().(wanting); ok {
			cmds = append(cmds, m.panelAction(p.Wants()))
		}
		cmds = append(cmds, m.keepLive())
	}
	if m.shows(m.jobs) {
		cmds = append(cmds, m.lookAtJobs())
	}
	return tea.Batch(cmds...)
}

// asking are the agents that wait for an answer here, and the rule each is
// asked about.
func (m *Model) asking() map[string]string {
	out := map[string]string{}
	for _, q := range m.questions {
		if _, more := out[q.asked.From]; !more {
			out[q.asked.From] = q.asked.Rule
		}
	}
	return out
}

// soon looks again in a moment: a panel knows what it wants once it was drawn.
func (m *Model) soon() tea.Cmd {
	if m.live || !m.docked.Shown() {
		return nil
	}
	m.live = true
	return tea.Tick(livePause, func(time.Time) tea.Msg { return liveMsg{} })
}

// keepLive looks again soon as long as something moves in the panel that is
// shown: a call that runs shows for how long, and its output.
func (m *Model) keepLive() tea.Cmd {
	if m.live || !m.docked.Shown() {
		return nil
	}
	p, ok := m.panels.Active().(wanting)
	if !ok || !m.shows(m.jobs) && len(m.calls.book.Owners()) == 0 && p.Wants() == nil {
		return nil
	}
	return m.soon()
}

// takePanels acts on what the panels asked for.
func (m *Model) takePanels(msg tea.Msg) tea.Cmd {
	m.dirty = true
	switch msg := msg.(type) {
	case callDetailMsg:
		m.tools.TakeCall(msg.Call, msg.Start, msg.End, msg.Err)
		m.speech.TakeCall(msg.Call, msg.Start, msg.End, msg.Err)
		m.sends.TakeCall(msg.Call, msg.Start, msg.End, msg.Err)
		return m.again()
	case outputMsg:
		m.tools.TakeOutput(msg.Call, msg.From, msg.Data, msg.Size, msg.Err)
		return m.keepLive()
	case jobsMsg:
		m.jobs.SetDescriptors(m.held())
		m.jobs.Show(msg.Jobs, msg.Err, time.Now())
		if m.shows(m.jobs) && !m.jobsDue {
			m.jobsDue = true
			return tea.Batch(m.keepLive(), tea.Tick(jobsPause, func(time.Time) tea.Msg { return jobsDueMsg{} }))
		}
	case jobsDueMsg:
		m.jobsDue = false
		if m.shows(m.jobs) {
			return m.lookAtJobs()
		}
	case tailMsg:
		m.jobs.TakeJob(msg.ID, msg.From, msg.Data, msg.End, msg.Lost, msg.Err)
		return m.keepLive()
	case playedMsg:
		if m.player.call == msg.Call {
			m.player = player{}
		}
		m.speech.Playing("", msg.Err)
	case liveMsg:
		m.live = false
		return m.panelsChanged()
	}
	return nil
}

// again does what the panel that is shown wants next.
func (m *Model) again() tea.Cmd {
	if p, ok := m.panels.Active().(wanting); ok && m.docked.Shown() {
		return tea.Batch(m.panelAction(p.Wants()), m.keepLive())
	}
	return nil
}

// held is how many descriptors processes hold, by pid, as far as it was counted.
func (m *Model) held() map[int]int64 {
	out := map[int]int64{}
	for _, p := range m.meter.Processes {
		if n, known := p.Count.Get(); known {
			out[p.PID] = n
		}
	}
	return out
}

// detailOf reads a call whole.
func (m *Model) detailOf(r journal.Record) tea.Cmd {
	w, dir := m.w, m.calls.dir
	return func() tea.Msg {
		defer w.guard()
		start, end, err := journal.Detail(dir, r)
		return callDetailMsg{r.Start.Call, start, end, err}
	}
}

// outputOf reads a part of the file with a call's output.
func (m *Model) outputOf(a panels.ReadOutput) tea.Cmd {
	w := m.w
	return func() tea.Msg {
		defer w.guard()
		data, from, size, err := readPart(a.Path, a.From, a.Max)
		return outputMsg{a.Call, from, data, size, err}
	}
}

// readPart reads up to most bytes of a file, from an offset or from its end.
func readPart(path string, from int64, most int) ([]byte, int64, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, max(from, 0), 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, max(from, 0), 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, max(from, 0), 0, errors.New("it is not a regular file")
	}
	size := info.Size()
	if from == panels.FromEnd {
		from = max(0, size-int64(most))
	}
	data := make([]byte, max(0, min(int64(most), size-from)))
	n, err := f.ReadAt(data, from)
	if errors.Is(err, io.EOF) {
		err = nil // it became shorter while it was read, or this is its end
	}
	return data[:n], from, size, err
}

// lookAtJobs asks the job host for its jobs. None is started for that.
func (m *Model) lookAtJobs() tea.Cmd {
	w := m.w
	if w.opt.Jobs == nil {
		return nil
	}
	return func() tea.Msg {
		defer w.guard()
		c, err := w.opt.Jobs()
		if errors.Is(err, jobhost.ErrNoHost) {
			return jobsMsg{}
		}
		if err != nil {
			return jobsMsg{Err: err}
		}
		defer c.Close()
		ctx, cancel := context.WithTimeout(context.Background(), ownLimit)
		defer cancel()
		jobs, err := c.List(ctx)
		return jobsMsg{jobs, err}
	}
}

func (m *Model) tailOf(a panels.ReadJob) tea.Cmd {
	w := m.w
	if w.opt.Jobs == nil {
		return nil
	}
	return func() tea.Msg {
		defer w.guard()
		c, err := w.opt.Jobs()
		if err != nil {
			return tailMsg{ID: a.ID, From: a.From, Err: err}
		}
		defer c.Close()
		ctx, cancel := context.WithTimeout(context.Background(), ownLimit)
		defer cancel()
		chunk, err := c.Read(ctx, a.ID, a.From, 0)
		return tailMsg{a.ID, chunk.From, chunk.Data, chunk.End, chunk.Lost, err}
	}
}

// play plays a file, in the place of what is played.
func (m *Model) play(a panels.PlayAudio) tea.Cmd {
	w := m.w
	if w.opt.Play == nil {
		m.speech.Playing("", errors.New("this window cannot play"))
		return nil
	}
	m.stopPlaying()
	ctx, stop := context.WithCancel(context.Background())
	m.player = player{a.Call, stop}
	m.speech.Playing(a.Call, nil)
	return func() tea.Msg {
		defer w.guard()
		defer stop()
		err := w.opt.Play(ctx, a.Path)
		if ctx.Err() != nil {
			err = nil // it was stopped
		}
		return playedMsg{a.Call, err}
	}
}

func (m *Model) stopPlaying() {
	if m.player.stop != nil {
		m.player.stop()
	}
	m.player = player{}
	m.speech.Playing("", nil)
}

// inTab runs our own program in a tab of its own, where what it says stays.
func (m *Model) inTab(args ...string) tea.Cmd {
	if m.w.opt.Program == "" {
		m.say("this window does not know its own program", true)
		return nil
	}
	spec := session.Spec{Command: append([]string{m.w.opt.Program}, args...), Dir: m.here().Dir}
	return m.openPane(spec, openedMsg{Name: args[0]}, m.bodySize(m.wholeBody()))
}

// quietly runs our own program out of sight and says how it ended.
func (m *Model) quietly(done string, args ...string) tea.Cmd {
	w := m.w
	return func() tea.Msg {
		defer w.guard()
		ctx, cancel := context.WithTimeout(context.Background(), ownLimit)
		defer cancel()
		out, err := exec.CommandContext(ctx, w.opt.Program, args...).CombinedOutput()
		if err == nil {
			return noteMsg{done, false}
		}
		said := strings.TrimPrefix(oneLine(string(out)), "honestty: ")
		if said == "" {
			said = err.Error()
		}
		return noteMsg{screen.Visible(said), true}
	}
}

// callAction does what a panel of calls or jobs asks for.
func (m *Model) callAction(a panels.Action) tea.Cmd {
	switch a := a.(type) {
	case panels.Several:
		var cmds []tea.Cmd
		for _, one := range a {
			cmds = append(cmds, m.panelAction(one))
		}
		return tea.Batch(cmds...)
	case panels.ReadCall:
		return m.detailOf(a.Record)
	case panels.ReadOutput:
		return m.outputOf(a)
	case panels.SeenCall:
		m.calls.book.Seen(a.Call)
		m.dropCallAlerts(a.Call)
		return m.panelsChanged()
	case panels.CopyText:
		return m.copyOut(a.Text, strings.Count(strings.TrimSuffix(a.Text, "\n"), "\n")+1, "")
	case panels.GoToPaneID:
		m.goToPane(session.PaneID(a.Pane))
	case panels.OpenFile:
		return m.editFile(a.Path)
	case panels.ReadJob:
		return m.tailOf(a)
	case panels.KillJob:
		m.confirm("End job "+a.ID+"?", "It and every process below it get TERM, then KILL.", "ends it", "leaves it", func() tea.Cmd {
			return m.quietly(a.ID+" has ended", "job", "kill", a.ID)
		})
	case panels.AttachJob:
		if a.Take {
			return m.inTab("job", "attach", "--take", a.ID)
		}
		return m.inTab("job", "attach", a.ID)
	case panels.PlayAudio:
		return m.play(a)
	case panels.StopAudio:
		m.stopPlaying()
	case panels.ShowCheckpoint:
		return m.inTab("checkpoint", "diff", a.ID)
	case panels.RestoreCheckpoint:
		m.confirm("Restore checkpoint "+a.ID+"?", "It replaces "+screen.Visible(a.Path)+"; what is there now is kept first.", "restores it", "leaves it", func() tea.Cmd {
			return m.quietly("restored "+filepath.Base(a.Path), "checkpoint", "restore", a.ID)
		})
	case panels.RevealPath:
		return m.openPane(session.Spec{Dir: filepath.Dir(a.Path)}, openedMsg{}, m.bodySize(m.wholeBody()))
	case panels.RunCommand:
		if a.Confirm == "" {
			return m.inTab(a.Args...)
		}
		m.confirm(a.Confirm, "honestty "+strings.Join(a.Args, " "), "does it", "does not", func() tea.Cmd { return m.inTab(a.Args...) })
	case panels.OpenConfig:
		return m.editFile(config.UserPath(m.w.opt.Env))
	case panels.Compose:
		return m.openForm()
	}
	return nil
}

// editFile opens a file in the user's editor, in a tab.
func (m *Model) editFile(path string) tea.Cmd {
	return m.openPane(session.Spec{
		// As in openEditor: a shell takes the variable apart, the path is never parsed.
		Command: []string{"/bin/sh", "-c", m.editor() + ` "$HONESTTY_OUTPUT"`},
		Env:     append(os.Environ(), "HONESTTY_OUTPUT="+path),
	}, openedMsg{Name: filepath.Base(path)}, m.bodySize(m.wholeBody()))
}

// editor is the command that edits a file.
func (m *Model) editor() string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if v := m.w.opt.Env(name); v != "" {
			return v
		}
	}
	return "vi"
}

// lookAtCall shows the panel of a call's tool, with the call chosen.
func (m *Model) lookAtCall(call string) tea.Cmd {
	r, err := m.calls.book.Find(call)
	m.dropCallAlerts(call)
	m.calls.book.Seen(call)
	if err != nil {
		m.say(fmt.Sprintf("that call is not known any more: %v", err), true)
		return nil
	}
	var cmd tea.Cmd
	switch r.Start.Tool {
	case "text_to_speech":
		cmd = m.showPanel(m.speech)
		m.speech.Choose(call)
	case "send_message":
		cmd = m.showPanel(m.sends)
		m.sends.Choose(call)
	default:
		cmd = m.showPanel(m.tools)
		m.tools.Choose(call)
	}
	return cmd
}

// pasteInDock gives a paste to the panel that is typed into, and reports
// whether one was.
func (m *Model) pasteInDock(text string) bool {
	p, ok := m.panels.Active().(typing)
	return ok && p.Typing() && p.Paste(text)
}
