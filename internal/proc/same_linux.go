package proc

import (
	"os"
	"strconv"
)

// SameProgram reports whether a process runs the very file that this one runs,
// and with which arguments. A process that may not be looked at does not, as far
// as anybody can tell.
func SameProgram(pid int) (args []string, same bool) {
	mine, err := os.Stat("/proc/self/exe")
	if err != nil {
		return nil, false
	}
	its, err := os.Stat("/proc/" + strconv.Itoa(pid) + "/exe")
	if err != nil || !os.SameFile(mine, its) {
		return nil, false
	}
	g, err := Look(pid)
	return g.Args, err == nil && len(g.Args) > 0
}
