package main

import (
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/vt"
)

// The targets of a frame of 200×60, in milliseconds of CPU.
const (
	oneCellTarget   = 0.05
	fullFrameTarget = 0.3
)

// A frames is a kind of frame: two terminals that are shown by turns, so that
// every frame changes wherever they differ.
type frames struct {
	name     string
	one, two func() *vt.Terminal
	target   float64 // 0: none
}

// frameKinds are from nothing to everything.
var frameKinds = []frames{
	{"unchanged", denseTerminal("", 0), denseTerminal("", 0), 0},
	{"one cell", denseTerminal("", 0), denseTerminal("\x1b[31;101H\x1b[7m#", 0), oneCellTarget},
	{"every row, a log", logTerminal(0), logTerminal(1), fullFrameTarget},
	{"every cell, 64 styles", denseTerminal("", 0), denseTerminal("", 1), fullFrameTarget},
}

// denseTerminal is full of cells in many styles; variant changes every cell.
func denseTerminal(then string, variant int) func() *vt.Terminal {
	return func() *vt.Terminal {
		t := vt.New(windowCols, windowRows, vt.Options{})
		for y := range windowRows {
			b := fmt.Appendf(nil, "\x1b[%dH", y+1)
			for x := range windowCols {
				style := (x/3 + y + variant) % 64
				b = fmt.Appendf(b, "\x1b[38;5;%d;48;5;%dm%c", 16+3*style, style%8, '!'+(7*x+3*y+variant)%90)
			}
			t.Write(b)
		}
		t.Write([]byte(then))
		return t
	}
}

// logTerminal is what a coloured log leaves on the screen.
func logTerminal(variant int) func() *vt.Terminal {
	return func() *vt.Terminal {
		t := vt.New(windowCols, windowRows, vt.Options{})
		log := makeLog(256<<10, windowCols, windowRows, "\r\n")
		half := len(log) / 2
		half += slices.Index(log[half:], '\n') + 1
		t.Write([][]byte{log[:half], log[half:]}[variant])
		return t
	}
}

// cellFrames prints what a frame costs to compose and to turn into bytes.
func cellFrames(o options) error {
	count, rounds := pick(o, 1000, 200), pick(o, 9, 3)
	fmt.Printf("\nOne frame of %d×%d, composed and turned into bytes: ms of CPU, median of %d rounds of %d frames (least–most), load %s\n",
		windowCols, windowRows, rounds, count, loadAverage())
	t := table{{"what changed", "ms", "target", "÷ a copy of the cells", "bytes"}}
	var copies []float64
	for range rounds {
		copies = append(copies, copyFrames(count))
	}
	for _, k := range frameKinds {
		f := newFramer(k)
		var ms []float64
		for range rounds {
			ms = append(ms, f.run(count))
		}
		target := ""
		if k.target > 0 {
			target = fmt.Sprintf("≤ %.2f", k.target)
		}
		t.add(k.name, fmt.Sprintf("%.4f (%.4f–%.4f)", median(ms), slices.Min(ms), slices.Max(ms)), target,
			times(median(ms)/median(copies)), fmt.Sprint(f.bytes/max(f.shown, 1)))
	}
	fmt.Println()
	t.print(os.Stdout)
	fmt.Printf("a copy of the cells: every row of the terminal compared with the one before and copied, %.4f ms\n", median(copies))
	return nil
}

// A framer composes frames as a window does.
type framer struct {
	screen       *screen.Screen
	terms        [2]*vt.Terminal
	styles       [2]screen.StyleMap
	out          []byte
	shown, bytes int // frames, and bytes of them
}

func newFramer(k frames) *framer {
	caps := screen.Detect(func(key string) string {
		return map[string]string{"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}[key]
	})
	f := &framer{screen: screen.New(windowCols, windowRows, caps), terms: [2]*vt.Terminal{k.one(), k.two()}}
	f.run(4) // the first frame paints everything
	f.shown, f.bytes = 0, 0
	return f
}

// run returns the CPU time of a frame, in milliseconds.
func (f *framer) run(count int) float64 {
	start := cpuTime()
	for i := range count {
		f.screen.Blit(0, 0, windowCols, windowRows, f.terms[i&1], &f.styles[i&1])
		f.out = f.screen.Diff(f.out[:0])
		f.bytes += len(f.out)
	}
	f.shown += count
	return perFrame(cpuTime()-start, count)
}

// copyFrames is the least that looking at a whole terminal can cost.
func copyFrames(count int) float64 {
	t := denseTerminal("", 0)()
	cells := make([]vt.Cell, windowCols*windowRows)
	changed := 0
	start := cpuTime()
	for range count {
		for r := range windowRows {
			line, last := t.Line(vt.Row(r)), cells[r*windowCols:][:windowCols]
			if !slices.Equal(line, last) {
				changed++
			}
			copy(last, line)
		}
	}
	return perFrame(cpuTime()-start, count)
}

func perFrame(d time.Duration, count int) float64 {
	return float64(d) / float64(time.Millisecond) / float64(count)
}
