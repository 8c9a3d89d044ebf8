package session

import (
	"fmt"
	"sync"
	"time"

	"github.com/honestty/honestty/journal"
)

// The pauses between two looks at the journal. Somebody who watches calls sees
// them come at once; otherwise an alert may be a second late.
const (
	watchedPause = 150 * time.Millisecond
	quietPause   = time.Second
)

// callsKept bounds the events that nobody has taken: a client that is so far
// behind reads the journal anew.
const callsKept = 20_000

// CallsChanged says that there is something in TakeCalls.
type CallsChanged struct{}

func (CallsChanged) fact() {}

// A calls follows the journal for a client.
type calls struct {
	mu      sync.Mutex
	events  []journal.Event
	missed  bool
	trouble error
	watched bool
	wake    chan struct{} // has room for one
}

// NewCalls are the events since the last TakeCalls.
type NewCalls struct {
	Events []journal.Event
	Missed bool  // there were too many: the journal has to be read anew
	Err    error // why the journal cannot be followed now; nil when it is
}

// TakeCalls returns what came into the journal since it was last called.
func (s *Session) TakeCalls() NewCalls {
	c := &s.calls
	c.mu.Lock()
	defer c.mu.Unlock()
	n := NewCalls{c.events, c.missed, c.trouble}
	c.events, c.missed = nil, false
	return n
}

// WatchCalls says whether somebody looks at the calls, so that they are to be
// shown as soon as they come.
func (s *Session) WatchCalls(on bool) {
	c := &s.calls
	c.mu.Lock()
	wake := on && !c.watched
	c.watched = on
	c.mu.Unlock()
	if wake {
		select {
		case c.wake <- struct{}{}:
		default: // it is awake
		}
	}
}

// follow reads the journal until the session closes. follower is the client's
// to make, so that the client's own reading and the following fit together.
func (s *Session) follow(f *journal.Follower) {
	defer s.conf.Guard()
	defer f.Close()
	t := time.NewTimer(0)
	defer t.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-t.C:
		case <-s.calls.wake:
		}
		events, err := f.Poll()
		if s.calls.add(events, err) {
			s.facts.put(CallsChanged{})
		}
		t.Reset(s.calls.pause())
	}
}

// add keeps events for the client, and reports whether there is news.
func (c *calls) add(events []journal.Event, err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	news := len(events) > 0 || fmt.Sprint(err) != fmt.Sprint(c.trouble)
	c.trouble = err
	if len(c.events)+len(events) > callsKept {
		c.events, c.missed = nil, true
	}
	if !c.missed {
		c.events = append(c.events, events...)
	}
	return news
}

func (c *calls) pause() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watched {
		return watchedPause
	}
	return quietPause
}

// FollowCalls tells the client of calls from where the follower stands on. It
// is called at most once; the follower is the session's then.
func (s *Session) FollowCalls(f *journal.Follower) {
	s.wg.Go(func() { s.follow(f) })
}
