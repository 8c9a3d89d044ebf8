package vt

import "strings"

// nationalPlaces are the characters that a national set may replace.
const nationalPlaces = "#@[\\]^_`{|}~"

// A national is one of DEC's national replacement character sets.
type national struct {
	finals string // what designates it; two bytes are an intermediate and a final
	runes  string // what stands at nationalPlaces, in that order
}

var nationals = [...]national{
	{"4", "£¾ĳ½|^_`¨ƒ¼´"},   // Dutch
	{"C5", "#@ÄÖÅÜ_éäöåü"},  // Finnish
	{"Rf", "£à°ç§^_`éùè¨"},  // French
	{"Q9", "#àâçêî_ôéùèû"},  // French Canadian
	{"K", "#§ÄÖÜ^_`äöüß"},   // German
	{"Y", "£§°çé^_ùàòèì"},   // Italian
	{"E6`", "#ÄÆØÅÜ_äæøåü"}, // Norwegian and Danish
	{"", "#@ÃÇÕ^_`ãçõ~"},    // Portuguese, designated by % 6
	{"Z", "£§¡Ñ¿^_`°ñç~"},   // Spanish
	{"H7", "#ÉÄÖÅÜ_éäöåü"},  // Swedish
	{"=", "ùàéçêîèôäöüû"},   // Swiss
}

const portuguese = 7

// nationalSet returns the set that inter and final designate. DECNRCM decides
// whether it is used.
func nationalSet(inter, final byte) (charset, bool) {
	if inter == '%' && final == '6' {
		return csNational + portuguese, true
	}
	if inter != 0 {
		return csASCII, false
	}
	for i, n := range nationals {
		if strings.IndexByte(n.finals, final) >= 0 {
			return csNational + charset(i), true
		}
	}
	return csASCII, false
}

// replace returns the character that stands for b.
func (n *national) replace(b byte) rune {
	at := strings.IndexByte(nationalPlaces, b)
	if at < 0 {
		return rune(b)
	}
	for _, r := range n.runes {
		if at == 0 {
			return r
		}
		at--
	}
	return rune(b)
}
