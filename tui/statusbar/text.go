package statusbar

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/clipperhouse/displaywidth"
)

func textWidth(s string) int { return displaywidth.String(s) }

// clean shows what would move the cursor, hide text or change its direction
// by its name: ^[ for ESC, <U+202E> for an override. Joiners and variation
// selectors, which only choose how an emoji is drawn and on whose width
// terminals disagree, are left out.
func clean(s string) string {
	var b strings.Builder
	for _, r := range s { // an invalid byte comes as U+FFFD
		switch {
		case r == 0x200D, unicode.Is(unicode.Variation_Selector, r):
		case r < 0x20:
			b.WriteByte('^')
			b.WriteByte(byte(r) + '@')
		case r == 0x7F:
			b.WriteString("^?")
		case unsafeRune(r), b.Len() == 0 && joins(" "+string(r)), joins(string(r) + " "):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// joins reports whether two characters make one, so that the text would take
// in what stands before or behind it. Marks after a letter are not asked.
func joins(pair string) bool {
	if len(pair) == 2 {
		return false // ASCII
	}
	g := displaywidth.StringGraphemes(pair)
	return g.Next() && len(g.Value()) == len(pair)
}

// unsafeRune reports control and format characters: C0, DEL, C1, line and
// paragraph separators, bidi controls, zero-width and tag characters, and
// variation selectors. Combining marks are safe.
func unsafeRune(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector)
}

// shorten cuts s to at most w columns and says so by an ellipsis. A path keeps
// its end, everything else its beginning.
func shorten(s string, w int, ascii bool) string {
	if textWidth(s) <= w {
		return s
	}
	dots := "…"
	if ascii {
		dots = ".."
	}
	room := w - textWidth(dots)
	if room < 0 {
		return strings.Repeat(".", max(0, w))
	}
	if strings.Contains(s, "/") {
		return dots + keepEnd(s, room)
	}
	return keepStart(s, room) + dots
}

func keepStart(s string, w int) string {
	end, used := 0, 0
	for g := displaywidth.StringGraphemes(s); g.Next(); {
		if used += g.Width(); used > w {
			break
		}
		end += len(g.Value())
	}
	return s[:end]
}

func keepEnd(s string, w int) string {
	skip := textWidth(s) - w
	start := 0
	for g := displaywidth.StringGraphemes(s); skip > 0 && g.Next(); {
		skip -= g.Width()
		start += len(g.Value())
	}
	return s[start:]
}

// grouped writes a count with thin grouping from 10,000 on, so that the line
// at 1024 reads as people write it.
func grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	if n < 10_000 {
		return text
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// about writes a time that is only estimated, in one unit.
func about(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return "<10s"
	case d < 90*time.Second:
		return fmt.Sprintf("~%ds", int(d.Round(10*time.Second)/time.Second))
	case d < 100*time.Minute:
		return fmt.Sprintf("~%dm", int(d.Round(time.Minute)/time.Minute))
	}
	return fmt.Sprintf("~%dh", int(d.Round(time.Hour)/time.Hour))
}
