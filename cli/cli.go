package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	exitComplete    = 0
	exitNotComplete = 1
	exitUsage       = 2
)

// A usageError is a call that was wrong before anything was tried.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, a ...any) error { return &usageError{fmt.Errorf(format, a...)} }

// A codeError ends the program with a code of its own. It is silent where the
// command has said what there is to say.
type codeError struct{ code int }

func (e *codeError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// An app is one call of the program.
type app struct {
	version string
	in      *os.File
	out     io.Writer
	err     io.Writer
}

// Main runs the program and returns its exit code.
func Main(version string, args []string) int {
	a := &app{version: version, in: os.Stdin, out: os.Stdout, err: os.Stderr}
	return a.run(args)
}

func (a *app) run(args []string) int {
	root := a.root()
	root.SetArgs(args)
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := root.Execute()
	if err == nil {
		return exitComplete
	}
	if code, ok := errors.AsType[*codeError](err); ok {
		return code.code
	}
	fmt.Fprintln(a.err, "honestty: "+oneLine(err))
	if _, ok := errors.AsType[*usageError](err); ok {
		return exitUsage
	}
	return exitNotComplete
}

// oneLine keeps an error on one line: joined errors have one each.
func oneLine(err error) string {
	return strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "honestty [-- COMMAND ARG...]",
		Short: "A terminal host that can prove it lost nothing, or says what it lost",
		Long: `honestty opens your shell, or COMMAND, in a pane that reads every byte to the
end it can prove. The status bar shows how many descriptors this process and
the pane's processes hold, and how near the nearest one is to its limit.

When the process ends the pane stays and says how: exit code or signal,
duration, and whether its output is complete. Enter runs it again, q closes it.
Ctrl+b is honestty's one key; Ctrl+b ? shows what follows it.

Success means that the window was opened and closed by you. It exits with 1
when a signal or the loss of its terminal ended it, and with 2 on wrong use.`,
		Example:       "  honestty\n  honestty -- htop",
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		RunE: func(cmd *cobra.Command, args []string) error {
			if show, _ := cmd.Flags().GetBool("version"); show {
				return a.showVersion()
			}
			if len(args) > 0 && cmd.ArgsLenAtDash() != 0 {
				return usagef("unknown command %q (honestty -- %s runs it in a pane; honestty --help lists the commands)", args[0], args[0])
			}
			if cmd.ArgsLenAtDash() == 0 && len(args) == 0 {
				return usagef("no command after --")
			}
			file, _ := cmd.Flags().GetString("config")
			return a.window(cmd.Context(), args, file)
		},
	}
	root.Flags().Bool("version", false, "print version, Go and the waiting mechanism")
	root.Flags().String("config", "", "read these settings over the user's own")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err} })
	root.AddCommand(
		a.cmdRun(), a.cmdJob(), a.cmdRead(), a.cmdSpeak(), a.cmdSend(), a.cmdCheckpoint(), a.cmdLog(), a.cmdMCP(),
		a.cmdHook(), a.cmdWatch(), a.cmdDoctor(), a.cmdDemo(), a.cmdBench(),
		a.cmdFds(), a.cmdCtl(), a.cmdConfig(), a.cmdKeys(), a.cmdShell(), a.cmdVT(),
	)
	tellUse(root)
	return root
}

// tellUse makes a wrong number of arguments wrong use, in every command: the
// rules that come with cobra return errors without a kind.
func tellUse(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			if _, told := errors.AsType[*usageError](err); err == nil || told {
				return err
			}
			return &usageError{err}
		}
	}
	for _, sub := range c.Commands() {
		tellUse(sub)
	}
}

// command finds what follows "--" and refuses a call without it.
func command(cmd *cobra.Command, args []string) ([]string, error) {
	if n := cmd.ArgsLenAtDash(); n > 0 || n < 0 && len(args) > 0 {
		return nil, usagef("unexpected %q: the command comes after --", args[0])
	}
	if len(args) == 0 || args[0] == "" {
		return nil, usagef("no command given: %s", cmd.UseLine())
	}
	return args, nil
}
