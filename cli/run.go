package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
	"github.com/honestty/honestty/tools/terminal"
)

func (a *app) cmdRun() *cobra.Command {
	var (
		timeout            time.Duration
		pty, asJSON, split bool
		dir                string
	)
	cmd := &cobra.Command{
		Use:   "run [flags] -- COMMAND ARG...",
		Short: "Run a command to its end and say whether all of its output was read",
		Long: `run starts COMMAND once, in a session of its own, and reads its output to the
end. stdout and stderr share one pipe, so that their order is true; with
--split they are kept apart and the order between them is not known. stdin is
passed on unless it is a terminal.

Success means that the command exited with 0 and that every byte of its output
was read: the end was seen and no other process can add to it. Then, and when
it exited with another code and its output is complete, run exits with the
command's own code (128 + n when signal n ended it). It exits with 1 when the
output is lost, held by another process (detached) or unknown, when the command
did not start or ran out of time, and with 2 on wrong use.

--json prints one object: output, exit_code, error, status, signal,
exit_code_meaning, duration_ms, redactions and capture with state, bytes_read,
bytes_shown, bytes_lost (-1: uncounted), end and holders. error is null only
when the status is complete. Secrets in it are masked and counted; without
--json every byte is passed on as it came. The journal masks them either way.`,
		Example: "  honestty run --json -- go test ./...\n  honestty run --timeout 30s --pty -- ls --color",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			argv, err := command(cmd, args)
			switch {
			case err != nil:
				return err
			case cmd.Flags().Changed("timeout") && timeout <= 0:
				return usagef("--timeout must be above 0, for example 30s")
			case pty && split:
				return usagef("--pty and --split exclude each other: a terminal has one stream")
			}
			return a.runCommand(cmd.Context(), terminal.Spec{
				Command: argv, Dir: dir, Timeout: timeout, PTY: pty, Split: split,
			}, asJSON)
		},
	}
	f := cmd.Flags()
	f.DurationVar(&timeout, "timeout", 0, "stop the command after this time (TERM, then KILL)")
	f.BoolVar(&pty, "pty", false, "give the command a terminal of 80×24; it gets no input")
	f.BoolVar(&asJSON, "json", false, "print the result as one JSON object")
	f.BoolVar(&split, "split", false, "keep stdout and stderr apart")
	f.StringVarP(&dir, "dir", "C", "", "run in this directory")
	return cmd
}

// runCommand runs a command as a call of the terminal tool: it stands in the
// journal, and a window shows it while it runs.
func (a *app) runCommand(ctx context.Context, s terminal.Spec, asJSON bool) error {
	k, err := a.openKit()
	if err != nil {
		return err
	}
	defer k.close()
	s.Poller = k.poller
	ctx, stop := signal.NotifyContext(ctx, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	defer stop()
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	reader := &pipeReader{out: a.out, gone: leave}
	if asJSON {
		s.SpillDir = stateDir("spill")
	} else {
		defer reader.watch()()
		s.Stdout, s.Stderr = reader, a.err
	}
	if !s.PTY && !isTerminal(a.in) {
		s.Stdin = a.in
	}
	params, err := json.Marshal(runParams{
		Command: shellJoin(s.Command), Argv: s.Command, Workdir: s.Dir, Timeout: s.Timeout.Seconds(), PTY: s.PTY, Split: s.Split,
	})
	if err != nil {
		return fmt.Errorf("write the parameters: %w", err)
	}
	var r *outcome.Result
	k.caller.Call(ctx, tools.Tool{
		Name: "terminal", Streams: true,
		Title: func(json.RawMessage) string { return shellJoin(s.Command) },
		Run: func(ctx context.Context, c *tools.Call, _ json.RawMessage) tools.Answer {
			s.Live = c.Live
			r = terminal.Run(ctx, s)
			recorded := newRunResult(r, s.Command)
			if !asJSON {
				recorded.handedOn()
			}
			return tools.Answer{Status: r.Status, Err: r.Err, Result: recorded, Summary: r.Summary()}
		},
	}, k.request(params))
	if asJSON {
		if err := a.printJSON(shownResult(r, s.Command)); err != nil {
			return err
		}
	} else if reader.left.Load() {
		return &codeError{128 + int(unix.SIGPIPE)} // quietly, as every program before | head ends
	} else {
		a.narrate(r)
	}
	return exitOf(r)
}

// A pipeReader is who reads our output. When it goes, as head does, the command
// is stopped: it would write for nobody, and a call that SIGPIPE ended could
// not be told to the journal.
type pipeReader struct {
	out  io.Writer
	gone func()
	left atomic.Bool
}

// watch has writes to a pipe without a reader fail, instead of SIGPIPE ending
// us. Commands get the signal as ever.
func (r *pipeReader) watch() (stop func()) {
	c := make(chan os.Signal, 1) // never read: the failing write tells
	signal.Notify(c, unix.SIGPIPE)
	return func() { signal.Stop(c) }
}

func (r *pipeReader) Write(p []byte) (int, error) {
	n, err := r.out.Write(p)
	if errors.Is(err, unix.EPIPE) {
		r.left.Store(true)
		r.gone()
	}
	return n, err
}

// runParams is what the journal keeps of a run.
type runParams struct {
	Command string   `json:"command"`
	Argv    []string `json:"argv"`
	Workdir string   `json:"workdir,omitempty"`
	Timeout float64  `json:"timeout,omitempty"`
	PTY     bool     `json:"pty,omitempty"`
	Split   bool     `json:"split,omitempty"`
}

// narrate says on stderr what the output alone does not tell.
func (a *app) narrate(r *outcome.Result) {
	for _, n := range r.Notes {
		fmt.Fprintln(a.err, "honestty: "+n)
	}
	if r.Err == nil || r.ExitCode != nil && r.Whole() && isExit(r.Err) {
		return // the exit code is the command's own and says it
	}
	fmt.Fprintln(a.err, "honestty: "+oneLine(r.Err))
}

// exitOf is the command's own code where its output is complete and it ended
// by itself, else 1.
func exitOf(r *outcome.Result) error {
	code := exitNotComplete
	switch {
	case r.Status == outcome.Complete:
		return nil
	case !r.Whole() || !isExit(r.Err):
	case r.ExitCode != nil:
		code = *r.ExitCode
	case r.Signal != 0:
		code = 128 + int(r.Signal)
	}
	if code == 0 {
		code = exitNotComplete
	}
	return &codeError{code}
}

// isExit reports whether the way the command ended is all that is wrong.
func isExit(err error) bool {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return false
	}
	all := joined.Unwrap()
	_, exit := all[0].(*outcome.ExitError)
	return len(all) == 1 && exit
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	return err == nil
}
