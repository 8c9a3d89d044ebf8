package theme

import "strings"

// A State is what the window says of a call, a pane or a job. The zero value is
// Unknown, so a state nobody filled in claims nothing.
type State uint8

// The states that have a glyph and a word.
const (
	Unknown State = iota
	Stale
	Running
	Complete
	Partial
	Truncated
	Detached
	Lost
	Failed
	Refused
	Dropped
	numStates
)

// A kind groups the states that share glyph and colour.
type kind uint8

const (
	kindUnknown kind = iota
	kindRunning
	kindOK
	kindAttention
	kindFailure
	numKinds
)

// states gives each state its kind and its word.
var states = [numStates]struct {
	kind kind
	word string
}{
	Unknown:   {kindUnknown, "unknown"},
	Stale:     {kindUnknown, "stale"},
	Running:   {kindRunning, "running"},
	Complete:  {kindOK, "ok"},
	Partial:   {kindAttention, "partial"},
	Truncated: {kindAttention, "truncated"},
	Detached:  {kindAttention, "detached"},
	Lost:      {kindFailure, "lost"},
	Failed:    {kindFailure, "failed"},
	Refused:   {kindFailure, "refused"},
	Dropped:   {kindFailure, "dropped"},
}

// known maps a number that is no state to Unknown.
func (s State) known() State {
	if s >= numStates {
		return Unknown
	}
	return s
}

// Word returns the word of a state.
func (s State) Word() string { return states[s.known()].word }

// Glyphs is one set of the characters that the window draws with. Each is one
// column wide.
type Glyphs struct {
	state [numKinds]string

	Horizontal, Vertical       string // the lines between panes
	TeeDown, TeeRight, TeeLeft string
	Cross, TeeUp               string
	TopLeft, TopRight          string // the palette's frame
	BottomLeft, BottomRight    string
	Seam                       string // where history was cut or a run began again
	Ellipsis                   string // in front of a shortened path
	Dot                        string // between parts of a line
	Pointer, Fold              string // the chosen entry, a closed group
	Mark, End                  string // on the fd scale: the count, and what goes on
	ramp                       []string
}

// Unicode is the set for terminals with UTF-8.
var Unicode = Glyphs{
	state:      [numKinds]string{"?", "●", "✓", "!", "✗"},
	Horizontal: "─", Vertical: "│", TeeDown: "┬", TeeRight: "├", TeeLeft: "┤", Cross: "┼", TeeUp: "┴",
	TopLeft: "┌", TopRight: "┐", BottomLeft: "└", BottomRight: "┘",
	Seam: "┄", Ellipsis: "…", Dot: "·", Pointer: "›", Fold: "▸", Mark: "▌", End: "▸",
	ramp: []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
}

// ASCII is the set for everything else. The ramp of the sparkline rises by how
// much of its cell a character fills.
var ASCII = Glyphs{
	state:      [numKinds]string{"?", "*", "+", "!", "x"},
	Horizontal: "-", Vertical: "|", TeeDown: "+", TeeRight: "+", TeeLeft: "+", Cross: "+", TeeUp: "+",
	TopLeft: "+", TopRight: "+", BottomLeft: "+", BottomRight: "+",
	Seam: "-", Ellipsis: "~", Dot: "-", Pointer: ">", Fold: ">", Mark: "|", End: ">",
	ramp: []string{"_", ".", "-", "=", "+", "*", "%", "#"},
}

// State returns the glyph of a state.
func (g *Glyphs) State(s State) string { return g.state[states[s.known()].kind] }

// Missing in a sparkline marks a reading that could not be had.
const Missing = -1

// Sparkline draws values on a scale from 0 to top, one column each, the newest
// at the right end of at most width columns. A value below 0 was not read and
// shows as the unknown glyph, never as the lowest step. With a top of 0 or less
// the largest value is the top.
func (g *Glyphs) Sparkline(values []int, top, width int) string {
	values = values[max(len(values)-max(width, 0), 0):]
	if top <= 0 {
		for _, v := range values {
			top = max(top, v)
		}
	}
	var b strings.Builder
	for _, v := range values {
		switch {
		case v < 0:
			b.WriteString(g.state[kindUnknown])
		case top <= 0:
			b.WriteString(g.ramp[0])
		default:
			// The lowest step is for what is near nothing, the highest for the top.
			step := int(int64(v) * int64(len(g.ramp)) / int64(top))
			b.WriteString(g.ramp[min(step, len(g.ramp)-1)])
		}
	}
	return b.String()
}
