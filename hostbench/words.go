package hostbench

import (
	"cmp"
	"os"
	"strconv"
	"syscall"

	"github.com/honestty/honestty/outcome"
)

func firstOf(ss ...string) string { return cmp.Or(ss...) }

func itoa(n int) string { return strconv.Itoa(n) }

// signalName is "SIGKILL" for "9", and what it was given for anything else.
func signalName(number string) string {
	n, err := strconv.Atoi(number)
	if err != nil {
		return number
	}
	return outcome.SignalName(syscall.Signal(n))
}

func count(n int) string { return outcome.Count(int64(n)) }

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
