package vt

// Limits are the bounds of everything that input can make grow. The zero value
// of a field means its default. A bound that is hit is counted in Stats and
// reported as a dropped event; nothing is ever cut silently.
type Limits struct {
	Cols, Rows   int // largest screen; a larger size is clamped
	Cells        int // largest Cols×Rows together: 8 bytes each, twice (two screens)
	StringBytes  int // an OSC, DCS, APC, PM or SOS string; a longer one is dropped whole
	TitleRunes   int // a title or icon name is cut here
	LinkBytes    int // one OSC 8 target; a longer one is dropped
	Links        int // live OSC 8 targets; at most 65535, the range of LinkID
	Styles       int // live styles; past it colours fall back to the palette
	Clusters     int // live grapheme clusters of more than one code point
	ClusterBytes int // one cluster; further marks on it are dropped
	ReplyBytes   int // replies returned by one Write
	Events       int // events returned by one Write
	TitleStack   int // XTWINOPS 22; the oldest entry makes room
	KittyStack   int // kitty keyboard flags per screen; the oldest makes room
}

// maxCols is the widest screen any Limits can allow: 4 bytes of text and 8 of
// run for each cell must fit in one history page.
const maxCols = 4096

// DefaultLimits returns the bounds used where Options.Limits is zero.
func DefaultLimits() Limits {
	return Limits{
		Cols: maxCols, Rows: 4096, Cells: 4 << 20,
		StringBytes: 1 << 20,
		TitleRunes:  256,
		LinkBytes:   4096,
		Links:       4096,
		Styles:      1 << 16,
		Clusters:    1 << 15,
		// Long enough for a family emoji with skin tones (41 bytes) and for
		// stacked marks in any living script; short enough to stop a flood.
		ClusterBytes: 64,
		ReplyBytes:   1 << 20,
		Events:       4096,
		TitleStack:   10,
		KittyStack:   16,
	}
}

// filled returns l with defaults for zero fields and every field in the range
// its representation allows.
func (l Limits) filled() Limits {
	d := DefaultLimits()
	pick := func(v, def, most int) int {
		if v <= 0 {
			return def
		}
		return min(v, most)
	}
	return Limits{
		Cols:         pick(l.Cols, d.Cols, maxCols),
		Rows:         pick(l.Rows, d.Rows, 1<<15),
		Cells:        pick(l.Cells, d.Cells, 1<<26),
		StringBytes:  pick(l.StringBytes, d.StringBytes, 64<<20),
		TitleRunes:   pick(l.TitleRunes, d.TitleRunes, 1<<16),
		LinkBytes:    pick(l.LinkBytes, d.LinkBytes, 1<<20),
		Links:        pick(l.Links, d.Links, 1<<16-1),
		Styles:       pick(l.Styles, d.Styles, 1<<24),
		Clusters:     pick(l.Clusters, d.Clusters, 1<<21-1),
		ClusterBytes: pick(l.ClusterBytes, d.ClusterBytes, 255),
		ReplyBytes:   pick(l.ReplyBytes, d.ReplyBytes, 64<<20),
		Events:       pick(l.Events, d.Events, 1<<20),
		TitleStack:   pick(l.TitleStack, d.TitleStack, 1<<10),
		KittyStack:   pick(l.KittyStack, d.KittyStack, 1<<10),
	}
}

// A Drop names one reason why something the program sent had no effect.
type Drop uint8

// The reasons. Those up to DropUnknown are bounds, refusals follow: a refused
// sequence was understood and is never carried out.
const (
	DropParams      Drop = iota // a CSI with more than 32 parameters
	DropString                  // a string longer than Limits.StringBytes
	DropAborted                 // a string cut off by CAN, SUB or another sequence
	DropReply                   // a reply past Limits.ReplyBytes
	DropEvent                   // an event past Limits.Events
	DropStyle                   // a style past Limits.Styles; drawn with palette colours
	DropCluster                 // a mark past ClusterBytes or Clusters
	DropMark                    // a combining mark with nothing before it
	DropLink                    // an OSC 8 target past LinkBytes or Links
	DropTitle                   // a title cut at TitleRunes
	DropTitleStack              // the oldest stacked title made room
	DropKittyStack              // the oldest stacked keyboard flags made room
	DropCount                   // a repeat count clamped to the screen
	DropSize                    // a screen size clamped to the limits
	DropWide                    // a wide character on a screen one column wide
	DropUTF8                    // malformed UTF-8, shown as U+FFFD
	DropUnknown                 // a sequence the engine does not know
	DropImage                   // sixel, ReGIS, kitty or iTerm graphics
	DropClipboard               // OSC 52 read
	DropTitleReport             // XTWINOPS 20 and 21
	DropWindowOp                // window moves, resizes and reports
	DropChecksum                // DECRQCRA while Options.AllowChecksum is off
	DropAnswerback              // ENQ
	DropMedia                   // media copy to a printer
	DropUserKeys                // DECUDK, DECDLD, macros
	DropFont                    // OSC 50
	DropColumns                 // DECCOLM and other size changes from inside
	DropBadString               // a string that could not be decoded
	numDrops
)

var dropNames = [numDrops]string{
	DropParams: "params", DropString: "string", DropAborted: "aborted",
	DropReply: "reply", DropEvent: "event", DropStyle: "style",
	DropCluster: "cluster", DropMark: "mark", DropLink: "link",
	DropTitle: "title", DropTitleStack: "title-stack", DropKittyStack: "kitty-stack",
	DropCount: "count", DropSize: "size", DropWide: "wide", DropUTF8: "utf8",
	DropUnknown: "unknown", DropImage: "image", DropClipboard: "clipboard-read",
	DropTitleReport: "title-report", DropWindowOp: "window-op",
	DropChecksum: "checksum", DropAnswerback: "answerback", DropMedia: "media-copy",
	DropUserKeys: "user-keys", DropFont: "font", DropColumns: "columns",
	DropBadString: "bad-string",
}

// String returns the word used in events and in the documentation.
func (d Drop) String() string {
	if d < numDrops {
		return dropNames[d]
	}
	return "invalid"
}

// Stats are the counters of a Terminal since New.
type Stats struct {
	Dropped      map[string]int64 // by Drop name; only what happened
	HistoryLines int
	HistoryBytes int // bytes held by scrollback pages
	ScreenBytes  int // bytes held by both screens
	Styles       int // live styles, the default included
	Clusters     int
	Links        int
	Sweeps       int64 // times styles, links and clusters were reclaimed
}

// Stats returns the counters and the memory held.
func (t *Terminal) Stats() Stats {
	s := Stats{
		Dropped:      map[string]int64{},
		HistoryLines: t.hist.len(),
		HistoryBytes: t.hist.bytes(),
		ScreenBytes:  t.main.bytes() + t.alt.bytes(),
		Styles:       t.styles.live(),
		Clusters:     t.clusters.live(),
		Links:        t.links.live(),
		Sweeps:       t.sweeps,
	}
	for d, n := range t.drops {
		if n > 0 {
			s.Dropped[Drop(d).String()] = n
		}
	}
	return s
}
