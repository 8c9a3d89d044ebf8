package session

import (
	"sync/atomic"
	"time"

	"github.com/honestty/honestty/tools/fdmeter"
)

const (
	// sampleGap is the least time between two counts, however often one is
	// asked for.
	sampleGap = time.Second

	// lookGap is the least time between two looks at a pane.
	lookGap = time.Second

	// settle is the time from output to the look at its pane: a shell echoes the
	// Enter before it starts the program that the look is to find.
	settle = 200 * time.Millisecond

	// rareLook is how old a look at a pane may become that puts nothing out: a
	// program can change its directory without a word.
	rareLook = 30 * time.Second
)

// A gauge is what wakes the meter. Nothing else does: as long as nobody looks,
// nothing is put out and nothing starts or ends, it sleeps for as long as the
// sampler says.
type gauge struct {
	sampler *fdmeter.Sampler
	wake    chan struct{} // one pending wake-up is enough
	count   atomic.Bool   // a count is wanted now, not at the end of the pause
	look    atomic.Bool   // a pane wants to be looked at
}

func (g *gauge) init(noSelect func(pid int) bool) {
	g.sampler = fdmeter.NewSampler(&fdmeter.Meter{NoSelect: noSelect})
	g.wake = make(chan struct{}, 1)
}

func (g *gauge) poke() {
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// wantCount asks for a count as soon as sampleGap allows it.
func (g *gauge) wantCount() {
	if !g.count.Swap(true) {
		g.poke()
	}
}

// SetMeterAttention says whether somebody looks at the descriptors of each
// process: then they are counted every second, and else as seldom as
// fdmeter.Sampler.Interval allows. A new session is looked at.
func (s *Session) SetMeterAttention(looked bool) {
	s.gauge.sampler.SetAttention(looked)
	if looked {
		s.gauge.wantCount()
	}
}

// unseen marks a pane as one that may run something else now, or elsewhere. It
// is called for every piece of output and wakes nobody while the look that it
// asks for is still to come.
func (p *Pane) unseen() {
	p.moved.Store(time.Now().UnixNano())
	if !p.dirty.Swap(true) && !p.s.gauge.look.Swap(true) {
		p.s.gauge.poke()
	}
}

// movedSince reports whether the pane put something out in the time from t on.
// What is ahead of now was told by a clock that was set back since.
func (p *Pane) movedSince(t, now time.Time) bool {
	at := p.moved.Load()
	return at > t.UnixNano() && at <= now.UnixNano()
}

// meter counts the descriptors of this process and of every pane's tree, and
// looks what runs in the panes.
func (s *Session) meter() {
	defer s.conf.Guard()
	m := metering{s: s}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		timer.Reset(max(time.Until(m.turn(time.Now())), 0))
		select {
		case <-s.stop:
			return
		case <-s.gauge.wake:
		case <-timer.C:
		}
	}
}

// metering is when what was done last. Only the meter has it.
type metering struct {
	s        *Session
	counted  time.Time // the zero time: never
	looked   time.Time
	wantLook time.Time // when the first output after looked was seen; the zero time: there was none
}

// turn does what is due and returns when something will be.
func (m *metering) turn(now time.Time) time.Time {
	g := &m.s.gauge
	if g.look.Swap(false) && m.wantLook.IsZero() {
		m.wantLook = now
	}
	if at, due := m.lookAt(); due && !at.After(now) {
		m.look(now)
	}
	if !m.countAt().After(now) {
		g.count.Store(false)
		m.counted = now
		for _, p := range m.s.all() {
			if p.lookedBefore(now.Add(-rareLook)) {
				p.locate(now)
			}
		}
		m.s.facts.put(MeterRead{g.sampler.Sample(now, m.s.roots())})
	}
	next := m.countAt()
	if at, due := m.lookAt(); due && at.Before(next) {
		next = at
	}
	return next
}

// look looks at the panes that put something out. What one put out just before
// may be the echo of an Enter, so that one is looked at once more.
func (m *metering) look(now time.Time) {
	m.looked, m.wantLook = now, time.Time{}
	for _, p := range m.s.all() {
		if !p.dirty.Swap(false) {
			continue
		}
		p.locate(now)
		if p.movedSince(now.Add(-settle), now) {
			p.dirty.Store(true)
			m.wantLook = now
		}
	}
}

// lookAt is when the panes with output are looked at, if there are any.
func (m *metering) lookAt() (at time.Time, due bool) {
	if m.wantLook.IsZero() {
		return time.Time{}, false
	}
	at = m.wantLook.Add(settle)
	if earliest := m.looked.Add(lookGap); at.Before(earliest) {
		at = earliest
	}
	return at, true
}

// countAt is when the descriptors are counted.
func (m *metering) countAt() time.Time {
	if m.s.gauge.count.Load() {
		return m.counted.Add(sampleGap)
	}
	return m.counted.Add(m.s.gauge.sampler.Interval())
}
