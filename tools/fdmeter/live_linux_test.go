package fdmeter

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

func TestARealGhostIsFoundAndALivePairIsNot(t *testing.T) {
	h := start(t, "menagerie")
	var animals []animal
	h.answer(&animals)
	var slaves []string
	for _, a := range animals {
		if a.Slave != "" {
			slaves = append(slaves, a.Slave)
		}
	}
	s := (&Meter{}).Survey(t.Context(), noon)
	var ghosts []string
	for _, g := range s.Ghosts() {
		if g.PID == h.pid() {
			ghosts = append(ghosts, g.Slave)
		}
	}
	if !slices.Equal(ghosts, slaves[1:]) { // the first one has its slave open
		t.Errorf("ghosts %v, want %v", ghosts, slaves[1:])
	}
	for _, a := range animals {
		if a.Socket == nil || a.Socket.Peer == 0 {
			continue
		}
		if holders := s.Holders(a.Socket.Peer); len(holders) != 1 || holders[0].PID != h.pid() {
			t.Errorf("the peer of %d is held by %+v", a.FD, holders)
		}
	}
	if !slices.ContainsFunc(s.Deleted(), func(d DeletedFile) bool { return d.PID == h.pid() && d.Size == Known(12345) }) {
		t.Errorf("the deleted file is missing in %+v", s.Deleted())
	}
}

func TestAChildsInheritanceIsProvedByTheKernel(t *testing.T) {
	null, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	other, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	cmd := exec.Command("sleep", "600")
	cmd.ExtraFiles = []*os.File{other}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	m := &Meter{}
	own, child := m.Types(os.Getpid(), noon), m.Types(cmd.Process.Pid, noon)
	if _, err := m.source().same(os.Getpid(), 0, cmd.Process.Pid, 0); err != nil {
		t.Skipf("the kernel does not compare: %v", err)
	}
	for _, s := range m.Inherited(own, child) {
		if s.FD.Number == 3 && (s.Shared != MaybeYes || s.By != ProofKernel || s.Origin != int(other.Fd())) {
			t.Errorf("descriptor 3: %+v; want it from %d, not from %d", s, other.Fd(), null.Fd())
		}
	}
}

// TestAVanishingProcessNeverReadsAsEmpty reads processes while they end. A
// count of 0 is a claim, and is right for one that has closed everything on its
// way out: from then on it never holds anything again.
func TestAVanishingProcessNeverReadsAsEmpty(t *testing.T) {
	m := &Meter{}
	for range 30 {
		cmd := exec.Command("true")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		pid := cmd.Process.Pid
		done := make(chan struct{})
		go func() {
			defer close(done)
			cmd.Wait()
		}()
		for empty, gone := false, false; !gone; {
			r := m.ReadTypes(pid, noon)
			n, known := r.Count.Get()
			switch {
			case !known && r.Count.Cause() != Gone:
				t.Errorf("count: %s", r.Count.Reason())
			case known && n > 0 && empty:
				t.Errorf("%d descriptors after none", n)
			}
			empty, gone = empty || known && n == 0, !known
			runtime.Gosched()
		}
		<-done
	}
}

// TestOtherUsersAreCountedAndNotListed drops the rights of one thread, which
// ends with the test.
func TestOtherUsersAreCountedAndNotListed(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to become another user")
	}
	h := start(t, "menagerie")
	var animals []animal
	h.answer(&animals)
	type seen struct {
		survey Survey
		read   Reading
	}
	done := make(chan seen)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with it
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, 65534, 65534, 65534); errno != 0 {
			t.Error(errno)
		}
		m := &Meter{}
		done <- seen{m.Survey(t.Context(), noon), m.Read(h.pid(), noon)}
	}()
	got := <-done
	n, known := got.read.Count.Get()
	if !known || n < int64(len(animals)) {
		t.Errorf("count %v", got.read.Count)
	}
	i := slices.IndexFunc(got.survey.Unseen, func(m Missing) bool { return m.PID == h.pid() })
	if i < 0 || got.survey.Unseen[i].Cause != Denied || got.survey.Complete() {
		t.Errorf("the helper is not among what could not be seen: %+v", got.survey.Unseen)
	}
	for _, g := range got.survey.Ghosts() {
		if g.Certain == MaybeYes {
			t.Errorf("certain of a ghost without having seen everything: %+v", g)
		}
	}
}
