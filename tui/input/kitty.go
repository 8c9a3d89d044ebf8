package input

import (
	"unicode/utf8"
)

// Flags of the kitty keyboard protocol (CSI > flags u), as a child sets them.
const (
	KittyDisambiguate = 1 << iota // Escape and keys with Ctrl or Alt as CSI u
	KittyEvents                   // repeats and releases
	KittyAlternates               // shifted and base key
	KittyAllKeys                  // every key as CSI u, text and modifiers too
	KittyText                     // the text a key types; needs KittyAllKeys
)

// maxKeyText bounds the text of one key, in characters. An input method
// commits a phrase at most.
const maxKeyText = 64

// kittyToken names CSI code:shifted:base ; mods:event ; text u.
func (c csi) kittyToken() Token {
	code, shifted, base := c.sub(0, 0), c.sub(0, 1), c.sub(0, 2)
	if code < 0 || code >= int(named) || c.fields() > 3 {
		return Token{}
	}
	k := Key{Code: rune(code), Shifted: rune(max(0, shifted)), Base: rune(max(0, base))}
	if !c.modify(&k) {
		return Token{}
	}
	k.Form = FormKitty
	if k.Code >= kittyPUA && k.Code < 0xF900 {
		k.Code += named - kittyPUA
	}
	return Token{Kind: KindKey, Key: k}
}

// otherToken names CSI 27 ; mods ; code ~ of modifyOtherKeys. The code is the
// character with Shift already in it.
func (c csi) otherToken() Token {
	m, code := c.num(1), c.num(2)
	if m < 1 || m > 256 || code <= 0 || code >= int(named) {
		return Token{}
	}
	k := Key{Code: rune(code), Mods: Mods(m - 1), Form: FormOther}
	if low := lower(k.Code); k.Mods&ModShift != 0 && low != k.Code {
		k.Shifted, k.Code = k.Code, low
	} else if k.Mods&ModShift != 0 {
		k.Shifted = k.Code
	}
	if k.Code == 0x08 {
		k.Code = KeyBackspace
	}
	return Token{Kind: KindKey, Key: k}
}

// text reads the code points of parameter i. Control characters and what is no
// character are left out: they are not text a key may type.
func (c csi) text(i int) string {
	var b []byte
	field := c.field(i)
	for j := range maxKeyText {
		part := cut(field, ':', j)
		if part == nil {
			break
		}
		if r := number(part); r >= 0x20 && r != 0x7F && (r < 0x80 || r >= 0xA0) && utf8.ValidRune(rune(r)) {
			b = utf8.AppendRune(b, rune(r))
		}
	}
	return string(b)
}
