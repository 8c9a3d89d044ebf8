package layout

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// draw shows a layout the way the window draws it: headers with the pane's
// number, the focused one with a star, columns and where they join.
func draw(t Tree, area Size) string {
	headers, columns := t.Lines(area)
	grid := make([][]rune, area.H)
	for y := range grid {
		grid[y] = []rune(strings.Repeat(".", area.W))
	}
	for _, h := range headers {
		for x := range h.W {
			grid[h.Y][h.X+x] = '─'
		}
	}
	for _, c := range columns {
		for y := range c.H {
			grid[c.Y+y][c.X] = '│'
		}
	}
	for _, j := range Joints(headers, columns) {
		grid[j.Y][j.X] = joints[j.Arms]
	}
	for _, p := range t.Rects(area) {
		name := fmt.Sprint(p.ID)
		if p.ID == t.Focus() {
			name += "*"
		}
		at := p.Header
		if at.Empty() {
			at = p.Body
		}
		for i, r := range name {
			if i+1 < at.W {
				grid[at.Y][at.X+1+i] = r
			}
		}
	}
	lines := make([]string, area.H)
	for y := range grid {
		lines[y] = string(grid[y])
	}
	return strings.Join(lines, "\n") + "\n"
}

var joints = map[Arms]rune{
	ArmLeft | ArmRight | ArmDown:         '┬',
	ArmLeft | ArmRight | ArmUp:           '┴',
	ArmLeft | ArmUp | ArmDown:            '┤',
	ArmRight | ArmUp | ArmDown:           '├',
	ArmLeft | ArmRight | ArmUp | ArmDown: '┼',
	ArmRight | ArmDown:                   '┌',
	ArmLeft | ArmDown:                    '┐',
}

// must is for operations that a test knows to fit.
func must(t *testing.T) func(Tree, error) Tree {
	return func(out Tree, err error) Tree {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
}

// problem returns the first rule of the package that the layout breaks here.
func problem(t Tree, area Size) error {
	if err := t.Check(); err != nil {
		return err
	}
	if t.Len() == 0 {
		return nil
	}
	placed := t.Rects(area)
	cells := make([]int, area.W*area.H)
	paint := func(r Rect) error {
		if r.X < 0 || r.Y < 0 || r.W < 0 || r.H < 0 || r.X+r.W > area.W || r.Y+r.H > area.H {
			return fmt.Errorf("%v leaves the area", r)
		}
		for y := r.Y; y < r.Y+r.H; y++ {
			for x := r.X; x < r.X+r.W; x++ {
				cells[y*area.W+x]++
			}
		}
		return nil
	}
	focused := false
	for _, p := range placed {
		focused = focused || p.ID == t.Focus()
		if err := errors.Join(paint(p.Header), paint(p.Body), headerFits(p, len(placed))); err != nil {
			return fmt.Errorf("pane %d: %w", p.ID, err)
		}
		if area.W >= 2 && area.H >= 1 && (p.Body.W < 2 || p.Body.H < 1) {
			return fmt.Errorf("pane %d has a body of %v", p.ID, p.Body)
		}
	}
	headers, columns := t.Lines(area)
	for _, c := range columns {
		if err := paint(c); err != nil {
			return fmt.Errorf("column: %w", err)
		}
	}
	if at := slices.IndexFunc(cells, func(n int) bool { return n != 1 }); at >= 0 {
		return fmt.Errorf("cell %d,%d belongs to %d parts", at%area.W, at/area.W, cells[at])
	}
	for _, b := range t.Borders(area) {
		for x := b.Rect.X; b.Axis == Rows && x < b.Rect.X+b.Rect.W; x++ {
			if !contains(headers, x, b.Rect.Y) && !contains(columns, x, b.Rect.Y) {
				return fmt.Errorf("border %v is not made of lines", b)
			}
		}
	}
	switch {
	case !focused:
		return errors.New("the focus is not visible")
	case len(placed)+len(t.Hidden(area)) != t.Len():
		return errors.New("a pane is neither visible nor hidden")
	case t.Len() > 1 && !t.Zoomed && area.W >= smallW && area.H >= smallH && len(placed) < 2:
		return errors.New("two panes always fit here")
	}
	return nil
}

func headerFits(p Placed, panes int) error {
	switch {
	case panes == 1 && !p.Header.Empty():
		return errors.New("one pane has no header")
	case panes > 1 && (p.Header.H != 1 || p.Header.X != p.Body.X || p.Header.W != p.Body.W || p.Header.Y+1 != p.Body.Y):
		return fmt.Errorf("header %v does not lie on body %v", p.Header, p.Body)
	}
	return nil
}

var drawArea = rapid.Custom(func(t *rapid.T) Size {
	return rapid.OneOf(
		rapid.SampledFrom([]Size{{80, 23}, {40, 9}, {40, 11}, {120, 39}, {200, 59}, {39, 9}, {1, 1}, {0, 0}}),
		rapid.Custom(func(t *rapid.T) Size {
			return Size{rapid.IntRange(0, 120).Draw(t, "w"), rapid.IntRange(0, 50).Draw(t, "h")}
		}),
	).Draw(t, "area")
})

// step does one random operation, as a user would on this area.
func step(t *rapid.T, tree Tree, area Size) Tree {
	panes := tree.Panes()
	pane := func(name string) ID {
		if len(panes) == 0 {
			return 1
		}
		return rapid.SampledFrom(panes).Draw(t, name)
	}
	dir := func() Dir { return rapid.SampledFrom([]Dir{Left, Right, Up, Down}).Draw(t, "dir") }
	cells := func(name string) int { return rapid.IntRange(-5, 60).Draw(t, name) }
	added := ID(1)
	if len(panes) > 0 {
		added = slices.Max(panes) + 1
	}
	switch rapid.IntRange(0, 17).Draw(t, "operation") {
	case 0, 1, 2, 3, 4:
		tree, _ = tree.Split(pane("of"), rapid.SampledFrom([]Dir{Right, Down}).Draw(t, "to"), added, area)
	case 5, 6:
		if tree.Len() > 1 {
			tree, _ = tree.Close(pane("gone"))
		}
	case 7:
		tree, _ = tree.Insert(added, area)
	case 8:
		tree, _ = tree.Swap(pane("a"), pane("b"))
	case 9:
		tree = tree.SetFocus(pane("focus"))
	case 10:
		tree = tree.FocusDir(dir(), area)
	case 11:
		tree = rapid.SampledFrom([]func(Tree) Tree{Tree.FocusNext, Tree.FocusPrev, Tree.FocusLast, Tree.Zoom, Tree.Equal}).Draw(t, "f")(tree)
	case 12:
		tree, _ = tree.Arrange(rapid.SampledFrom(presets).Draw(t, "preset"), area)
	case 13:
		tree = tree.Cycle(rapid.SampledFrom([]int{1, -1}).Draw(t, "step"), area)
	case 14:
		tree, _ = tree.Main(area)
	case 15:
		tree, _ = tree.Resize(pane("sized"), dir(), cells("cells"), area)
	default:
		tree, _ = tree.DragBorder(cells("x0"), cells("y0"), cells("x1"), cells("y1"), area)
	}
	return tree
}

// grown draws a tree that some operations on some areas made.
func grown(t *rapid.T) Tree {
	tree := New(1)
	for range rapid.IntRange(0, 5).Draw(t, "areas") {
		area := drawArea.Draw(t, "area")
		for range rapid.IntRange(0, 8).Draw(t, "steps") {
			tree = step(t, tree, area)
		}
	}
	return tree
}

func TestEveryOperationKeepsEveryRuleOnEveryArea(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := New(1)
		for range rapid.IntRange(1, 5).Draw(t, "areas") {
			area := drawArea.Draw(t, "area")
			for range rapid.IntRange(0, 8).Draw(t, "steps") {
				before, saved := tree, toJSON(tree)
				tree = step(t, tree, area)
				if toJSON(before) != saved {
					t.Fatalf("an operation changed its own tree\n%s\n%s", saved, toJSON(before))
				}
				for _, a := range []Size{area, {80, 23}, {40, 9}, {20, 5}, {200, 59}} {
					if err := problem(tree, a); err != nil {
						t.Fatalf("%v on %v: %v\n%s", toJSON(tree), a, err, draw(tree, a))
					}
				}
			}
		}
	})
}

func toJSON(t Tree) string {
	b, err := json.Marshal(t)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func TestClosingASplitLeavesTheTreeAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree, area := grown(t), drawArea.Draw(t, "area")
		tree.Zoomed = false
		id := rapid.SampledFrom(tree.Panes()).Draw(t, "pane")
		split, err := tree.Split(id, rapid.SampledFrom([]Dir{Right, Down}).Draw(t, "dir"), 999, area)
		if err != nil {
			return
		}
		closed, err := split.Close(999)
		if err != nil || !reflect.DeepEqual(closed, tree) {
			t.Fatalf("%v\n%s\n%s", err, toJSON(tree), toJSON(closed))
		}
	})
}

func TestASplitMovesNoOtherPane(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree, area := grown(t), drawArea.Draw(t, "area")
		tree.Zoomed = false
		id := rapid.SampledFrom(tree.Panes()).Draw(t, "pane")
		split, err := tree.Split(id, rapid.SampledFrom([]Dir{Right, Down}).Draw(t, "dir"), 999, area)
		if err != nil {
			if !errors.Is(err, ErrNoRoom) {
				t.Fatal(err)
			}
			return
		}
		after := map[ID]Placed{}
		for _, p := range split.Rects(area) {
			after[p.ID] = p
		}
		for _, p := range tree.Rects(area) {
			if p.ID != id && p != after[p.ID] {
				t.Fatalf("pane %d moved\n%s\n%s", p.ID, draw(tree, area), draw(split, area))
			}
		}
		if _, ok := after[999]; !ok {
			t.Fatalf("the new pane is not visible\n%s", draw(split, area))
		}
		if _, ok := after[id]; !ok {
			t.Fatalf("the split pane is not visible\n%s", draw(split, area))
		}
	})
}

func TestABorderGoesWhereItIsDraggedAndMovesNoOtherBorderOfItsSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree, area := grown(t), drawArea.Draw(t, "area")
		borders := tree.Borders(area)
		if len(borders) == 0 {
			return
		}
		i := rapid.IntRange(0, len(borders)-1).Draw(t, "border")
		x, y := rapid.IntRange(0, area.W).Draw(t, "x"), rapid.IntRange(0, area.H).Draw(t, "y")
		moved, ok := tree.MoveBorder(borders[i], x, y, area)
		after := moved.Borders(area)
		if len(after) != len(borders) {
			t.Fatalf("borders came or went\n%s\n%s", draw(tree, area), draw(moved, area))
		}
		for j, b := range after {
			if a := borders[j]; b.Before != a.Before || b.After != a.After {
				t.Fatalf("border %v became %v", a, b)
			}
		}
		was, _ := borders[i].Rect.along(borders[i].Axis)
		is, _ := after[i].Rect.along(after[i].Axis)
		to := x
		if after[i].Axis == Rows {
			to = y
		}
		if ok != (was != is) || to > was && (is < was || is > to) || to < was && (is > was || is < to) {
			t.Fatalf("moved %v from %d to %d, wanted %d\n%s\n%s", ok, was, is, to, draw(tree, area), draw(moved, area))
		}
		// A pane in neither of the two parts stays where it is.
		now := map[ID]Placed{}
		for _, p := range moved.Rects(area) {
			now[p.ID] = p
		}
		for _, p := range tree.Rects(area) {
			if !touches(tree, borders[i], p.ID) && now[p.ID] != p {
				t.Fatalf("pane %d moved with border %v\n%s\n%s", p.ID, borders[i], draw(tree, area), draw(moved, area))
			}
		}
	})
}

// touches reports whether the pane is in one of the two parts beside a border.
func touches(t Tree, b Border, id ID) bool {
	n := &t.Root
	for n.part(b.Before) == n.part(b.After) {
		n = &n.Parts[n.part(b.Before)]
	}
	return n.Parts[n.part(b.Before)].has(id) || n.Parts[n.part(b.After)].has(id)
}

func TestResizeAndBackIsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree, area := grown(t), drawArea.Draw(t, "area")
		tree.Zoomed = false
		id := rapid.SampledFrom(tree.Panes()).Draw(t, "pane")
		dir := rapid.SampledFrom([]Dir{Left, Right, Up, Down}).Draw(t, "dir")
		back := map[Dir]Dir{Left: Right, Right: Left, Up: Down, Down: Up}[dir]
		moved, ok := tree.Resize(id, dir, 1, area)
		if !ok {
			return
		}
		again, ok := moved.Resize(id, back, 1, area)
		if !ok || !slices.Equal(again.Rects(area), tree.Rects(area)) {
			t.Fatalf("pane %d %v\n%s\n%s\n%s", id, dir, draw(tree, area), draw(moved, area), draw(again, area))
		}
		if sum, was := again.Root.sum(), tree.Root.sum(); sum < was-1e-6 || sum > was+1e-6 {
			t.Fatalf("the shares were %v together and are %v", was, sum)
		}
	})
}

func (n *Node) sum() float64 {
	s := n.Weight
	for i := range n.Parts {
		s += n.Parts[i].sum()
	}
	return s
}

func TestZoomTwiceIsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree, area := grown(t), drawArea.Draw(t, "area")
		if again := tree.Zoom().Zoom(); !reflect.DeepEqual(again, tree) {
			t.Fatalf("%s\n%s", toJSON(tree), toJSON(again))
		}
		tree.Zoomed = false
		zoomed := tree.Zoom().Rects(area)
		want := []Placed{{tree.Focus(), Rect{W: area.W}, Rect{W: area.W, H: area.H}}}
		if !slices.Equal(zoomed, want) {
			t.Fatalf("zoomed %v, want %v", zoomed, want)
		}
	})
}

func TestASavedLayoutComesBackTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree, area := grown(t), drawArea.Draw(t, "area")
		var back Tree
		if err := json.Unmarshal([]byte(toJSON(tree)), &back); err != nil || back.Check() != nil {
			t.Fatal(err, back.Check())
		}
		if !reflect.DeepEqual(back.Rects(area), tree.Rects(area)) || toJSON(back) != toJSON(tree) {
			t.Fatalf("%s\n%s", toJSON(tree), toJSON(back))
		}
	})
}

func TestFocusReachesEveryPaneByDirection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree, area := grown(t), drawArea.Draw(t, "area")
		seen := map[ID]bool{tree.Focus(): true}
		for todo := []ID{tree.Focus()}; len(todo) > 0; todo = todo[1:] {
			for _, dir := range []Dir{Left, Right, Up, Down} {
				for _, before := range tree.Panes() { // each may have been used last
					at := tree.SetFocus(before).SetFocus(todo[0]).FocusDir(dir, area).Focus()
					if !seen[at] {
						seen[at] = true
						todo = append(todo, at)
					}
				}
			}
		}
		if len(seen) != tree.Len() {
			t.Fatalf("reached %v of %v\n%s", seen, tree.Panes(), draw(tree, tree.roomy(area)))
		}
	})
}

func TestFocusNextGoesThroughAllPanes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := grown(t)
		seen := map[ID]bool{}
		there := tree
		for range tree.Len() {
			there = there.FocusNext()
			seen[there.Focus()] = true
		}
		if len(seen) != tree.Len() || there.Focus() != tree.Focus() || there.FocusPrev().FocusNext().Focus() != tree.Focus() {
			t.Fatalf("%v, back at %d from %d", seen, there.Focus(), tree.Focus())
		}
	})
}

func BenchmarkRects(b *testing.B) {
	area := Size{200, 59}
	tree := New(1)
	for id := ID(2); id <= 12; id++ {
		tree, _ = tree.Insert(id, area)
	}
	for b.Loop() {
		tree.Rects(area)
	}
}
