package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/internal/leak"
)

// asHelper makes the test binary the helper of the demo.
const asHelper = "HONESTTY_TEST_DEMO_HELPER"

var poller *fdwait.Poller

func TestMain(m *testing.M) {
	if os.Getenv(asHelper) != "" {
		if err := Help(context.Background(), os.Args[1:], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if poller, err = fdwait.New(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer poller.Close()
	return m.Run()
}

func testConfig() Config {
	return Config{
		Poller: poller, Version: "test", Lines: 2000, Runs: 2,
		Helper: func(args ...string) *exec.Cmd {
			cmd := exec.Command(os.Args[0], args...)
			// A race build takes a second to end otherwise.
			cmd.Env = append(os.Environ(), asHelper+"=1", "GORACE=atexit_sleep_ms=0")
			return cmd
		},
	}
}

// shown runs parts and returns them with what Run says of all.
func shown(t *testing.T, c Config, names ...string) (parts []Part, kept bool) {
	t.Helper()
	kept, err := Run(t.Context(), c, names, func(p Part) error {
		parts = append(parts, p)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return parts, kept
}

func TestTheWholeDemoKeepsItsWordAndLeavesNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	before := leak.Take(t)
	parts, kept := shown(t, testConfig())
	if !kept || len(parts) != len(acts) {
		t.Errorf("kept %v, %d parts of %d", kept, len(parts), len(acts))
	}
	for _, p := range parts {
		if p.Verdict != Kept {
			t.Errorf("%s: %s: %s", p.Name, p.Verdict, p.Why)
		}
		var ours, old int
		for _, r := range p.Rows {
			if r.Ours {
				ours++
			} else {
				old++
			}
			if r.Shows == "" && r.NotRun == "" {
				t.Errorf("%s: the row of %s shows nothing", p.Name, r.Who)
			}
		}
		if ours == 0 || old == 0 {
			t.Errorf("%s: %d rows of ours, %d old ones", p.Name, ours, old)
		}
	}
	before.Check(t)
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestAPartFailsWhenOursLosesAnything(t *testing.T) {
	damage := map[string]func(string) string{
		"descriptors": withoutLastLine,
		"tail":        withoutLastLine,
		"speech":      func(string) string { return "another content" },
		"attachment":  func(string) string { return "complete" },
		"path":        func(s string) string { return s + " MEDIA:/tmp/evil.txt" },
		"hostile":     func(string) string { return "" },
	}
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			c := testConfig()
			c.Runs = 1
			c.spoil = func(part, text string) string { return damage[part](text) }
			parts, kept := shown(t, c, name)
			if kept || parts[0].Verdict != Failed {
				t.Errorf("kept %v, verdict %s: %s", kept, parts[0].Verdict, parts[0].Why)
			}
		})
	}
}

func withoutLastLine(text string) string {
	text = strings.TrimRight(text, "\r\n ")
	return text[:strings.LastIndexByte(text, '\n')+1]
}

func TestSelectLosesWhatOursReads(t *testing.T) {
	parts, _ := shown(t, testConfig(), "descriptors")
	if parts[0].Verdict == NotRun {
		t.Skip(parts[0].Why)
	}
	rows := parts[0].Rows
	if *rows[0].Count != heldLines || *rows[1].Count != 0 || *rows[2].Count != heldLines {
		t.Errorf("lines: %d, %d, %d", *rows[0].Count, *rows[1].Count, *rows[2].Count)
	}
	if want := `output "", exit_code 0, error null`; rows[1].Shows != want {
		t.Errorf("the old way shows %q, want %q", rows[1].Shows, want)
	}
}

func TestWithoutTmuxTheOldWayIsNotRunAndOursIsJudged(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"seq", "sh"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, dir+"/"+name); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	parts, kept := shown(t, testConfig(), "tail", "hostile")
	if !kept || parts[0].Rows[0].NotRun != "tmux is not installed" || parts[0].Rows[0].Count != nil {
		t.Errorf("kept %v, old way %+v", kept, parts[0].Rows[0])
	}
	if parts[1].Rows[0].NotRun != "screen is not installed" {
		t.Errorf("old way %+v", parts[1].Rows[0])
	}
}

func TestAPartThatCannotBeRunIsNotKept(t *testing.T) {
	c := testConfig()
	c.Helper = func(...string) *exec.Cmd { return exec.Command("/no/such/program") }
	parts, kept := shown(t, c, "descriptors")
	if kept || parts[0].Verdict != NotRun || parts[0].Why == "" {
		t.Errorf("kept %v, %+v", kept, parts[0])
	}
	c = testConfig()
	c.Held = 1 << 30
	parts, kept = shown(t, c, "descriptors")
	if kept || parts[0].Verdict != NotRun || !strings.Contains(parts[0].Why, "this machine allows") {
		t.Errorf("kept %v, %+v", kept, parts[0])
	}
}

func TestAWrongNameIsAnErrorBeforeAnythingRuns(t *testing.T) {
	_, err := Run(t.Context(), testConfig(), []string{"tale"}, func(Part) error {
		t.Error("a part was run")
		return nil
	})
	if !errors.Is(err, ErrPart) {
		t.Errorf("err = %v", err)
	}
}

func TestAnInterruptEndsTheDemoAndItsHelpers(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	before := leak.Take(t)
	ctx, cancel := context.WithCancel(t.Context())
	c := testConfig()
	c.Helper = func(...string) *exec.Cmd {
		time.AfterFunc(0, cancel)
		return exec.Command("sleep", "600")
	}
	if _, err := Run(ctx, c, []string{"descriptors"}, func(Part) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	before.Check(t)
}

func TestAZeroVerdictReadsUnknown(t *testing.T) {
	raw, err := json.Marshal(Part{})
	if err != nil || !strings.Contains(string(raw), `"verdict":"unknown"`) {
		t.Errorf("%s, %v", raw, err)
	}
}

func TestTextSaysWhatWasNotRun(t *testing.T) {
	var b strings.Builder
	p := Part{Name: "tail", Title: "a title", Done: "Something was done.", Verdict: Kept, Why: "all there", Rows: []Row{
		{Who: "tmux", NotRun: "tmux is not installed"}, counted(true, "honestty pane", 5, 5, "complete runs"),
	}}
	if err := p.Text(&b); err != nil {
		t.Fatal(err)
	}
	want := `tail: a title
  Something was done.
  old   tmux                   not run: tmux is not installed
  ours  honestty pane  5 of 5  complete runs
  kept: all there
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
