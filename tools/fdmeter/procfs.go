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
	// size returns st_size and st_ino. It needs no descriptor and keeps nothing
	// of path.
	size(path cpath) (size int64, inode uint64, err error)
	// read returns the whole file, in buf where it fits.
	read(path string, buf []byte) ([]byte, error)
	// names calls each for every name in a folder except "." and "..", and
	// returns the number of the descriptor that was used for it. From is where
	// to begin: 0, or the place of a descriptor's number in /proc/PID/fd, see
	// placeOf. Names that stand before it may be left out and need not be.
	names(path cpath, from int64, each func(name []byte)) (used int, err error)
	// link reads a symbolic link. It needs no descriptor.
	link(path string) (string, error)
	// info describes what path leads to. It needs no descriptor, and asks for
	// what is cached, so that a dead network mount cannot hold it up.
	info(path string) (fileInfo, error)
	// protocol returns the name of a socket's protocol, such as "TCP".
	protocol(path string) string
	// limits returns RLIMIT_NOFILE of a process.
	limits(pid int) (soft, hard uint64, err error)
	// sockets reads the tables of all sockets of our network namespace.
	sockets() Sockets
	// same asks whether two descriptors are one open file description.
	same(pidA, fdA, pidB, fdB int) (bool, error)
	// exists reports whether a process is there, even one we may not see.
	exists(pid int) bool
}

// A cpath is a path that ends in the NUL the kernel wants, so that asking for
// it copies nothing.
type cpath []byte

func cpathOf(path string) cpath { return append([]byte(path), 0) }

func (c cpath) String() string { return string(c[:len(c)-1]) }

// A fileInfo is what stat says of a file.
type fileInfo struct {
	mode uint32 // type bits, S_IFMT
	size int64
	ino  uint64
	dev  uint64
	uid  uint32
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

// paths holds what a path is put together in.
var paths = sync.Pool{New: func() any { return new([128]byte) }}

// at puts a path together in buf, as far as it fits.
func (p *procfs) at(buf []byte, pid int, name string) cpath {
	path := append(append(buf, p.root...), '/')
	path = append(strconv.AppendInt(path, int64(pid), 10), '/')
	return append(append(path, name...), 0)
}

// sizeOf asks for a file or folder of a process, and allocates nothing: it is
// done for every process at every tick.
func (p *procfs) sizeOf(pid int, name string) (size int64, inode uint64, err error) {
	buf := paths.Get().(*[128]byte)
	defer paths.Put(buf)
	return p.files.size(p.at(buf[:0], pid, name))
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
	_, err := p.files.names(cpathOf(p.root), 0, func(name []byte) {
		if pid, ok := number(name); ok {
			each(pid)
		}
	})
	return err
}

// partial asks for the first process, which is always there: a proc file system
// mounted with hidepid does not list it to other users.
func (p *procfs) partial() bool {
	if !p.real || !p.files.exists(1) {
		return false
	}
	_, _, err := p.files.size(cpathOf(p.root + "/1"))
	return isGone(err)
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
//
// An inode of /proc belongs to one process: it gets its number from a counter
// when it is first asked for, and ends with the process. It may also be dropped
// and made anew when memory is short, so another number proves nothing.
func (p *procfs) count(pid int) (n Value, by Method, holder uint64) {
	if pid <= 0 {
		return Unknown(Gone), ByNone, 0
	}
	count, by, holder, err := p.countFolder(pid, "fd")
	if err == nil && count == 0 {
		count, by, err = p.countThreads(pid, by)
	}
	if err != nil {
		return failed(p.hidden(pid, err)), ByNone, 0
	}
	return Known(count), by, holder
}

func (p *procfs) countFolder(pid int, folder string) (n int64, by Method, holder uint64, err error) {
	if p.real {
		size, inode, err := p.sizeOf(pid, folder)
		if err != nil {
			return 0, ByNone, 0, err
		}
		if size > 0 {
			return size, ByStat, inode, nil
		}
	}
	n, err = p.countNames(pid, folder)
	return n, ByListing, 0, err
}

func (p *procfs) countNames(pid int, folder string) (n int64, err error) {
	err = p.list(pid, folder, func(int) { n++ })
	return n, err
}

// countThreads looks through the threads of a process that seems to have no
// descriptor. When its first thread has ended and others go on, /proc/PID/fd
// shows nothing although the others hold descriptors.
func (p *procfs) countThreads(pid int, method Method) (int64, Method, error) {
	var folders []string
	_, err := p.files.names(p.at(nil, pid, "task"), 0, func(name []byte) {
		if tid, ok := number(name); ok && tid != pid {
			folders = append(folders, "task/"+string(name)+"/fd")
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
		n, how, _, err := p.countFolder(pid, folder)
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
	_, _, err := p.sizeOf(pid, "fd")
	return err
}

// list calls each for every number in a folder of descriptors.
func (p *procfs) list(pid int, folder string, each func(fd int)) error {
	path := p.at(nil, pid, folder)
	if pid != p.self {
		_, err := p.files.names(path, 0, func(name []byte) {
			if fd, ok := number(name); ok {
				each(fd)
			}
		})
		return err
	}
	// Our own listing opens a descriptor and sees it. Its number is only
	// known for sure afterwards, so the numbers are kept until then.
	var fds []int
	used, err := p.files.names(path, 0, func(name []byte) {
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
	err := p.list(pid, "fd", func(fd int) { each(fd, 0) })
	if err != nil && causeOf(err) == NoDescriptors && p.real && p.probe(pid, each) {
		return nil
	}
	if err != nil {
		return p.hidden(pid, err)
	}
	return nil
}

// probe finds the descriptors when there is none left to list them with: it
// asks number after number whether there is a link, which needs none, until
// it has found as many as the size of the folder says. It reports false, and
// has called each for nothing, when it did not find them all.
func (p *procfs) probe(pid int, each func(fd int, hint uint32)) bool {
	folder := p.path(pid, "fd")
	count, _, err := p.sizeOf(pid, "fd")
	if err != nil || count <= 0 {
		return false
	}
	// Numbers are given out from the lowest free one, so few lie far apart.
	const slack = 4096
	found := make([]int, 0, count)
	for fd := 0; int64(fd) < count+slack && int64(len(found)) < count; fd++ {
		if _, err := p.files.link(folder + "/" + strconv.Itoa(fd)); err == nil {
			found = append(found, fd)
		} else if !isGone(err) {
			return false
		}
	}
	if int64(len(found)) < count {
		return false
	}
	for _, fd := range found {
		each(fd, 0)
	}
	return true
}

// limits asks the kernel, and reads /proc/PID/limits where that is refused:
// prlimit answers for our own user's processes only, the file for all.
func (p *procfs) limits(pid int) (soft, hard Value, by LimitMethod) {
	if pid <= 0 {
		return Unknown(Gone), Unknown(Gone), LimitsByNone
	}
	if p.real {
		if s, h, err := p.files.limits(pid); err == nil {
			return limitValue(s), limitValue(h), LimitsByPrlimit
		}
	}
	err := p.with(p.path(pid, "limits"), func(text []byte) (err error) {
		soft, hard, err = parseLimits(text)
		return err
	})
	if err != nil {
		v := failed(p.hidden(pid, err))
		return v, v, LimitsByNone
	}
	return soft, hard, LimitsByFile
}

// limitValue turns RLIM_INFINITY, all ones or the highest signed number, into
// "unlimited".
func limitValue(n uint64) Value {
	if n >= 1<<63-1 {
		return Unknown(Unlimited)
	}
	return Known(int64(n))
}

func (p *procfs) target(pid, fd int, _ uint32) (FD, error) {
	path := p.path(pid, "fd/"+strconv.Itoa(fd))
	target, err := p.files.link(path)
	if isGone(err) {
		return FD{}, ErrGone
	}
	out := FD{Number: fd, CloseOnExec: MaybeUnknown}
	if err != nil {
		out.Kind, out.Cause = KindUnreadable, causeOf(err)
	} else {
		p.kind(&out, path, target)
	}
	return out, nil
}

func (p *procfs) describe(pid, fd int, _ uint32) (FD, error) {
	path := p.path(pid, "fd/"+strconv.Itoa(fd))
	out, err := p.target(pid, fd, 0)
	if err != nil {
		return FD{}, err
	}
	err = p.with(p.path(pid, "fdinfo/"+strconv.Itoa(fd)), func(text []byte) error {
		detail, closeOnExec, err := parseDetail(text)
		if err == nil {
			detail.Size = out.Detail.Size
			out.Detail, out.CloseOnExec = detail, maybe(closeOnExec)
		}
		return err
	})
	if errors.Is(err, syscall.ENOENT) && p.real {
		// Closed between the two looks.
		if _, again := p.files.link(path); isGone(again) {
			return FD{}, ErrGone
		}
	}
	if err != nil {
		out.Detail.Cause = causeOf(err)
	}
	if out.Kind != KindInotify {
		out.Detail.Files = Value{}
	}
	return out, nil
}

// kind fills in what a descriptor's target says, and asks the file where the
// target does not settle it.
func (p *procfs) kind(out *FD, path, target string) {
	const deleted = " (deleted)"
	out.Target, out.Deleted = strings.CutSuffix(target, deleted)
	out.Kind = kindOfTarget(out.Target)
	if out.Kind == KindMemfd {
		out.Deleted = false
	}
	ask := out.Kind == KindOther && strings.HasPrefix(out.Target, "/")
	if !ask && !out.Deleted && out.Kind != KindMemfd {
		return
	}
	info, err := p.files.info(path)
	if err != nil {
		return
	}
	if ask {
		out.Kind = kindOfMode(info.mode)
	}
	if out.Deleted {
		// A file may be called "x (deleted)".
		if named, err := p.files.info(target); err == nil && p.real && named.ino == info.ino && named.dev == info.dev {
			out.Target, out.Deleted = target, false
			return
		}
	}
	if out.Deleted || out.Kind == KindMemfd {
		out.Detail.Size = Known(info.size)
	}
}
