package layout

import (
	"errors"
	"math"
	"slices"
	"testing"
)

func ids(placed []Placed) []ID {
	var out []ID
	for _, p := range placed {
		out = append(out, p.ID)
	}
	return out
}

func TestASplitWithoutRoomIsRefusedWithTheSizesThatMatter(t *testing.T) {
	ok := must(t)
	narrow := New(1)
	for id := ID(2); ; id++ {
		next, err := narrow.Split(1, Right, id, small)
		if err != nil {
			break
		}
		narrow = next
	}
	for _, test := range []struct {
		name string
		tree Tree
		id   ID
		dir  Dir
		area Size
		want string
	}{
		{"too narrow", narrow, 1, Right, small, "no room: 5 columns are needed, pane 1 has 4"},
		{"too low", ok(ok(New(1).Split(1, Down, 2, small)).Split(2, Down, 3, small)), 3, Down, small, "no room: 4 rows are needed, pane 3 has 2"},
		{"small window", New(1), 1, Right, Size{39, 20}, "no room: 40 columns are needed, the space for panes has 39"},
		{"low window", New(1), 1, Right, Size{80, 8}, "no room: 9 rows are needed, the space for panes has 8"},
		{"no such pane", New(1), 7, Right, small, ErrNoPane.Error()},
	} {
		tree, err := test.tree.Split(test.id, test.dir, 99, test.area)
		if err == nil || err.Error() != test.want {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
		if tree.Has(99) || test.tree.CanSplit(test.id, test.dir, test.area) == nil {
			t.Errorf("%s: refused and done", test.name)
		}
	}
	if _, err := New(1).Split(1, Right, 1, small); !errors.Is(err, ErrPaneExists) {
		t.Errorf("the same pane twice: %v", err)
	}
	if _, err := New(1).Split(1, Left, 2, small); err == nil {
		t.Error("a split to the left was taken")
	}
	if _, ok := errors.AsType[*NoRoomError](narrow.CanSplit(1, Right, small)); !ok {
		t.Error("the refusal is no NoRoomError")
	}
}

func TestPanesWithoutRoomAreHiddenAndComeBack(t *testing.T) {
	large := Size{200, 59}
	tree := New(1)
	for id := ID(2); id <= 20; id++ {
		tree = must(t)(tree.Insert(id, large))
	}
	tree = must(t)(tree.Arrange(EvenColumns, large)).SetFocus(4).SetFocus(17)
	before := tree.Rects(large)
	got := ids(tree.Rects(small))
	if len(got) != 13 || !slices.Contains(got, 17) || !slices.Contains(got, 4) {
		t.Errorf("visible on 40 columns: %v, want 13 of 3 columns each with 4 and 17", got)
	}
	if again := ids(tree.SetFocus(4).Rects(small)); !slices.Equal(again, got) {
		t.Errorf("focusing a visible pane changed what is visible: %v, then %v", got, again)
	}
	hidden := tree.Hidden(small)[0]
	if !slices.Contains(ids(tree.SetFocus(hidden).Rects(small)), hidden) {
		t.Error("a hidden pane stays hidden when it gets the focus")
	}
	if after := tree.Rects(large); !slices.Equal(after, before) {
		t.Errorf("after growing again: %v, want %v", after, before)
	}
}

func TestFocusGoesToTheNeighbourUsedLastAndAroundTheEdge(t *testing.T) {
	ok := must(t)
	// 1 │ 2
	//   │ 3
	tree := ok(ok(New(1).Split(1, Right, 2, small)).Split(2, Down, 3, small))
	for _, test := range []struct {
		name string
		from []ID // focused one after the other
		dir  Dir
		want ID
	}{
		{"used last below", []ID{3, 1}, Right, 3},
		{"used last above", []ID{2, 1}, Right, 2},
		{"down", []ID{2}, Down, 3},
		{"left from below", []ID{3}, Left, 1},
		{"around the right edge", []ID{3}, Right, 1},
		{"around the left edge", []ID{2, 1}, Left, 2},
		{"around the bottom", []ID{3}, Down, 2},
		{"nothing above", []ID{1}, Up, 1},
	} {
		at := tree
		for _, id := range test.from {
			at = at.SetFocus(id)
		}
		if got := at.FocusDir(test.dir, small).Focus(); got != test.want {
			t.Errorf("%s: focus %d, want %d", test.name, got, test.want)
		}
		if got := at.FocusDir(test.dir, Size{20, 5}).Focus(); got != test.want {
			t.Errorf("%s, only one drawn: focus %d, want %d", test.name, got, test.want)
		}
	}
	if last := tree.SetFocus(1).SetFocus(3).FocusLast(); last.Focus() != 1 || last.FocusLast().Focus() != 3 {
		t.Error("the last focus is not the one before")
	}
}

func TestClosingGivesRoomToTheNeighbourAndFocusToThePaneUsedLast(t *testing.T) {
	ok := must(t)
	tree := ok(ok(New(1).Split(1, Right, 2, small)).Split(2, Right, 3, small))
	tree = tree.SetFocus(1).SetFocus(3)
	closed := ok(tree.Close(3))
	if closed.Focus() != 1 {
		t.Errorf("focus %d, want 1", closed.Focus())
	}
	if got, want := closed.Rects(small), ok(New(1).Split(1, Right, 2, small)).Rects(small); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if zoomed := ok(tree.Zoom().Close(1)); !zoomed.Zoomed || zoomed.Focus() != 3 {
		t.Error("closing another pane ended the zoom")
	}
	if shown := ok(tree.Zoom().Close(3)); shown.Zoomed {
		t.Error("closing the zoomed pane did not end the zoom")
	}
	if single := ok(ok(tree.Close(2)).Zoom().Close(1)); single.Zoomed || single.Check() != nil {
		t.Error("a single pane is zoomed")
	}
	if empty := ok(New(1).Close(1)); empty.Len() != 0 || empty.Focus() != 0 || empty.Rects(small) != nil || empty.Check() != nil {
		t.Errorf("without a pane: %+v", empty)
	}
	if moved := ok((Tree{}).Insert(5, small)); moved.Focus() != 5 {
		t.Error("an empty tree takes no pane")
	}
	if _, err := tree.Close(9); !errors.Is(err, ErrNoPane) {
		t.Errorf("a pane that is not here: %v", err)
	}
}

func TestResizeMovesTheBorderBehindThePaneOrTheOneBeforeTheLast(t *testing.T) {
	ok := must(t)
	// 1 │ 2 over 3 │ 4
	tree := ok(New(1).Split(1, Right, 2, Size{80, 23}))
	tree = ok(ok(tree.Split(2, Right, 4, Size{80, 23})).Split(2, Down, 3, Size{80, 23}))
	width := func(t Tree, id ID) int {
		for _, p := range t.Rects(Size{80, 23}) {
			if p.ID == id {
				return p.Body.W
			}
		}
		return 0
	}
	for _, test := range []struct {
		id         ID
		dir        Dir
		w1, w2, w4 int // what each gains
	}{
		{1, Right, 5, -5, 0},
		{1, Left, -5, 5, 0},
		{2, Right, 0, 5, -5},
		{3, Left, 0, -5, 5},
		{4, Right, 0, 5, -5}, // the last: the border before it
		{4, Left, 0, -5, 5},
	} {
		got, moved := tree.Resize(test.id, test.dir, 5, Size{80, 23})
		gain := func(id ID) int { return width(got, id) - width(tree, id) }
		if !moved || gain(1) != test.w1 || gain(2) != test.w2 || gain(4) != test.w4 {
			t.Errorf("pane %d %v: 1 %+d, 2 %+d, 4 %+d", test.id, test.dir, gain(1), gain(2), gain(4))
		}
	}
	if _, moved := tree.Resize(1, Down, 1, Size{80, 23}); moved {
		t.Error("pane 1 has no border below")
	}
	if got, moved := tree.Resize(2, Right, 500, Size{80, 23}); !moved || width(got, 4) != minBodyW {
		t.Errorf("pushed to the end: pane 4 has %d columns", width(got, 4))
	}
}

func TestAnEdgeThatWasPushedDoesNotJumpWhenThePushEnds(t *testing.T) {
	ok := must(t)
	large := Size{200, 59}
	tree := New(1)
	for id := ID(2); id <= 4; id++ {
		tree = ok(tree.Insert(id, large))
	}
	tree = ok(tree.Arrange(EvenColumns, large))
	// Squeeze 2 to the least, so that on fewer columns it pushes 3.
	panes := tree.Panes()
	tree, _ = tree.Resize(panes[1], Left, 500, large)
	squeezed := tree.Rects(small)
	moved, _ := tree.Resize(panes[0], Left, 4, small)
	after := moved.Rects(small)
	if squeezed[1].Body.W != minBodyW || after[1].Body.W != minBodyW+4 {
		t.Fatalf("pane 2 had %d columns and has %d", squeezed[1].Body.W, after[1].Body.W)
	}
	if after[2] != squeezed[2] || after[3] != squeezed[3] {
		t.Errorf("the panes behind moved: %v, then %v", squeezed, after)
	}
}

func TestSwapExchangesPlacesAndKeepsTheFocusOnItsPane(t *testing.T) {
	ok := must(t)
	tree := ok(ok(New(1).Split(1, Right, 2, small)).Split(2, Down, 3, small))
	swapped := ok(tree.Zoom().Swap(1, 3))
	if got := swapped.Panes(); !slices.Equal(got, []ID{3, 2, 1}) || swapped.Focus() != 3 || swapped.Zoomed {
		t.Errorf("%v, focus %d, zoomed %v", got, swapped.Focus(), swapped.Zoomed)
	}
	if _, err := tree.Swap(1, 9); !errors.Is(err, ErrNoPane) {
		t.Errorf("with no such pane: %v", err)
	}
}

func TestCyclingGoesThroughTheArrangementsThatFitAndBack(t *testing.T) {
	ok := must(t)
	area := Size{80, 23}
	tree := ok(ok(New(1).Split(1, Right, 2, area)).Split(2, Down, 3, area))
	var seen []Preset
	for range presets {
		tree = tree.Cycle(1, area)
		seen = append(seen, tree.Preset)
	}
	if !slices.Equal(seen, presets) {
		t.Errorf("%v, want %v", seen, presets)
	}
	if back := tree.Cycle(-1, area); back.Preset != MainLeft {
		t.Errorf("back from the last: %v", back.Preset)
	}
	many := New(1)
	for id := ID(2); id <= 6; id++ {
		many = ok(many.Insert(id, area))
	}
	many.Preset = EvenColumns
	if next := many.Cycle(1, small); next.Preset != MainTop {
		t.Errorf("six panes below each other on nine rows: went to %v", next.Preset)
	}
	if _, err := many.Arrange(EvenRows, small); !errors.Is(err, ErrNoRoom) {
		t.Errorf("six rows on nine: %v", err)
	}
	if _, err := many.Arrange("spiral", area); err == nil {
		t.Error("an arrangement that does not exist was made")
	}
}

func TestCheckNamesTheBrokenRule(t *testing.T) {
	pane := func(id ID) Node { return leaf(id, 1) }
	split := func(a Axis, parts ...Node) Node { return Node{Weight: 1, Axis: a, Parts: parts} }
	for _, test := range []struct {
		tree Tree
		want string
	}{
		{Tree{}, ""},
		{Tree{Root: split(Rows, pane(1), pane(2)), Recent: []ID{2, 1}}, ""},
		{Tree{Recent: []ID{1}}, "a tree without panes is empty"},
		{Tree{Root: split(Rows, pane(1), pane(1)), Recent: []ID{1, 1}}, "every pane stands in the tree once"},
		{Tree{Root: split(Rows, pane(1), pane(2)), Recent: []ID{1}}, "recent has every pane of the tree once"},
		{Tree{Root: split(Rows, pane(1), pane(2)), Recent: []ID{1, 3}}, "recent has every pane of the tree once"},
		{Tree{Root: pane(1), Recent: []ID{1}, Zoomed: true}, "a single pane is not zoomed"},
		{Tree{Root: pane(1), Recent: []ID{1}, Preset: "spiral"}, `there is no arrangement "spiral"`},
		{Tree{Root: pane(-1), Recent: []ID{-1}}, "a pane has a positive number"},
		{Tree{Root: leaf(1, math.NaN()), Recent: []ID{1}}, "a weight is a positive number"},
		{Tree{Root: leaf(1, math.Inf(1)), Recent: []ID{1}}, "a weight is a positive number"},
		{Tree{Root: leaf(1, 0), Recent: []ID{1}}, "a weight is a positive number"},
		{Tree{Root: Node{Pane: 1, Weight: 1, Axis: Rows}, Recent: []ID{1}}, "a pane has no parts"},
		{Tree{Root: split("", pane(1), pane(2)), Recent: []ID{1, 2}}, `a split has columns or rows, not ""`},
		{Tree{Root: split(Rows, pane(1)), Recent: []ID{1}}, "a split has at least two parts"},
		{Tree{Root: split(Rows, pane(1), split(Rows, pane(2), pane(3))), Recent: []ID{1, 2, 3}}, "a split lies across the one it is in"},
	} {
		err := test.tree.Check()
		if invalid, ok := errors.AsType[*InvalidError](err); test.want == "" && err != nil || test.want != "" && (!ok || invalid.Rule != test.want) {
			t.Errorf("%+v: %v, want %q", test.tree, err, test.want)
		}
	}
}

func TestASavedLayoutTakesTheNumbersOfNewPanes(t *testing.T) {
	ok := must(t)
	tree := ok(ok(New(1).Split(1, Right, 2, small)).Split(2, Down, 3, small)).SetFocus(2)
	got, err := tree.Renumber(map[ID]ID{1: 2, 2: 9, 3: 1})
	if err != nil || !slices.Equal(got.Panes(), []ID{2, 9, 1}) || got.Focus() != 9 {
		t.Errorf("%v, focus %d, %v", got.Panes(), got.Focus(), err)
	}
	got, err = tree.Renumber(map[ID]ID{1: 5, 3: 6})
	if err != nil || !slices.Equal(got.Panes(), []ID{5, 6}) || got.Focus() != 6 {
		t.Errorf("one did not start: %v, focus %d, %v", got.Panes(), got.Focus(), err)
	}
	if _, err := tree.Renumber(map[ID]ID{1: 5, 2: 5, 3: 6}); err == nil {
		t.Error("two panes got one number")
	}
}

func TestACellBelongsToItsPaneOrBorder(t *testing.T) {
	ok := must(t)
	tree := ok(ok(New(1).Split(1, Down, 2, small)).Split(2, Right, 3, small))
	column, row := tree.Borders(small)[0], tree.Borders(small)[1]
	if row.Axis != Rows || column.Axis != Columns {
		t.Fatalf("%v %v", row, column)
	}
	for _, test := range []struct {
		x, y   int
		pane   ID
		border Axis
	}{
		{3, 0, 1, ""},
		{3, 2, 1, ""},
		{3, row.Rect.Y, 2, Rows},
		{39, row.Rect.Y, 3, Rows},
		{column.Rect.X, row.Rect.Y, 0, Columns},
		{column.Rect.X, 8, 0, Columns},
		{39, 8, 3, ""},
		{40, 8, 0, ""},
		{-1, 0, 0, ""},
	} {
		b, found := tree.BorderAt(test.x, test.y, small)
		if pane := tree.PaneAt(test.x, test.y, small); pane != test.pane || b.Axis != test.border || found != (test.border != "") {
			t.Errorf("%d,%d: pane %d, border %q, want %d, %q", test.x, test.y, pane, b.Axis, test.pane, test.border)
		}
	}
}
