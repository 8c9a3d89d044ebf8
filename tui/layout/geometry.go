package layout

// A Size is an area in cells.
type Size struct{ W, H int }

// A Rect is a part of an area. X and Y count from 0 at its top left.
type Rect struct{ X, Y, W, H int }

// Empty reports whether the rectangle has no cell.
func (r Rect) Empty() bool { return r.W <= 0 || r.H <= 0 }

// Contains reports whether the cell lies in the rectangle.
func (r Rect) Contains(x, y int) bool {
	return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H
}

// A Dir is one of the four directions on the screen.
type Dir uint8

// The zero value is no direction, and every operation refuses it.
const (
	NoDir Dir = iota
	Left
	Right
	Up
	Down
)

// String returns the word for the direction.
func (d Dir) String() string {
	switch d {
	case Left:
		return "left"
	case Right:
		return "right"
	case Up:
		return "up"
	case Down:
		return "down"
	}
	return "nowhere"
}

// axis is the axis along which the direction points.
func (d Dir) axis() Axis {
	switch d {
	case Left, Right:
		return Columns
	case Up, Down:
		return Rows
	}
	return ""
}

// forward reports whether coordinates grow in the direction.
func (d Dir) forward() bool { return d == Right || d == Down }

// An Axis says how the parts of a split lie: beside each other or below each
// other. "" is the axis of a single pane.
type Axis string

// The two axes, as they stand in a saved layout.
const (
	Columns Axis = "columns"
	Rows    Axis = "rows"
)

// along returns where the rectangle begins on the axis and how long it is.
func (r Rect) along(a Axis) (at, length int) {
	if a == Columns {
		return r.X, r.W
	}
	return r.Y, r.H
}

// across returns the same for the other axis.
func (r Rect) across(a Axis) (at, length int) {
	if a == Columns {
		return r.Y, r.H
	}
	return r.X, r.W
}

// cut returns the part of the rectangle that begins at from cells and ends
// before to cells on the axis.
func (r Rect) cut(a Axis, from, to int) Rect {
	if a == Columns {
		return Rect{r.X + from, r.Y, to - from, r.H}
	}
	return Rect{r.X, r.Y + from, r.W, to - from}
}

// along returns the length of the area on the axis.
func (s Size) along(a Axis) int {
	if a == Columns {
		return s.W
	}
	return s.H
}
