package fdmeter

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// noon is when tests begin; it lies on the border of a cell.
var noon = time.Unix(1_700_000_040, 0).Truncate(CellSpan)

// A world is a scripted machine for the Sampler.
type world struct {
	hides  bool // see partial
	procs  map[int]*actor
	denied error  // answer to pids when set
	listed func() // called by every listing when set
	lists  map[int]int
	lasts  map[int]int // what highest was told last
	counts map[int]int
	looks  map[int]int
	scans  int // lists of processes
	pools  int // times the machine's figures were brought up to date
	born   int // what newest says; 0: not known
}

type actor struct {
	who    Proc
	argv   []string
	fds    []int
	soft   int64
	err    error // answer to count and numbers
	hidden error // answer to identity
	uid    int
	size   int64 // what count says when not len(fds)
	holder uint64
	listed bool // it is counted by listing
	late   bool // it was given its pid and is not there yet
}

func newWorld() *world {
	w := &world{procs: map[int]*actor{}, lists: map[int]int{}, lasts: map[int]int{}, counts: map[int]int{}, looks: map[int]int{}}
	w.add(os.Getpid(), 1, upTo(5))
	return w
}

func (w *world) add(pid, parent int, fds []int) *actor {
	a := &actor{
		who:  Proc{PID: pid, Parent: parent, Session: pid, Name: fmt.Sprintf("p%d", pid), Birth: uint64(1000 + pid)},
		fds:  fds,
		soft: 1024,
	}
	w.procs[pid] = a
	return a
}

func upTo(n int) []int {
	fds := make([]int, n)
	for i := range fds {
		fds[i] = i
	}
	return fds
}

func (w *world) partial() bool { return w.hides }

func (w *world) pids(each func(int)) error {
	w.scans++
	if w.denied != nil {
		return w.denied
	}
	for pid, a := range w.procs {
		if !a.late && !a.who.thread {
			each(pid)
		}
	}
	return nil
}

func (w *world) identity(pid int) (Proc, error) {
	w.looks[pid]++
	a := w.procs[pid]
	if a == nil || a.late {
		return Proc{}, syscall.ENOENT
	}
	return a.who, a.hidden
}

func (w *world) command(pid int) ([]string, error) {
	if a := w.procs[pid]; a != nil {
		return a.argv, nil
	}
	return nil, syscall.ENOENT
}

func (w *world) count(pid int) (Value, Method, uint64) {
	w.counts[pid]++
	a := w.procs[pid]
	switch {
	case a == nil:
		return Unknown(Gone), ByNone, 0
	case a.err != nil:
		return failed(a.err), ByNone, 0
	case a.size > 0:
		return Known(a.size), ByStat, a.holder
	case a.listed:
		return Known(int64(len(a.fds))), ByListing, 0
	}
	return Known(int64(len(a.fds))), ByStat, a.holder
}

func (w *world) numbers(pid int, each func(int, uint32)) error {
	w.lists[pid]++
	if w.listed != nil {
		defer w.listed()
	}
	a := w.procs[pid]
	if a == nil {
		return syscall.ENOENT
	}
	for _, fd := range a.fds {
		each(fd, 0)
	}
	return a.err
}

func (w *world) highest(pid, last int) (top, looked int, err error) {
	w.lasts[pid] = last
	top = -1
	err = w.numbers(pid, func(fd int, _ uint32) {
		top = max(top, fd)
		looked++
	})
	return top, looked, err
}

func (w *world) limits(pid int) (Value, Value, LimitMethod) {
	if a := w.procs[pid]; a != nil {
		return Known(a.soft), Known(1 << 20), LimitsByPrlimit
	}
	return Unknown(Gone), Unknown(Gone), LimitsByNone
}

func (w *world) owner(pid int) (int, error) {
	if a := w.procs[pid]; a != nil {
		return a.uid, nil
	}
	return -1, syscall.ENOENT
}

func (w *world) alive(pid int) bool                          { return w.procs[pid] != nil && !w.procs[pid].late }
func (w *world) newest() (int, bool)                         { return w.born, w.born != 0 }
func (w *world) target(pid, fd int, hint uint32) (FD, error) { return w.describe(pid, fd, hint) }
func (w *world) moved(s *System)                             { w.pools++ }
func (w *world) sockets() Sockets                            { return noSockets(Unsupported) }
func (w *world) elsewhere(int) Maybe                         { return MaybeUnknown }
func (w *world) protocol(int, int) string                    { return "" }
func (w *world) same(_, _, _, _ int) (bool, error)           { return false, ErrUnsupported }
func (w *world) bootID() string                              { return "" }

func (w *world) describe(_, fd int, _ uint32) (FD, error) {
	return FD{Number: fd, Kind: KindPipe, Target: fmt.Sprintf("pipe:[%d]", fd)}, nil
}

func (w *world) system() System {
	return System{Known(100), Known(100_000), Known(1 << 20), Known(3), Known(4096), Known(1024)}
}

func (w *world) sampler() *Sampler { return NewSampler(&Meter{src: w}) }

// faulty is the operating system with failures and sizes put in its place.
type faulty struct {
	systemFiles
	proc  bool              // claim to be a proc file system
	fail  map[string]error  // by operation and end of the path: "link fd/3"
	sizes map[string]int64  // by end of the path
	modes map[string]uint32 // by end of the path

	tables    Sockets
	protocols map[string]string // by end of the path
	one       map[[4]int]bool   // pairs of descriptors that are one
}

func (f *faulty) failing(op, path string) error {
	for key, err := range f.fail {
		if want, end, _ := strings.Cut(key, " "); want == op && strings.HasSuffix(path, "/"+end) {
			return err
		}
	}
	return nil
}

func (f *faulty) isProc(string) bool { return f.proc }

func (f *faulty) size(c cpath) (int64, uint64, error) {
	path := c.String()
	if err := f.failing("size", path); err != nil {
		return 0, 0, err
	}
	for end, size := range f.sizes {
		if strings.HasSuffix(path, "/"+end) {
			return size, 0, nil
		}
	}
	_, _, err := f.systemFiles.size(c)
	return 0, 0, err
}

func (f *faulty) read(path string, buf []byte) ([]byte, error) {
	if err := f.failing("read", path); err != nil {
		return nil, err
	}
	return f.systemFiles.read(path, buf)
}

func (f *faulty) names(path cpath, _ int64, each func([]byte)) (int, error) {
	if err := f.failing("names", path.String()); err != nil {
		return -1, err
	}
	return f.systemFiles.names(path, 0, each) // places mean nothing there
}

func (f *faulty) link(path string) (string, error) {
	if err := f.failing("link", path); err != nil {
		return "", err
	}
	return f.systemFiles.link(path)
}

func (f *faulty) info(path string) (fileInfo, error) {
	for end, mode := range f.modes {
		if strings.HasSuffix(path, "/"+end) {
			return fileInfo{mode: mode, size: f.sizes[end]}, nil
		}
	}
	return f.systemFiles.info(path)
}

func (f *faulty) sockets() Sockets { return f.tables }

func (f *faulty) protocol(path string) string {
	for end, name := range f.protocols {
		if strings.HasSuffix(path, "/"+end) {
			return name
		}
	}
	return ""
}

func (f *faulty) same(pidA, fdA, pidB, fdB int) (bool, error) {
	if err := f.failing("kcmp", "/"); err != nil {
		return false, err
	}
	return f.one[[4]int{pidA, fdA, pidB, fdB}], nil
}

func (f *faulty) limits(pid int) (uint64, uint64, error) {
	if err := f.failing("limits", "/"); err != nil {
		return 0, 0, err
	}
	return 0, 0, syscall.EPERM
}

func (f *faulty) exists(pid int) bool { return pid == hiddenPID }

// hiddenPID exists and is shown to nobody.
const hiddenPID = 666

// A tree is a folder laid out like /proc.
type procTree struct {
	t    *testing.T
	root string
	faulty
}

func newProcTree(t *testing.T) *procTree {
	tree := &procTree{t: t, root: t.TempDir()}
	tree.faulty = faulty{fail: map[string]error{}, sizes: map[string]int64{}, modes: map[string]uint32{}}
	tree.write("stat", "cpu 1 2 3\nbtime 1700000000\nprocesses 9\n")
	tree.write("sys/fs/file-nr", "1408\t0\t2466193\n")
	tree.write("sys/fs/nr_open", "1048576\n")
	tree.write("sys/kernel/pty/nr", "2\n")
	tree.write("sys/kernel/pty/max", "4096\n")
	tree.write("sys/kernel/pty/reserve", "1024\n")
	return tree
}

func (p *procTree) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.root, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		p.t.Fatal(err)
	}
}

// process adds a process; fds maps a number to its target.
func (p *procTree) process(pid, parent, session int, name string, fds map[int]string) {
	p.t.Helper()
	p.write(fmt.Sprintf("%d/stat", pid), statLine(pid, parent, session, name, 5000+uint64(pid)))
	p.write(fmt.Sprintf("%d/cmdline", pid), "/usr/bin/"+name+"\x00--flag\x00")
	p.write(fmt.Sprintf("%d/limits", pid), "Limit                     Soft Limit           Hard Limit           Units     \n"+
		"Max processes             63432                63432                processes \n"+
		"Max open files            1024                 524288               files     \n")
	folder := filepath.Join(p.root, fmt.Sprint(pid), "fd")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		p.t.Fatal(err)
	}
	for fd, target := range fds {
		if err := os.Symlink(target, filepath.Join(folder, fmt.Sprint(fd))); err != nil {
			p.t.Fatal(err)
		}
		p.write(fmt.Sprintf("%d/fdinfo/%d", pid, fd), "pos:\t0\nflags:\t02000002\nmnt_id:\t9\n")
	}
}

func statLine(pid, parent, session int, name string, start uint64) string {
	return fmt.Sprintf("%d (%s) S %d %d %d 34816 100 4194304 1 2 3 4 5 6 7 8 20 0 1 0 %d 99 100 18446744073709551615\n",
		pid, name, parent, pid, session, start)
}

func (p *procTree) meter() *Meter { return &Meter{Root: p.root, src: newProcfs(p.root, &p.faulty)} }

func pidsOf(procs []Proc) []int {
	pids := []int{}
	for _, who := range procs {
		pids = append(pids, who.PID)
	}
	slices.Sort(pids)
	return pids
}

func wantKnown(t *testing.T, what string, v Value, want int64) {
	t.Helper()
	if n, known := v.Get(); !known || n != want {
		t.Errorf("%s = %v (%s), want %d", what, v, v.Reason(), want)
	}
}

func wantUnknown(t *testing.T, what string, v Value, want Cause) {
	t.Helper()
	if n, known := v.Get(); known || v.Cause() != want {
		t.Errorf("%s = %d known %v cause %v, want unknown: %v", what, n, known, v.Cause(), want)
	}
}
