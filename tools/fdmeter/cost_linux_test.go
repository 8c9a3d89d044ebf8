package fdmeter

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// stranger looks at this process as at any other.
func stranger() *procfs {
	src := newProcfs("/proc", systemFiles{})
	src.self = 0
	return src
}

func TestTheHighestNumberIsTheSameWhereverTheLookBegins(t *testing.T) {
	const first, numbers = 1200, 60 // above whatever a listing opens
	null, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(null)
	open := map[int]bool{}
	defer func() {
		for fd := range open {
			unix.Close(fd)
		}
	}()
	set := func(fd int, want bool) {
		switch {
		case want && !open[fd]:
			if _, err := unix.FcntlInt(uintptr(null), unix.F_DUPFD_CLOEXEC, fd); err != nil {
				t.Fatal(err)
			}
			open[fd] = true
		case !want && open[fd]:
			unix.Close(fd)
			delete(open, fd)
		}
	}
	src := stranger()
	set(first, true)
	last, short := first, 0
	for range 300 {
		for range rand.IntN(4) {
			set(first+1+rand.IntN(numbers), rand.IntN(3) == 0)
		}
		want := first
		above := 0 // from last on
		for fd := range open {
			want = max(want, fd)
			if fd >= last {
				above++
			}
		}
		top, looked, err := src.highest(os.Getpid(), last)
		if err != nil || top != want {
			t.Fatalf("highest %d, %v, want %d; the look began at %d", top, err, want, last)
		}
		if n, _, err := src.highest(os.Getpid(), -1); err != nil || n != want {
			t.Fatalf("listed in full %d, %v, want %d", n, err, want)
		}
		if above > 0 {
			short++
			if looked != above {
				t.Fatalf("%d numbers were looked at from %d on, where %d are open", looked, last, above)
			}
		}
		last = top
	}
	if short < 100 {
		t.Errorf("only %d looks were short", short)
	}
}

func TestTheHolderIsTheSameForAProcessAndForNoOther(t *testing.T) {
	src := newProcfs("/proc", systemFiles{})
	if _, by, _ := src.count(os.Getpid()); by != ByStat {
		t.Skipf("this kernel counts by %v", by)
	}
	seen := map[uint64]int{}
	for range 20 {
		h := start(t, "idle")
		var ready string
		h.answer(&ready)
		_, _, first := src.count(h.pid())
		_, _, second := src.count(h.pid())
		if first == 0 || first != second {
			t.Errorf("holder %d, then %d", first, second)
		}
		if other := seen[first]; other != 0 {
			t.Errorf("%d holds %d, and so does %d", h.pid(), first, other)
		}
		seen[first] = h.pid()
		h.stdin.Close()
		h.cmd.Wait()
		if n, _, holder := src.count(h.pid()); holder != 0 || n.Cause() != Gone {
			t.Errorf("after its end: %v, holder %d", n.Reason(), holder)
		}
	}
}

func TestAThreadIsToldFromAProcess(t *testing.T) {
	h := start(t, "idle") // a Go program, which has threads
	var ready string
	h.answer(&ready)
	src := newProcfs("/proc", systemFiles{})
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", h.pid()))
	if err != nil || len(tasks) < 2 {
		t.Fatalf("%d tasks, %v", len(tasks), err)
	}
	for _, task := range tasks {
		tid := 0
		if _, err := fmt.Sscan(task.Name(), &tid); err != nil {
			t.Fatal(err)
		}
		who, err := src.identity(tid)
		if err != nil || who.thread != (tid != h.pid()) || !src.alive(tid) {
			t.Errorf("task %d of %d: thread %v, %v", tid, h.pid(), who.thread, err)
		}
	}
}

func TestAnExecChangesTheImage(t *testing.T) {
	h := start(t, "idle", "sh", "-c", `read line; exec "$0"`)
	src := newProcfs("/proc", systemFiles{})
	before, err := src.identity(h.pid())
	if err != nil || before.image == 0 {
		t.Skipf("this kernel does not tell: %d, %v", before.image, err)
	}
	h.order()
	var ready string
	h.answer(&ready)
	after, err := src.identity(h.pid())
	if err != nil || after.image == before.image || after.Birth != before.Birth {
		t.Errorf("image %#x, then %#x; %v", before.image, after.image, err)
	}
	again, err := src.identity(h.pid())
	if err != nil || again.image != after.image {
		t.Errorf("image %#x, then %#x without an exec; %v", after.image, again.image, err)
	}
}

func TestCountingAndLookingForTheHighestAllocateNothing(t *testing.T) {
	h := start(t, "idle")
	var ready string
	h.answer(&ready)
	src := newProcfs("/proc", systemFiles{})
	pid := h.pid()
	n, by, _ := src.count(pid)
	top, _, err := src.highest(pid, -1)
	if err != nil || by != ByStat {
		t.Skipf("%v by %v, highest %v", n, by, err)
	}
	if n := testing.AllocsPerRun(200, func() { src.count(pid) }); n != 0 {
		t.Errorf("a count makes %v allocations", n)
	}
	// The race detector drops some of what a pool is given.
	if n := testing.AllocsPerRun(200, func() { src.highest(pid, top) }); n > 1 {
		t.Errorf("a look for the highest number makes %v allocations", n)
	}
}

func TestAPathOfAnyLengthIsPutTogether(t *testing.T) {
	p := &procfs{root: "/" + strings.Repeat("long", 60)}
	var buf [128]byte
	for _, b := range [][]byte{nil, buf[:0]} {
		path := p.at(b, 42, "fd")
		if path.String() != p.root+"/42/fd" || path[len(path)-1] != 0 {
			t.Errorf("path %q", path)
		}
	}
}
