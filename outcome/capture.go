package outcome

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Uncounted is the value of a count when some are missing and nobody knows
// how many.
const Uncounted int64 = -1

// A Process is one process that is named in a result.
type Process struct {
	PID  int    `json:"pid"`
	Name string `json:"name"` // as the kernel has it; empty when it could not be read
}

func (p Process) String() string {
	if p.Name == "" {
		return fmt.Sprintf("pid %d", p.PID)
	}
	return fmt.Sprintf("pid %d %q", p.PID, p.Name)
}

// A Capture is what is known about the bytes of one stream. The bytes
// themselves lie with whoever shows them. The zero value says that nothing is
// known.
type Capture struct {
	Read  int64 // bytes read from the descriptor
	Shown int64 // bytes of these that the result carries or the screen was given
	Lost  int64 // bytes known to be missing; Uncounted when missing and uncounted
	End   End
	Cause error // why the stream broke or bytes were lost; nil otherwise

	// Spill is the file that holds all bytes when Shown is less than Read;
	// empty when there is none.
	Spill string

	// Holders are processes that outlived the command and may still write to
	// the stream, or could have.
	Holders []Process

	// HoldersUnknown is why nobody could tell who still holds the stream.
	HoldersUnknown error
}

// State sums the capture up for a person. Where several things are true the
// worst is named: lost, then detached, then truncated.
func (c Capture) State() State {
	switch {
	case c.Lost != 0 || c.End == EndBroken:
		return StateLost
	case len(c.Holders) > 0:
		return StateDetached
	case !c.End.Seen():
		return StateUnknown
	case c.Shown < c.Read:
		return StateTruncated
	}
	return StateComplete
}

// Whole reports whether every byte of the stream was read and none can follow.
func (c Capture) Whole() bool {
	s := c.State()
	return s == StateComplete || s == StateTruncated
}

// Empty reports whether the stream is known to have carried nothing. It is
// false whenever bytes may have been lost or the end was not seen.
func (c Capture) Empty() bool {
	return c.Read == 0 && c.State() == StateComplete
}

// Err returns nil when nothing is missing and none can follow, and otherwise
// the error that says what is wrong. The name is the stream's.
func (c Capture) Err(name string) error {
	switch c.State() {
	case StateComplete, StateTruncated:
		return nil
	case StateLost:
		return &LostError{Stream: name, Bytes: c.Lost, After: c.Read, Cause: c.Cause}
	case StateDetached:
		return &DetachedError{Stream: name, Holders: c.Holders}
	}
	return &UnknownEndError{Stream: name, After: c.Read, Cause: c.HoldersUnknown}
}

// Sentence says in plain words what is known, for the line under an output.
func (c Capture) Sentence() string {
	switch c.State() {
	case StateComplete:
		if c.Read == 0 {
			return "0 bytes, end seen"
		}
		return fmt.Sprintf("output complete (%s)", CountBytes(c.Read))
	case StateTruncated:
		s := fmt.Sprintf("truncated here: %s of %s shown", Size(c.Shown), Size(c.Read))
		if c.Spill != "" {
			s += ", all of it in " + c.Spill
		}
		return s
	case StateDetached:
		return fmt.Sprintf("detached: the command ended, %s still %s its output",
			processes(c.Holders), plural(len(c.Holders), "holds", "hold"))
	case StateLost:
		return c.lostSentence()
	}
	if c.HoldersUnknown != nil {
		return fmt.Sprintf("unknown: stopped reading after %s before the end was seen, and who holds the output could not be found (%v)",
			CountBytes(c.Read), c.HoldersUnknown)
	}
	return fmt.Sprintf("unknown: the end of the output was not seen (%s read)", CountBytes(c.Read))
}

func (c Capture) lostSentence() string {
	cause := "the cause is not known"
	if c.Cause != nil {
		cause = Errno(c.Cause)
	}
	if c.Lost > 0 {
		return fmt.Sprintf("lost: %s did not arrive after %s were read (%s)", CountBytes(c.Lost), CountBytes(c.Read), cause)
	}
	return fmt.Sprintf("lost: the reader failed after %s (%s before the end)", CountBytes(c.Read), cause)
}

func processes(ps []Process) string {
	const shown = 3
	var b strings.Builder
	for i, p := range ps[:min(len(ps), shown)] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(p.String())
	}
	if more := len(ps) - shown; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	return b.String()
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// captureJSON is the wire form of a Capture. Every key is always there, so
// that a reader never has to guess what a missing one means.
type captureJSON struct {
	State          State     `json:"state"`
	BytesRead      int64     `json:"bytes_read"`
	BytesShown     int64     `json:"bytes_shown"`
	BytesLost      int64     `json:"bytes_lost"` // -1: missing and uncounted
	End            End       `json:"end"`
	Cause          *string   `json:"cause"`
	Spill          *string   `json:"spill"`
	Holders        []Process `json:"holders"`
	HoldersUnknown *string   `json:"holders_unknown"`
}

// MarshalJSON writes the capture with its state spelled out.
func (c Capture) MarshalJSON() ([]byte, error) {
	return json.Marshal(captureJSON{
		State:          c.State(),
		BytesRead:      c.Read,
		BytesShown:     c.Shown,
		BytesLost:      c.Lost,
		End:            c.End,
		Cause:          errText(c.Cause),
		Spill:          nonEmpty(c.Spill),
		Holders:        append([]Process{}, c.Holders...),
		HoldersUnknown: errText(c.HoldersUnknown),
	})
}

func errText(err error) *string {
	if err == nil {
		return nil
	}
	s := Errno(err)
	return &s
}

func nonEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
