package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestWorkloadsAreTheSameEveryTime(t *testing.T) {
	for _, w := range workloads {
		const size = 64 << 10
		a, b := w.make(size, 80, 24, "\r\n"), w.make(size, 80, 24, "\r\n")
		if !bytes.Equal(a, b) {
			t.Errorf("%s: two makings differ", w.name)
		}
		if len(a) < size || len(a) > 2*size {
			t.Errorf("%s: %d bytes for %d asked", w.name, len(a), size)
		}
	}
}

func TestEveryPTYWorkloadExists(t *testing.T) {
	found := 0
	for _, w := range workloads {
		if _, ok := ptyNames[w.name]; ok {
			found++
		}
	}
	if found != len(ptyNames) {
		t.Errorf("%d of %d workloads of the PTY exist", found, len(ptyNames))
	}
}

func TestAStyledLineHasTwentyStylesAndNoWrap(t *testing.T) {
	line := string(styledLine(nil, 3))
	if n := strings.Count(line, "\x1b[38;5;"); n != 20 {
		t.Errorf("%d styles", n)
	}
	bare := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(strings.TrimSpace(line), "")
	if len(bare) != 199 || len(plainLine(nil, 3)) != 201 {
		t.Errorf("styled line of %d columns, plain one of %d bytes", len(bare), len(plainLine(nil, 3)))
	}
}

// inputFile writes n plain lines.
func inputFile(t *testing.T, n int) (name string, size int) {
	t.Helper()
	var b []byte
	for i := range n {
		b = plainLine(b, i)
	}
	name = filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return name, len(b)
}

func TestFeedOnceTellsWhatIsHeld(t *testing.T) {
	file, size := inputFile(t, 500)
	r, err := feed(feedJob{cols: 200, rows: 60, scrollback: 1000, file: file})
	if err != nil {
		t.Fatal(err)
	}
	if r.Bytes != int64(size) || r.Lines != 441 || r.Counted <= 0 || r.Allocs != -1 {
		t.Errorf("result = %+v for %d bytes", r, size)
	}
}

func TestFeedMeasuresAtLeastOneWrite(t *testing.T) {
	file, _ := inputFile(t, 500)
	r, err := feed(feedJob{cols: 80, rows: 24, scrollback: 10, warm: 1, budget: 1, file: file})
	if err != nil {
		t.Fatal(err)
	}
	if r.Bytes < chunk || r.Held != -1 {
		t.Errorf("result = %+v", r)
	}
}

func TestFeedArgumentsComeBack(t *testing.T) {
	want := feedJob{200, 60, 10_000, 500 * time.Millisecond, time.Second, "x y"}
	got, err := parseFeed(want.args()[1:])
	if err != nil || got != want {
		t.Errorf("job = %+v, %v", got, err)
	}
	if _, err := parseFeed([]string{"80"}); !errors.Is(err, errUsage) {
		t.Errorf("err = %v", err)
	}
}

func TestAPanicAHangAndAnErrorAreToldApart(t *testing.T) {
	for _, c := range []struct{ script, short string }{
		{`echo 'panic: index out of range' >&2; exit 2`, "panic"},
		{`exec sleep 60`, "over 1 s"},
		{`exit 3`, "failed"},
		{`echo '{"error":"no such file"}'`, "failed"},
		{`echo nonsense`, "failed"},
		{`echo '{"bytes":2000000,"cpu_ns":500000000}'`, ""},
	} {
		limit := 30 * time.Second
		if strings.Contains(c.script, "sleep") {
			limit = time.Second
		}
		r, err := engine{"peer", []string{"/bin/sh", "-c", c.script}}.feedWithin(limit, feedJob{})
		m, _ := errors.AsType[*misfit](err)
		switch {
		case c.short == "" && (err != nil || r.rate() != 4):
			t.Errorf("%s: rate %v, %v", c.script, r.rate(), err)
		case c.short != "" && (m == nil || m.short != c.short):
			t.Errorf("%s: err = %v, want %s", c.script, err, c.short)
		}
	}
}

func TestAMissingFigureIsNoRatio(t *testing.T) {
	c := cell{results: []feedResult{{Bytes: 2e6, CPU: 1e9}, {}, {Bytes: 1e6, CPU: 1e9}}, errs: []error{nil, &misfit{"panic", errUsage}, nil}}
	if c.ratio(1) != -1 || times(c.ratio(1)) != none || c.rate(1) != "panic" {
		t.Errorf("ratio to a panic = %v, %s", c.ratio(1), c.rate(1))
	}
	if c.ratio(2) != 2 || times(2) != "2.00×" {
		t.Errorf("ratio = %v", c.ratio(2))
	}
}

func TestMeansOfNothingAreNoFigures(t *testing.T) {
	if !math.IsNaN(median(nil)) || !math.IsNaN(geomean(nil)) || figure(median(nil)) != none || spread(nil) != none {
		t.Error("nothing has a figure")
	}
	if m := median([]float64{9, 1, 3, 5}); m != 4 {
		t.Errorf("median = %v", m)
	}
	if g := geomean([]float64{2, 8}); math.Abs(g-4) > 1e-9 {
		t.Errorf("geometric mean = %v", g)
	}
}

func TestATableAlignsByCharacter(t *testing.T) {
	var out strings.Builder
	table{{"80×24", "a"}, {"x", "1.5×"}}.print(&out)
	if want := "80×24     a\nx      1.5×\n"; out.String() != want {
		t.Errorf("table = %q", out.String())
	}
}

func TestRecordReturnsWhatTheProgramWrote(t *testing.T) {
	got, err := record([]string{"printf", `a\nb`}, t.TempDir(), 80, 24)
	if err != nil || string(got) != "a\r\nb" {
		t.Errorf("recording = %q, %v", got, err)
	}
	if _, err := record([]string{"false"}, t.TempDir(), 80, 24); err == nil {
		t.Error("a program that failed is a recording")
	}
}

func TestEachReaderOfAPTYComesToTheEnd(t *testing.T) {
	file, _ := inputFile(t, 500)
	pane, err := newPaneHost()
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []catHost{discarder{}, pane} {
		if wall, _, err := h.cat(file); err != nil || wall <= 0 {
			t.Errorf("%T: %v, %v", h, wall, err)
		}
		h.close()
	}
}

// TestPeersArePinned keeps a later run from measuring another version.
func TestPeersArePinned(t *testing.T) {
	b, err := os.ReadFile("peers/xterm/package.json")
	if err != nil {
		t.Fatal(err)
	}
	var p struct{ Dependencies map[string]string }
	if err := json.Unmarshal(b, &p); err != nil {
		t.Fatal(err)
	}
	exact := regexp.MustCompile(`^\d+\.\d+\.\d+$`)
	if v := p.Dependencies["@xterm/headless"]; !exact.MatchString(v) {
		t.Errorf("@xterm/headless is pinned to %q", v)
	}
	for _, name := range []string{"package-lock.json", "node_modules"} {
		if _, err := os.Stat(filepath.Join("peers/xterm", name)); err == nil {
			t.Errorf("peers/xterm holds %s: npm belongs in the cache", name)
		}
	}
	product, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, peer := range []struct{ folder, module string }{
		{"xvt", "github.com/charmbracelet/x/vt"},
		{"gopsutil", "github.com/shirou/gopsutil/v4"},
	} {
		if bytes.Contains(product, []byte(peer.module)) {
			t.Errorf("%s is a dependency of the product", peer.module)
		}
		own, err := os.ReadFile(filepath.Join("peers", peer.folder, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(own, []byte(peer.module+" v")) {
			t.Errorf("%s is not pinned in its own module", peer.module)
		}
	}
}
