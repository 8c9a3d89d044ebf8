package session

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/honestty/honestty/vt"
)

// prompts is an engine in which n commands have ended, each with its own time.
func prompts(n, scrollback int) (*vt.Terminal, *timings) {
	t, x := vt.New(40, 10, vt.Options{Scrollback: scrollback}), &timings{}
	for i := range n {
		for _, part := range []string{
			"\x1b]133;A\a$ \x1b]133;B\a" + strings.Repeat("x", i%90) + "\r\n\x1b]133;C\a",
			fmt.Sprintf("%s\r\n\x1b]133;D;%d\a", strings.Repeat("output ", i%20), i),
		} {
			t.Write([]byte(part))
			kind, _, _ := strings.Cut(part[strings.LastIndex(part, "133;")+4:], "\a")
			kind, _, _ = strings.Cut(kind, ";")
			x.mark(kind, t)
		}
		x.done[len(x.done)-1].Took = 1000 + time.Duration(i)
	}
	return t, x
}

// TestTimesStayWithTheirCommandsWhenTheWidthChanges compares each time with the
// exit code in the same line, which goes with the row.
func TestTimesStayWithTheirCommandsWhenTheWidthChanges(t *testing.T) {
	term, x := prompts(50, 10_000)
	for _, cols := range []int{40, 17, 90, 3, 40} {
		x.around(term, func() { term.Resize(cols, 10) })
		if len(x.done) != 50 {
			t.Fatalf("%d columns: %d times", cols, len(x.done))
		}
		cut, _ := term.HistoryCut()
		for i, d := range x.done {
			at := int(d.Line - cut)
			m := term.LineMark(vt.Row(at - term.HistoryLen()))
			if at < term.HistoryLen() {
				m = term.HistoryMark(at)
			}
			if !m.End || m.Exit != i || d.Took != 1000+time.Duration(i) {
				t.Fatalf("%d columns: time %d is of the line of %+v", cols, i, m)
			}
		}
	}
}

func TestTimesBehindAnotherScreenAreForgottenAndNotGuessed(t *testing.T) {
	term, x := prompts(5, 100)
	term.Write([]byte("\x1b[?1049h"))
	x.around(term, func() { term.Resize(20, 10) })
	term.Write([]byte("\x1b[?1049l"))
	if len(x.done) != 0 {
		t.Errorf("%+v", x.done)
	}
}

func TestTimesOfLinesThatWereCutAreForgotten(t *testing.T) {
	term, x := prompts(50, 1000)
	x.around(term, func() { term.Resize(2, 4) }) // 50 commands are more than 1,000 lines of 2 columns
	if n := len(x.done); n == 0 || n >= 50 || x.done[n-1].Took != 1000+49 {
		t.Errorf("%d times are left", n)
	}
}
