package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/honestty/honestty/internal/proc"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tui"
	"github.com/honestty/honestty/tui/input"
)

// window opens the user's shell or a command in a pane.
func (a *app) window(ctx context.Context, args []string, file string) error {
	if len(args) > 0 {
		// Wrong use is told on the terminal the user is on, not in a window.
		if _, err := proc.LookPath(args[0], "", os.Environ()); err != nil {
			return fmt.Errorf("find the command: %s", outcome.Errno(err))
		}
	}
	store, problems := settings(file)
	if problems != nil && file != "" {
		return problems // somebody who names a file wants that file
	}
	p, err := start()
	if err != nil {
		return err
	}
	spareProcs()
	state, forgot := countStart()
	infos, err := tui.Run(ctx, tui.Options{
		Poller: p, Version: a.version, Env: os.Getenv,
		Spec:     session.Spec{Command: args},
		Settings: store, State: state, Say: firstOf(problems, forgot),
	})
	a.leftRunning(infos)
	if errors.Is(err, input.ErrNotTerminal) {
		err = usagef("%w: a window needs one; `honestty run -- COMMAND` does without", err)
	}
	return errors.Join(err, p.Close())
}

// leastProcs is how many goroutines may run at once in a window. One waits in
// the kernel for all descriptors and holds its place for up to 10 ms after it
// went to sleep; where there are only two places, an echo beside a flood waits
// for that.
const leastProcs = 8

func spareProcs() {
	if os.Getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) < leastProcs {
		runtime.GOMAXPROCS(leastProcs)
	}
}

// firstOf is the first error's text, for the status bar.
func firstOf(errs ...error) string {
	for _, err := range errs {
		if err != nil {
			return oneLine(err)
		}
	}
	return ""
}

// leftRunning names the processes that outlived the window.
func (a *app) leftRunning(infos []session.Info) {
	for _, i := range infos {
		for _, h := range i.Exit.Capture.Holders {
			fmt.Fprintf(a.err, "honestty: %s still runs without a terminal\n", h)
		}
	}
}
