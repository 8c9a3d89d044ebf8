package fdmeter

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// firstExists is a system whose first process is there, as it is on every one.
type firstExists struct{ *faulty }

func (firstExists) exists(pid int) bool { return pid == 1 }

func TestAListWithoutTheFirstProcessIsNotTheWholeList(t *testing.T) {
	tree := newProcTree(t)
	tree.proc = true
	src := newProcfs(tree.root, firstExists{&tree.faulty})
	if !src.partial() {
		t.Error("the first process is there and is not shown, and the list counts as whole")
	}
	tree.fail["size 1"] = os.ErrPermission
	if src.partial() {
		t.Error("a look that is refused proves that it is hidden")
	}
	delete(tree.fail, "size 1")
	if err := os.Mkdir(filepath.Join(tree.root, "1"), 0o755); err != nil {
		t.Fatal(err)
	}
	if src.partial() {
		t.Error("a list with the first process counts as partial")
	}
}

func TestHiddenProcessesAreToldAndNotLookedForAtEveryTick(t *testing.T) {
	w := newWorld()
	w.born = 5000
	w.add(100, 1, upTo(5))
	w.hides = true
	m := &Meter{src: w}
	if _, scan := m.All(); !scan.Hidden || scan.Complete() || scan.Unseen() != 0 {
		t.Errorf("scan %+v", scan)
	}
	s := NewSampler(m)
	snap := s.Sample(noon, []int{100})
	before := w.scans
	for i := range listTicks - 1 {
		snap = s.Sample(noon.Add(time.Duration(i+1)*time.Second), []int{100})
	}
	if !snap.Scan.Hidden || snap.Scan.Complete() || w.scans != before {
		t.Errorf("scan %+v, %d lists more", snap.Scan, w.scans-before)
	}
	a := m.report(t.Context(), Params{}, noon)
	if a.Err == nil || errors.Is(a.Err, ErrGone) || len(a.Result.(*ToolResult).Processes) == 0 {
		t.Errorf("the tool answers %+v", a)
	}
}
