package panels

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"

	"github.com/honestty/honestty/internal/redact"
	"github.com/honestty/honestty/tui/screen"
)

// cleanOutput makes text of raw output: control sequences of terminals are
// taken out, secrets are masked and counted, bytes that are not UTF-8 become
// U+FFFD. Other control characters stay, to be shown by displayLines.
func cleanOutput(raw []byte) (text string, masked int) {
	b, masked := redact.Bytes(stripSequences(raw))
	return strings.ToValidUTF8(string(b), "\uFFFD"), masked
}

// maxSequence bounds a string sequence (OSC, DCS and their like) that is taken
// out. What is longer was none.
const maxSequence = 64 << 10

const (
	escByte = 0x1B
	belByte = 0x07
)

// stripSequences returns p without the control sequences of ECMA-48. A string
// that nothing ends was none and stays, with its ESC to be seen. A control
// sequence that is cut at the end of p is taken out as far as it goes.
func stripSequences(p []byte) []byte {
	if bytes.IndexByte(p, escByte) < 0 {
		return p
	}
	out := make([]byte, 0, len(p))
	for len(p) > 0 {
		i := bytes.IndexByte(p, escByte)
		if i < 0 {
			return append(out, p...)
		}
		out = append(out, p[:i]...)
		p = p[i:]
		if n := sequence(p); n > 0 {
			p = p[n:]
			continue
		}
		out, p = append(out, escByte), p[1:]
	}
	return out
}

// sequence is the length of the sequence that p, which begins with ESC, begins
// with; 0 when there is none.
func sequence(p []byte) int {
	if len(p) < 2 {
		return len(p)
	}
	in := func(i int, lo, hi byte) bool { return i < len(p) && p[i] >= lo && p[i] <= hi }
	switch c := p[1]; {
	case c == '[':
		i := 2
		for in(i, 0x20, 0x3F) {
			i++
		}
		if in(i, 0x40, 0x7E) {
			i++
		}
		return i
	case c == ']', c == 'P', c == 'X', c == '^', c == '_':
		return stringSequence(p)
	case c >= 0x20 && c <= 0x2F:
		i := 2
		for in(i, 0x20, 0x2F) {
			i++
		}
		if in(i, 0x30, 0x7E) {
			i++
		}
		return i
	case c >= 0x30 && c <= 0x7E:
		return 2
	}
	return 0
}

// stringSequence finds the end of an OSC, DCS, SOS, PM or APC. Only a DCS may
// carry line ends.
func stringSequence(p []byte) int {
	for i := 2; i < min(len(p), maxSequence); i++ {
		switch c := p[i]; {
		case c == belByte && p[1] == ']':
			return i + 1
		case c == escByte && i+1 < len(p) && p[i+1] == '\\':
			return i + 2
		case c == escByte, c == '\n' && p[1] != 'P':
			return 0
		}
	}
	return 0
}

// displayLines splits text into lines fit to be shown. A carriage return alone
// ends a line too: what a progress display overwrote is not hidden. A last line
// without an end is a line.
func displayLines(text string, role textRole) []textLine {
	if text == "" {
		return nil
	}
	out := make([]textLine, 0, strings.Count(text, "\n")+1)
	for text != "" {
		i := strings.IndexAny(text, "\r\n")
		if i < 0 {
			return append(out, textLine{text: displayLine(text), role: role})
		}
		out = append(out, textLine{text: displayLine(text[:i]), role: role})
		if strings.HasPrefix(text[i:], "\r\n") {
			i++
		}
		text = text[i+1:]
	}
	return out
}

const tabStop = 8

// displayLine expands tabs and makes control and bidirectional characters
// visible.
func displayLine(s string) string {
	if strings.IndexByte(s, '\t') < 0 {
		return screen.Visible(strings.ToValidUTF8(s, "\uFFFD"))
	}
	var b strings.Builder
	col := 0
	for i, part := range strings.Split(s, "\t") {
		if i > 0 {
			n := tabStop - col%tabStop
			b.WriteString(strings.Repeat(" ", n))
			col += n
		}
		part = screen.Visible(strings.ToValidUTF8(part, "\uFFFD"))
		b.WriteString(part)
		col += screen.Width(part)
	}
	return b.String()
}

// wrapText returns where the rows of a line begin, in bytes, 0 first. Rows
// after the first have indent columns less. With words a row breaks after its
// last space, where that leaves more than half of it.
func wrapText(text string, w, indent int, words bool) []int {
	starts := []int{0}
	w = max(w, 1)
	if len(text) <= 4*w && screen.Width(text) <= w {
		return starts
	}
	indent = min(indent, w/2)
	room, col, from, space := w, 0, 0, -1
	step := func(i, n, width int, blank bool) {
		if col+width > room && i > from {
			at := i
			if words && space > from && space-from > (i-from)/2 {
				at = space
			}
			starts = append(starts, at)
			from, col, space = at, screen.Width(text[at:i]), -1
			room = w - indent
		}
		col += width
		if blank {
			space = i + n
		}
	}
	for i := 0; i < len(text); {
		if b := text[i]; b >= 0x20 && b < 0x7F && (i+1 == len(text) || text[i+1] < utf8.RuneSelf) {
			step(i, 1, 1, b == ' ')
			i++
			continue
		}
		g := displaywidth.StringGraphemes(text[i:])
		g.Next()
		n := max(len(g.Value()), 1)
		step(i, n, screen.Width(g.Value()), false)
		i += n
	}
	return starts
}
