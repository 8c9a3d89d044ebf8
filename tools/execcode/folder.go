package execcode

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	folderPrefix = "exec-"
	lockName     = ".lock" // in each folder, held while its owner lives
	gateName     = ".gate" // beside the folders, held while one is made or swept
)

// A folder is the private place of one script.
//
//	<dir>/.gate              shared while a folder is made, exclusive in Sweep
//	<dir>/exec-123456/.lock  held as long as the owner lives
//	<dir>/exec-123456/script.sh
type folder struct {
	path string
	lock *os.File
}

// newFolder makes a folder with the script in it. An error leaves nothing.
func newFolder(dir, name, code string) (f *folder, script string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, "", fmt.Errorf("make the script folder: %w", err)
	}
	gate, err := locked(filepath.Join(dir, gateName), unix.LOCK_SH)
	if err != nil {
		return nil, "", err
	}
	defer gate.Close()
	path, err := os.MkdirTemp(dir, folderPrefix) // 0700, exclusive
	if err != nil {
		return nil, "", fmt.Errorf("make a private folder: %w", err)
	}
	f = &folder{path: path}
	if f.lock, err = locked(filepath.Join(path, lockName), unix.LOCK_EX); err == nil {
		script = filepath.Join(path, name)
		err = writeNew(script, code)
	}
	if err != nil {
		return nil, "", errors.Join(err, f.remove())
	}
	return f, script, nil
}

func writeNew(path, text string) error {
	w, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("make the script: %w", err)
	}
	_, err = w.WriteString(text)
	if err = errors.Join(err, w.Close()); err != nil {
		return fmt.Errorf("write the script: %w", err)
	}
	return nil
}

// remove takes the folder away with everything in it.
func (f *folder) remove() error {
	err := os.RemoveAll(f.path)
	if f.lock != nil {
		err = errors.Join(err, f.lock.Close())
	}
	return err
}

// locked opens the file and locks it. It waits while another holds the lock,
// unless how has LOCK_NB. Closing the file gives the lock back; so does the
// end of the process, however it ends.
func locked(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open a lock: %w", err)
	}
	for {
		err = unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("take a lock: %w", err), f.Close())
	}
	return f, nil
}

// Sweep removes the folders in dir whose owners have ended without removing
// them, and returns how many. Those of a living process stay.
func Sweep(dir string) (int, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("list the script folders: %w", err)
	}
	gate, err := locked(filepath.Join(dir, gateName), unix.LOCK_EX)
	if err != nil {
		return 0, err
	}
	defer gate.Close()
	removed := 0
	var errs []error
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), folderPrefix) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		lock, err := locked(filepath.Join(path, lockName), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EWOULDBLOCK), errors.Is(err, fs.ErrNotExist):
			continue // its owner lives, or removed it meanwhile
		case err != nil:
			errs = append(errs, err)
			continue
		}
		if err := (&folder{path, lock}).remove(); err != nil {
			errs = append(errs, fmt.Errorf("remove a script folder: %w", err))
			continue
		}
		removed++
	}
	return removed, errors.Join(errs...)
}
