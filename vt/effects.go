package vt

import "slices"

// The kinds of Event.
const (
	EventTitle    = "title"    // Data is the new title, cleaned
	EventIcon     = "icon"     // Data is the new icon name, cleaned
	EventBell     = "bell"     // N bells rang
	EventCwd      = "cwd"      // Data is the OSC 7 address as sent; check its host before use
	EventOSC52    = "osc52"    // Data is what the program wants in the clipboard; N is 1 for the primary selection
	EventNotify   = "notify"   // Data is a notification text, cleaned; title and body are separated by a line feed
	EventProgress = "progress" // OSC 9;4: Data is the state 0-4, N the percentage
	EventMark     = "mark"     // OSC 133: Data is A, B, C or D; N is the exit code of D, -1 when not told
	EventPalette  = "palette"  // colours changed; Data names which
	EventMode     = "mode"     // a mode changed that input or drawing depends on
	EventDropped  = "dropped"  // Data is a Drop name, N how often in this Write
	EventUnknown  = "unknown"  // Data is "sequence", N how many sequences were not known
)

// An Event is something the host may want to know or decide on.
type Event struct {
	Kind string
	Data string
	N    int
}

// Effects are what one call asks of the host. They are valid until the next call
// that returns Effects.
type Effects struct {
	Reply  []byte // to be written to the program, in order
	Events []Event
}

// begin starts a new set of effects.
func (t *Terminal) begin() {
	t.fx.Reply = t.fx.Reply[:0]
	if cap(t.fx.Reply) > 64<<10 {
		t.fx.Reply = nil
	}
	clear(t.fx.Events)
	t.fx.Events = t.fx.Events[:0]
	if cap(t.fx.Events) > 256 {
		t.fx.Events = nil
	}
}

// end closes a set of effects: bells become one event, and so does each kind of
// drop, whatever their number.
func (t *Terminal) end() *Effects {
	if t.bells > 0 {
		t.fx.Events = append(t.fx.Events, Event{Kind: EventBell, N: t.bells})
		t.bells = 0
	}
	if t.dropping {
		t.dropping = false
		for d, n := range t.dropNow {
			if n == 0 {
				continue
			}
			kind, data := EventDropped, Drop(d).String()
			if Drop(d) == DropUnknown {
				kind, data = EventUnknown, "sequence"
			}
			t.fx.Events = append(t.fx.Events, Event{Kind: kind, Data: data, N: n})
		}
		clear(t.dropNow[:])
	}
	return &t.fx
}

// drop counts one thing that had no effect, or less than was asked.
func (t *Terminal) drop(d Drop) {
	t.drops[d]++
	t.dropNow[d]++
	t.dropping = true
}

// event adds an event, within the limit.
func (t *Terminal) event(kind, data string, n int) {
	if len(t.fx.Events) >= t.lim.Events {
		t.drop(DropEvent)
		return
	}
	t.fx.Events = append(t.fx.Events, Event{Kind: kind, Data: data, N: n})
}

// modeEvent tells once per Write that modes changed.
func (t *Terminal) modeEvent() {
	if slices.ContainsFunc(t.fx.Events, func(e Event) bool { return e.Kind == EventMode }) {
		return
	}
	t.event(EventMode, "", 0)
}

// reply adds bytes for the program. A reply that does not fit is left out whole:
// half of one would be read as something else.
func (t *Terminal) reply(s string) {
	if len(t.fx.Reply)+len(s) > t.lim.ReplyBytes {
		t.drop(DropReply)
		return
	}
	t.fx.Reply = append(t.fx.Reply, s...)
}

// replyBytes is reply for an answer that programs ask for by the thousand.
func (t *Terminal) replyBytes(b []byte) {
	if len(t.fx.Reply)+len(b) > t.lim.ReplyBytes {
		t.drop(DropReply)
		return
	}
	t.fx.Reply = append(t.fx.Reply, b...)
}
