package screen

import (
	"slices"

	"github.com/honestty/honestty/vt"
)

// A scroll is looked for only where it can pay: with fewer rows changed, or
// fewer of them found elsewhere, repainting is as short.
const (
	followRows  = 4
	followFound = 3
	followShare = 3 // a third of what changed: half a page up still pays
)

// Follow looks whether what changed in the rows [top, top+rows) of the frame
// being composed stood some rows higher or lower in the frame before, and hints
// a Scroll where most of it did. It costs nothing while few rows change.
func (s *Screen) Follow(top, rows int) {
	if top < 0 || rows < followRows || top+rows > s.rows || s.whole {
		return
	}
	first, last, changed := -1, -1, 0
	for y := top; y < top+rows; y++ {
		if !slices.Equal(s.row(y), s.frontRow(y)) {
			if first < 0 {
				first = y
			}
			last = y
			changed++
		}
	}
	if changed < followRows {
		return
	}
	height := last - first + 1
	was, is := make([]uint64, height), make([]uint64, height)
	for i := range height {
		was[i], is[i] = hashRow(s.frontRow(first+i)), hashRow(s.row(first+i))
	}
	best, found := 0, max(followFound-1, changed/followShare)
	for n := followFound - height; n <= height-followFound; n++ {
		if n == 0 {
			continue
		}
		if hits := moved(was, is, n); hits > found {
			best, found = n, hits
		}
	}
	if best != 0 {
		s.Scroll(first, height, best)
	}
}

func (s *Screen) frontRow(y int) []vt.Cell { return s.front[y*s.cols : (y+1)*s.cols] }

// moved counts the rows that changed and hold what stood n rows below before.
// Blank rows say nothing: they are alike everywhere.
func moved(was, is []uint64, n int) (hits int) {
	for i := max(0, -n); i < min(len(is), len(is)-n); i++ {
		if is[i] != 0 && is[i] != was[i] && is[i] == was[i+n] {
			hits++
		}
	}
	return hits
}

// hashRow is 0 for a blank row. Two rows with the same hash cost a hint that
// does not pay, nothing else (FNV-1a, by cells).
func hashRow(row []vt.Cell) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h, blank := uint64(offset), true
	for _, c := range row {
		blank = blank && c.Blank()
		h = (h ^ uint64(c)) * prime
	}
	if blank {
		return 0
	}
	return h
}
