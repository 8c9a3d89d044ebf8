package atomicfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ErrNotRegular matches the error of a target that exists and is no regular
// file.
var ErrNotRegular = errors.New("not a regular file")

// A file is what write needs of an *os.File.
type file interface {
	Write([]byte) (int, error)
	Chmod(fs.FileMode) error
	Sync() error
	Close() error
}

// steps are the calls of one write that can fail, so that a test can fail
// each.
type steps struct {
	create  func(path string) (file, error)
	rename  func(from, to string) error
	syncDir func(dir string) error
}

var system = steps{create: createExclusive, rename: os.Rename, syncDir: syncDir}

// Write puts data into the file at path with the given mode, replacing what
// was there. The folder must exist. After an error that comes before the
// rename the old content is untouched; an error that says "sync folder" means
// that the new content is in place and may not survive a power cut.
func Write(path string, data []byte, mode fs.FileMode) error {
	return system.write(path, data, mode)
}

func (s steps) write(path string, data []byte, mode fs.FileMode) (err error) {
	if err := checkTarget(path); err != nil {
		return err
	}
	dir, name := filepath.Split(path)
	beside := filepath.Join(dir, "."+name+"."+rand.Text()+".tmp")
	f, err := s.create(beside)
	if err != nil {
		return fmt.Errorf("create file beside the target: %w", err)
	}
	if err := fill(f, data, mode); err != nil {
		return errors.Join(err, os.Remove(beside))
	}
	if err := s.rename(beside, path); err != nil {
		return errors.Join(fmt.Errorf("rename into place: %w", err), os.Remove(beside))
	}
	if err := s.syncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	return nil
}

// checkTarget refuses a target that a rename would replace with something of
// another kind.
func checkTarget(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("look at the target: %w", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("replace target: %w (%s)", ErrNotRegular, kind(info.Mode()))
	}
	return nil
}

func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

func createExclusive(path string) (file, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err // not f: a nil *os.File in an interface is not nil
	}
	return f, nil
}

// fill writes, syncs and closes f. It closes f on every path.
func fill(f file, data []byte, mode fs.FileMode) error {
	err := fillOpen(f, data, mode)
	if cerr := f.Close(); err == nil && cerr != nil {
		err = fmt.Errorf("close: %w", cerr)
	}
	return err
}

func fillOpen(f file, data []byte, mode fs.FileMode) error {
	if err := f.Chmod(mode.Perm()); err != nil {
		return fmt.Errorf("set mode: %w", err)
	}
	if _, err := f.Write(data); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	return nil
}

// syncDir makes the rename last. Some file systems have no sync for a folder
// and say EINVAL or ENOTSUP: there is nothing more to do there.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, d.Close())
}
