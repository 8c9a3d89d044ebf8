package layout

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got\n%s", name, got)
	}
}

var small = Size{40, 9} // the smallest area with more than one pane

func TestLayoutsLookAsDrawn(t *testing.T) {
	ok := must(t)
	three := ok(ok(New(1).Split(1, Right, 2, small)).Split(2, Down, 3, small))
	five := ok(ok(three.Split(1, Down, 4, small)).Split(2, Right, 5, small))
	var out strings.Builder
	show := func(name string, tree Tree, area Size) {
		fmt.Fprintf(&out, "%s, %d×%d\n%s\n", name, area.W, area.H, draw(tree, area))
	}
	show("one pane", New(1), small)
	show("right, then down", three, small)
	show("five", five, small)
	show("five", five, Size{80, 23})
	show("five, too small", five, Size{39, 9})
	show("five, zoomed", five.Zoom(), small)
	for _, p := range presets {
		tree, err := five.Arrange(p, small)
		if err != nil {
			fmt.Fprintf(&out, "%s: %v\n\n", p, err)
			continue
		}
		show(string(p), tree, small)
	}
	show("main", ok(five.SetFocus(3).Main(Size{40, 11})), Size{40, 11})
	uneven := ok(ok(ok(New(1).Split(1, Right, 2, small)).Split(2, Right, 3, small)).Split(1, Down, 4, small))
	show("uneven", uneven, small)
	show("made equal", uneven.Equal(), small)
	golden(t, "layouts.screen", out.String())
}

func TestADockJoinsTheLinesOfThePanes(t *testing.T) {
	ok := must(t)
	tree := ok(ok(New(1).Split(1, Down, 2, Size{80, 23})).Split(2, Right, 3, Size{80, 23}))
	var out strings.Builder
	for _, dock := range []Dock{{Open: true}, {Open: true, Size: 34}, {Side: SideBottom, Open: true}} {
		area := Size{80, 23}
		d := dock.Place(area)
		main := Size{d.Main.W, d.Main.H}
		headers, columns := tree.Lines(main)
		headers = append(headers, d.Header)
		if !d.Line.Empty() {
			columns = append(columns, d.Line)
		}
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
		fmt.Fprintf(&out, "%+v\n", dock)
		for y := range grid {
			fmt.Fprintln(&out, string(grid[y]))
		}
	}
	golden(t, "docks.screen", out.String())
}
