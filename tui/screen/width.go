package screen

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// hidden reports whether r must never reach the terminal: C0, DEL, C1, the
// bidirectional controls, the line and paragraph separators.
func hidden(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7F && r < 0xA0:
		return true
	case r < 0x061C:
		return false
	}
	return r == 0x061C || r == 0x200E || r == 0x200F ||
		r >= 0x2028 && r <= 0x202E || r >= 0x2066 && r <= 0x2069
}

// appendHidden appends the visible form of a character that is not sent: ^[ for
// C0 and DEL, <U+202E> for the rest.
func appendHidden(dst []byte, r rune) []byte {
	if r < 0x20 || r == 0x7F {
		return append(dst, '^', byte(r)^0x40)
	}
	return fmt.Appendf(dst, "<U+%04X>", r)
}

// Visible returns text with every control and bidirectional character in its
// visible form. What comes from outside passes through it before it is styled
// for DrawANSI; SetText does it itself.
func Visible(text string) string {
	if strings.IndexFunc(text, hidden) < 0 {
		return text
	}
	out := make([]byte, 0, len(text)+16)
	for _, r := range text {
		if hidden(r) {
			out = appendHidden(out, r)
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	return string(out)
}

// Width returns the columns that SetText needs for text.
func Width(text string) int {
	n := 0
	for len(text) > 0 {
		piece, w, rest := next(text)
		n += w
		if piece == "" {
			n += len(appendHidden(nil, firstHidden(text[:len(text)-len(rest)])))
		}
		text = rest
	}
	return n
}

// next takes the first character off a text: its bytes, its width, the rest.
// The piece is empty when it must not be sent and has to be shown in its
// visible form. Text must not be empty.
func next(text string) (piece string, width int, rest string) {
	if b := text[0]; b >= 0x20 && b < 0x7F && (len(text) == 1 || text[1] < utf8.RuneSelf) {
		return text[:1], 1, text[1:]
	}
	if text[0] >= utf8.RuneSelf {
		if _, n := utf8.DecodeRuneInString(text); n == 1 {
			return "\uFFFD", 1, text[1:]
		}
	}
	g := displaywidth.StringGraphemes(text)
	g.Next()
	piece, rest = g.Value(), text[len(g.Value()):]
	width = g.Width()
	if strings.IndexFunc(piece, hidden) >= 0 || width == 0 {
		_, n := utf8.DecodeRuneInString(piece)
		return "", 0, text[n:]
	}
	if i := strings.IndexRune(piece, utf8.RuneError); i > 0 {
		// An invalid byte joined the cluster: it becomes a character of its own.
		return piece[:i], displaywidth.String(piece[:i]), text[i:]
	}
	return piece, min(width, 2), rest
}

// firstHidden returns the character that next refused.
func firstHidden(text string) rune {
	r, _ := utf8.DecodeRuneInString(text)
	return r
}

// A class says how far terminals agree on the width of a character.
type class uint8

const (
	unclassed class = iota
	sure            // every terminal draws it in the same columns
	ambiguous       // one column, two in some East Asian settings
	unsure          // emoji and the like: what is drawn differs by terminal
)

// classes holds the class of each character of the basic plane, filled a page
// at a time when the first character of the page is asked for.
type classes [256]*[256]class

// of returns the class of a single character that is not ASCII.
func (k *classes) of(r rune, wide bool) class {
	if r >= 0x10000 {
		if r >= 0x20000 && r < 0x40000 && wide {
			return sure
		}
		return unsure
	}
	page := k[r>>8]
	if page == nil {
		page = new([256]class)
		k[r>>8] = page
	}
	c := page[r&0xFF]
	if c == unclassed {
		c = classOf(r)
		page[r&0xFF] = c
	}
	if wide != displayedWide(r) && (wide || c == sure) {
		return unsure // the source measures it differently
	}
	return c
}

// displayedWide reports whether the blocks of r hold only two-column letters.
func displayedWide(r rune) bool {
	return r >= 0x2E80 && r <= 0x303E || r >= 0x3041 && r <= 0xA4CF ||
		r >= 0xAC00 && r <= 0xD7A3 || r >= 0xF900 && r <= 0xFAFF ||
		r >= 0xFF01 && r <= 0xFF60 || r >= 0xFFE0 && r <= 0xFFE6 || r >= 0x1100 && r <= 0x115F
}

// classOf looks a character up in the width tables.
func classOf(r rune) class {
	narrow := displaywidth.Rune(r)
	east := displaywidth.Options{EastAsianWidth: true}.Rune(r)
	switch {
	case narrow == 1 && east == 2:
		return ambiguous
	case narrow == 1 && east == 1:
		return sure
	case narrow == 2 && displayedWide(r):
		return sure
	}
	return unsure
}
