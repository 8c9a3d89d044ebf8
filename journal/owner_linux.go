package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
)

// began returns when a process was started, in clock ticks since boot. The
// error matches os.ErrNotExist when there is no such process; one that ended
// and waits for its parent counts as none. proc_pid_stat(5), fields 3 and 22.
func began(pid int) (uint64, error) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, err
	}
	// The name, in brackets, may hold blanks and brackets itself.
	fields := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
	const state, start = 0, 19
	if len(fields) <= start {
		return 0, errors.New("read process state: it is not as proc_pid_stat(5) says")
	}
	if s := fields[state][0]; s == 'Z' || s == 'X' {
		return 0, fmt.Errorf("process %d has ended: %w", pid, os.ErrNotExist)
	}
	return strconv.ParseUint(string(fields[start]), 10, 64)
}
