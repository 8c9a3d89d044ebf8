package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/jobhost"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tui/input"
)

// leaveKey gives the keyboard back, as in telnet: Ctrl+].
const leaveKey = 0x1d

func (j *jobCall) attach() *cobra.Command {
	var take bool
	cmd := &cobra.Command{
		Use: "attach [--take] ID", Short: "Show a job on this terminal, and take its keyboard",
		Long: `attach shows the output of a job from the first byte that is kept, and goes on
until the job ends. It reads only: t takes the keyboard over, Ctrl+] gives it
back, q leaves. A job without a terminal takes whole lines: there Enter has to
follow Ctrl+].`,
		Args: oneJob,
		RunE: func(cmd *cobra.Command, args []string) error {
			return j.app.attach(cmd.Context(), args[0], take)
		},
	}
	cmd.Flags().BoolVar(&take, "take", false, "take the keyboard over at once")
	return cmd
}

// attach shows a job until it ends or the user leaves.
func (a *app) attach(ctx context.Context, id string, take bool) error {
	p, err := start()
	if err != nil {
		return err
	}
	defer p.Close()
	c, err := a.jobs(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	job, err := findJob(ctx, c, id)
	if err != nil {
		return err
	}
	tty, err := input.OpenTerminal()
	if errors.Is(err, input.ErrNotTerminal) {
		return usagef("%w: attach needs one; `honestty job log --follow` does without", err)
	}
	if err != nil {
		return err
	}
	s := &attached{app: a, c: c, job: job, tty: tty, keys: job.TakesKeys}
	return errors.Join(s.run(ctx, p, take), tty.Close())
}

func findJob(ctx context.Context, c *jobhost.Client, id string) (jobhost.Job, error) {
	jobs, err := c.List(ctx)
	if err != nil {
		return jobhost.Job{}, err
	}
	var found []jobhost.Job
	for _, j := range jobs {
		if j.ID == id {
			return j, nil
		}
		if len(id) < len(j.ID) && j.ID[:len(id)] == id {
			found = append(found, j)
		}
	}
	switch len(found) {
	case 0:
		return jobhost.Job{}, fmt.Errorf("there is no job %q: honestty job list shows them", id)
	case 1:
		return found[0], nil
	}
	return jobhost.Job{}, fmt.Errorf("%d jobs begin with %q", len(found), id)
}

// An attached is a terminal that shows a job.
//
//	goroutine  started by  ends on                  joined by
//	keyboard   run         wake, terminal gone, q   run
//	size       run         the end                  run
type attached struct {
	app  *app
	c    *jobhost.Client
	job  jobhost.Job
	tty  *input.TTY
	keys bool // it takes keys; otherwise lines

	mu    sync.Mutex
	taken bool
}

func (s *attached) run(ctx context.Context, p *fdwait.Poller, take bool) error {
	ctx, stop := signal.NotifyContext(ctx, unix.SIGTERM, unix.SIGHUP)
	defer stop()
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	w, err := p.Register(s.tty.FD())
	if err != nil {
		return fmt.Errorf("wait on the terminal: %w", err)
	}
	if err := s.tty.MakeRaw(); err != nil {
		return errors.Join(err, w.Close())
	}
	s.say(fmt.Sprintf("job %s, %s", s.job.ID, s.mode()))
	if take {
		s.take(ctx)
	}
	var wg sync.WaitGroup
	wg.Go(func() { leave(s.keyboard(ctx, w)) })
	stopSizes := s.watchSize(ctx, &wg)
	err = s.show(ctx)
	stopSizes()
	w.Wake()
	leave(nil)
	wg.Wait()
	return errors.Join(err, w.Close())
}

// errLeft is why a user who left ends the showing: it is no failure.
var errLeft = errors.New("left")

func (s *attached) mode() string {
	switch {
	case !s.job.Running || s.job.Detached:
		return "takes no input; q leaves"
	case s.isTaken() && !s.keys: // our terminal hands over whole lines
		return "your lines go to it; Ctrl+] and Enter give the keyboard back"
	case s.isTaken():
		return "the keyboard is yours; Ctrl+] gives it back"
	}
	return "read-only; t takes the keyboard, q leaves"
}

func (s *attached) isTaken() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken
}

// say puts a line of ours below what the job wrote.
func (s *attached) say(text string) {
	fmt.Fprintf(s.app.out, "\r\n\x1b[2m[%s]\x1b[0m\r\n", text)
}

// show copies the output until the job ends.
func (s *attached) show(ctx context.Context) error {
	for from := s.job.KeptFrom; ; {
		chunk, err := s.c.Read(ctx, s.job.ID, from, readWait)
		switch {
		case ctx.Err() != nil:
			if cause := context.Cause(ctx); !errors.Is(cause, errLeft) && !errors.Is(cause, context.Canceled) {
				return cause
			}
			return nil
		case err != nil:
			return err
		}
		if chunk.Lost > 0 {
			s.say(outcome.CountBytes(chunk.Lost) + " are not kept any more")
		}
		out := chunk.Data
		if !s.keys {
			out = bytes.ReplaceAll(out, []byte{'\n'}, []byte("\r\n"))
		}
		if _, err := s.app.out.Write(out); err != nil {
			return fmt.Errorf("write the output: %w", err)
		}
		from = chunk.From + int64(len(chunk.Data))
		if chunk.End {
			return s.ended(ctx)
		}
	}
}

func (s *attached) ended(ctx context.Context) error {
	job, err := findJob(ctx, s.c, s.job.ID)
	if err != nil {
		return err
	}
	how := job.State
	switch {
	case job.Signal != "":
		how = job.Signal
	case job.ExitCode != nil:
		how = fmt.Sprintf("exit %d", *job.ExitCode)
	}
	if job.DurationMS >= 0 {
		how += " after " + outcome.Duration(time.Duration(job.DurationMS)*time.Millisecond)
	}
	s.say(how + "; " + job.Sentence)
	return nil
}

// keyboard acts on keys until the user leaves or the terminal ends.
func (s *attached) keyboard(ctx context.Context, w *fdwait.Waiter) error {
	buf := make([]byte, 4096)
	for {
		if _, err := w.Wait(-1); err != nil {
			if errors.Is(err, fdwait.ErrWoken) || errors.Is(err, fdwait.ErrClosed) {
				return errLeft
			}
			return fmt.Errorf("read the terminal: %w", err)
		}
		n, err := unix.Read(s.tty.FD(), buf)
		switch {
		case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
			continue
		case err != nil, n == 0:
			return fmt.Errorf("read the terminal: %w", errors.Join(err, io.EOF))
		}
		if !s.typed(ctx, buf[:n]) {
			return errLeft
		}
	}
}

// typed acts on what was typed at once. It returns false for a user who leaves.
func (s *attached) typed(ctx context.Context, p []byte) bool {
	if s.isTaken() {
		at := bytes.IndexByte(p, leaveKey)
		send := p
		if at >= 0 {
			send = p[:at]
		}
		if len(send) > 0 {
			if n, err := s.c.Write(ctx, s.job.ID, send); err != nil {
				s.say(fmt.Sprintf("%s of input refused: %v", outcome.CountBytes(int64(len(send)-n)), err))
			}
		}
		if at >= 0 {
			s.give()
		}
		return true
	}
	for _, b := range p {
		switch b {
		case 'q', 'Q', 0x03, leaveKey:
			return false
		case 't', 'T':
			s.take(ctx)
			return true // what was typed behind it was not meant for the job
		}
	}
	return true
}

// take gives the keyboard to the job. One with a terminal gets our size; one
// without gets lines, which our own terminal lets the user edit.
func (s *attached) take(ctx context.Context) {
	if !s.job.Running || s.job.Detached {
		s.say("this job " + s.mode())
		return
	}
	s.mu.Lock()
	s.taken = true
	s.mu.Unlock()
	if s.keys {
		s.fit(ctx)
	} else if err := s.tty.Restore(); err != nil {
		s.say(err.Error())
	}
	s.say(s.mode())
}

func (s *attached) give() {
	s.mu.Lock()
	s.taken = false
	s.mu.Unlock()
	if !s.keys {
		if err := s.tty.MakeRaw(); err != nil {
			s.say(err.Error())
		}
	}
	s.say(s.mode())
}

// fit gives a job that is taken the size of this terminal.
func (s *attached) fit(ctx context.Context) {
	cols, rows, _, _, err := s.tty.Size()
	if err == nil && cols > 0 && rows > 0 {
		_, _, err = s.c.Resize(ctx, s.job.ID, cols, rows)
	}
	if err != nil {
		s.say("the job keeps its size: " + err.Error())
	}
}

// watchSize lets a job that is taken follow the size of the terminal. The
// function it returns ends that; wg joins it.
func (s *attached) watchSize(ctx context.Context, wg *sync.WaitGroup) (stop func()) {
	sizes := make(chan os.Signal, 1) // one pending change is enough
	signal.Notify(sizes, unix.SIGWINCH)
	done := make(chan struct{})
	wg.Go(func() {
		for {
			select {
			case <-sizes:
				if s.keys && s.isTaken() {
					s.fit(ctx)
				}
			case <-done:
				return
			}
		}
	})
	return func() {
		signal.Stop(sizes)
		close(done)
	}
}
