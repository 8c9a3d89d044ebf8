package layout

import "math"

// Below this area only the focused pane is drawn: a window of 40×10 less the
// row of its status bar.
const (
	smallW = 40
	smallH = 9
)

// The smallest body of a pane, in cells: one wide character has to fit.
const (
	minBodyW = 2
	minBodyH = 1
)

// A Placed is a visible pane and its place.
type Placed struct {
	ID     ID
	Header Rect // one row, or none where a pane is alone
	Body   Rect
}

// Rects returns the visible panes and their places, in the order of Panes. The
// headers and bodies and the columns of Borders tile the area. The focused pane
// is always among them; where the area itself is below 2×1 it has all of it.
func (t Tree) Rects(area Size) []Placed {
	return t.plan(area).panes
}

// Hidden returns the panes for which the area has no room. Those behind a zoom
// count too.
func (t Tree) Hidden(area Size) []ID {
	seen := map[ID]bool{}
	for _, p := range t.Rects(area) {
		seen[p.ID] = true
	}
	var out []ID
	for _, id := range t.Panes() {
		if !seen[id] {
			out = append(out, id)
		}
	}
	return out
}

// A plan is a tree laid out on an area.
type plan struct {
	panes   []Placed
	borders []Border
	visible map[ID]bool // nil: all
}

// plan lays the tree out.
func (t Tree) plan(area Size) plan {
	whole := Rect{0, 0, max(area.W, 0), max(area.H, 0)}
	var p plan
	switch {
	case t.Len() == 0:
	case t.Len() == 1 || t.Zoomed || area.W < smallW || area.H < smallH:
		p.panes = []Placed{{ID: t.Focus(), Header: Rect{W: whole.W}, Body: whole}}
	default:
		p.visible = t.visible(area)
		p.place(&t.Root, whole)
	}
	return p
}

// visible chooses the panes that fit on the area: the focused one, then those
// used last. It returns nil when all do.
func (t Tree) visible(area Size) map[ID]bool {
	fits := func(v map[ID]bool) bool {
		least := t.Root.least(v)
		return least.W <= area.W && least.H <= area.H
	}
	if fits(nil) {
		return nil
	}
	v := map[ID]bool{}
	for _, id := range t.Recent {
		v[id] = true
		if !fits(v) {
			delete(v, id)
		}
	}
	return v
}

// least returns the smallest area on which the visible panes of the node fit,
// with their headers. It is zero when none is visible.
func (n *Node) least(visible map[ID]bool) Size {
	if n.Pane != 0 {
		if n.seen(visible) == 0 {
			return Size{}
		}
		return Size{minBodyW, minBodyH + 1}
	}
	var s Size
	for i := range n.Parts {
		part := n.Parts[i].least(visible)
		switch {
		case part == Size{}:
		case n.Axis == Columns:
			if s.W > 0 {
				s.W++ // the column between the two
			}
			s.W += part.W
			s.H = max(s.H, part.H)
		default:
			s.H += part.H
			s.W = max(s.W, part.W)
		}
	}
	return s
}

// place lays a node with visible panes out on r.
func (p *plan) place(n *Node, r Rect) {
	if n.Pane != 0 {
		p.panes = append(p.panes, Placed{n.Pane, r.cut(Rows, 0, 1), r.cut(Rows, 1, r.H)})
		return
	}
	_, length := r.along(n.Axis)
	s := n.slots(length, p.visible)
	for i, part := range s.parts {
		p.place(part, r.cut(n.Axis, s.edges[i], s.edges[i+1]-s.gap))
		if i == 0 {
			continue
		}
		b := Border{Axis: n.Axis, Before: s.parts[i-1].last(p.visible), After: part.first(p.visible)}
		// The border is the column before the part, or its header row.
		b.Rect = r.cut(n.Axis, s.edges[i]-s.gap, s.edges[i]-s.gap+1)
		p.borders = append(p.borders, b)
	}
}

// first returns the first visible pane of a node, 0 when it has none.
func (n *Node) first(visible map[ID]bool) ID {
	if n.Pane != 0 {
		return n.seen(visible)
	}
	for i := range n.Parts {
		if id := n.Parts[i].first(visible); id != 0 {
			return id
		}
	}
	return 0
}

// last returns the last visible pane of a node, 0 when it has none.
func (n *Node) last(visible map[ID]bool) ID {
	if n.Pane != 0 {
		return n.seen(visible)
	}
	for i := len(n.Parts) - 1; i >= 0; i-- {
		if id := n.Parts[i].last(visible); id != 0 {
			return id
		}
	}
	return 0
}

// seen returns the pane of a node when it is visible, else 0.
func (n *Node) seen(visible map[ID]bool) ID {
	if visible != nil && !visible[n.Pane] {
		return 0
	}
	return n.Pane
}

// slots are the visible parts of a split on a given length. A part's slot is
// its cells and, in columns, the gap behind it: with the gap inside the slot, a
// part that is split again keeps both its edges, and so do all its neighbours.
type slots struct {
	gap    int       // 1 in columns, 0 in rows
	parts  []*Node   // visible ones
	weight float64   // of all of them
	exact  []float64 // where each slot begins, and where the last one ends, by weight alone
	edges  []int     // the same in cells, with the least sizes kept
	least  []int     // cells that each slot needs
}

// slots divides length cells, which must be enough for the least sizes.
func (n *Node) slots(length int, visible map[ID]bool) slots {
	s := slots{exact: []float64{0}, edges: []int{0}}
	if n.Axis == Columns {
		s.gap = 1
	}
	for i := range n.Parts {
		part := &n.Parts[i]
		if least := part.least(visible); least != (Size{}) {
			s.parts = append(s.parts, part)
			s.least = append(s.least, least.along(n.Axis)+s.gap)
			s.weight += part.Weight
		}
	}
	total := length + s.gap
	var sum float64
	for i, part := range s.parts {
		sum += part.Weight
		at := float64(total) * sum / s.weight
		s.exact = append(s.exact, at)
		s.edges = append(s.edges, max(round(at), s.edges[i]+s.least[i]))
	}
	last := len(s.parts)
	s.exact[last], s.edges[last] = float64(total), total
	for i := last - 1; i > 0; i-- {
		s.edges[i] = min(s.edges[i], s.edges[i+1]-s.least[i])
	}
	return s
}

// round rounds to the nearest cell. Halves go up, also those that arithmetic
// left a hair below.
func round(x float64) int { return int(math.Floor(x + 0.5 + 1e-9)) }

// move puts edge i of the slots at a cell and keeps all other edges. It clamps
// to what the two parts beside it need, and reports whether the edge moved.
func (s *slots) move(i, to int) bool {
	to = max(to, s.edges[i-1]+s.least[i-1])
	to = min(to, s.edges[i+1]-s.least[i])
	if to == s.edges[i] {
		return false
	}
	// Where least sizes push an edge, its share is not what is seen, and it would
	// jump when the push ends. What is seen then becomes the share.
	for j, at := range s.exact {
		if round(at) != s.edges[j] {
			s.exact[j] = float64(s.edges[j])
		}
	}
	s.exact[i] = float64(to)
	unit := s.weight / s.exact[len(s.parts)]
	for j, part := range s.parts {
		part.Weight = (s.exact[j+1] - s.exact[j]) * unit
	}
	return true
}
