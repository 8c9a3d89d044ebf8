package tts

import (
	"strings"

	"github.com/honestty/honestty/tools/safepath"
)

// mediaTag writes the directive that delivers the file at path: bare where
// every character of the path is harmless, else in the first quote that the
// path does not hold. It is empty when no form gives exactly one directive.
func mediaTag(path string) string {
	forms := []string{`"` + path + `"`, "`" + path + "`", "'" + path + "'"}
	if harmless(path) {
		forms = append([]string{path}, forms...)
	}
	for _, form := range forms {
		if q := form[0]; q != '/' && strings.IndexByte(path, q) >= 0 {
			continue
		}
		if tag := "MEDIA:" + form; len(safepath.Directives(tag)) == 1 {
			return tag
		}
	}
	return ""
}

// harmless reports a path of letters, digits and a few marks that end no
// directive.
func harmless(path string) bool {
	for _, r := range path {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("/._-+", r):
		default:
			return false
		}
	}
	return true
}
