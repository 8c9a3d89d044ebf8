package send

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/honestty/honestty/outcome"
)

// DefaultPatience bounds all waiting for a platform that says "later" within
// one message, so that a person who sends is not left in front of a prompt.
const DefaultPatience = time.Minute

// maxTries is how often one text or item is offered to a platform that says
// "later". A try that may have been taken is never followed by another.
const maxTries = 3

// InOrder sends the texts of m and then its items, one after the other, by the
// two functions, and keeps the rules that are the same everywhere:
//   - an outcome that is Rejected with Later is tried again, within m.Pace;
//   - nothing is tried after an outcome that is Fatal, or after ctx ended;
//   - when a text was not certainly sent, the texts after it are not tried;
//   - an item whose file changed before its first byte is not given away.
//
// Each function gets the position within m.Texts or m.Items.
func InOrder(ctx context.Context, m Message, text, item func(ctx context.Context, i int) Outcome) Delivery {
	r := &run{ctx: ctx, pace: m.Pace}
	if r.pace.Bound == 0 {
		r.pace.Bound = DefaultPatience
	}
	if r.pace.Sleep == nil {
		r.pace.Sleep = sleep
	}
	d := Delivery{Texts: make([]Outcome, len(m.Texts)), Items: make([]Outcome, len(m.Items))}
	broken := ""
	for i := range m.Texts {
		if broken != "" {
			d.Texts[i] = Drop(broken)
			continue
		}
		d.Texts[i] = r.try(func() Outcome { return text(ctx, i) })
		if d.Texts[i].Status != Sent {
			broken = fmt.Sprintf("not tried, because part %d before it did not certainly arrive", i+1)
		}
	}
	for i, it := range m.Items {
		d.Items[i] = r.try(func() Outcome {
			if err := it.Check(); err != nil {
				return Reject(err.Error())
			}
			return item(ctx, i)
		})
	}
	return d
}

// A run is the state of one InOrder.
type run struct {
	ctx    context.Context
	pace   Pace
	waited time.Duration
	fatal  string // why nothing else is tried
}

func (r *run) try(one func() Outcome) Outcome {
	for n := 1; ; n++ {
		switch {
		case r.fatal != "":
			return Drop("not tried: " + r.fatal)
		case r.ctx.Err() != nil:
			return Drop("not tried: " + stopped(r.ctx))
		}
		o := one()
		if o.Fatal && o.Status != Sent {
			r.fatal = o.Reason
		}
		if o.Status != Rejected || o.Later <= 0 || o.Fatal {
			return o
		}
		if n == maxTries || o.Later > r.pace.Bound-r.waited {
			o.Reason += fmt.Sprintf(" (the platform asks to wait %s)", outcome.Duration(o.Later))
			return o
		}
		r.waited += o.Later
		if err := r.pace.Sleep(r.ctx, o.Later); err != nil {
			o.Reason += "; " + stopped(r.ctx)
			return o
		}
	}
}

// stopped says why ctx ended.
func stopped(ctx context.Context) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return "the time was up"
	}
	return "it was cancelled"
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
