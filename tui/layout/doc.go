// Package layout says which pane lies where: a tree of splits, and the rows and
// columns it makes of an area.
//
//	Tree                          Rects(80×23)
//
//	columns                       ─ 1 ──────────┬─ 2 ──────────  header of 1, header of 2
//	├── 1                         body of 1     │ body of 2
//	└── rows                                    │
//	    ├── 2                                   ├─ 3 ──────────  header of 3, the border above it
//	    └── 3                                   │ body of 3
//
// Rules:
//   - It is pure: it knows no Bubble Tea, no pane and no terminal. A Tree is a
//     value; every operation returns another one and leaves its own as it was.
//   - The headers, bodies and columns of a layout tile the area exactly.
//   - One pane has no header and no border. Of two or more, each has a header
//     row, which is also the border above it, and there is one column between
//     neighbours.
//   - The focus exists and is visible as long as there is a pane. No pane
//     lies below 2×1: a split that does not fit is refused, and panes for which
//     a smaller window has no room are hidden and come back with the room.
//   - Sizes are kept as shares, and rows and columns are made from them each
//     time, so a window that shrinks and grows again looks as it did.
package layout
