package hostbench

import (
	"strconv"
	"strings"
)

// The terminal that every host is asked to give its command.
const (
	cols = 80
	rows = 24
)

// A Task is one command for one host, which is started for it.
type Task struct {
	Command []string
	History int // lines that the host is asked to keep
	Held    int // descriptors that are open in the host from its start; 0: the usual three
	Limit   int // RLIMIT_NOFILE of the host, soft and hard; 0: as it is
}

// An End is how a host says that a command ended. The zero value says nothing.
type End struct {
	Code   *int   // nil: it names none
	Signal string // as it names it: "SIGKILL"; empty: it names none
	Words  string // what it says, in its own words; empty: nothing
}

// Kept is what a host holds of a task, and what it says of it.
type Kept struct {
	Text string // all that it can give back of the output
	End  End

	// Cut is how many lines it says are gone: 0 when it says nothing of it,
	// -1 when it gives no number.
	Cut     int64
	CutSays string

	// Trouble says that the host itself did not do what it was started for:
	// "exit 1", "SIGABRT". Said is what it wrote about that.
	Trouble string
	Said    string
}

// Numbers counts the lines of a text that are a number from 1 to last, each
// greater than the one before: what is left of `seq 1 last`.
func Numbers(text string, last int) int {
	n, before := 0, 0
	for line := range strings.Lines(text) {
		i, err := strconv.Atoi(strings.TrimSpace(line))
		if err == nil && i > before && i <= last {
			n, before = n+1, i
		}
	}
	return n
}

// seq prints the numbers from 1 and ends at once.
func seq(last int) []string { return []string{"seq", "1", strconv.Itoa(last)} }

// firstLine is the first line of what a program said, without control
// characters and not longer than a message is.
func firstLine(s string) string {
	const most = 160
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7F && r < 0xA0 {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// tells reports whether a text names the lack of descriptors as the cause.
func tells(text string) bool {
	t := strings.ToLower(text)
	for _, word := range []string{"too many open files", "emfile", "error 24", "file descriptor"} {
		if strings.Contains(t, word) {
			return true
		}
	}
	return false
}

// quote writes words as a shell reads them back.
func quote(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(out, " ")
}
