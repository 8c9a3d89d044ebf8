package keymap

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "write the golden files anew")

func mustNew(t *testing.T, o Options) *Map {
	t.Helper()
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestEveryActionIsDescribedAndFoundInThePaletteAndHasAKeyInTheTmuxPreset(t *testing.T) {
	m := mustNew(t, Options{})
	seen := map[string]bool{}
	for _, info := range Actions() {
		name := string(info.Action)
		first, _ := utf8.DecodeRuneInString(info.Description)
		switch {
		case seen[name] || seen[info.Title]:
			t.Errorf("%s stands there twice", name)
		case strings.ToLower(name) != name || strings.ContainsAny(name, " _.") || name == "":
			t.Errorf("%s is no kebab-case name", name)
		case info.Title == "" || info.Group == "" || info.Description == "":
			t.Errorf("%s is not described", name)
		case utf8.RuneCountInString(info.Description) > 45 || strings.HasSuffix(info.Description, ".") || !unicode.IsLower(first):
			t.Errorf("%s: description %q", name, info.Description)
		case m.Hint(info.Action) == "":
			t.Errorf("%s has no key", name)
		}
		seen[name], seen[info.Title] = true, true
		if found := Find(info.Title); len(found) == 0 || found[0].Action != info.Action {
			t.Errorf("the palette does not find %q first", info.Title)
		}
		if found := Find(name); !slices.ContainsFunc(found, func(m Match) bool { return m.Action == info.Action }) {
			t.Errorf("the palette does not find %s", name)
		}
		if got, err := ParseAction(name); err != nil || got != info.Action {
			t.Errorf("%s reads as %s, %v", name, got, err)
		}
	}
	if Find("detach") != nil {
		t.Error("detaching is offered")
	}
}

func TestGroupsOfTheTableStandTogether(t *testing.T) {
	var order []Group
	for _, info := range Actions() {
		if len(order) == 0 || order[len(order)-1] != info.Group {
			order = append(order, info.Group)
		}
	}
	if want := []Group{Panes, Layout, Tabs, Output, Dock, Window}; !slices.Equal(order, want) {
		t.Errorf("%v, want %v", order, want)
	}
}

func TestNoTwoDefaultsCollideAndEachIsSpelledAsItArrives(t *testing.T) {
	for _, o := range []Options{{}, {Preset: PresetZellij}, {Preset: PresetZellij, Prefix: "ctrl+b"}, {Preset: PresetNone, Prefix: "ctrl+a"}} {
		m := mustNew(t, o)
		for _, c := range m.Conflicts() {
			if c.Kind != KindProgram {
				t.Errorf("%+v: %+v", o, c)
			}
		}
	}
	for _, info := range actions {
		for _, key := range slices.Concat(info.keys, info.alt) {
			if parsed, err := ParseKey(key); err != nil || parsed != key {
				t.Errorf("%s: key %q reads as %q, %v", info.Action, key, parsed, err)
			}
		}
		for _, key := range info.alt {
			if types(key) {
				t.Errorf("%s: %q would be taken from every program", info.Action, key)
			}
		}
	}
}

// neverTaken are the keys that users of other hosts most want back.
var neverTaken = []string{
	"ctrl+w", "ctrl+r", "ctrl+p", "ctrl+n", "ctrl+s", "ctrl+t", "ctrl+c", "ctrl+d", "ctrl+z",
	"alt+f", "alt+b", "alt+d", "alt+.", "alt+backspace",
}

func TestNoPresetTakesTheKeysThatShellsNeed(t *testing.T) {
	for _, preset := range Presets {
		m := mustNew(t, Options{Preset: preset})
		for _, key := range neverTaken {
			if a, ok := m.Resolve(false, key); ok {
				t.Errorf("%s: %s does %s", preset, key, a)
			}
		}
		if n := len(m.Ways(SplitRight)); preset == PresetNone && n != 0 {
			t.Errorf("the preset none binds %d keys", n)
		}
	}
}

func TestThePrefixTwiceIsLiteral(t *testing.T) {
	for _, prefix := range []string{"ctrl+b", "ctrl+a", "ctrl+space", "ctrl+l", "ctrl+r"} {
		m := mustNew(t, Options{Prefix: prefix})
		if a, ok := m.Resolve(true, prefix); !ok || a != SendPrefix {
			t.Errorf("%s twice does %q", prefix, a)
		}
		if a, ok := m.Resolve(false, prefix); ok || !m.IsPrefix(prefix) {
			t.Errorf("%s alone does %q", prefix, a)
		}
	}
	m := mustNew(t, Options{Prefix: "ctrl+l"})
	want := Conflict{KindTaken, "^L ^L", ClearHistory, "now send-prefix"}
	if !slices.Contains(m.Conflicts(), want) {
		t.Errorf("clear-history lost its key and nothing says so: %v", m.Conflicts())
	}
	if none := mustNew(t, Options{Preset: PresetZellij}); none.IsPrefix("") || none.Hint(SendPrefix) != "" {
		t.Error("without a prefix there is one")
	}
}

func TestThePresetsReachTheirActions(t *testing.T) {
	for _, test := range []struct {
		options  Options
		prefixed bool
		key      string
		want     Action
	}{
		{Options{}, true, "%", SplitRight},
		{Options{}, true, `"`, SplitDown},
		{Options{}, true, "h", FocusLeft},
		{Options{}, true, "space", LayoutNext},
		{Options{}, true, "ctrl+left", ResizeLeft},
		{Options{}, true, "9", Tab9},
		{Options{}, true, "d", ""},
		{Options{}, false, "%", ""},
		{Options{}, false, "alt+n", ""},
		{Options{Preset: PresetZellij}, false, "alt+n", SplitRight},
		{Options{Preset: PresetZellij}, false, "alt+shift+left", ResizeLeft},
		{Options{Preset: PresetZellij}, true, "%", ""},
		{Options{Preset: PresetZellij, Prefix: "ctrl+b"}, true, "%", SplitRight},
		{Options{Preset: PresetNone}, true, "%", ""},
		{Options{Preset: PresetNone, Prefix: "ctrl+a"}, true, "ctrl+a", SendPrefix},
	} {
		if got, _ := mustNew(t, test.options).Resolve(test.prefixed, test.key); got != test.want {
			t.Errorf("%+v, prefixed %v, %s: %q, want %q", test.options, test.prefixed, test.key, got, test.want)
		}
	}
}

func TestUserKeysReplaceThoseOfThePresetAndTakeOver(t *testing.T) {
	m := mustNew(t, Options{Bind: map[string][]string{
		"split-right": {"prefix |", "Alt+Enter"},
		"help":        {"prefix ?", "f1"},
		"quit":        {},
		"send-prefix": {"prefix C-b"},
	}})
	if got, want := m.Ways(SplitRight), []Binding{{true, "|"}, {false, "alt+enter"}}; !slices.Equal(got, want) {
		t.Errorf("split-right: %v, want %v", got, want)
	}
	if _, ok := m.Resolve(true, "%"); ok {
		t.Error("the replaced key still does something")
	}
	if m.Hint(Quit) != "" || m.Hint(Help) != "^B ?" || m.Hint(SplitRight) != "^B |" {
		t.Errorf("%q %q %q", m.Hint(Quit), m.Hint(Help), m.Hint(SplitRight))
	}
	for _, want := range []Conflict{
		{KindTaken, "^B |", PipeOutput, "now split-right"},
		{KindProgram, "Alt+Enter", SplitRight, "also many terminals (full screen)"},
		{KindProgram, "^B", SendPrefix, "also Claude Code (to the background), tmux (its prefix), vim (page up), shell (back one character)"},
	} {
		if !slices.Contains(m.Conflicts(), want) {
			t.Errorf("no %+v among %+v", want, m.Conflicts())
		}
	}
}

func TestEveryMistakeInTheSettingsIsNamed(t *testing.T) {
	for _, test := range []struct {
		options Options
		want    []string
	}{
		{Options{Preset: "tmuxx"}, []string{`preset: there is no preset "tmuxx"; did you mean "tmux"?`}},
		{Options{Prefix: "alt+b"}, []string{`prefix: key "alt+b": a prefix is Ctrl with a letter, ctrl+space, or none`}},
		{Options{Prefix: "ctrl+i"}, []string{`prefix: key "ctrl+i": most terminals send the same for it as for Tab`}},
		{Options{Prefix: "cntrl+a"}, []string{`prefix: there is no modifier "cntrl"; did you mean "ctrl"?`}},
		{Options{Prefix: "none"}, []string{`prefix: the preset "tmux" has all its keys behind a prefix; without one, take the preset "zellij-like" or "none"`}},
		{Options{Bind: map[string][]string{
			"spilt-right": {"prefix |"},
			"zoom":        {"z"},
			"help":        {"prefix ctrl+b", "ctrl+b", "prefix pgupp", "ctrl+"},
			"detach":      {"prefix d"},
		}}, []string{
			`bind detach: there is no action "detach"`,
			`bind help: key "prefix ctrl+b": the prefix pressed twice sends the prefix to the program`,
			`bind help: key "ctrl+b": it is the prefix`,
			`bind help: there is no key "pgupp"; did you mean "pgup"?`,
			`bind help: key "ctrl+": a key is missing behind ctrl`,
			`bind spilt-right: there is no action "spilt-right"; did you mean "split-right"?`,
			`bind zoom: key "z": it would take the key from every program; "prefix z" is the key behind the prefix`,
		}},
		{Options{Preset: PresetNone, Bind: map[string][]string{
			"zoom": {"prefix z", "f2"}, "quit": {"f2"}, "help": {"tab"}, "send-prefix": {"f3"},
		}}, []string{
			`bind help: key "tab": it would take the key from every program; bind a chord such as alt+n`,
			`bind send-prefix: key "f3": the prefix pressed twice sends the prefix; to change it, set prefix`,
			`bind zoom: key "prefix z": there is no prefix; set prefix, or bind a chord such as alt+z`,
			`bind zoom: key "f2": it is given to quit too`,
		}},
	} {
		m, err := New(test.options)
		if err == nil || m != nil {
			t.Errorf("%+v was taken", test.options)
			continue
		}
		if got := strings.Split(err.Error(), "\n"); !slices.Equal(got, test.want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
		}
		if bad, ok := errors.AsType[*BindError](err); !ok || bad.Setting == "" {
			t.Errorf("%v is no BindError", err)
		}
	}
}

func TestAKeyWithoutActionSaysWhatItIsElsewhere(t *testing.T) {
	m := mustNew(t, Options{})
	for _, test := range []struct {
		m        *Map
		prefixed bool
		key      string
		want     string
	}{
		{m, true, "d", "^B d does nothing here: tmux detaches with it; honestty cannot detach"},
		{m, true, "G", "^B G does nothing here; ^B ? shows the keys"},
		{mustNew(t, Options{Preset: PresetNone}), false, "alt+d", "Alt+d does nothing here"},
	} {
		if got := test.m.Unbound(test.prefixed, test.key); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
	for key := range tmuxOnly {
		if a, ok := m.Resolve(true, key); ok {
			t.Errorf("%s is %s here", key, a)
		}
		if parsed, err := ParseKey(key); err != nil || parsed != key {
			t.Errorf("%q never arrives: %q, %v", key, parsed, err)
		}
	}
}

func TestKnownUsesAreSpelledAsKeysArrive(t *testing.T) {
	for key, list := range uses {
		if parsed, err := ParseKey(key); err != nil || parsed != key || len(list) == 0 {
			t.Errorf("%q: %q, %v, %v", key, parsed, err, list)
		}
	}
	for b := 'a'; b <= 'z'; b++ {
		if key := "ctrl+" + string(b); len(Uses(key)) == 0 && b != 'i' && b != 'm' {
			t.Errorf("nothing is known of %s, and every program that edits a line uses it", key)
		}
	}
	if len(Uses("alt+3")) == 0 || len(Uses("alt+shift+z")) != 0 {
		t.Error("uses of Alt and a digit")
	}
}

func TestTheChoicesOfAPrefixAreMaps(t *testing.T) {
	for _, c := range Choices() {
		m := mustNew(t, c.Options)
		if want := m.Prefix(); want != "" && !strings.EqualFold(want, c.Label) || c.Says == "" {
			t.Errorf("%s has the prefix %s", c.Label, want)
		}
	}
}

func TestTheTableIsAsWritten(t *testing.T) {
	var out bytes.Buffer
	for _, o := range []Options{
		{},
		{Preset: PresetZellij},
		{Preset: PresetNone, Prefix: "ctrl+o", Bind: map[string][]string{"palette": {"prefix p", "ctrl+shift+p"}, "zoom": {"alt+["}}},
	} {
		if err := mustNew(t, o).WriteTable(&out); err != nil {
			t.Fatal(err)
		}
		out.WriteString("\n")
	}
	path := filepath.Join("testdata", "keys.txt")
	if *update {
		if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("%s differs; got\n%s", path, out.String())
	}
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestTheTableAsJSONHasNoNull(t *testing.T) {
	for _, preset := range Presets {
		b, err := json.Marshal(mustNew(t, Options{Preset: preset}).Table())
		if err != nil || bytes.Contains(b, []byte("null")) {
			t.Errorf("%s: %v in %s", preset, err, b)
		}
	}
}
