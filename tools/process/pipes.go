package process

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/internal/proc"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/ptybridge"
)

const (
	// grace is how long the output of an ended process may pause before the
	// pipe counts as held by somebody else.
	grace = 200 * time.Millisecond

	// drainTotal bounds the reading after the end when a process that outlived
	// the job writes without pause.
	drainTotal = 2 * time.Second

	// brokenGrace is how long a job whose output cannot be read may go on
	// before its pipe is closed. One that fills the pipe would wait for ever,
	// and then meets EPIPE.
	brokenGrace = time.Second

	readSize = 64 << 10

	// secondLook is the time between the two looks for survivors: a process
	// that is just ending is none.
	secondLook = 20 * time.Millisecond
)

// pipes is a job whose two output streams share one pipe, in their true order,
// and whose input is a pipe that stays open until somebody closes it.
//
//	goroutine  started by   ends on                      joined by
//	reader     startPipes   the end, an error, grace     reaper
//	reaper     startPipes   the process's end, abandon   wait
type pipes struct {
	child  *proc.Process
	out    int // read end, non-blocking; read only by the reader
	waiter *fdwait.Waiter
	in     *input
	plan   plan

	readerDone chan struct{}
	abandoned  chan struct{}
	done       chan struct{}
	capture    outcome.Capture // the reader's; read after readerDone
	end        end             // read after done
}

// startPipes opens the pipes, registers their waiters, and only then starts
// the process, so that a failure loses no output.
func startPipes(p plan) (_ *pipes, err error) {
	j := &pipes{
		out: -1, plan: p,
		readerDone: make(chan struct{}), abandoned: make(chan struct{}), done: make(chan struct{}),
	}
	ours, theirs, inEnd, inOurs := -1, -1, -1, -1
	var inWaiter *fdwait.Waiter
	defer func() {
		closeFDs(theirs, inEnd)
		if err == nil {
			return
		}
		for _, w := range []*fdwait.Waiter{j.waiter, inWaiter} {
			if w != nil {
				_ = w.Close()
			}
		}
		closeFDs(ours, inOurs)
	}()
	path, err := find(p)
	if err != nil {
		return nil, err
	}
	step := func(name string, do func() error) {
		if err == nil {
			err = p.fault.step(name, do)
		}
	}
	step("open a pipe", func() (e error) {
		ours, theirs, e = pipe()
		return e
	})
	step("wait on the pipe", func() (e error) {
		if e = unix.SetNonblock(ours, true); e == nil { // only our end
			j.waiter, e = p.poller.Register(ours)
		}
		return e
	})
	step("open a pipe for the input", func() (e error) {
		inEnd, inOurs, e = pipe()
		return e
	})
	step("wait on the input", func() (e error) {
		if e = unix.SetNonblock(inOurs, true); e == nil {
			inWaiter, e = p.poller.Register(inOurs)
		}
		return e
	})
	step("start "+path, func() (e error) {
		j.child, e = proc.Start(p.poller, proc.Spec{
			Path: path, Args: p.command, Env: p.env, Dir: p.dir, Files: [3]int{inEnd, theirs, theirs},
		})
		return e
	})
	if err != nil {
		return nil, err
	}
	j.out, j.in = ours, newInput(inOurs, inWaiter)
	j.in.start()
	go j.read()
	go j.reap()
	return j, nil
}

// find looks for the directory and the command before anything is opened.
func find(p plan) (path string, err error) {
	if p.dir != "" {
		if err := p.fault.step("enter the directory", func() error { return isDir(p.dir) }); err != nil {
			return "", err
		}
	}
	err = p.fault.step("find the command", func() (e error) {
		path, e = proc.LookPath(p.command[0], p.dir, p.env)
		return e
	})
	return path, err
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

func closeFDs(fds ...int) {
	for _, fd := range fds {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}

func (j *pipes) pid() int                     { return j.child.PID }
func (j *pipes) started() time.Time           { return j.child.Started }
func (j *pipes) exited() <-chan struct{}      { return j.child.Exited() }
func (j *pipes) signal(sig unix.Signal) error { return j.child.SignalGroup(sig) }
func (j *pipes) write(p []byte) (int, error)  { return j.in.write(p) }
func (j *pipes) closeInput() error            { return j.in.close() }
func (j *pipes) input() Input                 { return j.in.state() }
func (j *pipes) abandon()                     { close(j.abandoned); j.waiter.Wake() }

func (j *pipes) resize(ptybridge.Size) (ptybridge.Size, error) {
	return ptybridge.Size{}, ErrNoTerminal
}

func (j *pipes) wait() end {
	<-j.done
	return j.end
}

// read reads until the end, or until the process has ended and the pipe stayed
// silent for the grace.
func (j *pipes) read() {
	defer close(j.readerDone)
	j.capture = j.readAll()
	if j.capture.End == outcome.EndBroken && !closed(j.child.Exited()) {
		j.plan.broke(j.capture.Cause)
		t := time.NewTimer(brokenGrace)
		defer t.Stop()
		select {
		case <-j.child.Exited():
		case <-j.abandoned:
		case <-t.C:
			j.closeOutput()
		}
	}
}

// closeOutput closes our end. Only the reader calls it, or who has joined it.
func (j *pipes) closeOutput() {
	if j.out >= 0 {
		_ = j.waiter.Close()
		_ = unix.Close(j.out)
		j.out = -1
	}
}

func (j *pipes) readAll() outcome.Capture {
	buf := make([]byte, readSize)
	d := proc.Drain{Silence: grace, Total: drainTotal}
	for {
		if closed(j.abandoned) {
			return outcome.Capture{End: outcome.EndStopped, HoldersUnknown: errGivenUp}
		}
		if closed(j.child.Exited()) { // asked before the read, so that Empty is the last word
			d.Begin(time.Now())
		}
		n, err := j.readOnce(buf)
		switch {
		case n > 0:
			j.plan.output(buf[:n])
			d.Progress(n, time.Now())
		case err == nil:
			return outcome.Capture{End: outcome.EndEOF}
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			d.Empty()
			_, err := j.waiter.Wait(d.Left(time.Now()))
			switch {
			case err == nil, errors.Is(err, fdwait.ErrWoken):
			case errors.Is(err, fdwait.ErrDeadline):
				return j.held(buf)
			default:
				return broken(fmt.Errorf("wait on the pipe: %w", err))
			}
		default:
			return broken(fmt.Errorf("read the pipe: %w", err))
		}
		if d.Over(time.Now()) {
			return j.held(buf)
		}
	}
}

func (j *pipes) readOnce(p []byte) (int, error) {
	if j.plan.fault.read != nil {
		return j.plan.fault.read(j.out, p)
	}
	return unix.Read(j.out, p)
}

func broken(err error) outcome.Capture {
	return outcome.Capture{End: outcome.EndBroken, Lost: outcome.Uncounted, Cause: err}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// errNobodySeen is why the end of a pipe is unknown although every process
// could be asked.
var errNobodySeen = errors.New("no process that can be seen from here holds the pipe")

// errGivenUp is why the end of the output of a job that no signal ended is not
// known.
var errGivenUp = errors.New("the process could not be ended and its output was given up")

// held ends the reading of a pipe that somebody still holds, and names them.
func (j *pipes) held(buf []byte) outcome.Capture {
	c := outcome.Capture{End: outcome.EndStopped}
	target, err := proc.Target(j.out)
	if err == nil {
		look := proc.Holders
		if j.plan.fault.holders != nil {
			look = j.plan.fault.holders
		}
		c.Holders, err = look(target)
	}
	c.HoldersUnknown = err
	// Looking takes time: a process that was about to end, on a loaded
	// machine, may have let go of the pipe meanwhile.
	for rest := 0; rest < proc.Backlog; {
		n, err := j.readOnce(buf)
		switch {
		case n > 0:
			j.plan.output(buf[:n])
			rest += n
		case err == nil:
			return outcome.Capture{End: outcome.EndEOF}
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			rest = proc.Backlog
		default:
			return broken(fmt.Errorf("read the pipe: %w", err))
		}
	}
	if len(c.Holders) == 0 && c.HoldersUnknown == nil {
		c.HoldersUnknown = errNobodySeen
	}
	return c
}

// reap waits for the process and then takes everything down in order.
func (j *pipes) reap() {
	defer close(j.done)
	select {
	case <-j.child.Exited():
	case <-j.abandoned:
	}
	ended := time.Now()
	j.waiter.Wake() // the reader may be waiting for bytes that never come
	<-j.readerDone
	j.in.stop()
	j.closeOutput()
	// The process is not reaped yet: its pid, which is its session's, is its
	// own, and who is in the session is of this job.
	left, lookErr := survivors(j.child.PID)
	e := end{capture: j.capture, ended: ended, lookErr: lookErr}
	e.survivors = slices.Clone(j.capture.Holders)
	for _, p := range left {
		if !slices.ContainsFunc(e.survivors, func(q outcome.Process) bool { return q.PID == p.PID }) {
			e.survivors = append(e.survivors, p)
		}
	}
	if closed(j.child.Exited()) {
		e.status, e.err = j.child.Reap()
	} else {
		e.status, e.err = proc.Status{Code: -1}, errGivenUp
		go j.child.Reap() // a process that nothing ends: it must not become a zombie when it does
	}
	if e.err != nil {
		e.status.Code = -1
	}
	j.end = e
}

// survivors lists who still lives in the session of an ended process.
func survivors(sid int) ([]outcome.Process, error) {
	found, err := proc.InSession(sid)
	if err != nil || len(found) == 0 {
		return found, err
	}
	t := time.NewTimer(secondLook)
	defer t.Stop()
	<-t.C
	return proc.InSession(sid)
}
