package panels

// A cardSource is what a list of cards lists.
type cardSource interface {
	length() int
	cardID(i int) string
	cardRows(i int) int // at the width it was drawn with last; at least 1
}

// A cardList is a list of cards of differing height, of which one may be
// selected. A selection is a card, not a place. The zero value selects none and
// follows what comes in at its top.
type cardList struct {
	top    int    // the first card that is drawn
	topID  string // its id, once it was drawn
	picked bool
	at     int // of the selected card, as long as picked
	id     string
	area   rect
	drawn  []int // card of each row of the area; -1 where there is none
}

// pick selects a card and brings it into view.
func (l *cardList) pick(s cardSource, i int) {
	l.picked, l.at, l.id = true, i, s.cardID(i)
	l.see(s)
}

// see scrolls until the whole of the selected card is in view, or its beginning
// where it is higher than that.
func (l *cardList) see(s cardSource) {
	l.top = min(l.top, l.at)
	rows, first := 0, l.at
	for i := l.at; i >= l.top; i-- {
		if rows += s.cardRows(i); rows > max(l.area.h, 1) && i != l.at {
			break
		}
		first = i
	}
	l.top = max(l.top, first)
	l.topID = s.cardID(l.top)
}

// step selects the next card, or the one before; before the first one is none.
func (l *cardList) step(s cardSource, by int) {
	if by < 0 && l.picked && l.at == 0 {
		l.follow()
		return
	}
	l.move(s, by)
}

// move selects another card, by cards.
func (l *cardList) move(s cardSource, by int) {
	n := s.length()
	if n == 0 || !l.picked && by < 0 {
		return
	}
	at := l.top - 1
	if l.picked {
		at = l.at
	}
	l.pick(s, max(min(at+by, n-1), 0))
}

// follow selects nothing and goes back to the top.
func (l *cardList) follow() { l.picked, l.id, l.top, l.topID = false, "", 0, "" }

// page is how many cards a page has.
func (l *cardList) page(s cardSource) int {
	rows, n := 0, 0
	for i := l.top; i < s.length(); i++ {
		if rows += s.cardRows(i); rows > max(l.area.h, 1) {
			break
		}
		n++
	}
	return max(n-1, 1)
}

// key takes the keys that move the selection.
func (l *cardList) key(s cardSource, name string) (handled bool) {
	switch name {
	case "j", "down", "ctrl+n":
		l.step(s, 1)
	case "k", "up", "ctrl+p":
		l.step(s, -1)
	case "pgdown", "ctrl+d":
		l.move(s, l.page(s))
	case "pgup", "ctrl+u":
		l.move(s, -l.page(s))
	case "home":
		if s.length() > 0 {
			l.pick(s, 0)
		}
	case "end", "G":
		if n := s.length(); n > 0 {
			l.pick(s, n-1)
		}
	default:
		return false
	}
	return true
}

// wheel scrolls by about so many rows and leaves the selection alone.
func (l *cardList) wheel(s cardSource, lines int) {
	for ; lines > 0 && l.top < l.lastTop(s); l.top++ {
		lines -= s.cardRows(l.top)
	}
	for ; lines < 0 && l.top > 0; l.top-- {
		lines += s.cardRows(l.top - 1)
	}
	l.anchor(s)
}

// lastTop is the top card with which the last card just fits.
func (l *cardList) lastTop(s cardSource) int {
	rows, i := 0, s.length()
	for i > 0 {
		if rows += s.cardRows(i - 1); rows > max(l.area.h, 1) {
			break
		}
		i--
	}
	return max(min(i, s.length()-1), 0)
}

// anchor remembers the card at the top. With nothing selected the very top
// follows what comes in.
func (l *cardList) anchor(s cardSource) {
	l.top = max(min(l.top, s.length()-1), 0)
	if s.length() == 0 || l.top == 0 && !l.picked {
		l.topID = ""
		return
	}
	l.topID = s.cardID(l.top)
}

// changed takes another state of the source. What is at the top and what is
// selected stays; find is where a card is now, -1 when it is gone. In the place
// of a selected card that is gone comes its neighbour.
func (l *cardList) changed(s cardSource, find func(id string) int) {
	if l.topID != "" {
		if i := find(l.topID); i >= 0 {
			l.top = i
		}
	}
	l.top = max(min(l.top, s.length()-1), 0)
	if l.picked {
		switch i := find(l.id); {
		case i >= 0:
			l.at = i
		case s.length() == 0:
			l.follow()
		default:
			l.at = min(l.at, s.length()-1)
			l.id = s.cardID(l.at)
		}
	}
	l.anchor(s)
}

// draw lays the cards out in an area and calls drawCard for each that is in
// view, with its first row and the rows there are for it.
func (l *cardList) draw(s cardSource, area rect, drawCard func(i, y, rows int)) {
	other := l.area.w != area.w || l.area.h != area.h
	l.area, l.drawn = area, l.drawn[:0]
	if area.h <= 0 {
		return
	}
	if other && l.picked {
		l.see(s)
	}
	l.top = min(l.top, l.lastTop(s))
	y := 0
	for i := l.top; i < s.length() && y < area.h; i++ {
		rows := min(s.cardRows(i), area.h-y)
		drawCard(i, area.y+y, rows)
		for range rows {
			l.drawn = append(l.drawn, i)
		}
		y += rows
	}
	for ; y < area.h; y++ {
		l.drawn = append(l.drawn, -1)
	}
	if s.length() > 0 {
		l.anchor(s)
	}
}

// hit is the card at a cell, -1 when there is none.
func (l *cardList) hit(x, y int) int {
	if !l.area.has(x, y) || y-l.area.y >= len(l.drawn) {
		return -1
	}
	return l.drawn[y-l.area.y]
}

// selected reports whether a card is the selected one.
func (l *cardList) selected(i int) bool { return l.picked && l.at == i }
