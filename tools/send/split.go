package send

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// minPart is the smallest limit that leaves room for text beside a closed
// fence and a number; below it a text is cut without either.
const minPart = 64

// Split cuts a text into parts of at most limit units. A limit of 0 is none.
//
// It cuts at a blank line, a line end, a space or between characters, in this
// order. A code fence that a cut would leave open is closed at the end of the
// part and opened again at the start of the next. Where there are several
// parts each ends in its number: " (2/3)".
func Split(text string, limit int, u Unit) []string {
	if text == "" {
		return nil
	}
	if limit <= 0 || u.Count(text) <= limit {
		return []string{text}
	}
	for digits := 1; ; digits++ {
		number := len(" (/)") + 2*digits
		if limit < minPart {
			number = 0
		}
		parts := cutAll(text, limit-number, u, number > 0)
		if number == 0 {
			return parts
		}
		if len(fmt.Sprint(len(parts))) <= digits {
			for i := range parts {
				parts[i] = numbered(parts[i], i+1, len(parts))
			}
			return parts
		}
	}
}

// numbered puts the number behind a part, on a line of its own where the part
// ends in a fence: anything behind a fence would keep it open. The line end
// takes the place of the space.
func numbered(part string, i, n int) string {
	gap := " "
	if _, _, ok := fenceLine(part[strings.LastIndexByte(part, '\n')+1:]); ok {
		gap = "\n"
	}
	return fmt.Sprintf("%s%s(%d/%d)", part, gap, i, n)
}

func cutAll(text string, limit int, u Unit, fences bool) []string {
	var parts []string
	opener := "" // the line that opens the fence again, empty outside of one
	for text != "" {
		head := ""
		if opener != "" {
			head = opener + "\n"
		}
		if u.Count(head)+u.Count(text) <= limit {
			return append(parts, head+text)
		}
		room := limit - u.Count(head)
		n := cutPoint(text, room, u)
		open := openFence(opener, text[:n])
		if fences && open != "" {
			// The closing line has to fit as well.
			if n = cutPoint(text, room-u.Count("\n"+mark(open)), u); n < len(text) {
				open = openFence(opener, text[:n])
			}
		}
		body := strings.TrimRight(text[:n], " \n")
		rest := text[n:]
		if u.Count(open) > limit/4 {
			open = mark(open) // its words would leave no room for text
		}
		if !fences || open == "" {
			open = ""
			rest = strings.TrimLeft(rest, " \n")
		} else {
			body += "\n" + mark(open)
			rest = strings.TrimPrefix(rest, "\n")
		}
		if body != "" {
			parts = append(parts, head+body)
		}
		text, opener = rest, open
	}
	return parts
}

// cutPoint is where to cut so that what is before has at most room units; at
// least one character is before it.
func cutPoint(text string, room int, u Unit) int {
	end, n := 0, 0
	for end < len(text) {
		_, size := utf8.DecodeRuneInString(text[end:])
		n += u.Count(text[end : end+size])
		if n > room && end > 0 {
			break
		}
		end += size
	}
	if end == len(text) {
		return end
	}
	head := text[:end]
	// A cut is taken early only when it does not waste more than half a part.
	for _, at := range []string{"\n\n", "\n", " "} {
		if i := strings.LastIndex(head, at); i > end/2 {
			return i + len(at)
		}
	}
	return betweenCharacters(text, end)
}

// betweenCharacters moves a cut back so that it does not part a character from
// its marks and joiners, if one is near.
func betweenCharacters(text string, end int) int {
	const near = 64 // bytes: the longest emoji sequences have about forty
	for i := end; i > 0 && end-i < near; {
		next, _ := utf8.DecodeRuneInString(text[i:])
		prev, size := utf8.DecodeLastRuneInString(text[:i])
		if !joins(next) && prev != '\u200d' {
			return i
		}
		i -= size
	}
	return end
}

func joins(r rune) bool {
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Mc) || r == '\u200d' || r >= 0xFE00 && r <= 0xFE0F ||
		r >= 0x1F3FB && r <= 0x1F3FF
}

// openFence is the line that opened the fence in which text ends, when it
// began inside of opener; empty when it ends outside of one.
func openFence(opener, text string) string {
	for line := range strings.SplitSeq(text, "\n") {
		m, info, ok := fenceLine(line)
		switch {
		case !ok:
		case opener == "":
			opener = m + info
		case info == "" && m[0] == mark(opener)[0] && len(m) >= len(mark(opener)):
			opener = ""
		}
	}
	return opener
}

// fenceLine takes apart a line that opens or closes a fence: its mark and what
// follows.
func fenceLine(line string) (m, info string, ok bool) {
	line = strings.TrimSpace(line)
	m = mark(line)
	if len(m) < 3 {
		return "", "", false
	}
	info = strings.TrimSpace(line[len(m):])
	if m[0] == '`' && strings.Contains(info, "`") {
		return "", "", false
	}
	return m, info, true
}

// mark is the run of backticks or tildes that s starts with.
func mark(s string) string {
	if s == "" || s[0] != '`' && s[0] != '~' {
		return ""
	}
	return s[:len(s)-len(strings.TrimLeft(s, s[:1]))]
}
