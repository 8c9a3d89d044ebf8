package layout

import (
	"cmp"
	"slices"
)

// Arms are the directions in which lines leave a cell.
type Arms uint8

// The arms of a Joint.
const (
	ArmLeft Arms = 1 << iota
	ArmRight
	ArmUp
	ArmDown
)

// A Joint is a cell in which a row and a column of the borders meet: ┬ has all
// arms but ArmUp.
type Joint struct {
	X, Y int
	Arms Arms
}

// Joints returns where header rows and border columns meet, from the top and
// then from the left. It takes the headers and columns of the panes and those of
// the dock together, so that their lines join.
func Joints(headers, columns []Rect) []Joint {
	row := func(x, y int) bool { return contains(headers, x, y) }
	column := func(x, y int) bool { return contains(columns, x, y) }
	var out []Joint
	for _, c := range columns {
		for y := c.Y; y < c.Y+c.H; y++ {
			j := Joint{X: c.X, Y: y}
			if row(c.X-1, y) {
				j.Arms |= ArmLeft
			}
			if row(c.X+1, y) {
				j.Arms |= ArmRight
			}
			if j.Arms == 0 {
				continue // the plain middle of a column
			}
			if column(c.X, y-1) {
				j.Arms |= ArmUp
			}
			if column(c.X, y+1) || y == c.Y+c.H-1 {
				j.Arms |= ArmDown
			}
			out = append(out, j)
		}
		if end := c.Y + c.H; row(c.X, end) {
			j := Joint{X: c.X, Y: end, Arms: ArmLeft | ArmRight | ArmUp}
			if !row(c.X-1, end) {
				j.Arms &^= ArmLeft
			}
			if !row(c.X+1, end) {
				j.Arms &^= ArmRight
			}
			out = append(out, j)
		}
	}
	slices.SortFunc(out, func(a, b Joint) int { return cmp.Or(a.Y-b.Y, a.X-b.X) })
	return out
}

func contains(rects []Rect, x, y int) bool {
	return slices.ContainsFunc(rects, func(r Rect) bool { return r.Contains(x, y) })
}

// Lines returns the header rows and border columns of the visible panes, as
// Joints takes them.
func (t Tree) Lines(area Size) (headers, columns []Rect) {
	p := t.plan(area)
	for _, pane := range p.panes {
		if !pane.Header.Empty() {
			headers = append(headers, pane.Header)
		}
	}
	for _, b := range p.borders {
		if b.Axis == Columns {
			columns = append(columns, b.Rect)
		}
	}
	return headers, columns
}
