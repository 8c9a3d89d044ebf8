package input

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mods is a set of modifiers, with the bits of the kitty keyboard protocol.
type Mods uint8

const (
	ModShift Mods = 1 << iota
	ModAlt
	ModCtrl
	ModSuper
	ModHyper
	ModMeta
	ModCapsLock
	ModNumLock

	modLocks = ModCapsLock | ModNumLock
)

// An Event says whether a key went down, repeats or went up. A terminal that
// cannot tell sends presses only.
type Event uint8

const (
	Press Event = iota
	Repeat
	Release
)

// A Form says how a key was spelled on the wire.
type Form uint8

const (
	FormUnknown Form = iota
	FormChar         // a character by itself
	FormControl      // a C0 control character, DEL, or a lone ESC
	FormAlt          // ESC and one of the two above
	FormSS3          // ESC O x: application cursor, keypad, F1 to F4
	FormCSI          // CSI x, CSI n ~ and their modified forms
	FormKitty        // CSI … u, or any CSI form with an event or text
	FormOther        // CSI 27 ; m ; c ~: modifyOtherKeys
)

// A Key is one key press, repeat or release.
//
// Code is the character on the key as typed without modifiers where the
// terminal tells (kitty), else the character that arrived; or a named key
// (KeyUp …), which lies above all of Unicode. Ctrl with a letter has the lower
// case letter as Code. A shifted character that arrived by itself ('A', '%')
// has no ModShift, because the terminal did not say which key made it.
type Key struct {
	Code    rune
	Shifted rune // what Shift makes of Code, 0 when not told
	Base    rune // the key at this place on a US layout, 0 when not told
	Mods    Mods
	Event   Event
	Form    Form
	Text    string // what the key types; "" when it types nothing
}

// Keys that are ordinary code points.
const (
	KeyTab       rune = 0x09
	KeyEnter     rune = 0x0D
	KeyEscape    rune = 0x1B
	KeySpace     rune = 0x20
	KeyBackspace rune = 0x7F
)

// Named keys. The kitty protocol numbers them in the private area of Unicode
// from U+E000; here they lie above Unicode instead, so that a character of the
// private area that somebody types is never taken for a key.
const (
	named    rune = 0x110000
	kittyPUA rune = 0xE000

	KeyInsert      = named + 4
	KeyDelete      = named + 5
	KeyLeft        = named + 6
	KeyRight       = named + 7
	KeyUp          = named + 8
	KeyDown        = named + 9
	KeyPageUp      = named + 10
	KeyPageDown    = named + 11
	KeyHome        = named + 12
	KeyEnd         = named + 13
	KeyCapsLock    = named + 14
	KeyScrollLock  = named + 15
	KeyNumLock     = named + 16
	KeyPrintScreen = named + 17
	KeyPause       = named + 18
	KeyMenu        = named + 19
	KeyF1          = named + 20 // KeyF1+n-1 is F n, up to F35
	KeyF35         = named + 54
	KeyKP0         = named + 55 // KeyKP0+n is keypad n
	KeyKP9         = named + 64
	KeyKPDecimal   = named + 65
	KeyKPDivide    = named + 66
	KeyKPMultiply  = named + 67
	KeyKPSubtract  = named + 68
	KeyKPAdd       = named + 69
	KeyKPEnter     = named + 70
	KeyKPEqual     = named + 71
	KeyKPSeparator = named + 72
	KeyKPLeft      = named + 73
	KeyKPRight     = named + 74
	KeyKPUp        = named + 75
	KeyKPDown      = named + 76
	KeyKPPageUp    = named + 77
	KeyKPPageDown  = named + 78
	KeyKPHome      = named + 79
	KeyKPEnd       = named + 80
	KeyKPInsert    = named + 81
	KeyKPDelete    = named + 82
	KeyKPBegin     = named + 83
	KeyMediaPlay   = named + 84 // media keys up to KeyMediaLast
	KeyMediaLast   = named + 96
	KeyLeftShift   = named + 97 // modifier keys up to KeyModLast
	KeyModLast     = named + 110
	keyLast        = named + 0x18FF // the end of the private area
)

// keyNames spells named keys for people and key maps.
var keyNames = map[rune]string{
	KeyTab: "tab", KeyEnter: "enter", KeyEscape: "esc", KeySpace: "space", KeyBackspace: "backspace",
	KeyInsert: "insert", KeyDelete: "delete", KeyLeft: "left", KeyRight: "right", KeyUp: "up", KeyDown: "down",
	KeyPageUp: "pgup", KeyPageDown: "pgdown", KeyHome: "home", KeyEnd: "end",
	KeyCapsLock: "capslock", KeyScrollLock: "scrolllock", KeyNumLock: "numlock",
	KeyPrintScreen: "print", KeyPause: "pause", KeyMenu: "menu",
	KeyKPDecimal: "kp.", KeyKPDivide: "kp/", KeyKPMultiply: "kp*", KeyKPSubtract: "kp-", KeyKPAdd: "kp+",
	KeyKPEnter: "kpenter", KeyKPEqual: "kp=", KeyKPSeparator: "kp,",
	KeyKPLeft: "kpleft", KeyKPRight: "kpright", KeyKPUp: "kpup", KeyKPDown: "kpdown",
	KeyKPPageUp: "kppgup", KeyKPPageDown: "kppgdown", KeyKPHome: "kphome", KeyKPEnd: "kpend",
	KeyKPInsert: "kpinsert", KeyKPDelete: "kpdelete", KeyKPBegin: "kpbegin",
}

// Char returns the character the key types and the modifiers that are left
// when Shift and the locks have done their work on it, so that one key reads
// the same however the terminal spelled it: Shift+5 on a US layout is '%'
// without modifiers. Under Ctrl, Alt and their like a letter stays lower case
// and keeps Shift (ctrl+shift+a), a symbol is the shifted one (alt+%). A named
// key is its Code.
func (k Key) Char() (rune, Mods) {
	mods := k.Mods &^ modLocks
	if k.Code >= named || k.Code < 0x20 || k.Code == KeyBackspace {
		return k.Code, mods
	}
	if mods&^ModShift == 0 {
		r := k.typed()
		if r != k.Code {
			mods = 0
		}
		return r, mods
	}
	if low := lower(k.Code); low != k.Code {
		return low, mods | ModShift
	}
	if s := k.shifted(); mods&ModShift != 0 && lower(s) != k.Code {
		return s, mods &^ ModShift
	}
	return k.Code, mods
}

// typed returns the character that the key makes with Shift and Caps Lock.
func (k Key) typed() rune {
	if r, n := utf8.DecodeRuneInString(k.Text); n > 0 && n == len(k.Text) {
		return r
	}
	shift, caps := k.Mods&ModShift != 0, k.Mods&ModCapsLock != 0
	letter := upper(k.Code) != k.Code
	switch {
	case letter && shift && caps:
		return k.Code
	case shift:
		return k.shifted()
	case letter && caps:
		return upper(k.Code)
	}
	return k.Code
}

// String names the key the way key maps do: ctrl+b, alt+x, shift+up, %, enter.
func (k Key) String() string {
	r, mods := k.Char()
	var b strings.Builder
	for _, m := range [...]struct {
		bit  Mods
		name string
	}{{ModSuper, "super+"}, {ModHyper, "hyper+"}, {ModMeta, "meta+"}, {ModCtrl, "ctrl+"}, {ModAlt, "alt+"}, {ModShift, "shift+"}} {
		if mods&m.bit != 0 {
			b.WriteString(m.name)
		}
	}
	switch name := keyNames[r]; {
	case name != "":
		b.WriteString(name)
	case r >= KeyF1 && r <= KeyF35:
		b.WriteString("f" + strconv.Itoa(int(r-KeyF1)+1))
	case r >= KeyKP0 && r <= KeyKP9:
		b.WriteString("kp" + strconv.Itoa(int(r-KeyKP0)))
	case r >= named:
		b.WriteString("key" + strconv.Itoa(int(r-named+kittyPUA)))
	case r == 0 && k.Text != "":
		b.WriteString(k.Text)
	default:
		b.WriteRune(r)
	}
	return b.String()
}

// shifted returns what Shift makes of the key: as told, or the upper case.
func (k Key) shifted() rune {
	if k.Shifted != 0 {
		return k.Shifted
	}
	return upper(k.Code)
}

// IsModifier reports whether the key is itself a modifier or a lock.
func (k Key) IsModifier() bool {
	return k.Code >= KeyLeftShift && k.Code <= KeyModLast || k.Code == KeyCapsLock || k.Code == KeyNumLock ||
		k.Code == KeyScrollLock
}

// lower returns the lower case of a letter that has exactly one; named keys
// and everything else are returned as they are.
func lower(r rune) rune {
	if l := unicode.ToLower(r); l < named && unicode.ToUpper(l) == r {
		return l
	}
	return r
}

// upper is lower the other way.
func upper(r rune) rune {
	if u := unicode.ToUpper(r); u < named && unicode.ToLower(u) == r {
		return u
	}
	return r
}
