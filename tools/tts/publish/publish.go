package publish

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Keep keeps the content of a file that is about to be replaced and returns
// a name to get it back by.
type Keep func(old *os.File, path string) (id string, err error)

// Publish gives the finished file of that name in the private folder the
// target's path. After an error the target is as it was; where even that could
// not be achieved the error says so.
func (w *Work) Publish(name string, keep Keep) (Published, error) {
	p := Published{Path: w.t.Path}
	base := filepath.Base(w.t.Path)
	st, err := w.settle(name)
	if err != nil {
		return p, err
	}
	p.Size, p.Mode = st.Size(), st.Mode().Perm()
	old, err := w.dir.Lstat(base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = w.publishNew(name, base, identify(st))
		if w.t.Exists && err == nil {
			p.Notes = append(p.Notes, "the target was removed by somebody while the audio was made; this is a new file")
		}
	case err != nil:
		return p, &StepError{"look at the target", err}
	case !w.t.Exists && !w.t.opt.Force:
		return p, ErrAppeared
	default:
		err = w.replace(name, base, old, keep, &p)
	}
	if err != nil {
		return p, err
	}
	w.done = true
	return p, nil
}

// settle makes the content durable before it gets its name.
func (w *Work) settle(name string) (st fs.FileInfo, err error) {
	var f *os.File
	err = w.t.step("open", func() (err error) { f, err = w.own.Open(name); return err })
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := w.t.step("sync", f.Sync); err != nil {
		return nil, err
	}
	if st, err = f.Stat(); err != nil {
		return nil, &StepError{"sync", err}
	}
	if !st.Mode().IsRegular() || st.Size() == 0 {
		return nil, &StepError{"sync", errors.New("the finished file is empty or no file")}
	}
	return st, nil
}

func (w *Work) publishNew(name, base string, id identity) error {
	own, dir := int(w.ownFile.Fd()), int(w.dirFile.Fd())
	err := w.t.step("rename", func() error { return renameNew(own, name, dir, base) })
	if errors.Is(err, fs.ErrExist) {
		return ErrAppeared
	}
	if err != nil {
		return err
	}
	err = w.t.step("sync folder", w.syncFolders)
	if err == nil {
		return nil
	}
	seen, lerr := w.dir.Lstat(base)
	if lerr != nil || !identify(seen).sameFile(id) {
		return err // somebody took it already
	}
	if uerr := renameNew(dir, base, own, name); uerr != nil {
		return errors.Join(err, &StepError{"take the new file back (it is there, and may not survive a power cut)", uerr})
	}
	return err
}

func (w *Work) syncFolders() error {
	if err := w.dirFile.Sync(); err != nil {
		return err
	}
	for _, d := range w.made {
		f, err := os.Open(filepath.Dir(d.path))
		if err != nil {
			return err
		}
		err = f.Sync()
		_ = f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// replace keeps the old file and exchanges it with the new one.
func (w *Work) replace(name, base string, seen fs.FileInfo, keep Keep, p *Published) error {
	if err := acceptable(seen, w.t.opt); err != nil {
		return err
	}
	id := identify(seen)
	if w.t.Exists && !id.unchanged(w.t.old) && !w.t.opt.Force {
		return ErrChanged
	}
	r := &Replaced{Path: w.t.Path, Size: id.size, ModTime: id.mtime}
	if err := w.keep(base, id, keep, r, p); err != nil {
		return err
	}
	if err := w.dress(name, seen, p); err != nil {
		return err
	}
	if err := w.exchange(name, base, id); err != nil {
		return err
	}
	p.Replaced = r
	if id.links > 1 {
		p.Notes = append(p.Notes, hardLinkNote(id.links))
	}
	return nil
}

func (w *Work) keep(base string, id identity, keep Keep, r *Replaced, p *Published) error {
	why := error(ErrNoKeeper)
	if keep != nil {
		why = w.t.step("keep the old content", func() error {
			f, err := w.dir.OpenFile(base, os.O_RDONLY|unix.O_NONBLOCK, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			st, err := f.Stat()
			if err != nil {
				return err
			}
			if !identify(st).unchanged(id) {
				return ErrChanged
			}
			r.Checkpoint, err = keep(f, w.t.Path)
			return err
		})
	}
	switch {
	case why == nil:
		return nil
	case errors.Is(why, ErrChanged):
		return ErrChanged
	case !w.t.opt.Force:
		return why
	}
	r.Checkpoint = ""
	p.Notes = append(p.Notes, fmt.Sprintf("no checkpoint of the replaced file was kept (%v); --force replaced it all the same", bare(why)))
	return nil
}

// dress gives the new file the mode and, where we may, the owner of the old.
func (w *Work) dress(name string, old fs.FileInfo, p *Published) error {
	id := identify(old)
	if uint32(os.Geteuid()) != id.uid || uint32(os.Getegid()) != id.gid {
		if err := w.own.Chown(name, int(id.uid), int(id.gid)); err != nil {
			p.Notes = append(p.Notes, "the new file belongs to you; the replaced one had another owner or group")
		}
	}
	err := w.t.step("set the mode", func() error { return w.own.Chmod(name, old.Mode().Perm()) })
	p.Mode = old.Mode().Perm()
	return err
}

// exchange swaps the two names in one step and looks at what came out. When
// that is not the file that was kept, it is put back.
func (w *Work) exchange(name, base string, old identity) error {
	own, dir := int(w.ownFile.Fd()), int(w.dirFile.Fd())
	mine, err := w.own.Lstat(name)
	if err != nil {
		return &StepError{"rename", err}
	}
	err = w.t.step("rename", func() error { return renameSwap(own, name, dir, base) })
	if errors.Is(err, errNoSwap) {
		return w.renameOver(name, base, old)
	}
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return ErrChanged
		}
		return err
	}
	out, err := w.own.Lstat(name)
	switch {
	case err != nil:
		err = &StepError{"rename", err}
	case !identify(out).unchanged(old):
		err = ErrChanged
	default:
		err = w.t.step("sync folder", w.syncFolders)
	}
	if err == nil {
		return nil
	}
	return errors.Join(err, w.putBack(name, base, identify(mine)))
}

// putBack swaps the names again until our own file is the one in the private
// folder: a writer that came in between gets back what it put there.
func (w *Work) putBack(name, base string, mine identity) error {
	const tries = 16
	for range tries {
		if err := renameSwap(int(w.ownFile.Fd()), name, int(w.dirFile.Fd()), base); err != nil {
			return &StepError{"put the old file back (it is in the work folder, which is kept)", w.leave(err)}
		}
		out, err := w.own.Lstat(name)
		if err == nil && identify(out).sameFile(mine) {
			return nil
		}
	}
	return &StepError{"put the old file back (others write to it all the time)", w.leave(syscall.EBUSY)}
}

// leave gives the private folder up without removing what is in it: a file of
// somebody else is in there. Without its marker no Sweep takes it for ours.
func (w *Work) leave(err error) error {
	_ = w.own.Remove(markerName)
	_ = w.own.Close()
	_ = w.ownFile.Close()
	w.own, w.ownFile = nil, nil
	return err
}

// renameOver is exchange where the file system cannot swap. A second name of
// the old file is its way back.
func (w *Work) renameOver(name, base string, old identity) error {
	own, dir := int(w.ownFile.Fd()), int(w.dirFile.Fd())
	const way = "replaced"
	linked := unix.Linkat(dir, base, own, way, 0) == nil
	seen, err := w.dir.Lstat(base)
	if err != nil || !identify(seen).unchanged(old) {
		return ErrChanged
	}
	if err := w.t.step("rename over", func() error { return unix.Renameat(own, name, dir, base) }); err != nil {
		return err
	}
	err = w.t.step("sync folder", w.syncFolders)
	if err == nil {
		return nil
	}
	if !linked {
		return errors.Join(err, errors.New("the new file is in place and may not survive a power cut"))
	}
	if uerr := unix.Renameat(own, way, dir, base); uerr != nil {
		return errors.Join(err, &StepError{"put the old file back (it is in the work folder, which is kept)", w.leave(uerr)})
	}
	return err
}

// errNoSwap says that a file system cannot do more than a plain rename.
var errNoSwap = errors.New("this file system cannot exchange two files")

func unsupported(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.EOPNOTSUPP)
}

// renameNew renames without replacing. Where the system has no such call, a
// second name does the same: link refuses a name that is taken.
func renameNew(fromDir int, from string, toDir int, to string) error {
	err := renameExclusive(fromDir, from, toDir, to)
	if err == nil || !unsupported(err) {
		return err
	}
	if err := unix.Linkat(fromDir, from, toDir, to, 0); err != nil {
		return err
	}
	return unix.Unlinkat(fromDir, from, 0)
}

func renameSwap(fromDir int, from string, toDir int, to string) error {
	err := renameExchange(fromDir, from, toDir, to)
	if err != nil && unsupported(err) {
		return fmt.Errorf("%w (%w)", errNoSwap, err)
	}
	return err
}
