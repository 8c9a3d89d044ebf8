package copymode

import (
	"fmt"
	"testing"

	"github.com/honestty/honestty/vt"
)

// hundredThousand is a history of 100,000 rows of 80 columns that is mostly
// text, with one line that is like no other near its end.
func hundredThousand(tb testing.TB) *vt.Terminal {
	tb.Helper()
	t := vt.New(80, 50, vt.Options{Scrollback: 100_000, ScrollbackBytes: 64 << 20})
	for i := range 100_000 {
		fmt.Fprintf(writer{t}, "%06d the quick brown fox jumps over the lazy dog and runs away, exit %d\r\n", i, i%7)
		if i == 99_000 {
			fmt.Fprintf(writer{t}, "needle\r\n")
		}
	}
	return t
}

type writer struct{ t *vt.Terminal }

func (w writer) Write(p []byte) (int, error) {
	w.t.Write(p)
	return len(p), nil
}

// BenchmarkSearch searches 100,000 rows to the end: for a rare word, for one
// with a match in each row until the count is capped, and for expressions.
func BenchmarkSearch(b *testing.B) {
	t := hundredThousand(b)
	for _, source := range []string{"needle", "Needle", "fox", `exit [1-6]$`, `(cat|bird)s? away`, `\bneedle\b`} {
		b.Run(source, func(b *testing.B) {
			pat, err := compile(source)
			if err != nil {
				b.Fatal(err)
			}
			buf := Of(t)
			s := &search{}
			rows := 0
			for b.Loop() {
				s.set(pat, 0)
				for {
					n := s.scan(buf, 0, 1000)
					rows += n
					if n == 0 {
						break
					}
				}
			}
			b.ReportMetric(float64(rows)/float64(b.N), "rows/op")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(max(rows, 1)), "ns/row")
		})
	}
}

// BenchmarkStep is one slice of 1,000 rows: what a search holds up the UI at most.
func BenchmarkStep(b *testing.B) {
	t := hundredThousand(b)
	for _, source := range []string{"absent", `(cat|bird)s? away`} {
		b.Run(source, func(b *testing.B) {
			pat, err := compile(source)
			if err != nil {
				b.Fatal(err)
			}
			m := New(Of(t), 50)
			for b.Loop() {
				if !m.more() {
					m.search.set(pat, m.cut)
				}
				m.Step(1000)
			}
		})
	}
}

// BenchmarkKey is one key with a frame on a long history while a search is on.
func BenchmarkKey(b *testing.B) {
	t := hundredThousand(b)
	m := New(Of(t), 50)
	pat, _ := compile("fox")
	m.search.set(pat, 0)
	m.Key("V")
	for b.Loop() {
		m.Use(Of(t))
		m.Key("k")
		m.View(50)
	}
}

// BenchmarkEnter is entering copy mode: the marks of 100,000 rows are read.
func BenchmarkEnter(b *testing.B) {
	t := hundredThousand(b)
	for b.Loop() {
		New(Of(t), 50)
	}
}

// BenchmarkCopyAll copies 100,000 rows.
func BenchmarkCopyAll(b *testing.B) {
	t := hundredThousand(b)
	buf := Of(t)
	var dst []byte
	for b.Loop() {
		dst = AppendRows(dst[:0], buf, 0, buf.Rows())
	}
	b.SetBytes(int64(len(dst)))
}
