package picker

import (
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
)

// A Prompt asks for one line of text.
type Prompt struct {
	Title string
	Does  string // what Enter does: "renames it"
	Line  Line
	// Check says what is wrong with a text, "" when nothing is. Enter takes
	// only what it passes. A nil Check passes everything.
	Check func(text string) (problem string)

	problem string
	targets []target
}

// Key takes one key. A text that was chosen is in the Result.
func (d *Prompt) Key(name, text string) Result {
	switch {
	case leaves(name):
		return Result{State: Cancelled}
	case keypad(name) == "enter":
		d.problem = ""
		if d.Check != nil {
			d.problem = d.Check(d.Line.Text())
		}
		if d.problem == "" {
			return Result{State: Chosen, Text: d.Line.Text()}
		}
	default:
		d.edit(func() bool { return d.Line.Key(name, text) })
	}
	return Result{}
}

// edit changes the line; what was wrong with the old one is forgotten.
func (d *Prompt) edit(change func() bool) {
	if change() {
		d.problem = ""
	}
	if d.Line.Cut() {
		d.problem = cutNote
	}
}

// Paste puts text into the line.
func (d *Prompt) Paste(text string) {
	d.edit(func() bool { d.Line.Insert(text); return true })
}

// Click takes a click on one of the keys that are shown.
func (d *Prompt) Click(x, y int) Result {
	if name, ok := pressed(d.targets, x, y); ok {
		return d.Key(name, "")
	}
	return Result{}
}

// Wheel does nothing.
func (d *Prompt) Wheel(int) {}

// Draw draws the title, the line and what is wrong with it. In few rows the
// line is what stays.
func (d *Prompt) Draw(s *screen.Screen, x, y, w, h int, th theme.Theme) {
	c := canvas{s, &th}
	bw, _ := room(w, h)
	title, rows := heading(d.Title, bw)
	problems := wrap(d.problem, bw-4)
	for len(rows)+len(problems) > 0 && len(rows)+1+len(problems)+2 > h {
		if len(rows) > 0 {
			rows = rows[1:]
			continue
		}
		problems = problems[:len(problems)-1]
	}
	box := c.dialog(rect{x, y, w, h}, title, len(rows)+1+len(problems))
	if box.w < 6 || box.h < 3 {
		d.targets = nil
		s.HideCursor()
		return
	}
	at, left, inner := box.y+1, box.x+2, box.w-4
	for _, row := range rows {
		s.SetText(left, at, inner, row, th.Accent)
		at++
	}
	n := s.SetText(left, at, inner, "> ", th.Focus)
	s.SetCursor(d.Line.Draw(s, left+n, at, inner-n, th.Text, th.Glyphs.Ellipsis), at, true, 0)
	for i, row := range problems {
		s.SetText(left, at+1+i, inner, row, th.Attention)
	}
	d.targets, _ = c.footer(box, []hint{{"enter", "Enter", d.Does}, {"esc", "Esc", "leaves it"}})
}
