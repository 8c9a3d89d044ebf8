package send

import (
	"regexp"
	"strconv"
	"strings"
)

// anyTag is wider than every matcher of directives that is known: the mark,
// in any case, with or without spaces before the colon.
var anyTag = regexp.MustCompile(`(?i)(media)([ \t]*):`)

// anchored is a mark that some matcher could take for a directive: followed by
// a quote or emphasis, or by the start of a path.
var anchored = regexp.MustCompile("(?i)media[ \t]*:[ \t]*[\"'`*_]*[ \t]*(~|/|[a-z]:|[\"'`]|\\.{1,2}/|[^ \t\n]+\\.[a-z0-9]{1,5}\\b)")

// Defuse is s with every mark that starts a directive written so that no
// matcher takes it for one, and a person can still read it.
func Defuse(s string) string { return anyTag.ReplaceAllString(s, `$1$2\x3a`) }

// inert is a text in which nothing acts; one in which nothing could is not
// changed.
func inert(s string) string {
	if anchored.MatchString(s) {
		return Defuse(s)
	}
	return s
}

// Shown is a path in a form that may be repeated: as it is when it can neither
// move the cursor nor act as a directive, otherwise quoted and escaped.
func Shown(path string) string {
	if !strings.ContainsFunc(path, unsafeRune) && !anchored.MatchString(path) && strings.ToValidUTF8(path, "") == path {
		return path
	}
	return Defuse(strconv.QuoteToASCII(path))
}
