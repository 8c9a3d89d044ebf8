package picker

import (
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
)

// A Notice shows texts whole that found no room elsewhere, each a paragraph.
// It asks nothing.
type Notice struct {
	Title string
	Texts []string

	top, rows, shown int // the first row that is drawn, how many there are, how many fit
	targets          []target
}

// Key takes one key: it scrolls or closes.
func (d *Notice) Key(name, _ string) Result {
	switch key := keypad(name); {
	case key == "enter", key == "q", leaves(key):
		return Result{State: Cancelled}
	case key == "up", key == "k":
		d.Wheel(-1)
	case key == "down", key == "j":
		d.Wheel(1)
	case key == "pgup":
		d.Wheel(-max(d.shown-1, 1))
	case key == "pgdown", key == "space":
		d.Wheel(max(d.shown-1, 1))
	case key == "home":
		d.Wheel(-d.rows)
	case key == "end":
		d.Wheel(d.rows)
	}
	return Result{}
}

// Paste does nothing.
func (d *Notice) Paste(string) {}

// Click takes a click on the key that is shown.
func (d *Notice) Click(x, y int) Result {
	name, _ := pressed(d.targets, x, y)
	return d.Key(name, "")
}

// Wheel scrolls.
func (d *Notice) Wheel(lines int) { d.top = max(min(d.top+lines, d.rows-d.shown), 0) }

// Draw draws the texts.
func (d *Notice) Draw(s *screen.Screen, x, y, w, h int, th theme.Theme) {
	c := canvas{s, &th}
	s.HideCursor()
	bw, _ := room(w, h)
	title, rows := heading(d.Title, bw)
	for _, text := range d.Texts {
		rows = append(rows, wrap(text, bw-4)...)
	}
	box := c.dialog(rect{x, y, w, h}, title, len(rows))
	d.rows, d.shown = len(rows), max(box.h-2, 0)
	d.Wheel(0)
	for i, row := range rows[d.top:min(d.top+d.shown, len(rows))] {
		s.SetText(box.x+2, box.y+1+i, box.w-4, row, th.Text)
	}
	hints := []hint{{"enter", "Enter", "closes"}}
	if d.rows > d.shown {
		hints = append(hints, hint{"", "Up and Down", "scroll"})
	}
	d.targets, _ = c.footer(box, hints)
}
