package screen

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"

	"github.com/honestty/honestty/vt"
)

// fullCaps is a terminal that can everything but mode 2027.
func fullCaps() Caps {
	return Caps{
		Depth: TrueColor, UTF8: true, Sync: true, Underlines: true, ULColor: true,
		Links: true, BCE: true,
	}
}

// A pane is a Source made by hand.
type pane struct {
	lines    [][]vt.Cell
	styles   []vt.Style
	gen      uint64
	clusters []string
	links    []string
}

func (p *pane) Line(r vt.Row) []vt.Cell {
	if int(r) >= len(p.lines) {
		return nil
	}
	return p.lines[r]
}
func (p *pane) StyleOf(id vt.StyleID) vt.Style { return p.styles[id] }
func (p *pane) StyleGen() uint64               { return p.gen }
func (p *pane) LinkOf(id vt.LinkID) string     { return p.links[id] }
func (p *pane) AppendText(dst []byte, c vt.Cell) []byte {
	if n, ok := c.ClusterID(); ok {
		return append(dst, p.clusters[n]...)
	}
	return utf8.AppendRune(dst, c.Rune())
}

func newPane(cols, rows int) *pane {
	p := &pane{styles: make([]vt.Style, 1), links: make([]string, 1)}
	for range rows {
		p.lines = append(p.lines, make([]vt.Cell, cols))
	}
	return p
}

// pieces are characters of every class.
var pieces = []string{
	"a", "b", "Z", "~", " ", " ", "x", "é", "ß", "─", "│", "●", "▃", "я", "α", "漢", "字", "한", "ｱ",
	"😀", "✅", "👩‍💻", "🇩🇪", "e\u0301", "❤️", "👍🏽", "✓", "\u0915\u094d\u0937",
}

func randomStyle(rng *rand.Rand, p *pane) vt.StyleID {
	if rng.IntN(3) == 0 {
		return 0
	}
	color := func() vt.Color {
		switch rng.IntN(4) {
		case 0:
			return vt.Indexed(uint8(rng.IntN(256)))
		case 1:
			return vt.RGB(uint8(rng.IntN(256)), uint8(rng.IntN(256)), uint8(rng.IntN(256)))
		}
		return 0
	}
	attrs, some := vt.Attr(rng.IntN(256)), vt.Attr(rng.IntN(256))
	st := vt.Style{FG: color(), BG: color(), Attrs: attrs & some}
	if rng.IntN(4) == 0 {
		st.Underline, st.UL = vt.Underline(rng.IntN(6)), color()
	}
	if rng.IntN(6) == 0 {
		p.links = append(p.links, fmt.Sprintf("https://example.org/%d", rng.IntN(5)))
		st.Link = vt.LinkID(len(p.links) - 1)
	}
	p.styles = append(p.styles, st)
	return vt.StyleID(len(p.styles) - 1)
}

// scribble changes parts of a pane.
func scribble(rng *rand.Rand, p *pane, times int) {
	for range times {
		line := p.lines[rng.IntN(len(p.lines))]
		st := randomStyle(rng, p)
		x := rng.IntN(len(line))
		for range 1 + rng.IntN(len(line)) {
			text := pieces[rng.IntN(len(pieces))]
			w := displaywidth.String(text)
			if x+w > len(line) {
				break
			}
			if rng.IntN(8) == 0 {
				st = randomStyle(rng, p)
			}
			if line[x].Tail() {
				line[x-1] = 0
			}
			if x+w < len(line) && line[x+w].Tail() {
				line[x+w] = 0
			}
			c := vt.Cell(0)
			if r, n := utf8.DecodeRuneInString(text); n == len(text) {
				c = vt.MakeCell(r, st)
			} else {
				p.clusters = append(p.clusters, text)
				c = (isCluster | vt.Cell(len(p.clusters)-1)).WithStyle(st)
			}
			if w == 2 {
				c |= isWide
				line[x+1] = isTail.WithStyle(st)
			}
			line[x] = c
			x += w
		}
	}
}

func TestDiffTurnsTheLastFrameIntoTheNext(t *testing.T) {
	for _, caps := range []Caps{
		{Depth: NoColor, UTF8: true},
		{Depth: Color16, UTF8: true},
		{Depth: Color256, UTF8: true, Links: true, Sync: true},
		fullCaps(),
	} {
		for seed := range uint64(40) {
			rng := rand.New(rand.NewPCG(seed, 7))
			cols, rows := 1+rng.IntN(40), 1+rng.IntN(12)
			s, ref := New(cols, rows, caps), newReference(t, cols, rows)
			ref.bce = caps.BCE
			p, cache := newPane(cols, rows), &StyleMap{}
			for range 12 {
				step(rng, s, p, cache)
				if seed%3 == 0 {
					s.styles.limit = 0 // sweep behind every frame
				}
				ref.feed(s.Diff(nil))
				ref.compare(s)
				if again := s.Diff(nil); len(again) != 0 {
					t.Fatalf("seed %d: an unchanged frame wrote %q", seed, again)
				}
			}
		}
	}
}

// step composes a random next frame.
func step(rng *rand.Rand, s *Screen, p *pane, cache *StyleMap) {
	scribble(rng, p, rng.IntN(5))
	if rng.IntN(4) == 0 && len(p.lines) > 2 {
		n := 1 + rng.IntN(len(p.lines)-1)
		p.lines = append(p.lines[n:], p.lines[:n]...)
		s.Scroll(0, len(p.lines), n)
	}
	s.Blit(0, 0, s.cols, s.rows, p, cache)
	switch rng.IntN(5) {
	case 0:
		s.Fill(rng.IntN(s.cols), rng.IntN(s.rows), 12, 3, p.styles[rng.IntN(len(p.styles))])
	case 1:
		s.SetText(rng.IntN(s.cols), rng.IntN(s.rows), 9, strings.Join(pieces[rng.IntN(len(pieces)):], ""), vt.Style{})
	case 2:
		s.DrawANSI(rng.IntN(s.cols), rng.IntN(s.rows), 20, "\x1b[1;38;5;99mtab\x1b[m ─ \x1b[4:3m漢字\x1b[0m\nnext")
	case 3:
		s.Blit(rng.IntN(s.cols)-5, rng.IntN(s.rows)-2, 11, 4, p, cache)
	}
	s.SetCursor(rng.IntN(s.cols+1), rng.IntN(s.rows), rng.IntN(3) > 0, rng.IntN(7))
}

// A terminal that draws ambiguous characters in two columns and clusters code
// point by code point shows every ASCII character where it belongs, unless it
// stands in the place such a character spills into.
func TestDisagreementOnWidthDoesNotShiftTheRow(t *testing.T) {
	wide := displaywidth.Options{EastAsianWidth: true}
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 11))
		cols, rows := 4+rng.IntN(40), 1+rng.IntN(6)
		s, ref := New(cols, rows, fullCaps()), newReference(t, cols, rows)
		ref.width = func(c string) (w []int) {
			for _, r := range c {
				if n := wide.Rune(r); n > 0 {
					w = append(w, n)
				}
			}
			return w
		}
		p, cache := newPane(cols, rows), &StyleMap{}
		for range 8 {
			scribble(rng, p, 1+rng.IntN(4))
			s.Blit(0, 0, cols, rows, p, cache)
			ref.feed(s.Diff(nil))
			for i, c := range s.back {
				// What is too wide for the last column moves left.
				if narrowASCII(c) && i%cols < cols-2 && ref.grid[i].text != string(c.Rune()) {
					t.Fatalf("seed %d: cell %d,%d shows %q, want %q", seed, i%cols, i/cols, ref.grid[i].text, c.Rune())
				}
			}
		}
	}
}

func TestOneChangedCellWritesOneMoveAndOneCharacter(t *testing.T) {
	s := New(80, 24, Caps{UTF8: true})
	s.SetText(0, 5, 80, "count 1 of many", vt.Style{})
	s.Diff(nil)
	s.SetText(6, 5, 1, "2", vt.Style{})
	if got, want := string(s.Diff(nil)), "\x1b[9D2"; got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
}

func TestTypingWritesOnlyTheCharacter(t *testing.T) {
	s := New(80, 24, Caps{UTF8: true})
	s.SetText(0, 0, 80, "$", vt.Style{})
	s.SetCursor(2, 0, true, 0)
	s.Diff(nil)
	s.SetText(2, 0, 1, "l", vt.Style{})
	s.SetCursor(3, 0, true, 0)
	if got, want := string(s.Diff(nil)), "\x1b[?25ll\x1b[?25h"; got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
	s.SetCursor(5, 0, true, 0)
	if got, want := string(s.Diff(nil)), "\x1b[2C"; got != want {
		t.Errorf("a moved cursor wrote %q, want %q", got, want)
	}
}

func TestSynchronizedOutputWrapsAFrameThatIsNoEcho(t *testing.T) {
	s := New(20, 2, Caps{Sync: true})
	s.Diff(nil)
	s.SetText(0, 0, 20, "a", vt.Style{})
	if got := string(s.Diff(nil)); got != "a" {
		t.Errorf("an echo is %q", got)
	}
	s.SetText(0, 0, 20, "a long line of text", vt.Style{})
	got := string(s.Diff(nil))
	if !strings.HasPrefix(got, "\x1b[?2026h") || !strings.HasSuffix(got, "\x1b[?2026l") {
		t.Errorf("frame %q is not synchronized", got)
	}
}

func TestABackgroundIsErasedOnlyWhereTheTerminalIsKnown(t *testing.T) {
	for _, bce := range []bool{true, false} {
		s := New(60, 1, Caps{Depth: Color16, BCE: bce})
		s.Diff(nil)
		s.Fill(0, 0, 60, 1, vt.Style{BG: vt.Indexed(4)})
		if got := strings.Contains(string(s.Diff(nil)), "\x1b[K"); got != bce {
			t.Errorf("BCE %v: erased %v", bce, got)
		}
	}
}

func TestAClearedRowIsErasedInFewBytes(t *testing.T) {
	s := New(200, 3, Caps{})
	s.SetText(0, 1, 200, strings.Repeat("x", 200), vt.Style{})
	s.Diff(nil)
	s.Fill(0, 1, 200, 1, vt.Style{})
	if got := s.Diff(nil); len(got) > 10 {
		t.Errorf("clearing a row wrote %d bytes: %q", len(got), got)
	}
	s.SetText(0, 1, 200, strings.Repeat("x", 200), vt.Style{})
	s.Diff(nil)
	s.Fill(20, 1, 100, 1, vt.Style{})
	if got := s.Diff(nil); len(got) > 24 {
		t.Errorf("clearing the middle of a row wrote %d bytes: %q", len(got), got)
	}
}

func TestAScrollIsWrittenAsAScroll(t *testing.T) {
	lines := func(s *Screen, from int) {
		for y := range 20 {
			s.Fill(0, y, 80, 1, vt.Style{})
			s.SetText(0, y, 80, fmt.Sprintf("line %d %s", from+y, strings.Repeat("#", 60)), vt.Style{})
		}
	}
	for _, n := range []int{3, -3} {
		s, ref := New(80, 24, Caps{}), newReference(t, 80, 24)
		lines(s, 10)
		ref.feed(s.Diff(nil))
		lines(s, 10+n)
		s.Scroll(0, 20, n)
		out := s.Diff(nil)
		ref.feed(out)
		ref.compare(s)
		if ref.scrolled != 3 || len(out) > 300 {
			t.Errorf("scroll by %d: %d scrolls and %d bytes", n, ref.scrolled, len(out))
		}
	}
}

func TestAWrongScrollHintIsIgnored(t *testing.T) {
	s, ref := New(20, 6, Caps{}), newReference(t, 20, 6)
	for y := range 6 {
		s.SetText(0, y, 20, fmt.Sprint("row ", y), vt.Style{})
	}
	ref.feed(s.Diff(nil))
	s.Scroll(0, 6, 2)
	s.Scroll(4, 9, 1)
	s.Scroll(0, 6, 6)
	if out := s.Diff(nil); len(out) != 0 {
		t.Errorf("wrote %q", out)
	}
}

func TestStyleTablesStayBounded(t *testing.T) {
	s, ref := New(40, 10, fullCaps()), newReference(t, 40, 10)
	cache, p := &StyleMap{}, newPane(40, 10)
	for frame := range 200 {
		for i := range p.lines[0] {
			n := frame*40 + i
			p.styles = append(p.styles, vt.Style{FG: vt.RGB(uint8(n), uint8(n>>8), 9)})
			p.lines[frame%10][i] = vt.MakeCell('x', vt.StyleID(len(p.styles)-1))
		}
		s.Blit(0, 0, 40, 10, p, cache)
		s.SetText(0, 0, 40, fmt.Sprintf("e\u0301 %d", frame), vt.Style{FG: vt.Indexed(3)})
		s.DrawANSI(0, 1, 40, fmt.Sprintf("\x1b[31m%d\x1b]8;;http://h/%d\x1b\\z", frame, frame))
		ref.feed(s.Diff(nil))
		ref.compare(s)
	}
	if n := len(s.styles.entries); n > sweepAt+500 {
		t.Errorf("%d styles after 8000 different ones", n)
	}
}

func TestNewCapsRepaintInTheNewColours(t *testing.T) {
	s, ref := New(10, 1, Caps{Depth: Color16}), newReference(t, 10, 1)
	s.SetText(0, 0, 10, "red", vt.Style{FG: vt.RGB(200, 20, 20)})
	ref.feed(s.Diff(nil))
	ref.compare(s)
	s.SetCaps(fullCaps())
	ref.feed(s.Diff(nil))
	ref.compare(s)
	if got := ref.grid[0].st.FG; got != vt.RGB(200, 20, 20) {
		t.Errorf("colour %x after the upgrade", got)
	}
}

func TestTheLastColumnIsNeverHalfAWideCharacter(t *testing.T) {
	s, ref := New(5, 2, fullCaps()), newReference(t, 5, 2)
	p := newPane(8, 1)
	p.lines[0] = []vt.Cell{
		vt.MakeCell('a', 0), vt.MakeCell('漢', 0) | isWide, isTail,
		vt.MakeCell('b', 0), vt.MakeCell('字', 0) | isWide, isTail, 0, 0,
	}
	s.Blit(0, 0, 5, 1, p, &StyleMap{})
	ref.feed(s.Diff(nil))
	ref.compare(s)
	if got, want := s.Text(), "a漢b\n\n"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
}
