package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/hostbench"
)

// asHold makes bench hold descriptors and become the command after "--".
const asHold = "hold"

func (a *app) cmdBench() *cobra.Command {
	var runs int
	var asJSON, asMarkdown bool
	var as string
	cmd := &cobra.Command{
		Use:   "bench [flags] [HOST]...",
		Short: "Give the same tasks to terminal hosts and count what each kept",
		Long: `bench starts each HOST by itself, in a private folder and without your settings,
gives it the same commands, and counts what it kept of their output and what it
said of the rest: quick commands, descriptors that are inherited or missing, a
history that is cut, exit codes, hostile bytes. HOST is any of
` + strings.Join(hostbench.Hosts(), ", ") + `; without one
all are measured, this program among them. Nothing is sent anywhere.

Success means that this program kept all it was asked for, and that every HOST
you named could be measured. A host that is not there reads "not installed", and
what could not be asked "cannot be measured" with the reason.`,
		Example: "  honestty bench\n  honestty bench tmux honestty --runs 20",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case as == asHold:
				return becomeHolding(args)
			case as != "":
				return usagef("unknown helper %q", as)
			case runs < 1:
				return usagef("--runs is 1 or more")
			case asJSON && asMarkdown:
				return usagef("--json and --markdown exclude each other")
			}
			return a.bench(cmd.Context(), args, runs, asJSON, asMarkdown)
		},
	}
	f := cmd.Flags()
	f.IntVar(&runs, "runs", hostbench.Runs, "how often each quick command is run")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	f.BoolVar(&asMarkdown, "markdown", false, "print the table in Markdown")
	f.StringVar(&as, "as", "", "a helper of bench itself")
	_ = f.MarkHidden("as") // it exists
	return cmd
}

// becomeHolding is the helper: the number, then the command.
func becomeHolding(args []string) error {
	if len(args) < 2 {
		return usagef("give a number and a command")
	}
	n, err := strconv.Atoi(args[0])
	if err != nil || n < 0 {
		return usagef("%q is no number of descriptors", args[0])
	}
	return hostbench.HoldAndExec(n, args[1:], os.Environ())
}

func (a *app) bench(ctx context.Context, hosts []string, runs int, asJSON, asMarkdown bool) error {
	for _, h := range hosts {
		if !slices.Contains(hostbench.Hosts(), h) {
			return usagef("%q is not a host that can be measured; they are %s", h, strings.Join(hostbench.Hosts(), ", "))
		}
	}
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
	r, err := hostbench.Run(ctx, hostbench.Config{
		Poller: p, Version: a.version, Hosts: hosts, Runs: runs, Self: self,
		Helper:   func(held int) []string { return []string{self, "bench", "--as", asHold, "--", strconv.Itoa(held)} },
		Progress: a.benchProgress(),
	})
	a.endProgress()
	write := r.Text
	switch {
	case asJSON:
		write = nil
		err = errors.Join(err, a.printJSON(r))
	case asMarkdown:
		write = r.Markdown
	}
	if write != nil {
		if werr := write(a.out); werr != nil {
			err = errors.Join(err, fmt.Errorf("write the table: %w", werr))
		}
	}
	if err == nil && !r.Kept(len(hosts) > 0) {
		return &codeError{exitNotComplete}
	}
	return err
}

// benchProgress names what is being measured, where stderr is a terminal.
func (a *app) benchProgress() func(host, measure string) {
	show := a.progress()
	if show == nil {
		return nil
	}
	return func(host, measure string) { show(0, 0, host+": "+measure) }
}

// ourFile is the file of this program, by the name it was called by where that
// leads to it.
func ourFile() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find our own program: %w", err)
	}
	called, err := exec.LookPath(os.Args[0])
	if err != nil || !sameFile(called, exe) {
		return exe, nil
	}
	return filepath.Abs(called)
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(x, y)
}
