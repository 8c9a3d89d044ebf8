package input

import (
	"strconv"
	"unicode/utf8"
)

// EncodeKey appends what a terminal in the child's modes sends for the key. It
// appends nothing where such a terminal sends nothing: a release that was not
// asked for, a modifier by itself, a key that has no spelling there.
func EncodeKey(dst []byte, k Key, m ChildModes) []byte {
	if m.KittyFlags&(KittyDisambiguate|KittyEvents|KittyAllKeys) != 0 {
		return encodeKitty(dst, k, m)
	}
	if k.Event == Release || k.IsModifier() {
		return dst
	}
	return encodeLegacy(dst, k, m)
}

// encodeLegacy spells a key as xterm does.
func encodeLegacy(dst []byte, k Key, m ChildModes) []byte {
	mods := k.Mods &^ modLocks
	if plain := keypadPlain[k.Code]; plain != 0 {
		k.Code = plain
	}
	if letter := cursorLetters[k.Code]; letter != 0 {
		return appendLetter(dst, letter, mods, m.AppCursor)
	}
	if letter := functionLetters[k.Code]; letter != 0 {
		return appendLetter(dst, letter, mods, true)
	}
	if n := tildeNumbers[k.Code]; n != 0 {
		return appendTilde(dst, n, mods)
	}
	if kp, ok := keypadKeys[k.Code]; ok {
		if m.AppKeypad && mods == 0 {
			return append(dst, "\x1bO"+string(rune(kp.app))...)
		}
		k.Code, k.Text = rune(kp.char), ""
	}
	switch k.Code {
	case KeyEnter, KeyTab, KeyEscape, KeyBackspace:
		k.Mods = mods
		return encodeControl(dst, k, m)
	}
	if mods&^ModShift == 0 || k.Code == 0 {
		return append(dst, k.text()...)
	}
	k.Mods = mods
	return encodeChord(dst, k, m)
}

// encodeControl spells Enter, Tab, Escape and Backspace.
func encodeControl(dst []byte, k Key, m ChildModes) []byte {
	shiftTab := k.Code == KeyTab && k.Mods&^(ModAlt|ModMeta) == ModShift
	switch {
	case k.Mods == 0 || shiftTab:
	case m.ModifyOtherKeys >= 2,
		m.ModifyOtherKeys == 1 && k.Code == KeyEnter && k.Mods&(ModShift|ModCtrl) != 0:
		return appendOther(dst, k.Mods, k.Code)
	}
	if k.Mods&(ModAlt|ModMeta) != 0 {
		dst = append(dst, 0x1B)
	}
	switch {
	case shiftTab:
		return append(dst, "\x1b[Z"...)
	case k.Code == KeyBackspace && m.BackspaceBS != (k.Mods&ModCtrl != 0):
		return append(dst, 0x08)
	case k.Code == KeyEnter && m.Newline:
		return append(dst, '\r', '\n')
	}
	return append(dst, byte(k.Code))
}

// encodeChord spells a character with Ctrl, Alt or Meta. Super and Hyper have no
// legacy spelling; the bare letter would be another key, so nothing is sent.
func encodeChord(dst []byte, k Key, m ChildModes) []byte {
	if k.Mods&(ModSuper|ModHyper) != 0 || k.Code >= named {
		return dst
	}
	ch := k.Code
	if k.Mods&ModShift != 0 {
		ch = k.shifted()
	}
	ctrl, ok := controlByte(ch)
	if !ok && k.Base != 0 {
		ctrl, ok = controlByte(k.Base)
	}
	if m.ModifyOtherKeys >= 2 || m.ModifyOtherKeys == 1 && k.Mods&ModCtrl != 0 && !ok {
		return appendOther(dst, k.Mods, ch)
	}
	if k.Mods&(ModAlt|ModMeta) != 0 {
		dst = append(dst, 0x1B)
	}
	if k.Mods&ModCtrl != 0 && ok {
		return append(dst, ctrl)
	}
	return utf8.AppendRune(dst, ch)
}

// controlByte returns what Ctrl makes of an ASCII character, as the VT220 does.
func controlByte(r rune) (byte, bool) {
	switch {
	case r >= 'a' && r <= 'z' || r >= '@' && r <= '_':
		return byte(r) & 0x1F, true
	case r == ' ' || r == '2':
		return 0x00, true
	case r >= '3' && r <= '7':
		return byte(r) - '3' + 0x1B, true
	case r == '8' || r == '?':
		return 0x7F, true
	case r == '/':
		return 0x1F, true
	case r == '`':
		return 0x00, true
	case r == '~':
		return 0x1E, true
	}
	return 0, false
}

// text returns what the key types, "" when it is no typing key.
func (k Key) text() string {
	kp := keypadKeys[k.Code].char
	switch {
	case k.Text != "":
		return k.Text
	case k.Mods&^(ModShift|modLocks) != 0:
		return ""
	case kp > 0x20:
		return string(rune(kp))
	case k.Code < 0x20 || k.Code == KeyBackspace || k.Code >= named:
		return ""
	}
	return string(k.typed())
}

// encodeKitty spells a key by the kitty keyboard protocol.
func encodeKitty(dst []byte, k Key, m ChildModes) []byte {
	all, events := m.KittyFlags&KittyAllKeys != 0, m.KittyFlags&KittyEvents != 0
	if k.Event == Release && !events || k.IsModifier() && !all {
		return dst
	}
	if !events {
		k.Event = Press
	}
	if low := lower(k.Code); k.Form != FormKitty && low != k.Code {
		k.Shifted, k.Code, k.Mods = k.Code, low, k.Mods|ModShift
	}
	down := k.Event != Release
	if !all {
		switch text := k.text(); {
		case down && text != "" && k.Mods&^(ModShift|modLocks) == 0:
			return append(dst, text...)
		case k.Code == KeyEnter || k.Code == KeyTab || k.Code == KeyBackspace:
			// Their releases are left out so that a shell stays usable after
			// a program that died with the protocol on.
			if !down {
				return dst
			}
			if k.Mods&^modLocks == 0 {
				return encodeLegacy(dst, k, m)
			}
		case down && m.KittyFlags&KittyDisambiguate == 0 && k.Code < named:
			return encodeLegacy(dst, k, m)
		}
	}
	return appendKitty(dst, k, m.KittyFlags)
}

// appendKitty writes the sequence of one key: a letter or tilde form for the
// keys that have one, else CSI code:shifted:base ; mods:event ; text u.
func appendKitty(dst []byte, k Key, flags int) []byte {
	if flags&KittyAllKeys == 0 && k.Code < named {
		k.Mods &^= modLocks
	}
	final := byte('u')
	code := int(k.Code)
	switch letter, n := kittyLetter(k.Code), tildeNumbers[k.Code]; {
	case letter != 0:
		final, code = letter, 1
	case n != 0 && k.Code < KeyF1+12, k.Code == KeyF1+2:
		final, code = '~', n
		if n == 0 {
			code = 13 // F3 is not CSI R, which is a cursor report
		}
	case k.Code >= named:
		code = int(k.Code - named + kittyPUA)
	}
	mods := ""
	if k.Mods != 0 || flags&KittyEvents != 0 && k.Event != Press {
		mods = strconv.Itoa(int(k.Mods) + 1)
		if flags&KittyEvents != 0 && k.Event != Press {
			mods += ":" + strconv.Itoa(int(k.Event)+1)
		}
	}
	text := ""
	if final == 'u' && flags&KittyText != 0 && flags&KittyAllKeys != 0 && k.Event != Release {
		text = k.text()
	}
	dst = append(dst, "\x1b["...)
	if final == 'u' || final == '~' || mods != "" {
		dst = strconv.AppendInt(dst, int64(code), 10)
	}
	if final == 'u' && flags&KittyAlternates != 0 {
		dst = appendAlternates(dst, k)
	}
	if mods != "" || text != "" {
		dst = append(append(dst, ';'), mods...)
	}
	sep := byte(';')
	for _, r := range text {
		dst = strconv.AppendInt(append(dst, sep), int64(r), 10)
		sep = ':'
	}
	return append(dst, final)
}

func kittyLetter(code rune) byte {
	if code == KeyF1+2 {
		return 0
	}
	return max(cursorLetters[code], functionLetters[code])
}

// appendAlternates writes :shifted:base. Shifted is told only while Shift is
// down, base only where it differs from the key.
func appendAlternates(dst []byte, k Key) []byte {
	shift := k.Shifted != 0 && k.Mods&ModShift != 0
	base := k.Base != 0 && k.Base != k.Code
	if shift || base {
		dst = append(dst, ':')
	}
	if shift {
		dst = strconv.AppendInt(dst, int64(k.Shifted), 10)
	}
	if base {
		dst = strconv.AppendInt(append(dst, ':'), int64(k.Base), 10)
	}
	return dst
}

func appendLetter(dst []byte, letter byte, mods Mods, ss3 bool) []byte {
	switch {
	case mods != 0:
		return append(appendNumbers(dst, "\x1b[1;", int(mods)+1), letter)
	case ss3:
		return append(dst, 0x1B, 'O', letter)
	}
	return append(dst, 0x1B, '[', letter)
}

func appendTilde(dst []byte, n int, mods Mods) []byte {
	dst = appendNumbers(dst, "\x1b[", n)
	if mods != 0 {
		dst = appendNumbers(dst, ";", int(mods)+1)
	}
	return append(dst, '~')
}

// appendOther writes CSI 27 ; mods ; code ~ of modifyOtherKeys.
func appendOther(dst []byte, mods Mods, code rune) []byte {
	return append(appendNumbers(appendNumbers(dst, "\x1b[27;", int(mods)+1), ";", int(code)), '~')
}

func appendNumbers(dst []byte, before string, n int) []byte {
	return strconv.AppendInt(append(dst, before...), int64(n), 10)
}
