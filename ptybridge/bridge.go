package ptybridge

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/internal/proc"
	"github.com/honestty/honestty/outcome"
)

// Grace is how long Close waits after each of HUP, TERM and KILL.
const Grace = 500 * time.Millisecond

// DrainLimit is how long the reader goes on after the child has ended when
// neither bytes nor an end arrive. On Linux the end follows the exit at once;
// the limit is there for a child that gave its terminal away before it ended.
const DrainLimit = 300 * time.Millisecond

// drainTotal bounds the drain when a process that kept the terminal writes
// without pause.
const drainTotal = 3 * time.Second

// A Config says what to start and where its output goes.
type Config struct {
	Command []string // argv; Command[0] is looked up in the PATH of Env
	Dir     string   // empty: our own working directory
	Env     []string // the child's whole environment; see proc.ChildEnv
	Size    Size
	Poller  *fdwait.Poller

	// Output takes what the child wrote, in order. Only the reader calls it,
	// p is its again when Output returns, and the child waits meanwhile.
	Output func(p []byte)

	// Failed, when set, is told once when the reader broke while the child
	// lives on. Nothing that it writes from then on is seen, and once the
	// terminal is full it waits; the Exit that says so comes only after its
	// end. The reader calls it.
	Failed func(cause error)

	// keepSlave holds our own slave open until the drain, as macOS needs.
	keepSlave bool
	fault     fault // failures injected by tests; zero in the product
}

// fault injects failures at named points.
type fault struct {
	start   func(step string) error                       // before a step of Start
	read    func(fd int, p []byte) (int, error)           // instead of read(2)
	holders func(slave string) ([]outcome.Process, error) // instead of proc.Holders
	signal  func(b *Bridge, sig unix.Signal) error        // instead of kill(2)
}

// An Exit is everything known about a bridge that has ended.
type Exit struct {
	Code    int             // exit code, -1 when a signal ended it or nobody could tell
	Signal  unix.Signal     // 0 when it exited by itself
	Core    bool            // a core was dumped
	Err     error           // why the way it ended is not known; nil otherwise
	Capture outcome.Capture // Holders are the survivors of the child's session
	Refused int64           // bytes of input that the full queue or the end refused
	Started time.Time
	Ended   time.Time
}

// Duration is how long the child ran.
func (e Exit) Duration() time.Duration { return e.Ended.Sub(e.Started) }

// A Bridge owns one pseudo-terminal and the process behind it.
//
//	goroutine  started by  ends on                    joined by
//	reader     Start       the end, an error, stop    reaper
//	writer     Start       queue closed, stop         reaper
//	reaper     Start       the child's exit, give up  Done
//
// Nothing but the reaper closes the descriptors.
type Bridge struct {
	master int // non-blocking; read only by reader, written only by writer
	slave  int // our own, -1 where it is not kept
	waiter *fdwait.Waiter
	child  *proc.Process
	output func(p []byte)
	failed func(cause error)
	fault  fault

	queue queue

	bytesRead  atomic.Int64
	readerDone chan struct{}
	writerDone chan struct{}
	stop       chan struct{} // closed to end reader and writer without an end seen
	stopOnce   sync.Once

	abandoned   chan struct{} // closed when the child cannot be ended
	abandonOnce sync.Once
	cannotEnd   error // why; read after abandoned is closed

	sizeMu sync.Mutex
	size   Size
	closed bool // master is closed; guards Resize

	capture outcome.Capture // written by reader, read after readerDone
	done    chan struct{}
	exit    Exit // read after done
}

// Start opens a terminal pair, starts the child on it and begins to read. The
// error is always an *outcome.StartError; nothing is left open or running
// after one.
func Start(c Config) (*Bridge, error) {
	if len(c.Command) == 0 || c.Command[0] == "" {
		return nil, &outcome.StartError{Step: "read the command", Err: errors.New("no command given")}
	}
	if c.Dir != "" {
		if err := isDir(c.Dir); err != nil {
			return nil, &outcome.StartError{Step: "enter the directory", Err: err}
		}
	}
	path, err := proc.LookPath(c.Command[0], c.Dir, c.Env)
	if err != nil {
		return nil, &outcome.StartError{Step: "find the command", Err: err}
	}
	b := &Bridge{
		output:     c.Output,
		failed:     c.Failed,
		fault:      c.fault,
		slave:      -1,
		readerDone: make(chan struct{}),
		writerDone: make(chan struct{}),
		stop:       make(chan struct{}),
		abandoned:  make(chan struct{}),
		done:       make(chan struct{}),
	}
	b.queue.init()
	if err := b.start(c, path); err != nil {
		return nil, err
	}
	go b.read()
	go b.write()
	go b.reap()
	return b, nil
}

// start acquires everything in order and gives all of it back on failure.
func (b *Bridge) start(c Config, path string) (err error) {
	step := func(name string, do func() error) {
		if err != nil {
			return
		}
		if b.fault.start != nil {
			err = b.fault.start(name)
		}
		if err == nil {
			err = do()
		}
		if err != nil {
			err = &outcome.StartError{Step: name, Err: err}
		}
	}
	b.master, b.slave = -1, -1
	step("open a terminal pair", func() (e error) {
		b.master, b.slave, e = openPair()
		return e
	})
	step("wait on the terminal", func() (e error) {
		b.waiter, e = c.Poller.Register(b.master)
		return e
	})
	step("set the terminal's size", func() error {
		b.size = c.Size.Clamp()
		return setSize(b.master, b.size)
	})
	step("start "+path, func() (e error) {
		b.child, e = proc.Start(c.Poller, proc.Spec{
			Path: path, Args: c.Command, Env: c.Env, Dir: c.Dir,
			Files: [3]int{b.slave, b.slave, b.slave}, Terminal: true,
		})
		return e
	})
	if err != nil {
		if b.waiter != nil {
			_ = b.waiter.Close()
		}
		closeFDs(b.master, b.slave)
		return err
	}
	if !c.keepSlave && !keepsSlave {
		closeFDs(b.slave)
		b.slave = -1
	}
	return nil
}

func isDir(dir string) error {
	fi, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !fi.IsDir() {
		return &os.PathError{Op: "enter", Path: dir, Err: unix.ENOTDIR}
	}
	return nil
}

// PID is the child's process, process group and session.
func (b *Bridge) PID() int { return b.child.PID }

// Started is when the child was started.
func (b *Bridge) Started() time.Time { return b.child.Started }

// BytesRead is how many bytes the child's side has sent so far.
func (b *Bridge) BytesRead() int64 { return b.bytesRead.Load() }

// Done is closed when everything has ended and Exit is known.
func (b *Bridge) Done() <-chan struct{} { return b.done }

// Exit waits for the end and returns it.
func (b *Bridge) Exit() Exit {
	<-b.done
	return b.exit
}

// Resize sets the window size, clamped, and tells the child by SIGWINCH. It
// returns the size that is in force.
func (b *Bridge) Resize(s Size) (Size, error) {
	b.sizeMu.Lock()
	defer b.sizeMu.Unlock()
	if b.closed {
		return b.size, ErrEnded
	}
	want := s.Clamp()
	if want == b.size {
		return want, nil
	}
	// TIOCSWINSZ does not block, so the lock may be held across it; it keeps
	// the descriptor from being closed underneath.
	if err := setSize(b.master, want); err != nil {
		return b.size, fmt.Errorf("resize the terminal: %w", err)
	}
	b.size = want
	return want, nil
}

// ForegroundGroup returns the process group that the terminal's keyboard
// signals reach now (TIOCGPGRP), or an error when it has ended.
func (b *Bridge) ForegroundGroup() (int, error) {
	b.sizeMu.Lock()
	defer b.sizeMu.Unlock()
	if b.closed {
		return 0, ErrEnded
	}
	return unix.IoctlGetInt(b.master, unix.TIOCGPGRP)
}

// Exited is closed when the child has ended. Its last output may still be on
// the way; Done is closed when that is known too.
func (b *Bridge) Exited() <-chan struct{} { return b.child.Exited() }

// Signal sends sig to the child's process group.
func (b *Bridge) Signal(sig unix.Signal) error {
	if b.fault.signal != nil {
		return b.fault.signal(b, sig)
	}
	return b.child.SignalGroup(sig)
}

// Close ends the child: new input is refused, then HUP, TERM and KILL follow
// each other with Grace between them. It returns when everything is joined
// and closed. A child that cannot be ended (it has another owner, or hangs in
// the kernel) loses its terminal and is named in the Exit.
func (b *Bridge) Close() Exit {
	b.queue.close(ErrEnded)
	var err error
	for _, sig := range []unix.Signal{unix.SIGHUP, unix.SIGTERM, unix.SIGKILL} {
		err = b.Signal(sig)
		if err == nil && sig == unix.SIGHUP {
			// A stopped process acts on HUP only once it is continued.
			err = b.Signal(unix.SIGCONT)
		}
		if errors.Is(err, proc.ErrReaped) || b.endsWithin(Grace) {
			return b.Exit()
		}
	}
	b.abandonOnce.Do(func() {
		b.cannotEnd = fmt.Errorf("pid %d could not be ended", b.child.PID)
		if err != nil {
			b.cannotEnd = fmt.Errorf("end pid %d: %w", b.child.PID, err)
		}
		close(b.abandoned)
		b.waiter.Wake()
	})
	return b.Exit()
}

// endsWithin waits for the child's end, at most for d.
func (b *Bridge) endsWithin(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-b.child.Exited():
		return true
	case <-t.C:
		return false
	}
}

func (b *Bridge) isAbandoned() bool {
	select {
	case <-b.abandoned:
		return true
	default:
		return false
	}
}

// reap waits for the child and then takes everything down in order.
func (b *Bridge) reap() {
	select {
	case <-b.child.Exited():
	case <-b.abandoned:
	}
	ended := time.Now()
	b.waiter.Wake() // the reader may be waiting for bytes that never come
	<-b.readerDone
	b.queue.close(ErrEnded)
	b.stopAll()
	<-b.writerDone

	capture := b.capture
	left, err := survivors(b.child.PID)
	capture.Holders = union(capture.Holders, left)
	capture.HoldersUnknown = errors.Join(capture.HoldersUnknown, err)

	var st proc.Status
	var closeErr error
	if b.isAbandoned() {
		// Closing the master makes the kernel hang up the terminal, and that
		// reaches a child with another owner too.
		closeErr = b.release()
		st, err = b.leave()
		capture = b.withoutEnd(capture, err == nil)
	} else {
		st, err = b.child.Reap()
		closeErr = b.release()
	}
	b.exit = Exit{
		Code: st.Code, Signal: st.Signal, Core: st.Core, Err: errors.Join(err, closeErr),
		Capture: capture,
		Refused: b.queue.refusedBytes(),
		Started: b.child.Started, Ended: ended,
	}
	if err != nil {
		b.exit.Code = -1
	}
	close(b.done)
}

// leave takes the end of a child that could not be ended before its terminal
// was hung up. If it lives on, its pidfd and one goroutine stay until it ends,
// so that it never becomes a zombie.
func (b *Bridge) leave() (proc.Status, error) {
	if b.endsWithin(Grace) {
		return b.child.Reap()
	}
	go b.child.Reap()
	return proc.Status{Code: -1}, b.cannotEnd
}

// withoutEnd says what is known of the output of a child whose terminal was
// closed under it.
func (b *Bridge) withoutEnd(c outcome.Capture, ended bool) outcome.Capture {
	if !ended {
		c.Holders = union(c.Holders, []outcome.Process{{PID: b.child.PID}})
		return c
	}
	c.Holders = slices.DeleteFunc(c.Holders, func(p outcome.Process) bool { return p.PID == b.child.PID })
	c.HoldersUnknown = errors.Join(c.HoldersUnknown, errClosedUnder)
	return c
}

// errClosedUnder is why the end of the output is unknown where only closing
// the terminal ended the child.
var errClosedUnder = errors.New("the terminal was closed before the process ended")

func (b *Bridge) stopAll() {
	b.stopOnce.Do(func() { close(b.stop) })
	b.waiter.Wake()
}

// release gives the waiter and the descriptors back.
func (b *Bridge) release() error {
	err := b.waiter.Close()
	b.sizeMu.Lock()
	defer b.sizeMu.Unlock()
	b.closed = true
	closeFDs(b.master, b.slave)
	b.master, b.slave = -1, -1
	return err
}

// survivorTicks and survivorTick give processes that were just hung up a
// moment to go before they are called survivors.
const (
	survivorTicks = 10
	survivorTick  = 20 * time.Millisecond
)

// survivors lists who still lives in the child's session. The child is not
// reaped yet, so the session's number is still its own.
func survivors(sid int) ([]outcome.Process, error) {
	for range survivorTicks {
		found, err := proc.InSession(sid)
		if err != nil || len(found) == 0 {
			return found, err
		}
		time.Sleep(survivorTick)
	}
	return proc.InSession(sid)
}

// union adds the processes of b that a does not name.
func union(a, b []outcome.Process) []outcome.Process {
	for _, p := range b {
		if !slices.ContainsFunc(a, func(q outcome.Process) bool { return q.PID == p.PID }) {
			a = append(a, p)
		}
	}
	return a
}
