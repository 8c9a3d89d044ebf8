package send

import (
	"errors"
	"fmt"
	"strings"

	"github.com/honestty/honestty/outcome"
)

// The reasons of media_dropped that Hermes' callers know, word for word.
const (
	NotFound = "not found on this host" // see safepath.Reason
	Denied   = "denied by the delivery policy"
)

// ErrNotAllSent matches the error of a message of which something did not
// certainly arrive.
var ErrNotAllSent = errors.New("not everything was sent")

// MarshalText writes the word used in JSON.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the word used in JSON. A word of a newer writer is not
// taken for unknown without anybody being told.
func (s *Status) UnmarshalText(text []byte) error {
	for i, n := range statusNames {
		if n == string(text) {
			*s = Status(i)
			return nil
		}
	}
	return fmt.Errorf("parse delivery status: unknown word %q", text)
}

// TextKind is the kind of a receipt that is for a text.
const TextKind = "text"

// A Receipt says of one text or one attachment what became of it.
type Receipt struct {
	Kind       string `json:"kind" jsonschema:"text, photo, video, audio, voice or document"`
	Requested  string `json:"requested" jsonschema:"the path as asked for, in a form that cannot act; of a text, which part"`
	Resolved   string `json:"resolved,omitempty" jsonschema:"the file that was opened, links followed"`
	Size       *int64 `json:"size" jsonschema:"bytes; null when the file was not opened"`
	SHA256     string `json:"sha256,omitempty"`
	Status     Status `json:"status" jsonschema:"sent, dropped, rejected or unknown"`
	Reason     string `json:"reason,omitempty" jsonschema:"why it is not sent"`
	Rule       string `json:"rule,omitempty" jsonschema:"the rule of the delivery policy that decided"`
	PlatformID string `json:"platform_id,omitempty" jsonschema:"as the platform names the message or file"`
	Key        string `json:"key,omitempty" jsonschema:"transaction id, the same for a second try"`
}

// Counts add up: Requested is the sum of the four others, always.
type Counts struct {
	Requested int `json:"requested"`
	Sent      int `json:"sent"`
	Dropped   int `json:"dropped"`
	Rejected  int `json:"rejected"`
	Unknown   int `json:"unknown"`
}

// Count counts receipts. A status that nobody knows counts as unknown.
func Count(rs []Receipt) Counts {
	c := Counts{Requested: len(rs)}
	for _, r := range rs {
		switch r.Status {
		case Sent:
			c.Sent++
		case Dropped:
			c.Dropped++
		case Rejected:
			c.Rejected++
		default:
			c.Unknown++
		}
	}
	return c
}

// A Result is what became of one message. Success is true only when every
// receipt says sent. The names are Hermes' where it has them.
type Result struct {
	Success        bool              `json:"success"`
	PartialSuccess bool              `json:"partial_success,omitempty"`
	Error          *string           `json:"error"`
	Status         outcome.Status    `json:"status" jsonschema:"complete, partial, failed, refused, cancelled or unknown"`
	Platform       string            `json:"platform,omitempty"`
	Target         string            `json:"target,omitempty" jsonschema:"the place that the target named, with the home channel filled in"`
	ChatID         string            `json:"chat_id,omitempty"`
	ThreadID       string            `json:"thread_id,omitempty"`
	MessageID      string            `json:"message_id,omitempty"`
	MediaDropped   []outcome.Dropped `json:"media_dropped,omitempty"`
	Warnings       []string          `json:"warnings,omitempty"`
	Note           string            `json:"note,omitempty"`
	Delivery       []Receipt         `json:"delivery" jsonschema:"one receipt for each text part and each attachment"`
	Counts         Counts            `json:"counts"`
	Forged         []string          `json:"forged,omitempty" jsonschema:"directives that nobody wrote; shown as text, not acted on"`
	Key            string            `json:"key,omitempty"`
	Plan           *Plan             `json:"plan,omitempty" jsonschema:"what would go where; only for a dry run"`

	// Platforms is the answer to the action list.
	Platforms map[string]PlatformList `json:"platforms,omitempty"`

	DurationMS int64 `json:"duration_ms"`

	Err error `json:"-"` // nil only when Status is Complete
}

// judge fills in what follows from the receipts and from why it stopped, which
// is nil when nothing stopped it.
func (r *Result) judge(stop error) {
	r.Counts = Count(r.Delivery)
	c := r.Counts
	refused := 0
	for _, d := range r.Delivery {
		if d.Status == Sent && r.MessageID == "" {
			r.MessageID = d.PlatformID
		}
		if d.Status == Dropped && d.Kind != TextKind {
			r.MediaDropped = append(r.MediaDropped, outcome.Dropped{Path: d.Requested, Reason: d.Reason})
		}
		if d.Status == Dropped && d.Reason == Denied {
			refused++
		}
	}
	switch {
	case stop == nil && c.Requested > 0 && c.Sent == c.Requested:
		r.Status, r.Success, r.Err, r.Error = outcome.Complete, true, nil, nil
		return
	case c.Sent > 0:
		r.Status, r.PartialSuccess = outcome.Partial, true
	case c.Unknown > 0:
		r.Status = outcome.Unknown
	case errors.Is(stop, outcome.ErrRefused), refused > 0 && refused == c.Requested:
		r.Status = outcome.Refused
	case isCancelled(stop):
		r.Status = outcome.Cancelled
	default:
		r.Status = outcome.Failed
	}
	var errs []error
	if stop != nil {
		errs = append(errs, stop)
	}
	if c.Requested > c.Sent {
		errs = append(errs, &DeliveryError{Counts: c, First: firstNotSent(r.Delivery)})
	}
	r.Err = errors.Join(errs...)
	s := strings.ReplaceAll(r.Err.Error(), "\n", "; ")
	r.Error = &s
}

func firstNotSent(rs []Receipt) Receipt {
	for _, r := range rs {
		if r.Status != Sent {
			return r
		}
	}
	return Receipt{}
}

// A DeliveryError says how much of a message did not certainly arrive, and
// what of it first.
type DeliveryError struct {
	Counts Counts
	First  Receipt
}

func (e *DeliveryError) Error() string {
	c := e.Counts
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{c.Dropped, "dropped"}, {c.Rejected, "rejected"}, {c.Unknown, "unknown"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	s := fmt.Sprintf("%d of %d sent (%s)", c.Sent, c.Requested, strings.Join(parts, ", "))
	if e.First.Requested != "" {
		s += fmt.Sprintf("; %s: %s", e.First.Requested, e.First.Reason)
	}
	return s
}

// Is matches ErrNotAllSent.
func (e *DeliveryError) Is(target error) bool { return target == ErrNotAllSent }

// Summary is one line for lists.
func (r *Result) Summary() string {
	c := r.Counts
	switch {
	case r.Plan != nil:
		return "dry run: nothing was sent"
	case c.Requested == 0:
		if r.Error != nil {
			return *r.Error
		}
		return r.Note
	case r.Success:
		return fmt.Sprintf("sent to %s: %d of %d", r.Platform, c.Sent, c.Requested)
	}
	s := fmt.Sprintf("%s: %d of %d sent", r.Platform, c.Sent, c.Requested)
	for _, p := range []struct {
		n    int
		what string
	}{{c.Unknown, "unknown"}, {c.Dropped, "dropped"}, {c.Rejected, "rejected"}} {
		if p.n > 0 {
			s += fmt.Sprintf(", %d %s", p.n, p.what)
		}
	}
	return s
}
