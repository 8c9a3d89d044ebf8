package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tui/screen"
)

// A logCall is one look at the journal.
type logCall struct {
	app    *app
	filter journal.Filter
	states []string
	limit  int
	json   bool
}

func (a *app) cmdLog() *cobra.Command {
	l := &logCall{app: a}
	var follow bool
	cmd := &cobra.Command{
		Use:   "log [flags]",
		Short: "List the calls of tools, from the journal",
		Long: `log lists calls of tools, the newest last: every call by a command, a window or
an agent, with how it ended. What the journal lacks is a line of its own.

Success means that the journal was read and lacks nothing. It exits with 1 when
events are missing in it or it could not be read, and with 2 on wrong use.`,
		Args: wordsOf(0, "log takes no words: honestty log --grep TEXT looks for one"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := l.ready(); err != nil {
				return err
			}
			if follow {
				return l.follow(cmd.Context())
			}
			return l.list()
		},
	}
	f := cmd.PersistentFlags()
	f.StringVar(&l.filter.Tool, "tool", "", "only this tool: terminal, send_message …")
	f.StringVar(&l.filter.Agent, "agent", "", "only this agent: hermes, claude-code …")
	f.StringSliceVar(&l.states, "state", nil, "only these states: running, complete, partial, failed, lost, refused, cancelled, unknown")
	f.BoolVar(&l.filter.Bad, "failed", false, "only what somebody should look at: all but running, complete and cancelled")
	f.BoolVar(&l.filter.Contradicted, "contradicted", false, "only calls whose result contradicts what could be seen")
	f.StringVar(&l.filter.Text, "grep", "", "only calls with this text in their line")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with calls as they begin and end")
	cmd.Flags().IntVarP(&l.limit, "limit", "n", 50, "at most so many calls; 0: all")
	cmd.Flags().BoolVar(&l.json, "json", false, "print one JSON object a call")
	cmd.AddCommand(l.show(), l.export())
	return cmd
}

func (l *logCall) ready() error {
	for _, word := range l.states {
		s, err := journal.ParseState(word)
		if err != nil {
			return &usageError{err}
		}
		l.filter.States = append(l.filter.States, s)
	}
	if l.limit < 0 {
		return usagef("--limit must not be negative")
	}
	return nil
}

// book reads the newest calls, enough for the limit after the filter.
func (l *logCall) book() (*journal.Book, *journal.Follower, error) {
	tail, follower, err := journal.OpenTail(stateDir("journal"))
	if err != nil {
		return nil, nil, err
	}
	defer tail.Close()
	b := journal.NewBook(0)
	for {
		more := b.Len() + 2000
		if err := b.Fill(tail, more); err != nil {
			follower.Close()
			return nil, nil, err
		}
		if b.Len() < more || l.limit > 0 && b.Select(l.filter).Len() >= l.limit {
			break
		}
	}
	b.MarkGone(journal.Gone(b.Owners()))
	return b, follower, nil
}

func (l *logCall) list() error {
	b, follower, err := l.book()
	if err != nil {
		return err
	}
	defer follower.Close()
	n, err := l.newest(b)
	if err != nil {
		return err
	}
	if n == 0 && !l.json {
		fmt.Fprintln(l.app.err, "honestty: no calls")
	}
	return l.gaps(b)
}

// newest prints the newest calls that pass the filter, up to the limit, and
// says how many they were.
func (l *logCall) newest(b *journal.Book) (int, error) {
	v := b.Select(l.filter)
	n := v.Len()
	if l.limit > 0 {
		n = min(n, l.limit)
	}
	for i := n - 1; i >= 0; i-- {
		if err := l.print(v.At(i)); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// gaps tells what the journal lacks.
func (l *logCall) gaps(b *journal.Book) error {
	for _, e := range b.Gaps() {
		fmt.Fprintln(l.app.err, "honestty: "+gapText(e))
	}
	if len(b.Gaps()) > 0 {
		return &codeError{exitNotComplete}
	}
	return nil
}

func gapText(e journal.Event) string {
	n := "an unknown number of events"
	if e.Gap.Events == 1 {
		n = "1 event"
	} else if e.Gap.Events >= 0 {
		n = outcome.Count(e.Gap.Events) + " events"
	}
	return n + " missing in the journal: " + e.Gap.Why
}

// print writes one call, as a line or as JSON.
func (l *logCall) print(r journal.Record) error {
	if l.json {
		return l.app.printJSON(recordJSON(r))
	}
	_, err := fmt.Fprintln(l.app.out, recordLine(r))
	if err != nil {
		return fmt.Errorf("write the list: %w", err)
	}
	return nil
}

// A callJSON is a call in a list, without arguments and result.
type callJSON struct {
	Call       string          `json:"call"`
	State      string          `json:"state"`
	Why        string          `json:"why,omitempty"`
	Tool       string          `json:"tool"`
	Title      string          `json:"title"`
	Source     journal.Source  `json:"source"`
	Started    time.Time       `json:"started"`
	DurationMS *int64          `json:"duration_ms"`
	Summary    string          `json:"summary,omitempty"`
	Error      string          `json:"error,omitempty"`
	Checks     []journal.Check `json:"checks,omitempty"`
}

func recordJSON(r journal.Record) callJSON {
	c := callJSON{
		Call: r.Start.Call, State: r.State().String(), Why: r.Why(), Tool: r.Start.Tool, Title: r.Start.Title,
		Source: r.Start.Source, Started: r.Started,
	}
	if r.End != nil {
		c.DurationMS, c.Summary, c.Error, c.Checks = &r.End.DurationMS, r.End.Summary, r.End.Error, r.End.Checks
	}
	return c
}

// idShown is how much of an id a list shows: enough to name a call by, since
// ids begin with the time.
const idShown = 18

func recordLine(r journal.Record) string {
	took := "-"
	if r.End != nil {
		took = outcome.Duration(time.Duration(r.End.DurationMS) * time.Millisecond)
	}
	who := r.Start.Source.Agent
	if who == "" {
		who = r.Start.Source.Kind
	}
	line := fmt.Sprintf("%s  %-*s  %-9s  %7s  %-12s %-14s %s", r.Started.Local().Format("01-02 15:04:05"),
		idShown, r.Start.Call[:min(len(r.Start.Call), idShown)], r.State(), took, screen.Visible(who), screen.Visible(r.Start.Tool), screen.Visible(r.Start.Title))
	switch {
	case r.Why() != "":
		line += "  (" + r.Why() + ")"
	case r.State() != journal.Complete && r.End != nil && r.End.Error != "":
		line += "  (" + screen.Visible(r.End.Error) + ")"
	}
	return line
}

// followPause is the time between two looks at the journal.
const followPause = 200 * time.Millisecond

// follow prints the newest calls and then calls as they begin and end.
func (l *logCall) follow(ctx context.Context) error {
	ctx, stop := signal.NotifyContext(ctx, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	defer stop()
	b, follower, err := l.book()
	if err != nil {
		return err
	}
	defer follower.Close()
	if _, err := l.newest(b); err != nil {
		return err
	}
	t := time.NewTicker(followPause)
	defer t.Stop()
	for {
		events, err := follower.Poll()
		if err != nil {
			return err
		}
		b.Add(events)
		for _, e := range events {
			if e.Gap != nil {
				fmt.Fprintln(l.app.err, "honestty: "+gapText(e))
			}
		}
		v := b.Select(l.filter)
		for _, call := range changed(events) {
			if i := v.Index(call); i >= 0 {
				if err := l.print(v.At(i)); err != nil {
					return err
				}
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
	}
}

// changed are the calls that began or ended, each once: one that did both is
// printed as it is now.
func changed(events []journal.Event) []string {
	var out []string
	for _, e := range events {
		switch {
		case e.Start != nil:
			out = append(out, e.Start.Call)
		case e.End != nil && !slices.Contains(out, e.End.Call):
			out = append(out, e.End.Call)
		}
	}
	return out
}

func (l *logCall) show() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show ID", Short: "Show one call whole: arguments, result, evidence", Args: wordsOf(1, "give one call: its id, or the beginning of it, as honestty log lists it"),
		RunE: func(_ *cobra.Command, args []string) error {
			l.limit = 0
			b, follower, err := l.book()
			if err != nil {
				return err
			}
			defer follower.Close()
			r, err := b.Find(args[0])
			if err != nil {
				return err
			}
			start, end, err := journal.Detail(stateDir("journal"), r)
			if err != nil && !errors.Is(err, journal.ErrSpilled) {
				return err
			}
			if asJSON {
				return errors.Join(err, l.app.printJSON(struct {
					callJSON
					Start journal.Start `json:"start"`
					End   *journal.End  `json:"end"`
				}{recordJSON(r), start, end}))
			}
			return errors.Join(err, printCall(l.app.out, r, start, end))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func printCall(w io.Writer, r journal.Record, s journal.Start, e *journal.End) error {
	var b strings.Builder
	field := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-10s %s\n", name, screen.Visible(value))
		}
	}
	field("call", s.Call)
	field("tool", s.Tool)
	field("about", s.Title)
	field("state", r.State().String())
	field("why", r.Why())
	field("started", r.Started.Local().Format(time.RFC3339))
	field("source", strings.TrimSpace(s.Source.Kind+" "+s.Source.Agent+" "+s.Source.Session))
	field("directory", s.Source.Dir)
	field("output", s.Live)
	if e != nil {
		field("duration", outcome.Duration(time.Duration(e.DurationMS)*time.Millisecond))
		field("summary", e.Summary)
		field("error", e.Error)
		if n := s.Redacted + e.Redacted; n > 0 {
			field("redacted", fmt.Sprintf("%d secrets", n))
		}
		for _, c := range e.Checks {
			field("check", fmt.Sprintf("%s: claimed %s; seen %s: %s", c.Name, c.Claimed, c.Seen, c.Verdict))
		}
	}
	b.WriteString("arguments\n" + indented(s.Args))
	if e != nil {
		b.WriteString("result\n" + indented(e.Result))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// indented writes JSON for people. Text from outside is JSON-escaped there, so
// it cannot act on the terminal, but for what is not ASCII.
func indented(raw json.RawMessage) string {
	var out bytes.Buffer
	if len(raw) == 0 || json.Indent(&out, raw, "  ", "  ") != nil {
		return "  none\n"
	}
	return "  " + shown(out.String()) + "\n"
}

func (l *logCall) export() *cobra.Command {
	return &cobra.Command{
		Use: "export", Short: "Write whole calls as JSON lines, with arguments and results", Args: wordsOf(0, "log export takes no words: its flags choose calls"),
		RunE: func(*cobra.Command, []string) error {
			if err := l.ready(); err != nil {
				return err
			}
			return journal.Export(l.app.out, stateDir("journal"), "jsonl", l.filter)
		},
	}
}
