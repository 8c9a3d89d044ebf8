package panels

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/honestty/honestty/tools/fdmeter"
)

// server is what a leaking server holds: sockets whose peers are told, a pipe,
// a file that was deleted, and descriptors that a child inherits.
func server() fdmeter.Breakdown {
	b := fdmeter.Breakdown{PID: 4711, Birth: 4711 * 7, At: start.Add(48 * time.Second), Counts: map[fdmeter.Kind]int{}}
	add := func(fd fdmeter.FD) {
		fd.Number = len(b.FDs)
		if fd.CloseOnExec == fdmeter.MaybeUnknown {
			fd.CloseOnExec = fdmeter.MaybeYes
		}
		b.FDs = append(b.FDs, fd)
		b.Counts[fd.Kind]++
	}
	for range 3 {
		add(fdmeter.FD{Kind: fdmeter.KindDevice, Target: "/dev/null"})
	}
	for i := range 4 {
		fd := fdmeter.FD{
			Kind: fdmeter.KindSocket, Target: "socket:[51]",
			Socket: &fdmeter.Socket{Protocol: "tcp", State: "established", Local: "127.0.0.1:8080", Remote: "127.0.0.1:50000"},
		}
		if i == 3 {
			fd.Socket, fd.SocketCause = &fdmeter.Socket{Protocol: "tcp"}, fdmeter.NotListed
		}
		add(fd)
	}
	add(fdmeter.FD{Kind: fdmeter.KindPipe, Target: "pipe:[77]", CloseOnExec: fdmeter.MaybeNo})
	add(fdmeter.FD{Kind: fdmeter.KindPipe, Target: "pipe:[77]"})
	add(fdmeter.FD{Kind: fdmeter.KindFile, Target: "/home/ada/var/cache.db", Deleted: true, Detail: fdmeter.Detail{Size: fdmeter.Known(42 << 20)}})
	add(fdmeter.FD{Kind: fdmeter.KindFile, Target: "/tmp/evil\x1b[31mname", CloseOnExec: fdmeter.MaybeNo})
	b.CloseOnExec, b.Inherited = len(b.FDs)-2, 2
	b.Listed = fdmeter.Known(int64(len(b.FDs)))
	return b
}

// around is a machine on which somebody may not be looked at.
func around(b fdmeter.Breakdown) Holders {
	return Holders{
		Survey: fdmeter.Survey{
			At: start.Add(50 * time.Second), Scan: fdmeter.Scan{Listed: true, Read: 200, Denied: 3},
			Unseen: []fdmeter.Missing{{PID: 4802, Name: "postgres", Reason: "not permitted", Cause: fdmeter.Denied}},
		},
		Sockets: fdmeter.Sockets{}, Types: b, Parent: "zsh",
		Shared: []fdmeter.Shared{
			{FD: b.FDs[0], Origin: 0, Shared: fdmeter.MaybeYes, By: fdmeter.ProofKernel},
			{FD: b.FDs[10], Origin: 4, Shared: fdmeter.MaybeYes, By: fdmeter.ProofKernel},
			{FD: b.FDs[7], Origin: -1},
		},
	}
}

// told asks who holds what with a key and gives the answer.
func told(t *testing.T, f *FDs, key string, h Holders) {
	t.Helper()
	req, ok := keys(t, f, key).(ReadHolders)
	if !ok || req.PID != h.Types.PID {
		t.Fatalf("%s asks for %+v, the answer is for %d", key, req, h.Types.PID)
	}
	f.TakeHolders(req, h)
}

// costs shows this window with what its parts hold.
func costs(t *testing.T, f *FDs) {
	b := breakdown(4600, 2, 1, start, "/dev/ptmx", "/dev/ptmx", "/log")
	f.TakeOwn(fdmeter.Share{
		Parts: []fdmeter.Cost{
			{Label: "masters of the panes' terminals", FDs: b.FDs[3:5]},
			{Label: "waiting for all of them", FDs: b.FDs[:1], Missing: []int{99}},
		},
		Rest: []fdmeter.FD{b.FDs[1], b.FDs[2], b.FDs[5]}, Listed: b.Listed,
	})
	answered(t, f, "enter", b)
}

func shows(t *testing.T, f *FDs, parts ...string) {
	t.Helper()
	text := draw(f, 90, 30, unicodeTheme).Text()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}

func TestTheWayGoesFromTypesToTargetsToDescriptorsAndBack(t *testing.T) {
	f := panel()
	keys(t, f, "j")
	answered(t, f, "enter", server())
	shows(t, f, "4  socket", "tcp established to 127.0.0.1:50000 and 1 more", "1  deleted", "keep 42.0 MB of the disk", "2  leakable", "Enter targets")
	if got := keys(t, f, "enter"); got != nil { // nothing has to be read
		t.Errorf("asks for %+v", got)
	}
	shows(t, f, "types > sockets", "3  socket     tcp established to 127.0.0.1:50000", "1  socket     tcp (not in the socket tables)", "Enter peers")
	told(t, f, "enter", around(server()))
	shows(t, f, "fd 3  socket     tcp established 127.0.0.1:8080 to 127.0.0.1:50000", "fd 5", "its peer is not on this machine")
	for _, want := range []int{2, 1} {
		if keys(t, f, "esc"); len(f.levels) != want {
			t.Fatalf("Esc leads to level %d, want %d", len(f.levels), want)
		}
	}
	keys(t, f, "esc")
	if f.view != viewTable || f.chosen.PID != 4711 {
		t.Error("Esc does not end in the table, at the process")
	}
}

func TestWhatAChildInheritsIsMarked(t *testing.T) {
	f := panel()
	keys(t, f, "j")
	answered(t, f, "enter", server())
	keys(t, f, "j j enter") // device, file, pipe sort by count: socket 4, device 3, file 2, pipe 2
	shows(t, f, "types > files", "/tmp/evil^[[31mname", "! 1 leakable", "/home/ada/var/cache.db (deleted)")
	keys(t, f, "esc end enter")
	shows(t, f, "types > a child inherits", "pipe:[77]")
	told(t, f, "enter", around(server()))
	shows(t, f, "! leakable", "fd ")
}

func TestAReadingAnewKeepsTheLevelAndTheChoice(t *testing.T) {
	f := panel()
	keys(t, f, "j")
	answered(t, f, "enter", server())
	keys(t, f, "j j enter j")
	was, _ := f.here().rows[f.here().at].opens()
	more := server()
	for range 3 {
		fd := more.FDs[3]
		fd.Kind, fd.Target, fd.Socket = fdmeter.KindFile, "/new", nil
		fd.Number = len(more.FDs)
		more.FDs = append(more.FDs, fd)
		more.Counts[fdmeter.KindFile]++
	}
	more.Listed = fdmeter.Known(int64(len(more.FDs)))
	answered(t, f, "r", more)
	is, _ := f.here().rows[f.here().at].opens()
	if len(f.levels) != 2 || was != is {
		t.Errorf("level %d, chosen %+v, was %+v", len(f.levels), is, was)
	}
	shows(t, f, "3  file       /new")
	answered(t, f, "r", fdmeter.Breakdown{PID: 4711, Birth: 4711 * 7, Listed: fdmeter.Unknown(fdmeter.Gone)})
	shows(t, f, "? unknown: process is gone")
}

func TestPeersOfWhoCouldNotBeLookedAtAreUnknown(t *testing.T) {
	f := panel()
	keys(t, f, "j")
	answered(t, f, "enter", server())
	keys(t, f, "j j j enter") // pipes
	told(t, f, "enter", around(server()))
	shows(t, f, "also held by ? nobody that could be looked at")
	keys(t, f, "esc")
	whole := around(server())
	whole.Survey.Scan.Denied, whole.Survey.Unseen = 0, nil
	told(t, f, "enter", whole)
	shows(t, f, "also held by nobody")
}

func TestProblemsSayWhatWasNotLookedAt(t *testing.T) {
	f := panel()
	keys(t, f, "j")
	told(t, f, "p", around(server()))
	shows(t, f, "! partial: 4 processes were not looked at (not permitted)", "0  terminals without anybody", "0  deleted files that are open",
		"2  of node that a child inherits", "1  of node that it has from zsh, beyond the standard streams", "? of 1 nobody can tell", "kcmp")
	h := around(server())
	h.Survey.Scan = fdmeter.Scan{Cause: fdmeter.NoDescriptors}
	told(t, f, "r", h)
	shows(t, f, "? unknown: the processes could not be listed: no free descriptor")
	h.Types = fdmeter.Breakdown{PID: 4711, Listed: fdmeter.Unknown(fdmeter.Denied)}
	told(t, f, "r", h)
	shows(t, f, "? unknown of node: not permitted")
}

func TestALateAnswerAboutHoldersIsDropped(t *testing.T) {
	f := panel()
	req := keys(t, f, "p").(ReadHolders)
	keys(t, f, "esc")
	f.TakeHolders(req, around(server()))
	if f.view != viewTable {
		t.Error("it takes the view")
	}
	keys(t, f, "j")
	answered(t, f, "enter", server())
	keys(t, f, "enter")
	req = keys(t, f, "enter").(ReadHolders)
	keys(t, f, "esc") // one level up, at once
	f.TakeHolders(req, around(server()))
	if len(f.levels) != 2 || f.holders != nil {
		t.Errorf("level %d, holders %v", len(f.levels), f.holders != nil)
	}
}

func TestOwnCostIsShownForThisWindowOnly(t *testing.T) {
	f := panel()
	costs(t, f)
	shows(t, f, "what this program's parts hold", "2  own        masters of the panes' terminals", "waiting for all of them, 1 of them not open any more", "3  rest       held by nobody who says so")
	keys(t, f, "end enter")
	shows(t, f, "types > held by nobody who says so", "/log")
	keys(t, f, "esc esc j")
	answered(t, f, "enter", server())
	if text := draw(f, 90, 30, unicodeTheme).Text(); strings.Contains(text, "own  ") {
		t.Errorf("another process has our parts:\n%s", text)
	}
}

func TestTheOrderIsShownAndNothingUnknownComesFirst(t *testing.T) {
	f := panel()
	for _, want := range []struct{ head, first string }{{"process, by count", "4711"}, {"process, by growth", "4711"}, {"process  ", "4711"}} {
		keys(t, f, "o")
		shows(t, f, want.head)
		if got := pidText(f.rows[0].PID); got != want.first || f.rows[len(f.rows)-1].PID != 4802 {
			t.Errorf("%s: first %s, last %d", want.head, got, f.rows[len(f.rows)-1].PID)
		}
	}
	keys(t, f, "o")
	var counts []int64
	for _, r := range f.rows[:len(f.rows)-1] {
		n, _ := r.Count.Get()
		counts = append(counts, n)
	}
	if !slices.IsSortedFunc(counts, func(a, b int64) int { return int(b - a) }) {
		t.Errorf("by count: %v", counts)
	}
	r := reading()
	f.Show(r)
	if n, _ := f.rows[1].Count.Get(); n != 87 {
		t.Errorf("a new reading forgets the order: %d", n)
	}
}

func TestTheTrendSaysHowFarItIsToBeTrusted(t *testing.T) {
	f := panel()
	keys(t, f, "j")
	shows(t, f, "+3.5/min rising, likely")
	guess := leaking()
	guess.Growth.Confidence = fdmeter.Guess
	if got := nearest(guess); got != "1024 guess ~34m" {
		t.Errorf("a guess reads %q", got)
	}
	past := process(4711, "node", 2000, 2000)
	past.Growth = fdmeter.Growth{PerMinute: 20, Trend: fdmeter.Rising, Confidence: fdmeter.Steady}
	r := reading()
	r.Snapshot.Processes[1] = lined(past)
	f.Show(r)
	shows(t, f, "past 1024", "reaches 4096 soft in ~2h, steady")
}

func TestAnAlarmIsToldOncePerProcessAndLine(t *testing.T) {
	f := panel()
	got := f.Alarms()
	if len(got) != 1 || got[0].PID != 4711 || got[0].Root != 4720 || !strings.Contains(got[0].Text, "node (4711) uses 904 of 1024") {
		t.Fatalf("%+v", got)
	}
	at := func(count int64) []Alarm {
		r := reading()
		r.Snapshot.Processes[1] = process(4711, "node", count, count)
		f.Show(r)
		return f.Alarms()
	}
	for _, n := range []int64{904, 800, 900, 1023, 2000} { // it moves about the line, and passes it
		if got := at(n); len(got) != 0 {
			t.Errorf("told again at %d: %+v", n, got)
		}
	}
	if at(100); len(at(950)) != 1 {
		t.Error("it was well away from its line, and is not told of anew")
	}
	r := reading()
	other := process(4711, "node", 950, 950)
	other.Birth = 1
	r.Snapshot.Processes[1] = other
	if f.Show(r); len(f.Alarms()) != 1 {
		t.Error("another process of the same pid is not told of")
	}
	r.Snapshot.System.PTYs = fdmeter.Known(3000)
	if f.Show(r); len(f.Alarms()) != 1 {
		t.Error("the machine's own line is not told of")
	}
	f.Choose(4720)
	if !f.picked || f.chosen.PID != 4720 {
		t.Errorf("chosen %d", f.chosen.PID)
	}
}

func TestLinesOfTheMachineAreDrawnSmall(t *testing.T) {
	shows(t, panel(), "ptys 12 of 3,072 ├▌───────┤")
	r := reading()
	r.Snapshot.System.PTYs = fdmeter.Known(3000)
	f := &FDs{}
	f.Show(r)
	shows(t, f, "ptys 3,000 of 3,072 ├──────▌─┤ ! near")
	if text := draw(f, 90, 30, plainTheme).Text(); strings.Contains(text, "▌") {
		t.Errorf("a plain theme has a drawing:\n%s", text)
	}
}
