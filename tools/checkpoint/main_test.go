package checkpoint

import (
	"fmt"
	"os"
	"syscall"
	"testing"
)

// TestMain runs this binary as the process that dies in the middle, when the
// environment says at which step.
func TestMain(m *testing.M) {
	if step := os.Getenv("CHECKPOINT_DIES_AT"); step != "" {
		os.Exit(dieAt(step, os.Getenv("CHECKPOINT_DIR"), os.Getenv("CHECKPOINT_FILE")))
	}
	os.Exit(m.Run())
}

// dieAt keeps the file and then restores its first checkpoint, and kills its
// own process at the step.
func dieAt(step, dir, file string) int {
	s, err := Open(dir, Limits{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	s.step = func(name string) error {
		if name == step {
			if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
				return err
			}
			select {} // the signal ends it
		}
		return nil
	}
	f, err := os.Open(file)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if _, err := s.Keep(f, file, "dying"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	l, err := s.List()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	first := l.Entries[len(l.Entries)-1]
	if _, err := s.Restore(anyPolicy(), RestoreOrder{ID: first.ID}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
