package panels

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tui/theme"
)

const meeting = "Meeting summary of the third of May. We agreed on three things, and the first is that nobody deletes a recording."

const spokenResult = `{"success":true,"error":null,"file_path":"/home/somebody/notes/meeting.wav","file_paths":["/home/somebody/notes/meeting.wav"],
"media_tag":"MEDIA:/home/somebody/notes/meeting.wav","provider":"espeak-ng","chunk_count":1,"status":"complete",
"requested_path":"/home/somebody/notes/meeting.wav","actual_path":"/home/somebody/notes/meeting.wav","container":"wav","duration_ms":33400,"sample_rate":22050,"channels":1,
"size":1471044,"sha256":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
"replaced":{"path":"/home/somebody/notes/meeting.wav","size":2202009,"mtime":"2023-11-14T09:14:00Z","checkpoint":"c41f"},
"provider_asked":"auto","provider_used":"espeak-ng","voice":"de","model":null,"language":"de","chunks_done":1,"chunks_reused":0,"chunk_failures":[],
"resume":null,"removed":[{"what":"emoji","count":2,"chars":2}],"coverage":{"letters":90,"spoken":90},"sweep":{"after":null,"note":"it stays until somebody removes it"},
"levels":[1,4,9,14,9,5,3,1,3,5,11,13,9,5,3,1,1,3,9,14,13,9,5,3,1],"notes":["the old file was read-only"],"took_ms":1900}`

func wav(r journal.Start, status outcome.Status, sum, err string, ms int64) (journal.Start, journal.End) {
	return r, journal.End{Status: status, Summary: sum, Error: err, DurationMS: ms}
}

// speeches is a story with a call of each kind.
func speeches() *story {
	s := newStory()
	tts := func(title string) journal.Start { return cli(speechTool, title) }
	tell := func(name string, start journal.Start, end journal.End, args, result string) {
		s.tell(name, start, end, args, result)
	}
	start, end := wav(hermes(speechTool, "Old times"), outcome.Complete, "", "", 0)
	end.Checks = []journal.Check{{Name: "audio file", Claimed: "/home/somebody/gone.ogg", Seen: "no such file", Verdict: outcome.Failed}}
	tell("against", start, end, `{"text":"Old times"}`, `"{\"success\":true,\"file_path\":\"/home/somebody/gone.ogg\",\"provider\":\"edge\"}"`)
	start, end = wav(tts("Two parts"), outcome.Complete, "812.0 KB MP3 0:40 espeak-ng en", "", 2100)
	tell("cache", start, end, `{"text":"Two parts, spoken by another than was asked.","provider":"openai"}`,
		`{"success":true,"error":null,"actual_path":"/home/somebody/.cache/honestty/audio/tts_20231114_221500_000001.mp3","requested_path":null,"container":"mp3","duration_ms":40000,"size":831488,
		"sample_rate":44100,"channels":2,"provider_asked":"openai","provider_used":"espeak-ng","language":"en","sweep":{"after":"2023-11-15T22:15:00Z","note":"swept a day after"},"levels":null,"notes":[]}`)
	start, end = wav(tts("Long book"), outcome.Partial, "37 of 40 chunks made; TTS chunk 12 failed (openai): 429 too many requests", "TTS chunk 12 failed (openai): 429 too many requests", 64_000)
	tell("partial", start, end, `{"text":"A long book.","output_path":"/home/somebody/book.mp3"}`,
		`{"success":false,"partial_success":true,"error":"TTS chunk 12 failed (openai): 429 too many requests","requested_path":"/home/somebody/book.mp3","actual_path":null,"file_path":null,
		"provider_asked":"openai","provider_used":"openai","chunk_count":40,"chunks_done":37,"chunk_failures":[{"chunk":12,"error":"429 too many requests"},{"chunk":13,"error":"connection reset"},{"chunk":31,"error":"429 too many requests"}],
		"kept":{"path":"/home/somebody/book.mp3","size":91000000,"mtime":"2022-01-02T03:04:05Z"},"resume":"r-7d3e"}`)
	start, end = wav(tts("Draft of a letter"), outcome.Failed, "TTS generation failed (openai): provider not reachable (connection refused)", "TTS generation failed (openai): provider not reachable (connection refused)", 4000)
	tell("failed", start, end, `{"text":"Draft of a letter","output_path":"/home/somebody/notes/draft.mp3"}`,
		`{"success":false,"error":"provider not reachable (connection refused)","requested_path":"/home/somebody/notes/draft.mp3","actual_path":null,"provider_asked":"openai","provider_used":"openai",
		"kept":{"path":"/home/somebody/notes/draft.mp3","size":831488,"mtime":"2023-11-13T22:15:00Z"}}`)
	start, end = wav(tts(meeting[:60]+"…"), outcome.Complete, "1.4 MB WAV 0:33 espeak-ng de", "", 1900)
	args, _ := json.Marshal(map[string]string{"text": meeting, "output_path": "/home/somebody/notes/meeting.wav"})
	tell("ok", start, end, string(args), spokenResult)
	s.running("running", tts("Ten chunks of text"), `{"text":"Ten chunks of text","provider":"piper","output_path":"/home/somebody/ten.wav"}`,
		journal.Progress{Done: 3, Total: 10, What: "chunk 4 of 10"})
	return s
}

func speechViews(t *testing.T) (map[string]*Speech, *story) {
	s := speeches()
	views := map[string]*Speech{"none": {}}
	for _, name := range []string{"list", "picked", "whole", "failed", "playing", "typing"} {
		p := &Speech{}
		s.feedAll(t, p, 80, 60)
		views[name] = p
	}
	views["empty"] = &Speech{}
	views["empty"].Show(newDiary().b, start)
	p := views["picked"]
	choose(t, p, &p.feed, s.id["ok"])
	p = views["whole"]
	choose(t, p, &p.feed, s.id["ok"])
	press(t, p, "enter")
	p = views["failed"]
	choose(t, p, &p.feed, s.id["partial"])
	p = views["playing"]
	choose(t, p, &p.feed, s.id["ok"])
	p.Playing(s.id["ok"], nil)
	press(t, views["typing"], "/ d r a f t")
	return views, s
}

func TestTheSpeechPanelIsAsDrawn(t *testing.T) {
	views, s := speechViews(t)
	for name, p := range views {
		everywhere(t, "speech-"+name, p, s)
	}
}

func TestSpeechKeepsToItsRectangle(t *testing.T) {
	views, _ := speechViews(t)
	for _, name := range []string{"empty", "playing", "whole", "typing"} {
		inside(t, name, views[name])
	}
}

// speechAt is a panel with a call selected.
func speechAt(t *testing.T, s *story, name string) *Speech {
	t.Helper()
	p := &Speech{}
	s.feedAll(t, p, 80, 60)
	choose(t, p, &p.feed, s.id[name])
	draw(p, 80, 60, unicodeTheme)
	return p
}

// sole is an Action without what tells that a call was looked at.
func sole(a Action) Action {
	all, ok := a.(Several)
	if !ok {
		if _, seen := a.(SeenCall); seen {
			return nil
		}
		return a
	}
	var out []Action
	for _, one := range all {
		if _, seen := one.(SeenCall); !seen {
			out = append(out, one)
		}
	}
	return several(out...)
}

func TestEveryKeyOfSpeechDoesWhatItSays(t *testing.T) {
	s := speeches()
	const path = "/home/somebody/notes/meeting.wav"
	for _, c := range []struct {
		call, keys string
		want       Action
		note       string
	}{
		{"ok", "p", PlayAudio{Call: s.id["ok"], Path: path}, ""},
		{"ok", "y", CopyText{Text: path, What: "the path"}, ""},
		{"ok", "o", RevealPath{Path: path}, ""},
		{"ok", "c", ShowCheckpoint{ID: "c41f"}, ""},
		{"ok", "R", RestoreCheckpoint{ID: "c41f", Path: path}, ""},
		{"ok", "r", nil, "nothing to go on with"},
		{"ok", "s", nil, "nothing plays"},
		{"partial", "r", RunCommand{Args: []string{"speak", "--resume", "r-7d3e"}}, ""},
		{"partial", "p", nil, "no file is known"},
		{"failed", "R", nil, "no checkpoint"},
		{"failed", "c", nil, "no checkpoint"},
		{"running", "p", nil, "not finished"},
		{"against", "o", RevealPath{Path: "/home/somebody/gone.ogg"}, ""},
	} {
		for _, whole := range []bool{false, true} {
			p := speechAt(t, s, c.call)
			if whole {
				press(t, p, "enter")
				draw(p, 80, 60, unicodeTheme)
			}
			if a := sole(press(t, p, c.keys)); !reflect.DeepEqual(a, c.want) {
				t.Errorf("%s on %s, whole %v: got %#v, want %#v", c.keys, c.call, whole, a, c.want)
			}
			if !strings.Contains(p.feed.note, c.note) || c.note == "" && p.feed.note != "" {
				t.Errorf("%s on %s says %q, want %q", c.keys, c.call, p.feed.note, c.note)
			}
		}
	}
}

func TestEveryHintOfSpeechWorks(t *testing.T) {
	s := speeches()
	for _, name := range []string{"ok", "partial", "failed", "running", "against", "cache"} {
		for _, keys := range []string{"", "enter", "/ a enter"} {
			p := speechAt(t, s, name)
			if name == "cache" {
				p.Playing(s.id[name], nil)
			}
			press(t, p, keys)
			for _, h := range p.hints() {
				q := speechAt(t, s, name)
				q.playing = p.playing
				press(t, q, keys)
				key := strings.ToLower(h.name)
				if len(h.name) == 1 {
					key = h.name
				}
				if _, ok := q.Key(key); !ok || q.feed.note != "" {
					t.Errorf("%s after %q on %s: %v, says %q", key, keys, name, ok, q.feed.note)
				}
			}
		}
	}
}

func TestPlayingIsShownAndStopped(t *testing.T) {
	s := speeches()
	p := speechAt(t, s, "ok")
	p.Playing(s.id["ok"], nil)
	if text := draw(p, 80, 60, unicodeTheme).Text(); !strings.Contains(text, "playing, p stops") {
		t.Errorf("that it plays is not shown:\n%s", text)
	}
	for _, key := range []string{"p", "s"} {
		if a := sole(press(t, p, key)); a != (StopAudio{}) {
			t.Errorf("%s while it plays: %#v", key, a)
		}
	}
	p.Playing("", nil)
	if text := draw(p, 80, 60, unicodeTheme).Text(); strings.Contains(text, "playing") || !strings.Contains(text, "p plays") {
		t.Errorf("after it ended:\n%s", text)
	}
	p.Playing(s.id["ok"], errors.New("aplay: no device \x1b[2J"))
	text := draw(p, 80, 60, unicodeTheme).Text()
	if line := lineWith(t, text, "not played"); !strings.Contains(line, "✗ not played: aplay: no device ^[") {
		t.Errorf("got %q", line)
	}
	p.Playing("", errors.New("no player was found"))
	if text = draw(p, 80, 60, unicodeTheme).Text(); !strings.Contains(text, "the player failed: no player was found") {
		t.Errorf("got\n%s", text)
	}
}

func TestWhatIsNotKnownOfSpeechIsNeverZero(t *testing.T) {
	s := newStory()
	s.tell("bare", hermes(speechTool, "Bare"), journal.End{Status: outcome.Complete}, `{"text":"Bare"}`, `{"success":true,"file_path":"/srv/a.mp3"}`)
	s.tell("odd", hermes(speechTool, "Odd"), journal.End{Status: outcome.Complete}, `{"text":"Odd","provider":7}`,
		`{"success":"yes","file_path":"/srv/b.mp3","size":"12","duration_ms":null,"sample_rate":[1],"levels":["a"],"replaced":5,"kept":"x","chunk_failures":{"a":1},"notes":"n","sweep":[]}`)
	s.tell("noise", hermes(speechTool, "Noise"), journal.End{Status: outcome.Complete}, `[1,2`, `not json`)
	p := &Speech{}
	s.feedAll(t, p, 80, 40)
	text := draw(p, 80, 40, unicodeTheme).Text()
	for _, path := range []string{"/srv/a.mp3", "/srv/b.mp3"} {
		if line := lineWith(t, text, path); strings.ContainsAny(strings.ReplaceAll(line, "mp3", ""), "0123456789") {
			t.Errorf("figures that nobody gave: %q", line)
		}
	}
	if !strings.Contains(text, "? its result names no file") {
		t.Errorf("a result without a file says nothing:\n%s", text)
	}
	choose(t, p, &p.feed, s.id["odd"])
	press(t, p, "enter")
	text = draw(p, 80, 60, unicodeTheme).Text()
	for _, name := range []string{"size", "duration", "rate", "sha256"} {
		if line := lineWith(t, text, name+" "); !strings.Contains(line, "? the result does not say") {
			t.Errorf("got %q", line)
		}
	}
}

func TestARecordThatCannotBeReadSaysSoAndIsAskedOnce(t *testing.T) {
	s := speeches()
	p := &Speech{}
	p.Show(s.b, s.at)
	draw(p, 80, 60, unicodeTheme)
	for _, one := range p.Wants().(Several) {
		r := one.(ReadCall).Record
		p.TakeCall(r.Start.Call, r.Start, nil, fmt.Errorf("read event: %w", journal.ErrMoved))
	}
	text := draw(p, 80, 60, unicodeTheme).Text()
	if !strings.Contains(text, "not all of its record can be read") {
		t.Errorf("got\n%s", text)
	}
	if a := p.Wants(); a != nil {
		t.Errorf("it asks again: %#v", a)
	}
}

func TestACallIsReadAgainAfterItEnded(t *testing.T) {
	s := speeches()
	p := &Speech{}
	s.feedAll(t, p, 80, 60)
	s.records[s.id["running"]] = record{s.records[s.id["running"]].args, spokenResult}
	s.end(s.id["running"], journal.End{Status: outcome.Complete, DurationMS: 7000})
	s.feedAll(t, p, 80, 60)
	choose(t, p, &p.feed, s.id["running"])
	if a, ok := sole(press(t, p, "p")).(PlayAudio); !ok || a.Call != s.id["running"] {
		t.Errorf("got %#v", a)
	}
}

func TestAPathThatCannotBeSeenIsNotHandedOn(t *testing.T) {
	s := newStory()
	for i, path := range []string{`/srv/a\nrm -rf b.mp3`, `/srv/\u202e3pm.exe`, `relative.mp3`, `-f.mp3`, `/srv/\u2028x`} {
		s.tell(fmt.Sprint(i), hermes(speechTool, "Evil"), journal.End{Status: outcome.Complete}, `{}`, `{"success":true,"file_path":"`+path+`"}`)
		p := speechAt(t, s, fmt.Sprint(i))
		for _, key := range []string{"p", "y", "o"} {
			if a := sole(press(t, p, key)); a != nil {
				t.Errorf("%s: %#v", key, a)
			}
		}
		if text := draw(p, 80, 24, unicodeTheme).Text(); strings.ContainsAny(text, "\u202e\u2028\r") {
			t.Errorf("got %q", text)
		}
	}
}

func TestAnOrderMeetsTheCallThatWasSelected(t *testing.T) {
	s := speeches()
	p := &Speech{}
	s.feedAll(t, p, 80, 60)
	start, end := wav(cli(speechTool, "New"), outcome.Partial, "", "429", 10)
	s.tell("new", start, end, `{"text":"New"}`, `{"resume":"other","chunk_count":2,"chunks_done":1}`)
	s.feedAll(t, p, 80, 60)
	if a := sole(press(t, p, "r")); a != nil || !strings.Contains(p.feed.note, "r again") {
		t.Errorf("r without a selection: %#v, says %q", a, p.feed.note)
	}
	if a, ok := sole(press(t, p, "r")).(RunCommand); !ok || a.Args[2] != "other" {
		t.Errorf("r again: %#v", a)
	}
	p = speechAt(t, s, "partial")
	draw(p, 80, 12, unicodeTheme)
	p.Wheel(-100)
	draw(p, 80, 12, unicodeTheme)
	if a := sole(press(t, p, "r")); a != nil {
		t.Errorf("r on a selection out of sight: %#v", a)
	}
	if text := draw(p, 80, 12, unicodeTheme).Text(); !strings.Contains(text, "Long book") && !strings.Contains(text, "A long book") {
		t.Errorf("it is not brought into sight:\n%s", text)
	}
}

func TestSpeechBadgeAndWhatWasSeen(t *testing.T) {
	s := speeches()
	p := &Speech{}
	s.feedAll(t, p, 80, 60)
	if b := p.Badge(); b.Count != 1 || b.Word != "failed" || b.State != theme.Failed {
		t.Errorf("got %+v", b)
	}
	for range 20 {
		for _, one := range append(Several{}, flat(press(t, p, "j"))...) {
			if seen, ok := one.(SeenCall); ok {
				s.b.Seen(seen.Call)
			}
		}
	}
	p.Show(s.b, s.at)
	if b := p.Badge(); b != (Badge{Count: 1}) {
		t.Errorf("after all were looked at: %+v", b)
	}
	press(t, p, "/ d r a f t")
	p.Show(s.b, s.at)
	if b := p.Badge(); b.Count != 1 {
		t.Errorf("a filter changes the badge: %+v", b)
	}
}

func flat(a Action) Several {
	switch a := a.(type) {
	case nil:
		return nil
	case Several:
		return a
	default:
		return Several{a}
	}
}

func TestNothingJumpsWhileSpeechComesIn(t *testing.T) {
	s := newStory()
	for i := range 30 {
		s.tell(fmt.Sprint(i), cli(speechTool, fmt.Sprintf("number %d", i)), journal.End{Status: outcome.Complete}, fmt.Sprintf(`{"text":"number %d"}`, i), `{"file_path":"/srv/x.mp3"}`)
	}
	p := &Speech{}
	s.feedAll(t, p, 80, 20)
	p.Wheel(9)
	s.feedAll(t, p, 80, 20)
	before := p.feed.list.topID
	for i := range 3 {
		s.tell("n", cli(speechTool, "newest"), journal.End{Status: outcome.Complete}, fmt.Sprintf(`{"text":"newest %d"}`, i), `{}`)
	}
	s.feedAll(t, p, 80, 20)
	text := draw(p, 80, 20, unicodeTheme).Text()
	if p.feed.list.topID != before || !strings.Contains(text, "3 new above") {
		t.Errorf("top was %s, is %s:\n%s", before, p.feed.list.topID, text)
	}
	p.Wheel(-100)
	if text = draw(p, 80, 20, unicodeTheme).Text(); strings.Contains(text, "new above") {
		t.Errorf("they were seen:\n%s", text)
	}
}

func TestLevelsShareColumnsByTheirPeak(t *testing.T) {
	if got := peaks([]int{0, 15, 3, 4, 99, -7}, 3); !reflect.DeepEqual(got, []int{15, 4, 15}) {
		t.Errorf("got %v", got)
	}
	if got := peaks([]int{1, -9}, 5); !reflect.DeepEqual(got, []int{1, theme.Missing}) {
		t.Errorf("got %v", got)
	}
	if peaks(nil, 5) != nil || peaks([]int{1}, 0) != nil {
		t.Error("a line of nothing")
	}
	p := speechAt(t, speeches(), "ok")
	for th, want := range map[*theme.Theme]bool{&unicodeTheme: true, &asciiTheme: true, &plainTheme: false} {
		text := draw(p, 80, 60, *th).Text()
		line := lineWith(t, text, "p plays")
		if drawn := len(strings.TrimSpace(line)) > len("p plays · R restores"); strings.Contains(line, "  p plays") && drawn != want {
			t.Errorf("plain %v: got %q", th.Plain, line)
		}
	}
}

func TestNarrowCardWrapsWhatIsKnownAndCutsNoKey(t *testing.T) {
	s := newStory()
	start, end := wav(cli(speechTool, "Short"), outcome.Complete, "", "", 40)
	s.tell("short", start, end, `{"text":"Short"}`, `{"actual_path":"/home/somebody/x.wav","requested_path":"/home/somebody/x.wav","container":"wav","duration_ms":1300,
		"sample_rate":22050,"channels":1,"size":60928,"replaced":{"path":"/home/somebody/x.wav","size":99600,"checkpoint":"4b05e1c6"}}`)
	p := &Speech{}
	s.feedAll(t, p, 44, 24)
	text := draw(p, 44, 24, unicodeTheme).Text()
	for _, want := range []string{"checkpoint 4b05e1c6", "R restores it"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is cut:\n%s", want, text)
		}
	}
	at := labels(44).value
	for line := range strings.Lines(text) {
		if row := []rune(line); len(row) > at+1 && strings.TrimSpace(string(row[:at])) == "" && row[at] == ' ' && strings.TrimSpace(line) != "" {
			t.Errorf("a row that is not in its column: %q", line)
		}
	}
}

func TestTimesHaveTheirDay(t *testing.T) {
	now := time.Date(2024, 5, 6, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		t    time.Time
		want string
	}{
		{now.Add(-46 * time.Minute), "09:14 today"},
		{now.Add(-12 * time.Hour), "22:00 yesterday"},
		{now.Add(23 * time.Hour), "09:00 tomorrow"},
		{now.AddDate(0, -2, 0), "10:00, 6 Mar"},
		{now.AddDate(-2, 0, 0), "6 May 2022"},
	} {
		if got := when(c.t, now); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	for ms, want := range map[int64]string{33400: "0:33", 3723000: "1:02:03", -1: "?", 0: "0:00"} {
		if got := playTime(ms); got != want {
			t.Errorf("%d ms: got %q, want %q", ms, got, want)
		}
	}
}
