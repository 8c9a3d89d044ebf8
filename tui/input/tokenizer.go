package input

import (
	"bytes"
	"unicode/utf8"
)

const (
	// maxCSI bounds a CSI sequence. The longest a terminal sends is a kitty
	// key with the text of an input method, a few hundred bytes.
	maxCSI = 1024
	// maxString bounds an OSC, DCS or APC reply. The longest asked for is a
	// clipboard by OSC 52; xterm itself stops near this size.
	maxString = 1 << 20
)

// A mode is what the next byte belongs to. Ground is the start of a token.
type mode uint8

const (
	ground     mode = iota
	inPaste         // until CSI 201 ~, whatever comes
	overCSI         // the rest of a CSI sequence beyond maxCSI
	overString      // the rest of a reply beyond maxString
)

// A lexeme is one recognised token: its length and the mode behind it. Length
// zero means that more bytes are needed to tell.
type lexeme struct {
	n    int
	tok  Token
	next mode
}

// Stats counts what the tokenizer could not name. Units are tokens, except
// where the name says bytes.
type Stats struct {
	Unknown      int64 // Unknown tokens of any cause
	UnknownBytes int64
	Oversized    int64 // sequences longer than their limit, passed on in pieces
	Broken       int64 // replies broken off by a control character
}

// A Tokenizer cuts terminal input into tokens. It is pure: no clock, no I/O.
// The zero value is ready. It is used by one goroutine.
type Tokenizer struct {
	// Pixels says that the outer terminal reports the mouse in pixels (mode
	// 1016), which its bytes do not tell.
	Pixels bool

	mode     mode
	held     []byte // an unfinished token
	spare    []byte // memory of tokens of the last Feed; held grows there next
	searched int    // bytes of held already searched for the end of a string
	stats    Stats
}

// Feed reads p and calls emit for every token that is complete. The tokens'
// bytes lie in p or in the tokenizer: they are valid while p is unchanged and
// until the next Feed or Flush. Emit must not call the tokenizer.
func (z *Tokenizer) Feed(p []byte, emit func(Token)) {
	data := p
	if len(z.held) > 0 {
		z.held = append(z.held, p...)
		data = z.held
	}
	at := 0
	for at < len(data) {
		lex := z.scan(data[at:])
		if lex.n == 0 {
			break
		}
		z.commit(lex, data[at:at+lex.n:at+lex.n], emit)
		at += lex.n
	}
	if at == 0 && len(z.held) > 0 {
		return // all of it is still held where it lies
	}
	// The tokens just emitted may lie in held, so the rest goes elsewhere.
	z.held, z.spare = append(z.spare[:0], data[at:]...), z.held
	z.trim()
}

// trim gives back the memory of a large reply once it is over.
func (z *Tokenizer) trim() {
	const keep = 4096
	if cap(z.spare) > keep && len(z.held) < keep {
		z.spare = nil // tokens that lie in it keep it alive by themselves
	}
}

// commit counts and emits one token and enters the mode behind it.
func (z *Tokenizer) commit(lex lexeme, b []byte, emit func(Token)) {
	z.searched = 0
	if lex.tok.Kind == KindUnknown {
		z.stats.Unknown++
		z.stats.UnknownBytes += int64(len(b))
		if z.mode == ground && (lex.next == overCSI || lex.next == overString) {
			z.stats.Oversized++
		}
	}
	z.mode = lex.next
	lex.tok.Bytes = b
	emit(lex.tok)
}

// Pending reports that a lone ESC (or two) is held. It is either the Escape
// key or the start of a sequence whose next byte is not here yet; only time
// can tell.
func (z *Tokenizer) Pending() bool {
	return z.mode == ground && (string(z.held) == "\x1b" || string(z.held) == "\x1b\x1b")
}

// Held returns how many bytes of an unfinished token are held.
func (z *Tokenizer) Held() int { return len(z.held) }

// Pasting reports that a paste has begun and not ended.
func (z *Tokenizer) Pasting() bool { return z.mode == inPaste }

// Stats returns the counters so far.
func (z *Tokenizer) Stats() Stats { return z.stats }

// Flush releases what Pending reports as Escape keys. It does nothing else.
func (z *Tokenizer) Flush(emit func(Token)) {
	if !z.Pending() {
		return
	}
	b := z.held
	z.held, z.spare = z.spare[:0], b
	for i := range b {
		z.commit(escapeKey, b[i:i+1:i+1], emit)
	}
}

// Finish releases everything held, because no more bytes will come: a lone ESC
// as the Escape key, anything else as Unknown, or as PasteData in a paste. The
// tokenizer then starts over.
func (z *Tokenizer) Finish(emit func(Token)) {
	z.Flush(emit)
	if b := z.held; len(b) > 0 {
		lex := lexeme{n: len(b)}
		if z.mode == inPaste {
			lex.tok.Kind = KindPasteData
		}
		z.held, z.spare = z.spare[:0], b
		z.commit(lex, b, emit)
	}
	z.mode = ground
}

// scan recognises the token at the start of data, which is not empty.
func (z *Tokenizer) scan(data []byte) lexeme {
	switch {
	case z.mode == inPaste:
		return scanPaste(data)
	case z.mode == overString && string(data) == "\x1b":
		return lexeme{}
	case z.mode == overString && (data[0] >= 0x20 && data[0] != 0x7F || data[0] == 0x07 || bytes.HasPrefix(data, []byte("\x1b\\"))):
		return scanOverString(data)
	case z.mode == overCSI && data[0] >= 0x20 && data[0] < 0x7F:
		return scanOverCSI(data)
	}
	z.mode = ground // a control character ends what was too long
	switch b := data[0]; {
	case b == 0x1B:
		return z.scanEscape(data)
	case b < 0x20 || b == 0x7F:
		return keyLexeme(1, controlKey(b))
	}
	return scanText(data)
}

// scanText takes the longest run of printable characters. C1 controls (U+0080
// to U+009F) and bytes that are not UTF-8 are Unknown, one by one. The first
// bytes of a character that is not here yet are held.
func scanText(data []byte) lexeme {
	i := 0
	for i < len(data) {
		b := data[i]
		if b < utf8.RuneSelf {
			if b < 0x20 || b == 0x7F {
				break
			}
			i++
			continue
		}
		if !utf8.FullRune(data[i:]) {
			break
		}
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 || r < 0xA0 {
			if i == 0 {
				return lexeme{n: n}
			}
			break
		}
		i += n
	}
	return lexeme{n: i, tok: textToken(data[:i])}
}

var pasteEnd = []byte("\x1b[201~")

// scanPaste takes everything up to CSI 201 ~, or that sequence itself. It
// holds back only bytes that may be its beginning.
func scanPaste(data []byte) lexeme {
	i := bytes.Index(data, pasteEnd)
	if i == 0 {
		return lexeme{n: len(pasteEnd), tok: Token{Kind: KindPasteEnd}}
	}
	if i < 0 {
		i = len(data)
		for k := min(len(pasteEnd)-1, len(data)); k > 0; k-- {
			if bytes.HasSuffix(data, pasteEnd[:k]) {
				i -= k
				break
			}
		}
	}
	return lexeme{n: i, tok: Token{Kind: KindPasteData}, next: inPaste}
}

// scanEscape takes a sequence, a key with Alt, or a key that was Escape after
// all. Data begins with ESC. A single ESC is held.
func (z *Tokenizer) scanEscape(data []byte) lexeme {
	if len(data) == 1 {
		return lexeme{}
	}
	switch b := data[1]; {
	case b == '[':
		return z.scanCSI(data)
	case b == 'O':
		return scanSS3(data)
	case b == ']' || b == 'P' || b == '_':
		return z.scanString(data)
	case b == 0x1B:
		return z.scanEscapeTwice(data)
	case b < 0x20 || b == 0x7F:
		k := controlKey(b)
		k.Mods |= ModAlt
		k.Form = FormAlt
		return keyLexeme(2, k)
	}
	if !utf8.FullRune(data[1:]) {
		return lexeme{}
	}
	r, n := utf8.DecodeRune(data[1:])
	if r == utf8.RuneError && n == 1 || r >= 0x80 && r < 0xA0 {
		return escapeKey
	}
	return altKey(r, 1+n)
}

// scanEscapeTwice takes ESC before a legacy cursor or function key as Alt, as
// rxvt and older terminals send it. Otherwise the first ESC was the Escape key.
func (z *Tokenizer) scanEscapeTwice(data []byte) lexeme {
	if len(data) == 2 {
		return lexeme{}
	}
	var inner lexeme
	switch data[2] {
	case '[':
		inner = z.scanCSI(data[1:])
	case 'O':
		inner = scanSS3(data[1:])
	default:
		return escapeKey
	}
	k := inner.tok.Key
	switch {
	case inner.n == 0:
		return lexeme{}
	case inner.tok.Kind == KindKey && (k.Form == FormCSI || k.Form == FormSS3) && k.Mods&ModAlt == 0:
		k.Mods |= ModAlt
		return keyLexeme(1+inner.n, k)
	}
	return escapeKey
}

// escapeKey is one ESC that turned out to be the Escape key.
var escapeKey = keyLexeme(1, Key{Code: KeyEscape, Form: FormControl})

func keyLexeme(n int, k Key) lexeme {
	return lexeme{n: n, tok: Token{Kind: KindKey, Key: k}}
}

func altKey(r rune, n int) lexeme {
	return keyLexeme(n, Key{Code: r, Mods: ModAlt, Form: FormAlt})
}

// controlKey names a C0 control character or DEL. Tab, Enter and Backspace
// are the keys; Ctrl+I, Ctrl+M and Ctrl+? cannot be told from them here.
func controlKey(b byte) Key {
	k := Key{Form: FormControl, Mods: ModCtrl}
	switch {
	case b == 0x00:
		k.Code = KeySpace
	case rune(b) == KeyTab || rune(b) == KeyEnter || rune(b) == KeyEscape || rune(b) == KeyBackspace:
		k.Code, k.Mods = rune(b), 0
	case b <= 0x1A:
		k.Code = rune(b) + 'a' - 1
	default: // FS, GS, RS, US: Ctrl+\ ] ^ _
		k.Code = rune(b) + 0x40
	}
	return k
}
