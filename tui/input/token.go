package input

import (
	"iter"
	"unicode/utf8"
)

// A Kind says what a token is. The zero value is KindUnknown, so a token that
// nobody named is passed on and acts on nothing.
type Kind uint8

const (
	KindUnknown    Kind = iota // no sequence we know, or an invalid byte; passed on as it is
	KindText                   // two or more printable characters of one read
	KindKey                    // one key: Token.Key
	KindMouse                  // one mouse report: Token.Mouse
	KindPasteStart             // CSI 200 ~
	KindPasteData              // a piece of a paste, any bytes
	KindPasteEnd               // CSI 201 ~ inside a paste
	KindFocusIn                // CSI I
	KindFocusOut               // CSI O
	KindReply                  // an answer of the outer terminal: Token.Reply
)

var kindNames = [...]string{
	KindUnknown: "unknown", KindText: "text", KindKey: "key", KindMouse: "mouse",
	KindPasteStart: "paste start", KindPasteData: "paste data", KindPasteEnd: "paste end",
	KindFocusIn: "focus in", KindFocusOut: "focus out", KindReply: "reply",
}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// A Token is one unit of terminal input with the exact bytes it arrived as.
//
// Bytes, Reply.Body and Key.Text of a reply-free token are read-only. Bytes and
// Reply.Body are valid until the next Feed, or until the Reader's sink returns;
// who keeps them longer copies them. Key and Mouse are values.
type Token struct {
	Kind  Kind
	Bytes []byte
	Key   Key   // set for KindKey
	Mouse Mouse // set for KindMouse
	Reply Reply // set for KindReply
}

// Cut splits off the first key press of typed input. For Text it returns the
// first character as a Key token and what is left (Key for one character, Text
// for more); more is false when nothing is left. Any other token is returned
// whole. It lets a UI take `q` after its prefix and leave the rest of the same
// burst to the child.
func (t Token) Cut() (first, rest Token, more bool) {
	if t.Kind != KindText {
		return t, Token{}, false
	}
	_, n := utf8.DecodeRune(t.Bytes)
	if n == 0 || n == len(t.Bytes) {
		return textToken(t.Bytes), Token{}, false
	}
	return textToken(t.Bytes[:n:n]), textToken(t.Bytes[n:]), true
}

// Keys yields Text as one Key token a character, and any other token as it is.
func (t Token) Keys() iter.Seq[Token] {
	return func(yield func(Token) bool) {
		for more := true; more; {
			var first Token
			first, t, more = t.Cut()
			if !yield(first) {
				return
			}
		}
	}
}

// textToken makes the token of a run of printable characters: a Key when the
// run is one character, else Text.
func textToken(run []byte) Token {
	r, n := utf8.DecodeRune(run)
	if n < len(run) || n == 0 {
		return Token{Kind: KindText, Bytes: run}
	}
	return Token{Kind: KindKey, Bytes: run, Key: Key{Code: r, Text: string(r), Form: FormChar}}
}

// A ReplyKind names an answer of the outer terminal.
type ReplyKind uint8

const (
	ReplyUnknown     ReplyKind = iota
	ReplyDA1                   // CSI ? … c            answers CSI c
	ReplyDA2                   // CSI > … c            answers CSI > c
	ReplyDA3                   // DCS ! | … ST         answers CSI = c
	ReplyMode                  // CSI ? m ; s $ y      DECRPM, answers CSI ? m $ p; Num is the mode
	ReplyANSIMode              // CSI m ; s $ y        the same for an ANSI mode; Num is the mode
	ReplyCursor                // CSI [?] r ; c R      CPR and DECXCPR
	ReplyStatus                // CSI [?] n … n        DSR; Params[0] is n
	ReplyColorScheme           // CSI ? 997 ; n n      1 dark, 2 light; also unasked, mode 2031
	ReplyKitty                 // CSI ? flags u        Params[0] is the flags
	ReplyResize                // CSI 48 ; h;w;ph;pw t in-band resize, mode 2048; never asked for
	ReplyWindow                // CSI n ; … t          XTWINOPS report; Num is n
	ReplyModifyKeys            // CSI > n ; v m        XTQMODKEYS; Num is n
	ReplyGraphics              // CSI ? n ; … S        XTSMGRAPHICS; Num is n
	ReplyParameters            // CSI n ; … x          DECREPTPARM
	ReplyOSC                   // OSC n ; … ST         colours, clipboard; Num is n
	ReplyVersion               // DCS > | … ST         XTVERSION
	ReplyTermcap               // DCS n + r … ST       XTGETTCAP; Params[0] is 1 when known
	ReplySetting               // DCS n $ r … ST       DECRQSS; Params[0] is 1 when valid
	ReplyDCS                   // any other DCS report
	ReplyAPC                   // APC G … ST           kitty graphics
)

// A Reply is a parsed answer of the outer terminal.
type Reply struct {
	Kind   ReplyKind
	Num    int    // what the question was about, as the ReplyKind says; else 0
	Params []int  // parameters of a CSI or DCS reply in order, -1 where one was left out
	Body   []byte // text of an OSC, DCS or APC reply after its selector, without terminator
}
