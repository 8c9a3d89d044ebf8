package input

// A csi is a complete control sequence taken apart: ESC [ marker params
// intermediate final, as in ECMA-48 5.4.
type csi struct {
	marker byte   // one of < = > ?, or 0
	params []byte // digits, semicolons and colons
	inter  byte   // the one intermediate byte, or 0; 0xFF when there are more
	final  byte
}

// scanCSI takes one control sequence. A byte that cannot belong to it breaks
// it off: what came so far is Unknown, or Alt+[ where nothing came so far.
func (z *Tokenizer) scanCSI(data []byte) lexeme {
	if len(data) == 2 {
		return lexeme{}
	}
	switch data[2] {
	case '[':
		return scanConsole(data)
	case 'M':
		return scanMouseX10(data)
	}
	for i := 2; i < min(len(data), maxCSI); i++ {
		b := data[i]
		switch {
		case b == '$' && rxvtShift(data[2:i]):
			return z.nameCSI(data[:i+1])
		case b >= 0x40 && b < 0x7F:
			return z.nameCSI(data[:i+1])
		case (b < 0x20 || b >= 0x7F) && i == 2:
			return altKey('[', 2)
		case b < 0x20 || b >= 0x7F:
			return lexeme{n: i}
		}
	}
	if len(data) >= maxCSI {
		return lexeme{n: maxCSI, next: overCSI}
	}
	return lexeme{}
}

// scanOverCSI takes a further piece of a control sequence beyond its limit.
func scanOverCSI(data []byte) lexeme {
	for i, b := range data {
		switch {
		case b >= 0x40 && b < 0x7F:
			return lexeme{n: i + 1}
		case b < 0x20 || b >= 0x7F:
			return lexeme{n: i}
		}
	}
	return lexeme{n: len(data), next: overCSI}
}

// scanConsole takes F1 to F5 of the Linux console, CSI [ A to CSI [ E.
func scanConsole(data []byte) lexeme {
	if len(data) == 3 {
		return lexeme{}
	}
	if b := data[3]; b >= 'A' && b <= 'E' {
		return keyLexeme(4, Key{Code: KeyF1 + rune(b-'A'), Form: FormCSI})
	}
	return altKey('[', 2)
}

// rxvtShift reports whether CSI params $ is a shifted key of rxvt. A mode
// report also has a $ there, but a marker or a semicolon before it.
func rxvtShift(params []byte) bool {
	n := number(params)
	return n > 0 && tildeKeys[n] != 0
}

// parseCSI takes a complete sequence apart.
func parseCSI(seq []byte) csi {
	c := csi{final: seq[len(seq)-1]}
	body := seq[2 : len(seq)-1]
	if len(body) > 0 && body[0] >= '<' && body[0] <= '?' {
		c.marker, body = body[0], body[1:]
	}
	end := len(body)
	for end > 0 && body[end-1] < '0' {
		end--
	}
	switch len(body) - end {
	case 0:
	case 1:
		c.inter = body[end]
	default:
		c.inter = 0xFF
	}
	c.params = body[:end]
	for _, b := range c.params {
		if b < '0' || b > ';' {
			c.inter = 0xFF // a marker or intermediate out of place
		}
	}
	return c
}

// nameCSI names a complete control sequence.
func (z *Tokenizer) nameCSI(seq []byte) lexeme {
	c := parseCSI(seq)
	lex := lexeme{n: len(seq)}
	switch {
	case c.inter == '$' && c.final == 'y' && (c.marker == '?' || c.marker == 0):
		kind := ReplyANSIMode
		if c.marker == '?' {
			kind = ReplyMode
		}
		lex.tok = c.reply(kind)
	case c.inter != 0:
	case c.final == '$':
		lex.tok = c.keyToken()
	case c.marker == '<' && (c.final == 'M' || c.final == 'm'):
		lex.tok = c.mouseToken(z.Pixels)
	case c.marker != 0:
		lex.tok = c.markedReply()
	case c.final == '~' && string(c.params) == "200":
		lex.tok.Kind, lex.next = KindPasteStart, inPaste
	case len(c.params) == 0 && c.final == 'I':
		lex.tok.Kind = KindFocusIn
	case len(c.params) == 0 && c.final == 'O':
		lex.tok.Kind = KindFocusOut
	case c.final == 'M':
		lex.tok = c.mouseURXVT()
	default:
		if lex.tok = c.keyToken(); lex.tok.Kind == KindUnknown {
			lex.tok = c.plainReply()
		}
	}
	return lex
}

// markedReply names the reports that begin with ? or >.
func (c csi) markedReply() Token {
	switch string([]byte{c.marker, c.final}) {
	case "?c":
		return c.reply(ReplyDA1)
	case ">c":
		return c.reply(ReplyDA2)
	case "?R":
		return c.reply(ReplyCursor)
	case "?u":
		return c.reply(ReplyKitty)
	case ">m":
		return c.reply(ReplyModifyKeys)
	case "?S":
		return c.reply(ReplyGraphics)
	case "?n":
		if c.num(0) == 997 {
			return c.reply(ReplyColorScheme)
		}
		return c.reply(ReplyStatus)
	}
	return Token{}
}

// plainReply names the reports without a marker.
func (c csi) plainReply() Token {
	switch c.final {
	case 'R':
		if c.fields() == 2 {
			return c.reply(ReplyCursor)
		}
	case 'n':
		return c.reply(ReplyStatus)
	case 't':
		if c.num(0) == 48 {
			return c.reply(ReplyResize)
		}
		return c.reply(ReplyWindow)
	case 'x':
		if c.fields() > 1 {
			return c.reply(ReplyParameters)
		}
	}
	return Token{}
}

// reply builds the token of a report with all its parameters.
func (c csi) reply(kind ReplyKind) Token {
	r := Reply{Kind: kind}
	for i := range c.fields() {
		r.Params = append(r.Params, c.num(i))
	}
	switch kind {
	case ReplyMode, ReplyANSIMode, ReplyWindow, ReplyModifyKeys, ReplyGraphics:
		r.Num = max(0, c.num(0))
	}
	return Token{Kind: KindReply, Reply: r}
}

// fields returns how many parameters there are; an empty list has none.
func (c csi) fields() int {
	if len(c.params) == 0 {
		return 0
	}
	n := 1
	for _, b := range c.params {
		if b == ';' {
			n++
		}
	}
	return n
}

// field returns parameter i with its sub-parameters, nil where there is none.
func (c csi) field(i int) []byte { return cut(c.params, ';', i) }

// num returns parameter i, -1 where it is missing, empty or too large.
func (c csi) num(i int) int { return c.sub(i, 0) }

// sub returns sub-parameter j of parameter i, as num does.
func (c csi) sub(i, j int) int { return number(cut(c.field(i), ':', j)) }

// cut returns part i of b between separators, nil where there is none.
func cut(b []byte, sep byte, i int) []byte {
	start := 0
	for at, x := range b {
		if x != sep {
			continue
		}
		if i == 0 {
			return b[start:at]
		}
		i, start = i-1, at+1
	}
	if i > 0 {
		return nil
	}
	return b[start:]
}

// number reads a decimal number, -1 when b is empty, holds anything else than
// digits, or exceeds what any report carries.
func number(b []byte) int {
	if len(b) == 0 || len(b) > 7 {
		return -1
	}
	n := 0
	for _, d := range b {
		if d < '0' || d > '9' {
			return -1
		}
		n = n*10 + int(d-'0')
	}
	return n
}
