package picker

import (
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
)

// A Confirm asks before something that cannot be taken back. Only y does it;
// Enter does not, since that is what somebody presses who did not read.
type Confirm struct {
	Question string
	Happens  string // what y does, in plain words
	Yes, No  string // the words behind the keys: "closes it", "keeps it"

	targets []target
}

// Key takes one key.
func (d *Confirm) Key(name, _ string) Result {
	switch {
	case name == "y", name == "Y":
		return Result{State: Chosen}
	case name == "n", name == "N", leaves(name):
		return Result{State: Cancelled}
	}
	return Result{}
}

// Paste does nothing: a pasted y is no answer.
func (d *Confirm) Paste(string) {}

// Click takes a click on one of the keys that are shown.
func (d *Confirm) Click(x, y int) Result {
	name, _ := pressed(d.targets, x, y)
	return d.Key(name, "")
}

// Wheel does nothing.
func (d *Confirm) Wheel(int) {}

// Draw draws the question.
func (d *Confirm) Draw(s *screen.Screen, x, y, w, h int, th theme.Theme) {
	c := canvas{s, &th}
	s.HideCursor()
	bw, _ := room(w, h)
	title, rows := heading(d.Question, bw)
	asked := len(rows)
	rows = append(rows, wrap(d.Happens, bw-4)...)
	box := c.dialog(rect{x, y, w, h}, title, len(rows))
	for i, row := range rows[:min(len(rows), max(box.h-2, 0))] {
		st := th.Text
		if i < asked {
			st = th.Accent
		}
		s.SetText(box.x+2, box.y+1+i, box.w-4, row, st)
	}
	d.targets, _ = c.footer(box, []hint{{"y", "y", d.Yes}, {"n", "n", d.No}})
}

// dialog draws an empty box for a number of rows in the middle of an area.
func (c canvas) dialog(area rect, title string, rows int) rect {
	bw, _ := room(area.w, area.h)
	bh := min(area.h, rows+2)
	box := rect{area.x + (area.w-bw)/2, area.y + (area.h-bh)/2, bw, bh}
	c.box(box)
	c.title(box, title)
	return box
}
