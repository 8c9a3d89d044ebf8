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

// bareAge is how old an empty folder without a marker must be before it counts
// as left behind between two steps of its maker.
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
				errs = append(errs, s.one(root, n))
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

func (s *Swept) one(root *os.Root, name string) error {
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
		return s.unmarked(root, name, st)
	}
	defer mark.Close()
	if flock(mark) != nil {
		s.Busy++
		return nil
	}
	var m marker
	raw, err := io.ReadAll(io.LimitReader(mark, 64<<10))
	if err != nil || json.Unmarshal(raw, &m) != nil && len(raw) > 0 || len(raw) > 0 && m.Kind != markerKind {
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

func (s *Swept) unmarked(root *os.Root, name string, st fs.FileInfo) error {
	if time.Since(st.ModTime()) < bareAge {
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
// its process ended, as far as the registry knows them.
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
		entry := filepath.Join(registry, e.Name())
		raw, err := os.ReadFile(entry)
		if err != nil {
			continue // its call just ended
		}
		path := string(raw)
		if !filepath.IsAbs(path) || filepath.Base(path) != Prefix+e.Name() {
			continue // its call is just writing it, or it is not ours
		}
		s, err := sweepPath(path)
		all.add(s)
		errs = append(errs, err)
		if _, lerr := os.Lstat(path); err == nil && s.Busy == 0 && errors.Is(lerr, fs.ErrNotExist) && stale(e) {
			errs = append(errs, os.Remove(entry))
		}
	}
	return all, errors.Join(errs...)
}

// stale leaves an entry alone that was made so lately that its folder may be
// about to be made.
func stale(e fs.DirEntry) bool {
	st, err := e.Info()
	return err == nil && time.Since(st.ModTime()) > time.Minute
}

func sweepPath(path string) (s Swept, err error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, &StepError{"open the folder to sweep", err}
	}
	defer root.Close()
	err = s.one(root, filepath.Base(path))
	return s, err
}
