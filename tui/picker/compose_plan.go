package picker

import (
	"encoding/json"
	"fmt"

	"github.com/honestty/honestty/tui/theme"
)

// A composePlan is what a dry run says, as far as it is shown.
type composePlan struct {
	Texts       []string `json:"texts"`
	Caption     bool     `json:"caption"`
	Attachments []struct {
		Requested string `json:"requested"`
		Status    string `json:"status"`
		Reason    string `json:"reason"`
		Rule      string `json:"rule"`
	} `json:"attachments"`
	warnings []string
	trouble  string // why there is no plan
}

// TakePlan takes the result of a dry run that Wants asked for. One of a message
// that was changed since is let go.
func (d *Compose) TakePlan(request string, result json.RawMessage, err error) {
	if request != d.asked {
		return
	}
	d.asked, d.note = "", ""
	d.plan, d.planFor = readPlan(result, err), request
}

// readPlan reads what it can: a part that is not there is not known, and never
// a promise that something would go.
func readPlan(result json.RawMessage, err error) *composePlan {
	if err != nil {
		return &composePlan{trouble: oneLine(err.Error())}
	}
	var r struct {
		Error    *string         `json:"error"`
		Warnings []string        `json:"warnings"`
		Plan     json.RawMessage `json:"plan"`
	}
	p := &composePlan{}
	switch err := json.Unmarshal(result, &r); {
	case err != nil:
		p.trouble = "its result cannot be read"
	case len(r.Plan) == 0 && r.Error != nil:
		p.trouble = oneLine(*r.Error)
	case len(r.Plan) == 0:
		p.trouble = "its result has no plan"
	case json.Unmarshal(r.Plan, p) != nil:
		p.trouble = "its plan cannot be read"
	}
	p.warnings = r.Warnings
	return p
}

// A verdict is one line of what a dry run says.
type verdict struct {
	state theme.State
	text  string
	more  bool // it goes on from the row before, or has no glyph
}

// verdicts are the lines of the plan, what would not go first. A plan of another
// message than the one that is written now says nothing.
func (d *Compose) verdicts() []verdict {
	p := d.plan
	switch {
	case p == nil:
		return nil
	case d.planFor != d.request(true):
		return []verdict{{state: theme.Stale, text: "changed since the dry run: another one says what would go"}}
	case p.trouble != "":
		return []verdict{{state: theme.Failed, text: "dry run: " + p.trouble}}
	}
	var bad, good []verdict
	for _, a := range p.Attachments {
		name := oneLine(a.Requested)
		switch a.Status {
		case "sent":
			good = append(good, verdict{state: theme.Complete, text: "would go: " + name})
		case "dropped", "rejected":
			text := "would not go: " + name + ": " + oneLine(a.Reason)
			if a.Rule != "" {
				text += " (" + oneLine(a.Rule) + ")"
			}
			bad = append(bad, verdict{state: theme.Dropped, text: text})
		default:
			bad = append(bad, verdict{state: theme.Unknown, text: "unknown: " + name})
		}
	}
	for _, w := range p.warnings {
		bad = append(bad, verdict{state: theme.Partial, text: "warning: " + oneLine(w)})
	}
	switch n := len(p.Texts); {
	case p.Caption:
		good = append(good, verdict{state: theme.Complete, text: "the text would go as a caption"})
	case n == 1:
		good = append(good, verdict{state: theme.Complete, text: "the text would go as 1 message"})
	case n > 1:
		good = append(good, verdict{state: theme.Complete, text: fmt.Sprintf("the text would go as %d messages", n)})
	}
	if len(bad)+len(good) == 0 {
		bad = []verdict{{state: theme.Unknown, text: "unknown: the plan names nothing that would go"}}
	}
	return append(bad, good...)
}
