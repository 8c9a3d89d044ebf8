package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/checkpoint"
	"github.com/honestty/honestty/tui/screen"
)

func (a *app) cmdCheckpoint() *cobra.Command {
	c := &checkpointCall{app: a}
	cmd := &cobra.Command{
		Use:   "checkpoint COMMAND",
		Short: "List, show, compare and restore what files held before a tool replaced them",
		Long: `checkpoint keeps the old content of every file of yours that a tool of ours
replaces. Restoring keeps what is there first, so it can be taken back too.
Content is kept for 30 days, and 1 GB of it; the oldest goes first, and what
costs a checkpoint says so.

Success means that the action was done. It exits with 1 when it was not, and
with 2 on wrong use.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(*cobra.Command, []string) error {
			return usagef("give one of list, show, diff, restore, prune")
		},
	}
	cmd.PersistentFlags().BoolVar(&c.json, "json", false, "print the result as one JSON object")
	cmd.AddCommand(c.list(), c.one("show", "Print what a file held"), c.one("diff", "Compare it with the file of now"), c.restore(), c.prune())
	return cmd
}

type checkpointCall struct {
	app  *app
	json bool
}

func (c *checkpointCall) do(cmd *cobra.Command, p checkpoint.Params) error {
	k, err := c.app.openKit()
	if err != nil {
		return err
	}
	defer k.close()
	params, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("write the parameters: %w", err)
	}
	answer := k.call(cmd.Context(), "checkpoint", params, nil, nil)
	r, ok := answer.Result.(*checkpoint.Result)
	if v, is := answer.Result.(checkpoint.Result); is {
		r, ok = &v, true
	}
	if c.json || !ok {
		if err := c.app.printJSON(answer.Result); err != nil {
			return err
		}
		return k.judged(answer, true)
	}
	if err := printCheckpoint(c.app.out, r, answer.Summary); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return k.judged(answer, false)
}

func printCheckpoint(out io.Writer, r *checkpoint.Result, summary string) error {
	switch {
	case r.List != nil:
		if len(r.List.Entries) == 0 {
			_, err := fmt.Fprintln(out, "no checkpoints")
			return err
		}
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "id\ttaken\tsize\tfile")
		for _, e := range r.List.Entries {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", e.ID, e.Time.Local().Format("2006-01-02 15:04:05"), outcome.Size(e.Size), screen.Visible(e.Path))
		}
		if err := w.Flush(); err != nil {
			return err
		}
		return printListFoot(out, r)
	case r.Shown != nil && r.Shown.Text != "":
		_, err := io.WriteString(out, endLine(shown(r.Shown.Text)))
		return err
	case r.Diff != nil && r.Diff.Unified != "":
		_, err := io.WriteString(out, endLine(shown(r.Diff.Unified)))
		return err
	case r.Success:
		_, err := fmt.Fprintln(out, screen.Visible(strings.TrimSpace(summary)))
		return err
	}
	return nil
}

// printListFoot says what the table leaves out.
func printListFoot(out io.Writer, r *checkpoint.Result) error {
	if r.More > 0 {
		if _, err := fmt.Fprintf(out, "and %s more: -n %d lists all\n", outcome.Count(int64(r.More)), r.More+len(r.List.Entries)); err != nil {
			return err
		}
	}
	if n := r.List.Damaged; n > 0 {
		if _, err := fmt.Fprintf(out, "%s of the index cannot be read: what it named is not listed; prune takes it out\n", lineCount(n)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "%s of %s kept\n", outcome.Size(r.List.Bytes), outcome.Size(r.List.Limit))
	return err
}

func lineCount(n int) string {
	if n == 1 {
		return "1 line"
	}
	return outcome.Count(int64(n)) + " lines"
}

func (c *checkpointCall) list() *cobra.Command {
	p := checkpoint.Params{Action: "list"}
	cmd := &cobra.Command{
		Use: "list [PATH]", Short: "List checkpoints, the newest first, of one file or folder", Args: atMostOne("checkpoint list takes one file or folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				p.Path = args[0]
			}
			return c.do(cmd, p)
		},
	}
	cmd.Flags().IntVarP(&p.Limit, "limit", "n", 20, "at most so many")
	return cmd
}

func (c *checkpointCall) one(action, short string) *cobra.Command {
	return &cobra.Command{
		Use: action + " ID", Short: short, Args: wordsOf(1, "give one checkpoint: its id, or the beginning of it, as honestty checkpoint list shows it"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.do(cmd, checkpoint.Params{Action: action, ID: args[0]})
		},
	}
}

func (c *checkpointCall) restore() *cobra.Command {
	p := checkpoint.Params{Action: "restore"}
	cmd := &cobra.Command{
		Use: "restore ID", Short: "Bring the content back; what is there now is kept first", Args: wordsOf(1, "give one checkpoint: its id, or the beginning of it, as honestty checkpoint list shows it"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p.ID = args[0]
			return c.do(cmd, p)
		},
	}
	cmd.Flags().StringVarP(&p.OutputPath, "output", "o", "", "write to this file and leave the other alone")
	return cmd
}

func (c *checkpointCall) prune() *cobra.Command {
	p := checkpoint.Params{Action: "prune"}
	cmd := &cobra.Command{
		Use: "prune", Short: "Drop what is too old or too much, and say what", Args: wordsOf(0, "checkpoint prune takes no words"),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.do(cmd, p) },
	}
	cmd.Flags().IntVar(&p.MaxAgeDays, "max-age-days", 0, "drop what is older (30)")
	cmd.Flags().IntVar(&p.MaxSizeMB, "max-size-mb", 0, "drop the oldest until all together is no more (1024)")
	return cmd
}

// atMostOne takes one argument or none.
func atMostOne(ask string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usagef("%s", ask)
		}
		return nil
	}
}
