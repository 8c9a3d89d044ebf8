package panels

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
	"github.com/honestty/honestty/vt"
)

// wholeBook is a book that has all calls of its journal.
func wholeBook(limit int) *journal.Book {
	b := journal.NewBook(limit)
	b.AddOlder(nil, false)
	return b
}

// callID is the id of a call in tests. It sorts by number.
func callID(n int) string { return fmt.Sprintf("0193f2a0-0000-7000-8000-%012d", n) }

// A diary adds events to a book.
type diary struct {
	b   *journal.Book
	seq int64
	at  time.Time
}

func newDiary() *diary { return &diary{b: wholeBook(0), at: start} }

func (d *diary) event(e journal.Event) {
	d.seq++
	e.Seq, e.At = d.seq, d.at
	d.b.Add([]journal.Event{e})
}

// begin starts a call of this process and returns its id.
func (d *diary) begin(s journal.Start) string {
	s.Call = callID(int(d.seq))
	if s.Owner == (journal.Owner{}) && s.Source.Kind != "hook" {
		s.Owner = journal.Owner{PID: 77, Began: 1}
	}
	d.event(journal.Event{Start: &s})
	return s.Call
}

func (d *diary) end(call string, e journal.End) {
	e.Call = call
	d.event(journal.Event{End: &e})
}

func (d *diary) run(s journal.Start, e journal.End) string {
	call := d.begin(s)
	d.end(call, e)
	return call
}

func state(s outcome.State) *outcome.State { return &s }

func cli(tool, title string) journal.Start {
	return journal.Start{Tool: tool, Title: title, Source: journal.Source{
		Kind: "cli", Dir: "/home/somebody/src/app", PID: 900, Window: 50, Pane: 2,
	}}
}

func hermes(tool, title string) journal.Start {
	return journal.Start{Tool: tool, Title: title, Source: journal.Source{
		Kind: "hook", Agent: "hermes", Session: "s-17", Dir: "/srv/app",
	}}
}

const failedLine = "exit 1; output complete (41,234 bytes)"

// samples fills a diary with one call of each kind and returns their ids by
// name.
func samples(d *diary) map[string]string {
	id := map[string]string{}
	id["old"] = d.run(cli("read_file", "/home/somebody/src/app/very/long/path/to/notes/meeting.txt"), journal.End{
		Status: outcome.Complete, Summary: "812 B of 812 B, 31 lines", DurationMS: 4,
	})
	id["cancelled"] = d.run(cli("terminal", "sleep 100"), journal.End{
		Status: outcome.Cancelled, Error: "interrupted", DurationMS: 3200, Capture: state(outcome.StateComplete),
	})
	id["refused"] = d.run(hermes("read_file", "/proc/1/environ"), journal.End{
		Status: outcome.Refused, Error: "refused: secrets of processes", DurationMS: 1,
	})
	id["lost"] = d.run(cli("terminal", "make all"), journal.End{
		Status: outcome.Failed, Error: "output lost", DurationMS: 184_000, Capture: state(outcome.StateLost),
		Summary: "lost: the reader failed after 4,096 bytes (EIO before the end)",
	})
	id["unknown"] = d.run(hermes("terminal", "ls -la"), journal.End{
		Status: outcome.Unknown, DurationMS: 100, Checks: []journal.Check{
			{Name: "end of output", Claimed: "0 bytes, exit 0", Verdict: outcome.Unknown},
		},
	})
	id["open"] = d.begin(hermes("terminal", "pwd"))
	id["against"] = d.run(hermes("read_file", "/srv/app/data.bin"), journal.End{
		Status: outcome.Complete, DurationMS: 20, Checks: []journal.Check{
			{Name: "file size", Claimed: "0 bytes", Seen: "4,096 bytes", Verdict: outcome.Failed},
		},
	})
	id["send"] = d.run(cli("send_message", "telegram \"report attached\""), journal.End{
		Status: outcome.Partial, DurationMS: 800, Summary: "1 of 2 attachments dropped", Error: "/data/report.html: not found on this host",
	})
	id["failed"] = d.run(cli("terminal", "go test ./..."), journal.End{
		Status: outcome.Failed, DurationMS: 12_100, Error: "exit 1", Summary: failedLine, Capture: state(outcome.StateComplete),
	})
	id["ok"] = d.run(cli("terminal", "go build ./..."), journal.End{
		Status: outcome.Complete, DurationMS: 420, Summary: "output complete (812 bytes)", Capture: state(outcome.StateComplete),
	})
	live := cli("terminal", "npm run build -- --mode production")
	live.Live = "/state/live/0193.raw"
	id["running"] = d.begin(live)
	d.event(journal.Event{Progress: &journal.Progress{Call: id["running"], Done: 45, Total: 100, What: "modules"}})
	return id
}

func toolsWith(d *diary) *Tools {
	p := &Tools{Window: 50}
	p.Show(d.b, d.at.Add(72*time.Second))
	return p
}

func press(t *testing.T, p Panel, names string) (a Action) {
	t.Helper()
	for name := range strings.FieldsSeq(names) {
		var ok bool
		if a, ok = p.Key(name); !ok {
			t.Errorf("%s is not a key of the panel", name)
		}
	}
	return a
}

// selectCall moves the selection to a call.
func selectCall(t *testing.T, p *Tools, call string) {
	t.Helper()
	i := p.view.Index(call)
	if i < 0 {
		t.Fatalf("the call %s is not listed", call)
	}
	p.list.pick(p, i)
}

// asks returns what an Action asks to be read.
func asks[A Action](t *testing.T, a Action) A {
	t.Helper()
	if several, ok := a.(Several); ok {
		for _, one := range several {
			if want, ok := one.(A); ok {
				return want
			}
		}
	}
	want, ok := a.(A)
	if !ok {
		t.Fatalf("it asks for %#v, want a %T", a, want)
	}
	return want
}

const terminalResult = `{"output":"ok  \texample.org/app/store\t0.412s\n--- FAIL: TestWire (0.00s)\n    wire_test.go:12: got \u001b[31m3\u001b[0m, want 4\nFAIL\n",
"exit_code":1,"error":"exit 1","status":"failed","exit_code_meaning":"tests failed","signal":null,"pid":4711,
"capture":{"state":"complete","bytes_read":41234,"bytes_shown":41234,"bytes_lost":0,"end":"eof","cause":null,"spill":null,"holders":[],"holders_unknown":null},
"omitted":{"bytes":0},"full_output_path":null,"redactions":2,"waiting":"epoll","notes":["the folder was gone, the home folder was used"]}`

const terminalArgs = `{"command":"go test ./...","timeout":120,"env":{"A":"1"},"script":"set -e\nrm -rf build\tx\u202e\n"}`

// opened opens a call and answers what it asks.
func opened(t *testing.T, p *Tools, call, args, result string) *Tools {
	t.Helper()
	selectCall(t, p, call)
	req := asks[ReadCall](t, press(t, p, "enter"))
	if req.Record.Start.Call != call {
		t.Fatalf("it asks for %s", req.Record.Start.Call)
	}
	s, e := req.Record.Start, req.Record.End
	s.Args = json.RawMessage(args)
	if e != nil {
		whole := *e
		whole.Result = json.RawMessage(result)
		e = &whole
	}
	p.TakeCall(call, s, e, nil)
	return p
}

func callViews(t *testing.T) map[string]*Tools {
	d := newDiary()
	id := samples(d)
	list, picked := toolsWith(d), toolsWith(d)
	draw(picked, 80, 24, unicodeTheme)
	press(t, picked, "j j j")
	failed := opened(t, toolsWith(d), id["failed"], terminalArgs, terminalResult)
	against := opened(t, toolsWith(d), id["against"], `{"path":"data.bin"}`, `{"content":"","file_size":0}`)
	running := opened(t, toolsWith(d), id["running"], `{"command":"npm run build"}`, "")
	req := asks[ReadOutput](t, running.Wants())
	running.TakeOutput(req.Call, 0, []byte("> build\n\x1b[32mtransforming\x1b[0m 12 modules\rtransforming 45 modules\n"), 71, nil)
	filtered := toolsWith(d)
	press(t, filtered, "f")
	typing := toolsWith(d)
	press(t, typing, "/ t e s t")
	return map[string]*Tools{
		"none": {}, "empty": toolsWith(newDiary()), "list": list, "picked": picked, "failed": failed,
		"against": against, "running": running, "filtered": filtered, "typing": typing,
	}
}

func TestTheToolsPanelIsAsDrawn(t *testing.T) {
	for name, p := range callViews(t) {
		drawn(t, "calls-"+name, p)
	}
}

// drawn compares a panel in its dock at all sizes and in all themes.
func drawn(t *testing.T, base string, p Panel) {
	t.Helper()
	for _, size := range [][2]int{{30, 12}, {48, 20}, {80, 24}, {120, 40}} {
		for i, th := range []theme.Theme{unicodeTheme, asciiTheme, plainTheme} {
			suffix := []string{"", "-ascii", "-plain"}[i]
			if i > 0 && size[0] > 80 {
				continue
			}
			s := screen.New(size[0], size[1], screen.Caps{UTF8: true})
			dockOf(p).Draw(s, 0, 0, size[0], size[1], true, th)
			golden(t, fmt.Sprintf("%s-%dx%d%s", base, size[0], size[1], suffix), s.Text())
		}
	}
}

// inside draws a panel at many sizes into a field of # and reports a cell that
// was changed outside of its rectangle, or not filled inside.
func inside(t *testing.T, name string, p Panel) {
	t.Helper()
	for w := 0; w <= 130; w += 1 + w/20*3 {
		for _, h := range []int{0, 1, 2, 3, 4, 5, 9, 22} {
			s := screen.New(134, 26, screen.Caps{UTF8: true})
			for y := range 26 {
				s.SetText(0, y, 134, strings.Repeat("#", 134), vt.Style{})
			}
			p.Draw(s, 1, 1, w, h, true, unicodeTheme)
			for y, line := range strings.Split(strings.TrimSuffix(s.Text(), "\n"), "\n") {
				in := y >= 1 && y < 1+h
				if !in && strings.Trim(line, "#") != "" || in && (line[0] != '#' || !strings.HasSuffix(line, strings.Repeat("#", 133-w))) {
					t.Fatalf("%s at %d×%d: row %d is %q", name, w, h, y, line)
				}
			}
		}
	}
}

func TestCallsKeepToTheirRectangle(t *testing.T) {
	for name, p := range callViews(t) {
		inside(t, name, p)
	}
}

func TestNothingFromOutsideReachesTheScreenAsControl(t *testing.T) {
	d := newDiary()
	evil := "a\x1b[31m\u202eb\x07\tc\r\n[red]<b>**"
	call := d.run(journal.Start{Tool: evil, Title: evil, Source: journal.Source{Kind: "hook", Agent: evil, Session: evil, Dir: evil}},
		journal.End{Status: outcome.Failed, Error: evil, Summary: evil, Checks: []journal.Check{{Name: evil, Claimed: evil, Seen: evil, Verdict: outcome.Failed}}})
	p := toolsWith(d)
	args, _ := json.Marshal(map[string]string{evil: evil})
	result, _ := json.Marshal(map[string]any{"output": evil, "notes": []string{evil}})
	check := func() {
		for _, w := range []int{30, 80, 120} {
			text := draw(p, w, 40, unicodeTheme).Text()
			if strings.ContainsAny(text, "\x1b\u202e\x07\t\r") || !strings.Contains(text, "<U+202E>") {
				t.Errorf("%d columns: got %q", w, text)
			}
		}
	}
	check()
	opened(t, p, call, string(args), string(result))
	for i := range p.open.text.sections {
		p.open.text.sections[i].folded = false
	}
	check()
	if text := draw(p, 120, 40, unicodeTheme).Text(); !strings.Contains(text, "[red]<b>**") {
		t.Errorf("what looks like markup is not shown as it is:\n%s", text)
	}
}

func TestBadgeCountsRunningAndPointsAtWhatNobodySaw(t *testing.T) {
	d := newDiary()
	id := samples(d)
	p := toolsWith(d)
	if b := p.Badge(); b.Count != 1 || b.Word != "failed" || b.State != theme.Failed {
		t.Errorf("got %+v", b)
	}
	for _, r := range d.b.Unseen() { // newest first
		selectCall(t, p, r.Start.Call)
		req := asks[SeenCall](t, press(t, p, "enter"))
		d.b.Seen(req.Call)
		press(t, p, "esc")
	}
	d.end(id["running"], journal.End{Status: outcome.Complete})
	p.Show(d.b, d.at)
	if b := p.Badge(); b != (Badge{}) {
		t.Errorf("after all was seen: %+v", b)
	}
	d.b.Add([]journal.Event{})
	bad := d.run(cli("terminal", "false"), journal.End{Status: outcome.Failed})
	p.Show(d.b, d.at)
	if p.Badge().Word != "failed" {
		t.Error("a call that failed is not told")
	}
	d.b.Seen(bad) // by the alert, not by this panel
	p.Show(d.b, d.at)
	if p.Badge().Word != "" {
		t.Error("the badge stays after the call was seen elsewhere")
	}
}

func TestAStateThatChangesWithoutANewCallIsSeen(t *testing.T) {
	d := newDiary()
	id := samples(d)
	p := toolsWith(d)
	press(t, p, "f f") // running
	if p.view.Len() != 1 {
		t.Fatalf("%d calls run", p.view.Len())
	}
	d.end(id["running"], journal.End{Status: outcome.Failed})
	p.Show(d.b, d.at)
	if p.view.Len() != 0 || p.running != 0 {
		t.Errorf("%d calls are listed as running", p.view.Len())
	}
	press(t, p, "f f f") // all, failed
	n := p.view.Len()
	d.end(id["open"], journal.End{Status: outcome.Complete}) // unknown until now
	p.Show(d.b, d.at)
	if p.view.Len() != n-1 {
		t.Errorf("a call that ended well is still listed as failed: %d of %d", p.view.Len(), n)
	}
	call := d.begin(cli("terminal", "x"))
	press(t, p, "esc")
	p.Show(d.b, d.at)
	d.b.MarkGone([]journal.Owner{{PID: 77, Began: 1}})
	p.Show(d.b, d.at)
	if r, _ := d.b.Find(call); r.State() != journal.Unknown || p.running != 0 || p.Badge().Word != "failed" {
		t.Error("a call whose process is gone still runs")
	}
}

func TestOlderCallsComeInBelow(t *testing.T) {
	old, d := crowdOf(10), &diary{b: journal.NewBook(0), at: start, seq: 100}
	call := d.begin(cli("terminal", "new"))
	p := toolsWith(d)
	if b := p.Badge(); p.view.Len() != 1 || b.Count != 1 {
		t.Fatalf("%d calls, badge %+v", p.view.Len(), b)
	}
	selectCall(t, p, call)
	var events []journal.Event
	for i := range 10 {
		s := old.b.At(i).Start
		s.Tool = "ancient"
		events = append(events, journal.Event{Seq: old.b.At(i).Seq, At: start, Start: &s})
	}
	d.b.AddOlder(events, false)
	p.Show(d.b, d.at)
	if b := p.Badge(); p.view.Len() != 11 || b.Count != 11 || chosenTitle(p) != "new" {
		t.Errorf("%d calls, badge %+v, selected %q", p.view.Len(), b, chosenTitle(p))
	}
	if press(t, p, "t"); p.filter.Tool != "ancient" {
		t.Errorf("t turns to %q", p.filter.Tool)
	}
}

func TestUnknownSaysWhy(t *testing.T) {
	d := newDiary()
	d.begin(hermes("terminal", "pwd"))
	d.end(callID(99), journal.End{Status: outcome.Unknown})
	p := toolsWith(d)
	text := draw(p, 100, 20, unicodeTheme).Text()
	for _, want := range []string{"unknown: its end was not recorded", "its start is missing in the journal", "? ?"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "0.00s") || strings.Contains(text, " ok") {
		t.Errorf("something is claimed:\n%s", text)
	}
}

func TestADurationThatIsNotKnownIsNotZero(t *testing.T) {
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	running := journal.Start{Owner: journal.Owner{PID: 1}}
	for want, r := range map[string]journal.Record{
		"?":      {Started: at(0), Start: journal.Start{}},
		"2.00s":  {Started: at(0), Start: running},
		"7.00s":  {Started: at(0), Ended: at(9), End: &journal.End{DurationMS: 7000}},
		"9.00s":  {Started: at(0), Ended: at(9), End: &journal.End{}},
		"? ":     {Ended: at(9), NoStart: true, End: &journal.End{}},
		"?  ":    {Started: at(9), Ended: at(0), End: &journal.End{}},
		"?   ":   {Started: at(9), Start: running},
		"0.00s ": {Started: at(9), Ended: at(9), End: &journal.End{}},
	} {
		if got := callTook(r, at(2)); got != strings.TrimSpace(want) {
			t.Errorf("%q: %+v takes %q", want, r, got)
		}
	}
}

func TestClaimedAndSeenStandSideBySide(t *testing.T) {
	d := newDiary()
	id := samples(d)
	p := toolsWith(d)
	selectCall(t, p, id["against"])
	text := draw(p, 80, 40, unicodeTheme).Text()
	if !strings.Contains(text, "✗ file size: claimed 0 bytes · seen 4,096 bytes") {
		t.Errorf("got\n%s", text)
	}
	if line := lineWith(t, text, "contradicted"); !strings.Contains(line, "data.bin") || strings.Contains(line, " ok") {
		t.Errorf("got %q", line)
	}
	text = draw(p, 30, 40, unicodeTheme).Text()
	if !strings.Contains(text, "✗ claimed 0 bytes\n") || !strings.Contains(text, "     seen 4,096 bytes\n") {
		t.Errorf("at 30 columns:\n%s", text)
	}
	text = draw(p, 80, 40, asciiTheme).Text()
	if !strings.Contains(text, "x file size: claimed 0 bytes - seen 4,096 bytes") {
		t.Errorf("in ASCII:\n%s", text)
	}
}

func TestMissingEventsAndOlderCallsAreTold(t *testing.T) {
	d := newDiary()
	samples(d)
	d.event(journal.Event{Gap: &journal.Gap{Events: 12, Why: "disk full"}})
	p := toolsWith(d)
	if text := draw(p, 80, 12, unicodeTheme).Text(); !strings.Contains(text, "! 12 events missing") {
		t.Errorf("got\n%s", text)
	}
	d.event(journal.Event{Gap: &journal.Gap{Events: -1, Why: "disk full"}})
	p.Show(d.b, d.at)
	if text := draw(p, 80, 12, unicodeTheme).Text(); !strings.Contains(text, "! events missing") {
		t.Errorf("got\n%s", text)
	}
	b := journal.NewBook(0)
	p.Show(b, d.at)
	if text := draw(p, 80, 12, unicodeTheme).Text(); !strings.Contains(text, "older not read yet") {
		t.Errorf("got\n%s", text)
	}
}

func TestACallThatCannotBeReadSaysSo(t *testing.T) {
	d := newDiary()
	id := samples(d)
	p := toolsWith(d)
	selectCall(t, p, id["ok"])
	req := asks[ReadCall](t, press(t, p, "enter"))
	p.TakeCall(id["ok"], req.Record.Start, req.Record.End, errors.Join(fmt.Errorf("read event: %w", journal.ErrMoved)))
	text := draw(p, 80, 30, unicodeTheme).Text()
	if !strings.Contains(text, "the rest of the record is gone") || !strings.Contains(text, "? not known: they cannot be read") {
		t.Errorf("got\n%s", text)
	}
}

func TestANameOfAnAgentTakesNoTitleAway(t *testing.T) {
	d := newDiary()
	s := cli("send_message", `to file "The weekly report."`)
	s.Source = journal.Source{Kind: "mcp", Agent: "report-agent"}
	d.run(s, journal.End{Status: outcome.Complete, Summary: "sent", DurationMS: 50})
	p := &Tools{}
	p.Show(d.b, d.at)
	for _, w := range []int{40, 49, 60, 80, 120} {
		text := draw(p, w, 20, unicodeTheme).Text()
		if !strings.Contains(text, "✓ report-agent·send_message") || !strings.Contains(text, `to file "The wee`) {
			t.Errorf("in %d columns:\n%s", w, text)
		}
	}
}
