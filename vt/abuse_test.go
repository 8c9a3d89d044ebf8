package vt

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
)

// The tests in this file are the ways in which known engines were made to crash,
// hang, grow without bound or speak out of turn. What bounds us is asserted by
// what is held and what was counted, never by a clock.

// huge is the count that hung or crashed most of them.
const huge = math.MaxInt32

func TestHugeCountsActLikeTheSizeOfTheScreen(t *testing.T) {
	const cols, rows = 12, 5
	text := "\x1b[2;3Habc世def\r\nxyz\r\n123\x1b[3;4H"
	for _, final := range []string{
		"@", "A", "B", "C", "D", "E", "F", "G", "I", "L", "M", "P", "S", "T", "X", "Z", "`", "a", "d", "e",
		" @", " A", "'}", "'~",
	} {
		a, b := New(cols, rows, Options{Scrollback: 50}), New(cols, rows, Options{Scrollback: 50})
		a.Write([]byte(text))
		b.Write([]byte(text))
		a.Write(fmt.Appendf(nil, "\x1b[%d%s", huge, final))
		b.Write(fmt.Appendf(nil, "\x1b[%d%s", cols*rows, final))
		if x, y := snapshot(a), snapshot(b); x != y {
			t.Errorf("CSI %d %s is not CSI %d %s:\n%s\n%s", huge, final, cols*rows, final, x, y)
		}
		if n := a.hist.next; n > rows+2 {
			t.Errorf("CSI %d %s pushed %d rows into the history", huge, final, n)
		}
	}
}

func TestRepeatPrintsNoMoreThanTheScreenHolds(t *testing.T) {
	v := New(80, 24, Options{Scrollback: 1000})
	for range 100 {
		v.Write(fmt.Appendf(nil, "x\x1b[%db", huge))
	}
	// Each prints one screen and one character, so history grows by a screen each.
	if n := v.hist.next; n > 100*25 {
		t.Errorf("100 repeats scrolled %d rows", n)
	}
	if v.Stats().Dropped["count"] != 100 {
		t.Errorf("dropped = %v", v.Stats().Dropped)
	}
}

func TestRegionOfATallerScreenIsClamped(t *testing.T) {
	for _, p := range []string{"\x1b[23;28r\x1b[S", "\x1b[1;51r\x1b[51H\n\n\x1b[99L\x1b[99M", "\x1b[30;40r\x1b[T\x1b[r"} {
		v := New(80, 25, Options{})
		checkWrite(t, v, []byte(p))
		v.Resize(80, 10)
		checkWrite(t, v, []byte(p))
	}
}

func TestOddMarginsKeepEveryInvariant(t *testing.T) {
	v := New(20, 8, Options{Scrollback: 5})
	for l := range 24 {
		for r := range 24 {
			p := fmt.Sprintf("\x1b[?69h\x1b[%d;%ds\x1b[%d;%dr世x\x1b[5;9H\x1b[9@\x1b[9P\x1b[L\x1b[M\x1b[S\x1b[T\x1b['}\x1b['~\x1b6\x1b9\n\x1bM", l, r, r, l)
			checkWrite(t, v, []byte(p))
		}
	}
}

func TestEndlessParametersHoldNothing(t *testing.T) {
	v := New(10, 2, Options{})
	v.Write([]byte("\x1b["))
	chunk := bytes.Repeat([]byte("1;"), 1<<15)
	for range 64 { // 4 MiB; libvterm crashed on it
		v.Write(chunk)
	}
	if v.seq.n != maxParams || len(v.str) != 0 {
		t.Errorf("collected %d parameters and %d bytes", v.seq.n, len(v.str))
	}
	v.Write([]byte("mA"))
	if v.Stats().Dropped["params"] != 1 || v.Line(0)[0].Style() != 0 {
		t.Errorf("the sequence was not dropped: %v", v.Stats().Dropped)
	}
}

func TestAnySizeIsClamped(t *testing.T) {
	for _, s := range [][2]int{{0, 0}, {-1, -1}, {1, 1}, {2, 3}, {1, 500}, {500, 1}, {math.MinInt, math.MaxInt}, {10000, 2000}, {math.MaxInt, math.MaxInt}} {
		o := Options{Scrollback: 10, Limits: Limits{Cells: 1 << 16}}
		v := New(s[0], s[1], o)
		checkWrite(t, v, []byte("世界\x1b[?1049habc\x1b[99;99H\n"))
		v.Resize(40, 10)
		v.Resize(s[0], s[1])
		if err := v.Check(); err != nil {
			t.Errorf("%v: %v", s, err)
		}
		if c, r := v.Size(); c < 1 || r < 1 || c*r > 1<<16 {
			t.Errorf("%v became %d×%d", s, c, r)
		}
		if held := v.Stats().ScreenBytes; held > 2<<20 {
			t.Errorf("%v holds %d bytes", s, held)
		}
	}
}

func TestEndlessStringsAreBoundedAndDropped(t *testing.T) {
	for _, start := range []string{"\x1b]0;", "\x1bPq", "\x1b_G", "\x1b^", "\x1bX", "\x1b]8;;", "\x1b]52;c;"} {
		v := New(10, 2, Options{})
		v.Write([]byte("\x1b]2;before\x07" + start))
		chunk := bytes.Repeat([]byte("A"), 1<<16)
		for range 128 { // 8 MiB
			v.Write(chunk)
			if cap(v.str) > 2*v.lim.StringBytes {
				t.Fatalf("%q holds %d bytes", start, cap(v.str))
			}
		}
		fx := v.Write([]byte("\x1b\\after"))
		if v.Title() != "before" || v.Stats().Dropped["string"] != 1 {
			t.Errorf("%q: title %.20q, dropped %v", start, v.Title(), v.Stats().Dropped)
		}
		if got := rowText(v, v.Line(0)); got != "after     " {
			t.Errorf("%q: screen %q", start, got)
		}
		if len(fx.Events) != 1 || fx.Events[0] != (Event{EventDropped, "string", 1}) {
			t.Errorf("%q: events %+v", start, fx.Events)
		}
		if cap(v.str) > 64<<10 {
			t.Errorf("%q: %d bytes kept after the string", start, cap(v.str))
		}
	}
}

func TestEndlessMarksStayWithinOneCluster(t *testing.T) {
	for name, unit := range map[string]string{"marks": "\u0301", "joiners": "\u200d👩", "selectors": "\ufe0f", "flags": "\u200d🇩"} {
		for _, mode := range []string{"", "\x1b[?2027h"} {
			v := New(10, 2, Options{})
			v.Write([]byte(mode + "👩"))
			chunk := []byte(strings.Repeat(unit, 10000))
			for range 10 {
				checkWrite(t, v, chunk)
			}
			for r := range Row(2) {
				for _, c := range v.Line(r) {
					if n := len(v.AppendText(nil, c)); n > v.lim.ClusterBytes {
						t.Errorf("%s %q: a cell of %d bytes", name, mode, n)
					}
				}
			}
			if n := len(v.clusters.data); n > v.lim.ClusterBytes*200 {
				t.Errorf("%s %q: %d bytes of clusters", name, mode, n)
			}
		}
	}
}

func TestDistinctStylesAreReclaimed(t *testing.T) {
	v := New(80, 24, Options{Scrollback: 200, Limits: Limits{Styles: 5000}})
	var b []byte
	for i := range 200000 {
		b = fmt.Appendf(b[:0], "\x1b[38;2;%d;%d;%dmx", i&255, i>>8&255, i>>16)
		v.Write(b)
	}
	s := v.Stats()
	if len(v.styles.list) > 5000*5/4 || len(v.styles.index) > 1<<14 {
		t.Errorf("%d styles, index of %d", len(v.styles.list), len(v.styles.index))
	}
	if s.Sweeps == 0 || s.Sweeps > 200 {
		t.Errorf("%d sweeps", s.Sweeps)
	}
	if s.Dropped["style"] == 0 {
		t.Error("more styles than the limit are live, and no drop was counted")
	}
	if err := v.Check(); err != nil {
		t.Error(err)
	}
}

func TestSweepKeepsWhatIsShown(t *testing.T) {
	v := New(20, 3, Options{Scrollback: 5, Limits: Limits{Styles: 60, Links: 8, Clusters: 20}})
	for i := range 500 {
		v.Write(fmt.Appendf(nil, "\x1b[38;2;1;2;%dm\x1b]8;;http://h/%d\x07a%c\r\n", i%256, i, 0x300+i%100))
		if err := v.Check(); err != nil {
			t.Fatal(err)
		}
		c := v.Line(v.row - 1)[0]
		if got, want := v.LinkOf(v.StyleOf(c.Style()).Link), fmt.Sprintf("http://h/%d", i); got != want {
			t.Fatalf("row %d links to %q", i, got)
		}
		if got, want := string(v.AppendText(nil, c)), "a"+string(rune(0x300+i%100)); got != want {
			t.Fatalf("row %d holds %q, want %q", i, got, want)
		}
	}
	if v.Stats().Sweeps == 0 || v.StyleGen() == 0 {
		t.Error("nothing was swept")
	}
}

func TestHalfAMillionLinksAreBounded(t *testing.T) {
	v := New(80, 24, Options{Scrollback: 100})
	var b []byte
	for i := range 500000 {
		b = fmt.Appendf(b, "\x1b]8;;http://h/%d\x07x", i)
		if len(b) > 60000 {
			v.Write(b)
			b = b[:0]
		}
	}
	if n := len(v.links.list); n > v.lim.Links {
		t.Errorf("%d links", n)
	}
	if err := v.Check(); err != nil {
		t.Error(err)
	}
}

func TestDeclaredImageSizeAllocatesNothing(t *testing.T) {
	v := New(10, 2, Options{})
	p := []byte("\x1bPq\"1;1;99999;99999#0~\x1b\\\x1b_Ga=T,f=32,s=99999,v=99999;AAAA\x1b\\")
	v.Write(p)
	if n := testing.AllocsPerRun(10, func() { v.Write(p) }); n > 1 {
		t.Errorf("%v allocations for an image that is not shown", n)
	}
	if v.Stats().Dropped["image"] < 2 {
		t.Errorf("dropped = %v", v.Stats().Dropped)
	}
}

func TestRepliesNeverBlockAndAreBounded(t *testing.T) {
	v := New(80, 24, Options{})
	fx := v.Write(bytes.Repeat([]byte("\x1b[6n"), 50000))
	if want := 50000 * len("\x1b[1;1R"); len(fx.Reply) != want {
		t.Errorf("%d bytes of 50,000 replies, want %d", len(fx.Reply), want)
	}
	for ask, end := range map[string]string{"\x1b[6n": "R", "\x1b[c": "c", "\x1b]4;1;?\a": "\a"} {
		before := v.Stats().Dropped["reply"]
		fx = v.Write(bytes.Repeat([]byte(ask), 1<<18))
		if len(fx.Reply) > v.lim.ReplyBytes || !bytes.HasSuffix(fx.Reply, []byte(end)) {
			t.Errorf("%q: %d bytes of reply, ending in %q", ask, len(fx.Reply), fx.Reply[len(fx.Reply)-6:])
		}
		if v.Stats().Dropped["reply"] == before {
			t.Errorf("%q: replies were left out and not counted", ask)
		}
	}
}

func TestEventsAreBounded(t *testing.T) {
	v := New(80, 24, Options{})
	fx := v.Write(bytes.Repeat([]byte("\x1b]2;x\x07\x07"), 20000))
	if len(fx.Events) > v.lim.Events+int(numDrops) {
		t.Errorf("%d events", len(fx.Events))
	}
	if v.Stats().Dropped["event"] == 0 {
		t.Error("events were left out and not counted")
	}
	if i := len(fx.Events) - 2; fx.Events[i].Kind != EventBell || fx.Events[i].N != 20000 {
		t.Errorf("bells: %+v", fx.Events[i])
	}
}

func TestStacksAreBounded(t *testing.T) {
	v := New(80, 24, Options{})
	checkWrite(t, v, bytes.Repeat([]byte("\x1b[22t\x1b[>1u"), 100000))
	if len(v.titles) != v.lim.TitleStack || len(v.main.kitty.stack) != v.lim.KittyStack {
		t.Errorf("%d titles, %d keyboard flags", len(v.titles), len(v.main.kitty.stack))
	}
}

// neverAnswered is what must not put bytes into the program's input: the reply
// would be read as typing, or would tell what the program may not know.
var neverAnswered = map[string]string{
	"title report":      "\x1b]2;rm -rf\n\x07\x1b[21t\x1b[20t",
	"clipboard read":    "\x1b]52;c;c2VjcmV0\x07\x1b]52;c;?\x07\x1b]52;;?\x07",
	"screen read-back":  "secret\x1b[1;1;1;1;1;6*y",
	"answerback":        "\x05\x05",
	"font":              "\x1b]50;?\x07",
	"window state":      "\x1b[11t\x1b[13t\x1b[14t\x1b[15t\x1b[19t",
	"user keys":         "\x1bP0;0|17/41\x1b\\",
	"media copy":        "\x1b[5i\x1b[4i\x1b[?5i",
	"unknown sequences": "\x1b[99$u\x1b[?99;1z\x1bP99z\x1b\\\x1b]999;?\x07",
}

func TestDangerousQuestionsAreNeverAnswered(t *testing.T) {
	for name, p := range neverAnswered {
		v := New(80, 24, Options{})
		if fx := v.Write([]byte(p)); len(fx.Reply) > 0 {
			t.Errorf("%s: answered %q", name, fx.Reply)
		}
		if len(v.Stats().Dropped) == 0 {
			t.Errorf("%s: refused without being counted", name)
		}
	}
}

func TestRequestsAreNotEchoed(t *testing.T) {
	v := New(80, 24, Options{})
	for _, p := range []string{"\x1bP$qEVIL\r\n\x1b\\", "\x1bP+qEVIL;45564C49\x1b\\", "\x1bP$q\x03EVIL\x1b\\", "\x1b]4;EVIL;?\x07", "\x1b]10;EVIL;?\x07"} {
		if fx := v.Write([]byte(p)); bytes.Contains(bytes.ToUpper(fx.Reply), []byte("EVIL")) || bytes.ContainsAny(fx.Reply, "\r\n\x03") {
			t.Errorf("%q is repeated in %q", p, fx.Reply)
		}
	}
}

func TestWindowOperationsChangeNothing(t *testing.T) {
	v := New(80, 24, Options{CellPixels: Pixels{8, 16}})
	for n := range 30 {
		if n == 22 || n == 23 {
			continue // the title stack
		}
		v.Write(fmt.Appendf(nil, "\x1b[%d;999;999t", n))
	}
	if c, r := v.Size(); c != 80 || r != 24 {
		t.Errorf("size is %d×%d", c, r)
	}
}

func TestTextForTheHostHasNoControls(t *testing.T) {
	v := New(80, 24, Options{})
	dirty := "a\x01\x1fb\xc2\x9b\x7f\xff" + strings.Repeat("x", 5000)
	fx := v.Write([]byte("\x1b]0;" + dirty + "\x07\x1b]9;" + dirty + "\x07\x1b]777;notify;" + dirty + ";" + dirty + "\x07\x1b]7;" + dirty + "\x07"))
	n := 0
	for _, e := range fx.Events {
		if e.Kind == EventDropped {
			continue
		}
		n++
		for _, r := range e.Data {
			if r < 0x20 && r != '\n' || r >= 0x7F && r < 0xA0 {
				t.Errorf("%s event with %U", e.Kind, r)
			}
		}
		if e.Kind == EventTitle && len([]rune(e.Data)) > v.lim.TitleRunes {
			t.Errorf("title of %d characters", len([]rune(e.Data)))
		}
	}
	if n != 5 {
		t.Errorf("%d events: %+v", n, fx.Events)
	}
	if v.Stats().Dropped["title"] == 0 {
		t.Error("a title was cut and not counted")
	}
}

func TestLinksAreShownNeverOpened(t *testing.T) {
	v := New(80, 24, Options{})
	fx := v.Write([]byte("\x1b]8;;javascript:alert(1)\x07https://bank.example\x1b]8;;\x07"))
	if len(fx.Events) != 0 {
		t.Errorf("events %+v", fx.Events)
	}
	if got := v.LinkOf(v.StyleOf(v.Line(0)[0].Style()).Link); got != "javascript:alert(1)" {
		t.Errorf("the host would show %q", got)
	}
}

func TestEightBitControlsAreNotControls(t *testing.T) {
	for _, p := range []string{"\x9b6n", "\xc2\x9b6n", "\xc0\x9b6n", "\xe0\x82\x9b6n", "\x9d2;x\x9c", "\xc2\x9d2;x\xc2\x9c", "\x90$qm\x9c", "\x84\x85\x8d\x9b31m", "a\xc2\x9b6n"} {
		v := New(80, 24, Options{})
		fx := v.Write([]byte(p))
		if len(fx.Reply) > 0 || v.Title() != "" || v.row != 0 {
			t.Errorf("%q acted: reply %q, title %q, row %d", p, fx.Reply, v.Title(), v.row)
		}
		for _, c := range v.Line(0) {
			for _, r := range string(v.AppendText(nil, c)) {
				if r >= 0x80 && r < 0xA0 {
					t.Errorf("%q left %U on the screen", p, r)
				}
			}
		}
	}
}

func TestMemoryOfAFullScrollbackIsSmall(t *testing.T) {
	for name, c := range map[string]struct {
		line  func(int) string
		limit int
	}{"plain": {plainLine, 4 << 20}, "styled": {styledLine, 6 << 20}} {
		v := fullHistory(c.line)
		s := v.Stats()
		if s.HistoryLines != 10000 {
			t.Errorf("%s: %d lines", name, s.HistoryLines)
		}
		if held := s.HistoryBytes + s.ScreenBytes; held > c.limit {
			t.Errorf("%s: a full pane holds %d bytes, more than %d", name, held, c.limit)
		}
	}
}

func TestScrollbackBytesAreALimitToo(t *testing.T) {
	v := New(200, 10, Options{Scrollback: 1 << 20, ScrollbackBytes: 300 << 10})
	for i := range 20000 {
		v.Write([]byte(plainLine(i)))
	}
	if err := v.Check(); err != nil {
		t.Error(err)
	}
	lines, cut := v.HistoryCut()
	if lines == 0 || cut != lines*199 || lines+int64(v.HistoryLen()) != 20000-9 {
		t.Errorf("cut %d lines of %d bytes, %d kept", lines, cut, v.HistoryLen())
	}
}

func TestSteadyScrollingAllocatesNothing(t *testing.T) {
	v := New(80, 24, Options{Scrollback: 500})
	p := []byte(strings.Repeat("some text that scrolls away\r\n", 1000))
	v.Write(p)
	if n := testing.AllocsPerRun(20, func() { v.Write(p) }); n > 0 {
		t.Errorf("%v allocations per 1000 lines", n)
	}
}
