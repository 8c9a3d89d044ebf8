package panels

import "strings"

// open opens the prompt for what is searched.
func (v *textView) open() {
	v.prompt = textPrompt{on: true}
	v.origin = v.at
}

// typing takes a key while the prompt is open.
func (v *textView) typing(name string) { v.typed(v.prompt.key(name)) }

// typed follows what was typed: the cursor goes to the first line from where it
// was that has it.
func (v *textView) typed(what typed) {
	switch what {
	case typedMore, typedEnter:
		v.search(v.prompt.text)
	case typedEsc:
		v.search("")
	}
}

// search looks for a text from where the prompt was opened.
func (v *textView) search(query string) {
	v.query, v.found = lowerASCII(query), -1
	v.at = v.origin
	if query != "" {
		v.seek(v.origin.place, 1, true)
	}
	v.settle()
}

// again goes to the next line with the text, or the one before, around the
// ends. It reports false when nothing is searched for.
func (v *textView) again(by int) bool {
	if v.query == "" || v.empty() {
		return false
	}
	v.seek(v.valid(v.at).place, by, false)
	v.settle()
	return true
}

// seek puts the cursor on the nearest line with the query, itself included
// where here is set, and unfolds its section.
func (v *textView) seek(from place, by int, here bool) {
	n := 0
	for i := range v.sections {
		n += len(v.sections[i].lines)
	}
	p := from
	if here && v.has(p) {
		v.reveal(p)
		return
	}
	for range n + 1 {
		if p = v.step(p, by); v.has(p) {
			v.reveal(p)
			return
		}
	}
}

// step is the line after a place, or before it, folded or not, around the ends.
func (v *textView) step(p place, by int) place {
	p.line += by
	for range len(v.sections) + 1 {
		n := len(v.sections[p.section].lines)
		if p.line >= 0 && p.line < n {
			return p
		}
		p.section = (p.section + by + len(v.sections)) % len(v.sections)
		p.line = 0
		if by < 0 {
			p.line = len(v.sections[p.section].lines) - 1
		}
	}
	return p
}

func (v *textView) has(p place) bool {
	if p.section >= len(v.sections) || p.line < 0 || p.line >= len(v.sections[p.section].lines) {
		return false
	}
	return findASCII(v.line(p).text, v.query) >= 0
}

// reveal puts the cursor on the row of a line that holds the match.
func (v *textView) reveal(p place) {
	v.sections[p.section].folded = false
	at := findASCII(v.line(p).text, v.query)
	v.at = spot{p, 0}
	for row, start := range v.starts(p) {
		if start <= at {
			v.at.row = row
		}
	}
}

// matches is how many lines have the query.
func (v *textView) matches() int {
	if v.found >= 0 {
		return v.found
	}
	v.found = 0
	for i := range v.sections {
		for _, l := range v.sections[i].lines {
			if findASCII(l.text, v.query) >= 0 {
				v.found++
			}
		}
	}
	return v.found
}

// lowerASCII lowers the letters of ASCII and leaves all else, so that no place
// in the text moves.
func lowerASCII(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r >= 'A' && r <= 'Z' }) {
		return s
	}
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}

// findASCII is where a text that lowerASCII made is in s, without regard to the
// case of ASCII letters; -1 when it is not.
func findASCII(s, low string) int {
	if low == "" {
		return -1
	}
	first, upper := low[0], low[0]
	if first >= 'a' && first <= 'z' {
		upper = first &^ 0x20
	}
	for from := 0; len(s)-from >= len(low); {
		i := strings.IndexByte(s[from:], first)
		if upper != first {
			rest := s[from:]
			if i >= 0 {
				rest = rest[:i]
			}
			if j := strings.IndexByte(rest, upper); j >= 0 {
				i = j
			}
		}
		if i < 0 || from+i+len(low) > len(s) {
			return -1
		}
		if i += from; equalASCII(s[i:i+len(low)], low) {
			return i
		}
		from = i + 1
	}
	return -1
}

func equalASCII(s, low string) bool {
	for i := range len(low) {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != low[i] {
			return false
		}
	}
	return true
}
