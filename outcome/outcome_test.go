package outcome

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestZeroValuesClaimNothing(t *testing.T) {
	var s Status
	var c Capture
	var r Result
	if s.OK() || s != Unknown {
		t.Errorf("zero status = %v", s)
	}
	if c.State() != StateUnknown || c.Empty() || c.Whole() || c.Err("output") == nil {
		t.Errorf("zero capture = %v, empty %v", c.State(), c.Empty())
	}
	if r.Whole() {
		t.Error("a zero result is whole")
	}
	r.Judge(nil)
	if r.Status.OK() || r.Err == nil {
		t.Errorf("judged zero result = %v, %v", r.Status, r.Err)
	}
}

// TestStateOfEveryCapture walks all combinations; only one of them is empty
// success, and every one with something missing is lost.
func TestStateOfEveryCapture(t *testing.T) {
	holder := []Process{{PID: 7, Name: "node"}}
	for _, end := range []End{EndUnknown, EndEOF, EndHangup, EndStopped, EndBroken} {
		for _, lost := range []int64{Uncounted, 0, 5} {
			for _, holders := range [][]Process{nil, holder} {
				for _, shown := range []int64{0, 10} {
					c := Capture{Read: 10, Shown: shown, Lost: lost, End: end, Holders: holders}
					want := StateUnknown
					switch {
					case lost != 0 || end == EndBroken:
						want = StateLost
					case len(holders) > 0:
						want = StateDetached
					case end.Seen() && shown == 10:
						want = StateComplete
					case end.Seen():
						want = StateTruncated
					}
					if got := c.State(); got != want {
						t.Errorf("%+v: state %v, want %v", c, got, want)
					}
					if whole := c.Err("output") == nil; whole != (want == StateComplete || want == StateTruncated) {
						t.Errorf("%+v: whole %v", c, whole)
					}
					c.Read, c.Shown = 0, 0
					if c.Empty() && (lost != 0 || !end.Seen() || holders != nil) {
						t.Errorf("%+v is called empty", c)
					}
				}
			}
		}
	}
}

func TestJudgeJoinsEveryReason(t *testing.T) {
	code := 0
	held := Capture{End: EndStopped, Holders: []Process{{PID: 7, Name: "node"}}}
	lost := Capture{End: EndBroken, Lost: Uncounted, Cause: unix.EIO}
	whole := Capture{End: EndEOF}
	for _, c := range []struct {
		name    string
		r       Result
		stopped error
		want    Status
		is      []error
	}{
		{"complete", Result{PID: 1, ExitCode: &code, Output: Stream{Capture: whole}}, nil, Complete, nil},
		{"held", Result{PID: 1, ExitCode: &code, Output: Stream{Capture: held}}, nil, Partial, []error{ErrDetached}},
		{"lost with exit 0", Result{PID: 1, ExitCode: &code, Output: Stream{Capture: lost}}, nil, Failed, []error{ErrLost, unix.EIO}},
		{"timeout of a lost one", Result{PID: 1, Signal: unix.SIGTERM, Output: Stream{Capture: lost}}, &TimeoutError{time.Second}, Failed, []error{ErrTimeout, ErrLost, ErrExit, context.DeadlineExceeded}},
		{"interrupted", Result{PID: 1, Signal: unix.SIGTERM, Output: Stream{Capture: whole}}, errors.New("interrupted"), Cancelled, []error{ErrExit}},
		{"no exit code", Result{PID: 1, Output: Stream{Capture: whole}}, nil, Unknown, []error{ErrNoExit}},
		{"not started", Result{Err: &StartError{"open a pipe", unix.EMFILE}}, nil, Failed, []error{ErrNotStarted, unix.EMFILE}},
		{"refused", Result{Err: &RefusedError{"control character in a path"}}, nil, Refused, []error{ErrRefused}},
		{"lost stderr", Result{PID: 1, ExitCode: &code, Output: Stream{Capture: whole}, Stderr: &Stream{Capture: lost}}, nil, Failed, []error{ErrLost}},
		{"nobody filled it in", Result{PID: 1, ExitCode: &code}, nil, Unknown, []error{ErrUnknownEnd}},
	} {
		c.r.Judge(c.stopped)
		if c.r.Status != c.want || (c.r.Err == nil) != (c.want == Complete) {
			t.Errorf("%s: %v, %v; want %v", c.name, c.r.Status, c.r.Err, c.want)
		}
		for _, is := range c.is {
			if !errors.Is(c.r.Err, is) {
				t.Errorf("%s: %v is not %v", c.name, c.r.Err, is)
			}
		}
	}
}

func TestErrorIsNullInJSONOnlyWithComplete(t *testing.T) {
	for s := Unknown; s <= Cancelled; s++ {
		raw, err := json.Marshal(&Result{Status: s, PID: 1})
		if err != nil {
			t.Fatal(err)
		}
		if isNull := strings.Contains(string(raw), `"error":null`); isNull != (s == Complete) {
			t.Errorf("%v: %s", s, raw)
		}
	}
}

func TestWordsSurviveJSON(t *testing.T) {
	for s := Unknown; s <= Cancelled; s++ {
		var back Status
		if raw, _ := json.Marshal(s); json.Unmarshal(raw, &back) != nil || back != s {
			t.Errorf("status %v came back as %v", s, back)
		}
	}
	for e := EndUnknown; e <= EndBroken; e++ {
		var back End
		if raw, _ := json.Marshal(e); json.Unmarshal(raw, &back) != nil || back != e {
			t.Errorf("end %v came back as %v", e, back)
		}
	}
	var s Status
	if err := json.Unmarshal([]byte(`"done"`), &s); err == nil {
		t.Error("a word nobody knows was taken for a status")
	}
}

func TestErrorsNameTheErrno(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&StartError{"open a terminal pair", unix.EMFILE}, "did not start: too many open files (EMFILE) while trying to open a terminal pair"},
		{&LostError{"output", Uncounted, 4096, fmt.Errorf("read the pipe: %w", unix.EIO)}, "output lost: an uncounted number of bytes missing after 4,096 bytes: read the pipe: input/output error (EIO)"},
		{&DetachedError{"output", []Process{{4711, "node"}, {4712, ""}}}, `output detached: the command ended, pid 4711 "node", pid 4712 still hold it`},
		{&ExitError{Signal: unix.SIGKILL}, "killed by SIGKILL"},
		{&TimeoutError{2 * time.Second}, "timed out after 2.00s"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}

func TestSentencesForPeople(t *testing.T) {
	for _, c := range []struct {
		c    Capture
		want string
	}{
		{Capture{End: EndEOF}, "0 bytes, end seen"},
		{Capture{Read: 108894, Shown: 108894, End: EndHangup}, "output complete (108,894 bytes)"},
		{Capture{Read: 4096, Shown: 4096, End: EndBroken, Lost: Uncounted, Cause: unix.EIO}, "lost: the reader failed after 4,096 bytes (input/output error (EIO) before the end)"},
		{Capture{Read: 9, Shown: 9, End: EndStopped, Holders: []Process{{4711, "node"}}}, `detached: the command ended, pid 4711 "node" still holds its output`},
		{Capture{Read: 2 << 20, Shown: 20 << 10, End: EndEOF, Spill: "/s/0193f2.log"}, "truncated here: 20.0 KB of 2.0 MB shown, all of it in /s/0193f2.log"},
		{Capture{Read: 3}, "unknown: the end of the output was not seen (3 bytes read)"},
	} {
		if got := c.c.Sentence(); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}

func TestNumbersForPeople(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 108894: "108,894", -1234567: "-1,234,567"} {
		if got := Count(n); got != want {
			t.Errorf("Count(%d) = %q", n, got)
		}
	}
	for n, want := range map[int64]string{812: "812 B", 5018: "4.9 KB", 1048570: "1.0 MB", 1 << 40: "1.0 TB"} {
		if got := Size(n); got != want {
			t.Errorf("Size(%d) = %q, want %q", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		420 * time.Millisecond: "0.42s", 12100 * time.Millisecond: "12.1s", 184 * time.Second: "3m04s",
		125 * time.Minute: "2h05m", 9999 * time.Millisecond: "10.0s", 59960 * time.Millisecond: "1m00s",
	} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%v) = %q, want %q", d, got, want)
		}
	}
}
