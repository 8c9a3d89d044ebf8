package redact

import "strings"

// samples are values that stand for one and are none: types, defaults and
// what a document says instead.
var samples = map[string]bool{
	"string": true, "str": true, "text": true, "bool": true, "boolean": true, "int": true, "integer": true, "number": true,
	"bytes": true, "object": true, "array": true, "any": true, "true": true, "false": true, "null": true, "none": true,
	"nil": true, "undefined": true, "yes": true, "no": true, "on": true, "off": true, "redacted": true, "hidden": true,
	"masked": true, "removed": true, "required": true, "optional": true, "unset": true, "empty": true, "default": true,
	"...": true, "…": true, "-": true, "\\": true, "|": true, "[redacted]": true, "(redacted)": true, "(hidden)": true,
}

// verdicts are what programs say about a password behind a colon.
var verdicts = map[string]bool{
	"incorrect": true, "invalid": true, "wrong": true, "denied": true, "missing": true, "expired": true, "failed": true,
	"rejected": true, "accepted": true, "ok": true, "valid": true, "changed": true, "unchanged": true, "set": true,
	"mismatch": true, "unknown": true, "error": true, "unauthorized": true, "disabled": true, "enabled": true, "prompt": true,
}

func isVerdict(v string) bool { return isWord(v) && verdicts[lower(v)] }

// lower returns v in lower case when it is short enough to be a word.
func lower(v string) string {
	if len(v) > 16 {
		return v
	}
	return strings.ToLower(v)
}

// isSample reports whether v stands for a value instead of being one.
func isSample(v string) bool {
	if v == "" || samples[lower(v)] {
		return true
	}
	switch v[0] {
	case '<':
		return v[len(v)-1] == '>'
	case '{':
		return v[len(v)-1] == '}'
	case '%':
		return len(v) <= 3 || v[len(v)-1] == '%'
	case '$':
		return isReference(v, 0)
	}
	head := v[:min(len(v), 8)]
	if len(v) >= 3 && strings.Trim(head, "xX.*•") == "" && strings.Trim(v, "xX.*•") == "" {
		return true
	}
	low := strings.ToLower(head)
	return strings.HasPrefix(low, "your_") || strings.HasPrefix(low, "your-") || strings.HasPrefix(low, "<your") ||
		strings.HasPrefix(low, "your ")
}

// isReference reports whether what begins at i names the place of a value:
// $NAME, ${NAME}, $(command), {{ name }}.
func isReference(t string, i int) bool {
	rest := t[i:min(len(t), i+2*maxName)]
	if strings.HasPrefix(rest, "{{") {
		return true
	}
	if len(rest) < 2 || rest[0] != '$' {
		return false
	}
	if rest[1] == '(' || rest[1] == '{' {
		return true
	}
	if !isLetter(rest[1]) && rest[1] != '_' {
		return false
	}
	for _, b := range []byte(rest[1:]) {
		if !isAlnum(b) && b != '_' {
			return b <= ' ' || strings.IndexByte("\"'`;&|),/\\@:}]", b) >= 0
		}
	}
	return true
}

// isCode reports whether v is an expression that yields a value elsewhere. cut
// says that a quote follows: getenv(" was cut there.
func isCode(v string, cut bool) bool {
	for _, p := range []string{"process.env.", "os.environ", "import.meta.env.", "secrets.", "vars.", "settings.", "self.", "this.", "config.", "cfg."} {
		if strings.HasPrefix(v, p) {
			return true
		}
	}
	i := 0
	for i < len(v) && (isAlnum(v[i]) || v[i] == '_' || v[i] == '.' || v[i] == '&' && i == 0 || v[i] == '*' && i == 0) {
		i++
	}
	if i == 0 || i >= len(v) || isDigit(v[0]) {
		return false
	}
	switch v[i] {
	case '(':
		return cut || strings.IndexByte(v[i:], ')') > 0
	case '[':
		return cut || strings.IndexByte(v[i:], ']') > 0
	}
	return false
}

// isOpaque reports whether v looks made by a program: long enough, with
// letters and digits, and nothing that a sentence or an expression has.
func isOpaque(v string) bool {
	const least, looked = 8, 256
	if len(v) < least {
		return false
	}
	letters, digits := 0, 0
	for _, b := range []byte(v[:min(len(v), looked)]) {
		switch {
		case isLetter(b):
			letters++
		case isDigit(b):
			digits++
		case b == '(' || b == ' ' || b == '[' || b == '{':
			return false
		}
	}
	return digits > 0 && letters > 0
}

// isIdentifier reports whether v is a name of a program's, perhaps with dots.
func isIdentifier(v string) bool {
	if isDigit(v[0]) {
		return false
	}
	for _, b := range []byte(v) {
		if !isAlnum(b) && b != '_' && b != '.' {
			return false
		}
	}
	return true
}

// isWord reports whether v is letters alone.
func isWord(v string) bool {
	for _, b := range []byte(v) {
		if !isLetter(b) {
			return false
		}
	}
	return v != ""
}
