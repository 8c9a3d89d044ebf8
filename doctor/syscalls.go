package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// A wait is what a thread waits in, as far as the kernel shows it.
type wait uint8

const (
	waitOther  wait = iota // another system call, or running
	waitSelect             // select or pselect6
	waitPoll               // poll or ppoll: no limit by number
	waitEpoll              // epoll_wait and its kin
	waitEither             // select or poll: only the kernel's own function is shown
	numWaits
)

var waitWords = [...]string{
	waitOther: "elsewhere", waitSelect: "in select", waitPoll: "in poll", waitEpoll: "in epoll", waitEither: "in select or poll",
}

// waitNumbers are the system calls that wait, by architecture. See the
// kernel's syscall tables; arm64 has only the newer ones.
var waitNumbers = map[string]map[int]wait{
	"amd64": {23: waitSelect, 270: waitSelect, 7: waitPoll, 271: waitPoll, 232: waitEpoll, 281: waitEpoll, 441: waitEpoll},
	"arm64": {72: waitSelect, 73: waitPoll, 22: waitEpoll, 441: waitEpoll},
}

// Calls are what the threads of a process were in at one moment.
type calls struct {
	total  int
	in     [numWaits]int
	unread int // threads the kernel did not show
	widest int // most descriptors that a select asked for, its first argument
}

func (c calls) String() string {
	var words []string
	for w, n := range c.in {
		if n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, waitWords[w]))
		}
	}
	if c.unread > 0 {
		words = append(words, fmt.Sprintf("%d not shown", c.unread))
	}
	if c.widest > 0 {
		words = append(words, fmt.Sprintf("select asks for numbers below %d", c.widest))
	}
	if len(words) == 0 {
		return "not shown"
	}
	return strings.Join(words, ", ")
}

// threadCalls looks at every thread of a process: first at the system call it
// is in, which only its tracer may see, then at the kernel function it sleeps
// in.
func threadCalls(proc string, pid int) calls {
	var c calls
	folder := filepath.Join(proc, strconv.Itoa(pid), "task")
	threads, err := os.ReadDir(folder)
	if err != nil {
		return c
	}
	for _, t := range threads {
		text, err := os.ReadFile(filepath.Join(folder, t.Name(), "syscall"))
		if errors.Is(err, fs.ErrNotExist) && !exists(filepath.Join(folder, t.Name())) {
			continue // the thread has ended
		}
		c.total++
		if err == nil {
			w, asked, ok := parseSyscall(string(text), runtime.GOARCH)
			if ok {
				c.in[w]++
				c.widest = max(c.widest, asked)
				continue
			}
		}
		text, err = os.ReadFile(filepath.Join(folder, t.Name(), "wchan"))
		if w, ok := parseWchan(string(text)); err == nil && ok {
			c.in[w]++
			continue
		}
		c.unread++
	}
	return c
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// parseSyscall reads /proc/PID/task/TID/syscall: "running", or the number of
// the call and its arguments. It is not ok for a call of another architecture.
func parseSyscall(text, arch string) (w wait, asked int, ok bool) {
	words := strings.Fields(text)
	numbers, known := waitNumbers[arch]
	if len(words) == 0 || !known {
		return waitOther, 0, false
	}
	if words[0] == "running" {
		return waitOther, 0, true
	}
	number, err := strconv.Atoi(words[0])
	if err != nil {
		return waitOther, 0, false
	}
	w = numbers[number]
	if w == waitSelect && len(words) > 1 {
		if n, err := strconv.ParseUint(strings.TrimPrefix(words[1], "0x"), 16, 31); err == nil {
			asked = int(n)
		}
	}
	return w, asked, true
}

// parseWchan reads the kernel function a thread sleeps in. "0" means that it
// is not shown, or that it does not sleep.
func parseWchan(text string) (wait, bool) {
	text = strings.TrimSpace(text)
	switch {
	case text == "" || text == "0":
		return waitOther, false
	case strings.HasPrefix(text, "poll_schedule_timeout"), strings.HasPrefix(text, "do_select"):
		return waitEither, true
	case strings.HasPrefix(text, "ep_poll"), strings.HasPrefix(text, "do_epoll_wait"):
		return waitEpoll, true
	}
	return waitOther, true
}
