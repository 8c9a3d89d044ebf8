package panels

import (
	"fmt"
	"slices"
	"strings"

	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tui/theme"
)

// sendArgs are the arguments of send_message.
type sendArgs struct {
	Action      said[string]   `json:"action"`
	Target      said[string]   `json:"target"`
	Message     said[string]   `json:"message"`
	Subject     said[string]   `json:"subject"`
	Attachments said[[]string] `json:"attachments"`
	Quoted      said[string]   `json:"quoted"`
	DryRun      said[bool]     `json:"dry_run"`
	RetryOf     said[string]   `json:"retry_of"` // the call that sent the message first
}

// A receipt says of one text or attachment what became of it.
type receipt struct {
	Kind       said[string] `json:"kind"`
	Requested  said[string] `json:"requested"`
	Resolved   said[string] `json:"resolved"`
	Size       said[int64]  `json:"size"`
	SHA256     said[string] `json:"sha256"`
	Status     said[string] `json:"status"`
	Reason     said[string] `json:"reason"`
	Rule       said[string] `json:"rule"`
	PlatformID said[string] `json:"platform_id"`
}

type droppedMedia struct {
	Path   said[string] `json:"path"`
	Reason said[string] `json:"reason"`
}

// sendResult is what send_message gives, ours or Hermes'.
type sendResult struct {
	Success   said[bool]           `json:"success"`
	Error     said[string]         `json:"error"`
	Platform  said[string]         `json:"platform"`
	ChatID    said[string]         `json:"chat_id"`
	ThreadID  said[string]         `json:"thread_id"`
	MessageID said[string]         `json:"message_id"`
	Dropped   said[[]droppedMedia] `json:"media_dropped"`
	Warnings  said[[]string]       `json:"warnings"`
	Note      said[string]         `json:"note"`
	Skipped   said[bool]           `json:"skipped"`
	Reason    said[string]         `json:"reason"`
	Delivery  said[[]receipt]      `json:"delivery"`
	Forged    said[[]string]       `json:"forged"`
	Plan      said[sendPlan]       `json:"plan"`
	Platforms said[map[string]any] `json:"platforms"`
}

type sendPlan struct {
	Target      said[string]    `json:"target"`
	Subject     said[string]    `json:"subject"`
	Texts       said[[]string]  `json:"texts"`
	Caption     said[bool]      `json:"caption"`
	Attachments said[[]receipt] `json:"attachments"`
}

// The words of a receipt's status.
const (
	statusSent     = "sent"
	statusDropped  = "dropped"
	statusRejected = "rejected"
	statusUnknown  = "unknown"
)

// The reasons that Hermes' callers know, word for word.
const (
	reasonNotFound = "not found on this host"
	reasonDenied   = "denied by the delivery policy"
)

// A sendItem is a receipt as it is shown.
type sendItem struct {
	receipt
	status string // one of the words above
	name   string // "text", "text 1/2", a path
	plan   bool   // it would be sent, or would be dropped: nothing was
}

// A message is what is read of one call of send_message.
type message struct {
	args sendArgs
	sendResult
	items []sendItem // those that were not certainly sent first
}

func messageOf(start journal.Start, end *journal.End) message {
	var m message
	readObject(start.Args, &m.args)
	if end == nil {
		return m
	}
	readObject(end.Result, &m.sendResult)
	switch {
	case m.Plan.known:
		for _, r := range m.Plan.v.Attachments.is() {
			m.items = append(m.items, itemOf(r, true))
		}
	case m.Delivery.known:
		for _, r := range m.Delivery.v {
			m.items = append(m.items, itemOf(r, false))
		}
	default:
		for _, d := range m.Dropped.is() {
			r := receipt{Requested: d.Path, Reason: d.Reason}
			r.Status = said[string]{v: statusDropped, known: true}
			m.items = append(m.items, itemOf(r, false))
		}
	}
	slices.SortStableFunc(m.items, func(a, b sendItem) int { return a.rank() - b.rank() })
	return m
}

func itemOf(r receipt, plan bool) sendItem {
	it := sendItem{receipt: r, status: statusUnknown, plan: plan, name: r.Requested.is()}
	switch word := r.Status.is(); {
	case slices.Contains([]string{statusSent, statusDropped, statusRejected, statusUnknown}, word):
		it.status = word
	case word != "":
		it.Reason = said[string]{v: "its status is one that nobody knows here: " + word, known: true}
	}
	if r.Kind.is() == "text" {
		it.name = strings.TrimSuffix(it.name, " 1/1")
		if it.name == "" {
			it.name = "text"
		}
	}
	if it.name == "" {
		it.name = "?"
	}
	return it
}

// rank puts what was not certainly sent first.
func (it sendItem) rank() int {
	if it.status == statusSent {
		return 1
	}
	return 0
}

// isText reports the receipt of a text.
func (it sendItem) isText() bool { return it.Kind.is() == "text" }

// word is the status in words.
func (it sendItem) word() string {
	switch {
	case it.plan && it.status == statusSent:
		return "would go"
	case it.plan && it.status == statusDropped:
		return "would drop"
	}
	return it.status
}

// state is how the status is drawn.
func (it sendItem) state() theme.State {
	switch it.status {
	case statusSent:
		return theme.Complete
	case statusDropped:
		return theme.Dropped
	case statusRejected:
		return theme.Failed
	}
	return theme.Unknown
}

func (it sendItem) role() textRole {
	switch it.status {
	case statusSent:
		return rolePlain
	case statusUnknown:
		return roleCaution
	}
	return roleFailure
}

// got says how the other end has it: "photo, message 4712".
func (it sendItem) got() string {
	var words []string
	if k := it.Kind.is(); k != "" && k != "text" {
		words = append(words, k)
	}
	if id := it.PlatformID.is(); id != "" {
		words = append(words, "message "+id)
	}
	return strings.Join(words, ", ")
}

// advice says what to do about an item that was not certainly sent.
func (it sendItem) advice() string {
	switch reason := it.Reason.is(); {
	case it.status == statusUnknown:
		return "it may have arrived: look there before sending again"
	case reason == reasonNotFound && !strings.HasPrefix(it.Requested.is(), "/"):
		return "look whether it is there, under this name; it is meant from the folder the call was made in"
	case reason == reasonNotFound:
		return "the path is inside the sandbox; map it in [send.paths], or attach it from the host"
	case reason == reasonDenied:
		return "allow its folder in [send] allow, or attach a copy"
	}
	return ""
}

// file is the file of an item on this host; "" when none is known.
func (it sendItem) file() string {
	if path := it.Resolved.is(); path != "" {
		return path
	}
	if it.isText() {
		return ""
	}
	return it.Requested.is()
}

// notSent counts the items that can be sent again, and those that may be there.
func (m *message) notSent() (again, unknown int) {
	for _, it := range m.items {
		switch {
		case it.plan:
		case it.status == statusUnknown:
			unknown++
		case it.status != statusSent:
			again++
		}
	}
	return again, unknown
}

// target is where the message goes, as it was asked for or as it went.
func (m *message) target() string {
	if t := m.args.Target.is(); t != "" {
		return t
	}
	t := m.Platform.is()
	for _, s := range []said[string]{m.ChatID, m.ThreadID} {
		if s.is() != "" {
			t += ":" + s.v
		}
	}
	return t
}

// split parts a target in its platform and the rest.
func splitTarget(target string) (platform, chat string) {
	platform, chat, _ = strings.Cut(target, ":")
	return platform, chat
}

// besides is what a result says besides that not everything was sent, which the
// items say better.
func (m *message) besides(text string) string {
	sent := 0
	for _, it := range m.items {
		if it.status == statusSent {
			sent++
		}
	}
	if len(m.items) == 0 {
		return text
	}
	if before, _, ok := strings.Cut(text, fmt.Sprintf("%d of %d sent (", sent, len(m.items))); ok {
		return strings.TrimSuffix(before, "; ")
	}
	return text
}

// receiptText is the receipt of a message as text.
func (m *message) receiptText(r journal.Record) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("message to %s: %s", displayLine(orMark(m.target())), r.State())
	if m.Plan.known {
		line("dry run: nothing was sent")
	}
	if !r.NoStart {
		line("sent at %s, call %s", r.Started.Format(exactTime), displayLine(r.Start.Call))
	}
	if r.End == nil {
		line("no end was recorded")
	}
	for _, it := range m.items {
		line("%s  %s%s", it.word(), displayLine(it.name), it.receiptTail())
	}
	if r.End != nil && !m.Delivery.known && !m.Plan.known {
		line("there is no receipt for each item: the tool named only what it dropped")
	}
	if m.Error.is() != "" {
		line("error: %s", displayLine(m.Error.v))
	}
	for _, w := range m.Warnings.is() {
		line("warning: %s", displayLine(w))
	}
	return b.String()
}

func orMark(s string) string {
	if s == "" {
		return "?"
	}
	return s
}

func (it sendItem) receiptTail() string {
	var words []string
	if it.Size.known {
		words = append(words, outcome.CountBytes(it.Size.v))
	}
	if got := it.got(); got != "" {
		words = append(words, displayLine(got))
	}
	if sum := it.SHA256.is(); sum != "" {
		words = append(words, "sha256 "+displayLine(sum))
	}
	if why := it.Reason.is(); why != "" {
		words = append(words, displayLine(why))
	}
	if rule := it.Rule.is(); rule != "" {
		words = append(words, "rule: "+displayLine(rule))
	}
	if len(words) == 0 {
		return ""
	}
	return "  " + strings.Join(words, "  ")
}
