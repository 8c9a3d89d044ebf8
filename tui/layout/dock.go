package layout

// A Side is the edge of the window at which the dock lies.
type Side string

// The sides, as they stand in a saved layout. "" is SideRight.
const (
	SideRight  Side = "right"
	SideBottom Side = "bottom"
)

// The least width and height of the dock's body. With what the panes keep, a
// dock at the right needs 61 columns, one at the bottom 14 rows.
const (
	minDockW = 20
	minDockH = 4
)

// dockShare is the part of the window that a dock takes which nobody resized: a
// third.
const dockShare = 3

// A Dock is where the panels live. The zero value is closed, at the right and
// of the usual size. It can be saved as JSON.
type Dock struct {
	Side Side `json:"side,omitempty"`
	Open bool `json:"open,omitempty"`
	// Size is the width or height of the body in cells that the user chose, 0
	// for a third of the window. A small window shows less and keeps it.
	Size int `json:"size,omitempty"`
}

// A Docked is an area divided between the panes and the dock. Main, Line, Header
// and Body tile it. All but Main are empty when there is no dock.
type Docked struct {
	Main   Rect
	Line   Rect // the column between the two; none at the bottom
	Header Rect // one row with the panels' names; at the bottom also the border
	Body   Rect
}

// Shown reports whether the dock has a place.
func (d Docked) Shown() bool { return !d.Body.Empty() }

// Border returns the cells by which the dock is dragged.
func (d Docked) Border() Rect {
	if d.Line.Empty() {
		return d.Header
	}
	return d.Line
}

// axis is the axis along which the dock is resized.
func (d Dock) axis() Axis {
	if d.Side == SideBottom {
		return Rows
	}
	return Columns
}

// limits returns what the panes keep at the least and the least size of the
// dock's body, on its axis.
func (d Dock) limits() (panes, dock int) {
	if d.Side == SideBottom {
		return smallH, minDockH
	}
	return smallW, minDockW
}

// Fits returns nil when an open dock has a place on the area, else a NoRoomError.
func (d Dock) Fits(area Size) error {
	panes, dock := d.limits()
	need := panes + 1 + dock
	if have := area.along(d.axis()); have < need {
		return &NoRoomError{"the space for panes and dock", d.axis(), have, need}
	}
	if d.axis() == Columns && area.H < smallH {
		return &NoRoomError{"the space for panes and dock", Rows, area.H, smallH}
	}
	if d.axis() == Rows && area.W < smallW {
		return &NoRoomError{"the space for panes and dock", Columns, area.W, smallW}
	}
	return nil
}

// Place divides the area. A dock that is closed or does not fit leaves all of it
// to the panes. It never makes the panes' part so small that only one is drawn.
func (d Dock) Place(area Size) Docked {
	whole := Rect{0, 0, max(area.W, 0), max(area.H, 0)}
	if !d.Open || d.Fits(area) != nil {
		return Docked{Main: whole}
	}
	total := area.along(d.axis())
	panes, least := d.limits()
	size := d.Size
	if size <= 0 {
		size = total / dockShare
	}
	size = min(max(size, least), total-1-panes)
	at := total - size
	body := whole.cut(d.axis(), at, total)
	line := whole.cut(d.axis(), at-1, at)
	out := Docked{Main: whole.cut(d.axis(), 0, at-1)}
	if d.axis() == Rows {
		out.Header, out.Body = line, body
		return out
	}
	out.Line = line
	out.Header, out.Body = body.cut(Rows, 0, 1), body.cut(Rows, 1, body.H)
	return out
}

// Resize moves the dock's border by some cells in the direction, as far as it
// goes, and reports whether it moved.
func (d Dock) Resize(dir Dir, cells int, area Size) (Dock, bool) {
	p := d.Place(area)
	if !p.Shown() || dir.axis() != d.axis() {
		return d, false
	}
	at, _ := p.Border().along(d.axis())
	if !dir.forward() {
		cells = -cells
	}
	return d.moveTo(at+cells, area)
}

// MoveBorder moves the dock's border to column x or row y, or as near as it goes.
func (d Dock) MoveBorder(x, y int, area Size) (Dock, bool) {
	if d.axis() == Rows {
		return d.moveTo(y, area)
	}
	return d.moveTo(x, area)
}

func (d Dock) moveTo(at int, area Size) (Dock, bool) {
	before := d.Place(area)
	if !before.Shown() {
		return d, false
	}
	panes, least := d.limits()
	total := area.along(d.axis())
	moved := d
	moved.Size = min(max(total-1-at, least), total-1-panes)
	if moved.Place(area) == before {
		return d, false // the size of a larger window is kept
	}
	return moved, true
}
