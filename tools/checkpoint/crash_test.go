package checkpoint

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/honestty/honestty/internal/leak"
)

func TestFailedStepKeepsNothingAndLeavesNothing(t *testing.T) {
	for _, step := range []string{"create", "write", "sync", "verify", "rename", "folder", "index"} {
		before := leak.Take(t)
		b := newBench(t, Limits{})
		old := b.keep(b.file("old", "old"))
		b.step = func(name string) error {
			if name == step {
				return errBroken
			}
			return nil
		}
		if _, err := b.tryKeep(b.file("new", "new")); !errors.Is(err, errBroken) {
			t.Errorf("%s: error = %v", step, err)
		}
		b.step = func(string) error { return nil }
		l, err := b.List()
		if err != nil || len(l.Entries) != 1 || l.Entries[0].ID != old.ID {
			t.Errorf("%s: list = %+v, %v", step, l, err)
		}
		if got := b.names(b.at(tempsName)); len(got) != 0 {
			t.Errorf("%s: left %q", step, got)
		}
		if _, err := b.Prune(Limits{}); err != nil {
			t.Errorf("%s: %v", step, err)
		}
		if got := b.names(b.at(blobsName)); len(got) != 1 {
			t.Errorf("%s: contents %q after the sweep", step, got)
		}
		before.Check(t)
	}
}

func TestKilledAtAnyStepTheStoreReadsAndTheFileIsWhole(t *testing.T) {
	steps := []string{
		"create", "write", "sync", "verify", "rename", "folder", "index",
		"restore create", "restore write", "restore sync", "restore rename", "restore folder",
	}
	for _, step := range steps {
		b := newBench(t, Limits{})
		path := b.file("f", "one")
		first := b.keep(path)
		b.file("f", "two, longer")
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "CHECKPOINT_DIES_AT="+step, "CHECKPOINT_DIR="+b.Dir(), "CHECKPOINT_FILE="+path)
		out, err := cmd.CombinedOutput()
		status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if !ok || status.Signal() != syscall.SIGKILL {
			t.Fatalf("%s: the process ended by itself: %v %s", step, err, out)
		}
		if got := b.content(path); got != "one" && got != "two, longer" {
			t.Errorf("%s: the file holds %q", step, got)
		}
		l, err := b.List()
		if err != nil || len(l.Entries) == 0 || l.Entries[len(l.Entries)-1].ID != first.ID {
			t.Errorf("%s: list = %+v, %v", step, l, err)
		}
		for _, e := range l.Entries {
			if err := b.intact(e); err != nil {
				t.Errorf("%s: %v", step, err)
			}
		}
		pruned, err := b.Prune(Limits{})
		if err != nil {
			t.Errorf("%s: %v", step, err)
		}
		inside := slices.Contains([]string{"write", "sync", "verify", "rename"}, step) || strings.HasPrefix(step, "restore ")
		if swept := pruned.Temps == 1; swept != inside {
			t.Errorf("%s: swept %+v", step, pruned)
		}
		if got := b.names(b.work); !slices.Equal(got, []string{"f"}) {
			t.Errorf("%s: beside the file after the sweep: %q", step, got)
		}
		if _, err := b.Restore(anyPolicy(), RestoreOrder{ID: first.ID}); err != nil || b.content(path) != "one" {
			t.Errorf("%s: restore afterwards: %v", step, err)
		}
	}
}

func TestTornLastLineIsSkippedSaidAndWrittenPast(t *testing.T) {
	b := newBench(t, Limits{})
	b.keep(b.file("a", "a"))
	raw := b.content(b.at(indexName))
	for cut := 1; cut < len(raw)-1; cut += 7 { // with all but its end it is a whole line
		if err := os.WriteFile(b.at(indexName), []byte(raw+raw[:cut]), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := b.List()
		if err != nil || len(l.Entries) != 1 || l.Damaged != 1 {
			t.Fatalf("cut at %d: %+v, %v", cut, l, err)
		}
		b.keep(b.file("b", "b"))
		if l, err := b.List(); err != nil || len(l.Entries) != 2 || l.Damaged != 1 {
			t.Fatalf("cut at %d, one more: %+v, %v", cut, l, err)
		}
	}
	p, err := b.Prune(Limits{})
	if err != nil || p.Lines != 1 {
		t.Errorf("prune = %+v, %v", p, err)
	}
	if l, err := b.List(); err != nil || l.Damaged != 0 || len(l.Entries) != 2 {
		t.Errorf("after prune: %+v, %v", l, err)
	}
}
