package outcome

import "fmt"

// A Status says how a call ended. The zero value is Unknown, so a result that
// nobody filled in can never read as success.
type Status uint8

// The ways a call can end. Only Complete is success.
const (
	Unknown   Status = iota // nobody can tell
	Complete                // all that was asked was done, and that is known
	Partial                 // some of it was done; Dropped lists the rest
	Failed                  // it was tried and did not work
	Refused                 // a rule forbade it; nothing was done
	Cancelled               // the caller took it back before the end
)

var statusNames = [...]string{"unknown", "complete", "partial", "failed", "refused", "cancelled"}

// OK reports whether s is success.
func (s Status) OK() bool { return s == Complete }

func (s Status) String() string { return name(statusNames[:], int(s)) }

// MarshalText writes the word used in JSON.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the word used in JSON.
func (s *Status) UnmarshalText(text []byte) error {
	return parse(s, statusNames[:], "status", text)
}

// An End says how the reading of one stream came to its end. The zero value
// is EndUnknown.
type End uint8

// The ways a stream can end. Only EndEOF and EndHangup prove that nothing
// more was there to read.
const (
	EndUnknown End = iota // nobody looked
	EndEOF                // read returned 0: every writer closed it
	EndHangup             // a terminal reported hangup (EIO on Linux) after its last byte
	EndStopped            // we stopped reading before any end was seen
	EndBroken             // reading or waiting failed; Capture.Cause says with what
)

var endNames = [...]string{"unknown", "eof", "hangup", "stopped", "broken"}

// Seen reports whether the end of the stream was really reached.
func (e End) Seen() bool { return e == EndEOF || e == EndHangup }

func (e End) String() string { return name(endNames[:], int(e)) }

// MarshalText writes the word used in JSON.
func (e End) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads the word used in JSON.
func (e *End) UnmarshalText(text []byte) error { return parse(e, endNames[:], "end", text) }

// A State is what a person is told about an output. The zero value is
// StateUnknown.
type State uint8

// The states, from DESIGN: complete, truncated, detached, lost, not started.
const (
	StateUnknown    State = iota // nothing proves that the output was read to its end
	StateComplete                // the end was seen and nothing is missing
	StateTruncated               // all of it was read, part of it is not shown here
	StateDetached                // the command ended, other processes may still write
	StateLost                    // bytes existed, or may have existed, and did not arrive
	StateNotStarted              // there was no command and so no output
)

var stateNames = [...]string{"unknown", "complete", "truncated", "detached", "lost", "not started"}

func (s State) String() string { return name(stateNames[:], int(s)) }

// MarshalText writes the word used in JSON.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the word used in JSON.
func (s *State) UnmarshalText(text []byte) error { return parse(s, stateNames[:], "state", text) }

func name(names []string, i int) string {
	if i >= len(names) {
		return fmt.Sprintf("invalid(%d)", i)
	}
	return names[i]
}

// parse refuses a word it does not know: a newer writer's new status must not
// turn into an old reader's zero without anybody being told.
func parse[T ~uint8](v *T, names []string, kind string, text []byte) error {
	for i, n := range names {
		if n == string(text) {
			*v = T(i)
			return nil
		}
	}
	return fmt.Errorf("parse %s: unknown word %q", kind, text)
}
