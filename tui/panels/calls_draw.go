package panels

import (
	"strings"

	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
	"github.com/honestty/honestty/vt"
)

const (
	cardIndent = 3  // of the rows below the first: pointer, glyph, space
	toolWidth  = 12 // that titles begin in one column
	roomyTool  = 16 // the same where there is room: "hermes·read_file"
	roomy      = 76
	wideTool   = 28 // the most a tool takes beside its title
	tookWidth  = 6
	minTool    = 8 // what has to be left for the tool beside the time
)

// Draw draws the list, or the call that is open.
func (p *Tools) Draw(s *screen.Screen, x, y, w, h int, focused bool, th theme.Theme) {
	c := canvas{s, &th}
	s.Fill(x, y, w, h, th.Text)
	if w < 2 || h < 1 {
		return
	}
	if p.open != nil {
		p.drawOpen(c, x, y, w, h, focused)
		return
	}
	p.width = w
	if p.book == nil {
		c.text(x+1, y, w-2, "? unknown: the journal is not read yet", th.Dim)
		return
	}
	if h >= minHead {
		p.drawHead(c, x+1, y, w-2)
		y, h = y+1, h-1
	}
	if h >= minHead {
		h--
		p.drawFoot(c, x+1, y+h, w-2, focused)
	}
	n := p.drawAgents(c, x+1, y, w-2, h)
	y, h = y+n, h-n
	if p.view.Len() == 0 {
		p.list.area = rect{}
		c.sentences(x+1, y, w-2, h, p.nothing(), th.Dim)
		return
	}
	p.list.draw(p, rect{x, y, w, h}, func(i, y, rows int) {
		p.drawCard(c, x, y, w, rows, i, focused)
	})
	p.seen = max(p.seen, p.view.At(p.list.top).Seq)
}

// minHead is from how many rows on one is spent on a head or a foot.
const minHead = 4

// nothing says why no call is listed.
func (p *Tools) nothing() string {
	switch {
	case !p.unfiltered():
		return "no call passes the filter: Esc shows all"
	case !p.book.Whole():
		return "no calls since this window was opened; older ones are not read yet"
	}
	return "no calls yet: honestty run -- COMMAND makes one"
}

// sentences writes a text over several rows.
func (c canvas) sentences(x, y, w, h int, text string, st vt.Style) {
	for i, line := range wrapRows(text, w, h) {
		c.text(x, y+i, w, line, st)
	}
}

// drawHead says what is listed: what is new above, the filter, and how many.
func (p *Tools) drawHead(c canvas, x, y, w int) {
	var pieces []piece
	if n := p.newAbove(); n > 0 {
		pieces = append(pieces, piece{value: outcome.Count(int64(n)) + " new above", st: c.th.Attention})
	}
	for _, f := range []string{stateFilterWords[p.which], p.filter.Tool, p.filter.Agent, quoted(p.filter.Text)} {
		if f != "" {
			pieces = append(pieces, piece{value: f, st: c.th.HintKey})
		}
	}
	all := int64(p.book.Len())
	count := countOf(all, "call")
	if !p.unfiltered() {
		count = outcome.Count(int64(p.view.Len())) + " of " + count
	}
	pieces = append(pieces, piece{value: count, st: c.th.Dim})
	if n := missing(p.book); n != 0 {
		text := "events missing"
		if n > 0 {
			text = countOf(n, "event") + " missing"
		}
		pieces = append(pieces, piece{value: c.caution() + text, st: c.th.Attention})
	}
	if n := p.book.Cut(); n > 0 {
		pieces = append(pieces, piece{value: outcome.Count(n) + " older let go", st: c.th.Dim})
	} else if !p.book.Whole() {
		pieces = append(pieces, piece{value: "older not read yet", st: c.th.Dim})
	}
	c.pieces(x, y, w, c.between(), pieces)
}

func quoted(s string) string {
	if s == "" {
		return ""
	}
	return "/" + s
}

// countOf writes a count with its noun: "1 call", "1,204 calls".
func countOf(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return outcome.Count(n) + " " + noun + "s"
}

// between stands between the parts of a line.
func (c canvas) between() string {
	if c.th.Plain {
		return ", "
	}
	return " " + c.th.Glyphs.Dot + " "
}

// drawCard draws the rows of one call.
func (p *Tools) drawCard(c canvas, x, y, w, rows, i int, focused bool) {
	r := p.view.At(i)
	chosen := p.list.selected(i)
	m := c.callMark(r)
	title, tool, dim := c.th.Text, c.th.Text, c.th.Dim
	if chosen {
		title.Attrs |= vt.Bold
		tool.Attrs |= vt.Bold
		if focused {
			title, tool, m.st, dim = c.th.Chosen, c.th.Chosen, c.th.Chosen, c.th.Chosen
			c.s.Fill(x, y, w, 1, c.th.Chosen)
		}
		c.s.SetText(x, y, 1, c.th.Glyphs.Pointer, title)
	}
	c.drawCall(x, y, w, r, m, callTook(r, p.now), [3]vt.Style{tool, title, dim})
	for j, line := range p.card(r, w)[1:] {
		if j+1 >= rows {
			return
		}
		p.drawCardLine(c, x, y+1+j, w, r, line)
	}
}

// drawCall draws the first row of a call: glyph, tool, title, time, word. The
// styles are those of tool, title and time.
func (c canvas) drawCall(x, y, w int, r journal.Record, m stateMark, took string, st [3]vt.Style) {
	at, end := x+1, x+w-1
	if !c.th.Plain {
		c.s.SetText(at, y, 1, m.glyph, m.st)
		at += 2
	}
	word := screen.Width(m.word)
	c.s.SetText(max(end-word, at), y, min(word, end-at), m.word, m.st)
	end -= word + 1
	if end-at > tookWidth+minTool {
		c.right(end, y, tookWidth, took, st[2])
		end -= tookWidth + 1
	}
	tool := c.callTool(r)
	room, below := min(max(screen.Width(tool), toolWidth), wideTool), titleBelow(r, w)
	switch {
	case below:
		room = end - at
	case w >= roomy:
		room = min(max(room, roomyTool), wideTool)
	}
	if room = min(room, end-at); room <= 0 {
		return
	}
	c.text(at, y, room, tool, st[0])
	at += room + 1
	if !below && at < end {
		c.text(at, y, end-at, displayLine(callTitle(r)), st[1])
	}
}

func (p *Tools) drawCardLine(c canvas, x, y, w int, r journal.Record, line cardLine) {
	at, room := x+cardIndent, w-cardIndent-1
	if room <= 0 {
		return
	}
	text := line.text
	switch line.state {
	case cardTitle:
		c.text(at, y, room, text, c.th.Text)
	case cardSummary:
		c.text(at, y, room, text, c.th.Dim)
	case cardError:
		c.target(at, y, room, text, c.th.Dim)
	case cardAgainst:
		c.checkLine(at, y, room, c.mark(theme.Failed, ""), text)
	case cardOpen:
		c.checkLine(at, y, room, c.mark(theme.Unknown, ""), text)
	case cardProgress:
		c.drawProgress(at, y, room, *r.Progress, text)
	}
}

// checkLine writes one check with its glyph. In its claim and what was seen the
// dot is the theme's.
func (c canvas) checkLine(x, y, w int, m stateMark, text string) {
	if c.th.Plain {
		text = strings.Replace(text, checkBetween, ", ", 1)
	} else {
		text = strings.Replace(text, checkBetween, c.between(), 1)
		if !strings.HasPrefix(text, "seen ") && !strings.HasPrefix(text, "nothing seen") {
			c.s.SetText(x, y, min(w, 1), m.glyph, m.st)
		}
		x, w = x+2, w-2
	}
	c.text(x, y, w, text, m.st)
}

// progressBar is how wide the bar is at most.
const progressBar = 20

// drawProgress draws a bar where the end is known, and the figures.
func (c canvas) drawProgress(x, y, w int, p journal.Progress, text string) {
	text = displayLine(text)
	bar := min(progressBar, w-screen.Width(text)-1)
	if p.Total > 0 && p.Done >= 0 && bar >= 4 && !c.th.Plain {
		full := int(float64(bar) * min(float64(p.Done)/float64(p.Total), 1))
		cells := make([]int, bar)
		for i := range full {
			cells[i] = 1
		}
		n := c.s.SetText(x, y, bar, c.th.Glyphs.Sparkline(cells, 1, bar), c.th.Text)
		x, w = x+n+1, w-n-1
	}
	c.text(x, y, w, text, c.th.Dim)
}

// drawFoot draws the filter that is typed, what happened last, or the keys that
// work now.
func (p *Tools) drawFoot(c canvas, x, y, w int, focused bool) {
	switch {
	case p.prompt.on:
		p.prompt.draw(c, x, y, w)
	case p.note != "":
		c.text(x, y, w, p.note, c.th.Text)
	case focused:
		c.keys(x, y, w, c.between(), p.hints())
	}
}
