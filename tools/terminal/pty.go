package terminal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/honestty/honestty/internal/proc"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/ptybridge"
)

// termVersion is what TERM_PROGRAM_VERSION says to a command on a PTY.
const termVersion = "run"

// runPTY runs the command on a terminal of its own. Its two streams are one
// there, and it gets no input.
func runPTY(ctx context.Context, s Spec, r *outcome.Result) *keeper {
	keep := newKeeper(s, s.Stdout)
	broke := make(chan struct{})
	b, err := ptybridge.Start(ptybridge.Config{
		Command: s.Command, Dir: s.Dir, Env: proc.ChildEnv(s.Env, termVersion),
		Size:   ptybridge.Size{Cols: orElse(s.Cols, 80), Rows: orElse(s.Rows, 24)},
		Poller: s.Poller,
		Output: keep.add,
		Failed: func(error) { close(broke) },
	})
	if err != nil {
		notStarted(r, "start", err)
		return nil
	}
	r.PID = b.PID()
	stopped := awaitBridge(ctx, b, s.Timeout, broke)
	exit := b.Exit()
	r.Duration = exit.Duration()
	setEnd(r, proc.Status{Code: exit.Code, Signal: exit.Signal}, exit.Err)
	c := exit.Capture
	keep.finish(&c)
	r.Notes = append(r.Notes, keep.notes...)
	r.Err = errors.Join(r.Err, keep.err)
	if c.End.Seen() && len(c.Holders) > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf(
			"the terminal was hung up when the command ended: later output of %d processes of its session cannot be captured",
			len(c.Holders)))
	}
	r.Output = outcome.Stream{Bytes: keep.bytes(), Capture: c}
	r.Judge(stopped)
	return keep
}

// awaitBridge returns when everything of the bridge has ended, after closing
// it if need be.
func awaitBridge(ctx context.Context, b *ptybridge.Bridge, timeout time.Duration, broke <-chan struct{}) error {
	stopped := await(ctx, b.Exited(), timeout, broke)
	if stopped != nil {
		b.Close()
	}
	<-b.Done()
	if errors.Is(stopped, errUnread) {
		return nil // the capture says it, with the cause
	}
	return stopped
}

func orElse[T comparable](n, otherwise T) T {
	var zero T
	if n == zero {
		return otherwise
	}
	return n
}
