package fdmeter

import (
	"errors"
	"maps"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// crowd adds a root, 100, with so many children that quiet ones are not counted
// at every tick.
func (w *world) crowd() []int {
	pids := []int{100}
	w.add(100, 1, upTo(10))
	for pid := 1000; pid < 1000+fewMembers; pid++ {
		w.add(pid, 100, upTo(10))
		pids = append(pids, pid)
	}
	return pids
}

// processOf returns one process of a snapshot.
func processOf(t *testing.T, snap Snapshot, pid int) Process {
	t.Helper()
	i := slices.IndexFunc(snap.Processes, func(p Process) bool { return p.PID == pid })
	if i < 0 {
		t.Fatalf("no process %d", pid)
	}
	return snap.Processes[i]
}

func TestADescriptorThatWasSwappedForAHigherOneIsSeenWithinItsTicks(t *testing.T) {
	for _, many := range []bool{false, true} {
		for at := range 2 * highestTicks { // whatever the tick in which it happens
			w := newWorld()
			w.add(100, 1, upTo(10))
			if many {
				w.crowd()
			}
			s := w.sampler()
			now := noon.Add(time.Duration(3*quietAfter+at) * time.Second)
			ticks(s, noon, 3*quietAfter+at, 100)
			w.procs[100].fds[9] = 2000
			seen := 0
			for i := range highestTicks {
				p := processOf(t, s.Sample(now.Add(time.Duration(i)*time.Second), []int{100}), 100)
				if p.Highest == Known(2000) {
					seen++
				} else if p.HighestAt.Before(now.Add(-highestTicks * time.Second)) {
					t.Errorf("listed %v before it was closed", now.Sub(p.HighestAt))
				}
			}
			if seen == 0 {
				t.Fatalf("many %v, tick %d: not seen in %d ticks", many, at, highestTicks)
			}
		}
	}
}

func TestTheHighestNumberIsAskedForWhereItWasLast(t *testing.T) {
	w := newWorld()
	a := w.add(100, 1, upTo(10))
	s := w.sampler()
	s.Sample(noon, []int{100})
	if w.lasts[100] != -1 {
		t.Errorf("it was %d before the first listing", w.lasts[100])
	}
	a.fds = append(a.fds, 40)
	s.Sample(noon.Add(time.Second), []int{100})
	if w.lasts[100] != 9 {
		t.Errorf("the second listing began at %d", w.lasts[100])
	}
	a.listed = true // places may not be numbers where a size is no count
	ticks(s, noon.Add(2*time.Second), highestTicks, 100)
	if w.lasts[100] != -1 {
		t.Errorf("counted by listing, a listing began at %d", w.lasts[100])
	}
	a.listed = false
	a.err = syscall.EACCES // the number that was known counts no more
	ticks(s, noon.Add(2*time.Second), highestTicks, 100)
	if w.lasts[100] != -1 {
		t.Errorf("after a refusal a listing began at %d", w.lasts[100])
	}
}

func TestAQuietProcessAmongManyIsCountedLessOften(t *testing.T) {
	w := newWorld()
	pids := w.crowd()
	busy, near := w.procs[1001], w.procs[1002]
	near.fds = upTo(900)
	s := w.sampler()
	at := noon
	run := func(n int) {
		clear(w.counts)
		for range n {
			busy.fds = upTo(21 - len(busy.fds))
			s.Sample(at, []int{100})
			at = at.Add(time.Second)
		}
	}
	run(quietAfter)
	for _, pid := range pids {
		if w.counts[pid] != quietAfter {
			t.Errorf("process %d was counted %d times in its first %d ticks", pid, w.counts[pid], quietAfter)
		}
	}
	const often = 8 * quietTicks
	run(often)
	for _, pid := range pids {
		want := often / quietTicks
		if pid == 1001 || pid == 1002 { // changes, and near its line
			want = often
		}
		if w.counts[pid] != want {
			t.Errorf("process %d was counted %d times in %d ticks, want %d", pid, w.counts[pid], often, want)
		}
	}
	s.SetAttention(false)
	if run(often); w.counts[1003] != often {
		t.Errorf("at rest it was counted %d times in %d ticks", w.counts[1003], often)
	}
	s.SetAttention(true)
	delete(w.procs, 1000+fewMembers-1) // few enough now
	delete(w.procs, 1000+fewMembers-2)
	run(quietTicks + 1) // until their ends are noticed
	if run(often); w.counts[1003] != often {
		t.Errorf("among few it was counted %d times in %d ticks", w.counts[1003], often)
	}
}

func TestWhatAQuietProcessDoesIsSeenWithinItsTicks(t *testing.T) {
	for at := range quietTicks {
		w := newWorld()
		w.born = 5000
		w.crowd()
		s := w.sampler()
		start := 2*quietAfter + 1 + at
		now := noon.Add(time.Duration(start) * time.Second)
		before := ticks(s, noon, start, 100)
		w.procs[1003].fds = upTo(13)
		delete(w.procs, 1004)
		snap := before
		for i := range quietTicks {
			for _, p := range snap.Processes {
				if age := snap.At.Sub(p.At); age >= quietTicks*time.Second {
					t.Errorf("process %d was counted %v before", p.PID, age)
				}
			}
			snap = s.Sample(now.Add(time.Duration(i)*time.Second), []int{100})
		}
		wantKnown(t, "count", processOf(t, snap, 1003).Count, 13)
		wantKnown(t, "sum", snap.Roots[0].Total(), int64(10+10*fewMembers+3-10))
		if slices.ContainsFunc(snap.Processes, func(p Process) bool { return p.PID == 1004 }) {
			t.Error("one that ended is still counted")
		}
	}
}

func TestAQuietProcessIsAskedForAllAtOnce(t *testing.T) {
	for _, ticks := range []int{highestTicks, slowTicks, whoTicks, commandTicks} {
		if ticks%quietTicks != 0 {
			t.Errorf("something is due every %d ticks, a count every %d", ticks, quietTicks)
		}
	}
}

func TestAPidThatMayBelongToAnotherProcessIsProvedAtOnce(t *testing.T) {
	for _, holder := range []uint64{1, 2} {
		w := newWorld()
		w.born = 5000
		w.add(100, 1, upTo(1))
		child := w.add(101, 100, upTo(50))
		child.holder = 1
		s := w.sampler()
		ticks(s, noon, 100, 100)
		child.who.Birth, child.who.Name, child.holder = 999_999, "other", holder // as many descriptors
		p := processOf(t, s.Sample(noon.Add(100*time.Second), []int{100}), 101)
		if found := p.Name == "other" && p.Birth == 999_999 && !p.Growth.Known(); found != (holder == 2) {
			t.Errorf("holder %d: %s, born %d, %v", holder, p.Name, p.Birth, p.Growth.Trend)
		}
		p = processOf(t, ticks(s, noon.Add(101*time.Second), whoTicks, 100), 101)
		if p.Name != "other" {
			t.Errorf("holder %d: not proved by its start time in %d ticks", holder, whoTicks)
		}
	}
}

func TestWhereNoHolderIsToldTheStartTimeIsReadMoreOften(t *testing.T) {
	w := newWorld()
	w.born = 5000
	w.add(100, 1, upTo(1))
	s := w.sampler()
	ticks(s, noon, 5, 100)
	w.procs[100].who.Name = "other"
	if p := processOf(t, ticks(s, noon.Add(5*time.Second), slowTicks, 100), 100); p.Name != "other" {
		t.Errorf("after %d ticks it is %s", slowTicks, p.Name)
	}
}

func TestAnIdentityThatCouldNotBeReadIsReadAgain(t *testing.T) {
	w := newWorld()
	w.born = 5000
	a := w.add(100, 1, upTo(1))
	a.holder = 7
	s := w.sampler()
	ticks(s, noon, 50, 100)
	a.who.Birth, a.who.Name, a.holder, a.hidden = 999_999, "other", 8, syscall.EMFILE
	s.Sample(noon.Add(50*time.Second), []int{100})
	a.hidden = nil
	if p := processOf(t, s.Sample(noon.Add(51*time.Second), []int{100}), 100); p.Name != "other" {
		t.Errorf("it is %s", p.Name)
	}
}

func TestACommandLineIsReadAgainAfterAnExecAndNowAndThen(t *testing.T) {
	w := newWorld()
	w.born = 5000
	a := w.add(100, 1, upTo(1))
	a.who.image, a.argv, a.holder = 77, []string{"sh", "-c", "one"}, 1
	s := w.sampler()
	at := 0
	after := func(n int) string {
		at += n
		return processOf(t, ticks(s, noon.Add(time.Duration(at-n)*time.Second), n, 100), 100).Command
	}
	if got := after(3); got != "sh -c one" {
		t.Errorf("at first %q", got)
	}
	a.who.image, a.argv = 78, []string{"sh", "-c", "two"} // the name stays
	if got := after(whoTicks); got != "sh -c two" {
		t.Errorf("after an exec %q", got)
	}
	a.argv = []string{"sh: serving"}
	if got := after(commandTicks + whoTicks); got != "sh: serving" {
		t.Errorf("after it wrote over its title %q", got)
	}
}

func TestANewProcessIsFoundWithoutAList(t *testing.T) {
	w := newWorld()
	w.born = 1000
	w.add(100, 1, upTo(1))
	s := w.sampler()
	s.Sample(noon, []int{100})
	lists := w.scans
	at := noon
	root := func() Root {
		at = at.Add(time.Second)
		return s.Sample(at, []int{100}).Roots[0]
	}
	w.add(1003, 100, upTo(2)) // 1001 and 1002 have ended already
	w.add(1004, 1003, upTo(4)).who.thread = true
	w.born = 1004
	if got := root(); !slices.Equal(got.Members, []int{100, 1003}) {
		t.Errorf("members %v", got.Members)
	}
	w.add(1005, 100, upTo(8)).late = true
	w.born = 1005
	if got := root(); !slices.Equal(got.Members, []int{100, 1003}) {
		t.Errorf("members with one that is being made: %v", got.Members)
	}
	w.procs[1005].late = false
	if got := root(); !slices.Equal(got.Members, []int{100, 1003, 1005}) {
		t.Errorf("members with one that was being made: %v", got.Members)
	}
	if w.scans != lists {
		t.Errorf("%d lists were made", w.scans-lists)
	}
	looks := w.looks[1004]
	root()
	if w.looks[1004] != looks {
		t.Error("a thread is looked at again and again")
	}
}

func TestPidsThatCannotBeAskedOneByOneAreListed(t *testing.T) {
	for name, change := range map[string]func(w *world) int{
		"too many":           func(w *world) int { w.born += probeLimit + 1; return w.add(1500, 100, upTo(2)).who.PID },
		"from the start":     func(w *world) int { w.born = 300; return w.add(299, 100, upTo(2)).who.PID },
		"one that is denied": func(w *world) int { w.born = 1002; a := w.add(1002, 100, upTo(2)); a.hidden = syscall.EACCES; return 0 },
		"one that is known":  func(w *world) int { w.born = 1001; delete(w.procs, 1001); return 0 },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.born = 1000
			w.add(100, 1, upTo(1))
			w.add(1001, 1, upTo(1))
			s := w.sampler()
			s.Sample(noon, []int{100})
			lists := w.scans
			pid := change(w)
			snap := ticks(s, noon.Add(time.Second), 2, 100)
			if w.scans == lists {
				t.Error("no list was made")
			}
			if pid != 0 && !slices.Contains(snap.Roots[0].Members, pid) {
				t.Errorf("members %v lack %d", snap.Roots[0].Members, pid)
			}
			if denied := snap.Scan.Denied; (denied == 1) != (name == "one that is denied") {
				t.Errorf("%d denied", denied)
			}
		})
	}
}

func TestAFamilyThatIsUsedAgainIsAsGoodAsANewOne(t *testing.T) {
	used := newFamily(nil)
	rapid.Check(t, func(t *rapid.T) {
		pid := rapid.IntRange(1, 12)
		procs := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) Proc {
			return Proc{PID: pid.Draw(t, "pid"), Parent: pid.Draw(t, "parent"), Session: pid.Draw(t, "session")}
		}), 0, 12, func(p Proc) int { return p.PID }).Draw(t, "processes")
		used.clear()
		for i := range procs {
			used.add(&procs[i])
		}
		fresh := newFamily(procs)
		for root := range 13 {
			if got, want := used.of(root, nil), fresh.of(root, nil); !slices.Equal(got, want) {
				t.Fatalf("members of %d: %v, want %v", root, got, want)
			}
		}
		if !maps.Equal(used.procs, fresh.procs) {
			t.Fatal("other processes")
		}
	})
}

// A still source answers as a world does in which nothing moves, without an
// allocation of its own.
type still struct {
	*world
	procs []int
}

func (s still) count(int) (Value, Method, uint64)             { return Known(16), ByStat, 1 }
func (s still) highest(int, int) (top, looked int, err error) { return 15, 1, nil }
func (s still) command(int) ([]string, error)                 { return nil, errors.ErrUnsupported }

func (s still) limits(int) (soft, hard Value, method LimitMethod) { return Known(1024), Known(4096), 0 }

func (s still) identity(pid int) (Proc, error) {
	return Proc{PID: pid, Parent: 1, Session: 1, Birth: 5, Name: "still"}, nil
}

func (s still) pids(each func(int)) error {
	for _, pid := range s.procs {
		each(pid)
	}
	return nil
}

func TestATickAllocatesNothingForEachProcess(t *testing.T) {
	perTick := func(n int) float64 {
		src := still{world: newWorld(), procs: []int{os.Getpid()}}
		src.born = 1 << 30
		for i := range n {
			src.procs = append(src.procs, 1<<20+i)
		}
		s := NewSampler(&Meter{src: src})
		now, roots := noon, []int{1}
		tick := func() {
			s.Sample(now, roots)
			now = now.Add(time.Second)
		}
		for range 100 {
			tick()
		}
		if n := len(s.members); n < 100 {
			t.Fatalf("%d members", n)
		}
		return testing.AllocsPerRun(100, tick)
	}
	// The processes, the roots and the members of each root, in a snapshot of
	// its own.
	if few, many := perTick(100), perTick(1000); few > 3 || many > 3 {
		t.Errorf("%v allocations a tick with 100 processes, %v with 1,000", few, many)
	}
}

func TestTheTreeIsRightWhateverJoinsAndEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		w.born = 1000
		w.add(100, 1, upTo(1))
		w.add(200, 1, upTo(1))
		s := w.sampler()
		at := noon
		sample := func() Snapshot {
			at = at.Add(time.Second)
			return s.Sample(at, []int{100, 200})
		}
		sample()
		for range rapid.IntRange(1, 12).Draw(t, "ticks") {
			for range rapid.IntRange(0, 3).Draw(t, "new") {
				any := rapid.SampledFrom(slices.Sorted(maps.Keys(w.procs)))
				w.born += rapid.IntRange(1, 3).Draw(t, "step")
				a := w.add(w.born, any.Draw(t, "parent"), upTo(1))
				if rapid.Bool().Draw(t, "in a session") {
					a.who.Session = rapid.OneOf(rapid.Just(100), any).Draw(t, "session") // 100 may have ended
				}
				if rapid.Bool().Draw(t, "adopted") {
					a.who.Parent = 1
				}
			}
			if rapid.IntRange(0, 3).Draw(t, "one ends") == 0 {
				ends := rapid.SampledFrom(slices.Sorted(maps.Keys(w.procs))).Draw(t, "it")
				if ends == os.Getpid() {
					continue
				}
				delete(w.procs, ends)
				for _, a := range w.procs {
					if a.who.Parent == ends {
						a.who.Parent = 1
					}
				}
				sample() // an end is noticed, and the next tick lists
			}
			snap := sample()
			var procs []Proc
			for _, a := range w.procs {
				procs = append(procs, a.who)
			}
			family := newFamily(procs)
			for _, root := range snap.Roots {
				if want := family.of(root.PID, nil); !slices.Equal(root.Members, want) {
					t.Fatalf("members of %d: %v, want %v", root.PID, root.Members, want)
				}
			}
		}
	})
}
