package statusbar

// A Role says what a segment means. The zero value is plain text.
type Role uint8

const (
	Normal Role = iota
	Dim
	Accent // what has the focus
	OK
	Attention
	Failure
)

var roleNames = [...]string{"normal", "dim", "accent", "ok", "attention", "failure"}

func (r Role) String() string {
	if int(r) < len(roleNames) {
		return roleNames[r]
	}
	return "role"
}

// A Segment is a piece of text with one meaning.
type Segment struct {
	Text string
	Role Role
}

// A Mark is a state that is shown as a glyph. The zero value shows nothing.
type Mark uint8

const (
	MarkNone Mark = iota
	MarkRunning
	MarkOK
	MarkAttention
	MarkFailure
	MarkUnknown
)

var marks = [...]struct {
	glyph, ascii string
	role         Role
}{
	MarkNone:      {"", "", Normal},
	MarkRunning:   {"●", "*", Normal},
	MarkOK:        {"✓", "+", OK},
	MarkAttention: {"!", "!", Attention},
	MarkFailure:   {"✗", "x", Failure},
	MarkUnknown:   {"?", "?", Attention},
}

func (m Mark) segment(ascii bool) Segment {
	if int(m) >= len(marks) {
		m = MarkUnknown
	}
	if ascii {
		return Segment{marks[m].ascii, marks[m].role}
	}
	return Segment{marks[m].glyph, marks[m].role}
}

// severity orders marks for the one that stands for several.
func (m Mark) severity() int {
	switch m {
	case MarkFailure:
		return 3
	case MarkAttention:
		return 2
	case MarkUnknown:
		return 1
	}
	return 0
}

// width returns the columns of all segments.
func width(segments []Segment) int {
	total := 0
	for _, s := range segments {
		total += textWidth(s.Text)
	}
	return total
}

// merge joins neighbours with the same role and drops empty segments.
func merge(segments []Segment) []Segment {
	var out []Segment
	for _, s := range segments {
		switch last := len(out) - 1; {
		case s.Text == "":
		case last >= 0 && out[last].Role == s.Role:
			out[last].Text += s.Text
		default:
			out = append(out, s)
		}
	}
	return out
}

// Text returns the segments without their roles.
func Text(segments []Segment) string {
	var text string
	for _, s := range segments {
		text += s.Text
	}
	return text
}
