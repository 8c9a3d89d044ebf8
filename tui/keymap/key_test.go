package keymap

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAKeyIsReadInEveryFormThatPeopleWrite(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"ctrl+b", "ctrl+b"},
		{"Ctrl+B", "ctrl+b"},
		{"Ctrl-B", "ctrl+b"},
		{"Control+b", "ctrl+b"},
		{"^B", "ctrl+b"},
		{"C-b", "ctrl+b"},
		{"C-B", "ctrl+b"},
		{"M-n", "alt+n"},
		{"M-N", "alt+shift+n"},
		{"Alt+N", "alt+n"},
		{"Alt+Shift+N", "alt+shift+n"},
		{"shift+alt+n", "alt+shift+n"},
		{"M-S-Left", "alt+shift+left"},
		{"Shift+k", "K"},
		{"K", "K"},
		{"k", "k"},
		{"Ä", "Ä"},
		{"shift+ä", "Ä"},
		{"%", "%"},
		{`"`, `"`},
		{"+", "+"},
		{"-", "-"},
		{"alt++", "alt++"},
		{"alt+-", "alt+-"},
		{"C--", "ctrl+-"},
		{"Alt--", "alt+-"},
		{"plus", "+"},
		{" ", "space"},
		{"Space", "space"},
		{"ctrl+space", "ctrl+space"},
		{"PageUp", "pgup"},
		{"Return", "enter"},
		{"BTab", "shift+tab"},
		{"F12", "f12"},
		{"ctrl+F35", "ctrl+f35"},
		{"kp5", "kp5"},
		{"KP+", "kp+"},
		{"ctrl+kp-", "ctrl+kp-"},
		{"cmd+k", "super+k"},
		{" ctrl+b ", "ctrl+b"},
		{"^", "^"},
	} {
		got, err := ParseKey(test.text)
		if err != nil || got != test.want {
			t.Errorf("%q: %q, %v, want %q", test.text, got, err, test.want)
		}
	}
}

func TestATextThatIsNoKeySaysWhy(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", `key "": it is empty`},
		{"ctrl+", `key "ctrl+": a key is missing behind ctrl`},
		{"ctrl+ctrl+a", `key "ctrl+ctrl+a": ctrl stands there twice`},
		{"crtl+a", `there is no modifier "crtl"; did you mean "ctrl"?`},
		{"shift+5", `key "shift+5": what Shift makes of 5 depends on the keyboard; write that character`},
		{"f36", `there is no key "f36"`},
		{"f01", `there is no key "f01"`},
		{"entr", `there is no key "entr"; did you mean "enter"?`},
		{"ab", `there is no key "ab"; did you mean "tab"?`},
		{"\x1b", "key \"\\x1b\": it is no character that can be seen"},
		{"\u202e", "key \"\\u202e\": it is no character that can be seen"},
	} {
		got, err := ParseKey(test.text)
		if err == nil || err.Error() != test.want || got != "" {
			t.Errorf("%q: %q, %v, want %s", test.text, got, err, test.want)
		}
		_, unknown := errors.AsType[*UnknownError](err)
		if _, bad := errors.AsType[*KeyError](err); !bad && !unknown {
			t.Errorf("%q: %T", test.text, err)
		}
	}
}

func TestAKeyThatWasReadReadsAsItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.StringMatching(`((ctrl|Alt|shift|super|C|M|S)[+-]){0,3}([a-zA-Z0-9%+ ^-]|F[0-9]{1,2}|left|PageUp|kp[+5])`),
			rapid.String(),
		).Draw(t, "text")
		key, err := ParseKey(text)
		if err != nil {
			return
		}
		if again, err := ParseKey(key); err != nil || again != key {
			t.Fatalf("%q is %q, and that is %q, %v", text, key, again, err)
		}
		if Label(key) == "" || strings.ContainsAny(Label(key), "\n\x1b") {
			t.Fatalf("%q is labelled %q", key, Label(key))
		}
	})
}

func TestKeysAreLabelledAsPeopleReadThem(t *testing.T) {
	for key, want := range map[string]string{
		"ctrl+b": "^B", "%": "%", "K": "K", "space": "Space", "ctrl+left": "Ctrl+Left", "alt+shift+n": "Alt+Shift+n",
		"pgup": "PgUp", "shift+pgdown": "Shift+PgDown", "f12": "F12", "alt++": "Alt++", "ctrl+space": "Ctrl+Space", "Ä": "Ä",
		"super+ctrl+b": "Super+Ctrl+b", "zz": "zz", "zM": "zM", "up": "Up",
	} {
		if got := Label(key); got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}

func TestKeysThatMayNotArriveAreKnown(t *testing.T) {
	for key, arrives := range map[string]bool{
		"ctrl+b": true, "alt+n": true, "alt+shift+n": true, "ctrl+alt+b": true, "ctrl+left": true, "alt+shift+up": true,
		"shift+tab": true, "alt+enter": true, "f5": true, "ctrl+space": true, `ctrl+\`: true, "alt+space": true, "%": true,
		"ctrl+i": false, "ctrl+m": false, "ctrl+1": false, "ctrl+shift+p": false, "ctrl+enter": false, "shift+enter": false,
		"ctrl+tab": false, "super+k": false, "alt+[": false, "alt+]": false, "alt+shift+o": false, "shift+space": false,
		"ctrl+ö": false, "menu": false,
	} {
		if got := limits(key) == ""; got != arrives {
			t.Errorf("%s: arrives %v (%s)", key, got, limits(key))
		}
	}
}

func TestTheNearestNameIsTheOneMeantOrNone(t *testing.T) {
	names := []string{"split-right", "split-down", "zoom", "quit"}
	for name, want := range map[string]string{
		"spilt-right": "split-right", "split_down": "split-down", "zom": "zoom", "qiut": "quit", "detach": "", "": "", "zzzz": "",
	} {
		if got := nearest(name, names); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
