package input

// An opening is what a reply of one kind begins with: ESC, introducer, selector.
//
// An OSC reply has a number and a semicolon, a DCS reply a private marker or an
// intermediate byte before its final one, an APC reply a G. Anything else after
// the introducer means that somebody pressed Alt with that character; then the
// keys typed next must not vanish into a string.
type opening uint8

const (
	notReply  opening = iota // Alt with the introducer character
	undecided                // more bytes are needed
	reply
)

// maxSelector bounds the number or parameters that select a reply.
const maxSelector = 16

// scanString takes a reply of the outer terminal up to BEL or ST. A control
// character, an ESC that does not begin ST, or maxString ends it as Unknown:
// no answer holds such bytes, so the terminator was lost.
func (z *Tokenizer) scanString(data []byte) lexeme {
	kind, num, body := open(data)
	switch kind {
	case notReply:
		return altKey(rune(data[1]), 2)
	case undecided:
		return lexeme{}
	}
	for i := max(body, z.searched); i < min(len(data), maxString); i++ {
		b := data[i]
		switch {
		case b == 0x1B && i+1 == len(data):
			z.searched = i
			return lexeme{}
		case b == 0x1B && data[i+1] == '\\':
			return stringReply(data, i+2, num, data[body:i])
		case b == 0x07 && data[1] == ']':
			return stringReply(data, i+1, num, data[body:i])
		case b < 0x20 || b == 0x7F:
			z.stats.Broken++
			return lexeme{n: i}
		}
	}
	if len(data) >= maxString {
		return lexeme{n: maxString, next: overString}
	}
	z.searched = len(data)
	return lexeme{}
}

// open reads the introducer and selector of a string and returns the selecting
// number and where the body starts.
func open(data []byte) (kind opening, num, body int) {
	i := 2
	for i < len(data) && i < maxSelector && (data[i] >= '0' && data[i] <= '9' || data[1] == 'P' && data[i] == ';') {
		if data[i] != ';' {
			num = num*10 + int(data[i]-'0')
		}
		i++
	}
	if i == len(data) {
		return undecided, 0, 0
	}
	b := data[i]
	switch {
	case i >= maxSelector || num > 1<<20:
		return notReply, 0, 0
	case data[1] == '_' && b == 'G' && i == 2, data[1] == ']' && b == ';' && i > 2:
		return reply, num, i + 1
	case data[1] != 'P', b > '/' && !(i == 2 && b >= '<' && b <= '?'), b < '!':
		return notReply, 0, 0
	}
	if i++; i == len(data) {
		return undecided, 0, 0
	}
	if data[i] < '@' || data[i] > '~' {
		return notReply, 0, 0
	}
	return reply, num, i + 1
}

// stringReply names a complete string of n bytes.
func stringReply(data []byte, n, num int, body []byte) lexeme {
	r := Reply{Num: num, Body: body[:len(body):len(body)]}
	switch data[1] {
	case ']':
		r.Kind = ReplyOSC
	case '_':
		r.Kind = ReplyAPC
	default:
		start := n - len(body) - len("\x1b\\")
		switch string(data[start-2 : start]) {
		case "!|":
			r.Kind = ReplyDA3
		case ">|":
			r.Kind = ReplyVersion
		case "+r":
			r.Kind, r.Num, r.Params = ReplyTermcap, 0, []int{num}
		case "$r":
			r.Kind, r.Num, r.Params = ReplySetting, 0, []int{num}
		default:
			r.Kind = ReplyDCS
		}
	}
	return lexeme{n: n, tok: Token{Kind: KindReply, Reply: r}}
}

// scanOverString takes a further piece of a string that passed its limit, up to
// and with its terminator, or up to the control character that breaks it off.
// Scan has seen that the first byte does not.
func scanOverString(data []byte) lexeme {
	for i, b := range data {
		switch {
		case b == 0x07:
			return lexeme{n: i + 1}
		case b == 0x1B && i+1 < len(data) && data[i+1] == '\\':
			return lexeme{n: i + 2}
		case b == 0x1B && i+1 == len(data) && i == 0:
			return lexeme{}
		case b == 0x1B && i+1 == len(data):
			return lexeme{n: i, next: overString}
		case b < 0x20 || b == 0x7F:
			return lexeme{n: i}
		}
	}
	return lexeme{n: len(data), next: overString}
}
