package terminal

import (
	"fmt"
	"os"
	"testing"

	"github.com/honestty/honestty/internal/proc"
)

// TestMain keeps descriptors that the test runner leaks from the children,
// as the program does at its start.
func TestMain(m *testing.M) {
	if err := proc.SealInherited(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
