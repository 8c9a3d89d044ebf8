package script

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Removal is one kind of thing that Clean left out.
type Removal struct {
	What  string `json:"what"`  // one of the kinds
	Count int    `json:"count"` // how many
	Chars int    `json:"chars"` // how many characters they had
}

// The kinds of Removal.
const (
	thinking = "thinking"
	emoji    = "emoji"
	links    = "link target"
	markup   = "markup"
	controls = "control characters"
	comments = "comment"
	terminal = "terminal sequence"
)

// kinds is the order in which removals are told.
var kinds = []string{thinking, comments, links, emoji, markup, terminal, controls}

type counter map[string]*Removal

func (c counter) add(what, cut string) {
	if cut == "" {
		return
	}
	r := c[what]
	if r == nil {
		r = &Removal{What: what}
		c[what] = r
	}
	r.Count++
	r.Chars += utf8.RuneCountInString(cut)
}

func (c counter) list() []Removal {
	var out []Removal
	for _, k := range kinds {
		if r := c[k]; r != nil {
			out = append(out, *r)
		}
	}
	return out
}

var (
	// thinkTags are what models wrap their reasoning in. RE2 has no back
	// reference, so each has its own pattern.
	thinkTags = func() (out []*regexp.Regexp) {
		for _, tag := range []string{"think", "thinking", "thought", "reasoning", "scratchpad"} {
			out = append(out, regexp.MustCompile(`(?is)<`+tag+`\b[^>]*>.*?</`+tag+`\s*>`))
		}
		return out
	}()
	// terminalSequence is what a terminal acts on and shows nothing of: CSI, the
	// strings OSC, DCS, SOS, PM and APC, and the short escapes (ECMA-48 §5.3 to
	// §5.6). What copied output is coloured by would be spoken as letters.
	terminalSequence = regexp.MustCompile(`\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]`)

	htmlComment = regexp.MustCompile(`(?s)<!--.*?-->`)
	htmlTag     = regexp.MustCompile(`</?[A-Za-z][A-Za-z0-9-]*(?:\s[^<>\n]*)?/?>`)

	fence     = regexp.MustCompile("(?m)^[ \t]*(?:```|~~~)[^\n`]*$")
	imageLink = regexp.MustCompile(`!?\[([^\]\n]*)\]\(([^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+"[^"\n]*")?\)`)
	refLink   = regexp.MustCompile(`\[([^\]\n]+)\]\[[^\]\n]*\]`)
	autoLink  = regexp.MustCompile(`<((?:https?|mailto):[^<>\s]+)>`)

	lineMarks = regexp.MustCompile(`(?m)^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+(?:\[[ xX]\][ \t]+)?)+`)
	rule      = regexp.MustCompile(`(?m)^[ \t]*(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|(?:=[ \t]*){3,})$`)
	tableRule = regexp.MustCompile(`(?m)^[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)+\|?[ \t]*$`)
	tableEdge = regexp.MustCompile(`(?m)^[ \t]*\|[ \t]*|[ \t]*\|[ \t]*$`)
	tableBar  = regexp.MustCompile(`[ \t]*\|[ \t]*`)
	strong    = regexp.MustCompile(`(\*{1,3}|_{2,3}|~~|` + "`+" + `)([^\s*_~` + "`" + `](?:[^\n*~` + "`" + `]*[^\s*~` + "`" + `])?)(\*{1,3}|_{2,3}|~~|` + "`+" + `)`)
	italic    = regexp.MustCompile(`(^|[\s(\["'])_([^\s_](?:[^_\n]*[^\s_])?)_($|[\s)\]"'.,;:!?])`)
	headEnd   = regexp.MustCompile(`(?m)^([ \t]*#{1,6}[ \t]+[^\n]*[^\s.!?:;,…#])[ \t]*#*[ \t]*$`)
)

// Clean takes out what is not meant to be heard: reasoning of a model, emoji,
// marks of Markdown and HTML, targets of links. The words themselves stay, also
// those of code. Runs of space become one space.
func Clean(text string) (string, []Removal) {
	c := counter{}
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "\uFFFD")
	text = terminalSequence.ReplaceAllStringFunc(text, func(m string) string {
		c.add(terminal, m)
		return ""
	})
	text = cut(text, htmlComment, comments, c)
	for _, tag := range thinkTags {
		text = cut(text, tag, thinking, c)
	}
	text = unmark(text, c)
	text = plain(text, c)
	return strings.Join(strings.Fields(text), " "), c.list()
}

// cut replaces every match by a space and counts it.
func cut(text string, re *regexp.Regexp, what string, c counter) string {
	return re.ReplaceAllStringFunc(text, func(m string) string {
		c.add(what, m)
		return " "
	})
}

// unmark takes out marks and keeps the words between them.
func unmark(text string, c counter) string {
	text = headEnd.ReplaceAllString(text, "$1.") // a heading is a sentence, or it runs into the next
	text = cut(text, fence, markup, c)
	text = cut(text, tableRule, markup, c)
	text = cut(text, rule, markup, c)
	text = keep(text, autoLink, markup, c)
	text = imageLink.ReplaceAllStringFunc(text, func(m string) string {
		sub := imageLink.FindStringSubmatch(m)
		c.add(links, sub[2])
		return sub[1]
	})
	text = keep(text, refLink, markup, c)
	text = cut(text, lineMarks, markup, c)
	if strings.Contains(text, "|") {
		text = cut(text, tableEdge, markup, c)
		text = tableBar.ReplaceAllStringFunc(text, func(m string) string {
			c.add(markup, m)
			return ", "
		})
	}
	for range 3 { // marks inside marks
		text = strong.ReplaceAllStringFunc(text, func(m string) string {
			sub := strong.FindStringSubmatch(m)
			if sub[1] != sub[3] {
				return m
			}
			c.add(markup, sub[1]+sub[3])
			return sub[2]
		})
		text = italic.ReplaceAllStringFunc(text, func(m string) string {
			sub := italic.FindStringSubmatch(m)
			c.add(markup, "__")
			return sub[1] + sub[2] + sub[3]
		})
	}
	return cut(text, htmlTag, markup, c)
}

// keep replaces every match by its first group.
func keep(text string, re *regexp.Regexp, what string, c counter) string {
	return re.ReplaceAllStringFunc(text, func(m string) string {
		inner := re.FindStringSubmatch(m)[1]
		c.add(what, strings.Replace(m, inner, "", 1))
		return inner
	})
}

// plain takes out emoji and characters that steer a terminal or a parser.
func plain(text string, c counter) string {
	var b strings.Builder
	b.Grow(len(text))
	var run strings.Builder
	flush := func() {
		c.add(emoji, run.String())
		run.Reset()
	}
	for _, r := range text {
		switch {
		case isEmoji(r), run.Len() > 0 && joinsEmoji(r):
			run.WriteRune(r)
			continue
		case run.Len() > 0:
			flush()
			b.WriteByte(' ')
		}
		switch {
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case unicode.IsControl(r), r == '\uFFFD', r == '\uFEFF', r == '\u00AD',
			r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069, r == 0x2028, r == 0x2029:
			c.add(controls, string(r))
			if r != '\u00AD' {
				b.WriteByte(' ')
			}
		default:
			b.WriteRune(r)
		}
	}
	flush()
	return b.String()
}

// isEmoji reports characters that are shown as pictures. A digit, # and * are
// text, also in front of a keycap mark.
func isEmoji(r rune) bool {
	switch {
	case r >= 0x1F000 && r <= 0x1FAFF,
		r >= 0x2600 && r <= 0x27BF,
		r >= 0x2B00 && r <= 0x2BFF,
		r >= 0x1F1E6 && r <= 0x1F1FF,
		r >= 0x2300 && r <= 0x23FF,
		r == 0x20E3, r == 0xFE0F:
		return true
	}
	return false
}

func joinsEmoji(r rune) bool {
	return r == 0x200D || r == 0xFE0F || r == 0x20E3 || r >= 0xE0020 && r <= 0xE007F
}

// Speakable counts the letters and digits of text.
func Speakable(text string) int {
	n := 0
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
	}
	return n
}
