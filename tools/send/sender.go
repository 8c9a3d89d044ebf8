package send

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
	"github.com/honestty/honestty/tools/safepath"
)

// A Sender sends messages. Its fields are set before its first use and not
// changed afterwards; it may then be used by several goroutines.
type Sender struct {
	Platforms []Platform
	Places    Places
	Policy    safepath.Policy // which files may leave
	Scrub     *Scrubber       // knows the secrets of the platforms; may be nil
	Pace      Pace

	// Ask asks a person about a file that needs approval. Nil: nobody is there.
	Ask func(ctx context.Context, q tools.Question) error
}

// Send sends one message, once, and says of each part of it what became of it.
// The result is never nil.
func (s *Sender) Send(ctx context.Context, req Request) *Result {
	start := time.Now()
	p, err := s.prepare(ctx, req)
	defer p.close()
	r := s.begin(p)
	if err == nil {
		s.deliver(ctx, req, p, r)
		if Count(r.Delivery).Sent < len(r.Delivery) && ctx.Err() != nil {
			err = &stoppedError{stopped(ctx), ctx.Err()}
		}
	}
	s.finish(r, err, start)
	return r
}

// DryRun does everything that Send does before the first network byte, and
// says what would go where. Nothing is sent.
func (s *Sender) DryRun(ctx context.Context, req Request) *Result {
	start := time.Now()
	p, err := s.prepare(ctx, req)
	defer p.close()
	r := s.begin(p)
	if err != nil {
		s.finish(r, err, start)
		return r
	}
	// A plan is a tool's result, where some readers act on directives: what is
	// text in the message must stay text in it.
	plan := &Plan{
		Target: Defuse(p.target.String()), Subject: inert(p.subject), Texts: []string{},
		Caption: p.caption, Attachments: []Receipt{},
	}
	for _, text := range p.texts {
		plan.Texts = append(plan.Texts, inert(text))
	}
	whole := true
	for _, e := range p.entries {
		rc := e.receipt
		if !e.drop {
			rc.Status = Sent
		} else {
			r.MediaDropped = append(r.MediaDropped, outcome.Dropped{Path: rc.Requested, Reason: rc.Reason})
			whole = false
		}
		plan.Attachments = append(plan.Attachments, rc)
	}
	r.Plan, r.Note = plan, "dry run: nothing was sent"
	r.DurationMS = time.Since(start).Milliseconds()
	if whole {
		r.Status, r.Success = outcome.Complete, true
		return r
	}
	r.Status = outcome.Partial
	r.Err = fmt.Errorf("%w: %d of %d attachments would be dropped", ErrNotAllSent, len(r.MediaDropped), len(p.entries))
	text := r.Err.Error()
	r.Error = &text
	return r
}

func (s *Sender) begin(p *prepared) *Result {
	r := &Result{
		Platform: p.target.Platform, Target: Defuse(p.target.String()), ChatID: p.target.Chat, ThreadID: p.target.Thread,
		Key: p.key, Delivery: []Receipt{}, Forged: p.forged,
	}
	r.Warnings = append(r.Warnings, p.warnings...)
	switch n := len(p.forged); {
	case n == 1:
		r.Warnings = append(r.Warnings, "1 MEDIA directive came out of a file name or a tool's result: it is sent as text and not acted on")
	case n > 1:
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d MEDIA directives came out of a file name or a tool's result: they are sent as text and not acted on", n))
	}
	return r
}

func (s *Sender) finish(r *Result, stop error, start time.Time) {
	for i, w := range r.Warnings {
		r.Warnings[i] = s.Scrub.Text(Defuse(w))
	}
	r.Note = s.Scrub.Text(Defuse(Plain(r.Note)))
	r.judge(s.Scrub.Error(stop))
	r.DurationMS = time.Since(start).Milliseconds()
}

// deliver gives the message to the platform. The receipts exist before it, so
// that whatever the platform answers there is one for each thing requested.
func (s *Sender) deliver(ctx context.Context, req Request, p *prepared, r *Result) {
	texts := make([]Receipt, len(p.texts))
	for i := range texts {
		texts[i] = p.textReceipt(i)
	}
	m := Message{Target: p.target, Subject: p.subject, Items: p.items(), Key: p.key, Pace: s.Pace, Progress: progress(req, p)}
	if p.caption {
		m.Caption = p.texts[0]
	} else {
		m.Texts, m.TextKeys = p.texts, p.textKeys
	}
	d := Delivery{}
	if len(m.Texts)+len(m.Items) > 0 {
		d = p.platform.Send(ctx, m)
	}
	s.settle(p, r, d)
	switch {
	case !p.caption:
		for i := range texts {
			s.fill(&texts[i], at(d.Texts, i))
		}
	case p.captionFailed(d):
		// The file was certainly not taken, so its caption was not either.
		again := p.platform.Send(ctx, Message{
			Target: p.target, Subject: p.subject, Texts: p.texts, TextKeys: p.textKeys, Key: p.key + "-t", Pace: s.Pace,
		})
		s.fill(&texts[0], at(again.Texts, 0))
		r.Warnings = append(r.Warnings, again.Warnings...)
	default:
		e := p.entries[0].receipt
		texts[0].Status, texts[0].Reason, texts[0].PlatformID = e.Status, e.Reason, e.PlatformID
	}
	for _, e := range p.entries {
		r.Delivery = append(r.Delivery, e.receipt)
	}
	r.Delivery = append(texts, r.Delivery...)
}

// captionFailed reports whether the one file was certainly not taken, for a
// reason that is the file's own.
func (p *prepared) captionFailed(d Delivery) bool {
	o := at(d.Items, 0)
	return (o.Status == Rejected || o.Status == Dropped) && !o.Fatal
}

// settle puts what the platform said of items into their receipts.
func (s *Sender) settle(p *prepared, r *Result, d Delivery) {
	i := 0
	for _, e := range p.entries {
		if e.drop {
			continue
		}
		o := at(d.Items, i)
		i++
		if o.Status == Sent && e.item.Size > 0 && !e.item.read.Load() {
			o = Unsure("the platform says it was sent, and the file was never read to its end")
		}
		s.fill(&e.receipt, o)
	}
	if d.Chat != "" {
		r.ChatID = s.Scrub.Text(Defuse(Plain(d.Chat)))
	}
	r.Warnings = append(r.Warnings, d.Warnings...)
	r.Note = d.Note
}

// at is outcome i of os; one that is missing is unknown.
func at(os []Outcome, i int) Outcome {
	if i < len(os) {
		return os[i]
	}
	return Unsure("the platform did not say what became of it")
}

// fill puts an outcome into a receipt. What contradicts itself is unknown.
func (s *Sender) fill(rc *Receipt, o Outcome) {
	switch {
	case o.Status > Rejected:
		o = Unsure("the platform gave a status that nobody knows")
	case o.Status == Sent && o.ID == "":
		o = Unsure("the answer carries no message id")
	case o.Status != Sent && o.Reason == "":
		o.Reason = "no reason was given"
	}
	rc.Status, rc.PlatformID = o.Status, s.Scrub.Text(Defuse(Plain(o.ID)))
	rc.Reason = ""
	if o.Status != Sent {
		rc.Reason = s.Scrub.Text(Defuse(Plain(o.Reason)))
	}
}

// progress adds up the bytes of all items. A second try of an item does not
// count back.
func progress(req Request, p *prepared) func(int, int64) {
	items := p.items()
	if req.Progress == nil || len(items) == 0 {
		return nil
	}
	var total, done int64
	for _, it := range items {
		total += it.Size
	}
	best := make([]int64, len(items))
	return func(i int, sent int64) {
		if i < len(best) && sent > best[i] {
			done += sent - best[i]
			best[i] = sent
			req.Progress(done, total, items[i].Name)
		}
	}
}

// approve asks a person about a file. It fails when nobody is there.
func (s *Sender) approve(ctx context.Context, path safepath.Path) error {
	if s.Ask == nil {
		return &outcome.RefusedError{Rule: path.Approve + ", and nobody is here to ask"}
	}
	return s.Ask(ctx, tools.Question{Rule: path.Approve, Detail: "send " + Shown(path.Real)})
}

// explain says why a file may not leave: the reason that Hermes' callers know
// where it has one, and the rule.
func (s *Sender) explain(err error) (reason, rule string) {
	reason = safepath.Reason(err)
	if reason != Denied && reason != NotFound {
		reason = "it could not be opened: " + s.Scrub.Text(Plain(reason))
	}
	return reason, Defuse(Plain(safepath.RuleOf(err)))
}

// A stoppedError says in plain words why a message was not sent to its end.
type stoppedError struct {
	why   string
	cause error
}

func (e *stoppedError) Error() string { return e.why }
func (e *stoppedError) Unwrap() error { return e.cause }

func isCancelled(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
