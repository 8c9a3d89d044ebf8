package vt

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// A workload is one kind of output, about a megabyte of it, as it leaves a pty.
type workload struct {
	name  string
	flood bool // not text that a person reads: the lower target applies
	make  func(cols, rows int) []byte
}

const workloadSize = 1 << 20

// fill repeats what next appends until there is a megabyte.
func fill(next func(b []byte, i int) []byte) []byte {
	b := make([]byte, 0, workloadSize+4096)
	for i := 0; len(b) < workloadSize; i++ {
		b = next(b, i)
	}
	return b
}

var words = bytes.Fields([]byte("the quick brown fox jumps over a lazy dog while func return error nil package import " +
	"terminal descriptor /usr/local/share/doc README.md 0x7ffd3a session-42 ok FAIL testing"))

func sentence(b []byte, rnd *rand.Rand, n int) []byte {
	start := len(b)
	for len(b)-start < n {
		b = append(b, words[rnd.IntN(len(words))]...)
		b = append(b, ' ')
	}
	return b
}

var workloads = []workload{
	{"ascii", false, func(cols, _ int) []byte {
		rnd := rand.New(rand.NewPCG(1, 1))
		return fill(func(b []byte, _ int) []byte { return append(sentence(b, rnd, rnd.IntN(cols)), "\r\n"...) })
	}},
	{"log", false, func(_, _ int) []byte {
		rnd := rand.New(rand.NewPCG(2, 1))
		return fill(func(b []byte, i int) []byte {
			b = fmt.Appendf(b, "=== RUN   TestBridge/%d\r\n--- \x1b[32mPASS\x1b[0m: TestBridge/%d (0.%02ds)\r\n    ", i, i, i%100)
			return append(sentence(b, rnd, 40), "\r\n"...)
		})
	}},
	{"ls", false, func(_, _ int) []byte {
		rnd := rand.New(rand.NewPCG(3, 1))
		return fill(func(b []byte, i int) []byte {
			b = fmt.Appendf(b, "-rw-r--r-- 1 root root %7d Nov 30 12:%02d ", rnd.IntN(1<<20), i%60)
			return fmt.Appendf(b, "\x1b[0m\x1b[%d;%dm%s-%d\x1b[0m\r\n", i%2, 31+i%7, words[rnd.IntN(len(words))], i)
		})
	}},
	{"vim", false, func(cols, rows int) []byte {
		rnd := rand.New(rand.NewPCG(4, 1))
		return fill(func(b []byte, i int) []byte {
			b = fmt.Appendf(b, "\x1b[?25l\x1b[1;%dr\x1b[%d;1H", rows-1, 1+rnd.IntN(rows-1))
			for range 6 {
				b = fmt.Appendf(b, "\x1b[38;5;%dm%s\x1b[m ", rnd.IntN(256), words[rnd.IntN(len(words))])
			}
			b = append(b, "\x1b[K"...)
			if i%10 == 0 {
				b = append(b, "\x1b[L"...)
			}
			return fmt.Appendf(b, "\x1b[%d;%dH%d,%d\x1b[1;%dr\x1b[?25h", rows, cols-18, i, i%cols, rows)
		})
	}},
	{"dense", false, func(cols, rows int) []byte {
		return fill(func(b []byte, i int) []byte {
			b = append(b, "\x1b[H"...)
			for c := range cols * rows {
				b = fmt.Appendf(b, "\x1b[38;5;%d;48;5;%d;1;3;4m%c", (c+i)%156+100, (c*7+i)%256, 'A'+c%26)
			}
			return b
		})
	}},
	{"unicode", true, func(_, _ int) []byte {
		rnd := rand.New(rand.NewPCG(5, 1))
		return fill(func(b []byte, i int) []byte {
			for range 30 {
				switch rnd.IntN(4) {
				case 0:
					b = append(b, string(rune(0x4E00+rnd.IntN(5000)))...)
				case 1:
					b = append(b, string(rune(0x400+rnd.IntN(200)))...)
				case 2:
					b = append(b, string(rune(0x1F300+rnd.IntN(200)))...)
				default:
					b = append(b, "e\u0301"...)
				}
			}
			return append(b, "\r\n"...)
		})
	}},
	{"y", true, func(_, _ int) []byte {
		return fill(func(b []byte, _ int) []byte { return append(b, "y\r\n"...) })
	}},
	{"region", true, func(_, rows int) []byte {
		b := fmt.Appendf(nil, "\x1b[2;%dr\x1b[%dH", rows-1, rows-1)
		return append(b, fill(func(b []byte, _ int) []byte { return append(b, "line\r\n"...) })...)
	}},
	{"motion", true, func(cols, rows int) []byte {
		rnd := rand.New(rand.NewPCG(6, 1))
		return fill(func(b []byte, _ int) []byte {
			return fmt.Appendf(b, "\x1b[%d;%dHx\x1b[3A\x1b[2Cy", 1+rnd.IntN(rows), 1+rnd.IntN(cols))
		})
	}},
	{"rgb", true, func(_, _ int) []byte {
		rnd := rand.New(rand.NewPCG(7, 1))
		return fill(func(b []byte, _ int) []byte {
			return fmt.Appendf(b, "\x1b[38;2;%d;%d;%dm#", rnd.IntN(256), rnd.IntN(256), rnd.IntN(256))
		})
	}},
}

// BenchmarkWrite reports MB/s for each workload in 32 KiB writes with a history
// of 10,000 lines.
func BenchmarkWrite(b *testing.B) {
	for _, size := range [][2]int{{80, 24}, {200, 60}} {
		for _, w := range workloads {
			b.Run(fmt.Sprintf("%s/%dx%d", w.name, size[0], size[1]), func(b *testing.B) {
				data := w.make(size[0], size[1])
				t := New(size[0], size[1], Options{Scrollback: 10000})
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				for b.Loop() {
					for p := data; len(p) > 0; {
						n := min(32<<10, len(p))
						t.Write(p[:n])
						p = p[n:]
					}
				}
			})
		}
	}
}

// fullHistory returns a terminal whose history is full of rows of 200 columns.
func fullHistory(line func(i int) string) *Terminal {
	t := New(200, 60, Options{Scrollback: 10000})
	for i := range 10100 {
		t.Write([]byte(line(i)))
	}
	return t
}

func plainLine(i int) string {
	return fmt.Sprintf("%0199d\r\n", i)
}

func styledLine(i int) string {
	s := ""
	for k := range 20 {
		s += fmt.Sprintf("\x1b[38;5;%dm%09d", (i+k)%200+20, k)
	}
	return s + "\x1b[m\r\n"
}

// BenchmarkHistoryMemory reports the bytes that a full pane holds.
func BenchmarkHistoryMemory(b *testing.B) {
	for name, line := range map[string]func(int) string{"plain": plainLine, "styled": styledLine} {
		b.Run(name, func(b *testing.B) {
			var held int
			for b.Loop() {
				s := fullHistory(line).Stats()
				held = s.HistoryBytes + s.ScreenBytes
			}
			b.ReportMetric(float64(held), "B-held")
		})
	}
}

// BenchmarkResize reports the time of one reflow of a full history.
func BenchmarkResize(b *testing.B) {
	t := fullHistory(plainLine)
	for i := 0; b.Loop(); i++ {
		t.Resize(200-40*(i%2), 60)
	}
}
