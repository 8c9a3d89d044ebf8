package layout

import (
	"encoding/json"
	"errors"
	"testing"

	"pgregory.net/rapid"
)

var drawDock = rapid.Custom(func(t *rapid.T) Dock {
	return Dock{
		Side: rapid.SampledFrom([]Side{"", SideRight, SideBottom}).Draw(t, "side"),
		Open: rapid.IntRange(0, 4).Draw(t, "open") > 0,
		Size: rapid.IntRange(0, 150).Draw(t, "size"),
	}
})

func TestTheDockAndThePanesTileTheAreaAndThePanesKeepTheirLeast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dock, area := drawDock.Draw(t, "dock"), drawArea.Draw(t, "area")
		d := dock.Place(area)
		for y := range area.H {
			for x := range area.W {
				n := 0
				for _, r := range []Rect{d.Main, d.Line, d.Header, d.Body} {
					if r.Contains(x, y) {
						n++
					}
				}
				if n != 1 {
					t.Fatalf("cell %d,%d belongs to %d parts of %+v", x, y, n, d)
				}
			}
		}
		switch {
		case d.Shown() != (dock.Open && dock.Fits(area) == nil):
			t.Fatalf("shown %v, open %v, fits %v", d.Shown(), dock.Open, dock.Fits(area))
		case !d.Shown():
			return
		case d.Main.W < smallW || d.Main.H < smallH || d.Header.H != 1 || d.Border().Empty():
			t.Fatalf("%+v", d)
		case d.Body.W < minDockW || d.Body.H < minDockH:
			t.Fatalf("the dock's body is %v", d.Body)
		}
	})
}

func TestTheDocksBorderGoesWhereItIsDragged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dock, area := drawDock.Draw(t, "dock"), drawArea.Draw(t, "area")
		before := dock.Place(area)
		x, y := rapid.IntRange(-3, area.W+3).Draw(t, "x"), rapid.IntRange(-3, area.H+3).Draw(t, "y")
		moved, ok := dock.MoveBorder(x, y, area)
		after := moved.Place(area)
		if ok != (after != before) || !ok && moved != dock {
			t.Fatalf("said %v: %+v, then %+v", ok, before, after)
		}
		if !after.Shown() {
			return
		}
		to := x
		if dock.axis() == Rows {
			to = y
		}
		panes, least := dock.limits()
		to = max(min(to, area.along(dock.axis())-1-least), panes)
		if at, _ := after.Border().along(dock.axis()); at != to {
			t.Fatalf("border at %d, want %d", at, to)
		}
	})
}

func TestTheDockIsAThirdUntilItIsResizedAndKeepsItsSizeInASmallerWindow(t *testing.T) {
	dock := Dock{Open: true}
	if w := dock.Place(Size{120, 39}).Body.W; w != 40 {
		t.Errorf("a third of 120 is %d", w)
	}
	wide, ok := dock.Resize(Left, 10, Size{120, 39})
	if w := wide.Place(Size{120, 39}).Body.W; !ok || w != 50 {
		t.Errorf("ten wider is %d", w)
	}
	if w := wide.Place(Size{80, 23}).Body.W; w != 39 {
		t.Errorf("in 80 columns it has %d, want what 40 for the panes leave", w)
	}
	if same, ok := wide.MoveBorder(0, 0, Size{80, 23}); ok || same != wide {
		t.Errorf("a border that cannot move changed the size to %d", same.Size)
	}
	if w := wide.Place(Size{120, 39}).Body.W; w != 50 {
		t.Errorf("back in 120 columns it has %d", w)
	}
	if _, ok := wide.Resize(Up, 1, Size{120, 39}); ok {
		t.Error("a dock at the right moved up")
	}
	bottom := Dock{Side: SideBottom, Open: true}
	if lower, ok := bottom.Resize(Down, 2, Size{80, 24}); !ok || lower.Size != 6 {
		t.Errorf("two rows lower: %+v", lower)
	}
}

func TestADockWithoutRoomSaysWhatItNeeds(t *testing.T) {
	for _, test := range []struct {
		dock Dock
		area Size
		want string
	}{
		{Dock{}, Size{60, 23}, "no room: 61 columns are needed, the space for panes and dock has 60"},
		{Dock{}, Size{80, 8}, "no room: 9 rows are needed, the space for panes and dock has 8"},
		{Dock{Side: SideBottom}, Size{80, 13}, "no room: 14 rows are needed, the space for panes and dock has 13"},
		{Dock{Side: SideBottom}, Size{39, 30}, "no room: 40 columns are needed, the space for panes and dock has 39"},
	} {
		if err := test.dock.Fits(test.area); !errors.Is(err, ErrNoRoom) || err.Error() != test.want {
			t.Errorf("%v on %v: %v, want %s", test.dock, test.area, err, test.want)
		}
	}
}

func TestADockIsRememberedAsJSON(t *testing.T) {
	dock := Dock{Side: SideBottom, Open: true, Size: 12}
	b, err := json.Marshal(dock)
	if err != nil {
		t.Fatal(err)
	}
	var back Dock
	if err := json.Unmarshal(b, &back); err != nil || back != dock {
		t.Errorf("%s came back as %+v, %v", b, back, err)
	}
}
