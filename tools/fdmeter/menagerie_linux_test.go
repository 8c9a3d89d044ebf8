package fdmeter

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// An animal is one descriptor as the helper that opened it knows it.
type animal struct {
	FD          int
	Kind        Kind
	CloseOnExec bool
	Slave       string
	Watches     []int
	Files       int64
	Process     int
	Counter     int64
	Timer       bool
	Deleted     bool
	Size        int64
	Socket      *Socket
}

// A keeper opens animals and remembers the first failure.
type keeper struct {
	animals []animal
	err     error
	dir     string
}

func (k *keeper) add(fd int, err error, a animal) int {
	if err != nil && k.err == nil {
		k.err = fmt.Errorf("%s: %w", a.Kind, err)
	}
	a.FD, a.CloseOnExec = fd, true
	k.animals = append(k.animals, a)
	return fd
}

// files opens what lies on a disk or in memory.
func (k *keeper) files() {
	path := filepath.Join(k.dir, "kept (deleted)") // its name only looks like it
	fd, err := unix.Open(path, unix.O_CREAT|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	k.add(fd, err, animal{Kind: KindFile})
	gone := filepath.Join(k.dir, "gone")
	fd, err = unix.Open(gone, unix.O_CREAT|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	k.add(fd, err, animal{Kind: KindFile, Deleted: true, Size: 12345})
	k.err = errors.Join(k.err, unix.Ftruncate(fd, 12345), os.Remove(gone))
	fd, err = unix.MemfdCreate("zoo", unix.MFD_CLOEXEC)
	k.add(fd, err, animal{Kind: KindMemfd, Size: 777})
	k.err = errors.Join(k.err, unix.Ftruncate(fd, 777))
	fd, err = unix.Open(k.dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	k.add(fd, err, animal{Kind: KindDir})
	fd, err = unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	k.add(fd, err, animal{Kind: KindDevice})
	var pipe [2]int
	err = unix.Pipe2(pipe[:], 0)
	for _, end := range pipe {
		k.add(end, err, animal{Kind: KindPipe})
		k.animals[len(k.animals)-1].CloseOnExec = false
	}
}

// terminals opens a pair, and a master whose slave nobody has.
func (k *keeper) terminals() {
	for _, withSlave := range []bool{true, false} {
		fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
		k.err = errors.Join(k.err, err)
		n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
		slave := "/dev/pts/" + strconv.Itoa(n)
		k.add(fd, errors.Join(err, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)), animal{Kind: KindPTY, Slave: slave})
		if withSlave {
			fd, err = unix.Open(slave, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
			k.add(fd, err, animal{Kind: KindPTY})
		}
	}
}

// anonymous opens what has no name at all.
func (k *keeper) anonymous() {
	event, err := unix.Eventfd(7, unix.EFD_CLOEXEC)
	k.add(event, err, animal{Kind: KindEventfd, Counter: 7})
	timer, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC)
	k.add(timer, err, animal{Kind: KindTimerfd, Timer: true})
	k.err = errors.Join(k.err, unix.TimerfdSettime(timer, 0, &unix.ItimerSpec{Value: unix.Timespec{Sec: 3600}, Interval: unix.Timespec{Sec: 60}}, nil))
	signal, err := unix.Signalfd(-1, &unix.Sigset_t{}, unix.SFD_CLOEXEC)
	k.add(signal, err, animal{Kind: KindSignalfd})
	watch, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	k.add(watch, err, animal{Kind: KindInotify, Files: 2})
	for _, path := range []string{k.dir, "/tmp"} {
		_, err := unix.InotifyAddWatch(watch, path, unix.IN_CREATE)
		k.err = errors.Join(k.err, err)
	}
	pidfd, err := unix.PidfdOpen(os.Getppid(), 0)
	k.add(pidfd, err, animal{Kind: KindPidfd, Process: os.Getppid()})
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	k.add(epoll, err, animal{Kind: KindEpoll, Watches: []int{event, timer, watch}})
	for _, fd := range []int{watch, event, timer} {
		k.err = errors.Join(k.err, unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}))
	}
}

func (k *keeper) socket(family, kind int, s Socket) int {
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, 0)
	return k.add(fd, err, animal{Kind: KindSocket, Socket: &s})
}

// last is the socket that was opened last.
func (k *keeper) last() *Socket { return k.animals[len(k.animals)-1].Socket }

func addressOf(sa unix.Sockaddr) string {
	switch a := sa.(type) {
	case *unix.SockaddrInet4:
		return fmt.Sprintf("%s:%d", net.IP(a.Addr[:]), a.Port)
	case *unix.SockaddrInet6:
		return fmt.Sprintf("[%s]:%d", net.IP(a.Addr[:]), a.Port)
	}
	return fmt.Sprintf("%T", sa)
}

func local(fd int) (string, unix.Sockaddr) {
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return err.Error(), nil
	}
	return addressOf(sa), sa
}

// internet opens listeners and connections over both versions of IP.
func (k *keeper) internet() {
	for _, v := range []struct {
		family   int
		tcp, udp string
		loopback unix.Sockaddr
	}{
		{unix.AF_INET, "tcp", "udp", &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}},
		{unix.AF_INET6, "tcp6", "udp6", &unix.SockaddrInet6{Addr: [16]byte{15: 1}}},
	} {
		server := k.socket(v.family, unix.SOCK_STREAM, Socket{Protocol: v.tcp, State: "listen"})
		if err := errors.Join(unix.Bind(server, v.loopback), unix.Listen(server, 1)); err != nil && v.family == unix.AF_INET6 {
			unix.Close(server) // a machine without IPv6
			k.animals = k.animals[:len(k.animals)-1]
			continue
		}
		at, sa := local(server)
		k.last().Local = at
		client := k.socket(v.family, unix.SOCK_STREAM, Socket{Protocol: v.tcp, State: "established"})
		k.err = errors.Join(k.err, unix.Connect(client, sa))
		from, _ := local(client)
		k.last().Local, k.last().Remote = from, at
		conn, _, err := unix.Accept4(server, unix.SOCK_CLOEXEC)
		k.add(conn, err, animal{Kind: KindSocket, Socket: &Socket{Protocol: v.tcp, State: "established", Local: at, Remote: from}})

		receiver := k.socket(v.family, unix.SOCK_DGRAM, Socket{Protocol: v.udp, State: "unconnected"})
		k.err = errors.Join(k.err, unix.Bind(receiver, v.loopback))
		at, sa = local(receiver)
		k.last().Local = at
		sender := k.socket(v.family, unix.SOCK_DGRAM, Socket{Protocol: v.udp, State: "established"})
		k.err = errors.Join(k.err, unix.Connect(sender, sa))
		from, _ = local(sender)
		k.last().Local, k.last().Remote = from, at
	}
	k.socket(unix.AF_INET, unix.SOCK_STREAM, Socket{Protocol: "tcp"}) // neither bound nor connected
}

func inode(fd int) uint64 {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return 0
	}
	return st.Ino
}

// family opens unix and netlink sockets.
func (k *keeper) family() {
	server := k.socket(unix.AF_UNIX, unix.SOCK_STREAM, Socket{Protocol: "unix", Type: "stream", State: "listen", Local: filepath.Join(k.dir, "s")})
	k.err = errors.Join(k.err, unix.Bind(server, &unix.SockaddrUnix{Name: filepath.Join(k.dir, "s")}), unix.Listen(server, 1))
	name := "@menagerie-" + strconv.Itoa(os.Getpid())
	abstract := k.socket(unix.AF_UNIX, unix.SOCK_DGRAM, Socket{Protocol: "unix", Type: "dgram", State: "unconnected", Local: name})
	k.err = errors.Join(k.err, unix.Bind(abstract, &unix.SockaddrUnix{Name: name}))
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	k.err = errors.Join(k.err, err)
	for i, end := range pair {
		k.add(end, nil, animal{Kind: KindSocket, Socket: &Socket{
			Protocol: "unix", Type: "seqpacket", State: "established", Peer: inode(pair[1-i]),
		}})
	}
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	k.err = errors.Join(k.err, err, unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Pid: uint32(os.Getpid())}))
	k.add(fd, nil, animal{Kind: KindSocket, Socket: &Socket{Protocol: "netlink", State: "unconnected", Local: "port " + strconv.Itoa(os.Getpid())}})
}

func menagerie() error {
	dir, err := os.MkdirTemp("", "menagerie")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	k := &keeper{dir: dir}
	k.files()
	k.terminals()
	k.anonymous()
	k.internet()
	k.family()
	if k.err != nil {
		return k.err
	}
	for i := range k.animals {
		if s := k.animals[i].Socket; s != nil {
			s.Inode = inode(k.animals[i].FD)
		}
	}
	say(k.animals)
	await(bufio.NewReader(os.Stdin))
	return nil
}

func TestEveryDetailIsWhatTheHelperOpened(t *testing.T) {
	h := start(t, "menagerie")
	var animals []animal
	h.answer(&animals)
	m := &Meter{}
	b := m.Types(h.pid(), noon)
	tables := m.Sockets()
	if len(tables.Unknown) != 0 {
		t.Fatalf("tables not read: %v", tables.Unknown)
	}
	m.Join(&b, tables)
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", h.pid()))
	if err != nil {
		t.Fatal(err)
	}
	wantKnown(t, "listed", b.Listed, int64(len(entries)))
	for _, want := range animals {
		i := slices.IndexFunc(b.FDs, func(fd FD) bool { return fd.Number == want.FD })
		if i < 0 {
			t.Errorf("descriptor %d (%s) is missing", want.FD, want.Kind)
			continue
		}
		compareAnimal(t, b.FDs[i], want)
	}
	for _, fd := range b.FDs {
		known := slices.ContainsFunc(animals, func(a animal) bool { return a.FD == fd.Number })
		runtime := fd.Kind == KindEpoll || fd.Kind == KindEventfd || strings.HasPrefix(fd.Target, "/sys/fs/cgroup/")
		if !known && fd.Number > 2 && !runtime {
			t.Errorf("descriptor %d (%s %s) was opened by nobody", fd.Number, fd.Kind, fd.Target)
		}
	}
	if leaks := b.Leakable(); len(leaks) != 2 || leaks[0].Kind != KindPipe {
		t.Errorf("leakable %+v; want the two ends of a pipe", leaks)
	}
	if gone := b.DeletedFiles(); len(gone) != 1 || !strings.HasSuffix(gone[0].Target, "/gone") {
		t.Errorf("deleted %+v", gone)
	}
}

func compareAnimal(t *testing.T, fd FD, want animal) {
	t.Helper()
	name := fmt.Sprintf("descriptor %d (%s %s)", fd.Number, want.Kind, fd.Target)
	if fd.Kind != want.Kind || fd.Deleted != want.Deleted || (fd.CloseOnExec == MaybeYes) != want.CloseOnExec {
		t.Errorf("%s: %s, deleted %v, close-on-exec %v; want %+v", name, fd.Kind, fd.Deleted, fd.CloseOnExec, want)
	}
	d := fd.Detail
	if d.Slave != want.Slave || !slices.Equal(d.Watches, want.Watches) || (d.Timer != nil) != want.Timer {
		t.Errorf("%s: %+v, want %+v", name, d, want)
	}
	for _, f := range []struct {
		what string
		got  Value
		want int64
		on   bool
	}{
		{"files", d.Files, want.Files, want.Kind == KindInotify},
		{"process", d.Process, int64(want.Process), want.Kind == KindPidfd},
		{"counter", d.Counter, want.Counter, want.Kind == KindEventfd},
		{"size", d.Size, want.Size, want.Deleted || want.Kind == KindMemfd},
	} {
		if n, known := f.got.Get(); known != f.on || n != f.want {
			t.Errorf("%s: %s %v, want %d", name, f.what, f.got, f.want)
		}
	}
	if want.Timer && (d.Timer.Left <= 50*time.Minute || d.Timer.Left > time.Hour || d.Timer.Interval != time.Minute) {
		t.Errorf("%s: %+v", name, d.Timer)
	}
	switch {
	case (fd.Socket == nil) != (want.Socket == nil):
		t.Errorf("%s: %v, want %+v (%v)", name, fd.Socket, want.Socket, fd.SocketCause)
	case want.Socket != nil && *fd.Socket != *want.Socket:
		t.Errorf("%s:\n got %+v\nwant %+v", name, *fd.Socket, *want.Socket)
	}
}

// TestLsofSeesTheSame compares every descriptor with what lsof says of it.
func TestLsofSeesTheSame(t *testing.T) {
	if _, err := exec.LookPath("lsof"); err != nil {
		t.Skip("lsof is not installed")
	}
	h := start(t, "menagerie")
	var animals []animal
	h.answer(&animals)
	out, err := exec.Command("lsof", "-nP", "-p", strconv.Itoa(h.pid()), "-F", "ftnT").Output()
	if err != nil {
		t.Fatal(err)
	}
	type seen struct{ kind, name, state string }
	theirs := map[int]seen{}
	number := -1
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSuffix(line, "\n")
		s := theirs[number]
		switch line[0] {
		case 'f':
			if n, err := strconv.Atoi(line[1:]); err == nil {
				number = n
				theirs[number] = seen{}
				continue
			}
			number = -1 // cwd, txt, mem
		case 't':
			s.kind = line[1:]
		case 'n':
			s.name = line[1:]
		case 'T':
			if state, found := strings.CutPrefix(line, "TST="); found {
				s.state = state
			}
		}
		if number >= 0 && line[0] != 'f' {
			theirs[number] = s
		}
	}
	m := &Meter{}
	b := m.Types(h.pid(), noon)
	m.Join(&b, m.Sockets())
	if len(theirs) != len(b.FDs) {
		t.Errorf("lsof has %d descriptors, we have %d", len(theirs), len(b.FDs))
	}
	differ := 0
	for _, fd := range b.FDs {
		if problem := lsofDiffers(fd, theirs[fd.Number].kind, theirs[fd.Number].name, theirs[fd.Number].state); problem != "" {
			t.Errorf("descriptor %d: %s: lsof %+v, we %s %q %+v", fd.Number, problem, theirs[fd.Number], fd.Kind, fd.Target, fd.Socket)
			differ++
		}
	}
	t.Logf("%d descriptors, %d differences", len(b.FDs), differ)
}

// lsofDiffers says what lsof calls otherwise.
func lsofDiffers(fd FD, kind, name, state string) string {
	anonymous := map[Kind]string{KindEpoll: "[eventpoll", KindEventfd: "[eventfd", KindTimerfd: "[timerfd", KindSignalfd: "[signalfd", KindInotify: "inotify", KindPidfd: "[pidfd"}
	switch fd.Kind {
	case KindFile, KindMemfd:
		if kind != "REG" {
			return "type"
		}
	case KindDir:
		if kind != "DIR" {
			return "type"
		}
	case KindDevice, KindPTY:
		if kind != "CHR" {
			return "type"
		}
	case KindPipe:
		if kind != "FIFO" {
			return "type"
		}
	case KindSocket:
		return lsofSocket(fd.Socket, kind, name, state)
	default:
		if kind != "a_inode" && kind != "pidfd" || !strings.Contains(name, anonymous[fd.Kind]) {
			return "type"
		}
	}
	return ""
}

func lsofSocket(s *Socket, kind, name, state string) string {
	switch {
	case s == nil:
		return "nothing known"
	case s.Protocol == "unix":
		if kind != "unix" || s.Local != "" && !strings.Contains(name, s.Local) || s.Type != "" && !strings.Contains(strings.ToLower(name), s.Type) {
			return "unix"
		}
		return ""
	case s.Protocol == "netlink":
		if kind != "netlink" {
			return "netlink"
		}
		return ""
	case s.State == "": // in no table, which lsof calls a socket without a name
		if kind != "sock" {
			return "unbound"
		}
		return ""
	}
	want := s.Local
	if s.Remote != "" {
		want += "->" + s.Remote
	}
	if name != want || kind != map[bool]string{true: "IPv6", false: "IPv4"}[strings.HasSuffix(s.Protocol, "6")] {
		return "address " + want
	}
	if strings.HasPrefix(s.Protocol, "tcp") && strings.ToLower(state) != s.State {
		return "state"
	}
	return ""
}

// TestRecordsCompareAcrossAFile also checks that nothing of a breakdown is lost
// in a file.
func TestARecordComesBackFromItsFileWhole(t *testing.T) {
	h := start(t, "menagerie")
	var animals []animal
	h.answer(&animals)
	m := &Meter{}
	before := m.Record("before", noon.UTC(), h.pid(), 1<<22+1)
	var file strings.Builder
	if err := before.Write(&file); err != nil {
		t.Fatal(err)
	}
	back, err := ReadRecord(strings.NewReader(file.String()))
	if err != nil {
		t.Fatal(err)
	}
	first, _ := json.Marshal(before)
	second, _ := json.Marshal(back)
	if string(first) != string(second) || back.Name != "before" || back.Boot == "" {
		t.Errorf("wrote\n%s\nread\n%s", first, second)
	}
	changes := CompareRecords(back, m.Record("after", noon, h.pid(), 1<<22+1))
	if len(changes) != 2 {
		t.Fatalf("changes %+v", changes)
	}
	d := changes[0].Diff
	if len(d.Opened)+len(d.Closed)+len(d.Unknown) != 0 || !d.Complete || len(d.Survived) == 0 {
		t.Errorf("nothing changed, and the diff says %+v", d)
	}
	if changes[1].Diff.Complete || changes[1].Diff.Cause != Gone {
		t.Errorf("a process that never was: %+v", changes[1])
	}
	back.Boot = "another run of the machine"
	if c := CompareRecords(back, m.Record("after", noon, h.pid()))[0]; !c.Diff.Replaced {
		t.Errorf("after a reboot: %+v", c.Diff)
	}
}
