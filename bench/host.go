package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// The terminal of every host of window. A host keeps one row for its bar, so
// a bare program gets one row less and everyone's program the same.
const (
	windowCols = 200
	windowRows = 60
)

// commandLimit bounds a command that drives a host.
const commandLimit = 20 * time.Second

// A bed is what the hosts of window share: the built binary and folders of
// their own, so that no setting and no state of the user's takes part.
type bed struct {
	dir    string
	binary string
	self   string // this program, which is also the child that echoes
	env    []string
	tmux   bool
	made   int
}

func newBed() (*bed, error) {
	dir, err := os.MkdirTemp("", "bench-window-")
	if err != nil {
		return nil, err
	}
	b := &bed{dir: dir, binary: filepath.Join(dir, "honestty")}
	if err := b.make(); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *bed) make() error {
	var err error
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	b.env = []string{
		"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TERM=xterm-256color", "COLORTERM=truecolor",
		"SHELL=/bin/sh", "PS1=" + prompt,
	}
	for _, v := range [][2]string{
		{"HOME", "home"},
		{"XDG_CONFIG_HOME", "config"},
		{"XDG_STATE_HOME", "state"},
		{"XDG_RUNTIME_DIR", "run"},
	} {
		dir := filepath.Join(b.dir, v[1])
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
		b.env = append(b.env, v[0]+"="+dir)
	}
	// The hints of the first starts take a row from the program.
	if err := os.WriteFile(b.settings(), []byte("[ui]\nhints = false\n"), 0o600); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", b.binary, "github.com/honestty/honestty")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build honestty: %w: %s", err, firstLine(string(out)))
	}
	return nil
}

func (b *bed) close() { _ = os.RemoveAll(b.dir) }

func (b *bed) settings() string { return filepath.Join(b.dir, "settings.toml") }

// prompt is what a shell says first; nothing else on the screen holds it.
const prompt = "ready:> "

// A host is a running program on an outer terminal of its own, perhaps with
// something that keeps panes in between.
type host struct {
	name  string
	outer *outer
	pids  []int // whose CPU time is the host's

	beside func(command ...string) error // a second pane; the first keeps the keyboard
	tab    func(command ...string) error
	server func() error // adds the process behind the first one to pids; nil where there is none
	end    func()       // before the outer terminal is closed
}

func (h *host) close() error {
	if h.end != nil {
		h.end()
	}
	return h.outer.close()
}

// A starter opens a host whose first program is the command.
type starter struct {
	name  string
	start func(b *bed, command ...string) (*host, error)
}

// The names of the hosts.
const (
	bare     = "bare PTY"
	product  = "honestty"
	tmuxPeer = "tmux"
)

var errNoTmux = errors.New("it is not here and cannot be installed")

// starters are those that can be had here, the limit first.
func (b *bed) starters() []starter {
	list := []starter{{bare, startBare}, {product, startHonestty}}
	if b.tmux {
		list = append(list, starter{tmuxPeer, startTmux})
	}
	return list
}

func startBare(b *bed, command ...string) (*host, error) {
	o, err := openOuter(windowCols, windowRows-1, b.env, command)
	if err != nil {
		return nil, err
	}
	// A second program has a terminal of its own, which is read at once.
	h := &host{name: bare, outer: o}
	var others []*reader
	h.beside = func(command ...string) error {
		r, err := startReader(command)
		if err == nil {
			others = append(others, r)
		}
		return err
	}
	h.end = func() {
		for _, r := range others {
			_ = unix.Kill(-r.cmd.Process.Pid, unix.SIGKILL)
			_ = r.wait() // killed, as it says
		}
	}
	return h, nil
}

func startHonestty(b *bed, command ...string) (*host, error) {
	o, err := openOuter(windowCols, windowRows, b.env, append([]string{b.binary, "--config", b.settings(), "--"}, command...))
	if err != nil {
		return nil, err
	}
	h := &host{name: product, outer: o, pids: []int{o.cmd.Process.Pid}}
	ctl := func(args ...string) error {
		ctx, cancel := context.WithTimeout(context.Background(), commandLimit)
		defer cancel()
		which := fmt.Sprint(o.cmd.Process.Pid)
		cmd := exec.CommandContext(ctx, b.binary, append([]string{"ctl", "--window", which}, args...)...)
		cmd.Env = b.env
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("honestty ctl %s: %w: %s", args[0], err, firstLine(string(out)))
		}
		return nil
	}
	h.beside = func(command ...string) error {
		if err := ctl(append([]string{"split", "--"}, command...)...); err != nil {
			return err
		}
		return ctl("focus", "--pane", "1")
	}
	h.tab = func(command ...string) error { return ctl(append([]string{"tab", "--"}, command...)...) }
	return h, nil
}

// startTmux gives tmux its bar, so that a program has the rows it has
// everywhere, and a history as long as everyone's.
func startTmux(b *bed, command ...string) (*host, error) {
	b.made++
	socket := filepath.Join(b.dir, fmt.Sprintf("tmux%d", b.made))
	conf := filepath.Join(b.dir, "tmux.conf")
	if err := os.WriteFile(conf, fmt.Appendf(nil, "set -g history-limit %d\nset -g default-terminal screen-256color\n", scrollback), 0o600); err != nil {
		return nil, err
	}
	tm := func(args ...string) (string, error) {
		ctx, cancel := context.WithTimeout(context.Background(), commandLimit)
		defer cancel()
		cmd := exec.CommandContext(ctx, "tmux", append([]string{"-S", socket, "-f", conf}, args...)...)
		cmd.Env = b.env
		out, err := cmd.CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("tmux %s: %w: %s", args[0], err, firstLine(string(out)))
		}
		return strings.TrimSpace(string(out)), nil
	}
	o, err := openOuter(windowCols, windowRows, b.env, append([]string{"tmux", "-S", socket, "-f", conf, "new-session"}, command...))
	if err != nil {
		return nil, err
	}
	h := &host{name: tmuxPeer, outer: o, pids: []int{o.cmd.Process.Pid}}
	h.end = func() { _, _ = tm("kill-server") } // one that is gone is what is wanted
	h.server = func() error {
		out, err := tm("display-message", "-p", "#{pid}")
		if err != nil {
			return err
		}
		pid, err := strconv.Atoi(out)
		h.pids = append(h.pids, pid)
		return err
	}
	h.beside = func(command ...string) error {
		_, err := tm(append([]string{"split-window", "-d", "-h"}, command...)...)
		return err
	}
	h.tab = func(command ...string) error {
		_, err := tm(append([]string{"new-window"}, command...)...)
		return err
	}
	return h, nil
}

// skipTmux says why a table lacks tmux.
func (b *bed) skipTmux() {
	if !b.tmux {
		fmt.Printf("tmux: skipped: %v\n", errNoTmux)
	}
}
