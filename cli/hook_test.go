package cli

import (
	"errors"
	"os"
	"testing"
	"time"
)

func TestAnAgentThatHoldsTheInputOpenIsNotWaitedFor(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	in, err := patientInput(r, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if n, err := in.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read %d bytes: %v, want that the time is up", n, err)
	}
}
