package screen

import (
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"

	"github.com/honestty/honestty/vt"
)

// The parts of a packed cell that a Screen keeps, as vt lays them out. What is
// protected and what OSC 133 said matter to the engine only.
const (
	runeMask   vt.Cell = 1<<21 - 1
	isCluster  vt.Cell = 1 << 21
	isWide     vt.Cell = 1 << 22
	isTail     vt.Cell = 2 << 22
	widthMask  vt.Cell = 3 << 22
	textMask           = runeMask | isCluster | widthMask
	styleShift         = 32
)

// sweepAt is the size at which a table is cleared of what no cell uses. It is
// above what an ordinary screen holds, so that sweeping is rare, and below what
// would show in memory.
const sweepAt = 4096

// A styleEntry is one interned style.
type styleEntry struct {
	want  vt.Style   // as asked for; Link is the Screen's own
	out   vt.Style   // as the terminal can show it
	blank vt.StyleID // what a blank cell shows of it: the background, or itself when it is decorated
	plain bool       // a blank in it can be made by erasing: no decoration
}

// styleTable interns styles. Entry 0 is the default style.
type styleTable struct {
	entries []styleEntry
	ids     map[vt.Style]vt.StyleID
	limit   int // sweep at this many entries
}

// decorated lists the attributes that show on a blank.
const decorated = vt.Inverse | vt.Strike | vt.Overline | vt.Blink | vt.Invisible

// styleID interns a style whose Link is already the Screen's own.
func (s *Screen) styleID(st vt.Style) vt.StyleID {
	if st == (vt.Style{}) {
		return 0
	}
	if id, ok := s.styles.ids[st]; ok {
		return id
	}
	id := vt.StyleID(len(s.styles.entries))
	plain := st.Attrs&decorated == 0 && st.Underline == vt.UnderlineNone && st.Link == 0
	e := styleEntry{want: st, out: s.colors.style(st, &s.caps), blank: id, plain: plain}
	s.styles.entries = append(s.styles.entries, e)
	s.styles.ids[st] = id
	if bare := (vt.Style{BG: st.BG}); plain && bare != st {
		s.styles.entries[id].blank = s.styleID(bare)
	}
	return id
}

// A stringTable interns cluster texts or link targets. Entry 0 is unused.
type stringTable struct {
	list []string
	ids  map[string]uint32
}

func newStringTable() stringTable {
	return stringTable{list: make([]string, 1), ids: make(map[string]uint32)}
}

// id interns a text. It does not allocate for one that is known.
func (t *stringTable) id(text []byte) uint32 {
	if id, ok := t.ids[string(text)]; ok {
		return id
	}
	id := uint32(len(t.list))
	text2 := string(text)
	t.list = append(t.list, text2)
	t.ids[text2] = id
	return id
}

// maxLink is the longest OSC 8 target sent on: the limit of VTE, the strictest.
const maxLink = 2083

// linkID interns a link target in the form in which it is sent. Control
// characters refuse it, other bytes outside printable ASCII are escaped.
func (s *Screen) linkID(target string) vt.LinkID {
	if target == "" || len(target) > maxLink || len(s.links.list) > 0xFFFF {
		return 0
	}
	const hex = "0123456789ABCDEF"
	buf := s.scratch[:0]
	for i := range len(target) {
		switch b := target[i]; {
		case b < 0x20 || b == 0x7F:
			return 0
		case b == ' ' || b > 0x7F:
			buf = append(buf, '%', hex[b>>4], hex[b&15])
		default:
			buf = append(buf, b)
		}
	}
	s.scratch = buf
	return vt.LinkID(s.links.id(buf))
}

// sweep drops every style, cluster and link that no cell of either frame uses.
// It runs between frames. Ids change, so each StyleMap and each cached run of
// chrome is stale afterwards: gen says so.
func (s *Screen) sweep() {
	if len(s.styles.entries) < s.styles.limit && len(s.clusters.list) < 4*sweepAt && len(s.links.list) < sweepAt {
		return
	}
	old := *s
	s.clearTables()
	moved := make([]vt.StyleID, len(old.styles.entries))
	for i := range moved {
		moved[i] = ^vt.StyleID(0)
	}
	move := func(id vt.StyleID) vt.StyleID {
		if moved[id] == ^vt.StyleID(0) {
			st := old.styles.entries[id].want
			if st.Link != 0 {
				st.Link = vt.LinkID(s.links.id([]byte(old.links.list[st.Link])))
			}
			moved[id] = s.styleID(st)
		}
		return moved[id]
	}
	for _, grid := range [][]vt.Cell{s.back, s.front} {
		for i, c := range grid {
			if n, ok := c.ClusterID(); ok {
				c = c&^runeMask | vt.Cell(s.clusters.id([]byte(old.clusters.list[n])))
			}
			grid[i] = c.WithStyle(move(c.Style()))
		}
	}
	s.pen = move(s.pen)
	// When nearly everything is in use, sweeping each frame would gain nothing.
	s.styles.limit = max(sweepAt, 2*len(s.styles.entries))
}

// clearTables empties the tables and everything that holds their ids.
func (s *Screen) clearTables() {
	s.styles = styleTable{
		entries: []styleEntry{{plain: true}},
		ids:     map[vt.Style]vt.StyleID{{}: 0},
		limit:   sweepAt,
	}
	s.clusters, s.links = newStringTable(), newStringTable()
	s.drawn = make(map[string][]vt.Cell)
	s.deltas = [len(s.deltas)]delta{}
	s.gen++
}

// A StyleMap remembers which of the Screen's styles stand for a source's. Each
// source has its own; the zero StyleMap is empty.
type StyleMap struct {
	src    Source
	srcGen uint64
	gen    uint64
	ids    []mapped
}

// A mapped is one translated style: id for a character, blank for a blank.
// known is false for an entry not yet filled.
type mapped struct {
	id, blank vt.StyleID
	known     bool
}

// check drops everything when the ids of either side may mean something else.
func (m *StyleMap) check(src Source, gen uint64) {
	if g := src.StyleGen(); m.src != src || m.srcGen != g || m.gen != gen {
		m.src, m.srcGen, m.gen = src, g, gen
		clear(m.ids)
	}
}

// translate returns the Screen's styles for one of the source.
func (s *Screen) translate(m *StyleMap, src Source, id vt.StyleID) mapped {
	if int(id) < len(m.ids) && m.ids[id].known {
		return m.ids[id]
	}
	for int(id) >= len(m.ids) {
		m.ids = append(m.ids, mapped{})
	}
	st := src.StyleOf(id)
	if st.Link != 0 {
		st.Link = s.linkID(src.LinkOf(st.Link))
	}
	own := s.styleID(st)
	m.ids[id] = mapped{own, s.styles.entries[own].blank, true}
	return m.ids[id]
}

// cluster interns the text of a source's cluster without the characters that
// must not be sent on. When one character is left it needs no cluster.
func (s *Screen) cluster(src Source, c vt.Cell) vt.Cell {
	s.scratch = src.AppendText(s.scratch[:0], c)
	clean := s.scratch[:0]
	runes := 0
	var last rune
	for rest := s.scratch; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		if !hidden(r) {
			clean = append(clean, rest[:n]...)
			last = r
			runes++
		}
		rest = rest[n:]
	}
	width := c & widthMask
	switch runes {
	case 0:
		return width | utf8.RuneError
	case 1:
		if displaywidth.Rune(last) == 0 {
			return width | utf8.RuneError // alone it would change the cell before it
		}
		return width | vt.Cell(last)
	}
	return width | isCluster | vt.Cell(s.clusters.id(clean))
}
