package vt

// A mode is one switch of SM, RM, DECSET or DECRST that has an effect here.
type mode uint8

const (
	modeInsert     mode = iota // IRM, 4
	modeNewline                // LNM, 20
	modeAppCursor              // DECCKM, ?1
	modeReverse                // DECSCNM, ?5
	modeOrigin                 // DECOM, ?6
	modeWrap                   // DECAWM, ?7
	modeBlink                  // ?12
	modeCursor                 // DECTCEM, ?25
	modeAllow132               // ?40
	mode132                    // DECCOLM, ?3
	modeMoreFix                // ?41
	modeRevWrap                // ?45
	modeRevWrapExt             // ?1045
	modeAppKeypad              // DECNKM, ?66
	modeBackspace              // DECBKM, ?67
	modeMargins                // DECLRMM, ?69
	modeNoClear                // DECNCSM, ?95
	modeFocus                  // ?1004
	modeAltScroll              // ?1007
	modeMeta                   // ?1034, 8-bit meta; kept, no effect on UTF-8
	modeAltEsc                 // ?1039
	modeAlt                    // ?47, ?1047, ?1049
	modeSaveCursor             // ?1048, only reported
	modePaste                  // ?2004
	modeSync                   // ?2026
	modeGraphemes              // ?2027
	modeScheme                 // ?2031
	modeResize                 // ?2048
	modeAltAllowed             // ?1046: the alternate screen can be used
	modeSmooth                 // DECSCLM, ?4; kept
	modeRepeat                 // DECARM, ?8; kept
	modeKeyLock                // KAM, 2; kept
	modeEcho                   // SRM, 12; kept
	modeNational               // DECNRCM, ?42
	numModes
)

// modeNumber maps a mode to its number; DEC private ones carry decPrivate.
const decPrivate = 1 << 15

var modeNumbers = [...]struct {
	n uint16
	m mode
}{
	{2, modeKeyLock},
	{4, modeInsert},
	{12, modeEcho},
	{20, modeNewline},
	{decPrivate | 1, modeAppCursor},
	{decPrivate | 3, mode132},
	{decPrivate | 4, modeSmooth},
	{decPrivate | 5, modeReverse},
	{decPrivate | 6, modeOrigin},
	{decPrivate | 7, modeWrap},
	{decPrivate | 8, modeRepeat},
	{decPrivate | 12, modeBlink},
	{decPrivate | 25, modeCursor},
	{decPrivate | 40, modeAllow132},
	{decPrivate | 41, modeMoreFix},
	{decPrivate | 42, modeNational},
	{decPrivate | 45, modeRevWrap},
	{decPrivate | 66, modeAppKeypad},
	{decPrivate | 67, modeBackspace},
	{decPrivate | 69, modeMargins},
	{decPrivate | 95, modeNoClear},
	{decPrivate | 1004, modeFocus},
	{decPrivate | 1007, modeAltScroll},
	{decPrivate | 1034, modeMeta},
	{decPrivate | 1039, modeAltEsc},
	{decPrivate | 1045, modeRevWrapExt},
	{decPrivate | 1046, modeAltAllowed},
	{decPrivate | 1048, modeSaveCursor},
	{decPrivate | 2004, modePaste},
	{decPrivate | 2026, modeSync},
	{decPrivate | 2027, modeGraphemes},
	{decPrivate | 2031, modeScheme},
	{decPrivate | 2048, modeResize},
}

func modeOf(n uint16) (mode, bool) {
	for _, e := range modeNumbers {
		if e.n == n {
			return e.m, true
		}
	}
	return 0, false
}

// A MouseMode says which mouse events a program asked for.
type MouseMode uint16

// The modes by their DECSET number.
const (
	MouseOff    MouseMode = 0
	MouseX10    MouseMode = 9    // presses only
	MouseNormal MouseMode = 1000 // presses and releases
	MouseButton MouseMode = 1002 // and motion while a button is down
	MouseAny    MouseMode = 1003 // and all motion
)

// A MouseEncoding says how mouse events are written.
type MouseEncoding uint16

// The encodings by their DECSET number.
const (
	EncodingX10       MouseEncoding = 0
	EncodingUTF8      MouseEncoding = 1005
	EncodingSGR       MouseEncoding = 1006
	EncodingURXVT     MouseEncoding = 1015
	EncodingSGRPixels MouseEncoding = 1016
)

// modeSet is every mode.
type modeSet struct {
	on       uint64
	mouse    MouseMode
	encoding MouseEncoding
}

func (m *modeSet) has(b mode) bool { return m.on&(1<<b) != 0 }

func (m *modeSet) set(b mode, on bool) {
	if on {
		m.on |= 1 << b
	} else {
		m.on &^= 1 << b
	}
}

func defaultModes() modeSet {
	var m modeSet
	for _, b := range []mode{modeWrap, modeCursor, modeBlink, modeAltScroll, modeAltAllowed, modeRepeat, modeEcho} {
		m.set(b, true)
	}
	return m
}

// Modes are the switches that a host needs to encode input and to draw.
type Modes struct {
	AppCursor, AppKeypad bool // DECCKM, DECNKM or DECKPAM
	BackspaceSendsBS     bool // DECBKM
	LineFeedNewline      bool // LNM: Return sends CR LF
	BracketedPaste       bool
	FocusEvents          bool
	AltScreen            bool
	AltScroll            bool // the wheel sends cursor keys on the alternate screen
	SyncOutput           bool // 2026: hold drawing; the host bounds for how long
	ReverseVideo         bool // DECSCNM
	Graphemes            bool // 2027
	SchemeReports        bool // 2031: call ReportScheme when the colours change
	ResizeReports        bool // 2048
	Mouse                MouseMode
	MouseEncoding        MouseEncoding
	KittyFlags           uint8
	ModifyOtherKeys      uint8
}

// Modes returns the current modes.
func (t *Terminal) Modes() Modes {
	m := &t.modes
	return Modes{
		AppCursor: m.has(modeAppCursor), AppKeypad: m.has(modeAppKeypad),
		BackspaceSendsBS: m.has(modeBackspace), LineFeedNewline: m.has(modeNewline),
		BracketedPaste: m.has(modePaste), FocusEvents: m.has(modeFocus),
		AltScreen: m.has(modeAlt), AltScroll: m.has(modeAltScroll),
		SyncOutput: m.has(modeSync), ReverseVideo: m.has(modeReverse),
		Graphemes: m.has(modeGraphemes), SchemeReports: m.has(modeScheme),
		ResizeReports: m.has(modeResize),
		Mouse:         m.mouse, MouseEncoding: m.encoding,
		KittyFlags: t.scr.kitty.flags(), ModifyOtherKeys: t.otherKeys,
	}
}

// EndSync leaves synchronized output. A host calls it when a program holds the
// screen for longer than the host allows.
func (t *Terminal) EndSync() { t.modes.set(modeSync, false) }

// sm and rm set and reset modes. SM, CSI h. RM, CSI l. DECSET and DECRST, CSI ? h and l.
func (t *Terminal) sm(private, on bool) {
	for i := range t.seq.n {
		n := t.seq.param[i]
		if private {
			t.setPrivate(n, on)
		} else if m, ok := modeOf(n); ok && n < decPrivate {
			t.modes.set(m, on)
		} else {
			t.drop(DropUnknown)
		}
	}
	t.modeEvent()
}

func (t *Terminal) setPrivate(n uint16, on bool) {
	switch n {
	case 3:
		t.deccolm(on)
	case 6:
		t.modes.set(modeOrigin, on)
		t.moveTo(0, 0)
	case 12:
		t.modes.set(modeBlink, on)
		t.shape.Blink = on
	case 9, 1000, 1002, 1003:
		if on {
			t.modes.mouse = MouseMode(n)
		} else {
			t.modes.mouse = MouseOff
		}
	case 1005, 1006, 1015, 1016:
		if on {
			t.modes.encoding = MouseEncoding(n)
		} else if t.modes.encoding == MouseEncoding(n) {
			t.modes.encoding = EncodingX10
		}
	case 5:
		if t.modes.has(modeReverse) != on {
			t.modes.set(modeReverse, on)
			t.scr.dirtyRows(0, t.rows-1)
		}
	case 47, 1047, 1049:
		t.altScreen(n, on)
	case 1046:
		if !on && t.modes.has(modeAlt) {
			t.switchScreen(false)
		}
		t.modes.set(modeAltAllowed, on)
	case 1048:
		if on {
			t.decsc()
		} else {
			t.decrc()
		}
		t.modes.set(modeSaveCursor, on)
	case 69:
		if t.level < 64 {
			t.drop(DropUnknown)
			return
		}
		t.modes.set(modeMargins, on)
		t.m.left, t.m.right = 0, t.cols-1
		t.pending = t.pending && t.atLimit()
	case 2027:
		t.modes.set(modeGraphemes, on)
		t.joinOK = false
	case 2048:
		t.modes.set(modeResize, on)
		if on {
			t.reportSize()
		}
	default:
		if m, ok := modeOf(n | decPrivate); ok && n < decPrivate {
			t.modes.set(m, on)
		} else {
			t.drop(DropUnknown)
		}
	}
}

// altScreen switches screens. 47 only switches, 1047 clears the alternate screen
// on leaving, 1049 saves the cursor, switches and clears.
func (t *Terminal) altScreen(n uint16, on bool) {
	if !t.modes.has(modeAltAllowed) {
		return
	}
	was := t.modes.has(modeAlt)
	if n == 1049 && on && !was {
		t.decsc()
	}
	if was != on {
		if !on && n == 1047 {
			t.eraseRows(0, t.rows-1, false)
		}
		t.switchScreen(on)
	}
	switch {
	case n == 1049 && on:
		t.eraseRows(0, t.rows-1, false)
	case n == 1049 && was:
		t.decrc()
		t.pending = t.scr.saved.pending && t.atLimit()
	}
}

func (t *Terminal) switchScreen(alt bool) {
	t.modes.set(modeAlt, alt)
	if alt {
		if t.alt == nil {
			t.alt = newScreen(t.cols, t.rows)
		}
		t.scr = t.alt
	} else {
		t.scr = t.main
	}
	t.joinOK = false
	t.scr.dirtyRows(0, t.rows-1)
}

// deccolm is DECCOLM, CSI ? 3 h and l: 132 or 80 columns. The host owns the
// size, so a change has only its side effects, with or without ?40; setting what
// is set already does nothing, as programs reset it at their start.
func (t *Terminal) deccolm(on bool) {
	if t.modes.has(mode132) == on {
		return
	}
	t.drop(DropColumns)
	t.modes.set(mode132, on)
	if !t.modes.has(modeNoClear) || t.level < 65 {
		t.eraseRows(0, t.rows-1, false)
	}
	t.modes.set(modeMargins, false)
	t.m = margins{0, t.rows - 1, 0, t.cols - 1}
	t.moveTo(0, 0)
}
