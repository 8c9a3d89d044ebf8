package panels

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/honestty/honestty/jobhost"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tui/theme"
)

var jobsNow = start.Add(time.Hour)

func code(n int) *int { return &n }

// runningJob is a job that began so many seconds ago.
func runningJob(id, command string, pid int, seconds time.Duration) jobhost.Job {
	return jobhost.Job{
		ID: id, Command: command, Dir: "/home/somebody/src/app", PID: pid, State: "running", Running: true, DurationMS: -1,
		Started: jobsNow.Add(-seconds * time.Second), Read: 4_900, LastOutput: jobsNow.Add(-4 * time.Second), TakesKeys: true, PTY: true,
	}
}

func endedJob(id, command string, exit int, ended time.Duration) jobhost.Job {
	return jobhost.Job{
		ID: id, Command: command, State: "exited", ExitCode: code(exit), DurationMS: 62_000, Read: 108_894,
		Started: jobsNow.Add(-ended*time.Second - time.Minute), Ended: jobsNow.Add(-ended * time.Second),
		LastOutput: jobsNow.Add(-ended * time.Second), Output: outcome.StateComplete, Sentence: "output complete (108,894 bytes)",
	}
}

func someJobs() []jobhost.Job {
	failed := endedJob("job-4", "make release", 2, 120)
	failed.LastError = "ld: error: undefined symbol: main"
	lost := endedJob("job-5", "node server.js", 0, 300)
	lost.State, lost.ExitCode, lost.DurationMS = "lost", nil, -1
	lost.Output, lost.Sentence = outcome.StateUnknown, "unknown: the end of the output was not seen (108,894 bytes read)"
	unread := endedJob("job-6", "./gen.sh", 0, 400)
	unread.Output, unread.Sentence = outcome.StateLost, "lost: the reader failed after 4,096 bytes (EIO before the end)"
	killed := endedJob("job-7", "sleep 1000", 0, 500)
	killed.State, killed.ExitCode, killed.Signal, killed.Read, killed.LastOutput = "killed", nil, "SIGTERM", 0, time.Time{}
	missing := jobhost.Job{
		ID: "job-8", Command: "nosuch --thing", State: "failed_start", Error: "start nosuch: not found", DurationMS: -1,
		Started: jobsNow.Add(-600 * time.Second), Ended: jobsNow.Add(-600 * time.Second), Output: outcome.StateNotStarted,
	}
	orphan := runningJob("job-3", "python3 worker.py --queue images", 4803, 7300)
	orphan.Detached, orphan.TakesKeys = true, false
	server := runningJob("job-2", "npm run dev -- --port 8080", 4711, 184)
	server.LastError = "Error: listen EADDRINUSE: address already in use 127.0.0.1:8080"
	return []jobhost.Job{
		missing, endedJob("job-1", "go test ./...", 0, 60), orphan, failed, lost, unread, killed, server,
		runningJob("job-9", "tail -f /var/log/app.log", 4712, 20),
	}
}

func jobsWith(jobs ...jobhost.Job) *Jobs {
	p := &Jobs{}
	p.Show(jobs, nil, jobsNow)
	p.SetDescriptors(map[int]int64{4711: 931})
	return p
}

func selectJob(t *testing.T, p *Jobs, id string) {
	t.Helper()
	i := p.index(id)
	if i < 0 {
		t.Fatalf("%s is not listed", id)
	}
	p.list.pick(p, i)
}

// tailed opens a job and answers what it asks.
func tailed(t *testing.T, p *Jobs, id, output string, end bool) *Jobs {
	t.Helper()
	selectJob(t, p, id)
	req := asks[ReadJob](t, press(t, p, "enter"))
	p.TakeJob(req.ID, req.From, []byte(output), end, 0, nil)
	return p
}

func jobViews(t *testing.T) map[string]*Jobs {
	picked := jobsWith(someJobs()...)
	press(t, picked, "j")
	filtered := jobsWith(someJobs()...)
	press(t, filtered, "/ l o s t enter")
	stale := jobsWith(someJobs()...)
	stale.Show(nil, errors.New("the job host does not answer"), jobsNow)
	return map[string]*Jobs{
		"none": {}, "empty": jobsWith(), "list": jobsWith(someJobs()...), "picked": picked, "filtered": filtered, "stale": stale,
		"tail":  tailed(t, jobsWith(someJobs()...), "job-2", "\x1b[1mready\x1b[0m on 8080\nError: listen EADDRINUSE\nretrying\n", false),
		"ended": tailed(t, jobsWith(someJobs()...), "job-6", "one\ntwo", true),
	}
}

func TestDescriptorsAreTheHostsCountWhereTheWindowHasNone(t *testing.T) {
	p, n := &Jobs{held: map[int]int64{1: 5}}, int64(9)
	for _, c := range []struct {
		job  jobhost.Job
		want string
	}{
		{jobhost.Job{PID: 1, Running: true, Descriptors: &n}, "5"},
		{jobhost.Job{PID: 2, Running: true, Descriptors: &n}, "9"},
		{jobhost.Job{PID: 3, Running: true}, "?"},
		{jobhost.Job{PID: 2, Descriptors: &n}, ""},
	} {
		if got := p.descriptors(c.job); got != c.want {
			t.Errorf("%+v: %q, want %q", c.job, got, c.want)
		}
	}
}

func TestTheJobsPanelIsAsDrawn(t *testing.T) {
	for name, p := range jobViews(t) {
		drawn(t, "jobs-"+name, p)
	}
}

func TestJobsKeepToTheirRectangle(t *testing.T) {
	for name, p := range jobViews(t) {
		inside(t, name, p)
	}
}

func TestRunningJobsComeFirstAndTheNewestOnTop(t *testing.T) {
	p := jobsWith(someJobs()...)
	var got []string
	for _, j := range p.rows {
		got = append(got, j.ID)
	}
	if want := "[job-9 job-2 job-3 job-1 job-4 job-5 job-6 job-7 job-8]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestAJobIsOnlyOKWhenItsOutputIsWhole(t *testing.T) {
	p := jobsWith(someJobs()...)
	text := draw(p, 120, 40, unicodeTheme).Text()
	for command, word := range map[string]string{
		"tail -f": "● tail -f /var/log/app.log", "go test": "✓ go test", "worker.py": "! python3", "make release": "✗ make",
		"node server.js": "✗ node", "gen.sh": "✗ ./gen.sh", "sleep": "· sleep", "nosuch --thing": "✗ nosuch",
	} {
		if line := lineWith(t, text, command); !strings.Contains(line, word) {
			t.Errorf("%q has no %q", line, word)
		}
	}
	for part, word := range map[string]string{
		"go test": " ok", "worker.py": "detached", "node server.js": "lost", "gen.sh": "lost", "sleep": "killed", "npm": "931", "tail -f": " ? ",
	} {
		if line := lineWith(t, text, part); !strings.Contains(line, word) {
			t.Errorf("%q has no %q", line, word)
		}
	}
	odd := endedJob("x", "odd", 0, 1)
	odd.ExitCode = nil
	held := endedJob("y", "held", 0, 1)
	held.Output = outcome.StateDetached
	unseen := endedJob("z", "unseen", 0, 1)
	unseen.Output = outcome.StateUnknown
	for _, c := range []struct {
		job  jobhost.Job
		want theme.State
	}{{odd, theme.Unknown}, {held, theme.Detached}, {unseen, theme.Unknown}, {jobhost.Job{}, theme.Unknown}} {
		if got := jobState(c.job); got != c.want {
			t.Errorf("%s is %s, want %s", c.job.Command, got.Word(), c.want.Word())
		}
	}
}

func TestJobKeysAskTheWindow(t *testing.T) {
	for keysPressed, want := range map[string]Action{
		"x": KillJob{"job-2"}, "o": AttachJob{ID: "job-2"}, "O": AttachJob{ID: "job-2", Take: true}, "t": AttachJob{ID: "job-2", Take: true},
		"y": CopyText{"job-2", "the job's id"}, "c": CopyText{"npm run dev -- --port 8080", "the command"},
		"enter": ReadJob{ID: "job-2", From: 0}, "ctrl+o": ReadJob{ID: "job-2", From: 0},
	} {
		p := jobsWith(someJobs()...)
		selectJob(t, p, "job-2")
		if got := press(t, p, keysPressed); got != want {
			t.Errorf("%s asks for %#v, want %#v", keysPressed, got, want)
		}
	}
	for _, c := range []struct{ job, key, says string }{
		{"job-1", "x", "ended already"},
		{"job-1", "O", "takes no keys"},
		{"job-3", "t", "takes no input"},
		{"", "x", "no job is selected"},
		{"", "o", "no job is selected"},
		{"", "y", "no job is selected"},
		{"job-1", "Y", "nothing copied"},
	} {
		p := jobsWith(someJobs()...)
		if c.job != "" {
			selectJob(t, p, c.job)
		}
		if a := press(t, p, c.key); a != nil || !strings.Contains(p.note, c.says) {
			t.Errorf("%s on %q asks for %#v and says %q", c.key, c.job, a, p.note)
		}
		if !strings.Contains(draw(p, 80, 20, unicodeTheme).Text(), p.note) {
			t.Errorf("%q is not shown", p.note)
		}
	}
	p := jobsWith()
	if a := press(t, p, "enter"); a != nil || p.note == "" {
		t.Error("Enter without a job says nothing")
	}
	for _, name := range []string{"q", "tab", "?", "f", ""} {
		if _, ok := p.Key(name); ok {
			t.Errorf("%q is taken", name)
		}
	}
}

func TestJobHintsAreKeysThatWork(t *testing.T) {
	for name, p := range jobViews(t) {
		if !p.read {
			continue
		}
		for _, h := range p.hints() {
			for key := range strings.FieldsSeq(strings.ToLower(h.name)[:1] + h.name[1:]) {
				if key == "o" || key == "y" {
					key = h.name // upper and lower case differ
				}
				p := jobViews(t)[name]
				if _, ok := p.Key(key); !ok {
					t.Errorf("%s: %s is shown and not taken", name, key)
				}
				if strings.Contains(p.note, "nothing copied") || strings.Contains(p.note, noJob) || strings.Contains(p.note, "ended already") {
					t.Errorf("%s: %s is shown and says %q", name, key, p.note)
				}
			}
		}
	}
}

func TestJobSelectionSticksAndNewOnesAreCounted(t *testing.T) {
	p := jobsWith(someJobs()...)
	draw(p, 48, 8, unicodeTheme)
	selectJob(t, p, "job-3")
	p.Show(append(someJobs(), runningJob("job-10", "watch", 1, 1), runningJob("job-11", "watch", 1, 0)), nil, jobsNow)
	if j, _ := p.selected(); j.ID != "job-3" {
		t.Errorf("%s is selected", j.ID)
	}
	text := draw(p, 48, 8, unicodeTheme).Text()
	if !strings.Contains(text, "2 new above") {
		t.Errorf("got\n%s", text)
	}
	press(t, p, "home")
	if text = draw(p, 48, 8, unicodeTheme).Text(); strings.Contains(text, "new above") || !strings.Contains(text, "›● watch") {
		t.Errorf("got\n%s", text)
	}
	press(t, p, "k")
	if _, ok := p.selected(); ok {
		t.Error("up from the first one selects something")
	}
}

func TestJobBadgePointsAtWhatEndedBadlySince(t *testing.T) {
	p := jobsWith(someJobs()...)
	if b := p.Badge(); b != (Badge{Count: 2}) {
		t.Errorf("what ended before is news: %+v", b)
	}
	jobs := append(someJobs(), endedJob("job-20", "false", 1, 0))
	p.Show(jobs, nil, jobsNow)
	if b := p.Badge(); b.Word != "failed" || b.State != theme.Failed || b.Count != 2 {
		t.Errorf("got %+v", b)
	}
	draw(p, 80, 30, unicodeTheme)
	if b := p.Badge(); b.Word != "" {
		t.Errorf("it stays after it was in view: %+v", b)
	}
	p.Show(jobs, nil, jobsNow)
	if b := p.Badge(); b.Word != "" {
		t.Errorf("it comes again: %+v", b)
	}
}

func TestNoHostIsNoJobsAndAnErrorIsStale(t *testing.T) {
	p := &Jobs{}
	p.Show(nil, fmt.Errorf("list: %w", jobhost.ErrNoHost), jobsNow)
	if text := draw(p, 90, 10, unicodeTheme).Text(); !strings.Contains(text, "no jobs: honestty job start -- COMMAND runs one in the background") {
		t.Errorf("got\n%s", text)
	}
	p = &Jobs{}
	p.Show(nil, errors.New("permission denied"), jobsNow)
	if text := draw(p, 90, 10, unicodeTheme).Text(); !strings.Contains(text, "? unknown: permission denied") {
		t.Errorf("got\n%s", text)
	}
	p = jobsWith(someJobs()...)
	p.Show(nil, errors.New("permission denied"), jobsNow)
	text := draw(p, 120, 30, unicodeTheme).Text()
	if b := p.Badge(); b.Word != "stale" {
		t.Errorf("the badge is %+v", b)
	}
	if !strings.Contains(text, "? stale: permission denied") || !strings.Contains(text, "npm run dev") {
		t.Errorf("got\n%s", text)
	}
}

func TestATailReadsOnWithoutAskingTwice(t *testing.T) {
	p := jobsWith(someJobs()...)
	selectJob(t, p, "job-1")
	req := asks[ReadJob](t, press(t, p, "enter"))
	if req.From != 108_894-tailFrom || p.Wants() != nil {
		t.Fatalf("it asks from %d, and then %v", req.From, p.Wants())
	}
	p.TakeJob("job-1", req.From, []byte(strings.Repeat("x\n", 100)), false, 0, nil)
	req = asks[ReadJob](t, p.Wants())
	if req.From != 108_894-tailFrom+200 {
		t.Errorf("it goes on from %d", req.From)
	}
	p.TakeJob("job-1", req.From, nil, false, 0, nil) // nothing is there
	if a := p.Wants(); a != nil {
		t.Errorf("it asks again at once: %#v", a)
	}
	p.Show(someJobs(), nil, jobsNow)
	req = asks[ReadJob](t, p.Wants())
	p.TakeJob("job-1", req.From, []byte("end"), true, 0, nil)
	p.Show(someJobs(), nil, jobsNow)
	if a := p.Wants(); a != nil {
		t.Errorf("it asks after the end: %#v", a)
	}
	if text := draw(p, 80, 12, unicodeTheme).Text(); !strings.Contains(text, "output complete (108,894 bytes)") {
		t.Errorf("the end is not told:\n%s", text)
	}
	if got, ok := press(t, p, "Y").(CopyText); !ok || !strings.HasSuffix(got.Text, "x\nend") || got.What != "the last 203 B of the output" {
		t.Errorf("Y copies %+v", got)
	}
	press(t, p, "esc")
	p.TakeJob("job-1", 0, []byte("late"), true, 0, nil)
	if p.open != nil {
		t.Error("a late answer opens it again")
	}
}

func TestATailIsBoundedAndSaysWhatIsMissing(t *testing.T) {
	p := jobsWith(someJobs()...)
	selectJob(t, p, "job-2")
	press(t, p, "enter")
	p.TakeJob("job-2", 5000, []byte("later\n"), false, 5000, nil)
	if text := draw(p, 80, 12, unicodeTheme).Text(); !strings.Contains(text, "5,000 bytes were let go before they were read") {
		t.Errorf("got\n%s", text)
	}
	line := strings.Repeat("y", 99) + "\n"
	for range 60 {
		p.Show(someJobs(), nil, jobsNow)
		req := asks[ReadJob](t, p.Wants())
		p.TakeJob("job-2", req.From, []byte(strings.Repeat(line, 300)), false, 0, nil)
	}
	if n := len(p.open.raw); n > tailMax || n < tailTrim/2 {
		t.Errorf("%d bytes are held", n)
	}
	if got := p.open.from + int64(len(p.open.raw)); got != 5006+60*300*100 {
		t.Errorf("it is at %d", got)
	}
	if !p.open.text.atEnd() {
		t.Error("it does not stay at the end")
	}
	p.Show(nil, nil, jobsNow)
	if text := draw(p, 80, 12, unicodeTheme).Text(); !strings.Contains(text, "does not know it any more") || p.Wants() != nil {
		t.Errorf("got\n%s", text)
	}
}

func TestATailKeepsItsPlaceAwayFromTheEnd(t *testing.T) {
	p := jobsWith(someJobs()...)
	selectJob(t, p, "job-2")
	press(t, p, "enter")
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "line %d %s\n", i, strings.Repeat("z", 300))
	}
	p.TakeJob("job-2", 0, []byte(b.String()), false, 0, nil)
	draw(p, 80, 12, unicodeTheme)
	press(t, p, "/ l i n e space 1 9 0 0 enter")
	where := func() string { return p.open.text.line(p.open.text.at.place).text[:9] }
	if where() != "line 1900" {
		t.Fatalf("at %q", where())
	}
	for range 20 {
		p.Show(someJobs(), nil, jobsNow)
		if a := p.Wants(); a != nil {
			req := asks[ReadJob](t, a)
			p.TakeJob("job-2", req.From, []byte(strings.Repeat("more\n", 20_000)), false, 0, nil)
		}
		if where() != "line 1900" {
			t.Fatalf("it moved to %q", where())
		}
	}
	if n := len(p.open.raw); n > tailMax+200_000 {
		t.Errorf("%d bytes are held", n)
	}
	asks[ReadJob](t, press(t, p, "end")) // at the end it goes on
	if text := draw(p, 80, 12, unicodeTheme).Text(); !strings.Contains(text, "reading waits here: End goes on") {
		t.Errorf("got\n%s", text)
	}
}
