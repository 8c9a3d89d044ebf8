package panels

import (
	"fmt"
	"strings"
	"testing"

	"github.com/honestty/honestty/tools/fdmeter"
)

// crowd is a reading with many processes of about the same size.
func crowd(n int) Reading {
	var more []fdmeter.Process
	for i := range n {
		more = append(more, process(6000+i, fmt.Sprintf("worker %d", i), 40, 60))
	}
	return reading(more...)
}

func TestEveryKeyDoesWhatItSays(t *testing.T) {
	for keysPressed, want := range map[string]int{
		"j": 4711, "down": 4711, "ctrl+n": 4711, "j j": 4720, "j j k": 4711, "j j up": 4711, "j j ctrl+p": 4711,
		"j k": 0, "k": 0, "up": 0, "G": 4802, "end": 4802, "G j": 4802, "G home": 4711, "j home": 4711,
		"j pgdown": 6014, "pgdown": 6013, "j ctrl+d": 6014, "j pgdown pgup": 4711, "j pgdown ctrl+u": 4711, "j pgup": 4711,
		"j esc": 0,
	} {
		f := &FDs{}
		f.Show(crowd(40))
		draw(f, 80, 26, unicodeTheme) // a page is what is seen
		keys(t, f, keysPressed)
		got := 0
		if f.picked {
			got = f.chosen.PID
		}
		if got != want {
			t.Errorf("%s selects %d, want %d", keysPressed, got, want)
		}
	}
	f := panel()
	for _, name := range []string{"x", "ctrl+c", "tab", "", "?"} {
		if _, ok := f.Key(name); ok {
			t.Errorf("%q is taken", name)
		}
	}
	if _, ok := f.Key("esc"); ok {
		t.Error("Esc is taken where there is nothing to leave")
	}
	if _, ok := (&FDs{}).Key("j"); !ok {
		t.Error("j is not taken while nothing is counted")
	}
}

func TestKeysAskForWhatHasToBeRead(t *testing.T) {
	f := panel()
	for key, want := range map[string]Action{
		"enter": ReadTypes{4600, Look}, "s": ReadTypes{4600, Keep}, "p": ReadHolders{4600, 1, true},
	} {
		if got := keys(t, f, key); got != want {
			t.Errorf("%s with nothing selected asks for %+v", key, got)
		}
	}
	if got := keys(t, f, "d"); got != nil || !strings.Contains(f.note, "no snapshot of honestty yet: s takes one") {
		t.Errorf("d without a snapshot: %+v, %q", got, f.note)
	}
	keys(t, f, "j")
	answered(t, f, "s", breakdown(4711, 2, 1, start))
	if !strings.Contains(f.note, "snapshot kept: 3 descriptors") {
		t.Errorf("the note is %q", f.note)
	}
	if got := keys(t, f, "d"); got != Action(ReadTypes{4711, Compare}) {
		t.Errorf("d asks for %+v", got)
	}
	if got := keys(t, &FDs{}, "s"); got != nil {
		t.Errorf("with nothing counted s asks for %+v", got)
	}
}

func TestGGoesToThePane(t *testing.T) {
	f := panel()
	if got := keys(t, f, "g"); got != nil || !strings.Contains(f.note, "belongs to no pane") {
		t.Errorf("of this window: %+v, %q", got, f.note)
	}
	if strings.Contains(draw(f, 80, 24, unicodeTheme).Text(), "g goes") {
		t.Error("a key is shown that does nothing")
	}
	if got := keys(t, f, "j g"); got != (GoToPane{4720}) {
		t.Errorf("of a child of the shell: %+v", got)
	}
	if !strings.Contains(draw(f, 80, 24, unicodeTheme).Text(), "g goes to its pane") {
		t.Error("the key is not shown")
	}
}

func TestHintsAreShownWithTheFocusOnly(t *testing.T) {
	s := draw(panel(), 80, 24, unicodeTheme)
	if !strings.Contains(s.Text(), "s snapshot · Enter types · o sorts by count · p problems") {
		t.Errorf("got\n%s", s.Text())
	}
	panel().Draw(s, 0, 0, 80, 24, false, unicodeTheme)
	if strings.Contains(s.Text(), "snapshot") {
		t.Errorf("keys are shown that go elsewhere:\n%s", s.Text())
	}
}

func TestTypesOpenWithTheirAnswerAndEscLeaves(t *testing.T) {
	f := panel()
	keys(t, f, "j")
	answered(t, f, "enter", breakdown(4711, 3, 2, start, "/var/log/x"))
	text := draw(f, 80, 24, unicodeTheme).Text()
	if !strings.Contains(text, "3  socket") || !strings.Contains(text, "/var/log/x") || strings.Contains(text, "postgres") {
		t.Errorf("got\n%s", text)
	}
	if _, ok := f.Key("esc"); !ok || f.view != viewTable || !f.picked {
		t.Error("Esc does not go back to the table")
	}
	if text = draw(f, 90, 24, unicodeTheme).Text(); !strings.Contains(text, "sockets 3  pipes 2  files 1") {
		t.Errorf("the header does not keep the types:\n%s", text)
	}
	req, _ := keys(t, f, "enter").(ReadTypes)
	keys(t, f, "esc") // the answer comes too late
	f.TakeTypes(req, breakdown(4711, 3, 2, start))
	if f.view != viewTable {
		t.Error("a late answer takes the view")
	}
	req, _ = keys(t, f, "enter").(ReadTypes)
	keys(t, f, "j") // and so it does for another process
	f.TakeTypes(req, breakdown(4711, 3, 2, start))
	if f.view != viewTable || f.chosen.PID != 4720 {
		t.Error("an answer for another process takes the view")
	}
	b := fdmeter.Breakdown{PID: 4720, Birth: 4720 * 7, Listed: fdmeter.Unknown(fdmeter.Denied)}
	answered(t, f, "enter", b)
	if text = draw(f, 80, 24, unicodeTheme).Text(); !strings.Contains(text, "? unknown: not permitted") {
		t.Errorf("got\n%s", text)
	}
}

func TestTheDiffSaysWhatOpenedClosedAndSurvived(t *testing.T) {
	f := panel()
	keys(t, f, "j")
	answered(t, f, "s", breakdown(4711, 3, 2, start, "/a"))
	answered(t, f, "d", breakdown(4711, 3, 2, start.Add(5), "/b", "/b", "/c"))
	text := draw(f, 80, 30, unicodeTheme).Text()
	for _, want := range []string{"3  opened", "2  file       /b", "1  closed", "1  file       /a", "5  survived", "3  socket"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	answered(t, f, "enter", fdmeter.Breakdown{PID: 4711, Listed: fdmeter.Unknown(fdmeter.Gone)})
	if text = draw(f, 80, 24, unicodeTheme).Text(); !strings.Contains(text, "? unknown: process is gone") || strings.Contains(text, "0  opened") {
		t.Errorf("got\n%s", text)
	}
	other := breakdown(4711, 1, 0, start)
	other.Birth = 1
	answered(t, f, "enter", other)
	if text = draw(f, 80, 24, unicodeTheme).Text(); !strings.Contains(text, "belongs to another process now") {
		t.Errorf("got\n%s", text)
	}
	cut := breakdown(4711, 3, 2, start, "/a")
	cut.NotInspected = 9
	answered(t, f, "enter", cut)
	if text = draw(f, 80, 24, unicodeTheme).Text(); !strings.Contains(text, "! partial: not every descriptor") {
		t.Errorf("got\n%s", text)
	}
}

func TestADetailKeepsTheTimeItWasReadAt(t *testing.T) {
	f := panel()
	keys(t, f, "j")
	answered(t, f, "s", breakdown(4711, 1, 0, start))
	answered(t, f, "d", breakdown(4711, 2, 0, start.Add(30*1e9)))
	f.TakeTypes(ReadTypes{4711, Keep}, breakdown(4711, 1, 0, start.Add(60*1e9)))
	f.TakeTypes(ReadTypes{4720, Look}, breakdown(4720, 1, 0, start.Add(60*1e9)))
	text := draw(f, 80, 24, unicodeTheme).Text()
	if !strings.Contains(text, "since the snapshot 1m ago   read 30s ago") || !strings.Contains(text, "1  opened") {
		t.Errorf("got\n%s", text)
	}
	keys(t, f, "esc")
	answered(t, f, "enter", breakdown(4711, 5, 0, start))
	answered(t, f, "s", breakdown(4711, 6, 0, start.Add(60*1e9)))
	if text = draw(f, 80, 24, unicodeTheme).Text(); !strings.Contains(text, "types now") || !strings.Contains(text, "6  socket") {
		t.Errorf("got\n%s", text)
	}
	other := breakdown(4711, 7, 0, start)
	other.Birth = 1
	answered(t, f, "r", other)
	if text = draw(f, 80, 24, unicodeTheme).Text(); !strings.Contains(text, "! the pid belongs to another process now") {
		t.Errorf("got\n%s", text)
	}
}

func TestAFailedSnapshotLeavesTheOldOne(t *testing.T) {
	f := panel()
	answered(t, f, "s", breakdown(4600, 3, 2, start))
	answered(t, f, "s", fdmeter.Breakdown{PID: 4600, Listed: fdmeter.Unknown(fdmeter.NoDescriptors)})
	if b, ok := f.snapshot(4600); !ok || len(b.FDs) != 5 || !strings.Contains(f.note, "no snapshot: no free descriptor") {
		t.Errorf("kept %v %v, note %q", ok, b.Listed, f.note)
	}
}

func TestTheOldestOfTooManySnapshotsIsLetGoAndNamed(t *testing.T) {
	f := panel()
	for pid := range maxKept + 1 {
		f.TakeTypes(ReadTypes{PID: 100 + pid, For: Keep}, breakdown(100+pid, 1, 0, start))
	}
	if _, ok := f.snapshot(100); ok || len(f.kept) != maxKept || !strings.Contains(f.note, "that of pid 100 let go") {
		t.Errorf("%d kept, note %q", len(f.kept), f.note)
	}
}

func TestTheSelectionIsAProcessAndNotAPlace(t *testing.T) {
	f := panel()
	keys(t, f, "j j j")
	pid := f.chosen.PID
	f.Show(crowd(30))
	if !f.picked || f.chosen.PID != pid || f.rows[f.index(f.chosen.id())].PID != pid {
		t.Errorf("selected %d, was %d", f.chosen.PID, pid)
	}
	r := crowd(30)
	reused := process(pid, "another", 1, 2)
	reused.Birth = 1
	for i := range r.Snapshot.Processes {
		if r.Snapshot.Processes[i].PID == pid {
			r.Snapshot.Processes[i] = reused
		}
	}
	f.Show(r)
	if f.chosen.Birth == 1 && !strings.Contains(f.note, "has ended") {
		t.Error("a reused pid is taken for the same process")
	}
	if !strings.Contains(f.note, "honestty has ended") {
		t.Errorf("the note is %q", f.note)
	}
}

func TestAnEndedProcessKeepsItsDetail(t *testing.T) {
	f := panel()
	keys(t, f, "j")
	answered(t, f, "enter", breakdown(4711, 3, 2, start, "/var/log/x"))
	r := reading()
	r.Snapshot.Processes = append(r.Snapshot.Processes[:1:1], r.Snapshot.Processes[2:]...)
	f.Show(r)
	text := draw(f, 80, 24, unicodeTheme).Text()
	if !strings.Contains(text, "has ended: ") || !strings.Contains(text, "/var/log/x") {
		t.Errorf("got\n%s", text)
	}
	if got := keys(t, f, "r"); got != nil || !strings.Contains(f.note, "has ended") {
		t.Errorf("Enter asks for %+v, note %q", got, f.note)
	}
	keys(t, f, "esc")
	if f.view != viewTable || f.gone || f.chosen.PID == 4711 || !strings.Contains(f.note, "node has ended") {
		t.Errorf("after Esc: %+v, note %q", f.chosen.PID, f.note)
	}
	f.Show(Reading{})
	if f.picked {
		t.Error("an empty table has a selection")
	}
	draw(f, 80, 24, unicodeTheme)
}

func TestAScrolledTableStaysWhereItIs(t *testing.T) {
	f := &FDs{}
	f.Show(crowd(40))
	draw(f, 80, 24, unicodeTheme)
	f.Wheel(10)
	before := rowsOf(draw(f, 80, 24, unicodeTheme).Text())
	r := crowd(40)
	r.Snapshot.Processes = append(r.Snapshot.Processes, process(5000, "new one", 700, 700), process(5001, "new two", 600, 600), process(9000, "below", 0, 2))
	f.Show(r)
	text := draw(f, 80, 24, unicodeTheme).Text()
	if after := rowsOf(text); after != before {
		t.Errorf("the rows moved:\n%s\nbefore\n%s", after, before)
	}
	if !strings.Contains(text, "2 new above") {
		t.Errorf("new rows are not told:\n%s", text)
	}
	f.Show(r)
	if text = draw(f, 80, 24, unicodeTheme).Text(); !strings.Contains(text, "2 new above") {
		t.Errorf("they are forgotten unseen:\n%s", text)
	}
	f.Wheel(-50)
	draw(f, 80, 24, unicodeTheme)
	f.Wheel(10)
	if text = draw(f, 80, 24, unicodeTheme).Text(); strings.Contains(text, "new above") {
		t.Errorf("they were seen:\n%s", text)
	}
	f = &FDs{}
	f.Show(crowd(40))
	f.Show(r)
	if text = draw(f, 80, 24, unicodeTheme).Text(); !strings.Contains(text, "new one") {
		t.Errorf("a table that is not scrolled does not show the nearest:\n%s", text)
	}
}

// rowsOf returns the worker rows of a frame.
func rowsOf(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, "worker") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "")
}

func TestClicksSelectAndTheWheelScrolls(t *testing.T) {
	f := panel()
	s := draw(f, 80, 24, unicodeTheme)
	for y, line := range strings.Split(s.Text(), "\n") {
		_, ok := f.Click(10, y)
		inTable := f.list.has(10, y) && y-f.list.y < len(f.rows)
		if ok != inTable {
			t.Errorf("a click on %q: %v", line, ok)
		}
	}
	if !f.picked || f.chosen.PID != 4802 {
		t.Errorf("selected %d", f.chosen.PID)
	}
	of := breakdown(4802, 1, 0, start, strings.Fields("/1 /2 /3 /4 /5 /6 /7 /8 /9")...)
	of.Birth = 9
	answered(t, f, "enter", of)
	keys(t, f, "enter") // the files
	draw(f, 80, 10, unicodeTheme)
	f.Wheel(100)
	if text := draw(f, 80, 10, unicodeTheme).Text(); !strings.Contains(text, "/9") || f.here().top == 0 {
		t.Errorf("the detail does not scroll:\n%s", text)
	}
	top := f.here().top
	if _, ok := f.Click(10, f.list.y); !ok || f.here().at != top || f.chosen.PID != 4802 {
		t.Errorf("a click chooses row %d, want %d, of %d", f.here().at, top, f.chosen.PID)
	}
	keys(t, f, "home")
	if f.here().top != 0 || f.here().at != 0 {
		t.Errorf("home leaves the detail at %d", f.here().top)
	}
}
