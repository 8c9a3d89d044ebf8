package readfile

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/tools/safepath"
)

// TestMain runs this binary as the process that holds many descriptors, when
// the environment says how many. A process of its own keeps the others free of
// them.
func TestMain(m *testing.M) {
	if n := os.Getenv("READFILE_HOLDS"); n != "" {
		os.Exit(holdAndRead(n, os.Getenv("READFILE_PATH")))
	}
	os.Exit(m.Run())
}

// holdAndRead holds n descriptors, reads the file, and says what it got. It
// prints "limit" when the system does not let it have so many.
func holdAndRead(n, path string) int {
	want, err := strconv.Atoi(n)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	highest := 0
	for range want {
		fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) {
			fmt.Println("limit")
			return 0
		}
		if err != nil {
			fmt.Println(err)
			return 1
		}
		highest = max(highest, fd)
	}
	r, err := Read(ctxForHelper(), safepath.Policy{Home: "/home/nobody-here"}, Params{Path: path}, "")
	if err != nil || r.FileSize == nil || r.TotalLines == nil {
		fmt.Println("read:", err)
		return 1
	}
	if highest < want {
		fmt.Println("only", highest, "descriptors were held")
		return 1
	}
	fmt.Print("read ", *r.FileSize, " ", r.BytesRead, " ", *r.TotalLines, " ", strings.Count(r.Content, "\n")+1)
	return 0
}
