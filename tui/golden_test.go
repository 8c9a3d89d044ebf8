package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/config"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tui/layout"
)

// golden compares with a file of testdata; HONESTTY_GOLDEN=write writes it anew.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "window", name+".screen")
	if os.Getenv("HONESTTY_GOLDEN") == "write" {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

// goTest is what the first pane of the goldens shows.
const goTest = "$ go test ./...\nok      example.org/app/store   0.412s\nok      example.org/app/wire    0.981s\n$ "

// one opens the usual first pane.
func one(d *desk) *view { return d.pane(alive("zsh", "/home/ada/src/app", 4720), goTest, openedMsg{}) }

// two opens a second one at its right.
func two(d *desk) (left, right *view) {
	left = one(d)
	right = d.pane(alive("node", "/home/ada/src/app/web", 4711), "\x1b]2;dev server\alistening on :8080\n", openedMsg{Beside: left.pane.ID(), Dir: layout.Right})
	return left, right
}

// four makes a square.
func four(d *desk) {
	left, right := two(d)
	remote := alive("ssh", "/srv", 4801)
	remote.Where.Host = "db1"
	d.pane(remote, "db1$ ", openedMsg{Beside: left.pane.ID(), Dir: layout.Down})
	d.pane(over("make", "/home/ada/src/app", 2, 0), "cc -o app\napp.c:1: error\n", openedMsg{Beside: right.pane.ID(), Dir: layout.Down})
	d.m.goToPane(left.pane.ID())
}

// windows are the views of the whole window.
var windows = []struct {
	name  string
	conf  deskConfig
	build func(d *desk)
}{
	{"one", deskConfig{}, func(d *desk) { one(d) }},
	{"ended-ok", deskConfig{}, func(d *desk) { d.pane(over("make", "/", 0, 0), "19999\n20000\n", openedMsg{}) }},
	{"ended-exit-3", deskConfig{}, func(d *desk) { d.pane(over("make", "/", 3, 0), "19999\n20000\n", openedMsg{}) }},
	{"ended-sigkill", deskConfig{}, func(d *desk) { d.pane(over("make", "/", -1, unix.SIGKILL), "19999\n20000\n", openedMsg{}) }},
	{"ended-lost", deskConfig{}, func(d *desk) {
		i := over("make", "/", 0, 0)
		i.Exit.Capture = outcome.Capture{Read: 4096, Shown: 4096, Lost: outcome.Uncounted, End: outcome.EndBroken, Cause: unix.EIO}
		d.pane(i, "19999\n20000\n", openedMsg{})
	}},
	{"not-started", deskConfig{}, func(d *desk) {
		d.pane(unstarted("/bin/zsh", &outcome.StartError{Step: "open a terminal pair", Err: unix.EMFILE}), "", openedMsg{})
	}},
	{"two", deskConfig{}, func(d *desk) { two(d) }},
	{"four", deskConfig{}, four},
	{"zoom", deskConfig{}, func(d *desk) { two(d); d.typ("\x02z") }},
	{"dock-right", deskConfig{}, func(d *desk) { two(d); d.typ("\x02f") }},
	{"dock-bottom", deskConfig{settings: "[ui.dock]\nside = \"bottom\"\n"}, func(d *desk) { two(d); d.typ("\x02f") }},
	{"palette", deskConfig{}, func(d *desk) { one(d); d.typ("\x02:"); d.typ("spl") }},
	{"help", deskConfig{}, func(d *desk) { two(d); d.typ("\x02?") }},
	{"copy-search", deskConfig{}, func(d *desk) {
		v := one(d)
		for n := range 200 {
			d.write(v, fmt.Sprintf("%d lines of output\n", n))
		}
		d.typ("\x02[")
		d.typ("?^1[23] \r")
	}},
	{"close", deskConfig{}, func(d *desk) { two(d); d.typ("\x02x") }},
	{"prefix", deskConfig{}, func(d *desk) { one(d); d.typ("\x02") }},
	{"hint", deskConfig{state: config.State{Starts: 1}}, func(d *desk) { one(d) }},
	{"hint-in-tmux", deskConfig{state: config.State{Starts: 1}, env: map[string]string{"TMUX": "/tmp/tmux,1,0"}}, func(d *desk) { one(d) }},
	{"alert", deskConfig{}, func(d *desk) {
		v := d.pane(alive("make", "/", 4801), "", openedMsg{})
		one(d)
		i := over("make", "/", 2, 0)
		i.ID = v.pane.ID()
		v.info = i
		d.m.alert(alert{mark: v.mark(), text: "make: exit 2", pane: v.pane.ID()})
	}},
	{"plain", deskConfig{settings: "[ui]\nplain = true\n"}, four},
	{"ascii", deskConfig{settings: "[ui]\nascii = true\n"}, four},
	{"no-color", deskConfig{env: map[string]string{"NO_COLOR": "1"}}, four},
	{"hostile", deskConfig{}, func(d *desk) {
		v := d.pane(alive("ev\x1bil", "/tmp/\u202egpj.exe", 4801), "宽字符 e\u0301 👩‍👩‍👧 ok\n", openedMsg{})
		d.pane(alive("sh", "/", 4802), "\x1b]2;"+strings.Repeat("a very long title ", 30)+"\a$ ", openedMsg{Beside: v.pane.ID(), Dir: layout.Down})
		v.info.Title = "a\u202eb\u2028c\td"
	}},
}

func TestEveryViewOfTheWindowIsAsItWasDrawn(t *testing.T) {
	for _, w := range windows {
		for _, size := range [][2]int{{40, 12}, {80, 24}, {120, 40}, {200, 60}} {
			name := fmt.Sprintf("%s-%dx%d", w.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				c := w.conf
				c.cols, c.rows = size[0], size[1]
				d := newDesk(t, c)
				d.meter()
				w.build(d)
				got := d.screen()
				golden(t, name, got)
				checkCells(t, got, size[0], size[1])
			})
		}
	}
}

// checkCells holds for every view, whatever it shows: it has its size, and
// nothing from outside reached the terminal as a control character.
func checkCells(t *testing.T, got string, cols, rows int) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	if len(lines) != rows {
		t.Errorf("%d rows, want %d", len(lines), rows)
	}
	for _, r := range got {
		if r != '\n' && (r < 0x20 || r == 0x7F || r >= 0x202A && r <= 0x202E || r == 0x2028) {
			t.Errorf("%U is on the screen", r)
		}
	}
}
