package hook

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
)

// look reads a process: its name, arguments and parent (proc_pid_stat(5),
// fields 2 and 4).
func look(pid int) (parent, error) {
	dir := "/proc/" + strconv.Itoa(pid)
	raw, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return parent{}, err
	}
	// The name, in brackets, may hold blanks and brackets itself.
	open, end := bytes.IndexByte(raw, '('), bytes.LastIndexByte(raw, ')')
	if open < 0 || end < open {
		return parent{}, errors.New("read process: it has no name")
	}
	fields := strings.Fields(string(raw[end+1:]))
	if len(fields) < 2 {
		return parent{}, errors.New("read process: it has no parent")
	}
	p := parent{name: string(raw[open+1 : end])}
	if p.up, err = strconv.Atoi(fields[1]); err != nil {
		return parent{}, err
	}
	if line, err := os.ReadFile(dir + "/cmdline"); err == nil {
		p.args = strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
	}
	return p, nil
}
