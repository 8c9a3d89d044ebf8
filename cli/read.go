package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/tools/readfile"
	"github.com/honestty/honestty/tui/screen"
)

// cmdRead reads lines of a file as agents do.
func (a *app) cmdRead() *cobra.Command {
	var offset, limit int64
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "read [flags] FILE",
		Short: "Read lines of a file, and say whether its end was seen",
		Long: `read prints numbered lines of a text file, as the tool read_file gives them to
agents: through one descriptor, with the size and what was read side by side.
Devices, pipes, folders, binary files and places of secrets are refused by the
name of the rule.

Success means that the lines asked for were read, and that size and content
agreed. It exits with 1 when they were not, and with 2 on wrong use.`,
		Args: wordsOf(1, "give one file to read"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p := readfile.Params{Path: climbed(args[0])}
			if cmd.Flags().Changed("offset") {
				p.Offset = &offset
			}
			if cmd.Flags().Changed("limit") {
				p.Limit = &limit
			}
			return a.read(cmd, p, asJSON)
		},
	}
	cmd.Flags().Int64Var(&offset, "offset", 1, "number of the first line")
	cmd.Flags().Int64Var(&limit, "limit", 500, "how many lines, up to 2000")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as one JSON object")
	return cmd
}

func (a *app) read(cmd *cobra.Command, p readfile.Params, asJSON bool) error {
	k, err := a.openKit()
	if err != nil {
		return err
	}
	defer k.close()
	params, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("write the parameters: %w", err)
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	defer stop()
	answer := k.call(ctx, "read_file", params, nil, nil)
	r, ok := answer.Result.(readfile.Result)
	switch {
	case asJSON:
		if err := a.printJSON(answer.Result); err != nil {
			return err
		}
		return k.judged(answer, true)
	case !ok: // it did not come to reading
		return k.judged(answer, false)
	case r.Content != "":
		if _, err := io.WriteString(a.out, endLine(shown(r.Content))); err != nil {
			return fmt.Errorf("write the lines: %w", err)
		}
	}
	if answer.Err == nil {
		fmt.Fprintln(a.err, "honestty: "+r.Summary())
	}
	for _, n := range r.Notes {
		fmt.Fprintln(a.err, "honestty: "+n)
	}
	return k.judged(answer, false)
}

// shown makes what is not printable visible, and keeps lines lines.
func shown(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = screen.Visible(strings.ReplaceAll(l, "\t", "        "))
	}
	return strings.Join(lines, "\n")
}
