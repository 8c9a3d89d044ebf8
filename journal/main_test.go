package journal

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/honestty/honestty/outcome"
)

// asWriter makes the test binary a writer: FOLDER NAME COUNT SIZE MAXFILE. It
// writes so many calls, or for ever when COUNT is 0.
const asWriter = "HONESTTY_TEST_WRITER"

func TestMain(m *testing.M) {
	if spec := os.Getenv(asWriter); spec != "" {
		if err := beWriter(strings.Fields(spec)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func beWriter(spec []string) error {
	var n [3]int
	for i := range n {
		var err error
		if n[i], err = strconv.Atoi(spec[2+i]); err != nil {
			return err
		}
	}
	count, size, maxFile := n[0], n[1], n[2]
	j, err := Open(spec[0], Options{MaxFile: int64(maxFile)})
	if err != nil {
		return err
	}
	args, err := json.Marshal(strings.Repeat("x", size))
	if err != nil {
		return err
	}
	for i := 1; count == 0 || i <= count; i++ {
		id := fmt.Sprintf("%s-%d", spec[1], i)
		j.Begin(Start{Call: id, Tool: "terminal", Title: id, Args: args, Source: Source{Kind: "cli"}})
		if count == 0 {
			continue
		}
		j.End(End{Call: id, Status: outcome.Complete, Result: json.RawMessage(`{}`)})
	}
	if err := j.Trouble(); err != nil {
		return err
	}
	return j.Close()
}

func child(t testing.TB, dir, name string, count, size, maxFile int) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %d %d %d", asWriter, dir, name, count, size, maxFile))
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

func open(t testing.TB, dir string, o Options) *Journal {
	t.Helper()
	j, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func begin(id string) Start {
	return Start{Call: id, Tool: "terminal", Title: "echo " + id, Args: json.RawMessage(`{"command":"echo"}`), Source: Source{Kind: "cli", Dir: "/home"}}
}

func end(id string, s outcome.Status) End {
	return End{Call: id, Status: s, Summary: "done " + id, Result: json.RawMessage(`{"output":"x"}`)}
}

func read(t testing.TB, dir string) []Event {
	t.Helper()
	var out []Event
	for e, err := range Read(dir) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

// wantWhole fails unless the events are numbered from 1 on without a gap.
func wantWhole(t testing.TB, events []Event) {
	t.Helper()
	for i, e := range events {
		if e.Seq != int64(i)+1 || e.Gap != nil {
			t.Fatalf("event %d has number %d, gap %+v", i+1, e.Seq, e.Gap)
		}
	}
}

func trouble(t *testing.T, j *Journal) {
	t.Helper()
	if err := j.Trouble(); err != nil {
		t.Fatalf("trouble: %v", err)
	}
}

// lines returns the lines of the current file.
func lines(t *testing.T, dir string) []string {
	t.Helper()
	f, err := os.Open(dir + "/" + currentName)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []string
	s := bufio.NewScanner(f)
	s.Buffer(nil, 8<<20)
	for s.Scan() {
		out = append(out, s.Text())
	}
	return out
}

// brief is events in a few words, for comparing.
func brief(events []Event) string {
	var b strings.Builder
	for _, e := range events {
		switch {
		case e.Start != nil:
			fmt.Fprintf(&b, "%d+%s ", e.Seq, e.Start.Call)
		case e.End != nil:
			fmt.Fprintf(&b, "%d-%s ", e.Seq, e.End.Call)
		case e.Progress != nil:
			fmt.Fprintf(&b, "%d~%s ", e.Seq, e.Progress.Call)
		default:
			fmt.Fprintf(&b, "%d?%d ", e.Seq, e.Gap.Events)
			if e.Gap.Torn {
				b.WriteString("torn ")
			}
		}
	}
	return strings.TrimSpace(b.String())
}
