package vt

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// seeds are short programs that reach every handler.
var seeds = []string{
	"plain text\r\nand more\r\n", "\x1b[31;1mred\x1b[m \x1b[38;2;1;2;3mrgb\x1b[48:5:9m\x1b[4:3;58:2::9:8:7mx",
	"\x1b[2;4r\x1b[?6h\x1b[5;5Hx\n\n\n\x1bM\x1bM\x1bD\x1bE", "\x1b[?69h\x1b[3;7s\x1b[2;3Habcdefghij\x1b[2@\x1b[3P\x1b[2L\x1b[M\x1b[S\x1b[T",
	"世界世界世界\x1b[3G\x1b[P\x1b[@\x1b[X\x1b[4Gx", "e\u0301\u0302 \u200d👨\u200d👩\u200d👧", "\x1b[?2027h👨\u200d👩\u200d👧🇩🇪1\ufe0f\u20e3 क्षि",
	"\x1b[?1049h\x1b[2J\x1b[Halt\x1b[?1049l", "\x1b7\x1b[9;9H\x1b[7m\x1b8", "\x1b(0lqqk\x1b(B\x0e\x1b)0x\x0f\x1b*0\x1bNq",
	"\x1b]0;title\x07\x1b]8;id=a;http://x.y\x1b\\link\x1b]8;;\x1b\\", "\x1bP$qm\x1b\\\x1bP+q544e\x1b\\\x1b[c\x1b[>c\x1b[=c\x1b[6n\x1b[?6n\x1b[>q\x1b[18t",
	"\x1b[5;5;1;1$x\x1b[1;1;3;3$z\x1b[1;1;2;2;1;3;3;1$v\x1b[1\"qprot\x1b[0\"q\x1b[?2J\x1b[?K", "\x1b[4hins\x1b[4l\x1b[20h\n\x1b[20l", "\x1b[5b\x1bcA\x1b[999b",
	"\x1b[>1u\x1b[>31u\x1b[?u\x1b[<u\x1b[=3;2u\x1b[>4;2m\x1b[?4m", "\x1b]133;A\x07$ \x1b]133;B\x07ls\r\n\x1b]133;C\x07out\r\n\x1b]133;D;3\x07",
	"\x1b[3g\x1bH\t\t\x1b[2I\x1b[Z\x1b[?5W\x1b[1$w\x1b[2$w", "\xff\xc3(\xe2\x82\xf0\x9f\x98\xed\xa0\x80\xc2\x9b31m", "\x1b]52;c;aGk=\x07\x1b]52;c;?\x07\x1b]4;1;#fff;2;?\x07\x1b]10;?\x07\x1b]104\x07",
	"\x1b[?45h\x1b[?1045h\x08\x08\x08\x08\x1b[99D", "\x1b[1;1;9;9;1;4$r\x1b[2*x\x1b[1;1;9;9;7$t", "\x1b[2'}\x1b[2'~\x1b6\x1b9\x1b[2 @\x1b[2 A",
	"\x1b_Gpayload\x1b\\\x1bPq#0~~\x1b\\\x1b^pm\x1b\\\x1bXsos\x1b\\ok", "\x1b[\x0a5\x0dC\x18x\x1b\x1b[A", "\x1b#8\x1b[?5h\x1b[!p\x1b[62\"p",
	"\x1b[?3h\x1b[?40h\x1b[?3h\x1b[?3l", "\x1bVprot\x1bW\x1b[2J\x1b[1;5X", "\x1b[J\x1b[1J\x1b[2J\x1b[3J\x1b[K\x1b[1K\x1b[2K",
}

// checkWrite feeds p and fails the test when an invariant breaks.
func checkWrite(t *testing.T, v *Terminal, p []byte) *Effects {
	t.Helper()
	fx := v.Write(p)
	if err := v.Check(); err != nil {
		t.Fatalf("after %q: %v", p, err)
	}
	return fx
}

func addSeeds(f *testing.F) {
	for i, s := range seeds {
		f.Add([]byte(s), uint8(i*7+9), uint8(i*3+4), uint16(i))
	}
	f.Add([]byte(fmt.Sprint(seeds)), uint8(20), uint8(6), uint16(3))
}

func FuzzTerminal(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, p []byte, cols, rows uint8, _ uint16) {
		v := New(int(cols)%90, int(rows)%30, smallOptions())
		checkWrite(t, v, p)
		checkWrite(t, v, p)
	})
}

// smallOptions makes limits easy to reach.
func smallOptions() Options {
	return Options{
		Scrollback: 20, AllowChecksum: true, CellPixels: Pixels{8, 16},
		Limits: Limits{StringBytes: 300, Styles: 40, Clusters: 30, Links: 10, ClusterBytes: 24, TitleStack: 3, KittyStack: 3, ReplyBytes: 4000, Events: 50},
	}
}

// FuzzSplit feeds the same bytes whole, one at a time through the table alone,
// and in two pieces. The screens must be equal, and so must the replies.
func FuzzSplit(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, p []byte, cols, rows uint8, cut uint16) {
		if len(p) > 4096 {
			return
		}
		o := smallOptions()
		o.Limits.ReplyBytes, o.Limits.Events = 0, 0
		c, r := int(cols)%90, int(rows)%30
		whole, bytewise, pieces := New(c, r, o), New(c, r, o), New(c, r, o)
		bytewise.bytewise = true
		want := slices.Clone(checkWrite(t, whole, p).Reply)
		var got []byte
		for _, b := range p {
			got = append(got, bytewise.Write([]byte{b}).Reply...)
		}
		if err := bytewise.Check(); err != nil {
			t.Fatal(err)
		}
		at := int(cut) % (len(p) + 1)
		two := slices.Clone(pieces.Write(p[:at]).Reply)
		two = append(two, pieces.Write(p[at:]).Reply...)
		if !bytes.Equal(want, got) || !bytes.Equal(want, two) {
			t.Errorf("replies differ:\nwhole  %q\nbytes  %q\npieces %q", want, got, two)
		}
		a := snapshot(whole)
		if b := snapshot(bytewise); a != b {
			t.Errorf("byte by byte gives another screen:\n%s\n%s", a, b)
		}
		if b := snapshot(pieces); a != b {
			t.Errorf("split at %d gives another screen:\n%s\n%s", at, a, b)
		}
		if whole.drops != bytewise.drops || whole.drops != pieces.drops {
			t.Errorf("drops differ: %v, %v, %v", whole.Stats().Dropped, bytewise.Stats().Dropped, pieces.Stats().Dropped)
		}
	})
}

// FuzzResize reads p as a program in which some bytes are resizes.
func FuzzResize(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, p []byte, cols, rows uint8, every uint16) {
		v := New(int(cols)%90, int(rows)%30, smallOptions())
		step := int(every)%40 + 1
		for len(p) > 0 {
			n := min(step, len(p))
			v.Write(p[:n])
			v.Resize(int(p[0])%70-1, int(p[n-1])%25-1)
			if err := v.Check(); err != nil {
				t.Fatalf("after %q: %v", p[:n], err)
			}
			p = p[n:]
		}
	})
}

// TestRandomProgramsKeepEveryInvariant is a fixed-seed fuzz that knows the
// grammar, so that a plain test run reaches deep states.
func TestRandomProgramsKeepEveryInvariant(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		v := New(rnd.IntN(40), rnd.IntN(14), smallOptions())
		for range 60 {
			p := randomProgram(rnd)
			v.Write(p)
			if rnd.IntN(6) == 0 {
				v.Resize(rnd.IntN(40)-1, rnd.IntN(14)-1)
			}
			if err := v.Check(); err != nil {
				t.Fatalf("seed %d after %q: %v", seed, p, err)
			}
		}
	}
}

// randomProgram returns a few sequences, text and seeds.
func randomProgram(rnd *rand.Rand) []byte {
	var b []byte
	num := func() int {
		return [...]int{0, 1, 2, 3, 4, 5, 7, 10, 25, 69, 1049, 2027, 65536, 1 << 31}[rnd.IntN(14)]
	}
	for range 1 + rnd.IntN(8) {
		switch rnd.IntN(8) {
		case 0:
			b = append(b, seeds[rnd.IntN(len(seeds))]...)
		case 1:
			b = append(b, "wörter 世界 e\u0301"[:rnd.IntN(19)]...)
		case 2:
			b = append(b, "\x1b[?"...)
			b = fmt.Appendf(b, "%d%c", [...]int{1, 3, 5, 6, 7, 25, 40, 45, 47, 69, 95, 1047, 1048, 1049, 1045, 2027, 2048}[rnd.IntN(17)], "hl"[rnd.IntN(2)])
		case 3:
			b = fmt.Appendf(b, "\x1b[%d;%dH", num(), num())
		default:
			b = append(b, "\x1b["...)
			for i := range rnd.IntN(6) {
				if i > 0 {
					b = append(b, ';')
				}
				b = fmt.Appendf(b, "%d", num())
			}
			if rnd.IntN(4) == 0 {
				b = append(b, "$ '*\"!"[rnd.IntN(6)])
			}
			b = append(b, byte(0x40+rnd.IntN(0x3F)))
		}
	}
	return b
}

// TestRandomProgramsDoNotDependOnTheSplit compares one Write with many.
func TestRandomProgramsDoNotDependOnTheSplit(t *testing.T) {
	for seed := range uint64(25) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		cols, rows := 1+rnd.IntN(40), 1+rnd.IntN(12)
		o := smallOptions()
		o.Limits.ReplyBytes, o.Limits.Events = 0, 0
		a, b := New(cols, rows, o), New(cols, rows, o)
		b.bytewise = seed%2 == 0
		for k := range 40 {
			p := randomProgram(rnd)
			want := slices.Clone(a.Write(p).Reply)
			var got []byte
			for i := 0; i < len(p); {
				n := 1
				if !b.bytewise {
					n = min(1+rnd.IntN(5), len(p)-i)
				}
				got = append(got, b.Write(p[i:i+n]).Reply...)
				i += n
			}
			if !bytes.Equal(want, got) {
				t.Fatalf("seed %d: replies differ after %q: %q, %q", seed, p, want, got)
			}
			if k%4 > 0 {
				continue
			}
			if x, y := snapshot(a), snapshot(b); x != y {
				t.Fatalf("seed %d: screens differ after %q:\n%s\n%s", seed, p, x, y)
			}
			if a.drops != b.drops {
				t.Fatalf("seed %d: drops differ after %q: %v, %v", seed, p, a.Stats().Dropped, b.Stats().Dropped)
			}
		}
	}
}
