package hook

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// look reads a process: its name and parent from kern.proc, its arguments from
// kern.procargs2, which only the same user may read.
func look(pid int) (parent, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return parent{}, err
	}
	p := parent{name: unix.ByteSliceToString(k.Proc.P_comm[:]), up: int(k.Eproc.Ppid)}
	if raw, err := unix.SysctlRaw("kern.procargs2", pid); err == nil {
		p.args = procargs(raw)
	}
	return p, nil
}

// procargs reads argv out of kern.procargs2: the count, the path, padding, and
// the arguments with a NUL after each.
func procargs(raw []byte) []string {
	if len(raw) < 4 {
		return nil
	}
	n := int(binary.LittleEndian.Uint32(raw))
	_, rest, _ := bytes.Cut(raw[4:], []byte{0})
	rest = bytes.TrimLeft(rest, "\x00")
	var args []string
	for len(args) < n && len(rest) > 0 {
		var a []byte
		a, rest, _ = bytes.Cut(rest, []byte{0})
		args = append(args, string(a))
	}
	return args
}
