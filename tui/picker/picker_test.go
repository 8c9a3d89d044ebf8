package picker

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
	"github.com/honestty/honestty/vt"
)

var (
	unicodeTheme = theme.New(theme.Options{Colors: 1 << 24, UTF8: true})
	asciiTheme   = theme.New(theme.Options{})
	plainTheme   = theme.New(theme.Options{UTF8: true, Plain: true})
)

// sizes are those that every view is drawn at.
var sizes = [][2]int{{40, 12}, {80, 24}, {120, 40}, {200, 60}}

// golden compares with a file of testdata; HONESTTY_GOLDEN=write writes it anew.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".screen")
	if os.Getenv("HONESTTY_GOLDEN") == "write" {
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

// draw draws a dialog over a screen that is full of something else.
func draw(d Dialog, cols, rows int, th theme.Theme) *screen.Screen {
	s := screen.New(cols, rows, screen.Caps{UTF8: true})
	d.Draw(s, 0, 0, cols, rows, th)
	return s
}

// cursor feeds the frame to our own engine and asks it where the cursor is.
func cursor(s *screen.Screen) (x, y int, visible bool) {
	cols, rows := s.Size()
	term := vt.New(cols, rows, vt.Options{})
	term.Write(s.Diff(nil))
	c := term.Cursor()
	return int(c.Col), int(c.Row), c.Visible
}

// palette is the list of the tests: the three of the first screen, and as many
// others as a real palette has.
func palette() *Picker {
	items := []Item{
		{ID: "split-right", Title: "Split right", Detail: "a pane beside this one", Keys: "^B %"},
		{ID: "split-down", Title: "Split down", Detail: "a pane below this one", Keys: `^B "`},
		{ID: "copy-output", Title: "Copy last output", Disabled: "no shell marks in this pane"},
		{ID: "rename-tab", Title: "Rename tab", Keys: "^B ,"},
		{ID: "open-log", Title: "Open scrollback in the editor", Detail: "/home/somebody/src/application/notes/scrollback.txt", Keys: "^B e"},
		{ID: "wide", Title: "漢字 to 한국어", Keys: "^B w"},
		{ID: "hostile", Title: "Evil\x1b[31m \u202ename", Keys: "^B h"},
	}
	for i := range 54 {
		items = append(items, Item{ID: fmt.Sprintf("tab-%d", i), Title: fmt.Sprintf("Go to tab %d", i), Keys: "^B '"})
	}
	return New("Palette", "action", items, nil)
}

func typed(p *Picker, text string) *Picker {
	for _, r := range text {
		name := string(r)
		if r == ' ' {
			name = "space"
		}
		p.Key(name, string(r))
	}
	return p
}

func confirm() *Confirm {
	return &Confirm{
		Question: "Close pane 2 “npm run dev”?",
		Happens:  "node (pid 4711) still runs. It is asked to end, and killed after a second and a half.",
		Yes:      "closes it", No: "keeps it",
	}
}

func prompt() *Prompt {
	d := &Prompt{Title: "Rename tab 2", Does: "renames it", Check: func(text string) string {
		if strings.TrimSpace(text) == "" {
			return "A tab needs a name that can be seen."
		}
		return ""
	}}
	d.Line.Set("logs 漢字")
	return d
}

func chooser() *Chooser {
	return &Chooser{
		Question: "honestty keeps one key for itself. Which?",
		Options: []Option{
			{ID: "ctrl+b", Title: "Ctrl+b", Detail: "as in tmux (Claude Code also uses it; press twice to send it)"},
			{ID: "ctrl+a", Title: "Ctrl+a", Detail: "as in screen"},
			{ID: "alt", Title: "Alt", Detail: "chords without a prefix, as in zellij", Disabled: "this terminal does not send Alt"},
		},
		Also: "honestty keys shows the whole table",
	}
}

const longScript = "set -e\n" + "cd /srv/app\n\tgit  reset --hard origin/main\n" + "echo \x1b[2K\u202e gpj.exe\n" +
	"a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn\no\np\nq\nr\ns\nt\nu\nv\nw\nx\ny\nz\nrm -rf /srv/old"

func approval(detail string) *Approval {
	return &Approval{
		Question: "terminal, called by claude-code, wants to run this", Rule: "recursive delete", Detail: detail, Until: "14:05:30",
	}
}

func TestDialogsAreAsDrawn(t *testing.T) {
	why := palette()
	typed(why, "copy")
	why.Key("enter", "")
	long := palette()
	long.Key("end", "")
	wrong := prompt()
	wrong.Key("ctrl+u", "")
	wrong.Key("enter", "")
	for name, d := range map[string]Dialog{
		"palette": palette(), "palette-spl": typed(palette(), "spl"), "palette-none": typed(palette(), "xyz"),
		"palette-why": why, "palette-end": long, "confirm": confirm(), "prompt": prompt(), "prompt-problem": wrong, "chooser": chooser(), "approval": approval("rm -rf ./build && make\n"), "approval-long": approval(longScript),
	} {
		for _, size := range sizes {
			base := fmt.Sprintf("%s-%dx%d", name, size[0], size[1])
			golden(t, base, draw(d, size[0], size[1], unicodeTheme).Text())
			if size[0] > 80 {
				continue
			}
			golden(t, base+"-ascii", draw(d, size[0], size[1], asciiTheme).Text())
			golden(t, base+"-plain", draw(d, size[0], size[1], plainTheme).Text())
		}
	}
}

func TestADialogStaysInItsRectangle(t *testing.T) {
	for name, build := range map[string]func() Dialog{
		"palette":  func() Dialog { return palette() },
		"why":      func() Dialog { p := typed(palette(), "copy"); p.Key("enter", ""); return p },
		"nothing":  func() Dialog { return New("Palette", "action", nil, nil) },
		"confirm":  func() Dialog { return confirm() },
		"prompt":   func() Dialog { return prompt() },
		"problem":  func() Dialog { d := prompt(); d.Key("ctrl+u", ""); d.Key("enter", ""); return d },
		"chooser":  func() Dialog { return chooser() },
		"no words": func() Dialog { return &Chooser{} },
		"no query": func() Dialog { return &Confirm{} },
	} {
		for w := 0; w < 64; w += 1 + w/12 {
			for _, h := range []int{0, 1, 2, 3, 4, 5, 8, 13} {
				s := screen.New(70, 20, screen.Caps{UTF8: true})
				for y := range 20 {
					s.SetText(0, y, 70, strings.Repeat("#", 70), vt.Style{})
				}
				build().Draw(s, 3, 2, w, h, unicodeTheme)
				for y, line := range strings.Split(strings.TrimSuffix(s.Text(), "\n"), "\n") {
					outside := line
					if y >= 2 && y < 2+h {
						left, right := column(line, 3), column(line, 3+w)
						outside = line[:left] + line[min(right, len(line)):]
					}
					if strings.Trim(outside, "#") != "" {
						t.Fatalf("%s at %d×%d: row %d has %q", name, w, h, y, line)
					}
				}
			}
		}
	}
}

// column returns the byte offset of a column.
func column(line string, col int) int {
	for i := range line {
		if screen.Width(line[:i]) >= col {
			return i
		}
	}
	return len(line)
}

func TestEveryKeyOfTheListDoesWhatItSays(t *testing.T) {
	for _, c := range []struct {
		keys string
		want string
	}{
		{"", "split-right"},
		{"down", "split-down"},
		{"ctrl+n", "split-down"},
		{"tab", "split-down"},
		{"kpdown", "split-down"},
		{"down down up", "split-down"},
		{"down down ctrl+p", "split-down"},
		{"down down shift+tab", "split-down"},
		{"up", "split-right"},
		{"end", "tab-53"},
		{"end down", "tab-53"},
		{"end home", "split-right"},
		{"pgdown", "tab-8"},
		{"kppgdown", "tab-8"},
		{"pgdown pgup", "split-right"},
		{"ctrl+e", "split-right"},
	} {
		p := palette()
		draw(p, 80, 24, unicodeTheme) // a page is what is seen
		for _, key := range strings.Fields(c.keys) {
			if r := p.Key(key, ""); r.State != Open {
				t.Errorf("%s closes the palette", key)
			}
		}
		if r := p.Key("enter", ""); r != (Result{State: Chosen, ID: c.want}) {
			t.Errorf("%q then Enter: %+v, want %s", c.keys, r, c.want)
		}
	}
	for _, key := range []string{"esc", "ctrl+c", "ctrl+g"} {
		if r := palette().Key(key, ""); r != (Result{State: Cancelled}) {
			t.Errorf("%s: %+v", key, r)
		}
	}
	if r := palette().Key("kpenter", ""); r.ID != "split-right" {
		t.Errorf("the keypad's Enter: %+v", r)
	}
}

func TestTypingFindsAndSelectsTheBest(t *testing.T) {
	p := palette()
	p.Key("end", "")
	typed(p, "rename t")
	if item, ok := p.Selected(); !ok || item.ID != "rename-tab" || p.Query() != "rename t" {
		t.Errorf("selected %+v for %q", item, p.Query())
	}
	p.Key("ctrl+u", "")
	if p.Query() != "" || len(p.hits) != 61 {
		t.Errorf("after Ctrl+u %q finds %d", p.Query(), len(p.hits))
	}
	p.Paste("split\ndown")
	if item, _ := p.Selected(); item.ID != "split-down" {
		t.Errorf("the paste selected %+v", item)
	}
	p.SetQuery("nothing like it")
	if _, ok := p.Selected(); ok {
		t.Error("something is selected where nothing was found")
	}
	if r := p.Key("enter", ""); r != (Result{}) {
		t.Errorf("Enter on nothing: %+v", r)
	}
}

func TestADisabledItemStaysAndSaysWhy(t *testing.T) {
	p := typed(palette(), "copy last")
	s := draw(p, 80, 24, unicodeTheme)
	if got := s.Text(); !strings.Contains(got, "no shell marks in this pane") || strings.Contains(got, "runs it") {
		t.Errorf("got\n%s", got)
	}
	p.SetQuery("")
	s = draw(p, 80, 24, unicodeTheme)
	if x, y := find(t, s, "Copy last output"); s.Style(x, y).FG != unicodeTheme.Disabled.FG {
		t.Errorf("a disabled item looks like any other: %+v", s.Style(x, y))
	}
	p = typed(palette(), "copy last")
	if r := p.Key("enter", ""); r != (Result{}) {
		t.Errorf("Enter on a disabled item: %+v", r)
	}
	if got := draw(p, 80, 24, unicodeTheme).Text(); !strings.Contains(got, "Copy last output: no shell marks in this pane") {
		t.Errorf("Enter does not say why:\n%s", got)
	}
	p.Key("backspace", "")
	if got := draw(p, 80, 24, unicodeTheme).Text(); strings.Contains(got, "output: no shell") {
		t.Errorf("the note stays:\n%s", got)
	}
}

// find returns where a text begins on a screen.
func find(t *testing.T, s *screen.Screen, text string) (x, y int) {
	t.Helper()
	for y, line := range strings.Split(s.Text(), "\n") {
		if i := strings.Index(line, text); i >= 0 {
			return screen.Width(line[:i]), y
		}
	}
	t.Fatalf("no %q in\n%s", text, s.Text())
	return 0, 0
}

func TestTheSelectionIsAlwaysSeen(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 12}, {30, 5}, {20, 4}} {
		p := palette()
		for i := range 150 {
			if i < 75 {
				p.Key("down", "")
			} else {
				p.Key("up", "")
			}
			if i%7 == 0 {
				p.Wheel(3 - 6*(i/75))
			}
			draw(p, size[0], size[1], unicodeTheme)
			if p.selected < p.top || p.selected >= p.top+p.list.h {
				t.Fatalf("%v: %d is not within %d and %d rows", size, p.selected, p.top, p.list.h)
			}
		}
	}
}

func TestTheUpperEdgeStaysWhileTyping(t *testing.T) {
	p := palette()
	draw(p, 80, 24, unicodeTheme)
	y := p.box.y
	for _, r := range "split down" {
		typed(p, string(r))
		if draw(p, 80, 24, unicodeTheme); p.box.y != y {
			t.Fatalf("after %q the box is in row %d, was in %d", p.Query(), p.box.y, y)
		}
	}
}

func TestClicksChooseAndCloseAndTheFooterWorks(t *testing.T) {
	p := palette()
	s := draw(p, 80, 24, unicodeTheme)
	x, y := find(t, s, "Split down")
	if r := p.Click(x, y); r != (Result{State: Chosen, ID: "split-down"}) {
		t.Errorf("a click on an item: %+v", r)
	}
	x, y = find(t, s, "Copy last")
	if r := p.Click(x, y); r != (Result{}) || p.note == "" {
		t.Errorf("a click on a disabled item: %+v, note %q", r, p.note)
	}
	x, y = find(t, s, "Esc closes")
	if r := p.Click(x+4, y); r.State != Cancelled {
		t.Errorf("a click on Esc: %+v", r)
	}
	if r := p.Click(0, 0); r.State != Cancelled {
		t.Errorf("a click beside the box: %+v", r)
	}
	if r := p.Click(p.box.x, p.box.y); r.State != Open {
		t.Errorf("a click on the frame: %+v", r)
	}
	if r := palette().Click(3, 3); r.State != Open {
		t.Errorf("a click before it was drawn: %+v", r)
	}
}

func TestMatchesAreMarkedAlsoBehindWideCharacters(t *testing.T) {
	p := typed(palette(), "to 한")
	s := draw(p, 80, 24, unicodeTheme)
	x, y := find(t, s, "漢字 to 한국어")
	marked := ""
	for i := range 14 {
		if s.Style(x+i, y).Underline == unicodeTheme.Match.Underline {
			marked += "^"
		} else {
			marked += "."
		}
	}
	if marked != ".....^^.^^...." {
		t.Errorf("marked %s", marked)
	}
}

func TestAMatchOfTheCallerRules(t *testing.T) {
	items := []Item{{ID: "a", Title: "a"}, {ID: "b", Title: "b"}}
	p := New("", "entry", items, func(q string, items []Item) []Hit {
		return []Hit{{Index: 7}, {Index: 1, Positions: []int{-1, 99, 0}}, {Index: -1}, {Index: 0}}
	})
	if item, _ := p.Selected(); item.ID != "b" || len(p.hits) != 2 {
		t.Errorf("selected %+v of %d", item, len(p.hits))
	}
	draw(p, 80, 24, unicodeTheme) // positions that are none do no harm
}

func TestItemsMayChangeUnderTheSelection(t *testing.T) {
	p := typed(palette(), "split")
	p.Key("down", "")
	p.SetItems([]Item{{ID: "x", Title: "split x"}, {ID: "y", Title: "split y"}, {ID: "split-down", Title: "Split down"}})
	if item, _ := p.Selected(); item.ID != "split-down" || p.Query() != "split" {
		t.Errorf("selected %+v for %q", item, p.Query())
	}
	p.SetItems([]Item{{ID: "x", Title: "split x"}})
	if item, _ := p.Selected(); item.ID != "x" {
		t.Errorf("selected %+v", item)
	}
	p.SetItems(nil)
	if _, ok := p.Selected(); ok {
		t.Error("an empty list has a selection")
	}
}

func TestSubsequenceFindsWholePiecesFirst(t *testing.T) {
	items := []Item{{Title: "Set pane layout"}, {Title: "Split right"}, {Title: "no"}, {Title: "s p l"}}
	var got []string
	for _, h := range Subsequence("SPL", items) {
		got = append(got, fmt.Sprint(items[h.Index].Title, h.Positions))
	}
	if want := []string{"Split right[0 1 2]", "s p l[0 2 4]", "Set pane layout[0 4 9]"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if n := len(Subsequence(" ", items)); n != len(items) {
		t.Errorf("an empty query finds %d", n)
	}
}

func TestTheCursorIsWhereTheNextCharacterGoes(t *testing.T) {
	p := typed(palette(), "spl")
	s := draw(p, 80, 24, unicodeTheme)
	x, y := find(t, s, "> spl")
	if cx, cy, visible := cursor(s); cx != x+5 || cy != y || !visible {
		t.Errorf("cursor at %d,%d visible %v, the text is at %d,%d", cx, cy, visible, x, y)
	}
	s = draw(confirm(), 80, 24, unicodeTheme)
	if _, _, visible := cursor(s); visible {
		t.Error("a question shows a cursor")
	}
}
