package copymode

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/honestty/honestty/vt"
)

// randomLine returns text of some of the kinds that rows are made of.
func randomLine(rnd *rand.Rand, most int) string {
	parts := []string{"a", "B", "foo", " ", "  ", "-", "日", "語", "e\u0301", "👩\u200d🔬", "Ω", "x.y/z", "_9"}
	var b strings.Builder
	for range rnd.IntN(most) {
		b.WriteString(parts[rnd.IntN(len(parts))])
	}
	return b.String()
}

func TestCopyingEverythingGivesTheTextOfAllLogicalLines(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var lines []string
		for range 1 + rnd.IntN(30) {
			lines = append(lines, strings.TrimRight(randomLine(rnd, 25), " "))
		}
		for len(lines) > 1 && lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		want := strings.Join(lines, "\n")
		r := newRig(t, 2+rnd.IntN(20), 1+rnd.IntN(8), 10_000, want)
		if rnd.IntN(2) == 0 {
			cols, rows := 2+rnd.IntN(20), 1+rnd.IntN(8)
			r.t.Resize(cols, rows)
			r.m.Use(Of(r.t))
		}
		if got := r.keys("g V G y").Text; got != want {
			t.Fatalf("seed %d: V copies %q, want %q", seed, got, want)
		}
		if got := r.keys("g 0 v G $ y").Text; got != want {
			t.Fatalf("seed %d: v copies %q, want %q", seed, got, want)
		}
		if got := string(AppendRows(nil, Of(r.t), 0, r.m.last+1)); got != want {
			t.Fatalf("seed %d: rows are %q, want %q", seed, got, want)
		}
		r.keys("g 0 ctrl+v G")
		for range r.m.r.Cols() {
			r.keys("l")
		}
		whole := r.keys("y").Text
		if join(whole) != join(want) {
			t.Fatalf("seed %d: a rectangle copies %q, want the characters of %q", seed, whole, want)
		}
	}
}

// join leaves out what a rectangle takes from its rows: line ends and blanks.
func join(s string) string { return strings.NewReplacer("\n", "", " ", "").Replace(s) }

func TestSearchFindsWhatTheLogicalLinesHold(t *testing.T) {
	patterns := []string{"foo", "a", "B", `\bfoo`, "日", "o a|B", "[a-f]+", "^a", "foo$", "語", `e\pM`, "x.y", " +", "ω", "k"}
	for seed := range uint64(150) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		var lines []string
		for range 5 + rnd.IntN(40) {
			lines = append(lines, strings.TrimRight(randomLine(rnd, 20), " "))
		}
		cols, rows := 3+rnd.IntN(20), 1+rnd.IntN(8)
		text := strings.Join(lines, "\n")
		source := patterns[rnd.IntN(len(patterns))]
		pat, err := compile(source)
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		for _, l := range lines {
			want += len(pat.re.FindAllString(l, -1))
		}
		list, walk := newRig(t, cols, rows, 1000, text), newRig(t, cols, rows, 1000, text)
		for _, r := range []*rig{list, walk} {
			r.keys("g 0")
			r.m.search.set(pat, 0)
		}
		list.finish()
		walk.m.search.capped = true // goes by looking
		found, tail, whole := list.m.search.all(list.m.r.Buffer, 0)
		if len(found)+len(tail) != want || !whole {
			t.Fatalf("seed %d: %q has %d matches, want %d", seed, source, len(found)+len(tail), want)
		}
		for i := range 30 {
			keys := []string{"n", "N", "3 n", "2 N", "j", "G", "$", "g"}[rnd.IntN(8)]
			list.keys(keys)
			walk.keys(keys)
			walk.finish()
			if list.at() != walk.at() || list.m.Status().Notice != walk.m.Status().Notice {
				t.Fatalf("seed %d: %q, step %d, %q: %s by the list (%s), %s by looking (%s)", seed, source, i, keys,
					list.at(), list.m.Status().Notice, walk.at(), walk.m.Status().Notice)
			}
			list.check()
		}
	}
}

func TestTheFastWayFindsWhatTheRegularExpressionFinds(t *testing.T) {
	var j joined
	for _, source := range []string{"foo", "a", "FOO", "k", "s", "x.y", `x\.y`, "_9", "日", "(?i)Foo", "(?i)a1-"} {
		pat, err := compile(source)
		if err != nil {
			t.Fatal(err)
		}
		slow := *pat
		slow.lit = nil
		for seed := range uint64(200) {
			rnd := rand.New(rand.NewPCG(seed, 3))
			text := randomLine(rnd, 30) + []string{"", "K", "K", "ſ", "A1-a1-"}[rnd.IntN(5)]
			v := vt.New(500, 2, vt.Options{})
			v.Write([]byte(text))
			j.load(Of(v), 0, 1)
			var got, want [][2]int
			pat.each(&j, func(a, b int) bool { got = append(got, [2]int{a, b}); return true })
			slow.each(&j, func(a, b int) bool { want = append(want, [2]int{a, b}); return true })
			if !slices.Equal(got, want) {
				t.Fatalf("%q in %q: %v, want %v", source, text, got, want)
			}
		}
	}
}

// TestAnythingAtAllKeepsAModeWhole presses keys and the mouse while a program
// writes, clears, switches screens and is resized.
func TestAnythingAtAllKeepsAModeWhole(t *testing.T) {
	var keys []string
	for _, b := range bindings {
		keys = append(keys, b.Keys...)
	}
	keys = append(keys, "1", "3", "7", "0", "z", "x", "foo", "tab", "up")
	n := uint64(250)
	if testing.Short() {
		n = 100
	}
	for seed := range n {
		rnd := rand.New(rand.NewPCG(seed, 4))
		r := newRig(t, 1+rnd.IntN(24), 1+rnd.IntN(8), rnd.IntN(60), randomLine(rnd, 300))
		for range 120 {
			switch k := rnd.IntN(20); {
			case k < 11:
				for _, part := range splitKey(keys[rnd.IntN(len(keys))]) {
					r.m.Key(part)
				}
			case k == 11:
				r.m.Press(rnd.IntN(26)-1, rnd.IntN(10)-1, 1+rnd.IntN(3), rnd.IntN(4) == 0)
			case k == 12:
				r.m.Drag(rnd.IntN(26)-1, rnd.IntN(12)-2)
				r.m.Tick()
			case k == 13:
				r.m.Release(rnd.IntN(26)-1, rnd.IntN(10)-1)
			case k == 14:
				r.m.Wheel(rnd.IntN(13) - 6)
			case k == 15:
				r.m.Type([]string{"foo", "a", "日|B", "(", "."}[rnd.IntN(5)])
			case k == 16:
				r.m.Step(1 + rnd.IntN(30))
			case k == 17:
				hold := rnd.IntN(2) == 0
				if hold {
					r.m.Hold()
				}
				cols, rows := r.t.Size()
				r.t.Resize(max(cols+rnd.IntN(9)-4, 1), max(rows+rnd.IntN(5)-2, 1))
				r.m.Use(Of(r.t))
				if hold {
					r.m.Settle()
				}
				r.m.View(1 + rnd.IntN(9))
			default:
				r.feed([]string{
					randomLine(rnd, 60) + "\n", "\x1b[3J", "\x1b[2J\x1b[H", "\x1b[?1049h", "\x1b[?1049l", "\x1bc",
					shell([3]string{"cmd", randomLine(rnd, 40) + "\n", ";1"}), markA + "$ " + markB, markC, markD(";7"),
					numbered(1, rnd.IntN(20)), "\x1b[5;1H" + randomLine(rnd, 10),
				}[rnd.IntN(12)])
			}
			r.check()
			if res := r.m.result(); !utf8.ValidString(res.Text) {
				t.Fatalf("seed %d: copied %q", seed, res.Text)
			}
		}
	}
}

// TestPlacesFollowTheirTextThroughAnyOutput puts the cursor on numbered lines
// while others come and the oldest go.
func TestPlacesFollowTheirTextThroughAnyOutput(t *testing.T) {
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 5))
		r := newRig(t, 20, 1+rnd.IntN(6), 10+rnd.IntN(100), numbered(1, 200))
		next := 201
		r.keys(fmt.Sprintf("%s g", strings.Join(strings.Split(fmt.Sprint(1+rnd.IntN(10)), ""), " ")))
		r.keys("3 l")
		was := r.under()
		cutAt := r.m.cursor.Line
		for range 40 {
			n := rnd.IntN(8)
			r.feed(numbered(next, next+n-1))
			next += n
			if cut, _ := r.t.HistoryCut(); cut > cutAt {
				if r.at() != "0,0" {
					t.Fatalf("seed %d: the cursor's line was cut and it is at %s", seed, r.at())
				}
				break
			}
			if r.under() != was {
				t.Fatalf("seed %d: the cursor is on %q, was on %q", seed, r.under(), was)
			}
		}
	}
}
