package main

import (
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/honestty/honestty/vt"
)

// TestMain lets the test binary be any of the children.
func TestMain(m *testing.M) {
	if asChild() {
		return
	}
	os.Exit(m.Run())
}

// testBed is a bed without a built binary.
func testBed(t *testing.T) *bed {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &bed{dir: t.TempDir(), self: self, env: []string{"PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "PS1=" + prompt}}
}

func closeHost(t *testing.T, h *host) {
	t.Helper()
	if err := h.close(); err != nil {
		t.Error(err)
	}
}

func TestEveryKeyIsSeenOnTheOuterTerminal(t *testing.T) {
	b := testBed(t)
	h, err := startBare(b, b.echoing()...)
	if err != nil {
		t.Fatal(err)
	}
	defer closeHost(t, h)
	ms, err := h.outer.echoes(5, seeded(1))
	if err != nil || len(ms) != 5 {
		t.Fatalf("echoes = %v, %v", ms, err)
	}
	for _, m := range ms {
		if m <= 0 {
			t.Errorf("a key was seen after %v ms", m)
		}
	}
}

func TestAHostThatEndedIsAnErrorAndNoFigure(t *testing.T) {
	b := testBed(t)
	h, err := startBare(b, "/bin/sh", "-c", "echo over")
	if err != nil {
		t.Fatal(err)
	}
	defer closeHost(t, h)
	if _, err := h.outer.await(shows("never")); err == nil || !strings.Contains(err.Error(), "over") {
		t.Errorf("err = %v", err)
	}
}

func TestClosingAnOuterTerminalEndsAShellAndWhatItRuns(t *testing.T) {
	h, err := startBare(testBed(t), "/bin/sh", "-c", "(trap '' HUP TERM; echo up; sleep 3600) & wait")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.outer.await(shows("up")); err != nil {
		t.Error(err)
	}
	closeHost(t, h) // says so when anything still holds the terminal
}

func TestAStepCountsEveryByteOfItsKey(t *testing.T) {
	costs, err := playSession(testBed(t), starter{bare, startBare}, []activity{
		{"two keys", "x", []string{"a", "b"}, "\x15"},
		{"one key", "", []string{"c"}, ""},
	})
	if err != nil {
		t.Fatal(err)
	}
	if costs[0].bytes != 2 || costs[1].bytes != 1 {
		t.Errorf("bytes = %d and %d", costs[0].bytes, costs[1].bytes)
	}
	if want := strings.TrimRight(prompt, " ") + " xab"; costs[0].screen != want {
		t.Errorf("screen = %q, want %q", costs[0].screen, want)
	}
}

func TestTheFramesDifferAsTheirNamesSay(t *testing.T) {
	for _, k := range frameKinds {
		f := newFramer(k)
		f.run(2)
		changed := 0
		one, two := k.one(), k.two()
		for r := range windowRows {
			if rowText(one, vt.Row(r)) != rowText(two, vt.Row(r)) {
				changed++
			}
		}
		switch {
		case k.name == "unchanged" && (changed != 0 || f.bytes != 0),
			k.name == "one cell" && (changed != 1 || f.bytes == 0 || f.bytes > 200),
			strings.HasPrefix(k.name, "every") && changed < windowRows-1:
			t.Errorf("%s: %d rows differ, %d bytes", k.name, changed, f.bytes)
		}
	}
}

func TestAPercentileIsOneOfItsValues(t *testing.T) {
	var xs []float64
	for i := range 300 {
		xs = append(xs, float64(300-i))
	}
	if p := percentile(xs, 99); p != 297 {
		t.Errorf("p99 of 1 to 300 = %v", p)
	}
	if p := percentile(xs, 100); p != 300 {
		t.Errorf("p100 of 1 to 300 = %v", p)
	}
	if !math.IsNaN(percentile(nil, 99)) {
		t.Error("nothing has a percentile")
	}
}

func TestUsageOfAProcessThatIsGoneIsUnknown(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if u := usageOf([]int{cmd.Process.Pid}); u.known {
		t.Errorf("usage = %+v", u)
	}
	if u := (usage{known: true, run: 3 * time.Second}).minus(usage{}); u.known {
		t.Errorf("the difference to nothing = %+v", u)
	}
}
