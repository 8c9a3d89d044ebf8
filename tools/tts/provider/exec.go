package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/internal/proc"
	"github.com/honestty/honestty/outcome"
)

// An Exec runs programs for this package and its users. What a program prints
// goes to a file in the caller's folder, so nothing it says is lost to a pipe
// that nobody reads.
type Exec struct {
	Poller *fdwait.Poller
	Env    []string // PATH is looked up here; nil: our own environment

	// Timeout is for one run; 0 means DefaultTimeout.
	Timeout time.Duration

	// Fault, when set, is asked before each named step ("start", "log",
	// "input") and its error is taken for the step's. Nil in the product.
	Fault func(step string) error
}

// A Job is one run of a program.
type Job struct {
	Argv   []string
	Dir    string   // where it runs; must be private
	Log    string   // file for stdout and stderr, made exclusively
	Stdin  string   // file for stdin; empty: /dev/null
	Grows  []string // files that count against MaxOut while it runs
	MaxOut int64    // bytes; 0: MaxProgramOut
	Keys   bool     // it gets our environment whole, also what looks like a key
	Env    []string // more environment, which wins
}

const (
	// MaxProgramOut is 10 hours of 16 bit speech at 22 kHz in one piece.
	MaxProgramOut = 1600 << 20

	maxLog    = 1 << 20
	killGrace = time.Second
	sizeTick  = 100 * time.Millisecond
)

// Look finds the program, or says that it is missing.
func (e Exec) Look(name string) (string, error) {
	path, err := proc.LookPath(name, "", e.env(true))
	if err != nil {
		return "", newError(Missing, fmt.Sprintf("the program %q was not found", Message(name)), nil)
	}
	return path, nil
}

// env is the child's environment. Programs that need no key get none.
func (e Exec) env(keys bool) []string {
	env := e.Env
	if env == nil {
		env = os.Environ()
	}
	if keys {
		return env
	}
	out := make([]string, 0, len(env))
	for _, kv := range env {
		name, _, _ := strings.Cut(strings.ToUpper(kv), "=")
		secret := false
		for _, s := range []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"} {
			secret = secret || strings.Contains(name, s)
		}
		if !secret {
			out = append(out, kv)
		}
	}
	return out
}

func (e Exec) step(name string, do func() error) error {
	if e.Fault != nil {
		if err := e.Fault(name); err != nil {
			return newError(Local, name, err)
		}
	}
	if err := do(); err != nil {
		return newError(Local, name, err)
	}
	return nil
}

// Run runs the job to its end and returns what it printed, as one safe line. A
// nil error means exit code 0, which proves nothing about a file.
func (e Exec) Run(ctx context.Context, j Job) (said string, err error) {
	err = e.run(ctx, j, func(log *os.File) { said = Message(tail(log)) })
	if pe, ok := errors.AsType[*Error](err); ok && pe.Said == "" {
		pe.Said = said
	}
	return said, err
}

// run runs the job and shows what it printed before that is removed.
func (e Exec) run(ctx context.Context, j Job, printed func(log *os.File)) error {
	var log, in *os.File
	err := e.step("log", func() (err error) {
		log, err = os.OpenFile(j.Log, os.O_RDWR|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW|unix.O_APPEND, 0o600)
		return err
	})
	if err != nil {
		return err
	}
	defer func() {
		printed(log)
		_ = log.Close()
		_ = os.Remove(j.Log)
	}()
	stdin := j.Stdin
	if stdin == "" {
		stdin = os.DevNull
	}
	if err := e.step("input", func() (err error) { in, err = os.Open(stdin); return err }); err != nil {
		return err
	}
	defer in.Close()
	path, err := e.Look(j.Argv[0])
	if err != nil {
		return err
	}
	var child *proc.Process
	err = e.step("start", func() (err error) {
		child, err = proc.Start(e.Poller, proc.Spec{
			Path: path, Args: j.Argv, Env: append(slices.Clip(e.env(j.Keys)), j.Env...), Dir: j.Dir,
			Files: [3]int{int(in.Fd()), int(log.Fd()), int(log.Fd())},
		})
		return err
	})
	if err != nil {
		return err
	}
	stopped := e.follow(ctx, child, j)
	st, err := child.Reap()
	name := filepath.Base(j.Argv[0])
	switch {
	case stopped != nil:
		return stopped
	case err != nil:
		return newError(Local, "how "+name+" ended is not known", err)
	case st.Signal != 0:
		return newError(Failed, name+" was killed by "+outcome.SignalName(st.Signal), nil)
	case st.Code != 0:
		return newError(Failed, fmt.Sprintf("%s ended with exit %d", name, st.Code), nil)
	}
	return nil
}

// follow waits for the child's end, and stops it when ctx ends, its time is up,
// or what it writes outgrows its limit.
func (e Exec) follow(ctx context.Context, child *proc.Process, j Job) *Error {
	limit := e.Timeout
	if limit <= 0 {
		limit = DefaultTimeout
	}
	expired := time.NewTimer(limit)
	defer expired.Stop()
	tick := time.NewTicker(sizeTick)
	defer tick.Stop()
	var why *Error
	for why == nil {
		select {
		case <-child.Exited():
			stop(child) // what it left behind in its group must not write on
			return tooMuch(j)
		case <-ctx.Done():
			why = ended(ctx, limit)
		case <-expired.C:
			why = newError(TimedOut, "no audio within "+outcome.Duration(limit), nil)
		case <-tick.C:
			why = tooMuch(j)
		}
	}
	_ = child.SignalGroup(unix.SIGTERM)
	_ = child.SignalGroup(unix.SIGCONT)
	grace := time.NewTimer(killGrace)
	defer grace.Stop()
	select {
	case <-child.Exited():
	case <-grace.C:
	}
	stop(child)
	<-child.Exited()
	return why
}

// stop kills what is left of the child's group. The child is not reaped yet, so
// the group is still its own.
func stop(child *proc.Process) { _ = child.SignalGroup(unix.SIGKILL) }

func tooMuch(j Job) *Error {
	limit := j.MaxOut
	if limit <= 0 {
		limit = MaxProgramOut
	}
	if n := sizeOf(j.Log); n > maxLog {
		return newError(TooLarge, "it printed more than "+outcome.Size(maxLog), nil)
	}
	var n int64
	for _, p := range j.Grows {
		n += sizeOf(p)
	}
	if n > limit {
		return newError(TooLarge, "it wrote more than "+outcome.Size(limit), nil)
	}
	return nil
}

func sizeOf(path string) int64 {
	st, err := os.Lstat(path)
	if err != nil {
		return 0
	}
	return st.Size()
}

// tail reads the end of what a program printed: programs put the reason last.
func tail(f *os.File) string {
	st, err := f.Stat()
	if err != nil {
		return ""
	}
	const keep = 2 << 10
	at := max(0, st.Size()-keep)
	b := make([]byte, st.Size()-at)
	n, err := f.ReadAt(b, at)
	if err != nil && !errors.Is(err, io.EOF) {
		return ""
	}
	return lastLines(string(b[:n]))
}

// lastLines is what fits into a message of the end of a text: whole lines,
// where the last of them is not too long itself.
func lastLines(text string) string {
	text = strings.TrimSpace(text)
	from := len(text)
	for from > 0 {
		at := strings.LastIndexByte(text[:from-1], '\n') + 1
		if utf8.RuneCountInString(text[at:]) > messageLen && from < len(text) {
			break
		}
		from = at
	}
	return text[from:]
}

// writeNew writes a file that was not there.
func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return newError(Local, "write the text for the engine", err)
	}
	_, err = io.WriteString(f, text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return newError(Local, "write the text for the engine", err)
	}
	return nil
}
