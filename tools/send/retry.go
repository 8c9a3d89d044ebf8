package send

import (
	"errors"
	"fmt"
	"slices"
)

// ErrRetry matches the error of a message that cannot be sent again from what
// is known of it.
var ErrRetry = errors.New("cannot send the rest of this message again")

// A retry is what of a message is to be sent again, with the keys it had.
type retry struct {
	key      string
	texts    []string
	textKeys []string
	items    []bool // by position among the attachments that the request asks for
	itemKeys []string
}

// Retry makes the request that sends what was not sent of an earlier one: what
// was dropped or rejected, and what is unknown only when alsoUnknown says so,
// because it may be there already. It changes nothing else: the request must
// be the one that the earlier result is of.
func (s *Sender) Retry(req Request, earlier *Result, alsoUnknown bool) (Request, error) {
	fail := func(why string) (Request, error) { return Request{}, fmt.Errorf("%w: %s", ErrRetry, why) }
	pl, target, err := s.Places.Resolve(req.Target, s.Platforms)
	if err != nil {
		return Request{}, err
	}
	if earlier.Plan != nil {
		return fail("it was a dry run, and nothing was sent")
	}
	if target.Platform != earlier.Platform {
		return fail("it went to another platform then")
	}
	if now := Defuse(target.String()); earlier.Target != "" && now != earlier.Target {
		return fail(fmt.Sprintf("it went to %s, and its target means %s now", earlier.Target, now))
	}
	again := func(r Receipt) bool {
		return r.Status == Dropped || r.Status == Rejected || r.Status == Unknown && alsoUnknown
	}
	c := collect(req, s.Policy)
	p := &prepared{key: earlier.Key}
	p.compose(Request{Subject: req.Subject}, c.text, pl.Limits())
	out := &retry{key: earlier.Key, items: make([]bool, len(c.paths)), itemKeys: make([]string, len(c.paths))}
	texts, todo := 0, 0
	for _, r := range earlier.Delivery {
		if r.Kind != TextKind {
			continue
		}
		if texts >= len(p.texts) || p.textReceipt(texts).SHA256 != r.SHA256 {
			return fail("its text is not the one that was sent, perhaps because a secret was taken out of the record")
		}
		if again(r) {
			out.texts, out.textKeys = append(out.texts, p.texts[texts]), append(out.textKeys, r.Key)
			todo++
		}
		texts++
	}
	if texts != len(p.texts) {
		return fail("its text has other parts than were sent")
	}
	for _, r := range earlier.Delivery {
		if r.Kind == TextKind {
			continue
		}
		i := position(c.paths, out.items, out.itemKeys, r)
		if i < 0 {
			return fail("its attachments are not those that were asked for")
		}
		out.itemKeys[i] = r.Key
		if again(r) {
			out.items[i] = true
			todo++
		}
	}
	switch c := Count(earlier.Delivery); {
	case todo > 0:
	case c.Unknown > 0:
		return fail("what was not sent is unknown and may be there")
	default:
		return fail("all of it was sent")
	}
	req.retry = out
	return req, nil
}

// Follow brings what is known of a message up to date with a later try to send
// the rest of it, so that nothing that this try sent is sent again. A nil
// later is a try of which no result is known: whatever it could have sent may
// have arrived.
func (r *Result) Follow(later *Result) {
	for i, d := range r.Delivery {
		switch {
		case d.Status == Sent:
		case later == nil:
			r.Delivery[i].Status = Unknown
			r.Delivery[i].Reason = "it was tried again, and nothing tells how that ended"
		default:
			same := func(x Receipt) bool { return x.Key != "" && x.Key == d.Key }
			if k := slices.IndexFunc(later.Delivery, same); k >= 0 {
				requested := d.Requested // a second try counts its texts anew
				r.Delivery[i] = later.Delivery[k]
				r.Delivery[i].Requested = requested
			}
		}
	}
	r.Counts = Count(r.Delivery)
}

// position is where an attachment that a receipt is for stands in the request.
func position(paths []asked, taken []bool, keys []string, r Receipt) int {
	for i, p := range paths {
		if !taken[i] && keys[i] == "" && Shown(p.asked) == r.Requested {
			return i
		}
	}
	return -1
}
