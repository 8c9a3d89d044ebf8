// Package leak tells a test what it left behind: descriptors, goroutines,
// child processes.
//
//	before := leak.Take(t)
//	…
//	before.Check(t)   what is there now and was not, with its stack or target
//
// Things that end on their own time (a goroutine on its last instruction) are
// given until the deadline; what is still there then is a leak.
package leak

import (
	"fmt"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"
)

// patience is how long Check lets things go by themselves.
const patience = 5 * time.Second

// A Snapshot is what a process held at one moment.
type Snapshot struct {
	fds        map[int]string
	goroutines int
	stacks     string
}

// Take records what is held now.
func Take(t testing.TB) Snapshot {
	t.Helper()
	fds, err := descriptors()
	if err != nil {
		t.Fatalf("list descriptors: %v", err)
	}
	return Snapshot{fds: fds, goroutines: runtime.NumGoroutine(), stacks: stacks()}
}

// Check fails the test when something is held now that was not held then.
func (s Snapshot) Check(t testing.TB) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		problem := s.compare(t)
		if problem == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("left behind: %s", problem)
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (s Snapshot) compare(t testing.TB) string {
	t.Helper()
	now, err := descriptors()
	if err != nil {
		t.Fatalf("list descriptors: %v", err)
	}
	var more []string
	for fd, target := range now {
		if _, ok := s.fds[fd]; !ok {
			more = append(more, fmt.Sprintf("descriptor %d (%s)", fd, target))
		}
	}
	// The runtime opens descriptors for its own poller once, in its own time.
	if len(now) <= len(s.fds) {
		more = nil
	}
	sort.Strings(more)
	if n := runtime.NumGoroutine(); n > s.goroutines {
		more = append(more, fmt.Sprintf("%d goroutines more\n%s", n-s.goroutines, stacks()))
	}
	return strings.Join(more, "\n")
}

func stacks() string {
	buf := make([]byte, 1<<20)
	return string(buf[:runtime.Stack(buf, true)])
}

// Descriptors is how many descriptors this process holds.
func Descriptors(t testing.TB) int {
	t.Helper()
	fds, err := descriptors()
	if err != nil {
		t.Fatalf("list descriptors: %v", err)
	}
	return len(fds)
}

func descriptors() (map[int]string, error) {
	const dir = "/dev/fd" // a link to /proc/self/fd on Linux, a file system on macOS
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	fds := make(map[int]string, len(names))
	for _, n := range names {
		fd, err := strconv.Atoi(n)
		if err != nil || fd == int(f.Fd()) {
			continue
		}
		target, err := os.Readlink(dir + "/" + n)
		if err != nil {
			target = "?"
		}
		if strings.Contains(target, "eventpoll") || strings.Contains(target, "eventfd") {
			target += " perhaps the runtime's"
		}
		fds[fd] = target
	}
	return fds, nil
}
