package redact

import (
	"strings"
	"unicode/utf8"
)

// rounds bounds how often a text is looked at again after something in it was
// replaced. A mask can uncover a name that the secret before it was glued to,
// so one more look is needed; more than two have no use outside of texts made
// to waste time.
const rounds = 8

// Bytes returns b with its secrets masked, and how many there were. When there
// were none it returns b itself; b is never written to.
func Bytes(b []byte) ([]byte, int) {
	s, n := String(string(b))
	if n == 0 {
		return b, 0
	}
	return []byte(s), n
}

// String returns s with its secrets masked, and how many there were.
func String(s string) (string, int) {
	total := 0
	for range rounds {
		found := find(s)
		if len(found) == 0 {
			break
		}
		total += len(found)
		s = replace(s, found)
	}
	return s, total
}

// A span is the place of one secret: from its first byte up to the one after
// its last.
type span struct{ from, to int }

func replace(s string, found []span) string {
	var b strings.Builder
	b.Grow(len(s))
	at := 0
	for _, f := range found {
		b.WriteString(s[at:f.from])
		b.WriteString(mask(s[f.from:f.to]))
		at = f.to
	}
	b.WriteString(s[at:])
	return b.String()
}

const (
	stars = "***"

	// keepLong characters stay at each side of a value that has at least long
	// of them, so that two tokens can still be told apart; keepShort of one
	// that has at least short. A shorter one keeps nothing: what stays must
	// not make the rest guessable.
	long, keepLong   = 24, 4
	short, keepShort = 16, 2

	maxMask = 2*keepLong*utf8.UTFMax + len(stars) // bytes
)

// mask returns what stands in the place of v.
func mask(v string) string {
	keep := 0
	switch n := utf8.RuneCountInString(v); {
	case n >= long:
		keep = keepLong
	case n >= short:
		keep = keepShort
	}
	head, tail := ends(v, keep)
	return v[:head] + stars + v[tail:]
}

// isMask reports whether v is what mask returns, or stars alone, as many
// programs print them. It looks at no more than the longest mask.
func isMask(v string) bool {
	if len(v) > maxMask {
		return strings.Trim(v[:maxMask], "*") == "" && strings.Trim(v, "*") == ""
	}
	if v != "" && strings.Trim(v, "*") == "" {
		return true
	}
	for _, keep := range [...]int{keepShort, keepLong} {
		head, tail := ends(v, keep)
		if head <= tail && v[head:tail] == stars {
			return true
		}
	}
	return false
}

// ends returns where the first keep characters of v end and where its last
// keep begin.
func ends(v string, keep int) (head, tail int) {
	tail = len(v)
	for range keep {
		_, size := utf8.DecodeRuneInString(v[head:])
		head += size
		_, size = utf8.DecodeLastRuneInString(v[:tail])
		tail -= size
	}
	return head, tail
}
