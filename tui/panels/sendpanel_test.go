package panels

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tui/theme"
)

const sum = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"

const partialSend = `{"success":false,"partial_success":true,"error":"2 of 3 sent (1 dropped); /data/report.html: not found on this host","status":"partial",
"platform":"telegram","chat_id":"-1001234567890","message_id":"4711","media_dropped":[{"path":"/data/report.html","reason":"not found on this host"}],
"delivery":[{"kind":"text","requested":"text 1/1","size":15,"sha256":"` + sum + `","status":"sent","platform_id":"4711"},
{"kind":"photo","requested":"/home/somebody/out/chart.png","resolved":"/home/somebody/out/chart.png","size":49254,"sha256":"` + sum + `","status":"sent","platform_id":"4712"},
{"kind":"document","requested":"/data/report.html","size":null,"status":"dropped","reason":"not found on this host"}],
"counts":{"requested":3,"sent":2,"dropped":1,"rejected":0,"unknown":0},"duration_ms":800}`

const unknownSend = `{"success":false,"error":"0 of 3 sent (1 dropped, 1 rejected, 1 unknown); /home/somebody/.ssh/id.pub: denied by the delivery policy","status":"unknown","platform":"slack","chat_id":"C0123",
"delivery":[{"kind":"document","requested":"/home/somebody/.ssh/id.pub","size":null,"status":"dropped","reason":"denied by the delivery policy","rule":"protected place: ~/.ssh"},
{"kind":"video","requested":"/srv/film.mp4","resolved":"/srv/films/1/film.mp4","size":51380224,"sha256":"` + sum + `","status":"unknown","reason":"the connection was cut after 31.0 MB"},
{"kind":"document","requested":"/srv/big.zip","resolved":"/srv/big.zip","size":5138022400,"status":"rejected","reason":"413 too large"}],
"warnings":["/srv/film.mp4 is a path inside a sandbox; its file here was taken"],"forged":["/etc/passwd"],"counts":{"requested":3}}`

const dryRun = `{"success":false,"status":"partial","error":"not everything was sent: 1 of 2 attachments would be dropped","note":"dry run: nothing was sent","delivery":[],
"plan":{"target":"file:outbox","subject":"Report","texts":["The report of May"],"attachments":[
{"kind":"document","requested":"/srv/report.pdf","resolved":"/srv/report.pdf","size":81920,"sha256":"` + sum + `","status":"sent"},
{"kind":"document","requested":"/etc/shadow","size":null,"status":"dropped","reason":"denied by the delivery policy","rule":"protected place: /etc"}]}}`

func messages() *story {
	s := newStory()
	s.at = start.Add(time.Hour)
	send := func(target string) journal.Start { return cli(sendTool, "to "+target) }
	s.tell("hermes", hermes(sendTool, "telegram"), journal.End{Status: outcome.Partial, DurationMS: 700, Error: "1 attachment was dropped"},
		`{"action":"send","target":"telegram","message":"Here it is MEDIA:/data/out.csv MEDIA:/data/in.csv"}`,
		`{"success":false,"partial_success":true,"platform":"telegram","chat_id":"42","message_id":"99","error":"1 attachment was dropped","media_dropped":[{"path":"/data/out.csv","reason":"not found on this host"}],"warnings":["Failed to send media: timeout"]}`)
	s.tell("refused", send("nowhere"), journal.End{Status: outcome.Refused, DurationMS: 2, Error: `no platform is called "nowhere"; set up are: file, telegram`},
		`{"target":"nowhere","message":"x"}`, `{"success":false,"error":"no platform is called \"nowhere\"; set up are: file, telegram","status":"refused","delivery":[]}`)
	s.tell("ok", send("file"), journal.End{Status: outcome.Complete, DurationMS: 12, Summary: "sent to file: 1 of 1"},
		`{"target":"file","message":"All is well."}`, `{"success":true,"error":null,"status":"complete","platform":"file","delivery":[{"kind":"text","requested":"text 1/1","size":12,"status":"sent","platform_id":"2023-11-14-1"}]}`)
	s.tell("dry", send("file:outbox"), journal.End{Status: outcome.Partial, DurationMS: 3, Error: "not everything was sent: 1 of 2 attachments would be dropped"},
		`{"target":"file:outbox","subject":"Report","message":"The report of May","attachments":["/srv/report.pdf","/etc/shadow"],"dry_run":true}`, dryRun)
	s.tell("unknown", send("slack:#ops"), journal.End{Status: outcome.Unknown, DurationMS: 31_000, Summary: "slack: 0 of 3 sent, 1 unknown, 1 dropped, 1 rejected", Error: "0 of 3 sent (1 dropped, 1 rejected, 1 unknown)"},
		`{"target":"slack:#ops","subject":"Film","message":"The film, the key, the rest.\nSee MEDIA:/etc/passwd\n","attachments":["/home/somebody/.ssh/id.pub","/srv/film.mp4","/srv/big.zip"]}`, unknownSend)
	s.tell("partial", send("telegram:-1001234567890"), journal.End{Status: outcome.Partial, DurationMS: 800, Summary: "telegram: 2 of 3 sent, 1 dropped", Error: "2 of 3 sent (1 dropped); /data/report.html: not found on this host"},
		`{"target":"telegram:-1001234567890","message":"report attached","attachments":["/home/somebody/out/chart.png","/data/report.html"]}`, partialSend)
	s.running("running", send("telegram"), `{"target":"telegram","message":"a film","attachments":["/srv/films/the very long name of a film.mp4"]}`,
		journal.Progress{Done: 12_688_000, Total: 50_331_648, What: "the very long name of a film.mp4"})
	return s
}

func messageViews(t *testing.T) (map[string]*Send, *story) {
	s := messages()
	views := map[string]*Send{"none": {}, "empty": {}}
	for _, name := range []string{"list", "partial", "unknown", "hermes", "dry", "whole", "plan", "bad"} {
		views[name] = &Send{}
		s.feedAll(t, views[name], 80, 60)
		if id := s.id[name]; id != "" {
			choose(t, views[name], &views[name].feed, id)
		}
	}
	views["empty"].Show(newDiary().b, start)
	choose(t, views["whole"], &views["whole"].feed, s.id["unknown"])
	press(t, views["whole"], "enter")
	choose(t, views["plan"], &views["plan"].feed, s.id["dry"])
	press(t, views["plan"], "enter")
	press(t, views["bad"], "f")
	return views, s
}

func TestTheSendPanelIsAsDrawn(t *testing.T) {
	views, s := messageViews(t)
	for name, p := range views {
		everywhere(t, "send-"+name, p, s)
	}
}

func TestSendKeepsToItsRectangle(t *testing.T) {
	views, _ := messageViews(t)
	for _, name := range []string{"none", "unknown", "whole"} {
		inside(t, name, views[name])
	}
}

func sendAt(t *testing.T, s *story, name string) *Send {
	t.Helper()
	p := &Send{}
	s.feedAll(t, p, 80, 60)
	choose(t, p, &p.feed, s.id[name])
	draw(p, 80, 60, unicodeTheme)
	return p
}

func TestWhatWasNotSentStandsFirstInWords(t *testing.T) {
	s := messages()
	for _, w := range []int{30, 48, 80, 120} {
		p := sendAt(t, s, "partial")
		text := draw(p, w, 60, unicodeTheme).Text()
		dropped, sent := strings.Index(text, "dropped"), strings.Index(text, "sent ")
		if dropped < 0 || sent >= 0 && sent < dropped {
			t.Errorf("%d columns: dropped is not first:\n%s", w, text)
		}
		whole := strings.Join(strings.Fields(text), " ")
		for _, want := range []string{"not found on this host", "denied by the delivery policy", "rule: protected place"} {
			if !strings.Contains(whole, want) {
				t.Errorf("%d columns: no %q in\n%s", w, want, text)
			}
		}
	}
	for name, want := range map[string][]string{
		"partial": {"the path is inside the sandbox", "[send.paths]"},
		"unknown": {"it may have arrived: look there before sending again", "allow its folder in [send] allow, or attach a copy", "connection was cut after 31.0 MB"},
		"dry":     {"dry run: nothing was sent", "would drop", "would go"},
	} {
		p := sendAt(t, s, name)
		text := strings.Join(strings.Fields(draw(p, 120, 60, unicodeTheme).Text()), " ")
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("%s: no %q in\n%s", name, part, text)
			}
		}
	}
}

func TestADryRunIsNeverShownAsSent(t *testing.T) {
	s := newStory()
	s.tell("dry", cli(sendTool, "to file"), journal.End{Status: outcome.Complete}, `{"target":"file","message":"m","dry_run":true}`,
		`{"success":true,"delivery":[],"plan":{"attachments":[{"kind":"document","requested":"/srv/a","size":1,"status":"sent"}]}}`)
	p := sendAt(t, s, "dry")
	for _, keys := range []string{"", "enter"} {
		press(t, p, keys)
		text := strings.ReplaceAll(draw(p, 100, 30, unicodeTheme).Text(), "nothing was sent", "")
		text = strings.ReplaceAll(text, "f not sent", "")
		if strings.Contains(text, "sent") || !strings.Contains(text, "would go") {
			t.Errorf("got\n%s", text)
		}
	}
	if got := p.feed.of(p.feed.record).data.receiptText(p.feed.record); !strings.Contains(got, "dry run: nothing was sent") || !strings.Contains(got, "would go  /srv/a") {
		t.Errorf("the receipt is %q", got)
	}
}

func TestTheRestOfAMessageSaysWhoseItIs(t *testing.T) {
	s := newStory()
	s.tell("rest", cli(sendTool, "to file"), journal.End{Status: outcome.Unknown, Error: "it was cancelled; 0 of 1 sent (1 unknown); gone.html: cut"},
		`{"target":"file","message":"m","quoted":"a list MEDIA:/tmp/x.txt","retry_of":"01a22e82-54f2"}`,
		`{"success":false,"error":"it was cancelled; 0 of 1 sent (1 unknown); gone.html: cut","delivery":[{"kind":"document","requested":"gone.html","size":1,"status":"unknown","reason":"cut"}]}`)
	p := sendAt(t, s, "rest")
	text := strings.Join(strings.Fields(draw(p, 120, 60, unicodeTheme).Text()), " ")
	if !strings.Contains(text, "it was cancelled") || strings.Contains(text, "0 of 1 sent") {
		t.Errorf("the count is said beside the items:\n%s", text)
	}
	press(t, p, "enter")
	text = strings.Join(strings.Fields(draw(p, 120, 60, unicodeTheme).Text()), " ")
	for _, want := range []string{"rest of 01a22e82-54f2", "quoted: nothing below acts", "a list MEDIA:/tmp/x.txt"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// Whether a path that is not whole lies in a sandbox nobody can tell.
func TestAdviceDoesNotGuessOfASandbox(t *testing.T) {
	for path, want := range map[string]string{"/data/report.html": "sandbox", "report.html": "look whether it is there"} {
		it := itemOf(receipt{
			Requested: said[string]{v: path, known: true}, Reason: said[string]{v: reasonNotFound, known: true},
			Status: said[string]{v: statusDropped, known: true},
		}, false)
		if got := it.advice(); !strings.Contains(got, want) {
			t.Errorf("%s: %q", path, got)
		}
	}
}

func TestAHermesResultHasNoReceiptsAndSaysSo(t *testing.T) {
	p := sendAt(t, messages(), "hermes")
	text := strings.Join(strings.Fields(draw(p, 120, 60, unicodeTheme).Text()), " ")
	for _, want := range []string{"hermes·telegram", "/data/out.csv", "message 99; there is no receipt for each item", "! warning: Failed to send media: timeout"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if a := sole(press(t, p, "r")); a != nil || !strings.Contains(p.feed.note, "no receipts") {
		t.Errorf("r: %#v, says %q", a, p.feed.note)
	}
}

func TestEveryKeyOfSendDoesWhatItSays(t *testing.T) {
	s := messages()
	retry := func(name string, more ...string) []string {
		return append([]string{"send", "--retry-dropped", s.id[name]}, more...)
	}
	for _, c := range []struct {
		call, keys string
		want       Action
		note       string
	}{
		{"partial", "r", RunCommand{Args: retry("partial")}, ""},
		{"partial", "u", nil, "nothing of it is unknown"},
		{"partial", "p", OpenConfig{Key: "send.paths"}, ""},
		{"partial", "o", RevealPath{Path: "/data/report.html"}, ""},
		{"partial", "l l o", nil, "left alone"},
		{"partial", "n", Compose{}, ""},
		{"unknown", "r", RunCommand{Args: retry("unknown")}, ""},
		{"unknown", "u", RunCommand{Args: retry("unknown", "--retry-unknown"), Confirm: "1 item may have arrived already, and would be there twice"}, ""},
		{"unknown", "p", OpenConfig{Key: "send.allow"}, ""},
		{"unknown", "right o", RevealPath{Path: "/srv/films/1/film.mp4"}, ""},
		{"unknown", "right right left o", RevealPath{Path: "/srv/films/1/film.mp4"}, ""},
		{"ok", "r", nil, "all of it was sent"},
		{"ok", "o", nil, "no file is known"},
		{"dry", "r", nil, "a dry run sent nothing"},
		{"refused", "h", nil, "no items"},
		{"refused", "r", nil, "nothing of it got as far as a receipt"},
		{"running", "r", nil, "still being sent"},
	} {
		p := sendAt(t, s, c.call)
		if c.keys == "l l o" {
			// The text of a message has no file.
			p.feed.details[s.id["partial"]].data.items[2].Resolved = said[string]{v: "out/chart.png", known: true}
		}
		if a := sole(press(t, p, c.keys)); !reflect.DeepEqual(a, c.want) {
			t.Errorf("%s on %s: got %#v, want %#v", c.keys, c.call, a, c.want)
		}
		if !strings.Contains(p.feed.note, c.note) || c.note == "" && p.feed.note != "" {
			t.Errorf("%s on %s says %q, want %q", c.keys, c.call, p.feed.note, c.note)
		}
	}
	empty := &Send{}
	empty.Show(newDiary().b, start)
	if a := press(t, empty, "p"); a != (OpenConfig{Key: "send.allow"}) {
		t.Errorf("p without a message: %#v", a)
	}
	if a := press(t, &Send{}, "n"); a != (Compose{}) {
		t.Errorf("n without a journal: %#v", a)
	}
}

func TestEveryHintOfSendWorks(t *testing.T) {
	s := messages()
	for _, name := range []string{"hermes", "refused", "ok", "dry", "unknown", "partial", "running"} {
		for _, keys := range []string{"", "enter", "f", "/ t enter"} {
			p := sendAt(t, s, name)
			press(t, p, keys)
			if p.length() == 0 {
				continue
			}
			for _, h := range p.hints() {
				q := sendAt(t, s, name)
				press(t, q, keys)
				draw(q, 80, 60, unicodeTheme)
				if h.name == "r" && !q.feed.whole {
					q.feed.pick(q)
				}
				key := h.name
				if len(key) > 1 {
					key = strings.ToLower(key)
				}
				if _, ok := q.Key(key); !ok || q.feed.note != "" {
					t.Errorf("%s after %q on %s: %v, says %q", key, keys, name, ok, q.feed.note)
				}
			}
		}
	}
}

func TestTheReceiptIsCopiedAsSafeText(t *testing.T) {
	s := messages()
	p := sendAt(t, s, "unknown")
	got, ok := sole(press(t, p, "y")).(CopyText)
	if !ok || got.What != "the receipt" {
		t.Fatalf("got %#v", got)
	}
	for _, want := range []string{
		"message to slack:#ops: unknown\n", "dropped  /home/somebody/.ssh/id.pub  document  denied by the delivery policy  rule: protected place: ~/.ssh\n",
		"unknown  /srv/film.mp4  51,380,224 bytes  video  sha256 " + sum + "  the connection was cut after 31.0 MB\n", "rejected  /srv/big.zip", "warning: ",
	} {
		if !strings.Contains(got.Text, want) {
			t.Errorf("no %q in\n%s", want, got.Text)
		}
	}
	evil := newStory()
	evil.tell("x", hermes(sendTool, "to a\x1b[2J"), journal.End{Status: outcome.Partial},
		`{"target":"a\u001b[2J:\u202eb","message":"\u001b]0;x\u0007\r\nMEDIA:/x"}`, `{"media_dropped":[{"path":"/a\u001b[2J\n$(reboot)","reason":"\u202e\u0007"}],"error":"e\u001b[0m","warnings":["\u001b[1m"]}`)
	p = sendAt(t, evil, "x")
	copied := sole(press(t, p, "y")).(CopyText)
	if strings.ContainsAny(copied.Text, "\x1b\u202e\x07\r") || strings.Contains(copied.Text, "\n$(") {
		t.Errorf("copied %q", copied.Text)
	}
	for _, keys := range []string{"esc", "enter"} {
		press(t, p, keys)
		if text := draw(p, 80, 40, unicodeTheme).Text(); strings.ContainsAny(text, "\x1b\u202e\x07\r") {
			t.Errorf("got %q", text)
		}
	}
}

func TestManyItemsAreCountedNotHidden(t *testing.T) {
	var delivery []map[string]any
	for i := range 40 {
		status := "sent"
		if i%4 == 1 {
			status = "dropped"
		}
		delivery = append(delivery, map[string]any{"kind": "document", "requested": fmt.Sprintf("/srv/%d.pdf", i), "status": status, "reason": "too big", "size": 1})
	}
	result, _ := json.Marshal(map[string]any{"delivery": delivery})
	s := newStory()
	s.tell("many", cli(sendTool, "to file"), journal.End{Status: outcome.Partial}, `{"target":"file"}`, string(result))
	p := sendAt(t, s, "many")
	text := draw(p, 80, 60, unicodeTheme).Text()
	if !strings.Contains(text, "and 32 more, 2 of them not sent: Enter shows them") {
		t.Errorf("got\n%s", text)
	}
	press(t, p, "enter")
	draw(p, 80, 300, unicodeTheme)
	if text = draw(p, 80, 300, unicodeTheme).Text(); strings.Count(text, "dropped: ") != 10 || strings.Count(text, "sent: ") != 30 {
		t.Errorf("not all receipts are there:\n%s", text)
	}
}

func TestAWordThatNobodyKnowsIsUnknown(t *testing.T) {
	m := messageOf(journal.Start{}, &journal.End{Result: json.RawMessage(`{"delivery":[{"requested":"/a","status":"teleported"},{"requested":5},7]}`)})
	if len(m.items) != 0 {
		// A list with something else in it is not a list of receipts.
		t.Errorf("got %+v", m.items)
	}
	m = messageOf(journal.Start{}, &journal.End{Result: json.RawMessage(`{"delivery":[{"requested":"/a","status":"teleported"},{"requested":5}]}`)})
	if len(m.items) != 2 || m.items[0].status != statusUnknown || !strings.Contains(m.items[0].Reason.is(), "teleported") || m.items[1].status != statusUnknown || m.items[1].name != "?" {
		t.Errorf("got %+v", m.items)
	}
}

func TestClicksChooseMessagesAndItems(t *testing.T) {
	s := messages()
	p := sendAt(t, s, "partial")
	text := draw(p, 80, 60, unicodeTheme).Text()
	row := func(part string) int {
		for y, line := range strings.Split(text, "\n") {
			if strings.Contains(line, part) {
				return y
			}
		}
		t.Fatalf("no %q in\n%s", part, text)
		return 0
	}
	p.Click(10, row("film.mp4 ")) // of another message: selects it
	if p.feed.list.id != s.id["unknown"] && p.feed.list.id != s.id["running"] {
		t.Fatalf("a click selects %s", p.feed.list.id)
	}
	choose(t, p, &p.feed, s.id["unknown"])
	draw(p, 80, 60, unicodeTheme)
	p.Click(10, row("/srv/big.zip"))
	if a := sole(press(t, p, "o")); a != (RevealPath{Path: "/srv/big.zip"}) || p.feed.whole {
		t.Errorf("after a click on an item: %#v", a)
	}
	p.Click(10, row("/srv/big.zip"))
	if !p.feed.whole {
		t.Error("a second click does not open it")
	}
	draw(p, 80, 20, unicodeTheme)
	p.Wheel(3)
	p.Click(10, 5)
	press(t, p, "esc")
	if p.feed.whole {
		t.Error("Esc does not close it")
	}
}

func TestOnlyWhatWasNotSentIsListed(t *testing.T) {
	s := messages()
	p := sendAt(t, s, "partial")
	press(t, p, "f")
	text := draw(p, 80, 60, unicodeTheme).Text()
	if strings.Contains(text, "All is well.") || strings.Contains(text, "a film") || !strings.Contains(text, "only not sent") || p.length() != 5 {
		t.Errorf("%d are listed:\n%s", p.length(), text)
	}
	if p.feed.list.id != s.id["partial"] {
		t.Error("the selection does not stay")
	}
	s.tell("more", cli(sendTool, "to file"), journal.End{Status: outcome.Failed, Error: "x"}, `{}`, `{}`)
	p.Show(s.b, s.at)
	if p.length() != 6 {
		t.Errorf("%d are listed after one more failed", p.length())
	}
	press(t, p, "esc")
	if p.length() != 8 {
		t.Errorf("Esc leaves %d", p.length())
	}
}

func TestSendBadgePointsAtTheWorst(t *testing.T) {
	for _, c := range []struct {
		states []outcome.Status
		want   Badge
	}{
		{nil, Badge{}},
		{[]outcome.Status{outcome.Complete, outcome.Cancelled}, Badge{}},
		{[]outcome.Status{outcome.Unknown}, Badge{Word: "unknown", State: theme.Unknown}},
		{[]outcome.Status{outcome.Unknown, outcome.Partial, outcome.Unknown}, Badge{Word: "partial", State: theme.Partial}},
		{[]outcome.Status{outcome.Partial, outcome.Refused}, Badge{Word: "failed", State: theme.Failed}},
	} {
		d := newDiary()
		for _, s := range c.states {
			d.run(cli(sendTool, "to file"), journal.End{Status: s})
		}
		d.run(cli("terminal", "false"), journal.End{Status: outcome.Failed})
		p := &Send{}
		p.Show(d.b, d.at)
		if b := p.Badge(); b != c.want {
			t.Errorf("%v: got %+v, want %+v", c.states, b, c.want)
		}
		draw(p, 80, 30, unicodeTheme)
		for range c.states {
			for _, one := range flat(press(t, p, "j")) {
				if seen, ok := one.(SeenCall); ok {
					d.b.Seen(seen.Call)
				}
			}
		}
		p.Show(d.b, d.at)
		if b := p.Badge(); b != (Badge{}) {
			t.Errorf("%v: after all were looked at %+v", c.states, b)
		}
	}
}
