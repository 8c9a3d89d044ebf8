package layout

// A Border is what lies between two parts of a split and can be dragged.
type Border struct {
	// Rect is one column between neighbours, or one row: the headers of the
	// panes below, with the column that may begin between them.
	Rect Rect
	Axis Axis // Columns: it moves left and right; Rows: up and down
	// Before and After are panes on either side; together they name the border
	// also after it moved.
	Before, After ID
}

// Borders returns the borders between the visible panes. Those with Axis Columns
// are cells of their own; those with Axis Rows are made of header rows.
func (t Tree) Borders(area Size) []Border { return t.plan(area).borders }

// BorderAt returns the border at a cell. Where a column begins in a header
// row, the cell is the column's.
func (t Tree) BorderAt(x, y int, area Size) (Border, bool) {
	var found Border
	for _, b := range t.Borders(area) {
		if b.Rect.Contains(x, y) && (found.Axis == "" || b.Axis == Columns) {
			found = b
		}
	}
	return found, found.Axis != ""
}

// PaneAt returns the visible pane with its header or body at a cell, 0 for none.
func (t Tree) PaneAt(x, y int, area Size) ID {
	for _, p := range t.Rects(area) {
		if p.Header.Contains(x, y) || p.Body.Contains(x, y) {
			return p.ID
		}
	}
	return 0
}

// MoveBorder moves a border to column x or row y, or as near as the panes beside
// it allow. Only the two parts that it divides change. It reports whether
// anything moved; a border that is no longer there does not.
func (t Tree) MoveBorder(b Border, x, y int, area Size) (Tree, bool) {
	to := x
	if b.Axis == Rows {
		to = y
	}
	return t.moveBorder(b, to, area)
}

// DragBorder moves the border at cell x0, y0 to x1, y1. A drag of many steps
// keeps the Border of its first cell and uses MoveBorder, because the pointer
// leaves a border that cannot follow.
func (t Tree) DragBorder(x0, y0, x1, y1 int, area Size) (Tree, bool) {
	b, ok := t.BorderAt(x0, y0, area)
	if !ok {
		return t, false
	}
	return t.MoveBorder(b, x1, y1, area)
}

// Resize moves a border of the pane by some cells in the direction: the border
// behind it on that axis, or the one before it where it is the last. So a
// direction moves the same border both ways, as in tmux. A zoom ends. It
// reports whether a border moved.
func (t Tree) Resize(id ID, dir Dir, cells int, area Size) (Tree, bool) {
	unzoomed := t
	unzoomed.Zoomed = false
	p := unzoomed.plan(area)
	if dir.axis() == "" || !t.Has(id) || len(p.borders) == 0 || p.visible != nil && !p.visible[id] {
		return t, false
	}
	b, ok := t.Root.borderOf(id, dir.axis(), p.visible)
	if !ok {
		return t, false
	}
	if !dir.forward() {
		cells = -cells
	}
	for _, at := range p.borders {
		if at.Before == b.Before && at.After == b.After {
			from, _ := at.Rect.along(b.Axis)
			out, moved := unzoomed.moveBorder(b, from+cells, area)
			if moved {
				return out, true
			}
		}
	}
	return t, false
}

// borderOf returns the border that Resize moves: one of the innermost split on
// the axis that has the pane and another visible part.
func (n *Node) borderOf(id ID, axis Axis, visible map[ID]bool) (Border, bool) {
	at := n.part(id)
	if at < 0 {
		return Border{}, false
	}
	if b, ok := n.Parts[at].borderOf(id, axis, visible); ok {
		return b, true
	}
	if n.Axis != axis {
		return Border{}, false
	}
	b := Border{Axis: axis, Before: n.Parts[at].last(visible), After: n.Parts[at].first(visible)}
	for i := at + 1; i < len(n.Parts); i++ {
		if after := n.Parts[i].first(visible); after != 0 {
			b.After = after
			return b, true
		}
	}
	for i := at - 1; i >= 0; i-- {
		if before := n.Parts[i].last(visible); before != 0 {
			b.Before = before
			return b, true
		}
	}
	return Border{}, false
}

// moveBorder moves a border to a column or row of the area.
func (t Tree) moveBorder(b Border, to int, area Size) (Tree, bool) {
	p := t.plan(area)
	if len(p.borders) == 0 || !t.Has(b.Before) || !t.Has(b.After) {
		return t, false
	}
	out := t.clone()
	n, r := &out.Root, Rect{0, 0, area.W, area.H}
	for n.Pane == 0 {
		length := Size{r.W, r.H}.along(n.Axis)
		s := n.slots(length, p.visible)
		next := -1
		for i, part := range s.parts {
			before, after := i > 0 && s.parts[i-1].has(b.Before), part.has(b.After)
			if before && after {
				start, _ := r.along(n.Axis)
				return out, n.Axis == b.Axis && s.move(i, to-start+s.gap)
			}
			if after && part.has(b.Before) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		n, r = s.parts[next], r.cut(n.Axis, s.edges[next], s.edges[next+1]-s.gap)
	}
	return t, false
}
