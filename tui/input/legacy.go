package input

// The tables of this file are the legacy spellings of keys: those of the
// vt220, of xterm and of rxvt. The decoder reads them one way, the encoder the
// other.

// tildeKeys is n in CSI n ~. 1, 4, 7 and 8 are Home and End of vt220 and rxvt.
var tildeKeys = map[int]rune{
	1: KeyHome, 2: KeyInsert, 3: KeyDelete, 4: KeyEnd, 5: KeyPageUp, 6: KeyPageDown, 7: KeyHome, 8: KeyEnd,
	11: KeyF1, 12: KeyF1 + 1, 13: KeyF1 + 2, 14: KeyF1 + 3, 15: KeyF1 + 4,
	17: KeyF1 + 5, 18: KeyF1 + 6, 19: KeyF1 + 7, 20: KeyF1 + 8, 21: KeyF1 + 9, 23: KeyF1 + 10, 24: KeyF1 + 11,
	25: KeyF1 + 12, 26: KeyF1 + 13, 28: KeyF1 + 14, 29: KeyF1 + 15,
	31: KeyF1 + 16, 32: KeyF1 + 17, 33: KeyF1 + 18, 34: KeyF1 + 19,
	57427: KeyKPBegin,
}

// tildeNumbers is the number the encoder uses: xterm's.
var tildeNumbers = map[rune]int{
	KeyInsert: 2, KeyDelete: 3, KeyPageUp: 5, KeyPageDown: 6,
	KeyF1 + 4: 15, KeyF1 + 5: 17, KeyF1 + 6: 18, KeyF1 + 7: 19, KeyF1 + 8: 20, KeyF1 + 9: 21, KeyF1 + 10: 23, KeyF1 + 11: 24,
	KeyF1 + 12: 25, KeyF1 + 13: 26, KeyF1 + 14: 28, KeyF1 + 15: 29,
	KeyF1 + 16: 31, KeyF1 + 17: 32, KeyF1 + 18: 33, KeyF1 + 19: 34,
}

// letterKeys is x in CSI x, CSI 1 ; m x and SS3 x.
var letterKeys = map[byte]rune{
	'A': KeyUp, 'B': KeyDown, 'C': KeyRight, 'D': KeyLeft, 'E': KeyKPBegin, 'F': KeyEnd, 'H': KeyHome,
	'P': KeyF1, 'Q': KeyF1 + 1, 'R': KeyF1 + 2, 'S': KeyF1 + 3,
}

// cursorLetters is the letter the encoder uses, with SS3 in application mode.
var cursorLetters = map[rune]byte{
	KeyUp: 'A', KeyDown: 'B', KeyRight: 'C', KeyLeft: 'D', KeyKPBegin: 'E', KeyEnd: 'F', KeyHome: 'H',
}

// functionLetters is the letter the encoder uses, with SS3 in every mode.
var functionLetters = map[rune]byte{KeyF1: 'P', KeyF1 + 1: 'Q', KeyF1 + 2: 'R', KeyF1 + 3: 'S'}

// keypadLetters is x in SS3 x of the application keypad (DECKPAM), and what
// the key types otherwise.
var keypadLetters = map[byte]rune{
	'M': KeyKPEnter, 'X': KeyKPEqual, 'j': KeyKPMultiply, 'k': KeyKPAdd, 'l': KeyKPSeparator, 'm': KeyKPSubtract,
	'n': KeyKPDecimal, 'o': KeyKPDivide,
	'p': KeyKP0, 'q': KeyKP0 + 1, 'r': KeyKP0 + 2, 's': KeyKP0 + 3, 't': KeyKP0 + 4, 'u': KeyKP0 + 5,
	'v': KeyKP0 + 6, 'w': KeyKP0 + 7, 'x': KeyKP0 + 8, 'y': KeyKP0 + 9,
}

// keypadKeys is the other direction, with the character of numeric mode.
var keypadKeys = map[rune]struct{ app, char byte }{
	KeyKPEnter: {'M', '\r'}, KeyKPEqual: {'X', '='}, KeyKPMultiply: {'j', '*'}, KeyKPAdd: {'k', '+'},
	KeyKPSeparator: {'l', ','}, KeyKPSubtract: {'m', '-'}, KeyKPDecimal: {'n', '.'}, KeyKPDivide: {'o', '/'},
	KeyKP0: {'p', '0'}, KeyKP0 + 1: {'q', '1'}, KeyKP0 + 2: {'r', '2'}, KeyKP0 + 3: {'s', '3'}, KeyKP0 + 4: {'t', '4'},
	KeyKP0 + 5: {'u', '5'}, KeyKP0 + 6: {'v', '6'}, KeyKP0 + 7: {'w', '7'}, KeyKP0 + 8: {'x', '8'}, KeyKP0 + 9: {'y', '9'},
}

// keypadPlain is the key that a keypad key without Num Lock stands for, which
// is all a legacy child can be told.
var keypadPlain = map[rune]rune{
	KeyKPLeft: KeyLeft, KeyKPRight: KeyRight, KeyKPUp: KeyUp, KeyKPDown: KeyDown, KeyKPPageUp: KeyPageUp,
	KeyKPPageDown: KeyPageDown, KeyKPHome: KeyHome, KeyKPEnd: KeyEnd, KeyKPInsert: KeyInsert, KeyKPDelete: KeyDelete,
}

// rxvtArrows is x in SS3 x (Ctrl) and CSI x (Shift) of rxvt.
var rxvtArrows = map[byte]rune{'a': KeyUp, 'b': KeyDown, 'c': KeyRight, 'd': KeyLeft}

// scanSS3 takes ESC O x, also with the digit of a modifier before x as old
// xterms send it. Anything else was Alt+O.
func scanSS3(data []byte) lexeme {
	if len(data) == 2 {
		return lexeme{}
	}
	n, b := 3, data[2]
	k := Key{Form: FormSS3}
	if b >= '2' && b <= '8' {
		if len(data) == 3 {
			return lexeme{}
		}
		k.Mods = Mods(b - '1')
		n, b = 4, data[3]
	}
	switch {
	case letterKeys[b] != 0:
		k.Code = letterKeys[b]
	case keypadLetters[b] != 0:
		k.Code = keypadLetters[b]
	case rxvtArrows[b] != 0 && n == 3:
		k.Code, k.Mods = rxvtArrows[b], ModCtrl
	default:
		return altKey('O', 2)
	}
	return keyLexeme(n, k)
}

// keyToken names a control sequence that is a key, or returns an Unknown token.
func (c csi) keyToken() Token {
	k := Key{Form: FormCSI}
	switch n := c.num(0); {
	case c.final == 'u':
		return c.kittyToken()
	case c.final == '~' && n == 27 && c.fields() == 3:
		return c.otherToken()
	case c.final == '~':
		k.Code = tildeKeys[n]
	case c.final == '^' || c.final == '$' || c.final == '@':
		k.Code = tildeKeys[n]
		k.Mods = map[byte]Mods{'^': ModCtrl, '$': ModShift, '@': ModCtrl | ModShift}[c.final]
		if c.fields() != 1 {
			return Token{}
		}
	case c.final == 'Z' && (c.fields() == 0 || n == 1):
		k.Code, k.Mods = KeyTab, ModShift
	case rxvtArrows[c.final] != 0 && c.fields() == 0:
		k.Code, k.Mods = rxvtArrows[c.final], ModShift
	case c.fields() == 0 || n == 1 || n == -1 && len(c.field(0)) == 0:
		k.Code = letterKeys[c.final]
	}
	if k.Code == 0 || c.final == 'R' && c.fields() == 2 && !modifiersOfF3(c.field(1)) {
		return Token{}
	}
	if !c.modify(&k) {
		return Token{}
	}
	return Token{Kind: KindKey, Key: k}
}

// modifiersOfF3 tells Shift+F3 (CSI 1 ; 2 R) from a cursor report for row 1,
// which has the same shape: columns 2 to 8 and 5 to 16 with Meta are taken as
// modifiers. Ask for the cursor with DECXCPR (CSI ? 6 n), whose answer cannot
// be mistaken.
func modifiersOfF3(p []byte) bool {
	n := number(cut(p, ':', 0))
	return n >= 2 && n <= 16
}

// modify adds modifiers, event and text of parameters 1 and 2 to a key. It
// reports false for numbers that mean nothing.
func (c csi) modify(k *Key) bool {
	if c.fields() > 1 && len(c.field(1)) > 0 {
		m, e := c.sub(1, 0), c.sub(1, 1)
		if m == -1 && len(cut(c.field(1), ':', 0)) == 0 {
			m = 1
		}
		if m < 1 || m > 256 || e == 0 || e > 3 {
			return false
		}
		k.Mods |= Mods(m - 1)
		if e > 0 {
			k.Event, k.Form = Event(e-1), FormKitty
		}
	}
	if c.fields() > 2 {
		k.Text, k.Form = c.text(2), FormKitty
	}
	return true
}
