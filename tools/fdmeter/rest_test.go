package fdmeter

import (
	"os"
	"slices"
	"testing"
	"time"
)

func TestProcessesAreListedOnlyWhenOneWasMade(t *testing.T) {
	w := newWorld()
	w.born = 100
	a := w.add(100, 1, upTo(10))
	s := w.sampler()
	ticks(s, noon, 3, 100)
	if w.scans != 1 {
		t.Errorf("listed %d times in three quiet ticks", w.scans)
	}
	w.add(101, 100, upTo(4))
	w.born = 101
	snap := s.Sample(noon.Add(4*time.Second), []int{100})
	wantKnown(t, "with a child", snap.Roots[0].Total(), 14)
	// Counting goes on without a list.
	before := w.scans
	a.fds = upTo(12)
	wantKnown(t, "after it opened two", s.Sample(noon.Add(5*time.Second), []int{100}).Roots[0].Total(), 16)
	if w.scans != before {
		t.Error("a count made a list")
	}
	delete(w.procs, 101)
	wantKnown(t, "after the child ended", s.Sample(noon.Add(6*time.Second), []int{100}).Roots[0].Total(), 12)
	s.Sample(noon.Add(7*time.Second), []int{100})
	if w.scans != before+1 {
		t.Errorf("the end of a member made %d lists, want 1", w.scans-before)
	}
	if s.Sample(noon.Add(8*time.Second), []int{100, 101}); w.scans != before+2 {
		t.Error("a new root made no list")
	}
}

func TestTheTableIsRenewedNowAndThenAllTheSame(t *testing.T) {
	for resting, want := range map[bool]int{false: 3, true: 10} {
		w := newWorld()
		w.born = 100
		s := w.sampler()
		s.SetAttention(!resting)
		ticks(s, noon, 30)
		if w.scans != want {
			t.Errorf("resting %v: listed %d times in 30 ticks, want %d", resting, w.scans, want)
		}
		if w.pools < 25 {
			t.Errorf("the pools were read %d times in 30 ticks", w.pools)
		}
	}
}

func TestTheIntervalFollowsAttentionAndUrgency(t *testing.T) {
	w := newWorld()
	a := w.add(100, 1, upTo(10))
	s := w.sampler()
	at := noon
	step := func() time.Duration {
		s.Sample(at, []int{100})
		at = at.Add(time.Second)
		return s.Interval()
	}
	if d := step(); d != watchInterval {
		t.Errorf("looked at: %v", d)
	}
	s.SetAttention(false)
	if d := step(); d != restInterval {
		t.Errorf("at rest: %v", d)
	}
	var d time.Duration
	for range calmTicks {
		d = step()
	}
	if d != calmInterval {
		t.Errorf("when nothing changes: %v", d)
	}
	if calmInterval >= CellSpan {
		t.Error("a cell of the history may stay without a sample")
	}
	a.fds = upTo(20)
	if d := step(); d != restInterval {
		t.Errorf("after a change: %v", d)
	}
	a.fds = upTo(900)
	if d := step(); d != watchInterval {
		t.Errorf("with a line at hand: %v", d)
	}
	a.fds = upTo(5000)
	a.soft = 1 << 20
	for range slowTicks {
		d = step()
	}
	if d == watchInterval {
		t.Error("a server that lives past 1024 on purpose keeps us awake")
	}
}

func TestARealSamplerSeesAChildAtRest(t *testing.T) {
	s := NewSampler(&Meter{})
	s.SetAttention(false)
	if n, known := systemSource().newest(); known && n <= 0 {
		t.Errorf("newest = %d", n)
	}
	s.Sample(noon, []int{os.Getpid()})
	h := start(t, "idle")
	snap := s.Sample(noon.Add(time.Second), []int{os.Getpid()})
	if !slices.Contains(snap.Roots[0].Members, h.pid()) {
		t.Errorf("members %v lack the new child %d", snap.Roots[0].Members, h.pid())
	}
}
