package fdmeter

import (
	"errors"
	"strings"
	"testing"
)

func TestOpenMetricsLeavesOutWhatIsNotKnown(t *testing.T) {
	r := Report{Processes: []Reading{
		{PID: 9, Name: "a\"b\\c\nd\x1b\xff", Count: Known(12), Highest: Unknown(Denied), Soft: Known(1024), Hard: Unknown(Unlimited)},
		{PID: 4, Name: "node", Count: Known(0), Highest: Known(-1), Soft: Known(1), Hard: Known(2), Types: &Breakdown{
			Listed: Known(3), Counts: map[Kind]int{KindPipe: 2, KindFile: 1},
		}},
		{PID: 9, Name: "again"},
	}, System: System{Files: Known(5), FilesMax: Unknown(Unlimited), PTYs: Unknown(Unsupported)}}
	var b strings.Builder
	if err := WriteOpenMetrics(&b, r); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	const name = `name="a\"b\\c\nd` + "\uFFFD\uFFFD" + `"`
	for _, line := range []string{
		`honestty_process_open_fds{pid="9",` + name + `} 12`,
		`honestty_process_open_fds{pid="4",name="node"} 0`,
		`honestty_process_hard_limit_fds{pid="9",` + name + `} +Inf`,
		`honestty_process_fds{pid="4",name="node",type="file"} 1`,
		`honestty_process_unknown{pid="9",` + name + `,figure="highest",reason="not permitted"} 1`,
		`# TYPE honestty_system_files gauge`,
		`honestty_system_files 5`,
		`honestty_system_files_max +Inf`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("%s is missing in\n%s", line, text)
		}
	}
	if strings.Contains(text, "again") || strings.Contains(text, `highest_fd{pid="9"`) || strings.Contains(text, "\nhonestty_system_ptys ") {
		t.Errorf("it claims what it does not know, or says a process twice:\n%s", text)
	}
	if !strings.HasSuffix(text, "\n# EOF\n") || strings.Count(text, "# EOF") != 1 {
		t.Errorf("it ends in %q", text[max(0, len(text)-20):])
	}
}

// brokenPipe refuses every write.
type brokenPipe struct{}

var errPipe = errors.New("pipe is broken")

func (brokenPipe) Write([]byte) (int, error) { return 0, errPipe }

func TestMetricsThatCouldNotBeWrittenAreAnError(t *testing.T) {
	if err := WriteOpenMetrics(brokenPipe{}, Report{}); !errors.Is(err, errPipe) {
		t.Errorf("error %v", err)
	}
	if err := (Record{}).Write(brokenPipe{}); !errors.Is(err, errPipe) {
		t.Errorf("record: error %v", err)
	}
}

func TestAlertsNameEachProcessOnceTheMostUrgentFirst(t *testing.T) {
	readings := []Reading{
		{PID: 1, Name: "calm", Count: Known(10), Highest: Known(9), Soft: Known(1024)},
		{PID: 2, Name: "past", Count: Known(2000), Highest: Known(1999), Soft: Known(1 << 20)},
		{PID: 3, Name: "dying", Count: Known(250), Highest: Known(249), Soft: Known(256)},
		{PID: 4, Count: Unknown(Denied), Highest: Unknown(Denied)},
		{PID: 5, Count: Known(900), Highest: Known(899), Soft: Known(1 << 20)},
	}
	s := System{PTYs: Known(480), PTYsMax: Known(511), PTYsReserve: Unknown(Unsupported)}
	var words []string
	for _, a := range Alerts(readings, s, AlertRatio) {
		words = append(words, a.Words())
	}
	want := []string{
		"dying (3) uses 250 of 256 descriptors of its soft limit (98 %)",
		"this machine uses 480 of 511 pseudo-terminals (94 %)",
		"process 5 uses 900 of 1024 descriptor numbers that select() can take (88 %)",
		"past (2) holds a descriptor numbered 1999; select() takes none from 1024 on",
	}
	if strings.Join(words, "\n") != strings.Join(want, "\n") {
		t.Errorf("alerts\n%s\nwant\n%s", strings.Join(words, "\n"), strings.Join(want, "\n"))
	}
	if n := len(Alerts(readings, s, 0.99)); n != 1 { // only the one that is past its line
		t.Errorf("%d alerts at 99 %%, want 1", n)
	}
}
