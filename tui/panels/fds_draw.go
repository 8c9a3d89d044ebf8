package panels

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/fdmeter"
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
	"github.com/honestty/honestty/vt"
)

// A plan says which rows of the header an area has room for. The table keeps at
// least minRows.
type plan struct{ count, head, hints, scale, system, why bool }

const minRows = 3

// Why is wanted for a subject whose missing line needs a word.
func planOf(w, h int, why bool) plan {
	p := plan{count: h > 1, head: h > 2}
	left := h - 3 - minRows
	take := func(n int) bool {
		if left < n {
			return false
		}
		left -= n
		return true
	}
	p.hints = take(1)
	p.scale = w >= minScale && take(2)
	p.system = take(1)
	p.why = why && take(1)
	return p
}

// minScale is the narrowest scale on which two limits can be told apart.
const minScale = 24

// Draw draws the header of the subject, and below it the table or a detail.
func (f *FDs) Draw(s *screen.Screen, x, y, w, h int, focused bool, th theme.Theme) {
	c := canvas{s, &th}
	f.list = rect{}
	s.Fill(x, y, w, h, th.Text)
	if w < 2 || h < 1 {
		return
	}
	if !f.read {
		c.text(x+1, y, w-2, "? unknown: nothing is counted yet", th.Dim)
		return
	}
	p := planOf(w, h, unselected(f.subject().Reading))
	at, end := y, y+h
	f.drawSubject(c, x, at, w, p)
	at++
	if p.count {
		at++
	}
	if p.why {
		c.text(x+1, at, w-2, unselectedWords(w-2), c.th.Dim)
		at++
	}
	if p.scale {
		at += f.drawNearness(c, x+1, at, w-2)
	}
	if p.system {
		f.drawSystem(c, x+1, at, w-2)
		at++
	}
	if p.hints {
		end--
		f.drawFoot(c, x+1, end, w-2, focused)
	} else if f.note != "" && h > 1 {
		end--
		c.text(x+1, end, w-2, f.note, th.Text)
	}
	if !p.head {
		return
	}
	if f.view != viewTable {
		f.drawDetail(c, x, at, w, end-at, focused)
		return
	}
	f.drawTable(c, x, at, w, end-at, focused)
}

// drawSubject draws who the header is about and what it holds, with its types
// at the right where they were looked at.
func (f *FDs) drawSubject(c canvas, x, y, w int, p plan) {
	who := f.subject()
	room := w - 2
	if used := f.drawTypes(c, x, y, w, p.count); used > 0 {
		room -= used + 2
	}
	name := pidText(who.PID) + " " + program(who.Reading)
	if who.mark != "" {
		name = who.mark + "  " + name
	}
	if f.gone {
		name = "has ended: " + name
	}
	c.text(x+1, y, room, name, c.th.Accent)
	if !p.count {
		return
	}
	var pieces []piece
	figureStyle := func(v fdmeter.Value) vt.Style {
		if !v.Known() {
			return c.th.Attention
		}
		return c.th.Text
	}
	if alarm(who.Process) {
		pieces = append(pieces, piece{value: c.caution() + nearest(who.Process), st: c.th.Attention})
	}
	pieces = append(pieces, piece{"count", reasoned(who.Count), figureStyle(who.Count)})
	if out, ok := who.Outlook(); ok && !(alarm(who.Process) && out.Line.Kind == who.Line.Kind) {
		pieces = append(pieces, piece{"reaches", lineName(out.Line) + " in " + about(out.In) + confident(out.Confidence), c.th.Text})
	}
	pieces = append(pieces,
		piece{"highest", reasoned(who.Highest), figureStyle(who.Highest)})
	if !p.why && unselected(who.Reading) {
		pieces = append(pieces, piece{value: unselectedWords(room / 2), st: c.th.Dim})
	}
	if who.Growth.Known() {
		pieces = append(pieces, piece{growth(who.Growth) + "/min", trendWords(who.Growth), c.th.Text})
	} else {
		why := fdmeter.TooFew.String()
		if !who.Count.Known() {
			why = who.Count.Reason()
		}
		pieces = append(pieces, piece{"/min", "? (" + why + ")", c.th.Dim})
	}
	pieces = append(pieces,
		piece{"soft", reasoned(who.Soft), c.th.Dim}, piece{"hard", reasoned(who.Hard), c.th.Dim},
		piece{"counted by", who.Method.String(), c.th.Dim})
	c.pieces(x+1, y+1, room, "   ", pieces)
}

// unselected reports whether a process is past 1024 and has no line there.
func unselected(r fdmeter.Reading) bool {
	n, known := r.Highest.Get()
	return r.NoSelect && known && n >= fdmeter.FDSetSize
}

// unselectedWords say why, in w columns where that is possible.
func unselectedWords(w int) string {
	const shortest = "no select(): ours"
	for _, words := range []string{"no line at 1024: our own program, which never calls select()", "no line at 1024: ours, no select()"} {
		if len(words) <= w {
			return words
		}
	}
	return shortest
}

// caution is what stands before the words of an alarm; words alone do in a
// plain theme.
func (c canvas) caution() string {
	if c.th.Plain {
		return ""
	}
	return c.th.Glyphs.State(theme.Partial) + " "
}

// typesWidth is what the types take from a header; below typesFrom columns they
// are left to the view that Enter opens.
const typesWidth, typesFrom = 38, 84

// drawTypes draws the kinds of the subject's descriptors in two rows, if they
// were looked at, and returns the columns it took.
func (f *FDs) drawTypes(c canvas, x, y, w int, both bool) int {
	if !f.typed || !f.of(f.types) || !f.types.Listed.Known() || w < typesFrom || !both || f.view == viewTypes {
		return 0
	}
	const head = 8
	left := x + w - typesWidth
	c.s.SetText(left, y, head, "types", c.th.Dim)
	at, line := left+head, 0
	for _, k := range kindsOf(f.types) {
		text := k.name + " " + outcome.Count(int64(k.n))
		if at+screen.Width(text) > x+w-1 {
			if line++; line == 2 {
				break
			}
			at = left + head
		}
		at += c.s.SetText(at, y+line, typesWidth, text, c.th.Text) + 2
	}
	return typesWidth
}

// drawNearness draws the scale, or in a plain theme a sentence, and returns the
// rows it took.
func (f *FDs) drawNearness(c canvas, x, y, w int) int {
	who := f.subject()
	if !c.th.Plain {
		st := c.th.HintKey
		if alarm(who.Process) {
			st = c.th.Attention
		}
		c.drawScale(x, y, w, who.Reading, st)
		return 2
	}
	var pieces []piece
	for _, l := range fdmeter.Lines(who.Reading) {
		used := "? (" + l.Used.Reason() + ")"
		if ratio, known := l.Ratio(); known {
			used = fmt.Sprintf("%d%% used", int(math.Floor(ratio*100)))
		}
		pieces = append(pieces, piece{lineName(l), used, c.th.Text})
	}
	c.pieces(x, y, w, ", ", pieces)
	return 1
}

// drawSystem draws what all processes share, how complete the list is, and how
// this process waits.
func (f *FDs) drawSystem(c canvas, x, y, w int) {
	sys := f.shown.Snapshot.System
	between := " " + c.th.Glyphs.Dot + " "
	if c.th.Plain {
		between = ", "
	}
	ptys := sys.PTYsMax
	lines := map[fdmeter.LineKind]fdmeter.Line{}
	for _, l := range fdmeter.SystemLines(sys) {
		lines[l.Kind] = l
		if l.Kind == fdmeter.LinePTY {
			ptys = fdmeter.Known(l.Limit) // without the host's reserve
		}
	}
	pieces := []piece{
		c.systemPiece("system files", sys.Files, sys.FilesMax, lines[fdmeter.LineSystem]),
		c.systemPiece("ptys", sys.PTYs, ptys, lines[fdmeter.LinePTY]),
	}
	if lines[fdmeter.LinePTY].Alert() {
		slices.Reverse(pieces) // what is short of room goes from the end
	}
	if scan := f.shown.Snapshot.Scan; !scan.Listed {
		pieces = append(pieces, piece{"processes", "? (" + scan.Cause.String() + ")", c.th.Attention})
	} else if n := scan.Unseen(); n > 0 {
		pieces = append(pieces, piece{"processes not looked at", outcome.Count(int64(n)), c.th.Attention})
	} else if scan.Hidden {
		pieces = append(pieces, piece{"processes of others", "? (hidden)", c.th.Attention})
	}
	if f.shown.Waits != "" {
		pieces = append(pieces, piece{"waits by", f.shown.Waits, c.th.Dim})
	}
	c.pieces(x, y, w, between, pieces)
}

// endless is a limit that no machine reaches: kernels set 2^63-1 by default.
const endless = 1 << 50

func (c canvas) systemPiece(name string, used, limit fdmeter.Value, l fdmeter.Line) piece {
	text := reasoned(used)
	if n, known := limit.Get(); known && n < endless {
		text += " of " + outcome.Count(n) + c.meterBar(l)
	} else if !known && limit.Cause() != fdmeter.Unlimited {
		text += " of " + reasoned(limit)
	}
	p := piece{name, text, c.th.Dim}
	switch {
	case l.Alert():
		p.value, p.st = text+" "+c.caution()+"near", c.th.Attention
	case !used.Known():
		p.st = c.th.Attention
	}
	return p
}

// meterBar is a line of the machine drawn small, with a space before it. In a
// plain theme, and of what is not known, there is none.
func (c canvas) meterBar(l fdmeter.Line) string {
	const cells = 8
	ratio, known := l.Ratio()
	if !known || c.th.Plain {
		return ""
	}
	g, at := &c.th.Glyphs, int(min(max(ratio, 0), 1)*(cells-1))
	return " " + g.TeeRight + strings.Repeat(g.Horizontal, at) + g.Mark + strings.Repeat(g.Horizontal, cells-1-at) + g.TeeLeft
}

// drawFoot draws what happened last, or the keys that work now.
func (f *FDs) drawFoot(c canvas, x, y, w int, focused bool) {
	if f.note != "" {
		c.text(x, y, w, f.note, c.th.Text)
		return
	}
	if !focused {
		return
	}
	between := " " + c.th.Glyphs.Dot + " "
	if c.th.Plain {
		between = ", "
	}
	var out []piece
	for _, h := range f.hints() {
		out = append(out, piece{h.name, h.value, c.th.Dim})
	}
	c.keys(x, y, w, between, out)
}

// allKeys is the hint that stands behind the others: the window lists all keys.
var allKeys = piece{name: "?", value: "keys"}

// keys is pieces with the names as keys: the first, and as many as there is room
// for beside the one that lists them all.
func (c canvas) keys(x, y, w int, between string, hints []piece) {
	cost := func(h piece) int { return screen.Width(h.name) + 1 + screen.Width(h.value) }
	gap, last := screen.Width(between), cost(allKeys)
	at := 0
	put := func(h piece) {
		if at > 0 {
			at += c.s.SetText(x+at, y, gap, between, c.th.Dim)
		}
		at += c.s.SetText(x+at, y, cost(h), h.name, c.th.HintKey)
		at += c.s.SetText(x+at, y, cost(h), " "+h.value, c.th.Dim)
	}
	for i, h := range hints {
		need := at + min(at, gap) + cost(h)
		if i > 0 {
			need += gap + last
		}
		if need > w {
			break
		}
		put(h)
	}
	if at+min(at, gap)+last <= w {
		put(allKeys)
	}
}
