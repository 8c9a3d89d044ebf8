package panels

import (
	"fmt"
	"strings"

	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
	"github.com/honestty/honestty/vt"
)

// A Dock is the panels in their order and the one that is shown. The zero value
// has none. Only panels that exist are listed.
type Dock struct {
	panels []Panel
	active int

	tabs []tab // where they were drawn last
	body rect
}

// A tab is a panel's name in the top row.
type tab struct {
	rect
	panel int
}

// Add puts a panel behind the others.
func (d *Dock) Add(p Panel) { d.panels = append(d.panels, p) }

// Names returns the names of the panels in their order.
func (d *Dock) Names() []string {
	names := make([]string, 0, len(d.panels))
	for _, p := range d.panels {
		names = append(names, p.Name())
	}
	return names
}

// Active returns the panel that is shown, nil when there is none.
func (d *Dock) Active() Panel {
	if d.active >= len(d.panels) {
		return nil
	}
	return d.panels[d.active]
}

// Show shows the panel of a name, and reports whether there is one.
func (d *Dock) Show(name string) bool {
	for i, p := range d.panels {
		if p.Name() == name {
			d.active = i
			return true
		}
	}
	return false
}

// Turn shows the panel that is by places further on, around the ends.
func (d *Dock) Turn(by int) {
	if n := len(d.panels); n > 0 {
		d.active = ((d.active+by)%n + n) % n
	}
}

// Typing reports that a text is typed into the panel that is shown.
func (d *Dock) Typing() bool {
	t, ok := d.Active().(interface{ Typing() bool })
	return ok && t.Typing()
}

// Key takes a key: Tab turns, a digit shows the panel of that number, and all
// others belong to the panel that is shown, which gets every key while text is
// typed into it.
func (d *Dock) Key(name string) (Action, bool) {
	p := d.Active()
	if d.Typing() {
		return p.Key(name)
	}
	switch {
	case name == "tab":
		d.Turn(1)
		return nil, true
	case name == "shift+tab":
		d.Turn(-1)
		return nil, true
	case len(name) == 1 && name[0] >= '1' && int(name[0]-'1') < len(d.panels) && name[0] <= '9':
		d.active = int(name[0] - '1')
		return nil, true
	}
	if p != nil {
		return p.Key(name)
	}
	return nil, false
}

// Click shows the panel whose tab was met; a click below belongs to the panel.
func (d *Dock) Click(x, y int) (Action, bool) {
	for _, t := range d.tabs {
		if t.has(x, y) {
			d.active = t.panel
			return nil, true
		}
	}
	if p := d.Active(); p != nil && d.body.has(x, y) {
		return p.Click(x, y)
	}
	return nil, false
}

// Wheel scrolls the panel that is shown.
func (d *Dock) Wheel(lines int) {
	if p := d.Active(); p != nil {
		p.Wheel(lines)
	}
}

// Draw draws the row of tabs and the panel below it.
func (d *Dock) Draw(s *screen.Screen, x, y, w, h int, focused bool, th theme.Theme) {
	d.tabs, d.body = nil, rect{}
	if w <= 0 || h <= 0 {
		return
	}
	d.drawTabs(canvas{s, &th}, x, y, w, focused)
	d.body = rect{x, y + 1, w, h - 1}
	if p := d.Active(); p != nil {
		p.Draw(s, x, y+1, w, h-1, focused, th)
	} else {
		s.Fill(x, y+1, w, h-1, th.Text)
	}
}

// A label is the text of one tab.
type label struct {
	name, badge string
	st          vt.Style // of the badge
}

func (l label) width() int { return screen.Width(l.name) + screen.Width(l.badge) }

// labelOf gives the name of a panel with its count, and the badge apart.
func labelOf(p Panel, active bool, th *theme.Theme) label {
	b := p.Badge()
	l := label{name: p.Name(), st: th.State(b.State)}
	if th.Plain && active {
		l.name = "[" + l.name + "]"
	}
	if b.Count > 0 {
		l.name += fmt.Sprintf(" %d", b.Count)
	}
	switch {
	case b.Word == "":
	case th.Plain:
		l.badge = " " + b.Word
	default:
		l.badge = th.Glyphs.State(b.State)
	}
	return l
}

// drawTabs draws the tabs that fit, the shown one always among them, and how
// many are left out: "+2", with the badge of the first of them that has one.
func (d *Dock) drawTabs(c canvas, x, y, w int, focused bool) {
	g, border := &c.th.Glyphs, c.th.Border
	if focused {
		border = c.th.Focus
	}
	c.s.Fill(x, y, w, 1, c.th.Text)
	if !c.th.Plain {
		c.s.SetText(x, y, w, strings.Repeat(g.Horizontal, w), border)
	}
	labels := make([]label, 0, len(d.panels))
	for i, p := range d.panels {
		labels = append(labels, labelOf(p, i == d.active, c.th))
	}
	from, to := d.fit(labels, w)
	at, end := x+1, x+w
	for i := from; i < to; i++ {
		l := labels[i]
		st := c.th.Border
		if i == d.active {
			st = c.th.HintKey
			if focused {
				st = c.th.Focus
			}
		}
		start := at
		at += c.s.SetText(at, y, min(1, end-at), " ", c.th.Text)
		at += c.text(at, y, end-at, l.name, st)
		if screen.Width(l.badge) <= end-at {
			at += c.s.SetText(at, y, end-at, l.badge, l.st)
		}
		at += c.s.SetText(at, y, end-at, " ", c.th.Text)
		d.tabs = append(d.tabs, tab{rect{start, y, at - start, 1}, i})
		at++ // a piece of the line
	}
	left, more := len(labels)-(to-from), d.hidden(labels, from, to)
	count := fmt.Sprintf(" +%d", left)
	if left == 0 || at+screen.Width(count) > end {
		return
	}
	at += c.s.SetText(at, y, end-at, count, c.th.Border)
	if screen.Width(more.badge) <= end-at {
		at += c.s.SetText(at, y, end-at, more.badge, more.st)
	}
	c.s.SetText(at, y, end-at, " ", c.th.Text)
}

// hidden returns the first badge of the tabs that are not drawn.
func (d *Dock) hidden(labels []label, from, to int) label {
	for i, l := range labels {
		if (i < from || i >= to) && l.badge != "" {
			return l
		}
	}
	return label{}
}

// fit returns the range of tabs to draw. It grows from the shown one to both
// sides as long as there is room, also for the count of the others.
func (d *Dock) fit(labels []label, w int) (from, to int) {
	if len(labels) == 0 {
		return 0, 0
	}
	const around = 3 // two spaces and a piece of the line
	cost := func(from, to int) int {
		n := 1
		for _, l := range labels[from:to] {
			n += l.width() + around
		}
		if to-from < len(labels) {
			n += len(" +99 ") + screen.Width(d.hidden(labels, from, to).badge)
		}
		return n
	}
	from, to = d.active, d.active+1
	for {
		switch {
		case to < len(labels) && cost(from, to+1) <= w+1:
			to++
		case from > 0 && cost(from-1, to) <= w+1:
			from--
		default:
			return from, to
		}
	}
}
