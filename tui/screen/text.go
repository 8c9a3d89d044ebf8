package screen

import (
	"github.com/honestty/honestty/vt"
)

// SetText writes one line of text at a cell and returns the columns it took, at
// most maxW. A wide character that does not fit whole is left out. Control and
// bidirectional characters show in their visible form.
func (s *Screen) SetText(x, y, maxW int, text string, st vt.Style) (cols int) {
	if y < 0 || y >= s.rows {
		return 0
	}
	st.Link = 0
	id := s.styleID(st)
	limit := min(x+maxW, s.cols)
	at := x
	for len(text) > 0 && at < limit {
		piece, w, rest := next(text)
		if piece == "" {
			s.scratch = appendHidden(s.scratch[:0], firstHidden(text))
			for _, b := range s.scratch {
				if at < limit {
					s.put(at, y, vt.Cell(b), 1, id)
					at++
				}
			}
		} else {
			if at+w > limit {
				break
			}
			s.put(at, y, s.cellText(piece), w, id)
			at += w
		}
		text = rest
	}
	return max(at-x, 0)
}

// cellText packs the characters of one cell.
func (s *Screen) cellText(piece string) vt.Cell {
	n := 0
	var first rune
	for _, r := range piece {
		if n == 0 {
			first = r
		}
		n++
	}
	if n == 1 {
		return vt.Cell(first)
	}
	s.scratch = append(s.scratch[:0], piece...)
	return isCluster | vt.Cell(s.clusters.id(s.scratch))
}

// put writes one character of width w into the frame being composed. Cells left
// of the Screen are skipped; the caller keeps to the right edge.
func (s *Screen) put(x, y int, text vt.Cell, w int, id vt.StyleID) {
	if x < 0 || x+w > s.cols {
		return
	}
	row := s.row(y)
	s.mend(row, x, x+w)
	if text == ' ' {
		row[x] = s.blankOf(id)
		return
	}
	row[x] = text | vt.Cell(id)<<styleShift
	if w == 2 {
		row[x] |= isWide
		row[x+1] = isTail | vt.Cell(id)<<styleShift
	}
}
