package copymode

import (
	"fmt"
	"strings"
	"testing"

	"github.com/honestty/honestty/vt"
)

// A rig is a small terminal and a Mode on it.
type rig struct {
	tb testing.TB
	t  *vt.Terminal
	m  *Mode
}

// newRig feeds text, with \n for a new line, and enters copy mode.
func newRig(tb testing.TB, cols, rows, history int, text string) *rig {
	tb.Helper()
	r := &rig{tb: tb, t: vt.New(cols, rows, vt.Options{Scrollback: history})}
	r.write(text)
	r.m = New(Of(r.t), rows)
	return r
}

func (r *rig) write(text string) {
	r.t.Write([]byte(strings.ReplaceAll(text, "\n", "\r\n")))
}

// feed writes while copy mode is open.
func (r *rig) feed(text string) {
	r.write(text)
	r.m.Use(Of(r.t))
}

// keys presses keys, separated by spaces.
func (r *rig) keys(names string) Result {
	r.tb.Helper()
	var res Result
	for name := range strings.FieldsSeq(names) {
		if len(name) == 2 && name[0] == 'z' {
			r.m.Key("z")
			name = name[1:]
		}
		if res = r.m.Key(name); !res.Handled {
			r.tb.Errorf("key %q means nothing", name)
		}
	}
	return res
}

// typed presses a key for each character of a text.
func (r *rig) typed(text string) {
	for _, c := range text {
		if c == ' ' {
			r.keys("space")
			continue
		}
		r.keys(string(c))
	}
}

// finish steps until nothing is left to search.
func (r *rig) finish() {
	for {
		if more, _ := r.m.Step(50); !more {
			return
		}
	}
}

func (r *rig) at() string { return fmt.Sprintf("%d,%d", r.m.at().row, r.m.at().col) }

func (r *rig) wantAt(want string) {
	r.tb.Helper()
	if got := r.at(); got != want {
		r.tb.Errorf("cursor at %s, want %s", got, want)
	}
}

// draw writes a view as text: each line between bars, and under it the spans:
// m for a match, s for selected, c for the current match. The cursor's line ends
// with its column.
func (r *rig) draw() string {
	var b strings.Builder
	v := r.m.View(r.m.height)
	var cells []vt.Cell
	for y, l := range v.Lines {
		text := l.Text
		switch l.Kind {
		case Row:
			cells = Of(r.t).Cells(l.Row, cells[:0])
			text = strings.TrimRight(string(appendCells(nil, Of(r.t), cells, 0, len(cells))), " ")
		case Below:
			text = "~"
		case Fold, Cut:
		}
		b.WriteString("|" + text)
		if v.CursorIn && v.CursorY == y {
			fmt.Fprintf(&b, "  <%d", v.CursorX)
		}
		b.WriteByte('\n')
		at := 0
		for i, s := range l.Spans {
			if i == 0 {
				b.WriteByte(':')
			}
			b.WriteString(strings.Repeat(" ", s.From-at) + strings.Repeat(" msc"[s.Kind:s.Kind+1], s.To-s.From))
			if at = s.To; i == len(l.Spans)-1 {
				b.WriteByte('\n')
			}
		}
	}
	b.WriteString("[" + v.Status.String() + "]\n")
	return b.String()
}

func (r *rig) wantDraw(want string) {
	r.tb.Helper()
	want = strings.TrimPrefix(want, "\n")
	if got := r.draw(); got != want {
		r.tb.Errorf("view\n%swant\n%s", got, want)
	}
}

// numbered returns lines "line 1" … "line n".
func numbered(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

// checkMode states what holds between any two calls.
func (r *rig) check() {
	r.tb.Helper()
	m := r.m
	last := m.lineOf(m.r.Rows() - 1)
	for name, p := range map[string]Pos{"cursor": m.cursor, "anchor": m.sel.anchor} {
		if name == "anchor" && m.sel.kind == NoSelection {
			continue
		}
		if p.Line < m.cut || p.Line > last || p.Col < 0 || p.Col >= m.r.Cols() {
			r.tb.Fatalf("%s %v lies outside lines %d to %d of %d columns", name, p, m.cut, last, m.r.Cols())
		}
	}
	if m.r.cell(m.at().row, m.at().col).Tail() && m.at().col > 0 {
		r.tb.Fatalf("the cursor %v is on a right half", m.cursor)
	}
	if top := m.topLine(); top < 0 || top > m.maxTop() {
		r.tb.Fatalf("the viewport begins at %d of %d", top, m.maxTop())
	}
	for i, f := range m.folds {
		if f.from >= f.to || i > 0 && f.from < m.folds[i-1].to || f.from < m.cut || f.to > last+1 {
			r.tb.Fatalf("fold %d is %v", i, f)
		}
	}
	for n := range m.total() {
		if n >= m.markers() && m.shown(m.lineAt(n)) != n {
			r.tb.Fatalf("layout line %d is line %d, which is shown at %d", n, m.lineAt(n), m.shown(m.lineAt(n)))
		}
	}
	for i := 1; i < len(m.search.found); i++ {
		if !m.search.found[i-1].from.Before(m.search.found[i].from) {
			r.tb.Fatalf("matches %d and %d are not in order", i-1, i)
		}
	}
	v := m.View(m.height)
	for y, l := range v.Lines {
		at := 0
		for _, s := range l.Spans {
			if s.From < at || s.To <= s.From || s.To > m.r.Cols() {
				r.tb.Fatalf("spans of line %d: %v", y, l.Spans)
			}
			at = s.To
		}
	}
}
