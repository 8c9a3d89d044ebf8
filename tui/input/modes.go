package input

// A MouseMode says which events a child asked for.
type MouseMode uint8

const (
	MouseOff    MouseMode = iota
	MouseX10              // 9: presses, without modifiers
	MouseClicks           // 1000: presses, releases, wheel
	MouseDrags            // 1002: and motion while a button is down
	MouseAll              // 1003: and every motion
)

// A MouseEncoding says how a child wants them spelled.
type MouseEncoding uint8

const (
	MouseBytes  MouseEncoding = iota // CSI M and three bytes; ends at column and row 223
	MouseUTF8                        // 1005: the same with UTF-8 numbers; ends at 2015
	MouseSGR                         // 1006
	MouseURXVT                       // 1015
	MousePixels                      // 1016: SGR in pixels
)

// ChildModes are the modes a child has set, and where its pane lies. The zero
// value is a terminal after reset that asked for nothing.
type ChildModes struct {
	AppCursor       bool // DECCKM, mode 1
	AppKeypad       bool // DECPAM
	BackspaceBS     bool // DECBKM, mode 67: Backspace sends BS
	Newline         bool // LNM, mode 20: Enter sends CR LF
	BracketedPaste  bool // mode 2004
	Focus           bool // mode 1004
	KittyFlags      int  // of the active screen's stack
	ModifyOtherKeys int  // 0, 1 or 2

	Mouse         MouseMode
	MouseEncoding MouseEncoding
	Area          Area // of the pane, without header and border
	CellW, CellH  int  // size of a cell in pixels, 0 when not known
}

// OuterModes are the modes of the outer terminal that we set there, so far as
// they change how it spells keys.
type OuterModes struct {
	AppCursor       bool
	AppKeypad       bool
	BackspaceBS     bool
	KittyFlags      int
	ModifyOtherKeys int
}

// keys returns the outer modes as if they were a child's.
func (o OuterModes) keys() ChildModes {
	return ChildModes{
		AppCursor: o.AppCursor, AppKeypad: o.AppKeypad, BackspaceBS: o.BackspaceBS,
		KittyFlags: o.KittyFlags, ModifyOtherKeys: o.ModifyOtherKeys,
	}
}
