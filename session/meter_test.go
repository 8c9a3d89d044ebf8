package session

import (
	"os"
	"testing"
	"time"

	"github.com/honestty/honestty/tools/fdmeter"
)

// readings is how many counts were published.
func (c *client) readings() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, f := range c.facts {
		if _, ok := f.(MeterRead); ok {
			n++
		}
	}
	return n
}

// unmetered is a session whose meter a test turns itself, with one pane in
// which nothing runs.
func unmetered() (m metering, p *Pane) {
	s := &Session{panes: map[PaneID]*Pane{}}
	s.facts.init()
	s.gauge.init(nil)
	p = newPane(s, 1, Spec{}, size)
	s.panes[1] = p
	return metering{s: s}, p
}

// counts reports whether a turn at this time counted, and when the next is due.
func (m *metering) counts(now time.Time) (counted bool, next time.Time) {
	next = m.turn(now)
	return m.counted.Equal(now), next
}

func TestTheMeterIsSlowWhileNobodyLooks(t *testing.T) {
	m, _ := unmetered()
	now := time.Now()
	if counted, next := m.counts(now); !counted || next.Sub(now) != time.Second {
		t.Errorf("somebody looks: counted %v, again in %v", counted, next.Sub(now))
	}
	m.s.SetMeterAttention(false)
	if counted, next := m.counts(now); next.Sub(now) < 5*time.Second {
		t.Errorf("nobody looks: counted %v, again in %v", counted, next.Sub(now))
	}
	if counted, _ := m.counts(now.Add(4 * time.Second)); counted {
		t.Error("it counts before its time")
	}
	m.s.SetMeterAttention(true)
	if len(m.s.gauge.wake) != 1 {
		t.Error("the meter sleeps on when somebody looks")
	}
	if counted, next := m.counts(now.Add(4 * time.Second)); !counted || next.Sub(now) != 5*time.Second {
		t.Errorf("somebody looks again: counted %v, again in %v", counted, next.Sub(now)-4*time.Second)
	}
}

func TestHoweverOftenACountIsWantedThereIsOneASecond(t *testing.T) {
	m, _ := unmetered()
	m.s.SetMeterAttention(false)
	now := time.Now()
	m.turn(now)
	for i := range 9 {
		m.s.gauge.wantCount()
		if counted, next := m.counts(now.Add(time.Duration(i+1) * 100 * time.Millisecond)); counted || next.Sub(now) != sampleGap {
			t.Fatalf("counted %v, again in %v", counted, next.Sub(now))
		}
	}
	if counted, next := m.counts(now.Add(sampleGap)); !counted || next.Sub(now) < 5*time.Second {
		t.Errorf("counted %v, again in %v", counted, next.Sub(now))
	}
}

func TestAPaneIsLookedAtWhenItPutSomethingOutAndOnceASecond(t *testing.T) {
	m, p := unmetered()
	m.s.SetMeterAttention(false)
	now := time.Now()
	m.turn(now)
	quiet := m.turn(now.Add(time.Second))
	if !p.located.IsZero() || quiet.Sub(now) < 5*time.Second {
		t.Fatalf("a quiet pane was looked at, or will be: %v, %v", p.located, quiet.Sub(now))
	}
	now = time.Now()
	p.unseen()
	if next := m.turn(now); next.Sub(now) != settle || !p.located.IsZero() {
		t.Errorf("the look comes after %v", next.Sub(now))
	}
	first := now.Add(settle + time.Second) // so much later that the output is old
	if m.turn(first); !p.located.Equal(first) {
		t.Errorf("not looked at: %v", p.located)
	}
	p.unseen()
	if next := m.turn(first); next.Sub(first) != lookGap {
		t.Errorf("the next look comes after %v", next.Sub(first))
	}
}

func TestOutputJustBeforeALookAsksForAnother(t *testing.T) {
	m, p := unmetered()
	m.s.SetMeterAttention(false)
	p.unseen() // what was typed
	m.turn(time.Now())
	p.unseen() // the echo of the Enter, long after; what it starts is not there yet
	now := time.Now()
	m.wantLook = now.Add(-settle)
	next := m.turn(now)
	if !p.located.Equal(now) || next.Sub(now) != lookGap {
		t.Fatalf("looked at %v, again in %v", p.located, next.Sub(now))
	}
	later := now.Add(lookGap)
	if m.turn(later); !p.located.Equal(later) {
		t.Error("no second look")
	}
	if next := m.turn(later); next.Sub(later) <= lookGap {
		t.Errorf("a third look in %v", next.Sub(later))
	}
}

func TestANewDirectoryIsSeenWhileNobodyLooksAtTheMeter(t *testing.T) {
	c := connect(t, Config{})
	c.SetMeterAttention(false)
	dir := t.TempDir()
	p := c.Open(sh("cd '"+dir+"'; echo here; exec sleep 100"), size)
	c.await(func() bool {
		i := p.Info()
		return i.Where.Dir == dir && i.Where.Command == "sleep"
	})
	before := c.readings()
	c.SetMeterAttention(true)
	c.await(func() bool { return c.readings() > before })
}

func TestOwnPartsNameWhatAPaneCosts(t *testing.T) {
	c := connect(t, Config{})
	var panes []*Pane
	for range 3 {
		panes = append(panes, c.Open(sh("exec sleep 100"), size))
	}
	for _, p := range panes {
		c.awaitState(p, StateRunning)
	}
	meter := &fdmeter.Meter{}
	b := meter.Types(os.Getpid(), time.Now())
	share := meter.Own(time.Now(), os.Getpid(), c.OwnParts(b))
	got := map[string]int{}
	for _, part := range share.Parts {
		got[part.Label] = len(part.FDs)
		if len(part.Missing) > 0 {
			t.Errorf("%s claims %v", part.Label, part.Missing)
		}
	}
	if !b.Listed.Known() || b.Counts[fdmeter.KindPTY] == 0 {
		t.Skipf("this system does not tell: %s", b.Listed.Reason())
	}
	if got[PartMasters] != len(panes) || got[PartPidfds] != len(panes) || got[PartWaiter] != 1 || got[PartWake] != 1 {
		t.Errorf("%v", got)
	}
}

func TestAQuietPaneIsLookedAtNowAndThen(t *testing.T) {
	c := connect(t, Config{})
	p := c.Open(sh("exec sleep 100"), size)
	c.await(func() bool { return p.Info().Where.Command == "sleep" })
	c.Session.mu.Lock() // the session's own meter cannot reach the pane
	delete(c.Session.panes, p.ID())
	c.Session.mu.Unlock()
	t.Cleanup(func() { p.Close() })
	m, _ := unmetered()
	m.s.panes = map[PaneID]*Pane{p.ID(): p}
	m.s.SetMeterAttention(false)
	p.mu.Lock()
	at := p.located
	p.mu.Unlock()
	for _, step := range []struct {
		after time.Duration
		looks bool
	}{{rareLook - time.Second, false}, {rareLook, true}} {
		m.counted = time.Time{}
		m.turn(at.Add(step.after))
		p.mu.Lock()
		if looked := p.located.Equal(at.Add(step.after)); looked != step.looks {
			t.Errorf("after %v: looked %v", step.after, looked)
		}
		p.mu.Unlock()
	}
}
