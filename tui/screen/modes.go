package screen

import "strconv"

// A Mouse says which pointer events the terminal reports, in SGR encoding.
type Mouse uint8

// The kinds, each including the ones before.
const (
	MouseOff  Mouse = iota
	MouseDrag       // buttons, and motion while one is held: 1002
	MouseMove       // every motion: 1003
)

// Modes are what the window asks of the outer terminal. The zero value asks for
// the alternate screen and nothing else.
type Modes struct {
	Mouse     Mouse
	Focus     bool // focus reports, 1004
	Paste     bool // bracketed paste, 2004
	Graphemes bool // grapheme clusters, 2027; for Caps with Graphemes and without ClustersOn
	Kitty     int  // kitty keyboard flags, 0 for none
	Title     bool // keep the terminal's title and give it back
}

// enterSequence takes the terminal over: title kept, alternate screen, cursor
// hidden, autowrap off, cursor keys and keypad in their normal state. The kitty
// stack is one per screen, so it is pushed inside the alternate one.
func enterSequence(m Modes) []byte {
	var b []byte
	if m.Title {
		b = append(b, "\x1b[22;0t"...)
	}
	b = append(b, "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?1l\x1b>\x1b[?6l\x1b[4l\x1b[r\x1b[m\x1b[2J"...)
	return appendModes(b, Modes{}, m)
}

// leaveSequence gives the terminal back. CAN and ST first end whatever a cut
// frame left open. Everything that any Modes could have switched on since Enter
// is switched off: used is the union of them.
func leaveSequence(used Modes) []byte {
	b := []byte("\x18\x1b\\\x1b[?2026l\x1b[0 q")
	if used.Mouse == MouseMove {
		b = append(b, "\x1b[?1002l"...) // it may have been the other kind before
	}
	b = appendModes(b, used, Modes{})
	b = append(b, "\x1b]8;;\x1b\\\x1b[m\x1b[r\x1b[?1l\x1b>\x1b[?7h\x1b[?1049l\x1b[?25h"...)
	if used.Title {
		b = append(b, "\x1b[23;0t"...)
	}
	return b
}

// appendModes appends the sequences from one set of modes to another.
func appendModes(b []byte, from, to Modes) []byte {
	b = appendSwitch(b, 2004, from.Paste, to.Paste)
	b = appendSwitch(b, 1004, from.Focus, to.Focus)
	b = appendSwitch(b, 2027, from.Graphemes, to.Graphemes)
	if from.Mouse != to.Mouse {
		// Off first: where the two kinds share one setting, switching either
		// off ends both.
		b = appendSwitch(b, 1002, from.Mouse == MouseDrag, false)
		b = appendSwitch(b, 1003, from.Mouse == MouseMove, false)
		b = appendSwitch(b, 1002, false, to.Mouse == MouseDrag)
		b = appendSwitch(b, 1003, false, to.Mouse == MouseMove)
		b = appendSwitch(b, 1006, from.Mouse != MouseOff, to.Mouse != MouseOff)
	}
	switch {
	case from.Kitty == to.Kitty:
	case from.Kitty == 0: // push
		b = append(b, "\x1b[>"...)
		b = append(strconv.AppendInt(b, int64(to.Kitty), 10), 'u')
	case to.Kitty == 0: // pop
		b = append(b, "\x1b[<u"...)
	default: // set on the entry that is ours
		b = append(b, "\x1b[="...)
		b = append(strconv.AppendInt(b, int64(to.Kitty), 10), ";1u"...)
	}
	return b
}

// appendSwitch appends DECSET or DECRST for one mode that changes.
func appendSwitch(b []byte, mode int, from, to bool) []byte {
	if from == to {
		return b
	}
	b = append(b, "\x1b[?"...)
	b = strconv.AppendInt(b, int64(mode), 10)
	if to {
		return append(b, 'h')
	}
	return append(b, 'l')
}

// union returns modes that are on when they are on in either.
func (m Modes) union(o Modes) Modes {
	m.Mouse = max(m.Mouse, o.Mouse)
	m.Focus = m.Focus || o.Focus
	m.Paste = m.Paste || o.Paste
	m.Graphemes = m.Graphemes || o.Graphemes
	m.Kitty |= o.Kitty
	m.Title = m.Title || o.Title
	return m
}
