package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/demo"
)

func (a *app) cmdDemo() *cobra.Command {
	var asJSON bool
	var as string
	cmd := &cobra.Command{
		Use:   "demo [flags] [NAME]...",
		Short: "Show the failures that honestty answers, live, the old way and ours",
		Long: `demo does a few things twice, the old way and by this program, and counts what
each kept: output while many descriptors are open, the end of what a quick
command puts out, a file under a speech call that fails, an attachment that is
not there, a forged path, hostile bytes. NAME is any of
` + strings.Join(demo.Names(), ", ") + `; without one all are
shown. It needs no network, and touches only a folder of its own.

Success means that this program kept its word in each. It exits with 1 when it
did not, or when a part could not be run; an old way that is not installed reads
"not run" and changes nothing.`,
		Example: "  honestty demo\n  honestty demo tail --json",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if as != "" {
				return demo.Help(cmd.Context(), append([]string{as}, args...), a.out)
			}
			for _, n := range args {
				if !slices.Contains(demo.Names(), n) {
					return usagef("%q is not a part of the demo; they are %s", n, strings.Join(demo.Names(), ", "))
				}
			}
			return a.demo(cmd.Context(), args, asJSON)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	f.StringVar(&as, "as", "", "a helper of demo itself")
	_ = f.MarkHidden("as") // it exists
	return cmd
}

func (a *app) demo(ctx context.Context, names []string, asJSON bool) error {
	self, err := ourFile()
	if err != nil {
		return err
	}
	p, err := start()
	if err != nil {
		return err
	}
	defer p.Close()
	ctx, stop := signal.NotifyContext(ctx, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	defer stop()
	parts := []demo.Part{}
	kept, err := demo.Run(ctx, demo.Config{
		Poller: p, Version: a.version,
		Helper: func(args ...string) *exec.Cmd {
			cmd := exec.Command(self, append([]string{"demo", "--as", args[0], "--"}, args[1:]...)...)
			cmd.Env = os.Environ()
			return cmd
		},
	}, names, func(part demo.Part) error {
		parts = append(parts, part)
		if asJSON {
			return nil
		}
		if len(parts) > 1 {
			fmt.Fprintln(a.out)
		}
		return part.Text(a.out)
	})
	if err != nil {
		return err
	}
	if asJSON {
		if err := a.printJSON(map[string]any{"kept": kept, "parts": parts}); err != nil {
			return err
		}
	}
	if !kept {
		return &codeError{exitNotComplete}
	}
	return nil
}
