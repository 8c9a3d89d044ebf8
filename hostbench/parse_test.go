package hostbench

import (
	"strings"
	"testing"
	"time"
)

// testStart is a time that has passed.
var testStart = time.Unix(0, 0)

// endText makes an End comparable.
func endText(e End) string {
	s := "none"
	if e.Code != nil {
		s = itoa(*e.Code)
	}
	return s + "|" + e.Signal + "|" + e.Words
}

func TestEndsAreReadFromWhatHostsSay(t *testing.T) {
	tmuxOf := func(s string) End { _, e := parseTmux(s); return e }
	for _, c := range []struct {
		parse      func(string) End
		said, want string
	}{
		{tmuxOf, "1|7|\n", "7||status 7"},
		{tmuxOf, "1|0|\n", "0||status 0"},
		{tmuxOf, "1||9\n", "none|SIGKILL|signal 9"},
		{tmuxOf, "0||\n", "none||"},
		{tmuxOf, "no server running on /tmp/s\n", "none||"},
		{parseScreen, "19999\n20000\n=== Command terminated normally (Mon Nov 30 10:00:00 2026) ===\n", "0||terminated normally"},
		{parseScreen, "\n=== Command terminated with exit status 7 (Mon Nov 30 10:00:00 2026) ===\n", "7||terminated with exit status 7"},
		{parseScreen, "\n=== Command terminated with signal 9 (Mon Nov 30 10:00:00 2026) ===\n", "none|SIGKILL|terminated with signal 9"},
		{parseScreen, "\n=== Command detached from window (Mon Nov 30 10:00:00 2026) ===\n", "none||detached from window"},
		{parseScreen, "1\n2\n", "none||"},
		{parseExpect, "\nthe command ended: 27405 exp3 0 7\n", "7||7"},
		{parseExpect, "\nthe command ended: 27414 exp3 0 0 CHILDKILLED SIGKILL {kill signal}\n", "none|SIGKILL|0 CHILDKILLED SIGKILL {kill signal}"},
		{parseExpect, "\nthe command ended: 27414 exp3 -1 5\n", "none||27414 exp3 -1 5"},
		{parseExpect, "couldn't execute \"nosuch\": no such file or directory\n", "none||"},
		{parseMprocs, "│ task      DOWN (7) │", "7||DOWN (7)"},
		{parseMprocs, "│ task      DOWN │", "none||"},
		{parseMprocs, "│ task      UP │", "none||"},
	} {
		if got := endText(c.parse(c.said)); got != c.want {
			t.Errorf("%q: %s, want %s", c.said, got, c.want)
		}
	}
}

func TestResultsOfRunAreRead(t *testing.T) {
	for _, c := range []struct {
		r             ran
		end, trouble  string
		said, content string
	}{
		{ran{out: `{"output":"1\n","exit_code":0,"error":null,"signal":null,"capture":{"state":"complete"}}`}, "0||exit 0, output complete", "", "", "1\n"},
		{ran{out: `{"output":"","exit_code":null,"error":"killed by SIGKILL","signal":"SIGKILL","capture":{"state":"complete"}}`}, "none|SIGKILL|SIGKILL, output complete", "", "killed by SIGKILL", ""},
		{ran{out: `{"output":"","exit_code":null,"error":"did not start: too many open files (EMFILE)","capture":{"state":"not started"}}`}, "none||", "not started", "did not start: too many open files (EMFILE)", ""},
		{ran{code: 1, err: "honestty: start waiting: EMFILE\n"}, "none||", "exit 1", "honestty: start waiting: EMFILE", ""},
	} {
		k, err := parseRun(c.r)
		if err != nil || endText(k.End) != c.end || k.Trouble != c.trouble || k.Said != c.said || k.Text != c.content {
			t.Errorf("%+v: %+v, %v", c.r, k, err)
		}
	}
	if _, err := parseRun(ran{out: "no JSON"}); err == nil {
		t.Error("what is no JSON was read")
	}
}

func TestNumbersCountsOnlyWhatIsThere(t *testing.T) {
	for _, c := range []struct {
		text string
		last int
		want int
	}{
		{"1\r\n2\r\n3\r\n", 3, 3},
		{"1\n3\n", 3, 2},       // one is missing in between
		{"1\n2\n2\n3\n", 3, 3}, // one stands there twice
		{"2\n1\n3\n", 3, 2},    // not in order
		{"1\n2\n3\n4\n", 3, 3}, // more than was printed
		{"1\nPane is dead\n", 3, 1},
		{"", 3, 0},
	} {
		if got := Numbers(c.text, c.last); got != c.want {
			t.Errorf("Numbers(%q, %d) = %d, want %d", c.text, c.last, got, c.want)
		}
	}
}

func TestWindowsOfScreenAreCounted(t *testing.T) {
	for list, want := range map[string]int{"0 sleep  1*$ sleep": 2, "0Z sh": 1, "No screen session found.": 0, "": 0} {
		if got := windowsOf(list); got != want {
			t.Errorf("%q: %d, want %d", list, got, want)
		}
	}
	if !zombie("0Z sh") || zombie("0 sh") || zombie("") {
		t.Error("a dead window is not told from a live one")
	}
}

func TestTablesSayWhatWasNotMeasured(t *testing.T) {
	r := &Report{Runs: 3, Hosts: []HostInfo{{"honestty", true, "v1"}, {"tmux", true, "3.3a"}, {"mprocs", false, ""}}, Measures: []Row{
		{"tail of 5", "`seq 1 5`", []Cell{{StateKept, 3, 3, "3 of 3", ""}, {StateShort, 1, 3, "1 of 3", "worst run: 4 of 5 lines"}, {State: StateNotInstalled}}},
		{"cut", "`seq 1 9` | 5", []Cell{{State: StateNotMeasured, Says: "no folder"}, {}, {State: StateNotInstalled}}},
	}}
	var text, md strings.Builder
	if err := r.Text(&text); err != nil {
		t.Fatal(err)
	}
	if err := r.Markdown(&md); err != nil {
		t.Fatal(err)
	}
	wantText := "tail of 5: `seq 1 5`\n" +
		"  honestty v1  3 of 3\n" +
		"  tmux 3.3a    1 of 3              worst run: 4 of 5 lines\n" +
		"  mprocs       not installed\n\n" +
		"cut: `seq 1 9` | 5\n" +
		"  honestty v1  cannot be measured  no folder\n" +
		"  tmux 3.3a    not measured\n" +
		"  mprocs       not installed\n"
	if text.String() != wantText {
		t.Errorf("got\n%s\nwant\n%s", text.String(), wantText)
	}
	wantMD := "| asked, 3 runs a tail | honestty v1 | tmux 3.3a | mprocs |\n| --- | --- | --- | --- |\n" +
		"| tail of 5 | 3 of 3 | 1 of 3 | not installed |\n| cut | cannot be measured | not measured | not installed |\n"
	if md.String() != wantMD {
		t.Errorf("got\n%s\nwant\n%s", md.String(), wantMD)
	}
	if r.Kept(false) {
		t.Error("ours was not measured and counts as kept")
	}
}
