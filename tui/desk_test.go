package tui

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/config"
	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/ptybridge"
	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tools/fdmeter"
	"github.com/honestty/honestty/tui/input"
	"github.com/honestty/honestty/vt"

	"github.com/honestty/honestty/tui/screen"
)

// A desk is a Model without a terminal and without processes: what its panes
// show and what is known of them is said by the test, so that every figure is
// the same on every machine.
type desk struct {
	t   *testing.T
	m   *Model
	out *deskWriter
	env map[string]string

	facts chan session.Fact // of panes with a real program
}

// A deskWriter takes what a window writes, and is always ready for more.
type deskWriter struct{ passed []byte }

func (*deskWriter) Enter(screen.Modes) error    { return nil }
func (*deskWriter) SetModes(screen.Modes) error { return nil }
func (*deskWriter) Busy() bool                  { return false }
func (*deskWriter) Submit([]byte) bool          { return true }
func (*deskWriter) Restore() error              { return nil }
func (*deskWriter) Close() error                { return nil }

func (w *deskWriter) Pass(p []byte) bool {
	w.passed = append(w.passed, p...)
	return true
}

// A deskReader reads nothing.
type deskReader struct{}

func (deskReader) SetKitty(bool)           {}
func (deskReader) Done() <-chan struct{}   { return nil }
func (deskReader) End() (input.End, error) { return input.EndUnknown, nil }
func (deskReader) Close() error            { return nil }

// publish keeps facts for a test that waits for one; the others are lost.
func (d *desk) publish(f session.Fact) {
	select {
	case d.facts <- f:
	default:
	}
}

type deskConfig struct {
	cols, rows int
	settings   string // of config.toml
	state      config.State
	env        map[string]string
}

func newDesk(t *testing.T, c deskConfig) *desk {
	t.Helper()
	p, err := fdwait.New()
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{
		"HOME": "/home/ada", "LANG": "C.UTF-8", "TERM": "xterm-256color", "COLORTERM": "truecolor",
		"XDG_CONFIG_HOME": t.TempDir(), "XDG_STATE_HOME": t.TempDir(),
	}
	for k, v := range c.env {
		env[k] = v
	}
	get := func(k string) string { return env[k] }
	if c.settings != "" {
		path := config.UserPath(get)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(c.settings), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	settings, err := config.NewStore(config.Options{Env: get})
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, out: &deskWriter{}, env: env, facts: make(chan session.Fact, 1000)}
	w := &Window{
		opt:    Options{Poller: p, Version: "test", Env: get, Settings: settings, State: c.state},
		writer: d.out, reader: deskReader{},
		router: newRouter(func(ordered, chan<- struct{}) {}),
	}
	w.session = session.New(session.Config{Poller: p, Version: "test", Publish: d.publish, Guard: func() {}})
	t.Cleanup(func() {
		w.session.Close()
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	if c.cols == 0 {
		c.cols = 80
	}
	if c.rows == 0 {
		c.rows = 24
	}
	d.m = newModel(w, ptybridge.Size{Cols: c.cols, Rows: c.rows})
	return d
}

// alive is what is known of a program that runs.
func alive(command, dir string, pid int) session.Info {
	return session.Info{
		State: session.StateRunning, Runs: 1, PID: pid, Running: []string{"/usr/bin/" + command}, Dir: dir,
		Where: session.Where{PID: pid, Command: command, Dir: dir},
	}
}

// over is what is known of a program that has ended after 3.2 seconds.
func over(command, dir string, code int, sig unix.Signal) session.Info {
	began := time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)
	return session.Info{
		State: session.StateEnded, Runs: 1, Running: []string{"/usr/bin/" + command}, Dir: dir,
		Exit: ptybridge.Exit{
			Code: code, Signal: sig, Started: began, Ended: began.Add(3200 * time.Millisecond),
			Capture: outcome.Capture{Read: 108_894, Shown: 108_894, End: outcome.EndHangup},
		},
	}
}

// unstarted is what is known of a program that could not start.
func unstarted(command string, err error) session.Info {
	return session.Info{State: session.StateNotStarted, Runs: 1, Running: []string{command}, Err: err}
}

// pane opens a pane beside another one, or in a tab of its own.
func (d *desk) pane(i session.Info, output string, where openedMsg) *view {
	d.t.Helper()
	// A command that cannot start leaves a pane whose engine is the test's.
	pane := d.m.w.session.Open(session.Spec{Command: []string{"/no/such/program"}, Dir: "/"}, ptybridge.Size{Cols: 80, Rows: 24})
	d.m.opening++
	where.Pane = pane
	d.send(where)
	v := d.m.views[pane.ID()]
	i.ID = pane.ID()
	v.info = i
	d.write(v, output)
	d.m.moved()
	return v
}

// write is output of a pane's program.
func (d *desk) write(v *view, output string) {
	v.pane.Look(func(t *vt.Terminal) {
		if output != "" {
			t.Write([]byte(strings.ReplaceAll(output, "\n", "\r\n")))
		}
		v.info.Title = t.Title()
	})
	v.stale = true
}

// send gives the Model a message and does what it asks for, but for waiting.
func (d *desk) send(msg tea.Msg) tea.Cmd {
	_, cmd := d.m.Update(msg)
	return cmd
}

// say gives the Model what the router would, and returns what it asks for.
func (d *desk) say(msg ordered) tea.Cmd {
	d.t.Helper()
	done := make(chan struct{})
	return d.send(orderedMsg{msg, done})
}

// typ types keys that are the Model's: bytes as the outer terminal sends them.
// The prefix is ^B, and is acted on as the router would.
func (d *desk) typ(bytes string) {
	d.t.Helper()
	prefixed := false
	var z input.Tokenizer
	take := func(t input.Token) {
		for one := range t.Keys() {
			if one.Key.String() == "ctrl+b" && !prefixed {
				prefixed = true
				d.say(prefixMsg{true})
				continue
			}
			d.say(keyMsg{Key: one.Key, Prefixed: prefixed})
			prefixed = false
		}
	}
	z.Feed([]byte(bytes), take)
	z.Flush(take)
}

// screen composes a frame and returns its text.
func (d *desk) screen() string {
	d.m.compose(time.Now())
	return d.m.screen.Text()
}

// meter is a count as the meter reads it: this window and two panes.
func (d *desk) meter() {
	own := deskProcess(4600, "/usr/local/bin/honestty", 87, 131)
	s := fdmeter.Snapshot{
		At: time.Date(2026, 3, 14, 9, 1, 0, 0, time.UTC), Own: own,
		Processes: []fdmeter.Process{own, deskProcess(4711, "/usr/bin/node server.js", 871, 903), deskProcess(4720, "-zsh", 11, 255)},
		Roots:     []fdmeter.Root{{PID: 4711, Members: []int{4711}}, {PID: 4720, Members: []int{4720}}},
		System: fdmeter.System{
			Files: fdmeter.Known(108_894), FilesMax: fdmeter.Known(1 << 62),
			PTYs: fdmeter.Known(12), PTYsMax: fdmeter.Known(4096), PTYsReserve: fdmeter.Known(1024),
		},
		Scan: fdmeter.Scan{Listed: true, Read: 200},
	}
	d.send(session.MeterRead{Snapshot: s})
	// That one of them is near a line is told elsewhere; see meter_test.go.
	d.m.alerts = slices.DeleteFunc(d.m.alerts, func(a alert) bool { return a.meter })
}

func deskProcess(pid int, command string, count, highest int64) fdmeter.Process {
	name, _, _ := strings.Cut(command, " ")
	p := fdmeter.Process{
		Reading: fdmeter.Reading{
			PID: pid, Birth: uint64(pid) * 7, Name: name[strings.LastIndexByte(name, '/')+1:], Command: command,
			Count: fdmeter.Known(count), Highest: fdmeter.Known(highest),
			Soft: fdmeter.Known(4096), Hard: fdmeter.Known(1 << 20), Method: fdmeter.ByStat,
		},
		Growth: fdmeter.Growth{Trend: fdmeter.Flat},
	}
	for i := range p.Spark {
		p.Spark[i] = fdmeter.Known(count)
	}
	p.Line, p.HasLine = fdmeter.Nearest(p.Reading)
	return p
}
