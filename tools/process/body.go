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

// A body is the living part of a job: the process and the streams to it.
type body interface {
	pid() int
	started() time.Time
	exited() <-chan struct{} // closed when the process has ended; its output may still come
	signal(sig unix.Signal) error
	write(p []byte) (int, error)
	closeInput() error
	resize(s ptybridge.Size) (ptybridge.Size, error)
	input() Input
	// wait returns when the process and its output have ended or been given
	// up, and everything is joined and closed.
	wait() end
	// abandon gives up a process that no signal ends; wait returns then.
	abandon()
}

// An end is how a body ended.
type end struct {
	status    proc.Status
	err       error // why the way it ended is not known; nil otherwise
	capture   outcome.Capture
	survivors []outcome.Process // of its session, and who holds its output
	lookErr   error             // why nobody could look for survivors
	ended     time.Time
}

// A plan is what a body is started from.
type plan struct {
	command []string
	dir     string
	env     []string
	size    ptybridge.Size
	poller  *fdwait.Poller
	output  func(p []byte)    // takes what was read; only the reader calls it
	broke   func(cause error) // the reader failed while the process lives on
	fault   fault
}

// fault injects failures at named points; zero in the product.
type fault struct {
	start   func(step string) error
	read    func(fd int, p []byte) (int, error)
	holders func(target string) ([]outcome.Process, error)
	write   func(f *os.File, p []byte) (int, error)
	record  func(path string, data []byte) error
}

func (f fault) step(name string, do func() error) error {
	var err error
	if f.start != nil {
		err = f.start(name)
	}
	if err == nil {
		err = do()
	}
	if err != nil && !errors.Is(err, outcome.ErrNotStarted) {
		return &outcome.StartError{Step: name, Err: err}
	}
	return err
}

// A terminal is a job on a pseudo-terminal.
type terminal struct {
	bridge *ptybridge.Bridge
	last   chan byte // the last byte of input, for closeInput; capacity 1
}

// eot is what a terminal in its ordinary mode takes as the end of the input,
// once for an empty line and twice within one (VEOF).
const eot = 0x04

func startTerminal(p plan) (*terminal, error) {
	t := &terminal{last: make(chan byte, 1)}
	err := p.fault.step("start on a terminal", func() (e error) {
		t.bridge, e = ptybridge.Start(ptybridge.Config{
			Command: p.command, Dir: p.dir, Env: p.env, Size: p.size, Poller: p.poller,
			Output: p.output, Failed: p.broke,
		})
		return e
	})
	if err != nil {
		return nil, err
	}
	t.last <- '\n'
	return t, nil
}

func (t *terminal) pid() int                     { return t.bridge.PID() }
func (t *terminal) started() time.Time           { return t.bridge.Started() }
func (t *terminal) exited() <-chan struct{}      { return t.bridge.Exited() }
func (t *terminal) signal(sig unix.Signal) error { return t.bridge.Signal(sig) }
func (t *terminal) abandon()                     { t.bridge.Close() }

func (t *terminal) write(p []byte) (int, error) {
	<-t.last // a turn: the bytes and the memory of the last one go together
	n, err := t.bridge.Write(p)
	last := byte(0)
	if n > 0 {
		last = p[n-1]
	}
	t.last <- last
	switch {
	case errors.Is(err, ptybridge.ErrFull):
		return n, &InputFullError{Taken: n, Refused: len(p) - n}
	case err != nil:
		return n, fmt.Errorf("%w: %w", ErrStdinClosed, err)
	}
	return n, nil
}

// closeInput types the end of the input. A terminal stays open: what reads it
// in another mode sees a key.
func (t *terminal) closeInput() error {
	last := <-t.last
	t.last <- last
	p := []byte{eot}
	if last != '\n' && last != '\r' && last != eot {
		p = []byte{eot, eot}
	}
	_, err := t.write(p)
	return err
}

func (t *terminal) resize(s ptybridge.Size) (ptybridge.Size, error) { return t.bridge.Resize(s) }

func (t *terminal) input() Input {
	i := Input{Waiting: int64(t.bridge.Queued()), Refused: t.bridge.Refused()}
	select {
	case <-t.bridge.Done():
		i.Why = errInputEnded
	default:
		i.Open, i.Takes = true, TakesKeys
	}
	return i
}

func (t *terminal) wait() end {
	x := t.bridge.Exit()
	return end{
		status:  proc.Status{Code: x.Code, Signal: x.Signal, Core: x.Core},
		err:     x.Err,
		capture: x.Capture, survivors: slices.Clone(x.Capture.Holders), lookErr: x.Capture.HoldersUnknown,
		ended: x.Ended,
	}
}
