package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
	"github.com/honestty/honestty/tools/send"
	"github.com/honestty/honestty/tui/screen"
)

// A sendCall is one use of the command.
type sendCall struct {
	app                            *app
	target, file, subject, quote   string
	attach                         []string
	noMedia, dryRun, quiet, asJSON bool
	voice, document                bool
	retry                          string
	retryUnknown                   bool
	allowOnce                      []string
}

func (a *app) cmdSend() *cobra.Command {
	c := &sendCall{app: a}
	var list bool
	cmd := &cobra.Command{
		Use:   "send [flags] [MESSAGE]",
		Short: "Send a message with files, with one receipt for each",
		Long: `send sends MESSAGE, or the text of --file, or what stands on stdin, to a target:
platform, platform:chat or platform:chat:thread. The platform alone means its
home channel. Without anything set up there is the platform file, a folder.

Files come from --attach, which is never parsed, and from MEDIA:/absolute/path
in the text unless --no-media says otherwise. What others wrote, such as file
names or the output of a program, goes below the text with --quote: no MEDIA: in
it acts. Every file is checked before the first byte goes out. Each text and
each file has a receipt: sent, dropped, rejected or unknown. Unknown is what a
cut connection leaves; it is not sent again unless --retry-unknown asks for it.

Success means that every part of the message was sent. It exits with 1 when one
was not, and with 2 on wrong use.`,
		Example: "  honestty send -t telegram --attach report.pdf 'The report'\n  honestty send --dry-run -t slack:#ops <notes.txt\n  honestty send --retry-dropped 01a22e30",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("the message is one argument: put it in quotes")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
			defer stop()
			if list {
				return c.list(args)
			}
			if err := c.fits(cmd, args); err != nil {
				return err
			}
			if c.retry != "" {
				return c.again(ctx)
			}
			text, quoted, err := c.body(args)
			if err != nil {
				return err
			}
			return c.send(ctx, text, quoted)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&c.target, "to", "t", "", "platform, platform:chat or platform:chat:thread")
	f.StringVarP(&c.file, "file", "f", "", "take the text from this file; - is stdin")
	f.StringVar(&c.quote, "quote", "", "put this file below the text, as text that others wrote; - is stdin")
	f.StringVarP(&c.subject, "subject", "s", "", "one line above the text")
	f.StringArrayVar(&c.attach, "attach", nil, "attach this file")
	f.BoolVar(&c.noMedia, "no-media", false, "leave MEDIA: in the text as text")
	f.BoolVar(&c.voice, "voice", false, "send Ogg and Opus files as voice messages")
	f.BoolVar(&c.document, "document", false, "send pictures as files")
	f.BoolVar(&c.dryRun, "dry-run", false, "show what would go where, and send nothing")
	f.StringVar(&c.retry, "retry-dropped", "", "send again what was not sent of this call, by its id in the journal")
	f.BoolVar(&c.retryUnknown, "retry-unknown", false, "with --retry-dropped: also what may have arrived")
	f.StringArrayVar(&c.allowOnce, "allow-once", nil, "with --retry-dropped: ask at the window whether this file may go although the policy denies it")
	f.BoolVarP(&list, "list", "l", false, "list the targets, of all platforms or of the one named")
	f.BoolVarP(&c.quiet, "quiet", "q", false, "print nothing but warnings when all was sent")
	f.BoolVar(&c.asJSON, "json", false, "print the result as one JSON object")
	return cmd
}

// fits refuses flags that would be ignored: what somebody asks for happens, or
// the command does not.
func (c *sendCall) fits(cmd *cobra.Command, args []string) error {
	if !cmd.Flags().Changed("retry-dropped") {
		for _, name := range []string{"retry-unknown", "allow-once"} {
			if cmd.Flags().Changed(name) {
				return usagef("--%s goes with --retry-dropped", name)
			}
		}
		for _, path := range c.attach {
			if !utf8.ValidString(path) {
				return usagef("the name of the file %s is no UTF-8: give it a name that is, or a link with one", send.Shown(path))
			}
		}
		return nil
	}
	if c.retry == "" {
		return usagef("--retry-dropped needs the id of a call; honestty log --tool send_message lists them")
	}
	for _, name := range []string{"to", "file", "quote", "subject", "attach", "no-media", "voice", "document"} {
		if cmd.Flags().Changed(name) {
			return usagef("--retry-dropped sends the rest of that message as it was: leave --%s out", name)
		}
	}
	switch {
	case len(args) > 0:
		return usagef("--retry-dropped sends the message of that call: give no other")
	case c.dryRun && len(c.allowOnce) > 0:
		return usagef("--allow-once asks a person, and a dry run asks nobody")
	}
	return nil
}

// body finds the text, from the argument, then --file, then stdin where it is
// no terminal; and what --quote puts below it.
func (c *sendCall) body(args []string) (text, quoted string, err error) {
	if c.file == "-" && c.quote == "-" {
		return "", "", usagef("stdin is either the text or the quote")
	}
	switch {
	case len(args) == 1:
		text = args[0]
	case c.file != "":
		text, err = c.read(c.file)
	case c.quote != "-" && !isTerminal(c.app.in):
		text, err = c.read("-")
	}
	if err == nil && c.quote != "" {
		quoted, err = c.read(c.quote)
	}
	switch {
	case err != nil:
		return "", "", err
	case len(text)+len(quoted) > maxText:
		return "", "", usagef("the text has more than %s: attach it as a file", outcome.Size(maxText))
	case !utf8.ValidString(text) || !utf8.ValidString(quoted):
		return "", "", usagef("the text is no UTF-8: attach a file with --attach FILE, or with MEDIA:/absolute/path in the text")
	case strings.TrimSpace(text+quoted) == "" && len(c.attach) == 0:
		return "", "", usagef("no message: give it as an argument, with --file, or on stdin")
	}
	return text, quoted, nil
}

// read reads a text, and one byte more than it may have: - is stdin.
func (c *sendCall) read(name string) (string, error) {
	var in io.Reader = c.app.in
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return "", &usageError{fmt.Errorf("cannot read the text: %w", err)}
		}
		defer f.Close() // only read
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxText+1))
	if err != nil {
		return "", &usageError{fmt.Errorf("cannot read the text: %w", err)}
	}
	return string(raw), nil
}

func (c *sendCall) params(k *kit, text, quoted string) (send.Params, error) {
	p := send.Params{
		Target: cmp.Or(c.target, k.conf.Send.Default), Message: text, Quoted: quoted, Subject: c.subject, Attachments: c.attach,
		NoMedia: c.noMedia, AsVoice: c.voice, AsDocument: c.document, DryRun: c.dryRun,
	}
	if p.Target == "" {
		return p, usagef("no target: give --to PLATFORM[:CHAT[:THREAD]], or set send.default; honestty send --list shows what is set up")
	}
	return p, nil
}

func (c *sendCall) send(ctx context.Context, text, quoted string) error {
	k, err := c.app.openKit()
	if err != nil {
		return err
	}
	defer k.close()
	p, err := c.params(k, text, quoted)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("write the parameters: %w", err)
	}
	return c.told(k, k.call(ctx, "send_message", raw, nil, c.app.progress()))
}

// told prints the result.
func (c *sendCall) told(k *kit, answer tools.Answer) error {
	c.app.endProgress()
	r, ok := answer.Result.(*send.Result)
	if c.asJSON || !ok {
		if err := c.app.printJSON(answer.Result); err != nil {
			return err
		}
		if answer.Status != outcome.Complete && isTarget(answer.Err) {
			return &codeError{exitUsage}
		}
		return k.judged(answer, true)
	}
	if isTarget(answer.Err) {
		return &usageError{answer.Err}
	}
	if !c.quiet || !r.Success {
		if err := printReceipts(c.app.out, r); err != nil {
			return fmt.Errorf("write the result: %w", err)
		}
	}
	for _, w := range r.Warnings {
		fmt.Fprintln(c.app.err, "honestty: "+screen.Visible(w))
	}
	if r.Note != "" && !(c.quiet && r.Success) {
		fmt.Fprintln(c.app.err, "honestty: "+screen.Visible(r.Note))
	}
	return k.judged(answer, false)
}

func isTarget(err error) bool { return errors.Is(err, send.ErrTarget) }

// printReceipts writes one line for each part of the message, those that were
// not sent first. Of a dry run it writes what would go.
func printReceipts(w io.Writer, r *send.Result) error {
	b := bufio.NewWriter(w)
	receipts := r.Delivery
	if r.Plan != nil {
		receipts = r.Plan.Attachments
		printPlan(b, r.Plan)
	}
	order := slices.Clone(receipts)
	slices.SortStableFunc(order, func(a, b send.Receipt) int { return cmp.Compare(rankOf(a), rankOf(b)) })
	for _, d := range order {
		name, size, said := d.Requested, "", ""
		switch {
		case d.Kind == send.TextKind:
			name = strings.TrimPrefix(strings.TrimSuffix(name, " 1/1"), "text ")
			if name == send.TextKind { // the one part
				name = ""
			}
		case d.Size != nil:
			size = outcome.Size(*d.Size)
		}
		switch {
		case d.Status != send.Sent:
			said = d.Reason
			if d.Rule != "" {
				said += " (" + d.Rule + ")"
			}
		case r.Plan != nil:
			if d.Resolved != d.Requested {
				said = d.Resolved
			}
		case d.PlatformID != "":
			said = "as " + d.PlatformID
		}
		line := fmt.Sprintf("%-*s %-9s %9s  %s", statusWidth(r), statusWord(d, r.Plan != nil), d.Kind, size, screen.Visible(name))
		if said != "" {
			line += "  " + screen.Visible(said)
		}
		fmt.Fprintln(b, strings.TrimRight(line, " "))
	}
	return b.Flush()
}

func statusWidth(r *send.Result) int {
	if r.Plan != nil {
		return len("would drop")
	}
	return len("rejected")
}

// statusWord is what became of a part, or what would: of a dry run nothing is
// said to be sent.
func statusWord(d send.Receipt, plan bool) string {
	switch {
	case plan && d.Status == send.Sent:
		return "would go"
	case plan && d.Status == send.Dropped:
		return "would drop"
	}
	return d.Status.String()
}

// printPlan writes the texts that would go, each as it would be split.
func printPlan(b *bufio.Writer, p *send.Plan) {
	fmt.Fprintf(b, "to %s\n", screen.Visible(p.Target))
	if p.Subject != "" {
		fmt.Fprintf(b, "subject: %s\n", screen.Visible(p.Subject))
	}
	for i, t := range p.Texts {
		what := fmt.Sprintf("text %d of %d", i+1, len(p.Texts))
		if len(p.Texts) == 1 {
			what = "text"
		}
		if p.Caption {
			what += ", as the caption of the file"
		}
		fmt.Fprintf(b, "%s, %s:\n", what, outcome.CountBytes(int64(len(t))))
		for line := range strings.SplitSeq(strings.TrimRight(t, "\n"), "\n") {
			fmt.Fprintf(b, "  | %s\n", screen.Visible(line))
		}
	}
}

// rankOf puts what needs somebody first.
func rankOf(r send.Receipt) int {
	switch r.Status {
	case send.Sent:
		return 3
	case send.Dropped:
		return 0
	case send.Rejected:
		return 1
	}
	return 2
}

func (c *sendCall) list(args []string) error {
	k, err := c.app.openKit()
	if err != nil {
		return err
	}
	defer k.close()
	s, err := k.newSender()
	if err != nil {
		return err
	}
	// It sends nothing, so it is no call for the journal: the form of a message
	// asks for it each time it opens.
	r := s.List()
	if len(args) == 1 {
		name, _, _ := strings.Cut(args[0], ":")
		one, known := r.Platforms[name]
		if !known {
			return usagef("no platform is called %q: there are %s", name, strings.Join(slices.Sorted(maps.Keys(r.Platforms)), ", "))
		}
		r.Platforms = map[string]send.PlatformList{name: one}
	}
	if c.asJSON {
		return c.app.printJSON(r)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Platforms)) {
		if err := printPlatform(c.app.out, name, r.Platforms[name]); err != nil {
			return fmt.Errorf("write the list: %w", err)
		}
	}
	return nil
}

func printPlatform(w io.Writer, name string, p send.PlatformList) error {
	if !p.Ready {
		_, err := fmt.Fprintf(w, "%-10s not set up: %s\n", name, screen.Visible(p.Needs))
		return err
	}
	if len(p.Places) == 0 {
		said := "ready"
		if p.Chat != "" {
			said += ": " + name + ":CHAT, where CHAT is " + p.Chat
		}
		_, err := fmt.Fprintf(w, "%-10s %s\n", name, screen.Visible(said))
		return err
	}
	for _, t := range p.Places {
		said := t.Name
		if t.Home {
			said += " home"
		}
		if _, err := fmt.Fprintf(w, "%-10s %s %s\n", name, screen.Visible(t.Target), screen.Visible(said)); err != nil {
			return err
		}
	}
	return nil
}
