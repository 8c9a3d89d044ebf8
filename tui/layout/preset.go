package layout

import "slices"

// A Preset is an arrangement of all panes of a tree.
type Preset string

// The arrangements, in the order in which Cycle goes through them.
const (
	EvenColumns Preset = "even-columns" // all beside each other
	EvenRows    Preset = "even-rows"    // all below each other
	MainTop     Preset = "main-top"     // a large one above, the others beside each other
	MainLeft    Preset = "main-left"    // a large one at the left, the others below each other
	Tiled       Preset = "tiled"        // as near to a square grid as their number allows
)

var presets = []Preset{EvenColumns, EvenRows, MainTop, MainLeft, Tiled}

// The main pane of MainTop and MainLeft is half as large again as the rest.
const (
	mainWeight = 3
	restWeight = 2
)

// Arrange lays all panes out anew in their order. It returns the tree as it was
// and a NoRoomError when a pane that fits now would be hidden then. A zoom ends.
func (t Tree) Arrange(p Preset, area Size) (Tree, error) {
	return t.arrange(p, t.Panes(), area)
}

// Main makes the focused pane the large one at the left and the others, in
// their order, a stack at the right. It is refused like Arrange.
func (t Tree) Main(area Size) (Tree, error) {
	panes := []ID{t.Focus()}
	for _, id := range t.Panes() {
		if id != t.Focus() {
			panes = append(panes, id)
		}
	}
	return t.arrange(MainLeft, panes, area)
}

func (t Tree) arrange(p Preset, panes []ID, area Size) (Tree, error) {
	if !slices.Contains(presets, p) {
		return t, &InvalidError{"there is no arrangement " + string(p)}
	}
	out := t.clone()
	out.Zoomed, out.Preset = false, p
	if t.Len() < 2 {
		return out, nil
	}
	out.Root = arrange(p, panes)
	now, then := t.Root.least(nil), out.Root.least(nil)
	switch {
	case now.W > area.W || now.H > area.H: // some are hidden now
	case then.W > area.W:
		return t, &NoRoomError{"the space for panes", Columns, area.W, then.W}
	case then.H > area.H:
		return t, &NoRoomError{"the space for panes", Rows, area.H, then.H}
	}
	return out, nil
}

// Cycle goes to the next arrangement that fits, or to the one before with a
// negative step. Where none fits, the tree stays as it was.
func (t Tree) Cycle(step int, area Size) Tree {
	n := len(presets)
	at := slices.Index(presets, t.Preset)
	if at < 0 && step < 0 {
		at = 0
	}
	for range n {
		at = ((at+step)%n + n) % n
		if out, err := t.Arrange(presets[at], area); err == nil {
			return out
		}
	}
	return t
}

// arrange builds the tree of two or more panes.
func arrange(p Preset, panes []ID) Node {
	switch p {
	case EvenRows:
		return line(Rows, panes, 1)
	case MainTop:
		return mainAnd(Rows, panes)
	case MainLeft:
		return mainAnd(Columns, panes)
	case Tiled:
		return grid(panes)
	}
	return line(Columns, panes, 1)
}

// line puts panes in one row or column of equal parts.
func line(a Axis, panes []ID, weight float64) Node {
	if len(panes) == 1 {
		return leaf(panes[0], weight)
	}
	n := Node{Axis: a, Weight: weight}
	for _, id := range panes {
		n.Parts = append(n.Parts, leaf(id, 1))
	}
	return n
}

// mainAnd puts the first pane before all others along the axis.
func mainAnd(a Axis, panes []ID) Node {
	if len(panes) == 2 {
		return Node{Axis: a, Weight: 1, Parts: []Node{leaf(panes[0], mainWeight), leaf(panes[1], restWeight)}}
	}
	across := Rows
	if a == Rows {
		across = Columns
	}
	return Node{Axis: a, Weight: 1, Parts: []Node{leaf(panes[0], mainWeight), line(across, panes[1:], restWeight)}}
}

// grid puts panes in rows of equal length; the last row has what is left.
func grid(panes []ID) Node {
	rows, columns := 1, 1
	for rows*columns < len(panes) {
		if rows++; rows*columns < len(panes) {
			columns++
		}
	}
	if columns == 1 {
		return line(Rows, panes, 1)
	}
	n := Node{Axis: Rows, Weight: 1}
	for row := range slices.Chunk(panes, columns) {
		n.Parts = append(n.Parts, line(Columns, row, 1))
	}
	if len(n.Parts) == 1 {
		return n.Parts[0]
	}
	return n
}

// Equal keeps the splits and gives each pane the same width or height as its
// neighbours, as far as the splits allow. A zoom ends.
func (t Tree) Equal() Tree {
	t = t.clone()
	t.Zoomed = false
	if t.Len() > 0 {
		t.Root.equal()
	}
	return t
}

func (n *Node) equal() {
	for i := range n.Parts {
		n.Parts[i].Weight = float64(n.Parts[i].span(n.Axis))
		n.Parts[i].equal()
	}
}

// span returns how many panes stand in line on the axis, at the most.
func (n *Node) span(a Axis) int {
	if n.Pane != 0 {
		return 1
	}
	out := 0
	for i := range n.Parts {
		s := n.Parts[i].span(a)
		if n.Axis == a {
			out += s
		} else {
			out = max(out, s)
		}
	}
	return out
}
