package safepath

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// checkText is gates 1 and 2: what a path must be free of before anything may
// repeat it.
func checkText(path string) error {
	switch {
	case path == "":
		return refuse(RuleEmpty)
	case hasControl(path):
		return refuse(RuleControl)
	case !utf8.ValidString(path):
		// It could not be repeated in JSON without turning into another path.
		return refuse(RuleEncoding)
	case forgesDirective(path):
		return refuse(RuleMedia)
	}
	return nil
}

// hasControl finds C0 and C1 controls (NEL among them), DEL, and the line and
// paragraph separators U+2028 and U+2029. A lone byte 0x80 to 0x9F is no
// character; it fails as bytes that are not UTF-8.
func hasControl(path string) bool {
	for _, r := range path {
		if r < 0x20 || r >= 0x7F && r <= 0x9F || r == 0x2028 || r == 0x2029 {
			return true
		}
	}
	return false
}

// hasTraversal finds a component that climbs.
func hasTraversal(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if part == ".." {
			return true
		}
	}
	return false
}

// forgesDirective finds text that would act as a directive wherever the path
// is repeated: media: in any case, and after it, past spaces and backslashes,
// a quote or the start of an absolute path. It also finds the words that
// change how a whole message is sent. A bare media: stays legal.
func forgesDirective(path string) bool {
	for i := range path {
		n := mediaWord(path[i:])
		if n == 0 {
			continue
		}
		rest := strings.TrimLeftFunc(path[i+n:], func(r rune) bool { return r == '\\' || unicode.IsSpace(r) })
		if rest != "" && (isQuote(rest[0]) || anchor(rest) > 0) {
			return true
		}
	}
	low := strings.ToLower(path)
	return strings.Contains(low, wordVoice) || strings.Contains(low, wordDocument)
}

// mediaWord is the length of "media:" in any case at the start of s, or 0.
// Capital I with dot and small dotless i count: some matchers fold them to i.
func mediaWord(s string) int {
	n := 0
	for _, want := range "media:" {
		r, size := utf8.DecodeRuneInString(s[n:])
		if r == 'İ' || r == 'ı' {
			r = 'i'
		}
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		if r != want {
			return 0
		}
		n += size
	}
	return n
}

// anchor is the length of what an absolute path starts with, or 0: "/", "~/",
// or a drive letter with its colon and slash.
func anchor(s string) int {
	switch {
	case strings.HasPrefix(s, "/"):
		return 1
	case strings.HasPrefix(s, "~/"):
		return 2
	case len(s) >= 3 && letter(s[0]) && s[1] == ':' && (s[2] == '/' || s[2] == '\\'):
		return 3
	}
	return 0
}

func letter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

func isQuote(b byte) bool { return b == '"' || b == '\'' || b == '`' }

// Printable is path where it may be repeated, and otherwise words that name
// the rule against it. It looks at the text alone, and is for lists that show
// what a call was asked.
func Printable(path string) string {
	err := checkText(path)
	if err == nil {
		return path
	}
	return "a path that is refused: " + RuleOf(err)
}
