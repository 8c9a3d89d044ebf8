package ctl

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// lockPatience is how long a window waits for the lock. It is held for
	// some calls of the file system; longer means that its holder was stopped.
	lockPatience = 2 * time.Second
	lockRetry    = 5 * time.Millisecond

	// probePatience is how long a probe waits. The kernel answers a connection
	// to a unix socket at once.
	probePatience = time.Second
)

// A folder is a private folder of sockets with its lock. The lock file stays
// open, so that a process without a descriptor to spare can still clean up.
type folder struct {
	path     string
	uid      int
	lock     *os.File
	patience time.Duration // for the lock
}

func openFolder(path string, uid int) (*folder, error) {
	lock, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock of the socket folder: %w", err)
	}
	if err := lock.Chmod(0o600); err != nil { // the umask may have taken bits from the owner
		return nil, errors.Join(fmt.Errorf("open lock of the socket folder: %w", err), lock.Close())
	}
	return &folder{path: path, uid: uid, lock: lock, patience: lockPatience}, nil
}

func (f *folder) close() error { return f.lock.Close() }

// locked runs do while no other window changes the folder.
func (f *folder) locked(do func() error) error {
	raw, err := f.lock.SyscallConn()
	if err != nil {
		return fmt.Errorf("lock socket folder: %w", err)
	}
	deadline := time.Now().Add(f.patience)
	for {
		err := flock(raw, unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return fmt.Errorf("lock socket folder: %w", err)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("lock socket folder: %w: %s", ErrLocked, f.path)
		}
		time.Sleep(lockRetry)
	}
	return errors.Join(do(), flock(raw, unix.LOCK_UN))
}

func flock(raw syscall.RawConn, how int) error {
	var err error
	cerr := raw.Control(func(fd uintptr) {
		for {
			if err = unix.Flock(int(fd), how); err != unix.EINTR {
				return
			}
		}
	})
	return errors.Join(cerr, err)
}

// An answer of probe.
type liveness uint8

const (
	unsure liveness = iota // nobody can tell; it is left alone
	alive
	refused // the kernel refused: nobody listens and nobody will
)

// probe asks the kernel whether somebody listens.
func probe(path string) liveness {
	c, err := net.DialTimeout("unix", path, probePatience)
	if err == nil {
		_ = c.Close() // nothing was written
		return alive
	}
	if errors.Is(err, unix.ECONNREFUSED) {
		return refused
	}
	return unsure
}

// A socket is one socket file of a folder.
type socket struct {
	name string
	info fs.FileInfo
}

// sockets lists our own sockets, the newest first.
func (f *folder) sockets() ([]socket, error) { return socketsIn(f.path, f.uid) }

func socketsIn(dir string, uid int) ([]socket, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []socket
	for _, e := range entries {
		if e.Type()&fs.ModeSocket == 0 || !strings.HasSuffix(e.Name(), suffix) {
			continue
		}
		if info, err := e.Info(); err == nil && ownerOf(info) == uid { // an error: it has just gone
			out = append(out, socket{e.Name(), info})
		}
	}
	slices.SortFunc(out, func(a, b socket) int {
		if c := b.info.ModTime().Compare(a.info.ModTime()); c != 0 {
			return c
		}
		return strings.Compare(a.name, b.name)
	})
	return out, nil
}

// sweep removes the sockets on which nobody listens and returns the names of
// the others, the newest first. It must run under the lock: a window that has
// bound and does not listen yet is refused too.
func (f *folder) sweep() ([]string, error) {
	all, err := f.sockets()
	if err != nil {
		return nil, fmt.Errorf("list sockets: %w", err)
	}
	var rest []string
	for _, s := range all {
		path := filepath.Join(f.path, s.name)
		if probe(path) != refused {
			rest = append(rest, s.name)
			continue
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("remove stale socket: %w", err)
		}
	}
	return rest, nil
}

// clear makes room for a socket at path: a stale one is removed. It must run
// under the lock.
func (f *folder) clear(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSocket == 0:
		return &UnsafeError{path, "is in the way and no socket: remove it"}
	case ownerOf(info) != f.uid:
		return &UnsafeError{path, fmt.Sprintf("is in the way and belongs to uid %d", ownerOf(info))}
	}
	switch probe(path) {
	case alive:
		return fmt.Errorf("%w: %q", ErrInUse, path)
	case refused:
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove stale socket: %w", err)
		}
		return nil
	}
	return fmt.Errorf("%w, or nobody can tell: %q", ErrInUse, path)
}

// bind makes the socket, listening and 0600. It must run under the lock.
func (f *folder) bind(path string) (*net.UnixListener, fs.FileInfo, error) {
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, nil, err
	}
	ln.SetUnlinkOnClose(false) // only under the lock, and only when it is still ours
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, nil, errors.Join(err, ln.Close(), os.Remove(path))
	}
	info, err := os.Lstat(path)
	if err != nil {
		return nil, nil, errors.Join(err, ln.Close(), os.Remove(path))
	}
	return ln, info, nil
}

// point makes the link to the latest window, in one step. It must run under
// the lock.
func (f *folder) point(name string) error {
	next := filepath.Join(f.path, "."+Latest)
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("link latest window: %w", err)
	}
	if err := os.Symlink(name, next); err != nil {
		return fmt.Errorf("link latest window: %w", err)
	}
	if err := os.Rename(next, filepath.Join(f.path, Latest)); err != nil {
		return errors.Join(fmt.Errorf("link latest window: %w", err), os.Remove(next))
	}
	return nil
}

// latest returns the name the link holds, or "" when there is no link or it
// leads out of the folder.
func latest(dir string) string {
	name, err := os.Readlink(filepath.Join(dir, Latest))
	if err != nil || name != filepath.Base(name) {
		return ""
	}
	return name
}

// release removes the socket when it is still the one that info describes, and
// hands the link on to the newest window that is left. It must run under the
// lock and while the socket still listens: then nobody can have taken it for
// stale, and its inode cannot be another's.
func (f *folder) release(name string, info fs.FileInfo) error {
	path := filepath.Join(f.path, name)
	var errs []error
	if now, err := os.Lstat(path); err == nil && os.SameFile(now, info) {
		errs = append(errs, os.Remove(path))
	}
	if latest(f.path) != name {
		return errors.Join(errs...)
	}
	// A list that cannot be read only costs the link: clients look without it.
	if rest, err := f.sweep(); err == nil && len(rest) > 0 {
		errs = append(errs, f.point(rest[0]))
	} else if err := os.Remove(filepath.Join(f.path, Latest)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
