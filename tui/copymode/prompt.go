package copymode

import (
	"errors"
	"regexp"
	"slices"
	"unicode/utf8"
)

// A prompt is a pattern being typed. What it finds is shown at once, from where
// the cursor was.
type prompt struct {
	open     bool
	backward bool
	text     []rune
	err      error
	recent   int // how far back in earlier patterns the arrow keys went

	origin Pos // where the cursor was
	top    int64
	topCut bool
	folds  folds
	old    *pattern
	oldDir bool
}

// Typing reports whether a pattern is being typed: every key is text then.
func (m *Mode) Typing() bool { return m.prompt.open }

// openPrompt is / and ?.
func (m *Mode) openPrompt(backward bool) {
	m.prompt = prompt{
		open: true, backward: backward, origin: m.cursor, top: m.top, topCut: m.topCut,
		folds: slices.Clone(m.folds),
		old:   m.search.pat, oldDir: m.search.backward,
	}
}

// promptKey takes a key while a pattern is typed.
func (m *Mode) promptKey(name string) {
	p := &m.prompt
	switch name {
	case "enter", "kpenter", "ctrl+m", "ctrl+j":
		m.accept()
	case "esc", "ctrl+c", "ctrl+g", "ctrl+[":
		m.cancelPrompt()
	case "backspace", "ctrl+h":
		if len(p.text) == 0 {
			m.cancelPrompt()
			return
		}
		m.edit(p.text[:len(p.text)-1])
	case "ctrl+u":
		m.edit(nil)
	case "ctrl+w":
		n := len(p.text)
		for n > 0 && classOf(p.text[n-1], true) == classBlank {
			n--
		}
		for n > 0 && classOf(p.text[n-1], true) != classBlank {
			n--
		}
		m.edit(p.text[:n])
	case "up", "ctrl+p":
		m.recall(1)
	case "down", "ctrl+n":
		m.recall(-1)
	case "space":
		m.Type(" ")
	default:
		if utf8.RuneCountInString(name) != 1 {
			m.res.Handled = false
			return
		}
		m.Type(name)
	}
}

// Type adds text to the pattern being typed, as a paste does. Line ends and
// control characters are left out.
func (m *Mode) Type(text string) {
	if !m.prompt.open {
		return
	}
	t := m.prompt.text
	for _, r := range text {
		if r >= ' ' && r != 0x7F && (r < 0x80 || r >= 0xA0) {
			t = append(t, r)
		}
	}
	m.edit(t)
}

// recall puts an earlier pattern into the prompt; step 1 goes back, -1 forward.
func (m *Mode) recall(step int) {
	p := &m.prompt
	p.recent = min(max(p.recent+step, 0), len(m.recent))
	if p.recent == 0 {
		m.edit(nil)
		return
	}
	m.edit([]rune(m.recent[len(m.recent)-p.recent]))
}

// edit takes the pattern as it is now and looks for it. When it is no regular
// expression nothing moves.
func (m *Mode) edit(text []rune) {
	p := &m.prompt
	p.text = text
	p.err = nil
	if len(text) == 0 {
		m.search.set(nil, m.cut)
		m.refold()
		m.restore()
		return
	}
	pat, err := compile(string(text))
	if err != nil {
		p.err = err
		return
	}
	m.refold()
	m.search.set(pat, m.cut)
	m.search.start(p.origin, p.backward, 1)
	m.advance(keySlice)
}

// restore puts the cursor and the viewport back to where the prompt was opened.
func (m *Mode) restore() {
	p := &m.prompt
	m.moveTo(m.rowOf(p.origin.Line), p.origin.Col)
	m.top, m.topCut = p.top, p.topCut
	m.show()
}

// refold closes the folds that the pattern before opened.
func (m *Mode) refold() {
	m.folds = slices.Clone(m.prompt.folds)
	m.folds.sum()
	m.checkFolds()
}

func (m *Mode) cancelPrompt() {
	m.refold()
	m.restore()
	p := m.prompt
	m.prompt = prompt{}
	m.search.backward = p.oldDir
	m.search.set(p.old, m.cut)
}

// accept ends the prompt and keeps its pattern. Empty, it repeats the one before.
func (m *Mode) accept() {
	p := m.prompt
	if p.err != nil {
		return
	}
	m.prompt = prompt{}
	m.search.backward = p.backward
	if len(p.text) == 0 {
		if p.old == nil {
			m.say("no pattern yet")
			return
		}
		m.search.set(p.old, m.cut)
		m.seek(p.backward, 1)
		return
	}
	if n := len(m.recent); n == 0 || m.recent[n-1] != string(p.text) {
		m.recent = append(m.recent, string(p.text))
	}
	if !m.search.seek.active {
		m.tellNone()
	}
}

// tellNone says so when there is no match at all.
func (m *Mode) tellNone() {
	if found, tail, whole := m.search.all(m.r.Buffer, m.cut); whole && len(found)+len(tail) == 0 {
		m.warn("no match for /" + m.search.pat.source + "/")
	}
}

// seek begins to look for the n-th match that way.
func (m *Mode) seek(backward bool, n int) {
	if m.search.pat == nil {
		m.say("no pattern yet: / searches down, ? searches up")
		return
	}
	m.search.start(m.cursor, backward, n)
	m.advance(keySlice)
}

// advance seeks at most budget rows and goes to the match when it is there. What
// is left of the budget goes to the count.
func (m *Mode) advance(budget int) {
	done, hit, ok := m.search.step(m.r.Buffer, m.cut, budget)
	m.landed(hit, ok)
	if !m.search.seek.active {
		m.search.scan(m.r.Buffer, m.cut, budget-done)
	}
}

// landed goes to a match, or says that the search came back without one.
func (m *Mode) landed(hit match, ok bool) {
	k := m.search.seek
	switch {
	case ok:
		m.putCursor(m.rowOf(hit.from.Line), hit.from.Col)
		m.showCentered()
		if k.turned && k.backward {
			m.say("the search went on from the end")
		} else if k.turned {
			m.say("the search went on from the beginning")
		}
	case !k.active && m.search.pat != nil:
		if m.prompt.open {
			m.restore()
		}
		m.warn("no match for /" + m.search.pat.source + "/")
	}
}

// word is * and #: searches for the word under the cursor, or the next on its line.
func (m *Mode) word(backward bool, n int) {
	p := m.at()
	for m.class(p, false) == classBlank {
		q, brk, ok := m.next(p)
		if !ok || brk {
			m.say("no word under the cursor")
			return
		}
		p = q
	}
	if m.class(p, false) == classPunct {
		// As in vi, a word later on the line is preferred to punctuation.
		for q := p; ; {
			var brk, ok bool
			if q, brk, ok = m.next(q); !ok || brk {
				break
			}
			if m.class(q, false) == classWord {
				p = q
				break
			}
		}
	}
	text := m.run(p)
	source := regexp.QuoteMeta(text)
	if isWordByte(text[0]) {
		source = `\b` + source
	}
	if isWordByte(text[len(text)-1]) {
		source += `\b`
	}
	pat, err := compile(source)
	if err != nil {
		m.warn(reason(err))
		return
	}
	m.search.set(pat, m.cut)
	m.search.backward = backward
	start := m.runStart(p)
	m.moveTo(start.row, start.col)
	m.seek(backward, n)
}

// isWordByte reports whether \b can stand beside a byte: RE2 knows ASCII words only.
func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// runStart returns where the run of characters of one class around p begins.
func (m *Mode) runStart(p place) place {
	c := m.class(p, false)
	for {
		q, brk, ok := m.back(p)
		if !ok || brk || m.class(q, false) != c {
			return p
		}
		p = q
	}
}

// run returns the text of the run of characters of one class around p.
func (m *Mode) run(p place) string {
	p = m.runStart(p)
	c := m.class(p, false)
	var text []byte
	for {
		text = appendCell(text, m.r.Buffer, m.r.cell(p.row, p.col))
		q, brk, ok := m.next(p)
		if !ok || brk || m.class(q, false) != c || len(text) > maxPattern {
			return string(text)
		}
		p = q
	}
}

// reason is the text of an error without the verb.
func reason(err error) string {
	if e, ok := errors.AsType[*PatternError](err); ok {
		return e.Reason()
	}
	return err.Error()
}

// Step goes on with a search, reading at most budget rows. It reports whether
// there is more to do, and whether the cursor moved.
func (m *Mode) Step(budget int) (more, moved bool) {
	if m.search.pat == nil {
		return false, false
	}
	if m.search.seek.active {
		done, hit, ok := m.search.step(m.r.Buffer, m.cut, budget)
		m.landed(hit, ok)
		budget -= done
		moved = ok
	}
	if budget > 0 && !m.search.seek.active {
		m.search.scan(m.r.Buffer, m.cut, budget)
	}
	return m.more(), moved
}

func (m *Mode) more() bool {
	return m.search.seek.active || m.search.scannable(m.r.Buffer, m.cut)
}
