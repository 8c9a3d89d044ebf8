package hostbench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// fullLimit is room for a host and a few commands.
	fullLimit = 40
	// fullMost is more commands than can be opened in that room.
	fullMost = 80
)

// A filler can open more commands in a host that runs.
type filler interface {
	// fill opens commands until one cannot be opened. It returns how many ran,
	// what the host said of the one that did not, and whether the first still
	// runs.
	fill(ctx context.Context, b *bed) (filled, error)
}

type filled struct {
	opened int // 0: not even the first
	said   string
	alive  bool
}

// sleeper is a command that lasts until the host ends it.
var sleeper = []string{"sleep", "600"}

func full(ctx context.Context, b *bed, h host) (Cell, error) {
	f, ok := h.(filler)
	if !ok {
		return Cell{State: StateNotAsked, Figure: "–", Says: "it runs one command"}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, b.conf.Patience)
	defer cancel()
	got, err := f.fill(ctx, b)
	if err != nil {
		return Cell{}, err
	}
	c := Cell{State: StateShort, Runs: 1, Figure: fmt.Sprintf("%d ran, ", got.opened)}
	why := "no reason"
	if tells(got.said) {
		why = "says why"
	}
	life := ", the first is gone"
	if got.alive {
		life = ", the first lives"
	}
	c.Figure += why + life
	c.Says = "it says “" + firstOf(got.said, "nothing") + "”"
	switch {
	case got.opened == 0:
		return c, fmt.Errorf("not even one command ran: %s", firstOf(got.said, "it says nothing"))
	case got.opened > fullMost:
		return c, fmt.Errorf("%d commands ran and none failed", got.opened)
	case tells(got.said) && got.alive:
		c.State, c.Good = StateKept, 1
	}
	return c, nil
}

// hangs is what stands for an answer that did not come.
const hangs = "nothing: whoever asked waits without an answer"

// asked runs one request to a host. A request that hangs is an answer too.
func (b *bed) asked(ctx context.Context, do func(context.Context) (ran, error)) (ran, error) {
	short, cancel := context.WithTimeout(ctx, b.conf.short)
	defer cancel()
	r, err := do(short)
	if errors.Is(err, ErrSlow) && ctx.Err() == nil {
		return ran{code: -1, err: hangs}, nil
	}
	return r, err
}

// lives reports whether a process is there.
func lives(pid int) bool { return pid > 0 && unix.Kill(pid, 0) == nil }

// fullTask is the first command, in a host that has room for few more.
func fullTask() Task { return Task{Command: sleeper, History: 100, Limit: fullLimit} }

func (tmux) fill(ctx context.Context, b *bed) (f filled, err error) {
	s, err := startTmux(ctx, b, fullTask())
	if s == nil {
		return f, err
	}
	defer s.close(ctx)
	if err != nil || s.refused != "" || s.server.gone() {
		f.said = s.refused
		return f, err
	}
	r, err := s.do(ctx, "display-message", "-p", "-t", "b", "#{pane_pid}")
	if err != nil {
		return f, err
	}
	pane, _ := strconv.Atoi(strings.TrimSpace(r.out)) // 0 is no process
	for f.opened = 1; f.opened <= fullMost; f.opened++ {
		r, err := b.asked(ctx, func(ctx context.Context) (ran, error) {
			return s.do(ctx, append([]string{"new-window", "-d", "--"}, sleeper...)...)
		})
		if err != nil {
			return f, err
		}
		if !r.ok() {
			f.said = r.said()
			break
		}
	}
	f.alive = !s.server.gone() && lives(pane)
	return f, nil
}

func (screen) fill(ctx context.Context, b *bed) (f filled, err error) {
	dir, remove, err := b.folder()
	if err != nil {
		return f, err
	}
	defer remove()
	name, rc := "b"+filepath.Base(dir), filepath.Join(dir, "rc")
	if err := b.write(rc, "startup_message off\n"); err != nil {
		return f, err
	}
	argv, err := b.start(fullTask(), append([]string{"screen", "-c", rc, "-D", "-m", "-S", name}, sleeper...)...)
	if err != nil {
		return f, err
	}
	server, err := b.launch(dir, argv...)
	if err != nil {
		return f, err
	}
	ask := func(ctx context.Context, args ...string) (ran, error) {
		return b.do(ctx, dir, append([]string{"screen", "-S", name}, args...)...)
	}
	defer server.stop(ctx)
	windows := 0
	err = until(ctx, "screen", func() (bool, error) {
		r, err := ask(ctx, "-Q", "windows")
		windows = windowsOf(r.out)
		return windows > 0 || server.gone(), err
	})
	for err == nil && windows > f.opened && windows <= fullMost {
		f.opened = windows
		var r ran
		r, err = b.asked(ctx, func(ctx context.Context) (ran, error) {
			if r, err := ask(ctx, append([]string{"-X", "screen"}, sleeper...)...); err != nil || !r.ok() {
				return r, err
			}
			return ask(ctx, "-Q", "windows") // answered after the command before it
		})
		if windows = windowsOf(r.out); windows == 0 {
			f.said = r.said() // it does not answer any more
		}
	}
	f.alive = !server.gone()
	if err != nil || f.said != "" {
		return f, err
	}
	r, err := b.asked(ctx, func(ctx context.Context) (ran, error) { return ask(ctx, "-Q", "lastmsg") })
	f.said = r.said()
	return f, err
}

// windowsOf counts the windows of a list: numbers with flags, before a name.
func windowsOf(list string) int {
	n := 0
	for _, w := range strings.Fields(list) {
		if w[0] >= '0' && w[0] <= '9' {
			n++
		}
	}
	return n
}

func (window) fill(ctx context.Context, b *bed) (f filled, err error) {
	dir, remove, err := b.folder()
	if err != nil {
		return f, err
	}
	defer remove()
	settings := filepath.Join(dir, "settings.toml")
	if err := b.write(settings, "[ui]\nhints = false\n"); err != nil {
		return f, err
	}
	argv, err := b.start(fullTask(), append([]string{b.conf.Self, "--config", settings, "--"}, sleeper...)...)
	if err != nil {
		return f, err
	}
	o, err := b.openOuter(dir, argv)
	if err != nil {
		return f, err
	}
	defer o.close()
	ctl := func(args ...string) (ran, error) {
		return b.do(ctx, dir, append([]string{b.conf.Self, "ctl", "--json", "--window", itoa(o.bridge.PID())}, args...)...)
	}
	var r ran
	err = until(ctx, "honestty", func() (bool, error) {
		if _, gone := o.ended(); gone {
			f.said = lastLine(o.text())
			return true, nil
		}
		r, err = ctl("list") // fails until the window listens
		return r.ok(), err
	})
	if err != nil || f.said != "" {
		return f, err
	}
	for f.opened = 1; f.opened <= fullMost; f.opened++ {
		r, err = ctl(append([]string{"tab", "--"}, sleeper...)...)
		if err != nil {
			return f, err
		}
		if f.said = openProblem(r); f.said != "" {
			break
		}
	}
	r, err = ctl("list")
	f.alive = r.ok() && firstRuns(r.out)
	return f, err
}

// openProblem is why a new tab runs nothing, or empty.
func openProblem(r ran) string {
	var open struct {
		State string `json:"state"`
		Error string `json:"error"`
	}
	if err := json.Unmarshal([]byte(r.out), &open); err != nil {
		return firstOf(r.said(), r.trouble())
	}
	if open.State == "running" {
		return ""
	}
	return firstOf(open.Error, open.State)
}

// firstRuns reports whether the first pane of the first tab runs.
func firstRuns(list string) bool {
	var l struct {
		Tabs []struct {
			Panes []struct {
				State string `json:"state"`
			} `json:"panes"`
		} `json:"tabs"`
	}
	return json.Unmarshal([]byte(list), &l) == nil && len(l.Tabs) > 0 && len(l.Tabs[0].Panes) > 0 && l.Tabs[0].Panes[0].State == "running"
}
