package vt

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// logicalText returns the lines of history and screen as they were before any
// wrapping, without trailing blanks and without blank lines at the end.
func logicalText(v *Terminal) []string {
	var lines []string
	row := func(cells []Cell, wraps bool) {
		var b []byte
		for _, c := range cells {
			if c&cellWidthMask == cellSpacer {
				continue
			}
			if c.Blank() {
				b = append(b, ' ')
			}
			b = v.AppendText(b, c)
		}
		if wraps && len(lines) > 0 {
			lines[len(lines)-1] += string(b)
		} else {
			lines = append(lines, string(b))
		}
	}
	for i := range v.HistoryLen() {
		cells := v.HistoryLine(i, nil)
		next := i+1 < v.HistoryLen() && v.HistoryWrapped(i+1) || i+1 == v.HistoryLen() && v.LineWrapped(0)
		for next && len(cells) < int(v.cols) {
			cells = append(cells, 0)
		}
		row(cells, v.HistoryWrapped(i))
	}
	for r := range v.rows {
		row(v.Line(r), v.LineWrapped(r))
	}
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func TestReflowLosesNoText(t *testing.T) {
	for seed := range uint64(80) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		v := New(2+rnd.IntN(30), 1+rnd.IntN(10), Options{Scrollback: 1 << 20})
		for i := range 1 + rnd.IntN(30) {
			v.Write(fmt.Appendf(nil, "\x1b[3%dm", i%8))
			for range rnd.IntN(12) {
				v.Write([]byte([]string{"word ", "世界", "e\u0301", "long-long-word", "🙂", " "}[rnd.IntN(6)]))
			}
			v.Write([]byte("\r\n"))
		}
		v.Write([]byte("end"))
		want := strings.Join(logicalText(v), "\n")
		for range 20 {
			v.Resize(2+rnd.IntN(40), 1+rnd.IntN(12))
			if err := v.Check(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if got := strings.Join(logicalText(v), "\n"); got != want {
				t.Fatalf("seed %d at %d×%d: the text is\n%s\nnot\n%s", seed, v.cols, v.rows, got, want)
			}
			if at := spacerInside(v); at != "" {
				t.Fatalf("seed %d at %d×%d: an empty cell is left inside %q", seed, v.cols, v.rows, at)
			}
			row := strings.TrimRight(rowText(v, v.Line(v.row)), " ")
			if c := v.Cursor(); !strings.HasSuffix("\n"+want, row) || !c.PendingWrap && c.Col == 0 && row != "" {
				t.Fatalf("seed %d: the cursor is at %d,%d in %q", seed, c.Row, c.Col, row)
			}
		}
		// What is printed next goes on where it would have.
		v.Write([]byte("END"))
		if got := strings.Join(logicalText(v), "\n"); got != want+"END" {
			t.Fatalf("seed %d: after resizing, text goes to\n%s", seed, got)
		}
	}
}

// spacerInside returns a row in which the empty cell before a wrapped wide
// character is not the last column.
func spacerInside(v *Terminal) string {
	for r := range v.rows {
		for _, c := range v.Line(r)[:v.cols-1] {
			if c&cellWidthMask == cellSpacer {
				return rowText(v, v.Line(r))
			}
		}
	}
	return ""
}

func TestReflowKeepsTheByteLimit(t *testing.T) {
	v := New(200, 10, Options{Scrollback: 1 << 20, ScrollbackBytes: 300 << 10})
	for i := range 3000 {
		v.Write([]byte(styledLine(i)))
	}
	for _, c := range []int{7, 300, 1, 200} {
		v.Resize(c, 10)
		if err := v.Check(); err != nil {
			t.Fatalf("at %d columns: %v", c, err)
		}
	}
	if lines, _ := v.HistoryCut(); lines == 0 {
		t.Error("nothing was cut")
	}
}

func TestReflowKeepsStylesAndMarks(t *testing.T) {
	v := New(10, 3, Options{Scrollback: 100})
	v.Write([]byte("\x1b]133;A\x07\x1b[31mred\x1b[32mgreen\x1b[34mblue\x1b[m\r\n\x1b]133;D;7\x07x\r\ny\r\nz"))
	before := snapshot(v)
	for _, c := range []int{4, 2, 7, 30, 10} {
		v.Resize(c, 3)
	}
	if got := snapshot(v); got != before {
		t.Errorf("there and back gives\n%s\nnot\n%s", got, before)
	}
	if m := v.HistoryMark(0); !m.Prompt {
		t.Errorf("first row has mark %+v", m)
	}
}

func TestHeightChangesLoseNoText(t *testing.T) {
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 9))
		v := New(8, 1+rnd.IntN(10), Options{Scrollback: 1000})
		for i := range rnd.IntN(25) {
			v.Write(fmt.Appendf(nil, "%d\r\n", i))
		}
		v.Write(fmt.Appendf(nil, "\x1b[%d;3H", 1+rnd.IntN(10)))
		want := strings.Join(logicalText(v), "\n")
		for range 10 {
			v.Resize(8, 1+rnd.IntN(12))
			if err := v.Check(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if got := strings.Join(logicalText(v), "\n"); got != want {
				t.Fatalf("seed %d: the text is\n%s\nnot\n%s", seed, got, want)
			}
		}
	}
}

func TestResizeOnTheAlternateScreenKeepsTheCursorOfTheMainOne(t *testing.T) {
	for _, size := range [][2]int{{10, 3}, {4, 3}, {10, 9}} {
		v := New(10, 7, Options{Scrollback: 100})
		v.Write([]byte("abcdef\r\nb\r\n\r\n\r\n\r\n\x1b[?1049h"))
		v.Resize(size[0], size[1])
		v.Resize(10, 7)
		v.Write([]byte("\x1b[?1049lX"))
		if got := strings.Join(logicalText(v), "\n"); got != "abcdef\nb\n\n\n\nX" {
			t.Errorf("after %v the main screen holds\n%s", size, got)
		}
	}
}

func TestResizeOnTheAlternateScreenReflowsTheMainOne(t *testing.T) {
	v := New(10, 3, Options{Scrollback: 100})
	v.Write([]byte("abcdefghij\r\nprompt\x1b[?1049h\x1b[2;2Hfull"))
	v.Resize(5, 4)
	v.Resize(10, 3)
	v.Write([]byte("\x1b[?1049l!"))
	if got := strings.Join(logicalText(v), "\n"); got != "abcdefghij\nprompt!" {
		t.Errorf("main screen holds\n%s", got)
	}
}
