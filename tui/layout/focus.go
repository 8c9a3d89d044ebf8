package layout

import "slices"

// SetFocus gives a pane the focus. A zoom ends when it was another one's. A
// pane that is not in the tree changes nothing.
func (t Tree) SetFocus(id ID) Tree {
	if !t.Has(id) || t.Focus() == id {
		return t
	}
	t.Recent = slices.DeleteFunc(slices.Clone(t.Recent), func(r ID) bool { return r == id })
	t.Recent = slices.Insert(t.Recent, 0, id)
	t.Zoomed = false
	return t
}

// FocusLast gives the focus back to the pane that had it before.
func (t Tree) FocusLast() Tree {
	if t.Len() < 2 {
		return t
	}
	return t.SetFocus(t.Recent[1])
}

// FocusNext gives the focus to the next pane in order; the first one follows
// the last.
func (t Tree) FocusNext() Tree { return t.SetFocus(t.Next(t.Focus(), 1)) }

// FocusPrev gives the focus to the pane before in order.
func (t Tree) FocusPrev() Tree { return t.SetFocus(t.Next(t.Focus(), -1)) }

// Next returns the pane that stands step places behind a pane in the circle of
// all panes, 0 when the pane is not in the tree.
func (t Tree) Next(id ID, step int) ID {
	panes := t.Panes()
	at := slices.Index(panes, id)
	if at < 0 {
		return 0
	}
	n := len(panes)
	return panes[((at+step)%n+n)%n]
}

// FocusDir gives the focus to the neighbour in a direction, to the one used last
// where there are several. At the edge it goes on from the other side, as
// in tmux. Hidden panes are neighbours too, so that every pane can be reached.
func (t Tree) FocusDir(dir Dir, area Size) Tree {
	axis := dir.axis()
	if axis == "" || t.Len() < 2 {
		return t
	}
	places := t.outlines(area)
	from := places[t.Focus()]
	_, end := Rect{W: t.roomy(area).W, H: t.roomy(area).H}.along(axis)
	gap := 0
	if axis == Columns {
		gap = 1
	}
	start, length := from.along(axis)
	for _, id := range t.Recent[1:] {
		if at, n := places[id].along(axis); beside(from, places[id], axis) &&
			(dir.forward() && at == start+length+gap || !dir.forward() && at+n+gap == start) {
			return t.SetFocus(id)
		}
	}
	for _, id := range t.Recent[1:] {
		if at, n := places[id].along(axis); beside(from, places[id], axis) &&
			(dir.forward() && start+length == end && at == 0 || !dir.forward() && start == 0 && at+n == end) {
			return t.SetFocus(id)
		}
	}
	return t
}

// beside reports whether two rectangles share a row (Columns) or column (Rows).
func beside(a, b Rect, axis Axis) bool {
	at, an := a.across(axis)
	bt, bn := b.across(axis)
	return at < bt+bn && bt < at+an
}

// roomy is the area, or the smallest larger one on which every pane fits.
func (t Tree) roomy(area Size) Size {
	least := t.Root.least(nil)
	return Size{max(area.W, smallW, least.W), max(area.H, smallH, least.H)}
}

// outlines returns every pane's header and body as one rectangle, on roomy.
func (t Tree) outlines(area Size) map[ID]Rect {
	t.Zoomed = false
	out := map[ID]Rect{}
	for _, p := range t.Rects(t.roomy(area)) {
		out[p.ID] = Rect{p.Header.X, p.Header.Y, p.Body.W, p.Header.H + p.Body.H}
	}
	return out
}
