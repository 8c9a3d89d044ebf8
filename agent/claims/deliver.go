package claims

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/safepath"
)

// drops counts the attachments that a result says were dropped.
func drops(s said) int {
	var dropped []outcome.Dropped
	if json.Unmarshal(s.object["media_dropped"], &dropped) != nil {
		return 0
	}
	return len(dropped)
}

// notDelivered counts the attachments that a result reports as not sent, in
// whatever way.
func notDelivered(s said) (n int, why string) {
	var dropped []outcome.Dropped
	if json.Unmarshal(s.object["media_dropped"], &dropped) == nil && len(dropped) > 0 {
		return len(dropped), dropped[0].Reason
	}
	for _, r := range receipts(s) {
		if r.Kind != "text" && r.Status != "sent" {
			if n++; n == 1 {
				why = first(r.Reason, r.Status)
			}
		}
	}
	if n > 0 {
		return n, why
	}
	for _, w := range list(s.object["warnings"]) {
		low := strings.ToLower(w)
		if strings.Contains(low, "media") && (strings.Contains(low, "omitted") || strings.Contains(low, "skipping") ||
			strings.Contains(low, "not found") || strings.Contains(low, "failed to send")) {
			if n++; n == 1 {
				why = "a warning tells of it"
			}
		}
	}
	return n, why
}

// A receipt is one entry of delivery in a result of ours.
type receipt struct {
	Kind   string `json:"kind"`
	Status string `json:"status"`
	Reason string `json:"reason"`
}

func receipts(s said) []receipt {
	var r []receipt
	if json.Unmarshal(s.object["delivery"], &r) != nil {
		return nil
	}
	return r
}

// attachments compares the attachments that a message asks for with what its
// result tells of them.
func (l *looking) attachments() {
	args := l.call.args()
	if action, _ := field(args, "action"); action == "list" {
		return
	}
	asked := len(list(args["attachments"]))
	var paths []string
	if message, ok := field(args, "message"); ok && !boolTrue(args["no_media"]) {
		for _, d := range safepath.Scan(message, l.exists).Directives {
			asked++
			paths = append(paths, d.Path)
		}
	}
	if asked == 0 {
		return
	}
	success := l.said.success != nil && *l.said.success && !l.said.partial
	claim := fmt.Sprintf("%d asked for, and not a success", asked)
	if success {
		claim = fmt.Sprintf("%d asked for, and a success", asked)
	}
	n, why := notDelivered(l.said)
	switch {
	case n > 0 && success:
		l.add(nameAttachments, claim, fmt.Sprintf("%d not delivered: %s", n, why), outcome.Failed)
	case n > 0:
		l.add(nameAttachments, claim, fmt.Sprintf("%d not delivered, and the result says so: %s", n, why), outcome.Complete)
	case !success:
		return
	case sentFiles(l.said) >= asked:
		l.add(nameAttachments, claim, "a receipt for each", outcome.Complete)
	default:
		l.sources(claim, paths)
	}
}

// sources looks whether attachments that nothing tells of could have been sent
// at all: one that is not there was dropped, whatever the result says.
func (l *looking) sources(claim string, paths []string) {
	gone, unseen := 0, 0
	for _, p := range paths {
		if l.full() {
			return
		}
		s := l.look(p)
		switch {
		case s.why != "":
			unseen++
		case s.info == nil && absentSince(s.path, l.since()):
			gone++
		}
	}
	switch {
	case gone > 0:
		l.add(nameAttachments, claim, fmt.Sprintf("%d not found on this host", gone), outcome.Failed)
	case unseen > 0:
		l.add(nameAttachments, claim, fmt.Sprintf("nothing tells what became of them, and %d could not be looked at", unseen), outcome.Unknown)
	default:
		l.add(nameAttachments, claim, "nothing in the result tells what became of them", outcome.Unknown)
	}
}

// maxGuesses bounds how many paths of one message are looked for.
const maxGuesses = 64

// exists answers for paths without a known extension.
func (l *looking) exists(path string) bool {
	if l.guesses++; l.guesses > maxGuesses || l.ctx.Err() != nil {
		return false
	}
	s := l.look(path)
	return s.why == "" && s.info != nil
}

func sentFiles(s said) int {
	n := 0
	for _, r := range receipts(s) {
		if r.Kind != "text" && r.Status == "sent" {
			n++
		}
	}
	return n
}
