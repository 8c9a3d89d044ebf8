package statusbar

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden files anew")

// known makes cells; -1 is a cell without a reading.
func known(counts ...int64) []Cell {
	cells := make([]Cell, len(counts))
	for i, n := range counts {
		cells[i] = Cell{Count: n, Known: n >= 0}
	}
	return cells
}

var (
	calm = Meter{Name: "zsh", Count: 23, Known: true, Spark: known(-1, 22, 22, 22, 24, 22, 22, 23), Limit: 1024}
	near = Meter{
		Name: "server", Count: 871, Known: true, Limit: 1024, State: Near,
		Spark: known(731, 770, 812, 871), FullIn: 40*time.Minute + 10*time.Second,
	}
	dropped = Alert{Mark: MarkAttention, Text: "send: 1 attachment dropped", Hint: "^B a looks"}
	lost    = Alert{Mark: MarkFailure, Text: "build: output lost after 4,096 bytes in /home/a/src/app", Hint: "^B a looks"}
	two     = []Tab{{Number: 1, Name: "app", Active: true}, {Number: 2, Name: "logs"}}
	many    = []Tab{
		{Number: 1, Name: "app"},
		{Number: 2, Name: "logs", Mark: MarkRunning},
		{Number: 3, Name: "build", Mark: MarkFailure},
		{Number: 4, Name: "~/src/very/long/path/to/notes", Active: true},
		{Number: 5, Name: "日本語のタブ名前"},
		{Number: 6, Name: "tests", Mark: MarkOK},
	}
)

func TestMeterReadsAsOnTheScreens(t *testing.T) {
	for _, test := range []struct {
		name  string
		meter Meter
		want  string
		ascii string
	}{
		{"calm", calm, "fd 23 ▁▁▁▃▁▁▂ /1024", "fd 23 ___,__. /1024"},
		{"near its line", near, "! fd server 871 ▁▃▅█ /1024 full in ~40m", "! fd server 871 _,=# /1024 full in ~40m"},
		{"near, no growth", Meter{Name: "server", Count: 871, Known: true, Limit: 1024, State: Near}, "! fd server 871 /1024 near", ""},
		{"full", Meter{Name: "server", Count: 1024, Known: true, Limit: 1024, State: Full}, "! fd server 1024 /1024 full", ""},
		{"past 1024", Meter{Name: "db", Count: 18_432, Known: true, Limit: 1024, State: Past}, "! fd db 18,432 past 1024", ""},
		{"unknown", Meter{Reason: "not permitted"}, "fd ? (not permitted)", ""},
		{"zero value", Meter{}, "fd ? (unknown)", ""},
		{"unknown near a line claims no alarm", Meter{State: Full, Limit: 1024, Reason: "process is gone"}, "fd ? (process is gone)", ""},
		{"zero", Meter{Known: true, Limit: 1024}, "fd 0 /1024", ""},
		{"no line", Meter{Known: true, Count: 7}, "fd 7", ""},
		{"terminal pool", Meter{Label: "ptys", Known: true, Count: 2900, Limit: 3072, State: Near}, "! ptys 2900 /3072 near", ""},
		{"hostile name", Meter{Name: "a\x1b[2\u202eb", Known: true, Count: 9, State: Full}, "! fd a^[[2<U+202E>b 9 full", ""},
		{"long name", Meter{Name: "a-process-with-a-name", Known: true, Count: 9, State: Full}, "! fd a-process-with… 9 full", "! fd a-process-wit.. 9 full"},
		{"gap in the history", Meter{Known: true, Count: 9, Spark: known(9, -1, 9)}, "fd 9 ▁·▁", "fd 9 _?_"},
	} {
		if got := Text(test.meter.Segments(false)); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		if got := Text(test.meter.Segments(true)); test.ascii != "" && got != test.ascii {
			t.Errorf("%s in ASCII: %q, want %q", test.name, got, test.ascii)
		}
	}
}

func TestAMeterThatNeedsAttentionHasThatRole(t *testing.T) {
	for _, s := range near.Segments(false) {
		if s.Role != Attention {
			t.Errorf("%q is %v", s.Text, s.Role)
		}
	}
	for _, s := range calm.Segments(false) {
		if s.Role == Attention || s.Role == Failure {
			t.Errorf("%q is %v", s.Text, s.Role)
		}
	}
	if s := (Meter{}).Segments(false)[1]; s.Text != "?" || s.Role != Attention {
		t.Errorf("an unknown count is %+v", s)
	}
}

func TestTimesAreSaidAsEstimates(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Second:                  "<10s",
		34 * time.Second:             "~30s",
		89 * time.Second:             "~90s",
		91 * time.Second:             "~2m",
		40 * time.Minute:             "~40m",
		3*time.Hour + 20*time.Minute: "~3h",
	} {
		if got := about(d); got != want {
			t.Errorf("%v = %q, want %q", d, got, want)
		}
	}
}

func TestASmallSpreadStaysSmall(t *testing.T) {
	for _, test := range []struct {
		cells []Cell
		want  string
	}{
		{known(23, 24, 23), "▁▂▁"},
		{known(1000, 1010, 1000), "▁▂▁"},
		{known(0, 100), "▁█"},
		{known(5), "▁"},
		{known(-1, -1), ""},
		{nil, ""},
	} {
		if got := sparkline(test.cells, false); got != test.want {
			t.Errorf("%v = %q, want %q", test.cells, got, test.want)
		}
	}
}

// bars are the golden cases.
var bars = []struct {
	name string
	bar  Bar
}{
	{"calm", Bar{Tabs: two, Meter: calm, Help: "^B ? help"}},
	{"alert", Bar{Tabs: two, Alert: dropped, Meter: calm, Help: "^B ? help"}},
	{"leak", Bar{Tabs: two, Meter: near, Help: "^B ? help"}},
	{"lost and leak", Bar{Tabs: many, Alert: lost, Meter: near, Help: "^B ? help"}},
	{"many tabs", Bar{Tabs: many, Meter: calm, Help: "^B ? help"}},
	{"unknown", Bar{Tabs: two, Meter: Meter{Reason: "not permitted"}, Help: "^B ? help"}},
	{"nothing", Bar{}},
}

func TestBarsAreAsDrawn(t *testing.T) {
	var text bytes.Buffer
	for _, test := range bars {
		for _, ascii := range []bool{false, true} {
			bar := test.bar
			bar.ASCII = ascii
			fmt.Fprintf(&text, "# %s, ascii %v\n", test.name, ascii)
			for _, columns := range []int{120, 80, 60, 40, 24, 10, 3} {
				fmt.Fprintf(&text, "%3d |%s|\n", columns, Text(bar.Segments(columns)))
			}
		}
		fmt.Fprintf(&text, "roles:")
		for _, s := range test.bar.Segments(80) {
			fmt.Fprintf(&text, " %v(%s)", s.Role, strings.TrimSpace(s.Text))
		}
		text.WriteString("\n\n")
	}
	path := filepath.Join("testdata", "bars.txt")
	if *update {
		if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, text.Bytes()) {
		t.Errorf("bars differ (-update writes them anew):\n%s", text.Bytes())
	}
}

func drawBar(t *rapid.T) Bar {
	text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z/]{0,30}`), rapid.SampledFrom([]string{"日本語", "e\u0301", "\u0301x", "🇩🇪", "👨\u200d👩", "\x1b[2J", "⚙\ufe0f", "\xff"}))
	mark := rapid.Custom(func(t *rapid.T) Mark { return Mark(rapid.IntRange(0, 6).Draw(t, "mark")) })
	bar := Bar{
		Help:  rapid.SampledFrom([]string{"", "^B ? help", "?"}).Draw(t, "help"),
		ASCII: rapid.Bool().Draw(t, "ascii"),
		Alert: Alert{mark.Draw(t, "alert mark"), text.Draw(t, "alert"), text.Draw(t, "hint"), rapid.Bool().Draw(t, "more")},
		Meter: Meter{
			Name: text.Draw(t, "name"), Reason: text.Draw(t, "reason"), Known: rapid.Bool().Draw(t, "known"),
			Count: rapid.Int64Range(0, 1<<40).Draw(t, "count"), Limit: rapid.Int64Range(0, 1<<40).Draw(t, "limit"),
			State:  MeterState(rapid.IntRange(0, 3).Draw(t, "state")),
			FullIn: time.Duration(rapid.Int64Range(0, int64(100*time.Hour)).Draw(t, "full in")),
			Spark: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Cell {
				return Cell{rapid.Int64Range(0, 5000).Draw(t, "n"), rapid.Bool().Draw(t, "known")}
			}), 0, 10).Draw(t, "spark"),
		},
	}
	for i := range rapid.IntRange(0, 12).Draw(t, "tabs") {
		bar.Tabs = append(bar.Tabs, Tab{i + 1, text.Draw(t, "tab"), rapid.Bool().Draw(t, "active"), mark.Draw(t, "tab mark")})
	}
	return bar
}

func TestABarIsExactlyAsWideAsItMayBe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bar := drawBar(t)
		columns := rapid.IntRange(-1, 200).Draw(t, "columns")
		segments := bar.Segments(columns)
		if got := width(segments); got != max(0, columns) {
			t.Fatalf("%d columns, want %d: %q", got, columns, Text(segments))
		}
		if got := textWidth(Text(segments)); got != max(0, columns) {
			t.Fatalf("joined %d columns, want %d: %q", got, columns, Text(segments))
		}
		for _, s := range segments {
			if s.Text == "" || !utf8.ValidString(s.Text) || strings.IndexFunc(s.Text, unsafeRune) >= 0 {
				t.Fatalf("segment %q", s.Text)
			}
		}
	})
}

func TestAnAlertOutlivesEverythingElse(t *testing.T) {
	bar := Bar{Tabs: many, Alert: lost, Meter: near, Help: "^B ? help"}
	for columns := 200; columns >= 3; columns-- {
		text := Text(bar.Segments(columns))
		if !strings.Contains(text, "✗") {
			t.Errorf("%d columns: the alert is gone: %q", columns, text)
		}
		if columns >= 10 && !strings.Contains(text, " 871 ") && !strings.HasSuffix(text, " 871") {
			t.Errorf("%d columns: the meter is gone: %q", columns, text)
		}
		if !strings.Contains(text, "!") {
			t.Errorf("%d columns: the meter's alarm is gone: %q", columns, text)
		}
	}
}

func TestANumberIsNeverCut(t *testing.T) {
	for _, meter := range []Meter{calm, near, {Count: 123_456, Known: true, Limit: 1 << 20}, {Count: 9, Known: true, Limit: 1024, State: Past}} {
		for _, alert := range []Alert{{}, lost} {
			for columns := 1; columns < 130; columns++ {
				text := Text(Bar{Tabs: many, Alert: alert, Meter: meter}.Segments(columns))
				_, after, found := strings.Cut(text, "fd ")
				count := grouped(meter.Count)
				if found && !strings.HasPrefix(after+" ", count+" ") && !strings.HasPrefix(after, meter.Name+" "+count+" ") {
					t.Errorf("%d columns: %q", columns, text)
				}
			}
		}
	}
}

func TestHelpGoesBeforeTheMeterAndTabsAreCounted(t *testing.T) {
	bar := Bar{Tabs: many, Meter: calm, Help: "^B ? help"}
	seen := map[bool]int{}
	for columns := 200; columns >= 10; columns-- {
		text := Text(bar.Segments(columns))
		help := strings.Contains(text, "^B ?")
		seen[help]++
		if help && !strings.Contains(text, "▁") {
			t.Errorf("%d columns: help stays without the sparkline: %q", columns, text)
		}
		if strings.HasPrefix(text, " 4") && !strings.Contains(text, "6") && !strings.Contains(text, "+5") {
			t.Errorf("%d columns: tabs are missing without a word: %q", columns, text)
		}
	}
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("help shown and hidden: %v", seen)
	}
}

func TestAHiddenTabWithAFailureKeepsItsGlyph(t *testing.T) {
	text := Text(Bar{Tabs: many, Meter: calm}.Segments(34))
	if !strings.Contains(text, "+5✗") {
		t.Errorf("got %q", text)
	}
}

func TestCleanNamesWhatMustNotBeSent(t *testing.T) {
	for text, want := range map[string]string{
		"plain":         "plain",
		"a\x1bb":        "a^[b",
		"a\tb\x7f":      "a^Ib^?",
		"\u009b31m":     "<U+009B>31m",
		"a\u202eb":      "a<U+202E>b",
		"a\u2028b":      "a<U+2028>b",
		"\u200b":        "<U+200B>",
		"⚙\ufe0f":       "⚙",
		"👨\u200d👩":      "👨👩",
		"\xff":          "\ufffd",
		"e\u0301":       "e\u0301",
		"\u0301e":       "<U+0301>e",
		"\U000e0041tag": "<U+E0041>tag",
	} {
		if got := clean(text); got != want {
			t.Errorf("%q = %q, want %q", text, got, want)
		}
	}
}

func TestAPathKeepsItsEnd(t *testing.T) {
	for _, test := range []struct {
		text  string
		w     int
		ascii bool
		want  string
	}{
		{"/home/a/notes/meeting.wav", 18, false, "…notes/meeting.wav"},
		{"a long name", 6, false, "a lon…"},
		{"a long name", 6, true, "a lo.."},
		{"日本語", 4, false, "日…"},
		{"/日本語", 4, false, "…語"},
		{"abc", 0, false, ""},
		{"abc", 1, true, "."},
	} {
		if got := shorten(test.text, test.w, test.ascii); got != test.want {
			t.Errorf("%q in %d = %q, want %q", test.text, test.w, got, test.want)
		}
	}
}

func TestMeterShowsGrowthWhereItIsKnownAndNotStill(t *testing.T) {
	m := Meter{Count: 23, Known: true, Limit: 1024}
	for _, c := range []struct {
		perMinute float64
		known     bool
		want      string
	}{
		{3.5, true, "fd 23 /1024 +3.5/min"},
		{-42, true, "fd 23 /1024 -42/min"},
		{0.2, true, "fd 23 /1024"},
		{3.5, false, "fd 23 /1024"},
	} {
		m.PerMinute, m.Growing = c.perMinute, c.known
		if got := Text(m.Segments(false)); got != c.want {
			t.Errorf("growth %v: %q, want %q", c.perMinute, got, c.want)
		}
	}
}

func TestHelpAtFindsTheHelpWhereItIsDrawn(t *testing.T) {
	b := Bar{Tabs: []Tab{{Number: 1, Name: "app", Active: true}}, Alert: Alert{Text: "send: 1 attachment dropped"}, Help: "^B ? help"}
	for columns := 1; columns <= 120; columns++ {
		text := []rune(Text(b.Segments(columns)))
		at := strings.Index(string(text), "^B ?")
		if at >= 0 {
			at = len([]rune(string(text)[:at]))
		}
		for x := range columns {
			drawn := at >= 0 && x >= at && x < at+len([]rune(strings.TrimRight(string(text[at:]), " ")))
			if got := b.HelpAt(columns, x); got != drawn {
				t.Errorf("%d columns: %v at %d of %q", columns, got, x, string(text))
			}
		}
	}
}

func TestTabAtFindsTheTabThatIsDrawnThere(t *testing.T) {
	b := Bar{Tabs: []Tab{{Number: 1, Name: "app", Active: true}, {Number: 2, Name: "logs", Mark: MarkFailure}, {Number: 3, Name: "build"}}}
	for columns := 1; columns <= 120; columns++ {
		text := []rune(Text(b.Segments(columns)))
		for x := range columns {
			drawn := strings.ContainsRune("123", text[x]) && (x == 0 || text[x-1] == ' ') // not the 2 of "+2"
			n, ok := b.TabAt(columns, x)
			if drawn && (!ok || text[x] != rune('0'+n)) {
				t.Errorf("%d columns: tab %d, %v at %d of %q", columns, n, ok, x, string(text))
			}
		}
	}
	if n, ok := b.TabAt(80, 40); ok {
		t.Errorf("tab %d in the middle of nowhere", n)
	}
}
