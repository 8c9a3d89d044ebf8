package safepath

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The words that change how a whole message is sent.
const (
	wordVoice    = "[[audio_as_voice]]" // audio files go as voice messages
	wordDocument = "[[as_document]]"    // images go as files
)

// maxBare bounds how far the end of an unquoted path is looked for, in bytes:
// no path is longer.
const maxBare = 4096

// maxWords is how many words an unquoted path without a known extension may
// have.
const maxWords = 8

// A Directive is one media directive that a text carries.
type Directive struct {
	Path   string // as written, without its quotes
	Quoted bool
	Ext    string // lower case, with its dot; empty when it has none
	Known  bool   // the extension is one that needs no file on disk to count

	// Start and End are byte offsets in the text: the directive with the marks
	// around it.
	Start, End int
}

// Parts are what a text consists of.
type Parts struct {
	Directives []Directive // in order; of several with one path, the first
	Voice      bool        // [[audio_as_voice]] was there
	Document   bool        // [[as_document]] was there
	Text       string      // the text without all these
}

// Scan takes a text apart. A directive is at most three quotes or emphasis
// marks, MEDIA: in any case, spaces, and a path: quoted, or starting like an
// absolute path and ending as soon as a known extension meets a terminator.
// What stands in code, in a block quote or in a string of JSON is no
// directive; what cannot be matched stays in the text.
//
// exists reports whether a path names a regular file. It decides about paths
// without a known extension, and about inline code that is a directive and
// nothing else. nil means that nothing exists.
func Scan(text string, exists func(path string) bool) Parts {
	if exists == nil {
		exists = func(string) bool { return false }
	}
	s := scanner{text: text, exists: exists}
	s.hidden = s.maskAll()
	return s.run()
}

// Directives finds what any reader of the text might take for a directive: it
// counts every path as one that exists. It is the guard's view.
func Directives(text string) []Directive {
	return Scan(text, func(string) bool { return true }).Directives
}

// Strip is the text without its directives and without the words for a whole
// message, where no path is known to exist.
func Strip(text string) string { return Scan(text, nil).Text }

type scanner struct {
	text   string
	exists func(string) bool
	hidden []span // sorted, where no directive may start
}

type span struct{ from, to int }

func (s *scanner) run() Parts {
	var m Parts
	var cut []span
	seen := map[string]bool{}
	for i, floor := 0, 0; i < len(s.text); {
		if word, n := flagWord(s.text[i:]); n > 0 && !s.isHidden(i) {
			m.Voice = m.Voice || word == wordVoice
			m.Document = m.Document || word == wordDocument
			cut = append(cut, span{i, i + n})
			i += n
			floor = i
			continue
		}
		d, ok := s.at(i, floor)
		if !ok {
			i++
			continue
		}
		cut = append(cut, span{d.Start, d.End})
		if !seen[d.Path] {
			seen[d.Path] = true
			m.Directives = append(m.Directives, d)
		}
		i, floor = d.End, d.End
	}
	m.Text = without(s.text, cut)
	return m
}

// at reads the directive whose word stands at i. Marks before floor belong to
// what came before.
func (s *scanner) at(i, floor int) (Directive, bool) {
	n := mediaWord(s.text[i:])
	if n == 0 || s.isHidden(i) {
		return Directive{}, false
	}
	start := i + n
	start += len(s.text[start:]) - len(trimSpaces(s.text[start:]))
	d, ok := s.quoted(start)
	if !ok {
		d, ok = s.bare(start)
	}
	if !ok {
		return Directive{}, false
	}
	d.Start = i
	for range 3 { // the marks around it belong to it as far as they pair up
		if d.Start == floor || d.End == len(s.text) || s.text[d.Start-1] != s.text[d.End] || !isMark(s.text[d.End]) {
			break
		}
		d.Start, d.End = d.Start-1, d.End+1
	}
	return d, true
}

// quoted reads a path in quotes that starts at i.
func (s *scanner) quoted(i int) (Directive, bool) {
	if i == len(s.text) || !isQuote(s.text[i]) {
		return Directive{}, false
	}
	n := strings.IndexByte(s.text[i+1:], s.text[i])
	if n < 0 {
		return Directive{}, false
	}
	path := s.text[i+1 : i+1+n]
	if strings.TrimSpace(path) == "" || strings.ContainsAny(path, "\n\r") {
		return Directive{}, false
	}
	d := directive(path, i+n+2)
	d.Quoted = true
	return d, d.Known || s.exists(path)
}

// bare reads a path without quotes that starts at i.
func (s *scanner) bare(i int) (Directive, bool) {
	skip := anchor(s.text[i:])
	if skip == 0 {
		return Directive{}, false
	}
	ends := s.wordEnds(i + skip)
	short := func() (Directive, bool) {
		for _, end := range ends[:min(len(ends), maxWords)] {
			path := strings.TrimRight(s.text[i:end], "`\"'*_,.;:)}]")
			if len(path) > skip && s.exists(path) {
				return directive(path, i+len(path)), true
			}
		}
		return Directive{}, false
	}
	end, ok := s.knownEnd(i, skip)
	if !ok {
		return short()
	}
	d := directive(s.text[i:end], end)
	if strings.Contains(d.Path, " ") && !s.exists(d.Path) {
		// The spaces may be the sentence's: a shorter path that exists is meant.
		if other, ok := short(); ok {
			return other, true
		}
	}
	return d, true
}

// knownEnd is where the path at i first ends in a known extension before a
// terminator.
func (s *scanner) knownEnd(i, skip int) (int, bool) {
	limit := min(len(s.text), i+maxBare)
	for e := i + skip; e <= limit; e++ {
		if s.terminated(e) && known(extension(s.text[i:e])) {
			return e, true
		}
		if e == limit || s.breaks(e) {
			return 0, false
		}
	}
	return 0, false
}

// wordEnds are the places where the path that starts before i could end
// because a word does.
func (s *scanner) wordEnds(i int) []int {
	var ends []int
	limit := min(len(s.text), i+maxBare)
	for e := i; e <= limit && len(ends) < maxWords; e++ {
		stop := e == limit || s.breaks(e)
		if stop || s.text[e] == ' ' {
			ends = append(ends, e)
		}
		if stop {
			break
		}
	}
	return ends
}

// breaks reports whether no unquoted path goes on over e: at the end of a
// line, at a second space in a row, at another directive.
func (s *scanner) breaks(e int) bool {
	c := s.text[e]
	if c == ' ' {
		return e+1 == len(s.text) || isSpace(s.text[e+1:])
	}
	return isSpace(s.text[e:]) || mediaWord(s.text[e:]) > 0
}

// terminators end an unquoted path after a known extension: quotes, emphasis,
// punctuation, and the punctuation of Chinese, Japanese and Korean.
const terminators = "`\"'*_,;:)]}[" + "，。；：、！？）】」』》〉〕］｝…“”‘’（【「『《〈～"

// terminated reports whether an unquoted path may end before e.
func (s *scanner) terminated(e int) bool {
	if e == len(s.text) {
		return true
	}
	r, size := utf8.DecodeRuneInString(s.text[e:])
	switch {
	case unicode.IsSpace(r), strings.ContainsRune(terminators, r):
		return true
	case r == '.', r == '!', r == '?': // the end of a sentence, not a part of the name
		rest := s.text[e+size:]
		next, _ := utf8.DecodeRuneInString(rest)
		return rest == "" || unicode.IsSpace(next) || strings.ContainsRune("`\"'*_)]}", next)
	}
	return mediaWord(s.text[e:]) > 0
}

func directive(path string, end int) Directive {
	ext := extension(path)
	return Directive{Path: path, Ext: ext, Known: known(ext), End: end}
}

// extension is what follows the last dot of the last component, in lower case
// and with its dot.
func extension(path string) string {
	dot := strings.LastIndexByte(path, '.')
	if dot < 0 || strings.ContainsAny(path[dot:], "/\\ ") {
		return ""
	}
	return strings.ToLower(path[dot:])
}

// extensions need no file on disk for a directive to count.
var extensions = strings.Fields(`
	.png .jpg .jpeg .gif .webp .bmp .tiff .svg
	.mp4 .mov .avi .mkv .webm .3gp
	.mp3 .m2a .wav .ogg .opus .m4a .flac
	.pdf .docx .doc .odt .rtf .txt .md .epub
	.xlsx .xls .ods .csv .tsv .json .xml .yaml .yml
	.kmz .kml .geojson .gpx .pptx .ppt .odp .key
	.zip .tar .gz .tgz .bz2 .xz .7z .rar .apk .ipa .html .htm`)

func known(ext string) bool { return slices.Contains(extensions, ext) }

// LooseDirectives is the view of readers that search results of tools for a
// bare MEDIA: and know neither code nor JSON. It takes every path that starts
// like an absolute one, up to white space, whatever its extension, so that it
// finds at least what each of them finds.
func LooseDirectives(text string) []Directive {
	var found []Directive
	seen := map[string]bool{}
	for i := 0; i < len(text); i++ {
		n := mediaWord(text[i:])
		if n == 0 {
			continue
		}
		rest := strings.TrimLeftFunc(text[i+n:], unicode.IsSpace)
		start := len(text) - len(rest)
		if anchor(rest) == 0 {
			continue
		}
		end := strings.IndexFunc(rest, unicode.IsSpace)
		if end < 0 {
			end = len(rest)
		}
		path := strings.TrimRight(rest[:end], "\",}'`")
		if path == "" || seen[path] {
			continue
		}
		seen[path] = true
		d := directive(path, start+len(path))
		d.Start = i
		found = append(found, d)
	}
	return found
}

// Quote writes a directive that Scan reads back as exactly this path, and as
// nothing else, where the path exists. The path stands in quotes unless every
// character of it is harmless to any reader. The directive is empty when none
// can say it: the path has a line break, or needs quotes and holds all three
// kinds.
func Quote(path string) string {
	exists := func(p string) bool { return p == path }
	for _, q := range []string{"", `"`, "'", "`"} {
		if q == "" && !harmless(path) || q != "" && strings.Contains(path, q) {
			continue
		}
		tag := "MEDIA:" + q + path + q
		m := Scan(tag, exists)
		if len(m.Directives) == 1 && m.Directives[0].Path == path && strings.TrimSpace(m.Text) == "" && !m.Voice && !m.Document {
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

// flagWord is the word for a whole message at the start of s, and its length.
func flagWord(s string) (string, int) {
	for _, w := range [...]string{wordVoice, wordDocument} {
		if len(s) >= len(w) && strings.EqualFold(s[:len(w)], w) {
			return w, len(w)
		}
	}
	return "", 0
}

func isMark(b byte) bool { return isQuote(b) || b == '*' || b == '_' }

func isSpace(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsSpace(r)
}

// trimSpaces takes the spaces of one line from the front of s.
func trimSpaces(s string) string {
	return strings.TrimLeftFunc(s, func(r rune) bool { return unicode.IsSpace(r) && r != '\n' && r != '\r' })
}

// without is text less the spans, which are in order. A line that is empty
// because of it goes too.
func without(text string, cut []span) string {
	var b strings.Builder
	at := 0
	for _, c := range cut {
		b.WriteString(text[at:c.from])
		at = c.to
		alone := c.from == 0 || text[c.from-1] == '\n'
		if alone && at < len(text) && text[at] == '\n' {
			at++
		}
	}
	b.WriteString(text[at:])
	return b.String()
}
