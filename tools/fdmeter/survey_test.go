package fdmeter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// terminalTree has three masters: one with a slave that is open, one whose
// slave is somebody's controlling terminal, and one with nobody.
func terminalTree(t *testing.T) *procTree {
	tree := newProcTree(t)
	tree.process(100, 1, 100, "host", map[int]string{5: "/dev/ptmx", 6: "/dev/ptmx", 7: "/dev/ptmx", 8: "/data/log (deleted)"})
	tree.modes["fd/8"] = modeRegular
	for fd, index := range map[int]string{5: "1", 6: "2", 7: "3"} {
		tree.write("100/fdinfo/"+string(rune('0'+fd)), "pos:\t0\nflags:\t02\ntty-index:\t"+index+"\n")
	}
	tree.process(101, 100, 101, "shell", map[int]string{0: "/dev/pts/1"})
	tree.process(102, 100, 102, "closed", nil)
	tree.write("102/stat", strings.Replace(statLine(102, 100, 102, "closed", 5), " 34816 ", " 34818 ", 1)) // 136:2
	tree.process(103, 1, 103, "plain", nil)
	tree.write("103/stat", strings.Replace(statLine(103, 1, 103, "plain", 5), " 34816 ", " 0 ", 1))
	for _, pid := range []string{"100", "101"} {
		n := map[string]int{"100": 100, "101": 101}[pid]
		tree.write(pid+"/stat", strings.Replace(statLine(n, 1, n, "p", 5), " 34816 ", " 0 ", 1))
	}
	return tree
}

func TestAGhostIsAMasterWithoutALiveSlave(t *testing.T) {
	tree := terminalTree(t)
	s := tree.meter().Survey(t.Context(), noon)
	ghosts := s.Ghosts()
	if len(ghosts) != 1 || ghosts[0].Slave != "/dev/pts/3" || ghosts[0].PID != 100 || ghosts[0].FD != 7 || ghosts[0].Certain != MaybeYes {
		t.Errorf("ghosts %+v", ghosts)
	}
	if gone := s.Deleted(); len(gone) != 1 || gone[0].Path != "/data/log" || gone[0].FD != 8 {
		t.Errorf("deleted %+v", gone)
	}
	if got := s.Terminals(); len(got) != 3 || !slices.Equal(got[1].Sessions, []int{102}) {
		t.Errorf("terminals %+v", got)
	}
}

func TestAGhostIsNotCertainWhenSomebodyCouldNotBeLookedAt(t *testing.T) {
	tree := terminalTree(t)
	tree.fail["names 103/fd"] = syscall.EACCES
	s := tree.meter().Survey(t.Context(), noon)
	if ghosts := s.Ghosts(); len(ghosts) != 1 || ghosts[0].Certain != MaybeUnknown || s.Complete() {
		t.Errorf("ghosts %+v", ghosts)
	}
	if want := []Missing{{103, "plain", "not permitted", Denied}}; !slices.Equal(s.Unseen, want) {
		t.Errorf("unseen %+v", s.Unseen)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if s := tree.meter().Survey(ended, noon); !s.Cut || s.Complete() {
		t.Error("a survey that was ended early does not say so")
	}
}

func TestAMasterWhoseSlaveIsNotSaidIsAnUncertainGhost(t *testing.T) {
	tree := terminalTree(t)
	tree.fail["read fdinfo/7"] = syscall.EMFILE
	ghosts := tree.meter().Survey(t.Context(), noon).Ghosts()
	if len(ghosts) != 1 || ghosts[0].Slave != "" || ghosts[0].Certain != MaybeUnknown {
		t.Errorf("ghosts %+v", ghosts)
	}
}

func TestTheNumberOfAControllingTerminalIsDecoded(t *testing.T) {
	for device, want := range map[int64]int{
		0: -1, 34816: 0, 34816 + 7: 7, 136<<8 | 255: 255, 136<<8 | 1<<20: 256, 137<<8 | 3: 259, 4<<8 | 1: -1, 5 << 8: -1, -1: -1,
	} {
		if got := ptsOf(device); got != want {
			t.Errorf("device %d: %d, want %d", device, got, want)
		}
	}
}

func TestSharedDescriptorsAreProvedOrNotClaimed(t *testing.T) {
	tree := newProcTree(t)
	tree.proc = true
	tree.sizes["fd"] = 0
	info := "pos:\t%s\nflags:\t%s\n"
	write := func(pid, fd, pos, flags string) {
		tree.write(pid+"/fdinfo/"+fd, strings.Replace(strings.Replace(info, "%s", pos, 1), "%s", flags, 1))
	}
	tree.process(100, 1, 100, "parent", map[int]string{3: "pipe:[5]", 4: "pipe:[5]", 5: "/data/log", 6: "/dev/null", 7: "socket:[9]"})
	tree.process(101, 100, 101, "child", map[int]string{0: "pipe:[5]", 1: "/data/log", 2: "/dev/null", 3: "socket:[9]", 4: "/own", 9: "/data/log"})
	for _, w := range [][4]string{
		{"100", "3", "0", "00"},
		{"100", "4", "0", "01"},
		{"100", "5", "77", "01"},
		{"100", "6", "0", "02"},
		{"100", "7", "0", "02"},
		{"101", "0", "0", "01"},
		{"101", "1", "77", "01"},
		{"101", "2", "0", "02"},
		{"101", "3", "0", "02"},
		{"101", "4", "0", "02"},
		{"101", "9", "5", "01"},
	} {
		write(w[0], w[1], w[2], w[3])
	}
	m := tree.meter()
	parent, child := m.Types(100, noon), m.Types(101, noon)
	check := func(what string, want map[int]Shared) {
		t.Helper()
		for _, got := range m.Inherited(parent, child) {
			w := want[got.FD.Number]
			if got.Origin != w.Origin || got.Shared != w.Shared || got.By != w.By {
				t.Errorf("%s: descriptor %d: from %d, %v by %v; want %+v", what, got.FD.Number, got.Origin, got.Shared, got.By, w)
			}
		}
	}
	tree.fail["kcmp "] = syscall.EPERM
	check("refused", map[int]Shared{
		0: {Origin: 4, Shared: MaybeYes, By: ProofInode}, 1: {Origin: 5, Shared: MaybeYes, By: ProofPosition},
		2: {Origin: -1}, 3: {Origin: 7, Shared: MaybeYes, By: ProofInode}, 4: {Origin: -1, Shared: MaybeNo}, 9: {Origin: -1},
	})
	delete(tree.fail, "kcmp ")
	tree.one = map[[4]int]bool{{100, 6, 101, 2}: true}
	check("by the kernel", map[int]Shared{
		0: {Origin: -1, Shared: MaybeNo, By: ProofKernel}, 1: {Origin: -1, Shared: MaybeNo, By: ProofKernel},
		2: {Origin: 6, Shared: MaybeYes, By: ProofKernel}, 3: {Origin: -1, Shared: MaybeNo, By: ProofKernel},
		4: {Origin: -1, Shared: MaybeNo}, 9: {Origin: -1, Shared: MaybeNo, By: ProofKernel},
	})
}

func TestOurOwnDescriptorsAreSharedOutAmongTheParts(t *testing.T) {
	tree := newProcTree(t)
	tree.process(100, 1, 100, "honestty", map[int]string{0: "/dev/pts/1", 3: "anon_inode:[eventpoll]", 4: "anon_inode:[eventfd]", 9: "/dev/ptmx", 10: "pidfd:[1]", 11: "socket:[4]"})
	share := tree.meter().Own(noon, 100, []Part{{"pane 1", []int{9, 10, 44}}, {"waiter", []int{3}}, {"twice", []int{9}}})
	wantKnown(t, "listed", share.Listed, 6)
	var rest []int
	for _, fd := range share.Rest {
		rest = append(rest, fd.Number)
	}
	if len(share.Parts[0].FDs) != 2 || !slices.Equal(share.Parts[0].Missing, []int{44}) || len(share.Parts[1].FDs) != 1 ||
		len(share.Parts[2].FDs) != 0 || len(share.Parts[2].Missing) != 0 || !slices.Equal(rest, []int{0, 4, 11}) {
		t.Errorf("share %+v", share)
	}
	tree.fail["names 100/fd"] = syscall.EACCES
	share = tree.meter().Own(noon, 100, []Part{{"pane 1", []int{9}}})
	wantUnknown(t, "listed", share.Listed, Denied)
	if len(share.Parts[0].Missing) != 0 {
		t.Error("what could not be looked at is said to be missing")
	}
}

func TestProcessesAreFoundByPatternAndByUser(t *testing.T) {
	tree := newProcTree(t)
	for pid, user := range map[string]string{"100": "0", "101": "1000"} {
		tree.process(map[string]int{"100": 100, "101": 101}[pid], 1, 1, "python3", nil)
		tree.write(pid+"/status", "Name:\tpython3\nUid:\t0\t"+user+"\t0\t0\n")
	}
	tree.write("101/cmdline", "python3\x00-m\x00hermes_cli.main\x00serve\x00")
	m := tree.meter()
	found, scan := m.Match(regexp.MustCompile(`hermes_cli\.main serve`))
	if got := pidsOf(found); !slices.Equal(got, []int{101}) || !scan.Complete() {
		t.Errorf("by pattern %v, %+v", got, scan)
	}
	found, _ = m.OfUser(1000)
	if got := pidsOf(found); !slices.Equal(got, []int{101}) {
		t.Errorf("of user 1000 %v", got)
	}
	tree.fail["read 101/status"] = syscall.EACCES
	if found, scan := m.OfUser(1000); len(found) != 0 || scan.Denied != 1 || scan.Complete() {
		t.Errorf("%v, %+v; want one that could not be looked at", found, scan)
	}
}

func TestASocketThatIsInNoTableSaysWhy(t *testing.T) {
	tree := newProcTree(t)
	tree.proc = true
	tree.process(100, 1, 100, "p", map[int]string{3: "socket:[1]", 4: "socket:[2]", 5: "socket:[3]"})
	tree.protocols = map[string]string{"fd/4": "TCP", "fd/5": "ALG"}
	tree.tables = Sockets{ByInode: map[uint64]Socket{1: {Inode: 1, Protocol: "tcp", State: "close-wait", Remote: "10.0.0.1:443"}}, Unknown: map[string]Cause{}}
	m := tree.meter()
	b := m.Types(100, noon)
	m.Join(&b, m.Sockets())
	if s := b.FDs[0].Socket; s == nil || s.State != "close-wait" {
		t.Errorf("listed: %+v", s)
	}
	if fd := b.FDs[1]; fd.Socket == nil || fd.Socket.Protocol != "tcp" || fd.Socket.State != "" || fd.SocketCause != NotListed {
		t.Errorf("neither bound nor connected: %+v, %v", fd.Socket, fd.SocketCause)
	}
	var names []string
	for _, g := range b.Peers() {
		names = append(names, g.Target)
	}
	if want := []string{"alg (not in the socket tables)", "tcp (not in the socket tables)", "tcp close-wait to 10.0.0.1:443"}; !slices.Equal(names, want) {
		t.Errorf("peers %q", names)
	}
	for pid, namespace := range map[string]string{"100": "net:[2]", fmt.Sprint(os.Getpid()): "net:[1]"} {
		folder := filepath.Join(tree.root, pid, "ns")
		if err := errors.Join(os.MkdirAll(folder, 0o755), os.Symlink(namespace, filepath.Join(folder, "net"))); err != nil {
			t.Fatal(err)
		}
	}
	b = m.Types(100, noon)
	m.Join(&b, m.Sockets())
	if fd := b.FDs[1]; fd.SocketCause != Elsewhere || fd.Words() != "tcp" {
		t.Errorf("in another namespace: %+v, %v, %q", fd.Socket, fd.SocketCause, fd.Words())
	}
	if err := os.RemoveAll(filepath.Join(tree.root, "100/ns")); err != nil {
		t.Fatal(err)
	}
	tree.tables = noSockets(NoDescriptors)
	b = m.Types(100, noon)
	m.Join(&b, m.Sockets())
	for _, fd := range b.FDs[:2] {
		if fd.SocketCause != NoDescriptors {
			t.Errorf("without the tables: %+v, %v", fd.Socket, fd.SocketCause)
		}
	}
}
