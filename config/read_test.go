package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

const themes = `"terminal", "light", "dark", "catppuccin", "gruvbox", "nord", "solarized"`

// TestEveryProblemIsToldWithItsPlace holds the exact messages. All of a file
// come at once, in the order of its lines.
func TestEveryProblemIsToldWithItsPlace(t *testing.T) {
	const sectionList = "sections are terminal, keys, keys.bind, ui, ui.dock, meter, clipboard, notify, tools, speech, send"
	const notLine = "; a line is key = value, with text in quotes"
	for _, c := range []struct {
		name, file string
		want       []string
	}{
		{"unknown key below its section", "[ui]\nthme = \"dark\"\n", []string{
			"f:2:1: unknown key ui.thme; did you mean ui.theme?",
		}},
		{"unknown key without a section", "thme = \"dark\"\n", []string{
			"f:1:1: unknown key thme; did you mean ui.theme?",
		}},
		{"key of another section", "[clipboard]\ntheme = \"dark\"\nsize = \"20%\"\n", []string{
			"f:2:1: unknown key clipboard.theme; did you mean ui.theme?",
			"f:3:1: unknown key clipboard.size; did you mean ui.dock.size?",
		}},
		{"slip in a dotted key", "teminal.scrolback = 5\n", []string{
			"f:1:1: unknown key teminal.scrolback; did you mean terminal.scrollback?",
		}},
		{"key near to nothing", "[meter]\nzzzzzz = 1\n\"a.b\" = 2\n", []string{
			"f:2:1: unknown key meter.zzzzzz; keys of [meter] are interval, alert",
			"f:3:1: unknown key meter.\"a.b\"; keys of [meter] are interval, alert",
		}},
		{"quoted dot is no path", "\"ui.theme\" = \"dark\"\n", []string{
			"f:1:1: unknown key \"ui.theme\"; did you mean ui.theme?",
		}},
		{"unknown section is told once", "[uii]\ntheme = \"x\"\n[uii.dock]\nside = 1\n[zzzzzz]\n", []string{
			"f:1:2: unknown section [uii]; did you mean [ui]?",
			"f:5:2: unknown section [zzzzzz]; " + sectionList,
		}},
		{"very deep key", "a.b.c.d.e.f.g.h = 1\n", []string{
			"f:1:1: unknown key a.b.c.d.e.f; " + sectionList,
		}},

		{"wrong kinds", "[ui]\nmouse = \"yes\"\nascii = 1\nhints = [true]\nplain = 2020-01-01\n", []string{
			`f:2:9: ui.mouse is "yes"; expected true or false, as in mouse = true`,
			"f:3:9: ui.ascii is 1; expected true or false, as in ascii = false",
			"f:4:1: ui.hints is a list; expected true or false, as in hints = true",
			"f:5:9: ui.plain is a date or time; expected true or false, as in plain = false",
		}},
		{"whole numbers", "[terminal]\nscrollback = -5\n", []string{
			"f:2:14: terminal.scrollback is -5; expected a whole number from 1 to 1000000, as in scrollback = 10000",
		}},
		{"number that fits nowhere", "[terminal]\nscrollback = 99999999999999999999\n", []string{
			"f:2:14: terminal.scrollback is 99999999999999999999; expected a whole number from 1 to 1000000, as in scrollback = 10000",
		}},
		{"number with a fraction", "[terminal]\nscrollback = 1e3\n", []string{
			"f:2:14: terminal.scrollback is 1e3; expected a whole number from 1 to 1000000, as in scrollback = 10000",
		}},
		{"sizes", "[terminal]\nscrollback_bytes = 1000\n", []string{
			`f:2:20: terminal.scrollback_bytes is 1000; expected a size from 64KiB to 4GiB in B, KiB, MiB or GiB, as in scrollback_bytes = "32MiB"`,
		}},
		{"size in a unit that is two things", "terminal.scrollback_bytes = \"32MB\"\n", []string{
			`f:1:29: terminal.scrollback_bytes is "32MB"; expected a size from 64KiB to 4GiB in B, KiB, MiB or GiB, as in scrollback_bytes = "32MiB"`,
		}},
		{"times", "[meter]\ninterval = \"1h\"\nalert = 0.8\n", []string{
			`f:2:12: meter.interval is "1h"; expected a time from 100ms to 1m in ms, s or m, as in interval = "1s"`,
			`f:3:9: meter.alert is 0.8; expected a share from 10% to 100%, as in alert = "80%"`,
		}},
		{"choices", "[ui]\ntheme = \"drak\"\ncolor = 256\ndock.side = \"Right\"\n", []string{
			`f:2:9: ui.theme is "drak"; expected one of ` + themes + `, as in theme = "terminal"; did you mean "dark"?`,
			`f:3:9: ui.color is 256; expected one of "auto", "never", "16", "256", "truecolor", as in color = "auto"; did you mean "256"?`,
			`f:4:13: ui.dock.side is "Right"; expected one of "right", "bottom", as in side = "right"; did you mean "right"?`,
		}},
		{"text with rules", "[terminal]\nterm = \"\"\nshell = 3\n", []string{
			`f:2:8: terminal.term is ""; expected the name of a terminal in terminfo, as in term = "xterm-256color"`,
			`f:3:9: terminal.shell is 3; expected the path or the name of a program, without control characters, as in shell = "/bin/sh"`,
		}},

		{"prefix", "keys.prefix = [\"ctrl+b\"]\n", []string{
			`f:1:1: keys.prefix is a list; expected a key, or none, as in prefix = "ctrl+a"`,
		}},

		{"section in place of a value", "[ui.mouse]\nx = 1\n[keys.bind.zoom]\n", []string{
			"f:1:2: ui.mouse is a value, not a section; expected true or false, as in mouse = true",
			`f:3:2: keys.bind.zoom is a value, not a section; expected a list of keys, as in zoom = ["prefix z", "alt+z"]`,
		}},
		{"empty table in place of a value", "ui = { mouse = {} }\n", []string{
			"f:1:8: ui.mouse is a value, not a section; expected true or false, as in mouse = true",
		}},
		{"value in place of a section", "meter = 3\nkeys.bind = []\n", []string{
			"f:1:1: meter is a section, not a value; expected [meter] and its keys below",
			"f:2:1: keys.bind is a section, not a value; expected [keys.bind] and its keys below",
		}},
		{"list of sections", "[[meter]]\nalert = 1\n[[meter]]\n", []string{
			"f:1:3: [[meter]] is one section, not a list of them; expected [meter]",
		}},
		{"inline section", "ui = { theme = 'drk', dock = { sid = 3 } }\n", []string{
			`f:1:16: ui.theme is "drk"; expected one of ` + themes + `, as in theme = "terminal"; did you mean "dark"?`,
			"f:1:32: unknown key ui.dock.sid; did you mean ui.dock.side?",
		}},

		{"bindings", "[keys.bind]\nzoom = \"z\"\nsplit-right = [1, \"\", [], \"a\\u001b\"]\n", []string{
			`f:2:8: keys.bind.zoom is "z"; expected a list of keys, as in zoom = ["prefix z", "alt+z"]`,
			`f:3:1: keys.bind.split-right has a list in its list; expected a list of keys, as in zoom = ["prefix z", "alt+z"]`,
			`f:3:16: keys.bind.split-right has 1 in its list; expected a list of keys, as in zoom = ["prefix z", "alt+z"]`,
			`f:3:19: keys.bind.split-right has "" in its list; expected a list of keys, as in zoom = ["prefix z", "alt+z"]`,
			`f:3:27: keys.bind.split-right has "a^[" in its list; expected a list of keys, as in zoom = ["prefix z", "alt+z"]`,
		}},
		{"twice", "[ui]\nmouse = true\nmouse = false\n[ui]\n", []string{
			"f:3:1: ui.mouse stands twice; the first is on line 2",
			"f:4:2: [ui] stands twice; the first is on line 1",
		}},
		{"rules of TOML about tables", "ui.dock.side = \"left\"\n[ui.dock]\n", []string{
			`f:1:16: ui.dock.side is "left"; expected one of "right", "bottom", as in side = "right"`,
			"f:2:2: not TOML: table dock already exists as defined by a dotted key",
		}},

		{"lines that are no TOML hide no other", "[ui]\ntheme = \"dark\nmouse = 3\nascii = treu\nplain\n[notify]\nbell = 1\n", []string{
			"f:2:14: not TOML: basic strings cannot have new lines" + notLine,
			"f:3:9: ui.mouse is 3; expected true or false, as in mouse = true",
			`f:4:9: not TOML: expected keyword "true"` + notLine,
			"f:5:6: not TOML: expected '=' after key" + notLine,
			`f:7:8: notify.bell is 1; expected one of "mark", "alert", "off", as in bell = "mark"`,
		}},
		{"what was skipped is said", "x = [1,\nb = 2\n[ui]\nplain = 1\n[terminal]\nshell = \"\"\"\nfoo\n", []string{
			"f:2:1: not TOML: unexpected character U+0062 'b' at start of value" + notLine + "; lines 1 to 2 were not checked",
			"f:4:9: ui.plain is 1; expected true or false, as in plain = false",
			`f:7:4: not TOML: multiline basic string not terminated by """` + notLine + "; lines 6 to 7 were not checked",
		}},
		{"closing lines stay", "[keys.bind]\nzoom = [\n \"z\", # one\n] # end\nx x\n[ui]\nmouse = 1\n", []string{
			"f:5:3: not TOML: expected '=' after key" + notLine,
			"f:7:9: ui.mouse is 1; expected true or false, as in mouse = true",
		}},
		{"byte order mark", "\xEF\xBB\xBF[ui]\nmouse = 1\n", []string{
			"f:1:1: begins with a byte order mark; expected UTF-8 without one",
			"f:2:9: ui.mouse is 1; expected true or false, as in mouse = true",
		}},
		{"columns count characters", "ui.theme = 'ä'\n\"ü\" = 1 # ö\n\"é\".\"ß\" = 2\nui.color = ['ä', 1] x\n", []string{
			`f:1:12: ui.theme is "ä"; expected one of ` + themes + `, as in theme = "terminal"`,
			`f:2:1: unknown key "ü"; ` + sectionList,
			`f:3:1: unknown key "é"."ß"; ` + sectionList,
			"f:4:21: not TOML: expected newline but got U+0078 'x'" + notLine,
		}},

		{"control characters are named", "[ui]\ntheme = \"\\u001b[31m\\u202e\\u009b\"\n\"a\\u001b\\n\" = 1\nmouse = \x1b\n#\x07\n[\"\x7f\"]\n", []string{
			`f:2:9: ui.theme is "^[[31m<U+202E><U+009B>"; expected one of ` + themes + `, as in theme = "terminal"`,
			`f:3:1: unknown key ui."a^[^J"; keys of [ui] are theme, color, ascii, plain, mouse, hints`,
			"f:4:9: not TOML: unexpected character U+001B at start of value" + notLine,
			"f:5:2: not TOML: control characters are not allowed in comments" + notLine,
			"f:6:3: not TOML: basic strings cannot have control characters" + notLine,
		}},
		{"long values are cut", "ui.theme = \"" + strings.Repeat("x", 300) + "\"\n", []string{
			`f:1:12: ui.theme is "` + strings.Repeat("x", shownRunes) + `…"; expected one of ` + themes + `, as in theme = "terminal"`,
		}},
	} {
		_, err := Parse("f", []byte(c.file), nil)
		want := strings.Join(c.want, "\n")
		if err == nil || err.Error() != want {
			t.Errorf("%s: got\n%v\nwant\n%s", c.name, err, want)
		}
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: the error is not ErrInvalid", c.name)
		}
	}
}

func TestGoodFileIsTakenAsItStands(t *testing.T) {
	const file = `
terminal = { shell = '/bin/zsh', scrollback = 0x10, "scrollback_bytes" = "1GiB" }
ui.dock.size = "25%"
[ui]
color = "16"
[keys]
preset = "none"
[keys.bind]
split-right = ["%", "alt+n"]
zoom = []
[meter]
interval = "1m"
`
	c, err := Parse("f", []byte(strings.ReplaceAll(file, "ui.dock.size = \"25%\"\n[ui]\n", "[ui]\ndock.size = \"25%\"\n")), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := Defaults()
	want.Terminal.Shell, want.Terminal.Scrollback, want.Terminal.ScrollbackBytes = "/bin/zsh", 16, 1<<30
	want.UI.Dock.Size, want.UI.Color = 25, Color16
	want.Keys.Preset = PresetNone
	want.Keys.Bind = map[string][]string{"split-right": {"%", "alt+n"}, "zoom": {}}
	want.Meter.Interval = 60e9
	assertSame(t, c, want)
}

func assertSame(t *testing.T, got, want Config) {
	t.Helper()
	got.marks, want.marks = nil, nil
	if g, w := fmt.Sprintf("%#v", got), fmt.Sprintf("%#v", want); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}

func TestProblemsBeyondTheLimitAreCounted(t *testing.T) {
	var b strings.Builder
	for i := range maxProblems + 7 {
		fmt.Fprintf(&b, "k%d = 1\n", i)
	}
	_, err := Parse("f", []byte(b.String()), nil)
	ps, _ := errors.AsType[Problems](err)
	if len(ps) != maxProblems+1 || ps[maxProblems].Error() != "f: 7 more problems are not listed" {
		t.Errorf("%d problems, the last is %v", len(ps), ps[len(ps)-1])
	}
}

func TestLinesThatAreNoTOMLAreBounded(t *testing.T) {
	_, err := Parse("f", []byte(strings.Repeat("no\n", maxSyntax+5)), nil)
	ps, _ := errors.AsType[Problems](err)
	if len(ps) != maxSyntax+1 || !strings.HasSuffix(ps[maxSyntax].Text, "the rest was not checked") {
		t.Errorf("%d problems, the last is %v", len(ps), ps[len(ps)-1])
	}
}

func TestKeyCheckAnswersGetTheirPlace(t *testing.T) {
	const file = "[keys]\nprefix = \"ctrl+bb\"\n[keys.bind]\nsplt-right = [\"%\"]\n\"zo\\u001bom\" = [\"z\"]\nclose = [\"x\", \"hyper+q\"]\n"
	check := func(k Keys) []KeyProblem {
		if k.Preset != PresetTmux || k.Prefix != "ctrl+bb" || len(k.Bind) != 3 {
			t.Errorf("the check was given %+v", k)
		}
		k.Bind["split-right"] = nil // a clone: it changes nothing
		return []KeyProblem{
			{Key: "keys.prefix", Item: -1, Text: `"ctrl+bb" is no key`},
			{Key: BindKey("splt-right"), Item: -1, Text: "there is no action splt-right"},
			{Key: BindKey("zo\x1bom"), Item: -1, Text: "there is no action zo\x1bom"},
			{Key: BindKey("close"), Item: 1, Text: "hyper+q is no key"},
			{Key: "keys.preset", Item: -1, Text: "two actions want x"},
		}
	}
	_, err := Parse("f", []byte(file), check)
	want := strings.Join([]string{
		`f:2:1: "ctrl+bb" is no key`,
		"f:4:1: there is no action splt-right",
		"f:5:1: there is no action zo^[om",
		"f:6:15: hyper+q is no key",
		"two actions want x",
	}, "\n")
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestNearestNameIsFound(t *testing.T) {
	names := []string{"theme", "term", "shell", "on", "off", "split-right", "split-down"}
	for word, want := range map[string]string{
		"thme": "theme", "THEME": "theme", "hteme": "theme", "shlel": "shell", "splitright": "split-right",
		"no": "on", "offf": "off", "": "", "zzzz": "", "xx": "",
		strings.Repeat("x", 1000): "",
	} {
		if got := nearest(word, names); got != want {
			t.Errorf("nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestSlipsCountSwapsOnce(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "abc", 3}, {"ab", "ba", 1}, {"drak", "dark", 1}, {"kitten", "sitting", 3}, {"ä", "a", 1}} {
		if got := slips([]rune(c.a), []rune(c.b)); got != c.want {
			t.Errorf("slips(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(Default()))
	f.Add([]byte("[ui]\ntheme = \"dark\nx = [1,\n\"\"\"\n[[a]]\n"))
	f.Add([]byte("ui = { dock = { size = \"40%\" } }\r\n[keys.bind]\n\"a\" = ['b']\n"))
	f.Add([]byte("\xEF\xBB\xBFa.b.c.d.e.f.g = 1979-05-27T07:32:00Z # \x1b\n\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("f", data, func(k Keys) []KeyProblem {
			var ps []KeyProblem
			for action := range k.Bind {
				ps = append(ps, KeyProblem{Key: BindKey(action), Text: action})
			}
			return ps
		})
		if err == nil {
			for _, name := range c.Names() {
				if _, ok := c.Value(name); !ok || c.Origin(name) == "" {
					t.Errorf("%q has no value or no origin", name)
				}
			}
			return
		}
		ps, _ := errors.AsType[Problems](err)
		if len(ps) == 0 || len(ps) > maxProblems+1 {
			t.Errorf("%d problems", len(ps))
		}
		lines := strings.Count(string(data), "\n") + 1
		for _, p := range ps {
			text := p.Error()
			if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
				t.Errorf("raw characters in %q", text)
			}
			if p.Line < 0 || p.Line > lines || p.Column < 0 || p.Column > len(data)+1 {
				t.Errorf("place %d:%d in a file of %d lines", p.Line, p.Column, lines)
			}
		}
	})
}
