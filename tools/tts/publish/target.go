package publish

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/outcome"
)

// Refusals. Each matches outcome.ErrRefused and names its rule.
var (
	ErrFolder     = refuse("the target is a folder")
	ErrSpecial    = refuse("the target is no regular file (a pipe, socket or device)")
	ErrReadOnly   = refuse("the target is read-only; --force replaces it")
	ErrExists     = refuse("the target exists and --no-clobber was asked for")
	ErrAppeared   = refuse("a file of this name appeared while the audio was made; it is as it was")
	ErrChanged    = refuse("the target changed while the audio was made; it is as it was")
	ErrNoKeeper   = refuse("the target exists and no checkpoint of it can be kept; --force replaces it without one")
	ErrBothWays   = refuse("--no-clobber and --force contradict each other")
	ErrParentFile = refuse("a folder of the path is a file")
)

func refuse(rule string) error { return &outcome.RefusedError{Rule: rule} }

// A StepError is a step of making or publishing that the system refused.
type StepError struct {
	Step string // "create the work folder", "write", "sync", "rename" …
	Err  error
}

func (e *StepError) Error() string { return e.Step + ": " + outcome.Errno(bare(e.Err)) }
func (e *StepError) Unwrap() error { return e.Err }

// bare takes the path off an error of package os: the result names the paths
// where they belong.
func bare(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err
	}
	return err
}

// Options is how a target is treated.
type Options struct {
	NoClobber bool // refuse a target that exists
	Force     bool // replace a read-only target, and one that cannot be kept

	Call     string // goes into the marker of the work folder
	Registry string // folder that remembers open work folders; empty: none

	// Fault is asked before each named step and its error is taken for the
	// step's. Nil in the product.
	Fault func(step string) error
}

// A Target is where the file is to go, as it was when it was looked at.
type Target struct {
	Path   string // absolute, no symbolic link in it
	Exists bool

	opt  Options
	old  identity // of the existing file
	mode fs.FileMode
}

// An identity tells whether a file is still the one that was looked at.
type identity struct {
	dev, ino uint64
	size     int64
	mtime    time.Time
	links    uint64
	uid, gid uint32
}

func identify(st fs.FileInfo) identity {
	id := identity{size: st.Size(), mtime: st.ModTime()}
	if s, ok := st.Sys().(*syscall.Stat_t); ok {
		id.dev, id.ino, id.links = uint64(s.Dev), s.Ino, uint64(s.Nlink)
		id.uid, id.gid = s.Uid, s.Gid
	}
	return id
}

func (a identity) sameFile(b identity) bool { return a.dev == b.dev && a.ino == b.ino }

// unchanged is sameFile whose content was, as far as stat can tell, not touched.
func (a identity) unchanged(b identity) bool {
	return a.sameFile(b) && a.size == b.size && a.mtime.Equal(b.mtime)
}

// Look says what is at path, which has to be absolute and resolved, and
// refuses what must not be replaced. It changes nothing.
func Look(path string, opt Options) (*Target, error) {
	if opt.NoClobber && opt.Force {
		return nil, ErrBothWays
	}
	if strings.HasSuffix(path, "/") {
		return nil, ErrFolder
	}
	t := &Target{Path: filepath.Clean(path), opt: opt}
	st, err := os.Lstat(t.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return t, t.lookAtParents()
	case errors.Is(err, syscall.ENOTDIR):
		return nil, ErrParentFile
	case err != nil:
		return nil, &StepError{"look at the target", err}
	}
	if err := acceptable(st, opt); err != nil {
		return nil, err
	}
	t.Exists, t.old, t.mode = true, identify(st), st.Mode().Perm()
	return t, nil
}

func acceptable(st fs.FileInfo, opt Options) error {
	switch {
	case st.IsDir():
		return ErrFolder
	case st.Mode()&fs.ModeSymlink != 0:
		return ErrChanged // it was resolved a moment ago
	case !st.Mode().IsRegular():
		return ErrSpecial
	case opt.NoClobber:
		return ErrExists
	case opt.Force:
		return nil
	case st.Mode().Perm()&0o222 == 0:
		return ErrReadOnly // root may write it all the same; its owner said no
	}
	return nil
}

// lookAtParents makes sure that missing parents can be made and the folder can
// be written, as far as asking can tell.
func (t *Target) lookAtParents() error {
	for dir := filepath.Dir(t.Path); ; dir = filepath.Dir(dir) {
		st, err := os.Stat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case errors.Is(err, syscall.ENOTDIR):
			return ErrParentFile
		case err != nil:
			return &StepError{"look at the folder", err}
		case !st.IsDir():
			return ErrParentFile
		}
		if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
			return &StepError{"write to the folder of the target", err}
		}
		return nil
	}
}

// Replaced is the file that had the path before.
type Replaced struct {
	Path       string    `json:"path"`
	Size       int64     `json:"size"`
	ModTime    time.Time `json:"mtime"`
	Checkpoint string    `json:"checkpoint"` // empty: none was kept, and a note says why
}

// A Published is a file that is where it was asked for.
type Published struct {
	Path     string
	Mode     fs.FileMode
	Size     int64
	Replaced *Replaced
	Notes    []string
}

func hardLinkNote(n uint64) string {
	return fmt.Sprintf("the file that was replaced had %d names (hard links); the others keep its old content", n)
}
