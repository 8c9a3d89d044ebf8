package input

// A Button is a mouse button or a wheel direction.
type Button uint8

const (
	ButtonNone Button = iota // motion without a button, or a release that does not say which
	ButtonLeft
	ButtonMiddle
	ButtonRight
	WheelUp
	WheelDown
	WheelLeft
	WheelRight
	ButtonBack    // 8
	ButtonForward // 9
	Button10
	Button11
)

// Wheel reports whether the button is a wheel direction.
func (b Button) Wheel() bool { return b >= WheelUp && b <= WheelRight }

// An Action is what happened to a button.
type Action uint8

const (
	ActionUnknown Action = iota
	ActionPress          // also each step of a wheel
	ActionRelease
	ActionMotion // a drag when Button is set
)

// A Mouse is one mouse report. X and Y count from 0 at the top left of the
// outer screen, in cells, or in pixels where Pixels is set.
type Mouse struct {
	X, Y   int
	Button Button
	Action Action
	Mods   Mods // Shift, Alt and Ctrl only
	Pixels bool
}

// Bits of the button number on the wire, as xterm defines them.
const (
	wireShift  = 4
	wireAlt    = 8
	wireCtrl   = 16
	wireMotion = 32
	wireWheel  = 64
	wireExtra  = 128
	wireNone   = 3

	// wireOffset is added to each number of the X10 and 1015 encodings.
	wireOffset = 32
)

// An Area is where a pane lies on the outer screen, in cells.
type Area struct{ X, Y, W, H int }

// Clamp moves the event to the nearest cell of the area. A child that saw the
// press needs the drag and the release too, although they happen outside.
func (m Mouse) Clamp(a Area) Mouse {
	m.X = max(a.X, min(m.X, a.X+a.W-1))
	m.Y = max(a.Y, min(m.Y, a.Y+a.H-1))
	return m
}

// Cells turns pixels into cells of the given size. Without pixels, or without
// a size, it returns the event as it is.
func (m Mouse) Cells(cellW, cellH int) Mouse {
	if m.Pixels && cellW > 0 && cellH > 0 {
		m.X, m.Y, m.Pixels = m.X/cellW, m.Y/cellH, false
	}
	return m
}

// mouseToken names CSI < b ; x ; y M (or m), modes 1006 and 1016.
func (c csi) mouseToken(pixels bool) Token {
	b, x, y := c.num(0), c.num(1), c.num(2)
	if c.fields() != 3 || b < 0 || b > 255 || x < 1 || y < 1 {
		return Token{}
	}
	m := mouseOf(b, x, y)
	m.Pixels = pixels
	if c.final == 'm' && m.Action == ActionPress {
		m.Action = ActionRelease
	}
	return Token{Kind: KindMouse, Mouse: m}
}

// mouseURXVT names CSI b ; x ; y M, mode 1015.
func (c csi) mouseURXVT() Token {
	b, x, y := c.num(0)-wireOffset, c.num(1), c.num(2)
	if c.fields() != 3 || b < 0 || b > 255 || x < 1 || y < 1 {
		return Token{}
	}
	return Token{Kind: KindMouse, Mouse: releaseOf(mouseOf(b, x, y))}
}

// scanMouseX10 takes CSI M b x y, where each is one byte plus 32. A control
// character among them means that it was no report.
func scanMouseX10(data []byte) lexeme {
	const length = 6
	for i := 3; i < min(len(data), length); i++ {
		if data[i] < wireOffset {
			return lexeme{n: 3}
		}
	}
	if len(data) < length {
		return lexeme{}
	}
	m := mouseOf(int(data[3])-wireOffset, int(data[4])-wireOffset, int(data[5])-wireOffset)
	if m.X < 0 || m.Y < 0 {
		return lexeme{n: length}
	}
	return lexeme{n: length, tok: Token{Kind: KindMouse, Mouse: releaseOf(m)}}
}

// mouseOf decodes the button number and 1-based position of a report.
func mouseOf(b, x, y int) Mouse {
	m := Mouse{X: x - 1, Y: y - 1, Action: ActionPress}
	if b&wireShift != 0 {
		m.Mods |= ModShift
	}
	if b&wireAlt != 0 {
		m.Mods |= ModAlt
	}
	if b&wireCtrl != 0 {
		m.Mods |= ModCtrl
	}
	if b&wireMotion != 0 {
		m.Action = ActionMotion
	}
	low := Button(b & 3)
	switch {
	case b&wireExtra != 0:
		m.Button = ButtonBack + low
	case b&wireWheel != 0:
		m.Button = WheelUp + low
	case low != wireNone:
		m.Button = ButtonLeft + low
	}
	return m
}

// releaseOf names the release of the encodings that use button 3 for it.
func releaseOf(m Mouse) Mouse {
	if m.Button == ButtonNone && m.Action == ActionPress {
		m.Action = ActionRelease
	}
	return m
}

// number returns the button number of the event. Encodings that cannot say
// which button was released use 3 for a release.
func (m Mouse) number(release bool) int {
	b := wireNone
	switch {
	case m.Action == ActionRelease && release:
	case m.Button >= ButtonBack:
		b = wireExtra + int(m.Button-ButtonBack)
	case m.Button >= WheelUp:
		b = wireWheel + int(m.Button-WheelUp)
	case m.Button >= ButtonLeft:
		b = int(m.Button - ButtonLeft)
	}
	if m.Action == ActionMotion {
		b += wireMotion
	}
	if m.Mods&ModShift != 0 {
		b += wireShift
	}
	if m.Mods&ModAlt != 0 {
		b += wireAlt
	}
	if m.Mods&ModCtrl != 0 {
		b += wireCtrl
	}
	return b
}
