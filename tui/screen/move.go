package screen

import "strconv"

// moveTo brings the terminal's cursor to a cell by the shortest way. Behind an
// ambiguous character only the next ambiguous one may follow without setting
// the position again: k is the class of what is written next.
func (s *Screen) moveTo(x, y int, k class) {
	if s.x == x && s.y == y && (!s.soft || k == ambiguous) {
		return
	}
	switch {
	case s.soft || s.y < 0:
		s.cup(x, y)
	case y == s.y && s.x >= 0:
		s.moveInRow(x)
	case x == 0 && y >= s.y && y-s.y <= 3:
		// A carriage return also ends a pending wrap. Line feeds above the last
		// row never scroll, with or without the terminal driver adding returns.
		s.buf = append(s.buf, '\r')
		for range y - s.y {
			s.buf = append(s.buf, '\n')
		}
	case x == s.x && y > s.y && y-s.y < 10:
		s.step(y-s.y, 'B')
	case x == s.x && y < s.y && s.y-y < 10:
		s.step(s.y-y, 'A')
	default:
		s.cup(x, y)
	}
	s.x, s.y, s.soft = x, y, false
}

// moveInRow moves to another column of a row whose column is known.
func (s *Screen) moveInRow(x int) {
	back := s.x - x
	switch {
	case x == 0:
		s.buf = append(s.buf, '\r')
	case back > 0 && back <= 3:
		for range back {
			s.buf = append(s.buf, '\b')
		}
	case back > 0:
		s.step(back, 'D')
	default:
		s.step(-back, 'C')
	}
}

// step appends a relative move.
func (s *Screen) step(n int, final byte) {
	s.buf = append(s.buf, "\x1b["...)
	if n > 1 {
		s.buf = strconv.AppendInt(s.buf, int64(n), 10)
	}
	s.buf = append(s.buf, final)
}

// cup appends CUP without the parameters that are 1.
func (s *Screen) cup(x, y int) {
	s.buf = append(s.buf, "\x1b["...)
	if y > 0 {
		s.buf = strconv.AppendInt(s.buf, int64(y+1), 10)
	}
	if x > 0 {
		s.buf = append(s.buf, ';')
		s.buf = strconv.AppendInt(s.buf, int64(x+1), 10)
	}
	s.buf = append(s.buf, 'H')
}
