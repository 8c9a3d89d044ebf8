package layout

import (
	"fmt"
	"math"
	"slices"
)

// An ID names a pane. 0 is no pane.
type ID int

// A Tree is the layout of one tab. The zero value has no pane. It can be saved
// as JSON; Check tells whether one that was read holds together. Its fields are
// for saving: they are read, never changed in place.
type Tree struct {
	Root Node `json:"root"`
	// Recent has every pane once, the one used last in front: it has the focus.
	Recent []ID `json:"recent"`
	// Zoomed says that the focused pane has the whole area for itself.
	Zoomed bool `json:"zoomed,omitempty"`
	// Preset is the arrangement that was made last; Cycle goes on from there.
	Preset Preset `json:"preset,omitempty"`
}

// A Node is a pane, or a split into two or more parts.
type Node struct {
	Pane ID `json:"pane,omitempty"` // 0 in a split
	// Weight is the node's share of its split, in proportion to the other parts.
	Weight float64 `json:"weight"`
	Axis   Axis    `json:"axis,omitempty"` // "" in a pane
	Parts  []Node  `json:"parts,omitempty"`
}

// leaf makes the node of a pane.
func leaf(id ID, weight float64) Node { return Node{Pane: id, Weight: weight} }

// New returns the tree of one pane, which has the focus.
func New(id ID) Tree {
	if id == 0 {
		return Tree{}
	}
	return Tree{Root: leaf(id, 1), Recent: []ID{id}}
}

// Focus returns the pane that has the focus, 0 when there is no pane.
func (t Tree) Focus() ID {
	if len(t.Recent) == 0 {
		return 0
	}
	return t.Recent[0]
}

// Len returns how many panes there are.
func (t Tree) Len() int { return len(t.Recent) }

// Has reports whether the pane is in the tree.
func (t Tree) Has(id ID) bool { return slices.Contains(t.Recent, id) }

// Panes returns the panes in their order: from the left, from the top.
func (t Tree) Panes() []ID { return t.Root.appendPanes(nil) }

func (n *Node) appendPanes(to []ID) []ID {
	if n.Pane != 0 {
		return append(to, n.Pane)
	}
	for i := range n.Parts {
		to = n.Parts[i].appendPanes(to)
	}
	return to
}

// clone returns a tree that shares nothing with this one.
func (t Tree) clone() Tree {
	t.Root = t.Root.clone()
	t.Recent = slices.Clone(t.Recent)
	return t
}

func (n Node) clone() Node {
	n.Parts = slices.Clone(n.Parts)
	for i := range n.Parts {
		n.Parts[i] = n.Parts[i].clone()
	}
	return n
}

// has reports whether the pane is in the node.
func (n *Node) has(id ID) bool {
	if n.Pane != 0 {
		return n.Pane == id
	}
	return slices.ContainsFunc(n.Parts, func(p Node) bool { return p.has(id) })
}

// find returns the node of a pane and the split it is a part of, nil for the
// root. The pane must be in the node.
func (n *Node) find(id ID) (pane, split *Node) {
	pane = n
	for pane.Pane != id {
		split = pane
		pane = &split.Parts[split.part(id)]
	}
	return pane, split
}

// part returns which part of a split has the pane, -1 when none has.
func (n *Node) part(id ID) int {
	return slices.IndexFunc(n.Parts, func(p Node) bool { return p.has(id) })
}

// maxShare bounds how many times a part may outweigh another one of its split,
// far beyond what a screen can show, so that arithmetic with weights that come
// from a file stays exact enough.
const maxShare = 1e9

// Check returns an InvalidError for the first rule that the tree breaks, nil
// for a tree that holds together. The operations keep every rule.
func (t Tree) Check() error {
	panes := t.Panes()
	if len(panes) == 0 {
		if len(t.Recent) > 0 || t.Zoomed || t.Root.Axis != "" || len(t.Root.Parts) > 0 {
			return &InvalidError{"a tree without panes is empty"}
		}
		return nil
	}
	sorted, recent := slices.Sorted(slices.Values(panes)), slices.Sorted(slices.Values(t.Recent))
	if len(slices.Compact(slices.Clone(sorted))) != len(sorted) {
		return &InvalidError{"every pane stands in the tree once"}
	}
	if !slices.Equal(sorted, recent) {
		return &InvalidError{"recent has every pane of the tree once"}
	}
	if t.Zoomed && len(panes) < 2 {
		return &InvalidError{"a single pane is not zoomed"}
	}
	if t.Preset != "" && !slices.Contains(presets, t.Preset) {
		return &InvalidError{fmt.Sprintf("there is no arrangement %q", t.Preset)}
	}
	return t.Root.check("")
}

// check checks a node whose split has the axis outer.
func (n *Node) check(outer Axis) error {
	switch {
	case n.Pane < 0:
		return &InvalidError{"a pane has a positive number"}
	case math.IsNaN(n.Weight) || n.Weight < 1/maxShare || n.Weight > maxShare:
		return &InvalidError{"a weight is a positive number"}
	case n.Pane != 0 && (n.Axis != "" || n.Parts != nil):
		return &InvalidError{"a pane has no parts"}
	case n.Pane != 0:
		return nil
	case n.Axis != Columns && n.Axis != Rows:
		return &InvalidError{fmt.Sprintf("a split has columns or rows, not %q", n.Axis)}
	case n.Axis == outer:
		return &InvalidError{"a split lies across the one it is in"}
	case len(n.Parts) < 2:
		return &InvalidError{"a split has at least two parts"}
	}
	for i := range n.Parts {
		if err := n.Parts[i].check(n.Axis); err != nil {
			return err
		}
	}
	return nil
}

// Renumber returns the tree with other numbers for its panes, as when a saved
// layout gets new panes. A pane for which to has no number is closed.
func (t Tree) Renumber(to map[ID]ID) (Tree, error) {
	for _, id := range t.Panes() {
		if to[id] == 0 {
			t, _ = t.Close(id)
		}
	}
	t = t.clone()
	for i, id := range t.Recent {
		t.Recent[i] = to[id]
	}
	t.Root.renumber(to)
	return t, t.Check()
}

func (n *Node) renumber(to map[ID]ID) {
	if n.Pane != 0 {
		n.Pane = to[n.Pane]
	}
	for i := range n.Parts {
		n.Parts[i].renumber(to)
	}
}
