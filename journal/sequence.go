package journal

// Why a number is missing.
const (
	whyOlder  = "older events were removed"
	whyNoLine = "no event with these numbers is there"
	whyBad    = "lines in their place could not be read"
	whyAgain  = "the numbers start again: the journal was removed or replaced"
	whyNoise  = "lines that are no events stand here"
	whyTorn   = "the last event is torn: its writer ended while it wrote, or is writing it"
	whyCut    = "the journal was cut by somebody else"
)

// gapAt is a gap that nobody wrote: it is what a reader found.
func gapAt(seq, events int64, why string) Event {
	return Event{Seq: seq, Gap: &Gap{Events: events, Why: why}}
}

// A sequence tells what is missing between events.
type sequence struct {
	last int64 // number of the last event; 0 before the first
	bad  int   // lines since then that could not be read
}

// before returns the gap that stands before e, if there is one. The gap's Seq
// is the first missing number, 0 where none is known.
func (s *sequence) before(e *Event) (gap Event, ok bool) {
	bad, last := s.bad, s.last
	s.bad, s.last = 0, e.Seq
	if e.Gap != nil && e.Gap.Torn && bad > 0 {
		bad-- // the event itself tells of it
	}
	return missing(last, e.Seq, bad)
}

// missing is the gap between two numbers that were read one after the other,
// and bad lines between them.
func missing(last, seq int64, bad int) (gap Event, ok bool) {
	switch n := seq - last - 1; {
	case n < 0:
		return gapAt(0, -1, whyAgain), true
	case n > 0 && last == 0:
		return gapAt(1, n, whyOlder), true
	case n > 0 && bad > 0:
		return gapAt(last+1, n, whyBad), true
	case n > 0:
		return gapAt(last+1, n, whyNoLine), true
	case bad > 0:
		return gapAt(0, -1, whyNoise), true
	}
	return Event{}, false
}
