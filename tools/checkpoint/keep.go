package checkpoint

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// keepTries is how often a file that changes is copied before Keep gives up.
const keepTries = 3

// Keep stores the content of the open regular file f under the absolute path
// it is known by. f's offset stays where it is. call says which call is about
// to replace the file.
//
// The content is safe on disk when Keep returns without an error. ErrTooLarge
// and ErrChanged say that nothing was kept. Entries that a limit cost are in
// Entry.Dropped.
func (s *Store) Keep(f *os.File, path, call string) (Entry, error) {
	return s.keep(f, path, call, "")
}

// keep is Keep that takes out no entry with the content spare, whatever the
// limits say: it is about to be restored.
func (s *Store) keep(f *os.File, path, call, spare string) (Entry, error) {
	if !filepath.IsAbs(path) || !utf8.ValidString(path) {
		return Entry{}, errors.New("keep the file: its path is not absolute UTF-8")
	}
	for range keepTries {
		e, temp, err := s.copyIn(f)
		if errors.Is(err, ErrChanged) {
			continue
		}
		if err != nil {
			return Entry{}, err
		}
		e.Path, e.Call = filepath.Clean(path), call
		return s.publish(e, temp, spare)
	}
	return Entry{}, fmt.Errorf("keep the file: %w", ErrChanged)
}

// copyIn copies f into a private file of the store and returns that file,
// open and locked. It reads the source twice: both must agree in size, hash
// and times.
func (s *Store) copyIn(f *os.File) (Entry, *os.File, error) {
	before, err := f.Stat()
	if err != nil {
		return Entry{}, nil, fmt.Errorf("look at the file: %w", err)
	}
	if !before.Mode().IsRegular() {
		return Entry{}, nil, errors.New("keep the file: it is not a regular file")
	}
	if limit := min(s.limits.File, s.limits.Total); before.Size() > limit {
		return Entry{}, nil, &TooLargeError{before.Size(), limit}
	}
	temp, err := s.createTemp()
	if err != nil {
		return Entry{}, nil, err
	}
	sum, err := s.fill(temp, f, before)
	if err != nil {
		return Entry{}, nil, errors.Join(err, discard(temp))
	}
	e := Entry{Size: before.Size(), SHA256: sum, Mode: before.Mode().Perm()}
	if st, ok := before.Sys().(*syscall.Stat_t); ok {
		e.UID, e.GID = st.Uid, st.Gid
	}
	return e, temp, nil
}

func (s *Store) fill(temp, f *os.File, before fs.FileInfo) (string, error) {
	if err := s.step("write"); err != nil {
		return "", err
	}
	first, n, err := hashOf(io.NewSectionReader(f, 0, before.Size()+1), temp)
	if err != nil {
		return "", fmt.Errorf("copy the file: %w", err)
	}
	if n != before.Size() {
		return "", ErrChanged
	}
	if err := s.step("sync"); err != nil {
		return "", err
	}
	if err := temp.Sync(); err != nil {
		return "", fmt.Errorf("write the copy: %w", err)
	}
	if err := s.step("verify"); err != nil {
		return "", err
	}
	second, _, err := hashOf(io.NewSectionReader(f, 0, before.Size()+1), io.Discard)
	if err != nil {
		return "", fmt.Errorf("read the file again: %w", err)
	}
	after, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("look at the file again: %w", err)
	}
	if first != second || after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()) {
		return "", ErrChanged
	}
	return first, nil
}

// hashOf copies r to w and returns the sha256 of it, in hexadecimal, and its
// length.
func hashOf(r io.Reader, w io.Writer) (string, int64, error) {
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(h, w), r)
	return hex.EncodeToString(h.Sum(nil)), n, err
}

// createTemp makes a private file. It is locked for as long as it is open, so
// that a sweep tells a copy in the making from one that a crash left.
func (s *Store) createTemp() (*os.File, error) {
	if err := s.step("create"); err != nil {
		return nil, err
	}
	return s.createLocked(tempsName)
}

func (s *Store) createLocked(folder string) (*os.File, error) {
	var f *os.File
	err := s.locked(func() error {
		var err error
		f, err = os.OpenFile(s.at(folder, rand.Text()), os.O_RDWR|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
		if err != nil {
			return fmt.Errorf("create the copy: %w", err)
		}
		return flock(f, unix.LOCK_EX|unix.LOCK_NB)
	})
	if err != nil && f != nil {
		return nil, errors.Join(err, discard(f))
	}
	return f, err
}

func discard(temp *os.File) error {
	return errors.Join(os.Remove(temp.Name()), temp.Close())
}

// publish moves the copy to its place and then writes the line that names it.
func (s *Store) publish(e Entry, temp *os.File, spare string) (Entry, error) {
	moved := false
	there := s.intact(e) == nil // read before the lock is taken: it may be long
	err := s.locked(func() error {
		l, err := s.read()
		if err != nil {
			return err
		}
		coming := e.Size
		if slices.ContainsFunc(l.Entries, func(o Entry) bool { return o.SHA256 == e.SHA256 }) {
			coming = 0
		}
		stay, drop := s.overLimits(l, s.limits, coming, e.SHA256, spare)
		if e.Shared, err = s.place(e, temp, there); err != nil {
			return err
		}
		moved = !e.Shared
		if e.ID, err = newID(l.Entries); err != nil {
			return err
		}
		e.Time, e.Dropped = s.now().UTC(), drop
		if len(drop) == 0 {
			return s.append(e)
		}
		if err := s.rewrite(append(stay, e)); err != nil {
			return err
		}
		_, _, err = s.sweepBlobs(append(stay, e))
		return err
	})
	if moved {
		err = errors.Join(err, temp.Close())
	} else {
		err = errors.Join(err, discard(temp))
	}
	if err != nil {
		return Entry{}, fmt.Errorf("keep the file: %w", err)
	}
	return e, nil
}

// place renames the copy to the name of its content, unless that content was
// seen there whole and was not swept since.
func (s *Store) place(e Entry, temp *os.File, there bool) (shared bool, err error) {
	name := s.blob(e.SHA256)
	if _, err := os.Lstat(name); there && err == nil {
		return true, nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return false, fmt.Errorf("make folder: %w", err)
	}
	if err := s.step("rename"); err != nil {
		return false, err
	}
	if err := os.Rename(temp.Name(), name); err != nil {
		return false, fmt.Errorf("rename the copy: %w", err)
	}
	if err := s.step("folder"); err != nil {
		return false, err
	}
	if err := errors.Join(syncDir(filepath.Dir(name)), syncDir(s.at(blobsName))); err != nil {
		return false, fmt.Errorf("sync folder: %w", err)
	}
	return false, nil
}

// intact reads the content of e and compares its hash.
func (s *Store) intact(e Entry) error {
	_, err := s.copyOut(e, io.Discard)
	return err
}

// copyOut writes the content of e to w. ErrDamaged says that what came out is
// not what was kept.
func (s *Store) copyOut(e Entry, w io.Writer) (int64, error) {
	f, err := os.OpenFile(s.blob(e.SHA256), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return 0, fmt.Errorf("read the kept content: %w: %w", ErrDamaged, bare(err))
	}
	sum, n, err := hashOf(io.LimitReader(f, e.Size+1), w)
	err = errors.Join(err, f.Close())
	if err != nil {
		return n, fmt.Errorf("read the kept content: %w", err)
	}
	if sum != e.SHA256 || n != e.Size {
		return n, fmt.Errorf("read the kept content: %w", ErrDamaged)
	}
	return n, nil
}

// bare takes the path out of an error of the file system.
func bare(err error) error {
	if no, ok := errors.AsType[syscall.Errno](err); ok {
		return no
	}
	return err
}

// idBytes makes ids of 8 hexadecimal digits: short enough to type.
const idBytes = 4

func newID(taken []Entry) (string, error) {
	for range 1000 {
		var raw [idBytes]byte
		if _, err := rand.Read(raw[:]); err != nil {
			return "", fmt.Errorf("make an id: %w", err)
		}
		id := hex.EncodeToString(raw[:])
		if !slices.ContainsFunc(taken, func(e Entry) bool { return e.ID == id }) {
			return id, nil
		}
	}
	return "", errors.New("make an id: every id tried is taken")
}
