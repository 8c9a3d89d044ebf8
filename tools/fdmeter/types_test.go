package fdmeter

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestTargetsHaveTheirKind(t *testing.T) {
	for target, want := range map[string]Kind{
		"socket:[4711]":          KindSocket,
		"pipe:[4711]":            KindPipe,
		"/dev/pts/3":             KindPTY,
		"/dev/pts/ptmx":          KindPTY,
		"/dev/ptmx":              KindPTY,
		"anon_inode:[eventpoll]": KindEpoll,
		"anon_inode:[eventfd]":   KindEventfd,
		"anon_inode:[timerfd]":   KindTimerfd,
		"anon_inode:[signalfd]":  KindSignalfd,
		"anon_inode:inotify":     KindInotify,
		"anon_inode:[pidfd]":     KindPidfd,
		"pidfd:[77]":             KindPidfd,
		"/memfd:wayland":         KindMemfd,
		"anon_inode:[io_uring]":  KindOther,
		"anon_inode:bpf-map":     KindOther,
		"net:[4026531840]":       KindOther,
		"/home/a/socket:[1]":     KindOther, // its mode decides
		"":                       KindOther,
	} {
		if got := kindOfTarget(target); got != want {
			t.Errorf("%q = %s, want %s", target, got, want)
		}
	}
	for mode, want := range map[uint32]Kind{
		modeRegular: KindFile, modeDir: KindDir, modeChar: KindDevice, modeBlock: KindDevice, modeFIFO: KindPipe, modeSocket: KindSocket, 0: KindOther,
	} {
		if got := kindOfMode(mode); got != want {
			t.Errorf("mode %o = %s, want %s", mode, got, want)
		}
	}
}

func TestTypesCountsEveryDescriptorOnce(t *testing.T) {
	tree := newProcTree(t)
	tree.process(100, 1, 100, "server", map[int]string{
		0: "/dev/pts/1", 1: "socket:[1]", 2: "socket:[2]", 3: "/data/log (deleted)", 4: "/data", 5: "/dev/null", 6: "/gone/elsewhere",
	})
	tree.modes = map[string]uint32{"fd/3": modeRegular, "fd/4": modeDir, "fd/5": modeChar}
	tree.write("100/fdinfo/1", "pos:\t0\nflags:\t02\n")
	tree.fail["link fd/2"] = syscall.EACCES
	tree.fail["read fdinfo/2"] = syscall.EACCES
	b := tree.meter().Types(100, noon)
	wantKnown(t, "listed", b.Listed, 7)
	want := map[Kind]int{KindPTY: 1, KindSocket: 1, KindUnreadable: 1, KindFile: 1, KindDir: 1, KindDevice: 1, KindOther: 1}
	if !maps.Equal(b.Counts, want) {
		t.Errorf("counts %v, want %v", b.Counts, want)
	}
	if b.CloseOnExec != 5 || b.Inherited != 1 || b.FlagsUnknown != 1 {
		t.Errorf("close-on-exec %d, inherited %d, unknown %d", b.CloseOnExec, b.Inherited, b.FlagsUnknown)
	}
	if log := b.FDs[3]; !log.Deleted || log.Target != "/data/log" || log.CloseOnExec != MaybeYes {
		t.Errorf("deleted file = %+v", log)
	}
	if denied := b.FDs[2]; denied.Cause != Denied || denied.Target != "" || denied.CloseOnExec != MaybeUnknown {
		t.Errorf("denied = %+v", denied)
	}
	text, err := json.Marshal(b)
	if err != nil || !strings.Contains(string(text), `"unreadable":1`) {
		t.Errorf("JSON %s, %v", text, err)
	}
}

func TestADescriptorThatClosesMeanwhileIsNotCounted(t *testing.T) {
	tree := newProcTree(t)
	tree.process(100, 1, 100, "server", map[int]string{0: "pipe:[1]", 1: "pipe:[2]"})
	tree.fail["link fd/1"] = syscall.ENOENT
	b := tree.meter().Types(100, noon)
	wantKnown(t, "listed", b.Listed, 1)
	if b.Counts[KindUnreadable] != 0 || b.Counts[KindPipe] != 1 {
		t.Errorf("counts %v", b.Counts)
	}
}

func TestTypesThatAreDeniedAreNull(t *testing.T) {
	tree := newProcTree(t)
	tree.process(100, 1, 100, "server", map[int]string{0: "pipe:[1]"})
	tree.fail["names 100/fd"] = syscall.EACCES
	b := tree.meter().Types(100, noon)
	wantUnknown(t, "listed", b.Listed, Denied)
	if text, _ := json.Marshal(b); string(text) != "null" {
		t.Errorf("JSON %s", text)
	}
}

func TestGroupsPutPipesAndSocketsTogether(t *testing.T) {
	b := Breakdown{FDs: []FD{
		{Number: 0, Kind: KindPipe, Target: "pipe:[1]"},
		{Number: 1, Kind: KindPipe, Target: "pipe:[2]"},
		{Number: 2, Kind: KindFile, Target: "/a"},
		{Number: 3, Kind: KindFile, Target: "/a"},
		{Number: 4, Kind: KindFile, Target: "/a", Deleted: true},
		{Number: 5, Kind: KindPipe, Target: "/tmp/fifo"},
		{Number: 6, Kind: KindSocket, Target: "socket:[9]"},
	}}
	var got []string
	for _, g := range b.Groups() {
		got = append(got, g.Target+" "+strings.Repeat("x", g.Count))
	}
	want := []string{"/a xx", "pipe xx", "/a (deleted) x", "/tmp/fifo x", "socket x"}
	if !slices.Equal(got, want) {
		t.Errorf("groups %q, want %q", got, want)
	}
}

func breakdown(fds ...FD) Breakdown {
	return Breakdown{PID: 100, Birth: 7, Listed: Known(int64(len(fds))), FDs: fds}
}

func numbersIn(groups []Group) []int {
	numbers := []int{}
	for _, g := range groups {
		numbers = append(numbers, g.FDs...)
	}
	slices.Sort(numbers)
	return numbers
}

func TestCompareSaysWhatOpenedClosedAndSurvived(t *testing.T) {
	a := breakdown(
		FD{Number: 0, Kind: KindPTY, Target: "/dev/pts/1"},
		FD{Number: 3, Kind: KindSocket, Target: "socket:[1]"},
		FD{Number: 4, Kind: KindFile, Target: "/a"},
		FD{Number: 5, Kind: KindUnreadable},
		FD{Number: 6, Kind: KindPipe, Target: "pipe:[3]"},
	)
	b := breakdown(
		FD{Number: 0, Kind: KindPTY, Target: "/dev/pts/1"},
		FD{Number: 3, Kind: KindSocket, Target: "socket:[2]"}, // the number was used again
		FD{Number: 4, Kind: KindFile, Target: "/a", Deleted: true},
		FD{Number: 5, Kind: KindFile, Target: "/b"},
		FD{Number: 9, Kind: KindSocket, Target: "socket:[3]"},
	)
	diff := Compare(a, b)
	for what, pair := range map[string][2][]int{
		"opened":   {numbersIn(diff.Opened), {3, 9}},
		"closed":   {numbersIn(diff.Closed), {3, 6}},
		"survived": {numbersIn(diff.Survived), {0, 4}},
		"unknown":  {numbersIn(diff.Unknown), {5}},
	} {
		if !slices.Equal(pair[0], pair[1]) {
			t.Errorf("%s %v, want %v", what, pair[0], pair[1])
		}
	}
	if !diff.Complete || diff.Replaced || len(diff.Opened) != 1 || diff.Opened[0].Count != 2 {
		t.Errorf("diff %+v", diff)
	}
}

func TestCompareClaimsNothingWithoutBothSides(t *testing.T) {
	a := breakdown(FD{Number: 0, Kind: KindPipe, Target: "pipe:[1]"})
	diff := Compare(a, Breakdown{PID: 100, Birth: 7, Listed: Unknown(Denied)})
	if diff.Complete || diff.Cause != Denied || len(diff.Closed) != 0 {
		t.Errorf("diff %+v", diff)
	}
	other := a
	other.Birth = 8
	if diff := Compare(a, other); !diff.Replaced || len(diff.Closed) != 1 || len(diff.Opened) != 1 || len(diff.Survived) != 0 {
		t.Errorf("another process: %+v", diff)
	}
	cut := a
	cut.NotInspected = 5
	more := breakdown(a.FDs[0], FD{Number: 30, Kind: KindFile, Target: "/x"})
	if diff := Compare(cut, more); diff.Complete || len(diff.Opened) != 0 || !slices.Equal(numbersIn(diff.Unknown), []int{30}) {
		t.Errorf("after a cut: %+v", diff)
	}
	if diff := Compare(more, cut); len(diff.Closed) != 0 || !slices.Equal(numbersIn(diff.Unknown), []int{30}) {
		t.Errorf("before a cut: %+v", diff)
	}
}
