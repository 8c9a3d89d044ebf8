package safepath

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func paths(ds []Directive) []string {
	out := []string{}
	for _, d := range ds {
		out = append(out, d.Path)
	}
	return out
}

func TestGrammarOfDirectives(t *testing.T) {
	onDisk := []string{"/d/Makefile", "/d/my notes file", "/d/a b.txt", "/d/tool", "/d/x.weird", "/d/code.png"}
	exists := func(p string) bool { return slices.Contains(onDisk, p) }
	for _, c := range []struct {
		text string
		want []string
		left string // what stays of the text
	}{
		{"report MEDIA:/d/r.pdf", []string{"/d/r.pdf"}, "report "},
		{"media:~/r.PDF now", []string{"~/r.PDF"}, " now"},
		{"Media:   /d/r.pdf", []string{"/d/r.pdf"}, ""},
		{`MEDIA:C:\x\r.pdf`, []string{`C:\x\r.pdf`}, ""},
		{"MEDIA:c:/x/r.pdf", []string{"c:/x/r.pdf"}, ""},
		{"**MEDIA:/d/r.pdf**", []string{"/d/r.pdf"}, ""},
		{"_*`MEDIA:/d/r.pdf", []string{"/d/r.pdf"}, "_*`"},
		{`"MEDIA:/d/r.pdf"`, []string{"/d/r.pdf"}, ""},
		{`say "MEDIA:/d/r.pdf and more"`, []string{"/d/r.pdf"}, `say " and more"`},
		{`MEDIA:"/d/two  spaces.pdf"`, []string{"/d/two  spaces.pdf"}, ""},
		{"MEDIA:`/d/r.pdf`", []string{"/d/r.pdf"}, ""},
		{"MEDIA:'rel/r.pdf'", []string{"rel/r.pdf"}, ""},
		{"MEDIA:\"/d/r\n.pdf\"", nil, "MEDIA:\"/d/r\n.pdf\""},
		{"MEDIA:/d/my file.pdf tail", []string{"/d/my file.pdf"}, " tail"},
		{"MEDIA:/d/my  file.pdf", nil, "MEDIA:/d/my  file.pdf"},
		{"MEDIA:/d/a.tar.gz.", []string{"/d/a.tar.gz"}, "."},
		{"See MEDIA:/d/r.pdf. Then", []string{"/d/r.pdf"}, "See . Then"},
		{"MEDIA:/d/r.pdf.sig", nil, "MEDIA:/d/r.pdf.sig"},
		{"(MEDIA:/d/r.pdf)", []string{"/d/r.pdf"}, "()"},
		{"MEDIA:/d/a.pngMEDIA:/d/b.png", []string{"/d/a.png", "/d/b.png"}, ""},
		{"看MEDIA:/d/图.png，好", []string{"/d/图.png"}, "看，好"},
		{"MEDIA:/d/图.png。", []string{"/d/图.png"}, "。"},
		{"glued.MEDIA:/d/r.pdf", []string{"/d/r.pdf"}, "glued."},
		{"MEDIA:/d/a.png, MEDIA:/d/b.png; MEDIA:/d/c.png:", []string{"/d/a.png", "/d/b.png", "/d/c.png"}, ", ; :"},
		{"MEDIA:/d/a.png and MEDIA:/d/a.png", []string{"/d/a.png"}, " and "},
		{"MEDIA:/d/a.png!", []string{"/d/a.png"}, "!"},
		{"MEDIA:/d/Makefile", []string{"/d/Makefile"}, ""},
		{"MEDIA:/d/Makefile and see it.pdf", []string{"/d/Makefile"}, " and see it.pdf"},
		{"MEDIA:/d/my notes file is here", []string{"/d/my notes file"}, " is here"},
		{"MEDIA:/d/a b.txt", []string{"/d/a b.txt"}, ""},
		{"MEDIA:/d/x.weird.", []string{"/d/x.weird"}, "."},
		{"MEDIA:/gone/thing", nil, "MEDIA:/gone/thing"},
		{"MEDIA:rel/r.pdf", nil, "MEDIA:rel/r.pdf"},
		{"media: nothing", nil, "media: nothing"},
		{"```\nMEDIA:/d/r.pdf\n```\nMEDIA:/d/s.pdf", []string{"/d/s.pdf"}, "```\nMEDIA:/d/r.pdf\n```\n"},
		{"~~~ sh\nMEDIA:/d/r.pdf\n```\nMEDIA:/d/r.pdf\n~~~~\n", nil, "~~~ sh\nMEDIA:/d/r.pdf\n```\nMEDIA:/d/r.pdf\n~~~~\n"},
		{"```\nnever closed\nMEDIA:/d/r.pdf", []string{"/d/r.pdf"}, "```\nnever closed\n"},
		{"use `MEDIA:/path/to.png` to attach", nil, "use `MEDIA:/path/to.png` to attach"},
		{"`MEDIA:/d/code.png`", []string{"/d/code.png"}, ""},
		{"`x MEDIA:/d/code.png`", nil, "`x MEDIA:/d/code.png`"},
		{"``a ` MEDIA:/d/r.pdf``", nil, "``a ` MEDIA:/d/r.pdf``"},
		{"> MEDIA:/d/r.pdf\nMEDIA:/d/s.pdf", []string{"/d/s.pdf"}, "> MEDIA:/d/r.pdf\n"},
		{`{"media_tag": "MEDIA:/d/r.pdf"}`, nil, `{"media_tag": "MEDIA:/d/r.pdf"}`},
		{`result {"a": ["MEDIA:/d/r.pdf", "MEDIA:/d/s.pdf"], "b": "\"MEDIA:/d/t.pdf"}`, nil, `result {"a": ["MEDIA:/d/r.pdf", "MEDIA:/d/s.pdf"], "b": "\"MEDIA:/d/t.pdf"}`},
		{`"MEDIA:/d/r.pdf"`, []string{"/d/r.pdf"}, ""}, // JSON too, and a quoted directive first of all
		{`["MEDIA:/d/r.pdf"]`, nil, `["MEDIA:/d/r.pdf"]`},
		{`{"a":"x"} MEDIA:/d/r.pdf`, []string{"/d/r.pdf"}, `{"a":"x"} `},
	} {
		m := Scan(c.text, exists)
		if c.want == nil {
			c.want = []string{}
		}
		if got := paths(m.Directives); !slices.Equal(got, c.want) || m.Text != c.left {
			t.Errorf("%q\n got %q, left %q\nwant %q, left %q", c.text, got, m.Text, c.want, c.left)
		}
	}
}

func TestWordsForTheWholeMessage(t *testing.T) {
	m := Scan("[[audio_as_voice]]\nMEDIA:/d/a.ogg\nhello [[as_document]]", nil)
	if !m.Voice || !m.Document || m.Text != "hello " || len(m.Directives) != 1 {
		t.Errorf("parts = %+v", m)
	}
	m = Scan("`[[as_document]]` is how", nil)
	if m.Document {
		t.Error("a word in code changed the message")
	}
}

func TestOffsetsPointAtTheDirective(t *testing.T) {
	const text = "a **MEDIA:/d/r.pdf** b"
	d := Directives(text)[0]
	if text[d.Start:d.End] != "**MEDIA:/d/r.pdf**" || d.Ext != ".pdf" || !d.Known || d.Quoted {
		t.Errorf("directive = %+v", d)
	}
}

func TestGuardSeesWhatNobodyKnowsToExist(t *testing.T) {
	if got := paths(Directives("MEDIA:/etc/shadow and `MEDIA:/tmp/x`")); !slices.Equal(got, []string{"/etc/shadow", "/tmp/x"}) {
		t.Errorf("guard sees %q", got)
	}
	if Strip("MEDIA:/etc/shadow") != "MEDIA:/etc/shadow" {
		t.Error("what cannot be matched does not stay visible")
	}
}

func TestLooseReaderFindsBareOnesAnywhere(t *testing.T) {
	got := paths(LooseDirectives("{\"a\":\"MEDIA:/d/a.mp3\"}\n> media:\n~/b.txt `MEDIA:C:/c` MEDIA:\"/d/q.mp3\" MEDIA:rel MEDIA:/d/a.mp3"))
	if !slices.Equal(got, []string{"/d/a.mp3", "~/b.txt", "C:/c"}) {
		t.Errorf("loose reader finds %q", got)
	}
}

// genPath makes paths out of what is dangerous in them.
func genPath() *rapid.Generator[string] {
	part := rapid.SampledFrom([]string{
		"media:", "MEDIA:", "MeDiA: ", "/", "//", "~/", "..", ".", "a", "b c", "  ", "'", `"`, "`", "```", ".mp3", ".txt", ".pdf", ".xyz",
		",", ";", ":", ")", "]", "}", "[", "{", "*", "_", "\\", "C:/", "tmp/evil.txt", "，", "。", "\n", "\u2028", "> ", "[[", "]]",
		"[[audio_as_voice]]", `":"`, `":`, `,"`, "İ", "med\u0131a:", "\u00a0", "!", "MEDIA", "é",
	})
	return rapid.Custom(func(t *rapid.T) string {
		if rapid.IntRange(0, 9).Draw(t, "free") == 0 {
			return rapid.String().Draw(t, "text")
		}
		return strings.Join(rapid.SliceOfN(part, 1, 7).Draw(t, "parts"), "")
	})
}

// shapes are the ways in which results of ours repeat a path, with the number
// of directives that each writes.
func shapes(path string) map[string]struct {
	text string
	want int
} {
	quote := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			return "?"
		}
		return string(b)
	}
	tag := Quote(path)
	written := min(1, len(tag))
	type shape = struct {
		text string
		want int
	}
	return map[string]shape{
		"media tag":  {tag, written},
		"voice tag":  {"[[audio_as_voice]]\n" + tag + "\n", written},
		"two tags":   {tag + "\nand then " + tag + "\n", written},
		"JSON":       {quote(map[string]any{"success": true, "file_path": path, "file_paths": []string{path, path}}), 0},
		"JSON field": {`"file_path": ` + quote(path) + `, "provider": "x"`, 0},
		"JSON tag":   {quote(map[string]string{"media_tag": "[[audio_as_voice]]\n" + tag, "file_path": path}), 0},
		"line":       {"wrote " + path + " (12 KB)\n", 0},
		"last words": {"replaced " + path + "\n", 0},
		"in quotes":  {"wrote \"" + path + "\", 3 lines\n", 0},
		"dropped":    {fmt.Sprintf("Not attached: `%s` (not found on this host).\n", path), 0},
	}
}

// checkEcho says what is wrong with an accepted path, or nothing.
func checkEcho(asked string) string {
	p := Policy{Home: "/home/nobody-here"}
	got, err := p.Check(asked, "/srv/nothing/here", Write)
	if err != nil {
		return ""
	}
	for _, path := range []string{got.Abs, got.Real} {
		for name, s := range shapes(path) {
			if n := len(Directives(s.text)); n > s.want || n < s.want && s.want == 1 {
				return fmt.Sprintf("%s of %q has %d directives, %d written: %q", name, path, n, s.want, s.text)
			}
			loose := LooseDirectives(s.text)
			if allowed := min(1, strings.Count(s.text, "MEDIA:/")); len(loose) > allowed {
				return fmt.Sprintf("%s of %q has %d directives for the loose reader: %q", name, path, len(loose), s.text)
			}
		}
		tag := Quote(path)
		if tag == "" {
			continue
		}
		m := Scan("x\n"+tag+"\ny", func(q string) bool { return q == path })
		if ps := paths(m.Directives); len(ps) != 1 || ps[0] != path || m.Text != "x\ny" {
			return fmt.Sprintf("%q is written %q and read back %q, left %q", path, tag, ps, m.Text)
		}
	}
	return ""
}

func TestAcceptedPathAddsNoDirectiveWhereverItIsRepeated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if wrong := checkEcho(genPath().Draw(t, "path")); wrong != "" {
			t.Fatal(wrong)
		}
	})
}

func TestQuoteSaysNothingOnlyWhereNothingCanSayIt(t *testing.T) {
	for path, want := range map[string]string{
		"/d/ok.mp3":          "MEDIA:/d/ok.mp3",
		"/d/my file.mp3":     `MEDIA:"/d/my file.mp3"`,
		"/d/two  spaces.mp3": `MEDIA:"/d/two  spaces.mp3"`,
		"/d/a.mp3, b.mp3":    `MEDIA:"/d/a.mp3, b.mp3"`,
		`/d/a.mp3 "b".xyz`:   `MEDIA:'/d/a.mp3 "b".xyz'`,
		"rel.mp3":            `MEDIA:"rel.mp3"`,
		"/d/noext":           "MEDIA:/d/noext",
		"/d/trailing ":       `MEDIA:"/d/trailing "`,
		"/d/a\nb.mp3":        "",
		"/d/a.mp3 '\"`":      "",
	} {
		if got := Quote(path); got != want {
			t.Errorf("Quote(%q) = %q, want %q", path, got, want)
		}
	}
}

// The fastest of three runs, so that a busy machine does not count.
func scanTime(unit string, n int) time.Duration {
	text := strings.Repeat(unit, n/len(unit))
	best := time.Duration(math.MaxInt64)
	for range 3 {
		start := time.Now()
		Directives(text)
		best = min(best, time.Since(start))
	}
	return best
}

func TestHostileTextTakesLinearTime(t *testing.T) {
	for _, unit := range []string{"MEDIA:/", "MEDIA:\"", "`", "```\n", "[\"a\",", "\"a\":", "[[as_document]]", "> ", "MEDIA:/a ", "{\"MEDIA:/a.png\":", "``a`"} {
		small, large := scanTime(unit, 1<<12), scanTime(unit, 1<<16)
		// Sixteen times the text: far from the 256 times of a square.
		if ratio := float64(large) / float64(max(1, small)); ratio > 120 {
			t.Errorf("%q: 16 times the text takes %.0f times as long (%v)", unit, ratio, large)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, s := range []string{
		"ok.mp3", "a.mp3\nMEDIA:/tmp/evil.txt", "a.mp3\u2028MEDIA:/tmp/evil.txt", "../MEDIA:/tmp/evil.txt",
		"decoy/MEDIA:/tmp/evil.txt", `../MEDIA:"rel/evil.txt"`, "media:", "x media: y.mp3", "a\".mp3", "`a`.mp3",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if wrong := checkEcho(path); wrong != "" {
			t.Error(wrong)
		}
	})
}

func FuzzScan(f *testing.F) {
	f.Add("**MEDIA:/d/r.pdf** `MEDIA:/x` {\"a\": \"MEDIA:/y.png\"}")
	f.Fuzz(func(t *testing.T, text string) {
		m := Scan(text, func(string) bool { return true })
		last := 0
		for _, d := range m.Directives {
			if d.Start < last || d.End <= d.Start || d.End > len(text) || !strings.Contains(text[d.Start:d.End], d.Path) {
				t.Errorf("directive %+v does not lie in order in %q", d, text)
			}
			last = d.End
		}
		if len(m.Text) > len(text) {
			t.Errorf("text grew: %q to %q", text, m.Text)
		}
		LooseDirectives(text)
	})
}
