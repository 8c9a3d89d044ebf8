package process

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/internal/proc"
)

// helperEnv makes the test binary play another process.
const helperEnv = "HONESTTY_TEST_PROCESS"

// TestMain keeps descriptors that the test runner leaks from the children, as
// the program does at its start.
func TestMain(m *testing.M) {
	if err := proc.SealInherited(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if role := os.Getenv(helperEnv); role != "" {
		os.Unsetenv(helperEnv)
		if err := roles[role](); err != nil {
			fmt.Println("FAIL", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func newPoller(t testing.TB) *fdwait.Poller {
	t.Helper()
	p, err := fdwait.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if n := p.Waiters(); n != 0 {
			t.Errorf("%d waiters left", n)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// open makes a table that is closed at the end of the test.
func open(t testing.TB, o Options) *Table {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if o.Poller == nil {
		o.Poller = newPoller(t)
	}
	if o.KillGrace == 0 {
		o.KillGrace = 200 * time.Millisecond
	}
	table, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	})
	return table
}

func sh(script string) []string { return []string{"/bin/sh", "-c", script} }

func start(t testing.TB, table *Table, s Spec) *Job {
	t.Helper()
	j, err := table.Start(s)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// ended waits for the end of a job.
func ended(t testing.TB, j *Job) Info {
	t.Helper()
	<-j.Done()
	return j.Info()
}

// all follows a job from an offset on to its end, as a panel does.
func all(t testing.TB, j *Job) string {
	t.Helper()
	var b bytes.Buffer
	buf := make([]byte, 8<<10)
	for {
		changed := j.Changed()
		n, err := j.Read(int64(b.Len()), buf)
		b.Write(buf[:n])
		switch {
		case errors.Is(err, io.EOF):
			return b.String()
		case err != nil:
			t.Fatalf("read at %d: %v", b.Len(), err)
		case n == 0:
			<-changed
		}
	}
}

// awaitOutput waits until the output contains a text.
func awaitOutput(t testing.TB, j *Job, text string) string {
	t.Helper()
	for {
		changed := j.Changed()
		over := closed(j.done)
		p, err := j.Tail(tailSize)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(p.Bytes), text) {
			return string(p.Bytes)
		}
		if over {
			t.Fatalf("it ended without %q: %q, %+v", text, p.Bytes, j.Info())
		}
		<-changed
	}
}
