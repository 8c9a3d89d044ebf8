package fdmeter

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// ls is the independent count: what ls says is in a folder.
func ls(t *testing.T, folder string) []int {
	t.Helper()
	out, err := exec.Command("ls", folder).Output()
	if err != nil {
		t.Fatal(err)
	}
	var numbers []int
	for _, word := range strings.Fields(string(out)) {
		n, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	return numbers
}

func TestCountAndHighestEqualLs(t *testing.T) {
	h := start(t, "zoo")
	var opened map[Kind]int
	h.answer(&opened)
	want := ls(t, fmt.Sprintf("/proc/%d/fd", h.pid()))
	r := (&Meter{}).Read(h.pid(), noon)
	wantKnown(t, "count", r.Count, int64(len(want)))
	wantKnown(t, "highest", r.Highest, int64(want[len(want)-1]))
	if want[len(want)-1] < highNumber {
		t.Errorf("the helper's highest number is %d", want[len(want)-1])
	}
	if r.Method == ByNone || r.Name == "" || r.Parent != os.Getpid() || time.Since(r.Started) < 0 || time.Since(r.Started) > time.Hour {
		t.Errorf("reading %+v", r)
	}
	listed, _, err := newProcfs("/proc", systemFiles{}).countBy(h.pid())
	if err != nil || listed != int64(len(want)) {
		t.Errorf("by listing %d, %v", listed, err)
	}
}

// countBy lists although the size would do.
func (p *procfs) countBy(pid int) (int64, Method, error) {
	q := *newProcfs(p.root, p.files)
	q.real = false
	n, by, _, err := q.countFolder(pid, "fd")
	return n, by, err
}

func TestOurOwnCountLeavesOutTheListing(t *testing.T) {
	m := &Meter{}
	keep, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer keep.Close()
	high, err := unix.FcntlInt(keep.Fd(), unix.F_DUPFD_CLOEXEC, 1900)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(high)
	r := m.Read(os.Getpid(), noon)
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	wantKnown(t, "count", r.Count, int64(len(entries)-1)) // ReadDir's own
	wantKnown(t, "highest", r.Highest, 1900)
	n, _, err := newProcfs("/proc", systemFiles{}).countBy(os.Getpid())
	if err != nil || n != int64(len(entries)-1) {
		t.Errorf("by listing %d, %v, want %d", n, err, len(entries)-1)
	}
	if line, ok := Nearest(r); !ok || !line.Passed() || line.Kind != LineSelect {
		t.Errorf("line %+v", line)
	}
}

func TestTypesOfARealProcessAreExact(t *testing.T) {
	h := start(t, "zoo")
	var opened map[Kind]int
	h.answer(&opened)
	m := &Meter{}
	b := m.Types(h.pid(), noon)
	want := ls(t, fmt.Sprintf("/proc/%d/fd", h.pid()))
	wantKnown(t, "listed", b.Listed, int64(len(want)))
	// The runtime adds an epoll and its eventfd, and the files of the control
	// group it takes its processors from; stdin and stdout are pipes; stderr
	// is what the test has.
	opened[KindEpoll]++
	opened[KindEventfd]++
	opened[KindPipe] += 2
	for _, fd := range b.FDs {
		if fd.Number == 2 || strings.HasPrefix(fd.Target, "/sys/fs/cgroup/") {
			opened[fd.Kind]++
		}
	}
	for kind, n := range opened {
		if b.Counts[kind] != n {
			t.Errorf("%s: %d, want %d", kind, b.Counts[kind], n)
		}
	}
	if sum := b.CloseOnExec + b.Inherited + b.FlagsUnknown; sum != len(want) || b.FlagsUnknown != 0 || b.Inherited != 5 {
		t.Errorf("close-on-exec %d, inherited %d (stdio and a pipe), unknown %d, of %d", b.CloseOnExec, b.Inherited, b.FlagsUnknown, len(want))
	}
	if deleted := slices.IndexFunc(b.FDs, func(fd FD) bool { return fd.Deleted && fd.Kind == KindFile }); deleted < 0 {
		t.Error("the deleted file is not marked")
	}
	h.order()
	var changed string
	h.answer(&changed)
	diff := Compare(b, m.Types(h.pid(), noon))
	if diff.Replaced || !diff.Complete || len(diff.Closed) != 2 || len(diff.Opened) != 1 || diff.Opened[0].Kind != KindSocket {
		t.Errorf("opened %+v, closed %+v", diff.Opened, diff.Closed)
	}
}

func TestLimitsAreThoseOfTheProcess(t *testing.T) {
	h := start(t, "idle", "sh", "-c", `ulimit -Sn 777; ulimit -Hn 999; exec "$0"`)
	var ready string
	h.answer(&ready)
	for name, src := range map[string]*procfs{
		"prlimit": newProcfs("/proc", systemFiles{}),
		"file":    newProcfs("/proc", &faulty{proc: true}),
	} {
		soft, hard, by := src.limits(h.pid())
		wantKnown(t, name+" hard", hard, 999)
		if want := map[string]LimitMethod{"prlimit": LimitsByPrlimit, "file": LimitsByFile}[name]; by != want {
			t.Errorf("%s: limits by %v", name, by)
		}
		// The Go runtime raised the helper's soft limit to the hard one.
		if n, known := soft.Get(); !known || n < 777 || n > 999 {
			t.Errorf("%s soft = %v", name, soft)
		}
	}
}

func TestATreeFindsTheOrphanOfASession(t *testing.T) {
	h := start(t, "family")
	var who struct{ Orphan, Session int }
	h.answer(&who)
	m := &Meter{}
	if got := m.Tree(who.Session); !slices.Equal(got.Roots[who.Session], []int{who.Orphan}) || !slices.Equal(got.Gone, []int{who.Session}) {
		t.Errorf("session %d: %v, gone %v; want the orphan %d", who.Session, got.Roots, got.Gone, who.Orphan)
	}
	own := m.Tree(os.Getpid())
	if members := own.Roots[os.Getpid()]; !slices.Contains(members, h.pid()) || !slices.Contains(members, os.Getpid()) {
		t.Errorf("own tree %v lacks %d", members, h.pid())
	}
	found, _ := m.Find(m.Read(h.pid(), noon).Name)
	if !slices.Contains(pidsOf(found), h.pid()) {
		t.Errorf("found %v, want %d among them", pidsOf(found), h.pid())
	}
}

func TestAProcessThatEndedIsGoneNotEmpty(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	m := &Meter{}
	r := m.Read(cmd.Process.Pid, noon)
	wantUnknown(t, "count", r.Count, Gone)
	wantUnknown(t, "types", m.Types(cmd.Process.Pid, noon).Listed, Gone)
}

func TestACountOfAnotherUsersProcessIsKnownAndItsDetailsAreNot(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to become another user")
	}
	// A thread of its own gives its rights away and never comes back.
	done := make(chan Reading)
	types := make(chan Breakdown)
	go func() {
		runtime.LockOSThread()
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, 65534, 65534, 65534); errno != 0 {
			t.Error(errno)
		}
		m := &Meter{}
		done <- m.Read(1, noon)
		types <- m.Types(1, noon)
		// Ending while locked ends the thread too.
	}()
	r, b := <-done, <-types
	want, err := os.Stat("/proc/1/fd")
	if err != nil {
		t.Fatal(err)
	}
	if want.Size() > 0 {
		wantKnown(t, "count", r.Count, want.Size())
	} else {
		wantUnknown(t, "count", r.Count, Denied)
	}
	wantUnknown(t, "highest", r.Highest, Denied)
	wantUnknown(t, "listed", b.Listed, Denied)
	if !r.Soft.Known() && r.Soft.Cause() != Unlimited {
		t.Errorf("soft limit %v: %s", r.Soft, r.Soft.Reason())
	}
	if r.LimitsBy != LimitsByFile {
		t.Errorf("limits by %v", r.LimitsBy)
	}
	text, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(text), `"highest":null`) || !strings.Contains(string(text), `"highest":"not permitted"`) {
		t.Errorf("JSON %s, %v", text, err)
	}
}

func TestCountingGoesOnWithNoDescriptorLeft(t *testing.T) {
	h := start(t, "emfile", "sh", "-c", `ulimit -n 64; exec "$0"`)
	var got emfileReport
	h.answer(&got)
	if !got.CountKnown || got.Count != 64 || got.Before+int64(got.Held) != 64 || got.Method != "stat" {
		t.Errorf("count %d (%v, %s), before %d, held %d; want 64", got.Count, got.CountKnown, got.Method, got.Before, got.Held)
	}
	if got.Line != "soft limit" || !got.Alert {
		t.Errorf("line %q, alert %v", got.Line, got.Alert)
	}
	if got.Listed || got.Files != NoDescriptors.String() || got.Flags != NoDescriptors.String() || got.Sockets != len(tables) {
		t.Errorf("listed %v, files %q, flags %q, %d socket tables unknown; want each to say that no descriptor was free", got.Listed, got.Files, got.Flags, got.Sockets)
	}
	// What a listing would say is found number by number, for which none is needed.
	if got.Highest != 63 || got.Last != 63 || got.Typed != 64 || got.FlagsUnknown != 64 {
		t.Errorf("highest %d, %d looked at, flags of %d unknown; want 63, 64, 64", got.Highest, got.Typed, got.FlagsUnknown)
	}
	if n, known := got.Child.Get(); !known || n == 0 || len(got.Members) != 1 {
		t.Errorf("the child's count = %v, members %v", got.Child, got.Members)
	}
	if got.After != got.Before {
		t.Errorf("afterwards %d, want %d and all figures back", got.After, got.Before)
	}
}

func TestSystemFiguresOfThisMachineAreSane(t *testing.T) {
	s := (&Meter{}).System()
	used, known := s.Files.Get()
	if limit, ok := s.FilesMax.Get(); !known || used <= 0 || ok && limit < used {
		t.Errorf("files %v of %v", s.Files, s.FilesMax)
	}
	if n, known := s.PTYsMax.Get(); known && n <= 0 {
		t.Errorf("ptys %v of %v", s.PTYs, s.PTYsMax)
	}
}
