package hostbench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tmux is a server in the foreground (-D) on a socket of its own, so
// that its end is seen and it can be ended even when it answers nobody. It
// keeps dead panes.
type tmux struct{}

func (tmux) name() string    { return "tmux" }
func (tmux) program() string { return "tmux" }

func (tmux) version(ctx context.Context, b *bed) (string, error) {
	r, err := b.do(ctx, b.dir, "tmux", "-V")
	return strings.TrimPrefix(firstLine(r.out), "tmux "), err
}

func (tmux) run(ctx context.Context, b *bed, t Task) (k Kept, err error) {
	s, err := startTmux(ctx, b, t)
	if s == nil {
		return Kept{}, err
	}
	defer s.close(ctx)
	if err != nil {
		return Kept{}, err
	}
	var dead time.Time // since when its command has ended
	err = until(ctx, "tmux", func() (bool, error) {
		if s.server.gone() {
			return true, nil
		}
		r, err := s.do(ctx, "display-message", "-p", "-t", "b", "#{pane_dead}|#{pane_dead_status}|#{pane_dead_signal}")
		if err != nil || !r.ok() {
			k.Trouble, k.Said = "the session has gone", firstOf(s.refused, r.said())
			return true, err
		}
		var ended bool
		if ended, k.End = parseTmux(r.out); ended && dead.IsZero() {
			dead = time.Now()
		}
		return ended && (k.End.Words != "" || time.Since(dead) > statusTime), nil
	})
	if s.server.gone() {
		r, err := s.end(ctx)
		if strings.Contains(r.err, "usage: tmux") {
			return Kept{}, errors.Join(err, errNoForeground)
		}
		return Kept{Trouble: firstOf(r.trouble(), "the server has gone"), Said: firstOf(s.refused, r.said())}, err
	}
	if err != nil || k.Trouble != "" {
		return k, err
	}
	r, err := s.do(ctx, "capture-pane", "-p", "-t", "b", "-S", "-")
	k.Text = r.out
	if !r.ok() {
		k.Trouble, k.Said = r.trouble(), r.said()
	}
	return k, err
}

// errNoForeground is why an old tmux cannot be measured.
var errNoForeground = errors.New("this tmux has no -D: its server cannot be kept in the foreground")

// statusTime is how long tmux may know that a pane is dead and not yet how its
// command ended: it sees the terminal close first.
const statusTime = time.Second

// parseTmux reads what tmux says of a pane.
func parseTmux(line string) (dead bool, e End) {
	f := strings.Split(strings.TrimSpace(line), "|")
	if len(f) != 3 {
		return false, End{}
	}
	if code, err := strconv.Atoi(f[1]); err == nil {
		e.Code, e.Words = &code, "status "+f[1]
	}
	if f[2] != "" && f[2] != "0" {
		e = End{Signal: signalName(f[2]), Words: "signal " + f[2]}
	}
	return f[0] == "1", e
}

type tmuxServer struct {
	b       *bed
	dir     string
	remove  func()
	base    []string
	server  *program
	refused string // why it opened no session
	ended   bool
}

// startTmux starts a server under the conditions of the task and opens a
// session with its command. The server has to be closed when there is one,
// whatever the error. One that opened no session says why in refused.
func startTmux(ctx context.Context, b *bed, t Task) (*tmuxServer, error) {
	dir, remove, err := b.folder()
	if err != nil {
		return nil, err
	}
	conf := filepath.Join(dir, "conf")
	s := &tmuxServer{b: b, dir: dir, remove: remove, base: []string{"tmux", "-S", filepath.Join(dir, "s"), "-f", conf}}
	err = b.write(conf, fmt.Sprintf("set -g remain-on-exit on\nset -g history-limit %d\n", t.History))
	var argv []string
	if err == nil {
		argv, err = b.start(t, append(s.base[:len(s.base):len(s.base)], "-D")...)
	}
	if err == nil {
		s.server, err = b.launch(dir, argv...)
	}
	if err != nil {
		remove()
		return nil, err
	}
	open := append([]string{"new-session", "-d", "-s", "b", "-x", strconv.Itoa(cols), "-y", strconv.Itoa(rows), "--"}, t.Command...)
	err = until(ctx, "tmux", func() (bool, error) {
		// A client would start a server of its own where none listens.
		if !exists(s.base[2]) {
			return s.server.gone(), nil
		}
		r, err := s.do(ctx, open...)
		if err == nil && !r.ok() && !notYet(r.err) {
			s.refused = r.said()
			return true, nil
		}
		return r.ok(), err
	})
	return s, err
}

// notYet reports whether a client came before the server listened.
func notYet(said string) bool {
	return strings.Contains(said, "no server running") || strings.Contains(said, "error connecting")
}

// do runs a client, which never starts a server of its own (-N).
func (s *tmuxServer) do(ctx context.Context, args ...string) (ran, error) {
	return s.b.do(ctx, s.dir, append(append(s.base[:len(s.base):len(s.base)], "-N"), args...)...)
}

func (s *tmuxServer) end(ctx context.Context) (ran, error) {
	s.ended = true
	return s.server.end(ctx)
}

// close ends the server, by force when it does not do so itself.
func (s *tmuxServer) close(ctx context.Context) {
	defer s.remove()
	if !s.ended {
		s.server.stop(ctx)
	}
}
