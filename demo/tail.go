package demo

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/honestty/honestty/hostbench"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/ptybridge"
	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tools/terminal"
	"github.com/honestty/honestty/vt"
)

// A runner runs `seq 1 lines` once and returns what it holds of it and how it
// says that it ended.
type runner func(ctx context.Context) (text, says string, err error)

func tail(ctx context.Context, s *stage) error {
	last, runs := s.conf.Lines, s.conf.Runs
	s.part.Done = fmt.Sprintf("`seq 1 %d` is run %d times on a terminal. It ends at once, and much of its output is then still unread.", last, runs)
	if err := s.tmux(ctx); err != nil {
		return err
	}
	pane, closeAll := s.panes()
	defer closeAll()
	whole := true
	for _, way := range []struct {
		who string
		run runner
	}{{"honestty pane", pane}, {"honestty run", s.runOnce}} {
		complete, worst, says := 0, last, ""
		for range runs {
			text, end, err := way.run(ctx)
			if err != nil {
				return err
			}
			n := hostbench.Numbers(s.found(text), last)
			if n == last {
				complete++
			}
			if n < worst || says == "" {
				worst, says = min(worst, n), end
			}
		}
		whole = whole && complete == runs
		s.add(tailRow(true, way.who, complete, runs, worst, last, says))
	}
	why := fmt.Sprintf("all %s lines were there in every run", outcome.Count(int64(last)))
	if old := s.part.Rows[0]; old.Count != nil {
		why += fmt.Sprintf("; %s had them in %d of %d", old.Who, *old.Count, *old.Of)
	}
	s.judge(whole, why, "lines are missing")
	return nil
}

func tailRow(ours bool, who string, complete, runs, worst, last int, says string) Row {
	return counted(ours, who, int64(complete), int64(runs), fmt.Sprintf("complete runs; the worst has %s of %s lines and says %s",
		outcome.Count(int64(worst)), outcome.Count(int64(last)), says))
}

// tmux is the old way, where it is installed.
func (s *stage) tmux(ctx context.Context) error {
	last, runs := s.conf.Lines, s.conf.Runs
	info, tails, err := hostbench.TailsOf(ctx, hostbench.Config{Poller: s.conf.Poller, Version: s.conf.Version, Runs: runs}, "tmux", last)
	switch {
	case errors.Is(err, hostbench.ErrNotInstalled):
		s.add(Row{Who: "tmux", NotRun: "tmux is not installed"})
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		s.add(Row{Who: info.Title(), NotRun: err.Error()})
		return nil
	}
	complete, worst, says := 0, last, ""
	for _, t := range tails {
		if t.Lines == last {
			complete++
		}
		if t.Lines < worst || says == "" {
			worst, says = min(worst, t.Lines), t.Says
		}
	}
	s.add(tailRow(false, info.Title(), complete, runs, worst, last, says))
	return nil
}

func (s *stage) seq() []string { return []string{"seq", "1", strconv.Itoa(s.conf.Lines)} }

// panes runs the command in panes of a session, as a window does.
func (s *stage) panes() (runner, func()) {
	ended := make(chan session.PaneID, 1) // one pane at a time
	all := session.New(session.Config{
		Poller: s.conf.Poller, Version: s.conf.Version, Scrollback: s.conf.Lines + 1000, ScrollbackBytes: 64 << 20,
		Publish: func(f session.Fact) {
			if e, ok := f.(session.PaneEnded); ok {
				ended <- e.ID
			}
		},
	})
	run := func(ctx context.Context) (string, string, error) {
		p := all.Open(session.Spec{Command: s.seq()}, ptybridge.Size{Cols: 80, Rows: 24})
		defer p.Close()
		select {
		case <-ended:
		case <-ctx.Done():
			return "", "", ctx.Err()
		}
		info := p.Info()
		if info.Err != nil {
			return "", "", info.Err
		}
		var text []byte
		p.Look(func(t *vt.Terminal) { text = textOf(t) })
		return string(text), "“" + session.Ending(info.Exit) + ", " + info.Capture().State().String() + "”", nil
	}
	return run, func() { all.Close() }
}

// textOf is the history and the screen, a line a row.
func textOf(t *vt.Terminal) []byte {
	var text []byte
	var cells []vt.Cell
	row := func(cells []vt.Cell) {
		for _, c := range cells {
			text = t.AppendText(text, c)
		}
		text = append(text, '\n')
	}
	for i := range t.HistoryLen() {
		cells = t.HistoryLine(i, cells[:0])
		row(cells)
	}
	_, rows := t.Size()
	for r := range vt.Row(rows) {
		row(t.Line(r))
	}
	return text
}

func (s *stage) runOnce(ctx context.Context) (string, string, error) {
	r := terminal.Run(ctx, terminal.Spec{Command: s.seq(), Poller: s.conf.Poller})
	if r.PID == 0 {
		return "", "", r.Err
	}
	says := "“" + r.Status.String() + ", " + r.State().String() + "”"
	return string(r.Output.Bytes), says, nil
}
