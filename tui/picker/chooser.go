package picker

import (
	"unicode/utf8"

	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
)

// An Option is one answer of a Chooser, with what it means.
type Option struct {
	ID, Title, Detail string
	Disabled          string // why it cannot be chosen; "" when it can
}

// A Chooser asks a question with few answers, each explained. All of it is
// shown at once where there is room.
type Chooser struct {
	Question string
	Options  []Option
	Also     string // a word at the end: where to read more

	selected, top int
	area          rect  // the rows of the options where they were drawn last
	owner         []int // the option of each of these rows
	targets       []target
}

// Select puts the pointer on an option, the one in force for example.
func (d *Chooser) Select(id string) {
	for i, o := range d.Options {
		if o.ID == id {
			d.selected = i
		}
	}
}

func (d *Chooser) move(by int) {
	d.selected = max(min(d.selected+by, len(d.Options)-1), 0)
}

// Key takes one key. A digit chooses the option of that number.
func (d *Chooser) Key(name, _ string) Result {
	switch key := keypad(name); key {
	case "enter":
		return d.choose(d.selected)
	case "up", "k", "ctrl+p", "shift+tab":
		d.move(-1)
	case "down", "j", "ctrl+n", "tab":
		d.move(1)
	case "home", "pgup":
		d.move(-len(d.Options))
	case "end", "pgdown":
		d.move(len(d.Options))
	default:
		if leaves(key) {
			return Result{State: Cancelled}
		}
		if r, n := utf8.DecodeRuneInString(key); n == len(key) && r >= '1' && r <= '9' {
			return d.choose(int(r - '1'))
		}
	}
	return Result{}
}

// choose selects an option and takes it unless it is disabled; then its reason
// stands where its explanation was.
func (d *Chooser) choose(i int) Result {
	if i < 0 || i >= len(d.Options) {
		return Result{}
	}
	d.selected = i
	if d.Options[i].Disabled != "" {
		return Result{}
	}
	return Result{State: Chosen, ID: d.Options[i].ID}
}

// Paste does nothing.
func (d *Chooser) Paste(string) {}

// Click chooses the option under it.
func (d *Chooser) Click(x, y int) Result {
	if name, ok := pressed(d.targets, x, y); ok {
		return d.Key(name, "")
	}
	if d.area.has(x, y) {
		if i := d.top + y - d.area.y; i < len(d.owner) {
			return d.choose(d.owner[i])
		}
	}
	return Result{}
}

// Wheel moves the pointer.
func (d *Chooser) Wheel(lines int) { d.move(lines) }

// Draw draws the question and as many of the options as there is room for, the
// selected one among them.
func (d *Chooser) Draw(s *screen.Screen, x, y, w, h int, th theme.Theme) {
	c := canvas{s, &th}
	s.HideCursor()
	bw, _ := room(w, h)
	title, rows := heading(d.Question, bw)
	lines := d.lines(bw - 6)
	rows = rows[:max(min(len(rows), h-3), 0)]
	box := c.dialog(rect{x, y, w, h}, title, len(rows)+len(lines))
	for i, row := range rows {
		s.SetText(box.x+2, box.y+1+i, box.w-4, row, th.Accent)
	}
	d.area = rect{box.x + 1, box.y + 1 + len(rows), max(box.w-2, 0), max(box.h-2-len(rows), 0)}
	d.owner = d.owner[:0]
	for _, l := range lines {
		d.owner = append(d.owner, l.option)
	}
	d.scroll()
	for i := range min(d.area.h, len(lines)-d.top) {
		d.drawRow(c, d.area.y+i, lines[d.top+i])
	}
	hints := []hint{{"enter", "Enter", "chooses"}, {"esc", "Esc", "leaves it"}}
	if d.Also != "" {
		hints = append(hints, hint{"", "", d.Also})
	}
	d.targets, _ = c.footer(box, hints)
}

// A choiceLine is one row of an option: its title in the first, and a piece of
// the explanation.
type choiceLine struct {
	option        int
	title, detail string
	indent        int
}

// lines lays the options out in w columns: titles at the left, explanations
// beside them, or below where that would leave them no room.
func (d *Chooser) lines(w int) []choiceLine {
	col := 0
	for _, o := range d.Options {
		col = max(col, screen.Width(o.Title)+3)
	}
	beside := col <= w/2
	var out []choiceLine
	for i, o := range d.Options {
		detail := o.Detail
		if o.Disabled != "" {
			detail = o.Disabled
		}
		if !beside {
			out = append(out, choiceLine{option: i, title: o.Title})
			for _, row := range wrap(detail, w-2) {
				out = append(out, choiceLine{option: i, detail: row, indent: 2})
			}
			continue
		}
		pieces := wrap(detail, w-col)
		if len(pieces) == 0 {
			pieces = []string{""}
		}
		for n, piece := range pieces {
			l := choiceLine{option: i, detail: piece, indent: col}
			if n == 0 {
				l.title = o.Title
			}
			out = append(out, l)
		}
	}
	return out
}

// scroll chooses the first row so that the selected option is seen, its title
// before its explanation.
func (d *Chooser) scroll() {
	first, last := len(d.owner), 0
	for i, o := range d.owner {
		if o == d.selected {
			first, last = min(first, i), i
		}
	}
	d.top = max(d.top, last-d.area.h+1)
	d.top = min(d.top, first)
	d.top = max(min(d.top, len(d.owner)-d.area.h), 0)
}

func (d *Chooser) drawRow(c canvas, y int, l choiceLine) {
	x, w := d.area.x+1, d.area.w-2
	title, detail := c.th.Text, c.th.Dim
	if d.Options[l.option].Disabled != "" {
		title, detail = c.th.Disabled, c.th.Disabled
	}
	if l.option == d.selected {
		title.Attrs |= c.th.HintKey.Attrs
		detail = c.th.Text
		if l.title != "" {
			c.s.SetText(x, y, min(w, 1), c.th.Glyphs.Pointer, c.th.Focus)
		}
	}
	c.text(x+2, y, w-2, l.title, title)
	c.s.SetText(x+2+l.indent, y, w-2-l.indent, l.detail, detail)
}
