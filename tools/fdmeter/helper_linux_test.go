package fdmeter

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// roles are what the test binary can play.
var roles = map[string]func() error{
	"zoo":       zoo,
	"idle":      idle,
	"emfile":    emfile,
	"family":    familyRole,
	"menagerie": menagerie,
}

// keepFromChildren stops descriptors that our own parent leaked to us from
// showing up in the helpers.
func keepFromChildren() {
	unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
}

func idle() error {
	say("ready")
	await(bufio.NewReader(os.Stdin))
	return nil
}

// highNumber is far above what the zoo opens otherwise.
const highNumber = 877

// zoo opens at least one of each kind and says how many of each it opened.
func zoo() error {
	dir, err := os.MkdirTemp("", "zoo")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	opened := map[Kind]int{}
	var keep []any
	var failed error
	number := func(kind Kind, fd int, err error) int {
		failed = errors.Join(failed, err)
		opened[kind]++
		return fd
	}
	file := func(kind Kind, path string, flags int) int {
		fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0o600)
		return number(kind, fd, err)
	}
	log := file(KindFile, filepath.Join(dir, "log"), unix.O_CREAT|unix.O_RDWR)
	file(KindFile, filepath.Join(dir, "deleted"), unix.O_CREAT|unix.O_RDWR)
	failed = errors.Join(failed, os.Remove(filepath.Join(dir, "deleted")))
	file(KindDir, dir, unix.O_RDONLY|unix.O_DIRECTORY)
	file(KindDevice, "/dev/null", unix.O_RDWR)
	file(KindDevice, "/dev/zero", unix.O_RDONLY)
	file(KindPTY, "/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY)
	failed = errors.Join(failed, unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	file(KindPipe, filepath.Join(dir, "fifo"), unix.O_RDWR)
	var pipe [2]int
	err = unix.Pipe2(pipe[:], 0) // without close-on-exec: a child would inherit it
	number(KindPipe, pipe[0], err)
	number(KindPipe, pipe[1], nil)
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	number(KindSocket, pair[0], err)
	number(KindSocket, pair[1], nil)
	netlink, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	number(KindSocket, netlink, err)
	udp, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	number(KindSocket, udp, err)
	event, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	number(KindEventfd, event, err)
	timer, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC)
	number(KindTimerfd, timer, err)
	signal, err := unix.Signalfd(-1, &unix.Sigset_t{}, unix.SFD_CLOEXEC)
	number(KindSignalfd, signal, err)
	watch, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	number(KindInotify, watch, err)
	pidfd, err := unix.PidfdOpen(os.Getpid(), 0)
	number(KindPidfd, pidfd, err)
	mem, err := unix.MemfdCreate("zoo", unix.MFD_CLOEXEC)
	number(KindMemfd, mem, err)
	high, err := unix.FcntlInt(uintptr(log), unix.F_DUPFD_CLOEXEC, highNumber)
	number(KindFile, high, err)
	// These bring the runtime's own epoll and its wake-up with them.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	failed = errors.Join(failed, err)
	keep = append(keep, listener)
	opened[KindSocket]++
	if failed != nil {
		return failed
	}
	say(opened)
	in := bufio.NewReader(os.Stdin)
	if await(in) {
		unix.Close(event)
		unix.Close(high)
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		keep = append(keep, fd)
		say("changed")
		await(in)
	}
	_ = keep
	return nil
}

// familyRole has one child in its own session, whose leader ends and leaves an
// orphan behind.
func familyRole() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	alive, life, err := os.Pipe()
	if err != nil {
		return err
	}
	// The orphan must not hold the streams that Output waits for. It holds a
	// pipe of its own instead, whose end says that it has ended.
	script := fmt.Sprintf("%s=idle %q </dev/fd/3 >&4 2>/dev/null & echo $!", helperEnv, self)
	cmd := exec.Command("setsid", "sh", "-c", script)
	cmd.ExtraFiles = []*os.File{os.Stdin, life}
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	life.Close()
	orphan, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		return err
	}
	ended := bufio.NewReader(alive)
	if _, err := ended.ReadString('\n'); err != nil { // it is there
		return err
	}
	say(map[string]int{"orphan": orphan, "session": cmd.Process.Pid})
	_, err = ended.ReadString('\n') // the test ends it by closing our stdin, which it shares
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// emfileReport is what the meter found with no descriptor left.
type emfileReport struct {
	Before, Count int64
	CountKnown    bool
	Method        string
	Highest       int64
	Typed         int64
	FlagsUnknown  int
	Flags         string
	Sockets       int
	Files         string
	Listed        bool
	Line          string
	Alert         bool
	Child         Value
	Members       []int
	After         int64
	Held          int
	Last          int
}

// emfile takes every descriptor there is, and samples.
func emfile() error {
	in := bufio.NewReader(os.Stdin)
	child := exec.Command("sleep", "600")
	if err := child.Start(); err != nil {
		return err
	}
	defer child.Wait()
	defer child.Process.Kill()
	s := NewSampler(&Meter{})
	before := s.Sample(noon, []int{child.Process.Pid})
	var report emfileReport
	report.Before, _ = before.Own.Count.Get()
	var held []int
	for {
		fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.EMFILE) {
			break
		}
		if err != nil {
			return err
		}
		held = append(held, fd)
	}
	report.Last = slices.Max(held)
	snap := s.Sample(noon.Add(time.Second), []int{child.Process.Pid})
	report.Count, report.CountKnown = snap.Own.Count.Get()
	report.Method = snap.Own.Method.String()
	report.Highest, _ = snap.Own.Highest.Get()
	types := (&Meter{}).Types(os.Getpid(), noon)
	report.Typed, _ = types.Listed.Get()
	report.FlagsUnknown = types.FlagsUnknown
	report.Flags = types.FDs[0].Detail.Cause.String()
	report.Sockets = len((&Meter{}).Sockets().Unknown)
	report.Files = snap.System.Files.Reason()
	report.Listed = snap.Scan.Listed
	report.Line, report.Alert = snap.Own.Line.Name, snap.Own.Line.Alert()
	report.Child = snap.Roots[0].Total()
	report.Members = snap.Roots[0].Members
	report.Held = len(held)
	for _, fd := range held {
		unix.Close(fd)
	}
	after := s.Sample(noon.Add(2*time.Second), []int{child.Process.Pid})
	if after.Scan.Listed && after.Own.Highest.Known() && slices.Contains(after.Roots[0].Members, child.Process.Pid) {
		report.After, _ = after.Own.Count.Get()
	}
	say(report)
	await(in)
	return nil
}
