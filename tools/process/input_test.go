package process

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/outcome"
)

func TestInputThatIsNotReadIsBoundedAndRefusedWithACount(t *testing.T) {
	table := open(t, Options{})
	for _, pty := range []bool{false, true} {
		j := start(t, table, Spec{Command: sh("echo up; exec sleep 100"), PTY: pty})
		awaitOutput(t, j, "up")
		p := bytes.Repeat([]byte("line\n"), 1<<19)
		n, err := j.Write(p)
		full, ok := errors.AsType[*InputFullError](err)
		if !ok || full.Taken != n || full.Refused != len(p)-n || n < inputLimit {
			t.Errorf("pty %v: %d, %v", pty, n, err)
		}
		if in := j.Info().Input; in.Refused != int64(len(p)-n) || in.Waiting == 0 || !in.Open {
			t.Errorf("pty %v: %+v", pty, in)
		}
		if _, err := j.Kill(t.Context(), 0); err != nil {
			t.Error(err)
		}
		if in := j.Info().Input; in.Open || in.Refused <= int64(len(p)-n) {
			t.Errorf("pty %v: what waited at the end is not counted: %+v", pty, in)
		}
	}
}

func TestLargeInputArrivesWholeAndInOrder(t *testing.T) {
	table := open(t, Options{})
	j := start(t, table, Spec{Command: sh("read go; cat")})
	var want bytes.Buffer
	for i := range 60_000 {
		fmt.Fprintf(&want, "%d\n", i)
	}
	if n, err := j.Write([]byte("go\n")); n != 3 || err != nil {
		t.Fatal(n, err)
	}
	if n, err := j.Write(want.Bytes()); n != want.Len() || err != nil {
		t.Fatal(n, err)
	}
	if err := j.CloseStdin(); err != nil {
		t.Fatal(err)
	}
	if got := all(t, j); got != want.String() {
		t.Errorf("%d bytes of %d", len(got), want.Len())
	}
	if i := ended(t, j); i.Input.Taken != int64(3+want.Len()) || i.Input.Refused != 0 {
		t.Errorf("%+v", i.Input)
	}
}

func TestWritersDoNotMixWithinALine(t *testing.T) {
	table := open(t, Options{})
	j := start(t, table, Spec{Command: []string{"cat"}})
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for range 50 {
				if _, err := j.Submit(strings.Repeat(string(rune('a'+w)), 999)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := j.CloseStdin(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(all(t, j), "\n"), "\n")
	if len(lines) != 400 {
		t.Errorf("%d lines", len(lines))
	}
	for _, l := range lines {
		if l != strings.Repeat(l[:1], 999) {
			t.Fatalf("mixed: %.40q", l)
		}
	}
}

func TestClosedInputIsOneClearError(t *testing.T) {
	table := open(t, Options{})
	j := start(t, table, Spec{Command: sh("cat; echo over; read x <&-; exec sleep 100")})
	if err := j.CloseStdin(); err != nil {
		t.Fatal(err)
	}
	awaitOutput(t, j, "over")
	for range 2 {
		if n, err := j.Write([]byte("x")); n != 0 || !errors.Is(err, ErrStdinClosed) {
			t.Errorf("%d, %v", n, err)
		}
		if err := j.CloseStdin(); !errors.Is(err, ErrStdinClosed) {
			t.Errorf("close again: %v", err)
		}
	}
	// A process that closed its own end.
	j = start(t, table, Spec{Command: sh("exec <&-; echo closed; exec sleep 100")})
	awaitOutput(t, j, "closed")
	if n, err := j.Write([]byte("x")); n != 0 || !errors.Is(err, errProcessClosed) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%d, %v", n, err)
	}
	if in := j.Info().Input; in.Open || in.Taken != 0 || in.Refused != 1 {
		t.Errorf("%+v", in)
	}
	// One that has ended.
	for _, pty := range []bool{false, true} {
		j = start(t, table, Spec{Command: []string{"true"}, PTY: pty})
		ended(t, j)
		if _, err := j.Write([]byte("x")); !errors.Is(err, ErrStdinClosed) {
			t.Errorf("pty %v: %v", pty, err)
		}
	}
	if _, err := j.Resize(j.Info().Size); !errors.Is(err, ErrStdinClosed) {
		t.Errorf("resize of an ended terminal: %v", err)
	}
}

// TestInputThatWaitsWhenTheProcessClosesIsCounted fills the pipe and has the
// process close it then.
func TestInputThatWaitsWhenTheProcessClosesIsCounted(t *testing.T) {
	table := open(t, Options{})
	j := start(t, table, Spec{Command: sh("trap 'exec <&-; echo closed' USR1; echo up; while :; do sleep 0.05; done")})
	awaitOutput(t, j, "up")
	p := make([]byte, 300<<10)
	if n, err := j.Write(p); n != len(p) || err != nil {
		t.Fatal(n, err)
	}
	if err := unix.Kill(j.Info().PID, unix.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	awaitOutput(t, j, "closed")
	b, _ := j.body.(*pipes)
	<-b.in.done // the carrier is told by the pipe
	if in := j.Info().Input; in.Refused == 0 || in.Taken+in.Refused != int64(len(p)) || in.Waiting != 0 || !errors.Is(in.Why, ErrStdinClosed) {
		t.Errorf("%+v", in)
	}
}

func TestResizeOfAJobWithPipesIsAnError(t *testing.T) {
	table := open(t, Options{})
	j := start(t, table, Spec{Command: []string{"cat"}})
	if _, err := j.Resize(j.Info().Size); !errors.Is(err, ErrNoTerminal) || errors.Is(err, outcome.ErrRefused) {
		t.Errorf("%v", err)
	}
}
