package fdmeter

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// files is what procfs needs from the operating system, and the place where
// tests put failures.
type files interface {
	// isProc reports whether path lies on a proc file system.
	isProc(path string) bool
	// size returns st_size. It needs no descriptor.
	size(path string) (int64, error)
	// read returns the whole file, in buf where it fits.
	read(path string, buf []byte) ([]byte, error)
	// names calls each for every name in a folder except "." and "..", and
	// returns the number of the descriptor that was used for it.
	names(path string, each func(name []byte)) (used int, err error)
	// link reads a symbolic link. It needs no descriptor.
	link(path string) (string, error)
	// mode returns the type bits (S_IFMT) of what path leads to. It asks for
	// what is cached, so a dead network mount cannot hold it up.
	mode(path string) (uint32, error)
	// limits returns RLIMIT_NOFILE of a process.
	limits(pid int) (soft, hard uint64, err error)
	// exists reports whether a process is there, even one we may not see.
	exists(pid int) bool
}

// userHZ is the unit of start times in /proc: ticks a second, the same on
// every architecture Go runs on, whatever the kernel was built with.
const userHZ = 100

// procfs reads processes from a proc file system.
type procfs struct {
	root  string
	files files
	self  int  // our pid as that file system shows it; 0 when it shows another machine
	real  bool // root is a proc file system, so sizes and pids mean what they say

	boot struct {
		sync.Mutex
		at time.Time // zero until it was read
	}
}

func newProcfs(root string, f files) *procfs {
	p := &procfs{root: root, files: f, real: f.isProc(root)}
	if p.real {
		p.self = os.Getpid()
	}
	return p
}

// buffers holds what one small file of /proc is read into.
var buffers = sync.Pool{New: func() any { return new([4096]byte) }}

func (p *procfs) path(pid int, name string) string {
	return p.root + "/" + strconv.Itoa(pid) + "/" + name
}

// with reads a file and hands its bytes to use, which must not keep them.
func (p *procfs) with(path string, use func(text []byte) error) error {
	buf := buffers.Get().(*[4096]byte)
	defer buffers.Put(buf)
	text, err := p.files.read(path, buf[:0])
	if err != nil {
		return err
	}
	return use(text)
}

// hidden turns "does not exist" into "not permitted" for a process that is
// there: a proc file system mounted with hidepid shows it to its owner only.
func (p *procfs) hidden(pid int, err error) error {
	if p.real && isGone(err) && p.files.exists(pid) {
		return ErrDenied
	}
	return err
}

func (p *procfs) pids(each func(pid int)) error {
	_, err := p.files.names(p.root, func(name []byte) {
		if pid, ok := number(name); ok {
			each(pid)
		}
	})
	return err
}

func (p *procfs) identity(pid int) (Proc, error) {
	if pid <= 0 {
		return Proc{}, ErrGone
	}
	var who Proc
	err := p.with(p.path(pid, "stat"), func(text []byte) (err error) {
		who, err = parseStat(text)
		return err
	})
	if err != nil {
		return Proc{}, p.hidden(pid, err)
	}
	if boot := p.bootTime(); !boot.IsZero() {
		who.Started = boot.Add(time.Duration(who.Birth) * (time.Second / userHZ))
	}
	return who, nil
}

// bootTime returns the zero time when it cannot be read, and tries again then.
func (p *procfs) bootTime() time.Time {
	p.boot.Lock()
	defer p.boot.Unlock()
	if p.boot.at.IsZero() {
		err := p.with(p.root+"/stat", func(text []byte) error {
			seconds, err := parseBoot(text)
			if err == nil {
				p.boot.at = time.Unix(seconds, 0)
			}
			return err
		})
		if err != nil {
			return time.Time{}
		}
	}
	return p.boot.at
}

func (p *procfs) command(pid int) (argv []string, err error) {
	err = p.with(p.path(pid, "cmdline"), func(text []byte) error {
		argv = parseArgv(text)
		return nil
	})
	return argv, err
}

// count trusts the size of /proc/PID/fd when it is not 0, and lists otherwise.
func (p *procfs) count(pid int) (Value, Method) {
	if pid <= 0 {
		return Unknown(Gone), ByNone
	}
	n, method, err := p.countFolder(pid, p.path(pid, "fd"))
	if err == nil && n == 0 {
		n, method, err = p.countThreads(pid, method)
	}
	if err != nil {
		return failed(p.hidden(pid, err)), ByNone
	}
	return Known(n), method
}

func (p *procfs) countFolder(pid int, folder string) (int64, Method, error) {
	if p.real {
		size, err := p.files.size(folder)
		if err != nil {
			return 0, ByNone, err
		}
		if size > 0 {
			return size, ByStat, nil
		}
	}
	var n int64
	err := p.list(pid, folder, func(int) { n++ })
	return n, ByListing, err
}

// countThreads looks through the threads of a process that seems to have no
// descriptor. When its first thread has ended and others go on, /proc/PID/fd
// shows nothing although the others hold descriptors.
func (p *procfs) countThreads(pid int, method Method) (int64, Method, error) {
	var folders []string
	_, err := p.files.names(p.path(pid, "task"), func(name []byte) {
		if tid, ok := number(name); ok && tid != pid {
			folders = append(folders, p.path(pid, "task/"+string(name)+"/fd"))
		}
	})
	if isGone(err) {
		// Nothing to look through: the listing's answer stands if the
		// process does.
		return 0, method, p.stillThere(pid)
	}
	if err != nil {
		return 0, method, err
	}
	for _, folder := range folders {
		n, how, err := p.countFolder(pid, folder)
		if err == nil && n > 0 {
			return n, how, nil
		}
		if err != nil && !isGone(err) {
			return 0, how, err
		}
	}
	return 0, method, p.stillThere(pid)
}

// stillThere returns an error unless the process exists. A process that ended
// while it was listed shows an empty folder for a moment.
func (p *procfs) stillThere(pid int) error {
	_, err := p.files.size(p.path(pid, "fd"))
	return err
}

// list calls each for every number in a folder of descriptors.
func (p *procfs) list(pid int, folder string, each func(fd int)) error {
	if pid != p.self {
		_, err := p.files.names(folder, func(name []byte) {
			if fd, ok := number(name); ok {
				each(fd)
			}
		})
		return err
	}
	// Our own listing opens a descriptor and sees it. Its number is only
	// known for sure afterwards, so the numbers are kept until then.
	var fds []int
	used, err := p.files.names(folder, func(name []byte) {
		if fd, ok := number(name); ok {
			fds = append(fds, fd)
		}
	})
	if err != nil {
		return err
	}
	for _, fd := range fds {
		if fd != used {
			each(fd)
		}
	}
	return nil
}

func (p *procfs) numbers(pid int, each func(fd int, hint uint32)) error {
	if pid <= 0 {
		return ErrGone
	}
	if err := p.list(pid, p.path(pid, "fd"), func(fd int) { each(fd, 0) }); err != nil {
		return p.hidden(pid, err)
	}
	return nil
}

// limits asks the kernel, and reads /proc/PID/limits where that is refused:
// prlimit answers for our own user's processes only, the file for all.
func (p *procfs) limits(pid int) (soft, hard Value) {
	if pid <= 0 {
		return Unknown(Gone), Unknown(Gone)
	}
	if p.real {
		if s, h, err := p.files.limits(pid); err == nil {
			return limitValue(s), limitValue(h)
		}
	}
	err := p.with(p.path(pid, "limits"), func(text []byte) (err error) {
		soft, hard, err = parseLimits(text)
		return err
	})
	if err != nil {
		v := failed(p.hidden(pid, err))
		return v, v
	}
	return soft, hard
}

// limitValue turns RLIM_INFINITY, all ones or the highest signed number, into
// "unlimited".
func limitValue(n uint64) Value {
	if n >= 1<<63-1 {
		return Unknown(Unlimited)
	}
	return Known(int64(n))
}

func (p *procfs) describe(pid, fd int, _ uint32) (FD, error) {
	path := p.path(pid, "fd/"+strconv.Itoa(fd))
	target, err := p.files.link(path)
	if isGone(err) {
		return FD{}, ErrGone
	}
	out := FD{Number: fd, CloseOnExec: MaybeUnknown}
	if err != nil {
		out.Kind, out.Cause = KindUnreadable, causeOf(err)
	} else {
		out.Target, out.Deleted = strings.CutSuffix(target, " (deleted)")
		out.Kind = kindOfTarget(out.Target)
		if out.Kind == KindOther && strings.HasPrefix(out.Target, "/") {
			if mode, err := p.files.mode(path); err == nil {
				out.Kind = kindOfMode(mode)
			}
		}
	}
	err = p.with(p.path(pid, "fdinfo/"+strconv.Itoa(fd)), func(text []byte) error {
		flags, err := parseFlags(text)
		if err == nil {
			out.CloseOnExec = maybe(flags&closeOnExec != 0)
		}
		return err
	})
	if errors.Is(err, syscall.ENOENT) && p.real {
		// Closed between the two looks.
		if _, again := p.files.link(path); isGone(again) {
			return FD{}, ErrGone
		}
	}
	return out, nil
}

// closeOnExec is O_CLOEXEC as fdinfo writes it on every Linux architecture
// that Go runs on.
const closeOnExec = 0o2000000

func (p *procfs) system() System {
	var s System
	s.Files, s.FilesMax = p.filesUsed()
	s.PerProcess = p.sysctl("fs/nr_open")
	s.PTYs = p.sysctl("kernel/pty/nr")
	s.PTYsMax = p.sysctl("kernel/pty/max")
	s.PTYsReserve = p.sysctl("kernel/pty/reserve")
	return s
}

// filesUsed reads file-nr: allocated, allocated but free (0 since Linux 2.6),
// and the maximum.
func (p *procfs) filesUsed() (used, limit Value) {
	err := p.with(p.root+"/sys/fs/file-nr", func(text []byte) error {
		n, err := parseNumbers(text, 3)
		if err == nil {
			used, limit = Known(n[0]-n[1]), limitValue(uint64(n[2]))
		}
		return err
	})
	if err != nil {
		return failed(err), failed(err)
	}
	return used, limit
}

func (p *procfs) sysctl(name string) (v Value) {
	err := p.with(p.root+"/sys/"+name, func(text []byte) error {
		n, err := parseNumbers(text, 1)
		if err == nil {
			v = Known(n[0])
		}
		return err
	})
	if err != nil {
		if isGone(err) {
			return Unknown(Unsupported) // the kernel was built without it
		}
		return failed(err)
	}
	return v
}
