package picker

import "slices"

// A Picker is a list that a query cuts down: the palette, the help, a list of
// tabs. Make one with New.
type Picker struct {
	Does string // what Enter does: "runs it" unless set
	Wide bool   // takes more of the area: its details are what it is opened for

	title, noun string
	items       []Item
	match       Match
	line        Line
	hits        []Hit
	selected    int    // into hits
	top         int    // the first hit that is drawn
	note        string // what Enter on a disabled item or a cut paste has to say

	// Where it was drawn last.
	area, box, list rect
	targets         []target
}

// New returns a Picker. title stands in the empty line; noun is what one item
// is called ("action"). With a nil match it is Subsequence.
func New(title, noun string, items []Item, match Match) *Picker {
	if match == nil {
		match = Subsequence
	}
	p := &Picker{Does: "runs it", title: title, noun: noun, match: match}
	p.items = slices.Clone(items)
	p.filter()
	return p
}

// SetItems replaces the items. The query stays, and so does the selection where
// its item is still found.
func (p *Picker) SetItems(items []Item) {
	id := ""
	if item, ok := p.Selected(); ok {
		id = item.ID
	}
	p.items = slices.Clone(items)
	at := p.selected
	p.filter()
	p.selected = max(min(at, len(p.hits)-1), 0)
	for i, h := range p.hits {
		if p.items[h.Index].ID == id {
			p.selected = i
		}
	}
}

// SetQuery replaces what was typed.
func (p *Picker) SetQuery(query string) {
	p.line.Set(query)
	p.filter()
}

// Query returns what was typed.
func (p *Picker) Query() string { return p.line.Text() }

// Selected returns the item that Enter would choose.
func (p *Picker) Selected() (Item, bool) {
	if p.selected >= len(p.hits) {
		return Item{}, false
	}
	return p.items[p.hits[p.selected].Index], true
}

// filter finds the items again and selects the best one. Hits that a Match made
// up are dropped.
func (p *Picker) filter() {
	p.hits = slices.DeleteFunc(slices.Clone(p.match(p.line.Text(), p.items)), func(h Hit) bool {
		return h.Index < 0 || h.Index >= len(p.items)
	})
	p.selected, p.top, p.note = 0, 0, ""
}

// move selects another hit; it stops at both ends.
func (p *Picker) move(by int) {
	p.selected = max(min(p.selected+by, len(p.hits)-1), 0)
	p.note = ""
}

// Key takes one key. Up and down, by page and to the ends, belong to the list;
// Ctrl+a and Ctrl+e are the ends of the line.
func (p *Picker) Key(name, text string) Result {
	page := max(p.list.h-1, 1)
	switch key := keypad(name); {
	case leaves(key):
		return Result{State: Cancelled}
	case key == "enter":
		return p.choose()
	case key == "up", key == "ctrl+p", key == "shift+tab":
		p.move(-1)
	case key == "down", key == "ctrl+n", key == "tab":
		p.move(1)
	case key == "pgup":
		p.move(-page)
	case key == "pgdown":
		p.move(page)
	case key == "home":
		p.move(-len(p.hits))
	case key == "end":
		p.move(len(p.hits))
	default:
		p.edit(func() { p.line.Key(name, text) })
	}
	return Result{}
}

// edit changes the line and finds the items again when it is another one.
func (p *Picker) edit(change func()) {
	before := p.line.Text()
	change()
	if p.line.Text() != before {
		p.filter()
	}
	if p.line.Cut() {
		p.note = cutNote
	}
}

const cutNote = "The text is longer than a line may be; its end was left out."

// choose runs the selected item, or says why it cannot.
func (p *Picker) choose() Result {
	item, ok := p.Selected()
	switch {
	case !ok:
		return Result{}
	case item.Disabled != "":
		p.note = item.Title + ": " + item.Disabled
		return Result{}
	}
	return Result{State: Chosen, ID: item.ID}
}

// Paste puts text into the line.
func (p *Picker) Paste(text string) { p.edit(func() { p.line.Insert(text) }) }

// Click chooses the item under it. A click beside the box closes it.
func (p *Picker) Click(x, y int) Result {
	if name, ok := pressed(p.targets, x, y); ok {
		return p.Key(name, "")
	}
	if p.list.has(x, y) {
		if i := p.top + y - p.list.y; i < len(p.hits) {
			p.selected, p.note = i, ""
			return p.choose()
		}
	}
	if p.area.w > 0 && !p.box.has(x, y) {
		return Result{State: Cancelled}
	}
	return Result{}
}

// Wheel moves the selection, so that it is always seen.
func (p *Picker) Wheel(lines int) { p.move(lines) }
