package proc

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// A Glance is what a process is doing, as far as it can be seen.
type Glance struct {
	PID  int
	Name string   // the kernel's short name
	Args []string // argv; nil when it cannot be read
	Dir  string   // working directory; empty when it cannot be read
}

// Look glances at a process. The error is set only when nothing of it can be
// seen; what cannot be read by itself stays empty.
func Look(pid int) (Glance, error) {
	base := "/proc/" + strconv.Itoa(pid)
	s, err := readStat(pid)
	if err != nil {
		return Glance{}, err
	}
	g := Glance{PID: pid, Name: s.name}
	if raw, err := os.ReadFile(base + "/cmdline"); err == nil && len(raw) > 0 {
		for _, a := range bytes.Split(bytes.TrimSuffix(raw, []byte{0}), []byte{0}) {
			g.Args = append(g.Args, string(a))
		}
	}
	if dir, err := os.Readlink(base + "/cwd"); err == nil {
		g.Dir = strings.TrimSuffix(dir, " (deleted)")
	}
	return g, nil
}
