package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/internal/proc"
	"github.com/honestty/honestty/outcome"
)

const (
	// Grace is how long the output of an ended command may pause before the
	// stream counts as held by somebody else.
	Grace = 200 * time.Millisecond

	// drainTotal bounds the reading after the command's end when a process
	// that outlived it writes without pause.
	drainTotal = 2 * time.Second

	// killGrace is the time between TERM and KILL.
	killGrace = time.Second

	readSize = 64 << 10
)

// ErrInterrupted is why a command was stopped when the caller took the call
// back.
var ErrInterrupted = errors.New("interrupted")

// A Spec says what to run and how to take its output.
type Spec struct {
	Command []string
	Dir     string        // empty: our own working directory
	Env     []string      // nil: our own environment
	Timeout time.Duration // 0: none
	Stdin   *os.File      // nil: /dev/null
	Split   bool          // keep stdout and stderr apart
	PTY     bool          // give it a terminal; excludes Split and Stdin
	Cols    int           // with PTY; 0: 80
	Rows    int           // with PTY; 0: 24

	// Keep is how many bytes of each stream the result carries; 0 means
	// DefaultKeep. Of what is longer it carries the beginning and the end, the
	// whole goes to a file in SpillDir of up to SpillMax bytes (0 means
	// DefaultSpill), and the result says so.
	Keep     int64
	SpillDir string
	SpillMax int64

	// Text takes the control sequences of terminals out of what the result
	// carries. The bytes as they came are then in a file in SpillDir.
	Text bool

	// Live, when set, gets the bytes as they come besides. It never fails the
	// call.
	Live io.Writer

	// Stdout and Stderr, when set, get the bytes as they come instead of the
	// result. An error of theirs makes the output truncated, and is told.
	Stdout, Stderr io.Writer

	Poller *fdwait.Poller

	fault fault
}

// fault injects failures at named points; zero in the product.
type fault struct {
	start   func(step string) error
	read    func(fd int, p []byte) (int, error)
	holders func(target string) ([]outcome.Process, error)
	free    func(dir string) (uint64, error) // instead of freeSpace
	total   time.Duration                    // instead of drainTotal
}

func (f fault) freeSpace() func(dir string) (uint64, error) {
	if f.free != nil {
		return f.free
	}
	return freeSpace
}

func (f fault) whoHolds(target string) ([]outcome.Process, error) {
	if f.holders != nil {
		return f.holders(target)
	}
	return proc.Holders(target)
}

func (f fault) drain(total time.Duration) time.Duration {
	if f.total != 0 {
		return f.total
	}
	return total
}

// Run runs the command and returns when it has ended and its output has, or
// has been given up for a reason that the result names. The result is never
// nil.
func Run(ctx context.Context, s Spec) *outcome.Result {
	r, _ := execute(ctx, s)
	return r
}

// execute is Run, and returns besides what was kept of the output: nil when
// the command did not start.
func execute(ctx context.Context, s Spec) (*outcome.Result, *keeper) {
	r := &outcome.Result{Waiting: s.Poller.Mechanism()}
	if s.Env == nil {
		s.Env = os.Environ()
	}
	if s.PTY {
		return r, runPTY(ctx, s, r)
	}
	return r, runPipes(ctx, s, r)
}

func notStarted(r *outcome.Result, step string, err error) {
	if !errors.Is(err, outcome.ErrNotStarted) {
		err = &outcome.StartError{Step: step, Err: err}
	}
	r.Err = err
	r.Judge(nil)
}

func runPipes(ctx context.Context, s Spec, r *outcome.Result) *keeper {
	run := &pipeRun{spec: s}
	if err := run.start(); err != nil {
		run.release()
		notStarted(r, "start", err)
		return nil
	}
	r.PID = run.child.PID
	stopped := run.follow(ctx)
	st, err := run.child.Reap()
	run.release()
	r.Duration = run.ended.Sub(run.child.Started)
	setEnd(r, st, err)
	r.Notes = append(r.Notes, run.notes...)
	r.Output = run.streams[0].result(r)
	if s.Split {
		stderr := run.streams[1].result(r)
		r.Stderr = &stderr
	}
	r.Judge(stopped)
	return run.streams[0].keep
}

func setEnd(r *outcome.Result, st proc.Status, err error) {
	switch {
	case err != nil:
		r.Err = errors.Join(r.Err, fmt.Errorf("the way it ended is not known: %w", err))
	case st.Signal != 0:
		r.Signal = st.Signal
	default:
		r.ExitCode = &st.Code
	}
}

// A pipeRun is one command whose output comes through pipes.
//
//	goroutine  started by  ends on                     joined by
//	stream     start       end, error, release, grace  follow
type pipeRun struct {
	spec    Spec
	child   *proc.Process
	streams []*stream
	null    *os.File
	ended   time.Time
	notes   []string
}

func (p *pipeRun) step(name string, do func() error) error {
	var err error
	if p.spec.fault.start != nil {
		err = p.spec.fault.start(name)
	}
	if err == nil {
		err = do()
	}
	if err != nil {
		return &outcome.StartError{Step: name, Err: err}
	}
	return nil
}

// start opens the pipes, registers their waiters, and only then starts the
// child, so that a failure loses no output.
func (p *pipeRun) start() error {
	s := p.spec
	if len(s.Command) == 0 {
		return &outcome.StartError{Step: "read the command", Err: errors.New("no command given")}
	}
	if s.Dir != "" {
		if err := p.step("enter the directory", func() error { return isDir(s.Dir) }); err != nil {
			return err
		}
	}
	path, err := proc.LookPath(s.Command[0], s.Dir, s.Env)
	if err != nil {
		return &outcome.StartError{Step: "find the command", Err: err}
	}
	stdin, err := p.stdin()
	if err != nil {
		return err
	}
	sinks := []io.Writer{s.Stdout}
	if s.Split {
		sinks = append(sinks, s.Stderr)
	}
	for _, sink := range sinks {
		if err := p.open(sink); err != nil {
			return err
		}
	}
	out, errOut := p.streams[0], p.streams[len(p.streams)-1]
	err = p.step("start "+path, func() (e error) {
		p.child, e = proc.Start(s.Poller, proc.Spec{
			Path: path, Args: s.Command, Env: s.Env, Dir: s.Dir,
			Files: [3]int{stdin, out.writeEnd, errOut.writeEnd},
		})
		return e
	})
	if err != nil {
		return err
	}
	for _, st := range p.streams {
		st.dropWriteEnd()
		go st.run(p.child)
	}
	return nil
}

func (p *pipeRun) stdin() (int, error) {
	if p.spec.Stdin != nil {
		return int(p.spec.Stdin.Fd()), nil
	}
	err := p.step("open /dev/null", func() (e error) {
		p.null, e = os.Open(os.DevNull)
		return e
	})
	if err != nil {
		return -1, err
	}
	return int(p.null.Fd()), nil
}

// open adds a stream: its pipe, its waiter, its keeper.
func (p *pipeRun) open(sink io.Writer) error {
	st := newStream(p.spec, sink)
	p.streams = append(p.streams, st)
	if err := p.step("open a pipe", st.openPipe); err != nil {
		return err
	}
	return p.step("wait on the pipe", func() (e error) {
		st.waiter, e = p.spec.Poller.Register(st.readEnd)
		return e
	})
}

// follow waits for the command's end, its timeout or the caller, and then
// joins the streams. It returns why the command was stopped, nil when it
// ended by itself.
func (p *pipeRun) follow(ctx context.Context) error {
	stopped := await(ctx, p.child.Exited(), p.spec.Timeout, nil)
	if stopped != nil {
		p.stop()
	}
	p.ended = time.Now()
	for _, st := range p.streams {
		st.waiter.Wake() // it now reads against the clock
	}
	for _, st := range p.streams {
		<-st.done
	}
	return stopped
}

// errUnread is why a command is stopped whose output nobody can read any more.
var errUnread = errors.New("its output cannot be read")

// await returns nil when the command has ended by itself, or else why it has
// to be stopped. An end always counts, also when its time was up before
// anybody got to look. When broke is closed the command has killGrace to end:
// it waits for ever once it has filled what nobody reads.
func await(ctx context.Context, exited <-chan struct{}, timeout time.Duration, broke <-chan struct{}) error {
	var expired, unread <-chan time.Time
	if timeout > 0 {
		t := time.NewTimer(timeout)
		defer t.Stop()
		expired = t.C
	}
	var stopped error
	for stopped == nil {
		select {
		case <-exited:
			return nil
		case <-expired:
			stopped = &outcome.TimeoutError{After: timeout}
		case <-ctx.Done():
			stopped = ErrInterrupted
		case <-broke:
			broke, unread = nil, time.After(killGrace)
		case <-unread:
			stopped = errUnread
		}
	}
	if ended(exited) {
		return nil
	}
	return stopped
}

func (p *pipeRun) release() {
	for _, st := range p.streams {
		st.release()
	}
	if p.null != nil {
		_ = p.null.Close()
	}
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
