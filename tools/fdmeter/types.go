package fdmeter

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Kind is what sort of thing a descriptor is open on. Its text is its name
// in JSON.
type Kind string

const (
	KindSocket     Kind = "socket"
	KindPipe       Kind = "pipe"
	KindPTY        Kind = "pty"
	KindFile       Kind = "file"
	KindDir        Kind = "dir"
	KindEpoll      Kind = "epoll"
	KindEventfd    Kind = "eventfd"
	KindTimerfd    Kind = "timerfd"
	KindSignalfd   Kind = "signalfd"
	KindInotify    Kind = "inotify"
	KindPidfd      Kind = "pidfd"
	KindMemfd      Kind = "memfd"
	KindKqueue     Kind = "kqueue" // macOS
	KindDevice     Kind = "device"
	KindOther      Kind = "other"      // readable, and none of the above
	KindUnreadable Kind = "unreadable" // it exists, and what it is may not be seen
)

// Maybe is yes, no, or not known, which is the zero value.
type Maybe uint8

const (
	MaybeUnknown Maybe = iota
	MaybeNo
	MaybeYes
)

func maybe(yes bool) Maybe {
	if yes {
		return MaybeYes
	}
	return MaybeNo
}

// An FD is one descriptor of a process.
type FD struct {
	Number int
	Kind   Kind
	// Target is where it leads, as the kernel words it: a path, "socket:[4711]",
	// "anon_inode:[eventpoll]". "" when it may not be seen. It comes from
	// outside and may hold any character.
	Target      string
	Deleted     bool  // the file has no name any more; a memfd never had one
	CloseOnExec Maybe // MaybeNo: a child would inherit it
	Cause       Cause // why it is unreadable
	Detail      Detail

	// Socket is what the socket tables say of it; nil until Sockets.Join found
	// it there. SocketCause is why it did not.
	Socket      *Socket
	SocketCause Cause
}

// Inode returns the inode of a socket or a pipe, which is the same number in
// every process that holds it.
func (fd FD) Inode() (uint64, bool) {
	for _, prefix := range []string{"socket:[", "pipe:["} {
		if rest, found := strings.CutPrefix(fd.Target, prefix); found {
			n, err := strconv.ParseUint(strings.TrimSuffix(rest, "]"), 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// DetailLimit bounds how many descriptors of one process are looked at one by
// one, at about fifteen microseconds each.
const DetailLimit = 20_000

// A Breakdown is the descriptors of one process, looked at one by one.
type Breakdown struct {
	PID   int
	Birth uint64
	At    time.Time
	// Listed is how many descriptors the listing had, those that were closed
	// before they could be looked at left out; or why there is none.
	Listed Value
	FDs    []FD // by number
	Counts map[Kind]int
	// Of those looked at: with close-on-exec, without, and not known.
	CloseOnExec, Inherited, FlagsUnknown int
	// NotInspected is how many are beyond DetailLimit.
	NotInspected int
}

// Types looks at every descriptor of a process.
func (m *Meter) Types(pid int, now time.Time) Breakdown {
	src := m.source()
	b := Breakdown{PID: pid, At: now, Counts: map[Kind]int{}}
	who, err := src.identity(pid)
	if err != nil && causeOf(err) != NoDescriptors {
		b.Listed = failed(err)
		return b
	}
	b.Birth = who.Birth
	type listed struct {
		number int
		hint   uint32
	}
	var fds []listed
	if err := src.numbers(pid, func(fd int, hint uint32) { fds = append(fds, listed{fd, hint}) }); err != nil {
		b.Listed = failed(err)
		return b
	}
	slices.SortFunc(fds, func(a, b listed) int { return a.number - b.number })
	if len(fds) > DetailLimit {
		b.NotInspected = len(fds) - DetailLimit
		fds = fds[:DetailLimit]
	}
	b.FDs = make([]FD, 0, len(fds))
	for _, l := range fds {
		if fd, err := src.describe(pid, l.number, l.hint); err == nil {
			b.add(fd)
		} else if !isGone(err) {
			b.add(FD{Number: l.number, Kind: KindUnreadable, Cause: causeOf(err)})
		}
	}
	b.Listed = Known(int64(len(b.FDs) + b.NotInspected))
	if again, err := src.identity(pid); isGone(err) || err == nil && who.Birth != 0 && again.Birth != who.Birth {
		return Breakdown{PID: pid, Birth: who.Birth, At: now, Listed: Unknown(Gone), Counts: map[Kind]int{}}
	}
	return b
}

func (b *Breakdown) add(fd FD) {
	b.FDs = append(b.FDs, fd)
	b.Counts[fd.Kind]++
	switch fd.CloseOnExec {
	case MaybeYes:
		b.CloseOnExec++
	case MaybeNo:
		b.Inherited++
	default:
		b.FlagsUnknown++
	}
}

// A Group is the descriptors that lead to one target. Sockets are one group,
// and so are pipes: their own targets are numbers that tell a person nothing.
type Group struct {
	Target string `json:"target"`
	Kind   Kind   `json:"type"`
	Count  int    `json:"count"`
	FDs    []int  `json:"fds"`
}

// Groups returns the descriptors by target, the largest group first.
func (b Breakdown) Groups() []Group { return group(b.FDs) }

func group(fds []FD) []Group {
	type key struct {
		target string
		kind   Kind
	}
	at := map[key]int{}
	groups := []Group{}
	for _, fd := range fds {
		k := key{groupTarget(fd), fd.Kind}
		i, ok := at[k]
		if !ok {
			i = len(groups)
			at[k] = i
			groups = append(groups, Group{Target: k.target, Kind: k.kind})
		}
		groups[i].Count++
		groups[i].FDs = append(groups[i].FDs, fd.Number)
	}
	slices.SortStableFunc(groups, func(a, b Group) int {
		return cmp.Or(b.Count-a.Count, cmp.Compare(a.Target, b.Target))
	})
	return groups
}

func groupTarget(fd FD) string {
	switch fd.Kind {
	case KindSocket, KindPipe, KindUnreadable, KindPidfd:
		if !strings.HasPrefix(fd.Target, "/") { // a named pipe keeps its path
			return string(fd.Kind)
		}
	}
	if fd.Deleted {
		return fd.Target + " (deleted)"
	}
	return fd.Target
}

// MarshalJSON writes how many there are of each kind, or null when they could
// not be listed. Descriptors beyond DetailLimit stand under not_inspected.
func (b Breakdown) MarshalJSON() ([]byte, error) {
	if !b.Listed.Known() {
		return []byte("null"), nil
	}
	counts := make(map[string]int, len(b.Counts)+1)
	for kind, n := range b.Counts {
		counts[string(kind)] = n
	}
	if b.NotInspected > 0 {
		counts["not_inspected"] = b.NotInspected
	}
	return json.Marshal(counts)
}

// anonymous maps the kernel's names of descriptors that have no file.
var anonymous = map[string]Kind{
	"anon_inode:[eventpoll]": KindEpoll,
	"anon_inode:[eventfd]":   KindEventfd,
	"anon_inode:[timerfd]":   KindTimerfd,
	"anon_inode:[signalfd]":  KindSignalfd,
	"anon_inode:inotify":     KindInotify,
	"anon_inode:[inotify]":   KindInotify,
	"anon_inode:[pidfd]":     KindPidfd,
}

// kindOfTarget returns KindOther where the target's text does not settle it.
func kindOfTarget(target string) Kind {
	if kind, ok := anonymous[target]; ok {
		return kind
	}
	for _, known := range []struct {
		prefix string
		kind   Kind
	}{
		{"socket:[", KindSocket},
		{"pipe:[", KindPipe},
		{"pidfd:[", KindPidfd},
		{"/memfd:", KindMemfd},
		{"/dev/pts/", KindPTY},
		{"/dev/ttys", KindPTY}, // macOS
	} {
		if strings.HasPrefix(target, known.prefix) {
			return known.kind
		}
	}
	if target == "/dev/ptmx" {
		return KindPTY
	}
	return KindOther
}

// File types as in st_mode; the same numbers on every Unix.
const (
	modeFIFO    = 0o010000
	modeChar    = 0o020000
	modeDir     = 0o040000
	modeBlock   = 0o060000
	modeRegular = 0o100000
	modeSocket  = 0o140000
)

func kindOfMode(mode uint32) Kind {
	switch mode {
	case modeRegular:
		return KindFile
	case modeDir:
		return KindDir
	case modeChar, modeBlock:
		return KindDevice
	case modeFIFO:
		return KindPipe
	case modeSocket:
		return KindSocket
	}
	return KindOther
}
