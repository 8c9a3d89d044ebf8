package fdmeter

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Detail is what the kernel says of one descriptor beyond its target. The
// zero Detail claims nothing: an unknown Value was not said, and a nil slice
// may mean that nobody could look.
type Detail struct {
	// Cause says why there is no detail; it means nothing when Flags is known.
	Cause Cause `json:"-"`
	Flags Value `json:"flags"` // open flags as fcntl(F_GETFL) has them, close-on-exec left out
	Pos   Value `json:"pos"`   // file position
	// Inode is that of the target; 0 when it was not said. Sockets and pipes
	// have one each for the whole machine.
	Inode uint64 `json:"inode,omitempty"`
	Mount int    `json:"mount,omitempty"` // mount id; 0 when not said

	Slave   string `json:"slave,omitempty"`   // of a PTY master: "/dev/pts/7"
	Watches []int  `json:"watches,omitempty"` // of an epoll: the descriptors it watches, by number
	Files   Value  `json:"files"`             // of an inotify: how many files it watches
	Process Value  `json:"process"`           // of a pidfd: the pid; -1 when that process has ended
	Counter Value  `json:"counter"`           // of an eventfd
	Timer   *Timer `json:"timer,omitempty"`   // of a timerfd
	Size    Value  `json:"size"`              // bytes that a deleted file or a memfd keeps
}

// A Timer is how a timerfd is set. Left is 0 when it is not armed.
type Timer struct {
	Left     time.Duration `json:"left"`
	Interval time.Duration `json:"interval"`
}

// Known reports whether the kernel was asked and answered.
func (d Detail) Known() bool { return d.Flags.Known() }

// maxWatches bounds how many descriptors of one epoll are kept.
const maxWatches = 4096

// parseDetail reads /proc/PID/fdinfo/FD, see proc_pid_fdinfo(5). Lines that it
// does not know are left out: the kernel adds some with each release.
func parseDetail(text []byte) (d Detail, closeOnExec bool, err error) {
	files := int64(0)
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("inotify ")) {
			files++
			continue
		}
		name, value, found := bytes.Cut(line, []byte(":"))
		if !found {
			continue
		}
		value = bytes.TrimSpace(value)
		switch string(bytes.TrimSpace(name)) {
		case "pos":
			d.Pos = decimal(value)
		case "flags":
			flags, err := strconv.ParseUint(string(value), 8, 64)
			if err != nil {
				return Detail{}, false, fmt.Errorf("parse fdinfo: flags: %w", errFormat)
			}
			d.Flags, closeOnExec = Known(int64(flags&^flagCloseOnExec)), flags&flagCloseOnExec != 0
		case "ino":
			d.Inode, _ = strconv.ParseUint(string(value), 10, 64)
		case "mnt_id":
			d.Mount, _ = strconv.Atoi(string(value))
		case "tty-index":
			if n := decimal(value); n.Known() {
				d.Slave = "/dev/pts/" + n.String()
			}
		case "tfd":
			if n, ok := number(bytes.TrimSpace(firstWord(value))); ok && len(d.Watches) < maxWatches {
				d.Watches = append(d.Watches, n)
			}
		case "Pid":
			d.Process = decimal(value)
		case "eventfd-count":
			d.Counter = hexadecimal(value)
		case "it_value":
			d.timer().Left = seconds(value)
		case "it_interval":
			d.timer().Interval = seconds(value)
		}
	}
	if !d.Flags.Known() {
		return Detail{}, false, fmt.Errorf("parse fdinfo: no flags: %w", errFormat)
	}
	d.Files = Known(files) // kept by an inotify only, see describe
	slices.Sort(d.Watches)
	return d, closeOnExec, nil
}

// flagCloseOnExec is O_CLOEXEC as fdinfo writes it on every Linux architecture
// that Go runs on.
const flagCloseOnExec = 0o2000000

func (d *Detail) timer() *Timer {
	if d.Timer == nil {
		d.Timer = &Timer{}
	}
	return d.Timer
}

func firstWord(text []byte) []byte {
	word, _, _ := bytes.Cut(text, []byte(" "))
	return word
}

func decimal(text []byte) Value {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return Unknown(Broken)
	}
	return Known(n)
}

// hexadecimal reads the counter of an eventfd. One above the highest int64 is
// not known rather than wrong.
func hexadecimal(text []byte) Value {
	n, err := strconv.ParseInt(string(text), 16, 64)
	if err != nil {
		return Unknown(Broken)
	}
	return Known(n)
}

// seconds reads "(59, 995958419)": seconds and nanoseconds.
func seconds(text []byte) time.Duration {
	whole, nanos, found := strings.Cut(strings.Trim(string(text), "() "), ",")
	s, err := strconv.ParseInt(whole, 10, 64)
	n, errNanos := strconv.ParseInt(strings.TrimSpace(nanos), 10, 64)
	if !found || err != nil || errNanos != nil || s > int64(maxTimer/time.Second) {
		return 0
	}
	return time.Duration(s)*time.Second + time.Duration(n)
}

// maxTimer keeps a timer set to the end of time within a Duration.
const maxTimer = 100 * 365 * 24 * time.Hour

// Words says in a few words what the descriptor is about, and "" when there is
// nothing to add to its target.
func (fd FD) Words() string {
	d := fd.Detail
	switch {
	case fd.Socket != nil:
		return fd.Socket.Words()
	case fd.Kind == KindSocket && fd.SocketCause != NotRead:
		return "peer not known: " + fd.SocketCause.String()
	case d.Slave != "":
		return "terminal " + d.Slave
	case fd.Kind == KindEpoll && d.Known():
		return "watches " + counted(len(d.Watches), "descriptor")
	case fd.Kind == KindInotify && d.Files.Known():
		return "watches " + counted(int(d.Files.n), "file")
	case fd.Kind == KindPidfd && d.Process.Known():
		if d.Process.n < 0 {
			return "process that has ended"
		}
		return "process " + d.Process.String()
	case fd.Kind == KindEventfd && d.Counter.Known():
		return "counter " + d.Counter.String()
	case d.Timer != nil && d.Timer.Left > 0:
		return "fires in " + d.Timer.Left.Round(time.Second).String()
	case d.Timer != nil:
		return "not armed"
	}
	return ""
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
