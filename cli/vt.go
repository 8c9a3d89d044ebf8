package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/honestty/honestty/cli/vtserve"
	"github.com/honestty/honestty/internal/proc"
	"github.com/honestty/honestty/ptybridge"
	"github.com/honestty/honestty/vt"
)

// dumpForms are the ways in which a screen is printed.
var dumpForms = []string{vtserve.FormJSON, vtserve.FormText}

func (a *app) cmdVT() *cobra.Command {
	var (
		serve, stdin           bool
		cols, rows, scrollback int
		form                   string
	)
	cmd := &cobra.Command{
		Use:   "vt [flags] (--serve | --stdin | -- COMMAND ARG...)",
		Short: "Drive the terminal engine without a display",
		Long: `vt is the terminal engine behind a pipe, for conformance suites and for looking
at what a stream of bytes does to a screen. --serve answers one JSON object a
line (hello, reset, feed, resize, dump, quit). --stdin feeds standard input as
it is and prints the screen. With a command it runs that on a terminal, answers
its queries, prints the screen after its end and exits with its code.

Success means that every byte was taken by the engine.`,
		Example: "  printf 'a\\r\\nb' | honestty vt --stdin --dump text\n  honestty vt --cols 132 --dump text -- ls --color",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			n := 0
			for _, on := range []bool{serve, stdin, len(args) > 0} {
				if on {
					n++
				}
			}
			if n != 1 {
				return usagef("give one of --serve, --stdin and -- COMMAND")
			}
			if cols < 1 || rows < 1 || cols > ptybridge.MaxCols || rows > ptybridge.MaxRows || scrollback < 0 {
				return usagef("--cols is 1 to %d, --rows 1 to %d, --scrollback not below 0", ptybridge.MaxCols, ptybridge.MaxRows)
			}
			if !slices.Contains(dumpForms, form) {
				return usagef("--dump is one of %s", strings.Join(dumpForms, ", "))
			}
			switch {
			case serve:
				return vtserve.Serve(a.in, a.out)
			case stdin:
				return vtserve.FeedAndDump(a.in, a.out, cols, rows, scrollback, form)
			}
			argv, err := command(cmd, args)
			if err != nil {
				return err
			}
			return a.vtCommand(argv, cols, rows, scrollback, form)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&serve, "serve", false, "answer JSON requests, one a line")
	f.BoolVar(&stdin, "stdin", false, "feed standard input and print the screen")
	f.IntVar(&cols, "cols", 80, "columns")
	f.IntVar(&rows, "rows", 24, "rows")
	f.IntVar(&scrollback, "scrollback", 1000, "lines of history")
	f.StringVar(&form, "dump", "json", "how the screen is printed: "+strings.Join(dumpForms, " or "))
	return cmd
}

// vtCommand runs a command on a terminal in front of the engine.
func (a *app) vtCommand(argv []string, cols, rows, scrollback int, form string) error {
	p, err := start()
	if err != nil {
		return err
	}
	defer p.Close()
	var mu sync.Mutex // the engine is fed by the bridge's reader
	term := vt.New(cols, rows, vt.Options{Scrollback: scrollback, Version: a.version})
	ready := make(chan struct{})
	var bridge *ptybridge.Bridge
	bridge, err = ptybridge.Start(ptybridge.Config{
		Command: argv, Env: proc.ChildEnv(os.Environ(), a.version), Poller: p,
		Size: ptybridge.Size{Cols: cols, Rows: rows},
		Output: func(b []byte) {
			<-ready
			mu.Lock()
			reply := append([]byte(nil), term.Write(b).Reply...)
			mu.Unlock()
			_, _ = bridge.Write(reply) // what is refused is counted in the Exit
		},
	})
	if err != nil {
		return err
	}
	close(ready)
	exit := bridge.Exit()
	mu.Lock()
	defer mu.Unlock()
	if err := vtserve.WriteDump(a.out, vtserve.Dump(term, scrollback > 0), form); err != nil {
		return err
	}
	if err := exit.Capture.Err("output"); err != nil {
		return err
	}
	switch {
	case exit.Err != nil:
		return fmt.Errorf("the way it ended is not known: %w", exit.Err)
	case exit.Signal != 0:
		return &codeError{128 + int(exit.Signal)}
	case exit.Code != 0:
		return &codeError{exit.Code}
	}
	return nil
}
