package checkpoint

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/safepath"
)

// A RestoreOrder says how content is brought back.
type RestoreOrder struct {
	ID     string
	Target string // another absolute path to write to; empty means the entry's own
	Call   string // which call restores, for the checkpoint of what is there now

	// Approved says that a person agreed to a path that wants approval.
	Approved bool

	// Unkept goes on where what is there now cannot be kept: it is too large,
	// or it does not hold still. It is then gone afterwards.
	Unkept bool
}

// A Restored is what Restore did.
type Restored struct {
	Entry   Entry    `json:"checkpoint"`
	Path    string   `json:"path"`            // what was written
	Existed bool     `json:"existed"`         // something was there before
	Same    bool     `json:"same,omitempty"`  // it had this content already, and nothing was written
	Kept    *Entry   `json:"kept,omitempty"`  // what was there, as a checkpoint of its own
	Notes   []string `json:"notes,omitempty"` // what differs from the kept file, or was not done
}

// Rules that refuse a restore besides those of safepath.
const (
	ruleApproval = "needs approval: "
	ruleUnkept   = "what is there now cannot be kept"
)

// Restore writes the content of a checkpoint back. What is at the target is
// kept first. The target is a regular file or absent, never a link; its folder
// exists. After an error the target is as it was, except for an error that
// says "sync folder": then the content is in place and may not survive a power
// cut.
func (s *Store) Restore(p safepath.Policy, o RestoreOrder) (Restored, error) {
	e, err := s.Find(o.ID)
	if err != nil {
		return Restored{}, err
	}
	r := Restored{Entry: e}
	target := o.Target
	if target == "" {
		target = e.Path
	}
	checked, err := p.Check(target, "", safepath.Write)
	if err != nil {
		return r, err
	}
	if checked.Approve != "" && !o.Approved {
		return r, &outcome.RefusedError{Rule: ruleApproval + checked.Approve}
	}
	if info, err := os.Lstat(checked.Abs); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return r, &outcome.RefusedError{Rule: safepath.RuleKind + safepath.Kind(info.Mode())}
	}
	folder, err := safepath.OpenFolder(checked)
	if err != nil {
		return r, fmt.Errorf("open the folder of the target: %w", err)
	}
	r.Path = checked.Real
	w := &writer{s: s, folder: folder, name: filepath.Base(checked.Real), e: e}
	err = w.restore(&r, o)
	return r, errors.Join(err, folder.Close())
}

// A writer puts one content into an open folder, under one name.
type writer struct {
	s      *Store
	folder *os.File
	name   string
	e      Entry
	old    *unix.Stat_t // of the file that is replaced; nil when there is none
}

func (w *writer) fd() int { return int(w.folder.Fd()) }

func (w *writer) restore(r *Restored, o RestoreOrder) error {
	done, err := w.keepOld(r, o)
	if done || err != nil {
		return err
	}
	temp := "." + w.name + "." + rand.Text()[:12] + ".tmp"
	if len(temp) > 255 { // the longest name that file systems take
		temp = "." + rand.Text() + ".tmp"
	}
	note, err := w.s.announce(filepath.Join(filepath.Dir(r.Path), temp))
	if err != nil {
		return err
	}
	return errors.Join(w.replace(r, temp), discard(note))
}

// replace writes the content under the name temp, syncs it and gives it the
// name of the target.
func (w *writer) replace(r *Restored, temp string) error {
	if err := w.writeBeside(r, temp); err != nil {
		return err
	}
	if err := w.publish(temp); err != nil {
		return errors.Join(err, w.unlink(temp))
	}
	if err := w.s.step("restore folder"); err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	if err := syncFolder(w.folder); err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	return nil
}

// keepOld makes a checkpoint of what is at the target. done says that there is
// nothing to write: the content is there already.
func (w *writer) keepOld(r *Restored, o RestoreOrder) (done bool, err error) {
	fd, err := unix.Openat(w.fd(), w.name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.ENOENT):
		return false, nil
	case errors.Is(err, unix.ELOOP):
		return false, &outcome.RefusedError{Rule: safepath.RuleKind + "a symbolic link"}
	case errors.Is(err, unix.ENXIO), errors.Is(err, unix.EOPNOTSUPP):
		return false, &outcome.RefusedError{Rule: safepath.RuleKind + "a socket"}
	case err != nil:
		return false, fmt.Errorf("open the target: %w", err)
	}
	f := os.NewFile(uintptr(fd), w.name)
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return false, fmt.Errorf("look at the target: %w", bare(err))
	}
	if !info.Mode().IsRegular() {
		return false, &outcome.RefusedError{Rule: safepath.RuleKind + safepath.Kind(info.Mode())}
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return false, fmt.Errorf("look at the target: %w", err)
	}
	w.old, r.Existed = &st, true
	kept, err := w.s.keep(f, r.Path, o.Call, w.e.SHA256)
	switch {
	case err == nil:
		r.Kept = &kept
		r.Same = kept.SHA256 == w.e.SHA256 && kept.Mode == w.e.Mode
	case !o.Unkept || !errors.Is(err, ErrTooLarge) && !errors.Is(err, ErrChanged):
		return false, errors.Join(&outcome.RefusedError{Rule: ruleUnkept}, err)
	default:
		r.Notes = append(r.Notes, "what was there is not kept: "+err.Error())
	}
	return r.Same, nil
}

// writeBeside writes and syncs the content under the name temp. On an error
// nothing is left.
func (w *writer) writeBeside(r *Restored, temp string) (err error) {
	if err := w.s.step("restore create"); err != nil {
		return err
	}
	const flags = unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Openat(w.fd(), temp, flags, 0o600)
	if err != nil {
		return fmt.Errorf("create file beside the target: %w", err)
	}
	f := os.NewFile(uintptr(fd), temp)
	defer func() {
		if cerr := f.Close(); cerr != nil && err == nil {
			err = fmt.Errorf("close: %w", bare(cerr))
		}
		if err != nil {
			err = errors.Join(err, w.unlink(temp))
		}
	}()
	if err := w.s.step("restore write"); err != nil {
		return err
	}
	if _, err := w.s.copyOut(w.e, f); err != nil {
		return err
	}
	w.giveBack(f, r)
	if err := f.Chmod(w.e.Mode.Perm()); err != nil {
		return fmt.Errorf("set mode: %w", bare(err))
	}
	if err := w.s.step("restore sync"); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("sync: %w", bare(err))
	}
	return nil
}

// giveBack makes the owner the one that the kept file had. Where that is not
// permitted it is said.
func (w *writer) giveBack(f *os.File, r *Restored) {
	info, err := f.Stat()
	if err != nil {
		return
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Uid == w.e.UID && st.Gid == w.e.GID {
		return
	}
	if err := f.Chown(int(w.e.UID), int(w.e.GID)); err != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("the owner is not the one it was (%d:%d): %s", w.e.UID, w.e.GID, outcome.Errno(bare(err))))
	}
}

// publish renames temp to the target, if the target is still the file that was
// kept, or still absent.
func (w *writer) publish(temp string) error {
	if err := w.s.step("restore rename"); err != nil {
		return err
	}
	if w.old == nil {
		return w.publishNew(temp)
	}
	var now unix.Stat_t
	err := unix.Fstatat(w.fd(), w.name, &now, unix.AT_SYMLINK_NOFOLLOW)
	if err != nil || now.Dev != w.old.Dev || now.Ino != w.old.Ino || now.Size != w.old.Size || now.Mtim != w.old.Mtim {
		return &outcome.RefusedError{Rule: safepath.RuleChanged}
	}
	if err := unix.Renameat(w.fd(), temp, w.fd(), w.name); err != nil {
		return fmt.Errorf("rename into place: %w", err)
	}
	return nil
}

// publishNew gives temp the name that nobody has. Where the file system has no
// hard links, another process that takes the name in the same moment loses its
// file: rename does not tell.
func (w *writer) publishNew(temp string) error {
	err := unix.Linkat(w.fd(), temp, w.fd(), w.name, 0)
	switch {
	case err == nil:
		return w.unlink(temp)
	case errors.Is(err, unix.EEXIST):
		return &outcome.RefusedError{Rule: safepath.RuleChanged}
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EMLINK):
		var st unix.Stat_t
		if err := unix.Fstatat(w.fd(), w.name, &st, unix.AT_SYMLINK_NOFOLLOW); !errors.Is(err, unix.ENOENT) {
			return &outcome.RefusedError{Rule: safepath.RuleChanged}
		}
		if err := unix.Renameat(w.fd(), temp, w.fd(), w.name); err != nil {
			return fmt.Errorf("rename into place: %w", err)
		}
		return nil
	}
	return fmt.Errorf("link into place: %w", err)
}

func (w *writer) unlink(temp string) error {
	if err := unix.Unlinkat(w.fd(), temp, 0); err != nil {
		return fmt.Errorf("remove the file beside the target: %w", err)
	}
	return nil
}
