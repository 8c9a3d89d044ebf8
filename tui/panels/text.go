package panels

import (
	"slices"
)

// A textRole says how a line of a text is drawn and wrapped.
type textRole uint8

const (
	rolePlain   textRole = iota // prose and fields: rows break at spaces
	roleDim                     // what is there when looked for
	roleOK                      // a proof
	roleCaution                 // what is not known or not whole
	roleFailure                 // a contradiction, an error
	roleOutput                  // as a terminal would wrap it
)

// A textLine is one line of a text, fit to be shown.
type textLine struct {
	text string
	name uint8 // so many bytes at its beginning name what follows
	role textRole
}

// A textSection is a part of a text below a heading that folds it. Without a
// title it has no heading and is always open.
type textSection struct {
	title, note string
	lines       []textLine
	folded      bool
}

// A place is a line of a section; line -1 is the heading.
type place struct{ section, line int }

// A spot is one row of a line.
type spot struct {
	place
	row int
}

func (a spot) before(b spot) bool {
	switch {
	case a.section != b.section:
		return a.section < b.section
	case a.line != b.line:
		return a.line < b.line
	}
	return a.row < b.row
}

// A textView shows sections of text, of which only the rows in view are ever
// laid out. Its cursor is a row. The zero value is empty.
type textView struct {
	sections []textSection
	at, top  spot
	w, h     int // of the text, when it was drawn last
	area     rect
	fold     bool // z was pressed: a folds

	prompt textPrompt
	query  string
	origin spot // where the cursor was when the prompt opened
	found  int  // lines with the query; -1 when not counted

	wraps map[string][]int // of long lines, for the width w
}

// longLine is from how many bytes on the rows of a line are kept, and maxWraps
// how many such lines.
const longLine, maxWraps = 512, 64

// line returns the line at a place, which is no heading.
func (v *textView) line(p place) *textLine { return &v.sections[p.section].lines[p.line] }

// starts returns where the rows of the line at a place begin.
func (v *textView) starts(p place) []int {
	if p.line < 0 {
		return []int{0}
	}
	l := v.line(p)
	indent := 2
	if l.role == roleOutput {
		indent = 0
	}
	if len(l.text) < longLine {
		return wrapText(l.text, v.w, indent, l.role != roleOutput)
	}
	if s, ok := v.wraps[l.text]; ok {
		return s
	}
	if v.wraps == nil || len(v.wraps) >= maxWraps {
		v.wraps = map[string][]int{}
	}
	s := wrapText(l.text, v.w, indent, l.role != roleOutput)
	v.wraps[l.text] = s
	return s
}

// shown reports whether a section has something to stand on.
func (s *textSection) first() (line int, ok bool) {
	if s.title != "" {
		return -1, true
	}
	return 0, len(s.lines) > 0
}

func (s *textSection) last() (line int, ok bool) {
	switch {
	case len(s.lines) > 0 && (!s.folded || s.title == ""):
		return len(s.lines) - 1, true
	case s.title != "":
		return -1, true
	}
	return 0, false
}

// first returns the first row of the text; ok is false when it has none.
func (v *textView) first() (s spot, ok bool) {
	for i := range v.sections {
		if line, ok := v.sections[i].first(); ok {
			return spot{place{i, line}, 0}, true
		}
	}
	return spot{}, false
}

// last returns the last row of the text.
func (v *textView) last() (s spot, ok bool) {
	for i := range slices.Backward(v.sections) {
		if line, ok := v.sections[i].last(); ok {
			p := place{i, line}
			return spot{p, len(v.starts(p)) - 1}, true
		}
	}
	return spot{}, false
}

// next returns the row after one.
func (v *textView) next(s spot) (spot, bool) {
	if s.row+1 < len(v.starts(s.place)) {
		s.row++
		return s, true
	}
	if line, _ := v.sections[s.section].last(); s.line < line {
		return spot{place{s.section, s.line + 1}, 0}, true
	}
	for i := s.section + 1; i < len(v.sections); i++ {
		if line, ok := v.sections[i].first(); ok {
			return spot{place{i, line}, 0}, true
		}
	}
	return s, false
}

// prev returns the row before one.
func (v *textView) prev(s spot) (spot, bool) {
	if s.row > 0 {
		s.row--
		return s, true
	}
	end := func(p place) (spot, bool) { return spot{p, len(v.starts(p)) - 1}, true }
	if line, _ := v.sections[s.section].first(); s.line > line {
		return end(place{s.section, s.line - 1})
	}
	for i := s.section - 1; i >= 0; i-- {
		if line, ok := v.sections[i].last(); ok {
			return end(place{i, line})
		}
	}
	return s, false
}

// valid brings a spot back onto a row that exists.
func (v *textView) valid(s spot) spot {
	if s.section >= len(v.sections) {
		s, _ = v.last()
		return s
	}
	sec := &v.sections[s.section]
	first, ok := sec.first()
	last, _ := sec.last()
	if !ok {
		first, _ := v.first()
		return first
	}
	if line := max(min(s.line, last), first); line != s.line {
		s.line, s.row = line, 0
	}
	s.row = max(min(s.row, len(v.starts(s.place))-1), 0)
	return s
}

// empty reports a text without a row.
func (v *textView) empty() bool {
	_, ok := v.first()
	return !ok
}

// walk goes by rows from a spot, as far as there are any.
func (v *textView) walk(s spot, by int) spot {
	step := v.next
	if by < 0 {
		step, by = v.prev, -by
	}
	for range by {
		to, ok := step(s)
		if !ok {
			break
		}
		s = to
	}
	return s
}

// settle makes cursor and top valid and the cursor seen. The last page is full
// where the text is long enough.
func (v *textView) settle() {
	if v.empty() {
		v.at, v.top = spot{}, spot{}
		return
	}
	v.at, v.top = v.valid(v.at), v.valid(v.top)
	h := max(v.h, 1)
	if v.at.before(v.top) {
		v.top = v.at
	}
	if first := v.walk(v.at, 1-h); v.top.before(first) {
		v.top = first
	}
	end, _ := v.last()
	if first := v.walk(end, 1-h); first.before(v.top) {
		v.top = first
	}
}

// move moves the cursor by rows.
func (v *textView) move(by int) {
	if v.empty() {
		return
	}
	v.at = v.walk(v.valid(v.at), by)
	v.settle()
}

// home and end go to the ends of the text.
func (v *textView) home() {
	v.at, _ = v.first()
	v.settle()
}

func (v *textView) end() {
	v.at, _ = v.last()
	v.settle()
}

// atEnd reports a cursor on the last row.
func (v *textView) atEnd() bool {
	end, ok := v.last()
	return ok && v.valid(v.at) == end
}

// scroll moves the view by rows and takes the cursor along only at its edges.
func (v *textView) scroll(by int) {
	if v.empty() {
		return
	}
	v.top = v.walk(v.valid(v.top), by)
	end, _ := v.last()
	if last := v.walk(end, 1-max(v.h, 1)); last.before(v.top) {
		v.top = last
	}
	if v.at.before(v.top) {
		v.at = v.top
	}
	if low := v.walk(v.top, max(v.h, 1)-1); low.before(v.at) {
		v.at = low
	}
}

// heading moves the cursor to the heading after it, or before it.
func (v *textView) heading(by int) {
	for i := v.at.section + by; i >= 0 && i < len(v.sections); i += by {
		if v.sections[i].title != "" {
			v.at = spot{place{i, -1}, 0}
			v.settle()
			return
		}
	}
	if by < 0 {
		v.home()
	}
}

// toggle folds or unfolds the section of the cursor, and reports whether it has
// a heading to fold under.
func (v *textView) toggle() bool {
	if v.empty() {
		return false
	}
	v.at = v.valid(v.at)
	s := &v.sections[v.at.section]
	if s.title == "" {
		return false
	}
	s.folded = !s.folded
	v.at = spot{place{v.at.section, -1}, 0}
	v.settle()
	return true
}

// section returns the index of the section with a title, -1 when there is none.
func (v *textView) section(title string) int {
	return slices.IndexFunc(v.sections, func(s textSection) bool { return s.title == title })
}

// replace gives a section other lines. shift is how many lines further down
// those that stay are now; the view stays on them, and at the end where it was
// there.
func (v *textView) replace(i int, lines []textLine, shift int) {
	follow := v.atEnd()
	v.sections[i].lines = lines
	for _, s := range []*spot{&v.at, &v.top, &v.origin} {
		if s.section == i && s.line >= 0 {
			s.line = max(s.line+shift, 0)
		}
	}
	v.found = -1
	if follow {
		v.end()
		return
	}
	v.settle()
}

// key takes one key; handled is false for a key that is not the text's.
func (v *textView) key(name string) (handled bool) {
	page := max(v.h-1, 1)
	if v.fold {
		v.fold = false
		if name == "a" {
			v.toggle()
			return true
		}
	}
	switch name {
	case "j", "down", "ctrl+n":
		v.move(1)
	case "k", "up", "ctrl+p":
		v.move(-1)
	case "pgdown", "ctrl+d", "space":
		v.move(page)
	case "pgup", "ctrl+u":
		v.move(-page)
	case "home":
		v.home()
	case "end", "G":
		v.end()
	case "}":
		v.heading(1)
	case "{":
		v.heading(-1)
	case "z":
		v.fold = true
	case "enter":
		return v.onHeading() && v.toggle()
	case "n":
		return v.again(1)
	case "N":
		return v.again(-1)
	case "/":
		v.open()
	default:
		return false
	}
	return true
}

// onHeading reports a cursor on a heading.
func (v *textView) onHeading() bool { return !v.empty() && v.valid(v.at).line < 0 }
