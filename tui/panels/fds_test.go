package panels

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/honestty/honestty/tools/fdmeter"
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
	"github.com/honestty/honestty/vt"
)

var (
	unicodeTheme = theme.New(theme.Options{Colors: 1 << 24, UTF8: true})
	asciiTheme   = theme.New(theme.Options{})
	plainTheme   = theme.New(theme.Options{UTF8: true, Plain: true})

	start = time.Unix(1_700_000_000, 0)
)

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

// process makes a process that is well known: nothing about it is missing.
func process(pid int, command string, count, highest int64) fdmeter.Process {
	name, _, _ := strings.Cut(command, " ")
	p := fdmeter.Process{
		Reading: fdmeter.Reading{
			PID: pid, Parent: 1, Birth: uint64(pid) * 7, Name: name[strings.LastIndexByte(name, '/')+1:], Command: command,
			Count: fdmeter.Known(count), Highest: fdmeter.Known(highest),
			Soft: fdmeter.Known(4096), Hard: fdmeter.Known(1 << 20), Method: fdmeter.ByStat, At: start,
		},
		Growth: fdmeter.Growth{Trend: fdmeter.Flat},
	}
	for i := range p.Spark {
		p.Spark[i] = fdmeter.Known(count)
	}
	return lined(p)
}

// lined sets the nearest line anew.
func lined(p fdmeter.Process) fdmeter.Process {
	p.Line, p.HasLine = fdmeter.Nearest(p.Reading)
	return p
}

func leaking() fdmeter.Process {
	p := process(4711, "/usr/bin/node server.js --port 8080", 871, 903)
	p.Growth = fdmeter.Growth{PerMinute: 3.5, Trend: fdmeter.Rising, Confidence: fdmeter.Likely}
	for i := range p.Spark {
		p.Spark[i] = fdmeter.Known(600 + 40*int64(i))
	}
	return p
}

func denied() fdmeter.Process {
	unknown := fdmeter.Unknown(fdmeter.Denied)
	return lined(fdmeter.Process{Reading: fdmeter.Reading{
		PID: 4802, Birth: 9, Name: "postgres", Count: unknown, Highest: unknown, Soft: unknown, Hard: unknown,
	}})
}

// reading is this window, a pane with a server that leaks, a pane with a shell,
// and what only root may look at.
func reading(more ...fdmeter.Process) Reading {
	own := process(4600, "/usr/local/bin/honestty", 87, 131)
	young := process(4790, "/bin/sh -c make", 4, 63)
	young.Growth, young.Spark = fdmeter.Growth{}, [fdmeter.SparkCells]fdmeter.Value{}
	young.Spark[6], young.Spark[7] = fdmeter.Known(3), fdmeter.Known(4)
	r := Reading{
		Snapshot: fdmeter.Snapshot{
			At: start.Add(time.Minute), Own: own,
			Processes: append([]fdmeter.Process{own, leaking(), process(4720, "-zsh", 11, 255), young, denied()}, more...),
			Roots: []fdmeter.Root{
				{PID: 4720, Members: []int{4711, 4720, 4790}},
				{PID: 4800, Members: []int{4802}, Gone: true},
			},
			System: fdmeter.System{
				Files: fdmeter.Known(108_894), FilesMax: fdmeter.Known(1 << 62),
				PTYs: fdmeter.Known(12), PTYsMax: fdmeter.Known(4096), PTYsReserve: fdmeter.Known(1024),
			},
			Scan: fdmeter.Scan{Listed: true, Read: 200, Denied: 3},
		},
		Panes: []Pane{{PID: 4720, Label: "pane 1"}, {PID: 4800, Label: "pane 2"}},
		Waits: "epoll",
	}
	return r
}

// breakdown makes descriptors: sockets, pipes, and one file for each path.
func breakdown(pid, sockets, pipes int, at time.Time, paths ...string) fdmeter.Breakdown {
	b := fdmeter.Breakdown{PID: pid, Birth: uint64(pid) * 7, At: at, Counts: map[fdmeter.Kind]int{}}
	add := func(kind fdmeter.Kind, target string) {
		b.FDs = append(b.FDs, fdmeter.FD{Number: len(b.FDs), Kind: kind, Target: target, CloseOnExec: fdmeter.MaybeYes})
		b.Counts[kind]++
	}
	for i := range sockets {
		add(fdmeter.KindSocket, fmt.Sprintf("socket:[%d]", i))
	}
	for i := range pipes {
		add(fdmeter.KindPipe, fmt.Sprintf("pipe:[%d]", i))
	}
	for _, path := range paths {
		add(fdmeter.KindFile, path)
	}
	b.CloseOnExec = len(b.FDs)
	b.Listed = fdmeter.Known(int64(len(b.FDs)))
	return b
}

func panel() *FDs {
	f := &FDs{}
	f.Show(reading())
	return f
}

// keys presses keys and returns the last Action.
func keys(t *testing.T, f *FDs, names string) (a Action) {
	t.Helper()
	for _, name := range strings.Fields(names) {
		var ok bool
		if a, ok = f.Key(name); !ok {
			t.Errorf("%s is not a key of the panel", name)
		}
	}
	return a
}

func draw(p Panel, w, h int, th theme.Theme) *screen.Screen {
	s := screen.New(w, h, screen.Caps{UTF8: true})
	p.Draw(s, 0, 0, w, h, true, th)
	return s
}

func dockOf(p Panel) *Dock {
	d := &Dock{}
	d.Add(p)
	return d
}

// answered asks with a key and gives the answer.
func answered(t *testing.T, f *FDs, key string, b fdmeter.Breakdown) {
	t.Helper()
	req, ok := keys(t, f, key).(ReadTypes)
	if !ok || req.PID != b.PID {
		t.Fatalf("%s asks for %+v, the answer is for %d", key, req, b.PID)
	}
	f.TakeTypes(req, b)
}

var manyPaths = []string{
	"/home/somebody/src/application/var/log/access.log", "/home/somebody/src/application/var/log/access.log",
	"/etc/hosts", "/tmp/evil\x1b[31m\u202ename", "/dev/shm/x",
}

func views(t *testing.T) map[string]*FDs {
	none, own, leak, types, diff, kept := &FDs{}, panel(), panel(), panel(), panel(), panel()
	keys(t, leak, "j")
	keys(t, types, "j")
	answered(t, types, "enter", breakdown(4711, 840, 26, start.Add(48*time.Second), manyPaths...))
	keys(t, diff, "j")
	answered(t, diff, "s", breakdown(4711, 820, 28, start.Add(-time.Minute), manyPaths[:4]...))
	answered(t, diff, "d", breakdown(4711, 840, 26, start.Add(time.Minute), manyPaths...))
	keys(t, kept, "j")
	answered(t, kept, "s", breakdown(4711, 840, 26, start.Add(time.Minute), manyPaths...))
	keys(t, kept, "j k")
	hidden := panel()
	keys(t, hidden, "G")
	grown := panel()
	keys(t, grown, "o o")
	targets, peers, problems, cost := panel(), panel(), panel(), panel()
	keys(t, targets, "j")
	answered(t, targets, "enter", server())
	keys(t, targets, "enter")
	keys(t, peers, "j")
	answered(t, peers, "enter", server())
	keys(t, peers, "j j j enter")
	told(t, peers, "enter", around(server()))
	keys(t, problems, "j")
	told(t, problems, "p", around(server()))
	costs(t, cost)
	return map[string]*FDs{
		"none": none, "own": own, "leak": leak, "types": types, "diff": diff, "kept": kept, "hidden": hidden,
		"grown": grown, "targets": targets, "peers": peers, "problems": problems, "cost": cost,
	}
}

func TestThePanelIsAsDrawn(t *testing.T) {
	for name, f := range views(t) {
		for _, size := range [][2]int{{40, 12}, {80, 24}, {120, 40}, {200, 60}} {
			base := fmt.Sprintf("fds-%s-%dx%d", name, size[0], size[1])
			at := func(th theme.Theme) string {
				s := screen.New(size[0], size[1], screen.Caps{UTF8: true})
				dockOf(f).Draw(s, 0, 0, size[0], size[1], true, th)
				return s.Text()
			}
			golden(t, base, at(unicodeTheme))
			if size[0] <= 80 {
				golden(t, base+"-ascii", at(asciiTheme))
				golden(t, base+"-plain", at(plainTheme))
			}
		}
	}
}

func TestEveryWidthFits(t *testing.T) {
	for name, f := range views(t) {
		for w := 0; w <= 200; w += 1 + w/40*3 {
			for _, h := range []int{0, 1, 2, 3, 7, 11} {
				if w > 40 && h < 11 {
					continue
				}
				s := screen.New(204, 26, screen.Caps{UTF8: true})
				for y := range 26 {
					s.SetText(0, y, 204, strings.Repeat("#", 204), vt.Style{})
				}
				f.Draw(s, 1, 1, w, h, true, unicodeTheme)
				lines := strings.Split(strings.TrimSuffix(s.Text(), "\n"), "\n")
				for y, line := range lines {
					inside := y >= 1 && y < 1+h
					if !inside && strings.Trim(line, "#") != "" || inside && (line[0] != '#' || !strings.HasSuffix(line, strings.Repeat("#", 203-w))) {
						t.Fatalf("%s at %d×%d: row %d is %q", name, w, h, y, line)
					}
				}
				if w >= 30 && h >= 7 && f.view == viewTable && f.read {
					checkNumbers(t, w, h, lines)
				}
			}
		}
	}
}

// checkNumbers looks for the row of the leaking process: its count is there,
// whole, or the row is not.
func checkNumbers(t *testing.T, w, h int, lines []string) {
	t.Helper()
	for _, line := range lines {
		if strings.Contains(line, "!4711") || strings.Contains(line, "! 4711") {
			if !strings.Contains(line, " 871 ") && !strings.Contains(line, " 871#") {
				t.Fatalf("%d×%d: %q has no count", w, h, line)
			}
			return
		}
	}
	t.Fatalf("%d×%d: the process nearest to a line is not in\n%s", w, h, strings.Join(lines, "\n"))
}

func TestUnknownIsAQuestionMarkWithItsReason(t *testing.T) {
	f := panel()
	text := draw(f, 80, 24, unicodeTheme).Text()
	line := lineWith(t, text, "postgres")
	if !strings.Contains(line, "?") || !strings.Contains(line, "not permitted") || strings.Contains(line, " 0") {
		t.Errorf("got %q", line)
	}
	keys(t, f, "G")
	for _, w := range []int{30, 80} {
		if text = draw(f, w, 24, unicodeTheme).Text(); !strings.Contains(text, "count ? (not permitted)") {
			t.Errorf("%d columns: the header does not say why:\n%s", w, text)
		}
	}
	if text = draw(&FDs{}, 80, 24, unicodeTheme).Text(); !strings.Contains(text, "? unknown: nothing is counted yet") {
		t.Errorf("got\n%s", text)
	}
	if text = draw(panel(), 80, 24, unicodeTheme).Text(); !strings.Contains(text, "processes not looked at 3") {
		t.Errorf("an incomplete list is not told:\n%s", text)
	}
	r := reading()
	r.Snapshot.System = fdmeter.System{Files: fdmeter.Unknown(fdmeter.Unsupported), PTYs: fdmeter.Known(3000), PTYsMax: fdmeter.Known(4096), PTYsReserve: fdmeter.Known(1024)}
	r.Snapshot.Scan = fdmeter.Scan{Cause: fdmeter.NoDescriptors}
	f.Show(r)
	text = draw(f, 200, 24, unicodeTheme).Text()
	for _, want := range []string{"system files ? (not supported on this system)", "ptys 3,000 of 3,072 ├──────▌─┤ ! near", "processes ? (no free descriptor"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if b := f.Badge(); b.Word != "near" {
		t.Errorf("the badge is %+v", b)
	}
}

func lineWith(t *testing.T, text, part string) string {
	t.Helper()
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			return line
		}
	}
	t.Fatalf("no %q in\n%s", part, text)
	return ""
}

func TestTheNearestComesFirst(t *testing.T) {
	passed := process(10, "db", 5000, 5000)
	passed.Soft, passed.Hard = fdmeter.Known(1<<20), fdmeter.Known(1<<20)
	f := &FDs{}
	f.Show(reading(lined(passed), process(11, "b", 30, 60), process(12, "c", 30, 60)))
	var got []int
	for _, r := range f.rows {
		got = append(got, r.PID)
	}
	if want := "[4711 10 4720 4600 4790 11 12 4802]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestPanesAndThisWindowAreMarked(t *testing.T) {
	text := draw(panel(), 80, 24, unicodeTheme).Text()
	for part, mark := range map[string]string{"4720": "zsh (pane 1)", "4711": "(pane 1)", "4802": "postgres (pane 2)"} {
		if line := lineWith(t, text, part); !strings.Contains(line, mark) {
			t.Errorf("%q has no %q", line, mark)
		}
	}
	if line := lineWith(t, text, "87 "); !strings.Contains(text, "(this window)") {
		t.Errorf("%q", line)
	}
	f := &FDs{}
	f.Show(reading(process(77, "stranger", 5, 5)))
	if line := lineWith(t, draw(f, 80, 24, unicodeTheme).Text(), "stranger"); strings.Contains(line, "(") {
		t.Errorf("%q is marked", line)
	}
}

// TestWhyAProcessHasNoLineAt1024IsSaidInEveryDock looks at one of our own
// program, above 1024.
func TestWhyAProcessHasNoLineAt1024IsSaidInEveryDock(t *testing.T) {
	own := process(10, "honestty mcp", 1110, 1109)
	own.NoSelect, own.Soft = true, fdmeter.Known(20_000)
	f := &FDs{}
	f.Show(reading(lined(own)))
	f.Choose(10)
	for w, want := range map[int]string{
		24: "no select(): ours",
		39: "no line at 1024: ours, no select()", 48: "no line at 1024: ours, no select()",
		90: "no line at 1024: our own program, which never calls select()",
	} {
		text := draw(f, w, 20, unicodeTheme).Text()
		if !strings.Contains(text, want) || w > 24 && !strings.Contains(text, "1,109") {
			t.Errorf("%d columns: no %q in\n%s", w, want, text)
		}
	}
	below, other := own, own
	below.Highest, other.NoSelect = fdmeter.Known(1000), false
	for name, p := range map[string]fdmeter.Process{"below it": below, "of another program": other} {
		f.Show(reading(lined(p)))
		if text := draw(f, 90, 20, unicodeTheme).Text(); strings.Contains(text, "no line at 1024") {
			t.Errorf("%s it is said too:\n%s", name, text)
		}
	}
}

func TestHiddenProcessesAreNotPassedOverInSilence(t *testing.T) {
	r := reading(process(10, "a", 5, 6))
	r.Snapshot.Scan = fdmeter.Scan{Listed: true, Read: 3, Hidden: true}
	f := &FDs{}
	f.Show(r)
	if text := draw(f, 90, 20, unicodeTheme).Text(); !strings.Contains(text, "processes of others ? (hidden)") {
		t.Errorf("nothing is said of them in\n%s", text)
	}
	if got := unseen(&fdmeter.Survey{Scan: r.Snapshot.Scan}); len(got) != 1 || !strings.Contains(got[0], "hidden from this user") {
		t.Errorf("got %q", got)
	}
	one := unseen(&fdmeter.Survey{Scan: fdmeter.Scan{Listed: true, Denied: 1}})
	if len(one) != 1 || !strings.Contains(one[0], "1 process was not looked at") {
		t.Errorf("got %q", one)
	}
}
