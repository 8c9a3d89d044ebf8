package picker

import (
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"

	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/vt"
)

// maxLine bounds a Line, in bytes. Names and searches are far shorter; a paste
// of a whole file is a slip and would only make every key slow.
const maxLine = 4096

// A Line is one line of input. It holds no control and no bidirectional
// character, and its cursor stands between two characters as they are seen,
// never inside one. The zero value is empty and ready.
type Line struct {
	text string
	at   int // cursor, as a byte offset
	from int // the first character that is drawn, as a byte offset
	cut  bool
}

// Text returns what was typed.
func (l *Line) Text() string { return l.text }

// Cut reports whether the last insertion did not fit and lost its end.
func (l *Line) Cut() bool { return l.cut }

// Set replaces the text and puts the cursor behind it.
func (l *Line) Set(text string) {
	*l = Line{}
	l.Insert(text)
}

// Insert puts text at the cursor, as typing and pasting do. Line breaks and
// tabs become one space, other control characters are left out, and what goes
// beyond the limit is cut.
func (l *Line) Insert(text string) {
	text = oneLine(text)
	room := maxLine - len(l.text)
	l.cut = len(text) > room
	if l.cut {
		for room > 0 && !utf8.RuneStart(text[room]) {
			room--
		}
		text = text[:room]
	}
	l.text = l.text[:l.at] + text + l.text[l.at:]
	l.at += len(text)
	l.snap()
}

// oneLine makes any text fit for one line.
func oneLine(text string) string {
	var b strings.Builder
	space := false
	for _, r := range text { // an invalid byte comes as U+FFFD
		switch {
		case r == '\n' || r == '\r' || r == '\t' || r == 0x2028 || r == 0x2029 || r == 0x85:
			if !space {
				b.WriteByte(' ')
			}
			space = true
		case screen.Visible(string(r)) != string(r):
		default:
			b.WriteRune(r)
			space = false
		}
	}
	return b.String()
}

// snap moves a cursor that came to stand inside a character behind it: what was
// typed or deleted can make two characters one.
func (l *Line) snap() {
	i := 0
	for i < l.at {
		i = l.next(i)
	}
	l.at = i
}

// next returns the end of the character that begins at i.
func (l *Line) next(i int) int {
	g := displaywidth.StringGraphemes(l.text[i:])
	if !g.Next() {
		return len(l.text)
	}
	return i + len(g.Value())
}

// prev returns the begin of the character that ends at i, 0 at the begin.
func (l *Line) prev(i int) int {
	at := 0
	for at < i {
		end := l.next(at)
		if end >= i {
			break
		}
		at = end
	}
	return at
}

// word returns the other end of the word beside the cursor, in the direction of
// step: l.next or l.prev. Words are parted by spaces.
func (l *Line) word(step func(int) int, end int) int {
	i, inside := l.at, false
	for i != end {
		to := step(i)
		space := strings.TrimSpace(l.text[min(i, to):max(i, to)]) == ""
		if inside && space {
			break
		}
		inside = inside || !space
		i = to
	}
	return i
}

// remove takes [from, to) out and puts the cursor there.
func (l *Line) remove(from, to int) {
	l.text = l.text[:from] + l.text[to:]
	l.at = from
	l.snap()
}

// lineKeys are the keys that edit a line, by their names in tui/input.
var lineKeys = map[string]func(*Line){
	"left":  func(l *Line) { l.at = l.prev(l.at) },
	"right": func(l *Line) { l.at = l.next(l.at) },
	"home":  func(l *Line) { l.at = 0 },
	"end":   func(l *Line) { l.at = len(l.text) },

	"ctrl+left":  func(l *Line) { l.at = l.word(l.prev, 0) },
	"ctrl+right": func(l *Line) { l.at = l.word(l.next, len(l.text)) },

	"backspace": func(l *Line) { l.remove(l.prev(l.at), l.at) },
	"delete":    func(l *Line) { l.remove(l.at, l.next(l.at)) },
	"ctrl+k":    func(l *Line) { l.remove(l.at, len(l.text)) },
	"ctrl+u":    func(l *Line) { l.remove(0, l.at) },
	"ctrl+w":    func(l *Line) { l.remove(l.word(l.prev, 0), l.at) },
}

// otherNames are keys that do the same as one in lineKeys.
var otherNames = map[string]string{
	"ctrl+a": "home", "ctrl+e": "end", "ctrl+h": "backspace", "ctrl+d": "delete",
	"alt+b": "ctrl+left", "alt+f": "ctrl+right", "alt+left": "ctrl+left", "alt+right": "ctrl+right",
	"alt+backspace": "ctrl+w", "ctrl+backspace": "ctrl+w", "shift+backspace": "backspace",
}

// Key takes one key by its name and what it types, and reports whether it was
// one of a line's. A key that types nothing and edits nothing is not.
func (l *Line) Key(name, text string) (handled bool) {
	name = keypad(name)
	if other, ok := otherNames[name]; ok {
		name = other
	}
	if edit, ok := lineKeys[name]; ok {
		l.cut = false
		edit(l)
		return true
	}
	if oneLine(text) == "" || chord(name) || strings.ContainsAny(text, "\r\n\t") {
		return false
	}
	l.Insert(text)
	return true
}

// chord reports a name with a modifier that makes a command of a character.
func chord(name string) bool {
	for _, mod := range []string{"super+", "hyper+", "meta+", "ctrl+", "alt+"} {
		if strings.HasPrefix(name, mod) {
			return true
		}
	}
	return false
}

// keypad gives the keys of the keypad that move and choose their plain names.
func keypad(name string) string {
	switch name {
	case "kpenter", "kpup", "kpdown", "kpleft", "kpright", "kphome", "kpend", "kpdelete":
		return name[2:]
	case "kppgup", "kppgdown":
		return name[2:]
	}
	return name
}

// Draw writes the line into one row and returns where the cursor is. The part
// around the cursor shows; an ellipsis stands for what is left out.
func (l *Line) Draw(s *screen.Screen, x, y, w int, st vt.Style, ellipsis string) (cursor int) {
	if w <= 0 {
		return x
	}
	l.window(w)
	col, end := x, x+w
	if l.from > 0 && w > 1 {
		col += s.SetText(col, y, 1, ellipsis, st)
	}
	cursor = min(col+screen.Width(l.text[l.from:l.at]), end-1)
	rest := l.text[l.from:]
	if screen.Width(rest) > end-col {
		n := s.SetText(col, y, end-col-1, rest, st)
		s.SetText(col+n, y, end-col-n, ellipsis, st)
		return cursor
	}
	s.SetText(col, y, end-col, rest, st)
	return cursor
}

// window chooses from where the line is drawn so that the cursor is seen, and
// moves as little as it can.
func (l *Line) window(w int) {
	l.from = min(l.from, l.at)
	for l.from < l.at && !l.shows(l.from, w) {
		l.from = l.next(l.from)
	}
	for l.from > 0 {
		back := l.prev(l.from)
		if !l.shows(back, w) || l.shown(back)+1 > w {
			return
		}
		l.from = back
	}
}

// shown returns the columns of the line from a place on, the ellipsis before it
// counted.
func (l *Line) shown(from int) int {
	n := screen.Width(l.text[from:])
	if from > 0 {
		n++
	}
	return n
}

// shows reports whether the cursor is seen in w columns that begin at a place.
func (l *Line) shows(from, w int) bool {
	used := screen.Width(l.text[from:l.at])
	if from > 0 {
		used++
	}
	if l.at == len(l.text) {
		return used < w
	}
	if l.shown(from) > w {
		used++ // the ellipsis at the end
	}
	return used+screen.Width(l.text[l.at:l.next(l.at)]) <= w
}
