package vt

import (
	"fmt"
	"testing"
)

func TestEveryByteHasARule(t *testing.T) {
	for s := range numStates {
		for b := range 256 {
			if !table[s][b].set {
				t.Errorf("state %v has no rule for byte %#02x", s, b)
			}
		}
	}
}

func TestOverlappingRulesPanic(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("newTable accepted two rules for one byte")
		}
	}()
	newTable([]rule{{ground, 'a', 'c', actPrint, ground}, {ground, 'c', 'd', actIgnore, ground}})
}

func TestEveryStateCanBeLeft(t *testing.T) {
	for s := range numStates {
		if got := table[s][0x18].next; got != ground {
			t.Errorf("CAN in state %v leads to %v", s, got)
		}
	}
}

func TestRunsOfASCIIAgreeWithTheTable(t *testing.T) {
	const at = Cell(7) << cellStyleShift
	for where := range 20 {
		for b := range 256 {
			p := []byte("abcdefghijklmnopqrstuvwxyz")
			p[where] = byte(b)
			want := len(p)
			if b < 0x20 || b > 0x7E {
				want = where
			}
			if got := printableRun(p); got != want {
				t.Fatalf("byte %#02x at %d: run of %d, want %d", b, where, got, want)
			}
			for _, room := range []int{3, 17, 26, 40} {
				row := make([]Cell, room+1)
				n := putASCII(row[:room], p, at)
				if n != min(want, room) || row[n] != 0 {
					t.Fatalf("byte %#02x at %d, room for %d: %d written, then %x", b, where, room, n, row[n])
				}
				for i, c := range row[:n] {
					if c != Cell(p[i])|at {
						t.Fatalf("byte %#02x at %d: cell %d is %x", b, where, i, c)
					}
				}
			}
		}
	}
}

// snapshot is everything a program or a person could tell a screen by.
func snapshot(t *Terminal) string {
	s := fmt.Sprintf("%+v %+v %q %q %q\n", t.Cursor(), t.Modes(), t.Title(), t.Icon(), t.Cwd())
	line := func(cells []Cell, wrapped bool, m Mark) {
		s += fmt.Sprintf("%v %+v ", wrapped, m)
		for _, c := range cells {
			if c == 0 {
				s += "_"
				continue
			}
			st := t.StyleOf(c.Style())
			st.Link = 0
			s += fmt.Sprintf("[%s %x %+v %s]", t.AppendText(nil, c), uint32(c)&^uint32(cellRuneMask|cellCluster), st, t.LinkOf(t.StyleOf(c.Style()).Link))
		}
		s += "\n"
	}
	for i := range t.HistoryLen() {
		line(t.HistoryLine(i, nil), t.HistoryWrapped(i), t.HistoryMark(i))
	}
	s += "--\n"
	for r := range t.rows {
		line(t.Line(r), t.LineWrapped(r), t.LineMark(r))
	}
	return s
}
