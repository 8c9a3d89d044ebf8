package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/vt"
)

// stepLimit is how long a host may take for one thing that is waited for. It
// is far above any figure, so that what passes it is broken and not slow.
const stepLimit = 20 * time.Second

// stopLimit is how long a host may take to end before it is killed.
const stopLimit = 5 * time.Second

// errSilent says that a host did not show what was waited for.
var errSilent = errors.New("nothing of it came within " + stepLimit.String())

// An outer is the terminal on which a host runs: a pair of ours, with our
// engine behind it, which answers what the host asks of it.
//
//	goroutine  started by  ends on                    joined by
//	read       openOuter   the last slave has closed  close
type outer struct {
	cmd    *exec.Cmd
	master *os.File
	fd     int // of master, blocking
	start  time.Time
	ended  chan struct{} // closed when the reader has ended

	mu    sync.Mutex
	term  *vt.Terminal
	bytes int64
	last  time.Time // when bytes came last
	watch func(*vt.Terminal) bool
	seen  chan time.Time // holds one: when watch became true
}

// openOuter starts a command on a terminal of that size.
func openOuter(cols, rows int, env, command []string) (*outer, error) {
	master, slave, err := pty.Open()
	if err != nil {
		return nil, err
	}
	defer slave.Close()
	if err := unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(rows), Col: uint16(cols)}); err != nil {
		return nil, errors.Join(fmt.Errorf("set the terminal's size: %w", err), master.Close())
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = slave, slave, slave, env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	o := &outer{
		cmd: cmd, master: master, fd: int(master.Fd()), ended: make(chan struct{}),
		term: vt.New(cols, rows, vt.Options{Version: "bench"}), start: time.Now(),
	}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, master.Close())
	}
	go o.read()
	return o, nil
}

// read stamps what comes before anything is done with it.
func (o *outer) read() {
	defer close(o.ended)
	buf := make([]byte, readSize)
	for {
		n, err := unix.Read(o.fd, buf)
		now := time.Now()
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n <= 0 { // EIO: the last slave has closed
			return
		}
		if reply := o.take(buf[:n], now); len(reply) > 0 {
			_ = o.send(reply) // a host that is gone needs no reply
		}
	}
}

func (o *outer) take(p []byte, now time.Time) []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bytes += int64(len(p))
	o.last = now
	reply := append([]byte(nil), o.term.Write(p).Reply...)
	if o.watch != nil && o.watch(o.term) {
		o.watch = nil
		o.seen <- now
	}
	return reply
}

// send writes what is typed.
func (o *outer) send(p []byte) error {
	for len(p) > 0 {
		n, err := unix.Write(o.fd, p)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("write to the terminal: %w", err)
		}
		p = p[max(n, 0):]
	}
	return nil
}

// await returns when the byte came with which the screen showed what shown
// looks for. When it is there already, that is the last byte that came.
func (o *outer) await(shown func(*vt.Terminal) bool) (time.Time, error) {
	return o.expect(shown)()
}

// expect begins to look and returns what waits for the result, so that nothing
// that is typed in between can be missed.
func (o *outer) expect(shown func(*vt.Terminal) bool) func() (time.Time, error) {
	seen := make(chan time.Time, 1)
	o.mu.Lock()
	defer o.mu.Unlock()
	if shown(o.term) {
		seen <- o.last
	} else {
		o.watch, o.seen = shown, seen
	}
	return func() (time.Time, error) { return o.awaited(seen) }
}

func (o *outer) awaited(seen <-chan time.Time) (time.Time, error) {
	limit := time.NewTimer(stepLimit)
	defer limit.Stop()
	select {
	case at := <-seen:
		return at, nil
	case <-o.ended:
		return time.Time{}, fmt.Errorf("the program on the terminal has ended: %s", o.text())
	case <-limit.C:
		return time.Time{}, fmt.Errorf("%w: %s", errSilent, o.text())
	}
}

// quiet returns when something came and then nothing for that long.
func (o *outer) quiet(d time.Duration) {
	for end := time.Now().Add(stepLimit); time.Now().Before(end); {
		o.mu.Lock()
		rest := d - time.Since(o.last)
		if o.bytes == 0 {
			rest = d
		}
		o.mu.Unlock()
		if rest <= 0 {
			return
		}
		time.Sleep(rest)
	}
}

// count is how many bytes came so far.
func (o *outer) count() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.bytes
}

// text is what the terminal shows, without the blanks at the ends of rows.
func (o *outer) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return screenText(o.term)
}

func screenText(t *vt.Terminal) string {
	var b strings.Builder
	_, rows := t.Size()
	for r := range vt.Row(rows) {
		b.WriteString(rowText(t, r))
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n")
}

func rowText(t *vt.Terminal, r vt.Row) string {
	var b []byte
	for _, c := range t.Line(r) {
		n := len(b)
		if b = t.AppendText(b, c); len(b) == n {
			b = append(b, ' ')
		}
	}
	return strings.TrimRight(string(b), " ")
}

// shows looks for a text anywhere on the screen.
func shows(text string) func(*vt.Terminal) bool {
	return func(t *vt.Terminal) bool {
		_, rows := t.Size()
		for r := range vt.Row(rows) {
			if strings.Contains(rowText(t, r), text) {
				return true
			}
		}
		return false
	}
}

// close ends the program, by force when it takes too long, and joins the
// reader.
func (o *outer) close() error {
	_ = o.cmd.Process.Signal(unix.SIGTERM)
	gone := make(chan struct{})
	go func() { _ = o.cmd.Wait(); close(gone) }()
	select {
	case <-gone:
	case <-time.After(stopLimit):
	}
	_ = unix.Kill(-o.cmd.Process.Pid, unix.SIGKILL) // the group: shells do not end by SIGTERM
	<-gone
	select {
	case <-o.ended:
		return o.master.Close()
	case <-time.After(stopLimit):
		return fmt.Errorf("a process outlived %s and holds its terminal", o.cmd.Args[0])
	}
}
