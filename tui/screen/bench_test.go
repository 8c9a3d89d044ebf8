package screen

import (
	"fmt"
	"testing"

	"github.com/honestty/honestty/vt"
)

// densePane fills a pane with text in many styles; variant changes every cell.
func densePane(variant int) *pane {
	p := newPane(200, 60)
	for i := range 64 {
		p.styles = append(p.styles, vt.Style{FG: vt.Indexed(uint8(16 + 3*i)), BG: vt.Indexed(uint8(i % 8)), Attrs: vt.Attr(i % 4)})
	}
	for y, line := range p.lines {
		for x := range line {
			style := vt.StyleID((x/3 + y + variant) % 65)
			line[x] = vt.MakeCell(rune('!'+(x*7+y*3+variant)%90), style)
		}
	}
	return p
}

// textPane fills a pane with lines of a coloured log.
func textPane(variant int) *pane {
	p := newPane(200, 60)
	p.styles = append(p.styles, vt.Style{FG: vt.Indexed(2)}, vt.Style{FG: vt.Indexed(1), Attrs: vt.Bold})
	for y, line := range p.lines {
		text := fmt.Sprintf("ok      example.org/app/store%d      0.%03ds   %d of %d packages, nothing to report", variant*60+y, y*7+variant, y, variant)
		for x, r := range text {
			style := vt.StyleID(0)
			if x < 2 {
				style = vt.StyleID(1 + (y+variant)%2)
			}
			line[x] = vt.MakeCell(r, style)
		}
	}
	return p
}

// benchFrames alternates two panes, so that every frame changes wherever they
// differ.
func benchFrames(b *testing.B, one, two *pane) {
	s := New(200, 60, fullCaps())
	panes, caches := [2]*pane{one, two}, [2]StyleMap{}
	var out []byte
	for i := range 4 {
		s.Blit(0, 0, 200, 60, panes[i&1], &caches[i&1])
		out = s.Diff(out[:0])
	}
	b.ReportAllocs()
	i, bytes := 0, 0
	for b.Loop() {
		s.Blit(0, 0, 200, 60, panes[i&1], &caches[i&1])
		out = s.Diff(out[:0])
		i++
		bytes += len(out)
	}
	b.ReportMetric(float64(bytes)/float64(max(i, 1)), "B/frame")
}

func BenchmarkFrameDense(b *testing.B) { benchFrames(b, densePane(0), densePane(1)) }
func BenchmarkFrameText(b *testing.B)  { benchFrames(b, textPane(0), textPane(1)) }

func BenchmarkFrameOneCell(b *testing.B) {
	one, two := densePane(0), densePane(0)
	two.lines[30][100] = vt.MakeCell('#', 5)
	benchFrames(b, one, two)
}

func BenchmarkFrameUnchanged(b *testing.B) {
	p := densePane(0)
	benchFrames(b, p, p)
}

// BenchmarkScan is the floor: comparing two grids of this size and nothing else.
func BenchmarkScan(b *testing.B) {
	s := New(200, 60, fullCaps())
	s.Diff(nil)
	var out []byte
	for b.Loop() {
		out = s.Diff(out[:0])
	}
	_ = out
}

func BenchmarkChrome(b *testing.B) {
	s := New(200, 60, fullCaps())
	line := "\x1b[1;34m─ 1 zsh\x1b[m  ~/src/app \x1b[2m────────────────────────────\x1b[m"
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		for y := range 4 {
			s.DrawANSI(0, y, 200, line)
		}
		s.SetText(0, 59, 200, " 1 app  2 logs        fd 23 ▁▁▁▂▁▁▁ /1024   ^B ? help", vt.Style{Attrs: vt.Faint})
		out = s.Diff(out[:0])
	}
	_ = out
}
