package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// A temp is a folder that a message is being written in. Its lock says that
// somebody still writes.
type temp struct {
	path string
	lock *os.File
	kept bool // renamed: it is a message now
}

// newTemp makes a locked temporary folder.
func newTemp(dir, key string) (*temp, error) {
	const tries = 100 // a folder that a sweep took in the moment before the lock
	for n := range tries {
		path := filepath.Join(dir, fmt.Sprintf("%s%s-%d", tempPrefix, safeKey(key), n))
		err := os.Mkdir(path, 0o700)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		lock, ok, err := hold(path)
		if err != nil {
			return nil, errors.Join(err, os.RemoveAll(path))
		}
		if ok {
			return &temp{path: path, lock: lock}, nil
		}
	}
	return nil, errors.New("no temporary folder could be had")
}

// hold locks the folder at path. It reports false when another holds it or it
// is gone.
func hold(path string) (*os.File, bool, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil && stillThere(path, f) {
		return f, true, nil
	}
	f.Close() // it was only locked, or not even that
	if err == nil || errors.Is(err, unix.EWOULDBLOCK) {
		return nil, false, nil
	}
	return nil, false, err
}

// stillThere reports whether path is still the folder that f is.
func stillThere(path string, f *os.File) bool {
	a, err := os.Lstat(path)
	if err != nil {
		return false
	}
	b, err := f.Stat()
	return err == nil && os.SameFile(a, b)
}

// sweep removes the temporary folders of processes that died. What it cannot
// remove it leaves: the message at hand does not depend on it.
func sweep(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), tempPrefix) || !e.IsDir() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if f, ok, _ := hold(path); ok {
			os.RemoveAll(path) // left for the next sweep when it fails
			f.Close()          // a lock on what is gone
		}
	}
}

// done says that the folder was renamed and is a message now.
func (t *temp) done() { t.kept = true }

// remove removes the folder unless it became a message, and gives up the lock.
func (t *temp) remove() {
	if !t.kept {
		os.RemoveAll(t.path) // what stays is unlocked, and the next sweep takes it
	}
	t.lock.Close() // a lock is all it holds
}
