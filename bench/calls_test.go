package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func testRunHost(t *testing.T) *runHost {
	t.Helper()
	h, err := newRunHost(testBed(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.close)
	return h
}

func TestEveryReaderCountsEveryByte(t *testing.T) {
	h := testRunHost(t)
	argv := []string{"head", "-c", "300001", "/dev/zero"}
	for name, read := range map[string]func([]string) (int64, error){
		"plain reader":          func(argv []string) (int64, error) { return plainReader(h.bed.env, argv) },
		"into a writer":         h.run,
		"into its result":       h.keep,
		"as a call of a tool":   h.call,
		"Python subprocess":     func(argv []string) (int64, error) { return h.byPython("bytes", argv) },
		"Python subprocess.run": func(argv []string) (int64, error) { return h.byPython("calls", argv) },
	} {
		if n, err := read(argv); n != 300001 || err != nil {
			t.Errorf("%s: %d bytes, %v", name, n, err)
		}
		if _, err := read([]string{"sh", "-c", "exit 3"}); err == nil {
			t.Errorf("%s: a command that failed is a figure", name)
		}
	}
}

// byPython counts with the peer, or with the plain reader where there is none.
func (h *runHost) byPython(what string, argv []string) (int64, error) {
	if h.python == nil {
		return plainReader(h.bed.env, argv)
	}
	l, err := h.python.do(what, argv, 1)
	return l.bytes, err
}

func TestACallThatReadLessIsAnErrorAndNoFigure(t *testing.T) {
	if err := whole(4, 5); !errors.Is(err, errShort) {
		t.Errorf("err = %v", err)
	}
	if err := whole(5, 5); err != nil {
		t.Error(err)
	}
}

func TestEveryRoundBeginsWithAnotherAndTheFirstDoesNotCount(t *testing.T) {
	var order strings.Builder
	var rivals []rival
	for _, name := range []string{"a", "b", "c"} {
		rivals = append(rivals, rival{name: name, run: func(n int) (lap, error) {
			order.WriteString(name)
			return lap{wall: time.Duration(n) * time.Second}, nil
		}})
	}
	r, err := takeLaps(rivals, 2, 4, 10)
	if err != nil || order.String() != "abcbcacab" {
		t.Fatalf("order = %s, %v", &order, err)
	}
	if !slices.Equal(r.wall[2], []float64{10, 10}) || r.cpu[2] != nil {
		t.Errorf("rates = %v, by CPU time %v", r.wall[2], r.cpu[2])
	}
	rivals[1].run = func(int) (lap, error) { return lap{}, errShort }
	if _, err := takeLaps(rivals, 2, 4, 10); !errors.Is(err, errShort) || !strings.HasPrefix(err.Error(), "b:") {
		t.Errorf("err = %v", err)
	}
}

func testHerd(t *testing.T, n int) *herd {
	t.Helper()
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skipf("skipped: no /proc: %v", err)
	}
	h, err := newHerd(n)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestEveryWaySeesTheDescriptorsOfAHerd(t *testing.T) {
	h := testHerd(t, 3)
	defer func() {
		if err := h.close(); err != nil {
			t.Error(err)
		}
	}()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ways := []way{child("tick", []string{self}, "tick"), child("full", []string{self}, "full"), child("files", []string{self}, "files"), {"ls", byLS}}
	if _, err := exec.LookPath("lsof"); err == nil {
		ways = append(ways, way{"lsof", byLSOF})
	}
	for _, w := range ways {
		if ms, err := h.measure(w, time.Millisecond); err != nil || ms <= 0 {
			t.Errorf("%s: %v ms, %v", w.name, ms, err)
		}
	}
	for _, wrong := range h.wrong {
		t.Error(wrong)
	}
	none := way{"none", func(*herd, time.Duration) (meterResult, error) { return meterResult{Readings: 1}, nil }}
	if _, err := h.measure(none, 0); err != nil || !strings.Contains(h.wrong["none"], "saw 0 descriptors") {
		t.Errorf("a way that sees nothing is not named: %v, %v", h.wrong, err)
	}
	if _, err := child("no", []string{self}, "no such way").read(h, 0); err == nil || !strings.Contains(err.Error(), "usage") {
		t.Errorf("err = %v", err)
	}
}

func TestAHerdThatIsClosedLeavesNoProcess(t *testing.T) {
	h := testHerd(t, 4)
	if n, err := h.count(); len(h.pids) != 4 || n < 3*herdFDs || err != nil {
		t.Errorf("a herd of %d with %d descriptors, %v", len(h.pids), n, err)
	}
	if err := h.close(); err != nil {
		t.Error(err)
	}
	for _, pid := range h.pids {
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("process %d is still there: %v", pid, err)
		}
	}
}

func TestAnEventIsWhatHermesSends(t *testing.T) {
	file := filepath.Join(t.TempDir(), "event.json")
	size, err := writeEvent(file)
	if err != nil || size < hookOutput {
		t.Fatalf("size = %d, %v", size, err)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var e struct {
		HookEventName string `json:"hook_event_name"`
		Extra         struct{ Result string }
	}
	if err := json.Unmarshal(raw, &e); err != nil || e.HookEventName != "post_tool_call" || !json.Valid([]byte(e.Extra.Result)) {
		t.Errorf("event = %.200s, %v", raw, err)
	}
}

func TestAHookThatCouldNotRecordIsAnError(t *testing.T) {
	b := testBed(t)
	file := filepath.Join(b.dir, "event.json")
	if _, err := writeEvent(file); err != nil {
		t.Fatal(err)
	}
	silent := &hooked{argv: []string{"cat"}}
	if d, err := silent.once(b.env, file); err != nil || d <= 0 {
		t.Errorf("cat: %v, %v", d, err)
	}
	noted := &hooked{argv: []string{"sh", "-c", "cat; echo 'not recorded' >&2"}}
	if _, err := noted.once(b.env, file); err == nil || err.Error() != "not recorded" {
		t.Errorf("err = %v", err)
	}
}
