package vt

// Pixels is the size of one cell on the host's screen. The zero value is
// unknown; reports that need it are then not answered.
type Pixels struct{ Width, Height int }

// Options configure a Terminal.
type Options struct {
	Scrollback      int // lines of history; 0 keeps none
	ScrollbackBytes int // bytes of history; 0 means 32 MiB
	Limits          Limits
	AllowChecksum   bool // answer DECRQCRA, which reads the screen back: tests only
	CellPixels      Pixels
	Version         string // told by XTVERSION; "" means "dev"
}

// margins are the scrolling region, inclusive on all sides.
type margins struct {
	top, bot    Row
	left, right Col
}

// A Terminal is one screen with its history and the parser that feeds it. It is
// not safe for concurrent use; one goroutine owns it.
type Terminal struct {
	parser
	opt  Options
	lim  Limits
	cols Col
	rows Row

	scr  *screen // the one shown: main or alt
	main *screen
	alt  *screen // nil until first used
	hist history

	row     Row
	col     Col
	pending bool // the last column was written; the next character wraps first
	m       margins

	pen    Style
	penAt  Cell // style id, protection and semantic bits of the next cell
	penOK  bool // penAt is current
	blank  Cell // what erasing writes: the background colour alone
	blankK bool // blank is current

	protect protection
	sem     Cell // semantic bits of the next cell

	cs    charsets
	modes modeSet
	level uint8 // DECSCL, 61 to 65
	shape CursorShape
	tabs  []bool

	last      rune // last graphic character, for REP; 0 when a control came since
	joinRow   Row  // where the last character was printed, for grapheme clusters
	joinCol   Col
	joinState graphemeState
	joinOK    bool

	styles   styleTable
	clusters clusterTable
	links    linkTable
	gen      uint64
	sweeps   int64

	inUse                            struct{ styles, clusters, links bitset } // memory for sweeps
	styleWait, clusterWait, linkWait int                                      // calls until a full table may be swept again

	title, icon, cwd string
	titles           []titles
	palette          palette
	otherKeys        uint8 // modifyOtherKeys level
	rectExact        bool  // DECSACE 2: DECCARA and DECRARA change rectangles, not streams
	saveModes        map[uint16]bool

	fx       Effects
	bells    int
	dropping bool
	drops    [numDrops]int64
	dropNow  [numDrops]int
	scratch  []byte // for building clusters and replies
}

// New returns a blank terminal. It clamps the size and never fails.
func New(cols, rows int, o Options) *Terminal {
	t := &Terminal{opt: o, lim: o.Limits.filled()}
	if o.ScrollbackBytes <= 0 {
		t.opt.ScrollbackBytes = 32 << 20
	}
	if t.opt.Version == "" {
		t.opt.Version = "dev"
	}
	t.cols, t.rows = t.clampSize(cols, rows)
	t.hist = newHistory(max(o.Scrollback, 0), t.opt.ScrollbackBytes, &t.clusters)
	t.styles.init()
	t.clusters.init()
	t.main = newScreen(t.cols, t.rows)
	t.scr = t.main
	t.tabs = defaultTabs(nil, t.cols)
	t.hardReset()
	return t
}

// clampSize returns the size that will be used, at least 1×1 and within limits.
func (t *Terminal) clampSize(cols, rows int) (Col, Row) {
	c := min(max(cols, 1), t.lim.Cols)
	r := min(max(rows, 1), t.lim.Rows)
	if c*r > t.lim.Cells {
		r = max(t.lim.Cells/c, 1)
	}
	if c != cols || r != rows {
		t.drop(DropSize)
	}
	return Col(c), Row(r)
}

// hardReset is RIS without the clearing of screens.
func (t *Terminal) hardReset() {
	t.scr = t.main
	t.row, t.col, t.pending = 0, 0, false
	t.m = margins{0, t.rows - 1, 0, t.cols - 1}
	t.pen, t.sem, t.protect = Style{}, 0, protectOff
	t.penChanged()
	t.cs = charsets{}
	t.modes = defaultModes()
	t.level = 65
	t.shape = CursorShape{Blink: true}
	t.tabs = defaultTabs(t.tabs[:0], t.cols)
	t.last, t.joinOK = 0, false
	t.main.saved, t.main.kitty = savedCursor{}, kittyKeys{}
	if t.alt != nil {
		t.alt.saved, t.alt.kitty = savedCursor{}, kittyKeys{}
	}
	t.otherKeys = 0
	t.saveModes = nil
	t.titles = nil
	t.palette.reset()
}

// Size returns the current size.
func (t *Terminal) Size() (cols, rows int) { return int(t.cols), int(t.rows) }

// Line returns the cells of a visible row, exactly as many as there are columns.
// They are read-only and valid until the next Write or Resize. A row out of
// range gives nil.
func (t *Terminal) Line(r Row) []Cell {
	if r < 0 || r >= t.rows {
		return nil
	}
	return t.scr.row(r)
}

// LineWrapped reports whether a row continues the one above it.
func (t *Terminal) LineWrapped(r Row) bool {
	return r >= 0 && r < t.rows && t.scr.metaOf(r).wraps
}

// A Mark is what OSC 133 said about one row.
type Mark struct {
	Prompt, Input, Output bool // the row is where that part begins
	End                   bool // a command ended here
	Exit                  int  // its exit code; -1 when not told or End is false
}

func newMark(m mark, exit int32) Mark {
	k := Mark{m&markPrompt != 0, m&markInput != 0, m&markOutput != 0, m&markEnd != 0, -1}
	if k.End {
		k.Exit = int(exit)
	}
	return k
}

// LineMark returns what OSC 133 said about a visible row.
func (t *Terminal) LineMark(r Row) Mark {
	if r < 0 || r >= t.rows {
		return newMark(0, 0)
	}
	m := t.scr.metaOf(r)
	return newMark(m.marks, m.exit)
}

// A Cursor is where the next character goes and how the place is shown.
type Cursor struct {
	Row         Row
	Col         Col
	Visible     bool
	PendingWrap bool // Col is the last column and already written
	Shape       Shape
	Blink       bool
}

// A Shape is the form of the cursor.
type Shape uint8

// The shapes of DECSCUSR.
const (
	ShapeBlock Shape = iota
	ShapeUnderline
	ShapeBar
)

// A CursorShape is what DECSCUSR sets.
type CursorShape struct {
	Shape Shape
	Blink bool
	Param uint8 // as sent, for DECRQSS
}

// Cursor returns the cursor.
func (t *Terminal) Cursor() Cursor {
	return Cursor{
		Row: t.row, Col: t.col, Visible: t.modes.has(modeCursor), PendingWrap: t.pending,
		Shape: t.shape.Shape, Blink: t.shape.Blink,
	}
}

// Title returns the window title.
func (t *Terminal) Title() string { return t.title }

// Icon returns the icon name.
func (t *Terminal) Icon() string { return t.icon }

// Cwd returns the last OSC 7 address, as sent. Check its host before use.
func (t *Terminal) Cwd() string { return t.cwd }

// Dirty reports whether a visible row changed since ClearDirty.
func (t *Terminal) Dirty(r Row) bool { return r >= 0 && r < t.rows && !t.scr.clean[r] }

// ClearDirty marks every row as seen.
func (t *Terminal) ClearDirty() {
	t.scr.seen = true
	for i := range t.scr.clean {
		t.scr.clean[i] = true
	}
}

// HistoryLen returns the number of rows in the scrollback.
func (t *Terminal) HistoryLen() int { return t.hist.len() }

// HistoryLine appends row i of the scrollback to dst, oldest first, without its
// trailing blank cells.
func (t *Terminal) HistoryLine(i int, dst []Cell) []Cell {
	if i < 0 || i >= t.hist.len() {
		return dst
	}
	return t.hist.line(i, dst)
}

// HistoryWrapped reports whether row i of the scrollback continues the one before.
func (t *Terminal) HistoryWrapped(i int) bool {
	return i >= 0 && i < t.hist.len() && t.hist.head(i).wraps
}

// HistoryMark returns what OSC 133 said about row i of the scrollback.
func (t *Terminal) HistoryMark(i int) Mark {
	if i < 0 || i >= t.hist.len() {
		return newMark(0, 0)
	}
	h := t.hist.head(i)
	return newMark(h.marks, h.exit)
}

// HistoryCut returns what the limits removed from the start of the history: rows
// and the bytes of their text. It grows until the history is cleared by the
// program (ED 3, RIS), which is not a loss.
func (t *Terminal) HistoryCut() (lines, bytes int64) { return t.hist.cut() }

// StyleGen changes whenever style, link or cluster ids may have been given to
// something else. A cache by id must then be dropped.
func (t *Terminal) StyleGen() uint64 { return t.gen }

// StyleOf returns the style behind an id. An id that is not live gives the default.
func (t *Terminal) StyleOf(id StyleID) Style {
	if int(id) >= len(t.styles.list) {
		return Style{}
	}
	return t.styles.list[id]
}

// LinkOf returns the target behind an id, "" for none. Show it before opening it.
func (t *Terminal) LinkOf(id LinkID) string { return t.links.uri(id) }

// AppendText appends the UTF-8 of the whole cluster in c, and nothing when c is
// blank or the right half of a wide character.
func (t *Terminal) AppendText(dst []byte, c Cell) []byte {
	if id, ok := c.ClusterID(); ok {
		return append(dst, t.clusters.text(id)...)
	}
	if r := c.Rune(); r != 0 {
		return appendRune(dst, r)
	}
	return dst
}
