package input

import "golang.org/x/sys/unix"

// controllingTerminal returns the device number of the process's controlling
// terminal, which is what /dev/tty stands for.
func controllingTerminal(pid int) (uint64, bool) {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || p.Eproc.Tdev == -1 {
		return 0, false
	}
	return uint64(p.Eproc.Tdev), true
}
