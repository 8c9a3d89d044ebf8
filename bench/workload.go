package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
)

// A kind is what a workload is like, which decides its target.
type kind uint8

const (
	text  kind = iota // what a person reads: ≥ textTarget
	flood             // what only a program makes: ≥ floodTarget
)

// A workload is one sort of output. Each is made from a fixed seed, so that
// two runs feed the same bytes; vim's is recorded where vim is at hand.
type workload struct {
	name string
	kind kind
	make func(size, cols, rows int, eol string) []byte
}

// workloads are fed to the engines with "\r\n", as they leave a terminal, and
// written to files with "\n", which the terminal turns into that.
var workloads = []workload{
	{"ascii", text, makeASCII},
	{"ls, coloured", text, makeLS},
	{"go test log", text, makeLog},
	{"vim", text, makeVim},
	{"dense cells", text, makeDense},
	{"unicode", flood, makeUnicode},
	{"y flood", flood, makeY},
	{"scroll in region", flood, makeRegion},
}

// fill repeats what next appends until there are size bytes; a last line may
// make it longer.
func fill(size int, next func(b []byte, i int) []byte) []byte {
	b := make([]byte, 0, size+size/8)
	for i := 0; len(b) < size; i++ {
		b = next(b, i)
	}
	return b
}

func seeded(n uint64) *rand.Rand { return rand.New(rand.NewPCG(n, 1)) }

var words = bytes.Fields([]byte(`the reader waits until a descriptor is ready and then reads
	until there is nothing left error nil return func package import terminal /usr/share/doc/base
	README.md 0x7ffd3a12 session-42 ok FAIL main.go 192.168.0.1 "quoted" {json: true} -- 12:30:59`))

func word(rnd *rand.Rand) []byte { return words[rnd.IntN(len(words))] }

// prose appends words until n bytes are passed.
func prose(b []byte, rnd *rand.Rand, n int) []byte {
	for end := len(b) + n; len(b) < end; {
		b = append(append(b, word(rnd)...), ' ')
	}
	return b
}

func makeASCII(size, _, _ int, eol string) []byte {
	rnd := seeded(1)
	return fill(size, func(b []byte, _ int) []byte {
		return append(prose(b, rnd, rnd.IntN(110)), eol...)
	})
}

// lsColours are those of GNU ls for a file, a program, a directory, a link, an
// archive, a picture and a pipe.
var lsColours = []string{"", "01;32", "01;34", "01;36", "01;31", "01;35", "40;33"}

func makeLS(size, _, _ int, eol string) []byte {
	rnd := seeded(2)
	return fill(size, func(b []byte, i int) []byte {
		if i%40 == 0 {
			b = fmt.Appendf(b, "%s/usr/share/%s/%s:%stotal %d%s", eol, word(rnd), word(rnd), eol, rnd.IntN(9000), eol)
		}
		b = fmt.Appendf(b, "-rw-r--r-- %2d root root %8d Nov %2d %02d:%02d ", 1+rnd.IntN(3), rnd.IntN(1<<24), 1+i%30, i%24, i%60)
		name := fmt.Sprintf("%s-%d", word(rnd), i)
		if c := lsColours[rnd.IntN(len(lsColours))]; c != "" {
			return fmt.Appendf(b, "\x1b[0m\x1b[%sm%s\x1b[0m%s", c, name, eol)
		}
		return append(append(b, name...), eol...)
	})
}

func makeLog(size, _, _ int, eol string) []byte {
	rnd := seeded(3)
	return fill(size, func(b []byte, i int) []byte {
		name := fmt.Sprintf("TestBridge%s/case_%d", []string{"Reads", "Closes", "Resizes"}[i%3], i)
		b = fmt.Appendf(b, "=== RUN   %s%s", name, eol)
		for range rnd.IntN(3) {
			b = append(prose(fmt.Appendf(b, "    bridge_test.go:%d: ", rnd.IntN(900)), rnd, 30+rnd.IntN(60)), eol...)
		}
		if rnd.IntN(20) == 0 {
			return fmt.Appendf(b, "\x1b[31m--- FAIL: %s (%.2fs)\x1b[0m%s", name, rnd.Float64(), eol)
		}
		return fmt.Appendf(b, "--- PASS: %s (%.2fs)%s", name, rnd.Float64(), eol)
	})
}

// makeVim stands in for a recorded session: a window that scrolls in its
// region, lines that open, words in colours, and the ruler.
func makeVim(size, cols, rows int, _ string) []byte {
	rnd := seeded(4)
	return fill(size, func(b []byte, i int) []byte {
		b = append(b, "\x1b[?25l"...)
		switch i % 8 {
		case 0:
			b = fmt.Appendf(b, "\x1b[1;%dr\x1b[%d;1H\r\n\x1b[1;%dr", rows-1, rows-1, rows)
		case 4:
			b = fmt.Appendf(b, "\x1b[1;%dr\x1b[%d;1H\x1b[L\x1b[1;%dr", rows-1, 1+rnd.IntN(rows-1), rows)
		}
		b = fmt.Appendf(b, "\x1b[%d;1H\x1b[38;5;130m%4d \x1b[m", 1+rnd.IntN(rows-1), i)
		for used := 5; used < cols-12; {
			w := word(rnd)
			used += len(w) + 1
			if rnd.IntN(2) == 0 {
				b = fmt.Appendf(b, "\x1b[38;5;%dm%s\x1b[m ", 1+rnd.IntN(230), w)
				continue
			}
			b = append(append(b, w...), ' ')
			if rnd.IntN(6) == 0 {
				break
			}
		}
		return fmt.Appendf(b, "\x1b[K\x1b[%d;%dH%d,%d\x1b[8C%d%%\x1b[%d;%dH\x1b[34h\x1b[?25h",
			rows, cols-18, i, i%cols, i%100, 1+rnd.IntN(rows-1), 1+rnd.IntN(cols))
	})
}

// makeDense gives every cell of every frame its own colours and attributes.
func makeDense(size, cols, rows int, _ string) []byte {
	return fill(size, func(b []byte, i int) []byte {
		b = append(b, "\x1b[H"...)
		for c := range cols * rows {
			row, col := c/cols, c%cols
			b = fmt.Appendf(b, "\x1b[38;5;%d;48;5;%d;1;3;4m%c", (row+i)%156+100, (col+i)%156, 'A'+(c+i)%26)
		}
		return b
	})
}

func makeUnicode(size, _, _ int, eol string) []byte {
	rnd := seeded(5)
	return fill(size, func(b []byte, _ int) []byte {
		for range 20 + rnd.IntN(30) {
			switch rnd.IntN(8) {
			case 0, 1, 2:
				b = append(b, string(rune(0x4E00+rnd.IntN(6000)))...) // Han, wide
			case 3, 4:
				b = append(b, string(rune(0x430+rnd.IntN(32)))...) // Cyrillic
			case 5:
				b = append(b, string(rune(0x1F300+rnd.IntN(0x150)))...) // pictures
			case 6:
				b = append(b, "a\u0301e\u0308"...) // letters with marks
			default:
				b = append(b, string(rune(0x2500+rnd.IntN(0x80)))...) // box drawing
			}
		}
		return append(b, eol...)
	})
}

func makeY(size, _, _ int, eol string) []byte {
	return fill(size, func(b []byte, _ int) []byte { return append(append(b, 'y'), eol...) })
}

func makeRegion(size, _, rows int, eol string) []byte {
	rnd := seeded(6)
	b := fmt.Appendf(nil, "\x1b[3;%dr\x1b[%d;1H", rows-2, rows-2)
	return append(b, fill(size, func(b []byte, i int) []byte {
		if i%50 == 49 {
			b = append(b, "\x1b[3H\x1bM\x1b[999B"...) // one line back at the top margin
		}
		return append(prose(b, rnd, rnd.IntN(12)), eol...)
	})...)
}

// plainLine and styledLine fill a history of 200 columns; a styled line has
// twenty styles.
func plainLine(b []byte, i int) []byte { return fmt.Appendf(b, "%0199d\r\n", i) }

func styledLine(b []byte, i int) []byte {
	for k := range 20 {
		b = fmt.Appendf(b, "\x1b[38;5;%dm%09d ", (i+k)%200+20, k)
	}
	return append(b[:len(b)-1], "\x1b[m\r\n"...)
}
