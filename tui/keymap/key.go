package keymap

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// modifiers are the modifiers in the order in which tui/input spells them.
var modifiers = []string{"super", "hyper", "meta", "ctrl", "alt", "shift"}

// otherModifiers are other words for a modifier.
var otherModifiers = map[string]string{
	"control": "ctrl", "option": "alt", "opt": "alt", "cmd": "super", "command": "super", "win": "super",
}

// tmuxModifiers are tmux's short forms, C-b and M-S-Left.
var tmuxModifiers = map[byte]string{'C': "ctrl", 'M': "alt", 'S': "shift"}

// named are the keys with a name, as tui/input spells them, besides f1 to f35
// and the keypad.
var named = []string{
	"tab", "enter", "esc", "space", "backspace", "insert", "delete", "left", "right", "up", "down",
	"pgup", "pgdown", "home", "end", "capslock", "scrolllock", "numlock", "print", "pause", "menu",
}

// keypad are the keys of the keypad that have a name, each behind "kp".
var keypad = []string{
	"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", ".", "/", "*", "-", "+", "enter", "=", ",",
	"left", "right", "up", "down", "pgup", "pgdown", "home", "end", "insert", "delete", "begin",
}

// otherNames are other words for a key.
var otherNames = map[string]string{
	"return": "enter", "cr": "enter", "escape": "esc", "bspace": "backspace", "bs": "backspace", "ins": "insert",
	"del": "delete", "dc": "delete", "ic": "insert", "pageup": "pgup", "ppage": "pgup", "pagedown": "pgdown",
	"npage": "pgdown", "printscreen": "print", "spacebar": "space", "btab": "shift+tab",
	"plus": "+", "minus": "-", "comma": ",", "period": ".", "slash": "/", "backslash": `\`, "colon": ":", "semicolon": ";",
}

// ParseKey returns the name that tui/input gives to a key: ctrl+b, alt+shift+n,
// %, pgup. It takes the forms that people write, such as Ctrl+B, ^B, C-b and
// PageUp. Behind a modifier the case of a letter says nothing, except in tmux's
// form, where M-N is Alt, Shift and n. It fails with a KeyError or an
// UnknownError.
func ParseKey(text string) (string, error) {
	fail := func(reason string) (string, error) { return "", &KeyError{text, reason} }
	mods, key, tmux := splitKey(text)
	if key == "" {
		if len(mods) > 0 {
			return fail("a key is missing behind " + mods[len(mods)-1])
		}
		return fail("it is empty")
	}
	set := map[string]bool{}
	for _, m := range mods {
		word := strings.ToLower(m)
		if other := otherModifiers[word]; other != "" {
			word = other
		}
		if !slices.Contains(modifiers, word) {
			return "", &UnknownError{"modifier", m, nearest(word, modifiers)}
		}
		if set[word] {
			return fail(word + " stands there twice")
		}
		set[word] = true
	}
	name, err := keyName(key)
	if err != nil {
		return "", err
	}
	if rest, ok := strings.CutPrefix(name, "shift+"); ok {
		name, set["shift"] = rest, true
	}
	if r, n := utf8.DecodeRuneInString(name); n == len(name) {
		if name, err = character(text, r, set, tmux); err != nil {
			return "", err
		}
	}
	var b strings.Builder
	for _, m := range modifiers {
		if set[m] {
			b.WriteString(m + "+")
		}
	}
	return b.String() + name, nil
}

// splitKey takes the modifiers from a text. The key may itself be + or -.
func splitKey(text string) (mods []string, key string, tmux bool) {
	key = text
	if text != " " {
		key = strings.TrimSpace(text)
	}
	if rest, ok := strings.CutPrefix(key, "^"); ok && rest != "" {
		return []string{"ctrl"}, rest, false
	}
	for len(key) > 2 && key[1] == '-' && tmuxModifiers[key[0]] != "" {
		mods, key, tmux = append(mods, tmuxModifiers[key[0]]), key[2:], true
	}
	for !tmux {
		at := strings.IndexAny(key, "+-")
		if at <= 0 || key[at] == '-' && !isModifier(key[:at]) || at == len(key)-1 && strings.EqualFold(key[:at], "kp") {
			break
		}
		mods, key = append(mods, key[:at]), key[at+1:]
	}
	return mods, key, tmux
}

// isModifier reports whether a word is a modifier.
func isModifier(word string) bool {
	word = strings.ToLower(word)
	return otherModifiers[word] != "" || slices.Contains(modifiers, word)
}

// keyName returns the name of a key without modifiers: a character, or a name
// in lower case.
func keyName(key string) (string, error) {
	if utf8.RuneCountInString(key) == 1 {
		return key, nil
	}
	word := strings.ToLower(key)
	if other := otherNames[word]; other != "" {
		return other, nil
	}
	if slices.Contains(named, word) {
		return word, nil
	}
	if rest, ok := strings.CutPrefix(word, "kp"); ok && slices.Contains(keypad, rest) {
		return word, nil
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(word, "f")); err == nil && word[0] == 'f' && n >= 1 && n <= 35 && word[1] != '0' {
		return word, nil
	}
	return "", &UnknownError{"key", key, nearest(word, named)}
}

// character returns the name of a key that types r, with Shift taken in where
// it is part of the character.
func character(text string, r rune, set map[string]bool, tmux bool) (string, error) {
	others := len(set)
	if set["shift"] {
		others--
	}
	low, up := unicode.ToLower(r), unicode.ToUpper(r)
	letter := low != up
	switch {
	case r == ' ':
		return "space", nil
	case r < 0x20 || r == 0x7F || !unicode.IsPrint(r):
		return "", &KeyError{text, "it is no character that can be seen"}
	case letter && others == 0:
		if set["shift"] {
			r = up
		}
		delete(set, "shift")
		return string(r), nil
	case letter:
		// tmux's C-B is Ctrl+b, because the two are one key there.
		if r == up && tmux && !set["ctrl"] {
			set["shift"] = true
		}
		return string(low), nil
	case set["shift"]:
		return "", &KeyError{text, "what Shift makes of " + string(r) + " depends on the keyboard; write that character"}
	}
	return string(r), nil
}

// Label returns a key as people read it: ^B, Alt+n, PgUp, %.
func Label(key string) string {
	mods, base := parts(key)
	if len(mods) == 1 && mods[0] == "ctrl" && len(base) == 1 {
		return "^" + strings.ToUpper(base)
	}
	var b strings.Builder
	for _, m := range mods {
		b.WriteString(strings.ToUpper(m[:1]) + m[1:] + "+")
	}
	switch {
	case base == "pgup":
		base = "PgUp"
	case base == "pgdown":
		base = "PgDown"
	case len(base) == 2 && base[0] == 'z':
		// Two keys of copy mode, one after the other: zz is not Zz.
	case len(base) > 1 && base[0] < 0x80:
		base = strings.ToUpper(base[:1]) + base[1:]
	}
	return b.String() + base
}

// Labels returns keys that do the same as people read them: "h, Left". Those of
// the keypad are left out, since they stand for the same keys elsewhere.
func Labels(keys []string) string {
	var labels []string
	for _, key := range keys {
		if !strings.HasPrefix(key, "kp") {
			labels = append(labels, Label(key))
		}
	}
	return strings.Join(labels, ", ")
}

// parts splits the name of a key that ParseKey or tui/input made.
func parts(key string) (mods []string, base string) {
	for _, m := range modifiers {
		if rest, ok := strings.CutPrefix(key, m+"+"); ok && rest != "" {
			mods, key = append(mods, m), rest
		}
	}
	return mods, key
}

// types reports whether the key by itself types a character or is one that
// every program needs.
func types(key string) bool {
	mods, base := parts(key)
	if len(mods) > 1 || len(mods) == 1 && mods[0] != "shift" {
		return false
	}
	switch base {
	case "space", "tab", "enter", "esc", "backspace", "delete":
		return true
	}
	return len(mods) == 0 && (utf8.RuneCountInString(base) == 1 || strings.HasPrefix(base, "kp") ||
		slices.Contains([]string{"left", "right", "up", "down", "home", "end", "pgup", "pgdown"}, base))
}
