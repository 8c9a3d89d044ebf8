package ctl

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// A fakeWindow remembers what it was asked and answers with full results.
type fakeWindow struct {
	asked any
}

var (
	code  = 3
	whole = Completeness{State: CaptureTruncated, CutLines: 12, CutBytes: 800, LostBytes: 0, Why: "the scrollback holds 10000 rows"}
	pane  = Pane{
		ID: 2, Title: "vim <a>", Command: []string{"vim", "a\tb"}, Cwd: "/tmp/ü", Cols: 80, Rows: 24,
		State: StateEnded, Exit: &Exit{Code: &code, DurationMS: 1500}, Capture: whole, Focused: true, Refused: 4,
	}
)

func (w *fakeWindow) List(_ context.Context, p ListParams) (ListResult, error) {
	w.asked = p
	return ListResult{Tabs: []Tab{{ID: 1, Title: "work", Focused: true, Zoomed: true, Panes: []Pane{pane}}}}, nil
}

func (w *fakeWindow) Split(_ context.Context, p SplitParams) (OpenResult, error) {
	w.asked = p
	if p.Pane == 9 {
		return OpenResult{}, Errorf(NoSuchPane, "there is no pane %d", p.Pane)
	}
	return OpenResult{Tab: 1, Pane: 3, State: StateNotStarted, Error: "no such file (ENOENT)"}, nil
}

func (w *fakeWindow) Tab(_ context.Context, p TabParams) (OpenResult, error) {
	w.asked = p
	return OpenResult{Tab: 2, Pane: 4, PID: 77, State: StateRunning}, nil
}

func (w *fakeWindow) Focus(_ context.Context, p FocusParams) (FocusResult, error) {
	w.asked = p
	return FocusResult{Tab: 1, Pane: 2, Moved: true}, nil
}

func (w *fakeWindow) Send(_ context.Context, p SendParams) (SendResult, error) {
	w.asked = p
	return SendResult{Accepted: int64(len(p.Input())) - 1, Refused: 1, Why: "the program reads nothing"}, nil
}

func (w *fakeWindow) Capture(_ context.Context, p CaptureParams) (CaptureResult, error) {
	w.asked = p
	return CaptureResult{Pane: 2, Text: "a\u2028<b>\x1b[31m\n", AboveRows: 7, Alternate: true, Completeness: whole}, nil
}

func (w *fakeWindow) Wait(_ context.Context, p WaitParams) (WaitResult, error) {
	w.asked = p
	return WaitResult{Pane: 2, Happened: HappenedTimeout, WaitedMS: 50, State: StateRunning, Capture: whole}, nil
}

func (w *fakeWindow) Ask(_ context.Context, p AskParams) (AskResult, error) {
	w.asked = p
	return AskResult{Why: "refused at the window"}, nil
}

// roundTrip calls a method over a real socket and compares what arrives on
// both sides.
func roundTrip[P, R any](t *testing.T, w *fakeWindow, c *Client, method string, params P, want R) {
	t.Helper()
	var got R
	if err := c.Call(t.Context(), method, params, &got); err != nil {
		t.Errorf("%s: %v", method, err)
		return
	}
	if !reflect.DeepEqual(w.asked, params) {
		t.Errorf("%s: the window was asked %+v, want %+v", method, w.asked, params)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %+v came back, want %+v", method, got, want)
	}
}

func TestEveryMethodArrivesWholeOnBothSides(t *testing.T) {
	checkLeaks(t)
	dir := shortDir(t)
	w := &fakeWindow{}
	s := serve(t, testEnv(dir).withPID(4001), Methods(w))
	c := client(t, testEnv(dir), "")
	if got := c.Window(); got != (HelloResult{Protocol: Protocol, PID: 4001, Version: "test"}) || c.Path() != s.Path() {
		t.Errorf("hello = %+v on %s", got, c.Path())
	}
	roundTrip(t, w, c, MethodList, ListParams{}, ListResult{Tabs: []Tab{{ID: 1, Title: "work", Focused: true, Zoomed: true, Panes: []Pane{pane}}}})
	roundTrip(t, w, c, MethodSplit, SplitParams{Pane: 1, Direction: Down, Command: []string{"ls", "", "ü <&>"}, Cwd: "/"},
		OpenResult{Tab: 1, Pane: 3, State: StateNotStarted, Error: "no such file (ENOENT)"})
	roundTrip(t, w, c, MethodTab, TabParams{}, OpenResult{Tab: 2, Pane: 4, PID: 77, State: StateRunning})
	roundTrip(t, w, c, MethodFocus, FocusParams{Direction: Left}, FocusResult{Tab: 1, Pane: 2, Moved: true})
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	roundTrip(t, w, c, MethodSend, SendParams{Bytes: all, Enter: true}, SendResult{Accepted: 256, Refused: 1, Why: "the program reads nothing"})
	roundTrip(t, w, c, MethodSend, SendParams{Text: "\x00\x1b\u2028\U0001F600\n"}, SendResult{Accepted: 9, Refused: 1, Why: "the program reads nothing"})
	roundTrip(t, w, c, MethodCapture, CaptureParams{Scrollback: true, ANSI: true, Rows: 5},
		CaptureResult{Pane: 2, Text: "a\u2028<b>\x1b[31m\n", AboveRows: 7, Alternate: true, Completeness: whole})
	roundTrip(t, w, c, MethodWait, WaitParams{Pane: 2, Until: UntilText, Text: "$ ", TimeoutMS: 50},
		WaitResult{Pane: 2, Happened: HappenedTimeout, WaitedMS: 50, State: StateRunning, Capture: whole})
	roundTrip(t, w, c, MethodAsk, AskParams{Tool: "terminal", Rule: "recursive delete", Detail: "rm -r x\n", TimeoutMS: 1000}, AskResult{Why: "refused at the window"})
	if err := c.Call(t.Context(), MethodAsk, AskParams{Tool: "terminal", Rule: "x", TimeoutMS: 1}, nil); !errors.Is(err, &Error{Code: InvalidParams}) {
		t.Errorf("a question about nothing = %v", err)
	}
	if err := c.Call(t.Context(), MethodSplit, SplitParams{Pane: 9, Direction: Right}, nil); !errors.Is(err, &Error{Code: NoSuchPane}) || err.Error() != "there is no pane 9 (no_such_pane)" {
		t.Errorf("split of no pane = %v", err)
	}
}

func TestCaptureSaysWhatIsKnownBesideTheText(t *testing.T) {
	b, err := encode(CaptureResult{Pane: 2, Text: "x\n", Completeness: whole})
	want := `{"pane":2,"text":"x\n","above_rows":0,"alternate":false,"state":"truncated","cut_lines":12,"cut_bytes":800,"lost_bytes":0,"running":false,"why":"the scrollback holds 10000 rows"}`
	if err != nil || string(b) != want {
		t.Errorf("capture = %s, %v\nwant %s", b, err, want)
	}
}

func TestZeroValuesClaimNothing(t *testing.T) {
	for v, want := range map[any]string{
		StateUnknown: `"unknown"`, State(""): `"unknown"`, CaptureState(""): `"unknown"`, Happened(""): `"unknown"`,
		CaptureComplete: `"complete"`, HappenedExit: `"exit"`, StateEnded: `"ended"`,
	} {
		if b, err := json.Marshal(v); err != nil || string(b) != want {
			t.Errorf("%T(%q) reads %s, %v; want %s", v, v, b, err, want)
		}
	}
	if (Completeness{}).Whole() || (Completeness{State: CaptureComplete, Running: true}).Whole() {
		t.Error("a capture that claims nothing, or whose program runs, is whole")
	}
	if !(Completeness{State: CaptureComplete}).Whole() {
		t.Error("a complete capture is not whole")
	}
}

func TestUnknownMethodNamesThoseThatExist(t *testing.T) {
	_, err := Methods(&fakeWindow{}).Call(t.Context(), "splti", nil)
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Code != UnknownMethod {
		t.Fatalf("error = %v", err)
	}
	for _, m := range []string{MethodHello, MethodList, MethodSplit, MethodTab, MethodFocus, MethodSend, MethodCapture, MethodWait} {
		if !strings.Contains(e.Message, m) {
			t.Errorf("%q does not name %s", e.Message, m)
		}
	}
}

func TestParametersOutOfRangeAreNamed(t *testing.T) {
	for _, c := range []struct {
		p    validator
		says string // "" for none
	}{
		{HelloParams{}, ""},
		{ListParams{}, ""},
		{SplitParams{Direction: Right}, ""},
		{SplitParams{}, "direction"},
		{SplitParams{Direction: Left}, "direction"},
		{SplitParams{Direction: Down, Pane: -1}, "pane is -1"},
		{SplitParams{Direction: Down, Cwd: "sub"}, "absolute"},
		{SplitParams{Direction: Down, Cwd: "/a\x00"}, "NUL"},
		{TabParams{Cwd: "/\xff"}, "UTF-8"},
		{TabParams{Command: []string{""}}, "empty name"},
		{TabParams{Command: []string{"a", "b\x00"}}, "command[1]"},
		{TabParams{Command: []string{"a", "\xff"}}, "command[1]"},
		{TabParams{Command: []string{"a", ""}, Cwd: "/"}, ""},
		{FocusParams{}, "0 of pane, direction and tab"},
		{FocusParams{Pane: 1, Tab: 1}, "2 of pane, direction and tab"},
		{FocusParams{Direction: "north"}, "left, right, up or down"},
		{FocusParams{Pane: -1}, "pane is -1"},
		{FocusParams{Tab: -1}, "tab is -1"},
		{FocusParams{Tab: 2}, ""},
		{SendParams{}, "nothing to send"},
		{SendParams{Text: "a", Bytes: []byte("b")}, "one must be"},
		{SendParams{Text: "\xff"}, "bytes"},
		{SendParams{Text: "a", Pane: -2}, "pane is -2"},
		{SendParams{Enter: true}, ""},
		{CaptureParams{Rows: -1}, "rows is -1"},
		{CaptureParams{Pane: -1}, "pane is -1"},
		{CaptureParams{}, ""},
		{WaitParams{}, "until"},
		{WaitParams{Until: UntilText}, "text must be given"},
		{WaitParams{Until: UntilExit, Text: "x"}, "text must be given"},
		{WaitParams{Until: UntilText, Text: "\xff"}, "UTF-8"},
		{WaitParams{Until: UntilText, Text: "a\nb"}, "line break"},
		{WaitParams{Until: UntilExit, IdleMS: 5}, "idle_ms"},
		{WaitParams{Until: UntilIdle, IdleMS: -5}, "idle_ms is -5"},
		{WaitParams{Until: UntilIdle, TimeoutMS: math.MaxInt64}, "timeout_ms"},
		{WaitParams{Until: UntilExit, TimeoutMS: -1}, "timeout_ms is -1"},
		{WaitParams{Until: UntilExit, Pane: -1}, "pane is -1"},
		{WaitParams{Until: UntilIdle, IdleMS: maxMS, TimeoutMS: maxMS}, ""},
	} {
		err := c.p.Validate()
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want %q", c.p, err, c.says)
		}
	}
}

func TestTimesOfAWaitAreNeverNegative(t *testing.T) {
	p := WaitParams{IdleMS: maxMS, TimeoutMS: maxMS}
	if p.Idle() <= 0 || p.Timeout() <= 0 {
		t.Errorf("the longest times are %v and %v", p.Idle(), p.Timeout())
	}
	if got := (WaitParams{}).Idle(); got != 500*time.Millisecond {
		t.Errorf("idle = %v without a value", got)
	}
}

func TestEveryFieldOfAResultIsAlwaysThere(t *testing.T) {
	for _, v := range []any{ListResult{}, Tab{}, Pane{}, Exit{}, OpenResult{}, FocusResult{}, SendResult{}, CaptureResult{}, WaitResult{}, Completeness{}, HelloResult{}} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var keys map[string]json.RawMessage
		if err := json.Unmarshal(b, &keys); err != nil {
			t.Fatal(err)
		}
		for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
			if f.Anonymous {
				continue
			}
			key, option, _ := strings.Cut(f.Tag.Get("json"), ",")
			if _, ok := keys[key]; !ok || key == "" || slices.Contains(strings.Split(option, ","), "omitempty") {
				t.Errorf("%T.%s has no key in %s", v, f.Name, b)
			}
		}
	}
}
