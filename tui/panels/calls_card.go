package panels

import (
	"strings"
	"time"

	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
	"github.com/honestty/honestty/vt"
)

// A stateMark is how a state is shown: glyph and word.
type stateMark struct {
	glyph, word string
	st          vt.Style
}

func (c canvas) mark(s theme.State, word string) stateMark {
	if word == "" {
		word = s.Word()
	}
	return stateMark{c.th.Glyphs.State(s), word, c.th.State(s)}
}

// quiet is the mark of what somebody ended on purpose: it needs nobody.
func (c canvas) quiet(word string) stateMark {
	return stateMark{c.th.Glyphs.Dot, word, c.th.Dim}
}

// callMark is the mark of a call. What could be seen counts for more than what
// a call claims.
func (c canvas) callMark(r journal.Record) stateMark {
	state := r.State()
	if r.Contradicted() && state != journal.Failed && state != journal.Lost {
		return c.mark(theme.Failed, "contradicted")
	}
	if waitsForApproval(r) {
		return c.mark(theme.Running, waitsWord)
	}
	switch state {
	case journal.Running:
		return c.mark(theme.Running, "")
	case journal.Complete:
		return c.mark(theme.Complete, "")
	case journal.Partial:
		if r.End.Capture != nil && *r.End.Capture == outcome.StateDetached {
			return c.mark(theme.Detached, "")
		}
		return c.mark(theme.Partial, "")
	case journal.Failed:
		return c.mark(theme.Failed, "")
	case journal.Lost:
		return c.mark(theme.Lost, "")
	case journal.Refused:
		return c.mark(theme.Refused, "")
	case journal.Cancelled:
		return c.quiet("cancelled")
	}
	return c.mark(theme.Unknown, "")
}

// callTook is how long a call took, or runs; "?" when nobody can tell.
func callTook(r journal.Record, now time.Time) string {
	switch {
	case r.End == nil && r.State() == journal.Running && !now.Before(r.Started):
		return outcome.Duration(now.Sub(r.Started))
	case r.End == nil:
		return "?"
	case r.End.DurationMS > 0:
		return outcome.Duration(time.Duration(r.End.DurationMS) * time.Millisecond)
	case r.NoStart || r.Ended.Before(r.Started):
		return "?"
	}
	return outcome.Duration(r.Ended.Sub(r.Started)) // the call did not tell
}

// A cardLine is one row of a card below its first.
type cardLine struct {
	text  string
	state cardState
}

// A cardState says what a row of a card is about.
type cardState uint8

const (
	cardTitle    cardState = iota // where the first row has no room for it
	cardSummary                   // what the call says of itself
	cardError                     // why it did not end well
	cardAgainst                   // a check that contradicts it
	cardOpen                      // a check that cannot tell
	cardProgress                  // how far it is; drawn from the record
)

const (
	narrow    = 44 // below it every title has a row of its own
	minTitle  = 12 // of a title beside its tool; else it has a row of its own
	wordWidth = 8  // that most words for states take
)

// titleBelow reports whether the title of a call has a row of its own: names of
// agents and tools are whole before a title is cut.
func titleBelow(r journal.Record, w int) bool {
	tool := screen.Width(r.Start.Tool)
	if a := r.Start.Source.Agent; a != "" {
		tool += screen.Width(a) + 1
	}
	beside := w - cardIndent - max(tool, toolWidth) - 1 - tookWidth - 1 - wordWidth - 1
	return w < narrow || beside < min(minTitle, screen.Width(displayLine(callTitle(r))))
}

// maxCardRows bounds each part of a card: the whole is one key away.
const maxCardRows = 3

// card returns the rows of a card for a width; the first is the row of its
// state and has only a title.
func (p *Tools) card(r journal.Record, w int) []cardLine {
	room := max(w-cardIndent-1, 8)
	out := []cardLine{{text: callTitle(r)}}
	add := func(state cardState, text string, rows int) {
		for _, line := range wrapRows(text, room, rows) {
			out = append(out, cardLine{line, state})
		}
	}
	if titleBelow(r, w) {
		add(cardTitle, callTitle(r), 1)
	}
	bad := r.State().Bad() || r.Contradicted()
	rows := 1
	switch {
	case bad:
		rows = maxCardRows
	case w < narrow:
		rows = 2
	}
	if why := r.Why(); why != "" {
		add(cardError, why, rows)
	}
	switch {
	case r.End != nil:
		add(cardSummary, r.End.Summary, rows)
		if r.End.Error != "" && !strings.Contains(r.End.Summary, r.End.Error) {
			add(cardError, r.End.Error, rows)
		}
		p.checks(r, room, add)
	case r.Progress != nil && r.State() == journal.Running:
		out = append(out, cardLine{progressText(*r.Progress), cardProgress})
	}
	return out
}

// checks adds what was claimed and what was seen, where they do not agree or
// nobody can tell, to a card.
func (p *Tools) checks(r journal.Record, room int, add func(cardState, string, int)) {
	const most = 3
	n := 0
	for _, ck := range r.End.Checks {
		state := cardAgainst
		switch {
		case ck.Verdict == outcome.Complete:
			continue
		case ck.Verdict != outcome.Failed:
			state = cardOpen
		}
		if n++; n > most {
			continue
		}
		claimed, seen := claimedSeen(ck)
		whole := ck.Name + ": " + claimed + checkBetween + seen
		switch {
		case screen.Width(whole)+2 <= room:
			add(state, whole, 1)
		case screen.Width(claimed+checkBetween+seen)+2 <= room:
			add(state, claimed+checkBetween+seen, 1)
		default:
			add(state, claimed, 2)
			add(state, seen, 2)
		}
	}
	if n > most {
		add(cardOpen, "and "+outcome.Count(int64(n-most))+" more checks", 1)
	}
}

// checkBetween stands between what was claimed and what was seen. In other
// glyphs it is replaced when it is drawn.
const checkBetween = " · "

func claimedSeen(ck journal.Check) (claimed, seen string) {
	claimed, seen = "claimed "+ck.Claimed, "seen "+ck.Seen
	if ck.Claimed == "" {
		claimed = "nothing claimed"
	}
	if ck.Seen == "" {
		seen = "nothing seen"
	}
	return claimed, seen
}

// wrapRows breaks a text into at most so many rows of w columns. What does not
// fit stays at the end of the last one, to be shortened there.
func wrapRows(text string, w, rows int) []string {
	if text == "" {
		return nil
	}
	text = displayLine(strings.TrimSpace(text))
	if rows == 1 {
		return []string{text}
	}
	starts := wrapText(text, w, 0, true)
	var out []string
	for i, from := range starts {
		if i == rows-1 || i == len(starts)-1 {
			return append(out, text[from:])
		}
		out = append(out, strings.TrimRight(text[from:starts[i+1]], " "))
	}
	return out
}

func callTitle(r journal.Record) string {
	switch {
	case r.Start.Title != "":
		return r.Start.Title
	case r.NoStart:
		return "call " + r.Start.Call
	}
	return "(no title)"
}

// callTool is the tool, after the agent that called it.
func (c canvas) callTool(r journal.Record) string {
	tool := r.Start.Tool
	if tool == "" {
		tool = "?"
	}
	if a := r.Start.Source.Agent; a != "" {
		return a + c.th.Glyphs.Dot + tool
	}
	return tool
}

// progressText says how far a call is in words.
func progressText(p journal.Progress) string {
	if p.Done == 0 && p.Total == 0 && p.What != "" {
		return p.What
	}
	text := outcome.Count(p.Done)
	if p.Total > 0 {
		text += " of " + outcome.Count(p.Total)
	}
	if p.What != "" {
		text += " " + p.What
	}
	return text
}
