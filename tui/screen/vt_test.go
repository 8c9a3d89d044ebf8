package screen

import (
	"math/rand/v2"
	"testing"

	"github.com/honestty/honestty/vt"
)

// *vt.Terminal is what panes are blitted from.
var _ Source = (*vt.Terminal)(nil)

// sameAsEngine fails when the engine, as the outer terminal, does not show the
// Screen's frame cell by cell.
func sameAsEngine(t *testing.T, s *Screen, term *vt.Terminal) {
	t.Helper()
	if err := term.Check(); err != nil {
		t.Fatal(err)
	}
	for y := range s.rows {
		line := term.Line(vt.Row(y))
		for x, c := range s.row(y) {
			got := refCell{text: string(term.AppendText(nil, line[x])), wide: line[x].Wide()}
			got.st = term.StyleOf(line[x].Style())
			got.link, got.st.Link = term.LinkOf(got.st.Link), 0
			if line[x].Blank() {
				got.text = " "
			}
			e := s.styles.entries[c.Style()]
			want := refCell{text: string(s.appendText(nil, c)), wide: c.Wide(), st: e.out, link: s.links.list[e.out.Link]}
			want.st.Link = 0
			for _, r := range []*refCell{&got, &want} {
				if plainBlank(*r) {
					r.st = vt.Style{BG: r.st.BG}
				}
			}
			if got != want {
				t.Fatalf("cell %d,%d: engine shows %+v, screen has %+v\n%s", x, y, got, want, s.Text())
			}
		}
	}
	cur := term.Cursor()
	if cur.Visible != s.want.visible || cur.Visible && (int(cur.Col) != s.want.x || int(cur.Row) != s.want.y) {
		t.Fatalf("cursor: engine has %+v, screen wants %+v", cur, s.want)
	}
}

func TestTheEngineShowsTheComposedFrame(t *testing.T) {
	caps := fullCaps()
	caps.Graphemes = true
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 13))
		cols, rows := 2+rng.IntN(60), 2+rng.IntN(14)
		s := New(cols, rows, caps)
		term := vt.New(cols, rows, vt.Options{})
		term.Write(enterSequence(Modes{Graphemes: true}))
		p, cache := newPane(cols, rows), &StyleMap{}
		for range 10 {
			step(rng, s, p, cache)
			term.Write(s.Diff(nil))
			sameAsEngine(t, s, term)
		}
	}
}

// A pane that is an engine, shown on a terminal that is an engine, shows the same.
func TestAnEngineBlittedToAnEngineIsTheSame(t *testing.T) {
	inner, outer := vt.New(50, 10, vt.Options{}), vt.New(50, 10, vt.Options{})
	caps := fullCaps()
	s, cache := New(50, 10, caps), &StyleMap{}
	for _, out := range []string{
		"$ ls\r\n\x1b[1;34mdir\x1b[m  file  \x1b[38;2;9;99;199mcolour\x1b[m\r\n",
		"\x1b[44m\x1b[2K blue row \x1b[m\r\n漢字 e\u0301 ✓ ●\r\n",
		"\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\ \x1b[4:3mcurly\x1b[m\r\n",
		"\x1b[2J\x1b[Hcleared\x1b[5;10Hmiddle\x1b[7m inverse \x1b[m",
		"1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n9\r\n",
	} {
		inner.Write([]byte(out))
		s.Blit(0, 0, 50, 10, inner, cache)
		cur := inner.Cursor()
		s.SetCursor(int(cur.Col), int(cur.Row), cur.Visible, 0)
		outer.Write(s.Diff(nil))
		sameAsEngine(t, s, outer)
	}
}

func TestLeavingGivesTheTerminalBackAsItWas(t *testing.T) {
	term := vt.New(20, 4, vt.Options{})
	term.Write([]byte("$ honestty\r\n"))
	before, cursor := term.Modes(), term.Cursor()
	m := Modes{Mouse: MouseMove, Focus: true, Paste: true, Graphemes: true, Kitty: 5, Title: true}
	term.Write(enterSequence(m))
	term.Write([]byte("\x1b[1;31mframe cut in \x1b[38;2;1"))
	term.Write(leaveSequence(m))
	if got := term.Modes(); got != before {
		t.Errorf("modes %+v, were %+v", got, before)
	}
	if got := term.Cursor(); got != cursor {
		t.Errorf("cursor %+v, was %+v", got, cursor)
	}
	term.Write([]byte("x"))
	if c := term.Line(1)[0]; c.Rune() != 'x' || term.StyleOf(c.Style()) != (vt.Style{}) {
		t.Error("the shell's next character is not plain")
	}
}
