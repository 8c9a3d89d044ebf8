package statusbar

import (
	"strconv"
	"strings"
)

// A Tab is one entry at the left.
type Tab struct {
	Number int
	Name   string
	Active bool
	Mark   Mark // of something in it that nobody has looked at yet
}

// An Alert is what the user should know now. Without Text there is none.
type Alert struct {
	Mark Mark
	Text string
	Hint string // the key that leads to it: "^B a looks"
	// More says that the hint leads to the whole text: rather is the text cut than
	// the hint given up.
	More bool
}

// A Bar is everything the bottom row may show.
type Bar struct {
	Tabs  []Tab
	Alert Alert
	Meter Meter
	Help  string // "^B ? help"; its short form is what stands before the last space
	ASCII bool   // only ASCII glyphs; names stay as they are
}

// Columns between two parts, and at both ends.
const (
	tabGap  = 2
	partGap = 3
	margin  = 1
)

// How much of the tabs is shown.
const (
	tabsWhole   = iota
	tabsShort   // names of the others cut
	tabsNumbers // others by number only
	tabsActive  // the others only counted
	tabsNumber  // the active one by number
	tabsAbsent
)

// Widths to which names and texts are cut, in columns.
const (
	tabNameMost  = 20
	tabNameShort = 8
	alertRoomy   = 24
	alertTight   = 12
	alertGlyph   = 1
)

// A plan is how much of each part is shown.
type plan struct {
	tabs, meter, help int
	hint              bool
	alert             int  // columns the alert gets at least
	tight             bool // no margins, and one column between parts
}

// The help in full, its key only, and nothing.
const (
	helpWhole = iota
	helpKey
	helpAbsent
)

// sacrifices is what is given up, one after another, until the rest fits.
var sacrifices = []func(*plan){
	func(p *plan) { p.help = helpKey },
	func(p *plan) { p.help = helpAbsent },
	func(p *plan) { p.hint = false },
	func(p *plan) { p.tabs = tabsShort },
	func(p *plan) { p.meter = meterPlain },
	func(p *plan) { p.alert = alertRoomy },
	func(p *plan) { p.tabs = tabsNumbers },
	func(p *plan) { p.meter = meterShort },
	func(p *plan) { p.alert = alertTight },
	func(p *plan) { p.tabs = tabsActive },
	func(p *plan) { p.tabs = tabsNumber },
	func(p *plan) { p.meter = meterLeast },
	func(p *plan) { p.tabs = tabsAbsent },
	func(p *plan) { p.alert = alertGlyph },
	func(p *plan) { p.tight = true },
	func(p *plan) { p.meter = meterGlyph },
	func(p *plan) { p.meter = meterAbsent },
}

// TabAt returns the number of the tab at a column of a row that Segments made
// as wide, and false where there is none.
func (b Bar) TabAt(columns, x int) (number int, ok bool) {
	if columns <= 0 {
		return 0, false
	}
	p := b.plan(columns)
	at := margin
	if p.tight {
		at = 0
	}
	for i, tab := range b.Tabs {
		if p.tabs == tabsAbsent || p.tabs >= tabsActive && !tab.Active {
			continue
		}
		w := width(b.tab(tab, p.tabs))
		if x >= at && x < at+w {
			return b.Tabs[i].Number, true
		}
		at += w + tabGap
	}
	return 0, false
}

// HelpAt reports whether the help stands at a column of a row that Segments made
// as wide.
func (b Bar) HelpAt(columns, x int) bool {
	if columns <= 0 {
		return false
	}
	r := b.parts(b.plan(columns))
	end := columns - r.margin
	return x >= end-width(r.help) && x < end
}

// wide is more columns than any text has.
const wide = 1 << 20

// Segments returns the row, exactly width columns wide. A width of 0 or less
// gives none.
func (b Bar) Segments(columns int) []Segment {
	if columns <= 0 {
		return nil
	}
	return b.parts(b.plan(columns)).fill(columns, b.ASCII)
}

// plan gives up one part after another until the rest fits.
func (b Bar) plan(columns int) plan {
	p := plan{hint: true, alert: wide}
	for _, give := range sacrifices {
		if b.parts(p).need() <= columns {
			break
		}
		give(&p)
	}
	p = b.regain(p, columns)
	if b.Alert.More && !p.hint {
		for _, least := range []int{alertRoomy, alertTight} {
			q := p
			q.hint, q.alert = true, min(p.alert, least)
			if b.parts(q).need() <= columns {
				return q
			}
		}
	}
	return p
}

// regain takes back what was given up of the meter and the tabs, where giving
// up something larger afterwards made room, and the alert stands whole.
func (b Bar) regain(p plan, columns int) plan {
	for _, part := range []func(*plan) *int{
		func(p *plan) *int { return &p.meter },
		func(p *plan) *int { return &p.tabs },
	} {
		for *part(&p) > 0 {
			more := p
			*part(&more)--
			if b.Alert.Text != "" {
				more.alert = wide
			}
			if b.parts(more).need() > columns {
				break
			}
			p = more
		}
	}
	return p
}

// A row is the parts of a plan. The alert comes whole; least is how many
// columns it needs.
type row struct {
	tabs, alert, hint, meter, help []Segment
	least                          int
	margin, gap                    int
}

func (b Bar) parts(p plan) row {
	r := row{tabs: b.tabs(p.tabs), meter: b.Meter.segments(p.meter, b.ASCII), margin: margin, gap: partGap}
	if p.tight {
		r.margin, r.gap = 0, 1
	}
	if b.Alert.Text != "" {
		mark := b.Alert.Mark
		if mark == MarkNone {
			mark = MarkAttention
		}
		glyph := mark.segment(b.ASCII)
		r.alert = []Segment{{glyph.Text + " " + clean(b.Alert.Text), glyph.Role}}
		r.least = min(width(r.alert), p.alert)
		if b.Alert.Hint != "" && p.hint {
			r.hint = []Segment{{clean(b.Alert.Hint), Dim}}
		}
	}
	if help := b.help(p.help); help != "" {
		r.help = []Segment{{help, Dim}}
	}
	return r
}

func (b Bar) help(detail int) string {
	help := clean(b.Help)
	switch detail {
	case helpWhole:
		return help
	case helpKey:
		if i := strings.LastIndexByte(help, ' '); i > 0 {
			return help[:i]
		}
	}
	return ""
}

// right returns what stands at the right end, the alert given w columns.
func (r row) right(w int, ascii bool) []Segment {
	var out []Segment
	alert := r.alert
	if len(alert) > 0 {
		alert = []Segment{{shortenAlert(alert[0].Text, w, ascii), alert[0].Role}}
	}
	for _, part := range [][]Segment{alert, r.hint, r.meter, r.help} {
		if len(part) > 0 && len(out) > 0 {
			out = append(out, spaces(r.gap))
		}
		out = append(out, part...)
	}
	return out
}

// shortenAlert keeps the beginning even of a text with a path in it, and the
// glyph when nothing else fits.
func shortenAlert(text string, w int, ascii bool) string {
	if textWidth(text) <= w {
		return text
	}
	glyph, rest, _ := strings.Cut(text, " ")
	if w < textWidth(glyph)+3 {
		return glyph
	}
	dots := "…"
	if ascii {
		dots = ".."
	}
	return glyph + " " + keepStart(rest, w-textWidth(glyph)-1-textWidth(dots)) + dots
}

// rightWidth returns the columns right takes with the alert at its least, even
// where the text falls a column short because a wide character did not fit.
func (r row) rightWidth() int {
	total, parts := 0, 0
	for _, w := range []int{r.least, width(r.hint), width(r.meter), width(r.help)} {
		if w > 0 {
			total += w
			parts++
		}
	}
	return total + r.gap*max(0, parts-1)
}

// need returns the columns the row takes at least.
func (r row) need() int {
	left, right := width(r.tabs), r.rightWidth()
	total := left + right
	if left > 0 {
		total += r.margin
	}
	if right > 0 {
		total += r.margin
	}
	if left > 0 && right > 0 {
		total += tabGap
	}
	return total
}

// fill lays the row out: tabs at the left, everything else at the right, and
// the alert as wide as the room between allows. The row fits: the last
// sacrifice leaves no more than one glyph.
func (r row) fill(columns int, ascii bool) []Segment {
	w := r.least
	if spare := columns - r.need(); spare > 0 {
		w += spare
	}
	right := r.right(w, ascii)
	var out []Segment
	if len(r.tabs) > 0 {
		out = append(append(out, spaces(r.margin)), r.tabs...)
	}
	left := width(out)
	room := max(left, columns-width(right)-r.margin)
	out = append(append(out, spaces(room-left)), right...)
	return merge(append(out, spaces(columns-width(out))))
}

func spaces(n int) Segment { return Segment{strings.Repeat(" ", max(0, n)), Normal} }

func (b Bar) tabs(detail int) []Segment {
	if detail == tabsAbsent {
		return nil
	}
	var out []Segment
	var hidden int
	var worst Mark
	for _, tab := range b.Tabs {
		if detail >= tabsActive && !tab.Active {
			hidden++
			if tab.Mark.severity() > worst.severity() {
				worst = tab.Mark
			}
			continue
		}
		if len(out) > 0 {
			out = append(out, spaces(tabGap))
		}
		out = append(out, b.tab(tab, detail)...)
	}
	if hidden == 0 {
		return out
	}
	if len(out) > 0 {
		out = append(out, spaces(1))
	}
	out = append(out, Segment{"+" + strconv.Itoa(hidden), Dim})
	if worst != MarkNone {
		out = append(out, worst.segment(b.ASCII))
	}
	return out
}

func (b Bar) tab(tab Tab, detail int) []Segment {
	role := Dim
	if tab.Active {
		role = Accent
	}
	text := strconv.Itoa(tab.Number)
	most := tabNameMost
	if detail >= tabsShort && !tab.Active {
		most = tabNameShort
	}
	named := detail < tabsNumbers || tab.Active && detail < tabsNumber
	if name := shorten(clean(tab.Name), most, b.ASCII); named && name != "" {
		text += " " + name
	}
	out := []Segment{{text, role}}
	if tab.Mark != MarkNone {
		out = append(out, spaces(1), tab.Mark.segment(b.ASCII))
	}
	return out
}
