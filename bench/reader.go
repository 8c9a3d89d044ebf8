package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// readSize is what the plain reader asks for at once.
const readSize = 64 << 10

// A reader runs a command on a terminal of 200×60 and throws away what it
// writes: plain blocking reads, which no host can be faster than.
type reader struct {
	cmd  *exec.Cmd
	done chan error // takes the one result
}

func startReader(command []string) (*reader, error) {
	master, slave, err := pty.Open()
	if err != nil {
		return nil, err
	}
	defer slave.Close()
	if err := unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 60, Col: 200}); err != nil {
		_ = master.Close()
		return nil, fmt.Errorf("set the terminal's size: %w", err)
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.Env = append(outerFree(os.Environ()), "TERM=xterm-256color")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		_ = master.Close()
		return nil, err
	}
	r := &reader{cmd, make(chan error, 1)}
	go func() { r.done <- discard(master) }()
	return r, nil
}

// outerFree is env without what would make tmux refuse to nest, and without TERM.
func outerFree(env []string) []string {
	var out []string
	for _, kv := range env {
		if key, _, _ := strings.Cut(kv, "="); key != "TMUX" && key != "TERM" {
			out = append(out, kv)
		}
	}
	return out
}

// discard reads until the last slave has closed, which Linux tells by EIO and
// others by the end of the file.
func discard(master *os.File) error {
	defer master.Close()
	fd := int(master.Fd())
	buf := make([]byte, readSize)
	for {
		n, err := unix.Read(fd, buf)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EIO), err == nil && n == 0:
			return nil
		case err != nil:
			return fmt.Errorf("read the master: %w", err)
		}
	}
}

// wait returns when the command has ended and its output was read to the end.
func (r *reader) wait() error {
	err := <-r.done
	return errors.Join(err, r.cmd.Wait())
}

// A discarder is the limit: the reader alone.
type discarder struct{}

func (discarder) close() {}

func (discarder) cat(file string) (wall, cpu time.Duration, err error) {
	cpu0, start := cpuTime(), time.Now()
	r, err := startReader([]string{"cat", file})
	if err != nil {
		return 0, 0, err
	}
	if err := r.wait(); err != nil {
		return 0, 0, err
	}
	return time.Since(start), cpuTime() - cpu0, nil
}

// newSizedTmux is a server with a window of 200×60 and the history that the
// other hosts have.
func newSizedTmux() (*tmux, error) {
	dir, err := os.MkdirTemp("", "bench-tmux-")
	if err != nil {
		return nil, err
	}
	t := &tmux{dir: dir, socket: dir + "/s"}
	if _, err := t.do(
		"set-option", "-g", "history-limit", strconv.Itoa(scrollback), ";", // before the first window: it keeps what it began with
		"set-option", "-g", "status", "off", ";",
		"new-session", "-d", "-s", "b", "-x", "200", "-y", "60", "sleep 3600",
	); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

// pid is the server's process.
func (t *tmux) pid() (int, error) {
	out, err := t.do("display-message", "-p", "#{pid}")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(out))
}

// waitFor blocks until something in a pane signals the channel.
func (t *tmux) waitFor(ctx context.Context, channel string) error {
	out, err := exec.CommandContext(ctx, "tmux", "-S", t.socket, "wait-for", channel).CombinedOutput()
	if err != nil {
		return fmt.Errorf("tmux wait-for: %w: %s", err, out)
	}
	return nil
}
