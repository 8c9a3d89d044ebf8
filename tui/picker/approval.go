package picker

import (
	"fmt"
	"strings"

	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
)

// The answers of an Approval, as Result.ID.
const (
	AllowOnce   = "allow"
	AllowAlways = "always"
	RefuseIt    = "refuse"
)

// An Approval asks whether a tool may go on. It came up by itself, so no
// character is an answer: what somebody types into a shell must not allow
// anything. The pointer begins on the refusal, and what would be done has to be
// scrolled to its end before it can be allowed.
type Approval struct {
	Question string // "terminal, called by claude-code, wants to run this"
	Rule     string // why it is asked: "recursive delete"
	Detail   string // what would be done, whole and in its own lines
	Until    string // when no answer becomes a refusal: "14:05:30"
	Always   string // what AllowAlways would allow from now on; "" offers nothing

	answer  int    // of answers
	top     int    // first row of the detail
	read    int    // rows of the detail that were in view, from its start
	rows    int    // rows of the detail as it was drawn last
	height  int    // rows of it that are in view
	places  []rect // of the answers
	targets []target
}

type approvalAnswer struct{ id, title string }

func (d *Approval) answers() []approvalAnswer {
	a := []approvalAnswer{{RefuseIt, "Refuse"}, {AllowOnce, "Allow once"}}
	if d.Always != "" {
		a = append(a, approvalAnswer{AllowAlways, d.Always})
	}
	return a
}

// unread says why nothing can be allowed yet, "" when it can.
func (d *Approval) unread() string {
	if d.read < d.rows {
		return fmt.Sprintf("%d more rows to read first: PgDn", d.rows-d.read)
	}
	return ""
}

// Key takes one key. A key that types a character does nothing.
func (d *Approval) Key(name, text string) Result {
	if text != "" && name != "enter" && name != "tab" {
		return Result{}
	}
	n := len(d.answers())
	switch key := keypad(name); key {
	case "enter":
		return d.choose(d.answer)
	case "left", "shift+tab":
		d.answer = max(d.answer-1, 0)
	case "right", "tab":
		d.answer = min(d.answer+1, n-1)
	case "up":
		d.Wheel(-1)
	case "down":
		d.Wheel(1)
	case "pgup":
		d.Wheel(-max(d.height-1, 1))
	case "pgdown":
		d.Wheel(max(d.height-1, 1))
	case "home":
		d.Wheel(-d.rows)
	case "end":
		d.Wheel(d.rows)
	default:
		if leaves(key) {
			return Result{State: Chosen, ID: RefuseIt}
		}
	}
	return Result{}
}

func (d *Approval) choose(i int) Result {
	d.answer = i
	id := d.answers()[i].id
	if id != RefuseIt && d.unread() != "" {
		return Result{}
	}
	return Result{State: Chosen, ID: id}
}

// Paste does nothing: a paste is no answer.
func (d *Approval) Paste(string) {}

// Click chooses the answer under it.
func (d *Approval) Click(x, y int) Result {
	for i, p := range d.places {
		if p.has(x, y) {
			return d.choose(i)
		}
	}
	if name, ok := pressed(d.targets, x, y); ok {
		return d.Key(name, "")
	}
	return Result{}
}

// Wheel scrolls what would be done.
func (d *Approval) Wheel(lines int) {
	d.top = max(min(d.top+lines, d.rows-d.height), 0)
	d.seen()
}

// seen notes how far the detail was in view without a gap.
func (d *Approval) seen() {
	if d.top <= d.read {
		d.read = max(d.read, min(d.top+d.height, d.rows))
	}
}

// Draw draws the question, as much of the detail as there is room for, and the
// answers in one row.
func (d *Approval) Draw(s *screen.Screen, x, y, w, h int, th theme.Theme) {
	c := canvas{s, &th}
	s.HideCursor()
	bw, bh := room(w, h)
	title, head := heading(d.Question, bw)
	asked := len(head)
	head = append(head, wrap("Rule: "+d.Rule, bw-4)...)
	detail := exact(d.Detail, bw-6)
	const around = 5 // two lines of the box, two empty rows, the answers
	most := max(max(bh, min(h, 12))-len(head)-around, 1)
	if d.rows != len(detail) { // another width wraps it anew, and it is read anew
		d.rows, d.read, d.top = len(detail), 0, 0
	}
	d.height = min(len(detail), most)
	box := c.dialog(rect{x, y, w, h}, title, len(head)+d.height+around-2)
	d.top = max(min(d.top, d.rows-d.height), 0)
	d.seen()
	at := box.y + 1
	row := func(indent int, text string, draw func(x, y, w int)) {
		if at < box.y+box.h-1 {
			if draw != nil {
				draw(box.x+2, at, box.w-4)
			} else {
				s.SetText(box.x+2+indent, at, box.w-4-indent, text, th.Text)
			}
			at++
		}
	}
	for i, text := range head {
		st := th.Attention
		if i < asked {
			st = th.Accent
		}
		row(0, "", func(x, y, w int) { s.SetText(x, y, w, text, st) })
	}
	row(0, "", nil)
	for _, text := range detail[d.top : d.top+d.height] {
		row(2, text, nil)
	}
	row(0, "", func(x, y, w int) { d.drawMore(c, x, y, w) })
	row(0, "", func(x, y, w int) { d.drawAnswers(c, x, y, w) })
	hints := []hint{{"enter", "Enter", "answers"}, {"esc", "Esc", "refuses"}}
	if d.rows > d.height {
		hints = append(hints, hint{"pgdown", "PgDn", "reads on"})
	}
	if d.Until != "" {
		hints = append(hints, hint{"", "", "refused at " + d.Until})
	}
	d.targets, _ = c.footer(box, hints)
}

// drawMore says how much of the detail is not in view.
func (d *Approval) drawMore(c canvas, x, y, w int) {
	if d.rows > d.height {
		c.text(x+2, y, w-2, fmt.Sprintf("rows %d to %d of %d", d.top+1, d.top+d.height, d.rows), c.th.Dim)
	}
}

func (d *Approval) drawAnswers(c canvas, x, y, w int) {
	d.places = d.places[:0]
	at := x
	for i, a := range d.answers() {
		st := c.th.Text
		if a.id != RefuseIt && d.unread() != "" {
			st = c.th.Disabled
		}
		pointer := " "
		if i == d.answer {
			pointer = c.th.Glyphs.Pointer
			st.Attrs |= c.th.HintKey.Attrs
		}
		start := at
		at += c.s.SetText(at, y, x+w-at, pointer+" ", c.th.Focus)
		at += c.text(at, y, x+w-at, a.title, st)
		d.places = append(d.places, rect{start, y, at - start, 1})
		at += 3
	}
	if why := d.unread(); why != "" && x+w-at > len(why) {
		c.s.SetText(at, y, x+w-at, why, c.th.Attention)
	}
}

// exact breaks text into rows of at most w columns and changes nothing else:
// blanks stay, lines stay lines, and what is not printable is made visible.
func exact(text string, w int) []string {
	var rows []string
	for line := range strings.Lines(text) {
		line = screen.Visible(strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "    "))
		for screen.Width(line) > max(w, 1) {
			head := firstColumns(line, max(w, 1))
			rows, line = append(rows, head), line[len(head):]
		}
		rows = append(rows, line)
	}
	return rows
}
