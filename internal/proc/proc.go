package proc

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/fdwait"
)

// ErrReaped is returned by Signal once the process has been reaped: its pid
// may belong to somebody else by now.
var ErrReaped = errors.New("process already reaped")

// A Spec says what to start.
type Spec struct {
	Path  string   // the file to execute, as LookPath returned it
	Args  []string // argv, with argv[0]
	Env   []string
	Dir   string // empty: our own directory
	Files [3]int // become 0, 1 and 2; still owned by the caller
	// Terminal makes descriptor 0 the controlling terminal of the child's new
	// session.
	Terminal bool
}

// A Status is how a process ended.
type Status struct {
	Code   int            // exit code, -1 when a signal ended it
	Signal syscall.Signal // 0 when it exited
	Core   bool           // a core was dumped
}

// A Process is a child of ours in a session of its own, whose pid is also its
// process group and session.
//
//	goroutine  started by  ends on             joined by
//	watch      Start       the child's exit    Exited
type Process struct {
	PID     int
	Started time.Time

	exited chan struct{} // closed when the child is a zombie or, without a pidfd, gone

	mu     sync.Mutex
	pidfd  int // -1 when there is none
	reaped bool
	status Status
	broken error  // why nobody can tell how it ended
	start  uint64 // kernel start time, checked before a signal without a pidfd
}

// Start starts the child in a new session. An error means that nothing runs
// and nothing is left open.
func Start(p *fdwait.Poller, s Spec) (*Process, error) {
	pidfd := -1
	attr := &syscall.ProcAttr{
		Dir:   s.Dir,
		Env:   s.Env,
		Files: []uintptr{uintptr(s.Files[0]), uintptr(s.Files[1]), uintptr(s.Files[2])},
		Sys:   sysProcAttr(&pidfd, s.Terminal),
	}
	began := time.Now() // before: on a busy machine the child runs long before we do again
	pid, err := syscall.ForkExec(s.Path, s.Args, attr)
	if err != nil {
		return nil, err
	}
	c := &Process{PID: pid, Started: began, pidfd: pidfd, exited: make(chan struct{})}
	if pidfd >= 0 {
		w, err := p.Register(pidfd)
		if err != nil {
			c.abandon()
			return nil, err
		}
		go c.watch(w)
		return c, nil
	}
	c.start, _ = startTime(pid) // 0 when it is gone already; then Signal refuses
	go c.block()
	return c, nil
}

// abandon ends a child that cannot be watched: nothing is started halfway.
func (c *Process) abandon() {
	_ = unix.Kill(-c.PID, unix.SIGKILL)
	_ = unix.Kill(c.PID, unix.SIGKILL)
	var ws syscall.WaitStatus
	for {
		if _, err := syscall.Wait4(c.PID, &ws, 0, nil); err != syscall.EINTR {
			break
		}
	}
	_ = unix.Close(c.pidfd)
}

// watch parks until the pidfd says that the child has ended. A wait that fails
// is no end, and a pidfd that is ready without a zombie means that a debugger
// has the exit first: both are waited out in a thread.
func (c *Process) watch(w *fdwait.Waiter) {
	defer close(c.exited)
	defer w.Close()
	if ready, _ := w.Wait(-1); ready && exitedWithoutReaping(c.PID) {
		return
	}
	c.await()
}

// block waits for the child in a thread of its own, where there is no pidfd.
func (c *Process) block() {
	defer close(c.exited)
	c.await()
}

// await blocks until the child has ended. Where the system can wait without
// reaping, the pid stays the child's own until Reap.
func (c *Process) await() {
	if !awaitWithoutReaping(c.PID) {
		c.wait4()
	}
}

func (c *Process) wait4() {
	var ws syscall.WaitStatus
	for {
		_, err := syscall.Wait4(c.PID, &ws, 0, nil)
		if err == syscall.EINTR {
			continue
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.took(ws, err)
		return
	}
}

// Exited is closed when the child has ended. On Linux its pid is still its own
// until Reap.
func (c *Process) Exited() <-chan struct{} { return c.exited }

// Reap waits for the end, returns how the child ended and gives its pid back.
// Somebody must call it, or the child stays a zombie; later calls return the
// same.
func (c *Process) Reap() (Status, error) {
	<-c.exited
	c.mu.Lock()
	defer c.mu.Unlock()
	defer func() {
		if c.pidfd >= 0 {
			_ = unix.Close(c.pidfd)
			c.pidfd = -1
		}
	}()
	if c.reaped {
		return c.status, c.broken
	}
	var ws syscall.WaitStatus
	for {
		_, err := syscall.Wait4(c.PID, &ws, 0, nil)
		if err == syscall.EINTR {
			continue
		}
		c.took(ws, err)
		return c.status, c.broken
	}
}

// took records what wait4 said. mu is held.
func (c *Process) took(ws syscall.WaitStatus, err error) {
	c.reaped = true
	if err != nil {
		c.status, c.broken = Status{Code: -1}, fmt.Errorf("wait for pid %d: %w", c.PID, err)
		return
	}
	c.status = statusOf(ws)
}

// SignalGroup sends sig to the child's process group. It refuses once the
// child was reaped.
func (c *Process) SignalGroup(sig syscall.Signal) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reaped {
		return ErrReaped
	}
	// With a pidfd the pid is ours until Reap, which takes the same lock.
	if c.pidfd < 0 {
		now, err := startTime(c.PID)
		if err != nil || now != c.start {
			return ErrReaped
		}
	}
	err := unix.Kill(-c.PID, sig)
	if errors.Is(err, unix.ESRCH) {
		err = unix.Kill(c.PID, sig)
	}
	if errors.Is(err, unix.EPERM) && c.pidfd >= 0 {
		// macOS answers EPERM when one member of the group has another owner
		// (sudo), Linux when all have; the leader may still be reached.
		err = unix.Kill(c.PID, sig)
	}
	return err
}

func statusOf(ws syscall.WaitStatus) Status {
	if ws.Signaled() {
		return Status{Code: -1, Signal: ws.Signal(), Core: ws.CoreDump()}
	}
	return Status{Code: ws.ExitStatus()}
}

// LookPath finds the file to execute for name the way a shell would, in the
// PATH of env. A name with a slash is taken relative to dir.
func LookPath(name, dir string, env []string) (string, error) {
	if name == "" {
		return "", &NotFoundError{Name: name}
	}
	for i := range len(name) {
		if name[i] == '/' {
			return name, executable(name, dir)
		}
	}
	var denied error
	for _, d := range splitPath(Getenv(env, "PATH")) {
		path := d + "/" + name
		err := executable(path, dir)
		if err == nil {
			return path, nil
		}
		if errors.Is(err, os.ErrPermission) {
			denied = err
		}
	}
	if denied != nil {
		return "", denied
	}
	return "", &NotFoundError{Name: name}
}

// A NotFoundError reports a command that is in no folder of PATH.
type NotFoundError struct{ Name string }

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("command %q not found in PATH", e.Name)
}

func (e *NotFoundError) Is(target error) bool { return target == os.ErrNotExist }

func executable(path, dir string) error {
	at := path
	if dir != "" && path[0] != '/' {
		at = dir + "/" + path
	}
	fi, err := os.Stat(at)
	if err != nil {
		return err
	}
	if fi.IsDir() {
		return &os.PathError{Op: "execute", Path: path, Err: syscall.EISDIR}
	}
	if err := unix.Access(at, unix.X_OK); err != nil {
		return &os.PathError{Op: "execute", Path: path, Err: err}
	}
	return nil
}

// splitPath cuts PATH. An empty element means the current folder, as POSIX
// has it, but we never search that: a file left in a folder must not run
// because somebody typed its name.
func splitPath(path string) []string {
	var dirs []string
	for len(path) > 0 {
		i := 0
		for i < len(path) && path[i] != ':' {
			i++
		}
		if i > 0 {
			dirs = append(dirs, path[:i])
		}
		path = path[min(i+1, len(path)):]
	}
	return dirs
}

// Getenv returns the last value of key in env, or "".
func Getenv(env []string, key string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if len(env[i]) > len(key) && env[i][len(key)] == '=' && env[i][:len(key)] == key {
			return env[i][len(key)+1:]
		}
	}
	return ""
}
