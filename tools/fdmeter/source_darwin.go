package fdmeter

import (
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func systemSource() source { return libproc{} }

// libproc asks the proc_info system call, which libproc itself is made of.
// The call and its structures have kept their shape since Mac OS X 10.5.
type libproc struct{}

// Numbers of <sys/proc_info.h>.
const (
	callPIDInfo   = 2 // PROC_INFO_CALL_PIDINFO
	callPIDFDInfo = 3 // PROC_INFO_CALL_PIDFDINFO
	listFDs       = 1 // PROC_PIDLISTFDS
	vnodePathInfo = 2 // PROC_PIDFDVNODEPATHINFO
)

// procInfo returns how many bytes of buf were filled; with an empty buf, how
// many may be needed.
func procInfo(call, pid, flavor, arg int, buf []byte) (int, error) {
	n, _, errno := syscall.Syscall6(unix.SYS_PROC_INFO, uintptr(call), uintptr(pid), uintptr(flavor),
		uintptr(arg), uintptr(unsafe.Pointer(unsafe.SliceData(buf))), uintptr(len(buf)))
	if errno != 0 {
		return 0, errno
	}
	if len(buf) > 0 {
		return min(int(n), len(buf)), nil
	}
	return int(n), nil
}

// fds lists until the answer is shorter than the buffer: a full buffer may
// have cut it.
func (libproc) fds(pid int) ([]proxFD, error) {
	if pid <= 0 {
		return nil, ErrGone
	}
	need, err := procInfo(callPIDInfo, pid, listFDs, 0, nil)
	if err != nil {
		return nil, err
	}
	for size := need + 32*proxFDSize; ; size *= 2 {
		buf := make([]byte, size)
		n, err := procInfo(callPIDInfo, pid, listFDs, 0, buf)
		if err != nil {
			return nil, err
		}
		if n < size {
			return parseProxFDs(buf[:n])
		}
	}
}

func (libproc) partial() bool { return false }

func (libproc) pids(each func(pid int)) error {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return err
	}
	for i := range all {
		if pid := int(all[i].Proc.P_pid); pid > 0 {
			each(pid)
		}
	}
	return nil
}

func (libproc) identity(pid int) (Proc, error) {
	if pid <= 0 {
		return Proc{}, ErrGone
	}
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err == syscall.EIO {
		return Proc{}, ErrGone // an answer of no bytes
	}
	if err != nil {
		return Proc{}, err
	}
	if int(info.Proc.P_pid) != pid {
		return Proc{}, ErrGone
	}
	start := info.Proc.P_starttime
	who := Proc{
		PID:     pid,
		tty:     -1,
		Parent:  int(info.Eproc.Ppid),
		Name:    unix.ByteSliceToString(info.Proc.P_comm[:]),
		Birth:   uint64(start.Sec)*1_000_000 + uint64(start.Usec),
		Started: time.Unix(start.Sec, int64(start.Usec)*1000),
	}
	const zombie = 5 // SZOMB of <sys/proc.h>
	if info.Proc.P_stat == zombie {
		who.State = 'Z'
	}
	if sid, err := unix.Getsid(pid); err == nil {
		who.Session = sid
	}
	return who, nil
}

func (libproc) command(pid int) ([]string, error) {
	answer, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return nil, err
	}
	return parseProcArgs(answer)
}

func (l libproc) count(pid int) (n Value, by Method, holder uint64) {
	fds, err := l.fds(pid)
	if err != nil {
		return failed(err), ByNone, 0
	}
	return Known(int64(len(fds))), ByProcInfo, 0
}

func (l libproc) numbers(pid int, each func(fd int, hint uint32)) error {
	fds, err := l.fds(pid)
	for _, fd := range fds {
		each(int(fd.number), fd.kind)
	}
	return err
}

func (l libproc) highest(pid, _ int) (top, looked int, err error) {
	fds, err := l.fds(pid)
	top = -1
	for _, fd := range fds {
		top = max(top, int(fd.number))
	}
	return top, len(fds), err
}

// limits knows our own; macOS tells nobody those of another process.
func (libproc) limits(pid int) (soft, hard Value, by LimitMethod) {
	if pid != os.Getpid() {
		return Unknown(Unsupported), Unknown(Unsupported), LimitsByNone
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return failed(err), failed(err), LimitsByNone
	}
	return darwinLimit(limit.Cur), darwinLimit(limit.Max), LimitsByOwn
}

func darwinLimit(n uint64) Value {
	if n >= 1<<63-1 { // RLIM_INFINITY
		return Unknown(Unlimited)
	}
	return Known(int64(n))
}

// describe is told the type of the descriptor by the listing, as the hint.
func (libproc) describe(pid, number int, hint uint32) (FD, error) {
	if hint != proxVnode {
		return FD{Number: number, Kind: proxKind(hint)}, nil
	}
	var buf [vnodeSize]byte
	n, err := procInfo(callPIDFDInfo, pid, vnodePathInfo, number, buf[:])
	if err == syscall.EBADF {
		return FD{}, ErrGone
	}
	if err != nil {
		return FD{Number: number, Kind: KindUnreadable, Cause: causeOf(err)}, nil
	}
	return parseVnode(number, buf[:n])
}

// system reads the file table and the size of the terminal pool. macOS has no
// figure for how many terminals of the pool are in use.
func (libproc) system() System {
	return System{
		Files:       sysctlValue("kern.num_files"),
		FilesMax:    sysctlValue("kern.maxfiles"),
		PerProcess:  sysctlValue("kern.maxfilesperproc"),
		PTYs:        Unknown(Unsupported),
		PTYsMax:     sysctlValue("kern.tty.ptmx_max"),
		PTYsReserve: Unknown(Unsupported),
	}
}

func sysctlValue(name string) Value {
	n, err := unix.SysctlUint32(name)
	if err != nil {
		return failed(err)
	}
	return Known(int64(n))
}

func (libproc) owner(pid int) (int, error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err == syscall.EIO {
		return -1, ErrGone // an answer of no bytes
	}
	if err != nil {
		return -1, err
	}
	return int(info.Eproc.Ucred.Uid), nil
}

// target is as cheap as describe.
func (l libproc) target(pid, fd int, hint uint32) (FD, error) { return l.describe(pid, fd, hint) }

func (l libproc) moved(s *System)                 { s.Files = sysctlValue("kern.num_files") }
func (libproc) newest() (int, bool)               { return 0, false }
func (libproc) alive(int) bool                    { return true }
func (libproc) sockets() Sockets                  { return noSockets(Unsupported) }
func (libproc) elsewhere(int) Maybe               { return MaybeUnknown }
func (libproc) protocol(int, int) string          { return "" }
func (libproc) same(_, _, _, _ int) (bool, error) { return false, ErrUnsupported }

func (libproc) bootID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}
