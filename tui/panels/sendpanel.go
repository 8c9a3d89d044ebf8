package panels

import (
	"strings"
	"time"

	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
)

// The tool whose calls the Send panel shows.
const sendTool = "send_message"

// Send is the panel of messages: what of each was sent, what was dropped and
// why, and what nobody can tell. The zero value has read nothing.
//
// After each Show, TakeCall and Draw the window asks Wants what has to be read.
type Send struct {
	feed feed[message]

	item   int    // the chosen item of the selected message, counted from 1
	itemOf string // its call
	rows   []itemPlace
}

// An itemPlace is a row in which an item was drawn.
type itemPlace struct {
	y, card, item int
}

// Name returns the name on the tab.
func (p *Send) Name() string { return "Send" }

// Badge counts what is being sent and points at what was not sent.
func (p *Send) Badge() Badge { return p.feed.badge() }

// Show takes the book after events were added to it, and the time.
func (p *Send) Show(b *journal.Book, now time.Time) { p.feed.show(p, sendTool, b, now) }

// Wants is what has to be read for what is shown; nil when nothing has.
func (p *Send) Wants() Action { return p.feed.wants() }

// TakeCall takes the answer to a ReadCall.
func (p *Send) TakeCall(call string, start journal.Start, end *journal.End, err error) {
	if start.Tool != sendTool {
		return // another panel asked
	}
	p.feed.take(p, call, detail[message]{start: start, end: end, err: err, data: messageOf(start, end)})
}

// Typing reports that a text is typed here: keys that mean something elsewhere
// belong to it.
func (p *Send) Typing() bool { return p.feed.typing() }

// Paste takes pasted text while one is typed, and reports whether it did.
func (p *Send) Paste(text string) bool { return p.feed.paste(p, text) }

// Key takes one key; see hints for those that are shown.
func (p *Send) Key(name string) (Action, bool) {
	if p.feed.key(p, name) {
		return several(p.feed.wants(), p.feed.look()), true
	}
	a, ok := p.order(name)
	return several(a, p.feed.wants(), p.feed.look()), ok
}

// order carries out the keys that are about a message.
func (p *Send) order(name string) (Action, bool) {
	f := &p.feed
	switch {
	case name == "n":
		f.note = ""
		return Compose{}, true
	case name == "f" && !f.whole && f.book != nil:
		f.filter(p, f.text, !f.bad)
		return nil, true
	case !strings.Contains(" r u a p o y left right h l ", " "+name+" "):
		return nil, false
	}
	if name == "p" && f.length() == 0 {
		return OpenConfig{Key: "send.allow"}, true
	}
	again := map[string]string{"r": "retries what was not sent", "u": "also retries what may have arrived", "a": "allows what was denied"}[name]
	r, ok := f.aim(p, again != "", name+" again "+again)
	if !ok {
		return nil, true
	}
	f.note = ""
	d := f.of(r)
	if d == nil {
		f.note = "the record of this message is still being read"
		return nil, true
	}
	switch name {
	case "left", "h":
		p.step(r, &d.data, -1)
	case "right", "l":
		p.step(r, &d.data, 1)
	case "r", "u":
		return p.retry(r, &d.data, name == "u"), true
	case "a":
		return p.allow(r, &d.data), true
	case "p":
		return p.policy(r, &d.data), true
	case "o":
		return p.reveal(r, &d.data), true
	case "y":
		return CopyText{Text: d.data.receiptText(r), What: "the receipt"}, true
	}
	return nil, true
}

// shownItems is how many items a card shows. The rest is in the message whole.
const shownItems = 8

// step chooses another item of a message.
func (p *Send) step(r journal.Record, m *message, by int) {
	n := min(len(m.items), shownItems)
	switch {
	case n == 0:
		p.feed.note = "this message has no items to choose from"
	case p.feed.whole:
		p.feed.note = "Esc first: items are chosen in the list"
	default:
		p.item = max(min(p.chosen(r, m)+by, n), 1)
		p.itemOf = r.Start.Call
	}
}

// chosen is the item that keys are about: the chosen one, or else the first one
// that was not sent; 0 when there is none.
func (p *Send) chosen(r journal.Record, m *message) int {
	n := min(len(m.items), shownItems)
	if p.itemOf == r.Start.Call && p.item <= n {
		return p.item
	}
	for i, it := range m.items[:n] {
		if !it.isText() {
			return i + 1
		}
	}
	return min(n, 1)
}

// retry sends again what was not sent.
func (p *Send) retry(r journal.Record, m *message, unknown bool) Action {
	dropped, maybe := m.notSent()
	switch {
	case r.End == nil && r.State() == journal.Running:
		p.feed.note = "it is still being sent"
	case m.Plan.known:
		p.feed.note = "a dry run sent nothing that could be sent again"
	case !m.Delivery.known:
		p.feed.note = "it has no receipts, so nobody can tell what to send again: n writes it anew"
	case len(m.items) == 0:
		p.feed.note = "nothing of it got as far as a receipt: n writes it anew"
	case unknown && maybe == 0:
		p.feed.note = "nothing of it is unknown"
	case unknown:
		return RunCommand{
			Args:    []string{"send", "--retry-dropped", r.Start.Call, "--retry-unknown"},
			Confirm: countOf(int64(maybe), "item") + " may have arrived already, and would be there twice",
		}
	case dropped > 0:
		return RunCommand{Args: []string{"send", "--retry-dropped", r.Start.Call}}
	case maybe > 0:
		p.feed.note = "what was not sent is unknown and may be there: u sends it again all the same"
	default:
		p.feed.note = "all of it was sent"
	}
	return nil
}

// allow sends the chosen item again, although the policy denies it. The command
// asks at the window first.
func (p *Send) allow(r journal.Record, m *message) Action {
	i := p.chosen(r, m)
	switch {
	case i == 0 || m.items[i-1].Reason.is() != reasonDenied:
		p.feed.note = "the policy denied nothing here: h and l choose another item"
	case !usable(m.items[i-1].Requested.is()):
		p.feed.note = "its path is not a whole one, or has characters that cannot be seen: left alone"
	default:
		path := m.items[i-1].Requested.is()
		return RunCommand{Args: []string{"send", "--retry-dropped", r.Start.Call, "--allow-once", path}}
	}
	return nil
}

// policy opens the setting that decided about the chosen item.
func (p *Send) policy(r journal.Record, m *message) Action {
	if i := p.chosen(r, m); i > 0 && m.items[i-1].Reason.is() == reasonNotFound {
		return OpenConfig{Key: "send.paths"}
	}
	return OpenConfig{Key: "send.allow"}
}

func (p *Send) reveal(r journal.Record, m *message) Action {
	i := p.chosen(r, m)
	switch {
	case i == 0 || m.items[i-1].file() == "":
		p.feed.note = "no file is known of this item"
	case !usable(m.items[i-1].file()):
		p.feed.note = "its path is not a whole one, or has characters that cannot be seen: left alone"
	default:
		return RevealPath{Path: m.items[i-1].file()}
	}
	return nil
}

// Click selects the message under it, and the item; a click on what is selected
// shows the message whole.
func (p *Send) Click(x, y int) (Action, bool) {
	f := &p.feed
	if !f.whole {
		for _, place := range p.rows {
			if place.y != y || f.list.hit(x, y) != place.card || !f.list.selected(place.card) {
				continue
			}
			r := f.at(place.card)
			if d := f.of(r); d != nil && p.chosen(r, &d.data) != place.item {
				p.item, p.itemOf, f.note = place.item, r.Start.Call, ""
				return several(f.look()), true
			}
		}
	}
	ok := f.click(p, x, y)
	return several(f.wants(), f.look()), ok
}

// Wheel scrolls what is shown and leaves the selection alone.
func (p *Send) Wheel(lines int) { p.feed.wheel(p, lines) }

// Draw draws the list, or the message that is shown whole.
func (p *Send) Draw(s *screen.Screen, x, y, w, h int, focused bool, th theme.Theme) {
	p.rows = p.rows[:0]
	p.feed.draw(s, p, x, y, w, h, focused, th)
}

func (p *Send) length() int         { return p.feed.length() }
func (p *Send) cardID(i int) string { return p.feed.cardID(i) }
func (p *Send) cardRows(i int) int  { return 1 + len(p.card(p.feed.at(i), p.feed.width)) }
func (p *Send) noun() string        { return "message" }
func (p *Send) nothing() string     { return "nothing was sent yet: n writes a message" }

// Keys are those of the list, or of the message that is open.
func (p *Send) Keys() []KeyHelp {
	out := helpFor("j", "the message below", "k", "the message above", "enter", "the message whole: text, receipts, sha256",
		"/", "only messages with a text")
	switch {
	case p.feed.whole:
		out = helpText(&p.feed.reader)
	case p.feed.book != nil:
		out = append(out, helpFor("f", "only what was not sent")...)
	}
	if !p.feed.whole || p.feed.reader.query == "" {
		out = append(out, helpFor("n", "write a message")...)
	}
	return append(out, helpFor("l", "the next item of it", "h", "the item before", "r", "send again what was dropped",
		"u", "also what may have arrived; asks first", "a", "allow the denied one once; asks first",
		"p", "open the policy", "o", "open the folder of the item", "y", "copy the receipt", "esc", "back")...)
}

// hints are the keys that do something now, the most needed first.
func (p *Send) hints() []piece {
	hint := func(key, does string) piece { return piece{name: key, value: does} }
	f := &p.feed
	var out []piece
	if !f.whole && !f.unfiltered() {
		out = append(out, hint("Esc", "shows all"))
	}
	r, ok := f.subject()
	if d := f.of(r); ok && d != nil {
		m := &d.data
		dropped, maybe := m.notSent()
		if m.Delivery.known && !m.Plan.known {
			switch {
			case dropped == 1:
				out = append(out, hint("r", "retries the dropped one"))
			case dropped > 1:
				out = append(out, hint("r", "retries the "+countOf(int64(dropped), "dropped one")))
			}
			if maybe > 0 {
				out = append(out, hint("u", "also the unknown"))
			}
		}
		i := p.chosen(r, m)
		if i > 0 && m.items[i-1].advice() != "" && m.items[i-1].status == statusDropped {
			if m.items[i-1].Reason.is() == reasonDenied && usable(m.items[i-1].Requested.is()) {
				out = append(out, hint("a", "allows it once"))
			}
			out = append(out, hint("p", "opens the policy"))
		}
		out = append(out, hint("y", "copies the receipt"))
		if i > 0 && usable(m.items[i-1].file()) {
			out = append(out, hint("o", "folder"))
		}
	}
	if f.whole {
		return append(out, hint("/", "find"))
	}
	out = append(out, hint("n", "new"))
	if ok {
		out = append(out, hint("Enter", "whole"))
	}
	return append(out, hint("f", "not sent"), hint("/", "filter"))
}
