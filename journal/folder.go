package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Names inside the folder.
const (
	currentName = "journal.jsonl"
	lockName    = "journal.lock"
	resultsName = "results"

	oldPrefix, oldSuffix = "journal-", ".jsonl"
)

// ErrNotOurs matches the error of a folder or file that is not ours to write:
// a symbolic link, another kind of file, another owner.
var ErrNotOurs = errors.New("not a file of ours")

func oldName(first int64) string {
	return oldPrefix + strconv.FormatInt(first, 10) + oldSuffix
}

// makeFolder makes the folder when there is none, and refuses what is not a
// folder of our own.
func makeFolder(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return fmt.Errorf("make journal folder: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make journal folder: %w", err)
	}
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return fmt.Errorf("look at journal folder: %w", err)
	}
	if err := ours(&st, unix.S_IFDIR); err != nil {
		return fmt.Errorf("open journal folder: %w", err)
	}
	if st.Mode&0o077 != 0 {
		if err := os.Chmod(dir, 0o700); err != nil {
			return fmt.Errorf("close journal folder to others: %w", err)
		}
	}
	return nil
}

// ours refuses what is of another kind or belongs to somebody else.
func ours(st *unix.Stat_t, kind uint32) error {
	switch got := uint32(st.Mode) & unix.S_IFMT; {
	case got == unix.S_IFLNK:
		return fmt.Errorf("%w: a symbolic link is in its place", ErrNotOurs)
	case got != kind:
		return fmt.Errorf("%w: something of another kind is in its place", ErrNotOurs)
	case int(st.Uid) != os.Geteuid():
		return fmt.Errorf("%w: it belongs to user %d", ErrNotOurs, st.Uid)
	}
	return nil
}

// openOurs opens a file of ours and makes it 0600. A symbolic link is refused
// by the kernel (ELOOP), what else is not ours by us.
func openOurs(path string, flags int) (int, unix.Stat_t, error) {
	var st unix.Stat_t
	fd, err := unix.Open(path, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0o600)
	if err != nil {
		if errors.Is(err, unix.ELOOP) {
			err = fmt.Errorf("%w: a symbolic link is in its place", ErrNotOurs)
		}
		return -1, st, err
	}
	if err = unix.Fstat(fd, &st); err == nil {
		err = ours(&st, unix.S_IFREG)
	}
	if err == nil && st.Mode&0o077 != 0 && flags&(unix.O_WRONLY|unix.O_RDWR) != 0 {
		err = unix.Fchmod(fd, 0o600)
	}
	if err != nil {
		return -1, st, errors.Join(err, unix.Close(fd))
	}
	return fd, st, nil
}

// olds returns the numbers of the first events of the renamed files, oldest
// first. A folder that is not there has none.
func olds(dir string) ([]int64, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list journal folder: %w", err)
	}
	var out []int64
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		mid := strings.TrimSuffix(strings.TrimPrefix(e.Name(), oldPrefix), oldSuffix)
		if n, err := strconv.ParseInt(mid, 10, 64); err == nil && n > 0 && oldName(n) == e.Name() {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, nil
}

// A lock is the right to write to the folder, shared by all processes. It
// belongs to whoever has the journal's turn.
type lock struct{ fd int }

// stale reports whether the open lock file is no longer the one in the folder.
func (l *lock) stale(path string) bool {
	var mine, there unix.Stat_t
	return unix.Fstat(l.fd, &mine) != nil || unix.Lstat(path, &there) != nil || !sameFile(&mine, &there)
}

func sameFile(a, b *unix.Stat_t) bool { return a.Ino == b.Ino && a.Dev == b.Dev }

func (l *lock) close() {
	if l.fd >= 0 {
		_ = unix.Close(l.fd) // a lock file holds no data that closing could lose
		l.fd = -1
	}
}

// errHeld is why a try to lock did not work: another process writes.
var errHeld = errors.New("another process holds the journal's lock")

// try takes the lock of the folder at once or says why not.
func (l *lock) try(path string) error {
	if l.fd >= 0 && l.stale(path) {
		l.close()
	}
	if l.fd < 0 {
		fd, _, err := openOurs(path, unix.O_RDWR|unix.O_CREAT)
		if err != nil {
			return fmt.Errorf("open lock: %w", err)
		}
		l.fd = fd
	}
	switch err := unix.Flock(l.fd, unix.LOCK_EX|unix.LOCK_NB); {
	case errors.Is(err, unix.EWOULDBLOCK), errors.Is(err, unix.EINTR):
		return errHeld
	case err != nil:
		return fmt.Errorf("lock: %w", err)
	}
	if l.stale(path) { // removed between opening and locking
		l.close()
		return errHeld
	}
	return nil
}

func (l *lock) release() {
	if l.fd >= 0 {
		_ = unix.Flock(l.fd, unix.LOCK_UN) // closing would release it too
	}
}
