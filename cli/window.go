package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/internal/proc"
	"github.com/honestty/honestty/jobhost"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tools/tts"
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
	p, err := start() // before any file is opened: see start
	if err != nil {
		return err
	}
	store, problems := settings(file)
	if problems != nil && file != "" {
		return errors.Join(problems, p.Close()) // somebody who names a file wants that file
	}
	spareProcs()
	state, forgot := countStart()
	swept := make(chan error, 1) // the shell does not wait for it
	go func() { swept <- sweep(stateDir(""), time.Now()) }()
	infos, err := tui.Run(ctx, tui.Options{
		Poller: p, Version: a.version, Env: os.Getenv,
		Spec:    session.Spec{Command: args},
		Journal: stateDir("journal"), Program: ownProgram(), NoSelect: neverSelects,
		Jobs:     func() (*jobhost.Client, error) { return jobhost.Dial(a.ctlEnv()) },
		Play:     a.player(p),
		Settings: store, State: state, Troubles: []error{problems, forgot},
	})
	a.leftRunning(infos)
	if errors.Is(err, input.ErrNotTerminal) {
		err = usagef("%w: a window needs one; `honestty run -- COMMAND` does without", err)
	}
	return errors.Join(err, <-swept, p.Close())
}

// ownProgram is the path of this program, for what a window starts; empty when
// nobody can tell.
func ownProgram() string {
	exe, err := os.Executable()
	if err != nil {
		return ""
	}
	return exe
}

// player plays audio for the window.
func (a *app) player(p *fdwait.Poller) func(context.Context, string) error {
	return func(ctx context.Context, path string) error {
		_, err := tts.Play(ctx, tts.Deps{Poller: p}, path)
		return err
	}
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

// leftRunning names the processes that outlived the window.
func (a *app) leftRunning(infos []session.Info) {
	for _, i := range infos {
		for _, h := range i.Exit.Capture.Holders {
			fmt.Fprintf(a.err, "honestty: %s still runs without a terminal\n", h)
		}
	}
}
