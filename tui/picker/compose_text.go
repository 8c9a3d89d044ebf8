package picker

import (
	"strings"
	"unicode/utf8"

	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/vt"
)

// maxText bounds a Text, in bytes: more than any platform takes in one message,
// and little enough that every key is quick.
const maxText = 64 << 10

// A Text is a text of several lines, typed or pasted. Beside line ends it holds
// no control and no bidirectional character. The zero value is empty and ready.
type Text struct {
	edit Line // the text and the cursor; its limit and its one line do not hold
	top  int  // the first row that is drawn
	w, h int  // of the area, when it was drawn last
	note string
}

// String returns what was typed.
func (t *Text) String() string { return t.edit.text }

// Note says what the last insertion did not keep as it was; "" when it kept all.
func (t *Text) Note() string { return t.note }

// Set replaces the text and puts the cursor behind it.
func (t *Text) Set(text string) {
	t.edit, t.top = Line{}, 0
	t.Insert(text)
}

// Insert puts text at the cursor. A tab becomes four spaces; other control
// characters are left out, and what goes beyond the limit is cut. Note says so.
func (t *Text) Insert(text string) {
	t.note = ""
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ReplaceAll(text, "\r", "\n")
	clean := strings.Map(func(r rune) rune {
		switch s := string(r); {
		case r == '\n' || r == '\t' || screen.Visible(s) == s:
			return r
		default:
			return -1
		}
	}, strings.ToValidUTF8(text, "\uFFFD"))
	if clean != text {
		t.note = "Characters that cannot be seen were left out."
	}
	clean = strings.ReplaceAll(clean, "\t", "    ")
	if room := maxText - len(t.edit.text); len(clean) > room {
		for room > 0 && !utf8.RuneStart(clean[room]) {
			room--
		}
		clean = clean[:room]
		t.note = "The text is longer than a message may be here; its end was left out."
	}
	l := &t.edit
	l.text = l.text[:l.at] + clean + l.text[l.at:]
	l.at += len(clean)
	l.snap()
}

// Key takes one key by its name and what it types, and reports whether it was
// one of a text's.
func (t *Text) Key(name, text string) (handled bool) {
	name = keypad(name)
	if other, ok := otherNames[name]; ok {
		name = other
	}
	l := &t.edit
	rows := t.rows()
	row := rowOf(rows, l.at)
	from, end := rows[row], t.end(rows, row)
	switch name {
	case "enter":
		t.Insert("\n")
		return true
	case "up", "ctrl+p":
		t.toRow(rows, row, row-1)
	case "down", "ctrl+n":
		t.toRow(rows, row, row+1)
	case "pgup":
		t.toRow(rows, row, row-max(t.h-1, 1))
	case "pgdown":
		t.toRow(rows, row, row+max(t.h-1, 1))
	case "home":
		l.at = from
	case "end":
		l.at = end
	case "ctrl+home":
		l.at = 0
	case "ctrl+end":
		l.at = len(l.text)
	case "ctrl+k":
		l.remove(l.at, end)
	case "ctrl+u":
		l.remove(from, l.at)
	default:
		if edit, ok := lineKeys[name]; ok {
			edit(l)
			break
		}
		if oneLine(text) == "" || chord(name) || strings.ContainsAny(text, "\r\n\t") {
			return false
		}
		t.Insert(text)
		return true
	}
	t.note = ""
	return true
}

// rows returns where the rows of the text begin, in bytes: 0 first. A row ends
// at a line end, or after its last space where the next word has no room.
func (t *Text) rows() []int {
	w := max(t.w, 1)
	rows, col, space := []int{0}, 0, 0
	for i, text := 0, t.edit.text; i < len(text); {
		to := t.edit.next(i)
		n := screen.Width(text[i:to])
		from := rows[len(rows)-1]
		if text[i] == '\n' {
			rows, col, i = append(rows, to), 0, to
			continue
		}
		if col+n > w && col > 0 && text[i] != ' ' {
			at := i
			if space > from {
				at = space
			}
			rows, col = append(rows, at), screen.Width(text[at:i])
		}
		if col += n; text[i] == ' ' {
			space = to
		}
		i = to
	}
	return rows
}

// rowOf is the row of a place. The end of a row that is only wrapped is the
// begin of the next.
func rowOf(rows []int, at int) int {
	row := 0
	for i, from := range rows {
		if from <= at {
			row = i
		}
	}
	return row
}

// end is the last place in a row that the cursor can have.
func (t *Text) end(rows []int, row int) int {
	if row+1 == len(rows) {
		return len(t.edit.text)
	}
	return t.edit.prev(rows[row+1])
}

// toRow moves the cursor to another row, in about the same column.
func (t *Text) toRow(rows []int, from, to int) {
	l := &t.edit
	to = max(min(to, len(rows)-1), 0)
	if to == from {
		return
	}
	col := screen.Width(l.text[rows[from]:l.at])
	at, end := rows[to], t.end(rows, to)
	for at < end {
		next := l.next(at)
		if screen.Width(l.text[rows[to]:next]) > col {
			break
		}
		at = next
	}
	l.at = at
}

// click puts the cursor at a cell of the area.
func (t *Text) click(x, y int) {
	rows := t.rows()
	row := max(min(t.top+y, len(rows)-1), 0)
	at, end := rows[row], t.end(rows, row)
	for at < end && screen.Width(t.edit.text[rows[row]:t.edit.next(at)]) <= x {
		at = t.edit.next(at)
	}
	t.edit.at = at
}

// Draw writes the text into an area and returns the cell of the cursor. The row
// of the cursor is always in it.
func (t *Text) Draw(s *screen.Screen, x, y, w, h int, st vt.Style) (cx, cy int) {
	t.w, t.h = max(w-1, 1), h // the cursor has room behind the last character
	rows := t.rows()
	row := rowOf(rows, t.edit.at)
	t.top = max(min(t.top, row, len(rows)-h), row-h+1, 0)
	for i := range min(h, len(rows)-t.top) {
		from, to := rows[t.top+i], len(t.edit.text)
		if t.top+i+1 < len(rows) {
			to = rows[t.top+i+1]
		}
		s.SetText(x, y+i, w, strings.TrimSuffix(t.edit.text[from:to], "\n"), st)
	}
	col := screen.Width(t.edit.text[rows[row]:t.edit.at]) // spaces at the end of a row have no room
	return x + min(col, w-1), y + row - t.top
}
