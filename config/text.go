package config

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// shownRunes is how much of a value from a file a message repeats. The place
// is named beside it, so the rest can be looked up.
const shownRunes = 40

// safe shows what would move the cursor, hide text or change its direction by
// its name: ^[ for ESC, <U+202E> for an override.
func safe(s string) string {
	if !strings.ContainsFunc(s, unsafeRune) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s { // an invalid byte comes as U+FFFD
		switch {
		case r < 0x20:
			b.WriteByte('^')
			b.WriteByte(byte(r) + '@')
		case r == 0x7F:
			b.WriteString("^?")
		case unsafeRune(r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// unsafeRune reports control and format characters: C0, DEL, C1, line and
// paragraph separators, bidi controls, zero-width and tag characters.
func unsafeRune(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

// short is safe with a length: a long text ends in an ellipsis.
func short(s string) string {
	n := 0
	for i := range s {
		if n == shownRunes {
			return safe(s[:i]) + "…"
		}
		n++
	}
	return safe(s)
}

// quoted puts a text from outside into a message.
func quoted(s string) string { return `"` + short(s) + `"` }

// isBare reports whether TOML takes the part of a key without quotes.
func isBare(part string) bool {
	return part != "" && !strings.ContainsFunc(part, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-'
	})
}

// tomlString writes s as a basic string of TOML.
func tomlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case unsafeRune(r) && r <= 0xFFFF:
			fmt.Fprintf(&b, `\u%04X`, r)
		case unsafeRune(r):
			fmt.Fprintf(&b, `\U%08X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
