package publish

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Swept is what Sweep found.
type Swept struct {
	Removed int // work folders whose maker is gone
	Busy    int // work folders whose maker lives, or may live
	Foreign int // names like ours that are not ours; left alone
}

func (s *Swept) add(o Swept) {
	s.Removed += o.Removed
	s.Busy += o.Busy
	s.Foreign += o.Foreign
}

// bareAge is how old a folder without a marker, or with an empty one, must be
// before it counts as left behind between two steps of its maker.
const bareAge = time.Hour

// Sweep removes the work folders in dir that were left by a process that is
// gone. A folder is ours when its name, owner and mode are right and its
// marker says so; its maker is gone when nobody holds the marker's lock.
func Sweep(dir string) (Swept, error) {
	var s Swept
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, &StepError{"open the folder to sweep", err}
	}
	defer root.Close()
	f, err := root.Open(".")
	if err != nil {
		return s, &StepError{"open the folder to sweep", err}
	}
	defer f.Close()
	var errs []error
	for {
		names, err := f.Readdirnames(256)
		for _, n := range names {
			if strings.HasPrefix(n, Prefix) {
				errs = append(errs, s.one(root, n, false))
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			errs = append(errs, &StepError{"list the folder to sweep", err})
			break
		}
	}
	return s, errors.Join(errs...)
}

// one sweeps the folder of that name. gone says that its maker is known to be.
func (s *Swept) one(root *os.Root, name string, gone bool) error {
	st, err := root.Lstat(name)
	if err != nil {
		return nil // gone meanwhile
	}
	if !st.IsDir() || st.Mode().Perm() != 0o700 || identify(st).uid != uint32(os.Geteuid()) {
		s.Foreign++
		return nil
	}
	own, err := root.OpenRoot(name)
	if err != nil {
		s.Foreign++
		return nil
	}
	defer own.Close()
	mark, err := own.OpenFile(markerName, os.O_RDWR|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return s.unmarked(root, name, st, gone)
	}
	defer mark.Close()
	if flock(mark, unix.LOCK_EX|unix.LOCK_NB) != nil {
		s.Busy++
		return nil
	}
	var m marker
	raw, err := io.ReadAll(io.LimitReader(mark, 64<<10))
	switch {
	case err == nil && len(raw) == 0 && !gone && time.Since(st.ModTime()) < bareAge:
		s.Busy++ // its maker is between the making of the marker and the lock
		return nil
	case err != nil, len(raw) > 0 && (json.Unmarshal(raw, &m) != nil || m.Kind != markerKind):
		s.Foreign++
		return nil
	}
	if err := emptyRoot(own); err != nil {
		return &StepError{"sweep a work folder", err}
	}
	if err := root.Remove(name); err != nil {
		return &StepError{"sweep a work folder", err}
	}
	s.Removed++
	for i := len(m.Made) - 1; i >= 0; i-- {
		if syscall.Rmdir(m.Made[i]) != nil { // only an empty folder goes
			break
		}
	}
	return nil
}

func (s *Swept) unmarked(root *os.Root, name string, st fs.FileInfo, gone bool) error {
	if !gone && time.Since(st.ModTime()) < bareAge {
		s.Busy++
		return nil
	}
	if root.Remove(name) != nil { // it is not empty, so it is not one of ours
		s.Foreign++
		return nil
	}
	s.Removed++
	return nil
}

// SweepRegistered sweeps every folder in which a call of ours was at work when
// its process ended, as far as the registry knows them. Who holds no lock on its
// entry any more is gone, so what it left is taken at once, however far it came:
// a folder without a marker, and the empty parents that it made.
func SweepRegistered(registry string) (Swept, error) {
	var all Swept
	entries, err := os.ReadDir(registry)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return all, &StepError{"read the registry of work folders", err}
	}
	var errs []error
	for _, e := range entries {
		s, err := sweepEntry(filepath.Join(registry, e.Name()))
		all.add(s)
		errs = append(errs, err)
	}
	return all, errors.Join(errs...)
}

func sweepEntry(name string) (s Swept, err error) {
	f, err := os.OpenFile(name, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return s, nil // its call just ended, or it is no file of ours
	}
	defer f.Close()
	if flock(f, unix.LOCK_EX|unix.LOCK_NB) != nil {
		return s, nil // its call is at work
	}
	raw, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err != nil {
		return s, &StepError{"read the registry of work folders", err}
	}
	work, parents, _ := strings.Cut(string(raw), "\n")
	if !filepath.IsAbs(work) || filepath.Base(work) != Prefix+filepath.Base(name) {
		if st, err := f.Stat(); err == nil && len(raw) == 0 && time.Since(st.ModTime()) > bareAge {
			return s, os.Remove(name) // killed between the making of the entry and its lock
		}
		return s, nil
	}
	if s, err = sweepPath(work); err != nil || s.Busy+s.Foreign > 0 {
		return s, err
	}
	dirs := strings.Split(strings.TrimSuffix(parents, "\n"), "\n")
	for i := len(dirs) - 1; i >= 0; i-- {
		if !under(work, dirs[i]) || syscall.Rmdir(dirs[i]) != nil { // only an empty folder goes
			break
		}
	}
	return s, os.Remove(name)
}

// under reports whether path lies below dir.
func under(path, dir string) bool {
	return filepath.IsAbs(dir) && strings.HasPrefix(path, filepath.Clean(dir)+"/")
}

// sweepPath sweeps the work folder of a maker that is known to be gone.
func sweepPath(path string) (s Swept, err error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, &StepError{"open the folder to sweep", err}
	}
	defer root.Close()
	err = s.one(root, filepath.Base(path), true)
	return s, err
}
