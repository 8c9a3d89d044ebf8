package tui

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/ptybridge"
	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tui/copymode"
	"github.com/honestty/honestty/tui/layout"
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/statusbar"
	"github.com/honestty/honestty/vt"
)

// A view is a pane as this window sees it.
type view struct {
	pane   *session.Pane
	info   session.Info // as the last fact left it
	placed layout.Placed
	shown  bool // it lies on the screen

	styles       screen.StyleMap
	frozenStyles screen.StyleMap
	wanted       vt.Modes       // what the program wanted when it was last drawn
	syncSince    time.Time      // since when the program holds its screen (mode 2026)
	shownEnd     int            // the run whose end was on the screen: only then keys act on it
	stale        bool           // there is something that was not drawn yet
	copy         *copymode.Mode // nil outside copy mode
	frozen       *vt.Terminal   // what copy mode shows: the pane as it was when it began
	frozenAt     int64          // bytes that had been read by then
	byWheel      bool           // copy mode was entered by the wheel and ends at the bottom
	stepping     bool           // a stepMsg of its search is on the way
	searchAnew   bool           // its search has to be stepped, should there be one

	readOnly bool     // what is typed does not reach the program
	activity bool     // output came while it was not shown
	sawRuns  int      // of the output that was in sight: the run
	sawBytes int64    // and how much of it
	file     string   // that its command reads, see Window.files; empty: none
	clips    bool     // it may want the clipboard, and was not asked yet
	called   bool     // it rang or notified while it was not shown
	seen     bool     // its end was looked at
	bells    int      // of info.Bells, those that were acted on
	notices  int      // the last notice that was acted on
	told     vt.Color // the background that its engine was told
}

func newView(p *session.Pane) *view {
	return &view{pane: p, info: p.Info(), stale: true}
}

// refresh takes in what the session knows now.
func (v *view) refresh() {
	v.info = v.pane.Info()
	v.stale = true
	if v.info.State == session.StateRunning || v.info.State == session.StateUnknown {
		v.seen = false
	}
}

// hide remembers what was in sight when it goes out of it.
func (v *view) hide() {
	i := v.pane.Info()
	v.sawRuns, v.sawBytes = i.Runs, i.BytesRead
}

// wroteUnseen reports whether there is output that was not in sight. A pane that
// is told a size, or runs another program, is not active by that.
func (v *view) wroteUnseen() bool {
	return v.info.Runs != v.sawRuns || v.info.BytesRead > v.sawBytes
}

// alive reports whether its process runs.
func (v *view) alive() bool { return v.info.State == session.StateRunning }

// failed reports an end that must be looked at: lost, failed, not started.
func (v *view) failed() bool {
	switch v.mark() {
	case statusbar.MarkFailure, statusbar.MarkUnknown, statusbar.MarkAttention:
		return v.info.State != session.StateRunning
	}
	return false
}

// mark is the glyph of a pane whose process does not run.
func (v *view) mark() statusbar.Mark {
	i := v.info
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

// command is what really runs: the foreground process as the kernel has it,
// else what was started.
func (v *view) command() string {
	if v.alive() && v.info.Where.Command != "" {
		return v.info.Where.Command
	}
	if len(v.info.Running) > 0 {
		return filepath.Base(v.info.Running[0])
	}
	return "?"
}

// place is where it runs: host and directory, the home shortened. Empty when
// nothing is known.
func (v *view) place(home string) string {
	w := v.info.Where
	dir := w.Dir
	if dir == "" && (!v.alive() || w == (session.Where{})) { // ended, or not looked at yet
		dir = v.info.Dir
	}
	if home != "" && (dir == home || strings.HasPrefix(dir, home+"/")) && w.Host == "" {
		dir = "~" + dir[len(home):]
	}
	if w.Host != "" {
		if dir == "" {
			return w.Host
		}
		return w.Host + ":" + dir
	}
	return dir
}

// title is what the program calls itself, where that tells more than its command
// and its place, of which some shells make a title.
func (v *view) title(home string) string {
	title, place := screen.Visible(v.info.Title), screen.Visible(v.place(home))
	if !v.alive() || title == v.command() || title == place || title == v.command()+" "+place {
		return ""
	}
	return title
}

// notified returns the notices that came since the last call.
func (v *view) notified() []session.Notice {
	var out []session.Notice
	for _, n := range v.info.Notices {
		if n.Seq > v.notices {
			out = append(out, n)
			v.notices = n.Seq
		}
	}
	return out
}

// resize gives the pane its size. Copy mode stays on its text while lines are
// wrapped anew.
func (v *view) resize(size ptybridge.Size) {
	v.pane.Resize(size)
	if v.copy == nil {
		return
	}
	size = size.Clamp()
	v.copy.Use(copymode.Of(v.frozen))
	v.copy.Hold()
	v.frozen.Resize(size.Cols, size.Rows)
	v.copy.Use(copymode.Of(v.frozen))
	v.copy.Settle()
	v.searchAnew = true
}

// wroteOn reports whether output came since copy mode began.
func (v *view) wroteOn() bool { return v.copy != nil && v.info.BytesRead > v.frozenAt }
