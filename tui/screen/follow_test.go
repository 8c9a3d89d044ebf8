package screen

import (
	"fmt"
	"testing"

	"github.com/honestty/honestty/vt"
)

// TestFollowFindsWhatMoved scrolls a screen with a fixed last row, as an editor
// does, and holds the frame against a terminal that reads it.
func TestFollowFindsWhatMoved(t *testing.T) {
	const cols, rows = 80, 24
	paint := func(s *Screen, from int) {
		s.Fill(0, 0, cols, rows, vt.Style{})
		for y := range rows - 1 {
			s.SetText(0, y, cols, fmt.Sprintf("line %d of a file that is long enough to matter", from+y), vt.Style{})
		}
		s.SetText(0, rows-1, cols, fmt.Sprintf("status %d", from), vt.Style{})
	}
	for _, n := range []int{1, -1, 5, -11} {
		s := New(cols, rows, Caps{UTF8: true, Depth: TrueColor})
		term := vt.New(cols, rows, vt.Options{})
		paint(s, 100)
		term.Write(s.Diff(nil))
		paint(s, 100+n)
		s.Follow(0, rows)
		frame := s.Diff(nil)
		term.Write(frame)
		if limit := 200 + 60*max(n, -n); len(frame) > limit {
			t.Errorf("moved by %d: %d bytes, more than %d", n, len(frame), limit)
		}
		for y := range rows {
			var got []byte
			for _, c := range term.Line(vt.Row(y)) {
				if c.Blank() {
					got = append(got, ' ')
				}
				got = term.AppendText(got, c)
			}
			var want []byte
			for x := range cols {
				want = s.appendText(want, s.back[y*cols+x])
			}
			if string(trimRight(got)) != string(trimRight(want)) {
				t.Errorf("moved by %d: row %d is %q, want %q", n, y, got, want)
			}
		}
	}
}

func trimRight(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	return b
}
