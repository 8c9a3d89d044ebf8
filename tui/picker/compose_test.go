package picker

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
	"github.com/honestty/honestty/vt"
)

func form() *Compose {
	return &Compose{Folder: "/home/somebody/out", Targets: []ComposeTarget{
		{Target: "telegram:-1001234567890", Name: "home"},
		{Target: "slack:C0123456789", Name: "#ops"},
		{Target: "file", Name: "/home/somebody/outbox"},
		{Target: "discord", Needs: "set DISCORD_BOT_TOKEN"},
	}}
}

// write types into the field with the focus.
func write(d *Compose, text string) {
	for _, r := range text {
		name, typed := string(r), string(r)
		switch r {
		case ' ':
			name = "space"
		case '\n':
			name, typed = "enter", "\r"
		}
		d.Key(name, typed)
	}
}

// strike presses keys that type nothing and returns the last Result.
func strike(d *Compose, names string) (r Result) {
	for name := range strings.FieldsSeq(names) {
		r = d.Key(name, "")
	}
	return r
}

// written is a form with everything filled in.
func written() *Compose {
	d := form()
	write(d, "telegram:42")
	strike(d, "tab")
	write(d, "Report of May")
	strike(d, "tab")
	write(d, "Here it is.\nThe figures are in the table, 漢字 too, and this line is long enough to be wrapped in any form.")
	strike(d, "tab")
	write(d, "/home/somebody/out/report.pdf\n")
	write(d, "/data/chart.png\n")
	return d
}

const dryPlan = `{"success":false,"error":"1 of 2 attachments would be dropped","warnings":["the text has a directive"],"plan":{"target":"telegram:42","texts":["a","b"],"attachments":[
{"kind":"document","requested":"/home/somebody/out/report.pdf","status":"sent"},
{"kind":"photo","requested":"/data/chart.png","status":"dropped","reason":"not found on this host","rule":""},
{"kind":"document","requested":"/x","status":"beamed"}]}}`

// tried is a form with the answer of a dry run.
func tried(t *testing.T) *Compose {
	t.Helper()
	d := written()
	strike(d, "tab enter")
	want := d.Wants()
	if want.DryRun == "" {
		t.Fatal("no dry run is asked for")
	}
	d.TakePlan(want.DryRun, json.RawMessage(dryPlan), nil)
	return d
}

func someFolder() []FolderEntry {
	return []FolderEntry{{Name: "b.txt", Size: "812 B"}, {Name: "sub", Folder: true}, {Name: "a.pdf", Size: "4.9 KB"}, {Name: "evil\x1b[2J\u202e.txt"}}
}

// looking is a form in which a folder is looked at.
func looking(t *testing.T) *Compose {
	t.Helper()
	d := form()
	strike(d, "tab tab tab enter")
	want := d.Wants()
	if want.Folder != "/home/somebody/out" {
		t.Fatalf("it wants %+v", want)
	}
	d.TakeFolder(want.Folder, someFolder(), nil)
	return d
}

func composeViews(t *testing.T) map[string]*Compose {
	offered, lacking, leaving := form(), form(), written()
	write(offered, "e")
	strike(offered, "down")
	strike(lacking, "tab tab tab tab tab enter")
	strike(leaving, "tab tab esc")
	return map[string]*Compose{
		"empty": form(), "offered": offered, "lacking": lacking, "written": written(), "tried": tried(t), "leaving": leaving, "looking": looking(t),
	}
}

func TestTheFormIsAsDrawn(t *testing.T) {
	for name, d := range composeViews(t) {
		for _, size := range [][2]int{{30, 12}, {48, 20}, {80, 24}, {120, 40}} {
			for suffix, th := range map[string]theme.Theme{"": unicodeTheme, "-ascii": asciiTheme, "-plain": plainTheme} {
				golden(t, fmt.Sprintf("compose-%s-%dx%d%s", name, size[0], size[1], suffix), draw(d, size[0], size[1], th).Text())
			}
		}
	}
}

func TestTheFormStaysInItsRectangle(t *testing.T) {
	for name, d := range composeViews(t) {
		for w := 0; w < 120; w += 1 + w/12 {
			for _, h := range []int{0, 1, 2, 3, 4, 5, 8, 13, 17} {
				s := screen.New(126, 20, screen.Caps{UTF8: true})
				for y := range 20 {
					s.SetText(0, y, 126, strings.Repeat("#", 126), vt.Style{})
				}
				d.Draw(s, 3, 2, w, h, unicodeTheme)
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

// sent is what a Result asks to be sent.
func sent(t *testing.T, r Result) composeRequest {
	t.Helper()
	if r.State != Chosen || r.ID != ComposeSend {
		t.Fatalf("got %+v", r)
	}
	var req composeRequest
	if err := json.Unmarshal([]byte(r.Text), &req); err != nil {
		t.Fatal(err)
	}
	return req
}

func TestOnlyThePressedSendSends(t *testing.T) {
	for range 2 {
		d := written()
		for _, keys := range []string{"enter", "ctrl+m", "tab", "enter", "tab"} {
			if r := strike(d, keys); r.State != Open {
				t.Fatalf("%s: %+v", keys, r)
			}
			if d.files != nil {
				strike(d, "esc")
			}
		}
	}
	d := written()
	strike(d, "tab tab")
	req := sent(t, strike(d, "enter"))
	if req.Target != "telegram:42" || req.Subject != "Report of May" || !strings.HasPrefix(req.Message, "Here it is.\nThe figures") || req.DryRun ||
		!slices.Equal(req.Attachments, []string{"/home/somebody/out/report.pdf", "/data/chart.png"}) {
		t.Errorf("got %+v", req)
	}
	d = written()
	s := draw(d, 80, 24, unicodeTheme)
	x, y := find(t, s, "[ Send ]")
	if req := sent(t, d.Click(x+2, y)); req.Target != "telegram:42" {
		t.Errorf("a click sends %+v", req)
	}
}

func TestADryRunSendsNothingAndIsShown(t *testing.T) {
	d := written()
	if r := strike(d, "tab enter"); r.State != Open {
		t.Fatalf("got %+v", r)
	}
	want := d.Wants()
	var req composeRequest
	if err := json.Unmarshal([]byte(want.DryRun), &req); err != nil || !req.DryRun {
		t.Fatalf("%v: %+v", err, req)
	}
	if again := d.Wants(); again != (ComposeWant{}) {
		t.Errorf("it wants it twice: %+v", again)
	}
	d.TakePlan("another", json.RawMessage(dryPlan), nil)
	if d.plan != nil {
		t.Error("the plan of another message is taken")
	}
	d.TakePlan(want.DryRun, json.RawMessage(dryPlan), nil)
	text := draw(d, 100, 30, unicodeTheme).Text()
	bad, good := strings.Index(text, "✗ would not go: /data/chart.png: not found on this host"), strings.Index(text, "✓ would go: /home/somebody/out/report.pdf")
	if bad < 0 || good < bad || !strings.Contains(text, "? unknown: /x") {
		t.Errorf("got\n%s", text)
	}
	strike(d, "shift+tab shift+tab")
	write(d, "!")
	if text = draw(d, 100, 30, unicodeTheme).Text(); strings.Contains(text, "would go:") || !strings.Contains(text, "changed since the dry run") {
		t.Errorf("the plan of what was written before still stands:\n%s", text)
	}
	for result, want := range map[string]string{
		`{"plan":{}}`: "unknown: the plan names nothing", `{"error":"no such platform"}`: "dry run: no such platform", `nonsense`: "its result cannot be read",
		`{"success":true}`: "its result has no plan",
	} {
		d := written()
		strike(d, "tab enter")
		d.TakePlan(d.Wants().DryRun, json.RawMessage(result), nil)
		if text := draw(d, 100, 30, unicodeTheme).Text(); !strings.Contains(text, want) || strings.Contains(text, "would go:") {
			t.Errorf("%s: no %q in\n%s", result, want, text)
		}
	}
	d = written()
	strike(d, "tab enter")
	d.TakePlan(d.Wants().DryRun, nil, errors.New("the tool is gone"))
	if text := draw(d, 100, 30, unicodeTheme).Text(); !strings.Contains(text, "dry run: the tool is gone") {
		t.Errorf("got\n%s", text)
	}
}

func TestALongPlanIsReadToItsEnd(t *testing.T) {
	d := tried(t)
	seen := ""
	for range 6 {
		text := draw(d, 30, 12, unicodeTheme).Text()
		if !strings.Contains(text, "PgDn reads on") {
			t.Fatalf("nothing says that there is more:\n%s", text)
		}
		seen += text
		strike(d, "pgdown")
	}
	for _, want := range []string{"found on this host", "? unknown: /x", "directive", "would go:", "go as 2"} {
		if !strings.Contains(seen, want) {
			t.Errorf("%q is never shown:\n%s", want, seen)
		}
	}
	strike(d, "pgup pgup pgup pgup")
	if text := draw(d, 30, 12, unicodeTheme).Text(); !strings.Contains(text, "would not go") {
		t.Errorf("PgUp does not go back:\n%s", text)
	}
}

func TestWhatIsMissingIsSaidAndGoneTo(t *testing.T) {
	d := form()
	strike(d, "shift+tab shift+tab enter")
	if d.focus != fieldTo || !strings.Contains(d.note, "target is missing") {
		t.Errorf("focus %d, note %q", d.focus, d.note)
	}
	write(d, "file")
	strike(d, "shift+tab shift+tab enter")
	if d.focus != fieldText || !strings.Contains(d.note, "nothing to send") {
		t.Errorf("focus %d, note %q", d.focus, d.note)
	}
	write(d, "x")
	strike(d, "tab")
	write(d, "/half/typed")
	strike(d, "tab tab enter")
	if d.focus != fieldFiles || !strings.Contains(d.note, "not attached yet") {
		t.Errorf("focus %d, note %q", d.focus, d.note)
	}
}

func TestTargetsAreOfferedAndTaken(t *testing.T) {
	d := form()
	write(d, "ops")
	strike(d, "down enter")
	if d.To.Text() != "slack:C0123456789" || d.focus != fieldSubject {
		t.Errorf("to %q, focus %d", d.To.Text(), d.focus)
	}
	d = form()
	strike(d, "down down down down enter")
	if d.To.Text() != "" || d.note != "discord: set DISCORD_BOT_TOKEN" {
		t.Errorf("to %q, note %q", d.To.Text(), d.note)
	}
	d = form()
	s := draw(d, 80, 24, unicodeTheme)
	x, y := find(t, s, "file  /home")
	d.Click(x, y)
	if d.To.Text() != "file" {
		t.Errorf("a click takes %q", d.To.Text())
	}
	write(d, "matrix:#room:example.org") // what is not offered stands as it is typed
	if d.To.Text() != "file" {
		t.Errorf("to is %q", d.To.Text())
	}
}

func TestFilesComeFromAFolderAndGo(t *testing.T) {
	d := looking(t)
	text := draw(d, 80, 24, unicodeTheme).Text()
	if strings.Index(text, "sub/") > strings.Index(text, "a.pdf") || strings.ContainsAny(text, "\x1b\u202e") {
		t.Errorf("got\n%s", text)
	}
	d.Key("enter", "") // the first is the folder
	if want := d.Wants(); want.Folder != "/home/somebody/out/sub" {
		t.Errorf("it wants %+v", want)
	}
	d.TakeFolder("/home/somebody/out/sub", nil, nil)
	d.Key("enter", "")
	if want := d.Wants(); want.Folder != "/home/somebody/out" {
		t.Errorf("it wants %+v", want)
	}
	d.TakeFolder("/home/somebody/out", someFolder(), nil)
	write(d, "pdf")
	d.Key("enter", "")
	if !slices.Equal(d.Files, []string{"/home/somebody/out/a.pdf"}) || d.files != nil {
		t.Errorf("attached %q", d.Files)
	}
	write(d, "/srv/b.bin\n")
	write(d, "/srv/b.bin\n")
	if len(d.Files) != 2 || d.note != "It is attached already." {
		t.Errorf("attached %q, note %q", d.Files, d.note)
	}
	strike(d, "up up delete")
	if !slices.Equal(d.Files, []string{"/srv/b.bin"}) {
		t.Errorf("left %q", d.Files)
	}
	d.path = Line{}
	strike(d, "down enter")
	d.TakeFolder(d.Wants().Folder, nil, errors.New("permission denied"))
	if !strings.Contains(d.note, "cannot be read: permission denied") {
		t.Errorf("note %q", d.note)
	}
	d = &Compose{}
	strike(d, "tab tab tab enter")
	if d.Wants() != (ComposeWant{}) || !strings.Contains(d.note, "type the path") {
		t.Errorf("without a folder: %q", d.note)
	}
}

func TestATypedPathIsMeantFromTheFolderOfTheForm(t *testing.T) {
	d := form()
	d.focus = fieldFiles
	for _, typed := range []string{"report.pdf\n", "../up.pdf\n", "~/home.pdf\n", "/srv/whole.pdf\n"} {
		write(d, typed)
	}
	want := []string{"/home/somebody/out/report.pdf", "/home/somebody/up.pdf", "~/home.pdf", "/srv/whole.pdf"}
	if !slices.Equal(d.Files, want) {
		t.Errorf("attached: %q", d.Files)
	}
	d.attach("/srv/a\xffb")
	if !slices.Equal(d.Files, want) || !strings.Contains(d.note, "UTF-8") {
		t.Errorf("a name that JSON cannot hold: %q, says %q", d.Files, d.note)
	}
}

func TestWhatIsWrittenIsNotLostByOneKey(t *testing.T) {
	d := written()
	if r := strike(d, "esc"); r.State != Open || !strings.Contains(d.note, "Once more") {
		t.Errorf("got %+v, note %q", r, d.note)
	}
	strike(d, "tab")
	if r := strike(d, "esc"); r.State != Open {
		t.Errorf("Esc after another key: %+v", r)
	}
	if r := strike(d, "esc"); r.State != Cancelled {
		t.Errorf("the second Esc: %+v", r)
	}
	d = written()
	strike(d, "tab tab tab")
	if r := strike(d, "enter"); r.State != Open {
		t.Errorf("Cancel: %+v", r)
	}
	if r := strike(d, "enter"); r.State != Cancelled {
		t.Errorf("Cancel again: %+v", r)
	}
	if r := strike(form(), "esc"); r.State != Cancelled {
		t.Errorf("Esc on an empty form: %+v", r)
	}
}

func TestATextTakesPastesAndMovesByRows(t *testing.T) {
	d := form()
	strike(d, "tab tab")
	d.Paste("one\r\ntwo\tx\n\x1b[31mthree\u202e\n")
	if got := d.Text.String(); got != "one\ntwo    x\n[31mthree\n" || d.note != "Characters that cannot be seen were left out." {
		t.Errorf("got %q, note %q", got, d.note)
	}
	var x Text
	x.w, x.h = 5, 3
	x.Insert("abcdefg\nhi")
	for _, c := range []struct {
		key string
		at  int
	}{
		{"up", 7}, {"up", 2}, {"up", 2}, {"end", 4}, {"right", 5}, {"home", 5}, {"down", 8}, {"ctrl+end", 10}, {"ctrl+home", 0}, {"pgdown", 8},
	} {
		if x.Key(c.key, ""); x.edit.at != c.at {
			t.Errorf("after %s the cursor is at %d, want %d", c.key, x.edit.at, c.at)
		}
	}
	x.Key("ctrl+k", "")
	x.Key("backspace", "")
	x.Key("漢", "漢")
	if x.String() != "abcdefg漢" {
		t.Errorf("got %q", x.String())
	}
	x.Insert(strings.Repeat("é", maxText))
	if len(x.String()) > maxText || !strings.Contains(x.Note(), "end was left out") || strings.Contains(x.String(), "\uFFFD") {
		t.Errorf("%d bytes, note %q", len(x.String()), x.Note())
	}
}

func TestTheCursorOfTheTextIsWhereTheNextCharacterGoes(t *testing.T) {
	for _, size := range [][2]int{{30, 12}, {48, 20}, {80, 24}} {
		d := form()
		strike(d, "tab tab")
		for i := range 40 {
			write(d, fmt.Sprintf("word%d漢 ", i))
			s := draw(d, size[0], size[1], unicodeTheme)
			x, y, visible := cursor(s)
			if !visible || !d.textAt.has(x, y) {
				t.Fatalf("%v: the cursor is at %d,%d visible %v, the text is in %+v", size, x, y, visible, d.textAt)
			}
		}
		d.Click(d.textAt.x, d.textAt.y)
		if x, y, _ := cursor(draw(d, size[0], size[1], unicodeTheme)); x != d.textAt.x || y != d.textAt.y {
			t.Errorf("%v: after a click the cursor is at %d,%d", size, x, y)
		}
	}
}

func TestEveryHintOfTheFormWorks(t *testing.T) {
	for name := range composeViews(t) {
		if name == "looking" {
			continue
		}
		for steps := range int(numFields) {
			build := func() *Compose {
				d := composeViews(t)[name]
				for range steps {
					d.move(1)
				}
				draw(d, 80, 24, unicodeTheme)
				return d
			}
			for i := range build().targets {
				d := build()
				before := fmt.Sprintf("%+v", *d)
				r := d.Click(d.targets[i].x, d.targets[i].y)
				if after := fmt.Sprintf("%+v", *d); after == before && r.State == Open && d.want == (ComposeWant{}) {
					t.Errorf("%s, field %d: the hint %q does nothing", name, d.focus, d.targets[i].name)
				}
			}
		}
	}
}
