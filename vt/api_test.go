package vt

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestARowThatChangedIsDirty runs random programs and compares every row that is
// called clean with what it was.
func TestARowThatChangedIsDirty(t *testing.T) {
	for seed := range uint64(120) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		v := New(1+rnd.IntN(30), 1+rnd.IntN(10), smallOptions())
		for range 40 {
			v.ClearDirty()
			var was [][]Cell
			for r := range v.rows {
				was = append(was, slices.Clone(v.Line(r)))
			}
			gen, reverse := v.StyleGen(), v.Modes().ReverseVideo
			p := randomProgram(rnd)
			v.Write(p)
			if v.StyleGen() != gen || v.Modes().ReverseVideo != reverse {
				continue // a renderer draws everything anew
			}
			for r := range v.rows {
				if !v.Dirty(r) && !slices.Equal(was[r], v.Line(r)) {
					t.Fatalf("seed %d: row %d changed and is clean after %q", seed, r, p)
				}
			}
		}
	}
}

func TestAnUntouchedRowIsClean(t *testing.T) {
	v := New(10, 4, Options{})
	v.ClearDirty()
	v.Write([]byte("\x1b[2;1Hx\x1b[4;4H"))
	for r, want := range []bool{false, true, false, false} {
		if v.Dirty(Row(r)) != want {
			t.Errorf("row %d: dirty = %v", r, !want)
		}
	}
	if v.Dirty(-1) || v.Dirty(4) {
		t.Error("a row outside the screen is dirty")
	}
	v.ClearDirty()
	v.Write([]byte("\x1b[?1049h"))
	if !v.Dirty(0) || !v.Dirty(3) {
		t.Error("switching screens leaves rows clean")
	}
}

func TestRowsAndIdsOutsideTheirRangeGiveNothing(t *testing.T) {
	v := New(4, 2, Options{Scrollback: 5})
	if v.Line(-1) != nil || v.Line(2) != nil || v.LineWrapped(9) || v.LineMark(9).Exit != -1 {
		t.Error("a row outside the screen gives something")
	}
	if got := v.HistoryLine(0, nil); got != nil || v.HistoryWrapped(0) || v.HistoryMark(-1).Prompt {
		t.Error("a row outside the history gives something")
	}
	if v.StyleOf(99) != (Style{}) || v.LinkOf(99) != "" {
		t.Error("an unknown id gives something")
	}
	if got := v.AppendText(nil, cellCluster|77); len(got) != 0 {
		t.Errorf("an unknown cluster gives %q", got)
	}
}

func TestEffectsAreForgottenByTheNextWrite(t *testing.T) {
	v := New(10, 2, Options{})
	if fx := v.Write([]byte("\x1b[c\a\x1b]2;x\a")); len(fx.Reply) == 0 || len(fx.Events) != 2 {
		t.Fatalf("effects %+v", fx)
	}
	if fx := v.Write([]byte("plain")); len(fx.Reply) != 0 || len(fx.Events) != 0 {
		t.Errorf("effects %+v", fx)
	}
}

func TestModeChangesAreOneEvent(t *testing.T) {
	v := New(10, 2, Options{})
	fx := v.Write([]byte("\x1b[?1h\x1b[?2004h\x1b[?1000h\x1b[>1u\x1b="))
	if len(fx.Events) != 1 || fx.Events[0].Kind != EventMode {
		t.Errorf("events %+v", fx.Events)
	}
}

func TestTheSchemeIsReportedWhenAskedFor(t *testing.T) {
	v := New(10, 2, Options{})
	dark, light := RGB(0, 0, 40), RGB(250, 250, 240)
	if fx := v.SetHostColors(light, dark, 0); len(fx.Reply) != 0 {
		t.Errorf("reported unasked: %q", fx.Reply)
	}
	v.Write([]byte("\x1b[?2031h"))
	if fx := v.SetHostColors(dark, light, 0); string(fx.Reply) != "\x1b[?997;2n" {
		t.Errorf("report %q", fx.Reply)
	}
	if fx := v.ReportScheme(); string(fx.Reply) != "\x1b[?997;2n" {
		t.Errorf("report %q", fx.Reply)
	}
}

func TestPaletteTellsWhatTheProgramChanged(t *testing.T) {
	v := New(10, 2, Options{})
	if c, set := v.PaletteColor(1); set || c != RGB(0xCD, 0, 0) {
		t.Errorf("entry 1 is %x, %v", c, set)
	}
	if c, _ := v.PaletteColor(21); c != RGB(0, 0, 255) {
		t.Errorf("entry 21 is %x", c)
	}
	if c, _ := v.PaletteColor(255); c != RGB(238, 238, 238) {
		t.Errorf("entry 255 is %x", c)
	}
	v.Write([]byte("\x1b]4;1;rgb:1/2/3\a\x1b]10;#abc\a"))
	if c, set := v.PaletteColor(1); !set || c != RGB(0x11, 0x22, 0x33) {
		t.Errorf("entry 1 is %x, %v", c, set)
	}
	if fg, bg, _ := v.DynamicColors(); fg != RGB(0xA0, 0xB0, 0xC0) || !bg.IsDefault() {
		t.Errorf("foreground %x, background %x", fg, bg)
	}
}

func TestTheHostCanEndSynchronizedOutput(t *testing.T) {
	v := New(10, 2, Options{})
	v.Write([]byte("\x1b[?2026h"))
	if !v.Modes().SyncOutput {
		t.Fatal("2026 is not set")
	}
	v.EndSync()
	if fx := v.Write([]byte("\x1b[?2026$p")); v.Modes().SyncOutput || string(fx.Reply) != "\x1b[?2026;2$y" {
		t.Errorf("still held: %q", fx.Reply)
	}
}

func TestACellSizeThatChangesIsReported(t *testing.T) {
	v := New(10, 2, Options{})
	v.Write([]byte("\x1b[?2048h"))
	if fx := v.SetCellPixels(Pixels{5, 9}); string(fx.Reply) != "\x1b[48;2;10;18;50t" {
		t.Errorf("report %q", fx.Reply)
	}
	if fx := v.SetCellPixels(Pixels{5, 9}); len(fx.Reply) != 0 {
		t.Errorf("reported again: %q", fx.Reply)
	}
}

func TestCellsPackAndUnpack(t *testing.T) {
	c := MakeCell('x', 7)
	if c.Rune() != 'x' || c.Style() != 7 || c.Wide() || c.Tail() || c.Blank() || c.Protected() {
		t.Errorf("cell %x", uint64(c))
	}
	if c = c.WithStyle(1 << 31); c.Style() != 1<<31 || c.Rune() != 'x' {
		t.Errorf("cell %x", uint64(c))
	}
	if !Cell(0).Blank() || !cellSpacer.Blank() || cellTail.Blank() {
		t.Error("blank cells are told wrongly")
	}
}

func TestCellsKnowTheirPartOfTheDialogue(t *testing.T) {
	v := New(6, 1, Options{Scrollback: 5})
	v.Write([]byte("x\x1b]133;A\a$\x1b]133;B\ai\x1b]133;C\ao\x1b]133;D;0\ay\r\n"))
	cells := v.HistoryLine(0, nil)
	for i, want := range []Semantic{SemanticNone, SemanticPrompt, SemanticInput, SemanticOutput, SemanticNone} {
		if got := cells[i].Semantic(); got != want {
			t.Errorf("cell %d is %d, want %d", i, got, want)
		}
	}
}

func TestEveryDropHasAName(t *testing.T) {
	seen := map[string]bool{}
	for d := range numDrops {
		if s := d.String(); s == "" || seen[s] {
			t.Errorf("drop %d is named %q", d, s)
		}
		seen[d.String()] = true
	}
}

func TestRepliesLeaveInOrder(t *testing.T) {
	v := New(10, 2, Options{Version: "9"})
	fx := v.Write([]byte("\x1b[5n\x1b[6n\x1b[>q\x1b[?u"))
	if want := []byte("\x1b[0n\x1b[1;1R\x1bP>|honestty(9)\x1b\\\x1b[?0u"); !bytes.Equal(fx.Reply, want) {
		t.Errorf("replies %q, want %q", fx.Reply, want)
	}
}

func TestTheCutIsTheSameWheneverItIsAskedFor(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 1))
	o := Options{Scrollback: 300, ScrollbackBytes: 3 * pageSize, Limits: Limits{Clusters: 3}}
	often, once := New(70, 5, o), New(70, 5, o)
	var total int64
	for i := range 6000 {
		line := strings.Repeat([]string{"plain ", "世界", "e\u0301", "é", "🙂"}[rnd.IntN(5)], rnd.IntN(10))
		total += int64(len(line))
		for _, v := range []*Terminal{often, once} {
			v.Write([]byte(line + "\r\n"))
			if i%1000 == 999 {
				v.Resize(70, 3+i/1000)
			}
		}
		often.HistoryCut()
	}
	l1, b1 := often.HistoryCut()
	l2, b2 := once.HistoryCut()
	if l1 != l2 || b1 != b2 || b1 < total*9/10 || b1 > total {
		t.Errorf("cut %d rows of %d bytes, asked once %d of %d; %d bytes printed", l1, b1, l2, b2, total)
	}
}
