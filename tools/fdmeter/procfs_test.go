package fdmeter

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

func TestAFakeTreeIsReadByListingAndSaysSo(t *testing.T) {
	tree := newProcTree(t)
	tree.process(100, 1, 100, "server", map[int]string{0: "/dev/null", 1: "pipe:[5]", 2: "pipe:[5]", 903: "socket:[8]"})
	r := tree.meter().Read(100, noon)
	wantKnown(t, "count", r.Count, 4)
	wantKnown(t, "highest", r.Highest, 903)
	wantKnown(t, "soft", r.Soft, 1024)
	wantKnown(t, "hard", r.Hard, 524288)
	if r.Method != ByListing || r.Name != "server" || r.Command != "/usr/bin/server --flag" || r.Parent != 1 || r.At != noon || r.HighestAt != noon {
		t.Errorf("reading = %+v", r)
	}
	if want := time.Unix(1_700_000_051, 0); !r.Started.Equal(want) { // 5100 ticks after boot
		t.Errorf("started %v, want %v", r.Started, want)
	}
}

func TestTheSizeIsTrustedOnAProcFileSystemOnly(t *testing.T) {
	for _, proc := range []bool{true, false} {
		tree := newProcTree(t)
		tree.proc = proc
		tree.process(100, 1, 100, "server", map[int]string{0: "/dev/null"})
		tree.sizes["100/fd"] = 5005
		r := tree.meter().Read(100, noon)
		if proc {
			wantKnown(t, "count", r.Count, 5005)
		} else {
			wantKnown(t, "count", r.Count, 1)
		}
		if (r.Method == ByStat) != proc {
			t.Errorf("proc %v: method %v", proc, r.Method)
		}
	}
}

func TestASizeOfZeroIsAnsweredByListing(t *testing.T) {
	tree := newProcTree(t)
	tree.proc = true
	tree.process(100, 1, 100, "server", map[int]string{0: "/dev/null", 1: "/dev/null"})
	r := tree.meter().Read(100, noon)
	wantKnown(t, "count", r.Count, 2)
	if r.Method != ByListing {
		t.Errorf("method = %v", r.Method)
	}
	tree.fail["names 100/fd"] = syscall.EACCES
	r = tree.meter().Read(100, noon)
	wantUnknown(t, "count with the listing denied", r.Count, Denied)
	if r.Method != ByNone {
		t.Errorf("method of no count = %v", r.Method)
	}
}

func TestDeniedIsUnknownAndNeverZero(t *testing.T) {
	for _, test := range []struct {
		name           string
		fail           map[string]error
		count, highest Cause
		known          bool // the count is known
	}{
		{"listing only", map[string]error{"names 100/fd": syscall.EACCES}, 0, Denied, true},
		{"size and listing", map[string]error{"names 100/fd": syscall.EACCES, "size 100/fd": syscall.EPERM}, Denied, Denied, false},
		{"identity", map[string]error{"read 100/stat": syscall.EACCES}, Denied, Denied, false},
		{"no descriptor for the listing", map[string]error{"names 100/fd": syscall.EMFILE}, 0, NoDescriptors, true},
		{"broken", map[string]error{"names 100/fd": syscall.EIO, "size 100/fd": syscall.EIO}, Broken, Broken, false},
		{"gone meanwhile", map[string]error{"names 100/fd": syscall.ENOENT, "size 100/fd": syscall.ENOENT}, Gone, Gone, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			tree := newProcTree(t)
			tree.proc = true
			tree.sizes["100/fd"] = 3
			tree.process(100, 1, 100, "server", map[int]string{0: "/dev/null"})
			tree.fail = test.fail
			r := tree.meter().Read(100, noon)
			if test.known {
				wantKnown(t, "count", r.Count, 3)
			} else {
				wantUnknown(t, "count", r.Count, test.count)
			}
			wantUnknown(t, "highest", r.Highest, test.highest)
		})
	}
}

func TestAHiddenProcessIsDeniedNotGone(t *testing.T) {
	tree := newProcTree(t)
	tree.proc = true
	m := tree.meter()
	wantUnknown(t, "hidden", m.Read(hiddenPID, noon).Count, Denied)
	wantUnknown(t, "absent", m.Read(hiddenPID+1, noon).Count, Gone)
	family := m.Tree(hiddenPID, hiddenPID+1)
	if !slices.Equal(family.Denied, []int{hiddenPID}) || !slices.Equal(family.Gone, []int{hiddenPID + 1}) {
		t.Errorf("denied %v, gone %v", family.Denied, family.Gone)
	}
}

func TestAPidThatIsNoneIsGone(t *testing.T) {
	m := newProcTree(t).meter()
	for _, pid := range []int{0, -1} {
		r := m.Read(pid, noon)
		wantUnknown(t, "count", r.Count, Gone)
		wantUnknown(t, "soft", r.Soft, Gone)
		wantUnknown(t, "types", m.Types(pid, noon).Listed, Gone)
	}
}

func TestNoDescriptorAtAllIsAKnownZero(t *testing.T) {
	tree := newProcTree(t)
	tree.process(100, 1, 100, "bare", nil)
	r := tree.meter().Read(100, noon)
	wantKnown(t, "count", r.Count, 0)
	wantKnown(t, "highest", r.Highest, -1)
	line, ok := Nearest(r)
	if !ok {
		t.Fatal("no line")
	}
	wantKnown(t, "used", line.Used, 0)
}

func TestAProcessWhoseFirstThreadEndedIsCountedByAnotherThread(t *testing.T) {
	tree := newProcTree(t)
	tree.process(100, 1, 100, "half", nil)
	for _, tid := range []int{100, 101} {
		if err := os.MkdirAll(filepath.Join(tree.root, fmt.Sprintf("100/task/%d/fd", tid)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for fd := range 3 {
		if err := os.Symlink("/dev/null", filepath.Join(tree.root, fmt.Sprintf("100/task/101/fd/%d", fd))); err != nil {
			t.Fatal(err)
		}
	}
	wantKnown(t, "count", tree.meter().Read(100, noon).Count, 3)
	tree.fail["names task/101/fd"] = syscall.EACCES
	wantUnknown(t, "count with the thread denied", tree.meter().Read(100, noon).Count, Denied)
}

func TestSystemFiguresAreReadOrUnknown(t *testing.T) {
	tree := newProcTree(t)
	s := tree.meter().System()
	wantKnown(t, "files", s.Files, 1408)
	wantKnown(t, "files max", s.FilesMax, 2466193)
	wantKnown(t, "nr_open", s.PerProcess, 1048576)
	wantKnown(t, "ptys", s.PTYs, 2)
	wantKnown(t, "ptys max", s.PTYsMax, 4096)
	wantKnown(t, "ptys reserve", s.PTYsReserve, 1024)
	tree.fail = map[string]error{"read fs/file-nr": syscall.EMFILE, "read pty/nr": syscall.ENOENT}
	tree.write("sys/kernel/pty/max", "many\n")
	s = tree.meter().System()
	wantUnknown(t, "files", s.Files, NoDescriptors)
	wantUnknown(t, "ptys", s.PTYs, Unsupported)
	wantUnknown(t, "ptys max", s.PTYsMax, Broken)
}

func TestFindTakesShortNameAndProgramName(t *testing.T) {
	tree := newProcTree(t)
	tree.process(100, 1, 100, "server", nil)
	tree.process(101, 1, 101, "worker", nil)
	tree.write("101/cmdline", "/opt/x/server\x00serve\x00")
	tree.process(102, 1, 102, "zsh", nil)
	tree.write("102/cmdline", "-zsh\x00")
	tree.process(103, 1, 103, "a-very-long-nam", nil)
	tree.write("103/cmdline", "./a-very-long-name-indeed\x00")
	tree.process(104, 1, 104, "serverless", nil)
	m := tree.meter()
	for name, want := range map[string][]int{
		"server": {100, 101}, "zsh": {102}, "a-very-long-name-indeed": {103}, "worker": {101}, "serv": {}, "": {},
	} {
		found, scan := m.Find(name)
		if got := pidsOf(found); !slices.Equal(got, want) || !scan.Complete() {
			t.Errorf("%q: %v, want %v; %+v", name, got, want, scan)
		}
	}
	tree.fail["read 101/cmdline"] = syscall.EACCES
	if found, scan := m.Find("server"); len(found) != 1 || scan.Denied != 1 || scan.Complete() {
		t.Errorf("found %v, %+v", pidsOf(found), scan)
	}
}

func TestATreeHoldsDescendantsAndSurvivorsOfTheSession(t *testing.T) {
	tree := newProcTree(t)
	tree.process(1, 0, 1, "init", nil)
	tree.process(50, 1, 50, "login shell", nil)
	tree.process(100, 50, 100, "pane shell", nil)
	tree.process(101, 100, 100, "child) S 1 (", nil)
	tree.process(102, 101, 102, "own session", nil)
	tree.process(103, 1, 102, "orphan of 102", nil)
	tree.process(104, 1, 100, "orphan of 100", nil)
	tree.process(105, 1, 200, "orphan of a gone leader", nil)
	tree.process(300, 50, 50, "stranger", nil)
	got := tree.meter().Tree(100, 200, 101)
	if want := []int{100, 101, 102, 103, 104, 105}; !slices.Equal(pidsOf(got.Procs), want) {
		t.Errorf("members %v, want %v", pidsOf(got.Procs), want)
	}
	for root, want := range map[int][]int{100: {100, 101, 102, 103, 104}, 200: {105}, 101: {101, 102, 103}} {
		if !slices.Equal(got.Roots[root], want) {
			t.Errorf("root %d: %v, want %v", root, got.Roots[root], want)
		}
	}
	if !slices.Equal(got.Gone, []int{200}) || !got.Scan.Complete() || got.Scan.Read != 9 {
		t.Errorf("gone %v, scan %+v", got.Gone, got.Scan)
	}
}

func TestAScanTellsGoneFromDenied(t *testing.T) {
	tree := newProcTree(t)
	for pid := 100; pid < 104; pid++ {
		tree.process(pid, 1, 100, "p", nil)
	}
	tree.fail = map[string]error{"read 101/stat": syscall.ENOENT, "read 102/stat": syscall.EACCES, "read 103/stat": syscall.EIO}
	_, scan := tree.meter().All()
	if want := (Scan{Read: 1, Gone: 1, Denied: 1, Failed: 1, Listed: true}); scan != want || scan.Complete() {
		t.Errorf("scan %+v, want %+v", scan, want)
	}
	tree.fail = map[string]error{"names " + filepath.Base(tree.root): syscall.EMFILE}
	if _, scan := tree.meter().All(); scan.Listed || scan.Cause != NoDescriptors || scan.Complete() {
		t.Errorf("without the list: %+v", scan)
	}
}

func TestALoopOfParentsEnds(t *testing.T) {
	f := newFamily([]Proc{{PID: 5, Parent: 6, Session: 6}, {PID: 6, Parent: 5, Session: 5}, {PID: 7, Parent: 7}})
	if got := f.of(5, nil); !slices.Equal(got, []int{5, 6}) {
		t.Errorf("members %v", got)
	}
}
