package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
	"github.com/honestty/honestty/tools/send"
)

// A sentBefore is a message of the journal: the call that sent it first, and
// what is known of each part of it.
type sentBefore struct {
	start  journal.Start
	params send.Params
	result *send.Result
}

// retryParams are the parameters of a call that sends the rest of another.
type retryParams struct {
	send.Params
	RetryOf string `json:"retry_of"` // the call that sent the message first
}

// again sends what was not sent of a call in the journal.
func (c *sendCall) again(ctx context.Context) error {
	k, err := c.app.openKit()
	if err != nil {
		return err
	}
	defer k.close()
	first, err := firstTry(c.retry)
	if err != nil {
		return err
	}
	s, err := k.newSender()
	if err != nil {
		return err
	}
	p := retryParams{first.params, first.start.Call}
	p.DryRun = c.dryRun
	raw, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("write the parameters: %w", err)
	}
	t := send.Tool(s)
	t.Run = func(ctx context.Context, call *tools.Call, _ json.RawMessage) tools.Answer {
		return c.rest(ctx, s, first, call)
	}
	r := k.request(raw)
	r.Report = c.app.progress()
	_, answer := k.caller.Call(ctx, t, r)
	return c.told(k, answer)
}

// rest sends the rest of a message. The start of this call is in the journal
// by now, so that of two calls at once the later one sees the earlier.
func (c *sendCall) rest(ctx context.Context, s *send.Sender, first *sentBefore, call *tools.Call) tools.Answer {
	if err := first.follow(call.ID); err != nil {
		return notSent(outcome.Failed, err)
	}
	for _, path := range c.allowOnce {
		if !first.denied(path) {
			return notSent(outcome.Failed, fmt.Errorf("%s: the delivery policy did not deny that file in this message", send.Shown(path)))
		}
	}
	req, err := s.Retry(first.params.Request(first.start.Source.Dir), first.result, c.retryUnknown)
	switch {
	case errors.Is(err, send.ErrRetry) && !c.retryUnknown && first.result.Counts.Unknown > 0:
		return notSent(outcome.Failed, fmt.Errorf("%w: look there first; --retry-unknown sends it all the same", err))
	case err != nil:
		return notSent(outcome.Failed, err)
	}
	for _, path := range c.allowOnce {
		q := tools.Question{Rule: "the delivery policy denies this file", Detail: "send " + send.Shown(path) + " to " + first.params.Target}
		if err := call.Ask(ctx, q); err != nil {
			return notSent(outcome.Refused, err)
		}
	}
	s.Ask, req.Progress, req.Allow = call.Ask, call.Report, c.allowOnce
	var r *send.Result
	if c.dryRun {
		r = s.DryRun(ctx, req)
	} else {
		r = s.Send(ctx, req)
	}
	return tools.Answer{Status: r.Status, Err: r.Err, Result: r, Summary: r.Summary()}
}

// notSent is the answer where nothing was tried.
func notSent(status outcome.Status, err error) tools.Answer {
	text := oneLine(err)
	return tools.Answer{Status: status, Err: err, Result: &send.Result{Error: &text, Status: status, Delivery: []send.Receipt{}}, Summary: text}
}

// firstTry finds the call that sent a message first, by its own id or by that
// of a call that sent the rest of it.
func firstTry(id string) (*sentBefore, error) {
	b, err := sentCalls()
	if err != nil {
		return nil, err
	}
	const most = 1000 // retries name the first call; more than one step is a record of another writer
	for range most {
		r, err := b.Find(id)
		if err != nil {
			return nil, err
		}
		start, end, err := journal.Detail(stateDir("journal"), r)
		if err != nil {
			return nil, err
		}
		var p retryParams
		if err := json.Unmarshal(start.Args, &p); err != nil {
			return nil, fmt.Errorf("read the call of the journal: %w", err)
		}
		switch {
		case r.Start.Tool != "send_message":
			return nil, fmt.Errorf("call %s sent no message", r.Start.Call)
		case p.RetryOf != "" && p.RetryOf != r.Start.Call:
			id = p.RetryOf
			continue
		case end == nil && r.State() == journal.Running:
			return nil, fmt.Errorf("call %s is still sending its message", r.Start.Call)
		case end == nil:
			return nil, fmt.Errorf("the end of call %s was not recorded: nobody can tell what of it arrived, so none of it is sent again", r.Start.Call)
		}
		first := &sentBefore{start: start, params: p.Params, result: &send.Result{}}
		if err := json.Unmarshal(end.Result, first.result); err != nil {
			return nil, fmt.Errorf("read the result of the journal: %w", err)
		}
		return first, nil
	}
	return nil, fmt.Errorf("call %s is a retry without a first call", id)
}

// follow brings the result up to date with every later try before the call
// own. It fails while one of them still runs.
func (f *sentBefore) follow(own string) error {
	b, err := sentCalls()
	if err != nil {
		return err
	}
	tries := b.Select(journal.Filter{Tool: "send_message"})
	family := []string{f.start.Call}
	for i := tries.Index(f.start.Call) - 1; i >= 0; i-- { // towards the newest
		r := tries.At(i)
		if r.Start.Call == own {
			break
		}
		if r.NoStart || r.Start.Title != f.start.Title {
			continue
		}
		start, end, err := journal.Detail(stateDir("journal"), r)
		if err != nil {
			return fmt.Errorf("read call %s, which may have sent the rest: %w", r.Start.Call, err)
		}
		var p retryParams
		if json.Unmarshal(start.Args, &p) != nil || p.DryRun || !slices.Contains(family, p.RetryOf) {
			continue
		}
		family = append(family, r.Start.Call)
		switch {
		case end != nil:
			f.result.Follow(resultOf(end))
		case r.State() == journal.Running:
			return fmt.Errorf("call %s is sending the rest of it now", r.Start.Call)
		default:
			f.result.Follow(nil)
		}
	}
	return nil
}

// resultOf is what a call says it sent; nil when it does not say it.
func resultOf(end *journal.End) *send.Result {
	var r send.Result
	if json.Unmarshal(end.Result, &r) != nil || r.Delivery == nil {
		return nil
	}
	return &r
}

// denied reports whether the policy keeps an attachment from being sent.
func (f *sentBefore) denied(path string) bool {
	return slices.ContainsFunc(f.result.Delivery, func(d send.Receipt) bool {
		return d.Requested == send.Shown(path) && d.Status == send.Dropped && d.Reason == send.Denied
	})
}

// sentCalls reads the calls that the journal holds.
func sentCalls() (*journal.Book, error) {
	l := &logCall{filter: journal.Filter{Tool: "send_message"}}
	b, follower, err := l.book()
	if err != nil {
		return nil, err
	}
	follower.Close() // nothing is followed: it only read
	return b, nil
}
