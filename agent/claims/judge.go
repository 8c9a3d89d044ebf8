package claims

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/honestty/honestty/internal/redact"
	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/safepath"
)

// Deps are what looking needs. The zero value looks at nothing that a policy
// has to allow.
type Deps struct {
	// Policy decides which paths may be looked at.
	Policy safepath.Policy

	// Decode reads an open audio file to its end and says what is wrong with
	// it. nil: nobody can, and that is told.
	Decode func(f *os.File) error
	// MaxDecode is the size in bytes up to which audio is decoded; 0 means 16 MiB.
	MaxDecode int64

	// Elsewhere says in words why the agent's files and processes are not those
	// of this machine; empty when they are.
	Elsewhere string

	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

func (d Deps) now() time.Time {
	if d.Now != nil {
		return d.Now()
	}
	return time.Now()
}

// End judges a result: what it says, what can be seen of that, and what
// follows. Secrets are redacted in all of it.
func (d Deps) End(ctx context.Context, c Call, r Result) journal.End {
	s := readSaid(r)
	v := judge(c, r, s)
	checks := d.check(ctx, c, r, s, v.status)
	if v.status == outcome.Complete {
		v = v.after(checks)
	}
	e := journal.End{Call: c.ID, Status: v.status, DurationMS: r.Took.Milliseconds(), Capture: v.capture}
	switch {
	case r.Took > 0:
	case !c.Began.IsZero() && !r.Ended.Before(c.Began):
		e.DurationMS = r.Ended.Sub(c.Began).Milliseconds()
	default:
		e.DurationMS = -1 // not known; 0 would say that it took no time
	}
	var n int
	e.Error, n = redact.String(oneLine(v.why))
	e.Redacted += n
	e.Summary, n = redact.String(oneLine(d.summary(r, s, v)))
	e.Redacted += n
	e.Result, n = redactJSON(r.Value)
	e.Redacted += n
	for i := range checks {
		checks[i].Claimed, _ = redact.String(checks[i].Claimed)
		checks[i].Seen, _ = redact.String(checks[i].Seen)
	}
	e.Checks = checks
	return e
}

// A verdict is how a call ended as far as its record says.
type verdict struct {
	status  outcome.Status
	why     string         // empty only when status is Complete
	capture *outcome.State // what is known of its output; nil when it has none
}

// judge reads the end out of a result. The order: what the record itself says,
// a status of ours, what the result says of itself, the rules of its kind.
func judge(c Call, r Result, s said) verdict {
	switch {
	case r.Missing != "":
		return verdict{status: outcome.Unknown, why: r.Missing}
	case r.Cancelled:
		return verdict{status: outcome.Cancelled, why: first(r.Error, s.failure, "it was interrupted")}
	case r.Refused:
		return verdict{status: outcome.Refused, why: first(r.Error, s.failure, "it was refused")}
	case r.Failed:
		return verdict{status: outcome.Failed, why: first(r.Error, s.failure, "the agent calls it a failure and does not say why")}
	case len(r.Value) == 0 && r.Exit == nil:
		return verdict{status: outcome.Unknown, why: "its record has no result"}
	}
	if v, ok := ours(s); ok {
		return v
	}
	if v, ok := told(s); ok {
		return v
	}
	if kindOf(c.Tool) == shell {
		return judgeShell(s)
	}
	return verdict{status: outcome.Complete}
}

// ours is the verdict of a result that one of our own tools wrote: it carries
// the words of package outcome beside the fields that agents know.
func ours(s said) (verdict, bool) {
	_, capture := s.object["capture"]
	_, delivery := s.object["delivery"]
	_, asked := s.object["requested_path"]
	if !capture && !delivery && !asked {
		return verdict{}, false
	}
	var status outcome.Status
	if status.UnmarshalText([]byte(s.status)) != nil {
		return verdict{}, false
	}
	v := verdict{status: status, why: s.failure}
	if status != outcome.Complete {
		v.why = first(s.failure, "its result is "+status.String())
	} else if s.failure != "" {
		v.status = outcome.Unknown
		v.why = "its result says complete and carries an error: " + s.failure
	}
	return v, true
}

// told is what a result says of itself by the fields that Hermes and others
// use.
func told(s said) (verdict, bool) {
	switch strings.ToLower(s.status) {
	case "blocked", "denied":
		return verdict{status: outcome.Refused, why: first(s.failure, "it was "+s.status)}, true
	case "pending_approval":
		return verdict{status: outcome.Unknown, why: "it waits for approval, and nothing says how that ended"}, true
	case "interrupted", "cancelled", "canceled":
		return verdict{status: outcome.Cancelled, why: first(s.failure, "it was "+s.status)}, true
	}
	dropped := drops(s)
	switch {
	case s.partial || dropped > 0 && (s.success == nil || *s.success):
		return verdict{status: outcome.Partial, why: first(s.failure, fmt.Sprintf("%d of its attachments were dropped", dropped))}, true
	case s.failure != "":
		return verdict{status: outcome.Failed, why: s.failure}, true
	case s.success != nil && !*s.success:
		return verdict{status: outcome.Failed, why: "its result says that it was no success and not why"}, true
	}
	if b := boolean(s.object["interrupted"]); b != nil && *b {
		return verdict{status: outcome.Cancelled, why: "it was interrupted"}, true
	}
	return verdict{}, false
}

// judgeShell judges a command. No result of an agent proves that the output
// was read to its end, so no output is unknown and not empty.
func judgeShell(s said) verdict {
	unknown := outcome.StateUnknown
	switch {
	case background(s):
		return verdict{status: outcome.Complete}
	case s.exit != nil && *s.exit == -1:
		return verdict{status: outcome.Failed, why: "it did not start, or no exit code came back"}
	case s.exit != nil && *s.exit == 130:
		return verdict{status: outcome.Cancelled, why: "exit 130: interrupted"}
	case s.exit != nil && *s.exit == 124:
		return verdict{status: outcome.Failed, why: "exit 124: timed out"}
	case s.exit != nil && *s.exit != 0:
		return verdict{status: outcome.Failed, why: fmt.Sprintf("exit %d", *s.exit)}
	case s.output != nil && strings.TrimSpace(*s.output) != "":
		return verdict{status: outcome.Complete}
	case s.exit != nil && s.output != nil:
		return verdict{outcome.Unknown, "exit 0 without output, and nothing proves that the output was read to its end", &unknown}
	case s.exit != nil:
		return verdict{outcome.Unknown, "exit 0, and the record does not carry the output", &unknown}
	}
	return verdict{outcome.Unknown, "no output and no exit code: nothing proves that it ran to its end", &unknown}
}

// background reports whether a command was handed to the background.
func background(s said) bool {
	if s.status == "yielded_to_background" {
		return true
	}
	if id, ok := field(s.object, "backgroundTaskId", "background_task_id"); ok && id != "" {
		return true
	}
	id, _ := field(s.object, "session_id")
	return id != "" && s.pid != 0
}

// after takes the checks into account: what contradicts a success leaves none.
func (v verdict) after(checks []journal.Check) verdict {
	for _, c := range checks {
		if c.Verdict != outcome.Failed {
			continue
		}
		v.status, v.why = outcome.Failed, fmt.Sprintf("contradicted, %s: claimed %s; seen %s", c.Name, c.Claimed, c.Seen)
		if c.Name == nameAttachments {
			v.status = outcome.Partial
		}
		return v
	}
	return v
}

func first(words ...string) string {
	for _, w := range words {
		if w = strings.TrimSpace(w); w != "" {
			return w
		}
	}
	return ""
}

// late is how long after its end a call counts as seen late.
const late = time.Minute

// summary says in one line what is known, for lists.
func (d Deps) summary(r Result, s said, v verdict) string {
	var parts []string
	if s.exit != nil && v.status == outcome.Complete {
		parts = append(parts, fmt.Sprintf("exit %d", *s.exit))
	}
	if s.output != nil && *s.output != "" {
		parts = append(parts, outcome.Size(int64(len(*s.output)))+" of output shown to the agent")
	}
	if v.status == outcome.Complete && len(parts) == 0 {
		parts = append(parts, "a success by its own word")
	}
	if !r.Ended.IsZero() && d.now().Sub(r.Ended) > late {
		parts = append(parts, "ended "+r.Ended.Local().Format("2006-01-02 15:04:05")+", read later")
	}
	return strings.Join(parts, "; ")
}
