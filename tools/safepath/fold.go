package safepath

import (
	"strings"
	"unicode"
)

// foldCase writes a name as file systems that ignore case compare it. It goes
// further than any of them, which for a list of protected places is the safe
// side: characters without width are left out, and ß is ss.
func foldCase(name string) string {
	var b strings.Builder
	b.Grow(len(name))
	for _, r := range name {
		switch {
		case unicode.Is(unicode.Cf, r):
			continue
		case r == 'ß' || r == 'ẞ':
			b.WriteString("ss")
			continue
		}
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		b.WriteRune(unicode.ToLower(least))
	}
	return b.String()
}
