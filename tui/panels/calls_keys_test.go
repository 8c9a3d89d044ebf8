package panels

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
)

// crowdOf is a diary with many calls of the same height.
func crowdOf(n int) *diary {
	d := newDiary()
	for i := range n {
		d.run(cli("terminal", fmt.Sprintf("echo %d", i)), journal.End{Status: outcome.Complete, Summary: "output complete (2 bytes)", DurationMS: 5})
	}
	return d
}

func chosenTitle(p *Tools) string {
	r, ok := p.selected()
	if !ok {
		return ""
	}
	return r.Start.Title
}

func TestEveryListKeyOfToolsDoesWhatItSays(t *testing.T) {
	for keysPressed, want := range map[string]string{
		"j": "echo 49", "down": "echo 49", "ctrl+n": "echo 49", "j j": "echo 48", "j j k": "echo 49", "j j up": "echo 49", "j j ctrl+p": "echo 49",
		"j k": "", "k": "", "G": "echo 0", "end": "echo 0", "G j": "echo 0", "G home": "echo 49", "home": "echo 49",
		"j pgdown": "echo 41", "j ctrl+d": "echo 41", "j pgdown pgup": "echo 49", "j pgdown ctrl+u": "echo 49", "j pgup": "echo 49",
		"j esc": "", "j enter": "echo 49", "enter": "echo 49", "j j ctrl+o ctrl+o": "echo 48",
		"/ e c h o space 1 2 enter j": "echo 12", "/ e c h o space 1 2 down": "echo 12",
	} {
		p := toolsWith(crowdOf(50))
		draw(p, 80, 20, unicodeTheme) // a page is nine calls
		press(t, p, keysPressed)
		if got := chosenTitle(p); got != want {
			t.Errorf("%s selects %q, want %q", keysPressed, got, want)
		}
	}
	p := toolsWith(crowdOf(1))
	for _, name := range []string{"q", "tab", "x", "", "?", "."} {
		if _, ok := p.Key(name); ok {
			t.Errorf("%q is taken", name)
		}
	}
	if _, ok := p.Key("esc"); ok {
		t.Error("Esc is taken where there is nothing to leave")
	}
}

func TestFiltersTurnAndEscShowsAll(t *testing.T) {
	d := newDiary()
	samples(d)
	for keysPressed, want := range map[string]int{
		"": 11, "f": 6, "f f": 1, "f f f": 1, "f f f f": 11, "t": 3, "t t": 1, "t t t": 7, "t t t t": 11, "a": 4, "a a": 11,
		"f a": 3, "/ T E S T": 1, "/ 4 , 0 9 6": 1, "/ x y z": 0, "/ g o backspace": 4, "/ g o ctrl+u": 11, "/ g o esc": 11, "/ g o enter esc": 11, "f t a esc": 11,
		"/ g o backspace backspace backspace": 11,
	} {
		p := toolsWith(d)
		press(t, p, keysPressed)
		text := draw(p, 80, 30, unicodeTheme).Text()
		if p.view.Len() != want {
			t.Errorf("%q lists %d calls, want %d:\n%s", keysPressed, p.view.Len(), want, text)
		}
		if all := p.unfiltered(); all == strings.Contains(text, " of 11 calls") {
			t.Errorf("%q: the head does not say what is listed:\n%s", keysPressed, text)
		}
		if want == 0 && !strings.Contains(text, "no call passes the filter: Esc shows all") && !p.prompt.on {
			t.Errorf("%q:\n%s", keysPressed, text)
		}
	}
	p := toolsWith(d)
	if press(t, p, "/ 1 q tab"); !p.Typing() || p.filter.Text != "1q" {
		t.Errorf("typed %q", p.filter.Text)
	}
	if !p.Paste("a\nb") || p.filter.Text != "1qa" {
		t.Errorf("pasted: %q", p.filter.Text)
	}
	if press(t, p, "esc"); p.Typing() || p.Paste("x") {
		t.Error("a paste is taken where nothing is typed")
	}
}

func TestTheSelectionSticksThroughAFilter(t *testing.T) {
	d := newDiary()
	id := samples(d)
	p := toolsWith(d)
	selectCall(t, p, id["failed"])
	press(t, p, "f")
	if r, ok := p.selected(); !ok || r.Start.Call != id["failed"] {
		t.Errorf("%q is selected", r.Start.Title)
	}
	press(t, p, "f") // running
	if _, ok := p.selected(); ok {
		t.Error("a call that is not listed is selected")
	}
}

func TestNewCallsDoNotMoveTheListAndAreCounted(t *testing.T) {
	d := crowdOf(50)
	p := toolsWith(d)
	draw(p, 80, 20, unicodeTheme)
	press(t, p, "j j j")
	before := draw(p, 80, 20, unicodeTheme).Text()
	for i := range 3 {
		d.begin(cli("terminal", fmt.Sprintf("new %d", i)))
		p.Show(d.b, d.at)
	}
	after := draw(p, 80, 20, unicodeTheme).Text()
	if chosenTitle(p) != "echo 47" || !strings.Contains(after, "3 new above") {
		t.Errorf("got\n%s", after)
	}
	if a, b := strings.SplitN(before, "\n", 3)[2], strings.SplitN(after, "\n", 3)[2]; strings.SplitN(a, "Enter", 2)[0] != strings.SplitN(b, "Enter", 2)[0] {
		t.Errorf("the list moved:\n%s\n%s", before, after)
	}
	p.Wheel(-2) // they have one row each
	if text := draw(p, 80, 20, unicodeTheme).Text(); !strings.Contains(text, "1 new above") {
		t.Errorf("got\n%s", text)
	}
	press(t, p, "home")
	if text := draw(p, 80, 20, unicodeTheme).Text(); strings.Contains(text, "new above") || chosenTitle(p) != "new 2" {
		t.Errorf("got\n%s", text)
	}
	press(t, p, "k") // nothing selected: the newest is always seen
	d.begin(cli("terminal", "newest"))
	p.Show(d.b, d.at)
	if text := draw(p, 80, 20, unicodeTheme).Text(); strings.Contains(text, "new above") || !strings.Contains(strings.SplitN(text, "\n", 3)[1], "newest") {
		t.Errorf("got\n%s", text)
	}
}

func TestCallsThatWereLetGoLeaveTheSelectionOnANeighbour(t *testing.T) {
	d := &diary{b: wholeBook(20), at: start}
	for i := range 20 {
		d.begin(cli("terminal", fmt.Sprint(i)))
	}
	p := toolsWith(d)
	draw(p, 80, 20, unicodeTheme)
	press(t, p, "G")
	for i := range 20 {
		d.begin(cli("terminal", fmt.Sprint(20+i)))
	}
	p.Show(d.b, d.at)
	if chosenTitle(p) == "" || !strings.Contains(draw(p, 80, 20, unicodeTheme).Text(), "20 older let go") {
		t.Errorf("%q is selected", chosenTitle(p))
	}
}

func TestClicksAndTheWheelMoveTheList(t *testing.T) {
	p := toolsWith(crowdOf(50))
	draw(p, 80, 20, unicodeTheme)
	if _, ok := p.Click(3, 4); !ok || chosenTitle(p) != "echo 48" {
		t.Errorf("a click on the second card selects %q", chosenTitle(p))
	}
	if _, ok := p.Click(3, 0); ok {
		t.Error("a click on the head is taken")
	}
	p.Wheel(1000)
	if text := draw(p, 80, 20, unicodeTheme).Text(); !strings.Contains(text, "echo 0 ") || chosenTitle(p) != "echo 48" {
		t.Errorf("got\n%s", text)
	}
	p.Wheel(-1000)
	draw(p, 80, 20, unicodeTheme)
	if a, ok := p.Click(3, 4); !ok || p.open == nil || a == nil {
		t.Error("a click on the selected call does not open it")
	}
}

func TestListKeysAskTheWindow(t *testing.T) {
	d := newDiary()
	id := samples(d)
	p := toolsWith(d)
	if a := press(t, p, "g"); a != nil || p.note != "no call is selected" {
		t.Errorf("g without a selection: %#v, %q", a, p.note)
	}
	selectCall(t, p, id["ok"])
	if a := press(t, p, "g"); a != (GoToPaneID{2}) {
		t.Errorf("g asks for %#v", a)
	}
	if a := press(t, p, "c"); a != (CopyText{"go build ./...", "the command"}) {
		t.Errorf("c asks for %#v", a)
	}
	selectCall(t, p, id["unknown"])
	if a := press(t, p, "g"); a != nil || !strings.Contains(p.note, "no pane of this window") {
		t.Errorf("g of an agent's call: %#v, %q", a, p.note)
	}
	p.Window = 51
	selectCall(t, p, id["ok"])
	if a := press(t, p, "g"); a != nil {
		t.Errorf("g of another window's call: %#v", a)
	}
	selectCall(t, p, id["ok"])
	if a := press(t, p, "j"); a != (SeenCall{id["failed"]}) {
		t.Errorf("selecting a call that failed asks for %#v", a)
	}
}

// inDetail is the first call of a kind, opened, and drawn once.
func inDetail(t *testing.T, name string) *Tools {
	p := callViews(t)[name]
	draw(p, 80, 24, unicodeTheme)
	return p
}

func TestKeysOfAnOpenCall(t *testing.T) {
	p := inDetail(t, "failed")
	got := asks[CopyText](t, press(t, p, "y"))
	if got.What != "the output" || !strings.HasPrefix(got.Text, "ok  \texample.org") {
		t.Errorf("y copies %+v", got)
	}
	record := asks[CopyText](t, press(t, p, "Y"))
	var rec map[string]any
	if err := json.Unmarshal([]byte(record.Text), &rec); err != nil || rec["state"] != "failed" || record.What != "the record" {
		t.Errorf("Y copies %+v: %v", record, err)
	}
	if rec["start"].(map[string]any)["args"] == nil || rec["end"].(map[string]any)["result"] == nil {
		t.Errorf("the record is not whole: %v", rec)
	}
	if got := press(t, p, "c"); got != (CopyText{"go test ./...", "the command"}) {
		t.Errorf("c copies %+v", got)
	}
	if got := press(t, p, "g"); got != (GoToPaneID{2}) {
		t.Errorf("g asks for %#v", got)
	}
	if got := press(t, p, "o"); got != nil || p.open.note != "no file was kept of the output" {
		t.Errorf("o asks for %#v, and says %q", got, p.open.note)
	}
	press(t, p, "esc esc")
	if p.open != nil || chosenTitle(p) != "go test ./..." {
		t.Error("Esc does not go back to the list")
	}
	p = inDetail(t, "running")
	if got := press(t, p, "o"); got != (OpenFile{"/state/live/0193.raw"}) {
		t.Errorf("o asks for %#v", got)
	}
	if got := asks[CopyText](t, press(t, p, "y")); strings.Contains(got.Text, "\x1b") || !strings.Contains(got.Text, "\r") || !strings.Contains(got.What, "of the output") {
		t.Errorf("y copies %+v", got)
	}
}

func TestSectionsFold(t *testing.T) {
	p := inDetail(t, "failed")
	text := func() string { return draw(p, 80, 40, unicodeTheme).Text() }
	if !strings.Contains(text(), "▸ source") || strings.Contains(text(), "directory") {
		t.Errorf("got\n%s", text())
	}
	press(t, p, "} } } enter")
	for _, want := range []string{"directory  /home/somebody/src/app", "pane       2 of window 50", "started    20", "took       12.1s (12,100 ms)", "seen       honestty's command line"} {
		if !strings.Contains(text(), want) {
			t.Errorf("no %q in\n%s", want, text())
		}
	}
	press(t, p, "j j z a")
	if !strings.Contains(text(), "›") || strings.Contains(text(), "directory") || !strings.Contains(lineWith(t, text(), "source"), "›") {
		t.Errorf("za does not fold:\n%s", text())
	}
	press(t, p, "{ {")
	if !strings.Contains(lineWith(t, text(), "arguments"), "›") {
		t.Errorf("{ does not go to headings:\n%s", text())
	}
	x, y := 4, strings.Count(strings.SplitN(text(), "arguments", 2)[0], "\n")
	if _, ok := p.Click(x, y); !ok || !strings.Contains(text(), "▸ arguments  6 lines") {
		t.Errorf("a click on a heading does not fold:\n%s", text())
	}
}

func TestSearchInAnOpenCall(t *testing.T) {
	p := inDetail(t, "failed")
	press(t, p, "/ W I R E")
	if v := &p.open.text; !v.prompt.on || !strings.Contains(strings.ToLower(v.line(v.at.place).text), "wire") {
		t.Errorf("the cursor is at %q", p.open.text.line(p.open.text.at.place).text)
	}
	press(t, p, "enter")
	if text := draw(p, 80, 24, unicodeTheme).Text(); !strings.Contains(text, "n N ") || !strings.Contains(text, " found") {
		t.Errorf("got\n%s", text)
	}
	first := p.open.text.at
	press(t, p, "n")
	if p.open.text.at == first {
		t.Error("n does not go on")
	}
	press(t, p, "N")
	if p.open.text.at.place != first.place {
		t.Error("N does not go back")
	}
	press(t, p, "/ h o m e space f o l d e r enter") // its line is under evidence
	if text := draw(p, 80, 24, unicodeTheme).Text(); !strings.Contains(lineWith(t, text, "home folder"), "›") {
		t.Errorf("got\n%s", text)
	}
	press(t, p, "/ n o w h e r e enter")
	if text := draw(p, 80, 24, unicodeTheme).Text(); !strings.Contains(text, "not found: nowhere") {
		t.Errorf("got\n%s", text)
	}
	press(t, p, "esc")
	if p.open == nil || p.open.text.query != "" {
		t.Error("Esc does not leave the search first")
	}
}

func TestHintsAreKeysThatWork(t *testing.T) {
	for name := range callViews(t) {
		p := callViews(t)[name]
		if p.book == nil || p.Typing() {
			continue
		}
		hints := p.hints()
		if p.open != nil {
			hints = p.open.hints(p.paneOf() != 0)
		}
		for _, h := range hints {
			for key := range strings.FieldsSeq(h.name) {
				p := callViews(t)[name]
				key = strings.NewReplacer("Enter", "enter", "Esc", "esc").Replace(key)
				_, ok := p.Key(key)
				note := p.note
				if p.open != nil {
					note += p.open.note
				}
				if !ok || note != "" {
					t.Errorf("%s: %s is shown, taken %v, and says %q", name, key, ok, note)
				}
			}
		}
	}
	p := toolsWith(crowdOf(3))
	s := draw(p, 80, 10, unicodeTheme)
	if p.Draw(s, 0, 0, 80, 10, false, unicodeTheme); strings.Contains(s.Text(), "Enter") {
		t.Errorf("keys are shown that go elsewhere:\n%s", s.Text())
	}
}

func TestLateAnswersTakeNothing(t *testing.T) {
	d := newDiary()
	id := samples(d)
	p := toolsWith(d)
	p.TakeCall(id["ok"], journal.Start{}, nil, nil)
	p.TakeOutput(id["ok"], 0, []byte("x"), 1, nil)
	opened(t, p, id["failed"], terminalArgs, terminalResult)
	p.TakeCall(id["ok"], journal.Start{Title: "other"}, nil, nil)
	p.TakeOutput(id["failed"], 0, []byte("not asked for"), 13, nil)
	if text := draw(p, 90, 40, unicodeTheme).Text(); strings.Contains(text, "other") || strings.Contains(text, "not asked") {
		t.Errorf("got\n%s", text)
	}
}

func TestProgressAndElapsedTimeAreShown(t *testing.T) {
	d := newDiary()
	call := d.begin(cli("text_to_speech", "Meeting"))
	p := toolsWith(d)
	row := func() string {
		return strings.Join(strings.SplitN(draw(p, 60, 8, unicodeTheme).Text(), "\n", 4)[1:3], "\n")
	}
	if got := row(); !strings.Contains(got, "1m12s running") {
		t.Errorf("got %q", got)
	}
	for _, c := range []struct {
		p    journal.Progress
		want string
	}{
		{journal.Progress{Done: 3}, "   3"},
		{journal.Progress{Done: 1500, What: "bytes"}, "   1,500 bytes"},
		{journal.Progress{Done: 5, Total: 10, What: "parts"}, "██████████▁▁▁▁▁▁▁▁▁▁ 5 of 10 parts"},
		{journal.Progress{Done: 11, Total: 10}, "████████████████████ 11 of 10"},
	} {
		c.p.Call = call
		d.event(journal.Event{Progress: &c.p})
		p.Show(d.b, d.at.Add(time.Second))
		if got := row(); !strings.Contains(got, c.want) || !strings.Contains(got, "1.00s") {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
