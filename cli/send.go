package cli

import (
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
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
	"github.com/honestty/honestty/tools/send"
	"github.com/honestty/honestty/tui/screen"
)

// A sendCall is one use of the command.
type sendCall struct {
	app                            *app
	target, file, subject          string
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
in the text unless --no-media says otherwise. Every file is checked before the
first byte goes out. Each text and each file has a receipt: sent, dropped,
rejected or unknown. Unknown is what a cut connection leaves; it is not sent
again unless --retry-unknown asks for it.

Success means that every part of the message was sent. It exits with 1 when one
was not, and with 2 on wrong use.`,
		Example: "  honestty send -t telegram --attach report.pdf 'The report'\n  honestty send --dry-run -t slack:#ops <notes.txt\n  honestty send --retry-dropped 01a22e30",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
			defer stop()
			switch {
			case list:
				return c.list(ctx, args)
			case c.retry != "":
				if len(args) > 0 || c.file != "" || len(c.attach) > 0 {
					return usagef("--retry-dropped sends the message of that call: give no other")
				}
				return c.again(ctx)
			}
			text, err := c.body(args)
			if err != nil {
				return err
			}
			if len(c.allowOnce) > 0 {
				return usagef("--allow-once goes with --retry-dropped")
			}
			return c.send(ctx, text)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&c.target, "to", "t", "", "platform, platform:chat or platform:chat:thread")
	f.StringVarP(&c.file, "file", "f", "", "take the text from this file; - is stdin")
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
	f.BoolVarP(&c.quiet, "quiet", "q", false, "print nothing when all was sent")
	f.BoolVar(&c.asJSON, "json", false, "print the result as one JSON object")
	return cmd
}

// body finds the text: argument, then --file, then stdin where it is no
// terminal.
func (c *sendCall) body(args []string) (string, error) {
	var raw []byte
	var err error
	switch {
	case len(args) == 1:
		return args[0], nil
	case c.file != "" && c.file != "-":
		if raw, err = os.ReadFile(c.file); err != nil {
			return "", &usageError{fmt.Errorf("cannot read the text: %w", err)}
		}
	case c.file == "-" || !isTerminal(c.app.in):
		if raw, err = io.ReadAll(io.LimitReader(c.app.in, maxText+1)); err != nil {
			return "", fmt.Errorf("read stdin: %w", err)
		}
	}
	switch {
	case len(raw) > maxText:
		return "", usagef("the text has more than %s: attach it as a file", outcome.Size(maxText))
	case !utf8.Valid(raw):
		return "", usagef("the text is no UTF-8: attach a file with --attach FILE, or with MEDIA:/absolute/path in the text")
	case len(raw) == 0 && len(c.attach) == 0:
		return "", usagef("no message: give it as an argument, with --file, or on stdin")
	}
	return string(raw), nil
}

func (c *sendCall) params(k *kit, text string) (send.Params, error) {
	p := send.Params{
		Target: cmp.Or(c.target, k.conf.Send.Default), Message: text, Subject: c.subject, Attachments: c.attach,
		NoMedia: c.noMedia, AsVoice: c.voice, AsDocument: c.document, DryRun: c.dryRun,
	}
	if p.Target == "" {
		return p, usagef("no target: give --to PLATFORM[:CHAT[:THREAD]], or set send.default; honestty send --list shows what is set up")
	}
	return p, nil
}

func (c *sendCall) send(ctx context.Context, text string) error {
	k, err := c.app.openKit()
	if err != nil {
		return err
	}
	defer k.close()
	p, err := c.params(k, text)
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
	if r.Note != "" {
		fmt.Fprintln(c.app.err, "honestty: "+screen.Visible(r.Note))
	}
	return k.judged(answer, false)
}

func isTarget(err error) bool { return errors.Is(err, send.ErrTarget) }

// printReceipts writes one line for each part of the message, those that were
// not sent first.
func printReceipts(w io.Writer, r *send.Result) error {
	receipts := r.Delivery
	if r.Plan != nil {
		receipts = r.Plan.Attachments
		for i, t := range r.Plan.Texts {
			if _, err := fmt.Fprintf(w, "text %d of %d to %s, %s\n", i+1, len(r.Plan.Texts), screen.Visible(r.Plan.Target), outcome.CountBytes(int64(len(t)))); err != nil {
				return err
			}
		}
	}
	order := slices.Clone(receipts)
	slices.SortStableFunc(order, func(a, b send.Receipt) int { return cmp.Compare(rankOf(a), rankOf(b)) })
	for _, d := range order {
		size := ""
		if d.Size != nil && d.Kind != send.TextKind {
			size = outcome.Size(*d.Size)
		}
		said := d.PlatformID
		if said != "" {
			said = "as " + said
		}
		if d.Status != send.Sent || r.Plan != nil && d.Reason != "" {
			said = d.Reason
			if d.Rule != "" {
				said += " (" + d.Rule + ")"
			}
		}
		if _, err := fmt.Fprintf(w, "%-9s %-9s %8s  %s  %s\n", d.Status, d.Kind, size, screen.Visible(d.Requested), screen.Visible(said)); err != nil {
			return err
		}
	}
	return nil
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

// again sends what was not sent of a call in the journal.
func (c *sendCall) again(ctx context.Context) error {
	k, err := c.app.openKit()
	if err != nil {
		return err
	}
	defer k.close()
	start, earlier, err := sentCall(c.retry)
	if err != nil {
		return err
	}
	var p send.Params
	if err := json.Unmarshal(start.Args, &p); err != nil {
		return fmt.Errorf("read the call of the journal: %w", err)
	}
	s, err := k.newSender()
	if err != nil {
		return err
	}
	t := send.Tool(s)
	t.Run = func(ctx context.Context, call *tools.Call, _ json.RawMessage) tools.Answer {
		req, err := s.Retry(p.Request(start.Source.Dir), earlier, c.retryUnknown)
		if err != nil {
			return notSent(outcome.Failed, err)
		}
		for _, path := range c.allowOnce {
			q := tools.Question{Rule: "the delivery policy denies this file", Detail: "send " + path + " to " + p.Target}
			if err := call.Ask(ctx, q); err != nil {
				return notSent(outcome.Refused, err)
			}
		}
		s.Ask, req.Progress, req.Allow = call.Ask, call.Report, c.allowOnce
		r := s.Send(ctx, req)
		return tools.Answer{Status: r.Status, Err: r.Err, Result: r, Summary: r.Summary()}
	}
	raw, err := json.Marshal(struct {
		send.Params
		RetryOf string `json:"retry_of"`
	}{p, start.Call})
	if err != nil {
		return fmt.Errorf("write the parameters: %w", err)
	}
	r := k.request(raw)
	r.Report = c.app.progress()
	_, answer := k.caller.Call(ctx, t, r)
	return c.told(k, answer)
}

// notSent is the answer where nothing was tried.
func notSent(status outcome.Status, err error) tools.Answer {
	text := oneLine(err)
	return tools.Answer{Status: status, Err: err, Result: &send.Result{Error: &text, Status: status, Delivery: []send.Receipt{}}, Summary: text}
}

// sentCall finds a call of send_message and what became of it.
func sentCall(id string) (journal.Start, *send.Result, error) {
	l := &logCall{filter: journal.Filter{Tool: "send_message"}}
	b, follower, err := l.book()
	if err != nil {
		return journal.Start{}, nil, err
	}
	defer follower.Close()
	r, err := b.Find(id)
	if err != nil {
		return journal.Start{}, nil, err
	}
	start, end, err := journal.Detail(stateDir("journal"), r)
	if err != nil {
		return start, nil, err
	}
	if r.Start.Tool != "send_message" || end == nil {
		return start, nil, fmt.Errorf("call %s sent no message, or has not ended", r.Start.Call)
	}
	var result send.Result
	if err := json.Unmarshal(end.Result, &result); err != nil {
		return start, nil, fmt.Errorf("read the result of the journal: %w", err)
	}
	return start, &result, nil
}

func (c *sendCall) list(ctx context.Context, args []string) error {
	k, err := c.app.openKit()
	if err != nil {
		return err
	}
	defer k.close()
	answer := k.call(ctx, "send_message", json.RawMessage(`{"action":"list"}`), nil, nil)
	r, ok := answer.Result.(*send.Result)
	if c.asJSON || !ok {
		return errors.Join(c.app.printJSON(answer.Result), k.judged(answer, true))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Platforms)) {
		if len(args) == 1 && args[0] != name {
			continue
		}
		if err := printPlatform(c.app.out, name, r.Platforms[name]); err != nil {
			return fmt.Errorf("write the list: %w", err)
		}
	}
	return k.judged(answer, false)
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
