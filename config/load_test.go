package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/honestty/honestty/internal/leak"
)

// environ is an environment with its own home.
type environ map[string]string

func (e environ) get(name string) string { return e[name] }

func home(t *testing.T) (environ, string) {
	t.Helper()
	dir := t.TempDir()
	return environ{"HOME": dir}, filepath.Join(dir, ".config", "honestty", "config.toml")
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestPathsFollowXDG(t *testing.T) {
	for _, c := range []struct {
		env           environ
		config, state string
	}{
		{environ{"HOME": "/h"}, "/h/.config/honestty/config.toml", "/h/.local/state/honestty/state.json"},
		{environ{"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s"}, "/c/honestty/config.toml", "/s/honestty/state.json"},
		{environ{"HOME": "/h", "XDG_CONFIG_HOME": "c", "XDG_STATE_HOME": "./s"}, "/h/.config/honestty/config.toml", "/h/.local/state/honestty/state.json"},
		{environ{"XDG_CONFIG_HOME": "/c"}, "/c/honestty/config.toml", ""},
		{environ{"HOME": "relative"}, "", ""},
		{environ{}, "", ""},
	} {
		if got := UserPath(c.env.get); got != c.config {
			t.Errorf("%v: config at %q, want %q", c.env, got, c.config)
		}
		if got := StatePath(c.env.get); got != c.state {
			t.Errorf("%v: state at %q, want %q", c.env, got, c.state)
		}
	}
}

func TestLaterSourcesWinKeyByKeyAndAreNamed(t *testing.T) {
	before := leak.Take(t)
	env, user := home(t)
	own := filepath.Join(t.TempDir(), "own.toml")
	write(t, user, "[ui]\ntheme = \"dark\"\nmouse = false\ncolor = \"256\"\n[keys.bind]\nzoom = [\"z\"]\nclose = [\"x\"]\n")
	write(t, own, "ui.theme = \"nord\"\nkeys.bind.zoom = [\"Z\"]\n")
	env["NO_COLOR"] = "1"

	c, err := Load(Options{Path: own, Env: env.get})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct{ key, value, origin string }{
		{"ui.theme", `"nord"`, own + ":1"},
		{"ui.mouse", "false", user + ":3"},
		{"ui.color", `"never"`, "NO_COLOR"},
		{"ui.ascii", "false", "default"},
		{"keys.bind.zoom", `["Z"]`, own + ":2"},
		{"keys.bind.close", `["x"]`, user + ":7"},
		{"keys.bind.other", "", "default"},
		{"ui.thme", "", ""},
	} {
		value, _ := c.Value(want.key)
		if value != want.value || c.Origin(want.key) != want.origin {
			t.Errorf("%s = %s from %q, want %s from %q", want.key, value, c.Origin(want.key), want.value, want.origin)
		}
	}
	before.Check(t)
}

func TestNoFileIsTheDefaults(t *testing.T) {
	env, _ := home(t)
	for _, e := range []environ{env, {}} {
		c, err := Load(Options{Env: e.get})
		if err != nil {
			t.Fatal(err)
		}
		assertSame(t, c, Defaults())
	}
}

func TestEmptyNoColorChangesNothing(t *testing.T) {
	env, _ := home(t)
	env["NO_COLOR"] = ""
	if c, _ := Load(Options{Env: env.get}); c.UI.Color != ColorAuto || c.Origin("ui.color") != OriginDefault {
		t.Errorf("colour is %q from %q", c.UI.Color, c.Origin("ui.color"))
	}
}

func TestProblemsOfBothFilesComeAtOnceAndNoPartOfThemIsUsed(t *testing.T) {
	env, user := home(t)
	own := filepath.Join(t.TempDir(), "a.toml") // sorts before the user's: order is that of reading
	write(t, user, "[ui]\nmouse = false\nthme = 1\n")
	write(t, own, "[ui]\ntheme = 3\n")
	env["NO_COLOR"] = "1"
	c, err := Load(Options{Path: own, Env: env.get})
	want := user + ":3:1: unknown key ui.thme; did you mean ui.theme?\n" +
		own + ":2:9: ui.theme is 3; expected one of " + themes + `, as in theme = "terminal"`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	d := Defaults()
	d.UI.Color = ColorNever // NO_COLOR holds whatever the files say
	assertSame(t, c, d)
}

func TestFileThatCannotBeReadIsToldWithItsReason(t *testing.T) {
	before := leak.Take(t)
	env, user := home(t)
	dir := t.TempDir()
	fifo, large, missing := filepath.Join(dir, "pipe"), filepath.Join(dir, "large"), filepath.Join(dir, "mis\x1bsing")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, large, strings.Repeat("#\n", maxFile/2)+"#")
	if err := os.MkdirAll(user, 0o700); err != nil { // a folder in the place of the file
		t.Fatal(err)
	}
	folder := user + ": read settings: not a regular file"
	for _, c := range []struct {
		path, want string
		is         error
	}{
		{"", "", nil},
		{fifo, fifo + ": read settings: not a regular file", nil},
		{large, large + ": read settings: larger than 64KiB, so not a settings file", nil},
		{missing, filepath.Join(dir, "mis^[sing") + ": read settings: no such file or directory (ENOENT)", fs.ErrNotExist},
	} {
		_, err := Load(Options{Path: c.path, Env: env.get})
		want := strings.TrimSuffix(folder+"\n"+c.want, "\n")
		if err == nil || err.Error() != want {
			t.Errorf("got\n%v\nwant\n%s", err, want)
		}
		if c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%v is not %v", err, c.is)
		}
	}
	before.Check(t)
}

func TestUserFileNamedByPathIsReadOnceAndMustExist(t *testing.T) {
	env, user := home(t)
	if _, err := Load(Options{Path: user, Env: env.get}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	write(t, user, "x = 1\n")
	_, err := Load(Options{Path: user, Env: env.get})
	if ps, _ := errors.AsType[Problems](err); len(ps) != 1 {
		t.Errorf("problems: %v", err)
	}
}

func TestOriginShowsNoRawPath(t *testing.T) {
	c, err := Parse("a\x1b[2J\u202e.toml", []byte("ui.mouse = false"), nil)
	if err != nil || c.Origin("ui.mouse") != "a^[[2J<U+202E>.toml:1" {
		t.Errorf("origin is %q (%v)", c.Origin("ui.mouse"), err)
	}
}

func TestCloneSharesNothing(t *testing.T) {
	a, err := Parse("f", []byte("keys.bind.zoom = [\"z\"]"), nil)
	if err != nil {
		t.Fatal(err)
	}
	b := a.Clone()
	b.Keys.Bind["zoom"][0] = "x"
	b.Keys.Bind["close"] = nil
	if len(a.Keys.Bind) != 1 || a.Keys.Bind["zoom"][0] != "z" {
		t.Errorf("the clone changed its origin: %v", a.Keys.Bind)
	}
	d := Defaults()
	d.Keys.Bind["zoom"] = nil
	if len(Defaults().Keys.Bind) != 0 {
		t.Error("a caller changed the defaults")
	}
}

func TestUnitsReadWhatTheyWrite(t *testing.T) {
	for text, want := range map[string]Size{"0B": 0, "1B": 1, "1023B": 1023, "1KiB": 1024, "32MiB": 32 << 20, "3GiB": 3 << 30, "1025B": 1025} {
		got, err := ParseSize(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("ParseSize(%q) = %v (%v), want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "B", "1", "-1B", "+1B", "1.5MiB", "1 MiB", "1mib", "9223372036854775807KiB", "99999999999999999999B", "1MB"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("ParseSize(%q) = %v", text, got)
		}
	}
	for _, text := range []string{"", "%", "1", "-1%", "+1%", "1.5%", "99999999999%"} {
		if got, err := ParsePercent(text); err == nil {
			t.Errorf("ParsePercent(%q) = %v", text, got)
		}
	}
	if p, err := ParsePercent("80%"); err != nil || p.String() != "80%" || p.Of(1024) != 819 || p.Ratio() != 0.8 {
		t.Errorf("80%% = %v (%v)", p, err)
	}
	if _, err := ParseSize("1\x1bMB"); err == nil || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("raw character in %q", err)
	}
	for text, quoted := range map[string]string{"a\"\\": `"a\"\\"`, "\x1b\u202e\U000e0041": `"\u001B\u202E\U000E0041"`, "ä": `"ä"`} {
		if tomlString(text) != quoted {
			t.Errorf("tomlString(%q) = %s", text, tomlString(text))
		}
		c, err := Parse("f", []byte("keys.bind."+strconv.Itoa(1)+" = ["+quoted+"]"), nil)
		if plainText.MatchString(text) && (err != nil || c.Keys.Bind["1"][0] != text) {
			t.Errorf("%s is read as %q (%v)", quoted, c.Keys.Bind["1"], err)
		}
	}
}
