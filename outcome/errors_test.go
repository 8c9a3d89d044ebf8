package outcome

import (
	"fmt"
	"syscall"
	"testing"
)

func TestTheNameOfAnErrorIsWrittenOnce(t *testing.T) {
	err := fmt.Errorf("open a pipe: EMFILE (%w)", syscall.EMFILE)
	if got, want := Errno(err), "open a pipe: EMFILE (too many open files)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := Errno(syscall.EMFILE), "too many open files (EMFILE)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
