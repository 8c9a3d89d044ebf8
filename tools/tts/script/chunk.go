package script

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Chunks cuts a cleaned text into pieces of at most limit characters. Each is
// as long as it can be: it ends after the last sentence that fits, else after
// the last clause, else between words, and only inside a word that is longer
// than the limit. A limit of 0 or less means one piece.
//
// The pieces joined by a space, or by nothing where a word was cut, are the
// text.
func Chunks(text string, limit int) []string {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	if limit <= 0 {
		return []string{text}
	}
	var out []string
	for text != "" {
		n := cutAt(text, limit)
		out = append(out, strings.TrimSpace(text[:n]))
		text = strings.TrimLeft(text[n:], " ")
	}
	return out
}

// cutAt returns how many bytes of text make the next piece.
func cutAt(text string, limit int) int {
	end := byteOf(text, limit)
	if end == len(text) {
		return end
	}
	head := text[:end]
	// The character behind the piece decides whether its last one ends
	// something.
	if n := lastEnd(head, text[end:], isSentenceEnd); n > 0 {
		return n
	}
	if n := lastEnd(head, text[end:], isClauseEnd); n > 0 {
		return n
	}
	if text[end] == ' ' {
		return end
	}
	if n := strings.LastIndexByte(head, ' '); n > 0 {
		return n
	}
	return graphemeSafe(text, end)
}

// byteOf returns the byte offset of the character with index n, or the length.
func byteOf(s string, n int) int {
	if len(s) <= n {
		return len(s)
	}
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// lastEnd finds the last place in head behind a mark that ends something. It
// takes closing quotes and brackets along, and wants a space behind, except
// after the wide marks of scripts that have no spaces.
func lastEnd(head, rest string, ends func(rune) bool) int {
	best := 0
	var closing bool // a mark was seen and only closers since
	var wide bool
	for i, r := range head {
		if closing && !isCloser(r) && !ends(r) {
			if r == ' ' || wide {
				best = i
			}
			closing = false
		}
		if ends(r) {
			closing, wide = true, r > 0x3000
		}
	}
	if closing && (wide || strings.HasPrefix(rest, " ")) {
		best = len(head)
	}
	return best
}

func isSentenceEnd(r rune) bool {
	return strings.ContainsRune(".!?…。！？．", r)
}

func isClauseEnd(r rune) bool {
	return strings.ContainsRune(";:,–—、，；：", r)
}

func isCloser(r rune) bool {
	return strings.ContainsRune("\"'”’»«)]}」』）", r)
}

// graphemeSafe moves a cut inside a word back so that no mark is torn from its
// letter.
func graphemeSafe(s string, n int) int {
	for n > 0 {
		r, _ := utf8.DecodeRuneInString(s[n:])
		if !unicode.Is(unicode.M, r) && r != 0x200D {
			return n
		}
		_, size := utf8.DecodeLastRuneInString(s[:n])
		n -= size
	}
	_, size := utf8.DecodeRuneInString(s) // nothing but marks: cut after the first
	return size
}
