package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// program runs the test binary as honestty, with testscript's own way of
// choosing the command: the name it is called by.
func program(t *testing.T) string {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir()) // its journal is not the user's
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := t.TempDir() + "/honestty"
	if err := os.Symlink(exe, link); err != nil {
		t.Fatal(err)
	}
	return link
}

// result is the part of the JSON of run that these tests read.
type result struct {
	Output   string  `json:"output"`
	ExitCode *int    `json:"exit_code"`
	Error    *string `json:"error"`
	Status   string  `json:"status"`
	Capture  struct {
		State string `json:"state"`
		Read  int64  `json:"bytes_read"`
		End   string `json:"end"`
	} `json:"capture"`
}

// TestRunUnderEveryDescriptorLimit starts run with room for 4, 5, 6 …
// descriptors: it succeeds whole, or says EMFILE in one line or in the JSON.
// It never dies of it and never claims an empty success.
func TestRunUnderEveryDescriptorLimit(t *testing.T) {
	exe := program(t)
	var refused, notStarted, complete int
	for limit := 4; limit <= 40; limit++ {
		cmd := exec.Command("/bin/sh", "-c", fmt.Sprintf(`ulimit -n %d; exec "$0" run --json -- /bin/echo hello`, limit), exe)
		var stdout, stderr strings.Builder
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		if strings.Contains(stderr.String(), "goroutine") {
			t.Fatalf("limit %d: crashed:\n%s", limit, stderr.String())
		}
		if stdout.Len() == 0 {
			if ee, ok := errors.AsType[*exec.ExitError](err); !ok || ee.ExitCode() != exitNotComplete || !strings.Contains(stderr.String(), "EMFILE") {
				t.Errorf("limit %d: %v, stderr %q", limit, err, stderr.String())
			}
			refused++
			continue
		}
		var r result
		if err := json.Unmarshal([]byte(stdout.String()), &r); err != nil {
			t.Fatalf("limit %d: %v in %q", limit, err, stdout.String())
		}
		switch r.Status {
		case "complete":
			if r.Output != "hello\n" || r.Capture.End != "eof" || err != nil {
				t.Errorf("limit %d: %s", limit, stdout.String())
			}
			complete++
		case "failed":
			if r.Capture.State != "not started" || r.Error == nil || !strings.Contains(*r.Error, "EMFILE") || r.ExitCode != nil || err == nil {
				t.Errorf("limit %d: %s", limit, stdout.String())
			}
			notStarted++
		default:
			t.Errorf("limit %d: %s", limit, stdout.String())
		}
	}
	t.Logf("no room for ourselves %d, not started %d, complete %d", refused, notStarted, complete)
	if refused == 0 || notStarted == 0 || complete == 0 {
		t.Errorf("the limits do not meet every step: %d, %d, %d", refused, notStarted, complete)
	}
}

// TestRunUnderAParentThatLeaks holds descriptors that run inherits.
func TestRunUnderAParentThatLeaks(t *testing.T) {
	exe := program(t)
	for _, leak := range []int{1100, 10_000} {
		var lim unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &lim); err != nil {
			t.Fatal(err)
		}
		if lim.Cur < uint64(leak)+100 {
			t.Logf("skipped: this machine allows %d descriptors, not %d", lim.Cur, leak)
			continue
		}
		var held []int
		for range leak {
			fd, err := unix.Open("/dev/null", unix.O_RDONLY, 0) // not close-on-exec
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, fd)
		}
		out, err := exec.Command(exe, "run", "--json", "--", "sh", "-c", "cd /proc/self/fd && echo * && seq 1 20000").Output()
		for _, fd := range held {
			_ = unix.Close(fd)
		}
		var r result
		if err := errors.Join(err, json.Unmarshal(out, &r)); err != nil {
			t.Fatalf("%d leaked: %v", leak, err)
		}
		first, rest, _ := strings.Cut(r.Output, "\n")
		if first != "0 1 2 3" { // 3 is the shell listing the folder
			t.Errorf("%d leaked: the child holds %q", leak, first)
		}
		if r.Capture.State != "complete" || !strings.HasSuffix(rest, "\n20000\n") {
			t.Errorf("%d leaked: %+v", leak, r.Capture)
		}
	}
}
