package proc

import "golang.org/x/sys/unix"

// A Glance is what a process is doing, as far as it can be seen.
type Glance struct {
	PID  int
	Name string   // the kernel's short name
	Args []string // argv; nil when it cannot be read
	Dir  string   // working directory; empty when it cannot be read
}

// Look glances at a process. Only its name can be had on macOS without cgo.
func Look(pid int) (Glance, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return Glance{}, err
	}
	return Glance{PID: pid, Name: unix.ByteSliceToString(k.Proc.P_comm[:])}, nil
}
