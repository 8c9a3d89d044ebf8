package layout

import (
	"fmt"
	"slices"
)

// CanSplit returns nil when Split would find room on this area, else why not.
func (t Tree) CanSplit(id ID, dir Dir, area Size) error {
	if !t.Has(id) {
		return ErrNoPane
	}
	if area.W < smallW {
		return &NoRoomError{"the space for panes", Columns, area.W, smallW}
	}
	if area.H < smallH {
		return &NoRoomError{"the space for panes", Rows, area.H, smallH}
	}
	t.Zoomed = false // a split ends the zoom, so the room without it counts
	for _, p := range t.Rects(area) {
		if p.ID != id {
			continue
		}
		have, need := p.Body.W, 2*minBodyW+1
		if dir.axis() == Rows {
			have, need = p.Header.H+p.Body.H, 2*(minBodyH+1)
		}
		if have < need {
			return &NoRoomError{fmt.Sprintf("pane %d", id), dir.axis(), have, need}
		}
		return nil
	}
	return &NoRoomError{fmt.Sprintf("pane %d", id), dir.axis(), 0, minBodyW} // hidden
}

// Split puts another pane at the right of a pane or below it, into half of its
// room. The added pane gets the focus and a zoom ends. All other panes keep
// their place. It returns the tree as it was with ErrNoPane, ErrPaneExists or a
// NoRoomError.
func (t Tree) Split(id ID, dir Dir, added ID, area Size) (Tree, error) {
	if added <= 0 || !dir.forward() {
		return t, fmt.Errorf("split pane %d %v: a pane goes to the right or down", id, dir)
	}
	if t.Has(added) {
		return t, ErrPaneExists
	}
	if err := t.CanSplit(id, dir, area); err != nil {
		return t, err
	}
	t = t.clone()
	t.Zoomed = false
	t.Root.split(id, dir.axis(), added)
	t.Recent = slices.Insert(t.Recent, 0, added)
	return t, nil
}

func (n *Node) split(id ID, axis Axis, added ID) {
	pane, split := n.find(id)
	if split != nil && split.Axis == axis {
		pane.Weight /= 2
		split.Parts = slices.Insert(split.Parts, split.part(id)+1, leaf(added, pane.Weight))
		return
	}
	*pane = Node{Weight: pane.Weight, Axis: axis, Parts: []Node{leaf(id, 1), leaf(added, 1)}}
}

// Insert puts a pane that comes from elsewhere beside the focused one, or beside
// the largest one with room. It divides what the eye sees as the longer side
// where that has room, else the other, and gives the pane the focus. It returns
// the tree as it was and a NoRoomError when no visible pane has room.
func (t Tree) Insert(added ID, area Size) (Tree, error) {
	if t.Len() == 0 && added > 0 {
		return New(added), nil
	}
	unzoomed := t
	unzoomed.Zoomed = false
	places := unzoomed.Rects(area)
	slices.SortStableFunc(places, func(a, b Placed) int {
		switch t.Focus() {
		case a.ID:
			return -1
		case b.ID:
			return 1
		}
		return b.Body.W*b.Body.H - a.Body.W*a.Body.H
	})
	var first error
	for _, p := range places {
		dirs := []Dir{Right, Down}
		if p.Body.W < 2*p.Body.H { // a cell is about twice as high as it is wide
			slices.Reverse(dirs)
		}
		for _, dir := range dirs {
			out, err := t.Split(p.ID, dir, added, area)
			if err == nil {
				return out, nil
			}
			if first == nil {
				first = err
			}
		}
	}
	return t, first
}

// Close takes a pane out, because it is closed or moves to another tab. Its room
// goes to its neighbour before it, or behind it when it was the first, and the
// focus to the pane used last. Without its last pane the tree is the zero Tree.
func (t Tree) Close(id ID) (Tree, error) {
	if !t.Has(id) {
		return t, ErrNoPane
	}
	if t.Len() == 1 {
		return Tree{}, nil
	}
	focused := t.Focus() == id
	t = t.clone()
	t.Recent = slices.DeleteFunc(t.Recent, func(r ID) bool { return r == id })
	t.Zoomed = t.Zoomed && !focused && t.Len() > 1
	t.Root.remove(id)
	return t, nil
}

// remove takes a pane out of a split.
func (n *Node) remove(id ID) {
	at := n.part(id)
	part := &n.Parts[at]
	if part.Pane == 0 {
		part.remove(id)
		n.flatten(at)
		return
	}
	heir := max(at-1, 0)
	weight := part.Weight
	n.Parts = slices.Delete(n.Parts, at, at+1)
	n.Parts[heir].Weight += weight
	if len(n.Parts) == 1 {
		only := n.Parts[0]
		only.Weight = n.Weight
		*n = only
	}
}

// flatten joins part at into the split when both lie along the same axis.
func (n *Node) flatten(at int) {
	part := n.Parts[at]
	if part.Axis != n.Axis {
		return
	}
	var sum float64
	for _, p := range part.Parts {
		sum += p.Weight
	}
	for i := range part.Parts {
		part.Parts[i].Weight *= part.Weight / sum
	}
	n.Parts = slices.Replace(n.Parts, at, at+1, part.Parts...)
}

// Swap exchanges the places of two panes. The focus stays with its pane and a
// zoom ends, so that the change is seen.
func (t Tree) Swap(a, b ID) (Tree, error) {
	if !t.Has(a) || !t.Has(b) {
		return t, ErrNoPane
	}
	if a == b {
		return t, nil
	}
	t = t.clone()
	t.Zoomed = false
	pa, _ := t.Root.find(a)
	pb, _ := t.Root.find(b)
	pa.Pane, pb.Pane = b, a
	return t, nil
}

// Zoom gives the focused pane the whole area, or ends that. A single pane has
// it already.
func (t Tree) Zoom() Tree {
	t.Zoomed = !t.Zoomed && t.Len() > 1
	return t
}
