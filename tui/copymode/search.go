package copymode

import (
	"slices"
	"sort"
)

// A match is one place that a pattern was found. end is the column after it on
// the line last; a match over soft wraps has last after from.
type match struct {
	from Pos
	last int64
	end  int
}

// contains reports whether a cell belongs to the match.
func (f match) contains(p Pos) bool {
	return !p.Before(f.from) && p.Before(Pos{f.last, f.end})
}

// Bounds of a search.
const (
	// maxFound is how many matches are kept and counted. Past it the count says
	// "+" and n goes on by looking instead of by the list.
	maxFound = 10_000
	// maxJoin is how many rows of one logical line are searched in one piece,
	// and overlap how far a match that begins in it may reach past it. A line
	// longer than that is searched piece by piece; a match of more than overlap
	// rows may then be cut short.
	maxJoin = 256
	overlap = 32
	// maxRegion is how many matches of a part are kept: one for each cell of a
	// large screen.
	maxRegion = 20_000
	// keySlice is how many rows a key searches at once, so that a match nearby
	// shows in the same frame. The rest is left to Step.
	keySlice = 4000
)

// A search is a pattern, what was found so far, and the place that is sought.
type search struct {
	pat      *pattern
	backward bool // the direction n goes: that of / or ?

	// found is every match in the part of the history that was searched, in
	// order. scanned is the first line that was not.
	found   []match
	scanned int64
	capped  bool
	none    bool // the last seek went all around and found nothing

	seek seek
	view []region // of each run of rows in sight
	tail region

	j joined
}

// A seek is a walk from a place to the next match in one direction, around the
// end of the buffer if need be.
type seek struct {
	active   bool
	backward bool
	wrapped  bool  // it went past the end once
	turned   bool  // it did so since the key was pressed
	left     int   // matches still to go, for a count
	origin   Pos   // the match sought lies after it, or before it
	next     int64 // line to go on with: going backward, the line after it
	hits     int
}

// set begins to look for a pattern; nil ends the search.
func (s *search) set(p *pattern, cut int64) {
	s.pat = p
	s.found, s.capped, s.none, s.scanned = nil, false, false, cut
	s.seek = seek{}
	s.view, s.tail = nil, region{}
}

// trim forgets matches that were cut from the history.
func (s *search) trim(cut int64) {
	n := sort.Search(len(s.found), func(i int) bool { return s.found[i].from.Line >= cut })
	s.found = s.found[n:]
	s.scanned = max(s.scanned, cut)
}

// A piece is the rows that are searched in one go: [from, to), and the rows
// [row, next) that a match may begin in.
type piece struct{ from, to, row, next int }

// pieceAt returns the piece that begins with row. When row continues a line, the
// row before is read too, so that ^ and \b see what stands there.
func pieceAt(b Buffer, row int) piece {
	p := piece{from: row, row: row}
	if b.Wrapped(row) {
		p.from--
	}
	p.to = lineEnd(b, row, maxJoin+overlap)
	p.next = p.to
	if p.to-row == maxJoin+overlap && joins(b, p.to-1) {
		p.next = row + maxJoin
	}
	return p
}

// pieceBefore returns the piece that ends before row.
func pieceBefore(b Buffer, row int) piece {
	p := piece{row: lineStart(b, row-1, maxJoin-1), next: row}
	p.from = p.row
	if b.Wrapped(p.row) {
		p.from--
	}
	p.to = min(lineEnd(b, row-1, overlap+1), b.Rows())
	return p
}

// in calls yield with the matches that begin in a piece, in order.
func (s *search) in(b Buffer, cut int64, p piece, yield func(match) bool) {
	s.j.load(b, p.from, p.to)
	s.pat.each(&s.j, func(from, to int) bool {
		row, col, _ := s.j.at(b, from)
		if row < p.row {
			return true
		}
		if row >= p.next {
			return false
		}
		last, _, end := s.j.at(b, to-1)
		return yield(match{Pos{cut + int64(row), col}, cut + int64(last), end})
	})
}

// scan searches the history for the list, at most budget rows, and returns how
// many rows it read. It stops before a line that may still change.
func (s *search) scan(b Buffer, cut int64, budget int) int {
	done := 0
	hist := b.History()
	for done < budget && s.pat != nil && !s.capped {
		row := int(s.scanned - cut)
		if row >= hist {
			break
		}
		p := pieceAt(b, row)
		if p.to > hist || p.to == hist && joins(b, p.to-1) {
			break
		}
		s.in(b, cut, p, func(f match) bool {
			if n := len(s.found); n > 0 && f.from.Before(Pos{s.found[n-1].last, s.found[n-1].end}) {
				return true
			}
			s.found = append(s.found, f)
			s.capped = len(s.found) >= maxFound
			return !s.capped
		})
		done += p.next - p.row
		s.scanned = cut + int64(p.next)
	}
	return done
}

// scannable reports whether the list is still growing.
func (s *search) scannable(b Buffer, cut int64) bool {
	if s.pat == nil || s.capped {
		return false
	}
	row, hist := int(s.scanned-cut), b.History()
	if row >= hist {
		return false
	}
	p := pieceAt(b, row)
	return p.to < hist || p.to == hist && !joins(b, p.to-1)
}

// A region is the matches in some rows and a sum of their text, so that they
// are searched anew only when something changed.
type region struct {
	valid    bool
	from, to int64
	sum      uint64
	list     []match
}

// in returns the matches that touch lines [from, to).
func (r *region) in(s *search, b Buffer, cut, from, to int64) []match {
	if s.pat == nil || from >= to {
		return nil
	}
	first := lineStart(b, int(from-cut), overlap)
	end := lineEnd(b, int(to-cut)-1, overlap)
	sum := uint64(first)
	for row := first; row < end; row++ {
		s.j.cells = b.Cells(row, s.j.cells[:0])
		sum = hashCells(sum, s.j.cells)
		if b.Wrapped(row) {
			sum++
		}
	}
	if r.valid && r.from == from && r.to == to && r.sum == sum {
		return r.list
	}
	*r = region{valid: true, from: from, to: to, sum: sum, list: r.list[:0]}
	for row := first; row < int(to-cut) && len(r.list) < maxRegion; {
		p := pieceAt(b, row)
		s.in(b, cut, p, func(f match) bool {
			if f.last >= from && f.from.Line < to {
				r.list = append(r.list, f)
			}
			return len(r.list) < maxRegion
		})
		row = p.next
	}
	return r.list
}

// seen returns the region of the n-th run of rows in sight.
func (s *search) seen(n int) *region {
	for len(s.view) <= n {
		s.view = append(s.view, region{})
	}
	return &s.view[n]
}

// all returns the matches found in the history and those behind it. whole says
// that there are no others.
func (s *search) all(b Buffer, cut int64) (found, tail []match, whole bool) {
	if s.capped || s.scannable(b, cut) {
		return s.found, nil, false
	}
	tail = s.tail.in(s, b, cut, s.scanned, cut+int64(b.Rows()))
	for len(tail) > 0 && tail[0].from.Line < s.scanned {
		tail = tail[1:]
	}
	return s.found, tail, len(tail) < maxRegion
}

// start begins to seek the n-th match from a place.
func (s *search) start(origin Pos, backward bool, n int) {
	s.none = false
	s.seek = seek{active: true, backward: backward, left: max(n, 1), origin: origin, next: origin.Line}
	if backward {
		s.seek.next++
	}
}

// step seeks, at most budget rows. It returns how many rows it read, and the
// match when it is found.
func (s *search) step(b Buffer, cut int64, budget int) (done int, hit match, ok bool) {
	if hit, ok = s.fromList(b, cut); ok {
		return 0, hit, true
	}
	for done < budget && s.seek.active {
		var p piece
		if p, ok = s.nextPiece(b, cut); !ok {
			s.seek.active, s.none = false, true
			return done, match{}, false
		}
		done += p.next - p.row
		if hit, ok = s.best(b, cut, p); !ok {
			continue
		}
		s.seek.hits++
		s.seek.left--
		if s.seek.left <= 0 || hit.from == s.seek.origin {
			s.seek.active = false
			return done, hit, true
		}
		turned := s.seek.turned
		hits, left, back := s.seek.hits, s.seek.left, s.seek.backward
		s.start(hit.from, back, left)
		s.seek.hits, s.seek.turned = hits, turned
	}
	return done, match{}, false
}

// nextPiece takes the next piece of the walk. ok is false when it is all around.
func (s *search) nextPiece(b Buffer, cut int64) (p piece, ok bool) {
	k := &s.seek
	row := max(int(k.next-cut), 0)
	if !k.backward {
		if row >= b.Rows() {
			if k.wrapped {
				return p, false
			}
			k.wrapped, k.turned, row = true, true, 0
		}
		if k.wrapped && cut+int64(row) > k.origin.Line {
			return p, false
		}
		// The first piece has to begin where its line does, as matches follow
		// one another from there.
		if !k.wrapped && k.next == k.origin.Line {
			row = lineStart(b, row, maxJoin-1)
		}
		p = pieceAt(b, row)
		k.next = cut + int64(p.next)
		return p, true
	}
	if row <= 0 {
		if k.wrapped {
			return p, false
		}
		k.wrapped, k.turned, row = true, true, b.Rows()
	}
	row = min(row, b.Rows())
	if k.wrapped && cut+int64(row) <= k.origin.Line {
		return p, false
	}
	p = pieceBefore(b, row)
	k.next = cut + int64(p.row)
	return p, true
}

// best returns the match of a piece that the walk comes to first.
func (s *search) best(b Buffer, cut int64, p piece) (hit match, ok bool) {
	k := &s.seek
	s.in(b, cut, p, func(f match) bool {
		after := k.origin.Before(f.from)
		before := f.from.Before(k.origin)
		if !k.backward {
			ok = after != k.wrapped
			hit = f
			return !ok
		}
		if before && !k.wrapped || !before && k.wrapped {
			hit, ok = f, true
		}
		return true
	})
	return hit, ok
}

// fromList finds the match in the list when the list is whole.
func (s *search) fromList(b Buffer, cut int64) (hit match, ok bool) {
	k := &s.seek
	if !k.active || s.pat == nil {
		return hit, false
	}
	found, tail, whole := s.all(b, cut)
	total := len(found) + len(tail)
	if !whole || total == 0 {
		return hit, false
	}
	n := countBefore(found, tail, k.origin)
	i := n + k.left - 1 // n is the first match after the origin's place
	if k.backward {
		i = n - k.left
		k.turned = k.turned || i < 0
	} else {
		if n < total && nth(found, tail, n).from == k.origin {
			i++
		}
		k.turned = k.turned || i >= total
	}
	k.active = false
	return nth(found, tail, ((i%total)+total)%total), true
}

func nth(found, tail []match, i int) match {
	if i < len(found) {
		return found[i]
	}
	return tail[i-len(found)]
}

// countBefore returns how many matches begin before p.
func countBefore(found, tail []match, p Pos) int {
	before := func(list []match) int {
		n, _ := slices.BinarySearchFunc(list, p, func(f match, p Pos) int {
			if f.from.Before(p) {
				return -1
			}
			return 1
		})
		return n
	}
	return before(found) + before(tail)
}
