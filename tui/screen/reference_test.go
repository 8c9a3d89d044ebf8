package screen

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"

	"github.com/honestty/honestty/vt"
)

// A refCell is one cell of the reference terminal: characters, style, link.
type refCell struct {
	text string // "" is a right half
	wide bool
	st   vt.Style
	link string
}

// A reference is a terminal that knows just what a frame may hold, and fails
// the test on anything else. It keeps text in strings, so it shares no packing
// with the Screen.
type reference struct {
	t           testing.TB
	cols, rows  int
	grid        []refCell
	x, y        int
	top, bottom int // margins, inclusive
	st          vt.Style
	link        string
	visible     bool
	shape       int
	sync        bool
	bce         bool
	scrolled    int
	width       func(cluster string) []int // widths of the characters it sees in a cluster
}

func newReference(t testing.TB, cols, rows int) *reference {
	r := &reference{t: t, cols: cols, rows: rows, bottom: rows - 1, bce: true}
	r.grid = make([]refCell, cols*rows)
	r.erase(0, len(r.grid))
	r.width = func(c string) []int { return []int{displaywidth.String(c)} }
	return r
}

func (r *reference) erase(from, to int) {
	c := refCell{text: " "}
	if r.bce {
		c.st.BG = r.st.BG
	}
	for i := from; i < to; i++ {
		r.set(i, c)
	}
}

// set writes one cell and blanks the other half of a character it cuts.
func (r *reference) set(i int, c refCell) {
	if r.grid[i].text == "" && i > 0 && r.grid[i-1].wide {
		r.grid[i-1] = refCell{text: " ", st: r.grid[i-1].st, link: r.grid[i-1].link}
	}
	if r.grid[i].wide && i+1 < len(r.grid) {
		r.grid[i+1] = refCell{text: " ", st: r.grid[i].st, link: r.grid[i].link}
	}
	r.grid[i] = c
}

func (r *reference) print(cluster string) {
	rest := cluster
	widths := r.width(cluster)
	for i, w := range widths {
		piece := rest
		if i < len(widths)-1 {
			_, n := utf8.DecodeRuneInString(rest)
			piece, rest = rest[:n], rest[n:]
		}
		if r.x+w > r.cols {
			r.x = r.cols - w // autowrap is off
		}
		at := r.y*r.cols + r.x
		r.set(at, refCell{text: piece, wide: w == 2, st: r.st, link: r.link})
		if w == 2 {
			r.set(at+1, refCell{})
			r.grid[at] = refCell{text: piece, wide: true, st: r.st, link: r.link}
			r.grid[at+1] = refCell{st: r.st, link: r.link}
		}
		r.x += w
	}
}

// feed interprets one frame.
func (r *reference) feed(p []byte) {
	s := string(p)
	for len(s) > 0 {
		switch {
		case s[0] == '\r':
			r.x, s = 0, s[1:]
		case s[0] == '\n':
			s = s[1:]
			if r.y == r.bottom {
				r.scroll(1)
			} else {
				r.y++
			}
		case s[0] == '\b':
			r.x, s = max(min(r.x, r.cols-1)-1, 0), s[1:]
		case strings.HasPrefix(s, "\x1bM"):
			s = s[2:]
			if r.y == r.top {
				r.scroll(-1)
			} else {
				r.y--
			}
		case strings.HasPrefix(s, "\x1b["):
			s = r.csi(s[2:])
		case strings.HasPrefix(s, "\x1b]8;"):
			end := strings.Index(s, "\x1b\\")
			_, r.link, _ = strings.Cut(s[4:end], ";")
			s = s[end+2:]
		case s[0] < 0x20 || s[0] == 0x7F:
			r.t.Fatalf("control %q in a frame", s[0])
		default:
			end := strings.IndexFunc(s, func(c rune) bool { return c < 0x20 })
			if end < 0 {
				end = len(s)
			}
			for g := displaywidth.StringGraphemes(s[:end]); g.Next(); {
				r.print(g.Value())
			}
			s = s[end:]
		}
	}
}

func (r *reference) scroll(n int) {
	r.scrolled++
	a, b := r.top*r.cols, (r.bottom+1)*r.cols
	if n > 0 {
		copy(r.grid[a:b], r.grid[a+r.cols:b])
		r.erase(b-r.cols, b)
		return
	}
	copy(r.grid[a+r.cols:b], r.grid[a:b-r.cols])
	r.erase(a, a+r.cols)
}

func (r *reference) csi(s string) string {
	n := strings.IndexFunc(s, func(c rune) bool { return c >= 0x40 })
	params, final, rest := s[:n], s[n], s[n+1:]
	num := func(i, missing int) int {
		list := strings.Split(params, ";")
		if i >= len(list) || list[i] == "" {
			return missing
		}
		v, err := strconv.Atoi(list[i])
		if err != nil {
			r.t.Fatalf("parameter %q of CSI %s%c", list[i], params, final)
		}
		return v
	}
	x := min(r.x, r.cols-1)
	switch final {
	case 'H':
		r.y, r.x = num(0, 1)-1, num(1, 1)-1
	case 'A':
		r.y = max(r.y-num(0, 1), 0)
	case 'B':
		r.y = min(r.y+num(0, 1), r.rows-1)
	case 'C':
		r.x = min(x+num(0, 1), r.cols-1)
	case 'D':
		r.x = max(x-num(0, 1), 0)
	case 'K':
		r.erase(r.y*r.cols+x, (r.y+1)*r.cols)
	case 'J':
		r.erase(0, len(r.grid))
	case 'X':
		r.erase(r.y*r.cols+x, r.y*r.cols+min(x+num(0, 1), r.cols))
	case 'r':
		r.top, r.bottom = num(0, 1)-1, num(1, r.rows)-1
		r.x, r.y = 0, 0
	case 'q':
		r.shape, _ = strconv.Atoi(strings.TrimSuffix(params, " "))
	case 'm':
		r.sgr(params)
	case 'h', 'l':
		r.mode(params, final == 'h')
	default:
		r.t.Fatalf("CSI %s%c in a frame", params, final)
	}
	// Behind the last column the cursor stays until it is placed again.
	if r.x < 0 || r.x > r.cols || final == 'H' && r.x == r.cols || r.y < 0 || r.y >= r.rows {
		r.t.Fatalf("CSI %s%c leaves the screen", params, final)
	}
	return rest
}

func (r *reference) mode(params string, on bool) {
	switch params {
	case "?25":
		r.visible = on
	case "?2026":
		if r.sync == on {
			r.t.Fatalf("synchronized output is already %v", on)
		}
		r.sync = on
	case "?7":
		if on {
			r.t.Fatal("autowrap switched on in a frame")
		}
	default:
		r.t.Fatalf("mode %s in a frame", params)
	}
}

// sgr is written on its own, not with applySGR.
func (r *reference) sgr(params string) {
	list := strings.Split(params, ";")
	at := func(i int) uint8 {
		v, err := strconv.Atoi(list[i])
		if err != nil || v > 255 {
			r.t.Fatalf("SGR %q", params)
		}
		return uint8(v)
	}
	attrs := map[string]vt.Attr{
		"1": vt.Bold, "2": vt.Faint, "3": vt.Italic, "5": vt.Blink, "7": vt.Inverse,
		"8": vt.Invisible, "9": vt.Strike, "53": vt.Overline,
	}
	offs := map[string]vt.Attr{
		"22": vt.Bold | vt.Faint, "23": vt.Italic, "25": vt.Blink, "27": vt.Inverse,
		"28": vt.Invisible, "29": vt.Strike, "55": vt.Overline,
	}
	kinds := map[string]vt.Underline{
		"4": vt.UnderlineSingle, "24": vt.UnderlineNone, "4:2": vt.UnderlineDouble,
		"4:3": vt.UnderlineCurly, "4:4": vt.UnderlineDotted, "4:5": vt.UnderlineDashed,
	}
	for i := 0; i < len(list); i++ {
		p := list[i]
		if a, ok := attrs[p]; ok {
			r.st.Attrs |= a
			continue
		}
		if a, ok := offs[p]; ok {
			r.st.Attrs &^= a
			continue
		}
		if k, ok := kinds[p]; ok {
			r.st.Underline = k
			continue
		}
		var u [3]uint8
		switch {
		case p == "" || p == "0":
			r.st = vt.Style{}
		case p == "38" || p == "48":
			c := vt.Color(0)
			if list[i+1] == "5" {
				c = vt.Indexed(at(i + 2))
				i += 2
			} else {
				c = vt.RGB(at(i+2), at(i+3), at(i+4))
				i += 4
			}
			if p == "38" {
				r.st.FG = c
			} else {
				r.st.BG = c
			}
		case strings.HasPrefix(p, "58:5:"):
			v, _ := strconv.Atoi(p[5:])
			r.st.UL = vt.Indexed(uint8(v))
		case strings.HasPrefix(p, "58:2::"):
			if _, err := fmt.Sscanf(p, "58:2::%d:%d:%d", &u[0], &u[1], &u[2]); err != nil {
				r.t.Fatalf("SGR %q", params)
			}
			r.st.UL = vt.RGB(u[0], u[1], u[2])
		case p == "59":
			r.st.UL = 0
		case p == "39":
			r.st.FG = 0
		case p == "49":
			r.st.BG = 0
		default:
			r.basic(int(at(i)))
		}
	}
}

func (r *reference) basic(n int) {
	switch {
	case n >= 30 && n < 38:
		r.st.FG = vt.Indexed(uint8(n - 30))
	case n >= 40 && n < 48:
		r.st.BG = vt.Indexed(uint8(n - 40))
	case n >= 90 && n < 98:
		r.st.FG = vt.Indexed(uint8(n - 82))
	case n >= 100 && n < 108:
		r.st.BG = vt.Indexed(uint8(n - 92))
	default:
		r.t.Fatalf("SGR %d", n)
	}
}

// compare fails when the reference does not show the Screen's frame. Blanks are
// compared by what they show.
func (r *reference) compare(s *Screen) {
	r.t.Helper()
	for i, c := range s.back {
		got, e := r.grid[i], s.styles.entries[c.Style()]
		want := refCell{text: string(s.appendText(nil, c)), wide: c.Wide(), st: e.out}
		if e.out.Link != 0 {
			want.link = s.links.list[e.out.Link]
		}
		want.st.Link = 0
		if plainBlank(got) {
			got.st = vt.Style{BG: got.st.BG}
		}
		if plainBlank(want) {
			want.st = vt.Style{BG: want.st.BG}
		}
		if got != want {
			r.t.Fatalf("cell %d,%d: terminal shows %+v, screen has %+v\n%s", i%s.cols, i/s.cols, got, want, s.Text())
		}
	}
	if r.visible != s.want.visible || r.visible && (r.x != s.want.x || r.y != s.want.y || r.shape != s.want.shape) {
		r.t.Fatalf("cursor: terminal has %v %d,%d shape %d, screen wants %+v", r.visible, r.x, r.y, r.shape, s.want)
	}
	if r.sync {
		r.t.Fatal("synchronized output left on")
	}
}

func plainBlank(c refCell) bool {
	return c.text == " " && c.link == "" && c.st.Attrs&decorated == 0 && c.st.Underline == 0
}
