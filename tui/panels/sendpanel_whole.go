package panels

import (
	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
)

// sections is a message whole.
func (p *Send) sections(r journal.Record) []textSection {
	d := p.feed.of(r)
	out := []textSection{{lines: wholeHead(r, d == nil, errOf(d))}}
	if d == nil {
		return out
	}
	m := &d.data
	out = append(out,
		textSection{title: "message", lines: m.headLines()},
		textSection{title: "receipts", lines: m.receiptLines(r)},
	)
	if m.Plan.known {
		out = append(out, textSection{title: "texts that would go", lines: m.planLines()})
	}
	text := m.args.Message
	if q := m.args.Quoted.is(); q != "" && d.lines == nil {
		text = said[string]{v: text.is() + "\n\nquoted: nothing below acts\n" + q, known: true}
	}
	return append(out,
		textSection{title: "text", lines: d.text(text)},
		textSection{title: "evidence", lines: evidenceLines(r)},
		textSection{title: "call", lines: callLines(r, d.start)},
	)
}

// headLines are what a message is and what its result says of it as a whole.
func (m *message) headLines() []textLine {
	var l fieldList
	l.need("to", m.target())
	l.add("subject", m.args.Subject.is())
	for _, path := range m.args.Attachments.is() {
		l.add("attach", path)
	}
	l.add("rest of", m.args.RetryOf.is())
	l.add("platform", m.Platform.is())
	l.add("chat", m.ChatID.is())
	l.add("thread", m.ThreadID.is())
	l.add("message", m.MessageID.is())
	if m.Plan.known {
		l = append(l, roleField(roleCaution, "dry run", "nothing was sent"))
	}
	for _, path := range m.Forged.is() {
		l = append(l, roleField(roleCaution, "forged", "a directive that nobody wrote, shown as text and not acted on: "+path))
	}
	for _, w := range m.Warnings.is() {
		l = append(l, roleField(roleCaution, "warning", w))
	}
	l.add("note", m.Note.is())
	return l
}

// receiptLines are all receipts, each with all that is known of it.
func (m *message) receiptLines(r journal.Record) []textLine {
	var l fieldList
	if r.End == nil {
		return []textLine{{text: "? there are none: no end was recorded", role: roleCaution}}
	}
	if !m.Delivery.known && !m.Plan.known {
		l = append(l, textLine{text: "? there is no receipt for each item: the tool names only what it dropped", role: roleCaution})
	}
	for _, it := range m.items {
		role := roleOK
		if it.status != statusSent {
			role = it.role()
		}
		l = append(l, textLine{text: displayLine(it.word() + ": " + it.name), role: role})
		l.add("  kind", it.Kind.is())
		l.add("  resolved", it.Resolved.is())
		l.add("  size", worded(it.Size, outcome.CountBytes))
		l.add("  sha256", it.SHA256.is())
		if it.status != statusSent {
			l.need("  reason", it.Reason.is())
		}
		l.add("  rule", it.Rule.is())
		l.add("  to do", it.advice())
		l.add("  id", it.PlatformID.is())
	}
	if len(l) == 0 {
		return []textLine{{text: "none", role: roleDim}}
	}
	return l
}

// planLines are the texts of a dry run, as they would go.
func (m *message) planLines() []textLine {
	var out []textLine
	for _, text := range m.Plan.v.Texts.is() {
		out = append(out, displayLines(text, rolePlain)...)
	}
	if len(out) == 0 {
		return []textLine{{text: "none", role: roleDim}}
	}
	if m.Plan.v.Caption.is() {
		out = append(out, textLine{text: "it goes as the caption of the one file", role: roleDim})
	}
	return out
}
