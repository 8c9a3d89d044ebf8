package panels

import (
	"strings"

	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
	"github.com/honestty/honestty/vt"
)

// drawFirst draws the first row of a message: where it goes and how it begins.
func (p *Send) drawFirst(c canvas, x, y, w int, r journal.Record, st [3]vt.Style) {
	platform, chat := p.to(r)
	p.feed.drawFirstOf(c, x, y, w, r, platform, func(room int) string {
		title := displayLine(chat)
		if w < itemWide {
			return title // the text has a row of its own
		}
		const most = 12 // of a chat: its begin tells it
		if screen.Width(title) > most {
			title = strings.TrimRight(title[:wrapText(title, most-1, 0, false)[1]], " ") + c.th.Glyphs.Ellipsis
		}
		if title != "" {
			title += "  "
		}
		return title + c.begin(p.text(r), room-screen.Width(title))
	}, st)
}

// to is where a message goes.
func (p *Send) to(r journal.Record) (platform, chat string) {
	target := ""
	if d := p.feed.of(r); d != nil {
		target = d.data.target()
	}
	if target == "" {
		target, _ = strings.CutPrefix(r.Start.Title, "to ")
		if target == r.Start.Title {
			target = ""
		}
	}
	if platform, chat = splitTarget(target); platform == "" {
		platform = "send"
	}
	return displayLine(platform), chat
}

// text is the subject or the beginning of the text, on one line.
func (p *Send) text(r journal.Record) string {
	d := p.feed.of(r)
	if d == nil {
		if strings.HasPrefix(r.Start.Title, "to ") {
			return ""
		}
		return r.Start.Title
	}
	m := &d.data
	text := m.args.Subject.is()
	if text == "" {
		text = m.args.Message.is()
	}
	if m.args.Action.is() == "list" {
		text = "list of targets"
	}
	const enough = 400 // more than a row holds
	return strings.Join(strings.Fields(text[:min(len(text), enough)]), " ")
}

func (p *Send) drawCard(c canvas, x, y, w, rows, i int, focused bool) {
	r := p.feed.at(i)
	item := 0
	d := p.feed.of(r)
	if d != nil && focused {
		item = p.chosen(r, &d.data)
	}
	card := p.card(r, w)
	p.feed.drawCardOf(c, p, x, y, w, rows, i, focused, card, item)
	for j, row := range card[:max(min(len(card), rows-1), 0)] {
		if row.item > 0 {
			p.rows = append(p.rows, itemPlace{y + 1 + j, i, row.item})
		}
	}
}

// card returns the rows below the first.
func (p *Send) card(r journal.Record, w int) []cardRow {
	var out []cardRow
	if w < narrow {
		_, chat := p.to(r)
		out = prose(out, cardIndent, w, roleDim, 1, chat)
	}
	if w < itemWide {
		out = prose(out, cardIndent, w, rolePlain, 1, quoteText(p.text(r)))
	}
	if pr := r.Progress; pr != nil && r.State() == journal.Running {
		text := outcome.Size(pr.Done)
		if pr.Total > 0 {
			text += " of " + outcome.Size(pr.Total)
		}
		if pr.What != "" {
			text += "  " + pr.What
		}
		out = append(out, cardRow{progress: pr, parts: []part{{x: cardIndent, text: text, as: partBar}}})
	}
	d := p.feed.of(r)
	if d == nil {
		return against(unread(out, r, w), r, w)
	}
	m := &d.data
	if d.err != nil {
		out = cautious(out, cardIndent, w, theme.Unknown, roleCaution, 2, "not all of its record can be read: "+d.err.Error())
	}
	if r.End == nil {
		out = m.pending(out, w)
		return against(out, r, w)
	}
	if m.Plan.known {
		out = prose(out, cardIndent, w, roleCaution, 1, "dry run: nothing was sent")
	}
	out = m.trouble(out, r, w)
	for i, it := range m.items[:min(len(m.items), shownItems)] {
		out = it.rows(out, w, i+1)
	}
	if rest := m.items[min(len(m.items), shownItems):]; len(rest) > 0 {
		out = prose(out, cardIndent+2, w, roleDim, 2, more(rest))
	}
	out = m.rest(out, w)
	return against(out, r, w)
}

// more says of the items that a card has no room for how many there are, and of
// them first those that were not sent.
func more(rest []sendItem) string {
	bad := 0
	for _, it := range rest {
		bad += 1 - it.rank()
	}
	text := "and " + outcome.Count(int64(len(rest))) + " more"
	if bad > 0 {
		text += ", " + outcome.Count(int64(bad)) + " of them not sent"
	}
	return text + ": Enter shows them"
}

// pending lists what is being sent: nothing is known of it yet.
func (m *message) pending(out []cardRow, w int) []cardRow {
	const most = 3
	files := m.args.Attachments.is()
	for _, path := range files[:min(len(files), most)] {
		out = append(out, cardRow{parts: []part{{x: cardIndent + 2, w: w - cardIndent - 3, text: path, role: roleDim, as: partPath}}})
	}
	if n := len(files) - most; n > 0 {
		out = prose(out, cardIndent+2, w, roleDim, 1, "and "+outcome.Count(int64(n))+" more")
	}
	return out
}

// trouble says why a message did not go, as far as its items do not.
func (m *message) trouble(out []cardRow, r journal.Record, w int) []cardRow {
	why := m.Error.is()
	if why == "" {
		why = r.End.Error
	}
	if why = m.besides(why); why != "" {
		out = prose(out, cardIndent, w, roleFailure, maxCardRows, why)
	}
	if m.Skipped.is() {
		out = prose(out, cardIndent, w, roleCaution, 2, "skipped: "+orMark(m.Reason.is()))
	}
	return out
}

// rest is what else is to be known of a message.
func (m *message) rest(out []cardRow, w int) []cardRow {
	if !m.Delivery.known && !m.Plan.known && !m.Platforms.known {
		text := "there is no receipt for each item: its tool names only what it dropped"
		if id := m.MessageID.is(); id != "" {
			text = "message " + id + "; " + text
		}
		out = cautious(out, cardIndent, w, theme.Unknown, roleCaution, 2, text)
	}
	warnings := m.Warnings.is()
	if n := len(m.Forged.is()); n > 0 && len(warnings) == 0 {
		out = cautious(out, cardIndent, w, theme.Partial, roleCaution, 2, countOf(int64(n), "directive")+" that nobody wrote: shown as text, not acted on")
	}
	const most = 2
	for _, text := range warnings[:min(len(warnings), most)] {
		out = cautious(out, cardIndent, w, theme.Partial, roleCaution, 3, "warning: "+text)
	}
	if n := len(warnings) - most; n > 0 {
		out = prose(out, cardIndent+2, w, roleDim, 1, countOf(int64(n), "more warning")+": Enter shows them")
	}
	return prose(out, cardIndent, w, roleDim, 2, m.noteText())
}

// noteText is the note of a result, where no row says the same.
func (m *message) noteText() string {
	if m.Plan.known {
		return ""
	}
	return m.Note.is()
}

// Widths of the columns of an item.
const (
	itemSize   = 9 // "1023.9 MB"
	itemStatus = 10
	itemWide   = 60 // from which a card has columns of sizes and reasons
)

// rows adds the rows of one item. What is not certain has its reason and what to
// do about it, in the last column or, where that is too narrow, below.
func (it sendItem) rows(out []cardRow, w, number int) []cardRow {
	x := cardIndent
	first := cardRow{item: number, parts: []part{{x: x, w: 1, as: partGlyph, state: it.state()}}}
	kind := partPath
	if it.isText() {
		kind = partText
	}
	x += 2
	if w < itemWide {
		name := max(w-x-itemStatus-2, 4)
		first.parts = append(first.parts,
			part{x: x, w: name, text: it.name, as: kind},
			part{x: x + name + 1, w: itemStatus, text: it.word(), role: it.role()})
		out = append(out, first)
		if it.status == statusSent {
			return out
		}
		return it.why(out, x, w, number)
	}
	name := min(max(w/4, 18), 36)
	first.parts = append(first.parts, part{x: x, w: name, text: it.name, as: kind})
	x += name + 1
	if it.Size.known && !it.isText() {
		first.parts = append(first.parts, part{x: x, w: itemSize, text: outcome.Size(it.Size.v), as: partRight, role: roleDim})
	}
	x += itemSize + 2
	first.parts = append(first.parts, part{x: x, w: itemStatus, text: it.word(), role: it.role()})
	x += itemStatus + 1
	if it.status == statusSent {
		first.parts = append(first.parts, part{x: x, text: displayLine(it.got()), role: roleDim})
		return append(out, first)
	}
	reasons := it.why(nil, x, w, number)
	if len(reasons) == 0 {
		return append(out, first)
	}
	first.parts = append(first.parts, reasons[0].parts...)
	return append(append(out, first), reasons[1:]...)
}

// why adds the reason, the rule and the advice.
func (it sendItem) why(out []cardRow, x, w, number int) []cardRow {
	n := len(out)
	reason := it.Reason.is()
	if reason == "" {
		reason = "no reason was given"
	}
	out = prose(out, x, w, it.role(), 4, reason)
	if rule := it.Rule.is(); rule != "" {
		out = prose(out, x, w, rolePlain, 2, "rule: "+rule)
	}
	out = prose(out, x, w, rolePlain, 6, it.advice())
	for i := range out[n:] {
		out[n+i].item = number
	}
	return out
}
