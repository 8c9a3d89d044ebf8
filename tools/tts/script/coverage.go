package script

import (
	"fmt"
	"strings"
	"unicode"
)

// A Coverage says how many letters of a text a voice of one language has a
// pronunciation for. It is by writing system: a German voice has none for
// Japanese letters, and says "Japanese letter" or nothing at all.
type Coverage struct {
	Letters int `json:"letters"` // letters in the text; digits are not counted, every voice has them
	Spoken  int `json:"spoken"`  // of these, letters in the writing systems of the language
}

// Sentence says what is missing, and nothing when nothing is.
func (c Coverage) Sentence(language string) string {
	if c.Spoken == c.Letters {
		return ""
	}
	return fmt.Sprintf("%d of %d letters have no pronunciation in %s", c.Letters-c.Spoken, c.Letters, language)
}

// writing gives the writing systems of a language, as ISO 639-1. A language
// that is missing here is unknown, not unwritten.
var writing = map[string][]*unicode.RangeTable{
	"ar": {unicode.Arabic}, "fa": {unicode.Arabic}, "ur": {unicode.Arabic},
	"bg": {unicode.Cyrillic}, "ru": {unicode.Cyrillic}, "uk": {unicode.Cyrillic}, "mk": {unicode.Cyrillic}, "be": {unicode.Cyrillic},
	"sr": {unicode.Cyrillic, unicode.Latin},
	"el": {unicode.Greek}, "he": {unicode.Hebrew}, "hi": {unicode.Devanagari}, "ko": {unicode.Hangul, unicode.Han},
	"ja": {unicode.Hiragana, unicode.Katakana, unicode.Han}, "zh": {unicode.Han}, "cmn": {unicode.Han}, "yue": {unicode.Han},
	"th": {unicode.Thai}, "ka": {unicode.Georgian}, "hy": {unicode.Armenian}, "ta": {unicode.Tamil}, "bn": {unicode.Bengali},
}

var latin = []string{
	"en", "de", "fr", "es", "it", "nl", "pt", "pl", "cs", "sk", "sl", "hr", "hu", "ro", "sv", "da", "nb", "no",
	"fi", "et", "lv", "lt", "tr", "vi", "id", "ms", "sw", "af", "ca", "gl", "eu", "cy", "ga", "is", "mt", "sq", "eo", "la",
}

// CoverageIn counts for a language such as "de", "de-AT" or "pt_BR.UTF-8".
// Known is false for a language whose writing this package does not know.
func CoverageIn(text, language string) (c Coverage, known bool) {
	tables := systems(language)
	for _, r := range text {
		if !unicode.IsLetter(r) {
			continue
		}
		c.Letters++
		// A letter of no one script, such as ª or ー, is spoken by its neighbours.
		if unicode.In(r, tables...) || unicode.Is(unicode.Common, r) {
			c.Spoken++
		}
	}
	return c, tables != nil
}

func systems(language string) []*unicode.RangeTable {
	base := Base(language)
	if t, ok := writing[base]; ok {
		return t
	}
	for _, l := range latin {
		if l == base {
			return []*unicode.RangeTable{unicode.Latin}
		}
	}
	return nil
}

// Base is the language without region, script and encoding: "de" for
// "de_AT.UTF-8".
func Base(language string) string {
	i := strings.IndexAny(language, "-_.@+")
	if i >= 0 {
		language = language[:i]
	}
	return strings.ToLower(language)
}

// Tag makes a language tag of what an environment variable holds: "de-AT" for
// "de_AT.UTF-8", and "" for C and POSIX, which name no language.
func Tag(locale string) string {
	locale, _, _ = strings.Cut(locale, ".")
	locale, _, _ = strings.Cut(locale, "@")
	if locale == "C" || locale == "POSIX" {
		return ""
	}
	return strings.ReplaceAll(locale, "_", "-")
}

// common holds frequent short words that few other languages share.
var common = map[string][]string{
	"de": {"und", "der", "die", "das", "nicht", "ist", "ein", "eine", "ich", "wir", "sie", "mit", "auf", "für", "den", "dem", "von", "zu", "auch", "wird", "guten", "tag"},
	"en": {"the", "and", "of", "to", "is", "that", "this", "with", "you", "for", "was", "are", "have", "not", "it", "your", "hello"},
	"fr": {"le", "la", "les", "et", "des", "est", "une", "vous", "nous", "dans", "pour", "pas", "que", "avec", "sur", "ce", "il", "du", "je", "bonjour"},
	"es": {"el", "los", "las", "y", "es", "una", "por", "para", "con", "que", "del", "está", "pero", "como", "hola"},
	"it": {"il", "gli", "che", "è", "di", "per", "non", "una", "sono", "della", "con", "questo", "anche", "ciao"},
	"nl": {"de", "het", "een", "en", "niet", "van", "is", "dat", "met", "voor", "zijn", "ook", "wij", "hallo"},
	"pt": {"o", "os", "e", "não", "é", "uma", "para", "com", "que", "do", "da", "em", "você", "olá"},
}

// Guess names the language of a text by its frequent words, or "" when no
// language stands out: at least two hits, and more than any other language.
func Guess(text string) string {
	hits := map[string]int{}
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
	words = words[:min(len(words), 2000)]
	for _, w := range words {
		for lang, list := range common {
			for _, c := range list {
				if c == w {
					hits[lang]++
				}
			}
		}
	}
	best, second, name := 0, 0, ""
	for lang, n := range hits {
		switch {
		case n > best:
			best, second, name = n, best, lang
		case n > second:
			second = n
		}
	}
	if best < 2 || best == second {
		return ""
	}
	return name
}
