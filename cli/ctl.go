package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/honestty/honestty/ctl"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tui/screen"
)

// cmdCtl talks to a running window.
func (a *app) cmdCtl() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ctl [--window WHICH] COMMAND",
		Short: "Drive a running window: list, split, tab, focus, send, capture, wait",
		Long: `ctl talks to a window of yours through its socket. Without --window it is the
window this is run in, else the one opened last.

Success means that the window did what was asked. Every command prints one JSON
object with --json. It exits with 1 when no window is open or the window says no,
and with 2 on wrong use.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usagef("give one of list, split, tab, focus, send, capture, wait")
		},
	}
	c := &ctlCall{app: a}
	cmd.PersistentFlags().StringVar(&c.which, "window", "", "which window: its pid, its socket, or latest")
	cmd.PersistentFlags().BoolVar(&c.json, "json", false, "print the answer as one JSON object")
	cmd.AddCommand(c.list(), c.split(), c.tab(), c.focus(), c.send(), c.capture(), c.wait())
	return cmd
}

// A ctlCall is one call of a window.
type ctlCall struct {
	app   *app
	which string
	json  bool
}

// do calls the window and prints the answer, as JSON or by show.
func (c *ctlCall) do(cmd *cobra.Command, method string, params, result any, show func(w io.Writer) error) error {
	client, err := ctl.Dial(ctl.Env{Version: c.app.version}, c.which)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := client.Call(cmd.Context(), method, params, result); err != nil {
		return err
	}
	if c.json {
		enc := json.NewEncoder(c.app.out)
		enc.SetEscapeHTML(false)
		err = enc.Encode(result)
	} else {
		err = show(c.app.out)
	}
	if err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

// paneByFlag refuses words: a number among them is most likely a pane.
func paneByFlag(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if _, err := strconv.Atoi(args[0]); err == nil {
		return usagef("unexpected %q: a pane is named by --pane %s", args[0], args[0])
	}
	return usagef("unexpected %q", args[0])
}

func (c *ctlCall) list() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List tabs and panes", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var r ctl.ListResult
			return c.do(cmd, ctl.MethodList, ctl.ListParams{}, &r, func(w io.Writer) error { return printList(w, r) })
		},
	}
}

func printList(out io.Writer, r ctl.ListResult) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "tab\tpane\tpid\tstate\toutput\tcommand\tdirectory")
	for _, t := range r.Tabs {
		for _, p := range t.Panes {
			mark := ""
			if t.Focused && p.Focused {
				mark = "*"
			}
			pid := "-"
			if p.PID != 0 {
				pid = fmt.Sprint(p.PID)
			}
			fmt.Fprintf(w, "%d\t%d%s\t%s\t%s\t%s\t%s\t%s\n", t.ID, p.ID, mark, pid, ended(p), p.Capture.State,
				screen.Visible(strings.Join(p.Command, " ")), screen.Visible(p.Cwd))
		}
	}
	return w.Flush()
}

func ended(p ctl.Pane) string {
	switch {
	case p.Exit == nil:
		return string(p.State)
	case p.Exit.Signal != "":
		return p.Exit.Signal
	case p.Exit.Code != nil:
		return fmt.Sprintf("exit %d", *p.Exit.Code)
	}
	return "ended"
}

// openFlags are those of split and tab.
func openFlags(cmd *cobra.Command, cwd *string) {
	cmd.Flags().StringVarP(cwd, "dir", "C", "", "start in this directory")
}

func opened(w io.Writer, r ctl.OpenResult) error {
	if r.Error != "" {
		_, err := fmt.Fprintf(w, "pane %d in tab %d: %s\n", r.Pane, r.Tab, r.Error)
		return err
	}
	_, err := fmt.Fprintf(w, "pane %d in tab %d, pid %d\n", r.Pane, r.Tab, r.PID)
	return err
}

// notStarted makes a pane whose command did not start an exit code of 1.
func notStarted(r ctl.OpenResult, err error) error {
	if err == nil && r.State == ctl.StateNotStarted {
		return &codeError{exitNotComplete}
	}
	return err
}

func (c *ctlCall) split() *cobra.Command {
	var p ctl.SplitParams
	var down bool
	cmd := &cobra.Command{
		Use: "split [right|down] [--pane N] [-- COMMAND ARG...]", Short: "Open a pane beside another",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			var words int
			if p.Direction, words, err = splitWhere(cmd, args, down); err != nil {
				return err
			}
			if p.Command, p.Cwd, err = opening(cmd, args, words, p.Cwd); err != nil {
				return err
			}
			var r ctl.OpenResult
			err = c.do(cmd, ctl.MethodSplit, p, &r, func(w io.Writer) error { return opened(w, r) })
			return notStarted(r, err)
		},
	}
	cmd.Flags().BoolVar(&down, "down", false, "the same as the word down")
	cmd.Flags().IntVar(&p.Pane, "pane", 0, "beside this pane; 0 is the focused one")
	openFlags(cmd, &p.Cwd)
	return cmd
}

// splitWhere reads the direction, and says how many of the words it took.
func splitWhere(cmd *cobra.Command, args []string, down bool) (where ctl.Direction, words int, err error) {
	where = ctl.Right
	if down {
		where = ctl.Down
	}
	if len(args) == 0 || cmd.ArgsLenAtDash() == 0 {
		return where, 0, nil
	}
	switch word := ctl.Direction(args[0]); {
	case word != ctl.Right && word != ctl.Down:
		return "", 0, usagef("unexpected %q: say right or down; the command comes after --", args[0])
	case down && word == ctl.Right:
		return "", 0, usagef("right and --down contradict each other")
	default:
		return word, 1, nil
	}
}

func (c *ctlCall) tab() *cobra.Command {
	var p ctl.TabParams
	cmd := &cobra.Command{
		Use: "tab [-- COMMAND ARG...]", Short: "Open a tab",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if p.Command, p.Cwd, err = opening(cmd, args, 0, p.Cwd); err != nil {
				return err
			}
			var r ctl.OpenResult
			err = c.do(cmd, ctl.MethodTab, p, &r, func(w io.Writer) error { return opened(w, r) })
			return notStarted(r, err)
		},
	}
	openFlags(cmd, &p.Cwd)
	return cmd
}

// opening is the command behind "--", if any, and the directory made absolute:
// the window has another one. words of args were taken before.
func opening(cmd *cobra.Command, args []string, words int, dir string) (argv []string, cwd string, err error) {
	rest, dash := args[words:], cmd.ArgsLenAtDash()
	switch {
	case len(rest) > 0 && dash != words:
		return nil, "", usagef("unexpected %q: the command comes after --", rest[0])
	case dash >= 0 && (len(rest) == 0 || rest[0] == ""):
		return nil, "", usagef("no command given: %s", cmd.UseLine())
	}
	argv = rest
	if dir != "" {
		if dir, err = filepath.Abs(dir); err != nil {
			return nil, "", err
		}
	}
	return argv, dir, nil
}

func (c *ctlCall) focus() *cobra.Command {
	var p ctl.FocusParams
	var dir string
	cmd := &cobra.Command{
		Use: "focus (--pane N | --tab N | --direction left|right|up|down)", Short: "Give a pane the keyboard", Args: paneByFlag,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p.Direction = ctl.Direction(dir)
			if p == (ctl.FocusParams{}) {
				return usagef("say which: --pane N, --tab N or --direction left, right, up or down")
			}
			if err := p.Validate(); err != nil {
				return &usageError{err}
			}
			var r ctl.FocusResult
			return c.do(cmd, ctl.MethodFocus, p, &r, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "pane %d in tab %d\n", r.Pane, r.Tab)
				return err
			})
		},
	}
	f := cmd.Flags()
	f.IntVar(&p.Pane, "pane", 0, "this pane")
	f.IntVar(&p.Tab, "tab", 0, "this tab")
	f.StringVar(&dir, "direction", "", "the pane in this direction")
	return cmd
}

func (c *ctlCall) send() *cobra.Command {
	var p ctl.SendParams
	var stdin bool
	cmd := &cobra.Command{
		Use: "send [--pane N] [--enter] (TEXT... | --stdin)", Short: "Give input to a pane's program, as if it were typed",
		Long: `send types TEXT, words joined by a space, into a pane.

Success means that every byte was taken; whether the program reads them, nobody
can promise. It exits with 1 when some were refused.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			p.Text = strings.Join(args, " ")
			if stdin {
				if len(args) > 0 {
					return usagef("give TEXT or --stdin, not both")
				}
				raw, err := io.ReadAll(c.app.in)
				if err != nil {
					return fmt.Errorf("read standard input: %w", err)
				}
				p.Text, p.Bytes = "", raw
			}
			if err := p.Validate(); err != nil {
				return &usageError{err}
			}
			var r ctl.SendResult
			err := c.do(cmd, ctl.MethodSend, p, &r, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "%s taken\n", outcome.CountBytes(r.Accepted))
				return err
			})
			if err == nil && r.Refused > 0 {
				return fmt.Errorf("%s refused: %s", outcome.CountBytes(r.Refused), r.Why)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.IntVar(&p.Pane, "pane", 0, "to this pane; 0 is the focused one")
	f.BoolVar(&p.Enter, "enter", false, "press Enter after it")
	f.BoolVar(&stdin, "stdin", false, "send standard input, byte for byte")
	return cmd
}

func (c *ctlCall) capture() *cobra.Command {
	var p ctl.CaptureParams
	cmd := &cobra.Command{
		Use: "capture [--pane N] [--scrollback] [--ansi]", Short: "Print a pane's text, and say whether it is all", Args: paneByFlag,
		Long: `capture prints the screen of a pane, with --scrollback also what is kept above it.

Success means that the text is all that the program wrote: its end was seen and
nothing was cut, lost or left out. Otherwise what is missing stands on stderr and
it exits with 1; a program that still runs has not written all of it.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var r ctl.CaptureResult
			err := c.do(cmd, ctl.MethodCapture, p, &r, func(w io.Writer) error {
				_, err := io.WriteString(w, r.Text)
				return err
			})
			if err != nil {
				return err
			}
			return incomplete(c.app.err, r)
		},
	}
	f := cmd.Flags()
	f.IntVar(&p.Pane, "pane", 0, "this pane; 0 is the focused one")
	f.BoolVar(&p.Scrollback, "scrollback", false, "also the rows above the screen")
	f.BoolVar(&p.ANSI, "ansi", false, "with the sequences for colours and attributes")
	f.IntVar(&p.Rows, "rows", 0, "at most so many rows, from the end")
	return cmd
}

// incomplete says what a captured text is not.
func incomplete(w io.Writer, r ctl.CaptureResult) error {
	var why []string
	if r.AboveRows > 0 {
		why = append(why, outcome.Count(r.AboveRows)+" rows above were not asked for")
	}
	if r.CutLines != 0 {
		why = append(why, outcome.Count(r.CutLines)+" rows were cut from the history")
	}
	switch {
	case r.Running:
		why = append(why, "the program still runs")
	case r.State != ctl.CaptureComplete && r.State != ctl.CaptureTruncated:
		why = append(why, string(r.State)+": "+r.Why)
	}
	if len(why) == 0 {
		return nil
	}
	fmt.Fprintln(w, "honestty: not all of it: "+strings.Join(why, "; "))
	return &codeError{exitNotComplete}
}

func (c *ctlCall) wait() *cobra.Command {
	var p ctl.WaitParams
	var until string
	var timeout, idle time.Duration
	cmd := &cobra.Command{
		Use: "wait [--pane N] (--until exit|idle | --text TEXT) [--timeout D]", Short: "Wait until something happens in a pane", Args: paneByFlag,
		Long: `wait returns when the pane's program has ended, when a text stands in it, or when
it put out nothing for a while.

Success means that this is what happened. When the time is up first, or the
program ends, it says so and exits with 1.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p.Until = ctl.Until(until)
			if p.Text != "" {
				p.Until = ctl.UntilText
			}
			p.TimeoutMS, p.IdleMS = timeout.Milliseconds(), idle.Milliseconds()
			if err := p.Validate(); err != nil {
				return &usageError{err}
			}
			var r ctl.WaitResult
			err := c.do(cmd, ctl.MethodWait, p, &r, func(w io.Writer) error {
				_, err := fmt.Fprintln(w, describeWait(r))
				return err
			})
			if err == nil && !r.Reached {
				return &codeError{exitNotComplete}
			}
			return err
		},
	}
	f := cmd.Flags()
	f.IntVar(&p.Pane, "pane", 0, "in this pane; 0 is the focused one")
	f.StringVar(&until, "until", "exit", "exit or idle")
	f.StringVar(&p.Text, "text", "", "until this text stands in the pane")
	f.DurationVar(&idle, "idle", 0, "how long nothing must come, with --until idle")
	f.DurationVar(&timeout, "timeout", 0, "give up after this time")
	return cmd
}

func describeWait(r ctl.WaitResult) string {
	s := string(r.Happened)
	if r.Line != "" {
		s += ": " + screen.Visible(r.Line)
	}
	if r.Exit != nil && r.Exit.Code != nil {
		s += fmt.Sprintf(" (exit %d, output %s)", *r.Exit.Code, r.Capture.State)
	} else if r.Exit != nil {
		s += fmt.Sprintf(" (%s, output %s)", r.Exit.Signal, r.Capture.State)
	}
	return s
}
