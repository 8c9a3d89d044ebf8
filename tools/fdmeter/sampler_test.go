package fdmeter

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// ticks samples n times, one second apart, and returns the last snapshot.
func ticks(s *Sampler, from time.Time, n int, roots ...int) Snapshot {
	var snap Snapshot
	for i := range n {
		snap = s.Sample(from.Add(time.Duration(i)*time.Second), roots)
	}
	return snap
}

func TestASampleSumsEachRootAndCountsUsOnce(t *testing.T) {
	w := newWorld()
	w.add(100, os.Getpid(), upTo(10))
	w.add(101, 100, upTo(20))
	w.add(200, os.Getpid(), upTo(3))
	w.add(900, 1, upTo(700)) // nobody's
	snap := w.sampler().Sample(noon, []int{100, 200})
	wantKnown(t, "own", snap.Own.Count, 5)
	if len(snap.Roots) != 2 || len(snap.Processes) != 4 || snap.At != noon {
		t.Fatalf("snapshot %+v", snap)
	}
	wantKnown(t, "root 100", snap.Roots[0].Total(), 30)
	wantKnown(t, "root 200", snap.Roots[1].Total(), 3)
	if !slices.Equal(snap.Roots[0].Members, []int{100, 101}) {
		t.Errorf("members %v", snap.Roots[0].Members)
	}
	if p, ok := snap.Nearest(); !ok || p.PID != 101 || p.Line.Kind != LineSelect {
		t.Errorf("nearest %+v", p)
	}
	if line, ok := snap.SystemLine(); !ok || line.Kind != LineSystem && line.Kind != LinePTY {
		t.Errorf("system line %+v", line)
	}
}

func TestADeniedMemberMakesTheSumUnknownAndIsListed(t *testing.T) {
	w := newWorld()
	w.add(100, 1, upTo(10))
	w.add(101, 100, upTo(20)).err = syscall.EACCES
	snap := w.sampler().Sample(noon, []int{100})
	root := snap.Roots[0]
	wantUnknown(t, "sum", root.Total(), Denied)
	if root.Sum != 10 || root.Unknown != 1 {
		t.Errorf("root %+v", root)
	}
	if want := []Missing{{101, "p101", "not permitted", Denied}}; !slices.Equal(snap.Unknown, want) {
		t.Errorf("unknown %+v", snap.Unknown)
	}
	if p, _ := snap.Nearest(); p.PID == 101 {
		t.Error("a process without a count is nearest to a line")
	}
	text, err := json.Marshal(snap)
	if err != nil || !strings.Contains(string(text), `"count":null,"at_least":10,"unknown":1`) {
		t.Errorf("JSON %s, %v", text, err)
	}
}

func TestTheHighestNumberIsListedOnChangeAndNowAndThen(t *testing.T) {
	w := newWorld()
	a := w.add(100, 1, upTo(10))
	s := w.sampler()
	s.Sample(noon, []int{100})
	lists := w.lists[100]
	if lists != 1 {
		t.Fatalf("listed %d times at first", lists)
	}
	ticks(s, noon.Add(time.Second), 5*highestTicks, 100)
	if got := w.lists[100] - lists; got != 5 {
		t.Errorf("listed %d times in %d quiet ticks, want 5", got, 5*highestTicks)
	}
	lists = w.lists[100]
	a.fds = append(a.fds, 500)
	snap := s.Sample(noon.Add(time.Minute), []int{100})
	if w.lists[100] != lists+1 {
		t.Error("not listed when the count changed")
	}
	p := snap.Processes[slices.IndexFunc(snap.Processes, func(p Process) bool { return p.PID == 100 })]
	wantKnown(t, "highest", p.Highest, 500)
	if p.HighestAt != noon.Add(time.Minute) {
		t.Errorf("listed at %v", p.HighestAt)
	}
}

func TestALargeProcessIsListedTheLessOftenTheMoreItHolds(t *testing.T) {
	w := newWorld()
	a := w.add(100, 1, upTo(20_000))
	s := w.sampler()
	for i := range 100 {
		a.fds = append(a.fds, len(a.fds))
		snap := s.Sample(noon.Add(time.Duration(i)*time.Second), []int{100})
		p := snap.Processes[0]
		if p.PID != 100 {
			p = snap.Processes[1]
		}
		wantKnown(t, "count", p.Count, int64(len(a.fds)))
		if n, known := p.Highest.Get(); known && n < int64(len(a.fds)-1) {
			t.Fatalf("highest %d of %d descriptors", n, len(a.fds))
		}
		// What the line shows is never behind the count.
		if used, known := Lines(p.Reading)[0].Used.Get(); !known || used < int64(len(a.fds)) {
			t.Fatalf("used %d of %d", used, len(a.fds))
		}
	}
	if got := w.lists[100]; got < 3 || got > 8 {
		t.Errorf("listed %d times in 100 ticks", got)
	}
}

func TestTheListingBudgetReachesEverybody(t *testing.T) {
	w := newWorld()
	for i := range 30 {
		w.add(100+i, 1, upTo(1000))
	}
	roots := make([]int, 30)
	for i := range roots {
		roots[i] = 100 + i
	}
	s := w.sampler()
	for i := range 20 {
		before := 0
		for _, n := range w.lists {
			before += n
		}
		s.Sample(noon.Add(time.Duration(i)*time.Second), roots)
		after := 0
		for _, n := range w.lists {
			after += n
		}
		if after-before > 1+listBudget/1000 {
			t.Fatalf("tick %d listed %d processes", i, after-before)
		}
	}
	for _, pid := range roots {
		if w.lists[pid] == 0 {
			t.Errorf("process %d was never listed", pid)
		}
	}
}

func TestAReusedPidStartsANewHistory(t *testing.T) {
	w := newWorld()
	w.add(100, 1, upTo(10))
	child := w.add(101, 100, upTo(50))
	s := w.sampler()
	ticks(s, noon, 100, 100)
	child.who.Birth, child.who.Name, child.fds, child.soft = 999_999, "other", upTo(7), 2048
	snap := s.Sample(noon.Add(100*time.Second), []int{100})
	p := snap.Processes[slices.IndexFunc(snap.Processes, func(p Process) bool { return p.PID == 101 })]
	if p.Name != "other" || p.Birth != 999_999 || p.Growth.Known() {
		t.Errorf("process %+v", p)
	}
	wantKnown(t, "soft", p.Soft, 2048)
	for _, v := range p.Spark[:SparkCells-1] {
		wantUnknown(t, "cell of the old process", v, NotRead)
	}
}

func TestARootWhosePidIsReusedStaysGone(t *testing.T) {
	w := newWorld()
	root := w.add(100, 1, upTo(10))
	s := w.sampler()
	s.Sample(noon, []int{100})
	delete(w.procs, 100)
	if snap := s.Sample(noon.Add(time.Second), []int{100}); !snap.Roots[0].Gone || len(snap.Roots[0].Members) != 0 || len(snap.Unknown) != 0 {
		t.Errorf("after its end: %+v, unknown %v", snap.Roots[0], snap.Unknown)
	}
	w.add(100, 1, upTo(33)).who.Birth = root.who.Birth + 1
	snap := s.Sample(noon.Add(2*time.Second), []int{100})
	if !snap.Roots[0].Gone || len(snap.Processes) != 1 {
		t.Errorf("a stranger with the pid: %+v", snap.Roots[0])
	}
	s.Sample(noon.Add(3*time.Second), nil)
	if snap := s.Sample(noon.Add(4*time.Second), []int{100}); snap.Roots[0].Gone {
		t.Error("asked for anew, it is still gone")
	}
}

func TestSurvivorsOfAGoneRootAreStillCounted(t *testing.T) {
	w := newWorld()
	w.add(100, 1, upTo(10))
	w.add(101, 100, upTo(4)).who.Session = 100
	s := w.sampler()
	s.Sample(noon, []int{100})
	delete(w.procs, 100)
	w.procs[101].who.Parent = 1 // adopted
	root := s.Sample(noon.Add(time.Second), []int{100}).Roots[0]
	if !root.Gone || !slices.Equal(root.Members, []int{101}) || root.Sum != 4 {
		t.Errorf("root %+v", root)
	}
}

func TestNewAndEndedChildrenAreFollowedAtOnce(t *testing.T) {
	w := newWorld()
	w.add(100, 1, upTo(1))
	s := w.sampler()
	s.Sample(noon, []int{100})
	w.add(101, 100, upTo(2))
	w.add(102, 101, upTo(4))
	if got := s.Sample(noon.Add(time.Second), []int{100}).Roots[0]; got.Sum != 7 {
		t.Errorf("with children: %+v", got)
	}
	delete(w.procs, 102)
	if got := s.Sample(noon.Add(2*time.Second), []int{100}).Roots[0]; got.Sum != 3 {
		t.Errorf("after one ended: %+v", got)
	}
	if len(s.tracks) != 3 {
		t.Errorf("%d tracks for three processes", len(s.tracks))
	}
}

func TestAChildAdoptedWithinTheTreeStaysInIt(t *testing.T) {
	w := newWorld()
	w.add(100, 1, upTo(1))
	w.add(101, 100, upTo(2))
	w.add(102, 101, upTo(4))
	s := w.sampler()
	s.Sample(noon, []int{100})
	delete(w.procs, 101)
	w.procs[102].who.Parent = 100
	if got := s.Sample(noon.Add(time.Second), []int{100}).Roots[0]; got.Sum != 5 {
		t.Errorf("root %+v", got)
	}
}

func TestAMemberThatEndsDuringTheTickHoldsNothing(t *testing.T) {
	w := newWorld()
	w.add(100, 1, upTo(1))
	w.add(101, 100, upTo(2)).err = syscall.ENOENT
	snap := w.sampler().Sample(noon, []int{100})
	wantKnown(t, "sum", snap.Roots[0].Total(), 1)
	if len(snap.Unknown) != 0 || len(snap.Processes) != 2 || !slices.Equal(snap.Roots[0].Members, []int{100}) {
		t.Errorf("snapshot %+v", snap)
	}
}

func TestFiguresOfTwoProcessesAreNotMixed(t *testing.T) {
	w := newWorld()
	a := w.add(100, 1, upTo(3))
	m := &Meter{src: w}
	w.listed = func() { a.who.Birth++ } // the pid is given to another process
	wantUnknown(t, "count", m.Read(100, noon).Count, Gone)
	wantUnknown(t, "listed", m.Types(100, noon).Listed, Gone)
	w.listed = func() { delete(w.procs, 100) }
	wantUnknown(t, "count", m.Read(100, noon).Count, Gone)
}

func TestWithoutTheListOfProcessesTheKnownOnesAreCounted(t *testing.T) {
	w := newWorld()
	w.add(100, 1, upTo(10))
	w.add(101, 100, upTo(2))
	s := w.sampler()
	s.Sample(noon, []int{100})
	w.denied = syscall.EMFILE
	w.add(300, 1, upTo(6))
	snap := s.Sample(noon.Add(time.Second), []int{100, 300})
	if snap.Scan.Listed || snap.Scan.Cause != NoDescriptors {
		t.Errorf("scan %+v", snap.Scan)
	}
	wantKnown(t, "known root", snap.Roots[0].Total(), 12)
	wantKnown(t, "root that came meanwhile", snap.Roots[1].Total(), 6)
	w.denied = nil
	if snap = s.Sample(noon.Add(2*time.Second), []int{100, 300}); snap.Roots[1].Gone || !snap.Scan.Complete() {
		t.Errorf("afterwards: %+v, %+v", snap.Roots[1], snap.Scan)
	}
}

func TestARootThatMayNotBeLookedAtIsUnknownNotGone(t *testing.T) {
	w := newWorld()
	a := w.add(100, 1, upTo(10))
	a.hidden, a.err = syscall.EACCES, syscall.EACCES
	snap := w.sampler().Sample(noon, []int{100})
	root := snap.Roots[0]
	if root.Gone || root.Unknown != 1 || snap.Scan.Denied != 1 || snap.Scan.Complete() {
		t.Errorf("root %+v, scan %+v", root, snap.Scan)
	}
	wantUnknown(t, "sum", root.Total(), Denied)
}

func TestASnapshotDoesNotChangeAfterwards(t *testing.T) {
	w := newWorld()
	a := w.add(100, 1, upTo(10))
	s := w.sampler()
	snap := ticks(s, noon, 70, 100)
	before, err := json.Marshal(snap)
	if err != nil {
		t.Fatal(err)
	}
	members := slices.Clone(snap.Roots[0].Members)
	a.fds = upTo(900)
	w.add(101, 100, upTo(3))
	ticks(s, noon.Add(time.Hour), 70, 100)
	after, _ := json.Marshal(snap)
	if string(before) != string(after) || !reflect.DeepEqual(members, snap.Roots[0].Members) {
		t.Errorf("it was\n%s\nand is\n%s", before, after)
	}
}

func TestALeakIsNamedWithTheTimeThatIsLeft(t *testing.T) {
	w := newWorld()
	leaky := w.add(100, 1, upTo(800))
	w.add(101, 100, upTo(30))
	s := w.sampler()
	var snap Snapshot
	for i := range 120 {
		if i%10 == 0 {
			leaky.fds = append(leaky.fds, len(leaky.fds))
		}
		snap = s.Sample(noon.Add(time.Duration(i)*time.Second), []int{100})
	}
	p, ok := snap.Nearest()
	if !ok || p.PID != 100 || p.Growth.Trend != Rising || p.Line.Kind != LineSelect {
		t.Fatalf("nearest %+v", p)
	}
	if d, ok := p.FullIn(); !ok || d < 30*time.Minute || d > 40*time.Minute {
		t.Errorf("full in %v, %v", d, ok)
	}
	for _, other := range snap.Processes {
		if _, ok := other.FullIn(); ok != (other.PID == 100) {
			t.Errorf("process %d: full in said %v", other.PID, ok)
		}
	}
}

func TestProcessesThatAreNobodysAreSeldomLookedAt(t *testing.T) {
	w := newWorld()
	w.add(100, 1, upTo(3))
	for pid := 1000; pid < 1100; pid++ {
		w.add(pid, 1, upTo(3))
	}
	s := w.sampler()
	s.Sample(noon, []int{100})
	clear(w.looks)
	ticks(s, noon.Add(time.Second), rereadTicks, 100)
	for pid := 1000; pid < 1100; pid++ {
		if w.looks[pid] != 1 {
			t.Errorf("process %d was looked at %d times in %d ticks", pid, w.looks[pid], rereadTicks)
		}
	}
}
